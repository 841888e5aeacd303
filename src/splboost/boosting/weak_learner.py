"""The weak learner that a user has asked for: checks, its fit, and its answers."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from splboost._data.table import names_of_categories
from splboost.trees.c45.c45_estimator import C45Classifier
from splboost.trees.estimators import CARTClassifier, CARTRegressor

FloatArray = NDArray[np.float64]

VOTES, SHARES, MEANS = "votes", "shares", "means"  # what counts of a weak learner
SUM_ERROR = 0.01  # by which probabilities may miss 1
NEGLIGIBLE = 1e-12  # of the largest weight


def is_own_tree(estimator: Any) -> bool:
    """Whether the tree engine is to grow it; not if a subclass goes its own way."""
    return any(
        isinstance(estimator, kind)
        and type(estimator).fit is kind.fit
        and type(estimator).predict is kind.predict
        for kind in (CARTClassifier, C45Classifier, CARTRegressor)
    )


def is_binned(estimator: Any) -> bool:
    """Whether it is grown from a binned table."""
    return is_own_tree(estimator) and isinstance(
        estimator, CARTClassifier | CARTRegressor
    )


def categorical_features_of(booster: Any, estimator: Any) -> Any:
    """The user's list, given to the booster or to its weak learner."""
    own = booster.categorical_features
    if not is_own_tree(estimator):
        if own is not None:
            raise ValueError(
                f"categorical_features={own!r} is for the trees of splboost.trees; "
                f"estimator={estimator!r} would take these columns for numbers. "
                "Use a tree of splboost.trees, or encode them yourself."
            )
        return None
    if own is not None and estimator.categorical_features is not None:
        raise ValueError(
            f"categorical_features={own!r} is given to {type(booster).__name__}, and "
            f"{estimator.categorical_features!r} to its estimator; give it once."
        )
    return own if own is not None else estimator.categorical_features


def check_weak_learner(booster: Any, estimator: Any, answers: str) -> None:
    """Refuse what a booster cannot boost for these answers, and say why."""
    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(f"estimator={name} is a class; give an object, say {name}().")
    instead = "CARTRegressor" if answers == MEANS else "CARTClassifier"
    if answers == MEANS and not is_regressor(estimator):
        raise TypeError(
            f"estimator={estimator!r} is not a regressor, and this booster fits "
            f"numbers; give a scikit-learn regressor or splboost.trees.{instead}."
            f"{_kinds_by_variant(booster)}"
        )
    if answers != MEANS and not is_classifier(estimator):
        raise TypeError(
            f"estimator={estimator!r} is not a classifier; give a scikit-learn "
            f"classifier or one of splboost.trees.{_kinds_by_variant(booster)}"
        )
    if answers == SHARES and not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator={estimator!r} has no predict_proba, which this booster needs; "
            f"give a classifier that has, for instance splboost.trees.{instead}."
        )
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"estimator={type(estimator).__name__} doesn't support sample_weight in "
            "fit, which boosting needs; choose another weak learner, for instance "
            f"splboost.trees.{instead}."
        )
    if not is_own_tree(estimator):
        return
    estimator._validate_params()
    if getattr(estimator, "class_weight", None) is not None:
        raise ValueError(
            f"estimator={estimator!r} has a class_weight, which would change the "
            "weights that boosting has set; give class_weight="
            f"{estimator.class_weight!r} to {type(booster).__name__} instead."
        )


def _kinds_by_variant(booster: Any) -> str:
    """A sentence on which variants take which learners, where that differs."""
    kinds: dict[str, list[str]] = {"classifiers": [], "regressors": []}
    for constraint in booster._parameter_constraints.get("variant", []):
        for variant in sorted(getattr(constraint, "options", [])):
            other = copy(booster)
            other.variant = variant
            kind = "regressors" if other._answers == MEANS else "classifiers"
            kinds[kind].append(repr(variant))
    if not all(kinds.values()):
        return ""
    taken = [f"{kind} with variant={' or '.join(v)}" for kind, v in kinds.items()]
    return f" {type(booster).__name__} takes {' and '.join(taken)}."


def fit_clone(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    weight: FloatArray,
    sample_weight: FloatArray,
    rng: np.random.RandomState,
    *,
    of_classes: bool,
) -> Any:
    """A fitted copy of a weak learner of scikit-learn, seeded anew.

    Weights that are next to nothing beside the largest are left out, unless a class
    would go with them; the others are scaled to sum to the samples' own.
    """
    rows = np.flatnonzero(weight > NEGLIGIBLE * weight.max())
    if of_classes and np.unique(y[rows]).size < 2:
        rows = np.flatnonzero(weight)
    copied = clone(estimator)
    seeds = {
        key: rng.randint(np.iinfo(np.int32).max)
        for key in sorted(copied.get_params(deep=True))
        if key == "random_state" or key.endswith("__random_state")
    }
    copied.set_params(**seeds)
    kept = weight[rows] * (sample_weight[rows].sum() / weight[rows].sum())
    try:
        return copied.fit(_safe_indexing(X, rows), y[rows], sample_weight=kept)
    except (TypeError, ValueError) as why:
        raise explain_refusal(estimator, X, why) from why


# ------------------------------------------- answers of other libraries' estimators


def answer(
    estimator: Any, X: Any, answers: str, classes: NDArray[Any]
) -> tuple[NDArray[np.int32] | None, NDArray[Any]]:
    """Leaves of rows, and answers of the leaves, of an estimator of scikit-learn.

    A classifier that votes has a leaf for each class.
    """
    if answers == VOTES:
        votes = predicted_classes(estimator, X, classes)
        return votes.astype(np.int32), np.arange(classes.size)
    if answers == SHARES:
        return None, predicted_shares(estimator, X, classes)
    return None, predicted_numbers(estimator, X)[:, None]


def predicted_numbers(estimator: Any, X: Any) -> FloatArray:
    """What a regressor predicts, a finite number for each row."""
    answer = _as_numbers(estimator, "predict", _ask(estimator, "predict", X))
    answer = _flat(estimator, answer, _count(X), "number")
    _check_rows(estimator, "predict", answer, np.isfinite(answer), "finite numbers")
    return answer


def predicted_shares(estimator: Any, X: Any, classes: NDArray[Any]) -> FloatArray:
    """The probabilities that a classifier predicts, in the order of the classes."""
    known = _positions(estimator, "classes_", estimator.classes_, classes)
    answer = _ask(estimator, "predict_proba", X)
    shares = np.zeros((_count(X), classes.size))
    shares[:, known] = check_shares(estimator, answer, _count(X), known.size)
    return shares


def check_shares(
    estimator: Any, answer: Any, n_rows: int, n_classes: int
) -> FloatArray:
    """What ``predict_proba`` has answered, if these are probabilities."""
    method = "predict_proba"
    shares = _as_numbers(estimator, method, answer)
    if shares.shape != (n_rows, n_classes):
        held = f"an array of shape {shares.shape} for {n_rows} rows"
        wanted = f"a probability for each row and each of {n_classes} classes"
        raise _odd_answer(estimator, method, held, wanted)
    with np.errstate(invalid="ignore"):
        right = (shares >= -SUM_ERROR).all(axis=1)
        right &= np.abs(shares.sum(axis=1) - 1) <= SUM_ERROR  # false for NaN
    wanted = "probabilities of the classes, which sum to 1"
    _check_rows(estimator, method, shares, right, wanted)
    return shares


def predicted_classes(
    estimator: Any, X: Any, classes: NDArray[Any]
) -> NDArray[np.int64]:
    """Predicted labels as class numbers."""
    labels = np.asarray(_ask(estimator, "predict", X))
    answer = _flat(estimator, labels, _count(X), "label")
    return _positions(estimator, "predict", answer, classes)


def _ask(estimator: Any, method: str, X: Any) -> Any:
    try:
        return getattr(estimator, method)(X)
    except (TypeError, ValueError) as why:
        raise explain_refusal(estimator, X, why) from why


def explain_refusal(estimator: Any, X: Any, why: Exception) -> Exception:
    """What an estimator has raised; a better error where it cannot read categories."""
    columns = names_of_categories(X)
    if not columns or not any(word in str(why) for word in ("convert", "cast")):
        return why
    return ValueError(
        f"estimator={estimator!r} cannot read the categories of X in "
        f"{', '.join(map(repr, columns))} ({why}). Encode them, for instance with "
        "sklearn.preprocessing.OneHotEncoder, or boost a tree of splboost.trees, "
        "which takes categories as they are."
    )


def _flat(estimator: Any, answer: NDArray[Any], n_rows: int, each: str) -> NDArray[Any]:
    if answer.shape not in ((n_rows,), (n_rows, 1)):
        held = f"an array of shape {answer.shape} for {n_rows} rows"
        raise _odd_answer(estimator, "predict", held, f"one {each} for each row")
    return answer.ravel()


def _positions(
    estimator: Any, method: str, labels: Any, classes: NDArray[Any]
) -> NDArray[np.int64]:
    """Where labels are among the classes, which are in order."""
    labels = np.asarray(labels)
    try:
        found = np.searchsorted(classes, labels).clip(max=classes.size - 1)
        wrong = labels[classes[found] != labels]
    except TypeError:  # of texts beside numbers
        wrong = labels
    if wrong.size:
        raise _odd_answer(
            estimator, method, repr(wrong.tolist()[0]), f"labels of {classes.tolist()}"
        )
    return found


def _as_numbers(estimator: Any, method: str, answer: Any) -> FloatArray:
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        held = f"an object of type {type(answer).__name__}"
        raise _odd_answer(estimator, method, held, "an array of numbers") from None


def _check_rows(
    estimator: Any, method: str, answer: FloatArray, right: Any, wanted: str
) -> None:
    wrong = np.flatnonzero(~right)
    if wrong.size:
        row = int(wrong[0])
        more = f", and in {wrong.size - 1} more rows" if wrong.size > 1 else ""
        held = f"{answer[row].tolist()} for row {row}{more}"
        raise _odd_answer(estimator, method, held, wanted)


def _odd_answer(estimator: Any, method: str, held: str, wanted: str) -> ValueError:
    return ValueError(
        f"{type(estimator).__name__} answers {method} with {held}, and not with "
        f"{wanted}. Look at X, where constant columns or very large numbers can lead "
        "to that, or choose another estimator, for instance one of splboost.trees."
    )


def _count(X: Any) -> int:
    n_rows: int = X.shape[0]
    return n_rows
