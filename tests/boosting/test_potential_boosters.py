"""RobustBoost and BrownBoost against the reference, and by their equations."""

import numpy as np
import pytest

from reference import brown_boost, robust_boost, tree_learner
from splboost import BrownBoostClassifier, RobustBoostClassifier
from splboost.boosting.potentials import BrownPotential, PotentialState
from splboost.datasets import make_gaussians
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


def make(name, depth=1, rounds=15, **options):
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
    booster = make(name, depth).fit(X, y, weight)
    expected = run_reference(name, X, y, depth, sample_weight=weight)
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
    booster = make(name, 2, rounds=40).fit(X, y, weight)
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
    booster = make(name, rounds=8).fit(X, y)
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
    booster = make(name, 2, rounds=10).fit(X, y)
    score = booster.decision_function(X)
    for k in range(3):
        alone = make(name, 2, rounds=10).fit(X, y == k)
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


def test_a_goal_that_is_no_effort_is_warned_of():
    X, y = make_gaussians(random_state=0)
    with pytest.warns(UserWarning, match=r"epsilon=0\.9\).*one round.*Lower epsilon"):
        booster = RobustBoostClassifier(epsilon=0.9).fit(X, y)
    assert booster.n_iter_ == 1
    assert booster.stop_reason_ == "goal reached"


def test_a_goal_that_cannot_be_attained_is_warned_of():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = (np.arange(100) % 10 < np.where(X[:, 0] > 0, 7, 3)).astype(int)
    with pytest.warns(UserWarning, match="Raise epsilon"):
        booster = RobustBoostClassifier(epsilon=0.05, n_estimators=100).fit(X, y)
    assert booster.stop_reason_ in ("stuck", "no edge", "all rounds done")
    assert booster.times_[-1] < 0.9
