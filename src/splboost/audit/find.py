"""The audit in one call."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from splboost.audit.label_audit import LabelAudit


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
    audit = LabelAudit(
        estimator,
        precision=precision,
        top=top,
        quick=quick,
        categorical_features=categorical_features,
        n_jobs=n_jobs,
        random_state=random_state,
        verbose=verbose,
    )
    audit.fit(
        X, y, pred_probs=pred_probs, groups=groups, trusted=trusted, original=original
    )
    return audit.issues_
