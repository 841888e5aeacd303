"""LogitBoost, for two classes and in the form with a column per class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, log_softmax

from reference.margins import logistic, signs
from reference.rivals import (
    Paced,
    Repeated,
    Rival,
    Step,
    fit_weighted,
    regression_learner,
    run,
    set_up,
)

MIN_WEIGHT = 2.0**-79


def working_response(t, p, z_max: float, z_clip: str) -> tuple[np.ndarray, np.ndarray]:
    """Response z = (t - p) / w, clipped, and weight w = p(1 - p), floored.

    With z_clip "gradient" the weight becomes (t - p) / z, so that w z stays t - p.
    """
    w = np.maximum(p * (1.0 - p), MIN_WEIGHT)
    z = np.clip((t - p) / w, -z_max, z_max)
    if z_clip == "gradient":
        w = np.divide(t - p, z, out=w, where=z != 0.0)
    return z, w


def logit_boost(
    X,
    y,
    *,
    z_max: float = 4.0,
    z_clip: str = "response",
    weak: Callable | None = None,
    two_columns: bool = False,
    **options,
) -> Rival:
    """LogitBoost: Newton steps on the log-likelihood of p = sigmoid(2F).

    For more classes (or two with two_columns) p = softmax(F), one learner per class and
    round, F_k += (K-1)/K (f_k - mean_j f_j). A round that changes the log-likelihood by
    less than 1e-10 n is kept and ends the run. ``weak(X, z, D)`` returns a function to
    numbers; options are those of ``set_up``.
    """
    s = set_up(X, y, **options)
    K = s.n_classes
    weak = regression_learner(max_depth=1) if weak is None else weak
    in_columns = K > 2 or two_columns

    def loss(F):
        if not in_columns:
            return logistic(signs(s.y) * F)
        return -log_softmax(F, axis=1)[np.arange(len(s.y)), s.y]

    def fit(y, t, p, v, rows, first):
        z, w = working_response(t, p, z_max, z_clip)
        return fit_weighted(s, weak, y, z, np.log(w), v, rows, first)

    def ending(F, add) -> str | None:
        gain = s.omega @ (loss(F) - loss(F + add(s.X)))
        return "no edge" if abs(gain) < 1e-10 * s.size else None

    def two_class_step(y, F, v, rows, first) -> Step:
        predict = fit(y, y, expit(2.0 * F), v, rows, first)

        def add(X):
            return s.learning_rate * 0.5 * predict(X)

        return Step(add, predict, ending(F, add))

    def column_step(y, F, v, rows, first) -> Step:
        p = np.exp(log_softmax(F, axis=1))
        fits = [fit(y, (y == k) * 1.0, p[:, k], v, rows, first) for k in range(K)]

        def add(X):
            f = np.column_stack([predict(X) for predict in fits])
            centred = f - f.mean(axis=1, keepdims=True)
            return s.learning_rate * (K - 1.0) / K * centred

        return Step(add, fits, ending(F, add))

    step = column_step if in_columns else two_class_step
    start = np.zeros((len(s.y), K) if in_columns else len(s.y))
    return run(s, Repeated(s, step), Paced(s, loss), start)
