"""The working sets of the boosters: what a round of each has to fit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.scores.additive import WorkingSet
from splboost.boosting.scores.working import (
    MOST_MARGIN,
    work_out_exponential,
    work_out_fisher,
    work_out_logistic,
    work_out_majoriser,
    work_out_savage,
)
from splboost.losses import Exponential, Logistic, MarginLoss, Savage, Savage2

FloatArray = NDArray[np.float64]


class Gentle(WorkingSet):
    """GentleBoost: y, with the weights of the exponential loss."""

    loss = Exponential(coupled=False)

    def work_out(self, *arrays) -> None:  # type: ignore[no-untyped-def]
        work_out_exponential(*arrays)


class Real(Gentle):
    """Real AdaBoost: the same weights; one learner for all classes."""

    loss = Exponential()
    joint = True


class Logit(WorkingSet):
    """LogitBoost: Newton steps on the log-likelihood."""

    loss = Logistic()

    def __init__(self, most: float = math.inf, *, keep_gradient: bool = False) -> None:
        self.most = most
        self.keep_gradient = keep_gradient

    def work_out(self, score, codes, own, *written) -> None:  # type: ignore[no-untyped-def]
        most, keep = self.most, self.keep_gradient
        work_out_logistic(score, codes, own, most, keep, *written)

    def combine(self, added: FloatArray) -> FloatArray:
        """(K - 1) / K of what each learner adds, less the mean over the classes."""
        k = added.shape[1]
        return (k - 1) / k * (added - added.mean(axis=1, keepdims=True))

    def against_rest(self, score: FloatArray) -> FloatArray:
        """Half the log-odds of each class; probabilities are a softmax."""
        highest = score.max(axis=1, keepdims=True)
        power = np.exp(score - highest)
        others = power.sum(axis=1, keepdims=True) - power
        # Where a class is all there is, the sum of the others has no digits left.
        few = others < 1e-3 * power
        if few.any():
            rows, columns = np.nonzero(few)
            exact = power[rows]
            exact[np.arange(rows.size), columns] = 0.0
            others[rows, columns] = np.maximum(exact.sum(axis=1), 1e-300)
        return 0.5 * (score - highest - np.log(others))


class BySlope(WorkingSet):
    """SavageBoost, RBoost: y, with the slope of a Savage loss for a weight."""

    def __init__(self, loss: Savage) -> None:
        self.loss: MarginLoss = loss

    def work_out(self, score, codes, own, *written) -> None:  # type: ignore[no-untyped-def]
        scale = self.loss.log_odds_per_score
        work_out_savage(score, codes, own, scale, *written)


class Fisher(WorkingSet):
    """RBoost by Fisher scoring."""

    loss = Savage2()

    def __init__(self, most: float) -> None:
        self.most = most

    def work_out(self, score, codes, own, *written) -> None:  # type: ignore[no-untyped-def]
        work_out_fisher(score, codes, own, self.most, *written)


class Majoriser(WorkingSet):
    """RBoost by a quadratic majoriser."""

    loss = Savage2()

    def work_out(self, *arrays) -> None:  # type: ignore[no-untyped-def]
        work_out_majoriser(*arrays)


class FromMargins(WorkingSet):
    """A booster of the user's: weights and targets from margins and labels.

    Parameters
    ----------
    loss : MarginLoss
    weigh : callable
        ``weigh(margin, y)`` returns weight and target of each sample.
    booster : str
        Its name, for errors.
    """

    def __init__(
        self,
        loss: MarginLoss,
        weigh: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
        booster: str,
    ) -> None:
        self.loss = loss
        self.weigh = weigh
        self.booster = booster

    def work_out(self, score, codes, own, weight, target, loss) -> None:  # type: ignore[no-untyped-def]
        y = np.where(codes == own, 1.0, -1.0)
        margin = np.clip(y * score, -MOST_MARGIN, MOST_MARGIN)
        weight[:], target[:] = self.weigh(margin, y)
        loss[:] = self.loss.value(margin)
        wrong = ~((weight >= 0) & np.isfinite(weight) & np.isfinite(target))
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"{self.booster}.working_set gives weight={weight[i]} and "
                f"target={target[i]} at margin={margin[i]:.6g}, y={y[i]:.0f}; weights "
                "must be finite and not negative, targets finite."
            )
