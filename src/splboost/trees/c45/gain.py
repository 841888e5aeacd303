"""What a split of a node by one attribute is worth, in bits.

An attribute is laid out as *groups* of cases, each the sums of its class weights: the
values of a category, or neighbouring numbers between which no cut may fall. A node has

    bits    W log W - sum over the classes of W_c log W_c

to be told about the classes of its cases, W times their entropy. A split leaves the
sum of its branches' bits. Only cases whose value is known take part; the gain is what
the split saves them, per unit of the node's whole weight. ``split info`` is the
entropy of the branches themselves, those with an unknown value being one more.

For numeric attributes all cuts between groups are tried, but few are computed. Between
two cuts the class weights on the left only grow, and the bits left by a split are a
concave function of them: within a box it is least at a corner. So a stretch of cuts of
which no corner beats the best cut so far is passed over, and nothing is lost.
"""

from __future__ import annotations

import numpy as np

from splboost.compiled import kernel
from splboost.trees.split import TIE, TIE_FLOOR

SLACK = 1e-9  # by which sums of weights may fall short of a bound
EPSILON = 1e-3  # C4.5's own: gains and split infos that differ by less are equal
MOST_MIN_SPLIT = 25.0
STRETCH = 24  # cuts from one that is computed to the next
UNUSABLE = -1.0  # a gain


@kernel
def n_log_n(x):
    return x * np.log2(x) if x > 0 else 0.0


@kernel
def two_class_bits(a, b):
    return n_log_n(a + b) - n_log_n(a) - n_log_n(b)


@kernel
def bits(weights):
    """Bits of a node with these class weights."""
    total = left = 0.0
    for c in range(weights.size):
        total += weights[c]
        left += n_log_n(weights[c])
    return n_log_n(total) - left


@kernel
def reaches(weight, bound):
    """Whether a sum of weights is at least a bound, but for rounding."""
    return weight >= bound * (1 - SLACK)


@kernel
def least_split(known, n_classes, min_cases):
    """Weight that each side of a cut must hold."""
    least = 0.1 * known / n_classes
    return min_cases if least <= min_cases else min(least, MOST_MIN_SPLIT)


@kernel
def eligible_cuts(below, n_groups, known, least):
    """First and last + 1 of the cuts with enough weight on either side.

    ``below[c, g]`` is the weight of class c in the groups up to g.
    """
    first, last = 0, n_groups - 1
    while first < last and not reaches(below[:, first].sum(), least):
        first += 1
    while last > first and not reaches(known - below[:, last - 1].sum(), least):
        last -= 1
    return first, last


@kernel
def best_cut(below, total, first, last):
    """The cut that leaves the fewest bits, the first of equals; and these bits."""
    if total.size == 2:
        return best_cut_of_two(below, total, first, last)
    best, place = np.inf, -1
    known, everything = total.sum(), bits(total)
    for g in range(first, last):
        left = right = left_weight = 0.0
        for c in range(total.size):
            left += n_log_n(below[c, g])
            right += n_log_n(total[c] - below[c, g])
            left_weight += below[c, g]
        rest = n_log_n(left_weight) - left + n_log_n(known - left_weight) - right
        if place < 0 or rest < best - tie(everything - best, known):
            best, place = rest, g
    return place, best


@kernel
def tie(saved, known):
    """Difference in bits below which two cuts are equal."""
    return TIE * saved + TIE_FLOOR * known


@kernel
def best_cut_of_two(below, total, first, last):
    """The same for two classes, by stretches."""
    a, b = below[0], below[1]
    all_a, all_b = total[0], total[1]
    known, everything = all_a + all_b, two_class_bits(all_a, all_b)
    best, place = np.inf, -1
    for g in range(first, last, STRETCH):
        rest = bits_left(a[g], b[g], all_a, all_b)
        if rest < best:
            best, place = rest, g
    margin = tie(everything - best, known)
    for start in range(first, last, STRETCH):
        end = min(start + STRETCH, last)  # one more cut, if there is one
        low, high = start, min(end, last - 1)
        corner = min(
            bits_left(a[low], b[high], all_a, all_b),
            bits_left(a[high], b[low], all_a, all_b),
            bits_left(a[high], b[high], all_a, all_b),
        )
        if corner > best + margin:
            continue
        for g in range(start, end):
            rest = bits_left(a[g], b[g], all_a, all_b)
            if rest < best - margin or (rest <= best + margin and g < place):
                place = g
            if rest < best:
                best = rest
                margin = tie(everything - best, known)
    return place, best


@kernel
def bits_left(a, b, all_a, all_b):
    """Bits left by a cut with a and b to its left."""
    return two_class_bits(a, b) + two_class_bits(all_a - a, all_b - b)


@kernel
def rate_cuts(below, n_groups, total, unknown, min_cases, mdl):
    """Gain, split info and place of the best cut; UNUSABLE where there is none.

    With ``mdl`` the gain pays for telling which of the eligible cuts it is.
    """
    known = total.sum()
    if n_groups < 2 or not reaches(known, 2 * min_cases):
        return UNUSABLE, 0.0, -1
    least = least_split(known, total.size, min_cases)
    first, last = eligible_cuts(below, n_groups, known, least)
    n_tried = last - first
    if min_cases > least:  # such cuts are tried in vain
        first, last = eligible_cuts(below, n_groups, known, min_cases)
    if first >= last:
        return UNUSABLE, 0.0, -1
    place, rest = best_cut(below, total, first, last)
    weight = known + unknown
    gain = (bits(total) - rest) / weight
    if mdl:
        gain -= np.log2(n_tried) / weight
    if gain <= 1e-12:
        return UNUSABLE, 0.0, -1
    left = below[:, place].sum()
    return gain, split_info(left, known - left, unknown), place


@kernel
def split_info(left, right, unknown):
    weight = left + right + unknown
    spread = n_log_n(left) + n_log_n(right) + n_log_n(unknown)
    return (n_log_n(weight) - spread) / weight


@kernel
def rate_categories(group, total, unknown, min_cases):
    """Gain and split info of one branch per group; ``group[c, v]`` is its weight."""
    weight = total.sum() + unknown
    rest = spread = 0.0
    n_filled = 0
    for v in range(group.shape[1]):
        of_branch = group[:, v].sum()
        if of_branch > 0:
            rest += bits(group[:, v])
            spread += n_log_n(of_branch)
            n_filled += reaches(of_branch, min_cases)
    gain = (bits(total) - rest) / weight
    if n_filled < 2 or gain <= -EPSILON:
        return UNUSABLE, 0.0
    return gain, (n_log_n(weight) - spread - n_log_n(unknown)) / weight
