"""Binning: from columns to one byte per cell.

A numeric column with at most 255 distinct values gets a bin per value, so nothing is
lost; any other gets up to 255 bins of about equal weight. A categorical column gets a
bin per category. The code after a column's last bin stands for *missing*, which at
prediction also takes in categories never seen.

Codes are stored column by column (``codes[feature, row]``): histograms and splits read
whole columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.coding import Coding, encode_categories, sort_categories
from splboost._data.table import Table
from splboost._tools.compiling import jitable, kernel
from splboost._tools.maths import choose
from splboost._tools.threads import run, share
from splboost._tools.user_warnings import warn

MAX_BINS = 255
SAMPLE_ROWS = 32_768  # rows that the bins of a long table are chosen from
DIGEST_ROWS = 4096  # at a time
ODD = np.uint64(0x9E3779B97F4A7C15)  # by which bits are mixed
ENCODED_ROWS = 2048  # at a time, for which the fastest cache has room
GRID_CELLS = 256
SORTING_WORK = 10  # steps to sort a cell and find its bin

QUANTILE, EXACT, CATEGORICAL = 0, 1, 2


def middle(low: Any, high: Any) -> Any:
    """A cut between two values: low <= cut < high, whatever the rounding."""
    cut = low / 2 + high / 2
    return choose((cut >= high) | (cut < low), low, cut)


jitable(middle)


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
    categories: Coding

    def take(self, kept: NDArray[np.bool_]) -> Binned:
        """Some of the rows, in the same bins."""
        return replace(self, codes=np.ascontiguousarray(self.codes[:, kept]))


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
    categories: Coding = [None] * table.n_features
    codes = np.empty((table.n_features, table.n_rows), dtype=np.uint8)

    numeric = np.flatnonzero(~table.is_categorical)
    chosen = _choose_bins(table, numeric, weight, n_threads)
    for j, (of_column, kind_of_column) in zip(numeric, chosen, strict=True):
        points[j], kind[j] = of_column, kind_of_column
    pooled = []
    for j in np.flatnonzero(table.is_categorical):
        values, index = table.category(int(j))
        coding = _choose_categories(values, index, weight)
        if len(coding) > MAX_BINS:
            pooled.append(f"{table.names[j]!r} ({len(coding)})")
        points[j] = np.arange(max(coding.values(), default=-1) + 1.0)
        categories[j] = coding
        codes[j] = encode_categories(values, index, coding, points[j].size)
    if pooled:
        warn(
            f"Columns with more than {MAX_BINS} categories: {', '.join(pooled)}. The "
            f"{MAX_BINS - 1} heaviest of each are kept and the rest pooled into one; "
            "group them yourself to choose otherwise."
        )

    n_bins = np.array([p.size for p in points], dtype=np.int64)
    offset = np.concatenate([[0], np.cumsum(n_bins + 1)])
    flat = np.concatenate([np.append(p, np.inf) for p in points])
    edges = flat.copy()
    for j in numeric[kind[numeric] == EXACT]:
        cuts = edges[offset[j] : offset[j + 1] - 1]
        cuts[:-1] = middle(cuts[:-1], cuts[1:])
    grid = np.zeros((table.n_features, GRID_CELLS), dtype=np.uint8)
    scale = np.zeros((table.n_features, 3))
    for j in numeric:
        grid[j], scale[j] = _make_grid(edges[offset[j] : offset[j + 1] - 2])

    def encode(block: Any, features: Any, first_row: int, start: int, end: int) -> None:
        for lo in range(start, end, ENCODED_ROWS):
            cells = block[lo : min(lo + ENCODED_ROWS, end)]
            # Kernels would be compiled anew for cells of another type or order.
            cells = np.require(cells, np.float64, ["C", "W"])
            bins = edges, offset, n_bins, grid, scale
            encode_cells(cells, features, bins, codes, first_row + lo)

    for first_row, features, block in table.numeric_blocks(numeric):
        parts = share(block.shape[0], n_threads, features.size)
        run(encode, [(block, features, first_row, lo, hi) for lo, hi in parts])
    return Binned(codes, n_bins, kind, offset, flat, categories)


def _sample_rows(
    table: Table, numeric: NDArray[np.intp], weight: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Marks rows to choose bins from: a sample that the order of rows cannot change.

    Each row draws its lot from what it holds. Equal rows are numbered and draw one lot
    each, so that as many of them are in the sample as chance would have it; which ones
    makes no difference.
    """
    lot = _digest_rows(table, numeric, weight)
    if (np.diff(np.sort(lot)) == 0).any():
        lot += _count_copies(lot).astype(np.uint64) * ODD
    lot = (lot ^ (lot >> np.uint64(32))) * ODD
    lot ^= lot >> np.uint64(29)
    return lot < np.partition(lot, SAMPLE_ROWS)[SAMPLE_ROWS]


def _count_copies(values: NDArray[Any]) -> NDArray[np.intp]:
    """How many equal values have been counted before each, in some order."""
    order = np.argsort(values)
    ascending, place = values[order], np.arange(values.size)
    is_first = np.append(True, ascending[1:] != ascending[:-1])
    copies = np.empty(values.size, dtype=np.intp)
    copies[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return copies


def _digest_rows(
    table: Table, numeric: NDArray[np.intp], weight: NDArray[np.float64]
) -> NDArray[np.uint64]:
    """A number for each row by its numeric cells and its weight, whatever their types.

    It is the sum of their bits, each times an odd number of its own, modulo 2**64.
    """
    factors = np.random.default_rng(0).integers(
        1 << 63, size=table.n_features + 1, dtype=np.uint64
    )
    factors = 2 * factors + 1
    digest = weight.view(np.uint64) * factors[-1]
    for first_row, features, block in table.numeric_blocks(numeric):
        of_column = np.where(features >= 0, factors[features], np.uint64(0))
        for lo in range(0, block.shape[0], DIGEST_ROWS):
            cells = np.array(block[lo : lo + DIGEST_ROWS], np.float64, order="C")
            cells += 0.0  # of which -0.0 is 0.0
            cells[np.isnan(cells)] = np.nan
            rows = slice(first_row + lo, first_row + lo + cells.shape[0])
            digest[rows] += cells.view(np.uint64) @ of_column
    return digest


def _choose_bins(
    table: Table,
    numeric: NDArray[np.intp],
    weight: NDArray[np.float64],
    n_threads: int,
) -> list[tuple[NDArray[np.float64], int]]:
    """Points and kind (see :class:`Binned`) of each numeric column."""
    sample, sample_weight = table, weight
    if sampled := table.n_rows > SAMPLE_ROWS:
        rows = _sample_rows(table, numeric, weight)
        sample, sample_weight = table.take(rows), weight[rows]
    chosen: list[Any] = [None] * numeric.size

    def choose_columns(first: int, last: int) -> None:
        for k in range(first, last):
            known, mass = _sort_known(sample.numeric(numeric[k]), sample_weight)
            is_first = np.append(True, known[1:] != known[:-1])[: known.size]
            distinct = known[is_first]
            if sampled and distinct.size <= MAX_BINS:
                distinct = _add_missed(distinct, table.numeric(numeric[k]))
            if distinct.size <= MAX_BINS:
                chosen[k] = distinct, EXACT
                continue
            if sampled and known.size < SAMPLE_ROWS // 20:
                # The sample knows too little of a column where most is missing.
                known, mass = _sort_known(table.numeric(numeric[k]), weight)
            edges = np.empty(MAX_BINS)
            n_edges = quantile_edges(known, mass, MAX_BINS, edges)
            chosen[k] = edges[:n_edges].copy(), QUANTILE

    work = SORTING_WORK * sample_weight.size
    run(choose_columns, share(numeric.size, n_threads, work))
    return chosen


def _add_missed(
    distinct: NDArray[np.float64], column: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Distinct values, and those that only the whole column has; too many may lack."""
    for lo in range(0, column.size, SAMPLE_ROWS):
        part = column[lo : lo + SAMPLE_ROWS].astype(np.float64)
        place = np.searchsorted(distinct, part)
        missed = part != np.append(distinct, np.nan)[place]
        missed &= ~np.isnan(part)
        if missed.any():
            distinct = np.union1d(distinct, part[missed])
        if distinct.size > MAX_BINS:
            break
    return distinct


def _sort_known(
    column: NDArray[np.floating], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cells that are not missing in ascending order; their weights unless equal."""
    values = column.astype(np.float64)
    n_known = values.size - np.count_nonzero(np.isnan(values))
    if weight.min() == weight.max():
        values.sort()  # NaN comes last
        return values[:n_known], np.empty(0)
    order = np.argsort(values)[:n_known]
    return values[order], weight[order]


def _choose_categories(
    values: list[Any],
    index: NDArray[np.integer],
    weight: NDArray[np.float64],
) -> dict[Any, int]:
    """Code of each category: sorted by value; the rarest pooled when too many."""
    mass = np.bincount(index[index >= 0], weight[index >= 0], minlength=len(values))
    present = sort_categories(values, mass > 0)
    if len(present) <= MAX_BINS:
        return {values[k]: code for code, k in enumerate(present)}
    heaviest = sorted(present, key=lambda k: -mass[k])[: MAX_BINS - 1]
    kept = set(heaviest)
    code = iter(range(MAX_BINS - 1))
    return {values[k]: next(code) if k in kept else MAX_BINS - 1 for k in present}


@kernel
def quantile_edges(ascending, weight, max_bins, edges):
    """Write the upper edges of bins of about equal weight; their number.

    A bin is closed once it holds its share of the weight still to be placed, so a
    value heavier than a bin gets its own and the others share what is left. The last
    edge is +inf. An empty ``weight`` stands for equal ones.
    """
    size = ascending.size
    weighted = weight.size > 0
    rest = 0.0 if weighted else np.float64(size)
    for i in range(size if weighted else 0):
        rest += weight[i]
    count = 0
    held = 0.0
    for i in range(size - 1):
        held += weight[i] if weighted else 1.0
        bins_left = max_bins - count
        full = held * bins_left >= rest * (1 - 1e-9)
        if full and bins_left > 1 and ascending[i] < ascending[i + 1]:
            edges[count] = middle(ascending[i], ascending[i + 1])
            count += 1
            rest -= held
            held = 0.0
    edges[count] = np.inf
    return count + 1


def _make_grid(edges: NDArray[np.float64]) -> tuple[Any, tuple[float, float, int]]:
    """Equal cells over the range of edges, and how many edges lie below each cell.

    Also where the cells begin, how many there are per unit, and the first step of a
    binary search among the edges of one cell. With the grid all cells of a table are
    encoded in half the time.
    """
    width = float(edges[-1]) - float(edges[0]) if edges.size else 0.0
    if not 0 < width < np.inf:
        return 0, (0.0, 0.0, 128)
    per_unit = min(GRID_CELLS / width, np.finfo(float).max)
    cell = np.minimum((edges - edges[0]) * per_unit, GRID_CELLS - 1).astype(np.intp)
    below = np.searchsorted(cell, np.arange(GRID_CELLS))
    most = np.bincount(cell).max()
    return below, (edges[0], per_unit, 1 << (int(most).bit_length() - 1))


@kernel
def encode_cells(cells, features, bins, codes, first_row):
    """Codes of some rows' cells: the number of upper edges below each value.

    ``features[k]`` is the feature in column k, -1 to pass it over; row 0 of the cells
    is ``first_row`` of the codes. A grid says how many edges lie below the cell of a
    value (``_make_grid``). All rows of a column take a step of a binary search among
    the others, free of branches, at a time.
    """
    edges, offset, n_bins, grid, scale = bins
    n = cells.shape[0]
    x, code = np.empty(n), np.empty(n, dtype=np.int64)
    table = np.empty(512)  # so long that the search needs no bounds
    for b in range(256, 512):
        table[b] = np.inf
    for k in range(features.size):
        f = features[k]
        if f < 0:
            continue
        missing = n_bins[f]
        for b in range(256):
            table[b] = edges[offset[f] + b] if b < missing - 1 else np.inf
        low, per_unit, span = scale[f, 0], scale[f, 1], np.int64(scale[f, 2])
        for i in range(n):
            x[i] = cells[i, k]
            place = (x[i] - low) * per_unit
            place = min(place if place > 0 else 0.0, GRID_CELLS - 1.0)  # 0 also for NaN
            code[i] = grid[f, np.int64(place)]
        while span > 0:
            for i in range(n):
                c = code[i]
                code[i] = c + span if x[i] > table[c + span - 1] else c
            span >>= 1
        for i in range(n):
            codes[f, first_row + i] = missing if np.isnan(x[i]) else code[i]
