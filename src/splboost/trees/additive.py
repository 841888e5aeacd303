"""Ensembles of stumps as additive models: one lookup table per feature.

Its cost does not grow with the number of stumps, and it is what people can read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._data.coding import Coding, feature_blocks
from splboost._data.table import Table
from splboost._tools.compiling import kernel
from splboost._tools.threads import run, share
from splboost.trees.ensemble import ROWS, TreeEnsemble

LOOKUP_WORK = 4  # steps for a cell in a table
FloatArray = NDArray[np.float64]


class Column(NamedTuple):
    """What the stumps of one feature add up to; see :class:`AdditiveTables`."""

    feature: int
    cuts: FloatArray
    cells: FloatArray
    missing: FloatArray


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
    def from_stumps(cls, stumps: TreeEnsemble, output: FloatArray) -> AdditiveTables:
        """Collapse an ensemble whose trees have at most one split."""
        roots = stumps.start[:-1]
        inner = stumps.child[roots] >= 0
        roots, leaves = roots[inner], roots[~inner]
        # By feature, then by threshold, so that each feature's stumps are together.
        roots = roots[np.lexsort((stumps.threshold[roots], stumps.feature[roots]))]
        features, first = np.unique(stumps.feature[roots], return_index=True)
        left, right = output[stumps.child[roots]], output[stumps.child[roots] + 1]
        columns = []
        last = np.append(first, roots.size)[1:]
        for f, lo, hi in zip(features, first, last, strict=True):
            here = slice(lo, hi)
            if stumps.coding[f] is None:
                cuts, cells = numeric_cells(
                    stumps.threshold[roots[here]], left[here], right[here]
                )
            else:
                cuts, cells = _set_cells(stumps, roots[here], left[here], right[here])
            to_left = stumps.missing_left[roots[here], None]
            missing = np.where(to_left, left[here], right[here]).sum(axis=0)
            columns.append(Column(f, cuts, cells, missing))
        return cls.from_columns(columns, output[leaves].sum(axis=0), stumps.coding)

    @classmethod
    def from_columns(
        cls, columns: list[Column], intercept: FloatArray, coding: Coding
    ) -> AdditiveTables:
        """Put the tables of the features side by side."""
        cuts = [np.append(column.cuts, np.nan) for column in columns]
        cells = [np.vstack([column.cells, column.missing]) for column in columns]
        return cls(
            features=np.array([column.feature for column in columns], dtype=np.intp),
            offset=np.cumsum([0, *map(len, cells)]),
            cuts=np.concatenate([*cuts, np.empty(0)]),
            cells=np.concatenate([*cells, np.empty((0, intercept.size))]),
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


def _set_cells(
    stumps: TreeEnsemble, roots: Any, left: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same of a categorical feature; its cells are the categories' codes."""
    coding = stumps.coding[stumps.feature[roots[0]]] or {}
    codes = np.arange(max(coding.values(), default=-1) + 1)
    bits = stumps.sets[stumps.which_set[roots]]
    goes_left = (bits[:, codes >> 3] >> (codes & 7) & 1).T == 1
    return np.full(codes.size, np.nan), goes_left @ left + ~goes_left @ right


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
