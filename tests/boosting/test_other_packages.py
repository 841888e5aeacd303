"""The boosters against those of other packages, written by others.

``data/independent.json`` holds the scores of Weka's LogitBoost, of the package
logitboost, of OpenCV's Boost and of SAMME.R in an older scikit-learn (``versions`` in
the file), on small data on which all grow our trees; benchmarks/independent.py makes
it. The gradient boosting of scikit-learn chooses its splits otherwise, but takes the
same steps in the leaves, so it is compared where both must grow the same trees.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from splboost import (
    GentleBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    RealAdaBoostClassifier,
)
from splboost.trees import CARTClassifier, CARTRegressor

PROBLEMS = json.loads(
    (Path(__file__).parents[1] / "data/independent.json").read_text()
)["problems"]
SINGLE = 1e-6  # OpenCV computes in single precision

# What each corresponds to, its settings, and how far they agree
PEERS = {
    "weka": (LogitBoostClassifier, {"z_clip": "gradient", "z_max": 3.0}, 1e-12),
    "logitboost": (LogitBoostClassifier, {}, 1e-12),
    "samme.r": (RealAdaBoostClassifier, {}, 1e-12),
    "opencv logit": (LogitBoostClassifier, {"z_max": 10.0}, SINGLE),
    "opencv gentle": (GentleBoostClassifier, {}, SINGLE),
    "opencv real": (RealAdaBoostClassifier, {}, SINGLE),
}


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(
    ("name", "n_classes"),
    [(name, 2) for name in PEERS]
    + [(name, 3) for name in ("weka", "logitboost", "samme.r")],
)
def test_equals_other_packages(name, n_classes, depth):
    booster, options, tolerance = PEERS[name]
    (problem,) = (
        each
        for each in PROBLEMS
        if name in each["scores"]
        and max(each["y"]) + 1 == n_classes
        and each["depth"] == depth
    )
    expected = np.array(problem["scores"][name])
    X = np.array(problem["X"])
    tree = CARTClassifier if booster is RealAdaBoostClassifier else CARTRegressor
    model = booster(tree(max_depth=depth), n_estimators=len(expected), **options)
    model.fit(X, problem["y"])
    scores = list(model.staged_decision_function(X[: expected.shape[1]]))
    np.testing.assert_allclose(scores, expected, rtol=tolerance, atol=tolerance)


def mixed_cells(n_classes, seed=0):
    """A few different rows, each with all classes, so that no tree can end pure."""
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(300, 2)).astype(float)
    weight = rng.exponential(size=(3, 3, n_classes)) + 0.2
    share = weight / weight.sum(axis=2, keepdims=True)
    rows = share[X[:, 0].astype(int), X[:, 1].astype(int)]
    y = (rows.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    return X, y


GRADIENT = {
    "gentle": ("exponential", GentleBoostClassifier, {}, 2),
    "logit": ("log_loss", LogitBoostClassifier, {"z_max": np.inf}, 2),
    "logit, 3 classes": ("log_loss", LogitBoostClassifier, {"z_max": np.inf}, 3),
}


def fit_gradient_boosting(name, X, y, max_depth, **options):
    """Scores after each round of gradient boosting and of ours, in our scale."""
    loss, booster, own, k = GRADIENT[name]
    theirs = GradientBoostingClassifier(
        loss=loss, init="zero", max_depth=max_depth, random_state=0, **options
    ).fit(X, y)
    scores = np.array(list(theirs.staged_decision_function(X)))
    if k == 2:
        scores = scores[:, :, 0] * (1.0 if loss == "exponential" else 0.5)
    else:  # theirs are not centred
        scores = scores - scores.mean(axis=2, keepdims=True)
    tree = CARTRegressor(max_depth=max_depth)
    ours = booster(tree, **own, **options).fit(X, y)
    return np.array(list(ours.staged_decision_function(X))), scores


@pytest.mark.parametrize("name", GRADIENT)
def test_takes_the_steps_of_gradient_boosting(name):
    """Trees that divide everything leave no choice of splits."""
    X, y = mixed_cells(GRADIENT[name][3])
    options = {"n_estimators": 30, "learning_rate": 0.1}
    ours, theirs = fit_gradient_boosting(name, X, y, None, **options)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    assert len(np.unique(ours[-1].round(9), axis=0)) == 9


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", GRADIENT)
def test_first_round_is_that_of_gradient_boosting(name, depth):
    """All weights are the same, and so must be the trees; later they need not."""
    k = GRADIENT[name][3]
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(400, 3)), 1)
    truth = X[:, 0] + 0.7 * X[:, 1] ** 2 + rng.normal(size=400)
    y = np.searchsorted(np.quantile(truth, np.arange(1, k) / k), truth)
    options = {"n_estimators": 1, "learning_rate": 1.0}
    ours, theirs = fit_gradient_boosting(name, X, y, depth, **options)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_l2boost_is_gradient_boosting_of_squares(depth, weighted):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(300, 4)), 1)
    y = X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.5 * rng.normal(size=300)
    weight = rng.uniform(0.5, 2.0, size=300) if weighted else None
    options = {"n_estimators": 50, "learning_rate": 0.3}
    theirs = GradientBoostingRegressor(max_depth=depth, random_state=0, **options)
    ours = L2BoostRegressor(CARTRegressor(max_depth=depth), **options)
    expected = list(theirs.fit(X, y, weight).staged_predict(X))
    predictions = list(ours.fit(X, y, weight).staged_predict(X))
    np.testing.assert_allclose(predictions, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_importances_of_l2boost_are_those_of_gradient_boosting(depth):
    """In leaves of some size, lest two features divide the same few rows alike."""
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(300, 4)), 1)
    y = 50 * (X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.5 * rng.normal(size=300))
    options = {"n_estimators": 50, "learning_rate": 0.3}
    size = {"max_depth": depth, "min_samples_leaf": 20}
    theirs = GradientBoostingRegressor(random_state=0, **size, **options).fit(X, y)
    ours = L2BoostRegressor(CARTRegressor(**size), **options).fit(X, y)
    assert len(set(ours.estimator_weights_)) > 1
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-8
    )
