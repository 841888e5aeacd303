"""Wrong labels are as many as asked for, at random places, and never right."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.model_selection import train_test_split

from helpers import assert_close_mean
from splboost.datasets import flip_labels

labels_of_several_classes = arrays(
    np.int64, st.integers(2, 60), elements=st.integers(-2, 2)
).filter(lambda y: len(np.unique(y)) > 1)
rates = st.floats(0, 1)
seeds = st.integers(0, 1000)
modes = st.sampled_from(["count", "probability"])


@given(labels_of_several_classes, rates, modes, seeds)
def test_flipped_labels_are_other_labels(y, rate, mode, seed):
    before = y.copy()
    y_noisy, flipped = flip_labels(y, rate, mode=mode, random_state=seed)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(y_noisy != y, flipped)
    assert y_noisy.dtype == y.dtype
    assert set(y_noisy) <= set(y)
    again = flip_labels(y, rate, mode=mode, random_state=seed)[0]
    np.testing.assert_array_equal(again, y_noisy)
    if mode == "count":
        assert flipped.sum() == round(rate * len(y))


@given(labels_of_several_classes, rates, rates, seeds)
def test_flips_per_class_have_exact_counts(y, rate_a, rate_b, seed):
    a, b = np.unique(y)[:2]
    _, flipped = flip_labels(y, {a: rate_a, b: rate_b}, random_state=seed)
    assert flipped[y == a].sum() == round(rate_a * (y == a).sum())
    assert flipped[y == b].sum() == round(rate_b * (y == b).sum())
    assert not flipped[(y != a) & (y != b)].any()


@given(labels_of_several_classes, rates, rates, modes, seeds)
def test_noise_grows_with_the_rate(y, rate_a, rate_b, mode, seed):
    low, high = sorted([rate_a, rate_b])
    y_low, flipped_low = flip_labels(y, low, mode=mode, random_state=seed)
    y_high, flipped_high = flip_labels(y, high, mode=mode, random_state=seed)
    assert (flipped_high[flipped_low]).all()
    np.testing.assert_array_equal(y_high[flipped_low], y_low[flipped_low])


def test_all_labels_are_flipped_equally_often():
    y = np.arange(10) % 2
    flipped = np.array([flip_labels(y, 0.3, random_state=k)[1] for k in range(2000)])
    assert_close_mean(flipped, np.full(10, 0.3))
    assert len(set(flipped[:, y == 0].sum(axis=1))) > 1  # not stratified


def test_probability_is_the_rate_and_independent():
    y = np.arange(20_000) % 2
    _, flipped = flip_labels(y, 0.1, mode="probability", random_state=0)
    assert_close_mean(flipped, 0.1)
    # neighbours flip together no more often than independent samples would
    assert_close_mean(flipped[::2] & flipped[1::2], 0.01)
    y = np.arange(30_000) % 3
    _, flipped = flip_labels(y, {0: 0.2, 2: 0.05}, mode="probability", random_state=0)
    assert_close_mean(flipped[y == 0], 0.2)
    assert not flipped[y == 1].any()
    assert_close_mean(flipped[y == 2], 0.05)


def test_other_classes_are_equally_likely():
    y = np.arange(40_000) % 4
    y_noisy, flipped = flip_labels(y, 0.5, random_state=0)
    for label in range(4):
        turned = y_noisy[flipped & (y == label)]
        for other in {0, 1, 2, 3} - {label}:
            assert_close_mean(turned == other, 1 / 3)


@pytest.mark.parametrize(
    "container",
    [
        list,
        lambda y: np.array(y, dtype=object),
        lambda y: pd.Series(y, index=range(100, 100 + len(y))),
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y, dtype="string"),
        lambda y: pl.Series(y, dtype=pl.Categorical),
    ],
)
def test_string_labels_in_any_container(container):
    labels = ["cat", "horse", "ox", "cat"] * 5
    y_noisy, flipped = flip_labels(container(labels), 0.5, random_state=0)
    assert isinstance(y_noisy, np.ndarray)
    assert y_noisy.shape == flipped.shape == (20,)
    assert flipped.sum() == 10
    assert set(y_noisy) <= {"cat", "horse", "ox"}
    np.testing.assert_array_equal(y_noisy != np.array(labels), flipped)
    _, flipped = flip_labels(container(labels), {"cat": 1.0})
    np.testing.assert_array_equal(flipped, np.array(labels) == "cat")


@pytest.mark.parametrize("dtype", [np.int8, np.float32, bool])
def test_the_dtype_of_the_labels_is_kept(dtype):
    y = (np.arange(20) % 2).astype(dtype)
    assert flip_labels(y, {1: 0.5})[0].dtype == dtype


@pytest.mark.parametrize("rate", [-0.1, 1.01, float("nan"), "0.1", None])
def test_rate_outside_the_unit_interval(rate):
    with pytest.raises(ValueError, match=r"rate=.*between 0 and 1"):
        flip_labels([0, 1], rate)
    with pytest.raises(ValueError, match=r"rate\['a'\]=.*between 0 and 1"):
        flip_labels(["a", "b"], {"a": rate})


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["cat", "dog"], {"rate": {"ct": 0.1}}, r"class 'ct'.*\['cat', 'dog'\]"),
        ([0, 1], {"mode": "exact"}, r"mode='exact'.*'count' or 'probability'"),
        ([1, 1, 1], {}, r"y holds the classes .* at least two"),
        ([], {}, r"y holds the classes .* at least two"),
        ([1, "a"], {}, "holds int and str"),
        (np.array([1, "a"], dtype=object), {}, "holds int and str"),
        (np.eye(2), {}, r"1d array, got an array of shape \(2, 2\)"),
    ],
)
def test_wrong_arguments(y, options, message):
    with pytest.raises(ValueError, match=message):
        flip_labels(y, **({"rate": 0.1} | options))


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1.0, np.nan],
        ["a", "b", np.nan],
        pd.Series([0, 1, None], dtype="Int64"),
        pl.Series(["a", "b", None]),
    ],
)
def test_missing_labels(y):
    with pytest.raises(ValueError, match=r"y contains NaN|Unknown label type.* float"):
        flip_labels(y, 0.1)


@pytest.mark.parametrize("seed", [0, 42])
def test_wrong_labels_do_not_follow_a_split_of_the_same_seed(seed):
    y = np.arange(1000) % 2
    _, flipped = flip_labels(y, 0.2, random_state=seed)
    one, other = train_test_split(flipped, random_state=seed)
    assert abs(one.mean() - other.mean()) < 0.1
