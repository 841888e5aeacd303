"""Columns of few values: the weights of each value counted, then cuts between them."""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import lean_kernel
from splboost.trees.c45.gain import (
    STRETCH,
    UNUSABLE,
    bound_cuts,
    may_gain,
    rate_cuts,
    summarise,
)
from splboost.trees.c45.memory import TURNS
from splboost.trees.c45.ranks import GAP

MANY = 8  # rows of a rank


@lean_kernel(inner=True)
def count_ranks(cells, f, y, rows, scratch):
    """Class weights of each rank; returns the weight of unknown values.

    Rows of the same rank have to wait for each other's sums. Where there are many, they
    take turns at several sums, which are then added up.
    """
    pull, of_rank, rank = scratch.pull, scratch.of_rank, cells.rank[f]
    n_classes = scratch.total.size
    n_values = cells.offset[f + 1] - cells.offset[f]
    turns = TURNS if rows.size > MANY * n_values else 1
    of_rank[: turns * n_classes, :n_values] = 0
    last, step = np.uint64(turns - 1), np.uint64(n_classes)  # unsigned: see divide
    unknown = 0.0
    for i in range(rows.size):
        row = np.uint64(rows[i])
        r = rank[row]
        weight = abs(pull[row])
        if r < 0:
            unknown += weight
        else:
            turn = np.uint64(i) & last
            of_rank[turn * step + np.uint64(y[row]), np.uint64(r)] += weight
    for c in range(n_classes):
        for turn in range(1, turns):
            for r in range(n_values):
                of_rank[c, r] += of_rank[turn * n_classes + c, r]
    return unknown


@lean_kernel(inner=True)
def rate_counted(cells, f, min_cases, only_paying, scratch, unknown):
    """Gain, cost and split info of the best cut of counted ranks, and its ranks."""
    below, total, met = scratch.below, scratch.total, scratch.spare
    values = cells.values[cells.offset[f] : cells.offset[f + 1]]
    n_met = pack_ranks(scratch.of_rank, values.size, below, met)
    if n_met < 2:
        return UNUSABLE, 0.0, 0.0, -1, -1
    for c in range(total.size):
        total[c] = below[c, n_met - 1]
    of_node = summarise(total, min_cases)
    if not may_gain(total, of_node[0], min_cases):
        return UNUSABLE, 0.0, 0.0, -1, -1
    valid = scratch.valid[:n_met]
    for i in range(n_met - 1):
        valid[i] = values[met[i]] < values[met[i + 1]] - GAP
    valid[n_met - 1] = False
    bound = scratch.bound[:n_met]
    top = scratch.top[: (n_met + STRETCH - 1) // STRETCH]
    n_tried = 0
    if total.size == 2:
        a, b = below[0][:n_met], below[1][:n_met]
        n_tried = bound_cuts(a, b, valid, of_node, total, min_cases, bound, top)
    gain, cost, info, place = rate_cuts(
        below,
        valid,
        total,
        of_node,
        unknown,
        min_cases,
        only_paying,
        (bound, top),
        n_tried,
        scratch.of_classes,
    )
    if place < 0:
        return gain, cost, info, -1, -1
    return gain, cost, info, met[place], met[place + 1]


@lean_kernel(inner=True)
def pack_ranks(of_rank, n_values, below, met):
    """Class weights up to each rank that has any, and these ranks; their number."""
    n_met = 0
    if below.shape[0] == 2:
        of_first = of_second = 0.0
        for r in range(n_values):
            a, b = of_rank[0, r], of_rank[1, r]
            of_first += a
            of_second += b
            below[0, n_met], below[1, n_met], met[n_met] = of_first, of_second, r
            n_met += a + b > 0  # kept if it has any: no branch to mispredict
        return n_met
    for r in range(n_values):
        some = False
        for c in range(below.shape[0]):
            below[c, n_met] = of_rank[c, r] + (below[c, n_met - 1] if n_met else 0.0)
            some |= of_rank[c, r] > 0
        met[n_met] = r
        n_met += some
    return n_met
