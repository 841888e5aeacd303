"""The memory a tree is grown in, made once per fit and used again by every tree.

Python holds it as a named tuple, ``Work``; kernels get the same fields through a
reference (``as_reference``): one pointer for some forty values, which saves much of the
time of a call and of compiling. Nodes are numbered from the root, 0, and the two
children of a node have consecutive numbers.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from splboost._tools import threads
from splboost._tools.compiling import Reference, inner_kernel, kernel
from splboost._tools.interrupts import Uninterrupted
from splboost.trees.binning import CATEGORICAL, Binned

GINI, ENTROPY, LEAST_SQUARES = 0, 1, 2
CRITERIA = {"gini": GINI, "entropy": ENTROPY, "squared_error": LEAST_SQUARES}
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
# Columns of Work.plan, which has a row for each of the two nodes to be searched next
NODE, WAY, WANTED = range(3)
# How the histogram of a planned node comes about
NOTHING, ROOT_FULL, ROOT_CHANGED, BUILD, SUBTRACT = range(5)
# Cells of Work.progress
N_NODES, N_FRONTIER, N_FREE, N_LEAVES, N_CHANGED, STARTED = range(6)
# As arguments of kernels: numba would compile them once more for a literal 0.
ROOT, FIRST_SIDE = np.int64(0), np.int64(0)
# Slots of Work.hist: the root's, then one for each planned node that cannot keep one
ROOT_SLOT, SCRATCH_SLOT, FIRST_FREE_SLOT = 0, 1, 3

# The binned table and the classes; what kind of tree; then all that changes:
# weight, moment   of every row, in fixed point
# rows             of the nodes, each from START to END; beside them row_weight,
#                  row_moment and row_class; spare is for dividing them
# hist, free       histograms (see search.py), and the slots that are free
# node, number     see the columns above; total: sums of the node; bins: sets of bins
# frontier         nodes that wait to be split
# gain, found, left_set   what the search found, by planned node and feature
Work = namedtuple(
    "Work",
    "codes n_bins kind offset points y "
    "criterion n_classes shift counter max_depth max_leaves min_rows min_share "
    "max_features random_cuts threaded_work "
    "weight moment rows spare row_weight row_moment row_class hist free node number "
    "total bins frontier plan progress scale min_weight gain found left_set seed",
)


@structref.register
class WorkType(types.StructRef):
    """What kernels know of ``Work``."""


class WorkReference(Reference):
    """``Work`` as kernels get it."""


structref.define_proxy(WorkReference, WorkType, list(Work._fields))


@kernel
def _refer(work):
    return WorkReference(*work)


def as_reference(work: Work) -> Any:
    """Memory as kernels get it; without compilation the tuple will do."""
    if not hasattr(_refer, "py_func"):
        return work
    with Uninterrupted():
        return _refer(work)


@dataclass(frozen=True)
class TreeOptions:
    """What kind of tree: the constructor arguments of the tree estimators, resolved."""

    criterion: str = "gini"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: int | None = None
    random_cuts: bool = False

    def draws(self, n_features: int) -> bool:
        """Whether nodes look at features, or cuts, that are drawn at random."""
        return self.random_cuts or (self.max_features or n_features) < n_features


def make_work(
    binned: Binned,
    y: NDArray[Any],
    n_classes: int,
    options: TreeOptions,
    n_threads: int,
) -> Work:
    """Allocate what trees of this kind over this table need."""
    d, n = binned.codes.shape
    regression, drawn = n_classes == 0, options.draws(d)
    slots = n_classes or 2
    counting = options.min_samples_leaf > 1
    shift = int(np.ceil(np.log2(slots + counting)))
    max_depth = -1 if options.max_depth is None else int(min(options.max_depth, n))
    max_leaves = int(options.max_leaf_nodes or UNLIMITED)
    stump = max_depth == 1 and not drawn
    divided = n if not stump or counting else 0
    n_leaves = min(max(n // options.min_samples_leaf, 1), max_leaves)
    if max_depth >= 0:
        n_leaves = min(n_leaves, 1 << min(max_depth, 60))
    n_nodes = 2 * n_leaves - 1
    n_cells = int(binned.offset[-1]) << shift
    n_slots = count_slots(n, n_leaves, max_depth, max_leaves, 8 * n_cells + 1)
    if max_depth == 1 or drawn:
        n_slots = 1
    return Work(
        codes=binned.codes,
        n_bins=binned.n_bins,
        kind=binned.kind,
        offset=binned.offset,
        points=binned.points,
        y=y,
        criterion=CRITERIA[options.criterion],
        n_classes=slots,
        shift=shift,
        counter=slots if counting else -1,
        max_depth=max_depth,
        max_leaves=max_leaves,
        min_rows=int(options.min_samples_leaf),
        min_share=float(options.min_weight_fraction_leaf),
        max_features=int(min(options.max_features or d, d)),
        random_cuts=options.random_cuts,
        threaded_work=threads.THREADED_WORK if n_threads > 1 else UNLIMITED,
        weight=np.zeros(n, dtype=np.int64),
        moment=np.zeros(n if regression else 0, dtype=np.int64),
        rows=np.empty(divided, dtype=np.int32),
        spare=np.empty(n, dtype=np.int32),
        row_weight=np.empty(n, dtype=np.int64),
        row_moment=np.empty(divided if regression else 0, dtype=np.int64),
        row_class=np.empty(n, dtype=y.dtype),
        hist=np.zeros((n_slots, n_cells), dtype=np.int64),
        free=np.empty(max(n_slots - FIRST_FREE_SLOT, 0), dtype=np.int64),
        node=np.empty((n_nodes, 9), dtype=np.int64),
        number=np.empty((n_nodes, 2)),
        total=np.zeros((n_nodes, 1 << shift), dtype=np.int64),
        bins=np.zeros((n_nodes, SET_BYTES), dtype=np.uint8),
        frontier=np.empty(n_leaves + 1, dtype=np.int64),
        plan=np.empty((2, 3), dtype=np.int64),
        progress=np.zeros(6, dtype=np.int64),
        scale=np.zeros(1),
        min_weight=np.zeros(1),
        gain=np.zeros((2, d)),
        found=np.zeros((2, d, 3), dtype=np.int64),
        left_set=np.zeros((2, d, SET_BYTES), dtype=np.uint8),
        seed=np.ones(1, dtype=np.uint64),
    )


def count_slots(
    n_rows: int, n_leaves: int, max_depth: int, max_leaves: int, bytes_per_slot: int
) -> int:
    """Histograms that are kept at a time, as memory allows."""
    if max_leaves < UNLIMITED:  # best first: any leaf may still be split
        n_slots = n_leaves + 2
    else:  # depth first, smaller child first
        depth = max_depth if max_depth >= 0 else 64
        n_slots = min(depth, int(np.log2(n_rows + 1))) + 3
    most = MAX_HISTOGRAM_BYTES // bytes_per_slot
    return max(FIRST_FREE_SLOT, min(n_slots + 2, most))


@inner_kernel
def weight_of(work, node):
    """Weight of a node, from its sums."""
    total = work.total[node]
    if work.criterion == LEAST_SQUARES:
        return np.float64(total[0])
    weight = 0
    for c in range(work.n_classes):
        weight += total[c]
    return np.float64(weight)


@inner_kernel
def fill_sides(work, node, sides):
    """The side to which each code of the node's feature goes: 0 left, 1 right."""
    f = work.node[node, FEATURE]
    missing = work.n_bins[f]
    if work.kind[f] == CATEGORICAL:
        bits = work.bins[node]
        for code in range(missing):
            sides[code] = 1 - ((bits[code >> 3] >> (code & 7)) & 1)
    else:
        last = work.node[node, BIN]
        for code in range(missing):
            sides[code] = code > last
    sides[missing] = work.node[node, MISSING_LEFT] != 1


@inner_kernel
def gather(work, node):
    """Copy weights and targets of the node's rows beside them."""
    regression = work.criterion == LEAST_SQUARES
    for i in range(work.node[node, START], work.node[node, END]):
        row = work.rows[i]
        work.row_weight[i] = work.weight[row]
        if regression:
            work.row_moment[i] = work.moment[row]
        else:
            work.row_class[i] = work.y[row]
