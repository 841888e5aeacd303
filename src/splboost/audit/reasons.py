"""Why a label is doubted, in terms of other rows.

For each suspect the most similar rows are looked up: those of other labels, to compare
it with, and those of its own label that are believed. On a path from one of the latter
to the suspect, which takes over feature after feature in random order, the belief in
the label falls. How much each feature lowers it, on average over several paths, is how
much it speaks against the label (Shapley's value).

The model that is asked along the path has not seen the doubted labels: one that has
seen them believes in them, and finds something that speaks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from splboost._data.table import Table
from splboost.selection.forest import SPLForestClassifier
from splboost.selection.quick_forest import QuickForest
from splboost.trees.binning import bin_table

FloatArray = NDArray[np.float64]

N_BELIEVED = 4  # similar rows of the same label, from which paths start
N_ASKED = 8  # features of a suspect that are told apart: those that differ most
BLOCK = 500  # suspects at a time
MOST_COMPARED = 4000  # rows that are searched for similar ones
MOST_LEARNED = 20_000  # rows, for a model that is fitted to give reasons
LEAST_SHARE = 0.01  # of belief, that a reason takes


class Reason(NamedTuple):
    """A feature that speaks against a label.

    Attributes
    ----------
    column : its number, or its name
    value : of the row; None if it is missing
    usual : in similar rows whose label, the same, is believed
    taken : by how much it lowers the belief in the label
    """

    column: int | str
    value: Any
    usual: Any
    taken: float


class Explanation(NamedTuple):
    """Why the label of a row is doubted.

    Attributes
    ----------
    row : its number
    reasons : list of Reason, the strongest first; None if nobody has looked for them
    similar : numbers of the most similar rows of other labels, the nearest first
    """

    row: int
    reasons: list[Reason] | None
    similar: list[int]


def fit_to_undoubted(
    judge: Any, X: Any, y: NDArray[Any], doubted: NDArray[np.bool_]
) -> Any:
    """Fit a model that has not seen the doubted labels.

    In place of a forest a quick one is fitted, to some of the rows where there are
    many. A class whose labels are all doubted keeps them, so that the model knows it.
    Where too few rows are left to fit a model to, it is the judge, by which labels were
    judged and which has seen all of them.
    """
    rows = undoubted = np.flatnonzero(~doubted)
    model = judge
    if isinstance(judge, SPLForestClassifier | QuickForest):
        rows = _thin_out(undoubted, MOST_LEARNED)
        model = QuickForest(
            categorical_features=judge.categorical_features,
            n_jobs=judge.n_jobs,
            random_state=judge.random_state,
        )
    for others in (undoubted, np.arange(y.size)):
        lost = np.setdiff1d(y, y[rows])
        rows = np.union1d(rows, others[np.isin(y[others], lost)])
    if np.unique(y[rows], return_counts=True)[1].max() < 2:
        return judge
    return clone(model).fit(take_rows(X, rows), y[rows])


class Explainer:
    """Finds rows similar to others, and why the labels of these are doubted.

    Parameters
    ----------
    table, X : all rows
    codes : class of each row's label
    believed : whether the label is believed
    model : has ``predict_proba``, and has not seen doubted labels; or None
    importance : of the features, which count as much for the similarity of rows
    names : of the features
    """

    def __init__(
        self,
        table: Table,
        X: Any,
        codes: NDArray[np.integer],
        believed: NDArray[np.bool_],
        model: Any,
        importance: Any,
        names: Sequence[int | str],
    ) -> None:
        self._X, self._codes, self._model, self._names = X, codes, model, names
        self._binned = bin_table(table, np.ones(table.n_rows))
        importance = np.asarray(importance, dtype=np.float64)
        total = importance.sum()
        even = np.full(importance.size, 1 / importance.size)
        self._importance = importance / total if total > 0 else even
        self._is_categorical = table.is_categorical
        self._cells = cache(table.cells)
        is_class = [codes == k for k in range(int(codes.max()) + 1)]
        self._same, self._other = (
            [_thin_out(np.flatnonzero(mask & believed), MOST_COMPARED) for mask in each]
            for each in (is_class, [~mask for mask in is_class])
        )

    def explain(
        self, rows: Sequence[int], n_reasons: int, n_similar: int
    ) -> list[Explanation]:
        """Explain some rows, with at most so many reasons and similar rows for each."""
        found = []
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            reasons = {} if self._model is None else self._find_reasons(block)
            for row in block:
                others = self._other[self._codes[row]]
                similar = self._nearest(row, others, n_similar).tolist()
                strongest = None
                if self._model is not None:
                    strongest = reasons.get(row, [])[:n_reasons]
                found.append(Explanation(row, strongest, similar))
        return found

    def _differences(self, row: int, others: NDArray[np.intp]) -> FloatArray:
        """(n_features, n_others), from 0 to the importance of the feature."""
        codes, n_bins = self._binned.codes, self._binned.n_bins[:, None]
        own, their = codes[:, [row]].astype(float), codes[:, others].astype(float)
        apart = np.abs(own - their) / np.maximum(n_bins - 1, 1)
        one_missing = (own == n_bins) != (their == n_bins)
        unlike = (self._is_categorical[:, None] & (own != their)) | one_missing
        return self._importance[:, None] * np.where(unlike, 1.0, apart)

    def _nearest(self, row: int, among: NDArray[np.intp], n: int) -> NDArray[np.intp]:
        """The rows most similar to this one, the nearest first; not itself."""
        among = among[among != row]
        distance = self._differences(row, among).sum(axis=0)
        return among[np.argsort(distance, kind="stable")[:n]]

    def _usual(self, j: int, rows: NDArray[np.intp]) -> Any:
        """The most frequent category of some rows, or the middle number."""
        cells = self._cells(j)[rows].tolist()
        if self._is_categorical[j]:
            return max(cells, key=cells.count)
        cells.sort(key=lambda cell: np.inf if cell is None else cell)
        return cells[(len(cells) - 1) // 2]

    def _plan_paths(
        self, row: int, starts: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Paths to a row; every second one takes the steps of the last in reverse.

        Returns
        -------
        features : those that change alone, one in each step but one; the rest change in
            step 0
        orders : (n_paths, n_steps) in which steps are taken
        origins : (n_paths, n_steps + 1, n_features) the row that each cell comes from,
            at the start and after each step
        """
        apart = self._differences(row, starts).mean(axis=1)
        ranked = np.argsort(-apart, kind="stable")
        n_asked = min(N_ASKED, np.count_nonzero(apart))
        steps = [ranked[n_asked:], *ranked[:n_asked, None]]
        rng = np.random.default_rng(
            row
        )  # so that it does not matter what else is asked
        orders = np.empty((starts.size, len(steps)), dtype=np.intp)
        origins = np.empty((starts.size, len(steps) + 1, apart.size), dtype=np.intp)
        for k, start in enumerate(starts):
            orders[k] = orders[k - 1, ::-1] if k % 2 else rng.permutation(len(steps))
            origins[k] = start
            for n_done, step in enumerate(orders[k], start=1):
                origins[k, n_done:, steps[step]] = row
        return ranked[:n_asked], orders, origins

    def _find_reasons(self, rows: Sequence[int]) -> dict[int, list[Reason]]:
        """Reasons by row, the strongest first, where there are rows to start from."""
        codes, names = self._codes, self._names
        starts = {
            row: self._nearest(row, self._same[codes[row]], N_BELIEVED) for row in rows
        }
        plans = {
            row: self._plan_paths(row, near)
            for row, near in starts.items()
            if near.size
        }
        if not plans:
            return {}
        origins = np.concatenate([step for *_, path in plans.values() for step in path])
        belief = self._model.predict_proba(_gather(self._X, origins))
        found, done = {}, 0
        for row, (features, orders, origins) in plans.items():
            n_paths, n_points = origins.shape[:2]
            path = slice(done, done + n_paths * n_points)
            done = path.stop
            falls = -np.diff(belief[path, codes[row]].reshape(n_paths, n_points))
            by_step = np.take_along_axis(falls, np.argsort(orders), axis=1)
            taken = by_step.mean(axis=0)[1:].tolist()
            reasons = [
                Reason(names[j], self._cells(j)[row], self._usual(j, starts[row]), mean)
                for j, mean in zip(features.tolist(), taken, strict=True)
                if mean >= LEAST_SHARE
            ]
            found[row] = sorted(reasons, key=lambda reason: -reason.taken)
        return found


def _thin_out(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """No more than so many, from all over the data."""
    return rows[:: -(-rows.size // most)] if rows.size else rows


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of X, which may be a frame of any library."""
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows.tolist()].to_native()
    return _safe_indexing(X, rows)


def _gather(X: Any, index: NDArray[np.intp]) -> Any:
    """Rows whose cell in column j is that of row ``index[:, j]`` of X."""
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        X = np.asarray(X)
        return X[index, np.arange(X.shape[1])]
    columns = [
        frame[name][index[:, j].tolist()] for j, name in enumerate(frame.columns)
    ]
    return frame[index[:, 0].tolist()].with_columns(*columns).to_native()
