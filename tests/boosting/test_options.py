"""What every booster can do, with every kind of weak learner."""

import functools
import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from boosters import (
    BOOSTERS,
    CLASSIFIERS,
    OF_CLASSIFIERS,
    PACED,
    POTENTIALS,
    ROUNDS,
    SHARED,
    assert_same,
    data,
    data_for,
    fit_in_parts,
    make,
    quiet_fit,
    scores,
    split_data,
    with_classes,
    with_each,
    with_pairs,
)
from helpers import CATEGORICAL, mixed_data
from splboost import (
    RobustBoostClassifier,
)
from splboost.boosting.adaboost import GENTLE
from splboost.boosting.potentials import (
    BrownPotential,
    PotentialState,
)
from splboost.boosting.state import State
from splboost.datasets import flip_labels, make_gaussians
from splboost.pace import Hard, Linear

each = pytest.mark.parametrize("name", BOOSTERS)
each_paced = pytest.mark.parametrize("name", PACED)


@functools.cache
def fitted(name, n_classes, learner):
    """A model that several tests look at, and none changes."""
    return quiet_fit(make(name, learner, pace="linear"), *data(n_classes))


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


@with_each()
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
        state.score = nearly
        assert state.quality(weight) == 1


@with_classes()
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


@with_classes()
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


@with_pairs(learners=["stumps", "foreign"], best=[4, 7])
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


@with_classes()
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


PARTS = {
    "pace": {"pace": "hard"},
    "subsample": {"subsample": 0.6, "warm_rounds": 5, "pace": "linear"},
    "early stopping": {"n_iter_no_change": 4, "scoring": "loss", "subsample": 0.8},
}


@with_pairs(learners=["features", "c45", "foreign"], options=list(PARTS))
def test_parts_are_a_single_fit(name, n_classes, learner, options):
    X, y = data(n_classes)
    options = PARTS[options]
    if name in POTENTIALS and "scoring" in options:
        options = {**options, "scoring": "neg_log_loss"}
    single = quiet_fit(make(name, learner, n_estimators=12, **options), X, y)
    parts = fit_in_parts(make(name, learner, **options), (2, 11, 12), X, y)
    assert_same(parts, single, X)
    assert parts.stop_reason_ == single.stop_reason_


@with_classes()
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


@with_each(learners=["stumps", "foreign"])
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


# -- callbacks and Ctrl-C -------------------------------------------------------------


@with_each(learners=["stumps", "foreign"])
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
    votes = name == "ada" or (name in POTENTIALS and n_classes == 2)
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


@with_pairs(learners=["stumps", "foreign"], when=["between", "inside"])
def test_an_interrupt(monkeypatch, name, n_classes, learner, when):
    """Scores may have moved, but no half of a round is kept."""
    X, y = data(n_classes)
    options = {"pace": "hard", "subsample": 0.8, "warm_rounds": 4}
    callback = Interrupted(True, raise_in=5 if when == "between" else None)
    model = make(name, learner, callback=callback, warm_start=True, **options)
    follow, calls = State.follow, []

    def broken(self, new):
        calls.append(new)
        follow(self, new)
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
    X, y = data_for(name)
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


@with_pairs()
def test_stages_are_the_models_of_fewer_rounds(name, n_classes, learner):
    X, y = data(n_classes)
    new = X[:50] + 0.05
    model = fitted(name, n_classes, learner)
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


@with_each()
def test_weak_learners(name, n_classes, learner):
    X, y = data(n_classes)
    model = fitted(name, n_classes, learner)
    assert len(model.estimators_) == model.n_iter_
    columns = n_classes == 3 and name not in SHARED
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


@with_pairs([*POTENTIALS, "rboost, discrete"], ["stumps", "c45", "foreign"])
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
    X, y = data_for(name)
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


@with_each()
def test_importances(name, n_classes, learner):
    importances = fitted(name, n_classes, learner).feature_importances_
    assert importances.shape == (4,)
    assert importances.sum() == pytest.approx(1)
    if learner == "stumps":
        assert importances[:2].sum() > 0.55  # the columns that tell


def test_importances_of_learners_without_any():
    X, y = data(2)
    model = RobustBoostClassifier(LogisticRegression(), epsilon=0.2, n_estimators=3)
    assert not hasattr(quiet_fit(model, X, y), "feature_importances_")


# -- draws ----------------------------------------------------------------------------


@with_each()
def test_learners_are_fitted_to_draws(name, n_classes, learner):
    X, y = data(n_classes)
    options = {"pace": "linear", "subsample": 0.5}
    model = quiet_fit(make(name, learner, **options), X, y)
    again = quiet_fit(make(name, learner, **options), X, y)
    assert_same(model, again, X)
    other = quiet_fit(make(name, learner, **options, random_state=4), X, y)
    assert (scores(model, X) != scores(other, X)).any()
    whole = fitted(name, n_classes, learner)
    assert (scores(model, X) != scores(whole, X)).any()


@with_classes(OF_CLASSIFIERS)
def test_draws_that_no_learner_can_be_fitted_to(name, n_classes):
    """All samples stand in for those drawn."""
    X, y = data(n_classes)
    Fussy.sizes.clear()
    model = make(name, subsample=0.02).set_params(estimator=Fussy(max_depth=1))
    quiet_fit(model, X, y)
    # Of all samples those count whose weight is not negligible.
    assert max(Fussy.sizes) > 0.5 * y.size > 10 * min(Fussy.sizes)


def test_a_class_of_next_to_no_weight_is_not_left_out():
    X, y = data(2)
    weight = np.where(y == 1, 1.0, 1e-14)
    model = make("ada", n_estimators=1).set_params(estimator=Fussy(max_depth=1))
    assert quiet_fit(model, X, y, weight).n_iter_ == 1


# -- data -----------------------------------------------------------------------------


@with_pairs(learners=["stumps", "trees", "c45"], frame=["pandas", "polars"])
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
        if frame == "pandas":
            return pd.DataFrame(columns).astype({"d": "category", "e": "category"})
        return pl.DataFrame(columns, nan_to_null=True).cast(
            {"d": pl.Categorical, "e": pl.Categorical}
        )

    model = quiet_fit(make(name, learner, pace="linear"), as_frame(X), y)
    np.testing.assert_array_equal(
        scores(model, as_frame(X_new)), scores(expected, X_new)
    )
    assert model.feature_names_in_.tolist() == list("abcde")


@with_classes()
def test_float32(name, n_classes):
    X, y = data(n_classes)
    X = X.astype(np.float32)
    model = quiet_fit(make(name, pace="linear"), X, y)
    other = quiet_fit(make(name, pace="linear"), X.astype(np.float64), y)
    assert_same(model, other, X)


@with_classes()
def test_threads_make_no_difference(eager_threads, name, n_classes):
    X, y = data(n_classes)
    for learner in ("stumps", "trees"):
        model = quiet_fit(make(name, learner, pace="linear"), X, y)
        other = quiet_fit(make(name, learner, pace="linear", n_jobs=2), X, y)
        assert_same(model, other, X)


@with_each(learners=["stumps", "trees", "c45"])
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


@with_classes(CLASSIFIERS)
def test_labels_of_any_kind(name, n_classes):
    X, y = data(n_classes)
    names = np.array(["no", "perhaps", "yes"])
    model = quiet_fit(make(name, pace="linear"), X, y)
    named = quiet_fit(make(name, pace="linear"), X, names[y])
    np.testing.assert_array_equal(named.predict(X), names[model.predict(X)])
    assert named.classes_.tolist() == names[:n_classes].tolist()
    if name not in POTENTIALS:
        assert set(named.paces_) == set(names[:n_classes].tolist())


@with_classes(CLASSIFIERS)
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


@with_each()
def test_pickles_and_clones(name, n_classes, learner):
    X, y = data(n_classes)
    model = fitted(name, n_classes, learner)
    assert_same(pickle.loads(pickle.dumps(model)), model, X)
    copy = clone(model)
    assert not hasattr(copy, "n_iter_")
    assert_same(quiet_fit(copy, X, y), model, X)


@each_paced
def test_grid_search_over_plateaus(name):
    X, y = data_for(name)
    grid = {"pace__plateau": [2.0, np.inf], "pace": ["hard", Linear()]}
    search = GridSearchCV(make(name), grid, cv=2, error_score="raise", n_jobs=1)
    quiet_fit(search, X, y)
    assert search.best_estimator_.n_iter_ == ROUNDS
    assert len(search.cv_results_["params"]) == 4


@pytest.mark.parametrize(
    ("name", "n_classes"), [*((name, 2) for name in CLASSIFIERS), ("robust", 3)]
)
def test_calibration_on_top(name, n_classes):
    X, y = data(n_classes, 200)
    model = CalibratedClassifierCV(make(name), cv=2)
    share = quiet_fit(model, X, y).predict_proba(X)
    np.testing.assert_allclose(share.sum(axis=1), 1)
    assert accuracy_score(y, model.predict(X)) > 0.6


@with_each(CLASSIFIERS)
def test_probabilities(name, n_classes, learner):
    X, y = data(n_classes)
    model = fitted(name, n_classes, learner)
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


@each
def test_names_of_attributes_are_listed(name):
    """As shells do to complete them."""
    assert "fit" in dir(make(name))


@each
def test_a_fit_that_fails_changes_nothing(name):
    X, y = data_for(name)
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


# -- paces ----------------------------------------------------------------------------

NAMES = ["hard", "linear", "polynomial", "mixture", "logarithmic"]


@pytest.mark.parametrize(
    ("name", "pace"),
    [
        (name, pace)
        for name in PACED
        for pace in NAMES
        if name == "ada" or (name != "l2" and pace in ("hard", "linear"))
    ],
)
def test_the_default_pace_acts_on_flipped_labels(name, pace):
    X, y = make_gaussians(200, random_state=0)
    noisy, _ = flip_labels(y, 0.15, random_state=0)
    flipped = noisy != y
    v = quiet_fit(make(name, pace=pace, n_estimators=25), X, noisy).sample_pace_
    doubted = v == 0 if pace == "hard" else v < 0.5
    assert doubted[flipped].mean() > 0.5
    assert doubted[~flipped].mean() < 0.05
    assert (v[flipped] < 1).mean() > 0.5


@with_each(PACED, ["stumps", "foreign"])
def test_an_infinite_plateau_is_no_pace(name, n_classes, learner):
    X, y = data(n_classes)
    plain = quiet_fit(make(name, learner), X, y)
    for pace in (Hard(plateau=np.inf), Linear(age=np.inf)):
        off = quiet_fit(make(name, learner, pace=pace), X, y)
        assert_same(off, plain, X)


@with_classes([name for name in PACED if name != "l2"])
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
    X, y = data_for(name)
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
