"""Growing the last levels of a tree, where nodes hold few rows.

A histogram has 256 bins however few rows it is made of. From some size on it is cheaper
to copy a node's cells into a small table of its own, sort every column once, and grow
the whole subtree there: scanning a column is then a walk over its sorted rows, and
dividing a node divides the sorted columns, which stay sorted.

Rows are numbered from 0 within the subtree, so that all of it fits the fastest cache.
Sums are those of histograms, in fixed point, and the splits the same. At 500 rows and
depth 6 a fit takes a third of the time so.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from splboost._tools.compiling import inner_kernel
from splboost.trees import workspace as at
from splboost.trees.binning import CATEGORICAL
from splboost.trees.nodes import gather, may_split, split_node
from splboost.trees.split import (
    CLOSE,
    TIE,
    TIE_FLOOR,
    choose,
    entropy_removed,
    most_entropy,
    search_feature,
)

SMALL_NODE = 256  # rows; what is below such nodes is grown so

# Rows of a subtree, numbered from 0: their order by each feature, their codes, weight
# and moment, and classes; ``start`` is the place of the first in Work.rows
Sorted = namedtuple("Sorted", "order codes sums classes start")


@inner_kernel
def grow_small(work, root):
    """Grow all that there is below a node of at most SMALL_NODE rows."""
    start, end = work.node[root, at.START], work.node[root, at.END]
    size = end - start
    codes = np.empty((work.n_bins.size, size), dtype=np.uint8)
    order = np.empty((work.n_bins.size, size), dtype=np.uint16)
    sums = np.empty((size, 2), dtype=np.int64)
    classes = np.empty(size, dtype=work.y.dtype)
    work.node[root, at.SLOT] = -1
    gather(work, root)
    rows = work.rows[start:end]
    for i in range(size):
        classes[i] = work.y[rows[i]]
        sums[i, 0] = work.weight[rows[i]]
        if work.criterion == at.LEAST_SQUARES:
            sums[i, 1] = work.moment[rows[i]]
        else:  # the weight of class 1
            sums[i, 1] = sums[i, 0] if classes[i] == 1 else 0
    for f in range(codes.shape[0]):
        for i in range(size):
            codes[f, i] = work.codes[f, rows[i]]
    sort_columns(codes, work.n_bins, order)
    columns = Sorted(order, codes, sums, classes, start)
    search_small(work, root, columns)
    if work.number[root, at.GAIN] > 0:
        grow_sorted(work, root, columns)


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
def grow_sorted(work, root, columns):
    """Grow all below a node whose split is known, from its sorted columns."""
    order, codes, start = columns.order, columns.codes, columns.start
    size = order.shape[1]
    side_of = np.empty(codes.shape[1], dtype=np.uint8)
    spare = np.empty(size, dtype=np.uint16)
    stack = np.empty(size + 1, dtype=np.int64)
    stack[0] = root
    height = 1
    while height > 0:
        height -= 1
        node = stack[height]
        lo, hi = work.node[node, at.START] - start, work.node[node, at.END] - start
        split_node(work, node)
        left = work.node[node, at.CHILD]
        if not work.node[node, at.DIVIDED]:
            continue
        wanted = may_split(work, left), may_split(work, left + 1)
        if not (wanted[0] or wanted[1]):
            continue
        gather(work, node)
        column, rows = codes[work.node[node, at.FEATURE]], order[0]
        for k in range(lo, hi):
            side_of[rows[k]] = work.sides[column[rows[k]]]
        divide_sorted(order, lo, hi, side_of, spare)
        for k in range(2):
            if wanted[k]:
                search_small(work, left + k, columns)
                if work.number[left + k, at.GAIN] > 0:
                    stack[height] = left + k
                    height += 1


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
def search_small(work, node, columns):
    """Choose the split of a node from its sorted columns."""
    two = work.criterion == at.LEAST_SQUARES or work.n_classes == 2
    least = 0.0
    for f in range(work.n_bins.size):
        if two and work.kind[f] != CATEGORICAL:
            gain = scan_sorted(work, node, columns, f, least)
        else:
            bins = sum_sorted(work, node, columns, f)
            gain = search_feature(work, node, at.FIRST_SIDE, f, bins, least)
        work.gain[0, f] = gain
        least = max(least, CLOSE * gain)
    choose(work, node, at.FIRST_SIDE)


@inner_kernel
def scan_sorted(work, node, columns, f, least):
    """Gain of the best cut of a sorted column, for regression and for two classes.

    Cuts are tried in the same order, and the best noted, as in ``search_feature``.
    """
    order, codes, sums, _, start = columns
    total, min_rows, min_weight = work.total[node], work.min_rows, work.min_weight[0]
    two = work.criterion != at.LEAST_SQUARES
    most = most_entropy(total) if work.criterion == at.ENTROPY else 0.0
    squares = most if most > 0 else 1.0
    one, f = np.uint64(1), np.uint64(f)
    lo = np.uint64(work.node[node, at.START] - start)
    hi = np.uint64(work.node[node, at.END] - start)
    all_weight = np.float64(total[0] + (total[1] if two else 0))
    mean = np.float64(total[1]) / all_weight
    known, missing = hi, work.n_bins[f]
    missing_weight = missing_moment = 0
    while known > lo and codes[f, order[f, known - one]] == missing:
        known -= one
        missing_weight += sums[order[f, known], 0]
        missing_moment += sums[order[f, known], 1]
    n_missing = hi - known
    best, bar, best_place, best_left = 0.0, max(TIE_FLOOR, least / work.factor), lo, 0
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
            if squares * square > bar * product:
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
                        best, best_place, best_left = gain, k, to_left
                        bar = best + TIE * best + TIE_FLOOR
    if best > 0:
        found, after = work.found[0, f], best_place + one
        found[at.LOW] = codes[f, order[f, best_place]]
        found[at.HIGH] = codes[f, order[f, after]] if after < known else -1
        found[at.MISSING] = best_left if n_missing > 0 else at.NONE_MISSING
    return work.factor * best


@inner_kernel
def sum_sorted(work, node, columns, f):
    """Sums of the bins that a sorted column meets, then of missing cells.

    With them come the numbers of these bins, and how many they are.
    """
    order, codes, sums, classes, start = columns
    lo, hi = work.node[node, at.START] - start, work.node[node, at.END] - start
    shift, missing = work.shift, work.n_bins[f]
    most = min(hi - lo, missing + 1) + 1
    hist = np.zeros(most << shift, dtype=np.int64)
    numbers = np.empty(most, dtype=np.int64)
    size = -1
    for k in range(lo, hi):
        row = order[f, k]
        code = np.int64(codes[f, row])
        if size < 0 or numbers[size] != code:
            size += 1
            numbers[size] = code
        b = size << shift
        if work.criterion == at.LEAST_SQUARES:
            hist[b] += sums[row, 0]
            hist[b + 1] += sums[row, 1]
        else:
            hist[b + np.int64(classes[row])] += sums[row, 0]
        if work.counter >= 0:
            hist[b + work.counter] += 1
    return hist, numbers, size if numbers[size] == missing else size + 1
