"""``splboost audit``: which labels of a file are wrong, and the file put right."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text
from typer.core import TyperGroup

from splboost.audit.decisions import (
    DROP,
    FIELDS,
    KEEP,
    Decision,
    check_decisions,
    guarded,
    read_decisions,
    write_cleaned,
)
from splboost.audit.files import (
    CATEGORY,
    NUMBER,
    TEXT,
    FileError,
    TableFile,
    labels_of,
    make_table,
    read_file,
)
from splboost.audit.label_audit import LabelAudit
from splboost.audit.page import write_page
from splboost.audit.report import brief, make_report

WHOLE = re.compile(r"-?\d{1,15}")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
FAILURE, INTERRUPT = 1, 130  # exit codes, beside 2 for options that are wrong
RUN = "run"
SHOWN = 10  # suspects in the terminal
FEWEST_ROWS = 20
MOST_CLASSES = 100
LONGEST_LINE = 300  # characters in the terminal of what comes from data
SUSPECTS, PAGE, SUMMARY = "suspects.csv", "review.html", "summary.json"


class _FileFirst(TyperGroup):
    """``audit FILE`` is ``audit run FILE``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [RUN, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_FileFirst,
    no_args_is_help=True,
    help="Which labels of a file are wrong: splboost audit FILE --target COLUMN, and "
    "then splboost audit apply.",
)


def _split_name(path: Path) -> tuple[str, str]:
    """Name of a file without its ending, and that, as ``.csv`` or ``.csv.gz``."""
    ending = path.suffix
    if ending.lower() == ".gz":
        ending = path.with_suffix("").suffix + ending
    return path.name.removesuffix(ending), ending


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


@app.command(RUN)
def audit(
    data: Annotated[Path, typer.Argument(help="CSV, CSV.gz or Parquet, with names.")],
    target: Annotated[str, typer.Option("--target", help="Column of the labels.")],
    id_column: Annotated[
        str | None, typer.Option("--id", help="Column by which people know a row.")
    ] = None,
    ignore: Annotated[
        str | None, typer.Option("--ignore", help="Columns to leave out: a,b.")
    ] = None,
    categorical: Annotated[
        str | None,
        typer.Option("--categorical", help="Numbers that are categories: a,b."),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option("--groups", help="Column of what rows belong to, as a person."),
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="So many suspects, the worst.")
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option("--precision", help="Suspects of whom so many are wrong: 0.9."),
    ] = None,
    reviewed: Annotated[
        list[Path] | None,
        typer.Option("--reviewed", help="Decisions so far: their labels are trusted."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for what is found.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Faster, less sharp.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Of all that is drawn.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", help="Threads; -1 uses all.")] = -1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing else.")] = False,
) -> None:
    """Rank labels by how likely they are wrong, and write a page to review them."""
    if top is not None and precision is not None:
        raise typer.BadParameter("--top and --precision both say how many; give one.")
    if precision is not None and not 0 < precision < 1:
        raise typer.BadParameter(
            f"--precision {precision:g} is no share; give one between 0 and 1, as 0.9."
        )
    console = Console(stderr=True, quiet=quiet)
    with _plain_errors():
        file = read_file(data, _split(categorical))
        folder = out or data.with_name(f"{_split_name(data)[0]}-audit")
        _spare_decisions(folder / SUSPECTS)
        decided = read_decisions(reviewed or [], file.n_rows)
        plan = _Plan.of(file, target, id_column, _split(ignore), groups, decided)
        _show_columns(console, plan)
        found = LabelAudit(
            top=top,
            precision=precision,
            quick=quick,
            n_jobs=jobs,
            random_state=seed,
            verbose=0 if quiet else 1,
        )
        plan.fit(found)
        report = plan.report(found)
        folder.mkdir(parents=True, exist_ok=True)
        write_page(report, folder / PAGE)
        _write_suspects(report, folder / SUSPECTS)
        summary = _summarise(report, folder)
        (folder / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n")
        _show(console, found, report, folder)
        if as_json:
            typer.echo(json.dumps(summary, indent=1))


@app.command("apply")
def apply_command(
    data: Annotated[Path, typer.Argument(help="The file that was audited.")],
    decisions: Annotated[
        list[Path], typer.Argument(help="Decisions that the review page has saved.")
    ],
    target: Annotated[str, typer.Option("--target", help="Column of the labels.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Write the data with the decisions of a review; all else stays as it is."""
    with _plain_errors():
        file = read_file(data)
        found = read_decisions(decisions, file.n_rows)
        name, ending = _split_name(data)
        path = out or data.with_name(f"{name}-cleaned{ending}")
        if path.resolve() == data.resolve():
            raise FileError(f"--out {path} is the file itself; give another name.")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_cleaned(file, target, found, path)
        kinds = [each.kind for each in found]
        if not quiet:
            _say(
                f"{path}: {kinds.count('flip')} labels changed, {kinds.count(DROP)} "
                f"rows dropped, {kinds.count(KEEP)} kept as they were"
            )


@dataclass(frozen=True)
class _Plan:
    """What is to be audited."""

    file: TableFile
    target: str
    features: list[str]
    left_out: dict[str, str]  # columns, and why
    ids: Sequence[str | None] | None
    groups: Sequence[Any] | None
    decided: dict[int, Decision]

    @classmethod
    def of(
        cls,
        file: TableFile,
        target: str,
        id_column: str | None,
        ignore: list[str],
        groups: str | None,
        decided: list[Decision],
    ) -> _Plan:
        column = file.column(target, "--target")
        labels = labels_of(file, target)
        _check_labels(file, column.kind, target, labels)
        left_out = {target: "the labels"}
        for names, option in (
            ([id_column], "--id"),
            ([groups], "--groups"),
            (ignore, "--ignore"),
        ):
            for name in names:
                if name is not None:
                    left_out[file.column(name, option).name] = option
        for name, each in file.columns.items():
            if name not in left_out and each.kind == TEXT:
                left_out[name] = "text with too many values to be categories"
            elif name not in left_out and len(set(each.cells) - {None}) < 2:
                left_out[name] = "the same in all rows"
        features = [name for name in file.columns if name not in left_out]
        if not features:
            raise FileError(
                f"{file.path} has no column to judge the labels by; --categorical "
                "makes categories of texts."
            )
        check_decisions(decided, file, target)
        ids = file.columns[id_column].cells if id_column is not None else None
        of = file.columns[groups].cells if groups is not None else None
        by_row = {each.row: each for each in decided}
        return cls(file, target, features, left_out, ids, of, by_row)

    @property
    def rows(self) -> list[int]:
        """Those that are not dropped."""
        dropped = {row for row, each in self.decided.items() if each.kind == DROP}
        return [row for row in range(self.file.n_rows) if row not in dropped]

    def fit(self, audit: LabelAudit) -> None:
        """Audit what is left, with decisions so far taken for right."""
        rows = np.array(self.rows)
        labels = labels_of(self.file, self.target)
        for row, each in self.decided.items():
            labels[row] = each.label or labels[row]
        y = np.array(labels)[rows]
        is_number = self.file.columns[self.target].kind == NUMBER
        if is_number and all(map(WHOLE.fullmatch, set(labels))):
            y = y.astype(int)  # in the order of numbers
        frame = make_table(self.file, self.features)
        X = frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]
        groups = None
        if self.groups is not None:
            of = self.groups  # rows that belong to nothing are each on their own
            groups = np.array([of[row] or f"\0{row}" for row in rows.tolist()])
        trusted = np.isin(rows, list(self.decided))
        audit.fit(X, y, groups=groups, trusted=trusted)

    def report(self, audit: LabelAudit) -> dict[str, Any]:
        """What was found."""
        report = make_report(
            audit, self.file, self.target, self.features, ids=self.ids, rows=self.rows
        )
        if self.decided:  # which a file cleaned by the page would lack
            report["source"] = None
        return report


def _check_labels(
    file: TableFile, kind: str, target: str, labels: Sequence[str]
) -> None:
    distinct = sorted(set(labels))
    if file.n_rows < FEWEST_ROWS:
        raise FileError(
            f"{file.path} has {file.n_rows} rows; an audit needs {FEWEST_ROWS} at "
            "least, and hundreds to be of use."
        )
    if len(distinct) < 2:
        raise FileError(
            f"{file.path}: all labels in {target!r} are {distinct[0]!r}; an audit "
            "needs two classes."
        )
    if len(distinct) > MOST_CLASSES:
        what = "measured numbers" if kind == NUMBER else "texts"
        raise FileError(
            f"{file.path}: {target!r} has {len(distinct)} different values and looks "
            f"like {what}; an audit needs a column of up to {MOST_CLASSES} classes."
        )


def _show_columns(console: Console, plan: _Plan) -> None:
    file = plan.file
    console.print(_plain(f"{file.path.name}: {file.n_rows} rows", style="bold"))
    for kind, title in ((NUMBER, "numbers"), (CATEGORY, "categories")):
        names = [name for name in plan.features if file.columns[name].kind == kind]
        if names:
            console.print(_plain(f"  {title}: {', '.join(map(brief, names))}"))
    for name, why in plan.left_out.items():
        console.print(_plain(f"  left out: {brief(name)} ({why})"))


def _show(
    console: Console, audit: LabelAudit, report: dict[str, Any], folder: Path
) -> None:
    console.print()
    for line in audit.summary().split("\n"):
        console.print(_plain(brief(line, LONGEST_LINE)))
    suspects, names = report["suspects"][:SHOWN], report["classes"]
    if suspects:
        table = RichTable(title="The worst", title_justify="left")
        for name in ("row", "id", "label", "looks like", "chance wrong", "because"):
            table.add_column(name, overflow="fold")
        for each in suspects:
            because = each["reasons"][0]["text"] if each["reasons"] else ""
            cells = (
                str(each["row"]),
                brief(each["id"] or ""),
                brief(names[each["given"]]),
                brief(names[each["predicted"]]),
                f"{each['wrong']:.0%}",
                because,
            )
            table.add_row(*(_plain(cell) for cell in cells))
        console.print(table)
    console.print(_plain(f"Review them: {folder / PAGE}"))
    console.print(_plain(f"As a table: {folder / SUSPECTS}"))


def _plain(text: str, style: str = "") -> Text:
    """Text that nothing in it can style, and that does not steer the terminal."""
    visible = CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return Text(visible, style)


def _spare_decisions(path: Path) -> None:
    """Refuse to write over a list that somebody has filled in."""
    try:
        decided = read_decisions([path])
    except FileError:
        return
    if decided:
        raise FileError(
            f"{path} has {len(decided)} decisions, which would be lost; give --out "
            "another folder, or move it."
        )


def _write_suspects(report: dict[str, Any], path: Path) -> None:
    """Those to review, the worst first; apply takes it with decisions filled in."""
    names = report["classes"]
    columns = [column["name"] for column in report["columns"]]
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*FIELDS, "chance_wrong", "label_quality", "because", *columns])
        for each in report["suspects"]:
            because = each["reasons"][0]["text"] if each["reasons"] else ""
            writer.writerow(
                [
                    each["row"],
                    guarded(each["id"]),
                    guarded(names[each["given"]]),
                    "",
                    guarded(names[each["predicted"]]),
                    each["wrong"],
                    each["quality"],
                    guarded(because),
                    *map(guarded, each["cells"]),
                ]
            )


def _summarise(report: dict[str, Any], folder: Path) -> dict[str, Any]:
    kept = (
        "name",
        "target",
        "version",
        "classes",
        "n_rows",
        "noise_rate",
        "noise_rate_std",
        "expected_precision",
        "confusion",
        "contradictions",
    )
    return {
        **{name: report[name] for name in kept},
        "n_suspects": len(report["suspects"]),
        "page": str(folder / PAGE),
        "suspects": str(folder / SUSPECTS),
    }


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Sentences for what a user can mend."""
    try:
        yield
    except KeyboardInterrupt:
        _say("Stopped.")
        raise typer.Exit(INTERRUPT) from None
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:
        _say(f"Error: {error}")
        raise typer.Exit(FAILURE) from None


def _say(line: str) -> None:
    print(line, file=sys.stderr)
