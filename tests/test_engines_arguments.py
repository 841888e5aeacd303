"""What may be given to self-paced XGBoost and LightGBM, and what becomes of it."""

import ast
import inspect
import re
import warnings
from datetime import date, timedelta

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from lightgbm.basic import _ConfigAliases

from splboost import engines
from splboost.engines import SelfPacedObjective
from splboost.engines.self_paced import ALIKE
from splboost.engines.self_paced import OURS as PARAMETERS
from splboost.pace import Hard
from test_engines_classifiers import (
    OWN,
    both,
    data,
    eval_arguments,
    margin,
    parent_of,
    results,
    staged,
)

# ------------------------------------------------------------------- shares of classes


def unequal(n=400):
    X, y, _ = data(n)
    return X, y * (np.arange(n) % 3 > 0)


def ages(model):
    return [pace.age for pace in model.paces_.values()]


@both
def test_shares_of_classes_are_those_of_all_weights(package):
    """Whether they come as a weight of samples, of classes, or of the second class."""
    X, y = unequal()
    given = dict(pace=Hard(prior_corrected=True), p_min=0.3, n_estimators=20)
    plain = OWN[package](**given).fit(X, y)
    factor = 2.5
    weighted = OWN[package](**given).fit(
        X, y, sample_weight=np.where(y > 0, factor, 1.0)
    )
    wanted = ages(weighted)
    assert wanted[1] < ages(plain)[1] - 0.1  # a class that is less rare
    others = [{"scale_pos_weight": factor}]
    if package == "lightgbm":
        others.append({"class_weight": {0: 1.0, 1: factor}})
    for other in others:
        model = OWN[package](**given, **other).fit(X, y)
        np.testing.assert_allclose(ages(model), wanted, rtol=1e-6)
    if package == "lightgbm":
        even = [
            OWN[package](**given, **how).fit(X, y)
            for how in ({"is_unbalance": True}, {"class_weight": "balanced"})
        ]
        for model in even:
            np.testing.assert_allclose(ages(model), -np.log(0.3), rtol=1e-6)


def test_shares_of_classes_in_the_objective_are_those_of_the_weights():
    scores = np.full(100, np.log(0.15 / 0.85))
    y = (np.arange(100) < 15).astype(float)
    objective = SelfPacedObjective(
        pace=Hard(prior_corrected=True), p_min=0.3, warm_rounds=0
    )
    even = np.where(y > 0, 1 / 15, 1 / 85)
    assert (objective(y, scores)[0][y > 0] != 0).all()
    assert (objective(y, scores, even)[0][y > 0] == 0).all()


# ------------------------------------------------------------------ rows and weights


@both
@pytest.mark.parametrize("wrong", [-1.0, np.inf, np.nan])
def test_weights_that_are_none_are_named(package, wrong):
    X, y, _ = data(60)
    weight = np.ones(60)
    weight[7] = wrong
    with pytest.raises(ValueError, match=r"sample_weight.*zero or positive"):
        OWN[package]().fit(X, y, sample_weight=weight)


@both
def test_too_few_weights_and_rows_are_named(package):
    X, y, _ = data(60)
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(7,\)"):
        OWN[package]().fit(X, y, sample_weight=np.ones(7))
    with pytest.raises(ValueError, match=r"X has no rows, got X of shape \(0, 20\)"):
        OWN[package]().fit(X[:0], y[:0])


@both
def test_labels_of_other_rows_are_named(package):
    X, y, _ = data(60)
    with pytest.raises(ValueError, match="X has 60 rows and y has 59 labels; give one"):
        OWN[package]().fit(X, y[:59])
    message = r"X of eval_set\[1\] has 60 rows and y of eval_set\[1\] has 7 labels"
    with pytest.raises(ValueError, match=message):
        OWN[package]().fit(X, y, eval_set=[(X, y), (X, y[:7])])


@both
@pytest.mark.parametrize("size", [1e-46, 1e37])
def test_weights_beyond_the_floats_of_the_packages(package, size):
    X, y, _ = data(60)
    message = r"Sample weights sum to .*32-bit floats.*rescale sample_weight"
    with pytest.raises(ValueError, match=message):
        OWN[package]().fit(X, y, sample_weight=np.full(60, size))


def test_labels_that_floats_have_merged_are_refused():
    X, _, _ = data(60)
    with pytest.raises(ValueError, match=r"y holds 9007199254740992\.0 as a float64"):
        engines.SPLLGBMClassifier().fit(X, [2**53, 2**53 + 1, 0.0] * 20)


# At most of these LightGBM would abort the process, and XGBoost have a KeyError.
ODD_COLUMNS = {
    "polars String": pl.Series(["a", "b"] * 30),
    "polars Date": pl.Series([date(2024, 1, 1)] * 60),
    "polars Duration": pl.Series([timedelta(1)] * 60),
    "polars List": pl.Series([[1], [2]] * 30),
    "polars Struct": pl.Series([{"a": 1}] * 60),
    "polars Binary": pl.Series([b"a"] * 60),
    "polars Decimal": pl.Series([1] * 60).cast(pl.Decimal(9, 1)),
    "polars Int128": pl.Series([1] * 60, dtype=pl.Int128),
    "polars Null": pl.Series([None] * 60),
    "arrow": pa.chunked_array([["a", "b"] * 30]),
    "pandas object": pd.Series([1, "b"] * 30, dtype=object),
    "pandas dates": pd.Series(pd.date_range("2024", periods=60)),
}
OF_LIGHTGBM_ALONE = {
    "polars Categorical": pl.Series(["a", "b"] * 30, dtype=pl.Categorical),
    "polars Enum": pl.Series(["a", "b"] * 30, dtype=pl.Enum(["a", "b"])),
    "arrow dictionary": pa.chunked_array([["a", "b"] * 30]).dictionary_encode(),
}


def frame_of(column, name="odd"):
    """A frame of the library that a column comes from."""
    plain = np.arange(60.0)
    if isinstance(column, pl.Series):
        return pl.DataFrame({"plain": plain, name: column})
    if isinstance(column, pd.Series):
        return pd.DataFrame({"plain": plain, name: column})
    return pa.table({"plain": plain, name: column})


@both
@pytest.mark.parametrize("kind", [*ODD_COLUMNS, *OF_LIGHTGBM_ALONE])
def test_columns_that_a_package_cannot_take_are_named(package, kind):
    if kind in OF_LIGHTGBM_ALONE and package == "xgboost":
        pytest.skip("takes them")
    X, y, _ = data(60)
    odd = frame_of({**ODD_COLUMNS, **OF_LIGHTGBM_ALONE}[kind])
    message = r"Column 'odd' of X has dtype .*, which (XGBoost|LightGBM) cannot take\. "
    with pytest.raises(ValueError, match=message + "(Make|Convert)"):
        OWN[package]().fit(odd, y)
    model = OWN[package](n_estimators=20).fit(X[:, :2], y)
    for method in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match=message):
            method(odd)
    with pytest.raises(ValueError, match=r"Column 'odd' of X of eval_set\[0\] has"):
        OWN[package]().fit(X[:, :2], y, eval_set=[(odd, y)])


def test_other_ways_to_give_evaluation_sets_to_lightgbm():
    X, y, _ = data(60)
    odd = frame_of(OF_LIGHTGBM_ALONE["polars Categorical"])
    for given in ({"eval_X": odd, "eval_y": y}, {"eval_X": (odd,), "eval_y": (y,)}):
        with pytest.raises(ValueError, match=r"Column 'odd' of X of eval_set\[0\] has"):
            engines.SPLLGBMClassifier().fit(X, y, **given)


@both
def test_names_and_cells_that_a_package_cannot_take_are_named(package):
    X, y, _ = data(60)
    model = OWN[package](n_estimators=20)
    twice = pd.DataFrame(X[:, :2], columns=["a", "a"])
    for do in (lambda: model.fit(twice, y), lambda: model.fit(X, y).predict(twice)):
        with pytest.raises(ValueError, match="X has several columns named 'a'; rename"):
            do()
    odd_name = pd.DataFrame(X[:, :2], columns=["a", "b[1]"])
    with pytest.raises(ValueError, match=r"X has a column named 'b\[1\]'.*rename it"):
        model.fit(odd_name, y)
    for texts in (np.array([["1", "a"]] * 60), [["1", "a"]] * 60):
        with pytest.raises(ValueError, match=r"Column 1 of X holds .*'a'.* no number"):
            model.fit(texts, y)
    with pytest.raises(TypeError, match=r"X is a lazy frame; call \.collect"):
        model.fit(pl.LazyFrame({"a": X[:, 0]}), y)


@both
@pytest.mark.parametrize("by_weight", [False, True])
def test_a_single_class_is_warned_of(package, by_weight):
    X, y, _ = data(60)
    given = {"sample_weight": 1.0 * (y == 0)} if by_weight else {}
    with pytest.warns(UserWarning, match="y contains only one class, 0"):
        OWN[package](n_estimators=20).fit(X, y if by_weight else y * 0, **given)


# --------------------------------------------------------------------- slips of the pen


@both
@pytest.mark.parametrize(
    "slip, meant",
    [("pmin", "p_min"), ("warmup_rounds", "warm_rounds"), ("num_seeds", "n_seeds")],
)
def test_slips_in_names_are_noticed(package, slip, meant):
    X, y, _ = data(60)
    for model in (OWN[package](**{slip: 1}), OWN[package]().set_params(**{slip: 1})):
        with pytest.raises(TypeError, match=f"no parameter '{slip}'.*'{meant}'"):
            model.fit(X, y)


def test_no_name_that_lightgbm_knows_is_taken_for_a_slip():
    from difflib import get_close_matches

    known = {alias for names in _ConfigAliases.aliases.values() for alias in names}
    assert len(known) > 100
    assert not [
        name for name in known if get_close_matches(name, PARAMETERS, cutoff=ALIKE)
    ]


# --------------------------------------------------------------- LightGBM's parameters


@pytest.mark.parametrize(
    "goss", [{"boosting_type": "goss"}, {"data_sample_strategy": "goss"}], ids=str
)
def test_goss_is_without_the_default_draws(goss):
    X, y, _ = data(400)
    model = OWN["lightgbm"](p_min=0, n_estimators=25, **goss).fit(X, y)
    plain = parent_of(model).set_params(subsample_freq=0).fit(X, y)
    assert np.abs(margin(model, X) - margin(plain, X)).max() <= 1e-8
    assert model.subsample == 0.5
    paced = OWN["lightgbm"](n_estimators=40, **goss).fit(X, y)
    assert (paced.sample_pace_ == 0).any()
    for allowed in ({"subsample": 1.0}, {"subsample_freq": 0}):
        OWN["lightgbm"](n_estimators=20, **goss, **allowed).fit(X, y)
    for refused in ({"subsample": 0.8}, {"subsample_freq": 2}, {"bagging": 0.5}):
        name, value = next(iter(refused.items()))
        with pytest.raises(ValueError, match=f"GOSS.*{name}={value}.*subsample=1"):
            OWN["lightgbm"](**goss, **refused).fit(X, y)


def test_leaves_that_the_depth_does_not_allow_are_warned_of():
    X, y, _ = data(400)
    with pytest.warns(
        UserWarning, match="num_leaves=63 cannot be reached: with max_depth=3 a tree"
    ):
        OWN["lightgbm"](num_leaves=63, n_estimators=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*cannot be reached")
        for given in ({"max_depth": -1}, {"max_depth": 5}):
            model = OWN["lightgbm"](
                num_leaves=63, min_child_samples=1, n_estimators=20, **given
            )
            trees = model.fit(X, y).booster_.dump_model()["tree_info"]
            assert max(tree["num_leaves"] for tree in trees) > 8
        OWN["lightgbm"](n_estimators=20).fit(X, y)


def test_shares_of_classes_to_draw_are_refused():
    """LightGBM ignores them under an objective that it does not know."""
    X, y, _ = data(100)
    names = {
        name
        for which in ("pos_bagging_fraction", "neg_bagging_fraction")
        for name in _ConfigAliases.get(which)
    }
    assert len(names) == 8
    for name in sorted(names):
        with pytest.raises(ValueError, match=f"{name}=0.5 would be ignored"):
            OWN["lightgbm"](**{name: 0.5}).fit(X, y)
    OWN["lightgbm"](n_estimators=20, pos_bagging_fraction=1.0).fit(X, y)


def test_names_of_columns_are_taken_without_a_warning():
    X, y, _ = data(100)
    names = [f"column {k}" for k in range(X.shape[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OWN["lightgbm"](n_estimators=20).fit(X, y, feature_name=names)
    assert list(model.feature_names_in_) == [name.replace(" ", "_") for name in names]


@pytest.mark.parametrize("label", [0, 1])
def test_rankings_of_a_single_class_are_those_of_lightgbm(label):
    X, y, _ = data(300)
    evals = eval_arguments("lightgbm", X[:50], np.full(50, label))
    names = ["average_precision", "auc"]
    model = OWN["lightgbm"](n_estimators=3, warm_rounds=1)
    found = results(model.fit(X, y, eval_metric=names, **evals))
    plain = lightgbm.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1)
    wanted = results(plain.fit(X, y, eval_metric=names, **evals))
    for name in names:
        assert found["valid_0"][name] == wanted["valid_0"][name] == [1.0] * 3


def test_divergence_is_cross_entropy_for_labels_of_two_classes():
    X, y, _ = data(300)
    evals = eval_arguments("lightgbm", X[:50], y[:50])
    names = ["kullback_leibler"]
    model = OWN["lightgbm"](p_min=0, n_estimators=3)
    found = results(model.fit(X, y, eval_metric=names, **evals))["valid_0"]
    plain = parent_of(model).fit(X, y, eval_metric=names, **evals)
    wanted = results(plain)["valid_0"]
    np.testing.assert_allclose(
        found["kullback_leibler"], wanted["kullback_leibler"], atol=1e-6
    )


# ------------------------------------------------------------------ number of classes


@pytest.mark.parametrize(
    "package, given",
    [
        ("xgboost", {"num_class": 2}),
        ("xgboost", {"num_class": 2, "objective": "multi:softprob"}),
        ("lightgbm", {"num_class": 2}),
        ("lightgbm", {"num_classes": 2, "objective": "multiclass"}),
        ("lightgbm", {"objective": "multiclass"}),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_counted_whatever_their_number_is_said_to_be(
    package, given, n_classes
):
    X, y, _ = data(300)
    y = y + (X[:, 2] > 0.8) * (n_classes - 2)
    model = OWN[package](n_estimators=20, p_min=0.1, **given).fit(X, y)
    other = OWN[package](n_estimators=20, p_min=0.1).fit(X, y)
    found = model.predict_proba(X)
    assert found.shape == (300, n_classes)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(found, other.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    np.testing.assert_array_equal(model.to_plain().predict_proba(X), found)


@both
def test_a_model_can_be_fitted_again_with_other_classes(package):
    X, y, _ = data(300)
    name = {"xgboost": "multi:softprob", "lightgbm": "multiclass"}[package]
    for objective in (None, name):
        model = OWN[package](objective=objective, n_estimators=20, p_min=0.1)
        for labels in (y, y + (X[:, 2] > 0.8), y):
            fresh = OWN[package](n_estimators=20, p_min=0.1).fit(X, labels)
            found = model.fit(X, labels).predict_proba(X)
            np.testing.assert_array_equal(found, fresh.predict_proba(X))


# ------------------------------------------------------------------------ several seeds


@pytest.mark.parametrize("name", ["SPLXGB", "DaskSPLXGB"])
@pytest.mark.parametrize(
    "given, match",
    [
        ({"booster": "dart"}, "booster='gbtree', got booster='dart'; set n_seeds=1"),
        ({"booster": "gblinear"}, "got booster='gblinear'"),
        (
            {"multi_strategy": "multi_output_tree", "tree_method": "hist"},
            "trees of one output; set n_seeds=1",
        ),
    ],
)
def test_what_cannot_be_averaged_is_refused_before_any_fit(
    name, given, match, monkeypatch
):
    def not_yet(*args, **kwargs):
        raise AssertionError("something was fitted")

    monkeypatch.setattr("xgboost.XGBClassifier.fit", not_yet)
    X, y, _ = data(60)
    y = y + (X[:, 2] > 0.8)
    model = getattr(engines, f"{name}Classifier")(n_seeds=2, **given)
    with pytest.raises(ValueError, match=match):  # and no cluster is asked for
        model.fit(X, y)


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_first_rounds_of_several_seeds_are_the_mean_of_theirs(package, n_classes):
    X, y, _ = data(400)
    y = y + (X[:, 2] > 0.8) * (n_classes - 2)
    given = dict(n_estimators=20, p_min=0.1)
    model = OWN[package](n_seeds=3, random_state=1, **given).fit(X, y)
    for rounds in (1, 8, 20):
        singles = [
            staged(OWN[package](random_state=1 + k, **given).fit(X, y), X, rounds)
            for k in range(3)
        ]
        counted = rounds if package == "xgboost" else 3 * rounds
        np.testing.assert_allclose(
            staged(model, X, counted), np.mean(singles, axis=0), atol=1e-5
        )
    if package == "xgboost":
        assert model.get_booster().num_boosted_rounds() == 20
        assert len(model.get_booster()[:8].get_dump()) == 8 * 3 * (
            n_classes % 2 * 2 + 1
        )


@both
def test_seeds_are_drawn_by_one_rule(package):
    kinds = np.random.RandomState, np.random.default_rng
    for kind, draw in zip(kinds, ("randint", "integers"), strict=True):
        first = int(getattr(kind(3), draw)(2**30))
        model = OWN[package](n_seeds=3, random_state=kind(3))
        assert model._list_seeds() == [first, first + 1, first + 2]
    assert OWN[package](n_seeds=3, random_state=None)._list_seeds() == [None, 1, 2]
    one = np.random.RandomState(3)
    assert OWN[package](random_state=one)._list_seeds() == [one]


@both
def test_seeds_that_end_at_different_rounds(package):
    X, y, _ = data(600)
    given = dict(n_estimators=200, early_stopping_rounds=6, warm_rounds=5)
    model = OWN[package](n_seeds=2, **given)
    evals = eval_arguments(package, X[:200], y[:200])
    model.fit(X[200:], y[200:], **evals)
    first = OWN[package](**given)
    first.fit(X[200:], y[200:], **evals)
    n_rounds = [len(each) for each in model.latent_objective_]
    assert n_rounds[0] != n_rounds[1] and n_rounds[0] == len(first.latent_objective_)
    # Metrics are those of the first seed, and there is no best round of all
    assert results(model) == results(first)
    if package == "xgboost":
        with pytest.raises(AttributeError, match="best_iteration"):
            _ = model.best_iteration
        assert model.get_booster().num_boosted_rounds() == max(n_rounds)
    else:
        assert model.best_iteration_ == -1 and not model.best_score_
        assert model.n_iter_ == sum(n_rounds)


# ----------------------------------------------------------------------- plain copies


@both
def test_a_plain_copy_shares_no_parameters(package):
    X, y, _ = data(100)
    name = {"xgboost": "refresh_leaf", "lightgbm": "path_smooth"}[package]
    model = OWN[package](n_estimators=20, **{name: 1}).set_params(p_min=0.2)
    plain = model.fit(X, y).to_plain()
    assert "p_min" not in plain.get_params() and plain.get_params()[name] == 1
    plain.set_params(**{name: 0}).fit(X, y)
    assert model.get_params()[name] == 1 and model.get_params()["p_min"] == 0.2


# ------------------------------------------------------------------------ docstrings


@pytest.mark.parametrize("name", ["SPLXGB", "SPLLGBM", "DaskSPLXGB"])
def test_every_parameter_is_described_with_its_default(name):
    cls = getattr(engines, f"{name}Classifier")
    assert "{" not in cls.__doc__ and max(map(len, cls.__doc__.splitlines())) <= 88
    said = re.findall(r"^    (\w+) : .*, default=(.+)$", cls.__doc__, flags=re.M)
    parameters = dict(inspect.signature(cls).parameters)
    parameters.pop("kwargs")
    assert [each for each, _ in said] == list(parameters)
    for each, default in said:
        assert ast.literal_eval(default) == parameters[each].default
