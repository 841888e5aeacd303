"""Pessimistic pruning with subtree raising.

The errors of a leaf are taken for a sample of its true errors, of which the upper
confidence limit counts. Bottom up, a node becomes a leaf where that is expected to err
no more than its branches; or the largest of its branches takes its place, with all of
its cases, where that is.

Cases are (row, weight) pairs in a stretch of memory, ``low`` to ``high``. A test
divides them in place; those of unknown value are copied for each branch, with a share
of their weight, to memory that is ``free`` above.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from splboost._tools.compiling import inner_kernel, lean_kernel
from splboost.trees.c45.divide import restore
from splboost.trees.c45.gain import sum_of
from splboost.trees.c45.grow import enlarged, push
from splboost.trees.c45.memory import CHILD, CHILDREN, CLASS, CUT, FEATURE, NO_CHILD
from splboost.trees.c45.nodes import SLACK

CLOSE_ENOUGH = 0.1  # more errors that a simpler tree may make
DEVIATIONS = (
    (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0),
    (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0),
)
NO_ERRORS, ONE_ERROR = 1e-6, 0.9999
# Columns of a frame, of a node that is being pruned: its number, its cases, where
# memory is free, the branch to go to next (ENTER before the first) and its bounds
NODE, LOW, HIGH, FREE, NEXT, BOUNDS = range(6)
ENTER = -1
AS_TREE, AS_LEAF = range(2)  # columns of its errors


@cache
def deviations(confidence: float) -> float:
    """Standard deviations above the mean at a confidence, from C4.5's table."""
    return float(np.interp(confidence, *DEVIATIONS))


@lean_kernel(inner=True)
def extra_errors(cases, errors, confidence, z):
    """Errors to expect beyond those made, C4.5's ``AddErrs``.

    ``z`` is the ``deviations`` of the confidence.
    """
    if errors < NO_ERRORS:
        return cases * (1 - confidence ** (1 / cases))
    if errors < ONE_ERROR:
        none = cases * (1 - confidence ** (1 / cases))
        return none + errors * (upper_errors(cases, 1.0, z) - none)
    return upper_errors(cases, errors, z)


@lean_kernel(inner=True)
def upper_errors(cases, errors, z):
    """The same for an error or more, by the normal approximation."""
    if errors + 0.5 >= cases:
        return 0.67 * (cases - errors)
    half = errors + 0.5
    spread = np.sqrt(z * z * (half * (1 - half / cases) + z * z / 4))
    return cases * (half + z * z / 2 + spread) / (cases + z * z) - errors


@inner_kernel
def prune(cells, y, weight, node, mass, limit, scratch):
    """Prune a tree in place, and set its class weights to those of the cases.

    ``limit`` is the confidence and its ``deviations``.
    """
    size, row, case = 0, scratch.lists[0], scratch.case_weight
    columns = cells.rank, cells.categorical, cells.any_missing
    spare = scratch.branch, scratch.spare, scratch.bound, scratch.total
    for i in range(weight.size):
        if weight[i] > 0:
            row[size], case[size] = i, weight[i]
            size += 1
    frame = np.empty((64, 6), dtype=np.int64)
    errors = np.empty((64, 2))
    bounds = np.empty(256, dtype=np.int64)
    depth = enter(frame, 0, 0, 0, size, size, 0)
    while depth >= 0:
        here = frame[depth]
        i, low, high, free = here[NODE], here[LOW], here[HIGH], here[FREE]
        n, first_bound = node[i, CHILDREN], here[BOUNDS]
        if here[NEXT] == ENTER:
            errors[depth, AS_LEAF] = leaf_errors(
                y, node[i], mass[i], limit, row, case, low, high
            )
            if node[i, CHILD] < 0:
                errors[depth, AS_TREE] = errors[depth, AS_LEAF]
                depth = hand_up(frame, errors, depth)
                continue
            if first_bound + n + 2 > bounds.size:
                bounds = lengthened(bounds, n + 2)
            start = bounds[first_bound : first_bound + n + 2]
            divide_cases(columns, node[i], row, case, low, high, start, spare)
            errors[depth, AS_TREE] = 0.0
            here[NEXT] = 0

        start = bounds[first_bound : first_bound + n + 2]
        v = here[NEXT]
        while v < n and start[v + 1] == start[v]:
            v += 1
        here[NEXT] = v
        if v < n:
            first, last, unknown = start[v], start[v + 1], start[n + 1] - start[n]
            if unknown > 0:
                row, case = with_room(row, case, free + last - first + unknown)
                first, last = copy_branch(row, case, start, v, free)
            if depth + 1 == frame.shape[0]:
                frame, errors = enlarged(frame, 1), enlarged(errors, 1)
            child, above = node[i, CHILD] + v, max(free, last)
            depth = enter(
                frame, depth + 1, child, first, last, above, first_bound + n + 2
            )
            continue

        largest = node[i, CHILD] + largest_branch(case, start)
        as_branch, row, case = estimate(
            columns, y, node, largest, limit, spare, row, case, low, high, free
        )
        as_tree, as_leaf = errors[depth, AS_TREE], errors[depth, AS_LEAF]
        if as_leaf <= min(as_branch, as_tree) + CLOSE_ENOUGH:
            node[i, CHILD] = NO_CHILD
            errors[depth, AS_TREE] = as_leaf
        elif as_branch <= as_tree + CLOSE_ENOUGH:
            for k in (FEATURE, CUT, CHILD, CHILDREN, CLASS):
                node[i, k] = node[largest, k]
            here[NEXT] = ENTER
            continue
        depth = hand_up(frame, errors, depth)


@lean_kernel(inner=True)
def enter(frame, depth, node, low, high, free, first_bound):
    """Begin with a node; its depth."""
    frame[depth, NODE], frame[depth, LOW], frame[depth, HIGH] = node, low, high
    frame[depth, FREE], frame[depth, NEXT] = free, ENTER
    frame[depth, BOUNDS] = first_bound
    return depth


@lean_kernel(inner=True)
def hand_up(frame, errors, depth):
    """Give a node's errors to its parent, which goes on to the next branch."""
    if depth > 0:
        errors[depth - 1, AS_TREE] += errors[depth, AS_TREE]
        frame[depth - 1, NEXT] += 1
    return depth - 1


@inner_kernel
def estimate(columns, y, node, root, limit, spare, row, case, low, high, free):
    """Errors to expect of a subtree on some cases.

    Returns them, and the cases, which may have been moved to larger memory.
    """
    errors = 0.0
    of_class = spare[3]
    stack = np.empty((64, 5), dtype=np.int64)
    n_open = push(stack, 0, root, low, high, 0, 0)
    while n_open > 0:
        n_open -= 1
        i, low, high = stack[n_open, 0], stack[n_open, 1], stack[n_open, 2]
        if node[i, CHILD] < 0:
            unchanged = node[i].copy()
            errors += leaf_errors(y, unchanged, of_class, limit, row, case, low, high)
            continue
        n = node[i, CHILDREN]
        start = np.empty(n + 2, dtype=np.int64)
        divide_cases(columns, node[i], row, case, low, high, start, spare)
        unknown = start[n + 1] - start[n]
        if n_open + n > stack.shape[0]:
            stack = enlarged(stack, n)
        above = max(free, high)
        if unknown > 0:
            row, case = with_room(row, case, above + (high - low) + n * unknown)
        for v in range(n):
            first, last = start[v], start[v + 1]
            if last > first and unknown > 0:
                first, last = copy_branch(row, case, start, v, above)
                above = last
            if last > first:
                n_open = push(stack, n_open, node[i, CHILD] + v, first, last, 0, 0)
    return errors, row, case


@lean_kernel(inner=True)
def leaf_errors(y, node, of_class, limit, row, case, low, high):
    """Errors to expect of a leaf with these cases; sets its class and its weights.

    It keeps its class unless another is heavier.
    """
    of_class[:] = 0
    if of_class.size == 2:
        of_first = of_second = 0.0
        for i in range(low, high):
            weight, is_first = case[i], y[np.uint64(row[i])] == 0
            of_first += weight if is_first else 0.0
            of_second += 0.0 if is_first else weight
        of_class[0], of_class[1] = of_first, of_second
    else:
        for i in range(low, high):
            of_class[y[row[i]]] += case[i]
    for c in range(of_class.size):
        if of_class[c] > of_class[node[CLASS]] * (1 + SLACK):
            node[CLASS] = c
    total = sum_of(of_class)
    wrong = total - of_class[node[CLASS]]
    return wrong + extra_errors(total, wrong, limit[0], limit[1])


@inner_kernel
def with_room(row, case, needed):
    """The cases, in larger memory if they need it."""
    if needed <= row.size:
        return row, case
    return lengthened(row, needed), lengthened(case, needed)


@inner_kernel
def lengthened(array, more):
    """A copy with at least so much more room."""
    longer = np.empty(2 * array.size + more, dtype=array.dtype)
    longer[: array.size] = array
    return longer


@lean_kernel(inner=True)
def divide_cases(columns, node, row, case, low, high, start, spare):
    """Put the cases of each branch together, the unknown last; and where they start.

    ``columns`` are the ranks of the cells, which columns are categorical, and whether
    any cell is missing.
    """
    rank, unknown = columns[0][node[FEATURE]], node[CHILDREN]
    categorical, cut = columns[1][node[FEATURE]], node[CUT]
    branch, spare_row, spare_case, _ = spare
    if not categorical and not columns[2]:
        n_left = cut_cases(
            rank, cut, row[low:high], case[low:high], spare_row, spare_case
        )
        start[0], start[1], start[2], start[3] = low, low + n_left, high, high
        return
    start[:] = 0
    for i in range(low, high):
        r = rank[row[i]]
        v = np.int64(r) if categorical else np.int64(r > cut)
        v = v if r >= 0 else unknown
        branch[i - low] = v
        start[v + 1] += 1
        spare_row[i - low], spare_case[i - low] = row[i], case[i]
    start[0] = low
    for v in range(unknown + 1):
        start[v + 1] += start[v]
    for i in range(high - low):
        v = branch[i]
        row[start[v]], case[start[v]] = spare_row[i], spare_case[i]
        start[v] += 1
    restore(start, low)


@lean_kernel(inner=True)
def cut_cases(rank, cut, row, case, spare_row, spare_case):
    """The same for two branches and none unknown; the number on the left."""
    left = np.uint64(0)
    for i in range(row.size):
        this, weight = row[i], case[i]
        right = np.uint64(i) - left
        row[left], case[left] = this, weight
        spare_row[right], spare_case[right] = this, weight
        left += np.uint64(rank[np.uint64(this)] <= cut)
    n_left = np.int64(left)
    for i in range(row.size - n_left):
        row[n_left + i], case[n_left + i] = spare_row[i], spare_case[i]
    return n_left


@lean_kernel(inner=True)
def copy_branch(row, case, start, v, free):
    """Write the cases of branch v and their share of the unknown ones at ``free``."""
    n = start.size - 2
    own = sum_of(case[start[v] : start[v + 1]])
    share = own / sum_of(case[start[0] : start[n]])
    place = free
    for i in range(start[v], start[v + 1]):
        row[place], case[place] = row[i], case[i]
        place += 1
    for i in range(start[n], start[n + 1]):
        row[place], case[place] = row[i], case[i] * share
        place += 1
    return free, place


@lean_kernel(inner=True)
def largest_branch(case, start):
    """The branch of largest known weight, the last of equals."""
    best, most = 0, 0.0
    for v in range(start.size - 2):
        weight = sum_of(case[start[v] : start[v + 1]])
        if weight > 0 and weight >= most * (1 - SLACK):
            best, most = v, weight
    return best
