"""Margin losses, their weights, and the margin that a pace sees for more classes."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit

from reference.boosting import MAX_SCORE


def exponential(m) -> np.ndarray:
    """exp(-m), for margins clipped to +-350."""
    return np.exp(-np.clip(m, -MAX_SCORE, MAX_SCORE))


def logistic(m) -> np.ndarray:
    """log(1 + exp(-2 m))."""
    return np.logaddexp(0.0, -2.0 * np.asarray(m))


def savage(m) -> np.ndarray:
    """(1 + exp(2 m))^-2."""
    return expit(-2.0 * np.asarray(m)) ** 2


def savage_log_weight(m) -> np.ndarray:
    """Logarithm of minus the slope of Savage, 4 exp(2 m) / (1 + exp(2 m))^3."""
    m = np.asarray(m)
    return np.log(4.0) + log_expit(2.0 * m) + 2.0 * log_expit(-2.0 * m)


def savage2(m) -> np.ndarray:
    """(1 + exp(m))^-2, Savage at half the margin."""
    return expit(-np.asarray(m)) ** 2


def savage2_log_weight(m) -> np.ndarray:
    """Logarithm of minus the slope of Savage2, 2 exp(m) / (1 + exp(m))^3."""
    m = np.asarray(m)
    return np.log(2.0) + log_expit(m) + 2.0 * log_expit(-m)


def savage2_curvature(m) -> np.ndarray:
    """Second derivative of Savage2."""
    s = expit(m)
    return 2.0 * s * (1.0 - s) ** 2 * (3.0 * s - 1.0)


# The largest curvature of Savage2; its slope is zero where 12 s^2 - 9 s + 1 = 0.
_STEEPEST = (9.0 + np.sqrt(33.0)) / 24.0
MAX_CURVATURE = float(savage2_curvature(np.log(_STEEPEST / (1.0 - _STEEPEST))))


def signs(y) -> np.ndarray:
    """-1 for class 0, +1 for class 1."""
    return 2.0 * np.asarray(y) - 1.0


def margin_of_odds(log_q: np.ndarray, y: np.ndarray, scale: float) -> np.ndarray:
    """Margin of two classes with the odds that K of them have against the label.

    q are probabilities up to a factor, p the same with the sum 1. The odds against the
    label are r = (1 - p_y) / p_y / (K - 1); with two classes, r = exp(-scale * margin).
    """
    own = np.arange(log_q.shape[1]) == y[:, None]
    others = np.logaddexp.reduce(np.where(own, -np.inf, log_q), axis=1)
    log_odds = others - log_q[own] - np.log(log_q.shape[1] - 1.0)
    return -log_odds / scale


def pace_margin(F: np.ndarray, y: np.ndarray, scale: float) -> np.ndarray:
    """Margin that the pace sees where p = sigmoid(scale * F), one column per class."""
    if F.ndim == 1:
        return signs(y) * F
    F = np.clip(F, -MAX_SCORE, MAX_SCORE)
    return margin_of_odds(log_expit(scale * F), y, scale)
