"""How labels come to be wrong, and how likely each of them is.

A row of class j is labelled k with a probability T[j, k], whatever else the row is. The
model has learned from labels, so it knows the probabilities p = q T of these, and not
the probabilities q of the classes. With T a label k is right with the probability

    q_k T[k, k] / p_k

T shows where the model is sure of a class: whatever is labelled otherwise there, is
labelled wrongly. Where classes overlap, it is nowhere sure, and some of the rows that
differ from what it says are right. The share of those that differ then rises from the
surest rows on; what wrong labels explain of it is no more than its start. And a label
that is hardly rarer among the surest rows of another class than anywhere, or whose
class is likeliest nowhere, tells little or nothing: the columns do not know that class.

A model with few different probabilities, such as a single tree, does not tell of which
rows it is surest. Of those that share its least doubt some differ because it is
mistaken, and nobody knows how many: the start lies anywhere between none of them and
all.

How many labels are wrong is uncertain by that estimate, and the chance that a single
one is wrong is the mean over what it may be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

FloatArray = NDArray[np.float64]

SUREST = 0.5  # of the rows of a class, along which the share of others may rise
SMALLEST_DOUBT = 0.02  # in steps of which doubt is told apart
EQUAL = 1e-9  # doubts that differ by no more than this were the same
DEVIATIONS = -2.0, -1.0, 0.0, 1.0, 2.0  # of the share of wrong labels, in std errors
ALIKE = 4.0  # how many times more than chance classes have to differ
RARER = 0.2  # than anywhere a label must be among the surest of another class, in full
TINY = 0.01  # rows, where there are none
FEWEST = 0.5  # rows of each class with its own label, as if there were so many more
LEAST_SPREAD = 0.1  # standard deviation of whether a label is wrong
MOST_CERTAIN = 0.99  # that a label is wrong; a model may always be mistaken
MOST_WRONG = 0.9  # of what would leave nothing to learn


class NoiseModel(NamedTuple):
    """How labels come to be wrong.

    Attributes
    ----------
    transitions : T, of shape (n_classes, n_classes), for each of ``DEVIATIONS``
    rate_std : standard error of the share of wrong labels
    """

    transitions: list[FloatArray]
    rate_std: float

    def chance_wrong(
        self, probability: FloatArray, codes: NDArray[np.integer]
    ) -> FloatArray:
        """How likely each label is wrong."""
        each = [chance_wrong(probability, codes, own) for own in self.transitions]
        return np.minimum(np.mean(each, axis=0), MOST_CERTAIN)


class Floor(NamedTuple):
    """Share of other labels where the model is surest of a class.

    Attributes
    ----------
    rate, std : the share, and its standard error
    weight : rows that tell as much about it
    """

    rate: float
    std: float
    weight: float


def estimate_noise_model(
    probability: FloatArray, codes: NDArray[np.integer]
) -> NoiseModel:
    """How labels come to be wrong, by the rows of which the model is surest.

    Parameters
    ----------
    probability : (n_rows, n_classes) of the labels, by models that have not seen the
        row
    codes : class of each row's label
    """
    n_classes = probability.shape[1]
    likeliest = probability.argmax(axis=1)
    doubt = 1 - probability.max(axis=1)
    step = np.round(doubt / SMALLEST_DOUBT)
    share = np.bincount(codes, minlength=n_classes) / codes.size
    is_known = np.bincount(likeliest, minlength=n_classes) > 0
    shape = len(DEVIATIONS), n_classes, n_classes
    count, variance = np.full(shape, TINY), 0.0
    count += FEWEST * np.eye(n_classes)
    for k in np.flatnonzero(is_known):
        own = likeliest == k
        surest, floor = find_floor(step[own], codes[own] != k)
        floor = allow_for_ties(floor, doubt[own])
        others = np.bincount(codes[own][surest], minlength=n_classes).astype(float)
        others[k] = 0
        if not others.any():
            others = (np.arange(n_classes) != k).astype(float)
        others /= others.sum()
        rarer = 1 - floor.rate * others / np.maximum(share, 1 / codes.size)
        others *= is_known * np.clip(rarer / RARER, 0, 1)
        for of_deviation, deviation in zip(count, DEVIATIONS, strict=True):
            rate = np.clip(floor.rate + deviation * floor.std, 0, 1) * others
            of_deviation[k] += floor.weight * rate
            of_deviation[k, k] += floor.weight * (1 - rate.sum())
        variance += (own.mean() * floor.std) ** 2
    return NoiseModel([as_transitions(own) for own in count], float(np.sqrt(variance)))


def find_floor(
    doubt: FloatArray, differs: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], Floor]:
    """The surest rows, and where the share of those that differ starts among them.

    A straight line through the share; level, where it would fall.

    Parameters
    ----------
    doubt : of the rows of a class, in whole steps
    differs : whether a row has another label
    """
    order = np.sort(doubt)
    # Twice the number of rows ahead; equals share theirs. Whole, so exactly equal.
    ahead = np.searchsorted(order, doubt) + np.searchsorted(order, doubt, side="right")
    place = ahead / (2 * doubt.size)
    surest = place <= max(SUREST, place.min())
    x, y, ahead = place[surest], differs[surest], ahead[surest]
    n, mean, middle = y.size, float(y.mean()), float(x.mean())
    spread = float(np.var(x))
    rate, variance = mean, 1 / n
    if ahead.min() < ahead.max():
        slope = float(np.mean((x - middle) * y)) / spread
        of_slope = 1 / (n * spread)  # its variance, but for that of y
        error = max(np.sqrt(mean * (1 - mean)), LEAST_SPREAD) * np.sqrt(of_slope)
        rate = max(mean - max(slope, 0.0) * middle, 0.0)
        variance += middle**2 * of_slope * share_of_variance(slope / error)
    deviation = max(np.sqrt(rate * (1 - rate)), LEAST_SPREAD)
    return surest, Floor(rate, float(deviation * np.sqrt(variance)), 1 / variance)


def share_of_variance(z: float) -> float:
    """How much of its variance a number keeps that is known not to be negative.

    That of the normal distribution, z standard deviations above 0, cut off there: from
    next to none, far below, it rises to all, far above.
    """
    if z < -30:
        return 1 / z**2  # where the formula loses its digits
    hazard = float(np.exp(-(z**2) / 2 - log_ndtr(z)) / np.sqrt(2 * np.pi))
    return 1 - hazard * (z + hazard)


def allow_for_ties(floor: Floor, doubt: FloatArray) -> Floor:
    """The same, as cautious as rows of equal doubt ask for.

    Where all are equal, the share is anywhere from none of those that differ to all of
    them, each as likely: ``DEVIATIONS`` then go from end to end.

    Parameters
    ----------
    floor : as ``find_floor`` finds it
    doubt : of the rows of a class
    """
    n_equal = np.count_nonzero(doubt <= doubt.min() + EQUAL)
    tied = (n_equal - 1) / max(doubt.size - 1, 1)
    spread = floor.rate * tied / (2 * DEVIATIONS[-1])
    rate = floor.rate * (1 - tied / 2)
    return Floor(rate, float(np.hypot(floor.std, spread)), floor.weight)


def as_transitions(count: FloatArray) -> FloatArray:
    """T from numbers of rows, class by label.

    Classes are taken to be alike, with one share of wrong labels that fall on the other
    classes evenly, as far as it could be chance that they differ.
    """
    n_classes = count.shape[0]
    of_class = count / count.sum(axis=1, keepdims=True)
    wrong = 1 - np.trace(count) / count.sum()
    alike = np.full((n_classes, n_classes), wrong / (n_classes - 1))
    np.fill_diagonal(alike, 1 - wrong)
    # Twice the gain in log-likelihood; by chance it is about the number of parameters.
    gain = 2 * np.sum(count * np.log(of_class / alike))
    n_parameters = n_classes * (n_classes - 1) - 1
    trust = max(0.0, 1 - ALIKE * n_parameters / max(gain, 1e-12))
    return _bounded(trust * of_class + (1 - trust) * alike)


def _bounded(transitions: FloatArray) -> FloatArray:
    """The same, mixed with right labels where classes could not be told apart.

    Neither by how often a label is wrong, nor, from three classes on, because some of
    them get each other's labels: the smallest eigenvalue is 0 where labels of different
    classes are drawn alike, and below where they are rather exchanged.
    """
    n_classes = transitions.shape[0]
    most = MOST_WRONG * (n_classes - 1) / n_classes
    wrong = 1 - np.diag(transitions)
    scale = np.minimum(1, most / np.maximum(wrong, most))[:, None]
    mixed = scale * transitions + (1 - scale) * np.eye(n_classes)
    smallest = np.linalg.eigvals(mixed).real.min()
    share = min(1.0, MOST_WRONG / max(1 - smallest, MOST_WRONG))
    bounded: FloatArray = share * mixed + (1 - share) * np.eye(n_classes)
    return bounded


def chance_wrong(
    probability: FloatArray, codes: NDArray[np.integer], transitions: FloatArray
) -> FloatArray:
    """How likely each label is wrong."""
    of_class = np.clip(probability @ np.linalg.inv(transitions), 0, None)
    of_class /= of_class.sum(axis=1, keepdims=True)
    own = np.arange(codes.size), codes
    of_label = (of_class @ transitions)[own]
    right = of_class[own] * np.diag(transitions)[codes]
    return 1 - np.divide(right, of_label, out=np.zeros_like(right), where=of_label > 0)
