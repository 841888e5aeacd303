"""What kernels of C4.5 work on: the ranked table, and memory that trees use again.

Both are tuples. A kernel that Python calls gets them by a single reference, since every
array that Python hands over costs something; from there on they are handed on as they
are, which costs lean kernels nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from splboost._tools.compiling import Reference, kernel
from splboost._tools.interrupts import Uninterrupted
from splboost.trees.c45.gain import STRETCH

BLOCK = 16 * STRETCH  # places that are laid out and bounded at a time
TURNS = 4  # sums for each rank and class, a power of two

# Columns of the nodes' integers
FEATURE, CUT, CHILD, CHILDREN, PARENT, DEPTH, CLASS = range(7)
NO_CHILD = -1


class Cells(NamedTuple):
    """A table as C4.5 sees it.

    Attributes
    ----------
    rank : (n_features, n_rows) place of each cell among its column's values, MISSING
        if it has none
    offset : (n_features + 1,) where a column's values start
    values : flat floats from ``offset``: the distinct values; ranks for categories
    categorical : (n_features,) booleans
    crowded : (n_features,) whether some neighbouring values are closer than GAP
    which_list : (n_features,) row of ``ascending``, -1 for a counted column
    ascending : (n_lists + 1, n_rows) rows; and sorted (rank, row) pairs in one number
        for each sorted column, missing last
    valid : of the same shape, whether a cut may fall behind each of these
    any_missing : whether any cell is missing
    """

    rank: NDArray[np.int32]
    offset: NDArray[np.int64]
    values: NDArray[np.float64]
    categorical: NDArray[np.bool_]
    crowded: NDArray[np.bool_]
    which_list: NDArray[np.int64]
    ascending: NDArray[np.int64]
    valid: NDArray[np.bool_]
    any_missing: bool


class Scratch(NamedTuple):
    """Memory for growing and pruning.

    Attributes
    ----------
    lists : the cases of nodes, in the shape of ``ascending``, or with more room; see
        divide
    case_weight : the cases' weights, in the order of the first list
    counts : (n_rows,) whether a row is among those being copied
    pull : (n_rows,) weight of each case; with two classes negative for the first
    branch : (n_rows,) branch that each case goes to
    below, valid, bound, top : the places of an attribute, and of stretches; see gain
    of_rank, total : class weights of each rank, and of all of them; those of ranks are
        (TURNS * n_classes, most), of which the first n_classes have the result
    of_classes : (3, n_classes) for ``best_cut``
    gain, cost, info, ends, in_average, tested : (n_features,) what a split by each
        attribute is worth, the ranks around its best cut, whether the average counts
        it, and whether it was tested above
    spare : (n_rows,) for entries on the move, and for the ranks that a node meets
    votes : (n_rows,) class that the tree predicts
    links, numbers, class_weights : the tree's ``Nodes``: (4, most) feature, child,
        children and label, (2, most) threshold and share, (most, n_classes) value
    """

    lists: NDArray[np.int64]
    case_weight: NDArray[np.float64]
    counts: NDArray[np.bool_]
    pull: NDArray[np.float64]
    branch: NDArray[np.int32]
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
    votes: NDArray[np.int32]
    links: NDArray[np.int64]
    numbers: NDArray[np.float64]
    class_weights: NDArray[np.float64]


def make_scratch(cells: Cells, n_classes: int, most_nodes: int) -> Scratch:
    """Scratch for trees of up to so many nodes over tables of such cells."""
    n_values = np.diff(cells.offset)
    n_features, n_rows = cells.rank.shape
    most_counted = int(n_values[cells.which_list < 0].max(initial=1))
    most_places = max(n_rows, most_counted)
    most_cases = 2 * n_rows if cells.any_missing else n_rows  # more on demand
    return Scratch(
        lists=np.empty((cells.ascending.shape[0], most_cases), dtype=np.int64),
        case_weight=np.empty(most_cases),
        counts=np.empty(n_rows, dtype=np.bool_),
        pull=np.empty(n_rows),
        branch=np.empty(n_rows, dtype=np.int32),
        below=np.empty((n_classes, most_places)),
        valid=np.empty(most_places, dtype=np.bool_),
        bound=np.empty(most_places),
        top=np.empty(most_places // STRETCH + 1),
        of_rank=np.empty((TURNS * n_classes, most_counted)),
        total=np.empty(n_classes),
        of_classes=np.empty((3, n_classes)),
        gain=np.empty(n_features),
        cost=np.empty(n_features),
        info=np.empty(n_features),
        ends=np.empty((n_features, 2), dtype=np.int64),
        in_average=np.empty(n_features, dtype=np.bool_),
        tested=np.empty(n_features, dtype=np.bool_),
        spare=np.empty(n_rows, dtype=np.int64),
        votes=np.empty(n_rows, dtype=np.int32),
        links=np.empty((4, most_nodes), dtype=np.int64),
        numbers=np.empty((2, most_nodes)),
        class_weights=np.empty((most_nodes, n_classes)),
    )


class Memory(NamedTuple):
    """All of it."""

    cells: Cells
    scratch: Scratch


@structref.register
class MemoryType(types.StructRef):
    """What kernels know of ``Memory``."""


class MemoryReference(Reference):
    """``Memory`` as kernels get it."""


structref.define_proxy(MemoryReference, MemoryType, list(Memory._fields))


@kernel
def _refer(cells, scratch):
    return MemoryReference(cells, scratch)


def as_reference(memory: Memory) -> Any:
    """Memory as kernels get it; without compilation the tuple will do."""
    if not hasattr(_refer, "py_func"):
        return memory
    with Uninterrupted():
        return _refer(*memory)
