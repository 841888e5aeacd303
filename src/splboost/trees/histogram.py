"""Histograms of a node: summed weight per bin, in fixed point.

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
row, class and weight serves both, and the two chains of additions overlap.
"""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel


@inner_kernel
def add_classes(codes, y, weight, first, last, offset, shift, hist):
    """Add all rows' weights at their classes, for features first to last."""
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
def add_classes_of(codes, rows, y, weight, first, last, offset, shift, hist):
    """Add the weights of some rows; ``y`` and ``weight`` belong to ``rows``."""
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
def add_moments(codes, weight, moment, first, last, offset, shift, hist):
    """Add all rows' weights and weighted targets, for features first to last."""
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
def add_moments_of(codes, rows, weight, moment, first, last, offset, shift, hist):
    """Add the weights and weighted targets of some rows."""
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
def add_counts_of(codes, rows, slot, first, last, offset, shift, hist):
    """Count rows in the given slot of their bins."""
    up = np.uint64(shift)
    for f in range(first, last):
        c, h = codes[f], hist[offset[f] << shift :]
        for i in range(rows.size):
            h[(np.uint64(c[rows[i]]) << up) + np.uint64(slot)] += 1
