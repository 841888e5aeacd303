"""The best split of a node by each feature, from its histogram.

Every scan walks bins from left to right, keeps the sums to the left of the cut, and
rates each cut by how much impurity it removes per unit of the node's weight. A cut lies
between two *non-empty* bins, so rows of weight zero leave no trace. Rows with a missing
cell are tried on the right side and on the left.

The gains are written so that nothing cancels. With W, S the weight and the (first class
or target) sum of the node, W_L, S_L those of the left side and D = S_L - W_L S / W,

    least squares    D**2 / (W_L W_R)
    Gini             sum over the classes of the same, with S the class weight
    entropy          sum over the sides of their share times KL(p || q)

with p and q the shares of a class on that side and in the node. For two classes
KL(p || q) / (p - q)**2 is convex in p, as a mean of values of the second derivative
between q and p, and so at most what it is at one end, 0 or 1. That many times the least
squares bounds the entropy without a logarithm, and rules most cuts out.

Gains within a relative 1e-10 count as equal; then the first in order wins.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel
from splboost.trees import workspace as at
from splboost.trees.binning import CATEGORICAL, EXACT, middle
from splboost.trees.histogram import fill_histogram

TIE = 1e-10
TIE_FLOOR = 1e-13
MIN_GAIN = 1e-12
ROUNDING = 1e-9  # relative, by which a bound is raised to stay one
CLOSE = 0.999  # share of the best gain so far below which a gain need not be known


@inner_kernel
def is_better(gain, best):
    """Whether a gain exceeds the best so far by more than rounding can explain."""
    return gain > best + TIE * best + TIE_FLOOR


@inner_kernel
def search(work, first, last):
    """Best split by each of the features first to last, of the planned nodes."""
    for side in range(2):
        node, way = work.plan[side, at.NODE], work.plan[side, at.WAY]
        if way == at.NOTHING:
            continue
        hist = work.hist[work.node[node, at.SLOT]]
        fill_histogram(work, hist, node, way, first, last)
        least = 0.0
        for f in range(first, last if work.plan[side, at.WANTED] else first):
            bins = hist[work.offset[f] << work.shift :], work.numbers, work.n_bins[f]
            gain = search_feature(work, node, side, f, bins, least)
            work.gain[side, f] = gain
            least = max(least, CLOSE * gain)


# ------------------------------------------------------------------------- one feature


@inner_kernel
def search_feature(work, node, side, f, bins, least):
    """Gain of the best split of a node by one feature, 0 if there is none.

    ``bins`` are the bins' sums, their numbers, and how many they are; the sums of
    missing cells come after the last. The split goes into row (side, f) of
    ``work.found``: the last non-empty bin left of the cut, the first right of it (-1:
    none) and the side of the missing; a set of categories into ``work.left_set``. A
    split of no more gain than the ``least`` may be passed over.
    """
    hist, numbers, size = bins
    shift, total = work.shift, work.total[node]
    categorical, n_classes = work.kind[f] == CATEGORICAL, work.n_classes
    two = work.criterion == at.LEAST_SQUARES or n_classes == 2
    found = work.found[side, f]
    order = numbers
    walked, n_walked = hist, size
    best = 0.0
    for turn in range(1 if two or not categorical else n_classes):
        if categorical:
            walked, order = order_categories(work, hist, size, 1 if two else turn)
            n_walked = order.size - 1
        if two:
            gain, position, left = scan_moments(
                work, walked, n_walked, total, least / work.factor
            )
            gain *= work.factor
        else:
            gain, position, left = scan_classes(work, walked, n_walked, total)
        if position < 0 or not is_better(gain, best):
            continue
        best = gain
        found[at.MISSING] = at.NONE_MISSING if is_empty(hist, shift, size) else left
        if categorical:
            sort_out(work, side, f, (walked, numbers, order), position)
            continue
        low = position - 1
        while is_empty(hist, shift, low):
            low -= 1
        found[at.LOW] = numbers[low]
        found[at.HIGH] = numbers[position] if position < size else -1
    return best


@inner_kernel
def scan_moments(work, hist, size, total, least):
    """Best cut by least squares, or for two classes by half of Gini or by entropy.

    ``hist`` holds ``size`` bins from left to right and then that of missing cells.
    ``total`` holds the node's sums. Returns gain, position of the cut and the side of
    the missing; the bins from that position on go right. The gain is 0 if no
    admissible cut has more than the ``least``.
    """
    two = work.criterion != at.LEAST_SQUARES
    most = most_entropy(total) if work.criterion == at.ENTROPY else 0.0
    factor = most if most > 0 else 1.0
    min_weight = work.min_weight[0]
    all_weight = np.float64(total[0] + (total[1] if two else 0))
    mean = np.float64(total[1]) / all_weight
    base, step = size << work.shift, np.uint64(1 << work.shift)
    missing_weight = hist[base] + (hist[base + 1] if two else 0)
    best, bar, best_position, best_left = 0.0, max(TIE_FLOOR, least), -1, 0
    for to_left in range(2 if missing_weight > 0 else 1):
        left_weight = missing_weight if to_left else 0
        left_moment = hist[base + 1] if to_left else 0
        first, last = admissible_cuts(
            work, hist, size, total, missing_weight > 0, to_left
        )
        b = np.uint64(0)
        for k in range(last):
            lw = np.float64(left_weight)
            rw = all_weight - lw
            deviation = np.float64(left_moment) - mean * lw
            square, product = deviation * deviation, lw * rw
            moment = hist[b + np.uint64(1)]
            weight = hist[b] + (moment if two else 0)
            # The gain is square / product. Whether it would be the best comes first:
            # that can be predicted, unlike whether the next bin is empty.
            if factor * square > bar * product:
                enough = k >= first and lw >= min_weight and rw >= min_weight
                if enough and product > 0 and (weight > 0 or k == size):
                    gain = square / product
                    if most > 0:
                        gain = entropy_removed(left_weight, left_moment, total)
                    if gain > bar:
                        best, best_position, best_left = gain, k, to_left
                        bar = best + TIE * best + TIE_FLOOR
            left_weight += weight
            left_moment += moment
            b += step
    return best, best_position, best_left


@inner_kernel
def scan_classes(work, hist, size, total):
    """Best cut by Gini or entropy for three classes or more; see scan_moments."""
    n_classes, shift, min_weight = work.n_classes, work.shift, work.min_weight[0]
    all_weight = missing_weight = 0
    for c in range(n_classes):
        all_weight += total[c]
        missing_weight += hist[(size << shift) + c]
    left = np.empty(n_classes, dtype=np.int64)
    best, best_position, best_left = 0.0, -1, 0
    for to_left in range(2 if missing_weight > 0 else 1):
        left_weight = missing_weight if to_left else 0
        for c in range(n_classes):
            left[c] = hist[(size << shift) + c] if to_left else 0
        first, last = admissible_cuts(
            work, hist, size, total, missing_weight > 0, to_left
        )
        for k in range(last):
            b = k << shift
            bin_weight = 0
            for c in range(n_classes):
                bin_weight += hist[b + c]
            if bin_weight == 0:
                continue
            lw, rw = np.float64(left_weight), np.float64(all_weight - left_weight)
            if k >= first and lw >= min_weight and rw >= min_weight:
                gain = class_gain(work, left, total, lw, rw)
                if is_better(gain, best):
                    best, best_position, best_left = gain, k, to_left
            left_weight += bin_weight
            for c in range(n_classes):
                left[c] += hist[b + c]
    return best, best_position, best_left


@inner_kernel
def admissible_cuts(work, hist, size, total, some_missing, to_left):
    """The first cut, and the one after the last, that leave enough rows on both sides.

    Some of the known values lie on the left; with missing cells on the right there is a
    cut past the last bin too.
    """
    shift, counter, min_rows = work.shift, work.counter, work.min_rows
    first, last = 1, size + 1 if some_missing and not to_left else size
    while first < last and is_empty(hist, shift, first - 1):
        first += 1
    if counter < 0:
        return first, last
    rows = hist[(size << shift) + counter] if to_left else 0
    for k in range(first):
        rows += hist[(k << shift) + counter]
    while first < last and rows < min_rows:
        rows += hist[(first << shift) + counter]
        first += 1
    k = first
    while k < last and total[counter] - rows >= min_rows:
        rows += hist[(k << shift) + counter]
        k += 1
    return first, k


@inner_kernel
def is_empty(hist, shift, b):
    """Whether bin b has no weight; one that has some has it in one of its slots."""
    empty = True
    for k in range(b << shift, (b + 1) << shift):
        empty &= hist[k] == 0
    return empty


@inner_kernel
def class_gain(work, left, total, left_weight, right_weight):
    """Impurity removed by a cut, per unit of the node's weight."""
    weight = left_weight + right_weight
    gain = 0.0
    if work.criterion == at.ENTROPY:
        for c in range(work.n_classes):
            gain += divergence(left[c], total[c], left_weight, right_weight)
        return gain / weight
    for c in range(work.n_classes):
        share = np.float64(total[c]) / weight
        deviation = np.float64(left[c]) - share * left_weight
        gain += deviation * deviation
    return gain / (left_weight * right_weight)


@inner_kernel
def divergence(left, both, left_weight, right_weight):
    """What a class adds to the divergence of the sides from the node, times weight.

    With a and b of it on the sides, and the share q of it in the node, that is
    a log(a / (W_L q)) + b log(b / (W_R q)).
    """
    a, b = np.float64(left), np.float64(both - left)
    weight, of_class = left_weight + right_weight, a + b
    found = 0.0
    if a > 0:
        found += a * np.log(a / left_weight * (weight / of_class))
    if b > 0:
        found += b * np.log(b / right_weight * (weight / of_class))
    return found


@inner_kernel
def entropy_removed(left_weight, left_second, total):
    """Entropy of two classes that a cut removes, with the second's weight on the left.

    Weights are whole numbers; the result is per unit of the node's.
    """
    left, right = np.float64(left_weight), np.float64(total[0] + total[1] - left_weight)
    found = divergence(left_weight - left_second, total[0], left, right)
    found += divergence(left_second, total[1], left, right)
    return found / (left + right)


@inner_kernel
def most_entropy(total):
    """How many times the squares the entropy that a cut removes can be."""
    q = np.float64(total[1]) / np.float64(total[0] + total[1])
    if q <= 0 or q >= 1:
        return 1.0  # nothing can be removed
    at_0, at_1 = -np.log1p(-q) / (q * q), -np.log(q) / ((1 - q) * (1 - q))
    return max(at_0, at_1) * (1 + ROUNDING)


@inner_kernel
def order_categories(work, hist, size, slot):
    """Order non-empty bins by the share of one slot in the bin's weight.

    For two classes and for least squares this order contains the optimal split among
    its prefixes (Fisher 1958). Returns the histogram of the ordered bins, that of
    missing cells at the end, and their places before.
    """
    shift = work.shift
    weight_slots = 1 if work.criterion == at.LEAST_SQUARES else work.n_classes
    keys, order = np.empty(size), np.empty(size + 1, dtype=np.int64)
    filled = 0
    for b in range(size):
        weight = 0
        for c in range(weight_slots):
            weight += hist[(b << shift) + c]
        if weight == 0:
            continue
        key = np.float64(hist[(b << shift) + slot]) / np.float64(weight)
        j = filled  # insertion sort: stable, and few categories
        while j > 0 and keys[j - 1] > key:
            keys[j], order[j] = keys[j - 1], order[j - 1]
            j -= 1
        keys[j], order[j] = key, b
        filled += 1
    order[filled] = size
    ordered = np.empty((filled + 1) << shift, dtype=np.int64)
    for k in range(filled + 1):
        for s in range(1 << shift):
            ordered[(k << shift) + s] = hist[(order[k] << shift) + s]
    return ordered, order[: filled + 1]


@inner_kernel
def sort_out(work, side, f, bins, position):
    """Note the set of categories that go left, those before a position in the order.

    Where nothing was missing in training, missing cells follow the heavier child; a
    category that the node has not seen goes where missing cells go.
    """
    ordered, numbers, order = bins
    slots = 1 if work.criterion == at.LEAST_SQUARES else work.n_classes
    found, left_set = work.found[side, f], work.left_set[side, f]
    if found[at.MISSING] == at.NONE_MISSING:
        left = right = 0
        for k in range(order.size - 1):
            for b in range(k << work.shift, (k << work.shift) + slots):
                if k < position:
                    left += ordered[b]
                else:
                    right += ordered[b]
        found[at.MISSING] = 0 if is_better(np.float64(right), np.float64(left)) else 1
    left_set[:] = 255 if found[at.MISSING] == 1 else 0
    for k in range(order.size - 1):
        code = numbers[order[k]]
        bit = np.uint8(1 << (code & 7))
        left_set[code >> 3] |= bit
        if k >= position:
            left_set[code >> 3] ^= bit


# ------------------------------------------------------------------------- the best one


@inner_kernel
def choose(work, node, side):
    """Set the split of a node from what the search noted, if any split is worth it."""
    best, best_feature = 0.0, np.int64(-1)
    for f in range(work.n_bins.size):
        if is_better(work.gain[side, f], best):
            best, best_feature = work.gain[side, f], f
    if best > MIN_GAIN:
        set_split(work, node, side, best_feature, best)


@inner_kernel
def set_split(work, node, side, f, gain):
    """Set the split of a node to what was found of a feature.

    The threshold of a cut lies midway between the values at the cut if bins are values,
    else on the edge nearest below the middle, so that codes and values always agree.
    """
    found = work.found[side, f]
    low, high = found[at.LOW], found[at.HIGH]
    work.number[node, at.GAIN] = gain
    work.node[node, at.FEATURE] = f
    work.node[node, at.MISSING_LEFT] = found[at.MISSING]
    if work.kind[f] == CATEGORICAL:
        for k in range(at.SET_BYTES):
            work.bins[node, k] = work.left_set[side, f, k]
    elif high < 0:
        work.node[node, at.BIN] = work.n_bins[f] - 1
        work.number[node, at.THRESHOLD] = np.inf
    else:
        points, exact = work.points[work.offset[f] :], work.kind[f] == EXACT
        threshold = middle(points[low], points[high] if exact else points[high - 1])
        while low + 1 < high and points[low + 1] <= threshold:
            low += 1
        work.node[node, at.BIN] = low
        work.number[node, at.THRESHOLD] = threshold if exact else points[low]
