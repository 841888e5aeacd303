"""The comforts of fitting hold for every rival, and with every kind of weak learner."""

import pickle
import re
import warnings
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import erfc
from sklearn.base import clone, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from helpers import CATEGORICAL, mixed_data
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
    SPLBoostClassifier,
)
from splboost.boosting.potentials import (
    BrownPotential,
    PotentialState,
    PotentialStep,
)
from splboost.boosting.state import State
from splboost.boosting.working_sets import GENTLE
from splboost.datasets import flip_labels, make_gaussians
from splboost.pace import Hard, Linear
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

BOOSTERS = {
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
ONE_OF_EACH = ["real", "gentle", "rboost, discrete", "robust"]
OF_CLASSIFIERS = ["real", "savage", "savage, searched", "rboost, discrete", *POTENTIALS]
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


def combinations(names=BOOSTERS, learners=("stumps", "trees", "c45", "foreign")):
    """Every booster with two and three classes, and with every learner it can take.

    Foreign learners are slow; with three classes a booster of each kind has them.
    """
    return pytest.mark.parametrize(
        ("name", "n_classes", "learner"),
        [
            (name, k, learner)
            for name in names
            for k in ([0] if name == "l2" else [2, 3])
            for learner in learners
            if (learner != "c45" or name in OF_CLASSIFIERS)
            and (learner != "foreign" or k != 3 or name in ONE_OF_EACH)
        ],
    )


def each_with_classes(names=BOOSTERS):
    return pytest.mark.parametrize(
        ("name", "n_classes"),
        [(n, k) for n in names for k in ([0] if n == "l2" else [2, 3])],
    )


each = pytest.mark.parametrize("name", BOOSTERS)
each_paced = pytest.mark.parametrize("name", PACED)
each_classifier = pytest.mark.parametrize("name", CLASSIFIERS)


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
    np.testing.assert_allclose(one.feature_importances_, other.feature_importances_)


def learners_of(model):
    """The fitted weak learners, of all columns."""
    for each in model.estimators_:
        yield from each if isinstance(each, list) else [each]


class Fussy(DecisionTreeClassifier):
    """Refuses a single class, as many classifiers do."""

    sizes: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None):
        if np.unique(y).size < 2:
            raise ValueError("one class")
        Fussy.sizes.append(len(y))
        return super().fit(X, y, sample_weight)


# -- validation data ------------------------------------------------------------------


@combinations()
def test_scores_are_those_of_the_stages(name, n_classes, learner):
    X, y, val = split_data(n_classes)
    weight = np.random.default_rng(0).integers(0, 3, size=70).astype(float)
    model = make(name, learner, pace="linear")
    quiet_fit(model, X, y, **val, sample_weight_val=weight)
    staged = list(model.staged_score(val["X_val"], val["y_val"], weight))
    assert len(staged) == model.n_iter_ > 2
    np.testing.assert_allclose(model.validation_scores_, staged, rtol=1e-12)
    # Scorers of scikit-learn get the booster so far.
    by_name = "r2" if name == "l2" else "neg_log_loss"
    quiet_fit(model.set_params(scoring=by_name), X, y, **val)
    if name == "l2":
        expected = [
            r2_score(val["y_val"], p) for p in model.staged_predict(val["X_val"])
        ]
    else:
        shares = model.staged_predict_proba(val["X_val"])
        expected = [-log_loss(val["y_val"], p) for p in shares]
    np.testing.assert_allclose(model.validation_scores_, expected, rtol=1e-12)


def test_ties_are_level_in_scores_too():
    """The first of the classes wins, as in predictions, whatever the rounding."""
    codes, weight = np.zeros(3, dtype=np.uint8), np.ones(3)
    nearly = np.array([[1.0, 1.0, 1.0], [1 + 1e-14, 1.0, 1.0], [0.0, 0.0, 1 + 1e-14]])
    for state in (
        State(GENTLE, codes, 3, weight, [None] * 3),
        PotentialState(BrownPotential(0.2), codes, 3, weight),
    ):
        state.raw = nearly
        assert state.quality(weight) == 1


@each_with_classes()
@pytest.mark.parametrize("pace", [None, Linear(plateau=2.0)], ids=["plain", "paced"])
def test_loss_is_the_latent_objective(name, n_classes, pace):
    """On the data fitted to it is the very number that is minimised."""
    X, y = data(n_classes)
    if name in POTENTIALS:
        with pytest.raises(ValueError, match="keeps the average potential where it is"):
            make(name, scoring="loss").fit(X, y)
        return
    weight = np.random.default_rng(1).uniform(0.5, 2, size=y.size)
    both = {"X_val": X, "y_val": y, "sample_weight_val": weight}
    model = quiet_fit(make(name, pace=pace, scoring="loss"), X, y, weight, **both)
    losses = -model.validation_scores_ * weight.sum()
    if name == "l2":  # as they are, be there a pace or not
        expected = [0.5 * weight @ (y - p) ** 2 for p in model.staged_predict(X)]
    else:
        expected = model.latent_objective_
    np.testing.assert_allclose(losses, expected, rtol=1e-12)


@each_with_classes()
def test_a_scoring_of_ones_own_gets_the_booster_so_far(name, n_classes):
    X, y, val = split_data(n_classes)
    shorter = [
        quiet_fit(make(name, n_estimators=t, pace="hard", warm_rounds=2), X, y)
        for t in range(1, 6)
    ]
    seen = []

    def scoring(booster, X_val, y_val):
        expected = shorter[len(seen)]
        for rows in (X_val, X_val.copy(), X[:20]):  # known, and not known to be
            np.testing.assert_array_equal(booster.predict(rows), expected.predict(rows))
            if name != "l2":
                np.testing.assert_array_equal(
                    booster.predict_proba(rows), expected.predict_proba(rows)
                )
        assert booster.n_iter_ == len(seen) + 1
        seen.append(booster)
        return len(seen)

    model = make(name, n_estimators=5, pace="hard", warm_rounds=2, scoring=scoring)
    quiet_fit(model, X, y, **val)
    assert model.validation_scores_.tolist() == [1, 2, 3, 4, 5]


@combinations(learners=["stumps", "foreign"])
@pytest.mark.parametrize("best", [4, 7])
def test_the_best_round_is_kept(name, n_classes, learner, best):
    X, y, val = split_data(n_classes)
    marks = iter([1, 1, 2, *([0] * (best - 4)), 9, *([3] * 30)])
    model = make(name, learner, pace="linear", warm_rounds=2, n_estimators=40)
    model.set_params(n_iter_no_change=5, scoring=lambda booster, X, y: next(marks))
    quiet_fit(model, X, y, **val)
    assert (model.stop_reason_, model.n_iter_) == ("no improvement", best)
    assert len(model.validation_scores_) == best + 5
    shorter = make(name, learner, pace="linear", warm_rounds=2, n_estimators=best)
    assert_same(model, quiet_fit(shorter, X, y), X, but=["validation_scores_"])


@each_with_classes()
def test_rows_are_held_out(name, n_classes):
    X, y = data(n_classes, 200)
    options = {"n_estimators": 30, "n_iter_no_change": 4, "validation_fraction": 0.2}
    model = quiet_fit(make(name, pace="linear", warm_rounds=1, **options), X, y)
    known = "sample_potential_" if name in POTENTIALS else "sample_pace_"
    held = np.isnan(getattr(model, known))
    assert held.sum() == pytest.approx(40, abs=2)
    shorter = make(name, pace="linear", warm_rounds=1, n_estimators=model.n_iter_)
    weight = np.where(held, 0.0, 1.0)  # a row held out is a row of weight zero
    quiet_fit(shorter, X, y, weight)
    assert_same(model, shorter, X, but=["validation_scores_"])
    staged = list(model.staged_score(X[held], y[held]))
    np.testing.assert_allclose(model.validation_scores_[: model.n_iter_], staged)


# -- fitting on -----------------------------------------------------------------------


@combinations(learners=["features", "c45", "foreign"])
@pytest.mark.parametrize(
    "options",
    [
        {"pace": "hard"},
        {"subsample": 0.6, "warm_rounds": 5, "pace": "linear"},
        {"n_iter_no_change": 4, "scoring": "loss", "subsample": 0.8},
    ],
    ids=["pace", "subsample", "early stopping"],
)
def test_parts_are_a_single_fit(name, n_classes, learner, options):
    X, y = data(n_classes)
    if name in POTENTIALS and "scoring" in options:
        options = {**options, "scoring": "neg_log_loss"}
    single = quiet_fit(make(name, learner, n_estimators=12, **options), X, y)
    parts = fit_in_parts(make(name, learner, **options), (2, 11, 12), X, y)
    assert_same(parts, single, X)
    assert parts.stop_reason_ == single.stop_reason_


@each_with_classes()
def test_parts_are_a_single_fit_with_given_validation_data(name, n_classes):
    X, y, val = split_data(n_classes)
    options = {"pace": "hard", "n_iter_no_change": 6}
    for scoring in (None, "loss", "r2" if name == "l2" else "neg_log_loss"):
        if scoring == "loss" and name in POTENTIALS:
            continue
        options["scoring"] = scoring
        single = quiet_fit(make(name, n_estimators=15, **options), X, y, **val)
        parts = fit_in_parts(make(name, **options), (2, 9, 15), X, y, **val)
        assert_same(parts, single, X)


@combinations(learners=["stumps", "foreign"])
def test_fitting_on_from_a_pickle_and_after_a_callback(name, n_classes, learner):
    X, y = data(n_classes)
    options = {"pace": "linear", "subsample": 0.7, "n_estimators": 14}
    single = quiet_fit(make(name, learner, **options), X, y)
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.round == 6

    model = make(name, learner, warm_start=True, callback=callback, **options)
    quiet_fit(model, X, y)
    assert (model.stop_reason_, model.n_iter_) == ("callback", 6)
    for start in (model, seen[2].model):
        start.set_params(callback=None)
        start = pickle.loads(pickle.dumps(start))
        assert_same(quiet_fit(start, X, y), single, X)


def test_a_regression_goes_on_from_where_it_started():
    X, y = data(0)
    model = quiet_fit(make("l2", warm_start=True), X, y)
    before = model.start_
    quiet_fit(model.set_params(n_estimators=20), X, y + 1)
    assert model.start_ == before
    assert (y + 1 - model.predict(X)).mean() == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("learner", ["stumps", "random"])
@each_with_classes(POTENTIALS)
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


# -- callbacks and Ctrl-C -------------------------------------------------------------


@combinations(learners=["stumps", "foreign"])
def test_progress_and_the_model_so_far(name, n_classes, learner):
    """The same whether it is asked for at once or later."""
    X, y = data(n_classes)
    weight = np.random.default_rng(0).integers(0, 3, size=y.size)
    at_once, seen = {}, []

    def callback(progress):
        seen.append(progress)
        if progress.round in (2, 5):
            at_once[progress.round] = progress.model

    model = make(name, learner, pace="hard", callback=callback)
    quiet_fit(model, X, y, weight)
    assert [each.round for each in seen] == list(range(1, model.n_iter_ + 1))
    assert [each.n_selected for each in seen] == model.n_selected_.tolist()
    np.testing.assert_array_equal(
        [each.latent_objective for each in seen], model.latent_objective_
    )
    votes = name in POTENTIALS and n_classes == 2
    assert hasattr(model, "estimator_errors_") == votes
    errors = model.estimator_errors_.tolist() if votes else [None] * model.n_iter_
    assert [each.error for each in seen] == errors
    for t in (1, 2, 5, 8):
        shorter = make(name, learner, pace="hard", n_estimators=t)
        quiet_fit(shorter, X, y, weight)
        so_far = seen[t - 1].model
        assert so_far.stop_reason_ == "not finished"
        assert_same(so_far, shorter, X)
        if t in at_once:
            assert_same(at_once[t], shorter, X)


class Interrupted:
    """A callback that keeps the rounds done, or not; raises in a round if told to."""

    def __init__(self, keep, raise_in=None):
        self.keep, self.raise_in = keep, raise_in

    def __call__(self, progress):
        if progress.interrupted:
            return self.keep
        if progress.round == self.raise_in:
            raise KeyboardInterrupt
        return False


@combinations(learners=["stumps", "foreign"])
@pytest.mark.parametrize("when", ["between", "inside"])
def test_an_interrupt(monkeypatch, name, n_classes, learner, when):
    """Scores may have moved, but no half of a round is kept."""
    X, y = data(n_classes)
    options = {"pace": "hard", "subsample": 0.8, "warm_rounds": 4}
    callback = Interrupted(True, raise_in=5 if when == "between" else None)
    model = make(name, learner, callback=callback, warm_start=True, **options)
    follow, calls = State.follow, []

    def broken(self, weak, time=None):
        calls.append(time)
        follow(self, weak, time)
        if len(calls) == 6:  # the scores have moved, the round is not noted
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if when == "inside":
            patch.setattr(State, "follow", broken)
        quiet_fit(model, X, y)
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 5)
    # Until the fifth round is kept, some may have been passed over.
    shorter = make(name, learner, callback=lambda p: p.round == 5, **options)
    assert_same(model, quiet_fit(shorter, X, y), X)
    model.set_params(callback=None)
    assert_same(
        quiet_fit(model, X, y), quiet_fit(make(name, learner, **options), X, y), X
    )


@each
def test_an_interrupt_that_nobody_wants_and_a_callback_that_fails(name):
    X, y = data(0 if name == "l2" else 2)
    model = quiet_fit(make(name), X, y)
    before = dict(vars(model))

    def fail(progress):
        raise OSError("disk full")

    for callback, error in (
        (Interrupted(False, 3), KeyboardInterrupt),
        (fail, OSError),
    ):
        model.callback = before["callback"] = callback
        with pytest.raises(error):
            model.fit(X[:90], y[:90])
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is value for key, value in before.items())


def test_lines_of_verbose(capsys):
    X, y = data(0)
    quiet_fit(make("l2", pace="hard", warm_rounds=4, verbose=1), X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "round  1 of 10: 140 samples selected"  # no scale is known yet
    assert "latent objective" in lines[-1]
    X, y = data(3)
    quiet_fit(make("robust", verbose=1), X, y)
    lines = capsys.readouterr().err.splitlines()
    assert all("error" not in line and "nan" not in line for line in lines)


# -- stages, learners, importances ----------------------------------------------------


@combinations()
def test_stages_are_the_models_of_fewer_rounds(name, n_classes, learner):
    X, y = data(n_classes)
    new = X[:50] + 0.05
    model = quiet_fit(make(name, learner, pace="linear"), X, y)
    stages = list(model.staged_predict(new))
    assert len(stages) == model.n_iter_ > 2
    np.testing.assert_array_equal(stages[-1], model.predict(new))
    scored = list(model.staged_score(new, y[:50]))
    assert scored[-1] == pytest.approx(model.score(new, y[:50]))
    for t in (1, 3):
        shorter = quiet_fit(make(name, learner, pace="linear", n_estimators=t), X, y)
        np.testing.assert_array_equal(stages[t - 1], shorter.predict(new))
        assert scored[t - 1] == pytest.approx(shorter.score(new, y[:50]))
        if name != "l2":
            score = list(model.staged_decision_function(new))[t - 1]
            np.testing.assert_allclose(
                score, shorter.decision_function(new), rtol=1e-12
            )
            share = list(model.staged_predict_proba(new))[t - 1]
            np.testing.assert_allclose(share, shorter.predict_proba(new), rtol=1e-12)


@combinations()
def test_weak_learners(name, n_classes, learner):
    X, y = data(n_classes)
    model = quiet_fit(make(name, learner), X, y)
    assert len(model.estimators_) == model.n_iter_
    columns = n_classes == 3 and name != "real"
    for of_round in model.estimators_:
        assert isinstance(of_round, list) == columns
        if columns:
            assert len(of_round) == 3 and any(each is not None for each in of_round)
    for weak in learners_of(model):
        if weak is None:
            continue
        predicted = weak.predict(X)
        assert predicted.shape == y.shape
        if name in OF_CLASSIFIERS:
            labels = {False, True} if columns else set(range(n_classes))
            assert set(predicted.tolist()) <= labels
    shape = (model.n_iter_, 3) if columns else (model.n_iter_,)
    assert model.estimator_weights_.shape == shape
    assert model.n_selected_.shape == model.latent_objective_.shape == (model.n_iter_,)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", [*POTENTIALS, "rboost, discrete"])
@pytest.mark.parametrize("learner", ["stumps", "c45", "foreign"])
def test_votes_add_up_to_the_score(name, n_classes, learner):
    X, y = data(n_classes)
    model = quiet_fit(make(name, learner), X, y)
    score = np.zeros((y.size, 1 if n_classes == 2 else 3))
    times = np.zeros(score.shape[1])
    weights = model.estimator_weights_.reshape(model.n_iter_, -1)
    for t, of_round in enumerate(model.estimators_):
        if name in POTENTIALS:  # what was there fades
            now = np.atleast_1d(model.times_[t])
            if name != "brown":
                score *= np.exp(times - now)
            times = now
        for k, weak in enumerate(of_round if n_classes == 3 else [of_round]):
            if weak is not None:
                score[:, k] += weights[t, k] * np.where(weak.predict(X), 1, -1)
    expected = model.decision_function(X).reshape(score.shape)
    np.testing.assert_allclose(score, expected, atol=1e-9)


@pytest.mark.parametrize("name", ["gentle", "logit", "rboost, gentle", "l2"])
@pytest.mark.parametrize("learner", ["stumps", "foreign"])
def test_means_add_up_to_the_score(name, learner):
    X, y = data(0 if name == "l2" else 2)
    model = quiet_fit(make(name, learner, learning_rate=0.3), X, y)
    each = [weak.predict(X) for weak in model.estimators_]
    rate = 0.3 * (0.5 if name == "logit" else 1.0)  # LogitBoost takes half of it
    expected = rate * model.estimator_weights_ @ each + getattr(model, "start_", 0.0)
    np.testing.assert_allclose(scores(model, X), expected, atol=1e-9)


def test_shares_of_classes_that_a_draw_lacks():
    X, y = data(3)
    model = make("real", subsample=0.03).set_params(estimator=Fussy(max_depth=1))
    quiet_fit(model, X, y)
    assert min(len(weak.classes_) for weak in model.estimators_) == 2
    score = np.zeros((y.size, 3))
    for weak in model.estimators_:
        share = np.zeros((y.size, 3))
        share[:, weak.classes_] = weak.predict_proba(X)
        log_share = np.log(np.clip(share, 1 / y.size, 1 - 2 / y.size))
        score += 2 * (log_share - log_share.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(model.decision_function(X), score, atol=1e-9)


@combinations()
def test_importances(name, n_classes, learner):
    X, y = data(n_classes)
    importances = quiet_fit(make(name, learner), X, y).feature_importances_
    assert importances.shape == (4,)
    assert importances.sum() == pytest.approx(1)
    if learner == "stumps":
        assert importances[:2].sum() > 0.55  # the columns that tell


def test_importances_of_learners_without_any():
    X, y = data(2)
    model = RobustBoostClassifier(LogisticRegression(), epsilon=0.2, n_estimators=3)
    assert not hasattr(quiet_fit(model, X, y), "feature_importances_")


# -- draws ----------------------------------------------------------------------------


@combinations()
def test_learners_are_fitted_to_draws(name, n_classes, learner):
    X, y = data(n_classes)
    options = {"pace": "linear", "subsample": 0.5}
    model = quiet_fit(make(name, learner, **options), X, y)
    again = quiet_fit(make(name, learner, **options), X, y)
    assert_same(model, again, X)
    other = quiet_fit(make(name, learner, **options, random_state=4), X, y)
    assert (scores(model, X) != scores(other, X)).any()
    whole = quiet_fit(make(name, learner, pace="linear"), X, y)
    assert (scores(model, X) != scores(whole, X)).any()


@each_with_classes(OF_CLASSIFIERS)
def test_draws_that_no_learner_can_be_fitted_to(name, n_classes):
    """All samples stand in for those drawn."""
    X, y = data(n_classes)
    Fussy.sizes.clear()
    model = make(name, subsample=0.02).set_params(estimator=Fussy(max_depth=1))
    quiet_fit(model, X, y)
    # Of all samples those count whose weight is not negligible.
    assert max(Fussy.sizes) > 0.5 * y.size > 10 * min(Fussy.sizes)


# -- data -----------------------------------------------------------------------------


@combinations(learners=["stumps", "trees", "c45"])
@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"]
)
def test_missing_cells_and_categories(name, n_classes, learner, frame):
    X, y = mixed_data(150, n_classes)
    X_new, y_new = mixed_data(60, n_classes, seed=1)
    X_new[:5, 3] = 77.0  # a category that the model does not know
    tree = make(name, learner, pace="linear", categorical_features=CATEGORICAL)
    expected = quiet_fit(tree, X, y, X_val=X_new, y_val=y_new)
    staged = list(expected.staged_score(X_new, y_new))
    np.testing.assert_allclose(expected.validation_scores_, staged, rtol=1e-12)

    def as_frame(Z):
        columns = {name: Z[:, j] for j, name in enumerate("abc")}
        for j, name in enumerate("de", start=3):
            columns[name] = [None if v != v else f"g{int(v)}" for v in Z[:, j]]
        if frame is pd.DataFrame:
            return frame(columns).astype({"d": "category", "e": "category"})
        return frame(columns, nan_to_null=True).cast(
            {"d": pl.Categorical, "e": pl.Categorical}
        )

    model = quiet_fit(make(name, learner, pace="linear"), as_frame(X), y)
    np.testing.assert_array_equal(
        scores(model, as_frame(X_new)), scores(expected, X_new)
    )
    assert model.feature_names_in_.tolist() == list("abcde")


@each_with_classes()
def test_float32(name, n_classes):
    X, y = data(n_classes)
    X = X.astype(np.float32)
    model = quiet_fit(make(name, pace="linear"), X, y)
    other = quiet_fit(make(name, pace="linear"), X.astype(np.float64), y)
    assert_same(model, other, X)


@each_with_classes()
def test_threads_make_no_difference(eager_threads, name, n_classes):
    X, y = data(n_classes)
    for learner in ("stumps", "trees"):
        model = quiet_fit(make(name, learner, pace="linear"), X, y)
        other = quiet_fit(make(name, learner, pace="linear", n_jobs=2), X, y)
        assert_same(model, other, X)


@combinations(learners=["stumps", "trees", "c45"])
def test_weights_are_copies(name, n_classes, learner):
    X, y = data(n_classes)
    copies = np.random.default_rng(0).integers(0, 4, size=y.size)
    rows = np.repeat(np.arange(y.size), copies)
    model = make(name, learner, pace="linear", n_estimators=6)
    scored = scores(quiet_fit(model, X, y, copies), X)
    paces = getattr(model, "sample_potential_", getattr(model, "sample_pace_", None))
    np.testing.assert_array_equal(np.isnan(paces), copies == 0)
    latent = model.latent_objective_.copy()
    quiet_fit(model, X[rows], y[rows])
    np.testing.assert_allclose(scores(model, X), scored, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.latent_objective_, latent, rtol=1e-9)


@each_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_of_any_kind(name, n_classes):
    X, y = data(n_classes)
    names = np.array(["no", "perhaps", "yes"])
    model = quiet_fit(make(name, pace="linear"), X, y)
    named = quiet_fit(make(name, pace="linear"), X, names[y])
    np.testing.assert_array_equal(named.predict(X), names[model.predict(X)])
    assert named.classes_.tolist() == names[:n_classes].tolist()
    if name not in POTENTIALS:
        assert set(named.paces_) == set(names[:n_classes].tolist())


@each_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_balanced_classes(name, n_classes):
    X, y = data(n_classes)
    kept = (y > 0) | (np.arange(y.size) % 3 == 0)
    X, y = X[kept], y[kept]
    balanced = quiet_fit(make(name, pace="linear", class_weight="balanced"), X, y)
    weight = y.size / n_classes / np.bincount(y)
    weighed = quiet_fit(make(name, pace="linear"), X, y, weight[y])
    assert_same(balanced, weighed, X)
    plain = quiet_fit(make(name, pace="linear"), X, y)
    assert (scores(plain, X) != scores(balanced, X)).any()


# -- around scikit-learn --------------------------------------------------------------


@combinations()
def test_pickles_and_clones(name, n_classes, learner):
    X, y = data(n_classes)
    model = quiet_fit(make(name, learner, pace="linear"), X, y)
    assert_same(pickle.loads(pickle.dumps(model)), model, X)
    copy = clone(model)
    assert not hasattr(copy, "n_iter_")
    assert_same(quiet_fit(copy, X, y), model, X)


@each_paced
def test_grid_search_over_plateaus(name):
    X, y = data(0 if name == "l2" else 2)
    grid = {"pace__plateau": [2.0, np.inf], "pace": ["hard", Linear()]}
    search = GridSearchCV(make(name), grid, cv=2, error_score="raise", n_jobs=1)
    quiet_fit(search, X, y)
    assert search.best_estimator_.n_iter_ == ROUNDS
    assert len(search.cv_results_["params"]) == 4


@pytest.mark.parametrize("name", POTENTIALS)
def test_grid_search_over_goals(name):
    X, y = data(2)
    search = GridSearchCV(
        make(name), {"epsilon": [0.1, 0.3]}, error_score="raise", cv=2
    )
    assert quiet_fit(search, X, y).best_params_["epsilon"] in (0.1, 0.3)
    with pytest.raises(ValueError, match="Invalid parameter 'pace'"):
        make(name).set_params(pace__plateau=2.0)


@pytest.mark.parametrize(
    ("name", "n_classes"), [*((name, 2) for name in CLASSIFIERS), ("robust", 3)]
)
def test_calibration_on_top(name, n_classes):
    X, y = data(n_classes, 200)
    model = CalibratedClassifierCV(make(name), cv=2)
    share = quiet_fit(model, X, y).predict_proba(X)
    np.testing.assert_allclose(share.sum(axis=1), 1)
    assert accuracy_score(y, model.predict(X)) > 0.6


@combinations(CLASSIFIERS)
def test_probabilities(name, n_classes, learner):
    X, y = data(n_classes)
    model = quiet_fit(make(name, learner, pace="linear"), X, y)
    share = model.predict_proba(X)
    assert share.shape == (y.size, n_classes)
    assert (share >= 0).all()
    np.testing.assert_allclose(share.sum(axis=1), 1)
    # Where scores differ, so do probabilities, unless both are as good as 0 or 1.
    score = model.decision_function(X)
    if n_classes == 2:
        score = np.column_stack([-score, score])
    clear = np.sort(share, axis=1)
    clear = clear[:, -1] > clear[:, -2]
    assert clear.mean() > 0.8
    best = model.classes_[share.argmax(axis=1)]
    np.testing.assert_array_equal(best[clear], model.predict(X)[clear])
    np.testing.assert_array_equal(score.argmax(axis=1)[clear], model.predict(X)[clear])


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


@each
def test_names_of_attributes_are_listed(name):
    """As shells do to complete them."""
    assert "fit" in dir(make(name))


@each
def test_a_fit_that_fails_changes_nothing(name):
    X, y = data(0 if name == "l2" else 2)
    model = quiet_fit(make(name), X, y)
    before = dict(vars(model))
    for X_bad, y_bad in (
        (np.full_like(X, np.inf), y),
        (X[:, :2], y[:-1]),
        (X, np.array(["a"] * y.size)),
    ):
        with pytest.raises(ValueError):
            model.fit(X_bad, y_bad)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is value for key, value in before.items())


@pytest.mark.parametrize("name", POTENTIALS)
def test_nothing_of_an_earlier_fit_is_left(name):
    model = quiet_fit(make(name), *data(2))
    assert model.estimator_errors_.shape == (model.n_iter_,)
    quiet_fit(model, *data(3))
    assert not hasattr(model, "estimator_errors_")  # each round has several learners


def test_nothing_of_an_earlier_regression_is_left():
    X, y = data(0)
    model = quiet_fit(make("l2", pace="hard"), X, y)
    assert model.scale_ > 0
    assert not hasattr(quiet_fit(model.set_params(pace=None), X, y), "scale_")


# -- paces ----------------------------------------------------------------------------

NAMES = ["hard", "linear", "polynomial", "mixture", "logarithmic"]


@pytest.mark.parametrize("name", [name for name in PACED if name != "l2"])
@pytest.mark.parametrize("pace", NAMES)
def test_the_default_pace_acts_on_flipped_labels(name, pace):
    X, y = make_gaussians(200, random_state=0)
    noisy, _ = flip_labels(y, 0.15, random_state=0)
    flipped = noisy != y
    v = quiet_fit(make(name, pace=pace, n_estimators=25), X, noisy).sample_pace_
    doubted = v == 0 if pace == "hard" else v < 0.5
    assert doubted[flipped].mean() > 0.5
    assert doubted[~flipped].mean() < 0.05
    assert (v[flipped] < 1).mean() > 0.5


@each_with_classes(PACED)
@pytest.mark.parametrize("learner", ["stumps", "foreign"])
def test_an_infinite_plateau_is_no_pace(name, n_classes, learner):
    X, y = data(n_classes)
    plain = quiet_fit(make(name, learner), X, y)
    for pace in (Hard(plateau=np.inf), Linear(age=np.inf)):
        off = quiet_fit(make(name, learner, pace=pace), X, y)
        assert_same(off, plain, X)


@pytest.mark.parametrize("name", [name for name in PACED if name != "l2"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_paces_of_classes(name, n_classes):
    X, y = data(n_classes)
    pace = dict.fromkeys(range(1, n_classes), None) | {0: Hard(plateau=1.5)}
    model = quiet_fit(make(name, pace=pace), X, y)
    assert (model.sample_pace_[y > 0] == 1).all()
    assert (model.sample_pace_[y == 0] == 0).any()
    assert model.paces_[1] is None
    # A rare class is doubted less.
    rare = (y > 0) | (np.arange(y.size) % 4 == 0)
    X, y = X[rare], y[rare]
    model = make(name, pace=Linear(plateau=2.0, prior_corrected=True))
    quiet_fit(model, X, y)
    assert model.paces_[0].resolved_age > model.paces_[1].resolved_age
    same = quiet_fit(make(name, pace=model.paces_), X, y)  # in units of the loss
    if name == "real":
        assert_same(same, model, X)


@each_paced
def test_what_is_guaranteed_never_to_rise(name):
    """L2Boost with a pace, and RBoost by a majoriser, with a pace or without."""
    X, y = data(0 if name == "l2" else 2)
    if name == "rboost, mm":
        for pace in (None, "linear", "hard"):
            latent = quiet_fit(make(name, pace=pace, n_estimators=60), X, y)
            latent = latent.latent_objective_[3 if pace else 0 :]
            assert (np.diff(latent) <= 1e-12 * latent[0]).all()
    elif name == "l2":
        for pace in NAMES:
            model = make(name, pace=pace, n_estimators=60, warm_rounds=3)
            latent = quiet_fit(model, X, y).latent_objective_
            assert np.isnan(latent[:2]).all()
            assert (np.diff(latent[2:]) <= 1e-12 * latent[2]).all()
    else:
        latent = quiet_fit(make(name, pace="linear"), X, y).latent_objective_
        assert latent[-1] < latent[0]


# -- warnings -------------------------------------------------------------------------


@each_paced
def test_a_pace_that_no_round_has_felt_is_warned_of(name):
    X, y = data(0 if name == "l2" else 2)
    model = make(name, pace=Hard(plateau=3.0), n_estimators=3, warm_rounds=3)
    message = (
        r"pace=Hard\(plateau=3\.0\) has had no effect: all 3 rounds were among the "
        r"warm_rounds=3 .* Give fewer warm_rounds or a larger n_estimators"
    )
    with pytest.warns(UserWarning, match=message):
        model.fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"n_estimators": 4},
        {"warm_rounds": 2},
        {"pace": None},
        {"pace": Hard(plateau=np.inf)},
        {"n_iter_no_change": 5},
        {"warm_start": True},
        {"callback": lambda progress: True},
    ],
    ids=lambda options: str(list(options)),
)
def test_of_others_it_is_not(options):
    given = {"pace": Hard(plateau=3.0), "n_estimators": 3, "warm_rounds": 3, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make("gentle", **given).fit(*data())


def test_of_a_default_it_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SPLBoostClassifier(n_estimators=3).fit(*data())


# -- errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("logit", {"z_max": 1.0}, r"'z_max'.*\(1\.0, inf\].*Got 1\.0.*at least 1 in"),
        ("logit", {"z_max": np.nan}, "'z_max'.*Got nan.*at least 1 in size"),
        ("logit", {"z_max": "4"}, "'z_max'.*Got '4'.*working response"),
        ("rboost, fisher", {"z_max": 0.5}, "'z_max'.*Got 0.5.*working response"),
        ("logit", {"z_clip": "weight"}, "'z_clip'.*'gradient'.*Got 'weight'"),
        ("rboost, mm", {"variant": "newton"}, "'variant'.*'fisher'.*Got 'newton'"),
        ("savage", {"line_search": "yes"}, "'line_search'.*Got 'yes'"),
        ("gentle", {"learning_rate": 0.0}, r"\[1e-09, 1\.0\].*Got 0\.0.*full step"),
        ("gentle", {"learning_rate": 1.5}, "'learning_rate'.*Got 1.5.*overshoots"),
        ("l2", {"learning_rate": np.nan}, "'learning_rate'.*Got nan.*overshoots"),
        ("real", {"n_estimators": 0}, "'n_estimators'.*Got 0.*needs a learner"),
        ("real", {"subsample": 0.0}, r"'subsample'.*\(0\.0, 1\.0\].*Got 0.*share"),
        ("real", {"warm_rounds": -1}, "'warm_rounds'.*Got -1.*0 lets the pace"),
        ("real", {"tol": -1.0}, r"'tol'.*Got -1\.0.*0 takes any"),
        ("real", {"n_iter_no_change": 0}, "'n_iter_no_change'.*Got 0.*None does not"),
        ("real", {"validation_fraction": 1.0}, "'validation_fraction'.*left to fit"),
        ("robust", {"epsilon": 0.0}, r"'epsilon'.*\(0\.0, 1\.0\).*Got 0.*no end of"),
        ("robust", {"epsilon": 1.0}, "'epsilon'.*Got 1.0.*met before boosting begins"),
        ("brown", {"epsilon": 1.0}, "'epsilon'.*Got 1.0.*met before boosting begins"),
        ("brown", {"epsilon": np.nan}, "'epsilon'.*Got nan.*average potential"),
        (
            "robust, two-sided",
            {"epsilon": 0.6},
            r"epsilon=0\.6 .*theta=0.* two-sided form, below 0\.5: .*Lower epsilon",
        ),
        (
            "robust",
            {"epsilon": 0.6, "theta": -0.7},
            r"epsilon=0\.6 .*theta=-0\.7 .*one-sided form, below 0\.28.*raise theta",
        ),
        ("robust", {"theta": np.nan}, "theta=nan is no margin .*finite"),
        ("robust", {"theta": np.inf}, "theta=inf is no margin .*finite"),
        ("robust", {"theta": "0"}, "'theta'.*Got '0'.*margin that samples"),
        ("robust", {"sigma": 0.0}, r"'sigma'.*Got 0\.0.*width of the potential"),
        ("robust", {"sigma": np.inf}, "'sigma'.*Got inf.*width of the potential"),
        ("robust", {"sigma": 1e-9}, "sigma=1e-09 is no width .*from 1e-06 on"),
        ("robust", {"variant": "both"}, "'variant'.*'two-sided'.*Got 'both'"),
        ("gentle", {"pace": Hard(age=-1.0)}, r"Hard: age must be .* got age=-1\.0"),
        ("l2", {"pace": Hard(plateau=0.0)}, r"Hard: plateau must be .*plateau=0\.0"),
        ("l2", {"pace": Hard(prior_corrected=True)}, "a regression has none"),
    ],
)
def test_bad_parameters(name, options, message):
    X, y = data(0 if name == "l2" else 2)
    model = make(name).set_params(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "n_iter_")


def test_a_regression_has_no_classes():
    with pytest.raises(TypeError, match=r"pace=\{0: 'hard'\} is a dict by class"):
        L2BoostRegressor(pace={0: "hard"}).fit(*data(0))


@pytest.mark.parametrize(
    ("variant", "estimator", "fault"),
    [
        ("gentle", CARTClassifier(), "not a regressor, .* fits numbers"),
        ("discrete", CARTRegressor(), "not a classifier"),
    ],
)
def test_variants_say_which_learners_they_take(variant, estimator, fault):
    remedy = (
        "RBoostClassifier takes classifiers with variant='discrete' and regressors "
        "with variant='fisher' or 'gentle' or 'mm'"
    )
    with pytest.raises(TypeError, match=f"{fault}.* {remedy}"):
        RBoostClassifier(estimator, variant=variant).fit(*data())
    with pytest.raises(TypeError) as caught:
        RobustBoostClassifier(CARTRegressor()).fit(*data())
    assert "variant" not in str(caught.value)


@pytest.mark.parametrize("name", ["gentle", "real", "ada"])
@pytest.mark.parametrize("frames", [pd, pl])
def test_foreign_learners_that_cannot_read_categories(name, frames):
    X, y = data()
    colour = np.where(y, "red", "green").tolist()
    if frames is pd:
        frame = pd.DataFrame({"size": X[:, 0], "colour": pd.Categorical(colour)})
    else:
        texts = pl.Series(colour, dtype=pl.Categorical)
        frame = pl.DataFrame({"size": X[:, 0], "colour": texts})
    model = (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3)
        if name == "ada"
        else make(name, "foreign")
    )
    message = (
        r"estimator=DecisionTree\w+\(.*\) cannot read the categories of X in 'colour' "
        r"\(could not convert string to float: '(red|green)'\)\. Encode them, .* or "
        "boost a tree of splboost.trees"
    )
    with pytest.raises(ValueError, match=message):
        model.fit(frame, y)
    assert not hasattr(model, "n_iter_")
    quiet_fit(model, frame[["size"]], y)  # and what it can read is read


def test_learners_that_read_categories_are_blamed_for_their_own_faults():
    X, y = data()
    frame = pd.DataFrame(X).astype({0: "category"})
    frame.columns = frame.columns.astype(str)
    learner = HistGradientBoostingClassifier(max_iter=-3)
    with pytest.raises(ValueError, match=r"^The 'max_iter' parameter"):
        AdaBoostClassifier(learner).fit(frame, y)


def test_a_regression_tree_is_no_classifier():
    X, y = data()
    with pytest.raises(TypeError, match="is not a classifier"):
        AdaBoostClassifier(CARTRegressor()).fit(X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_constructors_without_a_pace():
    class OfHardPace(SPLBoostClassifier):
        def __init__(self, n_estimators=2):
            super().__init__(n_estimators=n_estimators, pace="hard")

    assert OfHardPace().fit(*data()).n_iter_ == 2


def test_an_error_is_not_its_own_cause():
    with pytest.raises(ValueError, match="infinity") as raised:
        AdaBoostClassifier().fit([[1.0, np.inf], [2.0, 3.0]], [0, 1])
    assert raised.value.__cause__ is not raised.value


def test_the_subsample_that_an_error_names_will_do():
    X, y = data()
    with pytest.raises(ValueError, match="give at least") as raised:
        AdaBoostClassifier(subsample=1e-4).fit(X, y)
    enough = float(re.search(r"at least (\S+)\.$", str(raised.value))[1])
    AdaBoostClassifier(subsample=enough, n_estimators=1).fit(X, y)


def test_log_probabilities():
    X, y = data()
    clf = AdaBoostClassifier(n_estimators=3).fit(X, y)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), clf.predict_proba(X))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_column_without_any_value(make):
    X, y = data()
    frame = make({"x": X[:, 0], "nothing": [None] * y.size})
    with_it = AdaBoostClassifier(n_estimators=5).fit(frame, y)
    without = AdaBoostClassifier(n_estimators=5).fit(X[:, :1], y)
    np.testing.assert_array_equal(with_it.predict(frame), without.predict(X[:, :1]))


def test_lists_with_categories():
    cells = [["a", 1.0], ["b", 2.0]] * 20
    clf = AdaBoostClassifier(n_estimators=2, categorical_features=[0])
    clf.fit(cells, [0, 1] * 20)
    assert clf.predict([["b", 1.5], ["a", 1.5]]).tolist() == [1, 0]


@pytest.mark.parametrize("pace", [2.0, Hard, ["hard"]])
def test_what_is_no_pace_is_told_what_is(pace):
    X, y = data()
    with pytest.raises((TypeError, ValueError), match="Hard"):
        AdaBoostClassifier(pace=pace).fit(X, y)


def test_other_faults_of_foreign_learners_are_their_own():
    X, y = data()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"^Input X contains NaN"):
        AdaBoostClassifier(LogisticRegression()).fit(X, y)


@pytest.mark.parametrize(
    "cells", [np.array([[1.0, "red"], [2.0, "7"]] * 20, dtype=object), None]
)
@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier()])
def test_texts_among_numbers_are_named(cells, learner):
    if cells is None:
        cells = [["1.5", "red"], ["2", "7"]] * 20
    message = (
        "Column 1 of X holds 'red', which is no number; encode it, or use trees of "
        "splboost.trees and list the column in categorical_features"
    )
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(learner).fit(cells, [0, 1] * 20)


class LostTree(DecisionTreeClassifier):
    """Has no answer for rows far away."""

    def predict(self, X):
        return np.where(X[:, 0] > 99, np.nan, super().predict(X))

    def predict_proba(self, X):
        return np.where(X[:, :1] > 99, np.nan, super().predict_proba(X))


class LostRegressor(DecisionTreeRegressor):
    def predict(self, X):
        return np.where(X[:, 0] > 99, np.inf, super().predict(X))


@pytest.mark.parametrize("name", BOOSTERS)
def test_learners_that_answer_with_no_number_are_named(name):
    X, y = data(0 if name == "l2" else 2)
    lost = LostTree if name in OF_CLASSIFIERS else LostRegressor
    model = make(name).set_params(estimator=lost(max_depth=1), n_estimators=3)
    model.fit(X, y)
    X[3, 0] = 100.0
    message = rf"{lost.__name__} answers predict.* with .*(nan|inf).*choose another"
    with pytest.raises(ValueError, match=message):
        model.predict(X)
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, y)


def test_constant_columns_that_a_learner_cannot_take():
    message = r"GaussianNB answers predict_proba with \[nan, nan\].*constant columns"
    with pytest.raises(ValueError, match=message):
        RealAdaBoostClassifier(GaussianNB()).fit(np.ones((20, 1)), [0, 1] * 10)


ANSWERS = {
    "negative": (lambda p: 3 * p - 1, r"\[.*-.*\] for row"),
    "of no sum 1": (lambda p: p + 1, r"\[.*\] for row 0, and in 39 more rows"),
    "of one class": (lambda p: p[:, :1], r"shape \(40, 1\) for 40 rows.* of 2 classes"),
    "of fewer rows": (lambda p: p[1:], r"shape \(39, 2\) for 40 rows"),
    "texts": (lambda p: p.astype(str) + "x", "an object of type ndarray"),
}


@pytest.mark.parametrize(("change", "said"), ANSWERS.values(), ids=ANSWERS)
def test_answers_that_are_no_probabilities(change, said):
    class OddTree(DecisionTreeClassifier):
        def predict_proba(self, X):
            return change(super().predict_proba(X))

    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    with pytest.raises(ValueError, match=f"OddTree answers predict_proba with.*{said}"):
        RealAdaBoostClassifier(OddTree(max_depth=2)).fit(X, y)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda labels: labels + 5, r"5, and not with labels of \[0, 1\]"),
        (lambda labels: labels.astype(str), "'0', and not with labels of"),
        (lambda labels: labels[1:], r"shape \(39,\) for 40 rows"),
    ],
)
def test_answers_that_are_no_labels(change, said):
    class OddTree(DecisionTreeClassifier):
        def predict(self, X):
            return change(super().predict(X))

    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    with pytest.raises(ValueError, match=f"OddTree answers predict with.*{said}"):
        AdaBoostClassifier(OddTree(max_depth=2)).fit(X, y)


@pytest.mark.parametrize("name", BOOSTERS)
def test_learners_that_will_not_do(name):
    X, y = data(0 if name == "l2" else 2)
    wrong = CARTRegressor() if name in OF_CLASSIFIERS else CARTClassifier()
    kind = "classifier" if name in OF_CLASSIFIERS else "regressor"
    with pytest.raises(TypeError, match=rf"estimator=CART.*is not a {kind}.*give"):
        make(name).set_params(estimator=wrong).fit(X, y)


# -- time that runs out, or does not --------------------------------------------------


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


def test_categories_that_a_learner_cannot_read_are_named_at_predict():
    """A column that is missing all through the fit is a number to scikit-learn."""
    missing = pl.Series([None] * 4, dtype=pl.Categorical)
    X = pl.DataFrame({"a": [1.0, 2, 3, 4], "colour": missing})
    new = X.with_columns(pl.Series("colour", ["red"] * 4, dtype=pl.Categorical))
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=2)
    model.fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="cannot read the categories of X in 'colour'"):
        model.predict(new)
