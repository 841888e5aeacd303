"""Grows and prunes C4.5 trees, one after the other, over one table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.compiling import inner_kernel, kernel
from splboost.trees.c45.gain import sum_of
from splboost.trees.c45.grow import Options, grow, heaviest
from splboost.trees.c45.memory import (
    CHILD,
    CHILDREN,
    CLASS,
    CUT,
    FEATURE,
    Memory,
    as_reference,
    make_scratch,
)
from splboost.trees.c45.nodes import Nodes
from splboost.trees.c45.predict import vote
from splboost.trees.c45.prune import deviations, prune
from splboost.trees.c45.ranks import rank_table
from splboost.trees.c45.trees import MultiwayTrees

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
        self._cells, self.coding = rank_table(table, n_threads=n_threads)
        self._codes, self._n_classes = codes, n_classes
        self._reserve(codes.size)

    def _reserve(self, most_nodes: int) -> None:
        """Make room for trees of so many nodes."""
        self._scratch = make_scratch(self._cells, self._n_classes, most_nodes)
        self._memory = as_reference(Memory(self._cells, self._scratch))

    def grow(
        self, weight: NDArray[np.float64], options: C45Options
    ) -> tuple[Nodes, NDArray[np.int32], bool]:
        """A tree for these weights, and the class it predicts for each row.

        Rows of weight zero leave no trace in it. The predictions are valid until the
        next tree is grown. The last value says whether cuts had to pay their price.
        """
        size, paid = self._grow(weight, options)
        if size > self._scratch.class_weights.shape[0]:
            self._reserve(2 * size)
            size, paid = self._grow(weight, options)
        made = self._scratch
        feature, child, children, label = made.links[:, :size].copy()
        threshold, share = made.numbers[:, :size].copy()
        value = made.class_weights[:size].copy()
        start = np.array([0, size])
        nodes = Nodes(start, feature, child, children, threshold, share, label, value)
        return nodes, made.votes, paid

    def _grow(
        self, weight: NDArray[np.float64], options: C45Options
    ) -> tuple[int, bool]:
        confidence = float(options.confidence)
        depth = NO_LIMIT if options.max_depth is None else options.max_depth
        return make_tree(
            self._memory,
            self._codes,
            weight,
            (float(options.min_cases), depth, options.mdl, options.free_depth),
            options.pruning,
            (confidence, deviations(confidence)),
        )

    def ensemble(self, trees: list[Nodes]) -> MultiwayTrees:
        """Trees grown here, joined."""
        return MultiwayTrees.join(trees, self.coding)


@kernel
def make_tree(memory, y, weight, options, pruning, limit):
    """Grow a tree, prune it, and write it and its predictions for the table's rows.

    Returns the number of its nodes, and whether its cuts had to pay. If there is no
    room for so many, nothing is written. (Nothing but numbers goes back to Python:
    arrays would cost more, and an interrupt might strike on their way.)
    """
    cells, scratch = memory.cells, memory.scratch
    node, mass, paid = grow(cells, y, weight, Options(*options), scratch)
    if pruning:
        prune(cells, y, weight, node, mass, limit, scratch)
    old, child = order(node)
    size = old.size
    if size <= scratch.class_weights.shape[0]:
        links, numbers = scratch.links, scratch.numbers
        nodes = Nodes(
            np.array([0, size]),
            links[0, :size],
            links[1, :size],
            links[2, :size],
            numbers[0, :size],
            numbers[1, :size],
            links[3, :size],
            scratch.class_weights[:size],
        )
        flatten(cells, node, mass, old, child, nodes)
        vote(cells.rank.T, 0, nodes, 0, size, 0, scratch.votes)
        for i in range(size):
            if not np.isnan(nodes.threshold[i]):
                rank = np.int64(nodes.threshold[i])
                first = cells.offset[nodes.feature[i]]
                nodes.threshold[i] = cells.values[first + rank]
    return size, paid


@inner_kernel
def order(node):
    """The nodes that pruning has left, parents first, and the places of children."""
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


@inner_kernel
def flatten(cells, node, mass, old, child, nodes):
    """Write these nodes, with ranks for thresholds."""
    feature, children, threshold = nodes.feature, nodes.children, nodes.threshold
    share, label, value = nodes.share, nodes.label, nodes.value
    nodes.child[:] = child
    share[0] = 1.0
    for i in range(old.size):
        k = old[i]
        for c in range(value.shape[1]):
            value[i, c] = mass[k, c]
        label[i] = node[k, CLASS]
        if sum_of(value[i]) > 0:
            label[i] = heaviest(value[i])
        feature[i], children[i], threshold[i] = -1, 0, np.nan
        if child[i] < 0:
            continue
        f = node[k, FEATURE]
        feature[i], children[i] = f, node[k, CHILDREN]
        if not cells.categorical[f]:
            threshold[i] = node[k, CUT]
        total = 0.0
        for v in range(children[i]):
            share[child[i] + v] = sum_of(mass[node[k, CHILD] + v])
            total += share[child[i] + v]
        for v in range(children[i]):
            share[child[i] + v] /= total
