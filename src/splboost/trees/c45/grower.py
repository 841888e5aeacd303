"""Grows and prunes C4.5 trees, one after the other, over one table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.compiled import kernel
from splboost.interrupts import Uninterrupted
from splboost.trees.c45.gain import sum_of
from splboost.trees.c45.grow import Options, grow, heaviest
from splboost.trees.c45.memory import (
    CHILD,
    CHILDREN,
    CLASS,
    CUT,
    FEATURE,
    as_references,
    make_scratch,
)
from splboost.trees.c45.nodes import Nodes
from splboost.trees.c45.predict import vote
from splboost.trees.c45.prune import deviations, prune
from splboost.trees.c45.ranks import rank_table
from splboost.trees.c45.trees import MultiwayTrees
from splboost.trees.columns import Table

NO_LIMIT = 1 << 40


class C45Options(NamedTuple):
    """What sort of tree to grow; see ``C45Classifier``."""

    confidence: float = 0.25
    min_cases: float = 2.0
    mdl: bool = True
    pruning: bool = True
    max_depth: int | None = None
    free_depth: int = 0  # without the price of cuts, where the root cannot pay it


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
        cells, self.coding = rank_table(table, n_threads=n_threads)
        self._codes = codes
        self._cells, self._scratch = as_references(
            cells, make_scratch(cells, n_classes)
        )
        n_lists, n_rows = cells.ascending.shape
        self._lists = np.empty((n_lists + 1, n_rows), dtype=np.int64)
        self._case_weight = np.empty(n_rows)
        self._votes = np.empty(n_rows, dtype=np.int32)

    def grow(
        self, weight: NDArray[np.float64], options: C45Options
    ) -> tuple[Nodes, NDArray[np.int32], bool]:
        """A tree for these weights, and the class it predicts for each row.

        Rows of weight zero leave no trace in it. The predictions are valid until the
        next tree is grown. The last value says whether cuts had to pay their price.
        """
        confidence = float(options.confidence)
        depth = NO_LIMIT if options.max_depth is None else options.max_depth
        with Uninterrupted():
            tree, paid = make_tree(
                self._cells,
                self._codes,
                weight,
                (float(options.min_cases), depth, options.mdl, options.free_depth),
                options.pruning,
                (confidence, deviations(confidence)),
                self._scratch,
                self._lists,
                self._case_weight,
                self._votes,
            )
        return Nodes(*tree), self._votes, paid

    def ensemble(self, trees: list[Nodes]) -> MultiwayTrees:
        """Trees grown here, joined."""
        return MultiwayTrees.join(trees, self.coding)


@kernel
def make_tree(
    cells, y, weight, options, pruning, limit, scratch, lists, case_weight, votes
):
    """Grow a tree, prune it, and write its predictions for the rows of the table.

    Returns its ``Nodes``, and whether its cuts had to pay.
    """
    node, mass, paid = grow(
        cells, y, weight, Options(*options), scratch, lists, case_weight
    )
    if pruning:
        prune(cells, y, weight, node, mass, limit, scratch, lists[0], case_weight)
    by_rank, threshold = flatten(cells, node, mass)
    vote(cells.rank.T, 0, by_rank, 0, by_rank.child.size, 0, votes)
    tree = (
        by_rank.start,
        by_rank.feature,
        by_rank.child,
        by_rank.children,
        threshold,
        by_rank.share,
        by_rank.label,
        by_rank.value,
    )
    return tree, paid


@kernel
def flatten(cells, node, mass):
    """The nodes that pruning has left, parents first, with ranks for thresholds.

    Returns them, and their thresholds.
    """
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

    feature, children = np.full(n, -1), np.zeros(n, dtype=np.int64)
    cut, threshold = np.full(n, np.nan), np.full(n, np.nan)
    share, label, value = np.ones(n), np.empty(n, dtype=np.int64), mass[old[:n]]
    for i in range(n):
        label[i] = node[old[i], CLASS]
        if sum_of(value[i]) > 0:
            label[i] = heaviest(value[i])
        if child[i] < 0:
            continue
        f = node[old[i], FEATURE]
        feature[i], children[i] = f, node[old[i], CHILDREN]
        if not cells.categorical[f]:
            cut[i] = node[old[i], CUT]
            threshold[i] = cells.values[cells.offset[f] + node[old[i], CUT]]
        total = 0.0
        for k in range(child[i], child[i] + children[i]):
            share[k] = sum_of(value[k])
            total += share[k]
        for k in range(child[i], child[i] + children[i]):
            share[k] /= total
    start = np.array([0, n])
    by_rank = Nodes(start, feature, child[:n], children, cut, share, label, value)
    return by_rank, threshold
