"""The state of L2Boost: residuals of the training samples, and how far to believe them.

Scores are kept in a unit of their own, a power of two near the spread of y, so that
values on the grid (``learners.on_grid``) are as exact for targets of any size.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.learners import Weak
from splboost.boosting.state import State
from splboost.boosting.steps import Means, Proposal, ValueStep
from splboost.losses import Squared
from splboost.pace import Pace
from splboost.pace.classes import ClassCurves

FloatArray = NDArray[np.float64]

TO_DEVIATION = 1.4826  # from the median absolute deviation of a normal distribution


def weighted_median(values: FloatArray, weight: FloatArray) -> float:
    """The smallest value up to which half of the weight lies."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2 * (1 - 1e-12))]])


def robust_deviation(values: FloatArray, weight: FloatArray) -> float:
    """The median absolute deviation, as that of a normal distribution."""
    away = np.abs(values - weighted_median(values, weight))
    return TO_DEVIATION * weighted_median(away, weight)


def power_of_two(size: float) -> float:
    """The power of two next to a size; 1 for nothing."""
    return 2.0 ** round(math.log2(size)) if size > 0 else 1.0


class ResidualState(State):
    """Scores, residuals and paces of the training samples.

    Parameters
    ----------
    y : the targets
    sample_weight : the user's weights, all positive
    pace : Pace or None
    warm_rounds : int
        Rounds after which the pace sets in.
    start : float
        The prediction before the first round.
    unit : float
        Of the scores: the prediction is start + unit * score.

    Attributes
    ----------
    weight, target : (1, n) what the next learner is fitted to; targets are residuals
        in units of ``scale_of_target``
    scale : float or None
        Robust standard deviation of the residuals when the warm rounds were over. The
        pace sees half the squares of residuals in units of it.
    """

    n_outputs = 1
    n_threads = 1
    one_class = False
    target: FloatArray

    def __init__(
        self,
        y: FloatArray,
        sample_weight: FloatArray,
        pace: Pace | None,
        warm_rounds: int,
        start: float,
        unit: float,
    ) -> None:
        self.y = (y - start) / unit
        self.sample_weight = np.ascontiguousarray(sample_weight)
        self.n_samples = self.n_selected = y.size
        self.score = np.zeros((1, y.size))
        self.weight = np.empty((1, y.size))
        self.target = np.empty((1, y.size))
        self.scale: float | None = None
        self.scale_of_target = 1.0
        self.latent = math.nan
        self._unit = unit
        self._warm_rounds = warm_rounds
        self._curves = ClassCurves([pace])
        self._one = np.zeros(y.size, dtype=np.uint8)  # the class of all

    def refresh(self, *, paced: bool) -> None:
        residual = self.y - self.score[0]
        self.weight[0] = self.sample_weight
        self.n_selected = self.n_samples
        squared = Squared().value(self._unit * residual)
        self.latent = float(self.sample_weight @ squared)
        if not self._curves.is_plain:
            if paced and self.scale is None:
                self.scale = robust_deviation(residual, self.sample_weight)
            self.latent = math.nan
            if self.scale:
                with np.errstate(all="ignore"):
                    latent = self._curves.latent(self._loss(residual), self._one)
                self.latent = float(self.sample_weight @ latent)
            if paced:
                v = self._paces(residual)
                self.weight[0] *= v
                self.n_selected = int(np.count_nonzero(v))
        share = self.weight[0] / (self.weight[0].max() or 1.0)  # else sums overflow
        size = math.sqrt(float(share @ residual**2) / (share.sum() or 1.0))
        self.scale_of_target = power_of_two(size)
        np.divide(residual, self.scale_of_target, out=self.target[0])

    def _loss(self, residual: FloatArray) -> FloatArray:
        return 0.5 * (residual / (self.scale or 1.0)) ** 2

    def paces(self) -> FloatArray:
        if self._curves.is_plain:
            return np.ones(self.n_samples)
        return self._paces(self.y - self.score[0])

    def _paces(self, residual: FloatArray) -> FloatArray:
        if not self.scale:  # most residuals are 0: nothing to measure others by
            return np.ones(self.n_samples)
        with np.errstate(all="ignore"):
            return self._curves.weight(self._loss(residual), self._one)

    @property
    def mark(self) -> Any:
        return self.scale

    @mark.setter
    def mark(self, mark: Any) -> None:
        self.scale = mark

    def rewind(self, n_rounds: int) -> None:
        """Forget a scale that is not known yet after so many rounds."""
        if n_rounds < self._warm_rounds:
            self.scale = None

    def quality(self, weight: FloatArray) -> float:
        """R², the share of the variance explained."""
        away = self.y - np.average(self.y, weights=weight)
        total = float(weight @ away**2)
        left = float(weight @ (self.y - self.score[0]) ** 2)
        if total == 0:
            return 1.0 if left == 0 else 0.0
        return 1 - left / total


class ResidualStep(ValueStep):
    """Adds what a learner makes of the residuals.

    ``unit`` is that of the scores.
    """

    def __init__(self, learning_rate: float, total_weight: float, unit: float) -> None:
        super().__init__(Means(learning_rate), total_weight)
        self.unit = unit

    def factor(self, state: Any, k: int, weak: Weak) -> float:
        """Targets were residuals in a unit of their own."""
        return state.scale_of_target

    def propose(self, *given: Any, paced: bool) -> Proposal:
        """The coefficient is in units of y."""
        proposal = super().propose(*given, paced=paced)
        return proposal._replace(coefficient=self.unit * proposal.coefficient)
