"""Ensembles of stumps as additive models: one lookup table per feature.

Its cost does not grow with the number of stumps, and it is what people can read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.coding import Coding, feature_blocks
from splboost._data.table import Table
from splboost._tools.compiling import kernel
from splboost._tools.threads import run, share
from splboost.trees.ensemble import ROWS, FlatTrees

LOOKUP_WORK = 4  # steps for a cell in a table
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class AdditiveTables:
    """One lookup table per feature.

    A numeric value x of feature f scores ``cells[k]`` with k = ``offset[f]`` + the
    number of cuts of f that lie below x; a category scores the cell of its code. The
    last cell of a feature is for missing values.

    Attributes
    ----------
    features : features that any stump splits by
    offset : first cell of each of these, and the end
    cuts : upper end of each numeric cell, the last ones +inf; NaN for categories
    cells : (n_cells, n_outputs) summed output
    intercept : (n_outputs,) what every row gets
    coding : per feature None, or the table from a category to its code
    """

    features: NDArray[np.intp]
    offset: NDArray[np.int64]
    cuts: FloatArray
    cells: FloatArray
    intercept: FloatArray
    coding: Coding

    @classmethod
    def from_stumps(
        cls, stumps: FlatTrees, output: Callable[[Any, Any], FloatArray]
    ) -> AdditiveTables:
        """Collapse trees of at most one split.

        ``output(nodes, t)`` is what nodes of the trees t add, a row for each.
        """
        roots, coding = stumps.start[:-1], stumps.coding
        feature, threshold = stumps.feature[roots], stumps.threshold[roots]
        leaves = np.flatnonzero(stumps.child[roots] < 0)
        intercept = output(roots[leaves], leaves).sum(axis=0)
        order = np.lexsort((threshold, feature))
        order = order[feature[order] >= 0]
        features = np.unique(feature[order]).astype(np.intp)
        cuts, cells = [np.empty(0)], [np.empty((0, intercept.size))]
        for f in features:
            t, of_codes = order[feature[order] == f], coding[f]
            if of_codes is None:
                left = stumps.child[roots[t]]
                ends, sums = numeric_cells(
                    threshold[t], output(left, t), output(left + 1, t)
                )
            else:
                codes = range(max(of_codes.values(), default=-1) + 1)
                branches = [stumps.branches(roots[t], code) for code in codes]
                ends = np.full(len(codes), np.nan)
                sums = np.array([output(nodes, t).sum(axis=0) for nodes in branches])
            missing = output(stumps.branches(roots[t], None), t).sum(axis=0)
            cuts.append(np.append(ends, np.nan))
            cells.append(np.vstack([sums.reshape(-1, intercept.size), missing]))
        return cls(
            features=features,
            offset=np.cumsum([0, *map(len, cells[1:])]),
            cuts=np.concatenate(cuts),
            cells=np.concatenate(cells),
            intercept=intercept,
            coding=coding,
        )

    def add(self, table: Table, score: FloatArray, *, n_threads: int = 1) -> None:
        """Add each row's score."""
        score += self.intercept
        categorical = np.array(
            [self.coding[f] is not None for f in self.features], dtype=bool
        )
        tables = self.features, categorical, self.offset, self.cuts, self.cells
        work = LOOKUP_WORK * self.features.size
        for lo, block in feature_blocks(table, self.coding, self.features):
            rows = score[lo : lo + block.shape[0]]
            parts = share(block.shape[0], n_threads, work)
            run(add_cells, [(block[a:b], tables, rows[a:b]) for a, b in parts])


def numeric_cells(
    threshold: FloatArray, left: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Cuts and cells of one feature, of whose stumps the thresholds ascend.

    In the cell below the k-th cut the stumps before k say right and the others left.
    """
    zero = np.zeros((1, left.shape[1]))
    before = np.concatenate([zero, np.cumsum(right, axis=0)])
    after = np.concatenate([np.cumsum(left[::-1], axis=0)[::-1], zero])
    cut = np.append(threshold, np.inf)
    kept = np.flatnonzero(np.append(True, cut[1:] > cut[:-1]))  # the first of equals
    return cut[kept], (before + after)[kept]


@kernel
def add_cells(X, tables, score):
    """score[i] += the cell of each feature's value."""
    features, categorical, offset, cuts, cells = tables
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
