"""Fitted trees as flat arrays, and prediction with them.

A :class:`TreeEnsemble` holds thresholds in the user's units and knows nothing of bins,
except for categories, which it knows by the codes of the table the trees were grown on.
What a node contributes to a score is not part of it: that belongs to whoever grew the
trees (a vote, a class distribution, a mean) and is passed to :meth:`TreeEnsemble.add`.

An ensemble of stumps is an additive model. :class:`AdditiveTables` collapses it into
one lookup table per feature, whose cost does not grow with the number of stumps.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.trees.columns import ArrayTable, Table
from splboost.trees.threads import run, share

PREDICT_ROWS = 2048
WALKING_WORK, LOOKUP_WORK = 30, 4  # steps for a row down a tree, and in a table
Coding = list[dict[Any, int] | None]


class GrownTree(NamedTuple):
    """One tree as the grower leaves it: rows of its workspace."""

    node: NDArray[np.int64]
    number: NDArray[np.float64]
    total: NDArray[np.int64]
    bins: NDArray[np.uint8]
    scale: float


@dataclass(frozen=True)
class TreeEnsemble:
    """Many trees, node after node.

    The children of a node are ``child`` and ``child + 1``; tree t has the nodes
    ``start[t]`` to ``start[t + 1]``, of which the first is its root.

    Attributes
    ----------
    start : (n_trees + 1,) first node of each tree
    feature : feature that a node splits by, -1 in a leaf
    child : number of the left child, -1 in a leaf
    threshold : values up to it go left; NaN in leaves and in categorical splits
    missing_left : whether missing cells (and unknown categories) go left
    which_set : row of ``sets`` for a categorical split, else -1
    sets : 32 bytes a row, one bit for each category code that goes left
    value : class weights, or weight and weighted sum of the target, per node
    gain : impurity removed by the node's split, per unit of its weight
    coding : per feature None, or the table from a category to its code
    regression : whether ``value`` is of the second kind
    """

    start: NDArray[np.int64]
    feature: NDArray[np.int32]
    child: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    which_set: NDArray[np.int32]
    sets: NDArray[np.uint8]
    value: NDArray[np.float64]
    gain: NDArray[np.float64]
    coding: Coding
    regression: bool

    @classmethod
    def from_grown(
        cls, grown: list[GrownTree], n_classes: int, coding: Coding
    ) -> TreeEnsemble:
        """Join trees; ``n_classes`` is 0 for regression."""
        from splboost.trees.workspace import (
            CHILD,
            FEATURE,
            GAIN,
            MISSING_LEFT,
            SET_BYTES,
            THRESHOLD,
        )

        sizes = [tree.node.shape[0] for tree in grown]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        node = np.concatenate([tree.node for tree in grown])
        number = np.concatenate([tree.number for tree in grown])
        total = np.concatenate([tree.total for tree in grown])
        scale = [tree.scale for tree in grown]
        inner = node[:, CHILD] >= 0
        child = np.where(inner, node[:, CHILD] + np.repeat(start[:-1], sizes), -1)
        feature = np.where(inner, node[:, FEATURE], -1).astype(np.int32)
        categorical = np.array([table is not None for table in coding])
        by_set = inner & categorical[feature]
        which_set = np.where(by_set, np.cumsum(by_set) - 1, -1).astype(np.int32)
        return cls(
            start=start,
            feature=feature,
            child=child.astype(np.int32),
            threshold=np.where(inner, number[:, THRESHOLD], np.nan),
            missing_left=node[:, MISSING_LEFT] == 1,
            which_set=which_set,
            sets=np.concatenate([tree.bins for tree in grown])[by_set]
            if categorical.any()
            else np.empty((0, SET_BYTES), dtype=np.uint8),
            value=total[:, : n_classes or 2] / np.repeat(scale, sizes)[:, None],
            regression=n_classes == 0,
            gain=np.where(inner, number[:, GAIN], 0.0),
            coding=coding,
        )

    @property
    def n_trees(self) -> int:
        return self.start.size - 1

    def tree(self, t: int) -> TreeEnsemble:
        """Tree t as an ensemble of one."""
        return self.slice(t, t + 1)

    def slice(self, first: int, last: int) -> TreeEnsemble:
        """Trees first to last as an ensemble of their own."""
        lo, hi = self.start[first], self.start[last]
        nodes = slice(lo, hi)
        child = self.child[nodes]
        return TreeEnsemble(
            start=self.start[first : last + 1] - lo,
            feature=self.feature[nodes],
            child=np.where(child >= 0, child - lo, -1).astype(np.int32),
            threshold=self.threshold[nodes],
            missing_left=self.missing_left[nodes],
            which_set=self.which_set[nodes],
            sets=self.sets,
            value=self.value[nodes],
            gain=self.gain[nodes],
            coding=self.coding,
            regression=self.regression,
        )

    def joined(self, later: TreeEnsemble) -> TreeEnsemble:
        """These trees followed by those of an ensemble with the same coding."""
        n_nodes, n_sets = self.start[-1], self.sets.shape[0]
        child = np.where(later.child >= 0, later.child + n_nodes, -1)
        which_set = np.where(later.which_set >= 0, later.which_set + n_sets, -1)

        def both(name: str) -> Any:
            return np.concatenate([getattr(self, name), getattr(later, name)])

        return TreeEnsemble(
            start=np.concatenate([self.start, later.start[1:] + n_nodes]),
            feature=both("feature"),
            child=np.concatenate([self.child, child.astype(np.int32)]),
            threshold=both("threshold"),
            missing_left=both("missing_left"),
            which_set=np.concatenate([self.which_set, which_set.astype(np.int32)]),
            sets=both("sets"),
            value=both("value"),
            gain=both("gain"),
            coding=self.coding,
            regression=self.regression,
        )

    @property
    def categorical_features(self) -> list[bool] | None:
        """Which features are categories; None if none is."""
        mask = [table is not None for table in self.coding]
        return mask if any(mask) else None

    def depth(self) -> int:
        """Splits on the longest way from a root to a leaf."""
        level = np.zeros(self.child.size, dtype=np.int64)
        for node in np.flatnonzero(self.child >= 0):
            level[self.child[node] : self.child[node] + 2] = level[node] + 1
        return int(level.max(initial=0))

    @property
    def is_stumps(self) -> bool:
        """Whether no tree has more than one split."""
        return bool(np.diff(self.start).max(initial=0) <= 3)

    def class_shares(self) -> NDArray[np.float64]:
        """Share of each class in each node, shape (n_nodes, n_classes).

        A class that is as heavy as the heaviest but for rounding counts as equal to
        it, so that the first of them is the prediction.
        """
        from splboost.trees.split import TIE

        top = self.value.max(axis=1, keepdims=True)
        value = np.where(self.value >= top * (1 - TIE), top, self.value)
        return value / value.sum(axis=1, keepdims=True)

    def importances(self, n_features: int, share: NDArray[np.float64]) -> NDArray:
        """Impurity removed by each feature, trees weighted by ``share``; sums to 1."""
        weight = self.value[:, 0] if self.regression else self.value.sum(axis=1)
        root = np.repeat(weight[self.start[:-1]], np.diff(self.start))
        per_node = self.gain * weight / root
        removed = per_node * np.repeat(share, np.diff(self.start))
        inner = self.child >= 0
        sums = np.bincount(self.feature[inner], removed[inner], minlength=n_features)
        return sums / (sums.sum() or 1.0)

    def add(
        self,
        table: Table,
        output: NDArray[np.float64],
        score: NDArray[np.float64],
        *,
        n_threads: int = 1,
    ) -> None:
        """Add to each row's score the output of its leaf, over all trees.

        ``output`` has a row per node and ``score`` a row per row of the table.
        """
        from splboost.trees.predict import add_outputs

        for lo, block in feature_blocks(table, self.coding, self._features_used()):
            rows = score[lo : lo + block.shape[0]]
            run(
                add_outputs,
                [
                    (
                        block[a:b],
                        self.start,
                        self.feature,
                        self.child,
                        self.threshold,
                        self.missing_left,
                        self.which_set,
                        self.sets,
                        output,
                        rows[a:b],
                    )
                    for a, b in share(
                        block.shape[0], n_threads, WALKING_WORK * self.n_trees
                    )
                ],
            )

    def apply(self, table: Table) -> NDArray[np.int32]:
        """The node in which each row ends, for each tree; shape (n_rows, n_trees)."""
        from splboost.trees.predict import find_leaves

        leaves = np.empty((table.n_rows, self.n_trees), dtype=np.int32)
        for lo, block in feature_blocks(table, self.coding, self._features_used()):
            find_leaves(
                block,
                self.start,
                self.feature,
                self.child,
                self.threshold,
                self.missing_left,
                self.which_set,
                self.sets,
                leaves[lo : lo + block.shape[0]],
            )
        return leaves

    def matrix_of(self, table: Table) -> Table:
        """The table read once and for all, for repeated prediction."""
        blocks = feature_blocks(table, self.coding, self._features_used())
        return ArrayTable(np.concatenate([block for _, block in blocks]), None)

    def _features_used(self) -> NDArray[np.intp]:
        return np.unique(self.feature[self.feature >= 0]).astype(np.intp)


@dataclass(frozen=True)
class AdditiveTables:
    """An ensemble of stumps as one lookup table per feature.

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
    """

    features: NDArray[np.intp]
    offset: NDArray[np.int64]
    cuts: NDArray[np.float64]
    cells: NDArray[np.float64]
    intercept: NDArray[np.float64]
    coding: Coding

    @classmethod
    def from_stumps(
        cls, stumps: TreeEnsemble, output: NDArray[np.float64]
    ) -> AdditiveTables:
        """Collapse an ensemble whose trees have at most one split."""
        roots = stumps.start[:-1]
        inner = stumps.child[roots] >= 0
        roots, leaves = roots[inner], roots[~inner]
        # By feature, then by threshold, so that each feature's stumps are together.
        roots = roots[np.lexsort((stumps.threshold[roots], stumps.feature[roots]))]
        features, first = np.unique(stumps.feature[roots], return_index=True)
        left, right = output[stumps.child[roots]], output[stumps.child[roots] + 1]
        cuts, cells = [], []
        last = np.append(first, roots.size)[1:]
        for f, lo, hi in zip(features, first, last, strict=True):
            here = slice(lo, hi)
            make = _numeric_cells if stumps.coding[f] is None else _categorical_cells
            cut, cell = make(stumps, roots[here], left[here], right[here])
            to_left = stumps.missing_left[roots[here], None]
            missing = np.where(to_left, left[here], right[here]).sum(axis=0)
            cuts += [cut, [np.nan]]
            cells += [cell, missing[None]]
        return cls(
            features=features.astype(np.intp),
            offset=np.cumsum([0, *(len(cell) + 1 for cell in cells[::2])]),
            cuts=np.concatenate([*cuts, np.empty(0)]),
            cells=np.concatenate([*cells, np.empty((0, output.shape[1]))]),
            intercept=output[leaves].sum(axis=0),
            coding=stumps.coding,
        )

    def add(
        self, table: Table, score: NDArray[np.float64], *, n_threads: int = 1
    ) -> None:
        """Add each row's score."""
        from splboost.trees.predict import add_cells

        score += self.intercept
        categorical = np.array(
            [self.coding[f] is not None for f in self.features], dtype=bool
        )
        for lo, block in feature_blocks(table, self.coding, self.features):
            rows = score[lo : lo + block.shape[0]]
            run(
                add_cells,
                [
                    (
                        block[a:b],
                        self.features,
                        categorical,
                        self.offset,
                        self.cuts,
                        self.cells,
                        rows[a:b],
                    )
                    for a, b in share(
                        block.shape[0], n_threads, LOOKUP_WORK * self.features.size
                    )
                ],
            )


def _numeric_cells(
    stumps: TreeEnsemble, roots: Any, left: Any, right: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cuts and cells of one feature, of whose stumps the thresholds ascend.

    In the cell below the k-th cut the stumps before k say right and the others left.
    """
    cut = stumps.threshold[roots]
    zero = np.zeros((1, left.shape[1]))
    before = np.concatenate([zero, np.cumsum(right, axis=0)])
    after = np.concatenate([np.cumsum(left[::-1], axis=0)[::-1], zero])
    cut = np.append(cut, np.inf)
    kept = np.flatnonzero(np.append(True, cut[1:] > cut[:-1]))  # the first of equals
    return cut[kept], (before + after)[kept]


def _categorical_cells(
    stumps: TreeEnsemble, roots: Any, left: Any, right: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same of a categorical feature; its cells are the categories' codes."""
    coding = stumps.coding[stumps.feature[roots[0]]] or {}
    codes = np.arange(max(coding.values(), default=-1) + 1)
    bits = stumps.sets[stumps.which_set[roots]]
    goes_left = (bits[:, codes >> 3] >> (codes & 7) & 1).T == 1
    return np.full(codes.size, np.nan), goes_left @ left + ~goes_left @ right


def feature_blocks(
    table: Table, coding: Coding, features: NDArray[np.intp]
) -> Iterator[tuple[int, NDArray[np.floating]]]:
    """Blocks of rows of the table as floats, categories as codes, unknown as NaN.

    Column f of a block is feature f; columns of features not asked for are undefined.
    """
    matrix = table.float_matrix()
    if matrix is not None and not table.is_categorical.any():
        yield 0, matrix
        return
    columns = {f: _float_column(table, coding[f], f) for f in features}
    for lo in range(0, table.n_rows, PREDICT_ROWS):
        size = min(PREDICT_ROWS, table.n_rows - lo)
        block = np.empty((table.n_features, size))
        for f, column in columns.items():
            block[f] = column[lo : lo + size]
        yield lo, block.T


def _float_column(
    table: Table, coding: dict[Any, int] | None, f: int
) -> NDArray[np.floating]:
    if coding is None:
        return table.numeric(f)
    values, index = table.category(f)
    lookup = np.array([coding.get(value, np.nan) for value in values], dtype=float)
    if values and coding and np.isnan(lookup).all():
        kinds = type(values[0]), type(next(iter(coding)))
        if not (issubclass(kinds[0], kinds[1]) or issubclass(kinds[1], kinds[0])):
            warnings.warn(
                f"Column {table.names[f]!r} has no category that the model knows: it "
                f"holds {kinds[0].__name__} where the model was fitted on "
                f"{kinds[1].__name__}. All its cells count as missing.",
                UserWarning,
                stacklevel=2,
            )
    return np.append(lookup, np.nan)[index]
