"""The rivals of AdaBoost against the naive reference, and by their properties."""

import numpy as np
import pytest

from helpers import parametrize_by_turns, parametrize_pairs
from reference import (
    age_from_plateau,
    gentle_boost,
    logit_boost,
    probability_learner,
    r_boost,
    real_boost,
    regression_learner,
    rival_score,
    savage_boost,
    tree_learner,
)
from splboost import (
    GentleBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    SavageBoostClassifier,
)
from splboost.pace import Hard, Linear, Polynomial
from splboost.trees import CARTClassifier, CARTRegressor

PACES = {
    "none": (None, None),
    "hard": (Hard, {}),
    "linear": (Linear, {}),
    "polynomial": (Polynomial, {"t": 1.5}),
}
BOOSTERS = {
    "real": (RealAdaBoostClassifier, real_boost, {}),
    "gentle": (GentleBoostClassifier, gentle_boost, {}),
    "logit": (LogitBoostClassifier, logit_boost, {}),
    "logit, gradient": (LogitBoostClassifier, logit_boost, {"z_clip": "gradient"}),
    "logit, 2": (LogitBoostClassifier, logit_boost, {"z_max": 2.0}),
    "logit, no limit": (LogitBoostClassifier, logit_boost, {"z_max": np.inf}),
    "savage": (SavageBoostClassifier, savage_boost, {}),
    "savage, searched": (SavageBoostClassifier, savage_boost, {"line_search": True}),
    "rboost, gentle": (RBoostClassifier, r_boost, {}),
    "rboost, fisher": (RBoostClassifier, r_boost, {"variant": "fisher"}),
    "rboost, mm": (RBoostClassifier, r_boost, {"variant": "mm"}),
    "rboost, discrete": (RBoostClassifier, r_boost, {"variant": "discrete"}),
}

# What an undecided sample's loss is, and what a pace that acts may be.
UNDECIDED = {
    "real": 1.0,
    "gentle": 1.0,
    "logit": np.log(2),
    "savage": 0.25,
    "rboost": 0.25,
}


def noisy_data(n_classes, seed, n=90, d=3):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    score = X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    y = np.searchsorted(
        np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), score
    )
    flipped = rng.random(n) < 0.15
    y[flipped] = rng.integers(n_classes, size=flipped.sum())
    y[:n_classes] = np.arange(n_classes)
    return X, y


def weak_learners(name, n_classes, depth):
    """The same weak learner twice: of the library, and of the reference."""
    if name == "rboost, discrete":
        return CARTClassifier(max_depth=depth), tree_learner(
            max_depth=depth, n_classes=2
        )
    if name == "real" or name.startswith("savage"):
        k = n_classes if name == "real" else 2
        return CARTClassifier(max_depth=depth), probability_learner(
            max_depth=depth, n_classes=k
        )
    return CARTRegressor(max_depth=depth), regression_learner(max_depth=depth)


def fit_both(name, X, y, pace="none", depth=1, rounds=12, weight=None, **options):
    cls, reference, own = BOOSTERS[name]
    k = int(y.max()) + 1
    estimator, weak = weak_learners(name, k, depth)
    make, shape = PACES[pace]
    given = {}
    if make is not None:
        loss_at_start = (
            np.log(k) if name.startswith("logit") else UNDECIDED[name.split(",")[0]]
        )
        age = age_from_plateau(pace, 2.0 * loss_at_start, **shape)
        options["pace"] = make(age=age, **shape)
        given = {"kind": pace, "age": age, "shape": shape}
    booster = cls(estimator, n_estimators=rounds, **own, **options)
    with np.errstate(all="raise", under="ignore"):
        booster.fit(X, y, weight)
    options.pop("pace", None)
    expected = reference(
        X,
        y,
        n_estimators=rounds,
        weak=weak,
        sample_weight=weight,
        **own,
        **given,
        **options,
    )
    return booster, expected


def assert_equal(booster, expected, X, seed=0):
    # The reference minimises by values, which are flat around the best step.
    discrete = getattr(booster, "variant", None) == "discrete"
    tolerance = 1e-6 if discrete else 1e-9
    assert booster.n_iter_ == len(expected.F)
    stages = list(booster.staged_decision_function(X))
    for ours, theirs in zip(stages, expected.F, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(
        booster.latent_objective_, expected.latent, rtol=10 * tolerance
    )
    np.testing.assert_allclose(
        booster.sample_pace_, expected.v[-1], atol=10 * tolerance
    )
    new = np.random.default_rng(seed).normal(size=(40, X.shape[1]))
    np.testing.assert_allclose(
        booster.decision_function(new), rival_score(expected, new), atol=10 * tolerance
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_pairs(
    # A kernel is compiled for each loss and pace; those of AdaBoost's have all paces.
    lambda case: case["pace"] != "polynomial" or case["name"] in ("real", "gentle"),
    name=list(BOOSTERS),
    pace=list(PACES),
    n_classes=[2, 3],
    depth=[1, 2],
)
def test_equals_the_reference(name, pace, n_classes, depth):
    X, y = noisy_data(n_classes, seed=depth)
    booster, expected = fit_both(name, X, y, pace, depth)
    assert_equal(booster, expected, X)
    if pace != "none" and depth == 1:
        assert (booster.sample_pace_ < 1).any()


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_by_turns(name=list(BOOSTERS), n_classes=[2, 3])
def test_equals_the_reference_with_weights_and_shrinkage(name, n_classes):
    X, y = noisy_data(n_classes, seed=7)
    weight = np.random.default_rng(0).integers(1, 4, size=y.size).astype(float)
    booster, expected = fit_both(
        name, X, y, "linear", 2, weight=weight, learning_rate=0.5, warm_rounds=2
    )
    assert_equal(booster, expected, X)


# ------------------------------------------------------------------------- properties


@pytest.mark.parametrize("z_clip", ["response", "gradient"])
def test_logit_boost_of_two_classes_is_that_of_two_columns(z_clip):
    """F_1 = -F_2 = F."""
    X, y = noisy_data(2, seed=3)
    booster = LogitBoostClassifier(
        CARTRegressor(max_depth=2), n_estimators=10, z_clip=z_clip
    ).fit(X, y)
    columns = logit_boost(
        X,
        y,
        n_estimators=10,
        z_clip=z_clip,
        weak=regression_learner(max_depth=2),
        two_columns=True,
    )
    for F, both in zip(booster.staged_decision_function(X), columns.F, strict=True):
        np.testing.assert_allclose(both[:, 1], F, atol=1e-9)
        np.testing.assert_allclose(both[:, 0], -F, atol=1e-9)


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_by_turns(name=list(BOOSTERS), n_classes=[2, 3])
def test_weights_never_overflow(name, n_classes):
    """Hundreds of rounds over classes that a tree divides, and one wrong label."""
    cls, _, own = BOOSTERS[name]
    X = np.arange(60.0)[:, None]
    y = (np.arange(60) * n_classes) // 60
    y[5] = n_classes - 1
    estimator, _ = weak_learners(name, n_classes, 2)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        booster = cls(estimator, n_estimators=400, **own).fit(X, y)
        score = booster.decision_function(X)
        p = booster.predict_proba(X)
    assert np.isfinite(score).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.isfinite(booster.latent_objective_).all()


@pytest.mark.parametrize("name", ["gentle", "savage", "rboost, gentle"])
def test_more_classes_are_each_set_against_the_rest(name):
    cls, _, own = BOOSTERS[name]
    X, y = noisy_data(4, seed=5)
    estimator, _ = weak_learners(name, 4, 2)
    booster = cls(estimator, n_estimators=8, **own).fit(X, y)
    for k, score in enumerate(booster.decision_function(X).T):
        alone = cls(estimator, n_estimators=8, **own).fit(X, y == k)
        np.testing.assert_allclose(alone.decision_function(X), score, atol=1e-11)


def test_mm_never_raises_the_loss():
    X, y = noisy_data(2, seed=11)
    for pace in (None, Linear(age=0.8)):
        booster = RBoostClassifier(
            CARTRegressor(max_depth=2), n_estimators=60, variant="mm", pace=pace
        ).fit(X, y)
        assert (np.diff(booster.latent_objective_[3:]) <= 1e-12).all()
        assert booster.latent_objective_[-1] < 0.9 * booster.latent_objective_[0]
