"""Margin losses: how much a sample hurts, and what its score says of its label.

A loss is a function of the margin m, which is positive where the model is right. Each
class here gives the loss itself, what a pace sees of it, and the link from scores to
probabilities.

Scores of two classes are one number per sample, F, and the margin is y F with y = ±1.
Scores of K > 2 classes are a row of K numbers that sum to zero, G, and the margin is
that of the sample's own class, G_y.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

FloatArray = NDArray[np.float64]


class Exponential:
    """AdaBoost's loss exp(-m).

    It is 1 where the model is undecided. With K classes it is the loss of SAMME (Zhu et
    al. 2009): there F = (K - 1) G, and the loss is exp(-F_y / (K - 1)) = exp(-G_y).
    """

    def value(self, margin: FloatArray) -> FloatArray:
        """exp(-m), for margins of any size: beyond ±700 it stays where it is."""
        return np.exp(np.clip(-margin, -700, 700))

    def probability(self, score: FloatArray) -> FloatArray:
        """Probability of each class, from the minimiser of the expected loss.

        F is half the log-odds of two classes; K classes have p = softmax(G).
        """
        if score.ndim == 1:
            upper = expit(2 * score)
            return np.column_stack([1 - upper, upper])
        return softmax(score, axis=1)

    def doubt(self, score: FloatArray, codes: NDArray[np.integer]) -> FloatArray:
        """Loss that a pace sees, from the probability p of the sample's own class.

        It is the root of (1 - p) / p, the odds against the label, divided by what these
        are for an undecided model, K - 1. So it is 1 there for any K, and exp(-m) for
        two classes. The loss itself will not do for more: exp(-G_y) depends on how the
        rest of the probability is spread over the other classes, and hardly grows with
        ten of them, so that an age would mean another strength for every K.
        """
        if score.ndim == 1:
            return self.value(np.where(codes == 1, score, -score))
        # (1 - p) / p = sum of exp(G_k - G_y) over the other classes
        rows = np.arange(codes.size)
        ahead = score - score[rows, codes][:, None]
        ahead[rows, codes] = -np.inf
        odds = np.exp(np.minimum(ahead, 600)).sum(axis=1)
        return np.sqrt(odds / (score.shape[1] - 1))

    def probability_at(self, doubt: float, n_classes: int) -> float:
        """Probability of a label, from the loss that a pace sees of it."""
        return 1 / (1 + (n_classes - 1) * doubt * doubt)

    def doubt_at(self, probability: float, n_classes: int) -> float:
        """Loss that a pace sees of a label, from its probability."""
        return math.sqrt((1 / probability - 1) / (n_classes - 1))
