"""Kernels of working sets: what a round of a booster of values has to fit.

Each takes the scores F of one class against the rest (the second against the first, of
two), and writes for every sample the weight of its own, before any pace; the target of
a regression; and the loss that a pace sees. Samples of class ``own`` have y = 1, the
others -1, and m = y F is the margin.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import kernel
from splboost.boosting.scores.kernels import CHUNK, exponential
from splboost.trees.split import TIE

MOST_MARGIN = 345.0  # beyond it losses and weights stay what they are
LEAST_WEIGHT = 2.0**-79
NEGLIGIBLE = 1e-12
GRID = 2.0**-43  # sums of its multiples are exact
ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
LOG_2 = 0.6931471805599453
N_LENGTHS, LENGTH, FARTHEST = 41, 0.05, 2.0  # of steps along votes
CLOSE = 1e-7  # to a length: from there a step of Newton is exact
N_CELLS, FAR = 128, 12.0  # of like margins, and where they are all alike
HIGHEST_CURVATURE = 0.15405857012135055  # of Savage2, at exp(m) = (7 + sqrt(33)) / 8


@kernel
def logarithm(x):
    """log(x) of a positive number that is not denormal, right to some 1e-16.

    Compiled into the loop around it and done for several numbers at a time.
    """
    bits = np.float64(x).view(np.int64)
    power = (bits - ROOT_HALF) >> 52
    m = np.int64(bits - (power << 52)).view(np.float64)  # from sqrt(1/2) to sqrt(2)
    s = (m - 1) / (m + 1)
    t = s * s
    # The series of atanh(s) / s, from 1/19 down to 1/3
    p = 0.05263157894736842
    p = p * t + 0.058823529411764705
    p = p * t + 0.06666666666666667
    p = p * t + 0.07692307692307693
    p = p * t + 0.09090909090909091
    p = p * t + 0.1111111111111111
    p = p * t + 0.14285714285714285
    p = p * t + 0.2
    p = p * t + 0.3333333333333333
    return power * LOG_2 + 2 * (s + s * (t * p))


@kernel
def clipped_margin(score, y):
    return min(max(y * score, -MOST_MARGIN), MOST_MARGIN)


@kernel
def work_out_exponential(score, codes, own, weight, target, loss):
    """Of exp(-m): the weight is the loss, the target y."""
    for i in range(score.size):
        y = 1.0 if codes[i] == own else -1.0
        e = exponential(-clipped_margin(score[i], y))
        weight[i] = loss[i] = e
        target[i] = y


@kernel
def work_out_logistic(score, codes, own, most, keep_gradient, weight, target, loss):
    """Of log(1 + exp(-2 m)): a Newton step, its target at most ``most`` from 0.

    The target is (1 - p) / (p (1 - p)) = 1 + exp(-2 m), with the sign of y and p the
    probability of the label. Where it is cut off, ``keep_gradient`` raises the weight
    as much; otherwise the weight stays p (1 - p).
    """
    for i in range(score.size):
        y = 1.0 if codes[i] == own else -1.0
        m = clipped_margin(score[i], y)
        e = exponential(-2 * abs(m))
        p = 1 / (1 + e) if m > 0 else e / (1 + e)
        wrong = e / (1 + e) if m > 0 else 1 / (1 + e)
        z = min(1 / p, most)
        weight[i] = max(wrong / z if keep_gradient else p * wrong, LEAST_WEIGHT)
        target[i] = y * z
        loss[i] = logarithm(1 + e) - 2 * min(m, 0.0)


@kernel
def work_out_savage(score, codes, own, scale, weight, target, loss):
    """Of (1 + exp(c m))**-2, c being the scale: its slope but for a factor, and y."""
    for i in range(score.size):
        y = 1.0 if codes[i] == own else -1.0
        m = scale * clipped_margin(score[i], y)
        e = exponential(-abs(m))
        right = 1 / (1 + e) if m > 0 else e / (1 + e)
        wrong = e / (1 + e) if m > 0 else 1 / (1 + e)
        weight[i] = right * wrong * wrong
        target[i] = y
        loss[i] = wrong * wrong


@kernel
def work_out_fisher(score, codes, own, most, weight, target, loss):
    """Of Savage2: Fisher scoring, its target at most ``most`` from 0."""
    for i in range(score.size):
        y = 1.0 if codes[i] == own else -1.0
        m = clipped_margin(score[i], y)
        e = exponential(-abs(m))
        right = 1 / (1 + e) if m > 0 else e / (1 + e)
        wrong = e / (1 + e) if m > 0 else 1 / (1 + e)
        weight[i] = (right * wrong) ** 2
        target[i] = y * min(1 / right, most)
        loss[i] = wrong * wrong


@kernel
def work_out_majoriser(score, codes, own, weight, target, loss):
    """Of Savage2: the steepest descent, over its highest curvature."""
    for i in range(score.size):
        y = 1.0 if codes[i] == own else -1.0
        m = clipped_margin(score[i], y)
        e = exponential(-abs(m))
        right = 1 / (1 + e) if m > 0 else e / (1 + e)
        wrong = e / (1 + e) if m > 0 else 1 / (1 + e)
        weight[i] = 1.0
        target[i] = y * 2 * right * wrong * wrong / HIGHEST_CURVATURE
        loss[i] = wrong * wrong


@kernel(fastmath={"reassoc"})
def believe_along_lines(loss, codes, sample_weight, ages, slopes, paced, factor):
    """Write v times the sample's weight, of paces that are lines up to an age.

    Each class has its age and slope. Returns how many samples have a positive pace,
    and the sum of the latent losses.
    """
    n_selected, total, falls = 0, 0.0, slopes / ages
    for i in range(loss.size):
        age, fall = ages[codes[i]], falls[codes[i]]
        seen = min(loss[i], age)
        within = loss[i] < age
        total += sample_weight[i] * seen * (1 - 0.5 * fall * seen)
        v = 1 - fall * loss[i] if within else 0.0
        factor[i] = sample_weight[i] * v if paced else sample_weight[i]
        n_selected += within
    return n_selected if paced else loss.size, total


@kernel
def drop_negligible(weight):
    """Set weights to 0 that are next to nothing beside the largest."""
    largest = 0.0
    for i in range(weight.size):
        largest = max(largest, weight[i])
    for i in range(weight.size):
        weight[i] = weight[i] if weight[i] >= NEGLIGIBLE * largest else 0.0


@kernel
def means_of(total):
    """The mean of each node, from its weight and its weighted sum."""
    means = np.empty((total.shape[0], 1))
    for i in range(total.shape[0]):
        means[i, 0] = total[i, 1] / total[i, 0]
    return means


@kernel
def shares_of(total, n_classes):
    """The share of each class in each node; the heaviest but for rounding are equal."""
    shares = np.empty((total.shape[0], n_classes))
    for i in range(total.shape[0]):
        most = whole = 0.0
        for c in range(n_classes):
            most = max(most, total[i, c])
        for c in range(n_classes):
            near = total[i, c] >= most * (1 - TIE)
            shares[i, c] = most if near else total[i, c]
            whole += shares[i, c]
        for c in range(n_classes):
            shares[i, c] /= whole
    return shares


@kernel
def put_on_grid(values, factor):
    """Multiply values, and round them towards 0 to the grid; the largest."""
    largest = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] = np.trunc(factor * values[i, j] / GRID) * GRID
            largest = max(largest, abs(values[i, j]))
    return largest


@kernel
def half_log_odds(shares, clip, factor):
    """A multiple of half the log-odds of the second class, shares kept off 0 and 1."""
    output = np.empty((shares.shape[0], 1))
    for i in range(shares.shape[0]):
        p = min(max(shares[i, 1], clip), 1 - clip)
        q = min(max(shares[i, 0], clip), 1 - clip)
        output[i, 0] = factor * 0.5 * (np.log(p) - np.log(q))
    return output


@kernel
def votes_of(shares, factor):
    """A multiple of 1 where the second class is heavier, else of -1."""
    output = np.empty((shares.shape[0], 1))
    for i in range(shares.shape[0]):
        output[i, 0] = factor if shares[i, 1] > shares[i, 0] else -factor
    return output


@kernel
def add_leaf_outputs(score, leaf, output):
    """score[j, i] += output of the leaf of row i."""
    for j in range(score.shape[0]):
        for i in range(leaf.size):
            score[j, i] += output[leaf[i], j]


@kernel
def leaf_values(leaf, output):
    """The first output of each row's leaf."""
    values = np.empty(leaf.size)
    for i in range(leaf.size):
        values[i] = output[leaf[i], 0]
    return values


@kernel
def are_positive(leaf, output):
    """Whether the output of each row's leaf is above 0."""
    above = np.empty(leaf.size, dtype=np.bool_)
    for i in range(leaf.size):
        above[i] = output[leaf[i], 0] > 0
    return above


@kernel(fastmath={"reassoc"})
def savage2_slope(loss, factor):
    """Summed slope of the Savage2 loss, from the losses."""
    total = 0.0
    for i in range(loss.size):
        total += factor[i] * loss[i] * (1 - np.sqrt(loss[i]))
    return 2 * total


@kernel(fastmath={"reassoc"})
def savage_totals(score, codes, own, factor, values, scale, shortest, n_doublings):
    """The summed Savage loss at F, at F + a G for a shortest a, and for its doubles.

    From one length to the next, what the odds exp(c m) grow by is squared.
    """
    totals = np.zeros(n_doublings + 2)
    odds, growth = np.empty(CHUNK), np.empty(CHUNK)
    for start in range(0, score.size, CHUNK):
        rows = slice(start, start + CHUNK)
        weight, code, f, g = factor[rows], codes[rows], score[rows], values[rows]
        total = 0.0
        for i in range(weight.size):
            y = 1.0 if code[i] == own else -1.0
            odds[i] = exponential(scale * clipped_margin(f[i], y))
            growth[i] = exponential(scale * clipped_margin(shortest * g[i], y))
            q = 1 / (1 + odds[i])
            total += weight[i] * q * q
        totals[0] += total
        for k in range(1, totals.size):
            total = 0.0
            for i in range(weight.size):
                q = 1 / (1 + odds[i] * growth[i])
                total += weight[i] * q * q
                growth[i] *= growth[i]
            totals[k] += total
    return totals


@kernel
def best_vote_step(score, codes, own, factor, upper):
    """Length a in [0, 2] with the lowest summed Savage2 loss at F + a h, h = ±1.

    ``upper`` says where h = 1. The best of 41 lengths first, and Newton's way from
    there to where the slope is 0, by samples that were put together; then by all.
    """
    n = score.size
    odds, right = np.empty(n), np.empty(n, dtype=np.bool_)
    for i in range(n):
        is_own = codes[i] == own
        odds[i] = exponential(clipped_margin(score[i], 1.0 if is_own else -1.0))
        right[i] = is_own == upper[i]
    cells = put_together(score, codes, own, factor, right)
    start = best_of_grid(*cells)
    nearby = descend(*cells, start)
    length = descend(odds, right, factor, nearby if nearby >= 0 else start)
    if length < 0:
        length = descend(odds, right, factor, best_of_grid(odds, right, factor))
    return length if length >= 0 else start


@kernel
def put_together(score, codes, own, factor, right):
    """Odds, votes and weights of samples of like margins and votes."""
    weight, moment = np.zeros((2, N_CELLS)), np.zeros((2, N_CELLS))
    for i in range(score.size):
        m = score[i] if codes[i] == own else -score[i]
        m = min(max(m, -FAR), FAR)
        cell = np.int64((m + FAR) * (N_CELLS / (2 * FAR + 1e-9)))
        side = 1 if right[i] else 0
        weight[side, cell] += factor[i]
        moment[side, cell] += factor[i] * m
    odds, of_right, total = (
        np.empty(2 * N_CELLS),
        np.empty(2 * N_CELLS, np.bool_),
        (np.empty(2 * N_CELLS)),
    )
    k = 0
    for side in range(2):
        for cell in range(N_CELLS):
            if weight[side, cell] > 0:
                odds[k] = np.exp(moment[side, cell] / weight[side, cell])
                of_right[k] = side == 1
                total[k] = weight[side, cell]
                k += 1
    return odds[:k], of_right[:k], total[:k]


@kernel
def best_of_grid(odds, right, factor):
    """The length of 41 with the lowest loss."""
    best, lowest = 0, np.inf
    for k in range(N_LENGTHS):
        total = total_along(odds, right, factor, k * LENGTH)
        if total < lowest:
            best, lowest = k, total
    return best * LENGTH


@kernel
def descend(odds, right, factor, start):
    """From a length to the lowest loss nearby, within [0, 2]; -1 if it leads away."""
    length = start
    for _ in range(50):
        slope, curvature = slopes_along(odds, right, factor, length)
        if (length == 0.0 and slope >= 0) or (length == FARTHEST and slope <= 0):
            return length
        if curvature <= 0:
            return -1.0
        new = min(max(length - slope / curvature, 0.0), FARTHEST)
        if abs(new - start) > 3 * LENGTH:
            return -1.0
        if abs(new - length) < CLOSE:
            return new
        length = new
    return length


@kernel(fastmath={"reassoc"})
def total_along(odds, right, factor, length):
    """The summed loss after a step."""
    up, down = np.exp(length), np.exp(-length)
    total = 0.0
    for i in range(odds.size):
        q = 1 / (1 + odds[i] * (up if right[i] else down))
        total += factor[i] * q * q
    return total


@kernel(fastmath={"reassoc"})
def slopes_along(odds, right, factor, length):
    """Its first and second derivative by the length, both but for a factor 2."""
    up, down = np.exp(length), np.exp(-length)
    slope = curvature = 0.0
    for i in range(odds.size):
        q = 1 / (1 + odds[i] * (up if right[i] else down))
        part = factor[i] * q * q * (1 - q)
        slope += -part if right[i] else part
        curvature += part * (2 - 3 * q)
    return slope, curvature
