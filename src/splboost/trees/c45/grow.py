"""A C4.5 tree from case weights, depth first.

A node holds a stretch ``low`` to ``high`` of several lists, which all name its cases:
list 0 in the order of the rows, one list for each sorted column in the order of its
values. A split divides every list, in order, into the stretches of its branches.

Cases with an unknown value of the tested attribute go to all branches, with a share of
their weight in each. Their branches cannot lie side by side in place of the node, so
they are written above it. The node to be split next is always the one highest in
memory; whatever lies above it is free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splboost.compiled import kernel
from splboost.trees.c45.gain import (
    EPSILON,
    NO_GAIN,
    SLACK,
    STRETCH,
    UNUSABLE,
    bound_cuts,
    bounding_lines,
    least_split,
    rate_categories,
    rate_cuts,
    reaches,
    sum_of,
)
from splboost.trees.c45.memory import BLOCK
from splboost.trees.c45.ranks import GAP, ROW_BITS, mark_valid
from splboost.trees.split import TIE, TIE_FLOOR

ROW = (1 << ROW_BITS) - 1

# Columns of the nodes' integers
FEATURE, CUT, CHILD, CHILDREN, PARENT, DEPTH, CLASS = range(7)
NO_CHILD = -1


class Options(NamedTuple):
    """What sort of tree to grow; see ``C45Classifier``.

    With ``free_depth`` above 0, a tree whose root can pay for no cut is grown to that
    depth without paying.
    """

    min_cases: float
    max_depth: int
    mdl: bool
    free_depth: int


@kernel
def grow(cells, y, weight, options, scratch, lists, case_weight):
    """Grow a tree on the rows of positive weight.

    Returns the nodes' integers, their class weights, whether they had to pay for cuts,
    and ``lists`` and ``case_weight``, which may have been moved to larger memory.
    """
    n_classes = scratch.below.shape[0]
    mdl, max_depth = options.mdl, options.max_depth
    size = gather_root(cells, y, weight, scratch, lists, case_weight)
    node = np.full((64, 7), NO_CHILD)
    mass = np.zeros((64, n_classes))
    for i in range(size):
        mass[0, y[lists[0, i]]] += case_weight[i]
    node[0, DEPTH] = 0
    node[0, CLASS] = heaviest(mass[0])
    n_nodes = 1
    too_many = 0.3 * sum_of(mass[0])  # values of a category, to count in the average
    stack = np.empty((64, 3), dtype=np.int64)
    n_open = 0
    if may_split(node[0], mass[0], options.min_cases, max_depth):
        n_open = push(stack, 0, 0, 0, size)

    while n_open > 0:
        n_open -= 1
        parent, low, high = stack[n_open, 0], stack[n_open, 1], stack[n_open, 2]
        if cells.any_missing:
            load_weights(y, scratch.pull, n_classes, lists[0], case_weight, low, high)
        freely = mdl and parent == 0 and options.free_depth > 0
        feature, cut, paid = choose_split(
            cells,
            y,
            node,
            mass,
            parent,
            options.min_cases,
            mdl,
            freely,
            scratch,
            lists,
            low,
            high,
            too_many,
        )
        if feature < 0:
            continue
        if not paid:
            mdl, max_depth = False, min(max_depth, options.free_depth)

        n_branches = 2
        if cells.categorical[feature]:
            n_branches = cells.offset[feature + 1] - cells.offset[feature]
        of_branch = np.zeros((n_branches + 1, n_classes))
        start = np.zeros(n_branches + 2, dtype=np.int64)
        assign_branches(
            cells, y, feature, cut, scratch, lists[0], low, high, of_branch, start
        )

        if n_nodes + n_branches > node.shape[0]:
            node, mass = enlarged(node, n_branches), enlarged(mass, n_branches)
        node[parent, FEATURE], node[parent, CUT] = feature, cut
        node[parent, CHILD], node[parent, CHILDREN] = n_nodes, n_branches
        n_unknown = start[n_branches + 1] - start[n_branches]
        known = 0.0
        for v in range(n_branches):
            known += sum_of(of_branch[v])
        n_to_split, needed = 0, high
        for v in range(n_branches):
            child = n_nodes + v
            node[child] = NO_CHILD
            node[child, PARENT] = parent
            node[child, DEPTH] = node[parent, DEPTH] + 1
            share = sum_of(of_branch[v]) / known
            for c in range(n_classes):
                mass[child, c] = of_branch[v, c] + share * of_branch[n_branches, c]
            node[child, CLASS] = node[parent, CLASS]
            if start[v + 1] > start[v]:
                node[child, CLASS] = heaviest(mass[child])
            if may_split(node[child], mass[child], options.min_cases, max_depth):
                n_to_split += 1
                needed += start[v + 1] - start[v] + n_unknown
        n_nodes += n_branches
        if n_to_split == 0:
            continue

        if n_open + n_to_split > stack.shape[0]:
            stack = enlarged(stack, n_to_split)
        if n_unknown > 0 and needed > lists.shape[1]:
            lists, case_weight = widened(lists, case_weight, needed, high)
        for k in range(lists.shape[0]):
            divide(lists[k], low, high, scratch.branch, start, scratch.spare)
        if cells.any_missing:
            for i in range(low, high):
                case_weight[i] = abs(scratch.pull[lists[0, i]])
        free = high
        for v in range(n_branches):
            child = node[parent, CHILD] + v
            if not may_split(node[child], mass[child], options.min_cases, max_depth):
                continue
            first, last = start[v], start[v + 1]
            if n_unknown > 0:
                share = sum_of(of_branch[v]) / known
                last = join_unknown(
                    lists, case_weight, share, first, last, start, n_branches, free
                )
                first, free = free, last
            n_open = push(stack, n_open, child, first, last)
    collapse(node, mass, n_nodes)
    return node[:n_nodes], mass[:n_nodes], mdl, lists, case_weight


@kernel
def gather_root(cells, y, weight, scratch, lists, case_weight):
    """Fill the lists with the rows of positive weight; their number."""
    size = 0
    two, pull = scratch.below.shape[0] == 2, scratch.pull
    rows = lists[0]
    for row in range(y.size):
        pull[row] = -weight[row] if two and y[row] == 0 else weight[row]
        rows[size] = row
        case_weight[size] = weight[row]
        size += weight[row] > 0
    sparse = size < y.size
    for k in range(cells.ascending.shape[0]):
        entries, source = lists[k + 1], cells.ascending[k]
        if not sparse:
            entries[:size] = source
            continue
        filled = 0
        for i in range(y.size):
            entries[filled] = source[i]
            filled += weight[source[i] & ROW] > 0
            if filled == size:
                break
    mark_present(cells, weight, sparse, scratch.present)
    return size


@kernel
def mark_present(cells, weight, sparse, present):
    """Note which values occur in rows of positive weight."""
    present[:] = not sparse
    if sparse:
        for f in range(cells.rank.shape[0]):
            values, rank = present[cells.offset[f] : cells.offset[f + 1]], cells.rank[f]
            for row in range(weight.size):
                r = rank[row]
                if r >= 0 and weight[row] > 0:
                    values[r] = True


@kernel
def load_weights(y, pull, n_classes, rows, case_weight, low, high):
    """Set the weights that the cases have in this node."""
    for i in range(low, high):
        row = rows[i]
        first = n_classes == 2 and y[row] == 0
        pull[row] = -case_weight[i] if first else case_weight[i]


@kernel
def heaviest(weights):
    """The first class of those that are heaviest but for rounding."""
    most = 0.0
    for c in range(weights.size):
        most = max(most, weights[c])
    for c in range(weights.size):
        if weights[c] >= most * (1 - SLACK):
            return c
    return 0


@kernel
def may_split(node, mass, min_cases, max_depth):
    """Whether a node is worth a look: mixed, of some weight, and not too deep."""
    total = sum_of(mass)
    mixed = total - mass[node[CLASS]] > SLACK * total
    enough = total > 0 and reaches(total, 2 * min_cases)
    return mixed and enough and node[DEPTH] < max_depth


@kernel
def push(stack, n_open, node, low, high):
    """Put a node and its cases on the stack; the new number there."""
    stack[n_open, 0], stack[n_open, 1], stack[n_open, 2] = node, low, high
    return n_open + 1


@kernel
def enlarged(array, more):
    """A copy with at least so many more rows."""
    rows = array.shape[0]
    larger = np.empty((2 * rows + more, array.shape[1]), dtype=array.dtype)
    larger[:rows] = array
    return larger


@kernel
def widened(lists, case_weight, needed, used):
    """Copies of the lists with room for ``needed`` cases."""
    size = max(needed, 2 * lists.shape[1])
    wider = np.empty((lists.shape[0], size), dtype=lists.dtype)
    wider_weight = np.empty(size)
    wider[:, :used] = lists[:, :used]
    wider_weight[:used] = case_weight[:used]
    return wider, wider_weight


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
    for f in range(n_features):
        n_values = cells.offset[f + 1] - cells.offset[f]
        categorical = cells.categorical[f]
        in_average[f] = not (categorical and reaches(n_values, too_many))
        n_averaged += in_average[f]
        if categorical and tested[f]:
            continue
        if cells.which_list[f] >= 0:
            entries = lists[cells.which_list[f] + 1][low:high]
            gain[f], cost[f], info[f], ends[f, 0], ends[f, 1] = rate_sorted(
                cells, f, y, entries, mass[parent], min_cases, only_paying, scratch
            )
            continue
        total = np.zeros(mass.shape[1])
        unknown = count_ranks(cells, f, y, lists[0, low:high], scratch, total)
        if categorical:
            of_rank = scratch.of_rank[:, :n_values]
            gain[f], info[f] = rate_categories(of_rank, total, unknown, min_cases)
        else:
            gain[f], cost[f], info[f], ends[f, 0], ends[f, 1] = rate_counted(
                cells, f, min_cases, only_paying, scratch, total, unknown
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
def rate_sorted(cells, f, y, entries, mass, min_cases, only_paying, scratch):
    """Gain, cost and split info of a sorted column's best cut, and ranks around it.

    ``mass`` are the node's class weights. Places are laid out and bounded a block at a
    time, while they are in the cache.
    """
    pull, below, bound = scratch.pull, scratch.below, scratch.bound
    values = cells.values[cells.offset[f] : cells.offset[f + 1]]
    whole = entries.size == cells.rank.shape[1]  # then it is known where cuts may fall
    valid = cells.valid[cells.which_list[f]] if whole else scratch.valid
    size, total, unknown = entries.size, mass, 0.0
    while size > 0 and entries[size - 1] >> ROW_BITS == values.size:
        size -= 1
        unknown += abs(pull[entries[size] & ROW])
    if size < entries.size:
        total = np.zeros(mass.size)
        for i in range(size):
            row = entries[i] & ROW
            total[y[row]] += abs(pull[row])
    known = sum_of(total)
    if size < 2 or not reaches(known, 2 * min_cases):
        return UNUSABLE, 0.0, 0.0, -1, -1
    two = total.size == 2
    if two and min(total[0], total[1]) <= SLACK * known:
        return UNUSABLE, 0.0, 0.0, -1, -1

    least = least_split(known, total.size, min_cases)
    lines = bounding_lines(total[0] / known) if two else (0.0, 0.0, 0.0)
    running, n_tried = np.zeros(total.size), 0
    for low in range(0, size, BLOCK):
        high = min(low + BLOCK, size)
        if not whole:
            following = entries[low : min(high + 1, size)]
            mark_valid(
                values, cells.crowded[f], following, scratch.value, valid[low:high]
            )
        if not two:
            for i in range(low, high):
                row = entries[i] & ROW
                running[y[row]] += pull[row]
                for c in range(running.size):
                    below[c, i] = running[c]
            continue
        a, b = below[0][low:high], below[1][low:high]
        add_up_two(pull, entries[low:high], running, a, b)
        n_tried += bound_cuts(
            a,
            b,
            valid[low:high],
            total,
            lines,
            least,
            min_cases,
            bound[low:high],
            scratch.top[low // STRETCH : (high + STRETCH - 1) // STRETCH],
        )
    bounds = bound[:size], scratch.top[: (size + STRETCH - 1) // STRETCH]
    gain, cost, info, place = rate_cuts(
        below, valid[:size], total, unknown, min_cases, only_paying, bounds, n_tried
    )
    if place < 0:
        return gain, cost, info, -1, -1
    return gain, cost, info, entries[place] >> ROW_BITS, entries[place + 1] >> ROW_BITS


@kernel
def add_up_two(pull, entries, running, a, b):
    """Class weights up to each entry, which go on from the running sums."""
    of_first, of_second = running[0], running[1]
    for i in range(entries.size):
        p = pull[entries[i] & ROW]
        of_first -= min(p, 0.0)
        of_second += max(p, 0.0)
        a[i], b[i] = of_first, of_second
    running[0], running[1] = of_first, of_second


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
    known, two = sum_of(total), total.size == 2
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
            total,
            bounding_lines(total[0] / known),
            least_split(known, 2, min_cases),
            min_cases,
            bounds[0],
            bounds[1],
        )
    gain, cost, info, place = rate_cuts(
        below,
        valid[: values.size],
        total,
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


@kernel
def assign_branches(cells, y, feature, cut, scratch, rows, low, high, of_branch, start):
    """Write the branch of each case, the branches' class weights and first places.

    The last branch is for cases with an unknown value.
    """
    unknown = of_branch.shape[0] - 1
    categorical, rank = cells.categorical[feature], cells.rank[feature]
    branch, pull = scratch.branch, scratch.pull
    for i in range(low, high):
        row = rows[i]
        r = rank[row]
        v = unknown
        if r >= 0:
            v = r if categorical else np.int32(r > cut)
        branch[row] = v
        of_branch[v, y[row]] += abs(pull[row])
        start[v + 1] += 1
    start[0] = low
    for v in range(unknown + 1):
        start[v + 1] += start[v]


@kernel
def divide(entries, low, high, branch, start, spare):
    """Put the entries of each branch together, in the order they are in."""
    if start.size == 4 and start[2] == start[3]:  # two branches and none unknown
        left, right = low, 0
        for i in range(low, high):
            entry = entries[i]
            v = branch[entry & ROW]
            entries[left] = entry
            spare[right] = entry
            left += 1 - v
            right += v
        entries[left:high] = spare[:right]
        return
    place = start.copy()
    for i in range(low, high):
        v = branch[entries[i] & ROW]
        spare[place[v] - low] = entries[i]
        place[v] += 1
    entries[low:high] = spare[: high - low]


@kernel
def join_unknown(lists, case_weight, share, first, last, start, unknown, free):
    """Write a branch's cases and the unknown ones, in order, from ``free`` on.

    Returns the end of what was written.
    """
    for k in range(lists.shape[0]):
        entries = lists[k]
        i, j, place = first, start[unknown], free
        while i < last or j < start[unknown + 1]:
            own = j >= start[unknown + 1] or (i < last and entries[i] < entries[j])
            entries[place] = entries[i] if own else entries[j]
            if k == 0:
                case_weight[place] = case_weight[i] if own else share * case_weight[j]
            i, j = (i + 1, j) if own else (i, j + 1)
            place += 1
    return place


@kernel
def collapse(node, mass, n_nodes):
    """Make leaves of nodes whose branches make no fewer errors on the cases."""
    errors = np.empty(n_nodes)
    for i in range(n_nodes - 1, -1, -1):
        errors[i] = sum_of(mass[i]) - mass[i, node[i, CLASS]]
        if node[i, CHILD] >= 0:
            below = 0.0
            for v in range(node[i, CHILDREN]):
                below += errors[node[i, CHILD] + v]
            if below >= errors[i] - EPSILON:
                node[i, CHILD] = NO_CHILD
            else:
                errors[i] = below
