"""The best split of the planned nodes, over a block of features.

For each planned node the histogram is brought about (built from rows, or as parent
minus sibling), then every feature is scanned and its best split noted. Where no slot is
left for a histogram, rows are summed over one feature at a time in a scratch one.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel
from splboost.trees.binning import CATEGORICAL
from splboost.trees.histogram import (
    add_classes,
    add_classes_of,
    add_counts_of,
    add_moments,
    add_moments_of,
)
from splboost.trees.split import (
    CLOSE,
    ENTROPY,
    GINI,
    LEAST_SQUARES,
    is_better,
    is_empty,
    most_entropy,
    order_categories,
    scan_classes,
    scan_moments,
)
from splboost.trees.workspace import (
    DIRECT,
    END,
    HIGH,
    LOW,
    MISSING,
    N_CHANGED,
    NODE_A,
    NODE_B,
    NONE_MISSING,
    NOTHING,
    ROOT_CHANGED,
    ROOT_FULL,
    SLOT,
    START,
    SUBTRACT,
)


@kernel
def search(memory, first, last):
    """Best split by each of the features first to last, of the planned nodes."""
    data, limits, work = memory.data, memory.limits, memory.work
    min_weight = work.min_weight[0]
    scratch = np.empty(256 << limits.shift, dtype=np.int64)
    bins, room = np.arange(256), make_room(limits)
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
        least = 0.0
        for f in range(first, last):
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
            gain[f] = search_feature(
                hist,
                bins,
                data.n_bins[f],
                data.kind[f] == CATEGORICAL,
                total,
                limits,
                min_weight,
                least,
                room,
                found[f],
                left_set[f],
            )
            least = max(least, CLOSE * gain[f])


@inner_kernel
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


@inner_kernel
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


@inner_kernel
def search_feature(
    hist,
    bins,
    size,
    categorical,
    total,
    limits,
    min_weight,
    least,
    room,
    found,
    left_set,
):
    """Gain of the best split by one feature, 0 if there is none; notes the split.

    ``hist`` holds the bins numbered ``bins[:size]``, then that of missing cells;
    ``found`` gets the last non-empty bin left of the cut, the first right of it (-1:
    none) and the side of the missing; a split of categories goes into ``left_set``. A
    split of no more gain than the ``least`` may be passed over.
    """
    shift, counter, min_rows = limits.shift, limits.counter, limits.min_rows
    regression = limits.criterion == LEAST_SQUARES
    entropy = limits.criterion == ENTROPY
    weight_slots = 1 if regression else limits.n_classes
    factor, most = 2.0 if limits.criterion == GINI else 1.0, 0.0
    if entropy and limits.n_classes == 2:
        most = most_entropy(total)
    n_orders = limits.n_classes if categorical and limits.n_classes > 2 else 1
    keys, order, ordered = room
    best = 0.0
    walked, n_walked = hist, size
    for turn in range(n_orders):
        if categorical:
            slot = turn if n_orders > 1 else 1
            n_walked = order_categories(
                hist, shift, weight_slots, slot, size, keys, order, ordered
            )
            walked = ordered
        if regression or limits.n_classes == 2:
            gain, position, left = scan_moments(
                walked,
                shift,
                weight_slots,
                counter,
                n_walked,
                total,
                min_weight,
                min_rows,
                least / factor,
                most,
            )
            gain *= factor
        else:
            gain, position, left = scan_classes(
                walked,
                shift,
                limits.n_classes,
                entropy,
                counter,
                n_walked,
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
                code = bins[order[k]]
                left_set[code >> 3] |= np.uint8(1 << (code & 7))
        else:
            low = position - 1
            while is_empty(hist, shift, low):
                low -= 1
            found[LOW] = bins[low]
            found[HIGH] = bins[position] if position < size else -1
        if is_empty(hist, shift, size):
            found[MISSING] = NONE_MISSING
        else:
            found[MISSING] = 1 if left else 0
    return best


@inner_kernel
def make_room(limits):
    """Memory for ordered categories: their keys, order and histogram."""
    return (
        np.empty(256),
        np.empty(256, dtype=np.int64),
        np.empty(256 << limits.shift, dtype=np.int64),
    )
