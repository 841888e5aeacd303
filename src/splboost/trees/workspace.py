"""The memory a tree is grown in, made once per fit and used again by every tree.

It comes in three parts: ``Data`` (the binned table and the classes), ``Limits`` (what
kind of tree) and ``Work`` (everything that changes). Python holds them as tuples;
kernels get the same fields through references (``as_reference``): one pointer for some
twenty arrays, which saves much of the time of a call and of compiling. Nodes are
numbered from the root, 0, and the two children of a node have consecutive numbers.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from splboost._tools.compiling import Reference, inner_kernel, kernel
from splboost._tools.interrupts import Uninterrupted
from splboost.trees.binning import CATEGORICAL, Binned
from splboost.trees.split import LEAST_SQUARES

SMALL_NODE = 256  # rows; such nodes are grown from sorted columns, not histograms
PRESORTED_ROWS = 512  # so are all nodes of tables up to this, which are sorted once
SET_BYTES = 32  # a set of bins, one bit each
UNLIMITED = 1 << 62
MAX_HISTOGRAM_BYTES = 1 << 28  # of all nodes together; the rest does without

# Columns of Work.node
START, END, DEPTH, SLOT, CHILD, FEATURE, BIN, MISSING_LEFT, DIVIDED = range(9)
NONE_MISSING = 2  # in MISSING_LEFT while growing: the node has no missing cell
# Columns of Work.number
GAIN, THRESHOLD = range(2)
# Columns of Work.found
LOW, HIGH, MISSING = range(3)
# How the histogram of a planned node comes about
NOTHING, ROOT_FULL, ROOT_CHANGED, BUILD, SUBTRACT, DIRECT = range(6)
# Cells of Work.plan: for each of two nodes its number, the way, and whether to search
NODE_A, WAY_A, SEARCH_A, NODE_B, WAY_B, SEARCH_B = range(6)
# Cells of Work.progress
N_NODES, N_FRONTIER, N_FREE, N_LEAVES, N_CHANGED, STARTED = range(6)

Data = namedtuple("Data", "codes n_bins kind offset points y")
Limits = namedtuple(
    "Limits",
    "criterion n_classes shift counter max_depth max_leaves min_rows min_share "
    "max_features drawn random_cuts threaded_work",
)
Work = namedtuple(
    "Work",
    "weight moment rows spare row_weight row_moment row_class hist free node number "
    "total bins frontier plan progress scale min_weight gain found left_set seed "
    "presorted",
)
Memory = namedtuple("Memory", "data limits work")


@structref.register
class DataType(types.StructRef):
    """What kernels know of ``Data``."""


@structref.register
class LimitsType(types.StructRef):
    """What kernels know of ``Limits``."""


@structref.register
class WorkType(types.StructRef):
    """What kernels know of ``Work``."""


@structref.register
class MemoryType(types.StructRef):
    """What kernels know of ``Memory``."""


class DataReference(Reference):
    """``Data`` as kernels get it."""


class LimitsReference(Reference):
    """``Limits`` as kernels get them."""


class WorkReference(Reference):
    """``Work`` as kernels get it."""


class MemoryReference(Reference):
    """``Memory`` as kernels get it."""


structref.define_proxy(DataReference, DataType, list(Data._fields))
structref.define_proxy(LimitsReference, LimitsType, list(Limits._fields))
structref.define_proxy(WorkReference, WorkType, list(Work._fields))
structref.define_proxy(MemoryReference, MemoryType, list(Memory._fields))


@kernel
def _refer(memory):
    return MemoryReference(
        DataReference(*memory.data),
        LimitsReference(*memory.limits),
        WorkReference(*memory.work),
    )


def as_reference(memory: Memory) -> Any:
    """Memory as kernels get it; without compilation the tuple will do."""
    if not hasattr(_refer, "py_func"):
        return memory
    with Uninterrupted():
        return _refer(memory)


@inner_kernel
def weight_of(limits, total):
    """Weight of a node, from its sums."""
    if limits.criterion == LEAST_SQUARES:
        return np.float64(total[0])
    weight = 0
    for c in range(limits.n_classes):
        weight += total[c]
    return np.float64(weight)


@inner_kernel
def fill_sides(data, work, node, sides):
    """The side to which each code of the node's feature goes: 0 left, 1 right."""
    f = work.node[node, FEATURE]
    missing = data.n_bins[f]
    if data.kind[f] == CATEGORICAL:
        bits = work.bins[node]
        for code in range(missing):
            sides[code] = 1 - ((bits[code >> 3] >> (code & 7)) & 1)
    else:
        last = work.node[node, BIN]
        for code in range(missing):
            sides[code] = code > last
    sides[missing] = work.node[node, MISSING_LEFT] != 1


@inner_kernel
def gather(data, limits, work, start, end):
    """Copy weights and targets of the rows in start:end beside them."""
    regression = limits.criterion == LEAST_SQUARES
    for i in range(start, end):
        row = work.rows[i]
        work.row_weight[i] = work.weight[row]
        if regression:
            work.row_moment[i] = work.moment[row]
        else:
            work.row_class[i] = data.y[row]


@inner_kernel(fastmath={"reassoc"})
def add_up(values, size):
    """Sum of the first values, several at a time."""
    total = 0.0
    for i in range(size):
        total += values[i]
    return total


@inner_kernel
def is_small(work, node):
    """Whether the subtree below a node is grown without histograms."""
    return work.node[node, END] - work.node[node, START] <= SMALL_NODE


def make_workspace(binned: Binned, y: NDArray[Any], limits: Limits) -> Work:
    """Allocate what trees of this kind over this table need."""
    d, n = binned.codes.shape
    stump = limits.max_depth == 1 and not limits.drawn
    divided = n if not stump or limits.counter >= 0 else 0
    regression = limits.criterion == LEAST_SQUARES
    n_leaves = min(max(n // max(limits.min_rows, 1), 1), limits.max_leaves)
    if limits.max_depth >= 0:
        n_leaves = min(n_leaves, 1 << min(limits.max_depth, 60))
    n_nodes = 2 * n_leaves - 1
    n_cells = int(binned.offset[-1]) << limits.shift
    if limits.max_leaves < UNLIMITED:  # best first: any leaf may still be split
        n_slots = n_leaves + 2
    else:  # depth first, smaller child first
        depth = limits.max_depth if limits.max_depth >= 0 else 64
        n_slots = min(depth, int(np.log2(n + 1))) + 3
    n_slots = max(3, min(n_slots, MAX_HISTOGRAM_BYTES // (8 * n_cells + 1)))
    if limits.max_depth == 1 or limits.drawn:
        n_slots = 1
    return Work(
        weight=np.zeros(n, dtype=np.int64),
        moment=np.zeros(n if regression else 0, dtype=np.int64),
        rows=np.empty(divided, dtype=np.int32),
        spare=np.empty(n, dtype=np.int32),
        row_weight=np.empty(n, dtype=np.int64),
        row_moment=np.empty(divided if regression else 0, dtype=np.int64),
        row_class=np.empty(n, dtype=y.dtype),
        hist=np.zeros((n_slots, n_cells), dtype=np.int64),
        free=np.empty(n_slots - 1, dtype=np.int64),
        node=np.empty((n_nodes, 9), dtype=np.int64),
        number=np.empty((n_nodes, 2)),
        total=np.zeros((n_nodes, 1 << limits.shift), dtype=np.int64),
        bins=np.zeros((n_nodes, SET_BYTES), dtype=np.uint8),
        frontier=np.empty(n_leaves + 1, dtype=np.int64),
        plan=np.empty(6, dtype=np.int64),
        progress=np.zeros(6, dtype=np.int64),
        scale=np.zeros(1),
        min_weight=np.zeros(1),
        gain=np.zeros((2, d)),
        found=np.zeros((2, d, 3), dtype=np.int64),
        left_set=np.zeros((2, d, SET_BYTES), dtype=np.uint8),
        seed=np.ones(1, dtype=np.uint64),
        presorted=_sort_codes(binned, limits),
    )


def _sort_codes(binned: Binned, limits: Limits) -> NDArray[np.uint16]:
    """Rows in the order of each column's codes, where the table is small enough."""
    d, n = binned.codes.shape
    whole = limits.max_depth != 1 and limits.max_leaves == UNLIMITED
    if n > PRESORTED_ROWS or limits.drawn or not whole:
        return np.empty((d, 0), dtype=np.uint16)
    return np.argsort(binned.codes, axis=1, kind="stable").astype(np.uint16)
