"""``splboost audit``: which labels of a file are wrong, and the file put right."""

from __future__ import annotations

import errno
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text
from typer import Argument, Option
from typer.core import TyperCommand, TyperGroup

from splboost._tools.compiling import notice
from splboost._tools.whole_files import check_replaceable, is_device
from splboost._tools.wording import counted, listed
from splboost.audit.cleaning import is_cleaned, write_cleaned
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
    FileAudit,
    check_folder,
    check_outputs,
    first_reason,
    write_findings,
)
from splboost.audit.issues import MOST_CERTAIN, summarise
from splboost.audit.label_audit import LabelAudit, check_options
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
RUN = "run"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NUMERAL = re.compile(r"(?<![\w.])\d[\d.]*(?!\w)")  # and no part of a name
N_SHOWN = 10  # suspects
LONGEST_LINE = 300  # characters of what comes from data


class _FileFirst(TyperGroup):
    """``audit FILE`` is ``audit run FILE``, and so is ``audit --help``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = args or ["--help"]
        return super().parse_args(
            ctx, args if args[0] in self.commands else [RUN, *args]
        )


class _Unnamed(TyperCommand):
    """A command that goes by the name of its group."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        if parent is not None:
            info_name, parent = parent.info_name, parent.parent
        return super().make_context(info_name, args, parent=parent, **extra)


def _path(text: str) -> Path:
    if not text:
        raise typer.BadParameter("the path is empty; give one.")
    return Path(text)


app = typer.Typer(cls=_FileFirst, help="Find the wrong labels of a file.")

AuditedData = Annotated[
    Path, Argument(help="CSV, CSV.gz or Parquet file, with names of the columns.")
]
ReviewedData = Annotated[Path, Argument(help="The file that was audited.")]
Decisions = Annotated[
    list[Path],
    Argument(help="Decisions saved by the review page, or suspects.csv filled in."),
]
Target = Annotated[str, Option(help="Column of the labels.")]
Id = Annotated[str | None, Option("--id", help="Column of names or ids of rows.")]
Ignore = Annotated[
    list[str] | None, Option(help="A column to leave out, or several: a,b.")
]
Categorical = Annotated[
    list[str] | None, Option(help="A column of categories, or several: a,b.")
]
Groups = Annotated[
    str | None, Option(help="Column that says which rows belong together.")
]
Top = Annotated[int | None, Option(min=1, help="Number of suspects to list.")]
Precision = Annotated[
    float | None,
    Option(min=0, max=MOST_CERTAIN, help="Wanted share of wrong labels: 0.9."),
]
Reviewed = Annotated[
    list[Path] | None, Option(help="Decisions so far: their labels are trusted.")
]
Folder = Annotated[
    Path | None, Option(parser=_path, metavar="<path>", help="Folder for the results.")
]
Cleaned = Annotated[
    Path | None, Option(parser=_path, metavar="<path>", help="The file to write.")
]
ForceAudit = Annotated[
    bool,
    Option(
        "--force",
        help="Replace files that no audit of these labels has written, use "
        "--reviewed decisions on rows that have changed since, and read quoted cells "
        "that hold what could be rows.",
    ),
]
ForceApply = Annotated[
    bool,
    Option(
        "--force",
        help="Find rows by id or number even if they have changed since the audit, or "
        "decisions do not say how they were (labels must be the same), replace the "
        "output whatever it is, and read quoted cells that hold what could be rows.",
    ),
]
Encoding = Annotated[str, Option(help="Encoding of a CSV file: cp1252, utf-16, …")]
Quick = Annotated[bool, Option("--quick", help="Faster, but ranks less well.")]
Seed = Annotated[int, Option(min=0, max=2**32 - 1, help="Seed of all random draws.")]
Jobs = Annotated[int, Option(min=-1, help="Number of threads; -1 uses all cores.")]
AsJson = Annotated[bool, Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, Option("--quiet", help="Print nothing but errors and JSON.")]
Silent = Annotated[bool, Option("--quiet", help="Print nothing but errors.")]


@app.command(
    RUN,
    cls=_Unnamed,
    epilog="To apply decisions on the suspects to the file, see splboost audit apply "
    "--help.",
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
    quiet: Quiet = False,
) -> None:
    """Rank labels by how likely they are wrong, and write a page to review them."""
    notice.is_due &= not quiet
    console = Console(stderr=True, quiet=quiet)
    found = LabelAudit(
        top=top,
        precision=precision,
        quick=quick,
        n_jobs=jobs,
        random_state=seed,
        verbose=0 if quiet else 1,
    )
    with _plain_errors():
        check_options(found)
        file = read_file(data, categorical or [], encoding, force=force)
        decisions = read_decisions(reviewed or [])
        plan = FileAudit(
            file,
            target,
            id_column,
            groups,
            ignore or [],
            decisions,
            categorical=categorical or [],
            force=force,
        )
        folder = out or data.with_name(f"{_split_name(data)[0]}-audit")
        inputs = [data, *(reviewed or [])]
        check_outputs(folder, inputs, target, force=force)
        check_folder(folder)
        _show_columns(console, plan)
        with _showing_warnings(console):
            report = plan.run(found)
        earlier = check_outputs(folder, inputs, target, force=force)  # time has passed
        summary = write_findings(report, data, folder, earlier)
        _show_findings(console, summarise(found, plan.rows), report, folder)
        if as_json:
            typer.echo(summary)


@app.command()
def apply(
    data: ReviewedData,
    decisions: Decisions,
    target: Target,
    out: Cleaned = None,
    force: ForceApply = False,
    encoding: Encoding = UTF_8,
    quiet: Silent = False,
) -> None:
    """Write the data with the decisions of a review; nothing else changes."""
    with _plain_errors():
        file = read_file(data, encoding=encoding, force=force)
        found = read_decisions(decisions)
        file = read_as_reviewed(file, target, found)
        name, ending = _split_name(data)
        path = out or data.with_name(f"{name}-cleaned{ending}")
        if path.exists() and any(path.samefile(each) for each in (data, *decisions)):
            raise FileError(f"--out {path} is one of the inputs; give another name.")
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
            return is_cleaned(there, file, target, located)

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


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Print a sentence for what a user can mend."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:
        said, is_misuse = str(error), isinstance(error, ValueError)
        if isinstance(error, OSError) and error.filename is not None:
            why = error.strerror or type(error).__name__
            said = f"{error.filename} cannot be used ({why}); give another path."
            is_misuse = error.errno != errno.ENOSPC
        typer.echo(f"Error: {said}", err=True)
        raise typer.Exit(MISUSE if is_misuse else FAILURE) from None


# ----------------------------------------------------------------------------- terminal


def _show_changes(file: TableFile, located: Mapping[int, Decision], path: Path) -> None:
    """What ``apply`` has done."""
    changed, moved = [], []
    for row, each in located.items():
        if digest_row(file, row) != each.digest:
            changed.append(each)
        elif row != each.row:
            moved.append(f"{each} is now row {row}")
    lines = []
    if changed:
        found = "found by id or row number, perhaps changed since"
        lines.append(f"--force: {found}: {listed(changed)}.")
    if moved:
        lines.append(f"Rows that have moved were found by their id: {listed(moved)}.")
    kinds = [each.kind for each in located.values()]
    lines.append(
        f"{path}: {counted(kinds.count(FLIP), 'label')} changed, "
        f"{counted(kinds.count(DROP), 'row')} dropped, {kinds.count(KEEP)} kept "
        f"({counted(len(kinds), 'decision')} read)"
    )
    typer.echo("\n".join(lines), err=True)


def _show_columns(console: Console, plan: FileAudit) -> None:
    """What columns are, and what is left out."""
    file, skipped = plan.file, plan.unlabelled
    _show(console, f"{file.path.name}: {counted(file.n_rows, 'row')}", style="bold")
    for kind, title in ((NUMBER, "numbers"), (CATEGORY, "categories")):
        names = [name for name in plan.features if file.columns[name].kind == kind]
        if names:
            _show(console, f"  {title}: {', '.join(map(brief, names))}")
    if skipped:
        first = f"row {skipped[0]}" + (" is the first" if len(skipped) > 1 else "")
        _show(console, f"  skipped: {len(skipped)} without a label ({first})")
    for name, why in plan.left_out.items():
        _show(console, f"  left out: {brief(name)} ({why})")


def _show_findings(
    console: Console, summary: str, report: dict[str, Any], folder: Path
) -> None:
    """In numbers, the worst suspects, and where all of them are."""
    console.print()
    for line in summary.split("\n"):
        _show(console, brief(line, LONGEST_LINE))
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
            table.add_row(*map(_visible, cells))
        console.print(table)
        _show(console, f"Review them: {folder / PAGE}")
        _show(console, f"As a table: {folder / SUSPECTS}")
    else:
        _show(console, f"How well labels fit their rows: {folder / PAGE}")
    what = "the whole file" if report["source"] is not None else "the suspects' rows"
    _show(
        console, f"The page holds {what}: give it only to those who may see the data."
    )


@contextmanager
def _showing_warnings(console: Console) -> Iterator[None]:
    """Warnings as sentences, one of each kind, however often it is given."""
    shown = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        kind = NUMERAL.sub("", str(message))  # of other rows, with other numbers
        if kind not in shown:
            shown.add(kind)
            _show(console, f"Note: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _show(console: Console, line: str, style: str = "") -> None:
    console.print(_visible(line), style=style)


def _visible(text: str) -> Text:
    """Text without markup, whose control characters are made visible."""
    return Text(CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text))
