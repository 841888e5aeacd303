"""Kernels of the boosting loop."""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import kernel
from splboost.trees.split import TIE
from splboost.trees.workspace import CHILD, add_up

INVERSE_LOG_2 = 1.4426950408889634
LOG_2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # head and tail
LOWEST_EXPONENT = -700.0
CHUNK = 4096  # rows whose intermediate results stay in the fastest cache


@kernel
def exponential(x):
    """exp(x) for x from -700 to 700, right to the last digit or two.

    Unlike the one of the C library it is compiled into the loop around it and done for
    several numbers at a time; and it is the same number on every machine.
    """
    k = np.rint(x * INVERSE_LOG_2)
    r = (x - k * LOG_2[0]) - k * LOG_2[1]
    # The series of exp(r) for |r| <= log(2) / 2, from 1/13! down to 1/2!
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.3888888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    power = np.int64((np.int64(k) + 1023) << 52).view(np.float64)  # 2**k
    return (1 + (r + p * (r * r))) * power


@kernel(fastmath={"reassoc"})
def dot(first, second):
    """Sum of products. numpy's starts threads, which then wait at full speed."""
    total = 0.0
    for i in range(first.size):
        total += first[i] * second[i]
    return total


@kernel
def weigh(margin, shift, highest, weight):
    """Weights of samples at their margins, with all paces at 1."""
    for i in range(margin.size):
        x = min(max(shift - margin[i], LOWEST_EXPONENT), highest)
        weight[i] = exponential(x)


@kernel
def weigh_along_lines(
    margin, codes, sample_weight, weigh_samples, shift, highest, lines, paced, weight
):
    """Weights under paces of 1 - slope * loss / age up to the age, and 0 beyond.

    Each of the two classes has its line of age and slope. Returns how many samples have
    a positive pace, and the sum of the latent losses.
    """
    (lower_age, lower_slope), (upper_age, upper_slope) = lines
    lower_fall, upper_fall = lower_slope / lower_age, upper_slope / upper_age
    per_loss = np.exp(min(-shift, -LOWEST_EXPONENT))
    latent = np.empty(min(CHUNK, margin.size))
    selected, total = 0, 0.0
    for start in range(0, margin.size, CHUNK):
        m, w = margin[start : start + CHUNK], weight[start : start + CHUNK]
        code = codes[start : start + CHUNK]
        for i in range(m.size):
            # Choices between two numbers vectorise, which a table of them would not.
            age = upper_age if code[i] else lower_age
            fall = upper_fall if code[i] else lower_fall
            plain = exponential(min(max(shift - m[i], LOWEST_EXPONENT), highest))
            loss = plain * per_loss
            within = loss < age
            seen = min(loss, age)
            latent[i] = seen * (1 - 0.5 * fall * seen)
            v = 1 - fall * loss if within else 0.0
            w[i] = plain * v if paced else plain
            selected += within
        if weigh_samples:
            for i in range(m.size):
                w[i] *= sample_weight[start + i]
                latent[i] *= sample_weight[start + i]
        total += add_up(latent, m.size)
    return selected if paced else margin.size, total


@kernel
def move_margins(margin, leaf, leaf_class, y, right, wrong):
    """Add ``right`` to the margin of rows that the tree gets right, else ``wrong``."""
    for i in range(margin.size):
        margin[i] += right if leaf_class[leaf[i]] == y[i] else wrong


@kernel
def weight_missed(weight, leaf, leaf_class, y):
    """Summed weight of the rows that the tree gets wrong."""
    missed = 0.0
    for i in range(weight.size):  # no branch: half of them would be mispredicted
        missed += weight[i] * (leaf_class[leaf[i]] != y[i])
    return missed


@kernel
def share_right(margin, y, weight):
    """Share of the weight of rows of positive margin; at 0 the first class is right."""
    right = total = 0.0
    for i in range(weight.size):
        is_right = (margin[i] > 0) | ((margin[i] == 0) & (y[i] == 0))
        right += weight[i] * is_right
        total += weight[i]
    return right / total


@kernel
def move_scores(score, leaf, leaf_class, own, other):
    """Add ``own`` to the score of the predicted class and ``other`` to the rest."""
    for i in range(score.shape[0]):
        predicted = leaf_class[leaf[i]]
        for k in range(score.shape[1]):
            score[i, k] += own if k == predicted else other


@kernel
def judge_nodes(node, total, n_classes, heaviest):
    """Write the heaviest class of each node; the share of weight not of its leaf's.

    Of classes that are as heavy but for rounding it is the first, as in predictions.
    """
    missed = everything = 0
    for i in range(node.shape[0]):
        weight = most = 0
        for c in range(n_classes):
            weight += total[i, c]
            most = max(most, total[i, c])
        best = 0
        while total[i, best] < most * (1 - TIE):
            best += 1
        heaviest[i] = best
        if node[i, CHILD] < 0:
            missed += weight - total[i, best]
            everything += weight
    return missed / everything


@kernel
def scale_cases(weight, sample_cases, cases):
    """Scale weights to sum to the cases of the samples that have any; that sum.

    Cases that underflow, where weights are many powers of ten apart, count as one each.
    """
    total = of_samples = 0.0
    n_samples = 0
    for i in range(weight.size):
        total += weight[i]
        of_samples += sample_cases[i] if weight[i] > 0 else 0.0
        n_samples += weight[i] > 0
    if not 0.0 < of_samples / total < np.inf:
        of_samples = float(n_samples)
        for i in range(weight.size):
            cases[i] = weight[i] / total * of_samples
        return of_samples
    for i in range(weight.size):
        cases[i] = weight[i] * (of_samples / total)
    return of_samples
