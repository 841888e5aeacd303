"""What an audit has found, and what can be asked of it."""

from __future__ import annotations

from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, check_is_fitted

from splboost._data.labels import read_target
from splboost._data.table import Table, read_table
from splboost._tools.user_warnings import keeping_advice
from splboost.audit.contradictions import Contradiction, find_difference
from splboost.audit.issues import MORE_LIKELY_THAN_NOT
from splboost.audit.reasons import Explanation, explain, fit_to_undoubted, take
from splboost.audit.texts import read_text_columns

FloatArray = NDArray[np.float64]


class Findings(BaseEstimator):
    """Base of `splboost.audit.LabelAudit`, which says what its attributes are."""

    estimator: Any
    precision: float | None
    top: int | None
    quick: bool
    random_state: Any

    issues_: Any
    belief_: FloatArray
    classes_: NDArray[Any]
    expected_precision_: float
    noise_rate_: float
    noise_rate_std_: float
    transitions_: FloatArray
    contradictions_: list[Contradiction]
    estimator_: Any
    _data: tuple[Table | None, Any, NDArray[np.integer]]  # rows twice, and labels
    _explainer: Any

    def clean(
        self, X: Any, y: ArrayLike, how: Literal["drop", "correct"] = "drop"
    ) -> tuple[Any, Any]:
        """The data without the suspects, or with the labels that are proposed for them.

        Parameters
        ----------
        X, y : the data that were audited
            X may be None, for labels alone.
        how : {"drop", "correct"}, default="drop"
            Leave suspects out, or give them their ``predicted_label``.

        Returns
        -------
        X, y : rows and labels as they were given
            A series of pandas or polars keeps its index, name and type; other labels
            are an array.
        """
        check_is_fitted(self)
        if how not in ("drop", "correct"):
            raise ValueError(f"how={how!r} is unknown; give 'drop' or 'correct'.")
        labels = read_target(y)
        is_issue = np.asarray(self.issues_["is_label_issue"])
        given = np.asarray(self.issues_["given_label"])
        if labels.shape != given.shape or not (labels == given).all():
            raise ValueError(
                "y is not what was audited; give the same data as to fit, or audit "
                "this."
            )
        if X is not None:
            self._check_rows(X)
        series: Any = nw.from_native(y, series_only=True, pass_through=True)
        is_series = isinstance(series, nw.Series)
        if how == "drop":
            left = np.flatnonzero(~is_issue)
            kept = series[left.tolist()].to_native() if is_series else labels[left]
            return None if X is None else take(X, left), kept
        better = np.asarray(self.issues_["predicted_label"]).astype(labels.dtype)
        if is_series:
            rows = np.flatnonzero(is_issue)
            return X, series.scatter(rows.tolist(), better[rows]).to_native()
        return X, np.where(is_issue, better, labels)

    def _check_rows(self, X: Any) -> None:
        """Raise an error unless X holds the rows that were audited, in their order."""
        audited, _, codes = self._data
        if _num_samples(X) != codes.size:
            raise ValueError(
                f"X has {_num_samples(X)} rows, and {codes.size} were audited; give "
                "the same data as to fit."
            )
        if audited is None:  # without a table: probabilities were given
            return
        with keeping_advice():
            is_foreign = self.estimator is not None or self.estimator_ is None
            rows, listed = read_text_columns(
                X, self.categorical_features, keep_all=is_foreign
            )
            table = read_table(self, rows, listed, reset=False)
        row = find_difference(audited, table)
        if row is not None:
            raise ValueError(
                f"X is not what was audited: row {row} differs. Give the same data as "
                "to fit, in the same order, or audit this."
            )

    def explain(
        self, rows: ArrayLike | None = None, *, n_reasons: int = 3, n_similar: int = 3
    ) -> list[Explanation]:
        """Why labels are doubted.

        Parameters
        ----------
        rows : array-like of int, default=None
            Numbers of the rows; None are the suspects, the worst first.
        n_reasons, n_similar : int, default=3
            At most so many features that speak against the label, and similar rows of
            other labels.

        Returns
        -------
        list of Explanation
            ``row``; ``reasons``, each with the ``column``, by its name if X has names,
            else by its number, the ``value`` there, what is ``usual`` in similar rows
            whose label, the same, is believed, and how much of the belief in the label
            is ``taken`` by that; and ``similar``, numbers of rows. Reasons are those of
            a model that has not seen labels that are doubted, fitted when first asked
            for; where there is none, because probabilities were given, they are None.
        """
        check_is_fitted(self)
        table, X, codes = self._data
        if rows is None:
            worst = np.argsort(np.asarray(self.issues_["rank"]))
            rows = worst[: int(np.count_nonzero(self.issues_["is_label_issue"]))]
        asked = np.atleast_1d(rows)
        if asked.size and not (
            asked.dtype.kind in "iu" and asked.min() >= 0 and asked.max() < codes.size
        ):
            raise ValueError(
                f"rows={rows!r} must be numbers of rows, from 0 to {codes.size - 1}."
            )
        if table is None:
            return [Explanation(row, None, []) for row in asked.tolist()]
        likeliest = np.nan_to_num(self.belief_).argmax(axis=1)
        even = np.ones(table.n_features)
        importance = getattr(self.estimator_, "feature_importances_", even)
        found = explain(
            asked.tolist(),
            table,
            X,
            codes,
            likeliest == codes,
            self._find_explainer() if n_reasons else None,
            np.asarray(importance, dtype=np.float64),
            n_reasons=n_reasons,
            n_similar=n_similar,
        )
        names = getattr(self, "feature_names_in_", None)
        return found if names is None else [each.with_names(names) for each in found]

    def _find_explainer(self) -> Any:
        """A model like the judge that has not seen doubted labels; None without one."""
        if self._explainer is None and self.estimator_ is not None:
            _, X, codes = self._data
            is_issue, wrong = (
                np.asarray(self.issues_[name])
                for name in ("is_label_issue", "chance_wrong")
            )
            doubted = is_issue | (wrong > MORE_LIKELY_THAN_NOT)
            self._explainer = fit_to_undoubted(
                self.estimator_, X, self.classes_[codes], doubted
            )
        return self._explainer
