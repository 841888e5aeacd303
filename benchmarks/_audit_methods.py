"""The ways to find wrong labels that the audit benchmark compares, and their judge.

Each is a function of rows, their labels, a seed and a number of threads that gives a
verdict. Packages are imported where they are used, so that a missing one costs only its
own method. After a verdict a LightGBM is trained on what is left of the data, and
tested on right labels.
"""

from __future__ import annotations

import json
import math
import time
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _long_data import Problem
from _long_methods import (
    FOLDS,
    Method,
    folds,
    make_booster,
    make_cleanlab,
    make_lightgbm,
)
from sklearn.metrics import average_precision_score
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


def ask_audit(X: Any, y: Any, seed: int, n_jobs: int, **options: Any) -> Verdict:
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


# -------------------------------------------------------------------------- the rivals


def by_probability(probability: np.ndarray, y: np.ndarray) -> Verdict:
    """Labels are doubted as they are improbable, and suspect if not the likeliest."""
    better = probability.argmax(axis=1)
    return Verdict(-probability[np.arange(len(y)), y], better != y, better)


def ask_cleanlab(X: Any, y: Any, seed: int, n_jobs: int) -> Verdict:
    issues = make_cleanlab(seed, n_jobs).find_label_issues(X, y)
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
    return _out_of_fold(make_lightgbm(seed, n_jobs), X, y, seed)


def ask_xgboost(X: Any, y: Any, seed: int, n_jobs: int) -> Verdict:
    return _out_of_fold(make_booster("xgboost", False, seed, n_jobs), X, y, seed)


# ------------------------------------------------------------------------ the registry

_OUT_OF_FOLD = f"as it comes, {FOLDS} folds, by the probability of the label"
_OURS = "splboost", "lightgbm"
METHODS = {  # all need LightGBM, which is trained on what they leave
    OURS: Method(ask_audit, "`LabelAudit()`", _OURS),
    QUICK_AUDIT: Method(
        partial(ask_audit, quick=True), "`LabelAudit(quick=True)`", _OURS
    ),
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


N_BINS = 10  # of the chance that a label is wrong


class Measures(NamedTuple):
    """What is measured.

    Attributes
    ----------
    average_precision, precision_at_flipped : of the ranking; the latter among as many
        of the worst as are flipped. None without flipped labels.
    rows, flipped : of the training data
    suspects, found : by the method's own decision; found ones are flipped
    stated_precision : what the method says of its suspects
    seconds : of the processor
    error_raw, error_right, error_dropped, error_corrected : test errors, trained on the
        labels as they are, on the right ones, without the suspects, and with what the
        method would give them
    bins : for each tenth of the stated chance, how many labels, the sum of their stated
        chances, and how many are flipped, as JSON
    """

    average_precision: float | None
    precision_at_flipped: float | None
    rows: int
    flipped: int
    suspects: int
    found: int
    stated_precision: float | None
    seconds: float
    error_raw: float
    error_right: float
    error_dropped: float
    error_corrected: float
    bins: str | None


# ------------------------------------------------------------------- who was right


def judge_ranking(
    verdict: Verdict, is_flipped: np.ndarray
) -> tuple[float | None, float | None]:
    """Average precision, and precision at the number flipped."""
    n = int(is_flipped.sum())
    if n == 0:
        return None, None
    worst = np.argsort(-verdict.doubt, kind="stable")[:n]
    average = average_precision_score(is_flipped, verdict.doubt)
    return float(average), float(is_flipped[worst].mean())


def tally_bins(chance: np.ndarray, is_flipped: np.ndarray) -> list[list[float]]:
    """By tenths of the stated chance: labels, the sum of their chances, and flipped."""
    place = np.minimum((chance * N_BINS).astype(int), N_BINS - 1)
    sums = (np.bincount(place, w, N_BINS) for w in (None, chance, is_flipped))
    return np.column_stack(list(sums)).tolist()


# ---------------------------------------------------------------- is the data better?


def error_of_training(
    problem: Problem, y: np.ndarray, seed: int, rows: np.ndarray | None = None
) -> float:
    """Test error of LightGBM as it comes, trained on these labels, or some of them."""
    rows = np.ones(len(y), dtype=bool) if rows is None else rows
    own = y[rows]
    if np.ptp(own) == 0:
        guess = own[0]
    else:
        model = make_lightgbm(seed, 1)
        guess = model.fit(problem.X[rows], own).predict(problem.X_test)
    return float(np.mean(guess != problem.y_test))


@lru_cache(maxsize=1)
def errors_without_audit(problem: Problem, seed: int) -> dict[str, float]:
    """The same for all methods."""
    return {
        "error_raw": error_of_training(problem, problem.y, seed),
        "error_right": error_of_training(problem, problem.y_right, seed),
    }


# ------------------------------------------------------------------------ all of it


def measure(method: Method, problem: Problem, seed: int) -> dict[str, Any]:
    """Doubt and judge."""
    start = time.process_time()
    verdict = method.fit(problem.X, problem.y, seed, 1)
    seconds = time.process_time() - start
    y, is_suspect = problem.y, verdict.is_suspect
    is_flipped = y != problem.y_right
    average_precision, precision = judge_ranking(verdict, is_flipped)
    bins = None
    if verdict.chance_wrong is not None:
        chance = np.nan_to_num(verdict.chance_wrong)  # of a label that nobody judges
        bins = json.dumps(tally_bins(chance, is_flipped))
    return {
        "average_precision": average_precision,
        "precision_at_flipped": precision,
        "rows": len(y),
        "flipped": int(is_flipped.sum()),
        "suspects": int(is_suspect.sum()),
        "found": int(np.sum(is_suspect & is_flipped)),
        "stated_precision": float(verdict.stated_precision),
        "seconds": seconds,
        **errors_without_audit(problem, seed),
        "error_dropped": error_of_training(problem, y, seed, ~is_suspect),
        "error_corrected": error_of_training(
            problem, np.where(is_suspect, verdict.better, y), seed
        ),
        "bins": bins,
    }
