"""What of a file is to be audited, and how."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from splboost.audit.decisions import DROP, Decision, check_decisions
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


@dataclass(frozen=True)
class Plan:
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
    ) -> Plan:
        """By the options of the command, which errors name."""
        column = file.column(target, "--target")
        labels = labels_of(file, target)
        _check_labels(file, column.kind, target, labels)
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
                left_out[name] = "the same in all rows"
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
        original = np.array(labels)[rows]
        for row, each in self.decided.items():
            labels[row] = each.label or labels[row]
        y = np.array(labels)[rows]
        is_number = self.file.columns[self.target].kind == NUMBER
        if is_number and all(map(WHOLE.fullmatch, {*labels, *original})):
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
            audit, self.file, self.target, self.features, ids=self.ids, rows=self.rows
        )
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
    """Whether all that are there are the same."""
    there = (cell for cell in cells if cell is not None)
    first = next(there, None)
    return all(cell == first for cell in there)


def _counts(cells: Sequence[str | None]) -> bool:
    """Whether each is one more than the last, as in an index that was saved."""
    if not all(cell is not None and WHOLE.fullmatch(cell.strip()) for cell in cells):
        return False
    numbers = [int(cell) for cell in cells if cell is not None]
    return all(b - a == 1 for a, b in pairwise(numbers))


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
