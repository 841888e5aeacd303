"""SavageBoost and RBoost, which minimise the Brier score under a logistic link."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, log_expit

from reference.boosting import tree_learner
from reference.exponential import added_fit, half_log_odds
from reference.margins import (
    MAX_CURVATURE,
    pace_margin,
    savage,
    savage2,
    savage2_log_weight,
    savage_log_weight,
    signs,
)
from reference.rivals import (
    Paced,
    Rival,
    Step,
    Stop,
    fit_weighted,
    probability_learner,
    regression_learner,
    run_columns,
    set_up,
    stop_without_edge,
)

LINE_SEARCH = 2.0 ** np.arange(-6, 2)
LARGEST_ALPHA = 2.0


def savage_boost(
    X, y, *, line_search: bool = False, weak: Callable | None = None, **options
) -> Rival:
    """SavageBoost: half the log odds of the learner's class shares, weights -phi'.

    line_search multiplies them with the a of 2^-6 ... 2 that lowers the sum of
    omega v phi most; the run ends if none does. ``weak(X, y, D)`` returns a function to
    class shares; options are those of ``set_up``. Details: alpha.
    """
    s = set_up(X, y, **options)
    weak = probability_learner(max_depth=1, n_classes=2) if weak is None else weak
    paced = Paced(s, lambda F: savage(pace_margin(F, s.y, 2.0)))

    def step(y, F, v, rows, first) -> Step:
        m = signs(y) * F
        predict = fit_weighted(s, weak, y, y, savage_log_weight(m), v, rows, first)
        G = half_log_odds(predict(s.X)[:, 1], s.size)
        stop_without_edge(G)

        def objective(a):
            return s.omega * v @ savage(m + a * signs(y) * G)

        alpha = min(LINE_SEARCH, key=objective) if line_search else 1.0
        if line_search and objective(alpha) >= objective(0.0):
            raise Stop("no edge")

        def add(X):
            half = half_log_odds(predict(X)[:, 1], s.size)
            return s.learning_rate * alpha * half

        return Step(add, predict, details={"alpha": alpha})

    return run_columns(s, lambda: step, paced)


def r_boost(
    X, y, *, variant: str = "gentle", z_max: float = 4.0, weak=None, **options
) -> Rival:
    """RBoost on Savage2, phi(m) = (1 + exp(m))^-2, with p = sigmoid(F).

    gentle: F += fit of y, weights -phi'. fisher: fit of (t - p) / p(1 - p) clipped to
    +-z_max, weights p^2 (1 - p)^2. mm: fit of -phi' y / c, c the largest phi'',
    weights 1. discrete (RBoost2): F += alpha h, h a classifier fitted with weights
    -phi', alpha in [0, 2] the minimiser of the sum of omega v phi. All weights times
    omega and v. The run ends when the sum of omega (-phi') is below 1e-6 n ("no
    weight"). ``weak`` returns a function to numbers, for discrete to class indices;
    options are those of ``set_up``. Details: alpha, of discrete.
    """
    s = set_up(X, y, **options)
    if weak is None:
        stump = tree_learner(max_depth=1, n_classes=2)
        weak = stump if variant == "discrete" else regression_learner(max_depth=1)
    paced = Paced(s, lambda F: savage2(pace_margin(F, s.y, 1.0)))

    def step(y, F, v, rows, first) -> Step:
        sign = signs(y)
        m = sign * F
        slope = np.exp(savage2_log_weight(m))
        if s.omega @ slope < 1e-6 * s.size:
            raise Stop("no weight")
        target, log_weight = {
            "gentle": (sign, savage2_log_weight(m)),
            # (t - p) / p(1 - p) = y / sigmoid(m)
            "fisher": (
                sign * np.minimum(np.exp(-log_expit(m)), z_max),
                2.0 * (log_expit(m) + log_expit(-m)),
            ),
            "mm": (slope * sign / MAX_CURVATURE, np.zeros(len(y))),
            "discrete": (y, savage2_log_weight(m)),
        }[variant]
        predict = fit_weighted(s, weak, y, target, log_weight, v, rows, first)
        if variant != "discrete":
            return added_fit(s, predict)

        u = sign * signs(predict(s.X))

        def objective(a):
            return s.omega * v @ expit(-(m + a * u)) ** 2

        alpha = smallest_on_interval(objective, LARGEST_ALPHA)
        if objective(alpha) >= objective(0.0):
            raise Stop("no edge")
        return Step(
            lambda X: s.learning_rate * alpha * signs(predict(X)),
            predict,
            details={"alpha": alpha},
        )

    return run_columns(s, lambda: step, paced)


def smallest_on_interval(objective: Callable, end: float) -> float:
    """Minimiser on [0, end]: the best of 41 points, then a golden-section search."""
    grid = np.linspace(0.0, end, 41)
    best = int(np.argmin([objective(a) for a in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 40)]
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    while high - low > 1e-10:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if objective(left) <= objective(right):
            high = right
        else:
            low = left
    return float((low + high) / 2.0)
