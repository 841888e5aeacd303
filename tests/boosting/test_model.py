"""What the models of boosters of values keep: each round as it was fitted, no more."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import is_regressor
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

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
from splboost.datasets import flip_labels, make_gaussians
from splboost.display import ShapeFunctionsDisplay
from splboost.losses import Savage2
from splboost.trees import C45Classifier


@pytest.fixture(scope="module")
def noisy():
    X, y = make_gaussians(150, random_state=0)
    return X, flip_labels(y, 0.1, random_state=0)[0]


@pytest.fixture(scope="module")
def three_classes():
    return make_classification(
        2000, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=0
    )


@pytest.mark.parametrize(
    ("booster", "estimator"),
    [
        (GentleBoostClassifier, None),
        (GentleBoostClassifier, DecisionTreeRegressor(max_depth=1)),
        (RealAdaBoostClassifier, DecisionTreeClassifier(max_depth=1)),
        (RealAdaBoostClassifier, C45Classifier(max_depth=2)),
    ],
)
def test_a_new_learning_rate_leaves_earlier_rounds_as_they_were(
    booster, estimator, noisy
):
    X, y = noisy
    clf = booster(estimator, n_estimators=3, warm_start=True, random_state=0)
    before = clf.fit(X, y).decision_function(X)
    clf.set_params(n_estimators=4, learning_rate=0.1).fit(X, y)
    stages = list(clf.staged_decision_function(X))
    np.testing.assert_array_equal(stages[2], before)
    assert not np.array_equal(stages[3], before)


@pytest.mark.parametrize(
    "estimator", [None, C45Classifier(max_depth=2), DecisionTreeClassifier(max_depth=2)]
)
def test_discrete_steps_are_shrunk_in_the_model_too(estimator, noisy):
    X, y = noisy
    clf = RBoostClassifier(
        estimator, variant="discrete", n_estimators=4, learning_rate=0.25
    ).fit(X, y)
    margin = np.where(y == clf.classes_[1], 1, -1) * clf.decision_function(X)
    total = Savage2().value(margin).sum()
    assert total == pytest.approx(clf.latent_objective_[-1])


@pytest.mark.parametrize("variant", ["gentle", "fisher", "mm", "discrete"])
def test_rboost_does_not_depend_on_the_scale_of_weights(variant, noisy):
    X, y = noisy
    clf = RBoostClassifier(variant=variant, n_estimators=5)
    score = clf.fit(X, y).decision_function(X)
    light = clf.fit(X, y, np.full(y.size, 2.0**-30))
    assert light.n_iter_ == 5
    np.testing.assert_allclose(light.decision_function(X), score, atol=1e-9)


def test_logitboost_converges_as_late_with_light_weights(noisy):
    X, y = noisy
    clf = LogitBoostClassifier(n_estimators=60, learning_rate=0.01)
    assert clf.fit(X, y, np.full(y.size, 2.0**-40)).n_iter_ == 60


@pytest.mark.parametrize(
    "booster",
    [GentleBoostClassifier(), RealAdaBoostClassifier(C45Classifier(max_depth=1))],
)
def test_rounds_do_not_keep_what_became_of_samples(booster, three_classes):
    X, y = three_classes
    booster.set_params(n_estimators=2).fit(X, y)  # compiles

    def peak(n_estimators):
        tracemalloc.start()
        booster.set_params(n_estimators=n_estimators).fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    per_round = (peak(60) - peak(10)) / 50
    assert per_round < 4 * y.size  # bytes: less than a leaf number for each sample


@pytest.mark.parametrize("booster", [RealAdaBoostClassifier, SavageBoostClassifier])
def test_two_samples_can_be_told_apart(booster):
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    assert booster(n_estimators=3).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("booster", [LogitBoostClassifier, RBoostClassifier])
def test_a_stopgap_has_a_weight_for_each_class(booster):
    X, y = np.zeros((60, 2)), np.repeat([0, 1, 2], 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = booster(n_estimators=5).fit(X, y)
    assert clf.estimator_weights_.shape == (clf.n_iter_, 3)


def test_importances_weigh_the_learners_of_a_class_by_its_own_steps(three_classes):
    X, y = three_classes
    stump = DecisionTreeClassifier(max_depth=1)
    clf = BrownBoostClassifier(stump, epsilon=0.5, n_estimators=15).fit(X, y)
    expected = np.mean(
        [
            np.average(
                [each[k].feature_importances_ for each in clf.estimators_ if each[k]],
                axis=0,
                weights=[
                    weight[k]
                    for weight, each in zip(
                        clf.estimator_weights_, clf.estimators_, strict=True
                    )
                    if each[k]
                ],
            )
            for k in range(3)
        ],
        axis=0,
    )
    np.testing.assert_allclose(clf.feature_importances_, expected)


@pytest.mark.parametrize("size", [1e-200, 1e160])
def test_targets_whose_squares_are_lost_are_refused(size):
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match=r"scale y to between 1e-140 and 1e\+140"):
        L2BoostRegressor(n_estimators=2).fit(X, size * X[:, 0])


def test_a_booster_without_a_pace_has_no_parameters_of_one():
    with pytest.raises(ValueError, match="Invalid parameter 'pace'"):
        RobustBoostClassifier().set_params(pace__plateau=2.0)


def test_shape_functions_of_each_class_against_the_rest_are_refused():
    X, y = make_gaussians(random_state=0)
    y = np.digitize(X[:, 0], [-0.3, 0.6])
    booster = GentleBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match="a model of its own for each of the classes"):
        ShapeFunctionsDisplay.from_estimator(booster, X)


def test_learners_that_add_nothing_any_more_are_no_failure():
    X, _ = make_gaussians(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        booster = RBoostClassifier().fit(X, X[:, 0] > 0)
    assert booster.stop_reason_ == "converged"


def test_one_target_beyond_all_measure_is_dropped():
    Z = np.random.default_rng(0).normal(size=(300, 5))
    y = np.append(Z[:-1, 0], 1e30)
    booster = L2BoostRegressor(pace="hard", warm_rounds=0).fit(Z, y)
    assert booster.sample_pace_[-1] == 0
    assert booster.score(Z[:-1], Z[:-1, 0]) > 0.95


def test_parameters_set_later_do_not_move_a_fitted_potential():
    X, y = make_gaussians(random_state=0)
    booster = RobustBoostClassifier(epsilon=0.05, n_estimators=5, warm_start=True)
    with pytest.warns(UserWarning, match="Raise epsilon"):
        booster.fit(X, y)
    before = booster.predict_proba(X)
    booster.set_params(epsilon=0.3)
    np.testing.assert_array_equal(booster.predict_proba(X), before)
    with pytest.raises(ValueError, match=r"epsilon=0\.3, but in the fit before"):
        booster.set_params(n_estimators=8).fit(X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("booster", "change"),
    [
        (LogitBoostClassifier(), {"z_max": 2.0}),
        (LogitBoostClassifier(), {"z_clip": "gradient"}),
        (LogitBoostClassifier(), {"pace": "hard"}),
        (LogitBoostClassifier(pace="hard"), {"pace": None}),
        (LogitBoostClassifier(pace="hard"), {"warm_rounds": 7}),
        (RBoostClassifier(), {"variant": "fisher"}),
        (SavageBoostClassifier(), {"line_search": True}),
        (GentleBoostClassifier(), {"subsample": 0.5}),
        (GentleBoostClassifier(), {"estimator__max_depth": 2}),
        (L2BoostRegressor(pace="linear", warm_rounds=2), {"pace": "hard"}),
        (BrownBoostClassifier(epsilon=0.2), {"subsample": 0.5}),
    ],
    ids=str,
)
def test_what_may_change_between_fits_holds_for_rounds_to_come(booster, change, noisy):
    X, y = noisy
    booster.set_params(n_estimators=5, warm_start=True).fit(X, y)
    unchanged = pickle.loads(pickle.dumps(booster)).set_params(n_estimators=9).fit(X, y)
    booster.set_params(n_estimators=9, **change).fit(X, y)
    ours, theirs = (
        list(
            each.staged_predict(X)
            if is_regressor(each)
            else each.staged_decision_function(X)
        )
        for each in (booster, unchanged)
    )
    np.testing.assert_array_equal(ours[:5], theirs[:5])
    assert not np.array_equal(ours[-1], theirs[-1])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("booster", "change", "message"),
    [
        (RobustBoostClassifier(), {"theta": 0.2}, r"theta=0\.2, but .* was 0\.0"),
        (RobustBoostClassifier(), {"sigma": 0.2}, r"sigma=0\.2, but .* was 0\.1"),
        (RobustBoostClassifier(), {"variant": "two-sided"}, "was 'one-sided'"),
        (BrownBoostClassifier(), {"epsilon": 0.2}, r"epsilon=0\.2, but .* was 0\.1"),
        (L2BoostRegressor(), {"pace": "hard"}, "pace='given', but .* was None"),
        (L2BoostRegressor(pace="hard"), {"pace": None}, "pace=None, but .* 'given'"),
        (RBoostClassifier(), {"variant": "discrete"}, "estimator is a CARTClassifier"),
        (
            GentleBoostClassifier(n_iter_no_change=5),
            {"validation_fraction": 0.3},
            r"validation_fraction=0\.3, but .* was 0\.1, on which all rounds depend",
        ),
        (GentleBoostClassifier(n_iter_no_change=5), {"scoring": "loss"}, "scoring="),
        (GentleBoostClassifier(), {"n_iter_no_change": 5}, "data are held out"),
    ],
    ids=str,
)
def test_what_must_not_change_between_fits_is_refused(booster, change, message, noisy):
    X, y = noisy
    booster.set_params(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    booster.set_params(n_estimators=9, **change)
    with pytest.raises(ValueError, match=message):
        booster.fit(X, y)
    assert booster.n_iter_ <= 5


@pytest.mark.parametrize("booster", [AdaBoostClassifier, RealAdaBoostClassifier])
def test_both_adaboosts_have_scores_of_one_scale(booster, three_classes):
    X, y = three_classes
    clf = booster(n_estimators=10).fit(X, y)
    share = softmax(clf.decision_function(X) / 2, axis=1)
    np.testing.assert_allclose(clf.predict_proba(X), share, rtol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), share.argmax(axis=1))
