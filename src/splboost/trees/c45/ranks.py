"""Cells as ranks among the distinct values of their column: nothing is binned away.

A numeric column of many values comes with its rows in ascending order, sorted once per
fit; a tree divides these lists along with its nodes and never sorts. A column of few
values, and every categorical one, needs no list: its cells are counted by rank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._data.coding import Coding, encode_categories, sort_categories
from splboost._data.table import Table
from splboost._tools.compiling import lean_kernel
from splboost._tools.threads import run, share
from splboost._tools.user_warnings import warn

GAP = 1e-5  # values that lie no further apart are one to C4.5
MOST_COUNTED = 256  # values of a column whose cells are counted, not sorted
ROW_BITS = 32
ROW = (1 << ROW_BITS) - 1
SORTING_WORK = 20
MISSING = -1
FEW_CUTS = 0.1  # of those between neighbouring values


class Cells(NamedTuple):
    """A table as C4.5 sees it.

    Attributes
    ----------
    rank : (n_features, n_rows) place of each cell among its column's values, MISSING
        if it has none
    offset : (n_features + 1,) where a column's values start
    values : flat floats from ``offset``: the distinct values; ranks for categories
    categorical : (n_features,) booleans
    crowded : (n_features,) whether some neighbouring values are closer than GAP
    which_list : (n_features,) row of ``ascending``, -1 for a counted column
    ascending : (n_lists + 1, n_rows) rows; and sorted (rank, row) pairs in one number
        for each sorted column, missing last
    valid : of the same shape, whether a cut may fall behind each of these
    any_missing : whether any cell is missing
    """

    rank: NDArray[np.int32]
    offset: NDArray[np.int64]
    values: NDArray[np.float64]
    categorical: NDArray[np.bool_]
    crowded: NDArray[np.bool_]
    which_list: NDArray[np.int64]
    ascending: NDArray[np.int64]
    valid: NDArray[np.bool_]
    any_missing: bool


def rank_table(table: Table, *, n_threads: int = 1) -> tuple[Cells, Coding]:
    """Rank all cells; and for each column None, or the table from category to rank.

    Rows of weight zero must have been removed by the caller.
    """
    n_features, n_rows = table.n_features, table.n_rows
    rank = np.empty((n_features, n_rows), dtype=np.int32)
    ascending = np.empty((n_features + 1, n_rows), dtype=np.int64)
    ascending[0] = np.arange(n_rows)
    values: list[NDArray[np.float64]] = [np.empty(0)] * n_features
    coding: Coding = [None] * n_features

    def sort_columns(first: int, last: int) -> None:
        for j in numeric[first:last]:
            column = np.array(table.numeric(j), dtype=np.float64)
            order = np.argsort(column)  # NaN comes last
            column = column[order]
            n_values = rank_sorted(column, order, rank[j], ascending[j + 1])
            ascending[j + 1].sort()  # of equal values by row
            values[j] = column[:n_values].copy()

    numeric = np.flatnonzero(~table.is_categorical)
    run(sort_columns, share(numeric.size, n_threads, SORTING_WORK * n_rows))
    for j in np.flatnonzero(table.is_categorical):
        found, index = table.category(int(j))
        present = np.bincount(index[index >= 0], minlength=len(found)) > 0
        order = sort_categories(found, present)
        of_category = {found[k]: place for place, k in enumerate(order)}
        coding[j] = of_category
        values[j] = np.arange(float(len(order)))
        rank[j] = encode_categories(found, index, of_category, MISSING)

    n_values = np.array([v.size for v in values], dtype=np.int64)
    crowded = np.array([bool(np.any(~(v[:-1] < v[1:] - GAP))) for v in values])
    _warn_of_narrow(table, values, crowded)
    lists = np.flatnonzero(~table.is_categorical & (n_values > MOST_COUNTED))
    which_list = np.full(n_features, -1)
    which_list[lists] = np.arange(1, lists.size + 1)
    if lists.size < n_features:
        ascending = ascending[np.r_[0, lists + 1]]
    valid = np.zeros(ascending.shape, dtype=np.bool_)
    for k, j in enumerate(lists, start=1):
        known = int(np.count_nonzero(rank[j] != MISSING))
        mark_valid(values[j], crowded[j], ascending[k, :known], valid[k, :known])
    cells = Cells(
        rank=rank,
        offset=np.concatenate([[0], np.cumsum(n_values)]),
        values=np.concatenate(values),
        categorical=np.array(table.is_categorical),
        crowded=crowded,
        which_list=which_list,
        ascending=ascending,
        valid=valid,
        any_missing=bool((rank == MISSING).any()),
    )
    return cells, coding


def _warn_of_narrow(
    table: Table, values: list[NDArray[np.float64]], crowded: NDArray[np.bool_]
) -> None:
    """C4.5's gap is absolute: a column in large units would silently lose its cuts."""
    narrow = []
    for j in np.flatnonzero(crowded):
        n_cuts = int(np.count_nonzero(values[j][:-1] < values[j][1:] - GAP))
        if n_cuts < FEW_CUTS * (values[j].size - 1):
            narrow.append(f"{table.names[j]!r} ({n_cuts} of {values[j].size - 1})")
    if narrow:
        warn(
            f"C4.5 takes values no further apart than {GAP:g} for equal, which leaves "
            f"few of the possible cuts of column {', '.join(narrow)}; give it in "
            "smaller units, say multiplied by 1000.",
            topic="narrow columns",
        )


@lean_kernel
def rank_sorted(column, order, rank, ascending):
    """Ranks and (rank, row) pairs of a sorted column, whose values move to the front.

    Returns the number of distinct values.
    """
    n_values, known = 0, 0
    for i in range(column.size):
        x = column[i]
        if np.isnan(x):
            break
        if n_values == 0 or x != column[n_values - 1]:
            column[n_values] = x
            n_values += 1
        row = order[i]
        rank[row] = n_values - 1
        ascending[i] = ((n_values - 1) << ROW_BITS) | row
        known += 1
    for i in range(known, column.size):
        row = order[i]
        rank[row] = MISSING
        ascending[i] = (n_values << ROW_BITS) | row
    return n_values


@lean_kernel(inner=True)
def rank_of(entry):
    """Unsigned, so that numba need not look whether it is negative."""
    return np.uint64(entry) >> np.uint64(ROW_BITS)


@lean_kernel
def mark_valid(values, crowded, entries, valid):
    """Whether a cut may fall behind each entry.

    One entry more than ``valid`` may be given, which only follows; otherwise no cut
    falls behind the last.
    """
    n = entries.size
    if crowded:
        value = values[rank_of(entries[0])]
        for i in range(n - 1):
            following = values[rank_of(entries[i + 1])]
            valid[i] = value < following - GAP
            value = following
    else:
        for i in range(n - 1):
            valid[i] = rank_of(entries[i]) != rank_of(entries[i + 1])
    if n == valid.size:
        valid[n - 1] = False
