"""Growing one tree: from weights to splits and leaves.

``advance`` is the whole algorithm in one kernel. It keeps a frontier of nodes whose
best split is known, takes the next one, divides its rows, and looks for the best splits
of the two children. That search (``search``) is independent between features. When it
is long enough to be worth threads, ``advance`` writes down what is to be searched,
returns to Python, which runs ``search`` on blocks of features, and is called again to
go on. Features never share a sum, so the tree does not depend on the number of threads.
``advance_stump`` is what remains of it for a single split, and ``advance_drawn`` (in
drawn.py) grows trees whose nodes look at drawn features: a fit compiles one of them.

Depth-first growth takes the smaller child first, so few histograms are alive at a time;
best-first growth (``max_leaf_nodes``) takes the node whose split removes most impurity.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel
from splboost.trees.divide import leaf_of_rows, make_node, may_split, split_node
from splboost.trees.search import search
from splboost.trees.small import SMALL_NODE, grow_small
from splboost.trees.split import choose, is_better
from splboost.trees.workspace import (
    BUILD,
    CHILD,
    END,
    FEATURE,
    FIRST_FREE_SLOT,
    GAIN,
    LEAST_SQUARES,
    N_CHANGED,
    N_FREE,
    N_FRONTIER,
    N_LEAVES,
    N_NODES,
    NODE,
    NOTHING,
    ROOT,
    ROOT_CHANGED,
    ROOT_FULL,
    ROOT_SLOT,
    SCRATCH_SLOT,
    SLOT,
    START,
    STARTED,
    SUBTRACT,
    UNLIMITED,
    WANTED,
    WAY,
    fill_sides,
    gather,
    weight_of,
)

CHANGED_SHARE = 0.6  # of the rows; above, summing all of them is cheaper
# The sum of all weights in fixed point, with room to grow and to shrink
LEAST_TOTAL, START_TOTAL, MOST_TOTAL = 2.0**48, 2.0**54, 2.0**60
MOST_EXPONENT = 1023.0  # of a float64 that is not infinite


@kernel
def advance(work, weight, target, leaf):
    """Grow until done, or until a search is left to the caller.

    Returns the number of nodes, or 0 if the tree is not done yet. In the end ``leaf``
    holds the node of every row.
    """
    if not work.progress[STARTED]:
        plan_root(work, weight, target)
    else:
        choose_planned(work)
    while True:
        if work.plan[0, NODE] < 0:
            node = next_node(work)
            if node < 0:
                break
            split_node(work, node)
            plan_children(work, node)
        if work.plan[0, NODE] >= 0:
            if planned_work(work) >= work.threaded_work:
                return 0
            search(work, 0, work.n_bins.size)
            choose_planned(work)
    leaf_of_rows(work, leaf)
    work.progress[STARTED] = 0
    return work.progress[N_NODES]


@kernel
def advance_stump(work, weight, target, leaf):
    """The same for trees of one split."""
    if not work.progress[STARTED]:
        plan_root(work, weight, target)
        if planned_work(work) >= work.threaded_work:
            return 0
        search(work, 0, work.n_bins.size)
    choose_planned(work)
    leaf[:] = 0
    if work.progress[N_FRONTIER] > 0:
        split_node(work, ROOT)
        sides = np.empty(256, dtype=np.uint8)
        fill_sides(work, ROOT, sides)
        codes = work.codes[work.node[0, FEATURE]]
        for i in range(leaf.size):
            leaf[i] = 1 + np.int32(sides[codes[i]])
    work.progress[STARTED] = 0
    return work.progress[N_NODES]


@inner_kernel
def planned_work(work):
    """Additions that the planned search will make."""
    rows = 0
    for side in range(2):
        node, way = work.plan[side, NODE], work.plan[side, WAY]
        if way == ROOT_FULL:
            rows += work.codes.shape[1]
        elif way == ROOT_CHANGED:
            rows += work.progress[N_CHANGED]
        elif way == BUILD:
            rows += work.node[node, END] - work.node[node, START]
    return rows * work.n_bins.size


# ------------------------------------------------------------------------- the root


@inner_kernel
def plan_root(work, weight, target):
    """Make the root; its histogram comes from the changed rows or from all of them."""
    p, plan = work.progress, work.plan
    total = work.total[0]
    changed = set_weights(work, weight, target)
    p[STARTED] = 1
    p[N_NODES], p[N_FRONTIER], p[N_LEAVES] = 1, 0, 1
    p[N_CHANGED], p[N_FREE] = changed, work.free.size
    for k in range(work.free.size):
        work.free[k] = FIRST_FREE_SLOT + k
    if changed >= 0:
        for k in range(changed):
            total[work.row_class[k]] += work.row_weight[k]
    else:
        sum_all_rows(work, total)
    n_rows = np.int64(0)
    for i in range(work.weight.size if work.rows.size > 0 else 0):
        work.rows[n_rows] = i
        n_rows += work.weight[i] > 0
    if work.counter >= 0:
        total[work.counter] = n_rows
    make_node(work, ROOT, np.int64(0), n_rows, np.int64(0))
    work.node[0, SLOT] = ROOT_SLOT
    work.min_weight[0] = work.min_share * weight_of(work, ROOT)
    plan[0, NODE], plan[0, WANTED] = 0, 1
    plan[0, WAY] = ROOT_FULL if changed < 0 else ROOT_CHANGED
    plan[1, NODE], plan[1, WAY] = -1, NOTHING


@inner_kernel
def set_weights(work, weight, target):
    """Put weights into fixed point; how many rows differ from the last tree's.

    A weight becomes a multiple of 1 / scale, and a positive one stays positive. The
    changed rows, their classes and the differences go to where a later step of the same
    tree has room for them. If the root's histogram cannot start from that of the last
    tree, or hardly any weight is the same, the answer is -1.
    """
    total = add_up(weight)
    fresh = not LEAST_TOTAL <= total * work.scale[0] <= MOST_TOTAL
    if fresh:
        # A power of two: whole weights stay whole, and 3 is exactly 1 + 1 + 1.
        exponent = np.floor(np.log2(START_TOTAL / total))  # inf where total is tiny
        work.scale[0] = 2.0 ** min(exponent, MOST_EXPONENT)
    scale = work.scale[0]
    fixed, moment, y = work.weight, work.moment, work.y
    rows, change, classes = work.spare, work.row_weight, work.row_class
    changed = 0
    for i in range(weight.size):
        new = np.int64(np.rint(weight[i] * scale))
        new = 1 if new == 0 and weight[i] > 0 else new
        change[i] = new - fixed[i]
        changed += change[i] != 0
        fixed[i] = new
    for i in range(moment.size):
        moment[i] = np.int64(np.rint(target[i] * weight[i] * scale))
    usable = not fresh and work.counter < 0 and work.criterion != LEAST_SQUARES
    if not usable or changed > CHANGED_SHARE * weight.size:
        return -1
    k = 0
    for i in range(weight.size):
        rows[k] = i  # kept if the weight differs: no branch to mispredict
        change[k] = change[i]
        classes[k] = y[i]
        k += change[k] != 0
    return changed


@inner_kernel(fastmath={"reassoc"})
def add_up(values):
    """Sum of the values, several at a time."""
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@inner_kernel
def sum_all_rows(work, total):
    """The root's sums."""
    weight, y = work.weight, work.y
    total[:] = 0
    if work.criterion == LEAST_SQUARES:
        for i in range(weight.size):
            total[0] += weight[i]
            total[1] += work.moment[i]
    elif work.n_classes == 2:  # several rows at a time
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
def choose_planned(work):
    """Take the best feature of each searched node; put the node on the frontier."""
    # The larger child first, so that depth-first growth takes the smaller one next.
    for side in (1, 0):
        node = work.plan[side, NODE]
        if node < 0:
            continue
        if work.plan[side, WANTED]:
            choose(work, node, side)
        if work.plan[side, WANTED] and work.number[node, GAIN] > 0:
            put_on_frontier(work, node)
            if ROOT_SLOT < work.node[node, SLOT] < FIRST_FREE_SLOT:
                work.node[node, SLOT] = -1
        else:
            release(work, node)
    work.plan[:, NODE] = -1


@inner_kernel
def put_on_frontier(work, node):
    work.frontier[work.progress[N_FRONTIER]] = node
    work.progress[N_FRONTIER] += 1


@inner_kernel
def next_node(work):
    """Take a node off the frontier, or -1 when the tree is finished."""
    p = work.progress
    if p[N_FRONTIER] == 0 or p[N_LEAVES] >= work.max_leaves:
        return -1
    last = p[N_FRONTIER] - 1
    take = last
    if work.max_leaves < UNLIMITED:  # best first
        best, take = -1.0, 0
        root_weight = weight_of(work, ROOT)
        for k in range(p[N_FRONTIER]):
            node = work.frontier[k]
            removed = work.number[node, GAIN] * (weight_of(work, node) / root_weight)
            older = best >= 0 and node < work.frontier[take]
            if is_better(removed, best) or (older and not is_better(best, removed)):
                best, take = removed, k
    node = work.frontier[take]
    for k in range(take, last):
        work.frontier[k] = work.frontier[k + 1]
    p[N_FRONTIER] = last
    return node


@inner_kernel
def plan_children(work, node):
    """Decide how the children are searched, or that they are leaves."""
    plan = work.plan
    left = work.node[node, CHILD]
    larger_right = n_rows_of(work, left) <= n_rows_of(work, left + 1)
    for side in range(2):  # the smaller child, then the larger one
        child = left + (side if larger_right else 1 - side)
        wanted = may_split(work, child)
        depth_first = work.max_leaves == UNLIMITED
        if wanted and depth_first and n_rows_of(work, child) <= SMALL_NODE:
            grow_small(work, child)
            wanted = 0
        plan[side, NODE], plan[side, WANTED] = child, wanted
        work.node[child, SLOT] = SCRATCH_SLOT + side
        plan[side, WAY] = BUILD if wanted else NOTHING
    smaller, larger = plan[0, NODE], plan[1, NODE]
    own_slot = work.node[node, SLOT]
    needed = 2 if own_slot == ROOT_SLOT else 1  # the next tree needs the root's
    if plan[1, WANTED] and own_slot >= 0 and work.progress[N_FREE] >= needed:
        plan[0, WAY], plan[1, WAY] = BUILD, SUBTRACT
        work.node[smaller, SLOT] = take_slot(work)
        if own_slot == ROOT_SLOT:
            own_slot = take_slot(work)
            # By hand: errors that an assignment could raise take a second to compile.
            for cell in range(work.hist.shape[1]):
                work.hist[own_slot, cell] = work.hist[ROOT_SLOT, cell]
        work.node[larger, SLOT] = own_slot
        work.node[node, SLOT] = -1
    release(work, node)
    for side in range(2):
        if plan[side, WAY] == BUILD:
            gather(work, plan[side, NODE])
    if plan[0, WAY] == plan[1, WAY] == NOTHING:
        plan[:, NODE] = -1


@inner_kernel
def n_rows_of(work, node):
    return work.node[node, END] - work.node[node, START]


@inner_kernel
def take_slot(work):
    work.progress[N_FREE] -= 1
    return work.free[work.progress[N_FREE]]


@inner_kernel
def release(work, node):
    """Give back the histogram that a node keeps, if any."""
    slot = work.node[node, SLOT]
    if slot >= FIRST_FREE_SLOT:
        work.free[work.progress[N_FREE]] = slot
        work.progress[N_FREE] += 1
    work.node[node, SLOT] = -1
