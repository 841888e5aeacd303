"""What an audit says in the terminal."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from splboost.audit.files import CATEGORY, NUMBER
from splboost.audit.label_audit import LabelAudit
from splboost.audit.outputs import PAGE, SUSPECTS
from splboost.audit.plan import Plan
from splboost.audit.report import brief
from splboost.audit.summary import summarise

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NUMERAL = re.compile(r"(?<![\w.])\d[\d.]*(?!\w)")  # and no part of a name
SHOWN = 10  # suspects
LONGEST_LINE = 300  # characters of what comes from data


def show_columns(console: Console, plan: Plan) -> None:
    """What is taken for what, and what is left out."""
    file = plan.file
    console.print(_plain(f"{file.path.name}: {file.n_rows} rows", style="bold"))
    for kind, title in ((NUMBER, "numbers"), (CATEGORY, "categories")):
        names = [name for name in plan.features if file.columns[name].kind == kind]
        if names:
            console.print(_plain(f"  {title}: {', '.join(map(brief, names))}"))
    skipped = plan.unlabelled
    if skipped:
        first = f"row {skipped[0]}" + (" is the first" if len(skipped) > 1 else "")
        console.print(_plain(f"  skipped: {len(skipped)} without a label ({first})"))
    for name, why in plan.left_out.items():
        console.print(_plain(f"  left out: {brief(name)} ({why})"))


def show_findings(
    console: Console,
    audit: LabelAudit,
    report: dict[str, Any],
    folder: Path,
    rows: Sequence[int],
) -> None:
    """In numbers, the worst suspects, and where all of them are.

    ``rows`` are the numbers in the file of those that were audited.
    """
    console.print()
    for line in summarise(audit, rows).split("\n"):
        console.print(_plain(brief(line, LONGEST_LINE)))
    suspects, names = report["suspects"][:SHOWN], report["classes"]
    if suspects:
        table = RichTable(title="The worst", title_justify="left")
        ids = ["id"] if any(each["id"] for each in suspects) else []
        for name in ("row", *ids, "label", "looks like", "chance wrong", "because"):
            table.add_column(name, overflow="fold")
        for each in suspects:
            because = each["reasons"][0]["text"] if each["reasons"] else ""
            cells = (
                str(each["row"]),
                *(brief(each[name] or "") for name in ids),
                brief(names[each["given"]]),
                brief(names[each["predicted"]]),
                f"{each['wrong']:.0%}",
                because,
            )
            table.add_row(*(_plain(cell) for cell in cells))
        console.print(table)
    if suspects:
        console.print(_plain(f"Review them: {folder / PAGE}"))
        console.print(_plain(f"As a table: {folder / SUSPECTS}"))
    else:
        console.print(_plain(f"How well labels fit their rows: {folder / PAGE}"))
    what = "the whole file" if report["source"] is not None else "the suspects' rows"
    console.print(
        _plain(f"The page holds {what}: give it only to those who may see the data.")
    )


@contextmanager
def showing_warnings(console: Console) -> Iterator[None]:
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
    """Text that nothing in it can style, and that does not steer the terminal."""
    visible = CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return Text(visible, style)
