"""Kernels that send rows of floats down fitted trees or through lookup tables."""

from __future__ import annotations

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel

ROWS = 512  # at a time, so that a block of rows stays in the cache for all trees


@inner_kernel
def goes_right(x, threshold, missing_left, which_set, sets):
    """1 if a value goes to the second child, else 0."""
    if np.isnan(x):
        return 0 if missing_left else 1
    if which_set >= 0:
        code = np.int64(x)
        return 1 - ((sets[which_set, code >> 3] >> (code & 7)) & 1)
    return 0 if x <= threshold else 1


@kernel
def add_outputs(
    X, start, feature, child, threshold, missing_left, which_set, sets, output, score
):
    """score[i] += output[leaf of row i], over all trees."""
    n_outputs = output.shape[1]
    for lo in range(0, X.shape[0], ROWS):
        hi = min(lo + ROWS, X.shape[0])
        for t in range(start.size - 1):
            root = start[t]
            for i in range(lo, hi):
                node = root
                while child[node] >= 0:
                    node = child[node] + goes_right(
                        X[i, feature[node]],
                        threshold[node],
                        missing_left[node],
                        which_set[node],
                        sets,
                    )
                for k in range(n_outputs):
                    score[i, k] += output[node, k]


@kernel
def find_leaves(
    X, start, feature, child, threshold, missing_left, which_set, sets, leaves
):
    """leaves[i, t] = node of tree t in which row i ends."""
    for i in range(X.shape[0]):
        for t in range(start.size - 1):
            node = start[t]
            while child[node] >= 0:
                node = child[node] + goes_right(
                    X[i, feature[node]],
                    threshold[node],
                    missing_left[node],
                    which_set[node],
                    sets,
                )
            leaves[i, t] = node


@kernel
def add_cells(X, features, categorical, offset, cuts, cells, score):
    """score[i] += the cell of each feature's value."""
    n_outputs = cells.shape[1]
    x = np.empty(ROWS)
    cell = np.empty(ROWS, dtype=np.int64)
    for lo in range(0, X.shape[0], ROWS):
        m = min(ROWS, X.shape[0] - lo)
        for k in range(features.size):
            first, missing = offset[k], offset[k + 1] - 1
            for i in range(m):
                x[i] = X[lo + i, features[k]]
                cell[i] = first
            if categorical[k]:
                for i in range(m):
                    cell[i] += 0 if np.isnan(x[i]) else np.int64(x[i])
            else:
                # Binary search, all rows a step at a time; the last cut is +inf.
                size = missing - first
                while size > 1:
                    half = size // 2
                    for i in range(m):
                        c = cell[i]
                        cell[i] = c + half if x[i] > cuts[c + half - 1] else c
                    size -= half
            for i in range(m):
                c = missing if np.isnan(x[i]) else cell[i]
                for j in range(n_outputs):
                    score[lo + i, j] += cells[c, j]
