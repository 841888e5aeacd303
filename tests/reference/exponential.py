"""Real AdaBoost (SAMME.R for more classes) and Gentle AdaBoost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.boosting import pace_loss
from reference.margins import exponential, pace_margin, signs
from reference.rivals import (
    Paced,
    Repeated,
    Rival,
    Setup,
    Step,
    fit_weighted,
    probability_learner,
    regression_learner,
    run,
    run_columns,
    set_up,
    stop_without_edge,
)


def half_log_odds(q: np.ndarray, size: float) -> np.ndarray:
    """log(q / (1 - q)) / 2, q clipped to [1/n, 1 - 1/n]."""
    q = np.clip(q, 1.0 / size, 1.0 - 1.0 / size)
    return 0.5 * np.log(q / (1.0 - q))


def real_boost(
    X, y, *, weak: Callable | None = None, two_columns: bool = False, **options
) -> Rival:
    """Real AdaBoost: F += half the log odds of the learner's class shares.

    For more classes (or two with two_columns) SAMME.R, a column of F per class: shares
    p_k clipped to [1/n, 1 - (K-1)/n], F_k += (K-1) (log p_k - mean_j log p_j), weights
    exp(-F_y / (K-1)). ``weak(X, y, D)`` returns a function to class shares; options are
    those of ``set_up``.
    """
    s = set_up(X, y, **options)
    K = s.n_classes
    weak = probability_learner(max_depth=1, n_classes=K) if weak is None else weak
    every_row = np.arange(len(s.y))

    def real_step(y, F, v, rows, first) -> Step:
        predict = fit_weighted(s, weak, y, y, -signs(y) * F, v, rows, first)

        def add(X):
            return s.learning_rate * half_log_odds(predict(X)[:, 1], s.size)

        stop_without_edge(half_log_odds(predict(s.X)[:, 1], s.size))
        return Step(add, predict)

    def centred_log_shares(p):
        log_p = np.log(np.clip(p, 1.0 / s.size, 1.0 - (K - 1.0) / s.size))
        return (K - 1.0) * (log_p - log_p.mean(axis=1, keepdims=True))

    def samme_step(y, F, v, rows, first) -> Step:
        exponent = -F[every_row, y] / (K - 1.0)
        predict = fit_weighted(s, weak, y, y, exponent, v, rows, first)
        stop_without_edge(centred_log_shares(predict(s.X)))
        return Step(lambda X: s.learning_rate * centred_log_shares(predict(X)), predict)

    if K == 2 and not two_columns:
        paced = Paced(s, lambda F: pace_loss(F, s.y))
        return run(s, Repeated(s, real_step), paced, np.zeros(len(s.y)))

    def loss(F):  # a pace sees the odds against a label; without one it is the loss
        if s.kind == "none":
            return np.exp(-F[every_row, s.y] / (K - 1.0))
        return pace_loss(F, s.y)

    start = np.zeros((len(s.y), K))
    return run(s, Repeated(s, samme_step), Paced(s, loss), start)


def gentle_boost(X, y, *, weak: Callable | None = None, **options) -> Rival:
    """Gentle AdaBoost: F += least-squares fit of y = +-1 with weights exp(-yF).

    ``weak(X, z, D)`` returns a function to numbers; options are those of ``set_up``.
    """
    s = set_up(X, y, **options)
    weak = regression_learner(max_depth=1) if weak is None else weak
    paced = Paced(s, lambda F: exponential(pace_margin(F, s.y, 2.0)))

    def step(y, F, v, rows, first) -> Step:
        z = signs(y)
        return added_fit(s, fit_weighted(s, weak, y, z, -z * F, v, rows, first))

    return run_columns(s, lambda: step, paced)


def added_fit(s: Setup, predict: Callable) -> Step:
    """The step that adds the fit itself; none if it is zero everywhere."""
    stop_without_edge(predict(s.X))
    return Step(lambda X: s.learning_rate * predict(X), predict)
