"""The weak learner that a user has asked for: what it is, what it lacks, its fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from splboost.boosting.answers import explain_refusal
from splboost.trees.c45.estimator import C45Classifier
from splboost.trees.estimators import CARTClassifier, CARTRegressor

FloatArray = NDArray[np.float64]
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
    return is_own_tree(estimator) and not isinstance(estimator, C45Classifier)


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


def check_own_tree(booster: Any, estimator: Any) -> None:
    """Refuse parameters of a tree that make no sense inside a booster."""
    estimator._validate_params()
    if getattr(estimator, "class_weight", None) is not None:
        raise ValueError(
            f"estimator={estimator!r} has a class_weight, which would change the "
            "weights that boosting has set; give class_weight="
            f"{estimator.class_weight!r} to {type(booster).__name__} instead."
        )


def check_classifier(
    estimator: Any, *, probabilities: bool = False, remedy: str = ""
) -> None:
    """Refuse what cannot be boosted as a classifier, and say why.

    ``remedy`` is a sentence that is added where another kind of learner is needed.
    """
    _check_object(estimator)
    if not is_classifier(estimator):
        raise TypeError(
            f"estimator={estimator!r} is not a classifier; give a scikit-learn "
            f"classifier or one of splboost.trees.{remedy}"
        )
    if probabilities and not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator={estimator!r} has no predict_proba, which this booster needs; "
            "give a classifier that has, for instance splboost.trees.CARTClassifier."
        )
    _check_weights(estimator, "CARTClassifier")


def check_regressor(estimator: Any, *, remedy: str = "") -> None:
    """Refuse what cannot be boosted as a regressor, and say why; the same."""
    _check_object(estimator)
    if not is_regressor(estimator):
        raise TypeError(
            f"estimator={estimator!r} is not a regressor, and this booster fits "
            "numbers; give a scikit-learn regressor or splboost.trees.CARTRegressor."
            f"{remedy}"
        )
    _check_weights(estimator, "CARTRegressor")


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


def _check_object(estimator: Any) -> None:
    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(f"estimator={name} is a class; give an object, say {name}().")


def _check_weights(estimator: Any, instead: str) -> None:
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"estimator={type(estimator).__name__} doesn't support sample_weight in "
            "fit, which boosting needs; choose another weak learner, for instance "
            f"splboost.trees.{instead}."
        )
