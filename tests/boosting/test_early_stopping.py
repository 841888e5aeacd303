"""Validation data, their score after each round, and stopping because of it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from boosters import quiet_fit
from helpers import mixed_data
from splboost import (
    AdaBoostClassifier,
    L2BoostRegressor,
    PaceSearchCV,
    SPLBoostClassifier,
)
from splboost.datasets import flip_labels, make_gaussians
from splboost.losses import Exponential
from splboost.pace import Hard, Linear
from splboost.trees import CARTClassifier

two_and_three = pytest.mark.parametrize("n_classes", [2, 3])
PER_ROUND = (
    "estimator_weights_",
    "estimator_errors_",
    "n_selected_",
    "latent_objective_",
)


def data(n_classes=2, n=200, seed=0):
    """Five columns of which the first two tell the class, a sixth of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(1)
    score = X[:, 0] + X[:, 1]
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, flip_labels(y, 0.15, random_state=seed)[0]


def split_data(n_classes=2, n=200):
    X, y = data(n_classes, n + 100)
    return X[100:], y[100:], {"X_val": X[:100], "y_val": y[:100]}


def assert_same_model(one, other, X):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    for name in (*PER_ROUND, "sample_pace_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert one.n_iter_ == other.n_iter_ == len(one.estimators_)


def scripted(marks):
    """A scoring that gives these marks, whatever the booster does."""
    rest = iter(marks)
    return lambda booster, X, y: next(rest)


# -- the score ------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("learner", [None, GaussianNB()], ids=["stumps", "GaussianNB"])
def test_frames(frame, learner):
    X, y, val = split_data()
    expected = SPLBoostClassifier(learner, n_estimators=12).fit(X, y, **val)
    names = list("abcde")
    X, X_val = (frame(dict(zip(names, Z.T, strict=True))) for Z in (X, val["X_val"]))
    model = SPLBoostClassifier(learner, n_estimators=12)
    weight = np.where(np.arange(100) < 60, 1.0, 0.0)
    for scoring in (None, "accuracy"):
        model.set_params(scoring=scoring).fit(X, y, X_val=X_val, y_val=val["y_val"])
        np.testing.assert_allclose(
            model.validation_scores_, expected.validation_scores_, rtol=1e-12
        )
        model.fit(
            X, y, X_val=X_val, y_val=val["y_val"], sample_weight_val=weight
        )  # of which some rows do not exist
        staged = list(model.staged_score(X_val, val["y_val"], weight))
        np.testing.assert_allclose(model.validation_scores_, staged, rtol=1e-12)


@two_and_three
@pytest.mark.parametrize("pace", [None, Linear(plateau=2.0)], ids=str)
def test_loss_is_the_latent_objective(n_classes, pace):
    X, y, val = split_data(n_classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=100)
    model = AdaBoostClassifier(n_estimators=15, pace=pace, scoring="loss")
    model.fit(X, y, **val, sample_weight_val=weight)
    for score, mark in zip(
        model.staged_decision_function(val["X_val"]),
        model.validation_scores_,
        strict=True,
    ):
        G = score if n_classes == 2 else score / (n_classes - 1)
        if n_classes > 2 and pace is None:
            doubt = np.exp(-G[np.arange(100), val["y_val"]])
        else:
            doubt = Exponential().doubt(G, val["y_val"])
        latent = doubt if pace is None else pace.latent(doubt)
        np.testing.assert_allclose(-mark, np.average(latent, weights=weight))


def test_scorers_by_name():
    X, y, val = split_data()
    model = SPLBoostClassifier(n_estimators=12)
    measures = {
        "roc_auc": lambda m, F, p: roc_auc_score(val["y_val"], F),
        "neg_log_loss": lambda m, F, p: -log_loss(val["y_val"], p),
        "balanced_accuracy": lambda m, F, p: balanced_accuracy_score(
            val["y_val"], m.classes_[(F > 0).astype(int)]
        ),
    }
    for name, measure in measures.items():
        model.set_params(scoring=name).fit(X, y, **val)
        expected = [
            measure(model, F, p)
            for F, p in zip(
                model.staged_decision_function(val["X_val"]),
                model.staged_predict_proba(val["X_val"]),
                strict=True,
            )
        ]
        np.testing.assert_allclose(model.validation_scores_, expected, err_msg=name)


def test_scorers_by_name_with_three_classes():
    X, y, val = split_data(3)
    model = SPLBoostClassifier(n_estimators=8, scoring="roc_auc_ovr").fit(X, y, **val)
    expected = [
        roc_auc_score(val["y_val"], share, multi_class="ovr")
        for share in model.staged_predict_proba(val["X_val"])
    ]
    np.testing.assert_allclose(model.validation_scores_, expected)


def test_weights_go_to_scorers_that_take_them():
    X, y, val = split_data()
    weight = np.random.default_rng(0).integers(0, 4, size=100).astype(float)
    kept = weight > 0

    def plain(booster, X_val, y_val):
        assert len(X_val) == len(y_val) == kept.sum()  # weight 0 is no row
        return accuracy_score(y_val, booster.predict(X_val))

    def weighted(booster, X_val, y_val, sample_weight=None):
        np.testing.assert_array_equal(sample_weight, weight[kept])
        return accuracy_score(y_val, booster.predict(X_val), sample_weight=weight[kept])

    def share(y_true, y_pred):
        return np.mean(y_true == y_pred)

    model = SPLBoostClassifier(n_estimators=5)
    for scoring, taken in (
        ("accuracy", True),
        (None, True),
        (weighted, True),
        (plain, False),
        (make_scorer(share), False),
    ):
        model.set_params(scoring=scoring).fit(X, y, **val, sample_weight_val=weight)
        expected = model.staged_score(
            val["X_val"], val["y_val"], weight if taken else kept.astype(float)
        )
        np.testing.assert_allclose(model.validation_scores_, list(expected))


def test_class_weights_count_in_validation():
    X, y, val = split_data(3)
    model = AdaBoostClassifier(n_estimators=5, class_weight={0: 3.0, 2: 0.0})
    model.fit(X, y, **val)
    weight = np.array([3.0, 1.0, 0.0])[val["y_val"]]
    expected = list(model.staged_score(val["X_val"], val["y_val"], weight))
    np.testing.assert_allclose(model.validation_scores_, expected)
    # "balanced" is that of the data fitted to.
    model.set_params(class_weight="balanced").fit(
        X[y != 2],
        y[y != 2],
        **{name: part[val["y_val"] != 2] for name, part in val.items()},
    )
    n = np.bincount(y[y != 2])
    weight = (1 / n)[val["y_val"][val["y_val"] != 2]]
    kept = val["y_val"] != 2
    expected = model.staged_score(val["X_val"][kept], val["y_val"][kept], weight)
    np.testing.assert_allclose(model.validation_scores_, list(expected))


def test_validation_costs_the_same_each_round():
    """Each learner is asked once about the validation rows, and never again."""
    asked = []

    class Spy(DecisionTreeClassifier):
        def predict(self, X):
            asked.append((id(self), len(X)))
            return super().predict(X)

    X, y, val = split_data()
    model = AdaBoostClassifier(Spy(max_depth=1), n_estimators=8)
    quiet_fit(model, X, y, **val)
    of_validation = [learner for learner, n in asked if n == 100]
    assert len(of_validation) == len(set(of_validation)) == model.n_iter_ > 4


# -- stopping -------------------------------------------------------------------------


@two_and_three
def test_the_best_round_is_kept_without_a_stop(n_classes):
    X, y, val = split_data(n_classes)
    model = SPLBoostClassifier(n_estimators=30, n_iter_no_change=30).fit(X, y, **val)
    assert model.stop_reason_ == "all rounds done"
    assert len(model.validation_scores_) == 30 > model.n_iter_
    shorter = SPLBoostClassifier(n_estimators=model.n_iter_).fit(X, y)
    assert_same_model(model, shorter, X)


def test_scores_are_recorded_without_stopping():
    X, y, val = split_data()
    model = SPLBoostClassifier(n_estimators=40).fit(X, y, **val)
    assert model.n_iter_ == len(model.validation_scores_) == 40
    assert_same_model(model, SPLBoostClassifier(n_estimators=40).fit(X, y), X)
    assert not hasattr(model.fit(X, y), "validation_scores_")


@given(
    st.lists(st.integers(0, 6), min_size=12, max_size=12),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.5, 1.0, 2.5]),
    st.integers(0, 14),
    st.booleans(),
)
def test_when_to_stop(marks, patience, tol, warm_rounds, paced):
    n_warm = warm_rounds if paced else 0
    best, stop = None, 12
    for t, mark in enumerate(marks, start=1):
        if t > n_warm and (best is None or mark > marks[best - 1] + tol):
            best = t
        if best is not None and t - best == patience:
            stop = t
            break
    model = AdaBoostClassifier(
        n_estimators=12,
        pace=Hard(age=3.0) if paced else None,
        warm_rounds=warm_rounds,
        n_iter_no_change=patience,
        tol=tol,
        scoring=scripted(marks),
    ).fit(X_GOOD, Y_GOOD, X_val=X_GOOD, y_val=Y_GOOD)
    assert model.validation_scores_.tolist() == marks[:stop]
    assert model.n_iter_ == (best or 12)
    ended = best is not None and stop - best == patience
    assert model.stop_reason_ == ("no improvement" if ended else "all rounds done")


def test_warm_rounds_are_not_stopped_in():
    """A booster stopped there would never have been paced, and be the worse for it."""
    X, y = make_gaussians(100, random_state=1)
    y = flip_labels(y, 0.3, random_state=1)[0]
    X_val, y_val = make_gaussians(200, random_state=2)
    val = {"X_val": X_val, "y_val": y_val}
    options = {"n_estimators": 100, "n_iter_no_change": 5}
    plain = AdaBoostClassifier(**options).fit(X, y, **val)
    assert len(plain.validation_scores_) < 20
    paced = SPLBoostClassifier(**options, warm_rounds=20, pace=Hard(age=1.5))
    paced.fit(X, y, **val)
    marks = paced.validation_scores_
    np.testing.assert_array_equal(
        marks[: len(plain.validation_scores_)], plain.validation_scores_
    )  # at which the other has stopped
    assert paced.n_iter_ > 20
    assert paced.n_selected_[-1] < 200  # the pace has acted
    assert marks[paced.n_iter_ - 1] > plain.validation_scores_.max() + 0.02
    off = paced.set_params(pace=Hard(plateau=np.inf)).fit(X, y, **val)
    np.testing.assert_array_equal(off.validation_scores_, plain.validation_scores_)
    assert off.n_iter_ == plain.n_iter_


def test_fewer_rounds_than_warm_ones_are_all_kept():
    X, y, val = split_data()
    model = SPLBoostClassifier(
        n_estimators=6,
        warm_rounds=6,
        n_iter_no_change=1,
        scoring=scripted(range(6, 0, -1)),
    ).fit(X, y, **val)
    assert model.n_iter_ == 6


def test_a_learner_without_an_edge_has_a_score():
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    with pytest.warns(UserWarning, match="no edge"):
        model = AdaBoostClassifier(n_iter_no_change=2).fit(
            X, y, X_val=X[:4], y_val=[0, 0, 1, 0]
        )
    assert model.predict(X[:1]).tolist() == [0]  # undecided, hence the first class
    assert model.validation_scores_.tolist() == [0.75]
    assert model.n_iter_ == 1


# -- rows held out --------------------------------------------------------------------


@two_and_three
def test_rows_are_held_out(n_classes):
    X, y = data(n_classes, 300)
    model = SPLBoostClassifier(
        n_estimators=40,
        n_iter_no_change=5,
        validation_fraction=0.2,
        random_state=0,
    )
    quiet_fit(model, X, y)
    held = np.isnan(model.sample_pace_)
    for k in range(n_classes):
        assert held[y == k].sum() == round(0.2 * (y == k).sum())
    again = quiet_fit(model.set_params(random_state=0), X, y)
    np.testing.assert_array_equal(np.isnan(again.sample_pace_), held)
    other = quiet_fit(model.set_params(random_state=1), X, y)
    assert (np.isnan(other.sample_pace_) != held).any()


def test_rows_held_out_of_a_frame_with_weights():
    X, y = mixed_data(240, 2)
    frame = pd.DataFrame(X, columns=list("abcde")).astype({"d": "category"})
    weight = np.random.default_rng(0).integers(0, 3, size=240).astype(float)
    model = SPLBoostClassifier(
        CARTClassifier(max_depth=2),
        n_estimators=20,
        n_iter_no_change=4,
        scoring="accuracy",
        random_state=0,
    ).fit(frame, y, weight)
    held = np.isnan(model.sample_pace_) & (weight > 0)
    staged = list(model.staged_score(frame[held], y[held], weight[held]))
    np.testing.assert_allclose(model.validation_scores_[: model.n_iter_], staged)


def test_rows_without_weight_do_not_matter_to_the_split():
    X, y = data(3)
    options = {"n_estimators": 15, "n_iter_no_change": 5, "random_state": 0}
    model = SPLBoostClassifier(**options).fit(X, y)
    weight = np.repeat([1.0, 0.0], 200)
    rows = np.random.default_rng(1).permutation(400)
    rows = np.concatenate([rows[rows < 200], rows[rows >= 200]])
    order = np.sort(rows[:200])
    X_all, y_all = np.vstack([X, X[::-1]]), np.concatenate([y, np.full(200, 9)])
    with_more = SPLBoostClassifier(**options).fit(X_all, y_all, weight)
    np.testing.assert_array_equal(with_more.sample_pace_[order], model.sample_pace_)
    np.testing.assert_array_equal(
        with_more.decision_function(X), model.decision_function(X)
    )


def test_a_class_of_two_is_split():
    X, y = data(2)
    y = np.where(np.arange(200) < 2, 5, y)
    model = AdaBoostClassifier(n_iter_no_change=3, random_state=0)
    quiet_fit(model, X, y)
    assert np.isnan(model.sample_pace_[:2]).sum() == 1
    y[1] = 0
    with pytest.raises(ValueError, match=r"validation_fraction=0\.1: class 5 .*X_val"):
        model.fit(X, y)
    y[2] = 5
    weight = np.where(np.arange(200) == 2, 0.0, 1.0)
    with pytest.raises(ValueError, match="class 5 has a single sample of positive"):
        model.fit(X, y, weight)


def test_grid_search_over_boosters_that_stop_early():
    X, y = data(2)
    model = SPLBoostClassifier(n_estimators=30, n_iter_no_change=5, random_state=0)
    grid = {"scoring": [None, "loss"], "validation_fraction": [0.1, 0.3]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert len(search.best_estimator_.validation_scores_) <= 30


# -- errors ---------------------------------------------------------------------------

X_GOOD, Y_GOOD = data(2, 40)


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ({"X_val": X_GOOD}, "X_val given, but y_val is None; .*together"),
        ({"y_val": Y_GOOD}, "y_val given, but X_val is None"),
        ({"sample_weight_val": Y_GOOD}, "sample_weight_val given, but X_val is None"),
        (
            {"y_val": Y_GOOD, "sample_weight_val": Y_GOOD},
            "y_val and sample_weight_val given, but X_val is None",
        ),
        (
            {"X_val": X_GOOD[:, :3], "y_val": Y_GOOD},
            "X_val will not do.* columns of X: X has 3 features.*expecting 5",
        ),
        ({"X_val": X_GOOD[:0], "y_val": Y_GOOD[:0]}, "X_val .* a row at least.*0 samp"),
        ({"X_val": X_GOOD, "y_val": Y_GOOD[:-1]}, "y_val .*each row of X_val: .*39"),
        ({"X_val": X_GOOD, "y_val": Y_GOOD + 1}, r"y_val contains 2, .*are \[0, 1\]"),
        (
            {"X_val": X_GOOD, "y_val": np.where(Y_GOOD, "a", "b")},
            "y_val contains 'a', 'b'|y_val contains 'b', 'a'",
        ),
        (
            {"X_val": X_GOOD, "y_val": Y_GOOD, "sample_weight_val": np.ones(3)},
            r"sample_weight_val .*\(3,\), expected \(40,\)",
        ),
        (
            {"X_val": X_GOOD, "y_val": Y_GOOD, "sample_weight_val": np.zeros(40)},
            "sample_weight_val .*all zero",
        ),
        (
            {"X_val": np.full((40, 5), np.inf), "y_val": Y_GOOD},
            "X_val .*infinity",
        ),
    ],
)
def test_bad_validation_data(validation, message):
    model = SPLBoostClassifier(n_estimators=4).fit(X_GOOD, Y_GOOD)
    before = dict(vars(model))
    for n_iter_no_change in (None, 3):
        model.n_iter_no_change = before["n_iter_no_change"] = n_iter_no_change
        with pytest.raises(ValueError, match=message):
            model.fit(X_GOOD, Y_GOOD, **validation)
        assert vars(model) == before


def test_bad_names_of_columns():
    frame = pd.DataFrame(X_GOOD, columns=list("abcde"))
    other = frame.rename(columns={"e": "f"})
    with pytest.raises(ValueError, match=r"X_val will not do.*feature names.*f"):
        SPLBoostClassifier().fit(frame, Y_GOOD, X_val=other, y_val=Y_GOOD)


def test_validation_without_any_weight():
    model = AdaBoostClassifier(class_weight={1: 0.0, 0: 1.0, 2: 1.0})
    X, y = data(3, 60)
    with pytest.raises(ValueError, match=r"class_weight=.* no weight .* y_val"):
        model.fit(X, y, X_val=X[y == 1], y_val=y[y == 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_iter_no_change": 2.5}, "'n_iter_no_change'.*Got 2.5"),
        ({"validation_fraction": 0.0}, "'validation_fraction'.*Got 0.0"),
        ({"scoring": "acuracy"}, "scoring='acuracy' is unknown; .*get_scorer_names"),
        ({"scoring": 3}, "'scoring'.*Got 3"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SPLBoostClassifier(**options).fit(X_GOOD, Y_GOOD)


@pytest.mark.parametrize("said", ["No such thing", "No such thing."])
def test_a_scorer_that_fails_is_quoted_as_a_sentence(said):
    def scoring(booster, X, y):
        raise ValueError(said)

    X, y, val = split_data()
    model = SPLBoostClassifier(scoring=scoring)
    with pytest.raises(ValueError, match=r"round 1: No such thing\. Give a scorer of"):
        model.fit(X, y, **val)


def clumsy(booster, X, y):
    return booster.no_such_thing


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc", "accuracy", clumsy])
def test_a_scorer_that_does_not_fit_a_regressor(scoring):
    model = L2BoostRegressor(scoring=scoring, n_iter_no_change=2)
    message = r"scoring=.* failed .* after round 1: .*Give a scorer of a regressor"
    with pytest.raises(ValueError, match=message):
        model.fit(X_GOOD, X_GOOD[:, 0])


@pytest.mark.parametrize(
    "scoring", ["r2", "neg_mean_poisson_deviance", clumsy, lambda booster: 1.0]
)
@pytest.mark.parametrize("search", [False, True])
def test_a_scorer_that_does_not_fit_a_classifier(scoring, search):
    y = np.array(["no", "yes"])[Y_GOOD]
    model = SPLBoostClassifier(n_estimators=3, n_iter_no_change=2, scoring=scoring)
    if search:
        model = PaceSearchCV(SPLBoostClassifier(n_estimators=3), scoring=scoring)
    message = r"scoring=.* failed .* after round 1: .*Give a scorer of a classifier"
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X_GOOD, y)


@pytest.mark.parametrize("mark", [np.nan, None, "good", np.ones(2)], ids=str)
def test_a_scoring_that_gives_no_number(mark):
    model = SPLBoostClassifier(scoring=lambda booster, X, y: mark, n_iter_no_change=2)
    with pytest.raises(ValueError, match=r"scoring=.*gave .*after round 1;.*a number"):
        model.fit(X_GOOD, Y_GOOD)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("fraction", [1e-6, 0.999])
def test_extreme_fractions_leave_each_class_a_sample(fraction):
    model = SPLBoostClassifier(n_iter_no_change=2, validation_fraction=fraction)
    quiet_fit(model, X_GOOD, Y_GOOD)
    held = np.isnan(model.sample_pace_)
    for k in (0, 1):
        n = (Y_GOOD == k).sum()
        assert held[Y_GOOD == k].sum() == (1 if fraction < 0.5 else n - 1)
