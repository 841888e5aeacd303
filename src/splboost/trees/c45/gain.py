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
there and in the node. The ratio r(p) = KL(p || q) / (p - q)**2 is convex (a mean of
values of the second derivative between q and p), so on either side of q it lies below
the straight line from r(0) to r(q), and from r(q) to r(1). These lines bound what each
cut can save, without a logarithm, and rule nearly all of them out.
"""

from __future__ import annotations

import numpy as np

from splboost.compiled import kernel
from splboost.trees.split import TIE, TIE_FLOOR

SLACK = 1e-9  # by which sums of weights may fall short of a bound
EPSILON = 1e-3  # C4.5's own: gains and split infos that differ by less are equal
MOST_MIN_SPLIT = 25.0
UNUSABLE = -1.0  # a gain
NO_GAIN = 1e-12
ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
TWO_PER_LOG_2 = 2.8853900817779268
TINY = 1e-290  # a weight, if it is one


@kernel
def log2(x):
    """log2(x) of a positive number that is not denormal, right to some 1e-16.

    Several times faster than the C library's, since it is compiled into the loop
    around it.
    """
    bits = np.float64(x).view(np.int64)
    power = (bits - ROOT_HALF) >> 52
    m = np.int64(bits - (power << 52)).view(np.float64)  # from sqrt(1/2) to sqrt(2)
    s = (m - 1) / (m + 1)
    t = s * s
    # The series of atanh(s) / s, from 1/21 down to 1/3
    p = 0.047619047619047616
    p = p * t + 0.05263157894736842
    p = p * t + 0.058823529411764705
    p = p * t + 0.06666666666666667
    p = p * t + 0.07692307692307693
    p = p * t + 0.09090909090909091
    p = p * t + 0.1111111111111111
    p = p * t + 0.14285714285714285
    p = p * t + 0.2
    p = p * t + 0.3333333333333333
    return power + TWO_PER_LOG_2 * (s + s * (t * p))


@kernel
def n_log_n(x):
    return x * log2(x) if x > TINY else 0.0


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
def cuts_within(below, size, known, least):
    """First and last + 1 of the cuts with enough weight on either side."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if reaches(below[:, middle].sum(), least):
            high = middle
        else:
            low = middle + 1
    first = low
    high = size
    while low < high:
        middle = (low + high) // 2
        if reaches(known - below[:, middle].sum(), least):
            low = middle + 1
        else:
            high = middle
    return first, low


@kernel
def best_cut(below, valid, total, first, last, least_saving, bound):
    """The cut that leaves the fewest bits, the first of equals, and what it leaves.

    The cut is -1 if no valid one from first to last saves more than ``least_saving``.
    ``bound`` is scratch.
    """
    everything, known = bits(total), total.sum()
    if total.size == 2:
        # Plain slices, whose loops are done for several numbers at a time
        a, b = below[0][first:last], below[1][first:last]
        place, rest = best_cut_of_two(
            a, b, valid[first:last], total, everything, least_saving, bound
        )
        return (place + first if place >= 0 else -1), rest
    best, place = everything - least_saving, -1
    for i in range(first, last):
        if not valid[i]:
            continue
        left = right = left_weight = 0.0
        for c in range(total.size):
            left += n_log_n(below[c, i])
            right += n_log_n(total[c] - below[c, i])
            left_weight += below[c, i]
        rest = n_log_n(left_weight) - left + n_log_n(known - left_weight) - right
        if rest < best - (tie(everything - best, known) if place >= 0 else 0.0):
            best, place = rest, i
    return place, best


@kernel
def tie(saved, known):
    """Difference in bits below which two cuts are equal."""
    return TIE * saved + TIE_FLOOR * known


@kernel
def best_cut_of_two(a, b, valid, total, everything, least_saving, bound):
    """The same for two classes, by bounds."""
    all_a, all_b = total[0], total[1]
    known = all_a + all_b
    if valid.size == 0 or all_a <= 0 or all_b <= 0:
        return -1, everything
    bound_savings(a, b, valid, known, all_a / known, bound)
    highest, place = least_saving, -1
    for i in range(valid.size):
        if bound[i] > highest:
            highest, place = bound[i], i
    if place < 0:
        return -1, everything

    best = bits_left(a[place], b[place], all_a, all_b)
    margin = tie(everything - best, known)
    needed = max(everything - best - margin, least_saving)
    for i in range(valid.size):
        if bound[i] < needed:
            continue
        rest = bits_left(a[i], b[i], all_a, all_b)
        if rest < best - margin or (rest <= best + margin and i < place):
            place = i
        if rest < best:
            best = rest
            margin = tie(everything - best, known)
            needed = max(everything - best - margin, least_saving)
    return (place if everything - best > least_saving else -1), best


@kernel
def bound_savings(a, b, valid, known, q, bound):
    """Bound the bits that each cut saves, -1 if it is not valid."""
    at_q = TWO_PER_LOG_2 / 4 / (q * (1 - q))
    at_0, at_1 = -log2(1 - q) / (q * q), -log2(q) / ((1 - q) * (1 - q))
    fall, rise = (at_q - at_0) / q, (at_1 - at_q) / (1 - q)
    for i in range(valid.size):
        left = a[i] + b[i]
        excess = a[i] - left * q
        d, e = excess / left, excess / (known - left)  # p - q, and q - p on the right
        of_left = at_q + d * (rise if d > 0 else fall)
        of_right = at_q - e * (fall if e > 0 else rise)
        most = excess * (d * of_left + e * of_right)
        bound[i] = most if valid[i] else -1.0


@kernel
def bits_left(a, b, all_a, all_b):
    """Bits left by a cut with a and b to its left."""
    return two_class_bits(a, b) + two_class_bits(all_a - a, all_b - b)


@kernel
def rate_cuts(below, valid, size, total, unknown, min_cases, only_paying, bound):
    """Gain, cost, split info and place of the best cut; UNUSABLE where there is none.

    The cost is that of telling which of the eligible cuts it is. ``only_paying`` looks
    no further where no cut can gain as much.
    """
    known = total.sum()
    if not reaches(known, 2 * min_cases):
        return UNUSABLE, 0.0, 0.0, -1
    least = least_split(known, total.size, min_cases)
    first, last = cuts_within(below, size, known, least)
    cost = log2(max(count(valid[first:last]), 1))
    if min_cases > least:  # such cuts are tried in vain
        first, last = cuts_within(below, size, known, min_cases)
    least_saving = cost if only_paying else 0.0
    place, rest = best_cut(below, valid, total, first, last, least_saving, bound)
    if place < 0:
        return UNUSABLE, 0.0, 0.0, -1
    weight = known + unknown
    left = below[:, place].sum()
    info = split_info(left, known - left, unknown)
    return (bits(total) - rest) / weight, cost / weight, info, place


@kernel
def count(valid):
    n = 0
    for i in range(valid.size):
        n += valid[i]
    return n


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
