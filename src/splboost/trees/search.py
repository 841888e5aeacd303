"""The best split of the planned nodes, over a block of features.

For each planned node the histogram is brought about (built from rows, or as parent
minus sibling), then every feature is scanned and its best split noted. Where no slot is
left for a histogram, rows are summed over one feature at a time in a scratch one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from splboost.trees.binning import CATEGORICAL, EXACT, middle
from splboost.trees.histogram import (
    add_classes,
    add_classes_of,
    add_counts_of,
    add_moments,
    add_moments_of,
)
from splboost.trees.split import (
    ENTROPY,
    LEAST_SQUARES,
    MIN_GAIN,
    is_better,
    order_categories,
    scan_classes,
    scan_moments,
)
from splboost.trees.workspace import (
    BIN,
    DIRECT,
    END,
    FEATURE,
    GAIN,
    HIGH,
    LOW,
    MISSING,
    MISSING_LEFT,
    N_CHANGED,
    N_FREE,
    N_FRONTIER,
    NODE_A,
    NODE_B,
    NONE_MISSING,
    NOTHING,
    ROOT_CHANGED,
    ROOT_FULL,
    SLOT,
    START,
    SUBTRACT,
    THRESHOLD,
    weight_of,
)


@njit(nogil=True, cache=True, error_model="numpy")
def search(data, limits, work, first, last):
    """Best split by each of the features first to last, of the planned nodes."""
    min_weight = limits.min_share * np.float64(weight_of(limits, work, 0))
    scratch = np.zeros(256 << limits.shift, dtype=np.int64)
    order = np.empty(256, dtype=np.int64)
    keys = np.empty(256)
    for k in (NODE_A, NODE_B):
        node, way, wanted = work.plan[k], work.plan[k + 1], work.plan[k + 2]
        if way == NOTHING:
            continue
        if way != DIRECT:
            fill_slot(data, limits, work, node, way, first, last)
        if not wanted:
            continue
        side = 0 if k == NODE_A else 1
        start, end = work.node[node, START], work.node[node, END]
        rows, total = work.rows[start:end], work.total[node]
        row_class, row_weight = work.row_class[start:end], work.row_weight[start:end]
        row_moment = work.row_moment[start:end]
        slot_hist = work.hist[max(work.node[node, SLOT], 0)]
        found, left_set, gain = work.found[side], work.left_set[side], work.gain[side]
        for f in range(first, last):
            n_bins = data.n_bins[f]
            categorical = data.kind[f] == CATEGORICAL
            if way == DIRECT:
                hist = scratch
                fill_scratch(
                    data.codes[f],
                    rows,
                    row_class,
                    row_weight,
                    row_moment,
                    limits,
                    scratch,
                )
            else:
                hist = slot_hist[data.offset[f] << limits.shift :]
            for b in range(n_bins):
                order[b] = b
            gain[f] = search_feature(
                hist,
                n_bins,
                categorical,
                total,
                limits,
                min_weight,
                order,
                n_bins,
                keys,
                found[f],
                left_set[f],
            )


@njit(nogil=True, cache=True, error_model="numpy")
def fill_slot(data, limits, work, node, way, first, last):
    """Bring the node's histogram about, for features first to last."""
    shift, counter = limits.shift, limits.counter
    hist = work.hist[work.node[node, SLOT]]
    lo, hi = data.offset[first] << shift, data.offset[last] << shift
    if way == SUBTRACT:
        smaller = work.hist[work.node[work.plan[NODE_A], SLOT]]
        for b in range(lo, hi):
            hist[b] -= smaller[b]
        return
    regression = limits.criterion == LEAST_SQUARES
    if way == ROOT_CHANGED:
        m = work.progress[N_CHANGED]
        add_classes_of(
            data.codes,
            work.spare[:m],
            work.row_class[:m],
            work.row_weight[:m],
            first,
            last,
            data.offset,
            shift,
            hist,
        )
        return
    for b in range(lo, hi):
        hist[b] = 0
    start, end = work.node[node, START], work.node[node, END]
    rows = work.rows[start:end]
    if way == ROOT_FULL:
        if regression:
            add_moments(
                data.codes,
                work.weight,
                work.moment,
                first,
                last,
                data.offset,
                shift,
                hist,
            )
        else:
            add_classes(
                data.codes, data.y, work.weight, first, last, data.offset, shift, hist
            )
    elif regression:
        add_moments_of(
            data.codes,
            rows,
            work.row_weight[start:end],
            work.row_moment[start:end],
            first,
            last,
            data.offset,
            shift,
            hist,
        )
    else:
        add_classes_of(
            data.codes,
            rows,
            work.row_class[start:end],
            work.row_weight[start:end],
            first,
            last,
            data.offset,
            shift,
            hist,
        )
    if counter >= 0:
        add_counts_of(data.codes, rows, counter, first, last, data.offset, shift, hist)


@njit(nogil=True, cache=True, error_model="numpy")
def fill_scratch(codes, rows, row_class, row_weight, row_moment, limits, scratch):
    """Histogram of one feature from rows, where a node has no slot for all of them."""
    shift = limits.shift
    regression = limits.criterion == LEAST_SQUARES
    scratch[:] = 0
    for i in range(rows.size):
        b = np.int64(codes[rows[i]]) << shift
        if regression:
            scratch[b] += row_weight[i]
            scratch[b + 1] += row_moment[i]
        else:
            scratch[b + row_class[i]] += row_weight[i]
        if limits.counter >= 0:
            scratch[b + limits.counter] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def search_feature(
    hist,
    missing,
    categorical,
    total,
    limits,
    min_weight,
    order,
    size,
    keys,
    found,
    left_set,
):
    """Gain of the best split by one feature, 0 if there is none; notes the split.

    ``found`` gets the last non-empty bin left of the cut, the first right of it (-1:
    none) and the side of the missing; a split of categories goes into ``left_set``.
    """
    shift, counter, min_rows = limits.shift, limits.counter, limits.min_rows
    regression = limits.criterion == LEAST_SQUARES
    entropy = limits.criterion == ENTROPY
    weight_slots = 1 if regression else limits.n_classes
    n_orders = limits.n_classes if categorical and limits.n_classes > 2 else 1
    best = 0.0
    for turn in range(n_orders):
        if categorical:
            slot = turn if n_orders > 1 else 1
            size = order_categories(
                hist, shift, weight_slots, slot, missing, keys, order
            )
        if regression or (limits.n_classes == 2 and not entropy):
            gain, position, left = scan_moments(
                hist,
                shift,
                weight_slots,
                counter,
                order,
                size,
                missing,
                total,
                min_weight,
                min_rows,
            )
            gain *= weight_slots
        else:
            gain, position, left = scan_classes(
                hist,
                shift,
                limits.n_classes,
                entropy,
                counter,
                order,
                size,
                missing,
                total,
                min_weight,
                min_rows,
            )
        if position < 0 or not is_better(gain, best):
            continue
        best = gain
        if categorical:
            left_set[:] = 0
            for k in range(position):
                left_set[order[k] >> 3] |= np.uint8(1 << (order[k] & 7))
        else:
            low = position - 1
            while bin_weight(hist, shift, weight_slots, order[low]) == 0:
                low -= 1
            found[LOW] = order[low]
            found[HIGH] = order[position] if position < size else -1
        if bin_weight(hist, shift, weight_slots, missing) == 0:
            found[MISSING] = NONE_MISSING
        else:
            found[MISSING] = 1 if left else 0
    return best


@njit(nogil=True, cache=True, error_model="numpy")
def bin_weight(hist, shift, weight_slots, b):
    weight = 0
    for s in range(weight_slots):
        weight += hist[(b << shift) + s]
    return weight


@njit(nogil=True, cache=True, error_model="numpy")
def choose_planned(data, limits, work):
    """Take the best feature of each searched node; put the node on the frontier."""
    plan, p = work.plan, work.progress
    # The larger child first, so that depth-first growth takes the smaller one next.
    for k in (NODE_B, NODE_A):
        node = plan[k]
        if node < 0:
            continue
        if plan[k + 2]:
            choose(data, limits, work, node, 0 if k == NODE_A else 1)
        if plan[k + 2] and work.number[node, GAIN] > 0:
            work.frontier[p[N_FRONTIER]] = node
            p[N_FRONTIER] += 1
        else:
            release(work, node)
    plan[NODE_A] = plan[NODE_B] = -1


@njit(nogil=True, cache=True, error_model="numpy")
def release(work, node):
    slot = work.node[node, SLOT]
    if slot > 0:
        work.free[work.progress[N_FREE]] = slot
        work.progress[N_FREE] += 1
    work.node[node, SLOT] = -1


@njit(nogil=True, cache=True, error_model="numpy")
def choose(data, limits, work, node, side):
    """Set the split of a node from what the search noted, if any split is worth it."""
    d = data.n_bins.size
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
        work.bins[node] = work.left_set[side, f]
    else:
        b, threshold = cut_between(data, f, found[LOW], found[HIGH])
        work.node[node, BIN] = b
        work.number[node, THRESHOLD] = threshold


@njit(nogil=True, cache=True, error_model="numpy")
def random_below(seed, n):
    """Next random integer below n, by xorshift."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(n))


@njit(nogil=True, cache=True, error_model="numpy")
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
