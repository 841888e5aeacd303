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

    KL(p || q) = r(p) x**2         r(p) = r(q) + r'(q) x + s(p) x**2

where r and s are means of values of the second and of the fourth derivative between q
and p. These are convex, and so are r and s: on either side of q they lie below straight
lines to what they are at 0 and at 1. The lines of r bound what each cut can save,
without a logarithm, and rule most of them out; those of s are closer, and rule out
nearly all that are left.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import lean_kernel
from splboost.trees.c45.nodes import SLACK
from splboost.trees.split import TIE, TIE_FLOOR

EPSILON = 1e-3  # C4.5's own: gains and split infos that differ by less are equal
MOST_MIN_SPLIT = 25.0
UNUSABLE = -1.0  # a gain
NO_GAIN = 1e-12
STRETCH = 64  # cuts whose bounds are looked at together
LOG_2 = np.log(2.0)
TINY = 1e-290  # a weight, if it is one
RARE = 1e-5  # share of a class of two, below which bounds would be lost in rounding
UNCOMMON = 1e-2  # the same for the closer ones, which have large parts that cancel
NO_BOUND = 1e200  # a ratio r that rules out no cut


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
def two_class_bits(a, b):
    return n_log_n(a + b) - n_log_n(a) - n_log_n(b)


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
def least_split(known, n_classes, min_cases):
    """Weight that each side of a cut must hold."""
    least = 0.1 * known / n_classes
    return min_cases if least <= min_cases else min(least, MOST_MIN_SPLIT)


@lean_kernel(inner=True)
def may_gain(total, known, min_cases):
    """Whether there is weight for a cut; and with two classes, of both."""
    mixed = total.size > 2 or min(total[0], total[1]) > SLACK * known
    return mixed and reaches(known, 2 * min_cases)


@lean_kernel(inner=True)
def summarise(total, min_cases):
    """What all cuts of a node with these class weights have in common.

    Its weight, its bits, the weight that each side of a cut must hold; and with two
    classes the lines that bound r, its value at q and their slopes below and above; and
    those of s, the slope of r at q, the value of s and the slopes.
    """
    known = sum_of(total)
    least = least_split(known, total.size, min_cases)
    q = total[0] / known if known > 0 else 0.0
    if total.size > 2 or q <= 0 or q >= 1:
        return known, bits(total), least, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)
    rest, spread = 1 - q, q * (1 - q)
    none = 0.0, NO_BOUND, 0.0, 0.0
    if min(q, rest) < RARE:
        return known, bits(total), least, (NO_BOUND, 0.0, 0.0), none
    at_q = 0.5 / LOG_2 / spread
    at_0, at_1 = -np.log2(rest) / (q * q), -np.log2(q) / (rest * rest)
    below, above = (at_q - at_0) / q, (at_1 - at_q) / rest
    if min(q, rest) < UNCOMMON:
        return known, bits(total), least, (at_q, below, above), none
    slope = (q - rest) / (6 * LOG_2 * spread**2)
    s_at_q = (1 - 3 * spread) / (12 * LOG_2 * spread**3)
    to_0 = ((slope - below) / q - s_at_q) / q
    to_1 = ((above - slope) / rest - s_at_q) / rest
    closer = slope, s_at_q, to_0, to_1
    return known, bits(total), least, (at_q, below, above), closer


@lean_kernel(inner=True, forceinline=True, fastmath={"contract"})
def bound_cuts(a, b, valid, of_node, total, min_cases, bound, top):
    """Bound what each cut saves, -1 if it may not be made; the number tried.

    Each side must hold the least of the node; sides below ``min_cases`` are tried in
    vain. ``top`` gets the highest bound of each stretch.
    """
    known, _, least, (at_q, below, above), _ = of_node
    q, even = total[0] / known, at_q * known
    to_try, to_make = least * (1 - SLACK), max(least, min_cases) * (1 - SLACK)
    n_tried = 0
    for i in range(valid.size):
        left = a[i] + b[i]
        right = known - left
        excess = a[i] - left * q
        # p - q is share * right on the left, and -share * left on the right.
        share = excess / (left * right)
        of_left, of_right = (above, below) if excess > 0 else (below, above)
        tilt = of_left * (right * right) - of_right * (left * left)
        most = excess * share * (even + share * tilt)
        smaller = min(left, right)
        n_tried += valid[i] & (smaller >= to_try)
        bound[i] = most if valid[i] & (smaller >= to_make) else -1.0
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
def bound_closely(a, b, of_node, total):
    """A closer bound of what a cut saves, with a and b to its left."""
    known, _, _, (at_q, _, _), (slope, s_at_q, to_0, to_1) = of_node
    left = a + b
    right = known - left
    excess = a - left * (total[0] / known)
    share = excess / (left * right)
    x, z = share * right, share * left  # p is q + x on the left, q - z on the right
    x_rise, z_rise = (to_1, to_0) if excess > 0 else (to_0, to_1)
    r_left = at_q + x * (slope + x * (s_at_q + x_rise * abs(x)))
    r_right = at_q - z * (slope - z * (s_at_q + z_rise * abs(z)))
    return excess * share * (right * r_left + left * r_right)


@lean_kernel(inner=True, forceinline=True)
def best_bounded_cut(a, b, total, of_node, bound, top, least_saving):
    """The cut that leaves the fewest bits, the first of equals, and what it leaves.

    It is -1 if no cut saves more than ``least_saving``.
    """
    all_a, all_b, everything = total[0], total[1], of_node[1]
    stretch = -1
    highest = least_saving
    for k in range(top.size):
        if top[k] > highest:
            highest, stretch = top[k], k
    if stretch < 0:
        return -1, everything
    place = stretch * STRETCH
    while bound[place] < highest:
        place += 1
    best = bits_left(a[place], b[place], all_a, all_b)
    needed = max(everything - best, least_saving)
    for k in range(top.size):
        if top[k] < needed:
            continue
        for i in range(k * STRETCH, min((k + 1) * STRETCH, bound.size)):
            if bound[i] < needed or bound_closely(a[i], b[i], of_node, total) < needed:
                continue
            rest = bits_left(a[i], b[i], all_a, all_b)
            if rest < best:
                best, place = rest, i
                needed = max(everything - best, least_saving)
    if everything - best <= least_saving:
        return -1, best
    margin = tie(everything - best, all_a + all_b)
    needed = everything - best - margin
    for k in range(place // STRETCH + 1):
        if top[k] < needed:
            continue
        for i in range(k * STRETCH, min((k + 1) * STRETCH, place)):
            if bound[i] < needed or bound_closely(a[i], b[i], of_node, total) < needed:
                continue
            if bits_left(a[i], b[i], all_a, all_b) <= best + margin:
                return i, best
    return place, best


@lean_kernel(inner=True)
def best_cut(
    below, valid, total, everything, least, min_cases, least_saving, of_classes
):
    """The same for any number of classes, every cut computed.

    ``of_classes`` is memory for three numbers of each.
    """
    known = sum_of(total)
    best, place = everything - least_saving, -1
    # From cut to cut few classes change, and only their terms are computed anew.
    of_classes[:] = 0
    last, of_left, of_right = of_classes[0], of_classes[1], of_classes[2]
    left = left_weight = 0.0
    right = n_log_n(known) - everything
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
        smaller = min(left_weight, known - left_weight)
        if not reaches(smaller, max(least, min_cases)):
            continue
        rest = n_log_n(left_weight) - left + n_log_n(known - left_weight) - right
        if rest < best - (tie(everything - best, known) if place >= 0 else 0.0):
            best, place = rest, i
    return place, best


@lean_kernel(inner=True)
def count_tried(below, valid, known, least):
    """Valid cuts with enough weight on either side."""
    n = 0
    for i in range(valid.size):
        left = sum_over_classes(below, i)
        n += valid[i] and reaches(min(left, known - left), least)
    return n


@lean_kernel(inner=True)
def tie(saved, known):
    """Difference in bits below which two cuts are equal."""
    return TIE * saved + TIE_FLOOR * known


@lean_kernel(inner=True)
def bits_left(a, b, all_a, all_b):
    """Bits left by a cut with a and b to its left."""
    return two_class_bits(a, b) + two_class_bits(all_a - a, all_b - b)


@lean_kernel(inner=True, forceinline=True)
def rate_cuts(
    below,
    valid,
    total,
    of_node,
    unknown,
    min_cases,
    only_paying,
    bounds,
    n_tried,
    of_classes,
):
    """Gain, cost, split info and place of the best cut; UNUSABLE where there is none.

    The cost is that of telling which of the cuts tried it is. ``only_paying`` looks no
    further where no cut can gain as much. With two classes ``bounds`` are what
    ``bound_cuts`` has written and ``n_tried`` what it has returned; with more classes
    ``of_classes`` is memory for three numbers of each.
    """
    known, everything, least = of_node[0], of_node[1], of_node[2]
    if total.size > 2:
        n_tried = count_tried(below, valid, known, least)
    cost = np.log2(max(n_tried, 1))
    least_saving = cost if only_paying else 0.0
    if total.size > 2:
        place, rest = best_cut(
            below,
            valid,
            total,
            everything,
            least,
            min_cases,
            least_saving,
            of_classes,
        )
    else:
        bound, top = bounds
        place, rest = best_bounded_cut(
            below[0], below[1], total, of_node, bound, top, least_saving
        )
    if place < 0:
        return UNUSABLE, 0.0, 0.0, -1
    weight = known + unknown
    left = sum_over_classes(below, place)
    info = split_info(left, known - left, unknown)
    return (everything - rest) / weight, cost / weight, info, place


@lean_kernel(inner=True)
def split_info(left, right, unknown):
    weight = left + right + unknown
    spread = n_log_n(left) + n_log_n(right) + n_log_n(unknown)
    return (n_log_n(weight) - spread) / weight


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
