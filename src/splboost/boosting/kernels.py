"""Kernels of the boosting loop."""

from __future__ import annotations

from numba import njit

from splboost.trees.split import TIE
from splboost.trees.workspace import CHILD


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


@njit(nogil=True, cache=True)
def judge_nodes(node, total, n_classes, heaviest):
    """Write the heaviest class of each node; the share of weight not of its leaf's.

    Of classes that are as heavy but for rounding it is the first, as in predictions.
    """
    missed = everything = 0
    for i in range(node.shape[0]):
        weight = most = 0
        for c in range(n_classes):
            weight += total[i, c]
            most = max(most, total[i, c])
        best = 0
        while total[i, best] < most * (1 - TIE):
            best += 1
        heaviest[i] = best
        if node[i, CHILD] < 0:
            missed += weight - total[i, best]
            everything += weight
    return missed / everything
