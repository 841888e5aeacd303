"""Generators have the moments they promise; flips are exact, never silent."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.model_selection import train_test_split

from splboost.datasets import (
    flip_labels,
    gaussians_log_odds,
    make_gaussians,
    make_long_servedio,
    make_ringnorm,
    make_twonorm,
)

GAUSSIANS = {
    0: ([2.0, -2.0], [[2.5, 1.5], [1.5, 5.0]]),
    1: ([-2.0, 2.0], [[2.3, -0.7], [-0.7, 2.3]]),
}
# By quadrature of min(p0, p1) / 2 on a grid of step 0.01 over [-16, 16]^2.
GAUSSIANS_BAYES_ERROR = 0.032811
# With fixed seeds a bound of five standard errors fails for wrong code only.
N_STANDARD_ERRORS = 5


def assert_close_mean(values, expected, axis=0):
    """The mean of `values` lies within the noise of its expected value."""
    standard_error = np.std(values, axis=axis) / np.sqrt(np.shape(values)[axis])
    difference = np.abs(np.mean(values, axis=axis) - expected)
    assert (difference <= N_STANDARD_ERRORS * standard_error).all()


def assert_moments(X, mean, covariance):
    """Means and covariances of `X` agree with those given, within the noise."""
    assert_close_mean(X, mean)
    offsets = X - np.asarray(mean)
    products = offsets[:, :, None] * offsets[:, None, :]
    assert_close_mean(products, np.asarray(covariance))


# Generators


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: make_gaussians(30, random_state=seed),
        lambda seed: make_twonorm(60, random_state=seed),
        lambda seed: make_ringnorm(60, random_state=seed),
        lambda seed: make_long_servedio(60, random_state=seed, return_kind=True),
    ],
    ids=["gaussians", "twonorm", "ringnorm", "long_servedio"],
)
def test_generators_are_reproducible(make):
    first, again, other = make(0), make(0), make(1)
    generator = make(np.random.RandomState(0))
    for a, b, c in zip(first, again, generator, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
    assert not np.array_equal(first[0], other[0])
    X, y = first[:2]
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert len(X) == len(y) == 60
    assert set(y) == {0, 1}


def test_gaussians_have_the_moments_of_the_paper():
    X, y = make_gaussians(20_000, random_state=0)
    for label, (mean, covariance) in GAUSSIANS.items():
        assert (y == label).sum() == 20_000
        assert_moments(X[y == label], mean, covariance)


def test_gaussians_are_shuffled():
    _, y = make_gaussians(100, random_state=0)
    assert 30 < y[:100].sum() < 70


def test_gaussians_log_odds_is_the_ratio_of_the_densities():
    points = np.random.RandomState(0).uniform(-8, 8, size=(200, 2))
    log_p0, log_p1 = (
        stats.multivariate_normal(mean, covariance).logpdf(points)
        for mean, covariance in GAUSSIANS.values()
    )
    np.testing.assert_allclose(gaussians_log_odds(points), log_p1 - log_p0, rtol=1e-10)


def test_gaussians_bayes_error():
    X, y = make_gaussians(50_000, random_state=0)
    wrong = (gaussians_log_odds(X) > 0) != y
    assert_close_mean(wrong, GAUSSIANS_BAYES_ERROR)


def test_gaussians_log_odds_is_calibrated():
    X, y = make_gaussians(50_000, random_state=1)
    probability = 1 / (1 + np.exp(-gaussians_log_odds(X)))
    unsure = (probability > 0.3) & (probability < 0.7)
    assert unsure.sum() > 500
    assert_close_mean(y[unsure] - probability[unsure], 0)


@pytest.mark.parametrize("X", [[1.0, 2.0], [[1.0, 2.0, 3.0]]])
def test_gaussians_log_odds_wants_two_columns(X):
    with pytest.raises(ValueError, match=r"X has shape .* \(n_samples, 2\)"):
        gaussians_log_odds(X)


@pytest.mark.parametrize("n_features", [3, 20])
def test_twonorm_moments(n_features):
    X, y = make_twonorm(10_000, n_features=n_features, random_state=0)
    a = 2 / np.sqrt(n_features)
    assert X.shape == (10_000, n_features)
    assert_close_mean(y, 0.5)
    for label, sign in {0: 1, 1: -1}.items():
        mean = np.full(n_features, sign * a)
        assert_moments(X[y == label], mean, np.eye(n_features))


def test_twonorm_bayes_error():
    X, y = make_twonorm(50_000, random_state=0)
    wrong = (X.sum(axis=1) < 0) != y
    assert_close_mean(wrong, stats.norm.cdf(-2))


@pytest.mark.parametrize("n_features", [3, 20])
def test_ringnorm_moments(n_features):
    X, y = make_ringnorm(10_000, n_features=n_features, random_state=0)
    a = 2 / np.sqrt(n_features)
    assert X.shape == (10_000, n_features)
    assert_close_mean(y, 0.5)
    assert_moments(X[y == 0], np.zeros(n_features), 4 * np.eye(n_features))
    assert_moments(X[y == 1], np.full(n_features, a), np.eye(n_features))


@pytest.mark.skipif(
    "SPLBOOST_DATA" not in os.environ,
    reason="set SPLBOOST_DATA to the folder with the data sets",
)
@pytest.mark.parametrize("name", ["twonorm", "ringnorm"])
def test_breiman_problems_agree_with_the_delve_files(name):
    path = Path(os.environ["SPLBOOST_DATA"]) / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"no {path.name} in SPLBOOST_DATA")
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    X_file, y_file = frame.drop(columns="target").to_numpy(), frame["target"]
    make = {"twonorm": make_twonorm, "ringnorm": make_ringnorm}[name]
    X, y = make(len(frame), random_state=0)
    assert X.shape == X_file.shape
    for label in (0, 1):
        drawn, real = X[y == label], X_file[y_file == label]
        # two-sample bounds, per feature: of the means, then of the variances
        for a, b in [
            (drawn, real),
            ((drawn - drawn.mean(0)) ** 2, (real - real.mean(0)) ** 2),
        ]:
            standard_error = np.sqrt(a.var(0) / len(a) + b.var(0) / len(b))
            difference = np.abs(a.mean(0) - b.mean(0))
            assert (difference <= N_STANDARD_ERRORS * standard_error).all()


def test_long_servedio_structure():
    X, y, kind = make_long_servedio(8_000, random_state=0, return_kind=True)
    assert X.shape == (8_000, 21)
    assert set(np.unique(X)) == {-1, 1}
    agrees = X == (2 * y[:, None] - 1)
    n_first, n_last = agrees[:, :11].sum(axis=1), agrees[:, 11:].sum(axis=1)
    for name, share, first, last in [
        ("large margin", 1 / 4, 11, 10),
        ("puller", 1 / 4, 11, 0),
        ("penaliser", 1 / 2, 5, 6),
    ]:
        of_kind = kind == name
        assert_close_mean(of_kind, share)
        assert_close_mean(y[of_kind], 0.5)
        assert (n_first[of_kind] == first).all()
        assert (n_last[of_kind] == last).all()


def test_long_servedio_penalisers_agree_at_random_places():
    X, y, kind = make_long_servedio(8_000, random_state=0, return_kind=True)
    agrees = (X == (2 * y[:, None] - 1))[kind == "penaliser"]
    assert_close_mean(agrees, np.repeat([5 / 11, 6 / 10], [11, 10]))


def test_long_servedio_majority_is_the_class():
    X, y = make_long_servedio(2_000, random_state=1)
    np.testing.assert_array_equal(np.sign(X.sum(axis=1)), 2 * y - 1)


@pytest.mark.parametrize("n", [0, -3, 2.5, True, "10"])
def test_counts_are_checked(n):
    with pytest.raises(ValueError, match=r"n_per_class=.* at least 1"):
        make_gaussians(n)
    with pytest.raises(ValueError, match=r"n_samples=.* at least 1"):
        make_long_servedio(n)
    with pytest.raises(ValueError, match=r"n_samples=.* at least 1"):
        make_twonorm(n)
    with pytest.raises(ValueError, match=r"n_features=.* at least 1"):
        make_ringnorm(10, n_features=n)


def test_counts_may_be_numpy_integers():
    assert make_twonorm(np.int32(7), n_features=np.int64(2))[0].shape == (7, 2)


# Noise

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


@pytest.mark.parametrize("mode", ["count", "probability"])
@pytest.mark.parametrize("rate", [0.3, {0: 0.3, 1: 0.3}])
def test_flips_are_reproducible(mode, rate):
    y = np.arange(200) % 2
    first, again, other = (
        flip_labels(y, rate, mode=mode, random_state=seed)[1] for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_paper_flips_15_in_each_class():
    _, y = make_gaussians(100, random_state=0)
    _, flipped = flip_labels(y, {0: 0.15, 1: 0.15}, random_state=0)
    assert flipped[y == 0].sum() == flipped[y == 1].sum() == 15


def test_count_is_not_stratified():
    y = np.arange(100) % 2
    n_first_class = {
        int(flip_labels(y, 0.2, random_state=seed)[1][y == 0].sum())
        for seed in range(20)
    }
    assert len(n_first_class) > 1


def test_all_labels_are_flipped_equally_often():
    y = np.arange(10) % 2
    flipped = [flip_labels(y, 0.3, random_state=seed)[1] for seed in range(2000)]
    assert_close_mean(flipped, np.full(10, 0.3))


def test_probability_is_the_rate_and_independent():
    y = np.arange(20_000) % 2
    _, flipped = flip_labels(y, 0.1, mode="probability", random_state=0)
    assert_close_mean(flipped, 0.1)
    # neighbours flip together no more often than independent samples would
    assert_close_mean(flipped[::2] & flipped[1::2], 0.01)
    counts = {
        int(flip_labels(y, 0.1, mode="probability", random_state=seed)[1].sum())
        for seed in range(5)
    }
    assert len(counts) > 1


def test_probability_per_class():
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


@pytest.mark.parametrize("rate", [0, 0.0, 1, 1.0])
@pytest.mark.parametrize("mode", ["count", "probability"])
def test_the_ends_of_the_range(rate, mode):
    y = np.arange(10) % 2
    y_noisy, flipped = flip_labels(y, rate, mode=mode)
    assert (flipped == bool(rate)).all()
    np.testing.assert_array_equal(y_noisy, y if rate == 0 else 1 - y)


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        np.array,
        lambda y: np.array(y, dtype=object),
        pd.Series,
        lambda y: pd.Series(y, index=range(100, 100 + len(y))),
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y, dtype="string"),
        pl.Series,
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


@pytest.mark.parametrize("rate", [-0.1, 1.01, 15, float("nan"), "0.1", None])
def test_rate_outside_the_unit_interval(rate):
    with pytest.raises(ValueError, match=r"rate=.*between 0 and 1"):
        flip_labels([0, 1], rate)
    with pytest.raises(ValueError, match=r"rate\['a'\]=.*between 0 and 1"):
        flip_labels(["a", "b"], {"a": rate})


def test_rate_of_an_unknown_class():
    with pytest.raises(ValueError, match=r"class 'ct'.*\['cat', 'dog'\]"):
        flip_labels(["cat", "dog"], {"ct": 0.1})


def test_unknown_mode():
    with pytest.raises(ValueError, match=r"mode='exact'.*'count' or 'probability'"):
        flip_labels([0, 1], 0.1, mode="exact")


@pytest.mark.parametrize("y", [[1, 1, 1], ["a"], []])
def test_one_class_only(y):
    with pytest.raises(ValueError, match=r"y holds the classes .* at least two"):
        flip_labels(y, 0.1)


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1.0, np.nan],
        ["a", "b", None],
        ["a", "b", np.nan],
        np.array([0.0, 1.0, np.nan]),
        np.array(["a", "b", np.nan], dtype=object),
        pd.Series([0, 1, None], dtype="Int64"),
        pd.Series(["a", "b", None]),
        pd.Series(["a", "b", None], dtype="category"),
        pl.Series([0, 1, None]),
        pl.Series(["a", "b", None]),
    ],
)
def test_missing_labels(y):
    with pytest.raises(ValueError, match=r"y\[2\] is .* missing label \(1 in all\)"):
        flip_labels(y, 0.1)


@pytest.mark.parametrize("y", [[1, "a"], np.array([1, "a"], dtype=object)])
def test_mixed_labels(y):
    with pytest.raises(ValueError, match="y mixes strings and other labels"):
        flip_labels(y, 0.1)


def test_labels_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"y has shape \(2, 2\).*one label per sample"):
        flip_labels(np.eye(2), 0.1)


@pytest.mark.parametrize("seed", [0, 42])
def test_wrong_labels_do_not_follow_a_split_of_the_same_seed(seed):
    y = np.arange(1000) % 2
    _, flipped = flip_labels(y, 0.2, random_state=seed)
    one, other = train_test_split(flipped, random_state=seed)
    assert abs(one.mean() - other.mean()) < 0.1
