"""The nodes of a growing tree: the root, the children of a split, and the leaves."""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel
from splboost.trees import workspace as at
from splboost.trees.binning import CATEGORICAL
from splboost.trees.split import is_better

CHANGED_SHARE = 0.6  # of the rows; above, summing all of them is cheaper
# The sum of all weights in fixed point, with room to grow and to shrink
LEAST_TOTAL, START_TOTAL, MOST_TOTAL = 2.0**48, 2.0**54, 2.0**60
MOST_EXPONENT = 1023.0  # of a float64 that is not infinite


# ------------------------------------------------------------------------- the root


@inner_kernel
def plan_root(work, weight, target):
    """Make the root; its histogram comes from the changed rows or from all of them."""
    p, plan, total, y = work.progress, work.plan, work.total[0], work.y
    changed = set_weights(work, weight, target)
    fixed = work.weight
    p[at.STARTED], p[at.N_NODES], p[at.N_FRONTIER], p[at.N_LEAVES] = 1, 1, 0, 1
    p[at.N_CHANGED], p[at.N_FREE] = changed, work.free.size
    for k in range(work.free.size):
        work.free[k] = at.FIRST_FREE_SLOT + k
    if changed >= 0:
        for k in range(changed):
            total[work.row_class[k]] += work.row_weight[k]
    elif work.criterion == at.LEAST_SQUARES:
        total[0] = total[1] = 0
        for i in range(fixed.size):
            total[0] += fixed[i]
            total[1] += work.moment[i]
    elif work.n_classes == 2:  # several rows at a time
        both = second = 0
        for i in range(fixed.size):
            both += fixed[i]
            second += fixed[i] if y[i] == 1 else 0
        total[0], total[1] = both - second, second
    else:
        total[:] = 0
        for i in range(fixed.size):
            total[y[i]] += fixed[i]
    n_rows = np.int64(0)
    for i in range(fixed.size if work.rows.size > 0 else 0):
        work.rows[n_rows] = i
        n_rows += fixed[i] > 0
    if work.counter >= 0:
        total[work.counter] = n_rows
    make_node(work, at.ROOT, np.int64(0))
    work.node[0, at.START], work.node[0, at.END] = 0, n_rows
    work.node[0, at.SLOT] = at.ROOT_SLOT
    work.min_weight[0] = work.min_share * work.number[0, at.WEIGHT]
    plan[0, at.NODE], plan[0, at.WANTED] = 0, 1
    plan[0, at.WAY] = at.ROOT_FULL if changed < 0 else at.ROOT_CHANGED
    plan[1, at.NODE], plan[1, at.WAY] = -1, at.NOTHING
    p[at.N_PLANNED] = fixed.size if changed < 0 else changed


# Sums may be of several values at a time; the scale, a power of two, is never rounded.
@inner_kernel(fastmath={"reassoc"})
def set_weights(work, weight, target):
    """Put weights into fixed point; how many rows differ from the last tree's.

    A weight becomes a multiple of 1 / scale, and a positive one stays positive. The
    changed rows, their classes and the differences go to where a later step of the same
    tree has room for them. If the root's histogram cannot start from that of the last
    tree, or hardly any weight is the same, the answer is -1.
    """
    total = 0.0
    for i in range(weight.size):
        total += weight[i]
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
    usable = not fresh and work.counter < 0 and work.criterion != at.LEAST_SQUARES
    if not usable or changed > CHANGED_SHARE * weight.size:
        return -1
    k = 0
    for i in range(weight.size):
        rows[k] = i  # kept if the weight differs: no branch to mispredict
        change[k] = change[i]
        classes[k] = y[i]
        k += change[k] != 0
    return changed


@inner_kernel
def make_node(work, node, depth):
    """Set all of a node but its rows, from its sums."""
    row, number, total = work.node[node], work.number[node], work.total[node]
    row[at.START], row[at.END], row[at.DEPTH], row[at.SLOT] = 0, 0, depth, -1
    row[at.CHILD], row[at.FEATURE], row[at.BIN], row[at.MISSING_LEFT] = -1, -1, -1, 0
    row[at.DIVIDED] = 0
    weight = total[0]
    if work.criterion != at.LEAST_SQUARES:
        for c in range(1, work.n_classes):
            weight += total[c]
    number[at.GAIN], number[at.THRESHOLD], number[at.WEIGHT] = 0.0, np.nan, weight


@inner_kernel
def next_node(work):
    """Take a node off the frontier, or -1 when the tree is finished."""
    p = work.progress
    if p[at.N_FRONTIER] == 0 or p[at.N_LEAVES] >= work.max_leaves:
        return -1
    last = p[at.N_FRONTIER] - 1
    take = last
    if work.max_leaves < at.UNLIMITED:  # best first
        best, take = -1.0, 0
        for k in range(p[at.N_FRONTIER]):
            node = work.frontier[k]
            share = work.number[node, at.WEIGHT] / work.number[0, at.WEIGHT]
            removed = work.number[node, at.GAIN] * share
            older = best >= 0 and node < work.frontier[take]
            if is_better(removed, best) or (older and not is_better(best, removed)):
                best, take = removed, k
    node = work.frontier[take]
    for k in range(take, last):
        work.frontier[k] = work.frontier[k + 1]
    p[at.N_FRONTIER] = last
    return node


# -------------------------------------------------------------------------- a split


@inner_kernel
def split_node(work, node):
    """Make the two children: their sums, and their rows unless both must be leaves.

    Where nothing was missing in training, missing cells follow the heavier child. The
    sides of the codes are left in ``work.sides``.
    """
    p, row, sides = work.progress, work.node[node], work.sides
    f, start, end, depth = (
        row[at.FEATURE],
        row[at.START],
        row[at.END],
        row[at.DEPTH] + 1,
    )
    left, total, missing = p[at.N_NODES], work.total, work.n_bins[f]
    p[at.N_NODES] += 2
    p[at.N_LEAVES] += 1
    row[at.CHILD] = left
    row[at.DIVIDED] = depth != work.max_depth
    fill_sides(work, node, sides)
    total[left, :] = 0
    if row[at.SLOT] < 0:
        sum_left_rows(work, node, total[left])
    else:
        hist = work.hist[row[at.SLOT], work.offset[f] << work.shift :]
        for b in range(missing + 1):
            if sides[b] == 0:
                for s in range(total.shape[1]):
                    total[left, s] += hist[(b << work.shift) + s]
    for s in range(total.shape[1]):
        total[left + 1, s] = total[node, s] - total[left, s]
    make_node(work, left, depth)
    make_node(work, left + 1, depth)
    if row[at.MISSING_LEFT] == at.NONE_MISSING:
        to_right = is_better(
            work.number[left + 1, at.WEIGHT], work.number[left, at.WEIGHT]
        )
        row[at.MISSING_LEFT] = 0 if to_right else 1
        sides[missing] = 1 if to_right else 0
    if row[at.DIVIDED]:
        rows = work.rows[start:end]
        cut = start + divide_rows(work.codes[f], sides, rows, work.spare)
        work.node[left, at.START], work.node[left + 1, at.END] = start, end
        work.node[left, at.END], work.node[left + 1, at.START] = cut, cut


@inner_kernel
def fill_sides(work, node, sides):
    """The side to which each code of the node's feature goes: 0 left, 1 right."""
    f = work.node[node, at.FEATURE]
    missing = work.n_bins[f]
    if work.kind[f] == CATEGORICAL:
        bits = work.bins[node]
        for code in range(missing):
            sides[code] = 1 - ((bits[code >> 3] >> (code & 7)) & 1)
    else:
        last = work.node[node, at.BIN]
        for code in range(missing):
            sides[code] = code > last
    sides[missing] = work.node[node, at.MISSING_LEFT] != 1


@inner_kernel
def sum_left_rows(work, node, total):
    """Sums of the left child from the node's rows."""
    codes, sides = work.codes[work.node[node, at.FEATURE]], work.sides
    rows, weight = work.rows, work.row_weight
    regression = work.criterion == at.LEAST_SQUARES
    for i in range(work.node[node, at.START], work.node[node, at.END]):
        if sides[codes[rows[i]]] == 0:
            if regression:
                total[0] += weight[i]
                total[1] += work.row_moment[i]
            else:
                total[work.row_class[i]] += weight[i]
            if work.counter >= 0:
                total[work.counter] += 1


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
def gather(work, node):
    """Copy weights and targets of the node's rows beside them."""
    regression = work.criterion == at.LEAST_SQUARES
    for i in range(work.node[node, at.START], work.node[node, at.END]):
        row = work.rows[i]
        work.row_weight[i] = work.weight[row]
        if regression:
            work.row_moment[i] = work.moment[row]
        else:
            work.row_class[i] = work.y[row]


@inner_kernel
def may_split(work, node):
    """Whether a node is deep, large and mixed enough to be looked at."""
    if work.node[node, at.DEPTH] == work.max_depth:
        return 0
    if work.node[node, at.END] - work.node[node, at.START] < 2 * work.min_rows:
        return 0
    if work.criterion == at.LEAST_SQUARES:
        return 1
    classes = 0
    for c in range(work.n_classes):
        classes += work.total[node, c] > 0
    return 1 if classes > 1 else 0


# -------------------------------------------------------------------------- leaves


@inner_kernel
def leaf_of_rows(work, leaf):
    """Number of the node in which each row ends, also for rows of weight zero."""
    nodes, codes, rows = work.node, work.codes, work.rows
    sides = np.empty((work.progress[at.N_NODES], 256), dtype=np.uint8)
    for node in range(sides.shape[0]):
        start, end, child = (
            nodes[node, at.START],
            nodes[node, at.END],
            nodes[node, at.CHILD],
        )
        if child >= 0:
            fill_sides(work, node, sides[node])
        if child < 0:
            for i in range(start, end):
                leaf[rows[i]] = node
        elif not nodes[node, at.DIVIDED]:
            column = codes[nodes[node, at.FEATURE]]
            for i in range(start, end):
                leaf[rows[i]] = child + np.int64(sides[node, column[rows[i]]])
    for i in range(leaf.size if nodes[0, at.END] < leaf.size else 0):
        if work.weight[i] == 0:
            node = 0
            while nodes[node, at.CHILD] >= 0:
                code = codes[nodes[node, at.FEATURE], i]
                node = nodes[node, at.CHILD] + np.int64(sides[node, code])
            leaf[i] = node
