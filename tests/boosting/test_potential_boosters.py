"""RobustBoost and BrownBoost against the reference, and by their equations."""

import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import erfc
from sklearn.model_selection import GridSearchCV

from boosters import (
    POTENTIALS,
    assert_same,
    coarse_data,
    data,
    make,
    quiet_fit,
    split_data,
    with_pairs,
)
from reference import brown_boost, robust_boost, tree_learner
from splboost import BrownBoostClassifier, RobustBoostClassifier
from splboost.boosting.potentials import BrownPotential, PotentialState, PotentialStep
from splboost.trees import CARTClassifier

SETTINGS = {
    "one-sided": (RobustBoostClassifier, {"epsilon": 0.05}),
    "one-sided, wide": (RobustBoostClassifier, {"epsilon": 0.16, "sigma": 0.5}),
    "one-sided, with a goal": (RobustBoostClassifier, {"epsilon": 0.1, "theta": 0.3}),
    "two-sided": (
        RobustBoostClassifier,
        {"epsilon": 0.07, "variant": "two-sided"},
    ),
    "brown": (BrownBoostClassifier, {"epsilon": 0.1}),
}
every_setting = pytest.mark.parametrize("name", SETTINGS)
pytestmark = pytest.mark.filterwarnings("ignore:.*Boost.*epsilon:UserWarning")


def noisy_data(n_classes, seed, n=90):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    score = X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.searchsorted(cuts, score)
    flipped = rng.random(n) < 0.15
    y[flipped] = rng.integers(n_classes, size=flipped.sum())
    return X, y


def make_deep(name, depth=1, rounds=15, **options):
    cls, own = SETTINGS[name]
    tree = CARTClassifier(max_depth=depth)
    return cls(tree, n_estimators=rounds, **own, **options)


def run_reference(name, X, y, depth=1, rounds=15, **options):
    cls, own = SETTINGS[name]
    weak = tree_learner(max_depth=depth, n_classes=2)
    given = {"n_estimators": rounds, "weak": weak, **own, **options}
    if cls is BrownBoostClassifier:
        return brown_boost(X, y, **given)
    given["sigma_final"] = given.pop("sigma", 0.1)
    return robust_boost(X, y, **given)


@every_setting
@pytest.mark.parametrize(
    ("n_classes", "depth", "weighted"), [(2, 1, True), (2, 2, False), (3, 2, True)]
)
def test_equals_the_reference(name, n_classes, depth, weighted):
    """But for rounds near the end.

    In the one that reaches the goal the step is often arbitrary; before it potentials
    are narrow, and the reference looks for the lowest sum on a grid that is too coarse.
    """
    X, y = noisy_data(n_classes, seed=depth)
    weight = None
    if weighted:
        weight = np.random.default_rng(0).integers(1, 4, size=y.size).astype(float)
    booster = make_deep(name, depth, rounds=9).fit(X, y, weight)
    expected = run_reference(name, X, y, depth, rounds=9, sample_weight=weight)
    assert booster.n_iter_ == len(expected.F)
    stages = np.array(list(booster.staged_decision_function(X)))
    away = np.abs(stages - np.array(expected.F)).max(axis=1).reshape(len(stages), -1)
    early = booster.times_.reshape(len(stages), -1) < 0.9 * booster._potential().end
    if name.startswith("one-sided"):
        # Sums have dents there, and the equations several roots that are close.
        assert (away[early] < 1e-8).mean() > 0.7
        assert (away[:3][early[:3]] < 1e-8).all()
    else:
        assert (away[early] < 1e-8).all()
    assert early.sum() >= 3


@every_setting
def test_two_equations_hold_after_each_round(name):
    X, y = noisy_data(2, seed=4, n=150)
    weight = np.random.default_rng(1).exponential(size=y.size)
    booster = make_deep(name, 2, rounds=40).fit(X, y, weight)
    potential, size = booster._potential(), max(weight.sum(), y.size)
    sign = np.where(y == 1, 1.0, -1.0)
    learners = zip(
        booster.estimators_,
        booster.staged_decision_function(X),
        booster.times_,
        strict=True,
    )
    for n, (learner, F, time) in enumerate(learners):
        vote = np.where(learner.predict(X) == y, 1.0, -1.0)
        edge = weight * potential.weight(sign * F, time) @ vote
        total = weight @ potential.value(sign * F, time)
        if booster.estimator_weights_[n] > 0:  # else no step at all is best
            assert abs(edge) <= 1e-8 * size
        assert booster.latent_objective_[n] == pytest.approx(total, abs=1e-9 * size)
        if time < potential.end * (1 - 1e-9):
            assert total / weight.sum() == pytest.approx(booster.epsilon, abs=1e-8)
        else:
            assert total / weight.sum() <= booster.epsilon + 1e-8
    np.testing.assert_allclose(
        booster.sample_potential_, potential.value(sign * F, time), atol=1e-9
    )


@pytest.mark.parametrize("name", ["one-sided", "two-sided", "brown"])
def test_scores_are_the_steps_faded(name):
    X, y = noisy_data(2, seed=6)
    booster = make_deep(name, rounds=8).fit(X, y)
    potential = booster._potential()
    F, before = np.zeros(y.size), 0.0
    for learner, step, time, stage in zip(
        booster.estimators_,
        booster.estimator_weights_,
        booster.times_,
        booster.staged_decision_function(X),
        strict=True,
    ):
        F = F * potential.decay(time - before) + step * (2 * learner.predict(X) - 1)
        np.testing.assert_allclose(stage, F, atol=1e-12)
        before = time
    np.testing.assert_allclose(booster.decision_function(X), F, atol=1e-12)


@pytest.mark.parametrize("name", ["one-sided, with a goal", "brown"])
def test_each_class_has_a_time_of_its_own(name):
    X, y = noisy_data(3, seed=7)
    booster = make_deep(name, 2, rounds=10).fit(X, y)
    score = booster.decision_function(X)
    for k in range(3):
        alone = make_deep(name, 2, rounds=10).fit(X, y == k)
        n = alone.n_iter_
        np.testing.assert_allclose(booster.times_[:n, k], alone.times_, atol=1e-12)
        np.testing.assert_allclose(score[:, k], alone.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(booster.predict_proba(X).sum(axis=1), 1)


def test_weights_that_are_all_one_are_kept_as_an_array():
    """Kernels take several times as long for a number spread over all samples."""
    codes = np.arange(6, dtype=np.uint8) % 2
    spread = np.broadcast_to(1.0, codes.size)
    scores = PotentialState(BrownPotential(0.2), codes, 2, spread)
    assert scores.sample_weight.flags.c_contiguous


# -- time that runs out, or does not --------------------------------------------------


@with_pairs(POTENTIALS, ["stumps", "random"])
def test_what_has_ended_stays_as_it_is(name, n_classes, learner):
    """A second try may find a better learner, but a single fit would not have tried."""
    X, y = coarse_data(n_classes)
    for epsilon in (0.1, 0.45):
        model = make(name, learner, epsilon=epsilon, n_estimators=2500)
        quiet_fit(model.set_params(warm_start=True), X, y)
        assert model.stop_reason_ in ("stuck", "no edge", "goal reached")
        before = pickle.loads(pickle.dumps(model))
        quiet_fit(model.set_params(n_estimators=3000), X, y)
        assert_same(model, before, X)
        assert model.stop_reason_ == before.stop_reason_
        if model.stop_reason_ == "stuck":
            with pytest.warns(UserWarning, match=r"\(stuck\), and this one adds none"):
                model.fit(X, y)


@pytest.mark.parametrize("name", POTENTIALS)
def test_grid_search_over_goals(name):
    X, y = data(2)
    search = GridSearchCV(
        make(name), {"epsilon": [0.1, 0.3]}, error_score="raise", cv=2
    )
    assert quiet_fit(search, X, y).best_params_["epsilon"] in (0.1, 0.3)
    with pytest.raises(ValueError, match="Invalid parameter 'pace'"):
        make(name).set_params(pace__plateau=2.0)


@pytest.mark.parametrize("name", POTENTIALS)
def test_probabilities_against_the_clock(name):
    """Those of the class that has come least far, so that all are of one scale."""
    X, y = data(3)
    model = quiet_fit(make(name, n_estimators=20), X, y)
    assert np.ptp(model.times_[-1]) > 0
    width = model._potential().width(model.times_[-1].min())
    own = erfc(-model.decision_function(X) / width)
    expected = own / own.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


@pytest.mark.parametrize("name", POTENTIALS)
def test_nothing_of_an_earlier_fit_is_left(name):
    model = quiet_fit(make(name), *data(2))
    assert model.estimator_errors_.shape == (model.n_iter_,)
    quiet_fit(model, *data(3))
    assert not hasattr(model, "estimator_errors_")  # each round has several learners


@pytest.mark.parametrize("name", POTENTIALS)
def test_a_goal_that_is_no_effort(name):
    X, y = data(2)
    epsilon = 0.45 if name == "robust, two-sided" else 0.8
    model = make(name, epsilon=epsilon)
    with pytest.warns(UserWarning, match=r"epsilon=0.* in one round.*Lower epsilon"):
        model.fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("goal reached", 1)


@pytest.mark.parametrize("name", POTENTIALS)
def test_a_goal_that_is_out_of_reach(name):
    X, y = coarse_data(2)
    model = make(name, epsilon=0.1, n_estimators=2000)
    with pytest.warns(UserWarning, match=r"got stuck after .* of the time gone.*Raise"):
        model.fit(X, y)
    assert model.stop_reason_ == "stuck"
    assert model.times_[-1] < 0.9 * model._potential().end


@pytest.mark.parametrize("name", POTENTIALS)
def test_rounds_that_run_out(name):
    X, y = data(2)
    with pytest.warns(UserWarning, match=r"done its 3 rounds with .*n_estimators"):
        make(name, n_estimators=3).fit(X, y)


@pytest.mark.parametrize("name", POTENTIALS)
def test_an_early_stop_is_no_cause_for_a_warning(name):
    """The user wanted it, be it by a callback or by validation."""
    X, y, val = split_data(2)
    epsilon = 0.3 if name == "brown" else 0.2
    marks = iter([5] + [1] * 100)
    by_score = make(name, epsilon=epsilon, n_iter_no_change=90, n_estimators=90)
    by_score.set_params(scoring=lambda booster, X, y: next(marks))
    by_callback = make(name, callback=lambda progress: progress.round == 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_callback.fit(X, y)
        if name == "robust":
            by_score.fit(X, y, **val)
            assert (by_score.stop_reason_, by_score.n_iter_) == ("goal reached", 1)


@pytest.mark.parametrize("name", POTENTIALS)
def test_the_goal_is_reached_when_all_classes_have(name):
    X, y = coarse_data(3)
    epsilon = {"robust": 0.2, "robust, two-sided": 0.2, "brown": 0.4}[name]
    model = make(name, epsilon=epsilon, n_estimators=2500)
    with pytest.warns(UserWarning, match="got stuck"):
        model.fit(X, y)
    assert model.stop_reason_ == "stuck"
    gone = model.times_[-1] > 0.999 * model._potential().end
    assert gone.tolist() == [True, False, True]
    assert (np.diff(model.times_, axis=0) >= 0).all()
    assert [each is None for each in model.estimators_[-1]] == [True, False, True]


@pytest.mark.parametrize(
    ("endings", "reason"),
    [
        (["goal reached", "", "stuck"], None),
        (["goal reached", "goal reached"], "goal reached"),
        (["stuck", "goal reached"], "stuck"),
        (["goal reached", "no edge"], "no edge"),
    ],
)
def test_the_reason_is_that_of_the_class_that_failed(endings, reason):
    assert PotentialStep().ends_after(SimpleNamespace(endings=endings), []) == reason
