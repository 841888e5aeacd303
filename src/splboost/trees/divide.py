"""Splitting a node: its two children, their sums and their rows."""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel
from splboost.trees.binning import CATEGORICAL
from splboost.trees.split import is_better
from splboost.trees.workspace import (
    BIN,
    CHILD,
    DEPTH,
    DIVIDED,
    END,
    FEATURE,
    GAIN,
    LEAST_SQUARES,
    MISSING_LEFT,
    N_LEAVES,
    N_NODES,
    NONE_MISSING,
    SLOT,
    START,
    THRESHOLD,
    fill_sides,
    weight_of,
)


@inner_kernel
def split_node(work, node):
    """Make the two children: their sums, and their rows unless both must be leaves.

    Where nothing was missing in training, missing cells follow the heavier child; a
    category that the node has not seen goes where missing cells go.
    """
    p = work.progress
    left = p[N_NODES]
    p[N_NODES] += 2
    p[N_LEAVES] += 1
    row = work.node[node]
    start, end, depth = row[START], row[END], row[DEPTH]
    row[CHILD] = left
    row[DIVIDED] = depth + 1 != work.max_depth
    sides = np.empty(256, dtype=np.uint8)
    fill_sides(work, node, sides)
    if row[SLOT] >= 0:
        sum_left_bins(work, node, sides, work.total[left])
    else:
        sum_left_rows(work, node, sides, work.total[left])
    for s in range(work.total.shape[1]):
        work.total[left + 1, s] = work.total[node, s] - work.total[left, s]
    if row[MISSING_LEFT] == NONE_MISSING:
        left_weight = weight_of(work, left)
        right_weight = weight_of(work, left + 1)
        row[MISSING_LEFT] = 0 if is_better(right_weight, left_weight) else 1
    if row[MISSING_LEFT] == 1 and work.kind[row[FEATURE]] == CATEGORICAL:
        send_unseen_left(work, node)
    fill_sides(work, node, sides)
    if row[DIVIDED]:
        codes = work.codes[row[FEATURE]]
        cut = start + divide_rows(codes, sides, work.rows[start:end], work.spare)
        make_node(work, left, start, cut, depth + 1)
        make_node(work, left + 1, cut, end, depth + 1)
    else:
        make_node(work, left, start, start, depth + 1)
        make_node(work, left + 1, end, end, depth + 1)


@inner_kernel
def make_node(work, node, start, end, depth):
    row = work.node[node]
    row[START], row[END], row[DEPTH], row[SLOT] = start, end, depth, -1
    row[CHILD], row[FEATURE], row[BIN], row[MISSING_LEFT] = -1, -1, -1, 0
    row[DIVIDED] = 0
    work.number[node, GAIN], work.number[node, THRESHOLD] = 0.0, np.nan


@inner_kernel
def sum_left_bins(work, node, sides, total):
    """Sums of the left child from the node's histogram."""
    f = work.node[node, FEATURE]
    hist = work.hist[work.node[node, SLOT], work.offset[f] << work.shift :]
    total[:] = 0
    for b in range(work.n_bins[f] + 1):
        if sides[b] == 0:
            for s in range(total.size):
                total[s] += hist[(b << work.shift) + s]


@inner_kernel
def sum_left_rows(work, node, sides, total):
    """Sums of the left child from the node's rows."""
    start, end = work.node[node, START], work.node[node, END]
    codes = work.codes[work.node[node, FEATURE]]
    rows, weight = work.rows, work.row_weight
    regression = work.criterion == LEAST_SQUARES
    total[:] = 0
    for i in range(start, end):
        if sides[codes[rows[i]]] == 0:
            if regression:
                total[0] += weight[i]
                total[1] += work.row_moment[i]
            else:
                total[work.row_class[i]] += weight[i]
            if work.counter >= 0:
                total[work.counter] += 1


@inner_kernel
def send_unseen_left(work, node):
    """Let the categories without a row in the node go left, as missing cells do."""
    row, bits = work.node[node], work.bins[node]
    f = row[FEATURE]
    seen = np.zeros(256, dtype=np.bool_)
    if row[SLOT] >= 0:
        hist = work.hist[row[SLOT], work.offset[f] << work.shift :]
        slots = 1 if work.criterion == LEAST_SQUARES else work.n_classes
        for b in range(work.n_bins[f]):
            for s in range(slots):
                seen[b] |= hist[(b << work.shift) + s] > 0
    else:
        for i in range(row[START], row[END]):
            seen[work.codes[f, work.rows[i]]] = True
    for b in range(work.n_bins[f]):
        if not seen[b]:
            bits[b >> 3] |= np.uint8(1 << (b & 7))


@inner_kernel
def divide_rows(codes, sides, rows, spare):
    """Stable partition of rows by the side of their codes; how many go left."""
    n_left, n_right = 0, 0
    for i in range(rows.size):
        row = rows[i]
        right = np.int64(sides[codes[row]])
        rows[n_left] = row
        spare[n_right] = row
        n_left += 1 - right
        n_right += right
    for i in range(n_right):
        rows[n_left + i] = spare[i]
    return n_left


@inner_kernel
def may_split(work, node):
    """Whether a node is deep, large and mixed enough to be looked at."""
    if work.node[node, DEPTH] == work.max_depth:
        return 0
    if work.node[node, END] - work.node[node, START] < 2 * work.min_rows:
        return 0
    if work.criterion == LEAST_SQUARES:
        return 1
    classes = 0
    for c in range(work.n_classes):
        classes += work.total[node, c] > 0
    return 1 if classes > 1 else 0


@inner_kernel
def leaf_of_rows(work, leaf):
    """Number of the node in which each row ends, also for rows of weight zero."""
    n_nodes = work.progress[N_NODES]
    sides = np.empty(256, dtype=np.uint8)
    if work.node[0, END] < leaf.size:
        walk_weightless(work, leaf)
    rows = work.rows
    for node in range(n_nodes):
        start, end = work.node[node, START], work.node[node, END]
        child = work.node[node, CHILD]
        if child < 0:
            for i in range(start, end):
                leaf[rows[i]] = node
        elif not work.node[node, DIVIDED]:
            fill_sides(work, node, sides)
            codes = work.codes[work.node[node, FEATURE]]
            for i in range(start, end):
                leaf[rows[i]] = child + np.int64(sides[codes[rows[i]]])


@inner_kernel
def walk_weightless(work, leaf):
    """Send the rows of weight zero down the tree by their codes."""
    n_nodes = work.progress[N_NODES]
    sides = np.empty((n_nodes, 256), dtype=np.uint8)
    for node in range(n_nodes):
        if work.node[node, CHILD] >= 0:
            fill_sides(work, node, sides[node])
    weight, nodes, codes = work.weight, work.node, work.codes
    for i in range(leaf.size):
        if weight[i] == 0:
            node = 0
            while nodes[node, CHILD] >= 0:
                code = codes[nodes[node, FEATURE], i]
                node = nodes[node, CHILD] + np.int64(sides[node, code])
            leaf[i] = node
