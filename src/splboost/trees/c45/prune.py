"""Pessimistic pruning with subtree raising.

The errors of a leaf are taken for a sample of its true errors, of which the upper
confidence limit counts. Bottom up, a node becomes a leaf where that is expected to err
no more than its branches; or the largest of its branches takes its place, with all of
its cases, where that is.

Cases are those of list 0, divided among branches as in growing; the last branch comes
first. They are needed again when the branches are done, so copies of those with unknown
values go above them all.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from splboost._tools.compiling import kernel, lean_kernel
from splboost.trees.c45 import c45_workspace as at
from splboost.trees.c45.c45_grow import (
    divide,
    keep_weights,
    list_cases,
    open_node,
    part_cases,
    push,
    take_up,
)
from splboost.trees.c45.gain import SLACK, sum_of

CLOSE_ENOUGH = 0.1  # more errors that a simpler tree may make
DEVIATIONS_AT = (
    (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0),
    (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0),
)
NO_ERRORS, ONE_ERROR = 1e-6, 0.9999
# Columns of a frame, of a node that is being pruned: its number, its cases, where
# memory is free, how many branches are left (NOT_DIVIDED before the first), where its
# bounds are, and which branch is the largest
IN_FRAME, FIRST, LAST, FREE_FROM, LEFT, BOUNDS, LARGEST = range(7)
NOT_DIVIDED = -1
AS_TREE, AS_LEAF = range(2)  # columns of its errors


@cache
def deviations(confidence: float) -> float:
    """Standard deviations above the mean at a confidence, from C4.5's table."""
    return float(np.interp(confidence, *DEVIATIONS_AT))


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


@kernel
def prune(memory):
    """Go on pruning a tree; whether it is done, or there is no room for it.

    Nodes get the class weights of the cases that they have in the end.
    """
    cells, scratch = memory.cells, memory.scratch
    now, node, errors = scratch.now, scratch.node, scratch.errors
    now[at.WORK] = at.CELLS
    if not now[at.BEGUN]:
        now[at.BEGUN], now[at.N_OPEN], now[at.N_FRAMES] = 1, 0, 0
        # Growing has written over cases of branches that it was done with.
        list_cases(scratch)
        enter(scratch, np.int64(0), np.int64(0), now[at.SIZE])
    has_room = True
    while has_room and now[at.WORK] > 0 and now[at.N_FRAMES] > 0:
        depth = now[at.N_FRAMES] - 1
        here = scratch.frame[depth]
        i = here[IN_FRAME]
        now[at.WORK] -= here[LAST] - here[FIRST]
        if here[LEFT] == NOT_DIVIDED:
            node[i, at.CLASS] = label_of(node[i, at.CLASS], scratch.mass[i])
            wrong = errors_of(scratch, node[i, at.CLASS], scratch.mass[i])
            errors[depth, AS_LEAF] = wrong
            if node[i, at.CHILD] >= 0:
                errors[depth, AS_TREE] = 0.0
                divide_frame(cells, scratch, here)
            else:
                hand_up(scratch, wrong)
        elif here[LEFT] > 0:
            here[LEFT] -= 1
            has_room = enter_branch(cells, scratch, here)
        else:
            largest = node[i, at.CHILD] + here[LARGEST]
            as_tree, as_leaf = errors[depth, AS_TREE], errors[depth, AS_LEAF]
            as_branch = estimate(cells, scratch, largest, here)
            if as_branch < 0:
                has_room = False
            elif as_leaf <= min(as_branch, as_tree) + CLOSE_ENOUGH:
                node[i, at.CHILD] = at.NO_CHILD
                hand_up(scratch, as_leaf)
            elif as_branch <= as_tree + CLOSE_ENOUGH:
                for k in (at.FEATURE, at.CUT, at.CHILD, at.CHILDREN, at.CLASS):
                    node[i, k] = node[largest, k]
                here[LEFT] = NOT_DIVIDED
            else:
                hand_up(scratch, as_tree)
    done = now[at.N_FRAMES] == 0
    return at.NO_ROOM if not has_room else (at.DONE if done else at.UNDER_WAY)


@lean_kernel(inner=True)
def enter(scratch, i, low, high):
    """Begin with a node."""
    depth, bounds, free = scratch.now[at.N_FRAMES], np.int64(0), high
    if depth > 0:
        above = scratch.frame[depth - 1]
        free = max(high, above[FREE_FROM])
        bounds = above[BOUNDS] + scratch.node[above[IN_FRAME], at.CHILDREN] + 2
    frame = scratch.frame[depth]
    frame[IN_FRAME], frame[FIRST], frame[LAST] = i, low, high
    frame[FREE_FROM], frame[LEFT], frame[BOUNDS] = free, NOT_DIVIDED, bounds
    scratch.now[at.N_FRAMES] = depth + 1


@lean_kernel(inner=True)
def hand_up(scratch, errors):
    """Give a node's errors to its parent, which goes on to the next branch."""
    scratch.now[at.N_FRAMES] -= 1
    if scratch.now[at.N_FRAMES] > 0:
        scratch.errors[scratch.now[at.N_FRAMES] - 1, AS_TREE] += errors


@lean_kernel(inner=True, forceinline=True)
def divide_frame(cells, scratch, frame):
    """Divide the cases of a node, and note which branch has the largest known weight.

    Of equals that is the last.
    """
    i, mass, most = frame[IN_FRAME], scratch.mass, 0.0
    n, first = scratch.node[i, at.CHILDREN], scratch.node[i, at.CHILD]
    take_up(cells, scratch, i, frame[FIRST], frame[LAST])
    part_cases(cells, scratch, i)
    for v in range(n):
        for c in range(mass.shape[1]):
            mass[first + v, c] = scratch.of_branch[v, c]
        if scratch.part[v] > 0 and scratch.part[v] >= most * (1 - SLACK):
            frame[LARGEST], most = v, scratch.part[v]
    for v in range(n + 2):
        scratch.bounds[frame[BOUNDS] + v] = scratch.start[v]
    divide_cases(cells, scratch, n)
    frame[LEFT] = n


@lean_kernel(inner=True)
def divide_cases(cells, scratch, n):
    """Put the cases of each of n branches together."""
    rows = scratch.lists[0][scratch.now[at.LOW] : scratch.now[at.HIGH]]
    divide(rows, rows, scratch, n)
    keep_weights(cells, scratch)


@lean_kernel(inner=True, forceinline=True)
def enter_branch(cells, scratch, frame):
    """Begin with the next branch, if it has cases; False if there is no room for it."""
    i, v = frame[IN_FRAME], frame[LEFT]
    start = scratch.bounds[frame[BOUNDS] :]
    n, child = scratch.node[i, at.CHILDREN], scratch.node[i, at.CHILD] + v
    if start[v] == start[v + 1]:
        return True
    share = sum_of(scratch.mass[child]) / sum_of(scratch.mass[i])
    scratch.now[at.FREE] = frame[FREE_FROM]
    push(scratch, child, share, (start[v], start[v + 1], start[n], start[n + 1]))
    if not open_node(cells, scratch, np.int64(1)):
        return False
    enter(scratch, child, scratch.now[at.LOW], scratch.now[at.HIGH])
    return True


@lean_kernel(inner=True, forceinline=True)
def estimate(cells, scratch, root, frame):
    """Errors to expect of a subtree on the cases of a node; -1 if there is no room."""
    node, start, now = scratch.node, scratch.start, scratch.now
    if node[root, at.CHILD] < 0:
        of_class = scratch.mass[frame[IN_FRAME]]
        return errors_of(scratch, label_of(node[root, at.CLASS], of_class), of_class)
    errors, now[at.FREE] = 0.0, frame[FREE_FROM]
    push(scratch, root, 1.0, (frame[FIRST], frame[LAST], frame[LAST], frame[LAST]))
    while now[at.N_OPEN] > 0:
        if not open_node(cells, scratch, np.int64(1)):
            return -1.0
        i, n_open = now[at.NODE], now[at.N_OPEN]
        n = node[i, at.CHILDREN]
        part_cases(cells, scratch, i)
        for v in range(n):
            child, of_class = node[i, at.CHILD] + v, scratch.of_branch[v]
            if start[v + 1] > start[v]:
                if node[child, at.CHILD] < 0:
                    label = label_of(node[child, at.CLASS], of_class)
                    errors += errors_of(scratch, label, of_class)
                else:
                    span = start[v], start[v + 1], start[n], start[n + 1]
                    push(scratch, child, scratch.part[v], span)
        if now[at.N_OPEN] > n_open:
            divide_cases(cells, scratch, n)
    return errors


@lean_kernel(inner=True)
def label_of(label, of_class):
    """The class of a leaf, which stays unless another is heavier."""
    for c in range(of_class.size):
        if of_class[c] > of_class[label] * (1 + SLACK):
            label = c
    return label


@lean_kernel(inner=True)
def errors_of(scratch, label, of_class):
    """Errors to expect of a leaf with cases of these class weights."""
    total = sum_of(of_class)
    wrong = total - of_class[label]
    limits = scratch.limits
    return wrong + extra_errors(
        total, wrong, limits[at.CONFIDENCE], limits[at.DEVIATIONS]
    )
