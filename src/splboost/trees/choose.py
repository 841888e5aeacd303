"""From the best splits by each feature to the split of a node."""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel
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


@inner_kernel
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


@inner_kernel
def release(work, node):
    slot = work.node[node, SLOT]
    if slot > 0:
        work.free[work.progress[N_FREE]] = slot
        work.progress[N_FREE] += 1
    work.node[node, SLOT] = -1


@inner_kernel
def choose(data, limits, work, node):
    """Set the split of a node from what the search noted, if any split is worth it."""
    d = data.n_bins.size
    side = 1 if node == work.plan[NODE_B] else 0
    best = 0.0
    best_feature = -1
    for f in range(d):
        if is_better(work.gain[side, f], best):
            best, best_feature = work.gain[side, f], f
    if best_feature >= 0:
        found, left_set = (
            work.found[side, best_feature],
            work.left_set[side, best_feature],
        )
        set_split(data, work, node, best_feature, best, found, left_set)


@inner_kernel
def set_split(data, work, node, f, gain, found, left_set):
    """Set the split of a node to what was found of a feature, if it is worth it."""
    if gain <= MIN_GAIN:
        return
    work.number[node, GAIN] = gain
    work.node[node, FEATURE] = f
    work.node[node, MISSING_LEFT] = found[MISSING]
    if data.kind[f] == CATEGORICAL:
        for k in range(SET_BYTES):
            work.bins[node, k] = left_set[k]
    else:
        b, threshold = cut_between(data, f, found[LOW], found[HIGH])
        work.node[node, BIN] = b
        work.number[node, THRESHOLD] = threshold


@inner_kernel
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
