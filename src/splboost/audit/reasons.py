"""Why a label is doubted, in terms of other rows.

For each suspect the rows most like it are looked up: those of other labels, to compare
it with, and those of its own label that are believed. What speaks against the label are
the features that, were they as in the latter, would make it more likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from splboost.trees.binning import Binned, bin_table
from splboost.trees.columns import Table

FloatArray = NDArray[np.float64]

N_BELIEVED = 5  # similar rows of the same label that a suspect is compared with
N_ASKED = 8  # features of a suspect that are tried: those that differ most
MOST_COMPARED = 4000  # rows among which similar ones are looked for
LEAST_BELIEF = 1e-4


class Reason(NamedTuple):
    """A feature that speaks against a label.

    Attributes
    ----------
    column : its number
    value : of the row; None if it is missing
    usual : in similar rows whose label, the same, is believed
    belief : in the label, were the feature so
    """

    column: int
    value: Any
    usual: Any
    belief: float


class Explanation(NamedTuple):
    """Why the label of a row is doubted.

    Attributes
    ----------
    row : its number
    reasons : list of Reason, the strongest first
    similar : numbers of the most similar rows of other labels, the nearest first
    """

    row: int
    reasons: list[Reason]
    similar: list[int]


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


class Trial(NamedTuple):
    """A row with one of its features exchanged for that of another row."""

    row: int
    column: int
    donor: int


def explain(
    rows: Sequence[int],
    table: Table,
    X: Any,
    codes: NDArray[np.integer],
    quality: FloatArray,
    believed: NDArray[np.bool_],
    model: Any,
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
    quality : how likely the label is, by models that have not seen it
    believed : whether the label is believed
    model : has ``predict_proba``; without one there are no reasons
    n_reasons, n_similar : at most so many for a row
    """
    importance = np.asarray(
        getattr(model, "feature_importances_", np.ones(table.n_features)), dtype=float
    )
    likeness, cells = Likeness(table, importance), Cells(table)
    n_classes = int(codes.max()) + 1
    own = [_some(np.flatnonzero((codes == k) & believed)) for k in range(n_classes)]
    other = [_some(np.flatnonzero((codes != k) & believed)) for k in range(n_classes)]
    similar = {
        row: likeness.nearest(row, other[codes[row]], n_similar).tolist()
        for row in rows
    }
    trials = [
        trial
        for row in rows
        for trial in _plan(row, cells, likeness, own[codes[row]])
        if model is not None and n_reasons
    ]
    reasons = _try(trials, cells, X, codes, quality, model)
    return [
        Explanation(int(row), reasons.get(row, [])[:n_reasons], similar[row])
        for row in rows
    ]


def _some(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """No more than can be compared with every suspect, from all over the data."""
    return rows[:: -(-rows.size // MOST_COMPARED)] if rows.size else rows


def _plan(
    row: int,
    cells: Cells,
    likeness: Likeness,
    own: NDArray[np.intp],
) -> list[Trial]:
    """Which features of a row to exchange, and with which rows."""
    like = likeness.nearest(row, own, N_BELIEVED)
    if like.size == 0:
        return []
    apart = likeness.differences(row, like)
    asked = np.argsort(-apart.mean(axis=1), kind="stable")[:N_ASKED]
    trials = []
    for j in asked:
        donor = cells.usual(int(j), like)
        if apart[j, donor] > 0:
            trials.append(Trial(row, int(j), int(like[donor])))
    return trials


def _try(
    trials: list[Trial],
    cells: Cells,
    X: Any,
    codes: NDArray[np.integer],
    quality: FloatArray,
    model: Any,
) -> dict[int, list[Reason]]:
    """Reasons for each row, the strongest first.

    The model has seen the rows. By how much it believes a label more when a feature is
    exchanged is added, as log-odds, to what those believe that have not.
    """
    if not trials:
        return {}
    n = cells.n_features
    row = np.array([trial.row for trial in trials])
    index = np.tile(row[:, None], (1, n))
    index[np.arange(row.size), [trial.column for trial in trials]] = [
        trial.donor for trial in trials
    ]
    at = np.unique(row, return_inverse=True)
    now = model.predict_proba(_gather(X, np.tile(at[0][:, None], (1, n))))[at[1]]
    then = model.predict_proba(_gather(X, index))
    own = np.arange(row.size), codes[row]
    shift = _log_odds(then[own]) - _log_odds(now[own])
    belief = expit(_log_odds(quality[row]) + shift)
    found: dict[int, list[Reason]] = {}
    for k in np.argsort(-belief, kind="stable"):
        trial = trials[k]
        if shift[k] > 0:
            value, usual = cells.values(trial.column, [trial.row, trial.donor])
            reason = Reason(trial.column, value, usual, float(belief[k]))
            found.setdefault(trial.row, []).append(reason)
    return found


def _log_odds(probability: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probability, LEAST_BELIEF, 1 - LEAST_BELIEF)))


def _gather(X: Any, index: NDArray[np.intp]) -> Any:
    """Rows whose cell in column j is that of row ``index[:, j]`` of X."""
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        X = np.asarray(X)
        return X[index, np.arange(X.shape[1])]
    first = frame[index[:, 0].tolist()]
    if frame.implementation.is_pandas_like():
        first = nw.from_native(first.to_native().reset_index(drop=True))
    columns = []
    for j, name in enumerate(frame.columns[1:], start=1):
        own = frame[name][index[:, j].tolist()]
        if frame.implementation.is_pandas_like():
            own = nw.from_native(
                own.to_native().reset_index(drop=True), series_only=True
            )
        columns.append(own)
    return first.with_columns(*columns).to_native()
