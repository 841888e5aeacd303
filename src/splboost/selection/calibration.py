"""Probabilities that mean what they say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

FloatArray = NDArray[np.float64]

LEAST = 1e-6  # probability
LOWEST, HIGHEST = -1.5, 2.5  # logarithm of the exponent


def sharpen(probability: FloatArray, exponent: float) -> FloatArray:
    """Raise to an exponent; above 1 it makes the likely likelier."""
    power = np.maximum(probability, LEAST) ** exponent
    return power / power.sum(axis=1, keepdims=True)


def find_exponent(
    probability: FloatArray, codes: NDArray[np.integer], weight: FloatArray
) -> float:
    """The exponent that gives the labels the highest likelihood.

    A mean of probabilities is less sure than each of them. Rows without one are left
    out.
    """
    known = ~np.isnan(probability).any(axis=1)
    if not known.any():
        return 1.0
    p, own, weight = probability[known], codes[known], weight[known]

    def loss(log_exponent: float) -> float:
        own_p = sharpen(p, float(np.exp(log_exponent)))[np.arange(own.size), own]
        return -float(weight @ np.log(np.maximum(own_p, LEAST)))

    found = minimize_scalar(loss, bounds=(LOWEST, HIGHEST), method="bounded")
    return float(np.exp(found.x))
