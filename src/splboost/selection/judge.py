"""Which settings of a pool to believe, by rows that they have not seen.

Every setting has a score for each row. It becomes a probability by a softmax, after a
factor of its own: a booster that has fitted wrong labels is too sure of itself. The
Brier score of these probabilities is what a setting is judged by.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from splboost._tools.compiling import kernel
from splboost._tools.maths import exp as exponential

FloatArray = NDArray[np.float64]

SMALLEST, LARGEST = 0.01, 4.0  # factors
N_HALVINGS = 14
GOLDEN = 0.6180339887498949
MOST = 300.0


@kernel(fastmath={"reassoc"})
def dot(first, second):
    """Sum of products. numpy's starts threads, which then wait at full speed."""
    total = 0.0
    for i in range(first.size):
        total += first[i] * second[i]
    return total


@kernel
def probability(score, factor, out):
    """Probabilities of the classes from a row's scores times a factor.

    A single score is half the log-odds of the second of two classes.
    """
    if score.size == 1:
        x = min(max(-2 * factor * score[0], -MOST), MOST)
        out[1] = 1 / (1 + exponential(x))
        out[0] = 1 - out[1]
        return
    highest = score[0]
    for k in range(score.size):
        highest = max(highest, score[k])
    total = 0.0
    for k in range(score.size):
        out[k] = exponential(max(factor * (score[k] - highest), -MOST))
        total += out[k]
    for k in range(score.size):
        out[k] /= total


@kernel
def brier(score, codes, weight, factor, n_classes, loss):
    """Write the Brier score of each row; their weighted sum."""
    p = np.empty(n_classes)
    total = 0.0
    for i in range(codes.size):
        probability(score[i], factor, p)
        loss[i] = 0.0
        for k in range(n_classes):
            wrong = p[k] - (1.0 if k == codes[i] else 0.0)
            loss[i] += 0.5 * wrong * wrong
        total += weight[i] * loss[i]
    return total


@kernel
def fit_factor(score, codes, weight, n_classes, loss):
    """The factor of the lowest Brier score, by golden section of its logarithm.

    ``loss`` are the rows' scores with it.
    """
    low, high = np.log(SMALLEST), np.log(LARGEST)
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left = brier(score, codes, weight, np.exp(left), n_classes, loss)
    at_right = brier(score, codes, weight, np.exp(right), n_classes, loss)
    for _ in range(N_HALVINGS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = brier(score, codes, weight, np.exp(left), n_classes, loss)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = brier(score, codes, weight, np.exp(right), n_classes, loss)
    factor = np.exp(0.5 * (low + high))
    brier(score, codes, weight, factor, n_classes, loss)
    return factor


@kernel
def add_probabilities(score, factor, share, total):
    """Add a share of the probabilities of each row."""
    p = np.empty(total.shape[1])
    for i in range(total.shape[0]):
        probability(score[i], factor, p)
        for k in range(p.size):
            total[i, k] += share * p[k]


@kernel
def sum_losses(losses, weight, total):
    """Write the weighted loss of each setting; that of equals is equal."""
    for k in range(losses.shape[0]):
        total[k] = dot(losses[k], weight)


def elect(
    losses: FloatArray,
    weight: FloatArray,
    units: NDArray[np.intp],
    n_elections: int,
    fewest: int,
    rng: np.random.Generator,
) -> FloatArray:
    """How much to believe each setting: the share of elections that it wins.

    In each election rows count for more or less at random (the Bayesian bootstrap), and
    the setting of the lowest loss wins. What wins by chance wins rarely, and what wins
    less often than ``fewest`` times counts for nothing, unless all do.

    Parameters
    ----------
    losses : (n_settings, n_rows)
    weight : of each row
    units : what each row belongs to; rows of one unit count for more or less together
    n_elections, fewest : int
    rng : Generator

    Returns
    -------
    share : (n_settings,) sums to 1
    """
    wins, total = np.zeros(losses.shape[0]), np.empty(losses.shape[0])
    n_units = int(units.max()) + 1
    for _ in range(n_elections):
        chance = rng.standard_exponential(n_units)[units]
        sum_losses(losses, weight * chance, total)
        wins[int(np.argmin(total))] += 1
    if wins.max() >= fewest:
        wins[wins < fewest] = 0
    return wins / wins.sum()
