"""What is particular to one of the packages, and models handed on to others."""

import json
import warnings
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import sklearn
import xgboost
from sklearn.utils.estimator_checks import check_estimator

from splboost.engines import SPLLGBMClassifier, SPLXGBClassifier
from splboost.engines.xgboost import start_score
from test_engines_classifiers import OWN, data, eval_arguments, margin, parent_of

both = pytest.mark.parametrize("package", OWN)


# -------------------------------------------------------------------------- LightGBM


@pytest.mark.parametrize(
    "name", ["min_child_weight", "min_sum_hessian_in_leaf", "min_hessian"]
)
def test_no_hessian_in_a_leaf_is_refused(name):
    """LightGBM would end with a failed check, or silently do fewer rounds."""
    X, y, _ = data(100)
    for wrong, error in ((0, ValueError), ("a", TypeError)):
        match = f"{name} must be a number above 0.*{name}={wrong!r}"
        with pytest.raises(error, match=match):
            OWN["lightgbm"](**{name: wrong}).fit(X, y)


@pytest.mark.parametrize(
    "given, match",
    [
        ({"boosting_type": "rf"}, "boosting_type='rf'"),
        ({"sigmoid": 2.0}, "sigmoid=2.0"),
        ({"objective": "cross_entropy"}, "objective='cross_entropy'"),
        ({"objective": lambda y, p: (p - y, p)}, "logistic or softmax"),
    ],
)
def test_what_lightgbm_cannot_do_with_a_pace(given, match):
    X, y, _ = data(100)
    with pytest.raises(ValueError, match=match):
        OWN["lightgbm"](**given).fit(X, y)


@pytest.mark.parametrize(
    "given",
    [
        {"class_weight": "balanced"},
        {"class_weight": {"no": 1, "yes": 3}},
        {"scale_pos_weight": 2.0},
        {"is_unbalance": True},
        {"boost_from_average": False},
        {"boosting_type": "dart", "subsample_freq": 0},
        {"data_sample_strategy": "goss", "subsample_freq": 0},
        {"linear_tree": True},
        {"colsample_bytree": 0.5},
        {"min_child_samples": 1, "num_leaves": 4, "max_depth": -1},
    ],
    ids=str,
)
def test_lightgbm_with_other_parameters_is_the_parent(given):
    X, y, _ = data(400)
    y = np.array(["no", "yes"])[y * (np.arange(400) % 3 > 0)]
    model = OWN["lightgbm"](p_min=0, n_estimators=25, **given).fit(X, y)
    plain = parent_of(model).fit(X, y)
    if given.get("boosting_type") == "dart":  # which may drop the start score, too
        assert np.corrcoef(margin(model, X), margin(plain, X))[0, 1] > 0.95
    else:
        assert np.abs(margin(model, X) - margin(plain, X)).max() <= 1e-8
    np.testing.assert_array_equal(model.classes_, plain.classes_)
    paced = OWN["lightgbm"](n_estimators=25, p_min=0.3, **given).fit(X, y)
    F = margin(paced, X)
    loss = np.logaddexp(0, np.where(y == "yes", -F, F))
    clear = np.abs(loss + np.log(0.3)) > 1e-4
    np.testing.assert_array_equal(
        (paced.sample_pace_ > 0)[clear], (loss < -np.log(0.3))[clear]
    )


def test_early_stopping_by_a_callback_of_lightgbm():
    X, y, _ = data(600)
    X_val, y_val = X[:200], y[:200]
    evals = eval_arguments("lightgbm", X_val, y_val)
    found = [
        OWN["lightgbm"](n_estimators=200, **by_parameter)
        .fit(X[200:], y[200:], callbacks=callbacks, **evals)
        .best_iteration_
        for by_parameter, callbacks in (
            ({}, [lightgbm.early_stopping(4, verbose=False)]),
            ({"n_iter_no_change": 4}, None),
        )
    ]
    assert found[0] == found[1] and 15 < found[0] < 200


def test_unknown_metrics_are_refused_with_those_known():
    assert name_metrics(["mse", "logloss", "None", "auc", "multi_error"], 2) == [
        "l2",
        "binary_logloss",
        "auc",
        "binary_error",
    ]
    assert name_metrics(["binary_error", "softmax"], 3) == [
        "multi_error",
        "multi_logloss",
    ]
    X, y, _ = data(100)
    with pytest.raises(ValueError, match=r"'ndcg' is not among .*binary_logloss"):
        OWN["lightgbm"](metric="ndcg").fit(X, y)


def test_objective_and_start_score_stand_in_the_model_of_lightgbm():
    X, y, _ = data(300)
    y = y * (np.arange(300) % 3 > 0)
    model = OWN["lightgbm"](p_min=0, n_estimators=5).fit(X, y)
    plain = parent_of(model).fit(X, y)

    def lines(booster):
        return [
            line
            for line in booster.model_to_string().splitlines()
            if not line.startswith(("[metric", "internal_value", "tree_sizes"))
        ]

    differing = [
        pair
        for pair in zip(lines(model.booster_), lines(plain.booster_), strict=True)
        if pair[0] != pair[1]
    ]
    for own, parents in differing:
        name, _, values = own.partition("=")
        assert name == "leaf_value", (own, parents)
        np.testing.assert_allclose(
            np.array(values.split(), dtype=float),
            np.array(parents.partition("=")[2].split(), dtype=float),
            rtol=1e-12,
        )


def test_a_fit_that_lightgbm_does_by_itself_is_noticed(monkeypatch):
    """As a later version might, were it to read the objective elsewhere."""
    X, y, _ = data(100)

    original = SPLLGBMClassifier._process_params

    def blind(self, stage):
        return {**original(self, stage), "objective": "binary"}

    monkeypatch.setattr(SPLLGBMClassifier, "_process_params", blind)
    monkeypatch.setattr(KeepsDraws, "__call__", lambda self, env: None)
    with pytest.raises(RuntimeError, match="did not call the self-paced objective"):
        OWN["lightgbm"](n_estimators=5).fit(X, y)


# --------------------------------------------------------------------------- XGBoost


def test_a_fit_that_xgboost_does_by_itself_is_noticed(monkeypatch):
    X, y, _ = data(100)
    original = xgboost.XGBClassifier.fit

    def blind(self, *args, **kwargs):
        self.objective = "binary:logistic"
        return original(self, *args, **kwargs)

    monkeypatch.setattr(xgboost.XGBClassifier, "fit", blind)
    with pytest.raises(RuntimeError, match="did not call the self-paced objective"):
        OWN["xgboost"](n_estimators=5).fit(X, y)


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
    X, y, _ = data(400)
    y = y * (np.arange(400) % 3 > 0)
    model = OWN["xgboost"](p_min=0, n_estimators=25, **given).fit(X, y)
    plain = parent_of(model).fit(X, y)
    assert np.abs(margin(model, X) - margin(plain, X)).max() <= 3e-6
    assert model.intercept_ == pytest.approx(plain.intercept_, abs=1e-6)
    paced = OWN["xgboost"](n_estimators=25, warm_rounds=4, **given).fit(X, y)
    assert np.abs(margin(paced, X) - margin(plain, X)).max() > 0.02


def test_multi_softmax_gives_classes():
    X, y, _ = data(400)
    y = y + (X[:, 2] > 0.8)
    model = OWN["xgboost"](p_min=0, n_estimators=10, objective="multi:softmax")
    plain = parent_of(model).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), plain.predict(X))
    assert model.objective == plain.objective == "multi:softmax"


def test_several_labels_of_a_row_are_refused():
    X, y, _ = data(100)
    with pytest.raises(ValueError, match="one label for each row"):
        OWN["xgboost"]().fit(X, np.column_stack([y, 1 - y]))


def test_seeds_need_plain_trees():
    X, y, _ = data(100)
    given = {"n_seeds": 2, "n_estimators": 20}
    with pytest.raises(ValueError, match="booster='gbtree', got booster='dart'"):
        OWN["xgboost"](booster="dart", **given).fit(X, y)
    y = y + (X[:, 2] > 0.8)
    with pytest.raises(ValueError, match="trees of one output"):
        OWN["xgboost"](multi_strategy="multi_output_tree", **given).fit(X, y)


def test_the_users_early_stopping_of_xgboost_is_patient_and_not_worn_out():
    X, y, _ = data(600)
    stop = xgboost.callback.EarlyStopping(rounds=4, save_best=True)
    model = OWN["xgboost"](n_estimators=200, callbacks=[stop])
    given = {"eval_set": [(X[:200], y[:200])], "verbose": False}
    n_rounds = [
        model.fit(X[200:], y[200:], **given).get_booster().num_boosted_rounds()
        for _ in range(2)
    ]
    assert n_rounds[0] == n_rounds[1] == len(model.latent_objective_)
    assert 15 < n_rounds[0] < 200 and model.callbacks == [stop]


def test_the_start_score_is_that_of_xgboost():
    y = np.repeat([0.0, 1.0, 2.0], [10, 20, 70])
    params = {"objective": "multi:softprob", "num_class": 3}
    counted = start_score(params, np.arange(3), np.array([10.0, 20.0, 70.0]))
    np.testing.assert_allclose(counted, start_score(params, y, None), atol=1e-6)


# ------------------------------------------------------------------ handed on to others


@both
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_seeds", [1, 2])
def test_the_plain_package_loads_a_saved_model(package, n_classes, n_seeds, tmp_path):
    X, y, _ = data(300)
    y = y + (X[:, 2] > 0.8) * (n_classes - 2)
    model = OWN[package](n_estimators=20, p_min=0.1, n_seeds=n_seeds).fit(X, y)
    proba = model.predict_proba(X)
    if package == "xgboost":
        path = tmp_path / "model.json"
        model.save_model(path)
        assert "splboost" not in path.read_text()
        json.loads(path.read_text())
        plain = xgboost.XGBClassifier()
        plain.load_model(path)
        own = SPLXGBClassifier()
        own.load_model(path)
        np.testing.assert_array_equal(own.predict_proba(X), proba)
        np.testing.assert_array_equal(plain.predict_proba(X), proba)
    else:
        path = tmp_path / "model.txt"
        model.booster_.save_model(path)
        found = lightgbm.Booster(model_file=path).predict(X)
        np.testing.assert_allclose(found, proba[:, 1] if n_classes == 2 else proba)


@both
def test_shap(package):
    shap = pytest.importorskip("shap")
    X, y, _ = data(200)
    y = y * (np.arange(200) % 3 > 0)
    model = OWN[package](n_estimators=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.TreeExplainer(model)
        values = np.asarray(explainer.shap_values(X))
    if values.ndim == 3:
        values = values[..., 1] if values.shape[-1] == 2 else values[1]
    expected = np.ravel(explainer.expected_value)[-1]
    np.testing.assert_allclose(
        values.sum(axis=1) + expected, margin(model, X), atol=1e-4
    )


@both
@pytest.mark.parametrize("n_seeds", [1, 2])
def test_treelite(package, n_seeds, tmp_path):
    treelite = pytest.importorskip("treelite")
    X, y, _ = data(200)
    model = OWN[package](n_estimators=20, n_seeds=n_seeds).fit(X, y)
    if package == "xgboost":
        loaded = treelite.frontend.from_xgboost(model.get_booster())
    else:
        loaded = treelite.frontend.from_lightgbm(model.booster_)
    found = np.ravel(treelite.gtil.predict(loaded, X.astype(np.float32)))
    wanted = model.predict_proba(X.astype(np.float32))[:, 1]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_onnx(package, n_classes):
    onnxmltools = pytest.importorskip("onnxmltools")
    runtime = pytest.importorskip("onnxruntime")
    from onnxmltools.convert.common.data_types import FloatTensorType

    X, y, _ = data(200)
    y = y + (X[:, 2] > 0.8) * (n_classes - 2)
    X = X.astype(np.float32)
    model = OWN[package](n_estimators=20, p_min=0.1).fit(X, y)
    convert = getattr(onnxmltools, f"convert_{package}")
    types = [("X", FloatTensorType([None, X.shape[1]]))]
    given = {"zipmap": False} if package == "lightgbm" else {}
    text = convert(model.to_plain(), initial_types=types, **given).SerializeToString()
    session = runtime.InferenceSession(text, providers=["CPUExecutionProvider"])
    proba = session.run(None, {"X": X})[1]
    np.testing.assert_allclose(proba, model.predict_proba(X), atol=1e-5)


@both
def test_a_plain_copy_is_all_the_parents(package):
    X, y, _ = data(200)
    model = OWN[package](n_estimators=20, p_min=0.3).fit(X, y)
    plain = model.to_plain()
    assert type(plain) is type(parent_of(model))
    np.testing.assert_array_equal(plain.predict_proba(X), model.predict_proba(X))
    assert "p_min" not in plain.get_params()
    assert not hasattr(plain, "sample_pace_")


# ------------------------------------------------------------ scikit-learn's own checks


PAGE = Path(__file__).resolve().parents[1] / "docs" / "engines.md"


@both
def test_no_check_fails_that_the_parent_passes(package):
    ours = OWN[package](n_estimators=6, warm_rounds=2)
    own, parents = failed_checks(ours), failed_checks(parent_of(ours))
    assert own <= parents, own - parents
    if not PAGE.exists():
        pytest.skip("docs/engines.md is not here")
    if absent := list_absent():
        pytest.skip(f"docs/engines.md does not list checks of {', '.join(absent)}")
    assert own == listed_checks(type(ours).__name__)
    assert parents == listed_checks(type(parent_of(ours)).__name__)


def failed_checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_skip=None, on_fail=None)
    return {each["check_name"] for each in found if each["status"] == "failed"}


def list_absent():
    """The packages in versions with which the page does not say what fails."""
    said = " ".join(PAGE.read_text().split())
    packages = {"scikit-learn": sklearn, "xgboost": xgboost, "lightgbm": lightgbm}
    versions = [f"{name} {each.__version__}" for name, each in packages.items()]
    return [version for version in versions if version not in said]


def listed_checks(name):
    """The checks that the page says a class fails."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines]
    head = next(row for row in rows if row[0] == "check")
    column = head.index(name)
    return {row[0] for row in rows if row[0][:6] == "check_" and row[column] == "fails"}
