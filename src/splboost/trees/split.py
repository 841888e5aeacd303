"""The best split of one feature, from the sums of its bins.

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

GINI, ENTROPY, LEAST_SQUARES = 0, 1, 2
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
def scan_moments(
    hist, shift, weight_slots, counter, size, total, min_weight, min_rows, least, most
):
    """Best cut by least squares; two classes by Gini are the same up to a factor 2.

    With ``most`` above 0 it is the best for two classes by entropy, of which a cut
    removes at most so many times the squares.

    ``hist`` holds ``size`` bins from left to right and then that of missing cells. A
    bin has weight = the sum of its first ``weight_slots`` slots and moment = slot 1;
    slot ``counter`` counts its rows (-1: nothing does). ``total`` holds the node's
    slots. Returns gain, position of the cut and the side of the missing; the bins from
    that position on go right. The gain is 0 if no admissible cut has more than the
    ``least``.
    """
    two = weight_slots == 2
    all_weight = np.float64(total[0] + (total[1] if two else 0))
    mean = np.float64(total[1]) / all_weight
    base, step = size << shift, np.uint64(1 << shift)
    missing_weight = hist[base] + (hist[base + 1] if two else 0)
    best, bar, best_position, best_left = 0.0, max(TIE_FLOOR, least), -1, False
    factor = most if most > 0 else 1.0
    for to_left in range(2 if missing_weight > 0 else 1):
        left_weight = missing_weight if to_left else 0
        left_moment = hist[base + 1] if to_left else 0
        first, last = admissible_cuts(
            hist, shift, counter, size, missing_weight > 0, to_left, total, min_rows
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
                        best, best_position, best_left = gain, k, to_left == 1
                        bar = best + TIE * best + TIE_FLOOR
            left_weight += weight
            left_moment += moment
            b += step
    return best, best_position, best_left


@inner_kernel
def scan_classes(
    hist, shift, n_classes, entropy, counter, size, total, min_weight, min_rows
):
    """Best cut by Gini or entropy for three classes or more; see scan_moments."""
    all_weight = 0
    for c in range(n_classes):
        all_weight += total[c]
    left = np.empty(n_classes, dtype=np.int64)
    missing_weight = 0
    for c in range(n_classes):
        missing_weight += hist[(size << shift) + c]
    best, best_position, best_left = 0.0, -1, False
    for to_left in range(2 if missing_weight > 0 else 1):
        left_weight = missing_weight if to_left else 0
        for c in range(n_classes):
            left[c] = hist[(size << shift) + c] if to_left else 0
        first, last = admissible_cuts(
            hist, shift, counter, size, missing_weight > 0, to_left, total, min_rows
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
                gain = class_gain(left, total, n_classes, lw, rw, entropy)
                if is_better(gain, best):
                    best, best_position, best_left = gain, k, to_left == 1
            left_weight += bin_weight
            for c in range(n_classes):
                left[c] += hist[b + c]
    return best, best_position, best_left


@inner_kernel
def admissible_cuts(hist, shift, counter, size, some_missing, to_left, total, min_rows):
    """The first cut, and the one after the last, that leave enough rows on both sides.

    Some of the known values lie on the left; with missing cells on the right there is a
    cut past the last bin too.
    """
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
def class_gain(left, total, n_classes, left_weight, right_weight, entropy):
    """Impurity removed by a cut, per unit of the node's weight."""
    weight = left_weight + right_weight
    gain = 0.0
    if entropy:
        for c in range(n_classes):
            gain += divergence(left[c], total[c], left_weight, right_weight)
        return gain / weight
    for c in range(n_classes):
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
def order_categories(hist, shift, n_slots, slot, size, keys, order, ordered):
    """Order non-empty bins by the share of one slot in the bin's weight; their number.

    For two classes and for least squares this order contains the optimal split among
    its prefixes (Fisher 1958). ``n_slots`` slots make up the weight. ``order`` gets the
    places of the bins, and ``ordered`` their histogram with the missing bin at the end.
    """
    filled = 0
    for b in range(size):
        weight = 0
        for c in range(n_slots):
            weight += hist[(b << shift) + c]
        if weight > 0:
            keys[filled] = np.float64(hist[(b << shift) + slot]) / np.float64(weight)
            order[filled] = b
            filled += 1
    for i in range(1, filled):  # insertion sort: stable, and few categories
        key, b = keys[i], order[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j], order[j] = keys[j - 1], order[j - 1]
            j -= 1
        keys[j], order[j] = key, b
    order[filled] = size
    for k in range(filled + 1):
        for s in range(1 << shift):
            ordered[(k << shift) + s] = hist[(order[k] << shift) + s]
    return filled
