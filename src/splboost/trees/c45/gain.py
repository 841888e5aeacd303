"""What a split of a node by one attribute is worth, in bits.

A node has

    bits    W log W - sum over the classes of W_c log W_c

to be told about the classes of its cases, W times their entropy. A split leaves the
sum of its branches' bits. Only cases whose value is known take part; the gain is what
the split saves them, per unit of the node's whole weight. ``split info`` is the
entropy of the branches themselves, those with an unknown value being one more.

A numeric attribute is laid out as *places* in ascending order: ``below[c, i]`` is the
weight of class c up to place i, and ``valid[i]`` says whether a cut may fall behind it.
All cuts are tried, but with two classes few are computed. What a cut saves is the sum
over its sides of weight times KL(p || q), with p and q the share of the first class
there and in the node. By Taylor, with x = p - q,

    KL(p || q) = r(p) x**2

where r is a mean of values of the second derivative between q and p. That is convex,
and so is r: on either side of q it lies below a straight line to what it is at 0 and at
1. These lines bound what each cut can save, without a logarithm, and rule out nearly
all of them. Stumps of 50,000 rows are grown several times faster for it; and the
highest bound of each stretch of cuts saves another quarter at 5,000 rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splboost._tools.compiling import lean_kernel
from splboost.trees.split import TIE, TIE_FLOOR

SLACK = 1e-9  # by which sums of weights may fall short of a bound, or of each other
EPSILON = 1e-3  # C4.5's own: gains and split infos that differ by less are equal
MOST_MIN_SPLIT = 25.0
UNUSABLE = -1.0  # a gain
NO_GAIN = 1e-12
STRETCH = 64  # cuts whose bounds are looked at together
LOG_2 = np.log(2.0)
TINY = 1e-290  # a weight, if it is one
RARE = 1e-5  # share of a class of two, below which bounds would be lost in rounding
NO_BOUND = 1e200  # a ratio r that rules out no cut


class Known(NamedTuple):
    """What all cuts of a node have in common, by the cases whose value is known.

    Attributes
    ----------
    weight : of these cases
    bits : to be told about their classes
    to_try : weight that each side of a cut must hold to be tried, but for rounding
    to_make : the same to be made
    only_paying : whether cuts that cannot pay their cost may be passed over
    q : share of the first class
    r : of two classes, the value of r at q
    below, above : slopes of the lines that bound r on either side of q
    """

    weight: float
    bits: float
    to_try: float
    to_make: float
    only_paying: bool
    q: float
    r: float
    below: float
    above: float


@lean_kernel(inner=True)
def n_log_n(x):
    return x * np.log2(x) if x > TINY else 0.0


@lean_kernel(inner=True)
def sum_of(weights):
    """Their sum; numpy's takes long to compile."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i]
    return total


@lean_kernel(inner=True)
def sum_over_classes(of_class, i):
    """The sum of a column."""
    total = 0.0
    for c in range(of_class.shape[0]):
        total += of_class[c, i]
    return total


@lean_kernel(inner=True)
def heaviest(weights):
    """The first class of those that are heaviest but for rounding."""
    most = 0.0
    for c in range(weights.size):
        most = max(most, weights[c])
    for c in range(weights.size):
        if weights[c] >= most * (1 - SLACK):
            return c
    return 0


@lean_kernel(inner=True)
def bits(weights):
    """Bits of a node with these class weights."""
    total = left = 0.0
    for c in range(weights.size):
        total += weights[c]
        left += n_log_n(weights[c])
    return n_log_n(total) - left


@lean_kernel(inner=True)
def reaches(weight, bound):
    """Whether a sum of weights is at least a bound, but for rounding."""
    return weight >= bound * (1 - SLACK)


@lean_kernel(inner=True)
def summarise(total, min_cases, only_paying):
    """What all cuts have in common, and whether there is weight for one.

    ``total`` are the class weights of the cases whose value is known.
    """
    weight, two = sum_of(total), total.size == 2
    least = 0.1 * weight / total.size
    least = min_cases if least <= min_cases else min(least, MOST_MIN_SPLIT)
    to_try, to_make = least * (1 - SLACK), max(least, min_cases) * (1 - SLACK)
    mixed = not two or min(total[0], total[1]) > SLACK * weight
    q = total[0] / weight if weight > 0 else 0.0
    r = below = above = 0.0
    if two and 0 < q < 1:
        rest, r = 1 - q, NO_BOUND
        if min(q, rest) >= RARE:
            r = 0.5 / LOG_2 / (q * rest)
            below = (r + np.log2(rest) / (q * q)) / q
            above = (-np.log2(q) / (rest * rest) - r) / rest
    known = Known(weight, bits(total), to_try, to_make, only_paying, q, r, below, above)
    return known, mixed and reaches(weight, 2 * min_cases)


@lean_kernel(inner=True, forceinline=True, fastmath={"contract"})
def bound_cuts(a, b, valid, known, bound, top):
    """Bound what each cut saves, -1 if it may not be made; the number tried.

    Sides too light to be made are tried in vain. ``top`` gets the highest bound of each
    stretch.
    """
    q, even = known.q, known.r * known.weight
    n_tried = 0
    for i in range(valid.size):
        left = a[i] + b[i]
        right = known.weight - left
        excess = a[i] - left * q
        # p - q is share * right on the left, and -share * left on the right.
        share = excess / (left * right)
        of_left, of_right = known.below, known.above
        if excess > 0:
            of_left, of_right = known.above, known.below
        tilt = of_left * (right * right) - of_right * (left * left)
        most = excess * share * (even + share * tilt)
        smaller = min(left, right)
        n_tried += valid[i] & (smaller >= known.to_try)
        bound[i] = most if valid[i] & (smaller >= known.to_make) else -1.0
    # Positive floats are in the order of their bits, and these are compared faster.
    in_order = bound.view(np.int64)
    for k in range(top.size):
        highest = np.int64(0)
        stretch = in_order[k * STRETCH : (k + 1) * STRETCH]
        for i in range(stretch.size):
            highest = max(highest, stretch[i])
        top[k] = np.int64(highest).view(np.float64)
    return n_tried


@lean_kernel(inner=True)
def best_bounded_cut(below, total, known, bound, top, least_saving):
    """The cut that leaves the fewest bits, the first of equals, and what it leaves.

    It is -1 if no cut saves more than ``least_saving``.
    """
    everything, stretch, highest = known.bits, -1, least_saving
    for k in range(top.size):
        if top[k] > highest:
            highest, stretch = top[k], k
    if stretch < 0:
        return -1, everything
    place = stretch * STRETCH
    while bound[place] < highest:
        place += 1
    best = bits_left(below, total, place)
    bound[place] = everything - best  # what is known is the closest bound
    needed = max(everything - best, least_saving)
    for k in range(top.size):
        if top[k] < needed:
            continue
        for i in range(k * STRETCH, min((k + 1) * STRETCH, bound.size)):
            if bound[i] >= needed:
                rest = bits_left(below, total, i)
                bound[i] = everything - rest
                if rest < best:
                    best, place = rest, i
                    needed = max(everything - best, least_saving)
    if everything - best <= least_saving:
        return -1, best
    margin = tie(everything - best, known.weight)
    needed = everything - best - margin
    for k in range(place // STRETCH + 1):
        if top[k] < needed:
            continue
        for i in range(k * STRETCH, min((k + 1) * STRETCH, place)):
            if bound[i] >= needed and bits_left(below, total, i) <= best + margin:
                return i, best
    return place, best


@lean_kernel(inner=True)
def best_cut(below, valid, total, known, least_saving, of_classes):
    """The same for any number of classes, every cut computed.

    ``of_classes`` is memory for three numbers of each.
    """
    best, place = known.bits - least_saving, -1
    # From cut to cut few classes change, and only their terms are computed anew.
    of_classes[:] = 0
    last, of_left, of_right = of_classes[0], of_classes[1], of_classes[2]
    left = left_weight = 0.0
    right = n_log_n(known.weight) - known.bits
    for c in range(total.size):
        of_right[c] = n_log_n(total[c])
    for i in range(valid.size):
        if not valid[i]:
            continue
        for c in range(total.size):
            if below[c, i] != last[c]:
                left -= of_left[c]
                right -= of_right[c]
                left_weight += below[c, i] - last[c]
                last[c] = below[c, i]
                of_left[c] = n_log_n(last[c])
                of_right[c] = n_log_n(total[c] - last[c])
                left += of_left[c]
                right += of_right[c]
        right_weight = known.weight - left_weight
        if min(left_weight, right_weight) < known.to_make:
            continue
        rest = n_log_n(left_weight) - left + n_log_n(right_weight) - right
        margin = tie(known.bits - best, known.weight) if place >= 0 else 0.0
        if rest < best - margin:
            best, place = rest, i
    return place, best


@lean_kernel(inner=True)
def count_tried(below, valid, known):
    """Valid cuts with enough weight on either side."""
    n = 0
    for i in range(valid.size):
        left = sum_over_classes(below, i)
        n += valid[i] and min(left, known.weight - left) >= known.to_try
    return n


@lean_kernel(inner=True)
def tie(saved, weight):
    """Difference in bits below which two cuts are equal."""
    return TIE * saved + TIE_FLOOR * weight


@lean_kernel(inner=True)
def bits_left(below, total, i):
    """Bits of two classes left by the cut behind place i."""
    a, b = below[0, i], below[1, i]
    c, d = total[0] - a, total[1] - b
    left = n_log_n(a + b) - n_log_n(a) - n_log_n(b)
    return left + (n_log_n(c + d) - n_log_n(c) - n_log_n(d))


@lean_kernel(inner=True, forceinline=True)
def rate_cuts(scratch, valid, total, known, unknown, n_tried):
    """Gain, cost, split info and place of the best cut; UNUSABLE where there is none.

    The cost is that of telling which of the cuts tried it is. With two classes the
    places are bounded, and ``n_tried`` is what ``bound_cuts`` has returned.
    """
    below, two = scratch.below, total.size == 2
    if not two:
        n_tried = count_tried(below, valid, known)
    cost = np.log2(max(n_tried, 1))
    least_saving = cost if known.only_paying else 0.0
    if two:
        bound = scratch.bound[: valid.size]
        top = scratch.top[: (valid.size + STRETCH - 1) // STRETCH]
        place, rest = best_bounded_cut(below, total, known, bound, top, least_saving)
    else:
        place, rest = best_cut(
            below, valid, total, known, least_saving, scratch.of_classes
        )
    if place < 0:
        return UNUSABLE, 0.0, 0.0, -1
    weight, left = known.weight + unknown, sum_over_classes(below, place)
    spread = n_log_n(left) + n_log_n(known.weight - left) + n_log_n(unknown)
    info = (n_log_n(weight) - spread) / weight
    return (known.bits - rest) / weight, cost / weight, info, place


@lean_kernel(inner=True)
def rate_categories(group, total, unknown, min_cases):
    """Gain and split info of one branch per group; ``group[c, v]`` is its weight."""
    weight = sum_of(total) + unknown
    rest = spread = 0.0
    n_filled = 0
    for v in range(group.shape[1]):
        of_branch = sum_over_classes(group, v)
        if of_branch > 0:
            for c in range(total.size):
                rest -= n_log_n(group[c, v])
            rest += n_log_n(of_branch)
            spread += n_log_n(of_branch)
            n_filled += reaches(of_branch, min_cases)
    gain = (bits(total) - rest) / weight
    if n_filled < 2 or gain <= -EPSILON:
        return UNUSABLE, 0.0
    return gain, (n_log_n(weight) - spread - n_log_n(unknown)) / weight
