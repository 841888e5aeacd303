"""The test that a node makes: every attribute laid out and rated, the best chosen."""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import lean_kernel
from splboost.trees.c45 import c45_workspace as at
from splboost.trees.c45.gain import (
    EPSILON,
    NO_GAIN,
    STRETCH,
    UNUSABLE,
    bound_cuts,
    rate_categories,
    rate_cuts,
    sum_of,
    summarise,
)
from splboost.trees.c45.ranks import GAP, ROW, ROW_BITS, mark_valid
from splboost.trees.split import TIE, TIE_FLOOR

BLOCK = 16 * STRETCH  # places that are laid out and bounded at a time


@lean_kernel(inner=True, forceinline=True)
def rate_attributes(cells, scratch):
    """Rate splits of the node by each attribute."""
    now, min_cases = scratch.now, scratch.limits[at.MIN_CASES]
    low, high, total = now[at.LOW], now[at.HIGH], scratch.mass[now[at.NODE]]
    paying = now[at.PAYING] and not (now[at.NODE] == 0 and now[at.FREE_DEPTH] > 0)
    node = summarise(total, min_cases, paying)
    lists = cells.ascending if now[at.WHOLE] else scratch.lists
    gain, cost, info, ends = scratch.gain, scratch.cost, scratch.info, scratch.ends
    now[at.WORK] -= gain.size * (high - low)
    for f in range(gain.size):
        gain[f], cost[f] = UNUSABLE, 0.0
        k, offset = cells.which_list[f], cells.offset[f]
        entries, valid, size = lists[max(k, 0)][low:high], scratch.valid, 0
        known, unknown, n_tried = node[0], 0.0, 0
        if k >= 0:
            if entries.size == cells.rank.shape[1]:  # known once for all
                valid = cells.valid[k]
            size, unknown, n_tried, known = lay_out_sorted(
                cells, scratch, f, entries, total, node
            )
        elif not (cells.categorical[f] and scratch.tested[f]):
            unknown = count_ranks(cells, scratch, f, entries)
            if cells.categorical[f]:
                of_rank = scratch.of_rank[:, : cells.offset[f + 1] - offset]
                for c in range(total.size):
                    scratch.total[c] = sum_of(of_rank[c])
                gain[f], info[f] = rate_categories(
                    of_rank, scratch.total, unknown, min_cases
                )
            else:
                size, n_tried, known = lay_out_counted(cells, scratch, f, node)
        if size > 0:
            gain[f], cost[f], info[f], place = rate_cuts(
                scratch, valid[:size], scratch.total, known, unknown, n_tried
            )
            for side in range(2):
                if k >= 0:
                    ends[f, side] = entries[place + side] >> ROW_BITS
                else:
                    ends[f, side] = scratch.spare[place + side]


@lean_kernel(inner=True, forceinline=True)
def lay_out_sorted(cells, scratch, f, entries, total, node):
    """Lay out a sorted column; its places, unknown weight, cuts tried, and summary.

    Places are laid out and bounded a block at a time, while they are in the cache; but
    all at once where some values are unknown, as the sums of the others come first.
    There are none if no cut may gain.
    """
    (known, may_gain), min_cases = node, scratch.limits[at.MIN_CASES]
    values = cells.values[cells.offset[f] : cells.offset[f + 1]]
    below, bound, top = scratch.below, scratch.bound, scratch.top
    size, unknown, n_tried = entries.size, 0.0, 0
    while size > 0 and entries[size - 1] >> ROW_BITS == values.size:
        size -= 1
        unknown += abs(scratch.pull[entries[size] & ROW])
    all_known = size == entries.size
    if size < 2 or (all_known and not may_gain):
        return 0, unknown, n_tried, known
    for c in range(total.size):
        scratch.total[c] = total[c]
    whole = entries.size == cells.rank.shape[1]
    valid = cells.valid[cells.which_list[f]] if whole else scratch.valid
    of_first = of_second = 0.0
    block = BLOCK if all_known else size
    for low in range(0, size, block):
        high = min(low + block, size)
        if not whole:
            following = entries[low : min(high + 1, size)]
            mark_valid(values, cells.crowded[f], following, valid[low:high])
        a, b = below[0][low:high], below[1][low:high]
        if total.size > 2:
            add_up(scratch, entries, low, high)
        else:
            of_first, of_second = add_up_two(
                scratch.pull, entries[low:high], of_first, of_second, a, b
            )
        if not all_known:
            for c in range(total.size):
                scratch.total[c] = below[c, size - 1]
            known, may_gain = summarise(scratch.total, min_cases, known.only_paying)
            if not may_gain:
                return 0, unknown, n_tried, known
        if total.size == 2:
            tops = top[low // STRETCH : (high + STRETCH - 1) // STRETCH]
            n_tried += bound_cuts(a, b, valid[low:high], known, bound[low:high], tops)
    return size, unknown, n_tried, known


@lean_kernel(inner=True)
def add_up(scratch, entries, low, high):
    """Class weights up to each entry, which go on from those before."""
    below = scratch.below
    for i in range(low, high):
        for c in range(below.shape[0]):
            below[c, i] = below[c, i - 1] if i > 0 else 0.0
        row = entries[i] & ROW
        below[scratch.y[row], i] += scratch.pull[row]


@lean_kernel(inner=True, forceinline=True)
def add_up_two(pull, entries, of_first, of_second, a, b):
    """The same for two classes, which go on from given sums; the last of them."""
    for i in range(entries.size):
        p = pull[entries[i] & ROW]
        of_first -= min(p, 0.0)
        of_second += max(p, 0.0)
        a[i], b[i] = of_first, of_second
    return of_first, of_second


@lean_kernel(inner=True, forceinline=True)
def count_ranks(cells, scratch, f, rows):
    """Class weights of each rank; returns the weight of unknown values."""
    y, pull = scratch.y, scratch.pull
    of_rank, rank = scratch.of_rank, cells.rank[f]
    for c in range(of_rank.shape[0]):
        for r in range(cells.offset[f + 1] - cells.offset[f]):
            of_rank[c, r] = 0.0
    unknown = 0.0
    for i in range(rows.size):
        row = np.uint64(rows[i])  # unsigned: see keep
        r = rank[row]
        if r < 0:
            unknown += abs(pull[row])
        else:
            of_rank[np.uint64(y[row]), np.uint64(r)] += abs(pull[row])
    return unknown


@lean_kernel(inner=True, forceinline=True)
def lay_out_counted(cells, scratch, f, node):
    """Lay out the ranks that were counted; their number, cuts tried, and summary."""
    total, met = scratch.total, scratch.spare
    values = cells.values[cells.offset[f] : cells.offset[f + 1]]
    size, n_tried = pack_ranks(scratch.of_rank, values.size, scratch.below, met), 0
    for c in range(total.size):
        total[c] = scratch.below[c, size - 1] if size > 0 else 0.0
    known, may_gain = summarise(
        total, scratch.limits[at.MIN_CASES], node[0].only_paying
    )
    if size < 2 or not may_gain:
        return 0, n_tried, known
    valid = scratch.valid[:size]
    for i in range(size - 1):
        valid[i] = values[met[i]] < values[met[i + 1]] - GAP
    valid[size - 1] = False
    if total.size == 2:
        a, b = scratch.below[0][:size], scratch.below[1][:size]
        bound, top = scratch.bound, scratch.top[: (size + STRETCH - 1) // STRETCH]
        n_tried = bound_cuts(a, b, valid, known, bound[:size], top)
    return size, n_tried, known


@lean_kernel(inner=True, forceinline=True)
def pack_ranks(of_rank, n_values, below, met):
    """Class weights up to each rank that has any, and these ranks; their number."""
    n_met = 0
    if below.shape[0] == 2:  # a fifth faster for small nodes
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


@lean_kernel(inner=True, forceinline=True)
def choose_attribute(cells, scratch, mdl, freely):
    """The attribute to split by, -1 for none; and whether it has paid.

    With ``freely``, one that cannot pay its cost may do, if all cannot.
    """
    if not mdl:
        scratch.cost[:] = 0
    chosen = best_ratio(cells, scratch)
    if chosen >= 0 or not freely:
        return chosen, True
    scratch.cost[:] = 0
    chosen = best_ratio(cells, scratch)
    return chosen, chosen < 0


@lean_kernel(inner=True)
def best_ratio(cells, scratch):
    """The attribute of the largest gain per split info, after paying; -1 for none.

    A numeric one must gain something, a categorical one need only lose nothing; and
    the gain must not be below the average.
    """
    gain, cost, info = scratch.gain, scratch.cost, scratch.info
    average, n_averaged = 0.0, 0
    for f in range(gain.size):
        if scratch.in_average[f] and is_usable(cells, f, gain[f] - cost[f]):
            average += gain[f] - cost[f]
            n_averaged += 1
    best, chosen = -EPSILON, -1
    for f in range(gain.size):
        net = gain[f] - cost[f]
        if n_averaged == 0 or info[f] <= EPSILON or not is_usable(cells, f, net):
            continue
        ratio = net / info[f]
        tie = TIE * max(abs(ratio), abs(best)) + TIE_FLOOR
        if net >= average / n_averaged - EPSILON and ratio > best + tie:
            best, chosen = ratio, f
    return chosen


@lean_kernel(inner=True)
def is_usable(cells, f, gain):
    return gain > (-EPSILON if cells.categorical[f] else NO_GAIN)


@lean_kernel(inner=True)
def place_cut(cells, scratch, f):
    """Rank of the largest value in the data that is not above the middle of two.

    The data are all rows with a weight, also those of other nodes.
    """
    values, rank = cells.values[cells.offset[f] : cells.offset[f + 1]], cells.rank[f]
    ends, weight = scratch.ends[f], scratch.weight
    middle = values[ends[0]] / 2 + values[ends[1]] / 2
    highest = ends[1] - 1
    while highest > ends[0] and values[highest] > middle:
        highest -= 1
    cut = ends[0]
    if highest > cut:
        for row in range(weight.size):
            r = np.int64(rank[row])
            if r > cut and r <= highest and weight[row] > 0:
                cut = r
    return cut
