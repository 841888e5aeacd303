"""Loss, gradient and Hessian of the scores that a boosting package hands over.

A score z is a log-odds, as both packages have it: p = 1 / (1 + exp(-z)), or a softmax
over the classes. In units of the boosters of this library F = z / 2, so that the
exponential loss exp(-yF) is exp(-yz/2).

All three keep the precision of the scores, which is single in XGBoost and double in
LightGBM.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from splboost.losses import Exponential, Logistic, MarginLoss

MOST_EXPONENT = 80.0  # that still gives a number in single precision
LEAST_HESSIAN = 1e-16  # as in XGBoost


class Terms(NamedTuple):
    """What a round needs to know of each sample.

    Attributes
    ----------
    loss : array of shape (n_samples,)
    gradient, hessian : arrays of the shape of the scores
    """

    loss: NDArray[Any]
    gradient: NDArray[Any]
    hessian: NDArray[Any]


def logistic(scores: NDArray[Any], y: NDArray[Any]) -> Terms:
    """-log p(y) for two classes; ``y`` is 0 or 1, of the type of the scores."""
    small = np.exp(-np.abs(scores))  # exp of the smaller log-odds, at most 1
    total = 1 + small
    loss = np.log(total)
    loss += np.maximum((1 - 2 * y) * scores, 0)
    larger = np.divide(1, total, out=total)  # of the two probabilities
    small *= larger
    gradient = np.where(scores >= 0, larger, small)
    gradient -= y
    small *= larger
    return Terms(loss, gradient, np.maximum(small, LEAST_HESSIAN, out=small))


def exponential(scores: NDArray[Any], y: NDArray[Any]) -> Terms:
    """exp(-yF) for two classes, with F half the log-odds."""
    half = np.clip(scores / 2, -MOST_EXPONENT, MOST_EXPONENT)
    loss = np.exp(np.where(y > 0, -half, half))
    return Terms(loss, np.where(y > 0, -loss, loss) / 2, loss / 4)


def cross_entropy(scores: NDArray[Any], y: NDArray[Any]) -> Terms:
    """-log p(y) with p the softmax; ``y`` is the number of the class.

    The Hessian is its diagonal times the factor that the package has: 2 in XGBoost,
    K / (K - 1) in LightGBM, which is told from it by the precision of the scores.
    """
    if not scores.size:  # of no rows, in whatever shape the package has them
        nothing = np.zeros((0, scores.shape[-1]), dtype=scores.dtype)
        return Terms(nothing[:, 0], nothing, nothing)
    n, k = scores.shape
    own = np.arange(n), y.astype(np.intp)
    ahead = scores - scores.max(axis=1, keepdims=True)
    p = np.exp(ahead)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    loss = np.log(total[:, 0]) - ahead[own]
    factor = 2.0 if scores.dtype == np.float32 else k / (k - 1)
    hessian = np.maximum(factor * p * (1 - p), LEAST_HESSIAN)
    p[own] -= 1
    return Terms(loss, p, hessian)


FUNCTIONS = {
    "logistic": logistic,
    "exponential": exponential,
    "softmax": cross_entropy,
}
# What a loss means as a probability, for the cut of a pace
LINKS: dict[str, MarginLoss] = {
    "logistic": Logistic(),
    "exponential": Exponential(),
    "softmax": Logistic(),
}


def probability(scores: NDArray[Any]) -> NDArray[Any]:
    """Probability of the second of two classes, or of each of several."""
    return expit(scores) if scores.ndim == 1 else softmax(scores, axis=1)
