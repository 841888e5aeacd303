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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.compiling import inner_kernel, kernel
from splboost._tools.threads import run, share
from splboost._tools.user_warnings import warn
from splboost.trees.sort import sort_rows

MAX_BINS = 255
SAMPLE_ROWS = 32_768  # rows that the bins of a long table are chosen from
SAMPLE_COLUMNS = 16  # of which so many columns at a time are copied
DIGEST_ROWS = 4096  # at a time
ODD = np.uint64(0x9E3779B97F4A7C15)  # by which bits are mixed
GRID_CELLS = 1024
SORTING_WORK = 10  # steps to sort a cell and find its bin

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
    categories: list[dict[Any, int] | None] = [None] * table.n_features
    codes = np.empty((table.n_features, table.n_rows), dtype=np.uint8)

    numeric = np.flatnonzero(~table.is_categorical)
    _choose_bins(table, numeric, weight, points, kind, n_threads)
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
    binned = Binned(codes, n_bins, kind, offset, flat, categories)
    _encode_numeric(binned, table, numeric, n_threads)
    return binned


def _sample_rows(
    table: Table, numeric: NDArray[np.intp], weight: NDArray[np.float64]
) -> NDArray[np.intp] | slice:
    """Rows to choose bins from: all, or a sample that the order of rows cannot change.

    Each row draws its lot from what it holds. Equal rows are numbered and draw one lot
    each, so that as many of them are in the sample as chance would have it; which ones
    makes no difference.
    """
    if table.n_rows <= SAMPLE_ROWS:
        return slice(None)
    digest = _digest_rows(table, numeric, weight)
    order = np.argsort(digest)
    digest = digest[order]
    place = np.arange(digest.size)
    is_first = np.append(True, digest[1:] != digest[:-1])
    copy = place - np.maximum.accumulate(np.where(is_first, place, 0))
    lot = digest + copy.astype(np.uint64) * ODD
    lot = (lot ^ (lot >> np.uint64(32))) * ODD
    lot ^= lot >> np.uint64(29)
    return np.sort(order[np.argpartition(lot, SAMPLE_ROWS)[:SAMPLE_ROWS]])


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
    points: list[NDArray[np.float64]],
    kind: NDArray[np.int64],
    n_threads: int,
) -> None:
    """Set points and kind (see :class:`Binned`) of the numeric columns."""
    rows = _sample_rows(table, numeric, weight)
    sample_weight = np.ascontiguousarray(weight[rows])
    sampled = sample_weight.size < table.n_rows
    weighted = sample_weight.min() != sample_weight.max()

    def choose(columns: NDArray[np.intp]) -> None:
        values = np.array([table.numeric(j)[rows] for j in columns], dtype=np.float64)
        masses = np.empty((columns.size, sample_weight.size if weighted else 0))
        masses[:] = sample_weight[: masses.shape[1]]
        sort_rows(values, masses)
        chosen = np.empty((columns.size, MAX_BINS + 1))
        count = np.empty(columns.size, dtype=np.int64)
        distinct_values(values, chosen, count)
        if sampled:
            # The sample may have missed rare values of a column with few.
            for row in np.flatnonzero(count <= MAX_BINS):
                column = table.numeric(columns[row])
                count[row] = collect_unlisted(column, chosen[row], count[row])
        kind[columns] = np.where(count > MAX_BINS, QUANTILE, EXACT)
        known = values.shape[1] - np.isnan(values).sum(axis=1)
        # Where most is missing, the sample knows too little of the column.
        sparse = (count > MAX_BINS) & (known < SAMPLE_ROWS // 20) & sampled
        for row in np.flatnonzero(sparse):
            ascending, mass = _sort_known(table.numeric(columns[row]), weight)
            count[row] = quantile_edges(ascending, mass, MAX_BINS, chosen[row])
        quantiles_of_rows(values, masses, known, MAX_BINS, count, chosen)
        for place, j in enumerate(columns):
            points[j] = chosen[place, : count[place]].copy()

    bounds = share(numeric.size, n_threads, SORTING_WORK * sample_weight.size)
    shares = [numeric[lo:hi] for lo, hi in bounds]
    for k in range(0, max(map(len, shares)), SAMPLE_COLUMNS):
        parts = [columns[k : k + SAMPLE_COLUMNS] for columns in shares]
        run(choose, [(columns,) for columns in parts if columns.size])


def _sort_known(
    column: NDArray[np.floating], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cells that are not missing in ascending order, and their weights."""
    known = ~np.isnan(column)
    values, masses = column[known].astype(np.float64)[None], weight[known][None]
    sort_rows(values, masses)
    return values[0], masses[0]


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


def sort_categories(values: list[Any], present: NDArray[np.bool_]) -> list[int]:
    """Positions of the categories that are present, in the order of their values."""
    positions = np.flatnonzero(present).tolist()
    try:
        return sorted(positions, key=lambda k: values[k])
    except TypeError:
        return sorted(
            positions, key=lambda k: (type(values[k]).__name__, str(values[k]))
        )


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
                for lo, hi in share(block.shape[0], n_threads, features.size)
            ],
        )


@kernel
def distinct_values(ascending, found, count):
    """Write each row's distinct values before NaN, as many as fit; and their number."""
    for row in range(ascending.shape[0]):
        size = 0
        for i in range(ascending.shape[1]):
            x = ascending[row, i]
            if np.isnan(x) or size == found.shape[1]:
                break
            if size == 0 or x != found[row, size - 1]:
                found[row, size] = x
                size += 1
        count[row] = size


@kernel
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


@kernel
def quantiles_of_rows(ascending, masses, known, max_bins, count, edges):
    """Replace the values of rows that have too many by edges, and their number too."""
    for row in range(ascending.shape[0]):
        if count[row] > max_bins:
            values, mass = ascending[row, : known[row]], masses[row]
            count[row] = quantile_edges(values, mass, max_bins, edges[row])


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


@kernel
def middle(low, high):
    """A cut between two values: low <= cut < high, whatever the rounding."""
    cut = low / 2 + high / 2
    return low if cut >= high or cut < low else cut


@inner_kernel
def make_grid(edges, first, scale):
    """Divide the range of a column's edges into equal cells, to look codes up in.

    ``first[g]`` is the number of edges below cell g. Writes where the grid begins and
    how many cells there are per unit; returns the most edges in a cell.
    """
    cells = first.size
    low = edges[0] if edges.size > 0 else 0.0
    width = edges[edges.size - 1] - low if edges.size > 0 else 0.0
    scale[0], scale[1] = low, cells / width if width > 0 else 0.0
    most, begin, filled = 0, 0, 0
    for k in range(edges.size):
        cell = cell_of(edges[k], low, scale[1], cells)
        if cell >= filled:
            begin = k
            for g in range(filled, cell + 1):
                first[g] = k
            filled = cell + 1
        most = max(most, k + 1 - begin)
    for g in range(filled, cells):
        first[g] = edges.size
    return most


@inner_kernel
def cell_of(x, low, per_unit, cells):
    """Cell of a value; never falls as the value rises, whatever the rounding."""
    position = (x - low) * per_unit
    position = position if position > 0 else 0.0  # also NaN
    return np.int64(min(position, cells - 1.0))


@kernel
def encode_block(
    block, first, last, features, edges, offset, n_bins, codes, row_of_first
):
    """Codes of some rows of a block: the number of upper edges below each value.

    ``features[k]`` is the feature in column k of the block, -1 to pass it over; row 0
    of the block is ``row_of_first`` of the codes. Works on a few thousand rows at a
    time, so that a row-major block is read from memory once. A grid says how many edges
    lie below a value's cell; a binary search among the edges in that cell, free of
    branches, does the rest.
    """
    size = 2048
    grid = np.empty((features.size, GRID_CELLS), dtype=np.uint8)
    scale = np.empty((features.size, 2))
    span_of = np.zeros(features.size, dtype=np.int64)
    table = np.full(512, np.inf)  # so long that the search needs no bounds
    x = np.empty(size)
    code = np.empty(size, dtype=np.int64)
    for k in range(features.size):
        f = features[k]
        if f >= 0:
            inner = edges[offset[f] : offset[f] + max(n_bins[f] - 1, 0)]
            most = make_grid(inner, grid[k], scale[k])
            while (1 << span_of[k]) <= most:
                span_of[k] += 1
    for lo in range(first, last, size):
        m = min(size, last - lo)
        row = row_of_first + lo
        for k in range(features.size):
            f = features[k]
            if f < 0:
                continue
            bins = n_bins[f]
            for b in range(256):
                table[b] = edges[offset[f] + b] if b < bins - 1 else np.inf
            low, per_unit, start = scale[k, 0], scale[k, 1], grid[k]
            for i in range(m):
                x[i] = block[lo + i, k]
            for i in range(m):
                code[i] = start[cell_of(x[i], low, per_unit, GRID_CELLS)]
            span = (1 << span_of[k]) >> 1
            while span > 0:
                for i in range(m):
                    c = code[i]
                    code[i] = c + span if x[i] > table[c + span - 1] else c
                span >>= 1
            for i in range(m):
                codes[f, row + i] = bins if np.isnan(x[i]) else code[i]
