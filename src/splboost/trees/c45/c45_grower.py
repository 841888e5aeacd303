"""Grows and prunes C4.5 trees, one after the other, over one table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.compiling import as_reference, kernel, lean_kernel
from splboost.trees.c45 import c45_workspace as at
from splboost.trees.c45.c45_grow import grow
from splboost.trees.c45.c45_workspace import (
    Memory,
    make_nodes,
    make_scratch,
    refer,
)
from splboost.trees.c45.gain import heaviest, sum_of
from splboost.trees.c45.multiway import MultiwayTrees, Nodes, vote
from splboost.trees.c45.prune import deviations, prune
from splboost.trees.c45.ranks import rank_table

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
        self._codes, self._n_classes = codes.astype(np.int32), n_classes
        self._reserve(1)

    def _reserve(self, room: int) -> None:
        self._room = room
        self._scratch = make_scratch(self._cells, self._codes, self._n_classes, room)
        self._tree = make_nodes(self._scratch.shares.size, self._n_classes)
        self._votes = np.empty(self._codes.size, dtype=np.int32)
        memory = Memory(self._cells, self._scratch, self._tree, self._votes)
        self._memory = as_reference(refer, memory)

    def grow(
        self, weight: NDArray[np.float64], options: C45Options
    ) -> tuple[Nodes, NDArray[np.int32], bool]:
        """A tree for these weights, and the class it predicts for each row.

        Rows of weight zero leave no trace in it. The predictions are valid until the
        next tree is grown. The last value says whether cuts had to pay their price.
        """
        while not self._make(weight, options):
            self._reserve(2 * self._room)
        size = self._tree.start[1]
        parts = (part[:size].copy() for part in self._tree[1:])
        nodes = Nodes._make((self._tree.start.copy(), *parts))
        return nodes, self._votes, bool(self._scratch.now[at.PAYING])

    def _make(self, weight: NDArray[np.float64], options: C45Options) -> bool:
        """Write a tree to the scratch; False if there is no room for it.

        Ctrl-C takes effect between the calls, each of which does but some of the work.
        """
        now, limits = self._scratch.now, self._scratch.limits
        self._scratch.weight[:] = weight
        now[at.PAYING], now[at.FREE_DEPTH] = options.mdl, options.free_depth
        now[at.MAX_DEPTH] = NO_LIMIT if options.max_depth is None else options.max_depth
        limits[at.MIN_CASES], limits[at.CONFIDENCE] = (
            options.min_cases,
            options.confidence,
        )
        limits[at.DEVIATIONS] = deviations(options.confidence)
        for stage in (grow, prune) if options.pruning else (grow,):
            now[at.BEGUN], answer = 0, at.UNDER_WAY
            while answer == at.UNDER_WAY:
                answer = stage(self._memory)
            if answer == at.NO_ROOM:
                return False
        finish(self._memory)
        return True

    def ensemble(self, trees: list[Nodes]) -> MultiwayTrees:
        """Trees grown here, joined."""
        return MultiwayTrees.join(trees, self.coding)


@kernel
def finish(memory):
    """Write the tree, and its predictions for the rows."""
    cells, scratch, tree = memory.cells, memory.scratch, memory.tree
    write_tree(cells, scratch, tree)
    room = scratch.bounds, scratch.shares, scratch.total
    vote(cells.rank.T, 0, tree, tree.start[0], np.int64(0), memory.votes, room)
    for i in range(tree.start[1]):
        if not np.isnan(tree.threshold[i]):
            rank = np.int64(tree.threshold[i])
            tree.threshold[i] = cells.values[cells.offset[tree.feature[i]] + rank]


@lean_kernel(inner=True, forceinline=True)
def write_tree(cells, scratch, tree):
    """Write the nodes that are left, parents first, with ranks for thresholds."""
    node, mass, old = scratch.node, scratch.mass, scratch.bounds
    old[0], tree.share[0] = 0, 1.0
    i, size = 0, 1
    while i < size:
        k = old[i]
        for c in range(mass.shape[1]):
            tree.value[i, c] = mass[k, c]
        tree.label[i] = node[k, at.CLASS]
        if sum_of(mass[k]) > 0:
            tree.label[i] = heaviest(mass[k])
        tree.feature[i], tree.threshold[i] = -1, np.nan
        tree.child[i], tree.children[i] = -1, 0
        if node[k, at.CHILD] >= 0:
            f, n = node[k, at.FEATURE], node[k, at.CHILDREN]
            tree.feature[i], tree.child[i], tree.children[i] = f, size, n
            if not cells.categorical[f]:
                tree.threshold[i] = node[k, at.CUT]
            total = 0.0
            for v in range(n):
                old[size + v] = node[k, at.CHILD] + v
                tree.share[size + v] = sum_of(mass[node[k, at.CHILD] + v])
                total += tree.share[size + v]
            for v in range(n):
                tree.share[size + v] /= total
            size += n
        i += 1
    tree.start[1] = size
