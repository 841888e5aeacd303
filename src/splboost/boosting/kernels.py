"""Kernels of the boosting loop."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def move_margins(margin, leaf, leaf_class, y, right, wrong):
    """Add ``right`` to the margin of rows that the tree gets right, else ``wrong``."""
    for i in range(margin.size):
        margin[i] += right if leaf_class[leaf[i]] == y[i] else wrong


@njit(nogil=True, cache=True)
def weight_missed(weight, leaf, leaf_class, y):
    """Summed weight of the rows that the tree gets wrong."""
    missed = 0.0
    for i in range(weight.size):  # no branch: half of them would be mispredicted
        missed += weight[i] * (leaf_class[leaf[i]] != y[i])
    return missed


@njit(nogil=True, cache=True)
def move_scores(score, leaf, leaf_class, own, other):
    """Add ``own`` to the score of the predicted class and ``other`` to the rest."""
    for i in range(score.shape[0]):
        predicted = leaf_class[leaf[i]]
        for k in range(score.shape[1]):
            score[i, k] += own if k == predicted else other


def leaf_classes(total: np.ndarray, n_classes: int) -> np.ndarray:
    """Heaviest class of each node (of equal ones the first)."""
    return total[:, :n_classes].argmax(axis=1).astype(np.int64)
