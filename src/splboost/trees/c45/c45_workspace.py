"""The memory that C4.5 trees are grown and pruned in, made once per fit.

Kernels import this module as ``at``: ``node[i, at.CHILD]`` is a node's first child.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from splboost._tools.compiling import Reference, kernel
from splboost.trees.c45.gain import STRETCH
from splboost.trees.c45.multiway import Nodes
from splboost.trees.c45.ranks import Cells

# Places of ``Scratch.now``, which says where the making of a tree has got to: whether
# the stage has begun; the node and cases at which it is; the numbers of nodes, of those
# yet to be split, and of the root's cases; whether the lists are still those of the
# table, and cuts have to pay; the depth allowed, and that without paying (0: never) if
# the root cannot; the nodes on the way to that being pruned, and where memory is free
# above their cases; and the cells that this call may still look at
BEGUN, NODE, LOW, HIGH, N_NODES, N_OPEN, SIZE = range(7)
WHOLE, PAYING, MAX_DEPTH, FREE_DEPTH, N_FRAMES, FREE, WORK = range(7, 14)
# Places of ``Scratch.limits``; deviations are those of the confidence, see prune
MIN_CASES, CONFIDENCE, DEVIATIONS = range(3)
# Columns of the nodes' integers
FEATURE, CUT, CHILD, CHILDREN, PARENT, DEPTH, CLASS = range(7)
NO_CHILD = -1
TAKE = -1  # the unknown, of a branch that is yet to be taken from the node above
UNDER_WAY, NO_ROOM, DONE = range(3)  # what calls answer; memory may be too small
CELLS = 2_000_000  # looked at by one call, some 20 ms

# Memory for growing and pruning
#
# y, weight : (n_rows,) classes, and weights
# limits, now : what sort of tree to make, and where that has got to; see above
# lists : the cases of nodes, in the shape of ``ascending``, or with more room
# case_weight : the cases' weights, in the order of the first list
# node, mass : (most, 7) integers of the tree's nodes, and their class weights
# stack, shares : (most, 5) nodes yet to be split, their cases, and those of unknown
#     value; and the share that they have of these
# frame, bounds, errors : nodes on the way to the one that is pruned, where the cases
#     of their branches start, and their expected errors
# pull : (n_rows,) weight of each case; with two classes negative for the first
# branch : (n_rows,) branch that each case goes to
# of_branch, start, part : class weights of each branch, where its cases start, and
#     its share of the known weight
# below, valid, bound, top : the places of an attribute, and of stretches; see gain
# of_rank, total : class weights of each rank, and of all of them
# of_classes : (3, n_classes) for ``best_cut``
# gain, cost, info, ends, in_average, tested : (n_features,) what a split by each
#     attribute is worth, the ranks around its best cut, whether the average counts
#     it, and whether it was tested above
# spare : (n_rows,) for entries on the move, and for the ranks that a node meets
Scratch = namedtuple(
    "Scratch",
    "y weight limits now lists case_weight node mass stack shares frame bounds "
    "errors pull branch of_branch start part below valid bound top of_rank total "
    "of_classes gain cost info ends in_average tested spare",
)


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
    """One pointer to a ``Memory``."""


structref.define_proxy(MemoryReference, MemoryType, list(Memory._fields))


@kernel
def refer(memory):
    """``Memory`` as kernels get it."""
    return MemoryReference(*memory)
