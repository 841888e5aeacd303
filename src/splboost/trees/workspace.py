"""What kind of tree to grow, and the memory that it is grown in.

The memory is made once per fit and used again by every tree. Kernels get it as one
reference: a single pointer for some forty values saves much of the time of a call and
of compiling. Nodes are numbered from the root, 0, and the two children of a node have
consecutive numbers. Kernels import this module as ``at``: ``work.node[k, at.START]`` is
where the rows of node k start.
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
from splboost._tools.compiling import Reference, kernel
from splboost.trees.binning import Binned

GINI, ENTROPY, LEAST_SQUARES = 0, 1, 2
# Number of the criterion, and how many times the least squares of two classes it is
CRITERIA = {"gini": (GINI, 2.0), "entropy": (ENTROPY, 1.0)}
MAX_HISTOGRAM_BYTES = 1 << 28  # of all nodes together; the rest does without
SET_BYTES = 32  # a set of bins, one bit each
UNLIMITED = 1 << 62

# Columns of Work.node
START, END, DEPTH, SLOT, CHILD, FEATURE, BIN, MISSING_LEFT, DIVIDED = range(9)
NONE_MISSING = 2  # in MISSING_LEFT while growing: the node has no missing cell
# Columns of Work.number
GAIN, THRESHOLD, WEIGHT = range(3)
# Columns of Work.found
LOW, HIGH, MISSING = range(3)
# Columns of Work.plan, which has a row for each of the two nodes to be searched next
NODE, WAY, WANTED = range(3)
# How the histogram of a planned node comes about
NOTHING, ROOT_FULL, ROOT_CHANGED, BUILD, SUBTRACT = range(5)
# Cells of Work.progress
N_NODES, N_FRONTIER, N_FREE, N_LEAVES, N_CHANGED, N_PLANNED, STARTED = range(7)
# As arguments of kernels: numba would compile them once more for a literal 0.
ROOT, FIRST_SIDE = np.int64(0), np.int64(0)
# Slots of Work.hist: the root's, then one for each planned node that cannot keep one
ROOT_SLOT, SCRATCH_SLOT, FIRST_FREE_SLOT = 0, 1, 3

# The binned table and the classes; what kind of tree; then all that changes:
# weight, moment   of every row, in fixed point
# rows             of the nodes, each from START to END; beside them row_weight,
#                  row_moment and row_class; spare is for dividing them
# hist, free       histograms (see histogram.py), and the slots that are free
# node, number     see the columns above; total: sums of the node; bins: sets of bins
# frontier         nodes that wait to be split
# gain, found, left_set   what the search found, by planned node and feature
# sides            of the codes of a feature, see fill_sides; numbers: 0, 1, ...
Work = namedtuple(
    "Work",
    "codes n_bins kind offset points y "
    "criterion factor n_classes shift counter max_depth max_leaves min_rows min_share "
    "max_features random_cuts threaded_work "
    "weight moment rows spare row_weight row_moment row_class hist free node number "
    "total bins frontier plan progress scale min_weight gain found left_set sides "
    "numbers seed",
)


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

    def resolve(self, d: int, n_rows: int, n_classes: int) -> dict[str, Any]:
        """The same as kernels have it, for a table of d features."""
        n_slots, counting = n_classes or 2, self.min_samples_leaf > 1
        criterion, factor = CRITERIA.get(self.criterion, (LEAST_SQUARES, 1.0))
        return {
            "criterion": criterion,
            "factor": factor,
            "n_classes": n_slots,
            "shift": int(np.ceil(np.log2(n_slots + counting))),
            "counter": n_slots if counting else -1,
            "max_depth": int(min(self.max_depth or n_rows, n_rows)),
            "max_leaves": int(self.max_leaf_nodes or UNLIMITED),
            "min_rows": int(self.min_samples_leaf),
            "min_share": float(self.min_weight_fraction_leaf),
            "max_features": int(min(self.max_features or d, d)),
            "random_cuts": self.random_cuts,
        }


def make_work(
    binned: Binned,
    y: NDArray[Any],
    n_classes: int,
    options: TreeOptions,
    n_threads: int,
) -> Work:
    """Allocate what trees of this kind over this table need."""
    d, n = binned.codes.shape
    kind = options.resolve(d, n, n_classes)
    shift, depth, regression = kind["shift"], kind["max_depth"], n_classes == 0
    drawn = options.random_cuts or kind["max_features"] < d
    stump = options.max_depth == 1
    n_leaves = min(max(n // kind["min_rows"], 1), 1 << min(depth, 60))
    n_alive = min(depth, int(np.log2(n + 1))) + 5  # the smaller child first
    if options.max_leaf_nodes:  # best first: any leaf may still be split
        n_leaves = min(n_leaves, options.max_leaf_nodes)
        n_alive = n_leaves + 4
    n_cells = int(binned.offset[-1]) << shift
    n_slots = min(n_alive, MAX_HISTOGRAM_BYTES // (8 * n_cells + 1))
    n_slots = 1 if stump or drawn else max(FIRST_FREE_SLOT, n_slots)
    divided = n if not stump or drawn or kind["counter"] >= 0 else 0
    n_nodes = 2 * n_leaves - 1
    return Work(
        codes=binned.codes,
        n_bins=binned.n_bins,
        kind=binned.kind,
        offset=binned.offset,
        points=binned.points,
        y=y,
        **kind,
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
        number=np.empty((n_nodes, 3)),
        total=np.zeros((n_nodes, 1 << shift), dtype=np.int64),
        bins=np.zeros((n_nodes, SET_BYTES), dtype=np.uint8),
        frontier=np.empty(n_leaves + 1, dtype=np.int64),
        plan=np.empty((2, 3), dtype=np.int64),
        progress=np.zeros(7, dtype=np.int64),
        scale=np.zeros(1),
        min_weight=np.zeros(1),
        gain=np.zeros((2, d)),
        found=np.zeros((2, d, 3), dtype=np.int64),
        left_set=np.zeros((2, d, SET_BYTES), dtype=np.uint8),
        sides=np.empty(256, dtype=np.uint8),
        numbers=np.arange(257),
        seed=np.ones(1, dtype=np.uint64),
    )


@structref.register
class WorkType(types.StructRef):
    """What kernels know of ``Work``."""


class WorkReference(Reference):
    """One pointer to a ``Work``."""


structref.define_proxy(WorkReference, WorkType, list(Work._fields))


@kernel
def refer(work):
    """``Work`` as kernels get it."""
    return WorkReference(*work)
