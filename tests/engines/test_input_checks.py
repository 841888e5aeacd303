"""Data that XGBoost and LightGBM cannot take, and what is said of them."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from engine_models import PACED, both, data
from splboost.engines import SPLLGBMClassifier


@both
@pytest.mark.parametrize(
    "others, wrong, match",
    [
        (1.0, -1.0, r"sample_weight.*zero or positive"),
        (1.0, np.nan, r"sample_weight.*zero or positive"),
        (1.0, 1e39, r"Sample weights sum to .*32-bit floats.*rescale sample_weight"),
        (1e-46, 1e-46, r"Sample weights sum to .*32-bit floats"),
        (0.0, 0.0, "all zero: sample_weight leaves no row"),
    ],
)
def test_weights_that_are_none_are_named(package, others, wrong, match):
    X, y, _ = data(60)
    weight = np.full(60, others)
    weight[7] = wrong
    with pytest.raises(ValueError, match=match):
        PACED[package]().fit(X, y, sample_weight=weight)


@both
def test_numbers_of_rows_that_differ_are_named(package):
    X, y, _ = data(60)
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(7,\)"):
        PACED[package]().fit(X, y, sample_weight=np.ones(7))
    with pytest.raises(ValueError, match=r"X has no rows, got X of shape \(0, 20\)"):
        PACED[package]().fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"inconsistent numbers .*\[60, 59\]"):
        PACED[package]().fit(X, y[:59])
    with pytest.raises(ValueError, match=r"inconsistent numbers .*\[60, 7\]"):
        PACED[package]().fit(X, y, eval_set=[(X, y), (X, y[:7])])


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
    "pandas days": pd.Series(pd.date_range("2024", periods=60), dtype="category"),
}
OF_LIGHTGBM_ALONE = {
    "polars Categorical": pl.Series(["a", "b"] * 30, dtype=pl.Categorical),
    "polars Enum": pl.Series(["a", "b"] * 30, dtype=pl.Enum(["a", "b"])),
    "arrow dictionary": pa.chunked_array([["a", "b"] * 30]).dictionary_encode(),
}
OF_XGBOOST_ALONE = {
    "pandas mixed": pd.Series(["a", 1] * 30, dtype="category"),
    "pandas numbers": pd.Series([0.5, 1.0] * 30, dtype="category"),
    "pandas answers": pd.Series([True, False] * 30, dtype="category"),
}
LISTED = [("xgboost", kind) for kind in (*ODD_COLUMNS, *OF_XGBOOST_ALONE)]
LISTED += [("lightgbm", kind) for kind in (*ODD_COLUMNS, *OF_LIGHTGBM_ALONE)]


def frame_of(kind):
    """A frame of the library that a column comes from."""
    column = {**ODD_COLUMNS, **OF_LIGHTGBM_ALONE, **OF_XGBOOST_ALONE}[kind]
    columns = {"plain": np.arange(60.0), "odd": column}
    if isinstance(column, pl.Series):
        return pl.DataFrame(columns)
    return pd.DataFrame(columns) if isinstance(column, pd.Series) else pa.table(columns)


@pytest.mark.parametrize("package, kind", LISTED)
def test_columns_that_a_package_cannot_take_are_named(package, kind):
    X, y, _ = data(60)
    odd = frame_of(kind)
    message = r"Column 'odd' of X has dtype .*, which (XGBoost|LightGBM) cannot take\. "
    with pytest.raises(ValueError, match=message + "Convert it"):
        PACED[package]().fit(odd, y)
    model = PACED[package](n_estimators=2, warm_rounds=0).fit(X[:, :2], y)
    for method in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match=message):
            method(odd)
    with pytest.raises(ValueError, match=r"Column 'odd' of X of eval_set\[0\] has"):
        PACED[package]().fit(X[:, :2], y, eval_set=[(odd, y)])


@both
def test_columns_may_have_numbers_for_names(package):
    X, y, _ = data(60)
    model = PACED[package](n_estimators=2, warm_rounds=0)
    model.fit(pd.DataFrame(X[:, :2], columns=[7, 3]), y)
    odd = pd.DataFrame({7: X[:, 0], 3: pd.date_range("2024", periods=60)})
    with pytest.raises(ValueError, match="Column 3 of X has dtype datetime64"):
        model.fit(odd, y)


@pytest.mark.parametrize("kind", OF_LIGHTGBM_ALONE)
def test_categories_that_xgboost_is_not_told_of_are_named(kind):
    X, y, _ = data(60)
    odd = frame_of(kind)
    message = (
        r"Column 'odd' of X has dtype .* cannot take\. Set enable_categorical=True"
    )
    with pytest.raises(ValueError, match=message):
        PACED["xgboost"]().fit(odd, y)
    with pytest.raises(ValueError, match=message):
        PACED["xgboost"](n_estimators=2, warm_rounds=0).fit(X[:, :2], y).predict(odd)
    PACED["xgboost"](n_estimators=2, warm_rounds=0, enable_categorical=True).fit(odd, y)


def test_other_ways_to_give_evaluation_sets_to_lightgbm():
    X, y, _ = data(60)
    odd = frame_of("polars Categorical")
    for given in ({"eval_X": odd, "eval_y": y}, {"eval_X": (odd,), "eval_y": (y,)}):
        with pytest.raises(ValueError, match=r"Column 'odd' of X of eval_set\[0\] has"):
            SPLLGBMClassifier().fit(X, y, **given)


@both
def test_frames_that_a_package_cannot_take_are_named(package):
    X, y, _ = data(60)
    model = PACED[package](n_estimators=2, warm_rounds=0)
    twice = pd.DataFrame(X[:, :2], columns=["a", "a"])
    by_arrow = pa.Table.from_arrays([*map(pa.array, X[:, :2].T)], names=["a", "a"])
    for do in (
        lambda: model.fit(twice, y),
        lambda: model.fit(by_arrow, y),
        lambda: model.fit(X, y).predict(twice),
    ):
        with pytest.raises(ValueError, match="X has several columns named 'a'; rename"):
            do()
    with pytest.raises(TypeError, match=r"X is a lazy frame; call \.collect"):
        model.fit(pl.LazyFrame({"a": X[:, 0]}), y)
