"""Growing the last levels of a tree, where nodes hold few rows.

A histogram has 256 bins however few rows it is made of. From some size on it is cheaper
to copy a node's cells into a small table of its own, sort every column once, and grow
the whole subtree there: scanning a column is then a walk over its sorted rows, and
dividing a node divides the sorted columns, which stay sorted.

Rows are numbered from 0 within the subtree and fit a byte, so that all of it fits the
fastest cache. Sums are those of histograms, in fixed point, and the splits the same.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from splboost.trees.binning import CATEGORICAL
from splboost.trees.divide import may_split, split_node
from splboost.trees.search import choose, least_gain, make_room, search_feature
from splboost.trees.split import ENTROPY, LEAST_SQUARES, TIE, TIE_FLOOR
from splboost.trees.workspace import (
    CHILD,
    DIVIDED,
    END,
    FEATURE,
    GAIN,
    HIGH,
    LOW,
    MISSING,
    NONE_MISSING,
    SLOT,
    START,
    fill_sides,
    gather,
)


@njit(nogil=True, cache=True, error_model="numpy")
def copy_cells(data, limits, work, start, end, codes, weight, moment, classes):
    """Copy codes, weights and targets of the rows in start:end into local tables."""
    regression = limits.criterion == LEAST_SQUARES
    for i in range(end - start):
        row = work.rows[start + i]
        weight[i] = work.weight[row]
        if regression:
            moment[i] = work.moment[row]
        else:
            classes[i] = data.y[row]
            moment[i] = weight[i] if data.y[row] == 1 else 0
    rows = work.rows[start:end]
    for f in range(codes.shape[0]):
        column, here = data.codes[f], codes[f]
        for i in range(rows.size):
            here[i] = column[rows[i]]


@njit(nogil=True, cache=True, error_model="numpy")
def sort_columns(codes, n_bins, order):
    """Local rows in the order of their codes, for each feature, by counting."""
    first = np.empty(257, dtype=np.int64)
    size = codes.shape[1]
    for f in range(codes.shape[0]):
        column, sequence = codes[f], order[f]
        top = n_bins[f] + 1
        for b in range(top + 1):
            first[b] = 0
        for i in range(size):
            first[np.int64(column[i]) + 1] += 1
        for b in range(top):
            first[b + 1] += first[b]
        for i in range(size):
            b = np.int64(column[i])
            sequence[first[b]] = i
            first[b] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def scan_sorted(
    order,
    lo,
    hi,
    codes,
    missing,
    weight,
    moment,
    total,
    two,
    min_weight,
    min_rows,
    least,
    found,
):
    """Best cut of a sorted column by least squares, or by half of Gini for two classes.

    The sorted rows of the node are order[lo:hi]. Cuts are tried in the same order as in
    ``scan_moments``. Returns the gain, and writes where the cut lies.
    """
    all_weight = np.float64(total[0] + (total[1] if two else 0))
    mean = np.float64(total[1]) / all_weight
    known = hi
    missing_weight = missing_moment = 0
    while known > lo and codes[order[known - 1]] == missing:
        known -= 1
        missing_weight += weight[order[known]]
        missing_moment += moment[order[known]]
    n_missing = hi - known
    best, bar = 0.0, max(TIE_FLOOR, least)
    for to_left in range(2 if n_missing > 0 else 1):
        left_weight = missing_weight if to_left else 0
        left_moment = missing_moment if to_left else 0
        shift = n_missing if to_left else 0
        # With missing rows on the right there is a cut after the last known row too.
        last = known if n_missing > 0 and not to_left else known - 1
        for k in range(lo, last):
            row = order[k]
            left_weight += weight[row]
            left_moment += moment[row]
            lw = np.float64(left_weight)
            rw = all_weight - lw
            deviation = np.float64(left_moment) - mean * lw
            square, product = deviation * deviation, lw * rw
            # Whether it would be the best comes first: that can be predicted, unlike
            # whether the next code is another one.
            if square > bar * product:
                n_left = k + 1 - lo + shift
                if (
                    (k + 1 == known or codes[row] != codes[order[k + 1]])
                    and product > 0
                    and lw >= min_weight
                    and rw >= min_weight
                    and n_left >= min_rows
                    and hi - lo - n_left >= min_rows
                ):
                    best = square / product
                    bar = best + TIE * best + TIE_FLOOR
                    found[LOW] = codes[row]
                    found[HIGH] = codes[order[k + 1]] if k + 1 < known else -1
                    found[MISSING] = to_left
    if n_missing == 0:
        found[MISSING] = NONE_MISSING
    return best


@njit(nogil=True, cache=True, error_model="numpy")
def sum_sorted(
    order, lo, hi, codes, missing, weight, moment, classes, limits, hist, bins
):
    """Histogram of a sorted column: of the bins met, then of missing cells.

    ``bins`` gets the numbers of the bins met. Returns how many they are.
    """
    shift = limits.shift
    regression = limits.criterion == LEAST_SQUARES
    size = -1
    for k in range(lo, hi):
        row = order[k]
        code = np.int64(codes[row])
        if size < 0 or bins[size] != code:
            size += 1
            bins[size] = code
            for s in range(1 << shift):
                hist[(size << shift) + s] = 0
        b = size << shift
        if regression:
            hist[b] += weight[row]
            hist[b + 1] += moment[row]
        else:
            hist[b + classes[row]] += weight[row]
        if limits.counter >= 0:
            hist[b + limits.counter] += 1
    if bins[size] == missing:
        return size
    size += 1
    for s in range(1 << shift):
        hist[(size << shift) + s] = 0
    return size


@njit(nogil=True, cache=True, error_model="numpy")
def divide_sorted(order, lo, hi, sides, spare):
    """Stable partition of the sorted rows lo:hi of every feature by their sides."""
    for f in range(order.shape[0]):
        sequence = order[f]
        n_left, n_right = lo, 0
        for k in range(lo, hi):
            row = sequence[k]
            right = np.int64(sides[row])
            sequence[n_left] = row
            spare[n_right] = row
            n_left += 1 - right
            n_right += right
        for k in range(n_right):
            sequence[n_left + k] = spare[k]


@njit(nogil=True, cache=True, error_model="numpy")
def grow_small(data, limits, work, root):
    """Grow all that there is below a node of at most SMALL_NODE rows."""
    start, end = work.node[root, START], work.node[root, END]
    d, size = data.n_bins.size, end - start
    codes = np.empty((d, size), dtype=np.uint8)
    order = np.empty((d, size), dtype=np.uint8)
    weight = np.empty(size, dtype=np.int64)
    moment = np.empty(size, dtype=np.int64)
    classes = np.zeros(size, dtype=np.int64)
    sides = np.empty(256, dtype=np.uint8)
    side_of = np.empty(size, dtype=np.uint8)
    spare = np.empty(size, dtype=np.uint8)
    stack = np.empty(size + 1, dtype=np.int64)
    work.node[root, SLOT] = -1
    gather(data, limits, work, start, end)
    copy_cells(data, limits, work, start, end, codes, weight, moment, classes)
    sort_columns(codes, data.n_bins, order)
    tables = (order, codes, weight, moment, classes)
    search_small(data, limits, work, root, start, tables)
    stack[0] = root
    height = 1 if work.number[root, GAIN] > 0 else 0
    while height > 0:
        height -= 1
        node = stack[height]
        lo, hi = work.node[node, START], work.node[node, END]
        split_node(data, limits, work, node)
        left = work.node[node, CHILD]
        if not work.node[node, DIVIDED]:
            continue
        wanted = may_split(limits, work, left), may_split(limits, work, left + 1)
        if not (wanted[0] or wanted[1]):
            continue
        gather(data, limits, work, lo, hi)
        fill_sides(data, work, node, sides)
        column = codes[work.node[node, FEATURE]]
        for i in range(size):
            side_of[i] = sides[column[i]]
        divide_sorted(order, lo - start, hi - start, side_of, spare)
        for k in range(2):
            if wanted[k]:
                search_small(data, limits, work, left + k, start, tables)
                if work.number[left + k, GAIN] > 0:
                    stack[height] = left + k
                    height += 1


@njit(nogil=True, cache=True, error_model="numpy")
def search_small(data, limits, work, node, start, tables):
    """Choose the split of a node from its sorted columns."""
    order, codes, weight, moment, _ = tables
    lo, hi = work.node[node, START] - start, work.node[node, END] - start
    regression = limits.criterion == LEAST_SQUARES
    two = limits.n_classes == 2 and not regression
    moments = regression or (two and limits.criterion != ENTROPY)
    min_weight = work.min_weight[0]
    total, gain, found = work.total[node], work.gain[0], work.found[0]
    least = 0.0
    for f in range(data.n_bins.size):
        if moments and data.kind[f] != CATEGORICAL:
            best = scan_sorted(
                order[f],
                lo,
                hi,
                codes[f],
                data.n_bins[f],
                weight,
                moment,
                total,
                two,
                min_weight,
                limits.min_rows,
                least / 2 if two else least,
                found[f],
            )
            gain[f] = 2 * best if two else best
        else:
            gain[f] = search_unsorted(
                data, limits, work, node, f, lo, hi, tables, least
            )
        least = least_gain(limits, data.n_bins.size, gain[f], least)
    choose(data, limits, work, node)


@njit(nogil=True, cache=True, error_model="numpy")
def search_unsorted(data, limits, work, node, f, lo, hi, tables, least):
    """The same for categories, and for other impurities, through a histogram."""
    order, codes, weight, moment, classes = tables
    hist = np.empty(257 << limits.shift, dtype=np.int64)
    bins = np.empty(257, dtype=np.int64)
    size = sum_sorted(
        order[f],
        lo,
        hi,
        codes[f],
        data.n_bins[f],
        weight,
        moment,
        classes,
        limits,
        hist,
        bins,
    )
    return search_feature(
        hist,
        bins,
        size,
        data.kind[f] == CATEGORICAL,
        work.total[node],
        limits,
        work.min_weight[0],
        least,
        make_room(limits),
        work.found[0, f],
        work.left_set[0, f],
    )
