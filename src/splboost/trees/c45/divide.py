"""From the cases of a node to those of its branches.

A node holds a stretch ``low`` to ``high`` of several lists, which all name its cases:
list 0 in the order of the rows, one list for each sorted column in the order of its
values. A split divides every list, in order, into the stretches of its branches.

Cases with an unknown value of the tested attribute go to all branches, with a share of
their weight in each. Such branches cannot lie side by side in place of the node; each
is written above it once its turn comes. One of two is then taken from the node, which
stays as it is; of the many of a categorical attribute, each is joined by the unknown.
The node to be split next is always the one highest in memory; whatever lies above it is
free.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, lean_kernel
from splboost.trees.c45.memory import CHILD, CUT, FEATURE, PARENT
from splboost.trees.c45.ranks import ROW


@inner_kernel
def gather_root(cells, y, weight, scratch, lists, case_weight):
    """The lists of the rows of positive weight, and their number.

    Those of the table, if all are and none lacks a value; else ``lists``, which are
    then filled.
    """
    size = 0
    two, pull, counts = scratch.below.shape[0] == 2, scratch.pull, scratch.counts
    rows = lists[0]
    for row in range(y.size):
        pull[row] = -weight[row] if two and y[row] == 0 else weight[row]
        rows[size] = row
        case_weight[size] = weight[row]
        counts[row] = weight[row] > 0
        size += counts[row]
    if size == y.size and not cells.any_missing:
        return cells.ascending, size
    for k in range(1, lists.shape[0]):
        keep(cells.ascending[k], counts, lists[k])
    return lists, size


@lean_kernel(inner=True)
def keep(entries, counts, kept):
    """Copy the entries of rows that count, in order."""
    filled = np.uint64(0)
    for i in range(entries.size):
        entry = entries[i]
        kept[filled] = entry
        filled += np.uint64(counts[entry & ROW])


@lean_kernel(inner=True)
def load_weights(y, pull, n_classes, rows, case_weight, low, high):
    """Set the weights that the cases have in this node."""
    for i in range(low, high):
        row = rows[i]
        first = n_classes == 2 and y[row] == 0
        pull[row] = -case_weight[i] if first else case_weight[i]


@lean_kernel(inner=True)
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


@lean_kernel(inner=True)
def divide(source, lists, low, high, branch, start, spare):
    """Put the entries of each branch together, in the order they are in, in all lists.

    They are read from ``source``, which may be ``lists``.
    """
    for k in range(lists.shape[0]):
        entries, divided = source[k][low:high], lists[k][low:high]
        if start.size == 4 and start[2] == start[3]:  # two branches and none unknown
            divide_in_two(entries, divided, branch, spare)
        else:
            divide_in_many(entries, divided, branch, start, spare)


@lean_kernel(inner=True)
def divide_in_two(entries, divided, branch, spare):
    left = np.uint64(0)  # unsigned: numba need not look whether it is negative
    for i in range(entries.size):
        entry = entries[i]
        divided[left] = entry
        spare[np.uint64(i) - left] = entry
        left += np.uint64(1 - branch[entry & ROW])
    rest = divided[left:]
    for i in range(rest.size):
        rest[i] = spare[i]


@lean_kernel(inner=True)
def divide_in_many(entries, divided, branch, start, spare):
    low = start[0]
    for i in range(entries.size):
        v = branch[entries[i] & ROW]
        spare[start[v] - low] = entries[i]
        start[v] += 1
    for i in range(divided.size):
        divided[i] = spare[i]
    restore(start, low)


@lean_kernel(inner=True)
def restore(start, low):
    """Where branches start, after each was moved to its end."""
    for v in range(start.size - 1, 0, -1):
        start[v] = start[v - 1]
    start[0] = low


@lean_kernel(inner=True)
def take_branch(cells, node, child, share, counts, lists, case_weight, low, high):
    """Write a cut's branch and the cases of unknown value, in order, from ``high`` on.

    They are taken from the node above it, which lies from ``low`` to ``high``. Returns
    the end of what was written.
    """
    parent = node[node[child, PARENT]]
    is_right, cut = child > parent[CHILD], parent[CUT]
    rank = cells.rank[parent[FEATURE]]
    end = high
    for i in range(low, high):
        row = lists[0, i]
        r = rank[row]
        counts[row] = r < 0 or (r > cut) == is_right
        case_weight[end] = case_weight[i] * (share if r < 0 else 1.0)
        end += counts[row]
    for k in range(lists.shape[0]):
        keep(lists[k][low:high], counts, lists[k][high:])
    return end


@lean_kernel(inner=True)
def join_unknown(lists, case_weight, share, low, high, unknown, end):
    """Write a branch's cases and those of unknown value, in order, from ``end`` on.

    The former lie from ``low`` to ``high``, the latter from ``unknown`` to ``end``.
    Returns the end of what was written.
    """
    place = end
    for k in range(lists.shape[0]):
        entries = lists[k]
        i, j, place = low, unknown, end
        while i < high or j < end:
            own = j >= end or (i < high and entries[i] < entries[j])
            entries[place] = entries[i] if own else entries[j]
            if k == 0:
                case_weight[place] = case_weight[i] if own else share * case_weight[j]
            i, j = (i + 1, j) if own else (i, j + 1)
            place += 1
    return place


@inner_kernel
def widened(lists, case_weight, needed, used):
    """Copies of the lists with room for ``needed`` cases."""
    size = max(needed, 2 * lists.shape[1])
    wider = np.empty((lists.shape[0], size), dtype=lists.dtype)
    wider_weight = np.empty(size)
    wider[:, :used] = lists[:, :used]
    wider_weight[:used] = case_weight[:used]
    return wider, wider_weight
