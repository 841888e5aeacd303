"""Models of splboost.engines in the hands of other packages."""

import json
import warnings

import lightgbm
import numpy as np
import pytest
import xgboost

from engine_models import PACED, both, data, margin, parent_of, unequal
from splboost.engines import SPLXGBClassifier


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_plain_package_loads_a_saved_model(package, n_classes, tmp_path):
    X, y, _ = data(300, n_classes=n_classes)
    model = PACED[package](n_estimators=20, p_min=0.1).fit(X, y)
    proba = model.predict_proba(X)
    path = tmp_path / "model.json"
    if package == "xgboost":
        model.save_model(path)
        assert "splboost" not in path.read_text()
        json.loads(path.read_text())
        for empty in (xgboost.XGBClassifier(), SPLXGBClassifier()):
            empty.load_model(path)
            np.testing.assert_array_equal(empty.predict_proba(X), proba)
    else:
        model.booster_.save_model(path)
        found = lightgbm.Booster(model_file=path).predict(X)
        np.testing.assert_allclose(found, proba[:, 1] if n_classes == 2 else proba)


@both
@pytest.mark.filterwarnings("ignore:The pace has dropped")
def test_shap(package):
    shap = pytest.importorskip("shap")
    X, y = unequal(200)
    model = PACED[package](n_estimators=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.TreeExplainer(model)
        values = np.asarray(explainer.shap_values(X))
    if values.ndim == 3:
        values = values[..., 1] if values.shape[-1] == 2 else values[1]
    total = values.sum(axis=1) + np.ravel(explainer.expected_value)[-1]
    np.testing.assert_allclose(total, margin(model, X), atol=1e-4)


@both
def test_treelite(package):
    treelite = pytest.importorskip("treelite")
    X, y, _ = data(200)
    model = PACED[package](n_estimators=20).fit(X, y)
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

    X, y, _ = data(200, n_classes=n_classes)
    X = X.astype(np.float32)
    model = PACED[package](n_estimators=20, p_min=0.1).fit(X, y)
    convert = getattr(onnxmltools, f"convert_{package}")
    types = [("X", FloatTensorType([None, X.shape[1]]))]
    given = {"zipmap": False} if package == "lightgbm" else {}
    text = convert(model.to_plain(), initial_types=types, **given).SerializeToString()
    session = runtime.InferenceSession(text, providers=["CPUExecutionProvider"])
    proba = session.run(None, {"X": X})[1]
    np.testing.assert_allclose(proba, model.predict_proba(X), atol=1e-5)


@both
def test_a_plain_copy_is_all_the_parents_and_shares_no_parameters(package):
    X, y, _ = data(200)
    name = {"xgboost": "refresh_leaf", "lightgbm": "path_smooth"}[package]
    model = PACED[package](n_estimators=20, **{name: 1}).set_params(p_min=0.3)
    plain = model.fit(X, y).to_plain()
    assert type(plain) is type(parent_of(model))
    np.testing.assert_array_equal(plain.predict_proba(X), model.predict_proba(X))
    assert "p_min" not in plain.get_params() and plain.get_params()[name] == 1
    assert not hasattr(plain, "sample_pace_")
    plain.set_params(**{name: 0}).fit(X, y)
    assert model.get_params()[name] == 1 and model.get_params()["p_min"] == 0.3
