"""L2Boost, for regression, and its self-paced form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.paces import latent_objective, pace_weight
from reference.rivals import (
    Repeated,
    Rival,
    Setup,
    Step,
    fit_weighted,
    regression_learner,
    run,
    set_up,
)


def weighted_median(values, weight) -> float:
    """The smallest value whose cumulative weight reaches half of the total."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weight[order])
    return float(values[order][np.argmax(cumulative >= cumulative[-1] / 2.0)])


def residual_scale(residual, weight) -> float:
    """1.4826 times the weighted median distance from the weighted median."""
    centre = weighted_median(residual, weight)
    return 1.4826 * weighted_median(np.abs(residual - centre), weight)


class ScaledPace:
    """The pace on half the square of residual / scale.

    The scale is that of the residuals when the warm rounds are over. Before, v is 1 and
    the latent objective not a number. A scale of zero gives no measure: v stays 1.
    Without a pace the latent objective is half the sum of the squared residuals.
    """

    def __init__(self, s: Setup):
        self.s = s
        self.scale: float | None = 1.0 if s.kind == "none" else None

    def weight(self, F, n_rounds: int) -> np.ndarray:
        if n_rounds < self.s.warm_rounds:
            return np.ones(len(F))
        if self.scale is None:
            self.scale = residual_scale(self.s.y - F, self.s.omega)
        if self.scale == 0.0:
            return np.ones(len(F))
        return pace_weight(self.s.kind, self._loss(F), self.s.age, **self.s.shape)

    def latent(self, F) -> float:
        if not self.scale:
            return np.nan
        age = np.full(len(F), self.s.age)
        return latent_objective(
            self._loss(F), self.s.omega, self.s.kind, age, self.s.shape
        )

    def _loss(self, F) -> np.ndarray:
        return 0.5 * ((self.s.y - F) / self.scale) ** 2


def l2_boost(X, y, *, weak: Callable | None = None, **options) -> Rival:
    """L2Boost: F += learning rate times the tree of the residuals, weights omega v.

    It starts at the weighted mean, with a pace at the weighted median. It ends when a
    tree adds nothing, no more than 1e-12 of the largest value of y anywhere. ``weak(X,
    z, D)`` returns a function to numbers; options are those of ``set_up``. Constants:
    scale, None if the run ended in the warm rounds.
    """
    s = set_up(X, np.asarray(y, dtype=float), n_classes=0, **options)
    weak = regression_learner(max_depth=1) if weak is None else weak
    paced = ScaledPace(s)
    constant = np.average(s.y, weights=s.omega)
    if s.kind != "none":
        constant = weighted_median(s.y, s.omega)

    def step(y, F, v, rows, first) -> Step:
        flat = np.zeros(len(y))
        predict = fit_weighted(s, weak, y, y - F, flat, v, rows, True)
        if np.abs(predict(s.X)).max() <= 1e-12 * np.abs(y).max():
            return Step(stop="no edge")
        return Step(lambda X: s.learning_rate * predict(X), predict)

    out = run(s, Repeated(s, step), paced, np.full(len(s.y), constant))
    out.constants["scale"] = paced.scale
    return out
