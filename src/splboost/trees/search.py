"""Histograms of the planned nodes, and the best split of each by each feature.

Sums are kept as 64-bit integers: a weight is rounded once to a multiple of a unit that
is about 2**-54 of the total. Integer sums do not depend on the order of the rows, and
differences leave no residue. So a larger child equals its parent minus its sibling, and
the root of a boosting round equals that of the last round plus the rows that changed,
*bit for bit*; a bin is empty if and only if its sum is 0; and the number of threads
cannot matter.

A histogram is flat: bin ``b`` of feature ``f`` has ``1 << shift`` slots from
``(offset[f] + b) << shift`` on. For classification slot k is the weight of class k;
for regression slot 0 is the weight and slot 1 the weighted sum of the target. Where
leaves must hold a number of rows, the slot after these counts rows.

Indices into a histogram are unsigned: numba then leaves out the test for negative ones,
which would cost as much as the addition. Features are taken two at a time: one read of
row, class and weight serves both, which takes a quarter to a third off the time.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel
from splboost.trees.split import CLOSE, search_feature
from splboost.trees.workspace import (
    END,
    LEAST_SQUARES,
    N_CHANGED,
    NODE,
    NOTHING,
    ROOT_CHANGED,
    ROOT_FULL,
    SLOT,
    START,
    SUBTRACT,
    WANTED,
    WAY,
)


@kernel
def search(work, first, last):
    """Best split by each of the features first to last, of the planned nodes."""
    numbers = np.arange(256)
    for side in range(2):
        node, way = work.plan[side, NODE], work.plan[side, WAY]
        if way == NOTHING:
            continue
        hist = work.hist[work.node[node, SLOT]]
        fill_histogram(work, hist, node, way, first, last)
        least = 0.0
        for f in range(first, last if work.plan[side, WANTED] else first):
            bins = hist[work.offset[f] << work.shift :], numbers, work.n_bins[f]
            gain = search_feature(work, node, side, f, bins, least)
            work.gain[side, f] = gain
            least = max(least, CLOSE * gain)


@inner_kernel
def fill_histogram(work, hist, node, way, first, last):
    """Bring the node's histogram about, for features first to last."""
    lo, hi = work.offset[first] << work.shift, work.offset[last] << work.shift
    if way == SUBTRACT:
        smaller = work.hist[work.node[work.plan[0, NODE], SLOT]]
        for b in range(lo, hi):
            hist[b] -= smaller[b]
        return
    columns = work.codes, work.offset, work.shift, first, last
    start, end = work.node[node, START], work.node[node, END]
    rows = work.rows[start:end]
    if way == ROOT_CHANGED:
        start, end = 0, work.progress[N_CHANGED]
        rows = work.spare[:end]
    else:
        hist[lo:hi] = 0
    weight, classes = work.row_weight[start:end], work.row_class[start:end]
    if work.criterion == LEAST_SQUARES:
        if way == ROOT_FULL:
            add_moments(columns, work.weight, work.moment, hist)
        else:
            add_moments_of(columns, rows, weight, work.row_moment[start:end], hist)
    elif way == ROOT_FULL:
        add_classes(columns, work.y, work.weight, hist)
    else:
        add_classes_of(columns, rows, classes, weight, hist)
    if work.counter >= 0:
        add_counts_of(columns, rows, work.counter, hist)


@inner_kernel
def add_classes(columns, y, weight, hist):
    """Add all rows' weights at their classes, for some features."""
    codes, offset, shift, first, last = columns
    up = np.uint64(shift)
    n = codes.shape[1]
    for f in range(first, last - 1, 2):
        c0, c1 = codes[f], codes[f + 1]
        h0, h1 = hist[offset[f] << shift :], hist[offset[f + 1] << shift :]
        for i in range(n):
            k, w = np.uint64(y[i]), weight[i]
            h0[(np.uint64(c0[i]) << up) + k] += w
            h1[(np.uint64(c1[i]) << up) + k] += w
    if (last - first) % 2:
        c0, h0 = codes[last - 1], hist[offset[last - 1] << shift :]
        for i in range(n):
            h0[(np.uint64(c0[i]) << up) + np.uint64(y[i])] += weight[i]


@inner_kernel
def add_classes_of(columns, rows, y, weight, hist):
    """Add the weights of some rows; ``y`` and ``weight`` belong to ``rows``."""
    codes, offset, shift, first, last = columns
    up = np.uint64(shift)
    m = rows.size
    for f in range(first, last - 1, 2):
        c0, c1 = codes[f], codes[f + 1]
        h0, h1 = hist[offset[f] << shift :], hist[offset[f + 1] << shift :]
        for i in range(m):
            row, k, w = np.uint64(rows[i]), np.uint64(y[i]), weight[i]
            h0[(np.uint64(c0[row]) << up) + k] += w
            h1[(np.uint64(c1[row]) << up) + k] += w
    if (last - first) % 2:
        c0, h0 = codes[last - 1], hist[offset[last - 1] << shift :]
        for i in range(m):
            h0[(np.uint64(c0[rows[i]]) << up) + np.uint64(y[i])] += weight[i]


@inner_kernel
def add_moments(columns, weight, moment, hist):
    """Add all rows' weights and weighted targets."""
    codes, offset, shift, first, last = columns
    up, one = np.uint64(shift), np.uint64(1)
    n = codes.shape[1]
    for f in range(first, last - 1, 2):
        c0, c1 = codes[f], codes[f + 1]
        h0, h1 = hist[offset[f] << shift :], hist[offset[f + 1] << shift :]
        for i in range(n):
            w, m = weight[i], moment[i]
            b0, b1 = np.uint64(c0[i]) << up, np.uint64(c1[i]) << up
            h0[b0] += w
            h0[b0 + one] += m
            h1[b1] += w
            h1[b1 + one] += m
    if (last - first) % 2:
        c0, h0 = codes[last - 1], hist[offset[last - 1] << shift :]
        for i in range(n):
            b0 = np.uint64(c0[i]) << up
            h0[b0] += weight[i]
            h0[b0 + one] += moment[i]


@inner_kernel
def add_moments_of(columns, rows, weight, moment, hist):
    """Add the weights and weighted targets of some rows."""
    codes, offset, shift, first, last = columns
    up, one = np.uint64(shift), np.uint64(1)
    for f in range(first, last - 1, 2):
        c0, c1 = codes[f], codes[f + 1]
        h0, h1 = hist[offset[f] << shift :], hist[offset[f + 1] << shift :]
        for i in range(rows.size):
            row, w, m = np.uint64(rows[i]), weight[i], moment[i]
            b0, b1 = np.uint64(c0[row]) << up, np.uint64(c1[row]) << up
            h0[b0] += w
            h0[b0 + one] += m
            h1[b1] += w
            h1[b1 + one] += m
    if (last - first) % 2:
        c0, h0 = codes[last - 1], hist[offset[last - 1] << shift :]
        for i in range(rows.size):
            b0 = np.uint64(c0[rows[i]]) << up
            h0[b0] += weight[i]
            h0[b0 + one] += moment[i]


@inner_kernel
def add_counts_of(columns, rows, slot, hist):
    """Count rows in the given slot of their bins."""
    codes, offset, shift, first, last = columns
    up = np.uint64(shift)
    for f in range(first, last):
        c, h = codes[f], hist[offset[f] << shift :]
        for i in range(rows.size):
            h[(np.uint64(c[rows[i]]) << up) + np.uint64(slot)] += 1
