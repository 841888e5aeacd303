"""The memory a tree is grown in, made once per fit and used again by every tree.

Kernels get it as one reference (see ``grower``): a single pointer for some forty values
saves much of the time of a call and of compiling. Nodes are numbered from the root, 0,
and the two children of a node have consecutive numbers. Kernels import this module as
``at``: ``work.node[k, at.START]`` is where the rows of node k start.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

GINI, ENTROPY, LEAST_SQUARES = 0, 1, 2
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
# hist, free       histograms (see split.py), and the slots that are free
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
