"""``splboost audit``: which labels of a file are wrong, and the file put right."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from splboost._tools.compiling import notice
from splboost._tools.interrupts import EXIT_CODE
from splboost._tools.whole_files import check_replaceable, is_device
from splboost._tools.wording import counted, listed
from splboost.audit.cleaning import differs_only_in, write_cleaned
from splboost.audit.decisions import (
    DROP,
    FLIP,
    KEEP,
    Decision,
    digest_row,
    locate_decisions,
    read_as_reviewed,
    read_decisions,
)
from splboost.audit.file_audit import (
    PAGE,
    SUSPECTS,
    ColumnNames,
    FileAudit,
    check_folder,
    check_outputs,
    first_reason,
    plan_audit,
    write_findings,
)
from splboost.audit.issues import MOST_CERTAIN, summarise
from splboost.audit.label_audit import LabelAudit
from splboost.audit.page import brief
from splboost.audit.table_files import (
    CATEGORY,
    NUMBER,
    UTF_8,
    FileError,
    TableFile,
    read_file,
)

# Exit codes; that of misuse is also the one by which typer refuses an option
MISUSE, FAILURE = 2, 1
MOST_SEEDS = 2**32
RUN = "run"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NUMERAL = re.compile(r"(?<![\w.])\d[\d.]*(?!\w)")  # and no part of a name
N_SHOWN = 10  # suspects
LONGEST_LINE = 300  # characters of what comes from data


class _FileFirst(TyperGroup):
    """``audit FILE`` is ``audit run FILE``, and so is ``audit --help``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            args = ["--help"]
        if args[0] not in self.commands:
            args = [RUN, *args]
        return super().parse_args(ctx, args)


class _Unnamed(TyperCommand):
    """A command that goes by the name of its group."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        name, above = info_name, parent
        if parent is not None:
            name, above = parent.info_name, parent.parent
        return super().make_context(name, args, parent=above, **extra)


def _path(text: str) -> Path:
    if not text:
        raise typer.BadParameter("it is empty; give a path.")
    return Path(text)


app = typer.Typer(cls=_FileFirst, help="Which labels of a file are wrong.")

Target = Annotated[str, typer.Option("--target", help="Column of the labels.")]
Encoding = Annotated[
    str, typer.Option("--encoding", help="Of a CSV file: cp1252, utf-16, …")
]
AuditedData = Annotated[
    Path, typer.Argument(help="CSV, CSV.gz or Parquet, with names.")
]
Id = Annotated[
    str | None, typer.Option("--id", help="Column by which people know a row.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", help="A column to leave out, or several: a,b."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option("--categorical", help="A column of categories, or several: a,b."),
]
Groups = Annotated[
    str | None,
    typer.Option("--groups", help="Column of what rows belong to, as a person."),
]
Top = Annotated[
    int | None, typer.Option("--top", min=1, help="Number of suspects to list.")
]
Precision = Annotated[
    float | None,
    typer.Option("--precision", help="Wanted share of wrong labels among them: 0.9."),
]
Reviewed = Annotated[
    list[Path] | None,
    typer.Option("--reviewed", help="Decisions so far: their labels are trusted."),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out", parser=_path, metavar="<path>", help="Folder for what is found."
    ),
]
ForceAudit = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace files that no audit of these labels has written, and use "
        "--reviewed decisions on rows that have changed since.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Faster, but ranks less well.")]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=MOST_SEEDS - 1, help="Seed of all random draws."),
]
Jobs = Annotated[int, typer.Option("--jobs", help="Threads; -1 uses all.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
NothingElse = Annotated[bool, typer.Option("--quiet", help="Print nothing else.")]
ReviewedData = Annotated[Path, typer.Argument(help="The file that was audited.")]
Decisions = Annotated[
    list[Path],
    typer.Argument(
        help="Decisions that the review page has saved, or suspects.csv filled in."
    ),
]
Cleaned = Annotated[
    Path | None,
    typer.Option("--out", parser=_path, metavar="<path>", help="The file to write."),
]
ForceApply = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Go by id or row number though rows have changed since the audit or "
        "decisions do not say how they were (labels must be the same), and replace "
        "the output whatever it is.",
    ),
]
Nothing = Annotated[bool, typer.Option("--quiet", help="Print nothing.")]


@app.command(
    RUN,
    cls=_Unnamed,
    epilog="Decisions on the suspects come into the file by splboost audit apply: see "
    "splboost audit apply --help.",
)
def audit(
    data: AuditedData,
    target: Target,
    id_column: Id = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    groups: Groups = None,
    top: Top = None,
    precision: Precision = None,
    reviewed: Reviewed = None,
    out: Folder = None,
    force: ForceAudit = False,
    encoding: Encoding = UTF_8,
    quick: Quick = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: NothingElse = False,
) -> None:
    """Rank labels by how likely they are wrong, and write a page to review them."""
    _check_numbers(top, precision, jobs)
    notice.is_due &= not quiet
    console = Console(stderr=True, quiet=quiet)
    with _plain_errors():
        file = read_file(data, categorical or [], encoding)
        names = ColumnNames(target, id_column, groups, ignore or [])
        decisions = read_decisions(reviewed or [])
        plan = plan_audit(file, names, decisions, force=force)
        folder = out or data.with_name(f"{_split_name(data)[0]}-audit")
        inputs = [data, *(reviewed or [])]
        check_outputs(folder, inputs, target, force=force)
        check_folder(folder)
        _show_columns(console, plan)
        found = LabelAudit(
            top=top,
            precision=precision,
            quick=quick,
            n_jobs=jobs,
            random_state=seed,
            verbose=0 if quiet else 1,
        )
        with _showing_warnings(console):
            report = plan.run(found)
        check_outputs(folder, inputs, target, force=force)  # time has passed
        summary = write_findings(report, data, folder)
        _show_findings(console, summarise(found, plan.rows), report, folder)
        if as_json:
            typer.echo(summary)


@app.command("apply")
def apply_command(
    data: ReviewedData,
    decisions: Decisions,
    target: Target,
    out: Cleaned = None,
    force: ForceApply = False,
    encoding: Encoding = UTF_8,
    quiet: Nothing = False,
) -> None:
    """Write the data with the decisions of a review; all else stays as it is."""
    with _plain_errors():
        file = read_file(data, encoding=encoding)
        found = read_decisions(decisions)
        file = read_as_reviewed(file, target, found)
        name, ending = _split_name(data)
        path = out or data.with_name(f"{name}-cleaned{ending}")
        if path.exists() and any(path.samefile(each) for each in (data, *decisions)):
            raise FileError(f"--out {path} is a file to read; give another name.")
        if path.is_dir():
            raise FileError(f"--out {path} is a folder; give the name of a file.")
        if not found:
            raise FileError(
                f"There are no decisions in {', '.join(map(str, decisions))}; fill in "
                f"the column decision ({KEEP}, {FLIP} or {DROP}), or save decisions "
                "on the review page."
            )
        located = locate_decisions(found, file, target, force=force)

        def is_own(earlier: Path) -> bool:
            there = read_file(earlier, encoding=file.encoding)
            return differs_only_in(located, there, file, target)

        check_replaceable(path, is_own, force=force)
        if not is_device(path):
            check_folder(path.parent)
        write_cleaned(file, target, located, path)
        if not quiet:
            _show_changes(file, located, path)


def _split_name(path: Path) -> tuple[str, str]:
    """Name of a file without its ending, and that, as ``.csv`` or ``.csv.gz``."""
    ending = path.suffix
    if ending.lower() == ".gz":
        ending = path.with_suffix("").suffix + ending
    return path.name.removesuffix(ending), ending


def _check_numbers(top: int | None, precision: float | None, jobs: int) -> None:
    if top is not None and precision is not None:
        raise typer.BadParameter("--top and --precision both say how many; give one.")
    if precision is not None and not 0 < precision <= MOST_CERTAIN:
        raise typer.BadParameter(
            f"--precision {precision:g} is no share that can be stated; give one "
            f"above 0 and up to {MOST_CERTAIN}, as 0.9."
        )
    if jobs < 1 and jobs != -1:
        raise typer.BadParameter(
            f"--jobs {jobs} has no meaning; give the number of threads, or -1 for all "
            "cores."
        )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Print a sentence for what a user can mend."""
    try:
        yield
    except KeyboardInterrupt:
        _say("Stopped.")
        raise typer.Exit(EXIT_CODE) from None
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:
        _say(f"Error: {error}")
        is_misuse = isinstance(error, ValueError)
        raise typer.Exit(MISUSE if is_misuse else FAILURE) from None


def _say(line: str) -> None:
    print(line, file=sys.stderr)


# ----------------------------------------------------------------------------- terminal


def _show_changes(file: TableFile, located: Mapping[int, Decision], path: Path) -> None:
    """What ``apply`` has done."""
    changed, moved = [], []
    for row, each in located.items():
        if digest_row(file, row) != each.digest:
            changed.append(each)
        elif row != each.row:
            moved.append(f"{each} is row {row}")
    if changed:
        _say(
            f"--force: {listed(changed)} went by id or row number; not known to be as "
            "audited."
        )
    if moved:
        _say(f"Found by id, as the file is in another order: {listed(moved)}.")
    kinds = [each.kind for each in located.values()]
    _say(
        f"{path}: {counted(kinds.count(FLIP), 'label')} changed, "
        f"{counted(kinds.count(DROP), 'row')} dropped, {kinds.count(KEEP)} kept"
    )


def _show_columns(console: Console, plan: FileAudit) -> None:
    """What is taken for what, and what is left out."""
    file, skipped = plan.file, plan.unlabelled
    console.print(
        _plain(f"{file.path.name}: {counted(file.n_rows, 'row')}", style="bold")
    )
    lines = []
    for kind, title in ((NUMBER, "numbers"), (CATEGORY, "categories")):
        names = [name for name in plan.features if file.columns[name].kind == kind]
        if names:
            lines.append(f"  {title}: {', '.join(map(brief, names))}")
    if skipped:
        first = f"row {skipped[0]}" + (" is the first" if len(skipped) > 1 else "")
        lines.append(f"  skipped: {len(skipped)} without a label ({first})")
    for name, why in plan.left_out.items():
        lines.append(f"  left out: {brief(name)} ({why})")
    for line in lines:
        console.print(_plain(line))


def _show_findings(
    console: Console, summary: str, report: dict[str, Any], folder: Path
) -> None:
    """In numbers, the worst suspects, and where all of them are."""
    console.print()
    for line in summary.split("\n"):
        console.print(_plain(brief(line, LONGEST_LINE)))
    suspects, names = report["suspects"][:N_SHOWN], report["classes"]
    if suspects:
        table = RichTable(title="The worst", title_justify="left")
        ids = ["id"] if any(each["id"] for each in suspects) else []
        for name in ("row", *ids, "label", "looks like", "chance wrong", "because"):
            table.add_column(name, overflow="fold")
        for each in suspects:
            cells = (
                str(each["row"]),
                *(brief(each[name] or "") for name in ids),
                brief(names[each["given"]]),
                brief(names[each["predicted"]]),
                f"{each['wrong']:.0%}",
                first_reason(each),
            )
            table.add_row(*(_plain(cell) for cell in cells))
        console.print(table)
        console.print(_plain(f"Review them: {folder / PAGE}"))
        console.print(_plain(f"As a table: {folder / SUSPECTS}"))
    else:
        console.print(_plain(f"How well labels fit their rows: {folder / PAGE}"))
    what = "the whole file" if report["source"] is not None else "the suspects' rows"
    console.print(
        _plain(f"The page holds {what}: give it only to those who may see the data.")
    )


@contextmanager
def _showing_warnings(console: Console) -> Iterator[None]:
    """Warnings as sentences, one of each kind, however often it is given."""
    shown = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        kind = NUMERAL.sub("", str(message))  # of other rows, with other numbers
        if kind not in shown:
            shown.add(kind)
            console.print(_plain(f"Note: {message}"))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _plain(text: str, style: str = "") -> Text:
    """Text without markup, whose control characters are made visible."""
    visible = CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return Text(visible, style)
