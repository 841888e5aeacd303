"""All boosters with all kinds of weak learners, and data for them."""

import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from helpers import parametrize_pairs
from splboost import (
    AdaBoostClassifier,
    BrownBoostClassifier,
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
)
from splboost.datasets import flip_labels
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

BOOSTERS = {
    "ada": (AdaBoostClassifier, {}),
    "real": (RealAdaBoostClassifier, {}),
    "gentle": (GentleBoostClassifier, {}),
    "logit": (LogitBoostClassifier, {}),
    "logit, gradient": (LogitBoostClassifier, {"z_clip": "gradient"}),
    "savage": (SavageBoostClassifier, {}),
    "savage, searched": (SavageBoostClassifier, {"line_search": True}),
    "rboost, gentle": (RBoostClassifier, {}),
    "rboost, fisher": (RBoostClassifier, {"variant": "fisher"}),
    "rboost, mm": (RBoostClassifier, {"variant": "mm"}),
    "rboost, discrete": (RBoostClassifier, {"variant": "discrete"}),
    "robust": (RobustBoostClassifier, {"epsilon": 0.15}),
    "robust, two-sided": (
        RobustBoostClassifier,
        {"epsilon": 0.1, "variant": "two-sided"},
    ),
    "brown": (BrownBoostClassifier, {"epsilon": 0.25}),
    "l2": (L2BoostRegressor, {"learning_rate": 0.5, "warm_rounds": 3}),
}
POTENTIALS = ["robust", "robust, two-sided", "brown"]
PACED = [name for name in BOOSTERS if name not in POTENTIALS]
CLASSIFIERS = [name for name in BOOSTERS if name != "l2"]
SHARED = ["ada", "real"]  # have one learner for more than two classes
OF_CLASSIFIERS = [*SHARED, "savage", "savage, searched", "rboost, discrete"]
OF_CLASSIFIERS += POTENTIALS
LEARNERS = {
    "stumps": None,
    "trees": (CARTClassifier(max_depth=2), CARTRegressor(max_depth=2)),
    "features": (
        CARTClassifier(max_depth=2, max_features=2),
        CARTRegressor(max_depth=2, max_features=2),
    ),
    "c45": (C45Classifier(max_depth=2), None),
    "random": (
        DecisionTreeClassifier(max_depth=1, splitter="random", max_features=1),
        None,
    ),
    "foreign": (
        DecisionTreeClassifier(max_depth=2, splitter="random"),
        DecisionTreeRegressor(max_depth=2, splitter="random"),
    ),
}
ROUNDS = 10
LEARNED = (
    "estimator_weights_",
    "estimator_errors_",
    "n_selected_",
    "latent_objective_",
    "sample_pace_",
    "times_",
    "sample_potential_",
    "start_",
    "scale_",
    "validation_scores_",
    "classes_",
)


def is_allowed(name, n_classes, learner):
    """L2Boost has no classes, and C4.5 fits nothing else."""
    is_one = (name == "l2") == (n_classes == 0)
    return is_one and (learner != "c45" or name in OF_CLASSIFIERS)


def with_pairs(
    names=BOOSTERS, learners=("stumps", "trees", "c45", "foreign"), **options
):
    """Boosters, numbers of classes, learners and further options, by pairs of these."""

    def allowed(case):
        return is_allowed(case["name"], case["n_classes"], case["learner"])

    return parametrize_pairs(
        allowed, name=[*names], n_classes=[2, 3, 0], learner=[*learners], **options
    )


def with_each(names=BOOSTERS, learners=("stumps", "trees", "c45", "foreign")):
    """Each booster once, with numbers of classes and learners that take turns."""
    used, cases = Counter(), []
    for name in sorted(names, key=OF_CLASSIFIERS.__contains__, reverse=True):
        turns = [
            (n_classes, learner)
            for n_classes in (2, 3, 0)
            for learner in learners
            if is_allowed(name, n_classes, learner)
        ]
        turn = min(turns, key=lambda turn: (used[turn], used[turn[1]]))
        used.update([turn, turn[1]])
        cases.append((name, *turn))
    return pytest.mark.parametrize(("name", "n_classes", "learner"), cases)


def with_classes(names=BOOSTERS):
    """Each booster once, with two classes or three by turns."""
    numbers = {name: 2 + k % 2 for k, name in enumerate(names)} | {"l2": 0}
    return pytest.mark.parametrize(
        ("name", "n_classes"), [(name, numbers[name]) for name in names]
    )


def make(name, learner="stumps", **options):
    cls, own = BOOSTERS[name]
    estimator = LEARNERS[learner]
    if estimator is not None:
        estimator = estimator[0 if name in OF_CLASSIFIERS else 1]
    if name in POTENTIALS:
        options = {k: v for k, v in options.items() if k not in ("pace", "warm_rounds")}
    given = {"n_estimators": ROUNDS, "random_state": 3, **own, **options}
    return cls(estimator, **given)


def data(n_classes=2, n=140, seed=0):
    """Two of four columns tell the class or the number, which is often wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    score = X[:, 0] + X[:, 1]
    if not n_classes:
        y = score + 0.1 * rng.normal(size=n)
        y[rng.random(n) < 0.15] += 8
        return X, y
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, flip_labels(y, 0.15, random_state=seed)[0]


def data_for(name):
    return data(0 if name == "l2" else 2)


def coarse_data(n_classes):
    """So few values that weak learners soon have nothing left to learn."""
    X, y = data(n_classes)
    return X[:, :2].round(), y


def split_data(n_classes, n=140):
    X, y = data(n_classes, n + 70)
    return X[70:], y[70:], {"X_val": X[:70], "y_val": y[:70]}


def quiet_fit(model, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*args, **options)


def fit_in_parts(model, parts, *args, **options):
    model.set_params(warm_start=True)
    for n_estimators in parts:
        quiet_fit(model.set_params(n_estimators=n_estimators), *args, **options)
    return model


def scores(model, X):
    return model.predict(X) if is_regressor(model) else model.decision_function(X)


def assert_same(one, other, X, *, but=()):
    """Equal bit for bit in all that was learned and in all that is predicted."""
    np.testing.assert_array_equal(scores(one, X), scores(other, X))
    if hasattr(one, "predict_proba"):
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    for name in LEARNED:
        if name in but:
            continue
        assert hasattr(one, name) == hasattr(other, name), name
        if hasattr(one, name):
            ours, theirs = getattr(one, name), getattr(other, name)
            np.testing.assert_array_equal(ours, theirs, name)
    assert one.n_iter_ == other.n_iter_ == len(one.estimators_)
    if hasattr(one, "feature_importances_"):
        np.testing.assert_allclose(one.feature_importances_, other.feature_importances_)
