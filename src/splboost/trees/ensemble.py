"""Fitted trees as flat arrays, and prediction with them.

A :class:`TreeEnsemble` holds thresholds in the user's units and knows nothing of bins,
except for categories, which it knows by the codes of the table the trees were grown on.
What a node contributes to a score is not part of it: that belongs to whoever grew the
trees (a vote, a class distribution, a mean) and is passed to :meth:`TreeEnsemble.add`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from splboost._data.coding import Coding, feature_blocks, float_matrix
from splboost._data.table import ArrayTable, Table
from splboost._tools.compiling import lean_kernel
from splboost._tools.threads import run, share
from splboost.trees.split import TIE
from splboost.trees.workspace import (
    CHILD,
    FEATURE,
    GAIN,
    MISSING_LEFT,
    SET_BYTES,
    THRESHOLD,
)

WALKING_WORK = 30  # steps for a row down a tree
ROWS = 512  # at a time, so that a block of rows stays in the cache for all trees
BY_NODE = "feature", "threshold", "missing_left", "value", "gain"


class GrownTree(NamedTuple):
    """One tree as the grower leaves it: rows of its workspace."""

    node: NDArray[np.int64]
    number: NDArray[np.float64]
    total: NDArray[np.int64]
    bins: NDArray[np.uint8]
    scale: float


class FlatTrees:
    """What trees of any kind share: parts of a whole, and the features they look at.

    ``start``, ``feature``, ``child``, ``threshold`` and ``coding`` are those of
    :class:`TreeEnsemble`.
    """

    start: Any
    feature: Any
    child: Any
    threshold: Any
    coding: Coding

    @property
    def n_trees(self) -> int:
        return self.start.size - 1

    def slice(self, first: int, last: int) -> Self:
        """Trees first to last as an ensemble of their own."""
        raise NotImplementedError

    def branches(self, nodes: Any, code: int | None) -> Any:
        """The node to which each of some nodes sends a category; None: a missing one.

        Where all branches get what is missing, it is the node itself.
        """
        raise NotImplementedError

    def tree(self, t: int) -> Self:
        """Tree t as an ensemble of one."""
        return self.slice(t, t + 1)

    @property
    def categorical_features(self) -> list[bool] | None:
        """Which features are categories; None if none is."""
        mask = [table is not None for table in self.coding]
        return mask if any(mask) else None

    def n_leaves(self) -> int:
        """Leaves of all trees together."""
        return int(np.sum(self.child < 0))

    def matrix_of(self, table: Table) -> Table:
        """The table read once and for all, for repeated prediction."""
        return ArrayTable(float_matrix(table, self.coding, self._features_used()), None)

    def _features_used(self) -> NDArray[np.intp]:
        return np.unique(self.feature[self.feature >= 0]).astype(np.intp)

    def _blocks(self, table: Table) -> Iterator[tuple[int, NDArray[np.floating]]]:
        return feature_blocks(table, self.coding, self._features_used())

    def _depth(self, children: NDArray[np.integer]) -> int:
        """Splits on the longest way from a root, with the number of each's children."""
        level = np.zeros(self.child.size, dtype=np.int64)
        for node in np.flatnonzero(self.child >= 0):
            first = self.child[node]
            level[first : first + children[node]] = level[node] + 1
        return int(level.max(initial=0))

    def _importances(
        self, removed: NDArray[np.float64], n_features: int
    ) -> NDArray[np.float64]:
        """What nodes have removed by feature, as shares of the whole."""
        inner = self.child >= 0
        sums = np.bincount(self.feature[inner], removed[inner], minlength=n_features)
        return sums / (sums.sum() or 1.0)


@dataclass(frozen=True)
class TreeEnsemble(FlatTrees):
    """Many trees, node after node.

    The children of a node are ``child`` and ``child + 1``; tree t has the nodes
    ``start[t]`` to ``start[t + 1]``, of which the first is its root.

    Attributes
    ----------
    start : (n_trees + 1,) first node of each tree
    feature : feature that a node splits by, -1 in a leaf
    child : number of the left child, -1 in a leaf
    threshold : values up to it go left; NaN in leaves and in categorical splits
    missing_left : whether missing cells (and unknown categories) go left
    which_set : row of ``sets`` for a categorical split, else -1
    sets : 32 bytes a row, one bit for each category code that goes left
    value : class weights, or weight and weighted sum of the target, per node
    gain : impurity removed by the node's split, per unit of its weight
    coding : per feature None, or the table from a category to its code
    regression : whether ``value`` is of the second kind
    """

    start: NDArray[np.int64]
    feature: NDArray[np.int32]
    child: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    which_set: NDArray[np.int32]
    sets: NDArray[np.uint8]
    value: NDArray[np.float64]
    gain: NDArray[np.float64]
    coding: Coding
    regression: bool

    @classmethod
    def from_grown(
        cls, grown: list[GrownTree], n_classes: int, coding: Coding
    ) -> TreeEnsemble:
        """Join trees; ``n_classes`` is 0 for regression."""
        sizes = [tree.node.shape[0] for tree in grown]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        node = np.concatenate([tree.node for tree in grown])
        number = np.concatenate([tree.number for tree in grown])
        total = np.concatenate([tree.total for tree in grown])
        scale = [tree.scale for tree in grown]
        inner = node[:, CHILD] >= 0
        child = np.where(inner, node[:, CHILD] + np.repeat(start[:-1], sizes), -1)
        feature = np.where(inner, node[:, FEATURE], -1).astype(np.int32)
        categorical = np.array([table is not None for table in coding])
        by_set = inner & categorical[feature]
        which_set = np.where(by_set, np.cumsum(by_set) - 1, -1).astype(np.int32)
        return cls(
            start=start,
            feature=feature,
            child=child.astype(np.int32),
            threshold=np.where(inner, number[:, THRESHOLD], np.nan),
            missing_left=node[:, MISSING_LEFT] == 1,
            which_set=which_set,
            sets=np.concatenate([tree.bins for tree in grown])[by_set]
            if categorical.any()
            else np.empty((0, SET_BYTES), dtype=np.uint8),
            value=total[:, : n_classes or 2] / np.repeat(scale, sizes)[:, None],
            regression=n_classes == 0,
            gain=np.where(inner, number[:, GAIN], 0.0),
            coding=coding,
        )

    def slice(self, first: int, last: int) -> TreeEnsemble:
        """Trees first to last as an ensemble of their own."""
        lo, hi = self.start[first], self.start[last]
        child = self.child[lo:hi]
        names = *BY_NODE, "which_set"
        part: dict[str, Any] = {name: getattr(self, name)[lo:hi] for name in names}
        return replace(
            self,
            start=self.start[first : last + 1] - lo,
            child=np.where(child >= 0, child - lo, -1).astype(np.int32),
            **part,
        )

    def branches(self, nodes: Any, code: int | None) -> Any:
        to_left = self.missing_left[nodes]
        if code is not None:
            bits = self.sets[self.which_set[nodes], code >> 3]
            to_left = bits >> (code & 7) & 1 == 1
        return self.child[nodes] + ~to_left

    def joined(self, later: TreeEnsemble) -> TreeEnsemble:
        """These trees followed by those of an ensemble with the same coding."""
        n_nodes, n_sets = self.start[-1], self.sets.shape[0]
        child = np.where(later.child >= 0, later.child + n_nodes, -1)
        which_set = np.where(later.which_set >= 0, later.which_set + n_sets, -1)
        both: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(later, name)])
            for name in (*BY_NODE, "sets")
        }
        return replace(
            self,
            start=np.concatenate([self.start, later.start[1:] + n_nodes]),
            child=np.concatenate([self.child, child.astype(np.int32)]),
            which_set=np.concatenate([self.which_set, which_set.astype(np.int32)]),
            **both,
        )

    def depth(self) -> int:
        """Splits on the longest way from a root to a leaf."""
        return self._depth(np.full(self.child.size, 2))

    @property
    def is_stumps(self) -> bool:
        """Whether no tree has more than one split."""
        return bool(np.diff(self.start).max(initial=0) <= 3)

    def class_shares(self) -> NDArray[np.float64]:
        """Share of each class in each node, shape (n_nodes, n_classes).

        A class that is as heavy as the heaviest but for rounding counts as equal to
        it, so that the first of them is the prediction.
        """
        top = self.value.max(axis=1, keepdims=True)
        value = np.where(self.value >= top * (1 - TIE), top, self.value)
        return value / value.sum(axis=1, keepdims=True)

    def importances(self, n_features: int, share: NDArray[np.float64]) -> NDArray:
        """Impurity removed by each feature, trees weighted by ``share``; sums to 1."""
        weight = self.value[:, 0] if self.regression else self.value.sum(axis=1)
        root = np.repeat(weight[self.start[:-1]], np.diff(self.start))
        of_tree = np.repeat(share, np.diff(self.start))
        return self._importances(self.gain * weight / root * of_tree, n_features)

    def add(
        self,
        table: Table,
        output: NDArray[np.float64],
        score: NDArray[np.float64],
        *,
        n_threads: int = 1,
    ) -> None:
        """Add to each row's score the output of its leaf, over all trees.

        ``output`` has a row per node and ``score`` a row per row of the table.
        """
        work = WALKING_WORK * self.n_trees
        for lo, block in self._blocks(table):
            rows = score[lo : lo + block.shape[0]]
            parts = share(block.shape[0], n_threads, work)
            run(
                add_outputs,
                [(block[a:b], self._walk, output, rows[a:b]) for a, b in parts],
            )

    def apply(self, table: Table) -> NDArray[np.int32]:
        """The node in which each row ends, for each tree; shape (n_rows, n_trees)."""
        leaves = np.empty((table.n_rows, self.n_trees), dtype=np.int32)
        for lo, block in self._blocks(table):
            find_leaves(block, self._walk, leaves[lo : lo + block.shape[0]])
        return leaves

    @property
    def _walk(self) -> tuple[Any, ...]:
        """What kernels need in order to send rows down the trees."""
        return (
            self.start,
            self.feature,
            self.child,
            self.threshold,
            self.missing_left,
            self.which_set,
            self.sets,
        )


def leaves_of_grown(
    tree: GrownTree, rows: NDArray[np.float64], *, n_threads: int = 1
) -> NDArray[np.int32]:
    """The node in which each row of floats ends."""
    leaf = np.empty(rows.shape[0], dtype=np.int32)
    of_tree = tree.node, tree.number, tree.bins
    parts = share(leaf.size, n_threads, WALKING_WORK)
    run(find_leaf, [(rows[a:b], *of_tree, leaf[a:b]) for a, b in parts])
    return leaf


# Lean: to count references for every row would take as long as the way down a tree.
@lean_kernel(inner=True)
def goes_right(x, threshold, missing_left, which_set, sets):
    """1 if a value goes to the second child, else 0."""
    if np.isnan(x):
        return 0 if missing_left else 1
    if which_set >= 0:
        code = np.int64(x)
        return 1 - ((sets[which_set, code >> 3] >> (code & 7)) & 1)
    return 0 if x <= threshold else 1


@lean_kernel(inner=True)
def leaf_of(x, root, trees):
    """The node in which a row ends, from the root of a tree."""
    _, feature, child, threshold, missing_left, which_set, sets = trees
    node = root
    while child[node] >= 0:
        node = child[node] + goes_right(
            x[feature[node]],
            threshold[node],
            missing_left[node],
            which_set[node],
            sets,
        )
    return node


@lean_kernel
def add_outputs(X, trees, output, score):
    """score[i] += output[leaf of row i], over all trees."""
    start = trees[0]
    for lo in range(0, X.shape[0], ROWS):
        for t in range(start.size - 1):
            for i in range(lo, min(lo + ROWS, X.shape[0])):
                node = leaf_of(X[i], start[t], trees)
                for k in range(output.shape[1]):
                    score[i, k] += output[node, k]


@lean_kernel
def find_leaves(X, trees, leaves):
    """leaves[i, t] = node of tree t in which row i ends."""
    start = trees[0]
    for i in range(X.shape[0]):
        for t in range(start.size - 1):
            leaves[i, t] = leaf_of(X[i], start[t], trees)


@lean_kernel
def find_leaf(X, node, number, bins, leaf):
    """leaf[i] = node of a tree, as the grower leaves it, in which row i ends."""
    for i in range(X.shape[0]):
        k = 0
        while node[k, CHILD] >= 0:
            threshold = number[k, THRESHOLD]
            k = node[k, CHILD] + goes_right(
                X[i, node[k, FEATURE]],
                threshold,
                node[k, MISSING_LEFT] == 1,
                k if np.isnan(threshold) else -1,
                bins,
            )
        leaf[i] = k
