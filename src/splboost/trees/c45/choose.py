"""The test that a node makes: every attribute laid out, rated, and the best chosen."""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import lean_kernel
from splboost.trees.c45.counted import count_ranks, rate_counted
from splboost.trees.c45.gain import (
    EPSILON,
    NO_GAIN,
    STRETCH,
    UNUSABLE,
    bound_cuts,
    may_gain,
    rate_categories,
    rate_cuts,
    reaches,
    sum_of,
    summarise,
)
from splboost.trees.c45.memory import BLOCK, FEATURE, PARENT
from splboost.trees.c45.ranks import ROW, ROW_BITS, mark_valid
from splboost.trees.split import TIE, TIE_FLOOR


@lean_kernel(inner=True)
def choose_split(
    cells,
    y,
    weight,
    node,
    mass,
    parent,
    min_cases,
    mdl,
    freely,
    scratch,
    lists,
    low,
    high,
    too_many,
):
    """Feature to split a node by, the rank of its cut, and whether it has paid.

    The feature is -1 if there is none. With ``freely``, one that cannot pay its cost
    may do, if all cannot.
    """
    n_averaged = rate_attributes(
        cells,
        y,
        node,
        mass[parent],
        parent,
        min_cases,
        mdl and not freely,
        scratch,
        lists,
        low,
        high,
        too_many,
    )
    gain, cost, info = scratch.gain, scratch.cost, scratch.info
    in_average = scratch.in_average
    if n_averaged == 0:
        in_average[:] = True
    chosen, paid = -1, True
    if mdl:
        chosen = best_ratio(cells, gain, cost, info, in_average)
    if chosen < 0 and (freely or not mdl):
        paid = not mdl
        cost[:] = 0
        chosen = best_ratio(cells, gain, cost, info, in_average)
    cut = np.int64(-1)
    if chosen >= 0 and not cells.categorical[chosen]:
        cut = place_cut(cells, chosen, scratch.ends[chosen], weight)
    return chosen, cut, paid or chosen < 0


@lean_kernel(inner=True)
def rate_attributes(
    cells,
    y,
    node,
    total,
    parent,
    min_cases,
    only_paying,
    scratch,
    lists,
    low,
    high,
    too_many,
):
    """Write the rating of every attribute; how many of them count in the average."""
    gain, cost, info = scratch.gain, scratch.cost, scratch.info
    ends, in_average = scratch.ends, scratch.in_average
    pull, places = scratch.pull, (scratch.below, scratch.bound, scratch.top)
    spare, n_averaged = (scratch.total, scratch.of_classes), 0
    mark_tested(node, parent, scratch.tested)
    of_node = summarise(total, min_cases)
    known_valid = high - low == cells.rank.shape[1]  # where cuts may fall
    for f in range(gain.size):
        n_values = cells.offset[f + 1] - cells.offset[f]
        k, categorical = cells.which_list[f], cells.categorical[f]
        in_average[f] = not (categorical and reaches(n_values, too_many))
        n_averaged += in_average[f]
        gain[f], cost[f] = UNUSABLE, 0.0
        if k >= 0:
            gain[f], cost[f], info[f], ends[f, 0], ends[f, 1] = rate_sorted(
                cells.values[cells.offset[f] : cells.offset[f + 1]],
                cells.crowded[f],
                cells.valid[k] if known_valid else scratch.valid,
                known_valid,
                y,
                lists[k][low:high],
                total,
                of_node,
                min_cases,
                only_paying,
                pull,
                places,
                spare,
            )
        elif not categorical:
            unknown = count_ranks(cells, f, y, lists[0][low:high], scratch)
            gain[f], cost[f], info[f], ends[f, 0], ends[f, 1] = rate_counted(
                cells, f, min_cases, only_paying, scratch, unknown
            )
        elif not scratch.tested[f]:
            unknown = count_ranks(cells, f, y, lists[0][low:high], scratch)
            of_rank = scratch.of_rank[: total.size, :n_values]
            for c in range(total.size):
                scratch.total[c] = sum_of(of_rank[c])
            gain[f], info[f] = rate_categories(
                of_rank, scratch.total, unknown, min_cases
            )
    return n_averaged


@lean_kernel(inner=True)
def mark_tested(node, parent, tested):
    """Note which attributes were tested above a node."""
    tested[:] = False
    above = node[parent, PARENT]
    while above >= 0:
        tested[node[above, FEATURE]] = True
        above = node[above, PARENT]


@lean_kernel(inner=True)
def best_ratio(cells, gain, cost, info, in_average):
    """The attribute of the largest gain per split info, after paying; -1 for none.

    A numeric one must gain something, a categorical one need only lose nothing; and
    the gain must not be below the average.
    """
    average, n_averaged = 0.0, 0
    for f in range(gain.size):
        if in_average[f] and is_usable(cells, f, gain[f] - cost[f]):
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
def place_cut(cells, f, ends, weight):
    """Rank of the largest value in the data that is not above the middle of two.

    The data are all rows with a weight, also those of other nodes.
    """
    values, rank = cells.values[cells.offset[f] : cells.offset[f + 1]], cells.rank[f]
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


@lean_kernel(inner=True, forceinline=True)
def rate_sorted(
    values,
    crowded,
    valid,
    known_valid,
    y,
    entries,
    total,
    of_node,
    min_cases,
    only_paying,
    pull,
    places,
    spare,
):
    """Gain, cost and split info of a sorted column's best cut, and ranks around it.

    ``total`` are the node's class weights and ``of_node`` their summary. Places are
    laid out and bounded a block at a time, while they are in the cache; but all at once
    where some values are unknown, as the sums of the others come first.
    """
    size, unknown = entries.size, 0.0
    while size > 0 and entries[size - 1] >> ROW_BITS == values.size:
        size -= 1
        unknown += abs(pull[entries[size] & ROW])
    all_known = size == entries.size
    if size < 2 or (all_known and not may_gain(total, of_node[0], min_cases)):
        return UNUSABLE, 0.0, 0.0, -1, -1
    entries = entries[:size]
    n_tried = 0
    of_first = of_second = 0.0
    below, bound, top = places
    block = BLOCK if all_known else size
    for low in range(0, size, block):
        high = min(low + block, size)
        if not known_valid:
            following = entries[low : min(high + 1, size)]
            mark_valid(values, crowded, following, valid[low:high])
        a, b = below[0][low:high], below[1][low:high]
        if total.size > 2:
            add_up(pull, y, entries, low, high, below)
        else:
            of_first, of_second = add_up_two(
                pull, entries[low:high], of_first, of_second, a, b
            )
        if not all_known:
            total = spare[0]
            for c in range(total.size):
                total[c] = below[c, size - 1]
            of_node = summarise(total, min_cases)
            if not may_gain(total, of_node[0], min_cases):
                return UNUSABLE, 0.0, 0.0, -1, -1
        if total.size > 2:
            continue
        n_tried += bound_cuts(
            a,
            b,
            valid[low:high],
            of_node,
            total,
            min_cases,
            bound[low:high],
            top[low // STRETCH : (high + STRETCH - 1) // STRETCH],
        )
    gain, cost, info, place = rate_cuts(
        below,
        valid[:size],
        total,
        of_node,
        unknown,
        min_cases,
        only_paying,
        (bound[:size], top[: (size + STRETCH - 1) // STRETCH]),
        n_tried,
        spare[1],
    )
    if place < 0:
        return gain, cost, info, -1, -1
    return gain, cost, info, entries[place] >> ROW_BITS, entries[place + 1] >> ROW_BITS


@lean_kernel(inner=True)
def add_up(pull, y, entries, low, high, below):
    """Class weights up to each entry, which go on from those before."""
    for i in range(low, high):
        for c in range(below.shape[0]):
            below[c, i] = below[c, i - 1] if i > 0 else 0.0
        row = entries[i] & ROW
        below[y[row], i] += pull[row]


@lean_kernel(inner=True, forceinline=True)
def add_up_two(pull, entries, of_first, of_second, a, b):
    """The same for two classes, which go on from given sums; the last of them."""
    for i in range(entries.size):
        p = pull[entries[i] & ROW]
        of_first -= min(p, 0.0)
        of_second += max(p, 0.0)
        a[i], b[i] = of_first, of_second
    return of_first, of_second
