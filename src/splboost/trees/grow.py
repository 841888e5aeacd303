"""Growing one tree: from weights to splits and leaves.

``advance`` is the whole algorithm in one kernel. It keeps a frontier of nodes whose best
split is known, takes the next one, divides its rows, and looks for the best splits of
the two children. That search (``search``) is independent between features. When it is
long enough to be worth threads, ``advance`` writes down what is to be searched, returns
to Python, which runs ``search`` on blocks of features, and is called again to go on.
Features never share a sum, so the tree does not depend on the number of threads.

Depth-first growth takes the smaller child first, so few histograms are alive at a time;
best-first growth (``max_leaf_nodes``) takes the node whose split removes most impurity.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from splboost.trees.binning import CATEGORICAL
from splboost.trees.search import choose_planned, release, search
from splboost.trees.split import LEAST_SQUARES, is_better
from splboost.trees.workspace import (
    BIN,
    BUILD,
    CHILD,
    DEPTH,
    DIRECT,
    DIVIDED,
    END,
    FEATURE,
    GAIN,
    MISSING_LEFT,
    N_CHANGED,
    N_FREE,
    N_FRONTIER,
    N_LEAVES,
    N_NODES,
    NODE_A,
    NODE_B,
    NOTHING,
    ROOT_CHANGED,
    ROOT_FULL,
    SEARCH_A,
    SEARCH_B,
    SLOT,
    SMALL_NODE,
    START,
    STARTED,
    SUBTRACT,
    THRESHOLD,
    UNLIMITED,
    WAY_A,
    WAY_B,
    gather,
    goes_left,
    weight_of,
)


@njit(nogil=True, cache=True)
def advance(data, limits, work):
    """Grow until done (True), or until a search is left to the caller (False)."""
    p = work.progress
    if not p[STARTED]:
        p[STARTED] = 1
        plan_root(data, limits, work)
    else:
        choose_planned(data, limits, work)
    while True:
        if work.plan[NODE_A] < 0:
            node = next_node(limits, work)
            if node < 0:
                return True
            split_node(data, limits, work, node)
            plan_children(data, limits, work, node)
        if work.plan[NODE_A] >= 0:
            if planned_work(data, work) >= limits.threaded_work:
                return False
            search(data, limits, work, 0, data.n_bins.size)
            choose_planned(data, limits, work)


@njit(nogil=True, cache=True)
def planned_work(data, work):
    """Additions that the planned search will make."""
    rows = 0
    for k in (NODE_A, NODE_B):
        way = work.plan[k + 1]
        if way == ROOT_FULL:
            rows += data.codes.shape[1]
        elif way == ROOT_CHANGED:
            rows += work.progress[N_CHANGED]
        elif way in (BUILD, DIRECT):
            node = work.plan[k]
            rows += work.node[node, END] - work.node[node, START]
    return rows * data.n_bins.size


# ------------------------------------------------------------------------- the root


@njit(nogil=True, cache=True)
def plan_root(data, limits, work):
    """Make the root; its histogram comes from the changed rows or from all of them.

    ``progress[N_CHANGED]`` is the number of rows whose weight differs from the one in
    histogram slot 0, or -1 if that slot is of no use.
    """
    p, node, plan = work.progress, work.node, work.plan
    p[N_NODES], p[N_FRONTIER], p[N_LEAVES] = 1, 0, 1
    p[N_FREE] = work.free.size
    for k in range(work.free.size):  # slot 0 keeps the root for the next tree
        work.free[k] = work.free.size - k
    partitioned = limits.max_depth != 1 or limits.counter >= 0
    if p[N_CHANGED] >= 0:
        for k in range(p[N_CHANGED]):
            work.total[0, work.row_class[k]] += work.row_weight[k]
    else:
        sum_all_rows(data, limits, work)
    n_rows = 0
    if partitioned:
        for i in range(work.weight.size):
            work.rows[n_rows] = i
            n_rows += work.weight[i] > 0
    if limits.counter >= 0:
        work.total[0, limits.counter] = n_rows
    make_node(work, 0, 0, n_rows, 0)
    node[0, SLOT] = 0
    plan[NODE_A], plan[NODE_B], plan[WAY_B] = 0, -1, NOTHING
    plan[WAY_A] = ROOT_FULL if p[N_CHANGED] < 0 else ROOT_CHANGED
    plan[SEARCH_A] = 1


@njit(nogil=True, cache=True)
def sum_all_rows(data, limits, work):
    """The root's sums."""
    total = work.total[0]
    total[:] = 0
    for i in range(work.weight.size):
        if limits.criterion == LEAST_SQUARES:
            total[0] += work.weight[i]
            total[1] += work.moment[i]
        else:
            total[data.y[i]] += work.weight[i]


@njit(nogil=True, cache=True)
def make_node(work, node, start, end, depth):
    row = work.node[node]
    row[START], row[END], row[DEPTH], row[SLOT] = start, end, depth, -1
    row[CHILD], row[FEATURE], row[BIN], row[MISSING_LEFT] = -1, -1, -1, 0
    row[DIVIDED] = 0
    work.number[node, GAIN], work.number[node, THRESHOLD] = 0.0, np.nan


# --------------------------------------------------------------------- the next split


@njit(nogil=True, cache=True)
def next_node(limits, work):
    """Take a node off the frontier, or -1 when the tree is finished."""
    p = work.progress
    if p[N_FRONTIER] == 0 or p[N_LEAVES] >= limits.max_leaves:
        return -1
    last = p[N_FRONTIER] - 1
    take = last
    if limits.max_leaves < UNLIMITED:  # best first
        best, take = -1.0, 0
        root_weight = np.float64(weight_of(limits, work, 0))
        for k in range(p[N_FRONTIER]):
            node = work.frontier[k]
            weight = np.float64(weight_of(limits, work, node))
            removed = work.number[node, GAIN] * weight / root_weight
            older = best >= 0 and node < work.frontier[take]
            if is_better(removed, best) or (older and not is_better(best, removed)):
                best, take = removed, k
    node = work.frontier[take]
    for k in range(take, last):
        work.frontier[k] = work.frontier[k + 1]
    p[N_FRONTIER] = last
    return node


@njit(nogil=True, cache=True)
def split_node(data, limits, work, node):
    """Make the two children: their sums, and their rows unless both must be leaves."""
    p = work.progress
    left = p[N_NODES]
    p[N_NODES] += 2
    p[N_LEAVES] += 1
    row = work.node[node]
    f, start, end, depth = row[FEATURE], row[START], row[END], row[DEPTH]
    row[CHILD] = left
    categorical = data.kind[f] == CATEGORICAL
    row[DIVIDED] = depth + 1 != limits.max_depth
    if row[SLOT] >= 0:
        sum_left_bins(data, limits, work, node, left, categorical)
    else:
        sum_left_rows(data, limits, work, node, left, categorical)
    for s in range(work.total.shape[1]):
        work.total[left + 1, s] = work.total[node, s] - work.total[left, s]
    settle_missing(data, limits, work, node, left, categorical)
    if row[DIVIDED]:
        cut = divide_rows(data, work, node, categorical)
        make_node(work, left, start, cut, depth + 1)
        make_node(work, left + 1, cut, end, depth + 1)
    else:
        make_node(work, left, start, start, depth + 1)
        make_node(work, left + 1, end, end, depth + 1)


@njit(nogil=True, cache=True)
def sum_left_bins(data, limits, work, node, left, categorical):
    """Sums of the left child from the node's histogram."""
    f = work.node[node, FEATURE]
    missing = data.n_bins[f]
    hist = work.hist[work.node[node, SLOT], data.offset[f] << limits.shift :]
    for s in range(work.total.shape[1]):
        work.total[left, s] = 0
    for b in range(missing + 1):
        if b == missing:
            inside = work.node[node, MISSING_LEFT] == 1
        elif categorical:
            inside = goes_left(work, node, True, b, missing)
        else:
            inside = b <= work.node[node, BIN]
        if inside:
            for s in range(work.total.shape[1]):
                work.total[left, s] += hist[(b << limits.shift) + s]


@njit(nogil=True, cache=True)
def sum_left_rows(data, limits, work, node, left, categorical):
    """Sums of the left child from the node's rows."""
    f = work.node[node, FEATURE]
    missing = data.n_bins[f]
    for s in range(work.total.shape[1]):
        work.total[left, s] = 0
    for i in range(work.node[node, START], work.node[node, END]):
        row = work.rows[i]
        code = np.int64(data.codes[f, row])
        if code == missing:
            inside = work.node[node, MISSING_LEFT] == 1
        else:
            inside = goes_left(work, node, categorical, code, missing)
        if inside:
            if limits.criterion == LEAST_SQUARES:
                work.total[left, 0] += work.weight[row]
                work.total[left, 1] += work.moment[row]
            else:
                work.total[left, data.y[row]] += work.weight[row]
            if limits.counter >= 0:
                work.total[left, limits.counter] += 1


@njit(nogil=True, cache=True)
def settle_missing(data, limits, work, node, left, categorical):
    """Where nothing was missing in training, missing cells follow the heavier child.

    In a categorical split so do the categories that the node has not seen.
    """
    row = work.node[node]
    if row[MISSING_LEFT] == 2:
        heavier = weight_of(limits, work, left) >= weight_of(limits, work, left + 1)
        row[MISSING_LEFT] = 1 if heavier else 0
    if not categorical or not row[MISSING_LEFT]:
        return
    # Left gets all but the categories seen on the right.
    f = row[FEATURE]
    bits = work.bins[node]
    if row[SLOT] >= 0:
        hist = work.hist[row[SLOT], data.offset[f] << limits.shift :]
        slots = 1 if limits.criterion == LEAST_SQUARES else limits.n_classes
        for b in range(data.n_bins[f] + 1):
            weight = 0
            for s in range(slots):
                weight += hist[(b << limits.shift) + s]
            if weight == 0 or b == data.n_bins[f]:
                bits[b >> 3] |= np.uint8(1 << (b & 7))
        return
    seen = np.zeros(256, dtype=np.bool_)
    for i in range(row[START], row[END]):
        seen[data.codes[f, work.rows[i]]] = True
    for b in range(data.n_bins[f] + 1):
        if not seen[b] or b == data.n_bins[f]:
            bits[b >> 3] |= np.uint8(1 << (b & 7))


@njit(nogil=True, cache=True)
def divide_rows(data, work, node, categorical):
    """Stable partition of the node's rows; where the right child starts."""
    f = work.node[node, FEATURE]
    start, end = work.node[node, START], work.node[node, END]
    missing = data.n_bins[f]
    codes = data.codes[f]
    n_left, n_right = start, 0
    if categorical or work.node[node, MISSING_LEFT] == 1:
        for i in range(start, end):
            row = work.rows[i]
            left = goes_left(work, node, categorical, np.int64(codes[row]), missing)
            work.rows[n_left] = row
            work.spare[n_right] = row
            n_left += left
            n_right += not left
    else:
        last = work.node[node, BIN]
        for i in range(start, end):
            row = work.rows[i]
            left = codes[row] <= last
            work.rows[n_left] = row
            work.spare[n_right] = row
            n_left += left
            n_right += not left
    for i in range(n_right):
        work.rows[n_left + i] = work.spare[i]
    return n_left


@njit(nogil=True, cache=True)
def plan_children(data, limits, work, node):
    """Decide how the children are searched, or that they are leaves."""
    plan, p = work.plan, work.progress
    left = work.node[node, CHILD]
    smaller, larger = left, left + 1
    if work.node[left, END] - work.node[left, START] > (
        work.node[larger, END] - work.node[larger, START]
    ):
        smaller, larger = larger, smaller
    search_smaller = may_split(limits, work, smaller)
    search_larger = may_split(limits, work, larger)
    plan[NODE_A] = plan[NODE_B] = -1
    plan[WAY_A] = plan[WAY_B] = NOTHING
    if not search_smaller and not search_larger:
        release(work, node)
        return
    start, end = work.node[smaller, START], work.node[smaller, END]
    larger_rows = work.node[larger, END] - work.node[larger, START]
    plan[NODE_A], plan[SEARCH_A] = smaller, search_smaller
    plan[NODE_B], plan[SEARCH_B] = larger, search_larger
    own_slot = work.node[node, SLOT]
    if search_larger and larger_rows > SMALL_NODE and own_slot >= 0 and p[N_FREE] > 0:
        p[N_FREE] -= 1
        work.node[smaller, SLOT] = work.free[p[N_FREE]]
        plan[WAY_A], plan[WAY_B] = BUILD, SUBTRACT
        if own_slot > 0:
            work.node[larger, SLOT] = own_slot
            work.node[node, SLOT] = -1
        elif p[N_FREE] > 0:  # the root's own slot is kept for the next tree
            p[N_FREE] -= 1
            slot = work.free[p[N_FREE]]
            work.node[larger, SLOT] = slot
            work.hist[slot] = work.hist[0]
            work.node[node, SLOT] = -1
        else:
            release(work, smaller)
            plan[WAY_A] = plan[WAY_B] = DIRECT
    else:
        release(work, node)
        plan[WAY_A] = plan[WAY_B] = DIRECT
    if plan[WAY_A] == DIRECT:
        plan[WAY_A] = DIRECT if search_smaller else NOTHING
        plan[WAY_B] = DIRECT if search_larger else NOTHING
    if plan[WAY_A] != NOTHING:
        gather(data, limits, work, start, end)
    if plan[WAY_B] == DIRECT:
        gather(data, limits, work, work.node[larger, START], work.node[larger, END])


@njit(nogil=True, cache=True)
def may_split(limits, work, node):
    """Whether a node is deep, large and mixed enough to be looked at."""
    if work.node[node, DEPTH] == limits.max_depth:
        return 0
    if work.node[node, END] - work.node[node, START] < 2 * limits.min_rows:
        return 0
    if limits.criterion == LEAST_SQUARES:
        return 1
    classes = 0
    for c in range(limits.n_classes):
        classes += work.total[node, c] > 0
    return 1 if classes > 1 else 0


# ---------------------------------------------------------------------- weights, rows


@njit(nogil=True, cache=True)
def to_fixed(weight, scale, data, work, first):
    """Round weights to multiples of 1 / scale; the number of rows that changed.

    Writes the changed rows, their classes and the differences into ``work`` unless
    ``first``. A positive weight stays positive.
    """
    fixed = work.weight
    changed = 0
    for i in range(weight.size):
        new = np.int64(np.rint(weight[i] * scale))
        if new == 0 and weight[i] > 0:
            new = 1
        if new != fixed[i]:
            if not first:
                work.spare[changed] = i
                work.row_weight[changed] = new - fixed[i]
                work.row_class[changed] = data.y[i]
            changed += 1
            fixed[i] = new
    return changed


@njit(nogil=True, cache=True)
def moments_to_fixed(target, weight, scale, work):
    """Round weighted targets to multiples of 1 / scale."""
    for i in range(target.size):
        work.moment[i] = np.int64(np.rint(target[i] * weight[i] * scale))


@njit(nogil=True, cache=True)
def leaf_of_rows(data, limits, work, leaf):
    """Number of the node in which each row ends, also for rows of weight zero."""
    p = work.progress
    if p[N_NODES] == 1:
        leaf[:] = 0
        return
    if p[N_NODES] == 3:
        walk(data, work, leaf, False)
        return
    if work.node[0, END] < leaf.size:
        walk(data, work, leaf, True)
    for node in range(p[N_NODES]):
        row = work.node[node]
        start, end = row[START], row[END]
        if row[CHILD] < 0:
            if start < end:
                for i in range(start, end):
                    leaf[work.rows[i]] = node
        elif not row[DIVIDED]:
            f = row[FEATURE]
            categorical = data.kind[f] == CATEGORICAL
            for i in range(start, end):
                r = work.rows[i]
                code = np.int64(data.codes[f, r])
                left = goes_left(work, node, categorical, code, data.n_bins[f])
                leaf[r] = row[CHILD] + (0 if left else 1)


@njit(nogil=True, cache=True)
def walk(data, work, leaf, only_weightless):
    """Send rows down the tree by their codes."""
    for i in range(leaf.size):
        if only_weightless and work.weight[i] > 0:
            continue
        node = 0
        while work.node[node, CHILD] >= 0:
            f = work.node[node, FEATURE]
            categorical = data.kind[f] == CATEGORICAL
            code = np.int64(data.codes[f, i])
            left = goes_left(work, node, categorical, code, data.n_bins[f])
            node = work.node[node, CHILD] + (0 if left else 1)
        leaf[i] = node
