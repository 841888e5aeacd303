"""Boosters over C4.5 trees."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from helpers import CATEGORICAL, NAN, mixed_data
from reference import boost, boosted_score, fit_c45, predict_c45
from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.datasets import flip_labels, make_gaussians
from splboost.display import ShapeFunctionsDisplay
from splboost.pace import Hard, Linear
from splboost.trees import C45Classifier


def reference_learner(**options):
    """C4.5 as a weak learner of the naive booster."""

    def weak(X, y, D):
        node = fit_c45(X, y, D, **options)
        return lambda X_new: predict_c45(node, X_new)

    return weak


def noisy_gaussians(seed=0, rate=0.2):
    X, y = make_gaussians(random_state=seed)
    return X, flip_labels(y, rate, random_state=seed)[0]


@pytest.mark.parametrize(
    ("kind", "pace", "n_classes"),
    [("none", None, 3), ("hard", Hard(3.0), 2), ("linear", Linear(6.0), 3)],
)
def test_equals_the_reference(kind, pace, n_classes):
    X, y = mixed_data(150, n_classes)
    weight = np.random.default_rng(0).integers(1, 4, size=150).astype(float)
    options = {"max_depth": 2, "mdl": False}
    reference = boost(
        X,
        y,
        n_estimators=8,
        kind=kind,
        age=np.inf if pace is None else pace.age,
        sample_weight=weight,
        weak=reference_learner(n_classes=n_classes, categorical=CATEGORICAL, **options),
        n_classes=n_classes,
    )
    booster = AdaBoostClassifier(
        C45Classifier(**options),
        n_estimators=8,
        pace=pace,
        categorical_features=list(CATEGORICAL),
    ).fit(X, y, weight)
    assert booster.n_iter_ == len(reference.alphas) == 8
    np.testing.assert_allclose(booster.estimator_weights_, reference.alphas, rtol=1e-8)
    np.testing.assert_allclose(booster.estimator_errors_, reference.errors, rtol=1e-8)
    if n_classes == 2 or pace is not None:  # otherwise the sum of another loss
        np.testing.assert_allclose(
            booster.latent_objective_, reference.latent, rtol=1e-8
        )
    np.testing.assert_allclose(booster.sample_pace_, reference.v, atol=1e-8)
    X[::5] = NAN
    np.testing.assert_allclose(
        booster.decision_function(X), boosted_score(reference, X), rtol=1e-7, atol=1e-7
    )


@given(
    seed=st.integers(0, 1000),
    pace=st.sampled_from([Hard(2.0), Linear(4.0), Linear(8.0)]),
    depth=st.sampled_from([1, 2, 4]),
    pruning=st.booleans(),
    rate=st.sampled_from([0.3, 1.0]),
)
@settings(deadline=None, max_examples=25)
def test_latent_objective_never_rises(seed, pace, depth, pruning, rate):
    X, y = mixed_data(200, 2, seed=seed)
    booster = SPLBoostClassifier(
        C45Classifier(max_depth=depth, pruning=pruning),
        pace=pace,
        n_estimators=25,
        learning_rate=rate,
        categorical_features=list(CATEGORICAL),
        on_perfect="continue",
    ).fit(X, y)
    latent = booster.latent_objective_[booster.warm_rounds - 1 :]
    assert np.diff(latent).max(initial=0) <= 1e-9 * abs(latent[:1].sum())


def test_stalls_with_the_price_of_cuts_and_goes_on_without():
    """On 200 points no reweighted attribute can pay for its cut after a few rounds."""
    X, y = noisy_gaussians()
    rounds = {}
    for mdl in (True, "auto", False):
        with warnings.catch_warnings(action="ignore"):
            booster = AdaBoostClassifier(C45Classifier(mdl=mdl), n_estimators=60)
            booster.fit(X, y)
        rounds[mdl] = booster.n_iter_
        if mdl is True:
            assert booster.stop_reason_ == "no edge"
    assert rounds[True] < 20 < rounds["auto"]


def test_auto_is_shallow_where_it_goes_without_the_price():
    X, y = noisy_gaussians()
    booster = AdaBoostClassifier(C45Classifier(), n_estimators=30).fit(X, y)
    plain = AdaBoostClassifier(C45Classifier(mdl=True), n_estimators=30)
    with pytest.warns(UserWarning, match="no edge"):
        plain.fit(X, y)
    leaves = [tree.get_n_leaves() for tree in plain.estimators_]
    stalled = leaves.index(1)
    assert stalled > 0
    np.testing.assert_array_equal(
        booster.estimator_errors_[:stalled], plain.estimator_errors_[:stalled]
    )
    assert 1 <= booster.estimators_[stalled].get_depth() <= 3


def test_cases_are_those_that_the_pace_has_left():
    """Weights sum to the samples with v > 0, not to all: pruning depends on it."""
    X, y = noisy_gaussians(rate=0.3)
    booster = SPLBoostClassifier(
        C45Classifier(max_depth=2), pace=Hard(2.0), n_estimators=12
    ).fit(X, y)
    sums = [tree.tree_.nodes.value[0].sum() for tree in booster.estimators_]
    assert booster.n_selected_.min() < 200
    np.testing.assert_allclose(sums, booster.n_selected_, rtol=1e-9)


def test_a_tree_that_is_pruned_to_a_leaf_is_grown_once_more():
    X, y = noisy_gaussians(seed=3, rate=0.3)
    with warnings.catch_warnings(action="ignore"):
        paying = AdaBoostClassifier(C45Classifier(mdl=True), n_estimators=20).fit(X, y)
        auto = AdaBoostClassifier(C45Classifier(), n_estimators=20).fit(X, y)
    leaves = [tree.get_n_leaves() for tree in paying.estimators_]
    assert 1 in leaves[1:]
    after = [tree.get_n_leaves() for tree in auto.estimators_][leaves.index(1, 1)]
    assert after > 1


def test_first_tree_may_be_a_leaf_where_classes_are_unequal():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), (rng.random(200) < 0.3).astype(int)
    booster = AdaBoostClassifier(C45Classifier(), n_estimators=2).fit(X, y)
    assert booster.estimators_[0].get_n_leaves() == 1
    assert booster.estimators_[1].get_n_leaves() > 1


def test_estimators_are_fitted_trees():
    X, y = mixed_data(200, 3)
    booster = AdaBoostClassifier(
        C45Classifier(max_depth=3),
        n_estimators=6,
        categorical_features=list(CATEGORICAL),
    ).fit(X, y)
    votes = np.array([tree.predict(X) for tree in booster.estimators_])
    score = np.zeros((200, 3))
    for vote, weight in zip(votes, booster.estimator_weights_, strict=True):
        score += weight * np.where(np.arange(3) == vote[:, None], 1.0, -0.5)
    np.testing.assert_allclose(booster.decision_function(X), score, atol=1e-9)
    assert booster.feature_importances_.sum() == pytest.approx(1)


def test_scale_of_small_weights_does_not_matter():
    X, y = mixed_data(150, 2)
    booster = AdaBoostClassifier(C45Classifier(max_depth=3), n_estimators=10)
    one = clone(booster).fit(X, y).decision_function(X)
    other = clone(booster).fit(X, y, np.full(150, 1 / 150)).decision_function(X)
    np.testing.assert_allclose(one, other, atol=1e-8)


def test_robust_to_flips():
    """The paper's setting: C4.5 on two Gaussians, a fifth of the labels flipped."""
    paced, plain = [], []
    for seed in range(8):
        X, y = noisy_gaussians(seed)
        X_test, y_test = make_gaussians(random_state=100 + seed)
        tree = C45Classifier(max_depth=1)
        paced.append(
            SPLBoostClassifier(tree, n_estimators=50).fit(X, y).score(X_test, y_test)
        )
        plain.append(
            AdaBoostClassifier(tree, n_estimators=50).fit(X, y).score(X_test, y_test)
        )
    assert np.mean(paced) > np.mean(plain) + 0.01


def test_class_weight_belongs_to_the_booster():
    with pytest.raises(ValueError, match="give class_weight"):
        AdaBoostClassifier(C45Classifier(class_weight="balanced")).fit(
            [[0.0], [1.0]], [0, 1]
        )


def test_bad_parameters_of_the_learner():
    with pytest.raises(ValueError, match="confidence"):
        AdaBoostClassifier(C45Classifier(confidence=2)).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stumps_add_up_to_tables(n_classes):
    """One lookup table a feature says what the trees say, also of unknown values."""
    X, y = mixed_data(300, n_classes, seed=4)
    booster = SPLBoostClassifier(
        C45Classifier(max_depth=1, mdl=False),
        n_estimators=30,
        categorical_features=list(CATEGORICAL),
        on_perfect="continue",
    ).fit(X, y)
    features = booster._model.trees.nodes.feature
    assert {0, 1, 2} & set(features)
    assert set(CATEGORICAL) & set(features)
    assert booster._model.tables is not None
    X[::4, 1] = NAN
    X[1::4, 3] = 99  # a category that training did not see
    *_, walked = booster.staged_decision_function(X)
    np.testing.assert_allclose(booster.decision_function(X), walked, atol=1e-10)
    display = ShapeFunctionsDisplay.from_estimator(booster, X)
    assert len(display.functions) == len(set(features[features >= 0]))
