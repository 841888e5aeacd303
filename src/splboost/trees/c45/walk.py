"""Kernels that send rows down C4.5 trees.

A row with an unknown value goes down all branches of that test, in the shares of their
weights, and gets the mixture of the leaves' class shares. Rows are floats, NaN where
the value is missing; or ranks of the training table, below ``lowest`` where it is.
From Python trees come as plain tuples, which numba knows at sight.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel, lean_kernel
from splboost.trees.c45.c45_grow import heaviest
from splboost.trees.c45.gain import sum_of
from splboost.trees.c45.multiway import SLACK, Nodes

ROWS = 512  # at a time, so that a block of rows stays in the cache for all trees


@lean_kernel(inner=True)
def walk(X, i, lowest, trees, node):
    """Where row i ends: a leaf, or a test of which it lacks the value."""
    feature, child, threshold = trees.feature, trees.child, trees.threshold
    while child[node] >= 0:
        x, cut = X[i, feature[node]], threshold[node]
        if np.isnan(x) or x < lowest:
            break
        node = child[node] + (np.int64(x) if np.isnan(cut) else np.int64(x > cut))
    return node


@lean_kernel(inner=True)
def mix_leaves(X, i, lowest, trees, node, memory):
    """Set the mixture of class shares that row i meets below a node.

    Shares that differ by rounding alone are made equal. ``memory`` is for the nodes and
    the shares that are left, and for the mixture.
    """
    stack, share, mixture = memory
    stack[0], share[0] = node, 1.0
    n_open = 1
    mixture[:] = 0
    while n_open > 0:
        n_open -= 1
        part = share[n_open]
        node = walk(X, i, lowest, trees, stack[n_open])
        first, children = trees.child[node], trees.children[node]
        if first >= 0:
            for v in range(first, first + children):
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


@lean_kernel(inner=True)
def vote(X, lowest, trees, root, first, votes, memory):
    """votes[k] = class that the tree with this root predicts for row first + k."""
    for k in range(votes.size):
        node = walk(X, first + k, lowest, trees, root)
        if trees.child[node] < 0:
            votes[k] = trees.label[node]
        else:
            mix_leaves(X, first + k, lowest, trees, node, memory)
            votes[k] = heaviest(memory[2])


@inner_kernel
def make_memory(nodes):
    """Memory for mixing the leaves of the largest tree."""
    size = 1
    for t in range(nodes.start.size - 1):
        size = max(size, nodes.start[t + 1] - nodes.start[t])
    n_classes = nodes.value.shape[1]
    return np.empty(size, dtype=np.int64), np.empty(size), np.empty(n_classes)


@kernel
def find_votes(X, trees, votes):
    """votes[i] = class that the first tree predicts for row i."""
    nodes = Nodes(*trees)
    vote(X, -np.inf, nodes, nodes.start[0], nodes.start[0], votes, make_memory(nodes))


@kernel
def find_mixtures(X, trees, mixtures):
    """mixtures[i] = class shares that the first tree predicts for row i."""
    nodes = Nodes(*trees)
    stack, share, _ = make_memory(nodes)
    for i in range(X.shape[0]):
        mix_leaves(X, i, -np.inf, nodes, nodes.start[0], (stack, share, mixtures[i]))


@kernel
def add_votes(X, trees, moves, score):
    """Add each tree's vote to the scores: F if they have one column, else G."""
    nodes = Nodes(*trees)
    n_outputs, memory = score.shape[1], make_memory(nodes)
    votes = np.empty(ROWS, dtype=np.int32)
    for low in range(0, X.shape[0], ROWS):
        rows = min(ROWS, X.shape[0] - low)
        for t in range(nodes.start.size - 1):
            vote(X, -np.inf, nodes, nodes.start[t], low, votes[:rows], memory)
            for k in range(rows):
                if n_outputs == 1:
                    score[low + k, 0] += moves[t] if votes[k] == 1 else -moves[t]
                else:
                    for c in range(n_outputs):
                        score[low + k, c] -= moves[t]
                    score[low + k, votes[k]] += n_outputs * moves[t]
