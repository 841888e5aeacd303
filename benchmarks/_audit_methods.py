"""The ways to find wrong labels that the audit benchmark compares.

Each is a function of rows, their labels, a seed and a number of threads that gives a
verdict. Packages are imported where they are used, so that a missing one costs only its
own method.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _robustness_methods import Method
from _robustness_tuning import FOLDS, folds
from sklearn.model_selection import cross_val_predict

TREES = 500
OURS, QUICK_AUDIT = "LabelAudit", "LabelAudit, quick"
CLEANLAB, FOREST = "cleanlab", "random forest"
FIVE_FITS = "LightGBM"  # whose time is the measure of the others'
# Named beforehand, as those that the first method is to be better than
PLANNED_RIVALS = CLEANLAB, FOREST


class Verdict(NamedTuple):
    """What a method says of labels.

    Attributes
    ----------
    doubt : of each label; more is worse
    is_suspect : whether the method decides that the label is wrong
    better : the label that it would give
    chance_wrong : how likely each label is wrong, where the method says so
    stated_precision : share of the suspects that are wrong, where the method says so
    """

    doubt: np.ndarray
    is_suspect: np.ndarray
    better: np.ndarray
    chance_wrong: np.ndarray | None = None
    stated_precision: float = math.nan


# ---------------------------------------------------------------------- this library's


def _audit(X: Any, y: Any, seed: int, n_jobs: int, **options: Any) -> Verdict:
    from splboost.audit import LabelAudit

    audit = LabelAudit(n_jobs=n_jobs, random_state=seed, **options).fit(X, y)
    issues = audit.issues_
    return Verdict(
        -issues["rank"].to_numpy(),
        issues["is_label_issue"].to_numpy(),
        issues["predicted_label"].to_numpy(),
        issues["chance_wrong"].to_numpy(),
        audit.expected_precision_,
    )


def audit_by_default(X: Any, y: Any, seed: int, n_jobs: int) -> Verdict:
    return _audit(X, y, seed, n_jobs)


def audit_quickly(X: Any, y: Any, seed: int, n_jobs: int) -> Verdict:
    return _audit(X, y, seed, n_jobs, quick=True)


# -------------------------------------------------------------------------- the rivals


def by_probability(probability: np.ndarray, y: np.ndarray) -> Verdict:
    """Labels are doubted as they are improbable, and suspect if not the likeliest."""
    better = probability.argmax(axis=1)
    return Verdict(-probability[np.arange(len(y)), y], better != y, better)


def _lightgbm(seed: int, n_jobs: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=n_jobs, verbose=-1)


def ask_cleanlab(X: Any, y: Any, seed: int, n_jobs: int) -> Verdict:
    from cleanlab.classification import CleanLearning

    learner = CleanLearning(
        _lightgbm(seed, n_jobs),
        cv_n_folds=FOLDS,
        seed=seed,
        find_label_issues_kwargs={"n_jobs": n_jobs},
    )
    issues = learner.find_label_issues(X, y)
    return Verdict(
        -issues["label_quality"].to_numpy(),
        issues["is_label_issue"].to_numpy(),
        issues["predicted_label"].to_numpy(),
    )


def ask_forest(X: Any, y: Any, seed: int, n_jobs: int) -> Verdict:
    """By the trees that have not seen the row."""
    from sklearn.ensemble import RandomForestClassifier

    numbers = pd.DataFrame(
        {
            name: X[name].cat.codes.where(X[name].notna(), np.nan)
            if isinstance(X[name].dtype, pd.CategoricalDtype)
            else X[name]
            for name in X
        }
    )
    forest = RandomForestClassifier(
        TREES, oob_score=True, random_state=seed, n_jobs=n_jobs
    )
    return by_probability(forest.fit(numbers, y).oob_decision_function_, y)


def _out_of_fold(model: Any, X: Any, y: Any, seed: int) -> Verdict:
    found = cross_val_predict(model, X, y, cv=folds(seed), method="predict_proba")
    return by_probability(found, y)


def ask_lightgbm(X: Any, y: Any, seed: int, n_jobs: int) -> Verdict:
    return _out_of_fold(_lightgbm(seed, n_jobs), X, y, seed)


def ask_xgboost(X: Any, y: Any, seed: int, n_jobs: int) -> Verdict:
    from xgboost import XGBClassifier

    model = XGBClassifier(enable_categorical=True, random_state=seed, n_jobs=n_jobs)
    return _out_of_fold(model, X, y, seed)


# ------------------------------------------------------------------------ the registry

_OUT_OF_FOLD = f"as it comes, {FOLDS} folds, by the probability of the label"
_OURS = "splboost", "lightgbm"
METHODS = {  # all need LightGBM, which is trained on what they leave
    OURS: Method(audit_by_default, "`LabelAudit()`", _OURS),
    QUICK_AUDIT: Method(audit_quickly, "`LabelAudit(quick=True)`", _OURS),
    CLEANLAB: Method(
        ask_cleanlab,
        f"`CleanLearning` over LightGBM as it comes, {FOLDS} folds, by its quality of "
        "labels",
        ("cleanlab", "lightgbm"),
    ),
    FOREST: Method(
        ask_forest,
        f"scikit-learn's, {TREES} trees, by the out-of-bag probability of the label; "
        "numbers for categories, missing values handled natively",
        ("lightgbm",),
    ),
    FIVE_FITS: Method(ask_lightgbm, _OUT_OF_FOLD, ("lightgbm",)),
    "XGBoost": Method(ask_xgboost, _OUT_OF_FOLD, ("xgboost", "lightgbm")),
}
