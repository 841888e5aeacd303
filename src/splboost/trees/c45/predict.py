"""Kernels that send rows down C4.5 trees.

A row with an unknown value goes down all branches of that test, in the shares of their
weights, and gets the mixture of the leaves' class shares. Rows are floats, NaN where
the value is missing; or ranks of the training table, below ``lowest`` where it is.
"""

from __future__ import annotations

import numpy as np

from splboost.compiled import kernel
from splboost.trees.c45.gain import sum_of
from splboost.trees.c45.grow import heaviest

ROWS = 512  # at a time, so that a block of rows stays in the cache for all trees


@kernel
def walk(X, i, lowest, feature, child, threshold, node):
    """Where row i ends: a leaf, or a test of which it lacks the value."""
    while child[node] >= 0:
        x, cut = X[i, feature[node]], threshold[node]
        if np.isnan(x) or x < lowest:
            break
        node = child[node] + (np.int64(x) if np.isnan(cut) else np.int64(x > cut))
    return node


@kernel
def mix_leaves(X, i, lowest, trees, node, mixture):
    """Set the mixture of class shares that row i meets below a node."""
    feature, child, threshold = trees.feature, trees.child, trees.threshold
    stack, share = np.empty(child.size, dtype=np.int64), np.empty(child.size)
    stack[0], share[0] = node, 1.0
    n_open = 1
    mixture[:] = 0
    while n_open > 0:
        n_open -= 1
        part = share[n_open]
        node = walk(X, i, lowest, feature, child, threshold, stack[n_open])
        if child[node] >= 0:
            for v in range(child[node], child[node] + trees.children[node]):
                if trees.share[v] > 0:
                    stack[n_open], share[n_open] = v, part * trees.share[v]
                    n_open += 1
            continue
        total = sum_of(trees.value[node])
        if total > 0:
            for c in range(mixture.size):
                mixture[c] += part * trees.value[node, c] / total
        else:
            mixture[trees.label[node]] += part


@kernel
def vote(X, lowest, trees, root, first, votes):
    """votes[k] = class that a tree predicts for row first + k."""
    feature, child, threshold = trees.feature, trees.child, trees.threshold
    label = trees.label
    n_unsure = 0
    for k in range(votes.size):
        node = root
        while child[node] >= 0:
            x, cut = X[first + k, feature[node]], threshold[node]
            if np.isnan(x) or x < lowest:
                break
            node = child[node] + (np.int64(x) if np.isnan(cut) else np.int64(x > cut))
        unsure = child[node] >= 0
        n_unsure += unsure
        votes[k] = ~node if unsure else label[node]
    if n_unsure > 0:
        mixture = np.empty(trees.value.shape[1])
        for k in range(votes.size):
            if votes[k] < 0:
                mix_leaves(X, first + k, lowest, trees, ~votes[k], mixture)
                votes[k] = heaviest(mixture)


@kernel
def find_mixtures(X, trees, mixtures):
    """mixtures[i] = class shares that the first tree predicts for row i."""
    for i in range(X.shape[0]):
        mix_leaves(X, i, -np.inf, trees, 0, mixtures[i])


@kernel
def add_votes(X, trees, moves, score):
    """Add each tree's vote to the scores: F if they have one column, else G."""
    n_outputs = score.shape[1]
    votes = np.empty(ROWS, dtype=np.int32)
    for low in range(0, X.shape[0], ROWS):
        rows = min(ROWS, X.shape[0] - low)
        for t in range(trees.start.size - 1):
            vote(X, -np.inf, trees, trees.start[t], low, votes[:rows])
            for k in range(rows):
                if n_outputs == 1:
                    score[low + k, 0] += moves[t] if votes[k] == 1 else -moves[t]
                else:
                    for c in range(n_outputs):
                        score[low + k, c] -= moves[t]
                    score[low + k, votes[k]] += n_outputs * moves[t]
