"""What probabilities by models that have not seen a row say of it and of its label.

They are calibrated, or freed of the weights of classes; and they say how far a label is
to be believed, and how many labels are wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

FloatArray = NDArray[np.float64]

SUREST = 0.2  # of the rows, by which the share of wrong labels is estimated
# Doubt is told apart in steps of this. Among rows that are alike, the model, which has
# not seen the row's own label, is a little surer of those whose label is another.
SMALLEST_DOUBT = 0.02
N_REWEIGHTINGS = 100
CLEAREST = 0.1  # of the rows, where doubt is taken to come from wrong labels alone
MOST_NOISE = 0.9  # of what would leave nothing to learn
LEAST_BELIEF = 0.5
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


def believe(
    probability: FloatArray,
    codes: NDArray[np.integer],
    weight: FloatArray,
    trusted: NDArray[np.bool_],
) -> FloatArray:
    """How much each row is to count, from 1/2 to 1, by how likely its label is right.

    Labels are taken to be wrong at one rate r everywhere. Class k, of probability q_k,
    is then given as a label with probability p_k = (1 - r) q_k + r (1 - q_k) / (K - 1),
    and is right there with probability (1 - r) q_k / p_k. Where the model is surest,
    what it doubts is r. Half of the weight follows; the rest is for what the model does
    not know.

    Parameters
    ----------
    probability : (n_rows, n_classes) of the labels, by models that have not seen the
        row; NaN where there is none, which is believed
    codes : class of each row's label
    weight : of each row
    trusted : whether it is known to be right
    """
    n_classes = probability.shape[1]
    known = ~np.isnan(probability).any(axis=1) & ~trusted
    belief = np.ones(codes.size)
    if not known.any():
        return belief
    doubt = 1 - probability[known].max(axis=1)
    order = np.argsort(doubt, kind="stable")
    ahead = np.cumsum(weight[known][order])
    rate = doubt[order[np.searchsorted(ahead, CLEAREST * ahead[-1])]]
    rate = min(float(rate), MOST_NOISE * (n_classes - 1) / n_classes)
    elsewhere = rate / (n_classes - 1)
    own = probability[known, codes[known]]
    of_class = np.clip((own - elsewhere) / (1 - rate - elsewhere), 0, 1)
    right = np.clip((1 - rate) * of_class / np.maximum(own, LEAST), 0, 1)
    belief[known] = LEAST_BELIEF + (1 - LEAST_BELIEF) * right
    return belief


def unweigh(probability: FloatArray, of_class: FloatArray | None) -> FloatArray:
    """Probabilities of the labels as they are, by models for which classes had weights.

    Such models take a class to be as frequent as it weighs.
    """
    if of_class is None:
        return probability
    heavy = of_class > 0
    found = np.where(heavy, probability, 0) / np.where(heavy, of_class, 1)
    return found / found.sum(axis=1, keepdims=True)


def estimate_noise(
    probability: FloatArray,
    codes: NDArray[np.integer],
    trusted: NDArray[np.bool_],
    weight: FloatArray,
    units: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Share of wrong labels, and the standard deviation of the estimate.

    Where the model is surest, labels differ from what it says because they are wrong.
    The deviation is that of their share when rows count for more or less at random.
    Trusted labels are right, and say nothing of the others.

    Parameters
    ----------
    probability : (n_rows, n_classes) of the labels, by models that have not seen the
        row
    codes : class of each row's label
    trusted : whether it is known to be right
    weight : of each row
    units : what each row belongs to; rows of one unit count together
    rng : Generator
    """
    asked = np.flatnonzero(~trusted)
    if asked.size == 0:
        return 0.0, 0.0
    share = float(weight[asked].sum() / weight.sum())
    doubt = np.round((1 - probability.max(axis=1)) / SMALLEST_DOUBT)
    asked = asked[np.argsort(doubt[asked], kind="stable")]
    disagree = probability[asked].argmax(axis=1) != codes[asked]
    doubt, weight = doubt[asked], weight[asked]

    def among_surest(weight: FloatArray) -> float:
        ahead = np.cumsum(weight)
        last = np.searchsorted(ahead, SUREST * ahead[-1])
        surest = doubt <= doubt[last]
        return float(np.average(disagree[surest], weights=weight[surest]))

    units = np.unique(units[asked], return_inverse=True)[1]
    n_units = int(units.max()) + 1
    chances = rng.standard_exponential((N_REWEIGHTINGS, n_units))
    spread = np.std([among_surest(weight * each[units]) for each in chances])
    # One unit more or less may always be wrong, also where none is.
    spread = np.hypot(spread, 0.5 / max(SUREST * n_units, 1))
    rate = min(among_surest(weight), 1 - 1 / probability.shape[1])  # more is no noise
    return share * rate, share * float(spread)
