"""Growing trees whose nodes look at a few features, drawn anew in each.

Only what is drawn is summed: a node's rows go into the bins of one feature, and the
bins that they meet are scanned. No histogram is kept, and no column is sorted.

With ``random_cuts`` a column of numbers is cut once, at random between its lowest and
its highest bin, and the best of these cuts is taken (extremely randomised trees).
Categories are divided as well as they can be.
"""

from __future__ import annotations

import numpy as np

from splboost.compiled import kernel
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

WORD = 8  # bins whose marks are looked at together


@kernel
def look_at_drawn(data, limits, work, node, room):
    """Choose the split of a node; put the node on the frontier if there is one.

    Features are drawn until ``max_features`` were, and one of them can split.
    """
    gather(data, limits, work, work.node[node, START], work.node[node, END])
    d = data.n_bins.size
    permuted = room[0]
    best, best_feature, taken = 0.0, -1, 0
    for k in range(d):
        if k >= limits.max_features and best > 0:
            break
        j = k + random_below(work.seed, d - k)
        permuted[k], permuted[j] = permuted[j], permuted[k]
        f = permuted[k]
        gain = search_drawn(data, limits, work, node, f, CLOSE * best, room, 1 - taken)
        if is_better(gain, best):
            best, best_feature, taken = gain, f, 1 - taken
    if best_feature < 0:
        return
    found, left_set = work.found[taken, 0], work.left_set[taken, 0]
    set_split(data, work, node, best_feature, best, found, left_set)
    if work.number[node, GAIN] > 0:
        work.frontier[work.progress[N_FRONTIER]] = node
        work.progress[N_FRONTIER] += 1


@kernel
def search_drawn(data, limits, work, node, f, least, room, place):
    """Gain of the best split of a node by one feature; what it is, goes to a place."""
    _, marks, hist, met, bins, more = room
    categorical = data.kind[f] == CATEGORICAL
    size = sum_met(data, limits, work, node, f, marks, hist, met, bins)
    if limits.random_cuts and not categorical and size > 1:
        low = bins[0]
        cut = low + random_below(work.seed, bins[size - 1] - low)
        merge(met, bins, size, limits.shift, cut)
        size = 2
    return search_feature(
        met,
        bins,
        size,
        categorical,
        work.total[node],
        limits,
        work.min_weight[0],
        least,
        more,
        work.found[place, 0],
        work.left_set[place, 0],
    )


@kernel
def sum_met(data, limits, work, node, f, marks, hist, met, bins):
    """Sums of the bins of a feature that a node's rows meet, then of missing cells.

    ``marks`` and ``hist``, of all bins, are zero before and after.
    """
    shift, missing = limits.shift, data.n_bins[f]
    counter = limits.counter
    regression = limits.criterion == LEAST_SQUARES
    codes = data.codes[f]
    start, end = work.node[node, START], work.node[node, END]
    for i in range(start, end):
        code = np.int64(codes[work.rows[i]])
        marks[code] = 1
        b = code << shift
        if regression:
            hist[b] += work.row_weight[i]
            hist[b + 1] += work.row_moment[i]
        else:
            hist[b + np.int64(work.row_class[i])] += work.row_weight[i]
        if counter >= 0:
            hist[b + counter] += 1
    size, words = 0, marks.view(np.uint64)
    for word in range(missing // WORD + 1):
        if words[word] == 0:
            continue
        words[word], last = 0, min(WORD * (word + 1), missing)
        for b in range(WORD * word, last):
            if move_bin(hist, b, shift, met, size):
                bins[size] = b
                size += 1
    move_bin(hist, missing, shift, met, size)
    return size


@kernel
def move_bin(hist, b, shift, met, to):
    """Move the sums of a bin, which become zero; whether there was anything."""
    there = False
    for s in range(1 << shift):
        value = hist[(b << shift) + s]
        there |= value != 0
        met[(to << shift) + s] = value
        hist[(b << shift) + s] = 0
    return there


@kernel
def merge(met, bins, size, shift, cut):
    """Join the bins up to a cut, and those behind it."""
    right = 0
    while bins[right] <= cut:
        right += 1
    low, high = bins[right - 1], bins[right]
    for s in range(1 << shift):
        left_sum = right_sum = 0
        for k in range(right):
            left_sum += met[(k << shift) + s]
        for k in range(right, size):
            right_sum += met[(k << shift) + s]
        missing = met[(size << shift) + s]
        met[s], met[(1 << shift) + s] = left_sum, right_sum
        met[(2 << shift) + s] = missing
    bins[0], bins[1] = low, high


@kernel
def make_drawing_room(data, limits):
    """Memory for a search: an order of the features, sums of all bins, of some."""
    return (
        np.arange(data.n_bins.size),
        np.zeros(264, dtype=np.uint8),
        np.zeros(257 << limits.shift, dtype=np.int64),
        np.empty(257 << limits.shift, dtype=np.int64),
        np.empty(257, dtype=np.int64),
        make_room(limits),
    )


@kernel
def grow_children(data, limits, work, node, room):
    """Split a node, and look at its children."""
    split_node(data, limits, work, node)
    left = work.node[node, CHILD]
    for child in (left, left + 1):
        if may_split(limits, work, child):
            look_at_drawn(data, limits, work, child, room)


@kernel
def random_below(seed, n):
    """Next random integer below n, by xorshift."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(n))
