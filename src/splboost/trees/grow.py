"""Growing one tree: from weights to splits and leaves.

``advance`` is the whole algorithm in one kernel. It keeps a frontier of nodes whose
best split is known, takes the next one, divides its rows, and looks for the best splits
of the two children. That search (``search``) is independent between features. When it
is long enough to be worth threads, ``advance`` writes down what is to be searched,
returns to Python, which runs ``search`` on blocks of features, and is called again to
go on. Features never share a sum, so the tree does not depend on the number of threads.
``advance_stump`` is what remains of it for a single split, and ``advance_drawn`` grows
trees whose nodes look at drawn features: three kernels, as each fit compiles one.

Depth-first growth takes the smaller child first, so few histograms are alive at a time;
best-first growth (``max_leaf_nodes``) takes the node whose split removes most impurity.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel
from splboost.trees.choose import choose_planned, release
from splboost.trees.divide import make_node, may_split, split_node
from splboost.trees.drawn import grow_children, look_at_drawn, make_drawing_room
from splboost.trees.search import search
from splboost.trees.small import grow_presorted, grow_small
from splboost.trees.split import LEAST_SQUARES, is_better
from splboost.trees.workspace import (
    BUILD,
    CHILD,
    DIRECT,
    DIVIDED,
    END,
    FEATURE,
    GAIN,
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
    START,
    STARTED,
    SUBTRACT,
    UNLIMITED,
    WAY_A,
    WAY_B,
    add_up,
    fill_sides,
    gather,
    is_small,
    weight_of,
)

CHANGED_SHARE = 0.6  # of the rows; above, summing all of them is cheaper
# The sum of all weights in fixed point, with room to grow and to shrink
LEAST_TOTAL, START_TOTAL, MOST_TOTAL = 2.0**48, 2.0**54, 2.0**60
MOST_EXPONENT = 1023.0  # of a float64 that is not infinite


@kernel
def advance(memory, weight, target, leaf):
    """Grow until done, or until a search is left to the caller.

    Returns the number of nodes, or 0 if the tree is not done yet. In the end ``leaf``
    holds the node of every row.
    """
    data, limits, work = memory.data, memory.limits, memory.work
    if not work.progress[STARTED]:
        plan_root(data, limits, work, weight, target)
    else:
        choose_planned(data, limits, work)
    while True:
        if work.plan[NODE_A] < 0:
            node = next_node(limits, work)
            if node < 0:
                break
            if work.presorted.shape[1] > 0:
                grow_presorted(data, limits, work, node)
                break
            split_node(data, limits, work, node)
            plan_children(data, limits, work, node)
        if work.plan[NODE_A] >= 0:
            if planned_work(data, work) >= limits.threaded_work:
                return 0
            search(memory, 0, data.n_bins.size)
            choose_planned(data, limits, work)
    leaf_of_rows(data, work, leaf)
    work.progress[STARTED] = 0
    return work.progress[N_NODES]


@kernel
def advance_drawn(memory, weight, target, leaf):
    """Grow a tree whose nodes look at drawn features only; its number of nodes."""
    data, limits, work = memory.data, memory.limits, memory.work
    plan_root(data, limits, work, weight, target)
    work.node[0, SLOT] = -1  # no histogram is kept
    room = make_drawing_room(data, limits)
    if may_split(limits, work, 0):
        look_at_drawn(data, limits, work, 0, room)
    node = next_node(limits, work)
    while node >= 0:
        grow_children(data, limits, work, node, room)
        node = next_node(limits, work)
    leaf_of_rows(data, work, leaf)
    work.progress[STARTED] = 0
    return work.progress[N_NODES]


@kernel
def advance_stump(memory, weight, target, leaf):
    """The same for trees of one split."""
    data, limits, work = memory.data, memory.limits, memory.work
    if not work.progress[STARTED]:
        plan_root(data, limits, work, weight, target)
        if planned_work(data, work) >= limits.threaded_work:
            return 0
        search(memory, 0, data.n_bins.size)
    choose_planned(data, limits, work)
    if work.progress[N_FRONTIER] > 0:
        root = work.frontier[0]
        split_node(data, limits, work, root)
        sides = np.empty(256, dtype=np.uint8)
        fill_sides(data, work, root, sides)
        codes = data.codes[work.node[root, FEATURE]]
        for i in range(leaf.size):
            leaf[i] = 1 + np.int32(sides[codes[i]])
    else:
        for i in range(leaf.size):
            leaf[i] = 0
    work.progress[STARTED] = 0
    return work.progress[N_NODES]


@inner_kernel
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


@inner_kernel
def plan_root(data, limits, work, weight, target):
    """Make the root; its histogram comes from the changed rows or from all of them.

    ``progress[N_CHANGED]`` is the number of rows whose weight differs from the one in
    histogram slot 0, or -1 if that slot is of no use.
    """
    p, node, plan = work.progress, work.node, work.plan
    set_weights(data, limits, work, weight, target)
    p[STARTED] = 1
    p[N_NODES], p[N_FRONTIER], p[N_LEAVES] = 1, 0, 1
    p[N_FREE] = work.free.size
    for k in range(work.free.size):  # slot 0 keeps the root for the next tree
        work.free[k] = work.free.size - k
    if p[N_CHANGED] >= 0:
        for k in range(p[N_CHANGED]):
            work.total[0, work.row_class[k]] += work.row_weight[k]
    else:
        sum_all_rows(data, limits, work)
    n_rows = 0
    stump = limits.max_depth == 1 and not limits.drawn
    if not stump or limits.counter >= 0:
        for i in range(work.weight.size):
            work.rows[n_rows] = i
            n_rows += work.weight[i] > 0
    if limits.counter >= 0:
        work.total[0, limits.counter] = n_rows
    make_node(work, 0, 0, n_rows, 0)
    node[0, SLOT] = 0
    work.min_weight[0] = limits.min_share * weight_of(limits, work.total[0])
    plan[NODE_A], plan[NODE_B], plan[WAY_B] = 0, -1, NOTHING
    plan[WAY_A] = ROOT_FULL if p[N_CHANGED] < 0 else ROOT_CHANGED
    plan[SEARCH_A] = 1


@inner_kernel
def sum_all_rows(data, limits, work):
    """The root's sums."""
    total, weight, y = work.total[0], work.weight, data.y
    for s in range(total.size):
        total[s] = 0
    if limits.criterion == LEAST_SQUARES:
        for i in range(weight.size):
            total[0] += weight[i]
            total[1] += work.moment[i]
    elif limits.n_classes == 2:  # several rows at a time
        both = second = 0
        for i in range(weight.size):
            both += weight[i]
            second += weight[i] if y[i] == 1 else 0
        total[0], total[1] = both - second, second
    else:
        for i in range(weight.size):
            total[y[i]] += weight[i]


# --------------------------------------------------------------------- the next split


@inner_kernel
def next_node(limits, work):
    """Take a node off the frontier, or -1 when the tree is finished."""
    p = work.progress
    if p[N_FRONTIER] == 0 or p[N_LEAVES] >= limits.max_leaves:
        return -1
    last = p[N_FRONTIER] - 1
    take = last
    if limits.max_leaves < UNLIMITED:  # best first
        best, take = -1.0, 0
        root_weight = weight_of(limits, work.total[0])
        for k in range(p[N_FRONTIER]):
            node = work.frontier[k]
            share = weight_of(limits, work.total[node]) / root_weight
            removed = work.number[node, GAIN] * share
            older = best >= 0 and node < work.frontier[take]
            if is_better(removed, best) or (older and not is_better(best, removed)):
                best, take = removed, k
    node = work.frontier[take]
    for k in range(take, last):
        work.frontier[k] = work.frontier[k + 1]
    p[N_FRONTIER] = last
    return node


@inner_kernel
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
    if limits.max_leaves == UNLIMITED:  # depth first: small subtrees at once
        if search_smaller and is_small(work, smaller):
            grow_small(data, limits, work, smaller)
            search_smaller = 0
        if search_larger and is_small(work, larger):
            grow_small(data, limits, work, larger)
            search_larger = 0
    plan[NODE_A] = plan[NODE_B] = -1
    plan[WAY_A] = plan[WAY_B] = NOTHING
    if not search_smaller and not search_larger:
        release(work, node)
        return
    start, end = work.node[smaller, START], work.node[smaller, END]
    plan[NODE_A], plan[SEARCH_A] = smaller, search_smaller
    plan[NODE_B], plan[SEARCH_B] = larger, search_larger
    own_slot = work.node[node, SLOT]
    if search_larger and own_slot >= 0 and p[N_FREE] > 0:
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
            for b in range(work.hist.shape[1]):
                work.hist[slot, b] = work.hist[0, b]
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


# ---------------------------------------------------------------------- weights, rows


@inner_kernel
def set_weights(data, limits, work, weight, target):
    """Put weights into fixed point; note which rows differ from the last tree's.

    A weight becomes a multiple of 1 / scale, and a positive one stays positive. The
    changed rows, their classes and the differences go to where a later step of the same
    tree has room for them.
    """
    total = add_up(weight, weight.size)
    fresh = not LEAST_TOTAL <= total * work.scale[0] <= MOST_TOTAL
    if fresh:
        # A power of two: whole weights stay whole, and 3 is exactly 1 + 1 + 1.
        exponent = np.floor(np.log2(START_TOTAL / total))  # inf where total is tiny
        work.scale[0] = 2.0 ** min(exponent, MOST_EXPONENT)
    scale = work.scale[0]
    fixed, y = work.weight, data.y
    rows, change, classes = work.spare, work.row_weight, work.row_class
    changed = 0
    for i in range(weight.size):
        new = np.int64(np.rint(weight[i] * scale))
        new = 1 if new == 0 and weight[i] > 0 else new
        change[i] = new - fixed[i]
        changed += change[i] != 0
        fixed[i] = new
    usable = not fresh and limits.counter < 0 and limits.criterion != LEAST_SQUARES
    work.progress[N_CHANGED] = -1
    if usable and changed <= CHANGED_SHARE * weight.size:
        work.progress[N_CHANGED] = changed
        k = 0
        for i in range(weight.size):
            rows[k] = i  # kept if the weight differs: no branch to mispredict
            change[k] = change[i]
            classes[k] = y[i]
            k += change[k] != 0
    moment = work.moment
    for i in range(moment.size):
        moment[i] = np.int64(np.rint(target[i] * weight[i] * scale))


@inner_kernel
def leaf_of_rows(data, work, leaf):
    """Number of the node in which each row ends, also for rows of weight zero."""
    n_nodes = work.progress[N_NODES]
    sides = np.empty(256, dtype=np.uint8)
    if work.node[0, END] < leaf.size:
        walk_weightless(data, work, leaf)
    rows = work.rows
    for node in range(n_nodes):
        start, end = work.node[node, START], work.node[node, END]
        child = work.node[node, CHILD]
        if child < 0:
            for i in range(start, end):
                leaf[rows[i]] = node
        elif not work.node[node, DIVIDED]:
            fill_sides(data, work, node, sides)
            codes = data.codes[work.node[node, FEATURE]]
            for i in range(start, end):
                leaf[rows[i]] = child + np.int64(sides[codes[rows[i]]])


@inner_kernel
def walk_weightless(data, work, leaf):
    """Send the rows of weight zero down the tree by their codes."""
    n_nodes = work.progress[N_NODES]
    sides = np.empty((n_nodes, 256), dtype=np.uint8)
    for node in range(n_nodes):
        if work.node[node, CHILD] >= 0:
            fill_sides(data, work, node, sides[node])
    weight, nodes, codes = work.weight, work.node, data.codes
    for i in range(leaf.size):
        if weight[i] == 0:
            node = 0
            while nodes[node, CHILD] >= 0:
                code = codes[nodes[node, FEATURE], i]
                node = nodes[node, CHILD] + np.int64(sides[node, code])
            leaf[i] = node
