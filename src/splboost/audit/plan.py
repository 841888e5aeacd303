"""What of a file is to be audited, and how."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from splboost.audit.cleaning import locate_decisions
from splboost.audit.decisions import DROP, Decision
from splboost.audit.files import (
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
from splboost.audit.label_audit import LabelAudit
from splboost.audit.report import brief, make_report

WHOLE = re.compile(r"-?\d{1,15}")
FEWEST_ROWS = 20
MOST_CLASSES = 100
MOST_NUMBERS = 20  # different ones that may be classes; more have been measured


@dataclass(frozen=True)
class Plan:
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

    @classmethod
    def of(
        cls,
        file: TableFile,
        target: str,
        id_column: str | None,
        ignore: list[str],
        groups: str | None,
        decided: list[Decision],
        *,
        force: bool = False,
    ) -> Plan:
        """By the options of the command, which errors name."""
        column = file.column(target, "--target")
        labels = labels_of(file, target)
        _check_labels(file, column, labels)
        left_out = {target: _say_of_labels(column)}
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
                left_out[name] = _say_why(file, each)
            elif name not in left_out and _is_constant(each.cells):
                is_empty = all(cell is None for cell in each.cells)
                left_out[name] = "empty" if is_empty else "the same in all rows"
            elif name not in left_out and each.kind == NUMBER and _counts(each.cells):
                left_out[name] = "a running number"
        features = [name for name in file.columns if name not in left_out]
        if not features:
            some = list(left_out.items())[:MOST_NAMED]
            found = "; ".join(f"{name!r}: {why}" for name, why in some)
            found += "; …" if len(left_out) > MOST_NAMED else ""
            raise FileError(
                f"{file.path} has no column to judge the labels by; --categorical "
                f"makes categories of texts. What is left out, and why: {found}."
            )
        located = locate_decisions(decided, file, target, force=force)
        of = file.columns[groups].cells if groups is not None else None
        return cls(file, target, labels, features, left_out, id_column, of, located)

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
        """Audit what is left, with decisions so far taken for right."""
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
            of = self.groups  # rows that belong to nothing are each on their own
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


def _say_of_labels(column: Column) -> str:
    """What they are, and what of their cells does not count."""
    blanks = any(cell != cell.strip() for cell in column.cells if cell is not None)
    return "the labels, without the blanks around some" if blanks else "the labels"


def _say_why(file: TableFile, column: Column) -> str:
    """Why a column of texts is of no use, and what to do if it should be."""
    odd = find_odd_cell(column, file.separator)
    if odd is None:
        return "too many different values to be categories"
    row, cell = odd
    return (
        f"numbers, but {brief(cell)!r} in row {row} is none; leave such cells empty, "
        "or make categories of them by --categorical"
    )


def _is_constant(cells: Sequence[str | None]) -> bool:
    """Whether all are the same: of a box that is ticked or not, some are missing."""
    return all(cell == cells[0] for cell in cells)


def _counts(cells: Sequence[str | None]) -> bool:
    """Whether each is one more than the last, as in an index that was saved."""
    if not all(cell is not None and WHOLE.fullmatch(cell.strip()) for cell in cells):
        return False
    numbers = [int(cell) for cell in cells if cell is not None]
    return all(b - a == 1 for a, b in pairwise(numbers))


def _check_labels(
    file: TableFile, column: Column, labels: Sequence[str | None]
) -> None:
    there = [label for label in labels if label is not None]
    distinct = sorted(set(there))
    if len(there) < FEWEST_ROWS:
        of_all = (
            "" if len(there) == file.n_rows else f" with a label in {column.name!r}"
        )
        raise FileError(
            f"{file.path} has {len(there)} rows{of_all}; an audit needs {FEWEST_ROWS} "
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
            f"{file.path}: {column.name!r} has {len(distinct)} different numbers, from "
            f"{numbers[0]:g} to {numbers[-1]:g}, and looks measured; an audit needs "
            f"classes. If these are classes, say so by --categorical {column.name}."
        )
    if len(distinct) > MOST_CLASSES:
        raise FileError(
            f"{file.path}: {column.name!r} has {len(distinct)} different values; an "
            f"audit needs a column of up to {MOST_CLASSES} classes."
        )
