"""Why a label is doubted, in terms of other rows.

For each suspect the rows most like it are looked up: those of other labels, to compare
it with, and those of its own label that are believed. On the way from one of the latter
to the suspect, feature by feature and in an order that is drawn, belief in the label
falls; by how much each feature lowers it, in the mean over several such ways, is how
much it speaks against the label (Shapley's value).

The model that is asked on the way has not seen the labels that are doubted: one that
has, believes in them, and finds something that speaks for them.
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
from splboost.trees.binning import Binned, bin_table

FloatArray = NDArray[np.float64]

N_BELIEVED = 4  # similar rows of the same label from which ways start
N_ASKED = 8  # features of a suspect that are told apart: those that differ most
BLOCK = 500  # suspects at a time
MOST_COMPARED = 4000  # rows among which similar ones are looked for
MOST_LEARNED = 20_000  # rows, for a model that is asked for reasons alone
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

    def with_names(self, names: Sequence[str]) -> Explanation:
        """The same, with columns by their names."""
        if self.reasons is None:
            return self
        named = [each._replace(column=names[int(each.column)]) for each in self.reasons]
        return self._replace(reasons=named)


class Cells:
    """The columns of a table, each read once."""

    def __init__(self, table: Table) -> None:
        self.is_categorical = table.is_categorical
        self.n_features = table.n_features
        self._numeric = cache(table.numeric)
        self._category = cache(table.category)

    def usual(self, j: int, rows: NDArray[np.intp]) -> int:
        """Position of the row with the most frequent category, or the middle number."""
        if self.is_categorical[j]:
            index = self._category(j)[1][rows].tolist()
            return index.index(max(index, key=index.count))
        order = np.argsort(self._numeric(j)[rows], kind="stable")
        return int(order[(rows.size - 1) // 2])

    def values(self, j: int, rows: Sequence[int]) -> list[Any]:
        """Those of some rows; None where one is missing."""
        if self.is_categorical[j]:
            names, index = self._category(j)
            return [None if index[row] < 0 else names[index[row]] for row in rows]
        cells = self._numeric(j)[list(rows)].tolist()
        return [None if value != value else value for value in cells]


class Likeness:
    """How alike rows are: features count as much as the model makes of them."""

    def __init__(self, table: Table, importance: FloatArray) -> None:
        self._binned: Binned = bin_table(table, np.ones(table.n_rows))
        total = importance.sum()
        even = np.full(importance.size, 1 / importance.size)
        self._importance = importance / total if total > 0 else even
        self._is_categorical = table.is_categorical

    def differences(self, row: int, others: NDArray[np.intp]) -> FloatArray:
        """(n_features, n_others), from 0 to the importance of the feature."""
        codes, n_bins = self._binned.codes, self._binned.n_bins[:, None]
        own, their = codes[:, [row]].astype(float), codes[:, others].astype(float)
        apart = np.abs(own - their) / np.maximum(n_bins - 1, 1)
        one_missing = (own == n_bins) != (their == n_bins)
        unlike = (self._is_categorical[:, None] & (own != their)) | one_missing
        return self._importance[:, None] * np.where(unlike, 1.0, apart)

    def nearest(self, row: int, among: NDArray[np.intp], n: int) -> NDArray[np.intp]:
        """The rows most like this one, the nearest first; not itself."""
        among = among[among != row]
        distance = self.differences(row, among).sum(axis=0)
        return among[np.argsort(distance, kind="stable")[:n]]


class Way(NamedTuple):
    """From a believed row to a suspect, some features at a time.

    Attributes
    ----------
    row : the suspect
    start : the believed row
    steps : numbers of features; the last have one number each, the first may have many
    order : in which steps are taken
    """

    row: int
    start: int
    steps: list[NDArray[np.intp]]
    order: list[int]


def fit_to_undoubted(
    judge: Any, X: Any, y: NDArray[Any], doubted: NDArray[np.bool_]
) -> Any:
    """A model that has not seen the labels that are doubted.

    Of a forest a quick one is fitted, to some of the rows where there are many. A class
    of which all labels are doubted keeps them, so that the model knows it. Where so few
    rows are left that no model can be fitted to them, it is the judge, which has seen
    all labels.

    Parameters
    ----------
    judge : the classifier by which labels were judged
    X, y : all rows
    doubted : by row, whether its label is
    """
    rows = undoubted = np.flatnonzero(~doubted)
    model = judge
    if isinstance(judge, SPLForestClassifier | QuickForest):
        rows = _some(undoubted, MOST_LEARNED)
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
    return clone(model).fit(take(X, rows), y[rows])


def explain(
    rows: Sequence[int],
    table: Table,
    X: Any,
    codes: NDArray[np.integer],
    believed: NDArray[np.bool_],
    model: Any,
    importance: FloatArray,
    *,
    n_reasons: int,
    n_similar: int,
) -> list[Explanation]:
    """Explain some rows.

    Parameters
    ----------
    rows : their numbers
    table, X : all rows
    codes : class of each row's label
    believed : whether the label is believed
    model : has ``predict_proba``, and has not seen doubted labels; or None
    importance : of the features, for which rows are similar
    n_reasons, n_similar : at most so many for a row
    """
    likeness, cells = Likeness(table, importance), Cells(table)
    n_classes = int(codes.max()) + 1
    of_class = [codes == k for k in range(n_classes)]
    own = [_some(np.flatnonzero(one & believed), MOST_COMPARED) for one in of_class]
    other = [_some(np.flatnonzero(~one & believed), MOST_COMPARED) for one in of_class]
    with_reasons = model is not None and n_reasons > 0
    explanations = []
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        ways = [
            way
            for row in (block if with_reasons else [])
            for way in _plan(row, likeness, own[codes[row]])
        ]
        reasons = _go(ways, cells, X, codes, model)
        for row in block:
            similar = likeness.nearest(row, other[codes[row]], n_similar)
            found = reasons.get(row, [])[:n_reasons] if with_reasons else None
            explanations.append(Explanation(int(row), found, similar.tolist()))
    return explanations


def _some(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """No more than so many, from all over the data."""
    return rows[:: -(-rows.size // most)] if rows.size else rows


def _plan(row: int, likeness: Likeness, own: NDArray[np.intp]) -> list[Way]:
    """Ways to a row; every second takes the steps of the one before in turn."""
    like = likeness.nearest(row, own, N_BELIEVED)
    if like.size == 0:
        return []
    apart = likeness.differences(row, like).mean(axis=1)
    ranked = np.argsort(-apart, kind="stable")
    n_asked = min(N_ASKED, np.count_nonzero(apart))
    steps = [ranked[n_asked:], *ranked[:n_asked, None]]
    rng = np.random.default_rng(row)  # the same, whatever else is asked
    order: list[int] = []
    ways = []
    for k, start in enumerate(like.tolist()):
        order = order[::-1] if k % 2 else rng.permutation(len(steps)).tolist()
        ways.append(Way(row, start, steps, order))
    return ways


def _go(
    ways: list[Way], cells: Cells, X: Any, codes: NDArray[np.integer], model: Any
) -> dict[int, list[Reason]]:
    """Reasons for each row, the strongest first."""
    if not ways:
        return {}
    index = []  # of the row that each cell comes from, at the start and after each step
    for way in ways:
        at = np.full(cells.n_features, way.start)
        index.append(at.copy())
        for step in way.order:
            at[way.steps[step]] = way.row
            index.append(at.copy())
    probability = model.predict_proba(_gather(X, np.array(index)))
    taken: dict[int, dict[int, list[float]]] = {}
    starts: dict[int, list[int]] = {}
    done = 0
    for way in ways:
        belief = probability[done : done + len(way.order) + 1, codes[way.row]]
        done += len(way.order) + 1
        starts.setdefault(way.row, []).append(way.start)
        of_row = taken.setdefault(way.row, {})
        for step, fall in zip(way.order, -np.diff(belief), strict=True):
            if step > 0:
                of_row.setdefault(int(way.steps[step][0]), []).append(float(fall))
    found = {}
    for row, of_row in taken.items():
        like = np.array(starts[row])
        reasons = []
        for j, falls in of_row.items():
            if (mean := float(np.mean(falls))) >= LEAST_SHARE:
                value, usual = cells.values(j, [row, like[cells.usual(j, like)]])
                reasons.append(Reason(j, value, usual, mean))
        found[row] = sorted(reasons, key=lambda reason: -reason.taken)
    return found


def take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of X."""
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
