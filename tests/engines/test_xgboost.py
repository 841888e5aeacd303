"""What is particular to XGBoost with a pace."""

import numpy as np
import pytest
import xgboost

from engine_models import PACED, data, margin, parent_of, unequal


@pytest.mark.parametrize(
    "given",
    [
        {"scale_pos_weight": 2.5},
        {"base_score": 0.3},
        {"booster": "dart", "rate_drop": 0.2},
        {"tree_method": "exact"},
        {"num_parallel_tree": 2},
        {"colsample_bytree": 0.5, "grow_policy": "lossguide", "max_leaves": 5},
        {"max_depth": None, "learning_rate": None, "subsample": None},
    ],
    ids=str,
)
def test_xgboost_with_other_parameters_is_the_parent(given):
    X, y = unequal()
    model = PACED["xgboost"](p_min=0, n_estimators=25, **given).fit(X, y)
    plain = parent_of(model).fit(X, y)
    assert np.abs(margin(model, X) - margin(plain, X)).max() <= 3e-6
    assert model.intercept_ == pytest.approx(plain.intercept_, abs=1e-6)
    paced = PACED["xgboost"](n_estimators=25, warm_rounds=4, **given).fit(X, y)
    assert np.abs(margin(paced, X) - margin(plain, X)).max() > 0.02


def test_multi_softmax_gives_classes():
    X, y, _ = data(400, n_classes=3)
    model = PACED["xgboost"](p_min=0, n_estimators=10, objective="multi:softmax")
    plain = parent_of(model).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), plain.predict(X))
    assert model.objective == plain.objective == "multi:softmax"


@pytest.mark.parametrize(
    "n_classes, names", [(2, ["logloss", "error", "auc"]), (3, ["mlogloss", "merror"])]
)
def test_metrics_are_those_of_xgboost(n_classes, names):
    X, y, _ = data(900, n_classes=n_classes)
    evals = {"eval_set": [(X[600:], y[600:])], "verbose": False}
    model = PACED["xgboost"](p_min=0, n_estimators=12, eval_metric=names)
    plain = parent_of(model).fit(X[:600], y[:600], **evals).evals_result()
    found = model.fit(X[:600], y[:600], **evals).evals_result()["validation_0"]
    assert list(found) == list(plain["validation_0"]) == names
    for name, values in plain["validation_0"].items():
        np.testing.assert_allclose(found[name], values, atol=2e-6)


def test_several_labels_of_a_row_are_refused():
    X, y, _ = data(100)
    with pytest.raises(ValueError, match="one label for each row"):
        PACED["xgboost"]().fit(X, np.column_stack([y, 1 - y]))


def test_the_users_early_stopping_of_xgboost_is_patient_and_not_worn_out():
    X, y, _ = data(600)
    stop = xgboost.callback.EarlyStopping(rounds=4, save_best=True)
    model = PACED["xgboost"](n_estimators=200, callbacks=[stop])
    given = {"eval_set": [(X[:200], y[:200])], "verbose": False}
    n_rounds = [
        model.fit(X[200:], y[200:], **given).get_booster().num_boosted_rounds()
        for _ in range(2)
    ]
    assert n_rounds[0] == n_rounds[1] == len(model.latent_objective_)
    assert 15 < n_rounds[0] < 200 and model.callbacks == [stop]
