"""PaceSearchCV: chooses as its path says, refits, and is a scikit-learn estimator."""

import pickle
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import AdaBoostClassifier as ForeignBooster
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from splboost import (
    L2BoostRegressor,
    LogitBoostClassifier,
    PaceSearchCV,
    RobustBoostClassifier,
    SPLBoostClassifier,
)
from splboost.pace import Hard, Linear
from splboost.selection import spl_path

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of strict paces


def data(n=120, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    score = X[:, 0] + np.abs(X[:, 1]) + 0.7 * rng.normal(size=n)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, score)


def search(booster=None, **options):
    if booster is None:
        booster = SPLBoostClassifier(n_estimators=12)
    options = {"grid": [1.5, 3.0, np.inf], "cv": 3, "random_state": 0} | options
    return PaceSearchCV(booster, **options)


def assert_same_model(model, other, X):
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    if hasattr(model, "decision_function"):
        np.testing.assert_array_equal(
            model.decision_function(X), other.decision_function(X)
        )


# -------------------------------------------------------------- choosing and refitting


@pytest.mark.parametrize(
    ("rule", "n_classes"), [("best", 3), ("one standard error", 2)]
)
def test_it_takes_what_its_path_says_and_refits(rule, n_classes):
    X, y = data(n_classes=n_classes)
    found = search(depths=[1, 2, 3], rule=rule).fit(X, y)
    choice = found.path_.choose(rule)
    assert found.best_score_ == choice.score
    assert found.best_params_ == {
        "n_estimators": choice.n_estimators,
        "pace": choice.pace,
        "estimator__max_depth": choice.max_depth,
    }
    by_hand = clone(found.booster).set_params(**found.best_params_).fit(X, y)
    assert_same_model(found.best_estimator_, by_hand, X)
    assert_same_model(found, by_hand, X)
    np.testing.assert_array_equal(found.predict_proba(X), by_hand.predict_proba(X))
    assert found.score(X, y) == by_hand.score(X, y)
    weight = np.arange(y.size)
    assert found.score(X, y, weight) == by_hand.score(X, y, weight)
    assert found.best_estimator_.n_iter_ <= choice.n_estimators
    np.testing.assert_array_equal(found.classes_, np.unique(y))


def test_its_path_is_that_of_spl_path():
    X, y = data()
    found = search(depths=[2]).fit(X, y)
    rng = np.random.RandomState(0)
    rng.randint(2**31 - 1)  # the seed of the booster
    path = spl_path(
        X,
        y,
        booster=found.booster,
        plateaus=found.grid,
        depths=[2],
        cv=3,
        random_state=rng,
    )
    np.testing.assert_array_equal(path.scores, found.path_.scores)


def test_cv_results():
    X, y = data()
    found = search(depths=[1, 2]).fit(X, y)
    frame = found.cv_results_
    assert isinstance(frame, pd.DataFrame) and len(frame) == 2 * 3 * 12
    best = frame[frame["rank_test_score"] == 1]
    params = found.best_params_
    chosen = best[
        (best["param_n_estimators"] == params["n_estimators"])
        & (best["param_max_depth"] == params["estimator__max_depth"])
        & (best["param_plateau"] == params["pace"].plateau)
    ]
    assert chosen["mean_test_score"].item() == found.best_score_
    paper = search(grid="paper").fit(X, y)
    ages = paper.cv_results_["param_age"].unique().tolist()
    assert ages == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6]
    assert paper.best_params_["pace"].age in ages


def test_the_default_booster_and_grid():
    X, y = data(60)
    found = PaceSearchCV(cv=2, random_state=0).fit(X, y)
    assert type(found.best_estimator_) is SPLBoostClassifier
    assert found.booster is None
    assert found.path_.scores.shape == (1, 8, 2, 200)


def test_no_grid_leaves_the_pace_alone():
    X, y = data()
    found = search(SPLBoostClassifier(n_estimators=9, pace="hard"), grid=None)
    found.fit(X, y)
    assert set(found.best_params_) == {"n_estimators"}
    assert found.best_estimator_.pace == "hard"
    robust = search(RobustBoostClassifier(epsilon=0.3, n_estimators=9), grid=None)
    robust.fit(X, y)
    assert set(robust.best_params_) == {"n_estimators"}


def test_a_grid_of_paces():
    X, y = data()
    paces = ["hard", Linear(plateau=1.2), None]
    found = search(grid=paces).fit(X, y)
    assert found.cv_results_["param_pace"].iloc[0] == "hard"
    pace = found.best_params_["pace"]
    assert pace is None or isinstance(pace, Hard | Linear)
    by_hand = clone(found.booster).set_params(**found.best_params_).fit(X, y)
    assert_same_model(found, by_hand, X)


def test_a_regression():
    X, _ = data()
    y = X[:, 0] + X[:, 1] ** 2
    booster = L2BoostRegressor(n_estimators=40, learning_rate=0.5)
    found = search(booster, grid=[3.0, np.inf], depths=[1, 2]).fit(X, y)
    by_hand = clone(booster).set_params(**found.best_params_).fit(X, y)
    assert_same_model(found, by_hand, X)
    assert found.score(X, y) == by_hand.score(X, y) > 0.8
    assert is_regressor(found) and not is_classifier(found)
    for name in ("predict_proba", "decision_function", "classes_"):
        assert not hasattr(found, name) and not hasattr(search(booster), name)
    with pytest.raises(AttributeError, match="predict_proba"):
        found.predict_proba(X)


def test_methods_are_those_of_the_booster():
    for booster in (None, LogitBoostClassifier(), RobustBoostClassifier()):
        found = PaceSearchCV(booster)
        assert is_classifier(found) and not is_regressor(found)
        for name in ("predict_proba", "decision_function"):
            assert hasattr(found, name)
    X, y = data()
    found = search().fit(X, y).set_params(booster=L2BoostRegressor())
    assert hasattr(found, "predict_proba")  # as fitted
    for name in ("predict", "predict_proba", "decision_function", "score"):
        with pytest.raises(NotFittedError):
            getattr(search(), name)(*([X, y] if name == "score" else [X]))
    with pytest.raises(NotFittedError):
        _ = search().cv_results_


# --------------------------------------------------------------------- the same, or not


def test_the_seed_fixes_everything():
    X, y = data()
    booster = SPLBoostClassifier(n_estimators=8, subsample=0.6)
    found = search(booster).fit(X, y)
    again = search(booster, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(found.path_.scores, again.path_.scores)
    assert_same_model(found, again, X)
    other = search(booster, random_state=1).fit(X, y)
    assert (found.path_.scores != other.path_.scores).any()


def test_a_seed_of_the_booster_is_kept():
    X, y = data()
    booster = SPLBoostClassifier(n_estimators=8, subsample=0.6, random_state=7)
    found = search(booster).fit(X, y)
    by_hand = clone(booster).set_params(**found.best_params_).fit(X, y)
    assert_same_model(found, by_hand, X)


def test_sample_weights_and_groups_count():
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 3, size=y.size).astype(float)
    given = {"sample_weight": weight, "groups": np.arange(y.size) // 4}
    cv = GroupKFold(3)
    found = search(cv=cv).fit(X, y, **given)
    options = {"plateaus": found.grid, "depths": None, "cv": cv}
    path = spl_path(X, y, booster=found.booster, **options, **given)
    np.testing.assert_array_equal(found.path_.scores, path.scores)
    by_hand = clone(found.booster).set_params(**found.best_params_)
    assert_same_model(found, by_hand.fit(X, y, weight), X)
    unweighted = search(cv=cv).fit(X, y, groups=given["groups"])
    assert (unweighted.path_.scores != path.scores).any()


# ----------------------------------------------------------------- within scikit-learn


def test_clone_and_pickle():
    X, y = data()
    given = search(depths=[1], rule="one standard error", scoring="roc_auc")
    copied = clone(given)
    assert copied.get_params(deep=False).keys() == given.get_params(deep=False).keys()
    assert repr(copied) == repr(given)
    found = given.fit(X, y)
    again = pickle.loads(pickle.dumps(found))
    assert_same_model(found, again, X)
    pd.testing.assert_frame_equal(found.cv_results_, again.cv_results_)
    assert not hasattr(clone(found), "path_")


def test_in_a_pipeline():
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), search()).fit(X, y)
    plain = search().fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_array_equal(
        pipeline.predict(X), plain.predict(StandardScaler().fit_transform(X))
    )
    groups = np.arange(y.size) // 2
    pipeline.fit(X, y, pacesearchcv__groups=groups)


def test_in_a_grid_search():
    X, y = data()
    outer = GridSearchCV(
        search(grid=[2.0, np.inf]),
        {"booster__learning_rate": [0.5, 1.0], "rule": ["best", "one standard error"]},
        cv=2,
    ).fit(X, y)
    assert len(outer.cv_results_["params"]) == 4
    assert np.isfinite(outer.cv_results_["mean_test_score"]).all()
    assert set(outer.best_estimator_.best_params_) == {"n_estimators", "pace"}


def test_frames_of_both_kinds():
    X, y = data()
    towns = np.array(["Aachen", "Bonn", "Celle"])[(y + np.arange(y.size) % 2) % 3]
    pandas = pd.DataFrame(X, columns=["a", "b", "c"]).assign(town=pd.Categorical(towns))
    polars = pl.DataFrame(
        {name: pandas[name].to_numpy() for name in "abc"}
        | {"town": pl.Series(towns, dtype=pl.Categorical)}
    )
    found = search().fit(pandas, pd.Series(y))
    other = search().fit(polars, pl.Series(y))
    np.testing.assert_array_equal(found.path_.scores, other.path_.scores)
    assert_same_model(found, other, pandas)
    np.testing.assert_array_equal(found.predict(pandas), found.predict(polars))
    assert found.feature_names_in_.tolist() == ["a", "b", "c", "town"]
    assert found.n_features_in_ == 4
    assert found.score(pandas, y) > search().fit(X, y).score(X, y)


def test_names_of_an_earlier_fit_are_forgotten():
    X, y = data()
    found = search().fit(pd.DataFrame(X, columns=list("abc")), y)
    assert hasattr(found, "feature_names_in_")
    found.fit(X, y)
    assert not hasattr(found, "feature_names_in_")
    found.set_params(booster=L2BoostRegressor(n_estimators=3)).fit(X, y)
    assert not hasattr(found, "classes_")


# ---------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"booster": ForeignBooster()}, TypeError, "is no booster of splboost"),
        ({"booster": RobustBoostClassifier()}, ValueError, "takes no pace"),
        (
            {"booster": SPLBoostClassifier(n_iter_no_change=3)},
            ValueError,
            "n_iter_no_change=3 of the booster",
        ),
        ({"grid": []}, ValueError, r"grid=\[\] is empty; give a plateau at least"),
        ({"grid": [2.0, "hard"]}, TypeError, "grid=.* mixes plateaus and paces"),
        ({"rule": "1se"}, ValueError, "'rule' parameter"),
        ({"depths": [0]}, ValueError, "depths=.* must be whole numbers from 1 on"),
        ({"grid": [-2.0]}, ValueError, r"grid=\[-2.0\] will not do: .* above 0"),
        ({"n_jobs": 2.0}, ValueError, "'n_jobs' parameter of PaceSearchCV"),
        ({"scoring": "x"}, ValueError, "scoring='x' is unknown"),
    ],
)
def test_a_failed_fit_changes_nothing(options, error, message):
    X, y = data()
    found = search().fit(X, y)
    expected, before = found.predict(X), dict(vars(found))
    found.set_params(**options)
    with pytest.raises(error, match=message):
        found.fit(X, y)
    after = dict(vars(found))
    for name in options:
        before.pop(name), after.pop(name)
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)
    np.testing.assert_array_equal(found.predict(X), expected)
    fresh = search(**options)
    with pytest.raises(error, match=message):
        fresh.fit(X, y)
    assert not [name for name in vars(fresh) if name.endswith("_")]


def test_what_is_no_estimator_is_refused():
    with pytest.raises(TypeError, match="booster='linear' is no booster of splboost"):
        PaceSearchCV("linear").fit(*data())


class LateFailure(DecisionTreeClassifier):
    """Fails when it sees all rows, which is in the refit."""

    def fit(self, X, y, sample_weight=None):
        if len(X) == 120:
            raise ZeroDivisionError
        return super().fit(X, y, sample_weight)


def test_a_failed_refit_changes_nothing():
    X, y = data()
    found = search(SPLBoostClassifier(LateFailure(max_depth=1), n_estimators=3))
    with pytest.raises(ZeroDivisionError):
        found.fit(X, y)
    assert not [name for name in vars(found) if name.endswith("_")]


def test_the_booster_is_left_alone():
    X, y = data()
    booster = SPLBoostClassifier(n_estimators=5)
    before = booster.get_params()
    search(booster).fit(X, y)
    assert booster.get_params() == before
    assert not [name for name in vars(booster) if name.endswith("_")]


def test_no_thread_is_left_behind():
    X, y = data()
    search(n_jobs=2).fit(X, y)
    before = threading.active_count()
    for _ in range(3):
        search(n_jobs=2).fit(X, y)
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= before
