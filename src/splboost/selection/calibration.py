"""Probabilities that mean what they say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

FloatArray = NDArray[np.float64]

LEAST = 1e-6  # probability
LOWEST, HIGHEST = -1.5, 2.5  # logarithm of the exponent
SUREST = 0.2  # of the rows
N_REWEIGHTINGS = 100


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


def estimate_noise(
    probability: FloatArray,
    agree: NDArray[np.bool_],
    weight: FloatArray,
    units: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Share of wrong labels, and the standard deviation of the estimate.

    Where the model is surest, a label that disagrees with it is wrong.

    Parameters
    ----------
    probability : (n_rows, n_classes) by models that have not seen the row
    agree : whether each row's label is the likeliest, or known to be right
    weight : of each row
    units : what each row belongs to; rows of one unit count together
    rng : Generator
    """
    order = np.argsort(-probability.max(axis=1), kind="stable")
    disagree = ~agree[order]
    weight, units = weight[order], units[order]

    def estimate(weight: FloatArray) -> float:
        ahead = np.cumsum(weight)
        surest = ahead <= max(SUREST * ahead[-1], ahead[0])
        return float(np.average(disagree[surest], weights=weight[surest]))

    chances = rng.standard_exponential((N_REWEIGHTINGS, int(units.max()) + 1))
    spread = np.std([estimate(weight * chance[units]) for chance in chances])
    return estimate(weight), float(spread)
