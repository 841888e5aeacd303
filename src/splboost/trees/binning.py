"""Binning: from columns to one byte per cell.

A numeric column with at most 255 distinct values gets a bin per value, so nothing is
lost; any other gets up to 255 bins of about equal weight. A categorical column gets a
bin per category. The code after a column's last bin stands for *missing*, which at
prediction also takes in categories never seen.

Codes are stored column by column (``codes[feature, row]``): histograms and splits read
whole columns.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from splboost.trees.columns import Table
from splboost.trees.threads import run

MAX_BINS = 255
SAMPLE_ROWS = 32_768  # rows that the bins of a long table are chosen from
SAMPLE_COLUMNS = 16  # of which so many columns at a time are copied

QUANTILE, EXACT, CATEGORICAL = 0, 1, 2


@dataclass(frozen=True)
class Binned:
    """Codes of every cell, and what the codes of each column mean.

    Attributes
    ----------
    codes : (n_features, n_rows) array of uint8
    n_bins : (n_features,) bins without the missing one, whose code is ``n_bins[f]``
    kind : (n_features,) QUANTILE, EXACT or CATEGORICAL
    offset : (n_features + 1,) where a column's bins start in a flat histogram
    points : flat floats from ``offset``: the bins' values if EXACT, else their upper
        edges
    categories : for each column None, or the table from a value to its code
    """

    codes: NDArray[np.uint8]
    n_bins: NDArray[np.int64]
    kind: NDArray[np.int64]
    offset: NDArray[np.int64]
    points: NDArray[np.float64]
    categories: list[dict[Any, int] | None]


def bin_table(
    table: Table,
    weight: NDArray[np.float64],
    *,
    n_threads: int = 1,
) -> Binned:
    """Choose bins for every column and encode all cells.

    Rows of weight zero must have been removed by the caller: they would leave a trace.
    """
    kind = np.where(table.is_categorical, CATEGORICAL, QUANTILE)
    points: list[NDArray[np.float64]] = [np.empty(0)] * table.n_features
    categories: list[dict[Any, int] | None] = [None] * table.n_features
    codes = np.empty((table.n_features, table.n_rows), dtype=np.uint8)

    numeric = np.flatnonzero(~table.is_categorical)
    _choose_bins(table, numeric, weight, points, kind, n_threads)
    for j in np.flatnonzero(table.is_categorical):
        values, index = table.category(int(j))
        coding = _choose_categories(values, index, weight, table.names[j])
        points[j] = np.arange(max(coding.values(), default=-1) + 1.0)
        categories[j] = coding
        codes[j] = encode_categories(values, index, coding, points[j].size)

    n_bins = np.array([p.size for p in points], dtype=np.int64)
    offset = np.concatenate([[0], np.cumsum(n_bins + 1)])
    flat = np.concatenate([np.append(p, np.inf) for p in points])
    binned = Binned(codes, n_bins, kind, offset, flat, categories)
    _encode_numeric(binned, table, numeric, n_threads)
    return binned


def _sample_rows(n_rows: int) -> NDArray[np.int64] | slice:
    """Rows to choose bins from: all, or one at random from each of many strata."""
    if n_rows <= SAMPLE_ROWS:
        return slice(None)
    steps = np.random.default_rng(0).random(SAMPLE_ROWS)
    return ((np.arange(SAMPLE_ROWS) + steps) * (n_rows / SAMPLE_ROWS)).astype(np.int64)


def _choose_bins(
    table: Table,
    numeric: NDArray[np.intp],
    weight: NDArray[np.float64],
    points: list[NDArray[np.float64]],
    kind: NDArray[np.int64],
    n_threads: int,
) -> None:
    """Set points and kind (see :class:`Binned`) of the numeric columns."""
    rows = _sample_rows(table.n_rows)
    sample_weight = np.ascontiguousarray(weight[rows])
    sampled = sample_weight.size < table.n_rows
    weighted = sample_weight.min() != sample_weight.max()

    def choose(columns: NDArray[np.intp]) -> None:
        values = table.numeric_sample(columns, rows)
        masses = np.broadcast_to(sample_weight, values.shape)
        if weighted:
            order = np.argsort(values, axis=1, kind="stable")
            values = np.take_along_axis(values, order, axis=1)
            masses = np.take_along_axis(masses, order, axis=1)
        else:
            values.sort(axis=1)
        chosen = np.empty(MAX_BINS + 1)
        for j, ascending, mass in zip(columns, values, masses, strict=True):
            count = distinct_values(ascending, chosen)
            if count <= MAX_BINS and sampled:
                # The sample may have missed rare values of the column.
                count = collect_unlisted(table.numeric(j), chosen, count)
            if count <= MAX_BINS:
                points[j], kind[j] = chosen[:count].copy(), EXACT
            else:
                if sampled and np.isnan(ascending[SAMPLE_ROWS // 20]):
                    # Mostly missing: the sample knows too little of the column.
                    ascending, mass = _sort_known(table.numeric(j), weight)
                count = quantile_edges(ascending, mass, MAX_BINS, chosen)
                points[j] = chosen[:count].copy()

    size = max(1, min(-(-numeric.size // n_threads), SAMPLE_COLUMNS))
    parts = [numeric[k : k + size] for k in range(0, numeric.size, size)]
    for k in range(0, len(parts), n_threads):
        run(choose, [(part,) for part in parts[k : k + n_threads]])


def _sort_known(
    column: NDArray[np.floating], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cells that are not missing in ascending order, and their weights."""
    known = np.flatnonzero(~np.isnan(column))
    order = known[np.argsort(column[known], kind="stable")]
    return column[order].astype(np.float64), weight[order]


def _choose_categories(
    values: list[Any],
    index: NDArray[np.integer],
    weight: NDArray[np.float64],
    name: str,
) -> dict[Any, int]:
    """Code of each category: sorted by value; the rarest pooled when too many."""
    mass = np.bincount(index[index >= 0], weight[index >= 0], minlength=len(values))
    present = [k for k in range(len(values)) if mass[k] > 0]
    try:
        present.sort(key=lambda k: values[k])
    except TypeError:
        present.sort(key=lambda k: (type(values[k]).__name__, str(values[k])))
    if len(present) < MAX_BINS:
        return {values[k]: code for code, k in enumerate(present)}
    warnings.warn(
        f"Column {name!r} has {len(present)} categories; the {MAX_BINS - 1} heaviest "
        "are kept and the rest pooled into one. Group them yourself to choose "
        "otherwise.",
        UserWarning,
        stacklevel=2,
    )
    heaviest = sorted(present, key=lambda k: -mass[k])[: MAX_BINS - 1]
    kept = set(heaviest)
    code = iter(range(MAX_BINS - 1))
    return {values[k]: next(code) if k in kept else MAX_BINS - 1 for k in present}


def encode_categories(
    values: list[Any],
    index: NDArray[np.integer],
    table_of_codes: dict[Any, int],
    missing_code: int,
) -> NDArray[np.int64]:
    """Codes of rows whose category is ``values[index]``; unknown counts as missing."""
    lookup = np.array([table_of_codes.get(v, missing_code) for v in values], np.int64)
    return np.append(lookup, missing_code)[index]


def _encode_numeric(
    binned: Binned, table: Table, numeric: NDArray[np.intp], n_threads: int
) -> None:
    edges = binned.points.copy()
    for j in numeric[binned.kind[numeric] == EXACT]:
        values = edges[binned.offset[j] : binned.offset[j + 1] - 1]
        values[:-1] = [middle(low, high) for low, high in itertools.pairwise(values)]
    for first_row, features, block in table.numeric_blocks(numeric):
        bounds = np.linspace(0, block.shape[0], n_threads + 1).astype(np.int64)
        run(
            encode_block,
            [
                (
                    block,
                    lo,
                    hi,
                    features,
                    edges,
                    binned.offset,
                    binned.n_bins,
                    binned.codes,
                    first_row,
                )
                for lo, hi in itertools.pairwise(bounds)
            ],
        )


@njit(nogil=True, cache=True, error_model="numpy")
def distinct_values(ascending, found):
    """Write the distinct values before NaN, at most ``found.size``; their number."""
    count = 0
    for i in range(ascending.size):
        x = ascending[i]
        if np.isnan(x) or count == found.size:
            break
        if count == 0 or x != found[count - 1]:
            found[count] = x
            count += 1
    return count


@njit(nogil=True, cache=True, error_model="numpy")
def collect_unlisted(column, listed, count):
    """Insert the column's values that sorted ``listed[:count]`` lacks; the new count.

    Stops when ``listed`` is full.
    """
    for i in range(column.size):
        if count == listed.size:
            break
        x = np.float64(column[i])
        k = np.searchsorted(listed[:count], x)
        if np.isnan(x) or (k < count and listed[k] == x):
            continue
        for j in range(count, k, -1):
            listed[j] = listed[j - 1]
        listed[k] = x
        count += 1
    return count


@njit(nogil=True, cache=True, error_model="numpy")
def quantile_edges(ascending, weight, max_bins, edges):
    """Write the upper edges of bins of about equal weight; their number.

    A bin is closed once it holds its share of the weight still to be placed, so a
    value heavier than a bin gets its own and the others share what is left. The last
    edge is +inf.
    """
    size = ascending.size
    while np.isnan(ascending[size - 1]):
        size -= 1
    rest = 0.0
    for i in range(size):
        rest += weight[i]
    count = 0
    held = 0.0
    for i in range(size - 1):
        held += weight[i]
        bins_left = max_bins - count
        full = held * bins_left >= rest * (1 - 1e-9)
        if full and bins_left > 1 and ascending[i] < ascending[i + 1]:
            edges[count] = middle(ascending[i], ascending[i + 1])
            count += 1
            rest -= held
            held = 0.0
    edges[count] = np.inf
    return count + 1


@njit(nogil=True, cache=True, error_model="numpy")
def middle(low, high):
    """A cut between two values: low <= cut < high, whatever the rounding."""
    cut = low / 2 + high / 2
    return low if cut >= high or cut < low else cut


@njit(nogil=True, cache=True, error_model="numpy")
def encode_block(
    block, first, last, features, edges, offset, n_bins, codes, row_of_first
):
    """Codes of some rows of a block: the number of upper edges below each value.

    ``features[k]`` is the feature in column k of the block, -1 to pass it over; row 0
    of the block is ``row_of_first`` of the codes. Works on a few thousand rows at a
    time, so that a row-major block is read from memory once; all of them go through
    the binary search step by step, free of branches.
    """
    size = 2048
    table = np.empty(256)
    x = np.empty(size)
    code = np.empty(size, dtype=np.int64)
    for lo in range(first, last, size):
        m = min(size, last - lo)
        row = row_of_first + lo
        for k in range(features.size):
            f = features[k]
            if f < 0:
                continue
            bins = n_bins[f]
            span = 1
            while 2 * span < bins:
                span *= 2
            for b in range(2 * span):  # padded, so that the search needs no bounds
                table[b] = edges[offset[f] + b] if b < bins - 1 else np.inf
            for i in range(m):
                x[i] = block[lo + i, k]
                code[i] = 0
            while span > 0:
                for i in range(m):
                    c = code[i]
                    code[i] = c + span if x[i] > table[c + span - 1] else c
                span >>= 1
            for i in range(m):
                codes[f, row + i] = bins if np.isnan(x[i]) else code[i]
