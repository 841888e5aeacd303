"""Growing a C4.5 tree, depth first, some work at a time.

A node holds a stretch ``low`` to ``high`` of several lists, which all name its cases:
list 0 in the order of the rows, one list for each sorted column in the order of its
values. A split divides every list, in order, into the stretches of its branches, which
then lie in place of the node, and behind them the cases with an unknown value of the
tested attribute. These go to all branches, with a share of their weight in each: before
a branch is split, they are joined to its cases above the unknown. (One of two branches
is then taken from the node, which stays as it is.) The node to be split
next is always the one highest in memory; whatever lies above it is free.

Python grows a large tree by many calls, between which Ctrl-C takes effect; a call ends
with the node that has taken its time. What it leaves to the next is in ``Scratch.now``.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import kernel, lean_kernel
from splboost.trees.c45 import c45_workspace as at
from splboost.trees.c45.attributes import choose_attribute, place_cut, rate_attributes
from splboost.trees.c45.gain import EPSILON, SLACK, heaviest, reaches, sum_of
from splboost.trees.c45.ranks import ROW


@lean_kernel(inner=True, forceinline=True)
def plant(cells, scratch):
    """Begin a tree with a root of the rows of positive weight."""
    node, mass, lists, now = scratch.node, scratch.mass, scratch.lists, scratch.now
    y, two = scratch.y, mass.shape[1] == 2
    mass[0, :] = 0.0
    for row in range(y.size):
        w = scratch.weight[row]
        scratch.pull[row] = -w if two and y[row] == 0 else w
        mass[0, y[row]] += w
        scratch.branch[row] = w > 0
    size = list_cases(scratch)
    whole = size == y.size and not cells.any_missing
    if not whole:
        for k in range(1, lists.shape[0]):
            keep(cells.ascending[k], scratch.branch, lists[k])
    # A category of too many values does not count in the average, unless all have.
    too_many, n_averaged = 0.3 * sum_of(mass[0]), 0
    for f in range(cells.categorical.size):
        many = reaches(cells.offset[f + 1] - cells.offset[f], too_many)
        scratch.in_average[f] = not (cells.categorical[f] and many)
        n_averaged += scratch.in_average[f]
    if n_averaged == 0:
        scratch.in_average[:] = True
    root = np.int64(0)
    node[root, :] = at.NO_CHILD
    node[root, at.DEPTH], node[root, at.CLASS] = 0, heaviest(mass[root])
    now[at.BEGUN], now[at.N_NODES], now[at.N_OPEN], now[at.WHOLE] = 1, 1, 0, whole
    now[at.FREE] = 0
    if may_split(scratch, root):
        push(scratch, root, 1.0, (root, size, size, size))


@lean_kernel(inner=True)
def list_cases(scratch):
    """Put all rows of positive weight on list 0; how many they are."""
    size = np.int64(0)
    for row in range(scratch.y.size):
        w = scratch.weight[row]
        scratch.lists[0, size], scratch.case_weight[size] = row, w
        size += w > 0
    scratch.now[at.SIZE] = size
    return size


@lean_kernel(inner=True)
def keep(entries, chosen, kept):
    """Copy the entries of rows that are chosen, by 1 or 0, in order."""
    filled = np.uint64(0)  # unsigned: numba need not look whether it is negative
    for i in range(entries.size):
        entry = entries[i]
        kept[filled] = entry
        filled += np.uint64(chosen[entry & ROW])


@kernel
def grow(memory):
    """Go on growing a tree; whether it is done, or there is no room for it.

    (Nothing but a number goes back to Python: arrays would cost more, and an interrupt
    might strike on their way.)
    """
    cells, scratch = memory.cells, memory.scratch
    now, has_room = scratch.now, True
    now[at.WORK] = at.CELLS
    if not now[at.BEGUN]:
        plant(cells, scratch)
    while has_room and now[at.WORK] > 0 and now[at.N_OPEN] > 0:
        has_room = open_node(cells, scratch, scratch.lists.shape[0])
        if has_room:
            mark_tested(scratch.node, now[at.NODE], scratch.tested)
            rate_attributes(cells, scratch)
            if branch_out(cells, scratch):
                divide_lists(cells, scratch)
            has_room = now[at.N_NODES] <= scratch.node.shape[0]
    done = now[at.N_OPEN] == 0
    if done and has_room:
        collapse(scratch)
    return at.NO_ROOM if not has_room else (at.DONE if done else at.UNDER_WAY)


@lean_kernel(inner=True)
def open_node(cells, scratch, n_lists):
    """Take up the node on top of the stack; False if there is no room for it."""
    scratch.now[at.N_OPEN] -= 1
    k = scratch.now[at.N_OPEN]
    i, low, high = scratch.stack[k, 0], scratch.stack[k, 1], scratch.stack[k, 2]
    unknown, end = scratch.stack[k, 3], scratch.stack[k, 4]
    if unknown == at.TAKE:
        if high + (high - low) > scratch.lists.shape[1]:
            return False
        low, high = high, take_branch(cells, scratch, i, scratch.shares[k], low, high)
    elif end > unknown:
        place = max(end, scratch.now[at.FREE])
        size = (high - low) + (end - unknown)
        if place + size > scratch.lists.shape[1]:
            return False
        for n in range(n_lists):
            join(scratch, n, scratch.shares[k], (low, high, unknown, end), place)
        low, high = place, place + size
    take_up(cells, scratch, i, low, high)
    return True


@lean_kernel(inner=True)
def take_branch(cells, scratch, i, share, low, high):
    """Copy a cut's branch and the cases of unknown value, in order, above the node's.

    That spares dividing and joining, which takes half as long again. Returns the end of
    the copies.
    """
    parent = scratch.node[scratch.node[i, at.PARENT]]
    is_right, cut = i > parent[at.CHILD], parent[at.CUT]
    rank, case_weight = cells.rank[parent[at.FEATURE]], scratch.case_weight
    end = high
    for k in range(low, high):
        row = scratch.lists[0, k]
        r = rank[row]
        chosen = r < 0 or (r > cut) == is_right
        case_weight[end] = case_weight[k] * (share if r < 0 else 1.0)
        scratch.branch[row] = chosen
        end += chosen
    for n in range(scratch.lists.shape[0]):
        keep(scratch.lists[n][low:high], scratch.branch, scratch.lists[n][high:])
    return end


@lean_kernel(inner=True)
def join(scratch, n, share, span, place):
    """Write a branch's entries and those of unknown value, in order, to a place.

    They are those of list n; with the first go the weights of the cases.
    """
    entries, case_weight = scratch.lists[n], scratch.case_weight
    low, high, unknown, end = span
    i, j = low, unknown
    for k in range(place, place + (high - low) + (end - unknown)):
        own = j >= end or (i < high and entries[i] < entries[j])
        entries[k] = entries[i] if own else entries[j]
        if n == 0:
            case_weight[k] = case_weight[i] if own else share * case_weight[j]
        i, j = (i + 1, j) if own else (i, j + 1)


@lean_kernel(inner=True)
def take_up(cells, scratch, i, low, high):
    """Be at a node and its cases, with the weights that they have there."""
    scratch.now[at.NODE], scratch.now[at.LOW], scratch.now[at.HIGH] = i, low, high
    if cells.any_missing:
        two = scratch.mass.shape[1] == 2
        for k in range(low, high):
            row, weight = scratch.lists[0, k], scratch.case_weight[k]
            scratch.pull[row] = -weight if two and scratch.y[row] == 0 else weight


@lean_kernel(inner=True, forceinline=True)
def mark_tested(node, i, tested):
    """Note which attributes were tested above a node."""
    tested[:] = False
    while node[i, at.PARENT] >= 0:
        i = node[i, at.PARENT]
        tested[node[i, at.FEATURE]] = True


@lean_kernel(inner=True, forceinline=True)
def branch_out(cells, scratch):
    """Split a node that is rated, if that gains; whether its lists must be divided.

    Branches that may be split are put on the stack. If there is no room for branches,
    they are counted only.
    """
    node, mass, now = scratch.node, scratch.mass, scratch.now
    parent, first = now[at.NODE], now[at.N_NODES]
    freely = now[at.PAYING] and parent == 0 and now[at.FREE_DEPTH] > 0
    feature, paid = choose_attribute(cells, scratch, now[at.PAYING], freely)
    if feature < 0:
        return False
    if not paid:
        now[at.PAYING], now[at.MAX_DEPTH] = (
            0,
            min(now[at.MAX_DEPTH], now[at.FREE_DEPTH]),
        )
    n = np.int64(2)
    if cells.categorical[feature]:
        n = cells.offset[feature + 1] - cells.offset[feature]
    else:
        node[parent, at.CUT] = place_cut(cells, scratch, feature)
    now[at.N_NODES] += n
    if now[at.N_NODES] > node.shape[0]:
        return False
    node[parent, at.FEATURE] = feature
    node[parent, at.CHILD], node[parent, at.CHILDREN] = first, n
    part_cases(cells, scratch, parent)
    start, n_open = scratch.start, now[at.N_OPEN]
    take = start[n + 1] > start[n] and not cells.categorical[feature]
    for v in range(n):
        child = first + v
        node[child, :] = at.NO_CHILD
        node[child, at.PARENT], node[child, at.DEPTH] = (
            parent,
            node[parent, at.DEPTH] + 1,
        )
        node[child, at.CLASS] = node[parent, at.CLASS]
        for c in range(mass.shape[1]):
            mass[child, c] = scratch.of_branch[v, c]
        if start[v + 1] > start[v]:
            node[child, at.CLASS] = heaviest(mass[child])
        if may_split(scratch, child):
            span = start[v], start[v + 1], start[n], start[n + 1]
            if take:
                span = now[at.LOW], now[at.HIGH], np.int64(at.TAKE), np.int64(at.TAKE)
            push(scratch, child, scratch.part[v], span)
    return now[at.N_OPEN] > n_open and not take


@lean_kernel(inner=True)
def part_cases(cells, scratch, i):
    """Find the branches of a node for its cases, which were taken up.

    Writes the branch of each case, the last for those of unknown value; where branches
    will start; the share of each in the known weight; and their class weights, with the
    unknown.
    """
    of_branch, start, part = scratch.of_branch, scratch.start, scratch.part
    feature, cut = scratch.node[i, at.FEATURE], scratch.node[i, at.CUT]
    categorical, rank = cells.categorical[feature], cells.rank[feature]
    low, high, n = (
        scratch.now[at.LOW],
        scratch.now[at.HIGH],
        scratch.node[i, at.CHILDREN],
    )
    scratch.now[at.WORK] -= high - low
    for v in range(n + 1):
        start[v + 1] = 0
        for c in range(of_branch.shape[1]):
            of_branch[v, c] = 0.0
    for k in range(low, high):
        row = scratch.lists[0, k]
        r = rank[row]
        v = np.int32(n)
        if r >= 0:
            v = r if categorical else np.int32(r > cut)
        scratch.branch[row] = v
        of_branch[v, scratch.y[row]] += abs(scratch.pull[row])
        start[v + 1] += 1
    start[0] = low
    for v in range(n + 1):
        start[v + 1] += start[v]
    known = 0.0
    for v in range(n):
        part[v] = sum_of(of_branch[v])
        known += part[v]
    for v in range(n):
        part[v] /= known
        for c in range(of_branch.shape[1]):
            of_branch[v, c] += part[v] * of_branch[n, c]


@lean_kernel(inner=True, forceinline=True)
def divide_lists(cells, scratch):
    """Divide lists among the branches of the node."""
    now = scratch.now
    low, high, n = now[at.LOW], now[at.HIGH], scratch.node[now[at.NODE], at.CHILDREN]
    source = cells.ascending if now[at.WHOLE] else scratch.lists
    for k in range(scratch.lists.shape[0]):
        divide(source[k][low:high], scratch.lists[k][low:high], scratch, n)
    now[at.WORK] -= scratch.lists.shape[0] * (high - low)
    now[at.WHOLE] = 0
    keep_weights(cells, scratch)


@lean_kernel(inner=True)
def keep_weights(cells, scratch):
    """Note the weights of cases that were divided, in the order of list 0."""
    if cells.any_missing:
        for i in range(scratch.now[at.LOW], scratch.now[at.HIGH]):
            scratch.case_weight[i] = abs(scratch.pull[scratch.lists[0, i]])


@lean_kernel(inner=True)
def divide(entries, divided, scratch, n):
    """Put the entries of each of n branches together, in order, the unknown last."""
    branch, start, spare = scratch.branch, scratch.start, scratch.spare
    if n == 2 and start[2] == start[3]:
        left = np.uint64(0)
        for i in range(entries.size):
            entry = entries[i]
            divided[left] = entry
            spare[np.uint64(i) - left] = entry
            left += np.uint64(1 - branch[entry & ROW])
        rest = divided[left:]
        for i in range(rest.size):
            rest[i] = spare[i]
        return
    low = start[0]
    for i in range(entries.size):
        v = branch[entries[i] & ROW]
        spare[start[v] - low] = entries[i]
        start[v] += 1
    for i in range(divided.size):
        divided[i] = spare[i]
    for v in range(n + 1, 0, -1):
        start[v] = start[v - 1]
    start[0] = low


@lean_kernel(inner=True)
def may_split(scratch, i):
    """Whether a node is worth a look: mixed, of some weight, and not too deep."""
    node, mass = scratch.node, scratch.mass[i]
    total = sum_of(mass)
    mixed = total - mass[node[i, at.CLASS]] > SLACK * total
    enough = total > 0 and reaches(total, 2 * scratch.limits[at.MIN_CASES])
    return mixed and enough and node[i, at.DEPTH] < scratch.now[at.MAX_DEPTH]


@lean_kernel(inner=True)
def push(scratch, i, share, span):
    """Put a node on the stack.

    ``span`` is where its cases are, and those of unknown value of which it has a share.
    """
    k = scratch.now[at.N_OPEN]
    scratch.stack[k, 0], scratch.shares[k] = i, share
    for c in range(4):
        scratch.stack[k, c + 1] = span[c]
    scratch.now[at.N_OPEN] = k + 1


@lean_kernel(inner=True)
def collapse(scratch):
    """Make leaves of nodes whose branches make no fewer errors on the cases."""
    node, mass, errors = scratch.node, scratch.mass, scratch.errors
    for i in range(scratch.now[at.N_NODES] - 1, -1, -1):
        errors[i, 0] = sum_of(mass[i]) - mass[i, node[i, at.CLASS]]
        if node[i, at.CHILD] >= 0:
            below = 0.0
            for v in range(node[i, at.CHILDREN]):
                below += errors[node[i, at.CHILD] + v, 0]
            if below >= errors[i, 0] - EPSILON:
                node[i, at.CHILD] = at.NO_CHILD
            else:
                errors[i, 0] = below
