"""Grows and prunes C4.5 trees, one after the other, over one table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.compiling import Reference, kernel, lean_kernel
from splboost._tools.interrupts import Uninterrupted
from splboost.trees.c45.attributes import (
    BEGUN,
    CONFIDENCE,
    DEVIATIONS,
    FREE_DEPTH,
    MAX_DEPTH,
    MIN_CASES,
    PAYING,
)
from splboost.trees.c45.c45_grow import (
    CHILD,
    CHILDREN,
    CLASS,
    CUT,
    FEATURE,
    NO_ROOM,
    UNDER_WAY,
    grow,
)
from splboost.trees.c45.gain import STRETCH, heaviest, sum_of
from splboost.trees.c45.multiway import MultiwayTrees, Nodes, vote
from splboost.trees.c45.prune import deviations, prune
from splboost.trees.c45.ranks import Cells, rank_table

NO_LIMIT = 1 << 40


class C45Options(NamedTuple):
    """What sort of tree to grow; see ``C45Classifier``."""

    confidence: float = 0.25
    min_cases: float = 2.0
    mdl: bool = True
    pruning: bool = True
    max_depth: int | None = None
    free_depth: int = 0  # without the price of cuts, where the root cannot pay it


class Scratch(NamedTuple):
    """Memory for growing and pruning.

    Attributes
    ----------
    y, weight : (n_rows,) classes, and weights
    limits, now : what sort of tree to make, and where that has got to; see attributes
    lists : the cases of nodes, in the shape of ``ascending``, or with more room
    case_weight : the cases' weights, in the order of the first list
    node, mass : (most, 7) integers of the tree's nodes, and their class weights
    stack, shares : (most, 5) nodes yet to be split, their cases, and those of unknown
        value; and the share that they have of these
    frame, bounds, errors : nodes on the way to the one that is pruned, where the cases
        of their branches start, and their expected errors
    pull : (n_rows,) weight of each case; with two classes negative for the first
    branch : (n_rows,) branch that each case goes to
    of_branch, start, part : class weights of each branch, where its cases start, and
        its share of the known weight
    below, valid, bound, top : the places of an attribute, and of stretches; see gain
    of_rank, total : class weights of each rank, and of all of them
    of_classes : (3, n_classes) for ``best_cut``
    gain, cost, info, ends, in_average, tested : (n_features,) what a split by each
        attribute is worth, the ranks around its best cut, whether the average counts
        it, and whether it was tested above
    spare : (n_rows,) for entries on the move, and for the ranks that a node meets
    """

    y: NDArray[np.int32]
    weight: NDArray[np.float64]
    limits: NDArray[np.float64]
    now: NDArray[np.int64]
    lists: NDArray[np.int64]
    case_weight: NDArray[np.float64]
    node: NDArray[np.int64]
    mass: NDArray[np.float64]
    stack: NDArray[np.int64]
    shares: NDArray[np.float64]
    frame: NDArray[np.int64]
    bounds: NDArray[np.int64]
    errors: NDArray[np.float64]
    pull: NDArray[np.float64]
    branch: NDArray[np.int32]
    of_branch: NDArray[np.float64]
    start: NDArray[np.int64]
    part: NDArray[np.float64]
    below: NDArray[np.float64]
    valid: NDArray[np.bool_]
    bound: NDArray[np.float64]
    top: NDArray[np.float64]
    of_rank: NDArray[np.float64]
    total: NDArray[np.float64]
    of_classes: NDArray[np.float64]
    gain: NDArray[np.float64]
    cost: NDArray[np.float64]
    info: NDArray[np.float64]
    ends: NDArray[np.int64]
    in_average: NDArray[np.bool_]
    tested: NDArray[np.bool_]
    spare: NDArray[np.int64]


def make_scratch(
    cells: Cells, codes: NDArray[np.int32], n_classes: int, room: int
) -> Scratch:
    """Scratch for trees over a table, of ``room`` times as many nodes as it has rows.

    Cases of unknown value, which are copied, have as many times room.
    """
    n_values = np.diff(cells.offset)
    n_features, n_rows = cells.rank.shape
    most_counted = int(n_values[cells.which_list < 0].max(initial=1))
    most_branches = int(n_values[cells.categorical].max(initial=2))
    most_places = max(n_rows, most_counted)
    most_cases = 2 * room * n_rows if cells.any_missing else n_rows
    most = room * n_rows
    return Scratch(
        y=codes,
        weight=np.empty(n_rows),
        limits=np.empty(3),
        now=np.zeros(14, dtype=np.int64),
        lists=np.empty((cells.ascending.shape[0], most_cases), dtype=np.int64),
        case_weight=np.empty(most_cases),
        node=np.empty((most, 7), dtype=np.int64),
        mass=np.empty((most, n_classes)),
        stack=np.empty((most, 5), dtype=np.int64),
        shares=np.empty(most),
        frame=np.empty((most, 7), dtype=np.int64),
        bounds=np.empty(2 * most + 2, dtype=np.int64),
        errors=np.empty((most, 2)),
        pull=np.empty(n_rows),
        branch=np.empty(n_rows, dtype=np.int32),
        of_branch=np.empty((most_branches + 1, n_classes)),
        start=np.empty(most_branches + 2, dtype=np.int64),
        part=np.empty(most_branches),
        below=np.empty((n_classes, most_places)),
        valid=np.empty(most_places, dtype=np.bool_),
        bound=np.empty(most_places),
        top=np.empty(most_places // STRETCH + 1),
        of_rank=np.empty((n_classes, most_counted)),
        total=np.empty(n_classes),
        of_classes=np.empty((3, n_classes)),
        gain=np.empty(n_features),
        cost=np.empty(n_features),
        info=np.empty(n_features),
        ends=np.empty((n_features, 2), dtype=np.int64),
        in_average=np.empty(n_features, dtype=np.bool_),
        tested=np.empty(n_features, dtype=np.bool_),
        spare=np.empty(n_rows, dtype=np.int64),
    )


def make_nodes(most: int, n_classes: int) -> Nodes:
    """Room for a tree of so many nodes."""
    return Nodes(
        start=np.zeros(2, dtype=np.int64),
        feature=np.empty(most, dtype=np.int64),
        child=np.empty(most, dtype=np.int64),
        children=np.empty(most, dtype=np.int64),
        threshold=np.empty(most),
        share=np.empty(most),
        label=np.empty(most, dtype=np.int64),
        value=np.empty((most, n_classes)),
    )


class Memory(NamedTuple):
    """What kernels of C4.5 work on.

    They get it by a single reference, since every array that Python hands over costs
    something; from there on the tuples are handed on as they are, which costs lean
    kernels nothing.

    Attributes
    ----------
    cells, scratch
    tree : the finished tree
    votes : (n_rows,) class that it predicts
    """

    cells: Cells
    scratch: Scratch
    tree: Nodes
    votes: NDArray[np.int32]


@structref.register
class MemoryType(types.StructRef):
    """What kernels know of ``Memory``."""


class MemoryReference(Reference):
    """``Memory`` as kernels get it."""


structref.define_proxy(MemoryReference, MemoryType, list(Memory._fields))


@kernel
def _refer(cells, scratch, tree, votes):
    return MemoryReference(cells, scratch, tree, votes)


def as_reference(memory: Memory) -> Any:
    """Memory as kernels get it; without compilation the tuple will do."""
    if not hasattr(_refer, "py_func"):
        return memory
    with Uninterrupted():
        return _refer(*memory)


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
        self._memory = as_reference(
            Memory(self._cells, self._scratch, self._tree, self._votes)
        )

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
        return nodes, self._votes, bool(self._scratch.now[PAYING])

    def _make(self, weight: NDArray[np.float64], options: C45Options) -> bool:
        """Write a tree to the scratch; False if there is no room for it.

        Ctrl-C takes effect between the calls, each of which does but some of the work.
        """
        now, limits = self._scratch.now, self._scratch.limits
        self._scratch.weight[:] = weight
        now[PAYING], now[FREE_DEPTH] = options.mdl, options.free_depth
        now[MAX_DEPTH] = NO_LIMIT if options.max_depth is None else options.max_depth
        limits[MIN_CASES], limits[CONFIDENCE] = options.min_cases, options.confidence
        limits[DEVIATIONS] = deviations(options.confidence)
        for stage in (grow, prune) if options.pruning else (grow,):
            now[BEGUN], answer = 0, UNDER_WAY
            while answer == UNDER_WAY:
                answer = stage(self._memory)
            if answer == NO_ROOM:
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
        tree.label[i] = node[k, CLASS]
        if sum_of(mass[k]) > 0:
            tree.label[i] = heaviest(mass[k])
        tree.feature[i], tree.threshold[i] = -1, np.nan
        tree.child[i], tree.children[i] = -1, 0
        if node[k, CHILD] >= 0:
            f, n = node[k, FEATURE], node[k, CHILDREN]
            tree.feature[i], tree.child[i], tree.children[i] = f, size, n
            if not cells.categorical[f]:
                tree.threshold[i] = node[k, CUT]
            total = 0.0
            for v in range(n):
                old[size + v] = node[k, CHILD] + v
                tree.share[size + v] = sum_of(mass[node[k, CHILD] + v])
                total += tree.share[size + v]
            for v in range(n):
                tree.share[size + v] /= total
            size += n
        i += 1
    tree.start[1] = size
