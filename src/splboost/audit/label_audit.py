"""Which labels are wrong?"""

from __future__ import annotations

import os
import reprlib
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples, check_is_fitted

from splboost._data.labels import (
    all_or_nothing,
    check_trusted,
    encode_labels,
    read_target,
)
from splboost._data.table import Table, TableEstimator, read_table
from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import keeping_advice
from splboost._tools.wording import counted
from splboost.audit.evidence import (
    check_same_rows,
    encode_original,
    find_contradictions,
    join_copies,
    judge_labels,
    number_equal_rows,
    read_probabilities,
    read_text_columns,
)
from splboost.audit.issues import (
    MORE_LIKELY_THAN_NOT,
    MOST_CERTAIN,
    columns_of,
    find_issues,
    summarise,
)
from splboost.audit.page import make_report, write_page
from splboost.audit.reasons import Explainer, Explanation, fit_to_undoubted, take_rows
from splboost.audit.table_files import as_file
from splboost.boosting.booster import check_parameters
from splboost.selection.bags import check_groups
from splboost.selection.forest import SPLForestClassifier
from splboost.selection.quick_forest import QuickForest


class LabelAudit(TableEstimator):
    """Ranks labels by how likely they are wrong, and says why.

    Every label is judged by models that have not seen it: by default the out-of-bag
    scores of a ``SPLForestClassifier``, which take one fit. How labels come to be wrong
    is estimated from the rows the models are surest of, class by class, and with it how
    likely each label is wrong. Suspects are the labels that are more likely wrong than
    right, unless ``precision`` or ``top`` asks for others.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What judges the labels. None is ``SPLForestClassifier``. Any other classifier
        with ``predict_proba``, of this library or of another, is fitted in five folds.
    precision : float in (0, 0.99] or None, default=None
        Take as many suspects as possible so that this share of them is estimated to be
        wrong: 0.9 gives few false alarms, 0.5 misses few wrong labels.
    top : int or None, default=None
        Number of suspects to take, the worst first.
    quick : bool, default=False
        Whether a simpler forest judges where no estimator is given: it takes about a
        thirtieth of the time, and ranks less well.
    categorical_features : array-like or None, default=None
        Names, positions or a mask of categorical columns, in addition to those of
        categorical dtype.
    n_jobs : int or None, default=None
        Threads, or processes of another estimator; -1 uses all cores.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows the progress.

    Attributes
    ----------
    issues_ : frame
        One row for each sample: ``is_label_issue``; ``label_quality``, the probability
        of its label by models that have not seen it; ``given_label``;
        ``predicted_label``, the most likely label, or the most likely other one where
        the given is more likely wrong than right; ``confidence`` in that;
        ``chance_wrong``, how likely the given label is wrong, at most 0.99; and
        ``rank``, 1 for the worst. The numbers of rows that every model has seen are
        NaN.
    belief_ : array of shape (n_samples, n_classes)
        Calibrated probabilities of the labels, by models that have not seen the row.
        Those of a judge that is no forest are never below about 1 / (2 n_samples),
        half a row, however sure it is.
    expected_precision_ : float
        Estimated share of the suspects whose labels are wrong; NaN without suspects.
    noise_rate_, noise_rate_std_ : float
        Estimated share of wrong labels, and its standard deviation by chance alone.
        Where classes overlap, labels that are rare but right count as wrong, too.
    transitions_ : array of shape (n_classes, n_classes)
        Estimated probability that a row of one class (by row) gets the label of another
        (by column).
    contradictions_ : list
        Groups of rows that are equal but for their labels, some of which must be wrong:
        each has ``rows`` and ``codes``, positions in ``classes_``.
    estimator_ : the fitted classifier, or None if probabilities were given
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only when X has column names.

    Examples
    --------
    >>> from splboost.audit import LabelAudit
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, flipped = flip_labels(y, 0.1, random_state=0)
    >>> audit = LabelAudit(top=20, quick=True, random_state=0).fit(X, y_noisy)
    >>> X_clean, y_clean = audit.clean(X, y_noisy)
    >>> bool((y_clean != y[~audit.issues_["is_label_issue"]]).mean() < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "precision": [Interval(Real, 0, MOST_CERTAIN, closed="right"), None],
        "top": [Interval(Integral, 1, None, closed="left"), None],
        "quick": ["boolean"],
        "categorical_features": ["array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # The table, rows as models take them, and the classes of the labels
    _data: tuple[Table | None, Any, NDArray[np.integer]]

    def __init__(
        self,
        estimator: Any = None,
        *,
        precision: float | None = None,
        top: int | None = None,
        quick: bool = False,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        pred_probs: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        trusted: ArrayLike | None = None,
        original: ArrayLike | None = None,
    ) -> Self:
        """Judge all labels.

        Rows go by position. Data of pandas must have one index, in the same order.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or None
            NaN is a missing value. Text columns of a frame with at most 100 different,
            recurring texts are categories; other text columns are left out, with a
            warning, unless ``estimator`` is given, which gets X as it is. None, with
            ``pred_probs`` alone, is for rows that are no table, such as images: there
            are no similar rows and no contradictions then.
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        pred_probs : array-like or frame of shape (n_samples, n_classes), default=None
            Probabilities of the classes, by models that have not seen the row; no model
            is fitted then, and there are no reasons. In sorted order of the classes, or
            a frame whose columns are named after them. They are first calibrated to
            the labels, so it does no harm if all are too sure or not sure enough. What
            counts is where they are surer than elsewhere: if a judge says 0.9 of every
            row, nobody knows which of its contradictions are its own mistakes, and few
            labels are suspect. ``top`` lists the worst all the same.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, for instance of one person, do not judge each other. Nor
            do copies of a row, unless equal rows often have different labels, and so
            were labelled one by one.
        trusted : array-like of bool of shape (n_samples,), default=None
            Labels known to be right, for instance because a person has reviewed them.
        original : array-like of shape (n_samples,), default=None
            Labels as they were before a review. The labels that it corrected tell how
            many of the others are wrong: without them, what is left after the worst
            have been reviewed looks far too good.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._fit(X, y, pred_probs, groups, trusted, original)
        return self

    def _fit(
        self, X: Any, y: Any, pred_probs: Any, groups: Any, trusted: Any, original: Any
    ) -> None:
        check_options(self)
        if X is None and pred_probs is None:
            raise ValueError("X is None; give rows, or pred_probs, to judge labels by.")
        beside = {"groups": groups, "trusted": trusted, "original": original}
        check_same_rows(X=X, y=y, pred_probs=pred_probs, **beside)
        rng = check_random_state(self.random_state)
        for name in ("n_features_in_", "feature_names_in_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        table, categorical = None, self.categorical_features
        if X is not None:
            is_own = self.estimator is None and pred_probs is None
            rows, categorical = read_text_columns(X, categorical, keep_all=not is_own)
            table = read_table(self, rows, categorical, reset=True)
            if is_own:  # an estimator of the user's gets what the user gave
                X = rows
        n_rows = read_target(y).size if table is None else table.n_rows
        self.classes_, codes = encode_labels(self, y, np.ones(n_rows))
        is_trusted = check_trusted(trusted, n_rows)
        before = codes
        if original is not None:
            before = encode_original(original, self.classes_, n_rows)
        equal = np.arange(n_rows) if table is None else number_equal_rows(table)
        if groups is not None:
            groups = check_groups(groups, n_rows)
        self.estimator_: Any = None
        if pred_probs is not None:
            belief = read_probabilities(pred_probs, self.classes_, codes)
        else:
            judge, seed = self.estimator, rng.randint(2**31 - 1)
            if judge is None:
                kind = QuickForest if self.quick else SPLForestClassifier
                judge = kind(
                    categorical_features=categorical,
                    n_jobs=self.n_jobs,
                    random_state=seed,
                    verbose=self.verbose,
                )
            groups = join_copies(equal, codes, groups)
            labels, jobs = self.classes_[codes], self.n_jobs
            belief, self.estimator_ = judge_labels(
                judge, X, labels, codes, groups, trusted, seed, jobs
            )
        self.belief_ = belief
        self.contradictions_ = find_contradictions(equal, codes)
        (
            self.issues_,
            self.transitions_,
            self.noise_rate_,
            self.noise_rate_std_,
            self.expected_precision_,
        ) = find_issues(
            self.classes_, belief, codes, before, is_trusted, self.top, self.precision
        )
        index = getattr(X, "index", None)
        if hasattr(self.issues_, "index") and hasattr(index, "size"):
            self.issues_.index = index  # pandas aligns rows by it
        self._data = table, None if table is None else table.native(X), codes
        self._explainer: Any = None

    def clean(
        self, X: Any, y: ArrayLike, how: Literal["drop", "correct"] = "drop"
    ) -> tuple[Any, Any]:
        """The data without the suspects, or with the labels proposed for them.

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
        is_issue, given, better = columns_of(
            self.issues_, "is_label_issue", "given_label", "predicted_label"
        )
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
            return None if X is None else take_rows(X, left), kept
        better = better.astype(labels.dtype)
        if is_series:
            rows = np.flatnonzero(is_issue)
            return X, series.scatter(rows.tolist(), better[rows]).to_native()
        return X, np.where(is_issue, better, labels)

    def _check_rows(self, X: Any) -> None:
        """Raise an error unless X holds the rows that were audited, in their order."""
        audited, _, codes = self._data
        if _num_samples(X) != codes.size:
            raise ValueError(
                f"X has {counted(_num_samples(X), 'row')}, and {codes.size} were "
                "audited; give the same data as to fit."
            )
        if audited is None:  # probabilities were given, for rows that are no table
            return
        keep_all = self.estimator is not None or self.estimator_ is None
        with keeping_advice():
            rows = read_text_columns(X, self.categorical_features, keep_all=keep_all)
            table = read_table(self, *rows, reset=False)
        differs = np.zeros(codes.size, dtype=bool)
        for j in range(table.n_features):  # categories are compared by value
            differs |= audited.cells(j) != table.cells(j)
        if differs.any():
            raise ValueError(
                f"X is not what was audited: row {differs.argmax()} differs. Give the "
                "same data as to fit, in the same order, or audit this."
            )

    def explain(
        self, rows: ArrayLike | None = None, *, n_reasons: int = 3, n_similar: int = 3
    ) -> list[Explanation]:
        """Why labels are doubted.

        Parameters
        ----------
        rows : array-like of int, default=None
            Numbers of the rows; None explains the suspects, the worst first.
        n_reasons, n_similar : int, default=3
            Maximal number of features that speak against the label, and of similar rows
            with other labels.

        Returns
        -------
        list of Explanation
            ``row``; ``reasons``, each with the ``column``, by its name if X has names,
            else by its number, the ``value`` there, the ``usual`` value in similar rows
            whose label, the same, is believed, and how much of the belief in the label
            is ``taken`` by that; and ``similar``, numbers of rows. Reasons come from a
            model that has not seen the doubted labels, fitted when first asked for;
            they are None where there is none because probabilities were given.
        """
        check_is_fitted(self)
        table, X, codes = self._data
        is_issue, rank, wrong = columns_of(
            self.issues_, "is_label_issue", "rank", "chance_wrong"
        )
        if rows is None:
            rows = np.argsort(rank)[: np.count_nonzero(is_issue)]
        asked = np.atleast_1d(rows)
        if asked.size and not (
            asked.dtype.kind in "iu" and asked.min() >= 0 and asked.max() < codes.size
        ):
            raise ValueError(
                f"rows={reprlib.repr(rows)} must be numbers of rows, from 0 to "
                f"{codes.size - 1}."
            )
        if table is None or asked.size == 0:
            return [Explanation(row, None, []) for row in asked.tolist()]
        if n_reasons and self._explainer is None and self.estimator_ is not None:
            doubted = is_issue | (wrong > MORE_LIKELY_THAN_NOT)
            labels = self.classes_[codes]
            self._explainer = fit_to_undoubted(self.estimator_, X, labels, doubted)
        equal = np.ones(table.n_features)
        explainer = Explainer(
            table,
            X,
            codes,
            np.nan_to_num(self.belief_).argmax(axis=1) == codes,
            self._explainer if n_reasons else None,
            getattr(self.estimator_, "feature_importances_", equal),
            getattr(self, "feature_names_in_", range(table.n_features)),
        )
        return explainer.explain(asked.tolist(), n_reasons, n_similar)

    def write_page(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "data",
        target: str = "label",
        ids: ArrayLike | None = None,
    ) -> None:
        """Write the page on which a person reviews the suspects.

        One HTML file that needs no server and no network. Decisions are kept in the
        browser; the page saves them, and the data with them applied.

        Parameters
        ----------
        path : str or path-like
            Where to write it. An earlier page is replaced; a missing folder is made.
        name : str, default="data"
            Name of the data on the page, under which decisions are kept.
        target : str, default="label"
            Name of the labels on the page.
        ids : array-like of shape (n_samples,), default=None
            What people call the rows.
        """
        check_is_fitted(self)
        table, X, codes = self._data
        check_same_rows(X=X, ids=ids)
        n_features = 0 if table is None else table.n_features
        numbered = [f"x{j}" for j in range(n_features)]
        features = [*map(str, getattr(self, "feature_names_in_", numbered))]
        if target in features:
            raise ValueError(
                f"target={target!r} is the name of a column of X; give another."
            )
        called = None if ids is None else [str(each) for each in np.asarray(ids)]
        if called is not None and len(called) != codes.size:
            raise ValueError(
                f"ids is of length {len(called)} for {counted(codes.size, 'row')}; "
                "give one each."
            )
        labels = [str(label) for label in self.classes_[codes].tolist()]
        file = as_file(name, table, features, target, labels)
        write_page(make_report(self, file, target, features, ids=called), path)

    def summary(self) -> str:
        """What was found, in a few lines.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return summarise(self)


def check_options(audit: LabelAudit) -> None:
    """Refuse parameters of an audit that will not do."""
    check_parameters(audit)
    count_threads(audit.n_jobs)
    if audit.precision is not None and audit.top is not None:
        raise ValueError(
            f"precision={audit.precision} and top={audit.top} both say how many "
            "suspects to take; give one of them."
        )


def find_label_issues(
    X: Any,
    y: ArrayLike,
    *,
    estimator: Any = None,
    pred_probs: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    trusted: ArrayLike | None = None,
    original: ArrayLike | None = None,
    precision: float | None = None,
    top: int | None = None,
    quick: bool = False,
    categorical_features: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Any:
    """Which labels look wrong, and the better guess.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features), or None
        None if ``pred_probs`` are all that there is.
    y : array-like of shape (n_samples,)
    estimator, precision, top, quick : as for ``LabelAudit``
    categorical_features, n_jobs, random_state, verbose : as for ``LabelAudit``
    pred_probs, groups, trusted, original : as for ``LabelAudit.fit``

    Returns
    -------
    frame
        One row for each sample: ``is_label_issue``, ``label_quality``,
        ``given_label``, ``predicted_label``, ``confidence``, ``chance_wrong``,
        ``rank``. In pandas or polars, whichever is installed; else a dict of columns.

    Examples
    --------
    >>> from splboost.audit import find_label_issues
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, flipped = flip_labels(y, 0.1, random_state=0)
    >>> issues = find_label_issues(X, y_noisy, quick=True, random_state=0)
    >>> bool(flipped[issues["is_label_issue"]].mean() > 0.5)  # most of them are wrong
    True
    """
    given = locals()
    audit = LabelAudit(**{name: given[name] for name in LabelAudit().get_params()})
    audit.fit(
        X, y, pred_probs=pred_probs, groups=groups, trusted=trusted, original=original
    )
    return audit.issues_
