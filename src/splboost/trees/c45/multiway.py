"""Pruned C4.5 trees as flat arrays, and prediction with them.

Unlike those of :class:`~splboost.trees.ensemble.TreeEnsemble`, a node may have any
number of children, and a row with an unknown value goes to all of them.

Such a row gets the mixture of the leaves' class shares. Rows are floats, NaN where the
value is missing; or ranks of the training table, below ``lowest`` where it is. From
Python trees come to kernels as plain tuples, which numba knows at sight.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._data.coding import Coding
from splboost._data.table import Table
from splboost._tools.compiling import inner_kernel, kernel, lean_kernel
from splboost._tools.threads import run, share
from splboost.trees.c45.gain import SLACK, heaviest, sum_of
from splboost.trees.ensemble import WALKING_WORK, FlatTrees

FloatArray = NDArray[np.float64]
ROWS = 512  # at a time, so that a block of rows stays in the cache for all trees


class Nodes(NamedTuple):
    """Nodes of many trees, one tree after the other, roots first.

    Attributes
    ----------
    start : (n_trees + 1,) first node of each tree
    feature : feature that a node tests, -1 in a leaf
    child : its first child, -1 in a leaf; the others follow
    children : their number
    threshold : values up to it go to the first child; NaN in leaves, and where every
        category has a child of its own
    share : of the weight of its siblings and itself
    label : class that a leaf predicts
    value : class weights of the training cases
    """

    start: NDArray[np.int64]
    feature: NDArray[np.int64]
    child: NDArray[np.int64]
    children: NDArray[np.int64]
    threshold: FloatArray
    share: FloatArray
    label: NDArray[np.int64]
    value: FloatArray


@dataclass(frozen=True)
class MultiwayTrees(FlatTrees):
    """Nodes, and what the codes of categorical features mean."""

    nodes: Nodes
    coding: Coding

    start = property(attrgetter("nodes.start"))
    feature = property(attrgetter("nodes.feature"))
    child = property(attrgetter("nodes.child"))
    threshold = property(attrgetter("nodes.threshold"))

    @classmethod
    def join(cls, trees: list[Nodes], coding: Coding) -> MultiwayTrees:
        """Trees of one table as one ensemble."""
        joined = {
            name: np.concatenate([getattr(tree, name) for tree in trees])
            for name in Nodes._fields
            if name != "start"
        }
        sizes = [tree.child.size for tree in trees]
        first = np.cumsum([0, *sizes[:-1]])
        child = joined["child"]
        child += np.where(child >= 0, np.repeat(first, sizes), 0)
        start = np.concatenate([trees[0].start[:1], *(t.start[1:] for t in trees)])
        start[1:] += np.repeat(first, [tree.start.size - 1 for tree in trees])
        return cls(Nodes(start=start, **joined), coding)

    def slice(self, first: int, last: int) -> MultiwayTrees:
        """Trees first to last as an ensemble of their own."""
        low, high = self.nodes.start[first], self.nodes.start[last]
        part = {name: getattr(self.nodes, name)[low:high] for name in Nodes._fields}
        part["start"] = self.nodes.start[first : last + 1] - low
        part["child"] = np.where(part["child"] >= 0, part["child"] - low, -1)
        return MultiwayTrees(Nodes(**part), self.coding)

    def branches(self, nodes: Any, code: int | None) -> Any:
        return nodes if code is None else self.child[nodes] + code

    def depth(self) -> int:
        """Tests on the longest way from a root to a leaf."""
        return self._depth(self.nodes.children)

    def importances(self, n_features: int, share: FloatArray) -> FloatArray:
        """Bits saved by each feature, trees weighted by ``share``; sums to 1."""
        nodes = self.nodes
        total = nodes.value.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(nodes.value > 0, nodes.value * np.log2(nodes.value), 0.0)
            bits = np.where(total > 0, total * np.log2(total), 0.0) - terms.sum(axis=1)
        below = np.concatenate([[0.0], np.cumsum(bits)])
        saved = bits - (below[nodes.child + nodes.children] - below[nodes.child])
        of_tree = np.repeat(share / total[nodes.start[:-1]], np.diff(nodes.start))
        return self._importances(np.maximum(saved, 0.0) * of_tree, n_features)

    def class_shares(self, table: Table) -> FloatArray:
        """Class shares that a single tree predicts for each row."""
        parts = [shares_of_rows(self.nodes, block) for _, block in self._blocks(table)]
        return np.concatenate(parts)

    def votes(self, table: Table) -> NDArray[np.int32]:
        """Class that a single tree predicts for each row."""
        parts = [votes_of_rows(self.nodes, block) for _, block in self._blocks(table)]
        return np.concatenate(parts)

    def add_votes(
        self, table: Table, moves: FloatArray, score: FloatArray, *, n_threads: int = 1
    ) -> None:
        """Add to each row's score the moves of all trees along their votes."""
        for low, block in self._blocks(table):
            part = score[low : low + block.shape[0]]
            work = WALKING_WORK * self.n_trees
            run(
                add_votes,
                [
                    (block[a:b], tuple(self.nodes), moves, part[a:b])
                    for a, b in share(block.shape[0], n_threads, work)
                ],
            )


def votes_of_rows(tree: Nodes, rows: NDArray[np.floating]) -> NDArray[np.int32]:
    """Class that the first tree predicts for each row of floats."""
    votes = np.empty(rows.shape[0], dtype=np.int32)
    find_votes(rows, tuple(tree), votes)
    return votes


def shares_of_rows(tree: Nodes, rows: NDArray[np.floating]) -> FloatArray:
    """Class shares that the first tree predicts for each row of floats."""
    shares = np.empty((rows.shape[0], tree.value.shape[1]))
    find_mixtures(rows, tuple(tree), shares)
    return shares


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
