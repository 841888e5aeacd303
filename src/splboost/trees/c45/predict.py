"""Kernels that send rows down C4.5 trees.

A row with an unknown value goes down all branches of that test, in the shares of their
weights, and gets the mixture of the leaves' class shares. Rows are floats, NaN where
the value is missing; or ranks of the training table, below ``lowest`` where it is.
From Python trees come as plain tuples, which numba knows at sight.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel
from splboost.trees.c45.gain import sum_of
from splboost.trees.c45.grow import heaviest
from splboost.trees.c45.nodes import SLACK, Nodes

ROWS = 512  # at a time, so that a block of rows stays in the cache for all trees


@inner_kernel
def walk(X, i, lowest, feature, child, threshold, node):
    """Where row i ends: a leaf, or a test of which it lacks the value."""
    while child[node] >= 0:
        x, cut = X[i, feature[node]], threshold[node]
        if np.isnan(x) or x < lowest:
            break
        node = child[node] + (np.int64(x) if np.isnan(cut) else np.int64(x > cut))
    return node


@inner_kernel
def mix_leaves(X, i, lowest, trees, node, stack, share, mixture):
    """Set the mixture of class shares that row i meets below a node.

    Shares that differ by rounding alone are made equal. ``stack`` and ``share`` are
    memory for the nodes of a tree.
    """
    feature, child, threshold = trees.feature, trees.child, trees.threshold
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
    most = mixture[heaviest(mixture)]
    for c in range(mixture.size):
        if mixture[c] >= most * (1 - SLACK):
            mixture[c] = most
    total = sum_of(mixture)
    for c in range(mixture.size):
        mixture[c] /= total


@inner_kernel
def vote(X, lowest, trees, root, size, first, votes):
    """votes[k] = class that a tree predicts for row first + k.

    The tree has its root and ``size`` nodes.
    """
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
        stack, share = np.empty(size, dtype=np.int64), np.empty(size)
        mixture = np.empty(trees.value.shape[1])
        for k in range(votes.size):
            if votes[k] < 0:
                node = np.int64(~votes[k])
                mix_leaves(X, first + k, lowest, trees, node, stack, share, mixture)
                votes[k] = heaviest(mixture)


@kernel
def find_votes(X, trees, votes):
    """votes[i] = class that the first tree predicts for row i."""
    nodes = Nodes(*trees)
    vote(X, -np.inf, nodes, 0, nodes.start[1], 0, votes)


@kernel
def find_mixtures(X, trees, mixtures):
    """mixtures[i] = class shares that the first tree predicts for row i."""
    nodes = Nodes(*trees)
    stack, share = np.empty(nodes.start[1], dtype=np.int64), np.empty(nodes.start[1])
    for i in range(X.shape[0]):
        mix_leaves(X, i, -np.inf, nodes, 0, stack, share, mixtures[i])


@kernel
def add_votes(X, trees, moves, score):
    """Add each tree's vote to the scores: F if they have one column, else G."""
    nodes = Nodes(*trees)
    n_outputs = score.shape[1]
    votes = np.empty(ROWS, dtype=np.int32)
    for low in range(0, X.shape[0], ROWS):
        rows = min(ROWS, X.shape[0] - low)
        for t in range(nodes.start.size - 1):
            root, size = nodes.start[t], nodes.start[t + 1] - nodes.start[t]
            vote(X, -np.inf, nodes, root, size, low, votes[:rows])
            for k in range(rows):
                if n_outputs == 1:
                    score[low + k, 0] += moves[t] if votes[k] == 1 else -moves[t]
                else:
                    for c in range(n_outputs):
                        score[low + k, c] -= moves[t]
                    score[low + k, votes[k]] += n_outputs * moves[t]
