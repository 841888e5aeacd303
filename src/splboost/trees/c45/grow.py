"""A C4.5 tree from case weights, depth first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splboost._tools.compiling import inner_kernel, lean_kernel
from splboost.trees.c45.choose import choose_split
from splboost.trees.c45.divide import (
    assign_branches,
    divide,
    gather_root,
    join_unknown,
    load_weights,
    take_branch,
    widened,
)
from splboost.trees.c45.gain import EPSILON, reaches, sum_of
from splboost.trees.c45.memory import (
    CHILD,
    CHILDREN,
    CLASS,
    CUT,
    DEPTH,
    FEATURE,
    NO_CHILD,
    PARENT,
)
from splboost.trees.c45.nodes import SLACK

TAKE = -1  # the end of the unknown, of a branch that is yet to be taken from a node


class Options(NamedTuple):
    """What sort of tree to grow; see ``C45Classifier``.

    With ``free_depth`` above 0, a tree whose root can pay for no cut is grown to that
    depth without paying.
    """

    min_cases: float
    max_depth: int
    mdl: bool
    free_depth: int


@inner_kernel
def grow(cells, y, weight, options, scratch):
    """Grow a tree on the rows of positive weight.

    Returns the nodes' integers, their class weights, and whether they had to pay for
    cuts.
    """
    n_classes, lists = scratch.below.shape[0], scratch.lists
    case_weight = scratch.case_weight
    mdl, max_depth = options.mdl, options.max_depth
    source, size = gather_root(cells, y, weight, scratch, lists, case_weight)
    node = np.full((64, 7), NO_CHILD)
    mass = np.zeros((64, n_classes))
    for i in range(size):
        mass[0, y[lists[0, i]]] += case_weight[i]
    node[0, DEPTH] = 0
    node[0, CLASS] = heaviest(mass[0])
    n_nodes = 1
    too_many = 0.3 * sum_of(mass[0])  # values of a category, to count in the average
    # Of nodes to be split: number, cases, and those of unknown value that join them, or
    # TAKE if the cases are still those of the node above; the share of the unknown
    stack, shares = np.empty((64, 5), dtype=np.int64), np.empty(64)
    n_open = 0
    if may_split(node[0], mass[0], options.min_cases, max_depth):
        n_open = push(stack, 0, 0, 0, size, 0, 0)

    while n_open > 0:
        n_open -= 1
        parent, low, high = stack[n_open, 0], stack[n_open, 1], stack[n_open, 2]
        unknown, end = stack[n_open, 3], stack[n_open, 4]
        if end != unknown:
            used = max(high, end)
            needed = used + (high - low) + max(end - unknown, 0)
            if needed > lists.shape[1]:
                lists, case_weight = widened(lists, case_weight, needed, used)
                source = lists
            share = shares[n_open]
            if end == TAKE:
                counts = scratch.counts
                high = take_branch(
                    cells, node, parent, share, counts, lists, case_weight, low, high
                )
            else:
                high = join_unknown(lists, case_weight, share, low, high, unknown, end)
            low = used
        if cells.any_missing:
            load_weights(y, scratch.pull, n_classes, lists[0], case_weight, low, high)
        freely = mdl and parent == 0 and options.free_depth > 0
        feature, cut, paid = choose_split(
            cells,
            y,
            weight,
            node,
            mass,
            parent,
            options.min_cases,
            mdl,
            freely,
            scratch,
            source,
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
            cells, y, feature, cut, scratch, source[0], low, high, of_branch, start
        )

        if n_nodes + n_branches > node.shape[0]:
            node, mass = enlarged(node, n_branches), enlarged(mass, n_branches)
        node[parent, FEATURE], node[parent, CUT] = feature, cut
        node[parent, CHILD], node[parent, CHILDREN] = n_nodes, n_branches
        known = 0.0
        for v in range(n_branches):
            known += sum_of(of_branch[v])
        n_to_split = 0
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
            n_to_split += may_split(
                node[child], mass[child], options.min_cases, max_depth
            )
        n_nodes += n_branches
        if n_to_split == 0:
            continue

        if n_open + n_to_split > stack.shape[0]:
            stack = enlarged(stack, n_to_split)
            shares = np.append(shares, np.empty(stack.shape[0] - shares.size))
        unknown, end = start[n_branches], start[n_branches + 1]
        take = end > unknown and not cells.categorical[feature]
        if not take:
            divide(source, lists, low, high, scratch.branch, start, scratch.spare)
            source = lists
            if cells.any_missing:
                for i in range(low, high):
                    case_weight[i] = abs(scratch.pull[lists[0, i]])
        for v in range(n_branches):
            child = node[parent, CHILD] + v
            if may_split(node[child], mass[child], options.min_cases, max_depth):
                shares[n_open] = sum_of(of_branch[v]) / known
                if take:
                    n_open = push(stack, n_open, child, low, high, 0, TAKE)
                else:
                    first, last = start[v], start[v + 1]
                    n_open = push(stack, n_open, child, first, last, unknown, end)
    collapse(node, mass, n_nodes)
    return node[:n_nodes], mass[:n_nodes], mdl


@lean_kernel(inner=True)
def heaviest(weights):
    """The first class of those that are heaviest but for rounding."""
    most = 0.0
    for c in range(weights.size):
        most = max(most, weights[c])
    for c in range(weights.size):
        if weights[c] >= most * (1 - SLACK):
            return c
    return 0


@lean_kernel(inner=True)
def may_split(node, mass, min_cases, max_depth):
    """Whether a node is worth a look: mixed, of some weight, and not too deep."""
    total = sum_of(mass)
    mixed = total - mass[node[CLASS]] > SLACK * total
    enough = total > 0 and reaches(total, 2 * min_cases)
    return mixed and enough and node[DEPTH] < max_depth


@lean_kernel(inner=True)
def push(stack, n_open, node, low, high, unknown, end):
    """Put a node and its cases on the stack; the new number there."""
    stack[n_open, 0], stack[n_open, 1], stack[n_open, 2] = node, low, high
    stack[n_open, 3], stack[n_open, 4] = unknown, end
    return n_open + 1


@inner_kernel
def enlarged(array, more):
    """A copy with at least so many more rows."""
    rows = array.shape[0]
    larger = np.empty((2 * rows + more, array.shape[1]), dtype=array.dtype)
    larger[:rows] = array
    return larger


@inner_kernel
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
