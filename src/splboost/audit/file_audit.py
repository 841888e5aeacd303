"""What of a file is to be audited, and how."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from splboost.audit.decisions import DROP, Decision, locate_decisions
from splboost.audit.label_audit import LabelAudit
from splboost.audit.page import brief, make_report
from splboost.audit.table_files import (
    MOST_NAMED,
    NUMBER,
    TEXT,
    Column,
    FileError,
    TableFile,
    find_odd_cell,
    labels_of,
    make_table,
)

WHOLE = re.compile(r"-?\d{1,15}")
FEWEST_ROWS = 20
MOST_CLASSES = 100
MOST_NUMBERS = 20  # different numbers that may be classes; more are measurements


@dataclass(frozen=True)
class FileAudit:
    """What is to be audited.

    Attributes
    ----------
    file : TableFile
    target : name of the column of labels
    labels : by row of the file; None where there is none
    features : names of the columns to judge by
    left_out : other columns, and why
    id_column : name of the column that people know rows by, or None
    groups : by row of the file: what it belongs to; or None
    decided : decisions so far, by row of the file
    """

    file: TableFile
    target: str
    labels: list[str | None]
    features: list[str]
    left_out: dict[str, str]
    id_column: str | None
    groups: Sequence[Any] | None
    decided: dict[int, Decision]

    @property
    def unlabelled(self) -> list[int]:
        """Rows without a label."""
        return [row for row, label in enumerate(self.labels) if label is None]

    @property
    def rows(self) -> list[int]:
        """Those that have a label and are not dropped."""
        dropped = {row for row, each in self.decided.items() if each.kind == DROP}
        skipped = dropped.union(self.unlabelled)
        return [row for row in range(self.file.n_rows) if row not in skipped]

    def fit(self, audit: LabelAudit) -> None:
        """Audit the rows, with decisions so far taken to be right."""
        rows = np.array(self.rows)
        new = {row: each.label for row, each in self.decided.items()}
        original = np.array([str(self.labels[row]) for row in rows.tolist()])
        y = np.array([new.get(row) or str(self.labels[row]) for row in rows.tolist()])
        is_number = self.file.columns[self.target].kind == NUMBER
        if is_number and all(map(WHOLE.fullmatch, {*y.tolist(), *original.tolist()})):
            y, original = y.astype(int), original.astype(int)  # in the order of numbers
        frame = make_table(self.file, self.features)
        X = frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]
        groups = None
        if self.groups is not None:
            of = self.groups  # a row that belongs to nothing is a group of its own
            groups = np.array([of[row] or f"\0{row}" for row in rows.tolist()])
        trusted = np.isin(rows, list(self.decided))
        audit.fit(X, y, groups=groups, trusted=trusted, original=original)

    def report(self, audit: LabelAudit) -> dict[str, Any]:
        """What was found."""
        report = make_report(
            audit,
            self.file,
            self.target,
            self.features,
            id_column=self.id_column,
            rows=self.rows,
        )
        report["n_unlabelled"] = len(self.unlabelled)
        if self.decided:  # which a file cleaned by the page would lack
            report["source"] = None
        return report


def plan_audit(
    file: TableFile,
    target: str,
    id_column: str | None,
    ignore: list[str],
    groups: str | None,
    decided: list[Decision],
    *,
    force: bool = False,
) -> FileAudit:
    """Decide which columns and rows to audit, by the options of the command."""
    column = file.column(target, "--target")
    labels = labels_of(file, target)
    _check_labels(file, column, labels)
    has_blanks = any(cell != cell.strip() for cell in column.cells if cell is not None)
    left_out = {
        target: "the labels, without the blanks around some"
        if has_blanks
        else "the labels"
    }
    for option, names in (
        ("--id", [id_column]),
        ("--groups", [groups]),
        ("--ignore", ignore),
    ):
        for name in names:
            if name is not None:
                left_out[file.column(name, option).name] = option
    for name, each in file.columns.items():
        if name not in left_out and (why := _find_fault(file, each)):
            left_out[name] = why
    features = [name for name in file.columns if name not in left_out]
    if not features:
        some = list(left_out.items())[:MOST_NAMED]
        found = "; ".join(f"{name!r}: {why}" for name, why in some)
        found += "; …" if len(left_out) > MOST_NAMED else ""
        raise FileError(
            f"{file.path} has no column to judge the labels by; --categorical makes "
            f"categories of texts. What is left out, and why: {found}."
        )
    located = locate_decisions(decided, file, target, force=force)
    of = file.columns[groups].cells if groups is not None else None
    return FileAudit(file, target, labels, features, left_out, id_column, of, located)


def _find_fault(file: TableFile, column: Column) -> str | None:
    """Why a column is of no use, and what to do if it should be; None if it is."""
    cells = column.cells
    if column.kind == TEXT:
        odd = find_odd_cell(column, file.separator)
        if odd is None:
            return "too many different values to be categories"
        row, cell = odd
        return (
            f"numbers, but {brief(cell)!r} in row {row} is none; leave such cells "
            "empty, or make categories of them by --categorical"
        )
    if all(cell == cells[0] for cell in cells):  # missing ones are values, too
        return "empty" if cells[0] is None else "the same in all rows"
    if column.kind == NUMBER and all(
        cell is not None and WHOLE.fullmatch(cell.strip()) for cell in cells
    ):
        numbers = [int(str(cell)) for cell in cells]
        if all(b - a == 1 for a, b in pairwise(numbers)):
            return "a running number"  # as an index that was saved
    return None


def _check_labels(
    file: TableFile, column: Column, labels: Sequence[str | None]
) -> None:
    known = [label for label in labels if label is not None]
    distinct = sorted(set(known))
    start = f"{file.path}: {column.name!r} has {len(distinct)} different"
    if len(known) < FEWEST_ROWS:
        some = "" if len(known) == file.n_rows else f" with a label in {column.name!r}"
        raise FileError(
            f"{file.path} has {len(known)} rows{some}; an audit needs {FEWEST_ROWS} "
            "at least, and hundreds to be of use."
        )
    if len(distinct) < 2:
        raise FileError(
            f"{file.path}: all labels in {column.name!r} are {distinct[0]!r}; an audit "
            "needs two classes."
        )
    if column.kind == NUMBER and len(distinct) > MOST_NUMBERS:
        numbers = sorted(map(float, distinct))
        raise FileError(
            f"{start} numbers, from {numbers[0]:g} to {numbers[-1]:g}, and looks "
            "measured; an audit needs classes. If these are classes, say so by "
            f"--categorical {column.name}."
        )
    if len(distinct) > MOST_CLASSES:
        raise FileError(
            f"{start} values; an audit needs a column of up to {MOST_CLASSES} classes."
        )
