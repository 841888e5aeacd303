"""The best split of the planned nodes, over a block of features.

For each planned node the histogram is brought about (built from rows, or as parent minus
sibling), then every feature is scanned and its best split noted. A small node keeps no
histogram: its rows are summed over one feature at a time in a scratch one, and only the
bins met are scanned.
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
    MISSING_LEFT,
    N_CHANGED,
    N_FREE,
    N_FRONTIER,
    NODE_A,
    NODE_B,
    NOTHING,
    ROOT_CHANGED,
    ROOT_FULL,
    SLOT,
    START,
    SUBTRACT,
    THRESHOLD,
    weight_of,
)


@njit(nogil=True, cache=True)
def search(data, limits, work, first, last):
    """Best split by each of the features first to last, of the planned nodes."""
    min_weight = limits.min_share * np.float64(weight_of(limits, work, 0))
    size = 256 << limits.shift
    scratch = np.zeros(size, dtype=np.int64)
    seen = np.zeros(256, dtype=np.bool_)
    order = np.arange(256)
    keys = np.empty(256)
    for k in (NODE_A, NODE_B):
        node, way, wanted = work.plan[k], work.plan[k + 1], work.plan[k + 2]
        if way == NOTHING:
            continue
        side = 0 if k == NODE_A else 1
        if way != DIRECT:
            fill_slot(data, limits, work, node, way, first, last)
        if not wanted:
            continue
        for f in range(first, last):
            if way == DIRECT:
                hist = scratch
                touched = fill_scratch(
                    data, limits, work, node, f, scratch, seen, order
                )
            else:
                slot = work.node[node, SLOT]
                hist = work.hist[slot, data.offset[f] << limits.shift :]
                touched = data.n_bins[f]
                for b in range(touched):
                    order[b] = b
            search_feature(
                data,
                limits,
                work,
                min_weight,
                node,
                side,
                f,
                hist,
                order,
                touched,
                keys,
            )
            if way == DIRECT:
                clear_scratch(data, limits, work, node, f, scratch, seen)


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def fill_scratch(data, limits, work, node, f, scratch, seen, order):
    """Sum a small node's rows over one feature; the bins met, in order, and how many."""
    codes = data.codes[f]
    shift = limits.shift
    regression = limits.criterion == LEAST_SQUARES
    missing = data.n_bins[f]
    met = 0
    for i in range(work.node[node, START], work.node[node, END]):
        code = np.int64(codes[work.rows[i]])
        b = code << shift
        if regression:
            scratch[b] += work.row_weight[i]
            scratch[b + 1] += work.row_moment[i]
        else:
            scratch[b + work.row_class[i]] += work.row_weight[i]
        if limits.counter >= 0:
            scratch[b + limits.counter] += 1
        if not seen[code] and code != missing:
            seen[code] = True
            order[met] = code
            met += 1
    if met <= 32:
        for i in range(1, met):
            code = order[i]
            j = i
            while j > 0 and order[j - 1] > code:
                order[j] = order[j - 1]
                j -= 1
            order[j] = code
        return met
    met = 0
    for code in range(missing):
        if seen[code]:
            order[met] = code
            met += 1
    return met


@njit(nogil=True, cache=True)
def clear_scratch(data, limits, work, node, f, scratch, seen):
    codes = data.codes[f]
    for i in range(work.node[node, START], work.node[node, END]):
        code = np.int64(codes[work.rows[i]])
        seen[code] = False
        for b in range(code << limits.shift, (code + 1) << limits.shift):
            scratch[b] = 0


@njit(nogil=True, cache=True)
def search_feature(
    data, limits, work, min_weight, node, side, f, hist, order, size, keys
):
    """Note the best split of a node by one feature: gain, bins and missing side."""
    missing = data.n_bins[f]
    total = work.total[node]
    shift, counter, min_rows = limits.shift, limits.counter, limits.min_rows
    categorical = data.kind[f] == CATEGORICAL
    moments = limits.criterion == LEAST_SQUARES or (
        limits.n_classes == 2 and limits.criterion != ENTROPY
    )
    weight_slots = 1 if limits.criterion == LEAST_SQUARES else limits.n_classes
    choice = work.choice[side, f]
    choice[0] = 0
    work.gain[side, f] = 0.0
    n_orders = limits.n_classes if categorical and limits.n_classes > 2 else 1
    for turn in range(n_orders):
        if categorical:
            slot = turn if n_orders > 1 else 1
            size = order_categories(
                hist, shift, weight_slots, slot, missing, keys, order
            )
        if moments:
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
            if limits.criterion != LEAST_SQUARES:
                gain *= 2
        else:
            gain, position, left = scan_classes(
                hist,
                shift,
                limits.n_classes,
                limits.criterion == ENTROPY,
                counter,
                order,
                size,
                missing,
                total,
                min_weight,
                min_rows,
            )
        if gain <= 0 or not is_better(gain, work.gain[side, f]):
            continue
        work.gain[side, f] = gain
        choice[0] = 1
        if categorical:
            note_set(work, side, f, order, position)
        else:
            note_cut(work, side, f, hist, shift, weight_slots, order, size, position)
        note_missing(work, side, f, hist, shift, weight_slots, missing, left)


@njit(nogil=True, cache=True)
def note_cut(work, side, f, hist, shift, weight_slots, order, size, position):
    """The last non-empty bin left of the cut, and the one right of it (-1: none)."""
    work.high[side, f] = order[position] if position < size else -1
    low = position - 1
    while True:
        weight = 0
        for s in range(weight_slots):
            weight += hist[(order[low] << shift) + s]
        if weight > 0:
            break
        low -= 1
    work.low[side, f] = order[low]


@njit(nogil=True, cache=True)
def note_set(work, side, f, order, position):
    bits = work.left_set[side, f]
    bits[:] = 0
    for k in range(position):
        bits[order[k] >> 3] |= np.uint8(1 << (order[k] & 7))


@njit(nogil=True, cache=True)
def note_missing(work, side, f, hist, shift, weight_slots, missing, left):
    """choice[1]: 0 missing right, 1 missing left, 2 none here (follow the heavier)."""
    weight = 0
    for s in range(weight_slots):
        weight += hist[(missing << shift) + s]
    work.choice[side, f, 1] = 2 if weight == 0 else (1 if left else 0)


@njit(nogil=True, cache=True)
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
        if work.number[node, GAIN] > 0:
            work.frontier[p[N_FRONTIER]] = node
            p[N_FRONTIER] += 1
        else:
            release(work, node)
    plan[NODE_A] = plan[NODE_B] = -1


@njit(nogil=True, cache=True)
def release(work, node):
    slot = work.node[node, SLOT]
    if slot > 0:
        work.free[work.progress[N_FREE]] = slot
        work.progress[N_FREE] += 1
    work.node[node, SLOT] = -1


@njit(nogil=True, cache=True)
def choose(data, limits, work, node, side):
    """Set the split of a node from what the search noted, if any split is worth it."""
    d = data.n_bins.size
    best = 0.0
    best_feature = -1
    if limits.max_features >= d:
        for f in range(d):
            if work.choice[side, f, 0] and is_better(work.gain[side, f], best):
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
            if work.choice[side, f, 0]:
                tried += 1
                if is_better(work.gain[side, f], best):
                    best, best_feature = work.gain[side, f], f
    if best_feature < 0 or best <= MIN_GAIN:
        return
    f = best_feature
    work.number[node, GAIN] = best
    work.node[node, FEATURE] = f
    work.node[node, MISSING_LEFT] = work.choice[side, f, 1]
    if data.kind[f] == CATEGORICAL:
        work.bins[node] = work.left_set[side, f]
    else:
        b, threshold = cut_between(data, f, work.low[side, f], work.high[side, f])
        work.node[node, BIN] = b
        work.number[node, THRESHOLD] = threshold


@njit(nogil=True, cache=True)
def random_below(seed, n):
    """Next random integer below n, by xorshift."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(n))


@njit(nogil=True, cache=True)
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
