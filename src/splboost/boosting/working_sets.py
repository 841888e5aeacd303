"""What a round of a booster fits: the weight and the target of each sample.

These are formulas of the margin, like those of the losses. Sample weights and paces
multiply the weight afterwards; targets are for boosters that fit regressions, and are
those of samples with y = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._tools.maths import clip
from splboost.losses import (
    Exponential,
    Logistic,
    MarginLoss,
    Savage,
    Savage2,
    exponential,
    logistic,
    savage,
    savage2,
    savage2_slope,
    savage_slope,
    sides,
)

FloatArray = NDArray[np.float64]
Formula = Callable[..., Any]

LEAST_WEIGHT = 2.0**-79
HIGHEST_CURVATURE = 0.15405857012135055  # of Savage2, at exp(m) = (7 + sqrt(33)) / 8


def by_exponential(m: Any, limit: Any) -> tuple[Any, Any]:
    """Discrete, Real and Gentle AdaBoost: the label, by the slope of exp(-m)."""
    return exponential(m), 1.0


def by_savage(m: Any, limit: Any) -> tuple[Any, Any]:
    """SavageBoost: the label, by a fourth of the slope of its loss."""
    return savage_slope(m) / 4, 1.0


def by_savage2(m: Any, limit: Any) -> tuple[Any, Any]:
    """RBoost, gentle and discrete: the label, by half the slope of its loss."""
    return savage2_slope(m) / 2, 1.0


def newton(m: Any, limit: Any) -> tuple[Any, Any]:
    """LogitBoost: a Newton step on log(1 + exp(-2 m)).

    With p the probability of the label, the target is (1 - p) / (p (1 - p)) = 1 / p, at
    most the limit, by the weight p (1 - p).
    """
    right, wrong = sides(2 * m)
    return clip(right * wrong, LEAST_WEIGHT, 1.0), clip(1 / right, 1.0, limit)


def newton_by_gradient(m: Any, limit: Any) -> tuple[Any, Any]:
    """The same, but where a target is cut off the weight grows as much."""
    right, wrong = sides(2 * m)
    z = clip(1 / right, 1.0, limit)
    return clip(wrong / z, LEAST_WEIGHT, 1.0), z


def fisher(m: Any, limit: Any) -> tuple[Any, Any]:
    """RBoost by Fisher scoring: the expected curvature of Savage2."""
    right, wrong = sides(m)
    weight = right * wrong
    return weight * weight, clip(1 / right, 1.0, limit)


def majorise(m: Any, limit: Any) -> tuple[Any, Any]:
    """RBoost by a quadratic majoriser: the slope over the highest curvature."""
    return 1.0, savage2_slope(m) / HIGHEST_CURVATURE


class WorkingSet:
    """What a round fits.

    Parameters
    ----------
    loss : MarginLoss
        What the booster minimises.
    loss_of, fit_of : formulas of the loss, and of weight and target
    limit : float
        The second argument of ``fit_of``.
    joint : bool
        Whether one learner serves all classes.
    """

    def __init__(
        self,
        loss: MarginLoss,
        loss_of: Formula | None,
        fit_of: Formula | None,
        *,
        limit: float = math.inf,
        joint: bool = False,
    ) -> None:
        self.loss = loss
        self.loss_of = loss_of
        self.fit_of = fit_of
        self.limit = limit
        self.joint = joint

    def fit(self, margin: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight and target of samples with these margins and labels, ±1."""
        weight, target = self.fit_of(margin, self.limit)  # type: ignore[misc]
        return weight, y * target

    def combine(self, added: FloatArray) -> FloatArray:
        """Scores (n, K) of more than two classes, from what learners have added."""
        return added

    def against_rest(self, score: FloatArray) -> FloatArray:
        """Scores of each class against the rest, as two classes have them."""
        return score


class SymmetricLogit(WorkingSet):
    """LogitBoost, of which more than two classes are coupled by a softmax."""

    def combine(self, added: FloatArray) -> FloatArray:
        """(K - 1) / K of what each learner adds, less the mean over the classes."""
        k = added.shape[1]
        return (k - 1) / k * (added - added.mean(axis=1, keepdims=True))

    def against_rest(self, score: FloatArray) -> FloatArray:
        """Half the log-odds of each class; probabilities are a softmax."""
        highest = score.max(axis=1, keepdims=True)
        power = np.exp(score - highest)
        # The sum of the classes before and after: the sum of all less a class that is
        # nearly all there is would have no digits left.
        others = np.full_like(power, 1e-300)
        others[:, 1:] += power[:, :-1].cumsum(axis=1)
        others[:, :-1] += power[:, :0:-1].cumsum(axis=1)[:, ::-1]
        return 0.5 * (score - highest - np.log(others))


class FromMargins(WorkingSet):
    """A booster of the user's own: weights and targets from margins and labels.

    Parameters
    ----------
    loss : MarginLoss
    working_set : callable
        ``working_set(margin, y)`` returns weight and target of each sample.
    booster : str
        Its name, for errors.
    """

    def __init__(
        self,
        loss: MarginLoss,
        working_set: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
        booster: str,
    ) -> None:
        super().__init__(loss, None, None)
        self.working_set = working_set
        self.booster = booster

    def fit(self, margin: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        weight, target = map(np.asarray, self.working_set(margin, y))
        wrong = ~((weight >= 0) & np.isfinite(weight) & np.isfinite(target))
        if wrong.any():
            i = int(np.flatnonzero(wrong + np.zeros(y.size, dtype=bool))[0])
            weight, target = weight + np.zeros(y.size), target + np.zeros(y.size)
            raise ValueError(
                f"{self.booster}.working_set gives weight={weight[i]} and "
                f"target={target[i]} at margin={margin[i]:.6g}, y={y[i]:.0f}; weights "
                "must be finite and not negative, targets finite."
            )
        return weight, target


DISCRETE = WorkingSet(Exponential(), exponential, by_exponential, joint=True)
GENTLE = WorkingSet(Exponential(coupled=False), exponential, by_exponential)
SAVAGE = WorkingSet(Savage(), savage, by_savage)


def logit(limit: float, *, keep_gradient: bool) -> WorkingSet:
    """LogitBoost."""
    fit_of = newton_by_gradient if keep_gradient else newton
    return SymmetricLogit(Logistic(), logistic, fit_of, limit=limit)


def rboost(variant: str, limit: float) -> WorkingSet:
    """RBoost."""
    fit_of = {"fisher": fisher, "mm": majorise}.get(variant, by_savage2)
    return WorkingSet(Savage2(), savage2, fit_of, limit=limit)
