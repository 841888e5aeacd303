"""How far labels are to be believed, by models that have not seen their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SUREST = 0.2  # of the rows, by which the share of wrong labels is estimated
N_REWEIGHTINGS = 100
CLEAREST = 0.1  # of the rows, where doubt is taken to come from wrong labels alone
MOST_NOISE = 0.9  # of what would leave nothing to learn
LEAST_BELIEF = 0.5


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
    right = np.clip((1 - rate) * of_class / np.maximum(own, 1e-6), 0, 1)
    belief[known] = LEAST_BELIEF + (1 - LEAST_BELIEF) * right
    return belief


def estimate_noise(
    probability: FloatArray,
    agree: NDArray[np.bool_],
    trusted: NDArray[np.bool_],
    weight: FloatArray,
    units: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Share of wrong labels, and the standard deviation of the estimate.

    Where the model is surest, it doubts labels because some are wrong, and its doubt is
    their share. The deviation is that of how often labels there disagree with it, when
    rows count for more or less at random.

    Parameters
    ----------
    probability : (n_rows, n_classes) of the labels, by models that have not seen the
        row
    agree : whether each row's label is the likeliest
    trusted : whether it is known to be right
    weight : of each row
    units : what each row belongs to; rows of one unit count together
    rng : Generator
    """
    doubt = 1 - probability.max(axis=1)
    order = np.argsort(doubt, kind="stable")
    doubt = np.where(trusted, 0, doubt)[order]
    disagree = (~agree & ~trusted)[order]
    weight, units = weight[order], units[order]

    def mean_of_surest(values: NDArray[Any], weight: FloatArray) -> float:
        ahead = np.cumsum(weight)
        surest = ahead <= max(SUREST * ahead[-1], ahead[0])
        return float(np.average(values[surest], weights=weight[surest]))

    n_units = int(units.max()) + 1
    chances = rng.standard_exponential((N_REWEIGHTINGS, n_units))
    spread = np.std(
        [mean_of_surest(disagree, weight * each[units]) for each in chances]
    )
    # One unit more or less may always be wrong, also where none is.
    spread = np.hypot(spread, 0.5 / max(SUREST * n_units, 1))
    return mean_of_surest(doubt, weight), float(spread)
