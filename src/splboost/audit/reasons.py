"""Why a label is doubted, in terms of other rows.

For each suspect the rows most like it are looked up: those of other labels, to compare
it with, and those of its own label that are believed. What speaks against the label are
the features that, were they as in the latter, would make it more likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from splboost.trees.binning import Binned, bin_table
from splboost.trees.columns import Table

FloatArray = NDArray[np.float64]

N_EXCHANGED = 3  # rows whose values are tried
N_ASKED = 8  # features of a suspect that are tried: those that differ most
BLOCK = 200  # suspects at a time


class Reason(NamedTuple):
    """A feature that speaks against a label.

    Attributes
    ----------
    column : its number
    value : of the row
    usual : in similar rows whose label, the same, is believed
    belief : in the label, were the feature as in these
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


class Likeness:
    """How alike rows are: features count as much as the model makes of them."""

    def __init__(self, table: Table, importance: FloatArray) -> None:
        self._binned: Binned = bin_table(table, np.ones(table.n_rows))
        n_features = importance.size
        total = importance.sum()
        even = np.full(n_features, 1 / n_features)
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
        """The rows most like this one, the nearest first."""
        distance = self.differences(row, among).sum(axis=0)
        n = min(n, among.size)
        found = np.argpartition(distance, n - 1)[:n] if n else np.empty(0, dtype=int)
        return among[found[np.argsort(distance[found], kind="stable")]]


def explain(
    rows: Sequence[int],
    table: Table,
    X: Any,
    codes: NDArray[np.integer],
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
    believed : whether it is believed
    model : has ``predict_proba``; without one there are no reasons
    n_reasons, n_similar : at most so many for a row
    """
    importance = np.asarray(
        getattr(model, "feature_importances_", np.ones(table.n_features)), dtype=float
    )
    likeness = Likeness(table, importance)
    of_class = [np.flatnonzero(codes == k) for k in range(int(codes.max()) + 1)]
    other = [np.flatnonzero((codes != k) & believed) for k in range(len(of_class))]
    own = [rows[believed[rows]] for rows in of_class]
    explanations = []
    for start in range(0, len(rows), BLOCK):
        block = [int(row) for row in rows[start : start + BLOCK]]
        reasons = _find_reasons(block, likeness, table, X, codes, own, model)
        for row, found in zip(block, reasons, strict=True):
            similar = likeness.nearest(row, other[codes[row]], n_similar)
            explanations.append(Explanation(row, found[:n_reasons], similar.tolist()))
    return explanations


def _find_reasons(
    block: list[int],
    likeness: Likeness,
    table: Table,
    X: Any,
    codes: NDArray[np.integer],
    own: list[NDArray[np.intp]],
    model: Any,
) -> list[list[Reason]]:
    """Reasons for each row of a block, the strongest first."""
    found: list[list[Reason]] = [[] for _ in block]
    if model is None:
        return found
    trials = []  # (number in the block, feature, rows to take its value from)
    for number, row in enumerate(block):
        among = own[codes[row]]
        like = likeness.nearest(row, among[among != row], N_EXCHANGED)
        if like.size == 0:
            continue
        apart = likeness.differences(row, like).mean(axis=1)
        asked = np.argsort(-apart, kind="stable")[:N_ASKED]
        trials += [(number, int(j), like) for j in asked if apart[j] > 0]
    index = [np.full((1, table.n_features), row) for row in block]
    for number, j, like in trials:
        exchanged = np.full((like.size, table.n_features), block[number])
        exchanged[:, j] = like
        index.append(exchanged)
    probability = model.predict_proba(_gather(X, np.concatenate(index)))
    now, at = probability[: len(block)], len(block)
    for number, j, like in trials:
        row = block[number]
        belief = probability[at : at + like.size, codes[row]].mean()
        at += like.size
        if belief > now[number, codes[row]]:
            values = _values(table, j, np.r_[row, like])
            usual = _usual(values[1:], bool(table.is_categorical[j]))
            found[number].append(Reason(j, values[0], usual, float(belief)))
    for reasons in found:
        reasons.sort(key=lambda reason: -reason.belief)
    return found


def _gather(X: Any, index: NDArray[np.intp]) -> Any:
    """Rows whose cell in column j is that of row ``index[:, j]`` of X."""
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        X = np.asarray(X)
        return X[index, np.arange(X.shape[1])]
    columns = [
        frame[:, j].__getitem__(index[:, j].tolist()) for j in range(frame.shape[1])
    ]
    if frame.implementation.is_pandas_like():
        import pandas

        series = [column.to_native().reset_index(drop=True) for column in columns]
        return pandas.concat(series, axis=1)
    return columns[0].to_frame().with_columns(*columns[1:]).to_native()


def _values(table: Table, j: int, rows: NDArray[np.intp]) -> list[Any]:
    """Cells of a column; None where one is missing."""
    if table.is_categorical[j]:
        names, index = table.category(j)
        return [None if k < 0 else names[k] for k in index[rows].tolist()]
    cells = table.numeric(j)[rows].tolist()
    return [None if value != value else value for value in cells]


def _usual(values: list[Any], is_categorical: bool) -> Any:
    """The most frequent value, or the median of numbers."""
    there = [value for value in values if value is not None]
    if not there:
        return None
    if is_categorical:
        return max(there, key=there.count)
    return float(np.median(there))
