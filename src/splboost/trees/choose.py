"""From the best splits by each feature to the split of a node."""

from __future__ import annotations

import numpy as np

from splboost.compiled import kernel
from splboost.trees.binning import CATEGORICAL, EXACT, middle
from splboost.trees.split import MIN_GAIN, is_better
from splboost.trees.workspace import (
    BIN,
    FEATURE,
    GAIN,
    HIGH,
    LOW,
    MISSING,
    MISSING_LEFT,
    N_FREE,
    N_FRONTIER,
    NODE_A,
    NODE_B,
    SET_BYTES,
    SLOT,
    THRESHOLD,
)


@kernel
def choose_planned(data, limits, work):
    """Take the best feature of each searched node; put the node on the frontier."""
    plan, p = work.plan, work.progress
    # The larger child first, so that depth-first growth takes the smaller one next.
    for k in (NODE_B, NODE_A):
        node = plan[k]
        if node < 0:
            continue
        if plan[k + 2]:
            choose(data, limits, work, node)
        if plan[k + 2] and work.number[node, GAIN] > 0:
            work.frontier[p[N_FRONTIER]] = node
            p[N_FRONTIER] += 1
        else:
            release(work, node)
    plan[NODE_A] = plan[NODE_B] = -1


@kernel
def release(work, node):
    slot = work.node[node, SLOT]
    if slot > 0:
        work.free[work.progress[N_FREE]] = slot
        work.progress[N_FREE] += 1
    work.node[node, SLOT] = -1


@kernel
def choose(data, limits, work, node):
    """Set the split of a node from what the search noted, if any split is worth it."""
    d = data.n_bins.size
    side = 1 if node == work.plan[NODE_B] else 0
    best = 0.0
    best_feature = -1
    if limits.max_features >= d:
        for f in range(d):
            if is_better(work.gain[side, f], best):
                best, best_feature = work.gain[side, f], f
    else:
        # A random order of the features; the first max_features that can split at all.
        permuted = np.arange(d)
        tried = 0
        for k in range(d):
            j = k + random_below(work.seed, d - k)
            permuted[k], permuted[j] = permuted[j], permuted[k]
            f = permuted[k]
            if k >= limits.max_features and tried > 0:
                break
            if work.gain[side, f] > 0:
                tried += 1
                if is_better(work.gain[side, f], best):
                    best, best_feature = work.gain[side, f], f
    if best_feature < 0 or best <= MIN_GAIN:
        return
    f, found = best_feature, work.found[side, best_feature]
    work.number[node, GAIN] = best
    work.node[node, FEATURE] = f
    work.node[node, MISSING_LEFT] = found[MISSING]
    if data.kind[f] == CATEGORICAL:
        for k in range(SET_BYTES):
            work.bins[node, k] = work.left_set[side, f, k]
    else:
        b, threshold = cut_between(data, f, found[LOW], found[HIGH])
        work.node[node, BIN] = b
        work.number[node, THRESHOLD] = threshold


@kernel
def random_below(seed, n):
    """Next random integer below n, by xorshift."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(n))


@kernel
def cut_between(data, f, low, high):
    """Last bin on the left, and threshold, of a cut between two non-empty bins.

    The threshold lies midway between the values at the cut if bins are values, else on
    the edge nearest below the middle, so that codes and values always agree.
    """
    points = data.points[data.offset[f] :]
    if high < 0:
        return data.n_bins[f] - 1, np.inf
    if data.kind[f] == EXACT:
        threshold = middle(points[low], points[high])
        b = low
        while points[b + 1] <= threshold:
            b += 1
        return b, threshold
    target = middle(points[low], points[high - 1])
    b = low
    while b + 1 < high and points[b + 1] <= target:
        b += 1
    return b, points[b]
