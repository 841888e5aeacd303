"""Rows that are the same but for their labels: some of these labels must be wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table


class Contradiction(NamedTuple):
    """Rows whose cells are all equal, but not their labels.

    Attributes
    ----------
    rows : their numbers
    codes : classes of their labels
    """

    rows: NDArray[np.intp]
    codes: NDArray[np.integer]


def find_contradictions(
    like: NDArray[np.intp], codes: NDArray[np.integer]
) -> list[Contradiction]:
    """All of them, by the numbers of ``number_likes``."""
    order = np.argsort(like, kind="stable")
    ends = np.flatnonzero(np.diff(like[order])) + 1
    found = []
    for rows in np.split(order, ends):
        own = codes[rows]
        if rows.size > 1 and (own != own[0]).any():
            found.append(Contradiction(rows, own))
    return found


def number_likes(table: Table) -> NDArray[np.intp]:
    """A number for each row; equal rows have the same. Missing cells are equal."""
    like = np.zeros(table.n_rows, dtype=np.intp)
    for j in range(table.n_features):
        cells = (
            table.category(j)[1] + 1 if table.is_categorical[j] else _number(table, j)
        )
        pair = like * (int(cells.max(initial=0)) + 1) + cells
        like = np.unique(pair, return_inverse=True)[1]
    return like


def find_difference(table: Table, other: Table) -> int | None:
    """Number of the first row in which two tables of one shape differ; None if none.

    Categories are compared by value. Missing cells are equal.
    """
    differs = np.zeros(table.n_rows, dtype=bool)
    for j in range(table.n_features):
        if table.is_categorical[j]:
            cells, others = (
                np.array([*values, None], dtype=object)[index]
                for values, index in (table.category(j), other.category(j))
            )
            differs |= cells != others
        else:
            numbers, others = table.numeric(j), other.numeric(j)
            differs |= (numbers != others) & ~(np.isnan(numbers) & np.isnan(others))
    return int(differs.argmax()) if differs.any() else None


def _number(table: Table, j: int) -> NDArray[np.intp]:
    """A number for each cell of a column of numbers; 0 for those that are missing."""
    values = table.numeric(j)
    known = ~np.isnan(values)
    found = np.zeros(values.size, dtype=np.intp)
    found[known] = np.unique(values[known], return_inverse=True)[1] + 1
    return found
