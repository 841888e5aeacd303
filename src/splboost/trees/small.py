"""Growing the last levels of a tree, where nodes hold few rows.

A histogram has 256 bins however few rows it is made of. From some size on it is cheaper
to copy a node's cells into a small table of its own, sort every column once, and grow
the whole subtree there: scanning a column is then a walk over its sorted rows, and
dividing a node divides the sorted columns, which stay sorted.

Rows are numbered from 0 within the subtree, so that all of it fits the fastest cache.
A table of few rows is sorted once per fit, and all below the root of each tree is grown
so. Sums are those of histograms, in fixed point, and the splits the same.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel
from splboost.trees.binning import CATEGORICAL
from splboost.trees.choose import choose
from splboost.trees.divide import may_split, split_node
from splboost.trees.search import make_room, search_feature
from splboost.trees.split import (
    CLOSE,
    ENTROPY,
    GINI,
    LEAST_SQUARES,
    TIE,
    TIE_FLOOR,
    entropy_removed,
    most_entropy,
)
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


@inner_kernel
def copy_cells(data, limits, work, start, end, codes, sums, classes):
    """Copy codes, weights and targets of the rows in start:end into local tables."""
    rows = work.rows[start:end]
    for i in range(rows.size):
        set_sums(data, limits, work, rows[i], sums, i)
        classes[i] = data.y[rows[i]]
    for f in range(codes.shape[0]):
        column, here = data.codes[f], codes[f]
        for i in range(rows.size):
            here[i] = column[rows[i]]


@inner_kernel
def set_sums(data, limits, work, row, sums, i):
    """Weight and moment of a row; that of a class is the weight of class 1."""
    sums[i, 0] = work.weight[row]
    if limits.criterion == LEAST_SQUARES:
        sums[i, 1] = work.moment[row]
    else:
        sums[i, 1] = work.weight[row] if data.y[row] == 1 else 0


@inner_kernel
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


@inner_kernel
def scan_sorted(
    order,
    f,
    lo,
    hi,
    codes,
    missing,
    sums,
    total,
    two,
    min_weight,
    min_rows,
    least,
    most,
):
    """Best cut of a sorted column by least squares, or by half of Gini for two classes.

    With ``most`` above 0 it is that by entropy; see ``scan_moments``. The sorted rows
    of the node are order[f, lo:hi]. Cuts are tried in the same order as
    in ``scan_moments``. Returns the gain, the last row on the left (as a place in the
    order), the place after the last row whose cell is known, and the side of the
    missing.
    """
    f, lo, hi = np.uint64(f), np.uint64(lo), np.uint64(hi)
    one = np.uint64(1)
    all_weight = np.float64(total[0] + (total[1] if two else 0))
    mean = np.float64(total[1]) / all_weight
    known = hi
    missing_weight = missing_moment = 0
    while known > lo and codes[f, order[f, known - one]] == missing:
        known -= one
        missing_weight += sums[order[f, known], 0]
        missing_moment += sums[order[f, known], 1]
    n_missing = hi - known
    best, bar, best_place, best_left = 0.0, max(TIE_FLOOR, least), lo, False
    factor = most if most > 0 else 1.0
    for to_left in range(2 if n_missing > 0 else 1):
        left_weight = missing_weight if to_left else 0
        left_moment = missing_moment if to_left else 0
        shift = n_missing if to_left else np.uint64(0)
        # With missing rows on the right there is a cut after the last known row too.
        last = known if n_missing > 0 and not to_left else max(known, one) - one
        for k in range(lo, last):
            row = order[f, k]
            left_weight += sums[row, 0]
            left_moment += sums[row, 1]
            lw = np.float64(left_weight)
            rw = all_weight - lw
            deviation = np.float64(left_moment) - mean * lw
            square, product = deviation * deviation, lw * rw
            # Whether it would be the best comes first: that can be predicted, unlike
            # whether the next code is another one.
            if factor * square > bar * product:
                n_left = np.int64(k + one - lo + shift)
                if (
                    (k + one == known or codes[f, row] != codes[f, order[f, k + one]])
                    and product > 0
                    and lw >= min_weight
                    and rw >= min_weight
                    and n_left >= min_rows
                    and np.int64(hi - lo) - n_left >= min_rows
                ):
                    gain = square / product
                    if most > 0:
                        gain = entropy_removed(left_weight, left_moment, total)
                    if gain > bar:
                        best, best_place, best_left = gain, k, to_left == 1
                        bar = best + TIE * best + TIE_FLOOR
    return best, best_place, known, best_left


@inner_kernel
def sum_sorted(order, lo, hi, codes, missing, sums, classes, limits, hist, bins):
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
            hist[b] += sums[row, 0]
            hist[b + 1] += sums[row, 1]
        else:
            hist[b + np.int64(classes[row])] += sums[row, 0]
        if limits.counter >= 0:
            hist[b + limits.counter] += 1
    if bins[size] == missing:
        return size
    size += 1
    for s in range(1 << shift):
        hist[(size << shift) + s] = 0
    return size


@inner_kernel
def divide_sorted(order, lo, hi, sides, spare):
    """Stable partition of the sorted rows lo:hi of every feature by their sides."""
    one = np.uint64(1)
    lo, hi = np.uint64(lo), np.uint64(hi)
    for f in range(np.uint64(order.shape[0])):
        n_left, n_right = lo, np.uint64(0)
        for k in range(lo, hi):
            row = order[f, k]
            right = np.uint64(sides[row])
            order[f, n_left] = row
            spare[n_right] = row
            n_left += one - right
            n_right += right
        for k in range(n_right):
            order[f, n_left + k] = spare[k]


@inner_kernel
def grow_small(data, limits, work, root):
    """Grow all that there is below a node of at most SMALL_NODE rows."""
    start, end = work.node[root, START], work.node[root, END]
    d, size = data.n_bins.size, end - start
    codes = np.empty((d, size), dtype=np.uint8)
    order = np.empty((d, size), dtype=np.uint16)
    sums = np.empty((size, 2), dtype=np.int64)
    classes = np.empty(size, dtype=data.y.dtype)
    work.node[root, SLOT] = -1
    gather(data, limits, work, start, end)
    copy_cells(data, limits, work, start, end, codes, sums, classes)
    sort_columns(codes, data.n_bins, order)
    tables = (order, codes, sums, classes)
    search_small(data, limits, work, root, start, tables)
    if work.number[root, GAIN] > 0:
        grow_sorted(data, limits, work, root, start, tables)


@inner_kernel
def grow_presorted(data, limits, work, root):
    """Grow all below the root, whose split is known, where all columns are sorted."""
    sums = np.empty((data.y.size, 2), dtype=np.int64)
    for i in range(data.y.size):
        set_sums(data, limits, work, i, sums, i)
    order = np.empty_like(work.presorted)
    copy_weighted(work.presorted, work.weight, order)
    tables = (order, data.codes, sums, data.y)
    grow_sorted(data, limits, work, root, work.node[root, START], tables)


@inner_kernel
def copy_weighted(presorted, weight, order):
    """Copy the order of the rows that have a weight."""
    for f in range(np.uint64(order.shape[0])):
        size = np.uint64(0)
        for i in range(np.uint64(order.shape[1])):
            row = presorted[f, i]
            order[f, size] = row  # kept if it has a weight: no branch to mispredict
            size += np.uint64(weight[row] > 0)


@inner_kernel
def grow_sorted(data, limits, work, root, start, tables):
    """Grow all below a node whose split is known, from its sorted columns."""
    order, codes = tables[0], tables[1]
    size = order.shape[1]
    sides = np.empty(256, dtype=np.uint8)
    side_of = np.empty(codes.shape[1], dtype=np.uint8)
    spare = np.empty(size, dtype=np.uint16)
    stack = np.empty(size + 1, dtype=np.int64)
    stack[0] = root
    height = 1
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
        column, rows = codes[work.node[node, FEATURE]], order[0]
        for k in range(lo - start, hi - start):
            side_of[rows[k]] = sides[column[rows[k]]]
        divide_sorted(order, lo - start, hi - start, side_of, spare)
        for k in range(2):
            if wanted[k]:
                search_small(data, limits, work, left + k, start, tables)
                if work.number[left + k, GAIN] > 0:
                    stack[height] = left + k
                    height += 1


@inner_kernel
def search_small(data, limits, work, node, start, tables):
    """Choose the split of a node from its sorted columns."""
    order, codes, sums, _ = tables
    lo, hi = work.node[node, START] - start, work.node[node, END] - start
    regression = limits.criterion == LEAST_SQUARES
    two = limits.n_classes == 2 and not regression
    factor, most = 2.0 if limits.criterion == GINI else 1.0, 0.0
    if two and limits.criterion == ENTROPY:
        most = most_entropy(work.total[node])
    total, min_weight, min_rows = work.total[node], work.min_weight[0], limits.min_rows
    gain, found = work.gain, work.found
    least = 0.0
    for f in range(data.n_bins.size):
        if (regression or two) and data.kind[f] != CATEGORICAL:
            missing = data.n_bins[f]
            best, k, known, left = scan_sorted(
                order,
                f,
                lo,
                hi,
                codes,
                missing,
                sums,
                total,
                two,
                min_weight,
                min_rows,
                least / factor,
                most,
            )
            gain[0, f] = factor * best
            if best > 0:
                after = k + np.uint64(1)
                found[0, f, LOW] = codes[f, order[f, k]]
                found[0, f, HIGH] = codes[f, order[f, after]] if after < known else -1
                found[0, f, MISSING] = left if known < np.uint64(hi) else NONE_MISSING
        else:
            gain[0, f] = search_unsorted(
                data, limits, work, node, f, lo, hi, tables, least
            )
        least = max(least, CLOSE * gain[0, f])
    choose(data, limits, work, node)


@inner_kernel
def search_unsorted(data, limits, work, node, f, lo, hi, tables, least):
    """The same for categories, and for more classes, through a histogram."""
    order, codes, sums, classes = tables
    hist = np.empty(257 << limits.shift, dtype=np.int64)
    bins = np.empty(257, dtype=np.int64)
    missing = data.n_bins[f]
    size = sum_sorted(
        order[f], lo, hi, codes[f], missing, sums, classes, limits, hist, bins
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
