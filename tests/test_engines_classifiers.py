"""Self-paced XGBoost and LightGBM: what holds for both."""

import copy
import inspect
import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reference import pace_latent, pace_weight
from splboost.datasets import flip_labels, make_twonorm
from splboost.engines import SPLLGBMClassifier, SPLXGBClassifier
from splboost.pace import Hard, Linear

QUIET = {"verbose": -1}
OWN = {
    "xgboost": lambda **given: SPLXGBClassifier(n_jobs=1, **given),
    "lightgbm": lambda **given: SPLLGBMClassifier(n_jobs=1, **{**QUIET, **given}),
}
PARENTS = {"xgboost": xgboost.XGBClassifier, "lightgbm": lightgbm.LGBMClassifier}
TOLERANCE = {"xgboost": 1.5e-6, "lightgbm": 1e-8}
both = pytest.mark.parametrize("package", OWN)


def data(n=800, share=0.2, seed=0):
    X, y = make_twonorm(n, random_state=seed)
    noisy, flipped = flip_labels((y > 0).astype(int), share, random_state=seed)
    return X, noisy, flipped


def parent_of(model):
    """The plain classifier with equal parameters."""
    ours = ("p_min", "pace", "warm_rounds", "n_seeds")
    package = "xgboost" if isinstance(model, SPLXGBClassifier) else "lightgbm"
    given = {k: v for k, v in model.get_params().items() if k not in ours}
    return PARENTS[package](**given)


def margin(model, X):
    if isinstance(model, xgboost.XGBClassifier):
        return model.predict(X, output_margin=True)
    return model.predict(X, raw_score=True)


# -------------------------------------------------------------------- the pace acts


@both
def test_the_pace_acts(package):
    X, y, flipped = data()
    model = OWN[package](random_state=0).fit(X, y)
    assert np.abs(margin(model, X) - margin(parent_of(model).fit(X, y), X)).max() > 0.5
    dropped = model.sample_pace_ == 0
    assert dropped[flipped].mean() > 0.6 and dropped[~flipped].mean() < 0.05
    X_test, y_test, _ = data(4000, 0.0, seed=1)
    gain = model.score(X_test, y_test) - parent_of(model).fit(X, y).score(
        X_test, y_test
    )
    assert gain > 0.02


@both
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("off", [{"p_min": 0}, {"pace": Linear(plateau=np.inf)}])
def test_without_a_pace_it_is_the_parent(package, n_classes, off):
    X, y, _ = data()
    if n_classes == 3:
        y = y + (X[:, 2] > 0.8)
    y = y * (np.arange(len(y)) % 3 > 0)  # so that the classes differ in size
    weight = np.random.default_rng(0).uniform(0, 2, len(y))
    model = OWN[package](random_state=3, **off).fit(X, y, sample_weight=weight)
    plain = parent_of(model).fit(X, y, sample_weight=weight)
    assert np.abs(margin(model, X) - margin(plain, X)).max() <= TOLERANCE[package]
    np.testing.assert_allclose(
        model.predict_proba(X), plain.predict_proba(X), atol=1e-6
    )
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert (model.sample_pace_ == 1).all()


@both
def test_ten_classes(package):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 1500)
    X = rng.normal(size=(10, 6))[y] * 3 + rng.normal(size=(1500, 6))
    noisy, flipped = flip_labels(y, 0.3, random_state=0)
    model = OWN[package](random_state=0, n_estimators=60).fit(X, noisy)
    dropped = model.sample_pace_ == 0
    assert dropped[flipped].mean() > 0.6 and dropped[~flipped].mean() < 0.1
    assert model.paces_[3].age == pytest.approx(-np.log(0.074))


@both
@pytest.mark.parametrize("weights", [None, "random"])
def test_what_is_learned_follows_from_the_scores(package, weights):
    X, y, _ = data()
    weight = None
    if weights:
        weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(y))
    model = OWN[package](pace="linear", p_min=0.45, warm_rounds=5, n_estimators=30)
    model.fit(X, y, sample_weight=weight)
    age = -np.log(0.45)
    used = np.ones(len(y)) if weight is None else weight
    for rounds in (1, 5, 7, 30):
        F = staged(model, X, rounds)
        loss = np.logaddexp(0, np.where(y > 0, -F, F))
        latent = used @ pace_latent("linear", loss, age)
        assert model.latent_objective_[rounds - 1] == pytest.approx(latent, rel=1e-5)
        if 5 <= rounds < 30:
            n = ((pace_weight("linear", loss, age) > 0) & (used > 0)).sum()
            assert abs(model.n_selected_[rounds] - n) <= 1
            assert n < (used > 0).sum() - 5
    v = np.where(used > 0, pace_weight("linear", loss, age), np.nan)
    np.testing.assert_allclose(model.sample_pace_, v, atol=1e-5)
    assert (model.n_selected_[:5] == (used > 0).sum()).all()
    assert len(model.latent_objective_) == len(model.n_selected_) == 30


def staged(model, X, rounds):
    if isinstance(model, xgboost.XGBClassifier):
        return model.predict(X, output_margin=True, iteration_range=(0, rounds))
    return model.predict(X, raw_score=True, num_iteration=rounds)


@both
def test_subsampling_changes_the_model(package):
    """In LightGBM it does not unless subsample_freq is above 0."""
    X, y, _ = data()
    half = OWN[package]().fit(X, y)
    whole = OWN[package](subsample=1.0).fit(X, y)
    assert half.subsample == 0.5
    assert np.abs(margin(half, X) - margin(whole, X)).max() > 0.05


@both
def test_seeds_are_averaged(package):
    X, y, _ = data(400)
    model = OWN[package](n_seeds=3, n_estimators=25, random_state=5).fit(X, y)
    single = [
        OWN[package](n_estimators=25, random_state=5 + k).fit(X, y) for k in range(3)
    ]
    scores = [margin(each, X) for each in single]
    assert np.abs(scores[0] - scores[1]).max() > 0.05
    mean = np.mean(scores, axis=0)
    np.testing.assert_allclose(margin(model, X), mean, atol=1e-5)
    for k, each in enumerate(single):
        np.testing.assert_array_equal(
            model.latent_objective_[k], each.latent_objective_
        )
        np.testing.assert_array_equal(model.n_selected_[k], each.n_selected_)
    loss = np.logaddexp(0, np.where(y > 0, -mean, mean))
    clear = np.abs(loss + np.log(0.37)) > 1e-4
    np.testing.assert_array_equal(
        model.sample_pace_[clear], (loss < -np.log(0.37))[clear]
    )
    assert model.random_state == 5 and len(model.latent_objective_) == 3


@both
@pytest.mark.filterwarnings("ignore:The pace has dropped")
def test_seeds_of_several_classes_and_early_stopping(package):
    X, y, _ = data(600)
    y = y + (X[:, 2] > 0.8)
    given = dict(n_seeds=2, n_estimators=60, warm_rounds=5)
    model = OWN[package](**given, early_stopping_rounds=3)
    evals = eval_arguments(package, X[:200], y[:200])
    model.fit(X[200:], y[200:], **evals)
    n_rounds = [len(each) for each in model.latent_objective_]
    assert max(n_rounds) < 60
    scores = [margin(each, X) for each in pieces(model, n_rounds)]
    np.testing.assert_allclose(margin(model, X), np.mean(scores, axis=0), atol=1e-5)


def pieces(model, n_rounds):
    """Models of one seed each, as far as early stopping let them go."""
    for k, n in enumerate(n_rounds):
        one = clone(model).set_params(
            n_seeds=1,
            random_state=k or None,
            n_estimators=n,
            early_stopping_rounds=None,
        )
        X_fit, y = data(600)[:2]
        y = y + (X_fit[:, 2] > 0.8)
        yield one.fit(X_fit[200:], y[200:])


def eval_arguments(package, X, y):
    if package == "xgboost":
        return {"eval_set": [(X, y)], "verbose": False}
    return {"eval_X": X, "eval_y": y} if NEW_EVAL else {"eval_set": [(X, y)]}


NEW_EVAL = "eval_X" in inspect.signature(lightgbm.LGBMClassifier.fit).parameters


# ------------------------------------------------------------------------- as parents


@both
@pytest.mark.parametrize("warm_rounds", [5, 30])
def test_early_stopping_counts_after_the_warm_rounds_only(package, warm_rounds):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)  # nothing to learn
    model = OWN[package](
        early_stopping_rounds=3, warm_rounds=warm_rounds, n_estimators=200
    )
    model.fit(X[:150], y[:150], **eval_arguments(package, X[150:], y[150:]))
    n_done = len(next(iter(next(iter(results(model).values())).values())))
    assert warm_rounds + 3 < n_done < warm_rounds + 40
    n_kept = len(model.latent_objective_)
    assert n_done == n_kept + 3 and n_kept > warm_rounds
    np.testing.assert_allclose(
        margin(model, X), staged(model, X, n_kept), rtol=0, atol=1e-6
    )
    F = margin(model, X[:150])
    loss = np.logaddexp(0, np.where(y[:150] > 0, -F, F))
    assert model.latent_objective_[-1] == pytest.approx(
        pace_latent("hard", loss, -np.log(0.37)).sum(), rel=1e-5
    )


def results(model):
    return (
        model.evals_result()
        if isinstance(model, xgboost.XGBClassifier)
        else model.evals_result_
    )


@both
def test_metrics_are_those_of_the_parent(package):
    X, y, _ = data(900)
    evals = eval_arguments(package, X[600:], y[600:])
    names = {
        "xgboost": ["logloss", "error", "auc"],
        "lightgbm": ["auc", "error", "average_precision", "rmse", "cross_entropy"],
    }[package]
    for n_classes in (2, 3):
        labels = y + (X[:, 2] > 0.8) * (n_classes - 2)
        if n_classes == 3:
            names = ["mlogloss", "merror"] if package == "xgboost" else ["multi_error"]
        evals = eval_arguments(package, X[600:], labels[600:])
        model = OWN[package](p_min=0, n_estimators=12)
        plain = parent_of(model)
        for each in (model, plain):
            given = {**evals}
            if package == "xgboost":
                each.set_params(eval_metric=names)
            else:
                given["eval_metric"] = list(names)
            each.fit(X[:600], labels[:600], **given)
        found, wanted = results(model), results(plain)
        assert list(found) == list(wanted)
        for part in wanted:
            assert list(found[part]) == list(wanted[part])
            for name in wanted[part]:
                np.testing.assert_allclose(
                    found[part][name], wanted[part][name], atol=2e-6, err_msg=name
                )


@both
def test_a_metric_of_the_user_sees_probabilities(package):
    X, y, _ = data()
    seen = []
    evals = eval_arguments(package, X[:100], y[:100])
    if package == "xgboost":

        def brier(y_true, y_pred):
            seen.append(y_pred)
            return float(np.mean((y_true - y_pred) ** 2))

        model = OWN[package](n_estimators=20, eval_metric=brier).fit(X, y, **evals)
    else:

        def brier(y_true, y_pred):
            seen.append(y_pred)
            return "brier", float(np.mean((y_true - y_pred) ** 2)), False

        model = OWN[package](n_estimators=20).fit(X, y, eval_metric=brier, **evals)
    np.testing.assert_allclose(seen[-1], model.predict_proba(X[:100])[:, 1], atol=1e-6)


@both
def test_clone_pickle_and_parameters(package):
    X, y, _ = data(300)
    model = OWN[package](p_min=0.3, pace=Linear(), n_seeds=2, n_estimators=20)
    model.fit(X, y)
    assert repr(clone(model).get_params()) == repr(model.get_params())
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(same.sample_pace_, model.sample_pace_)
    assert not [name for name in vars(model) if "fit_now" in name]
    assert not callable(model.objective)
    first = margin(model, X)
    np.testing.assert_array_equal(margin(model.fit(X, y), X), first)


@both
def test_searches_and_pipelines(package):
    X, y, _ = data(300)
    search = GridSearchCV(
        OWN[package](n_estimators=20, warm_rounds=5), {"p_min": [0, 0.2, 0.37]}, cv=2
    ).fit(X, y)
    assert len(set(search.cv_results_["mean_test_score"].round(6))) > 1
    pipeline = make_pipeline(StandardScaler(), OWN[package](n_estimators=20))
    assert cross_val_score(pipeline, X, y, cv=2).min() > 0.6


@both
def test_a_failed_fit_leaves_the_model_as_it_was(package):
    X, y, _ = data(300)
    model = OWN[package](n_estimators=20).fit(X, y)
    before, kept = margin(model, X), dict(vars(model))

    def fail(*args):
        raise KeyboardInterrupt

    model.set_params(n_seeds=2)
    given = (
        {"callbacks": [fail]}
        if package == "lightgbm"
        else {"eval_set": [(X[:, :5], y)], "verbose": False}
    )
    if package == "xgboost":
        model.eval_metric = fail
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :5], y, **given)
    model.set_params(n_seeds=1)
    if package == "xgboost":
        model.eval_metric = None
    np.testing.assert_array_equal(margin(model, X), before)
    assert set(vars(model)) == set(kept)
    assert not callable(model.objective)
    if package == "xgboost":
        assert model.callbacks is None and model.random_state is None


@both
def test_going_on_from_a_model(package):
    X, y, _ = data(500)
    given = dict(warm_rounds=10, subsample=1.0, random_state=0)
    whole = OWN[package](n_estimators=30, **given).fit(X, y)
    half = OWN[package](n_estimators=15, **given).fit(X, y)
    argument = "xgb_model" if package == "xgboost" else "init_model"
    more = OWN[package](n_estimators=15, **given).fit(X, y, **{argument: half})
    np.testing.assert_allclose(margin(more, X), margin(whole, X), atol=1e-5)
    np.testing.assert_allclose(
        more.latent_objective_, whole.latent_objective_[15:], rtol=1e-5
    )
    np.testing.assert_array_equal(more.sample_pace_, whole.sample_pace_)


@both
def test_scores_to_start_from(package):
    X, y, _ = data(500)
    start = np.random.default_rng(0).normal(size=len(y))
    argument = "base_margin" if package == "xgboost" else "init_score"
    model = OWN[package](p_min=0, n_estimators=20).fit(X, y, **{argument: start})
    plain = parent_of(model).fit(X, y, **{argument: start})
    np.testing.assert_allclose(margin(model, X), margin(plain, X), atol=2e-6)
    paced = OWN[package](n_estimators=20, warm_rounds=3).fit(X, y, **{argument: start})
    if package == "xgboost":
        F = paced.predict(X, output_margin=True, base_margin=start)
    else:
        F = margin(paced, X) + start
    loss = np.logaddexp(0, np.where(y > 0, -F, F))
    clear = np.abs(loss + np.log(0.37)) > 1e-4
    np.testing.assert_array_equal(
        (paced.sample_pace_ > 0)[clear], (loss < -np.log(0.37))[clear]
    )


@both
def test_frames_with_names_categories_and_missing_values(package):
    X, y, flipped = data(600)
    frame = pd.DataFrame(X, columns=[f"column_{k}" for k in range(20)])
    frame["group"] = pd.Categorical(np.where(np.arange(600) % 3, "a", "b"))
    frame.iloc[::7, 3] = np.nan
    given = {"enable_categorical": True} if package == "xgboost" else {}
    model = OWN[package](**given).fit(frame, y)
    assert list(model.feature_names_in_) == list(frame)
    assert (model.sample_pace_ == 0)[flipped].mean() > 0.5
    assert model.score(frame, y) > 0.7


# ----------------------------------------------------------------------- rare classes


def rare(n=3000):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.07).astype(int)
    return rng.normal(size=(n, 6)) + 0.8 * y[:, None], y


@both
def test_rare_classes_are_warned_of_and_helped(package):
    X, y = rare()
    with pytest.warns(UserWarning, match="has dropped .* of class 1.*smaller p_min"):
        strict = OWN[package]().fit(X, y)
    dropped = (strict.sample_pace_ == 0)[y == 1].mean()
    fair = OWN[package](pace=Hard(prior_corrected=True)).fit(X, y)
    assert (fair.sample_pace_ == 0)[y == 1].mean() < dropped / 2
    assert fair.paces_[1].age > strict.paces_[1].age
    spared = OWN[package](pace={0: "hard", 1: None}).fit(X, y)
    assert (spared.sample_pace_[y == 1] == 1).all()


# ---------------------------------------------------------------------- hard cases


@both
def test_parameters_of_the_pace_can_be_set_and_searched(package):
    X, y, _ = data(300)
    model = OWN[package](pace=Linear(), n_estimators=30, warm_rounds=3)
    assert model.set_params(pace__age=2.0, n_estimators=25) is model
    assert model.pace.age == 2.0 and model.n_estimators == 25
    search = GridSearchCV(
        model, {"pace__age": [0.4, 6.0]}, cv=2, scoring="neg_log_loss"
    )
    one, other = search.fit(X, y).cv_results_["mean_test_score"]
    assert abs(one - other) > 1e-3
    with pytest.raises(ValueError, match=r"pace__age cannot be set in pace='hard'"):
        model.set_params(pace="hard", n_estimators=7, pace__age=2.0)
    with pytest.raises(ValueError, match="slope"):
        model.set_params(n_estimators=7, pace__slope=2.0)
    assert model.n_estimators == 25 and isinstance(model.pace, Linear)
    model.set_params(pace="hard")
    with pytest.raises(ValueError, match=r"pace__age cannot be set in pace='hard'"):
        model.set_params(n_estimators=7, pace__age=2.0)
    assert model.n_estimators == 25


@both
@pytest.mark.parametrize("name", ["learning_rate", "eta"])
def test_warm_rounds_go_by_the_learning_rate_whatever_it_is_called(package, name):
    X, y, _ = data(200)
    model = OWN[package](n_estimators=60, **{name: 0.05}).fit(X, y)
    assert (model.n_selected_[:30] == len(y)).all()
    assert (model.n_selected_[30:] < len(y)).any()


@pytest.mark.parametrize("options", [{"boosting": "dart"}, {"boosting_type": "dart"}])
def test_paces_of_lightgbms_dart_are_those_of_the_model(options):
    X, y, _ = data(400)
    model = SPLLGBMClassifier(drop_rate=0.5, random_state=0, **options, **QUIET)
    check_final_pace(model.fit(X, y), X, y)


def test_paces_of_xgboosts_dart_are_those_of_the_model():
    X, y, _ = data(400)
    model = SPLXGBClassifier(booster="dart", rate_drop=0.5, random_state=0, n_jobs=1)
    check_final_pace(model.fit(X, y), X, y)


def check_final_pace(model, X, y):
    p = model.predict_proba(X)[np.arange(len(y)), y]
    pace = model.paces_[1]
    clear = np.abs(-np.log(p) - pace.age) > 1e-3
    expected = pace.weight(-np.log(p))
    np.testing.assert_array_equal(model.sample_pace_[clear], expected[clear])


@both
def test_twenty_rows(package):
    X, y, _ = data(20, 0.1)
    model = OWN[package](warm_rounds=2, n_estimators=20)
    proba = model.fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all() and len(model.sample_pace_) == 20


@both
def test_a_constant_target(package):
    X, _, _ = data(50)
    for value in (0,) if package == "xgboost" else (0, 1):
        model = OWN[package](n_estimators=20).fit(X, np.full(50, value))
        np.testing.assert_allclose(model.predict_proba(X)[:, 0], 1, atol=1e-5)
        assert (model.predict(X) == value).all() and (model.sample_pace_ == 1).all()


@both
def test_columns_without_any_split(package):
    y = np.arange(60) % 3 % 2
    X = np.ones((60, 2))
    model = OWN[package](n_estimators=5, warm_rounds=1, p_min=0.2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), atol=0.02)


@both
def test_rounds_without_any_sample(package):
    X, y, _ = data(300)
    with pytest.warns(UserWarning, match="left no sample in .* rounds.*smaller p_min"):
        model = OWN[package](p_min=0.99, warm_rounds=0, n_estimators=5).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), atol=1e-6)
    with pytest.warns(UserWarning, match="left no sample"):
        late = OWN[package](p_min=0.99, warm_rounds=3, n_estimators=6).fit(X, y)
    assert np.isfinite(late.predict_proba(X)).all()
    assert (late.n_selected_[3:] == 0).all()


@both
def test_only_warm_rounds(package):
    X, y, _ = data(300)
    with pytest.warns(UserWarning, match="had no effect: all 10 rounds"):
        OWN[package](n_estimators=10).fit(X, y)


@both
def test_weights_of_zero(package):
    X, y, _ = data(400)
    weight = (np.arange(400) % 2).astype(float)
    model = OWN[package](n_estimators=30).fit(X, y, sample_weight=weight)
    assert np.isnan(model.sample_pace_[::2]).all()
    assert not np.isnan(model.sample_pace_[1::2]).any()
    with pytest.raises(ValueError, match="all zero: sample_weight leaves no row"):
        OWN[package]().fit(X, y, sample_weight=np.zeros(400))


@both
@pytest.mark.parametrize(
    "given, error, match",
    [
        ({"p_min": 2}, ValueError, "p_min=2"),
        ({"n_seeds": 0}, ValueError, "n_seeds=0"),
        ({"n_seeds": 1.5}, TypeError, "n_seeds=1.5"),
        ({"warm_rounds": -1}, ValueError, "warm_rounds=-1"),
        ({"pace": "slow"}, ValueError, "pace='slow'"),
        ({"pace": Hard(age=1.0), "p_min": 0.3}, ValueError, "both say how strict"),
        ({"objective": "regression"}, ValueError, "objective='regression'"),
    ],
)
def test_wrong_arguments_are_named(package, given, error, match):
    X, y, _ = data(100)
    with pytest.raises(error, match=match):
        OWN[package](**given).fit(X, y)
