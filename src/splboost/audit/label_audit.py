"""Which labels are wrong?"""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from splboost._data.labels import (
    all_or_nothing,
    check_trusted,
    encode_labels,
    read_target,
)
from splboost._data.table import Table, read_table
from splboost.audit.contradictions import find_contradictions, number_likes
from splboost.audit.copies import join_copies
from splboost.audit.evidence import Evidence, find_evidence, from_given
from splboost.audit.findings import Findings
from splboost.audit.issues import choose, make_issues
from splboost.audit.noise_model import MOST_CERTAIN, estimate_noise_model
from splboost.audit.page import write_page
from splboost.audit.report import make_report_on_table
from splboost.audit.summary import summarise
from splboost.audit.texts import read_text_columns
from splboost.boosting.parameters import check_parameters
from splboost.selection.bags import check_groups
from splboost.selection.forest import SPLForestClassifier
from splboost.selection.quick_forest import QuickForest


class LabelAudit(Findings):
    """Ranks labels by how likely they are wrong, and says why.

    Every label is judged by models that have not seen it: by default the out-of-bag
    scores of a ``SPLForestClassifier``, which take one fit. How labels come to be wrong
    is estimated from the rows of which the models are surest, class by class, and with
    it how likely each label is wrong. Suspects are those whose label is more likely
    wrong than right, unless ``precision`` or ``top`` asks for others.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What judges. None is ``SPLForestClassifier``. Any other classifier with
        ``predict_proba``, of this library or of another, is fitted to five folds.
    precision : float in (0, 0.99] or None, default=None
        Take as many suspects as leave so many of them wrong, as far as can be told:
        0.9 is for few false alarms, 0.5 for few that are missed.
    top : int or None, default=None
        Take so many suspects, the worst.
    quick : bool, default=False
        Whether a simpler forest judges where no estimator is given: it takes about a
        thirtieth of the time, and ranks less well.
    categorical_features : array-like or None, default=None
        Names, positions or a mask of categorical columns, beside those of categorical
        dtype.
    n_jobs : int or None, default=None
        Threads, or processes of another estimator; -1 uses all cores.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows how far it is.

    Attributes
    ----------
    issues_ : frame
        One row for each sample: ``is_label_issue``; ``label_quality``, the probability
        of its label by models that have not seen it; ``given_label``;
        ``predicted_label``, the likeliest, or the likeliest other one where the given
        is more likely wrong than right; ``confidence`` in that; ``chance_wrong``, how
        likely the given label is wrong, 0.99 at most; and ``rank``, 1 for the worst.
        Where no model has not seen a row, its numbers are NaN.
    belief_ : array of shape (n_samples, n_classes)
        Probabilities of the labels, by models that have not seen the row, calibrated.
        Of other judges than a forest none is below what half a row would be, about
        1 / (2 n_samples), however sure they are.
    expected_precision_ : float
        Share of the suspects whose labels are wrong, as far as can be told; NaN without
        suspects.
    noise_rate_, noise_rate_std_ : float
        Estimated share of wrong labels, and its standard deviation by chance alone.
        Where classes overlap, labels that are rare but right count as wrong, too.
    transitions_ : array of shape (n_classes, n_classes)
        Estimated probability that a row of one class (by row) gets the label of another
        (by column).
    contradictions_ : list
        Rows that are equal but for their labels, of which some must be wrong: for each
        group of them ``rows`` and ``codes``, positions in ``classes_``.
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
        self.estimator = estimator
        self.precision = precision
        self.top = top
        self.quick = quick
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
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

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or None
            NaN is a missing value. Texts of a frame that recur, up to 100 different
            ones, are categories; columns of others are left out, with a warning, unless
            ``estimator`` is given, which gets X as it is. None, with ``pred_probs``
            alone, is for rows that are no table, as images are: there are no similar
            rows and no contradictions then.
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        pred_probs : array-like or frame of shape (n_samples, n_classes), default=None
            Probabilities of the classes, by models that have not seen the row; no model
            is fitted then, and there are no reasons. In sorted order of the classes, or
            a frame whose columns are named after them; a frame of pandas must have the
            index of X, or else of y. They are first calibrated to the labels, so
            it does no harm if all are too sure or not sure enough. What counts is where
            they are surer than elsewhere: of a judge that says 0.9 of every row nobody
            knows which share of its contradictions is its own mistake, and few labels
            are suspect. ``top`` lists the worst all the same.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, say of one person, do not judge each other. Nor do copies
            of a row, unless equal rows often have different labels, and so were
            labelled one by one.
        trusted : array-like of bool of shape (n_samples,), default=None
            Labels known to be right, for instance because a person has reviewed them.
        original : array-like of shape (n_samples,), default=None
            Labels as they were before a review. Those that it has put right tell how
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
        self,
        X: Any,
        y: Any,
        pred_probs: Any,
        groups: Any,
        trusted: Any,
        original: Any,
    ) -> None:
        check_parameters(self)
        if self.precision is not None and self.top is not None:
            raise ValueError(
                f"precision={self.precision} and top={self.top} both say how many "
                "suspects to take; give one of them."
            )
        rng = check_random_state(self.random_state)
        is_foreign = self.estimator is not None or pred_probs is not None
        rows, listed = read_text_columns(
            X, self.categorical_features, keep_all=is_foreign
        )
        table = self._read(rows, listed, pred_probs)
        if not is_foreign:
            X = rows  # another library's estimator gets what the user gave
        n_rows = read_target(y).size if table is None else table.n_rows
        self.classes_, codes = encode_labels(self, y, np.ones(n_rows))
        known = check_trusted(trusted, n_rows)
        before = codes
        if original is not None:
            before = _encode_original(original, self.classes_, n_rows)
        like = np.arange(n_rows) if table is None else number_likes(table)
        if groups is not None:
            groups = check_groups(groups, n_rows)
        units = join_copies(like, codes, groups)
        if pred_probs is not None:
            found = from_given(pred_probs, self.classes_, codes, {"X": X, "y": y})
        else:
            found = self._find_evidence(X, listed, codes, units, trusted, rng)
        probability, self.estimator_ = found
        there = ~np.isnan(probability).any(axis=1)
        asked = there & ~known
        wrong = np.where(there, 0.0, np.nan)
        self.transitions_ = np.eye(self.classes_.size)
        self.noise_rate_ = self.noise_rate_std_ = 0.0
        if asked.any():
            # Of the trusted, those that were found wrong.
            telling = (asked | (there & (before != codes))) & (before >= 0)
            model = estimate_noise_model(probability[telling], before[telling])
            self.transitions_ = model.transitions[len(model.transitions) // 2]
            wrong[asked] = model.chance_wrong(probability[asked], codes[asked])
            self.noise_rate_ = float(wrong[there].mean())
            self.noise_rate_std_ = model.rate_std * float(asked.sum() / there.sum())
        self.belief_ = probability
        self.contradictions_ = find_contradictions(like, codes)
        n_suspects = choose(wrong[asked], self.top, self.precision)
        self.issues_ = make_issues(
            self.classes_, codes, probability, wrong, asked, n_suspects
        )
        suspects = np.asarray(self.issues_["is_label_issue"])
        self.expected_precision_ = (
            float(wrong[suspects].mean()) if n_suspects else float("nan")
        )
        index = getattr(X, "index", None)
        if hasattr(self.issues_, "index") and hasattr(index, "size"):
            self.issues_.index = index  # pandas puts rows together by it
        self._data = table, None if table is None else table.native(X), codes
        self._explainer = None

    def _read(self, X: Any, listed: Any, pred_probs: Any) -> Table | None:
        if X is not None:
            return read_table(self, X, listed, reset=True)
        if pred_probs is None:
            raise ValueError("X is None; give rows, or pred_probs, to judge labels by.")
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):  # from an earlier fit
                delattr(self, name)
        return None

    def _find_evidence(
        self,
        X: Any,
        listed: Any,
        codes: NDArray[np.integer],
        groups: NDArray[np.intp] | None,
        trusted: Any,
        rng: np.random.RandomState,
    ) -> Evidence:
        judge, seed = self.estimator, rng.randint(2**31 - 1)
        if judge is None:
            kind = QuickForest if self.quick else SPLForestClassifier
            judge = kind(
                categorical_features=listed,
                n_jobs=self.n_jobs,
                random_state=seed,
                verbose=self.verbose,
            )
        y = self.classes_[codes]
        return find_evidence(judge, X, y, codes, groups, trusted, seed, self.n_jobs)

    def write_page(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "data",
        target: str = "label",
        ids: ArrayLike | None = None,
    ) -> None:
        """Write the page on which a person goes through the suspects.

        One HTML file that needs no server and no network. Decisions are kept in the
        browser; the page saves them, and the data with them applied.

        Parameters
        ----------
        path : str or path-like
            Where to write it. An earlier page is replaced; a folder that is not there
            is made.
        name : str, default="data"
            What the page calls the data, and under which it keeps decisions.
        target : str, default="label"
            What it calls the labels.
        ids : array-like of shape (n_samples,), default=None
            What people call the rows.
        """
        check_is_fitted(self)
        table, _, codes = self._data
        report = make_report_on_table(self, table, codes, name, target, ids)
        write_page(report, path)

    def summary(self) -> str:
        """What was found, in a few lines.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return summarise(self)


def _encode_original(
    original: Any, classes: NDArray[Any], n_rows: int
) -> NDArray[np.intp]:
    """Place among the classes of each label before a review; -1 if it is gone."""
    labels = read_target(original)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"original is of shape {labels.shape}, for {n_rows} rows; give the label "
            "that each row of y had before the review."
        )
    place = {label: k for k, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    if (found < 0).all():
        raise ValueError(
            f"original has none of the labels of y: {labels.tolist()[0]!r} is none of "
            f"{classes.tolist()}; give labels of the same type."
        )
    return found
