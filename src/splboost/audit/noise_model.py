"""How labels come to be wrong, and how likely each of them is.

A row of class j is labelled k with a probability T[j, k], whatever else the row is. Of
the rows of which the model is surest, it knows the class; how these are labelled is T.
A label k is then right with the probability

    q_k T[k, k] / Σ_j q_j T[j, k]

where q are the probabilities of the classes. The model has learned from labels, and so
knows the probabilities p = q T of these alone; q is what T makes p from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SUREST = 0.2  # of the rows of a class
SMALLEST_DOUBT = 0.02  # in steps of which doubt is told apart
CAUTION = 4.0  # how many times more than chance classes have to differ
FEWEST = 0.5  # rows of each kind, as if there were so many more
MOST_WRONG = 0.9  # of what would leave nothing to learn


def estimate_transitions(
    probability: FloatArray,
    codes: NDArray[np.integer],
    weight: FloatArray,
) -> FloatArray:
    """T, of shape (n_classes, n_classes), by the rows of which the model is surest.

    Classes are taken to be alike, with one share of wrong labels that fall on the other
    classes evenly, as far as it could be chance that they differ.

    Parameters
    ----------
    probability : (n_rows, n_classes) of the labels, by models that have not seen the
        row
    codes : class of each row's label
    weight : of each row; 0 for one that says nothing
    """
    n_classes = probability.shape[1]
    likeliest = probability.argmax(axis=1)
    doubt = np.round((1 - probability.max(axis=1)) / SMALLEST_DOUBT)
    count = np.full((n_classes, n_classes), FEWEST / n_classes)
    for k in range(n_classes):
        own = np.flatnonzero((likeliest == k) & (weight > 0))
        if own.size:
            own = own[_surest(doubt[own], weight[own])]
            count[k] += np.bincount(codes[own], weight[own], n_classes)
    of_class = count / count.sum(axis=1, keepdims=True)
    wrong = 1 - np.trace(count) / count.sum()
    alike = np.full((n_classes, n_classes), wrong / (n_classes - 1))
    np.fill_diagonal(alike, 1 - wrong)
    # Twice the gain in log-likelihood; by chance it is about the number of parameters.
    gain = 2 * np.sum(count * np.log(of_class / alike))
    n_parameters = n_classes * (n_classes - 1) - 1
    trust = max(0.0, 1 - CAUTION * n_parameters / max(gain, 1e-12))
    return _bounded(trust * of_class + (1 - trust) * alike)


def _surest(doubt: FloatArray, weight: FloatArray) -> NDArray[np.bool_]:
    order = np.argsort(doubt, kind="stable")
    ahead = np.cumsum(weight[order])
    return doubt <= doubt[order[np.searchsorted(ahead, SUREST * ahead[-1])]]


def _bounded(transitions: FloatArray) -> FloatArray:
    """The same, mixed with right labels where classes could not be told apart."""
    n_classes = transitions.shape[0]
    most = MOST_WRONG * (n_classes - 1) / n_classes
    wrong = 1 - np.diag(transitions)
    scale = np.minimum(1, most / np.maximum(wrong, most))[:, None]
    return scale * transitions + (1 - scale) * np.eye(n_classes)


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
