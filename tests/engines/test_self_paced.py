"""Self-paced XGBoost and LightGBM: what holds for both."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from engine_models import (
    PACED,
    both,
    check_dropped,
    data,
    evaluate_on,
    logistic,
    margin,
    parent_of,
    results,
    staged,
    unequal,
)
from reference import pace_latent, pace_weight
from splboost.pace import Hard, Linear

# -------------------------------------------------------------------- the pace acts


@both
def test_the_pace_acts(package):
    X, y, flipped = data()
    model = PACED[package](random_state=0).fit(X, y)
    plain = parent_of(model).fit(X, y)
    assert np.abs(margin(model, X) - margin(plain, X)).max() > 0.5
    dropped = model.sample_pace_ == 0
    assert dropped[flipped].mean() > 0.6 and dropped[~flipped].mean() < 0.05
    X_test, y_test, _ = data(4000, 0.0, seed=1)
    assert model.score(X_test, y_test) - plain.score(X_test, y_test) > 0.02
    # In LightGBM subsampling has no effect unless subsample_freq is above 0
    whole = PACED[package](random_state=0, subsample=1.0).fit(X, y)
    assert np.abs(margin(model, X) - margin(whole, X)).max() > 0.05


@both
@pytest.mark.parametrize(
    "n_classes, off", [(2, {"pace": Linear(plateau=np.inf)}), (3, {"p_min": 0})]
)
def test_without_a_pace_it_is_the_parent(package, n_classes, off):
    X, y = unequal(800, n_classes)
    weight = np.random.default_rng(0).uniform(0, 2, len(y))
    model = PACED[package](random_state=3, **off).fit(X, y, sample_weight=weight)
    plain = parent_of(model).fit(X, y, sample_weight=weight)
    tolerance = {"xgboost": 1.5e-6, "lightgbm": 1e-8}[package]
    assert np.abs(margin(model, X) - margin(plain, X)).max() <= tolerance
    np.testing.assert_allclose(
        model.predict_proba(X), plain.predict_proba(X), atol=1e-6
    )
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert (model.sample_pace_ == 1).all()


@both
def test_what_is_learned_follows_from_the_scores(package):
    X, y, _ = data()
    weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(y))
    model = PACED[package](pace="linear", p_min=0.45, warm_rounds=5, n_estimators=30)
    model.fit(X, y, sample_weight=weight)
    age = -np.log(0.45)
    for rounds in (1, 5, 7, 30):
        loss = logistic(staged(model, X, rounds), y)
        latent = weight @ pace_latent("linear", loss, age)
        assert model.latent_objective_[rounds - 1] == pytest.approx(latent, rel=1e-5)
        if 5 <= rounds < 30:
            n = ((pace_weight("linear", loss, age) > 0) & (weight > 0)).sum()
            assert abs(model.n_selected_[rounds] - n) <= 1
            assert n < (weight > 0).sum() - 5
    v = np.where(weight > 0, pace_weight("linear", loss, age), np.nan)
    np.testing.assert_allclose(model.sample_pace_, v, atol=1e-5)
    assert (model.n_selected_[:5] == (weight > 0).sum()).all()
    assert len(model.latent_objective_) == len(model.n_selected_) == 30


@both
@pytest.mark.parametrize("name", ["learning_rate", "eta"])
def test_warm_rounds_go_by_the_learning_rate_whatever_it_is_called(package, name):
    X, y, _ = data(200)
    model = PACED[package](n_estimators=60, **{name: 0.05}).fit(X, y)
    assert (model.n_selected_[:30] == len(y)).all()
    assert (model.n_selected_[30:] < len(y)).any()


@both
def test_parameters_of_the_pace_can_be_set_and_searched(package):
    X, y, _ = data(300)
    model = PACED[package](pace=Linear(), n_estimators=30, warm_rounds=3)
    assert model.set_params(pace__age=2.0, n_estimators=25) is model
    assert model.pace.age == 2.0 and model.n_estimators == 25
    search = GridSearchCV(
        model, {"pace__age": [0.6, 6.0]}, cv=2, scoring="neg_log_loss"
    )
    one, other = search.fit(X, y).cv_results_["mean_test_score"]
    assert abs(one - other) > 1e-3
    with pytest.raises(ValueError, match=r"pace__age cannot be set in pace='hard'"):
        model.set_params(pace="hard", n_estimators=7, pace__age=2.0)
    with pytest.raises(ValueError, match="slope"):
        model.set_params(n_estimators=7, pace__slope=2.0)
    assert model.n_estimators == 25 and isinstance(model.pace, Linear)


# ------------------------------------------------------------------------- as parents


@both
@pytest.mark.parametrize("warm_rounds", [5, 30])
def test_early_stopping_counts_after_the_warm_rounds_only(package, warm_rounds):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)  # nothing to learn
    given = dict(early_stopping_rounds=3, warm_rounds=warm_rounds, n_estimators=200)
    model = PACED[package](**given)
    model.fit(X[:150], y[:150], **evaluate_on(package, X[150:], y[150:]))
    n_done = len(next(iter(next(iter(results(model).values())).values())))
    assert warm_rounds + 3 < n_done < warm_rounds + 40
    n_kept = len(model.latent_objective_)
    assert n_done == n_kept + 3 and n_kept > warm_rounds
    np.testing.assert_allclose(margin(model, X), staged(model, X, n_kept), atol=1e-6)
    latent = pace_latent(
        "hard", logistic(margin(model, X[:150]), y[:150]), -np.log(0.37)
    )
    assert model.latent_objective_[-1] == pytest.approx(latent.sum(), rel=1e-5)


@both
def test_a_metric_of_the_user_sees_probabilities(package):
    X, y, _ = data()
    seen = []

    def brier(y_true, y_pred):
        seen.append(y_pred)
        value = float(np.mean((y_true - y_pred) ** 2))
        return value if package == "xgboost" else ("brier", value, False)

    given = evaluate_on(package, X[:100], y[:100])
    if package == "xgboost":
        model = PACED[package](n_estimators=20, eval_metric=brier).fit(X, y, **given)
    else:
        model = PACED[package](n_estimators=20).fit(X, y, eval_metric=brier, **given)
    np.testing.assert_allclose(seen[-1], model.predict_proba(X[:100])[:, 1], atol=1e-6)


@both
def test_clone_pickle_and_parameters(package):
    X, y, _ = data(300)
    model = PACED[package](p_min=0.3, pace=Linear(), n_estimators=20)
    model.fit(X, y)
    assert repr(clone(model).get_params()) == repr(model.get_params())
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(same.sample_pace_, model.sample_pace_)
    assert not [name for name in vars(model) if "fit_now" in name]
    assert not callable(model.objective)
    first = margin(model, X)
    np.testing.assert_array_equal(margin(model.fit(X, y), X), first)
    pipeline = make_pipeline(StandardScaler(), PACED[package](n_estimators=20))
    assert cross_val_score(pipeline, X, y, cv=2).min() > 0.6


@both
def test_a_failed_fit_leaves_the_model_as_it_was(package):
    X, y, _ = data(300)
    model = PACED[package](n_estimators=20).fit(X, y)
    before, kept = margin(model, X), set(vars(model))

    def fail(*args):
        raise KeyboardInterrupt

    given = {"callbacks": [fail]}
    if package == "xgboost":
        model.eval_metric = fail
        given = {"eval_set": [(X[:, :5], y)], "verbose": False}
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :5], y, **given)
    np.testing.assert_array_equal(margin(model, X), before)
    assert set(vars(model)) == kept and not callable(model.objective)
    if package == "xgboost":
        assert model.callbacks is None and model.random_state is None


@both
def test_going_on_from_a_model(package):
    X, y, _ = data(500)
    given = dict(warm_rounds=10, subsample=1.0, random_state=0)
    whole = PACED[package](n_estimators=30, **given).fit(X, y)
    half = PACED[package](n_estimators=15, **given).fit(X, y)
    argument = "xgb_model" if package == "xgboost" else "init_model"
    more = PACED[package](n_estimators=15, **given).fit(X, y, **{argument: half})
    np.testing.assert_allclose(margin(more, X), margin(whole, X), atol=1e-5)
    latent = whole.latent_objective_[15:]
    np.testing.assert_allclose(more.latent_objective_, latent, rtol=1e-5)
    np.testing.assert_array_equal(more.sample_pace_, whole.sample_pace_)


@both
def test_scores_to_start_from(package):
    X, y, _ = data(500)
    start = np.random.default_rng(0).normal(size=len(y))
    given = {"base_margin" if package == "xgboost" else "init_score": start}
    model = PACED[package](p_min=0, n_estimators=20).fit(X, y, **given)
    plain = parent_of(model).fit(X, y, **given)
    np.testing.assert_allclose(margin(model, X), margin(plain, X), atol=2e-6)
    # XGBoost itself adds the margin to each tree of dart where data are no DMatrix
    for dart in ({}, {"boosting": "dart"})[: 1 + (package == "lightgbm")]:
        paced = PACED[package](n_estimators=20, warm_rounds=3, **dart)
        paced.fit(X, y, **given)
        if package == "xgboost":
            scores = paced.predict(X, output_margin=True, base_margin=start)
        else:
            scores = margin(paced, X) + start
        check_dropped(paced, logistic(scores, y))


@both
def test_frames_with_names_categories_and_missing_values(package):
    X, y, flipped = data(600)
    frame = pd.DataFrame(X, columns=[f"column_{k}" for k in range(20)])
    frame["group"] = pd.Categorical(np.where(np.arange(600) % 3, "a", "b"))
    frame.iloc[::7, 3] = np.nan
    given = {"enable_categorical": True} if package == "xgboost" else {}
    model = PACED[package](**given).fit(frame, y)
    assert list(model.feature_names_in_) == list(frame)
    assert (model.sample_pace_ == 0)[flipped].mean() > 0.5
    assert model.score(frame, y) > 0.7


# -------------------------------------------------------------------------- the classes


@both
def test_rare_classes_are_warned_of_and_helped(package):
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.07).astype(int)
    X = rng.normal(size=(3000, 6)) + 0.8 * y[:, None]
    with pytest.warns(UserWarning, match="has dropped .* of class 1.*smaller p_min"):
        strict = PACED[package]().fit(X, y)
    dropped = (strict.sample_pace_ == 0)[y == 1].mean()
    fair = PACED[package](pace=Hard(prior_corrected=True)).fit(X, y)
    assert (fair.sample_pace_ == 0)[y == 1].mean() < dropped / 2
    assert fair.paces_[1].age > strict.paces_[1].age
    spared = PACED[package](pace={0: "hard", 1: None}).fit(X, y)
    assert (spared.sample_pace_[y == 1] == 1).all()


def ages(model):
    return [pace.age for pace in model.paces_.values()]


@both
def test_shares_of_classes_are_those_of_all_weights(package):
    """Whether they come as a weight of samples, of classes, or of the second class."""
    X, y = unequal()
    given = dict(pace=Hard(prior_corrected=True), p_min=0.3, n_estimators=20)
    plain = PACED[package](**given).fit(X, y)
    weight = np.where(y > 0, 2.5, 1.0)
    wanted = ages(PACED[package](**given).fit(X, y, sample_weight=weight))
    assert wanted[1] < ages(plain)[1] - 0.1  # a class that is less rare
    others = [({"scale_pos_weight": 2.5}, wanted)]
    if package == "lightgbm":
        even = [-np.log(0.3)] * 2
        others.append(({"class_weight": {0: 1.0, 1: 2.5}}, wanted))
        others.append(({"class_weight": "balanced"}, even))
        others.append(({"is_unbalance": True}, even))
    for other, expected in others:
        model = PACED[package](**given, **other).fit(X, y)
        np.testing.assert_allclose(ages(model), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "package, given",
    [
        ("xgboost", {"num_class": 2}),
        ("xgboost", {"num_class": 2, "objective": "multi:softprob"}),
        ("lightgbm", {"num_class": 2}),
        ("lightgbm", {"num_classes": 2, "objective": "multiclass"}),
    ],
)
def test_classes_are_counted_whatever_their_number_is_said_to_be(package, given):
    """Also where a model is fitted again to other classes."""
    model = PACED[package](n_estimators=20, p_min=0.1, **given)
    for n_classes in (2, 3, 2):
        X, y, _ = data(300, n_classes=n_classes)
        wanted = PACED[package](n_estimators=20, p_min=0.1).fit(X, y)
        found = model.fit(X, y).predict_proba(X)
        assert found.shape == (300, n_classes)
        np.testing.assert_array_equal(found, wanted.predict_proba(X))
        np.testing.assert_array_equal(model.predict(X), wanted.predict(X))
        np.testing.assert_array_equal(model.to_plain().predict_proba(X), found)


@both
@pytest.mark.parametrize("by_weight", [False, True])
def test_a_single_class(package, by_weight):
    X, y, _ = data(60)
    given = {"sample_weight": 1.0 * (y == 0)} if by_weight else {}
    y = y if by_weight else y * 0
    with pytest.warns(UserWarning, match="y contains only one class, 0"):
        model = PACED[package](n_estimators=20).fit(X, y, **given)
    assert (model.predict(X) == 0).all()
    if not by_weight:
        np.testing.assert_array_equal(model.predict_proba(X), np.ones((60, 1)))
        if package == "lightgbm":
            assert model.predict_proba(X, raw_score=True).shape == (60,)
        assert (model.sample_pace_ == 1).all() and list(model.paces_) == [0]


# ---------------------------------------------------------------------- hard cases


@both
def test_few_rows_and_columns_without_any_split(package):
    X, y, _ = data(20, 0.1)
    model = PACED[package](warm_rounds=2, n_estimators=20)
    proba = model.fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all() and len(model.sample_pace_) == 20
    y, X = np.arange(60) % 3 % 2, np.ones((60, 2))
    model = PACED[package](n_estimators=5, warm_rounds=1, p_min=0.2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), atol=0.02)


@both
def test_rounds_that_have_no_effect_are_warned_of(package):
    X, y, _ = data(300)
    with pytest.warns(UserWarning, match="left no sample in .* rounds.*smaller p_min"):
        model = PACED[package](p_min=0.99, warm_rounds=0, n_estimators=5).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), atol=1e-6)
    with pytest.warns(UserWarning, match="left no sample"):
        late = PACED[package](p_min=0.99, warm_rounds=3, n_estimators=6).fit(X, y)
    assert np.isfinite(late.predict_proba(X)).all()
    assert (late.n_selected_[3:] == 0).all()
    with pytest.warns(UserWarning, match="had no effect: 10 rounds"):
        PACED[package](n_estimators=10).fit(X, y)


@pytest.mark.parametrize(
    "package, dart", [("lightgbm", "boosting"), ("xgboost", "booster")]
)
def test_paces_of_dart_are_those_of_the_model(package, dart):
    X, y, _ = data(400)
    share = {"xgboost": "rate_drop", "lightgbm": "drop_rate"}[package]
    given = {dart: "dart", share: 0.5, "n_estimators": 40, "random_state": 0}
    model = PACED[package](**given).fit(X, y)
    check_dropped(model, logistic(margin(model, X), y))


@both
@pytest.mark.parametrize(
    "given, error, match",
    [
        ({"p_min": 2}, ValueError, "p_min == 2, must be < 1"),
        ({"warm_rounds": -1}, ValueError, "warm_rounds == -1, must be >= 0"),
        ({"pace": "slow"}, ValueError, "pace='slow'"),
        ({"pace": Hard(age=1.0), "p_min": 0.3}, ValueError, "both say how strict"),
        ({"objective": "regression"}, ValueError, "objective='regression'"),
        ({"pmin": 1}, TypeError, "no parameter 'pmin'; did you mean 'p_min'"),
        ({"warm_round": 1}, TypeError, "no parameter 'warm_round'.*'warm_rounds'"),
    ],
)
def test_wrong_arguments_are_named(package, given, error, match):
    X, y, _ = data(100)
    for model in (PACED[package](**given), PACED[package]().set_params(**given)):
        with pytest.raises(error, match=match):
            model.fit(X, y)


# ------------------------------------------------------------ scikit-learn's own checks


@both
def test_no_check_fails_that_the_parent_passes(package):
    ours = PACED[package](n_estimators=6, warm_rounds=2)
    assert failed_checks(ours) <= failed_checks(parent_of(ours))


def failed_checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_skip=None, on_fail=None)
    return {each["check_name"] for each in found if each["status"] == "failed"}
