"""Grows and prunes C4.5 trees, one after the other, over one table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.compiled import kernel
from splboost.trees.c45.grow import (
    CHILD,
    CHILDREN,
    CLASS,
    CUT,
    FEATURE,
    Options,
    grow,
    heaviest,
    make_scratch,
)
from splboost.trees.c45.predict import vote
from splboost.trees.c45.prune import deviations, prune
from splboost.trees.c45.ranks import rank_table
from splboost.trees.c45.trees import MultiwayTrees, Nodes
from splboost.trees.columns import Table

NO_LIMIT = 1 << 40


class C45Options(NamedTuple):
    """What sort of tree to grow; see ``C45Classifier``."""

    confidence: float = 0.25
    min_cases: float = 2.0
    mdl: bool = True
    pruning: bool = True
    max_depth: int | None = None


class C45Grower:
    """Grows trees over one ranked table.

    Parameters
    ----------
    table : Table, without rows of weight zero
    codes : class number of each row
    n_classes : int
    n_threads : int, for ranking the table; trees are grown by one
    """

    def __init__(
        self,
        table: Table,
        codes: NDArray[np.integer],
        n_classes: int,
        *,
        n_threads: int = 1,
    ) -> None:
        self.cells, self.coding = rank_table(table, n_threads=n_threads)
        self._codes = codes
        self._scratch = make_scratch(self.cells, n_classes)
        n_lists, n_rows = self.cells.ascending.shape
        self._lists = np.empty((n_lists + 1, n_rows), dtype=np.int64)
        self._case_weight = np.empty(n_rows)

    def grow(self, weight: NDArray[np.float64], options: C45Options) -> Nodes:
        """A tree for these weights, in which rows of weight zero leave no trace."""
        depth = NO_LIMIT if options.max_depth is None else options.max_depth
        node, mass, self._lists, self._case_weight = grow(
            self.cells,
            self._codes,
            weight,
            Options(float(options.min_cases), depth, options.mdl),
            self._scratch,
            self._lists,
            self._case_weight,
        )
        if options.pruning:
            confidence = float(options.confidence)
            prune(
                self.cells,
                self._codes,
                weight,
                node,
                mass,
                (confidence, deviations(confidence)),
                self._scratch,
                self._lists[0],
                self._case_weight,
            )
        return self._flatten(node, mass)

    def votes(self, tree: Nodes) -> NDArray[np.int32]:
        """Class that a tree predicts for each row of the table."""
        votes = np.empty(self._codes.size, dtype=np.int32)
        cut = tree._replace(threshold=self._cuts)
        vote(self.cells.rank.T, 0, cut, 0, 0, votes)
        return votes

    def _flatten(self, node: NDArray[np.int64], mass: NDArray[np.float64]) -> Nodes:
        cells = self.cells
        old, child = reachable(node)
        inner = child >= 0
        feature = np.where(inner, node[old, FEATURE], -1)
        numeric = inner & ~cells.categorical[feature]
        cut = node[old, CUT]
        threshold = np.full(old.size, np.nan)
        threshold[numeric] = cells.values[cells.offset[feature[numeric]] + cut[numeric]]
        self._cuts = np.where(numeric, cut, np.nan)
        value = mass[old]
        children = np.where(inner, node[old, CHILDREN], 0)
        share, label = share_and_label(child, children, value, node[old, CLASS])
        return Nodes(
            start=np.array([0, old.size]),
            feature=feature,
            child=child,
            children=children,
            threshold=threshold,
            share=share,
            label=label,
            value=value,
        )

    def ensemble(self, trees: list[Nodes]) -> MultiwayTrees:
        """Trees grown here, joined."""
        return MultiwayTrees.join(trees, self.coding)


@kernel
def reachable(node):
    """Nodes that pruning has left, parents first; and the new first child of each."""
    old = np.empty(node.shape[0], dtype=np.int64)
    child = np.full(node.shape[0], -1)
    old[0] = 0
    n = 1
    i = 0
    while i < n:
        if node[old[i], CHILD] >= 0:
            child[i] = n
            for v in range(node[old[i], CHILDREN]):
                old[n] = node[old[i], CHILD] + v
                n += 1
        i += 1
    return old[:n], child[:n]


@kernel
def share_and_label(child, children, value, leaf_class):
    """Share of each node among its siblings, and its class."""
    share = np.ones(child.size)
    label = leaf_class.copy()
    total = np.empty(child.size)
    for i in range(child.size):
        total[i] = value[i].sum()
        if total[i] > 0:
            label[i] = heaviest(value[i])
    for i in range(child.size):
        if child[i] >= 0:
            siblings = total[child[i] : child[i] + children[i]].sum()
            for k in range(child[i], child[i] + children[i]):
                share[k] = total[k] / siblings
    return share, label
