"""Growing trees whose nodes look at a few features, drawn anew in each.

Only what is drawn is summed: a node's rows go into the bins of one feature, and these
are scanned. No histogram is kept, and no column stays sorted.

With ``random_cuts`` a column of numbers is cut once, at random between its lowest and
its highest bin, and the best of these cuts is taken (extremely randomised trees).
Categories are divided as well as they can be.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, lean_kernel
from splboost.trees.binning import CATEGORICAL
from splboost.trees.choose import set_split
from splboost.trees.divide import may_split, split_node
from splboost.trees.search import make_room, search_feature
from splboost.trees.split import CLOSE, LEAST_SQUARES, is_better
from splboost.trees.workspace import (
    CHILD,
    END,
    GAIN,
    N_FRONTIER,
    START,
    gather,
)

FEW = 32  # rows, up to which they are sorted


@inner_kernel
def look_at_drawn(data, limits, work, node, room):
    """Choose the split of a node; put the node on the frontier if there is one.

    Features are drawn until ``max_features`` were, and one of them can split.
    """
    start, end = work.node[node, START], work.node[node, END]
    gather(data, limits, work, start, end)
    rows, row_class = work.rows[start:end], work.row_class[start:end]
    row_weight, row_moment = work.row_weight[start:end], work.row_moment[start:end]
    if limits.criterion != LEAST_SQUARES:
        row_moment = row_weight
    permuted, order, sums, bins, all_bins, more = room
    seed, total, min_weight = work.seed, work.total[node], work.min_weight[0]
    found, left_sets = work.found[:, 0], work.left_set[:, 0]
    d = permuted.size
    best, best_feature, taken = 0.0, -1, 0
    for k in range(d):
        if k >= limits.max_features and best > 0:
            break
        j = k + random_below(seed, d - k)
        permuted[k], permuted[j] = permuted[j], permuted[k]
        f = permuted[k]
        categorical = data.kind[f] == CATEGORICAL
        cells = data.codes[f], data.n_bins[f], rows, row_class, row_weight, row_moment
        kind = limits.criterion == LEAST_SQUARES, limits.counter, limits.shift
        if limits.random_cuts and not categorical:
            numbers, size = bins, sum_sides(cells, kind, seed, sums, bins)
        elif rows.size <= FEW:
            numbers, size = bins, sum_few(cells, kind, order, sums, bins)
        else:
            numbers, size = all_bins, sum_all(cells, kind, sums)
        gain = search_feature(
            sums,
            numbers,
            size,
            categorical,
            total,
            limits,
            min_weight,
            CLOSE * best,
            more,
            found[1 - taken],
            left_sets[1 - taken],
        )
        if is_better(gain, best):
            best, best_feature, taken = gain, f, 1 - taken
    if best_feature < 0:
        return
    set_split(data, work, node, best_feature, best, found[taken], left_sets[taken])
    if work.number[node, GAIN] > 0:
        work.frontier[work.progress[N_FRONTIER]] = node
        work.progress[N_FRONTIER] += 1


@lean_kernel
def sum_all(cells, kind, sums):
    """Sums of all bins of a feature over some rows; how many bins there are."""
    codes, missing, rows, row_class, row_weight, row_moment = cells
    shift = kind[2]
    clear(sums, 0, missing + 1, shift)
    for i in range(rows.size):
        b = np.int64(codes[rows[i]]) << shift
        add_row(i, row_class, row_weight, row_moment, kind, sums, b)
    return np.int64(missing)


@lean_kernel
def sum_few(cells, kind, order, sums, bins):
    """Sums of the bins that few rows meet, found by sorting, then of missing cells.

    ``bins`` gets the numbers of these bins; returns how many they are.
    """
    codes, missing, rows, row_class, row_weight, row_moment = cells
    shift = kind[2]
    for i in range(rows.size):
        key = np.int64(codes[rows[i]]) * FEW + i
        j = i
        while j > 0 and order[j - 1] > key:
            order[j] = order[j - 1]
            j -= 1
        order[j] = key
    size = -1
    for k in range(rows.size):
        code, i = order[k] // FEW, order[k] % FEW
        if size < 0 or bins[size] != code:
            size += 1
            bins[size] = code
            clear(sums, size, size + 1, shift)
        add_row(i, row_class, row_weight, row_moment, kind, sums, size << shift)
    if bins[size] != missing:
        size += 1
        clear(sums, size, size + 1, shift)
    return size


@lean_kernel
def sum_sides(cells, kind, seed, sums, bins):
    """Sums on both sides of a random cut, as if they were bins, then of missing cells.

    They are numbered as the last bin on the left, and the first on the right. Returns
    how many of the two there are.
    """
    codes, missing, rows, row_class, row_weight, row_moment = cells
    shift = kind[2]
    lowest, highest = np.int64(missing), np.int64(-1)
    for i in range(rows.size):
        code = np.int64(codes[rows[i]])
        lowest = min(lowest, code)
        highest = max(highest, code if code < missing else -1)
    size = 0 if highest < 0 else 1 if lowest == highest else 2
    cut = highest
    if size == 2:
        cut = lowest + random_below(seed, highest - lowest)
    low, high = lowest, highest
    clear(sums, 0, size + 1, shift)
    for i in range(rows.size):
        code = np.int64(codes[rows[i]])
        place = size if code == missing else np.int64(code > cut)
        if place == 0:
            low = max(low, code)
        elif place == 1:
            high = min(high, code)
        add_row(i, row_class, row_weight, row_moment, kind, sums, place << shift)
    bins[0], bins[1] = low, high
    return size


@lean_kernel
def clear(sums, first, last, shift):
    """Set the sums of some bins to zero."""
    for s in range(first << shift, last << shift):
        sums[s] = 0


@lean_kernel
def add_row(i, row_class, row_weight, row_moment, kind, sums, b):
    """Add a row to the sums of its bin."""
    regression, counter, _ = kind
    if regression:
        sums[b] += row_weight[i]
        sums[b + 1] += row_moment[i]
    else:
        sums[b + np.int64(row_class[i])] += row_weight[i]
    if counter >= 0:
        sums[b + counter] += 1


@inner_kernel
def make_drawing_room(data, limits):
    """Memory for a search: an order of the features and one of rows, sums of bins."""
    return (
        np.arange(data.n_bins.size),
        np.empty(FEW, dtype=np.int64),
        np.empty(257 << limits.shift, dtype=np.int64),
        np.empty(257, dtype=np.int64),
        np.arange(257),
        make_room(limits),
    )


@inner_kernel
def grow_children(data, limits, work, node, room):
    """Split a node, and look at its children."""
    split_node(data, limits, work, node)
    left = work.node[node, CHILD]
    for child in (left, left + 1):
        if may_split(limits, work, child):
            look_at_drawn(data, limits, work, child, room)


@lean_kernel
def random_below(seed, n):
    """Next random integer below n, by xorshift."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(n))
