"""What is particular to LightGBM with a pace."""

import warnings
from difflib import get_close_matches

import lightgbm
import numpy as np
import pytest
from lightgbm.basic import LightGBMError, _ConfigAliases

from engine_models import (
    PACED,
    check_dropped,
    data,
    evaluate_on,
    logistic,
    margin,
    parent_of,
    results,
    unequal,
)
from splboost.engines.self_paced import ALIKE, OURS

make = PACED["lightgbm"]

# -------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    "given, error, match",
    [
        ({"min_child_weight": 0}, ValueError, "min_child_weight must be .* above 0"),
        ({"min_hessian": 0}, ValueError, "min_hessian must be .*min_hessian=0"),
        ({"min_sum_hessian_in_leaf": "a"}, TypeError, "min_sum_hessian_in_leaf='a'"),
        ({"boosting_type": "rf"}, LightGBMError, "RF mode do not support custom"),
        ({"sigmoid": 2.0}, ValueError, "sigmoid=2.0"),
        ({"objective": "cross_entropy"}, ValueError, "objective='cross_entropy'"),
        ({"objective": lambda y, p: (p - y, p)}, ValueError, "logistic or softmax"),
        ({"pos_bagging_fraction": 0.5}, ValueError, "pos_bag.*=0.5 would be ignored"),
        ({"neg_sub_row": 0.5}, ValueError, "neg_sub_row=0.5 would be ignored"),
        ({"metric": "ndcg"}, ValueError, r"'ndcg' is not among .*binary_logloss"),
    ],
)
def test_what_lightgbm_cannot_do_with_a_pace(given, error, match):
    """At a sum of Hessians of 0 it would end with a failed check."""
    X, y, _ = data(100)
    with pytest.raises(error, match=match):
        make(**given).fit(X, y)


@pytest.mark.parametrize(
    "given",
    [
        {"class_weight": "balanced"},
        {"class_weight": {"no": 1, "yes": 3}},
        {"scale_pos_weight": 2.0},
        {"is_unbalance": True},
        {"boost_from_average": False},
        {"boosting_type": "dart", "subsample_freq": 0},
        {"linear_tree": True},
        {"colsample_bytree": 0.5},
        {"min_child_samples": 1, "num_leaves": 4, "max_depth": -1},
        {"pos_bagging_fraction": 1.0},
    ],
    ids=str,
)
def test_lightgbm_with_other_parameters_is_the_parent(given):
    X, y = unequal()
    y = np.array(["no", "yes"])[y]
    model = make(p_min=0, n_estimators=25, **given).fit(X, y)
    plain = parent_of(model).fit(X, y)
    if given.get("boosting_type") == "dart":  # which may drop the start score, too
        assert np.corrcoef(margin(model, X), margin(plain, X))[0, 1] > 0.95
    else:
        assert np.abs(margin(model, X) - margin(plain, X)).max() <= 1e-8
    np.testing.assert_array_equal(model.classes_, plain.classes_)
    paced = make(n_estimators=25, p_min=0.3, **given).fit(X, y)
    check_dropped(paced, logistic(margin(paced, X), y == "yes"), 0.3)


@pytest.mark.parametrize("name", ["boosting_type", "data_sample_strategy"])
def test_goss_is_without_the_default_draws(name):
    X, y, _ = data(400)
    goss = {name: "goss"}
    model = make(p_min=0, n_estimators=25, **goss).fit(X, y)
    plain = parent_of(model).set_params(subsample_freq=0).fit(X, y)
    assert np.abs(margin(model, X) - margin(plain, X)).max() <= 1e-8
    assert model.subsample == 0.5
    paced = make(n_estimators=40, **goss).fit(X, y)
    assert (paced.sample_pace_ == 0).any()
    for allowed in ({"subsample": 1.0}, {"subsample_freq": 0}):
        make(n_estimators=20, **goss, **allowed).fit(X, y)
    for refused in ({"subsample": 0.8}, {"subsample_freq": 2}):
        with pytest.raises(LightGBMError, match="Cannot use bagging in GOSS"):
            make(**goss, **refused).fit(X, y)


def test_leaves_that_the_depth_does_not_allow_are_warned_of():
    X, y, _ = data(400)
    with pytest.warns(UserWarning, match="num_leaves=63 cannot be reached: with max_d"):
        make(num_leaves=63, n_estimators=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*cannot be reached")
        for depth in (-1, 5):
            model = make(
                num_leaves=63, min_child_samples=1, n_estimators=20, max_depth=depth
            )
            trees = model.fit(X, y).booster_.dump_model()["tree_info"]
            assert max(tree["num_leaves"] for tree in trees) > 8
        make(n_estimators=20).fit(X, y)


def test_no_name_that_lightgbm_knows_is_taken_for_a_slip():
    _ConfigAliases.get("metric")
    known = {alias for names in _ConfigAliases.aliases.values() for alias in names}
    assert len(known) > 100
    assert not [n for n in known if get_close_matches(n, OURS, cutoff=ALIKE)]


def test_names_of_columns_are_taken_without_a_warning():
    X, y, _ = data(100)
    names = [f"column {k}" for k in range(X.shape[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(n_estimators=20).fit(X, y, feature_name=names)
    assert list(model.feature_names_in_) == [name.replace(" ", "_") for name in names]


# ----------------------------------------------------- what is put right: metrics, text


def test_early_stopping_by_a_callback_of_lightgbm():
    X, y, _ = data(600)
    evals = evaluate_on("lightgbm", X[:200], y[:200])
    found = [
        make(n_estimators=200, **by_parameter)
        .fit(X[200:], y[200:], callbacks=callbacks, **evals)
        .best_iteration_
        for by_parameter, callbacks in (
            ({}, [lightgbm.early_stopping(4, verbose=False)]),
            ({"n_iter_no_change": 4}, None),
        )
    ]
    assert found[0] == found[1] and 15 < found[0] < 200


@pytest.mark.parametrize(
    "n_classes, metric, names",
    [
        (2, "auc,logloss,None,multi_error", ["auc", "binary_logloss", "binary_error"]),
        (2, ["average_precision"], ["average_precision"]),
        (3, ["binary_error", "softmax"], ["multi_error", "multi_logloss"]),
        (3, None, ["multi_logloss"]),
    ],
)
def test_metrics_have_the_names_and_values_of_lightgbm(n_classes, metric, names):
    X, y, _ = data(300, n_classes=n_classes)
    evals = evaluate_on("lightgbm", X[:50], y[:50])
    model = make(p_min=0, n_estimators=3, metric=metric)
    found = results(model.fit(X, y, **evals))["valid_0"]
    assert list(found) == names
    plain = parent_of(model).set_params(metric=names).fit(X, y, **evals)
    for name, values in results(plain)["valid_0"].items():
        np.testing.assert_allclose(found[name], values, atol=1e-6)


@pytest.mark.parametrize("label", [0, 1])
def test_rankings_of_a_single_class_are_those_of_lightgbm(label):
    X, y, _ = data(300)
    evals = evaluate_on("lightgbm", X[:50], np.full(50, label))
    names = ["average_precision", "auc"]
    model = make(n_estimators=3, warm_rounds=1)
    found = results(model.fit(X, y, eval_metric=names, **evals))
    for name in names:
        assert found["valid_0"][name] == [1.0] * 3
