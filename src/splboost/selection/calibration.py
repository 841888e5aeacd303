"""Probabilities that mean what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

FloatArray = NDArray[np.float64]

LEAST = 1e-6  # probability, where its logarithm is taken


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities raised to an exponent, times a factor for each class.

    An exponent above 1 makes the likely likelier: a mean of probabilities is less sure
    than each of them. The factors make each class as frequent as it is.

    Attributes
    ----------
    exponent : float
    shift : (n_classes,) logarithms of the factors
    least : no probability is lower
    """

    exponent: float
    shift: FloatArray
    least: float

    def apply(self, probability: FloatArray) -> FloatArray:
        """Calibrated probabilities, of shape (n_rows, n_classes)."""
        log = np.log(np.maximum(probability, LEAST))
        found = softmax(self.exponent * log + self.shift, axis=1)
        return (1 - self.shift.size * self.least) * found + self.least


def calibrate(
    probability: FloatArray, codes: NDArray[np.integer], weight: FloatArray
) -> Calibration:
    """The calibration that gives the labels the highest likelihood.

    Rows without probabilities are left out. As if there were a few rows that speak for
    no change at all, which decide where the labels leave it open; and no probability
    falls below what half a row would be.
    """
    n_classes = probability.shape[1]
    known = ~np.isnan(probability).any(axis=1)
    weight, codes = weight[known], codes[known]
    least = 0.5 / (weight.sum() + n_classes)
    log = np.log(np.maximum(probability[known], LEAST))
    own = np.arange(codes.size), codes

    def loss(change: FloatArray) -> tuple[float, FloatArray]:
        exponent, shift = np.exp(change[0]), change[1:]
        found = log_softmax(exponent * log + shift, axis=1)
        wrong = np.exp(found)
        wrong[own] -= 1
        wrong *= weight[:, None]
        slope = np.r_[exponent * np.sum(wrong * log), wrong.sum(axis=0)]
        value = -np.sum(weight * found[own]) + 0.5 * np.sum(change**2)
        return float(value), slope + change

    change = minimize(loss, np.zeros(1 + n_classes), jac=True, method="L-BFGS-B").x
    return Calibration(float(np.exp(change[0])), change[1:], float(least))
