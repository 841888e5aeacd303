"""Pessimistic pruning with subtree raising.

The errors of a leaf are taken for a sample of its true errors, of which the upper
confidence limit counts. Bottom up, a node becomes a leaf where that is expected to err
no more than its branches; or the largest of its branches takes its place, with all of
its cases, where that is.

Cases are (row, weight) pairs in a stretch of memory; a test divides them in place, and
cases of unknown value are copied, with a share of their weight, to free memory above.
"""

from __future__ import annotations

import numpy as np

from splboost.compiled import kernel
from splboost.trees.c45.gain import SLACK
from splboost.trees.c45.grow import CHILD, CHILDREN, CLASS, CUT, FEATURE, NO_CHILD

CLOSE_ENOUGH = 0.1  # more errors that a simpler tree may make
DEVIATIONS = (
    (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0),
    (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0),
)
NO_ERRORS, ONE_ERROR = 1e-6, 0.9999
ENTER = -1


def deviations(confidence: float) -> float:
    """Standard deviations above the mean at a confidence, from C4.5's table."""
    return float(np.interp(confidence, *DEVIATIONS))


@kernel
def extra_errors(cases, errors, confidence, z):
    """Errors to expect beyond those made, C4.5's ``AddErrs``."""
    if errors < NO_ERRORS:
        return cases * (1 - confidence ** (1 / cases))
    if errors < ONE_ERROR:
        none = cases * (1 - confidence ** (1 / cases))
        return none + errors * (upper_errors(cases, 1.0, z) - none)
    return upper_errors(cases, errors, z)


@kernel
def upper_errors(cases, errors, z):
    """The same for an error or more, by the normal approximation."""
    if errors + 0.5 >= cases:
        return 0.67 * (cases - errors)
    half = errors + 0.5
    spread = np.sqrt(z * z * (half * (1 - half / cases) + z * z / 4))
    return cases * (half + z * z / 2 + spread) / (cases + z * z) - errors


@kernel
def prune(rank, categorical, y, weight, node, mass, confidence, z):
    """Prune a tree in place, and set its class weights to those of the cases."""
    row, case, size = positive_cases(weight)
    of_class = np.empty(mass.shape[1])
    # Of each node under way: its number, its cases' first and end, where memory is
    # free, the branch to go to next, and its place among the bounds.
    frame = np.empty((64, 6), dtype=np.int64)
    errors = np.zeros((64, 2))  # of the branches so far, and as a leaf
    bounds = np.empty(256, dtype=np.int64)
    frame[0] = 0, 0, size, size, ENTER, 0
    depth = 0
    while depth >= 0:
        i, low, high = frame[depth, 0], frame[depth, 1], frame[depth, 2]
        free, v, b = frame[depth, 3], frame[depth, 4], frame[depth, 5]
        if v == ENTER:
            sum_classes(y, row, case, low, high, of_class)
            node[i, CLASS] = heavier(of_class, node[i, CLASS])
            mass[i] = of_class
            total = of_class.sum()
            wrong = total - of_class[node[i, CLASS]]
            errors[depth, 0] = 0.0
            errors[depth, 1] = wrong + extra_errors(total, wrong, confidence, z)
            if node[i, CHILD] < 0:
                errors[depth, 0] = errors[depth, 1]
                depth = hand_up(frame, errors, depth)
                continue
            n = node[i, CHILDREN]
            if b + n + 2 > bounds.size:
                bounds = np.append(bounds, np.empty(bounds.size + n + 2, np.int64))
            divide_cases(
                rank, categorical, node[i], row, case, low, high, bounds[b : b + n + 2]
            )
            v = 0

        n = node[i, CHILDREN]
        start = bounds[b : b + n + 2]
        while v < n and start[v + 1] == start[v]:
            v += 1
        frame[depth, 4] = v
        if v < n:
            first, last, unknown = start[v], start[v + 1], start[n + 1] - start[n]
            if unknown > 0:
                if free + last - first + unknown > row.size:
                    row, case = more_room(row, case, last - first + unknown)
                first, last = copy_branch(row, case, start, v, n, free)
            if depth + 1 == frame.shape[0]:
                frame = np.concatenate((frame, np.empty_like(frame)))
                errors = np.concatenate((errors, np.empty_like(errors)))
            depth += 1
            frame[depth] = (
                node[i, CHILD] + v, first, last, max(free, last), ENTER, b + n + 2
            )  # fmt: skip
            continue

        as_tree, as_leaf = errors[depth, 0], errors[depth, 1]
        largest = node[i, CHILD] + largest_branch(case, start, n)
        as_branch, row, case = estimate(
            rank, categorical, y, node, largest, row, case, low, high, free,
            confidence, z, of_class,
        )  # fmt: skip
        if as_leaf <= min(as_branch, as_tree) + CLOSE_ENOUGH:
            node[i, CHILD] = NO_CHILD
            errors[depth, 0] = as_leaf
        elif as_branch <= as_tree + CLOSE_ENOUGH:
            for k in (FEATURE, CUT, CHILD, CHILDREN, CLASS):
                node[i, k] = node[largest, k]
            frame[depth, 4] = ENTER
            continue
        depth = hand_up(frame, errors, depth)


@kernel
def hand_up(frame, errors, depth):
    """Give a node's errors to its parent, which goes on to the next branch."""
    if depth > 0:
        errors[depth - 1, 0] += errors[depth, 0]
        frame[depth - 1, 4] += 1
    return depth - 1


@kernel
def estimate(
    rank, categorical, y, node, root, row, case, low, high, free, confidence, z, of_class
):  # fmt: skip
    """Errors to expect of a subtree on the cases from ``low`` to ``high``.

    Returns them, and the cases, which may have been moved to larger memory.
    """
    total_errors = 0.0
    stack = np.empty((64, 3), dtype=np.int64)
    stack[0] = root, low, high
    n_open = 1
    while n_open > 0:
        n_open -= 1
        i, low, high = stack[n_open, 0], stack[n_open, 1], stack[n_open, 2]
        if node[i, CHILD] < 0:
            sum_classes(y, row, case, low, high, of_class)
            total = of_class.sum()
            wrong = total - of_class[heavier(of_class, node[i, CLASS])]
            total_errors += wrong + extra_errors(total, wrong, confidence, z)
            continue
        n = node[i, CHILDREN]
        start = np.empty(n + 2, dtype=np.int64)
        divide_cases(rank, categorical, node[i], row, case, low, high, start)
        unknown = start[n + 1] - start[n]
        if n_open + n > stack.shape[0]:
            stack = np.concatenate((stack, np.empty((n + 64, 3), dtype=np.int64)))
        above = max(free, high)
        if unknown > 0 and above + (high - low) + n * unknown > row.size:
            row, case = more_room(row, case, above + (high - low) + n * unknown)
        for v in range(n):
            first, last = start[v], start[v + 1]
            if last == first:
                continue
            if unknown > 0:
                first, last = copy_branch(row, case, start, v, n, above)
                above = last
            stack[n_open] = node[i, CHILD] + v, first, last
            n_open += 1
    return total_errors, row, case


@kernel
def positive_cases(weight):
    """Rows of positive weight and their weights."""
    row = np.flatnonzero(weight > 0)
    return row, weight[row], row.size


@kernel
def more_room(row, case, more):
    """Copies of the cases with at least so much more memory above."""
    size = row.size
    wider_row, wider_case = (
        np.empty(2 * size + more, row.dtype),
        np.empty(2 * size + more),
    )
    wider_row[:size], wider_case[:size] = row, case
    return wider_row, wider_case


@kernel
def sum_classes(y, row, case, low, high, of_class):
    of_class[:] = 0
    for i in range(low, high):
        of_class[y[row[i]]] += case[i]


@kernel
def heavier(of_class, present):
    """The present class, unless one is heavier: then the first of the heaviest."""
    best = present
    for c in range(of_class.size):
        if of_class[c] > of_class[best] * (1 + SLACK):
            best = c
    return best


@kernel
def divide_cases(rank, categorical, node, row, case, low, high, start):
    """Put the cases of each branch together, the unknown last; and where they start."""
    f, n = node[FEATURE], node[CHILDREN]
    branch = np.empty(high - low, dtype=np.int32)
    start[:] = 0
    for i in range(low, high):
        r = rank[f, row[i]]
        v = n
        if r >= 0:
            v = r if categorical[f] else np.int64(r > node[CUT])
        branch[i - low] = v
        start[v + 1] += 1
    start[0] = low
    for v in range(n + 1):
        start[v + 1] += start[v]
    place = start.copy()
    spare_row = row[low:high].copy()
    spare_case = case[low:high].copy()
    for i in range(high - low):
        to = place[branch[i]]
        row[to], case[to] = spare_row[i], spare_case[i]
        place[branch[i]] += 1


@kernel
def copy_branch(row, case, start, v, n, free):
    """Write the cases of branch v and their share of the unknown ones at ``free``."""
    known = 0.0
    for i in range(start[0], start[n]):
        known += case[i]
    own = 0.0
    for i in range(start[v], start[v + 1]):
        own += case[i]
    place = free
    for i in range(start[v], start[v + 1]):
        row[place], case[place] = row[i], case[i]
        place += 1
    for i in range(start[n], start[n + 1]):
        row[place], case[place] = row[i], case[i] * (own / known)
        place += 1
    return free, place


@kernel
def largest_branch(case, start, n):
    """The branch of largest known weight, the last of equals."""
    best, most = 0, 0.0
    for v in range(n):
        weight = 0.0
        for i in range(start[v], start[v + 1]):
            weight += case[i]
        if weight > 0 and weight >= most * (1 - SLACK):
            best, most = v, weight
    return best
