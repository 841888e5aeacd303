"""Growing trees whose nodes look at a few features, drawn anew in each.

Only what is drawn is summed: a node's rows go into the bins of one feature, and these
are scanned. No histogram is kept, and no column stays sorted.

With ``random_cuts`` a column of numbers is cut once, at random between its lowest and
its highest bin, and the best of these cuts is taken (extremely randomised trees).
Categories are divided as well as they can be.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel, lean_kernel
from splboost.trees import workspace as at
from splboost.trees.binning import CATEGORICAL
from splboost.trees.nodes import (
    gather,
    leaf_of_rows,
    may_split,
    next_node,
    plan_root,
    split_node,
)
from splboost.trees.split import CLOSE, MIN_GAIN, is_better, search_feature, set_split

# A feature's codes of a node's rows, the code of missing cells, the rows' own data, and
# how they are summed. Kernels that get it count no references, which would take longer
# than adding a row.
Cells = namedtuple(
    "Cells",
    "codes missing rows row_class row_weight row_moment regression counter shift",
)

# An order of the features, sums of bins, and numbers of the two sides of a random cut
Room = namedtuple("Room", "features sums sides")


@kernel
def advance_drawn(work, weight, target, leaf):
    """Grow a tree whose nodes look at drawn features; its number of nodes."""
    plan_root(work, weight, target)
    work.node[0, at.SLOT] = -1  # no histogram is kept
    room = Room(
        np.arange(work.n_bins.size),
        np.empty(257 << work.shift, dtype=np.int64),
        np.empty(2, dtype=np.int64),
    )
    if may_split(work, at.ROOT):
        look_at_drawn(work, at.ROOT, room)
    node = next_node(work)
    while node >= 0:
        split_node(work, node)
        for child in range(work.node[node, at.CHILD], work.node[node, at.CHILD] + 2):
            if may_split(work, child):
                look_at_drawn(work, child, room)
        node = next_node(work)
    leaf_of_rows(work, leaf)
    work.progress[at.STARTED] = 0
    return work.progress[at.N_NODES]


@inner_kernel
def look_at_drawn(work, node, room):
    """Choose the split of a node; put the node on the frontier if there is one.

    Features are drawn until ``max_features`` were, and one of them can split.
    """
    gather(work, node)
    features, sums, sides = room
    start, end = work.node[node, at.START], work.node[node, at.END]
    d = features.size
    best, best_feature = 0.0, np.int64(-1)
    for k in range(d):
        if k >= work.max_features and best > 0:
            break
        j = k + random_below(work.seed, d - k)
        features[k], features[j] = features[j], features[k]
        f = features[k]
        cells = Cells(
            work.codes[f],
            np.int64(work.n_bins[f]),
            work.rows[start:end],
            work.row_class[start:end],
            work.row_weight[start:end],
            work.row_moment[start:end],
            work.criterion == at.LEAST_SQUARES,
            work.counter,
            work.shift,
        )
        if work.random_cuts and work.kind[f] != CATEGORICAL:
            numbers, size = sides, sum_sides(cells, work.seed, sums, sides)
        else:
            numbers, size = work.numbers, sum_all(cells, sums)
        bins = sums, numbers, size
        gain = search_feature(work, node, at.FIRST_SIDE, f, bins, CLOSE * best)
        if is_better(gain, best):
            best, best_feature = gain, f
    if best > MIN_GAIN:
        set_split(work, node, at.FIRST_SIDE, best_feature, best)
        work.frontier[work.progress[at.N_FRONTIER]] = node
        work.progress[at.N_FRONTIER] += 1


@lean_kernel(inner=True)
def sum_all(cells, sums):
    """Sums of all bins of a feature over some rows; how many bins there are."""
    for s in range((cells.missing + 1) << cells.shift):
        sums[s] = 0
    for i in range(cells.rows.size):
        add_row(cells, i, np.int64(cells.codes[cells.rows[i]]), sums)
    return cells.missing


@lean_kernel(inner=True)
def sum_sides(cells, seed, sums, bins):
    """Sums on both sides of a random cut, as if they were bins, then of missing cells.

    They are numbered as the last bin on the left, and the first on the right. Returns
    how many of the two there are.
    """
    missing = cells.missing
    lowest, highest = missing, np.int64(-1)
    for i in range(cells.rows.size):
        code = np.int64(cells.codes[cells.rows[i]])
        lowest = min(lowest, code)
        highest = max(highest, code if code < missing else -1)
    size = 0 if highest < 0 else 1 if lowest == highest else 2
    cut = highest
    if size == 2:
        cut = lowest + random_below(seed, highest - lowest)
    low, high = lowest, highest
    for s in range((size + 1) << cells.shift):
        sums[s] = 0
    for i in range(cells.rows.size):
        code = np.int64(cells.codes[cells.rows[i]])
        place = size if code == missing else np.int64(code > cut)
        if place == 0:
            low = max(low, code)
        elif place == 1:
            high = min(high, code)
        add_row(cells, i, place, sums)
    bins[0], bins[1] = low, high
    return size


@lean_kernel(inner=True)
def add_row(cells, i, place, sums):
    """Add a row to the sums of a bin."""
    b = place << cells.shift
    if cells.regression:
        sums[b] += cells.row_weight[i]
        sums[b + 1] += cells.row_moment[i]
    else:
        sums[b + np.int64(cells.row_class[i])] += cells.row_weight[i]
    if cells.counter >= 0:
        sums[b + cells.counter] += 1


@lean_kernel(inner=True)
def random_below(seed, n):
    """Next random integer below n, by xorshift."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(n))
