"""The test that a node makes: every attribute laid out, rated, and the best chosen."""

from __future__ import annotations

import numpy as np

from splboost.compiled import kernel
from splboost.trees.c45.gain import (
    EPSILON,
    NO_GAIN,
    STRETCH,
    UNUSABLE,
    bound_cuts,
    rate_categories,
    rate_cuts,
    rate_two,
    reaches,
    summarise,
)
from splboost.trees.c45.memory import BLOCK, FEATURE, PARENT
from splboost.trees.c45.nodes import SLACK
from splboost.trees.c45.ranks import GAP, ROW, ROW_BITS, mark_valid
from splboost.trees.split import TIE, TIE_FLOOR


@kernel
def choose_split(
    cells,
    y,
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
    n_features = cells.rank.shape[0]
    gain, cost = np.full(n_features, UNUSABLE), np.zeros(n_features)
    info, ends = np.zeros(n_features), np.empty((n_features, 2), dtype=np.int64)
    in_average = np.ones(n_features, dtype=np.bool_)
    tested = np.zeros(n_features, dtype=np.bool_)
    above = node[parent, PARENT]
    while above >= 0:
        tested[node[above, FEATURE]] = True
        above = node[above, PARENT]

    only_paying, n_averaged = mdl and not freely, 0
    # Taken out of their references once, which costs something every time
    offset, values, valid = cells.offset, cells.values, cells.valid
    n_rows, which_list, crowded = cells.rank.shape[1], cells.which_list, cells.crowded
    pull, places = scratch.pull, (scratch.below, scratch.bound, scratch.top)
    spare, spare_valid = scratch.value, scratch.valid
    total = mass[parent]
    of_node = summarise(total, min_cases)
    is_small = total.size == 2 and high - low <= BLOCK and not cells.any_missing
    size = min(high - low, BLOCK)
    of_first, of_second = scratch.below[0][:size], scratch.below[1][:size]
    bound, cut_valid = scratch.bound[:size], scratch.valid[:size]
    top = scratch.top[: (size + STRETCH - 1) // STRETCH]
    known_valid = high - low == n_rows  # then it is known where cuts may fall
    for f in range(n_features):
        n_values = offset[f + 1] - offset[f]
        categorical = cells.categorical[f]
        in_average[f] = not (categorical and reaches(n_values, too_many))
        n_averaged += in_average[f]
        if categorical and tested[f]:
            continue
        if which_list[f] >= 0 and is_small:
            entries = lists[which_list[f]][low:high]
            add_up_two(pull, entries, 0.0, 0.0, of_first, of_second)
            if not known_valid:
                mark_valid(
                    values[offset[f] : offset[f + 1]],
                    crowded[f],
                    entries,
                    spare,
                    cut_valid,
                )
            else:
                cut_valid = valid[which_list[f]]
            n_tried = bound_cuts(
                of_first, of_second, cut_valid, of_node, total, min_cases, bound, top
            )
            gain[f], cost[f], info[f], place = rate_two(
                of_first,
                of_second,
                total,
                of_node,
                only_paying,
                bound,
                top,
                n_tried,
            )
            if place >= 0:
                ends[f, 0] = entries[place] >> ROW_BITS
                ends[f, 1] = entries[place + 1] >> ROW_BITS
            continue
        if which_list[f] >= 0:
            entries = lists[which_list[f]][low:high]
            gain[f], cost[f], info[f], ends[f, 0], ends[f, 1] = rate_sorted(
                values[offset[f] : offset[f + 1]],
                crowded[f],
                valid[which_list[f]] if known_valid else spare_valid,
                known_valid,
                y,
                pull,
                entries,
                total,
                of_node,
                min_cases,
                only_paying,
                places,
                spare,
            )
            continue
        counted = np.zeros(mass.shape[1])
        unknown = count_ranks(cells, f, y, lists[0, low:high], scratch, counted)
        if categorical:
            of_rank = scratch.of_rank[:, :n_values]
            gain[f], info[f] = rate_categories(of_rank, counted, unknown, min_cases)
        else:
            gain[f], cost[f], info[f], ends[f, 0], ends[f, 1] = rate_counted(
                cells, f, min_cases, only_paying, scratch, counted, unknown
            )
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
        cut = place_cut(cells, chosen, ends[chosen], scratch.present)
    return chosen, cut, paid or chosen < 0


@kernel
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


@kernel
def is_usable(cells, f, gain):
    return gain > (-EPSILON if cells.categorical[f] else NO_GAIN)


@kernel
def place_cut(cells, f, ends, present):
    """Rank of the largest value in the data that is not above the middle of two."""
    values = cells.values[cells.offset[f] : cells.offset[f + 1]]
    middle = values[ends[0]] / 2 + values[ends[1]] / 2
    cut = ends[1] - 1
    while cut > ends[0] and (
        values[cut] > middle or not present[cells.offset[f] + cut]
    ):
        cut -= 1
    return cut


@kernel
def rate_sorted(
    values,
    crowded,
    valid,
    known_valid,
    y,
    pull,
    entries,
    mass,
    of_node,
    min_cases,
    only_paying,
    places,
    spare,
):
    """Gain, cost and split info of a sorted column's best cut, and ranks around it.

    ``mass`` are the node's class weights and ``of_node`` their summary. Places are laid
    out and bounded a block at a time, while they are in the cache.
    """
    below, bound, top = places
    size, total, unknown = entries.size, mass, 0.0
    while size > 0 and entries[size - 1] >> ROW_BITS == values.size:
        size -= 1
        unknown += abs(pull[entries[size] & ROW])
    if size < entries.size:
        total = np.zeros(mass.size)
        for i in range(size):
            row = entries[i] & ROW
            total[y[row]] += abs(pull[row])
        of_node = summarise(total, min_cases)
    known = of_node[0]
    if size < 2 or not reaches(known, 2 * min_cases):
        return UNUSABLE, 0.0, 0.0, -1, -1
    two = total.size == 2
    if two and min(total[0], total[1]) <= SLACK * known:
        return UNUSABLE, 0.0, 0.0, -1, -1

    n_tried = 0
    if not two:
        running = np.zeros(total.size)
    of_first = of_second = 0.0
    for low in range(0, size, BLOCK):
        high = min(low + BLOCK, size)
        if not known_valid:
            following = entries[low : min(high + 1, size)]
            mark_valid(values, crowded, following, spare, valid[low:high])
        if not two:
            for i in range(low, high):
                row = entries[i] & ROW
                running[y[row]] += pull[row]
                for c in range(running.size):
                    below[c, i] = running[c]
            continue
        a, b = below[0][low:high], below[1][low:high]
        of_first, of_second = add_up_two(
            pull, entries[low:high], of_first, of_second, a, b
        )
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
    bounds = bound[:size], top[: (size + STRETCH - 1) // STRETCH]
    gain, cost, info, place = rate_cuts(
        below,
        valid[:size],
        total,
        of_node,
        unknown,
        min_cases,
        only_paying,
        bounds,
        n_tried,
    )
    if place < 0:
        return gain, cost, info, -1, -1
    return gain, cost, info, entries[place] >> ROW_BITS, entries[place + 1] >> ROW_BITS


@kernel
def add_up_two(pull, entries, of_first, of_second, a, b):
    """Class weights up to each entry, which go on from given sums; the last of them."""
    for i in range(entries.size):
        p = pull[entries[i] & ROW]
        of_first -= min(p, 0.0)
        of_second += max(p, 0.0)
        a[i], b[i] = of_first, of_second
    return of_first, of_second


@kernel
def count_ranks(cells, f, y, rows, scratch, total):
    """Class weights of each rank; returns the weight of unknown values."""
    pull, of_rank, rank = scratch.pull, scratch.of_rank, cells.rank[f]
    n_values = cells.offset[f + 1] - cells.offset[f]
    of_rank[:, :n_values] = 0
    unknown = 0.0
    for i in range(rows.size):
        row = rows[i]
        r = rank[row]
        weight = abs(pull[row])
        if r < 0:
            unknown += weight
        else:
            of_rank[y[row], r] += weight
    for c in range(total.size):
        for r in range(n_values):
            total[c] += of_rank[c, r]
    return unknown


@kernel
def rate_counted(cells, f, min_cases, only_paying, scratch, total, unknown):
    """The same of a column whose ranks were counted."""
    of_rank, below, valid = scratch.of_rank, scratch.below, scratch.valid
    values = cells.values[cells.offset[f] : cells.offset[f + 1]]
    for c in range(total.size):
        running = 0.0
        for r in range(values.size):
            running += of_rank[c, r]
            below[c, r] = running
    following = -1
    for r in range(values.size - 1, -1, -1):
        valid[r] = False
        if any_weight(of_rank, r):
            valid[r] = following >= 0 and values[r] < values[following] - GAP
            following = r
    of_node, two = summarise(total, min_cases), total.size == 2
    known = of_node[0]
    if not reaches(known, 2 * min_cases):
        return UNUSABLE, 0.0, 0.0, -1, -1
    bounds = scratch.bound[: values.size], scratch.top[: values.size // STRETCH + 1]
    n_tried = 0
    if two:
        if min(total[0], total[1]) <= SLACK * known:
            return UNUSABLE, 0.0, 0.0, -1, -1
        n_tried = bound_cuts(
            below[0],
            below[1],
            valid[: values.size],
            of_node,
            total,
            min_cases,
            bounds[0],
            bounds[1],
        )
    gain, cost, info, place = rate_cuts(
        below,
        valid[: values.size],
        total,
        of_node,
        unknown,
        min_cases,
        only_paying,
        bounds,
        n_tried,
    )
    following = place + 1
    while place >= 0 and not any_weight(of_rank, following):
        following += 1
    return gain, cost, info, place, following


@kernel
def any_weight(of_rank, r):
    """Whether a rank has any case."""
    found = False
    for c in range(of_rank.shape[0]):
        found |= of_rank[c, r] > 0
    return found
