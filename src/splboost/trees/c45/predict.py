"""Kernels that send rows down C4.5 trees.

A row with an unknown value goes down all branches of that test, in the shares of their
weights, and gets the mixture of the leaves' class shares. Rows are floats, NaN where
the value is missing; or ranks of the training table, below ``lowest`` where it is.
"""

from __future__ import annotations

import numpy as np

from splboost.compiled import kernel
from splboost.trees.c45.grow import heaviest

ROWS = 512  # at a time, so that a block of rows stays in the cache for all trees


@kernel
def next_node(X, i, lowest, trees, node):
    """The child that row i goes to; -1 if its value is unknown."""
    x = X[i, trees.feature[node]]
    if np.isnan(x) or x < lowest:
        return -1
    threshold = trees.threshold[node]
    if np.isnan(threshold):
        return trees.child[node] + np.int64(x)
    return trees.child[node] + np.int64(x > threshold)


@kernel
def mix_leaves(X, i, lowest, trees, node, open_nodes, open_shares, mixture):
    """Set the mixture of class shares that row i meets below a node."""
    mixture[:] = 0
    open_nodes[0], open_shares[0] = node, 1.0
    n_open = 1
    while n_open > 0:
        n_open -= 1
        node, share = open_nodes[n_open], open_shares[n_open]
        if trees.child[node] < 0:
            total = trees.value[node].sum()
            if total > 0:
                for c in range(mixture.size):
                    mixture[c] += share * trees.value[node, c] / total
            else:
                mixture[trees.label[node]] += share
            continue
        following = next_node(X, i, lowest, trees, node)
        if following >= 0:
            open_nodes[n_open] = following
            open_shares[n_open] = share
            n_open += 1
            continue
        for v in range(trees.children[node]):
            child = trees.child[node] + v
            if trees.share[child] > 0:
                open_nodes[n_open] = child
                open_shares[n_open] = share * trees.share[child]
                n_open += 1


@kernel
def vote(X, i, lowest, trees, root, open_nodes, open_shares, mixture):
    """The class that a tree predicts for row i."""
    node = root
    while trees.child[node] >= 0:
        following = next_node(X, i, lowest, trees, node)
        if following < 0:
            mix_leaves(X, i, lowest, trees, node, open_nodes, open_shares, mixture)
            return heaviest(mixture)
        node = following
    return trees.label[node]


@kernel
def find_votes(X, lowest, trees, votes):
    """votes[i] = class that the first tree predicts for row i."""
    open_nodes = np.empty(trees.child.size, dtype=np.int64)
    open_shares, mixture = np.empty(trees.child.size), np.empty(trees.value.shape[1])
    for i in range(X.shape[0]):
        votes[i] = vote(X, i, lowest, trees, 0, open_nodes, open_shares, mixture)


@kernel
def find_mixtures(X, trees, mixtures):
    """mixtures[i] = class shares that the first tree predicts for row i."""
    open_nodes = np.empty(trees.child.size, dtype=np.int64)
    open_shares = np.empty(trees.child.size)
    for i in range(X.shape[0]):
        mix_leaves(X, i, -np.inf, trees, 0, open_nodes, open_shares, mixtures[i])


@kernel
def add_votes(X, trees, moves, score):
    """Add each tree's vote to the scores: F if they have one column, else G."""
    open_nodes = np.empty(trees.child.size, dtype=np.int64)
    open_shares, mixture = np.empty(trees.child.size), np.empty(trees.value.shape[1])
    n_outputs = score.shape[1]
    for low in range(0, X.shape[0], ROWS):
        high = min(low + ROWS, X.shape[0])
        for t in range(trees.start.size - 1):
            for i in range(low, high):
                c = vote(
                    X,
                    i,
                    -np.inf,
                    trees,
                    trees.start[t],
                    open_nodes,
                    open_shares,
                    mixture,
                )
                if n_outputs == 1:
                    score[i, 0] += moves[t] if c == 1 else -moves[t]
                else:
                    for k in range(n_outputs):
                        score[i, k] -= moves[t]
                    score[i, c] += n_outputs * moves[t]
