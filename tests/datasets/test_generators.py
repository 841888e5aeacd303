"""Generators have the moments and the best errors that they promise."""

import os

import numpy as np
import pytest
from scipy import stats

from helpers import assert_close_mean
from splboost.datasets import (
    gaussians_log_odds,
    load_uci,
    make_gaussians,
    make_long_servedio,
    make_ringnorm,
    make_twonorm,
)

DATA = os.environ.get("SPLBOOST_DATA")
GAUSSIANS = {
    0: ([2.0, -2.0], [[2.5, 1.5], [1.5, 5.0]]),
    1: ([-2.0, 2.0], [[2.3, -0.7], [-0.7, 2.3]]),
}
# By quadrature of min(p0, p1) / 2 on a grid of step 0.01 over [-16, 16]^2.
GAUSSIANS_BAYES_ERROR = 0.032811


def assert_moments(X, mean, covariance):
    """Means and covariances of `X` agree with those given, within the noise."""
    assert_close_mean(X, mean)
    offsets = X - np.asarray(mean)
    products = offsets[:, :, None] * offsets[:, None, :]
    assert_close_mean(products, np.asarray(covariance))


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
    assert 9000 < y[:20_000].sum() < 11_000  # in random order


def test_gaussians_log_odds_is_the_ratio_of_the_densities():
    points = np.random.RandomState(0).uniform(-8, 8, size=(200, 2))
    log_p0, log_p1 = (
        stats.multivariate_normal(mean, covariance).logpdf(points)
        for mean, covariance in GAUSSIANS.values()
    )
    np.testing.assert_allclose(gaussians_log_odds(points), log_p1 - log_p0, rtol=1e-10)


def test_gaussians_log_odds_is_calibrated():
    X, y = make_gaussians(50_000, random_state=0)
    log_odds = gaussians_log_odds(X)
    assert_close_mean((log_odds > 0) != y, GAUSSIANS_BAYES_ERROR)
    probability = 1 / (1 + np.exp(-log_odds))
    unsure = (probability > 0.3) & (probability < 0.7)
    assert unsure.sum() > 500
    assert_close_mean(y[unsure] - probability[unsure], 0)


@pytest.mark.parametrize("X", [[1.0, 2.0], [[1.0, 2.0, 3.0]]])
def test_gaussians_log_odds_wants_two_columns(X):
    with pytest.raises(ValueError, match=r"X has shape .* \(n_samples, 2\)"):
        gaussians_log_odds(X)


def assert_breiman(twonorm, ringnorm):
    X, y = twonorm
    n_features = X.shape[1]
    a, eye = 2 / np.sqrt(n_features), np.eye(n_features)
    assert_close_mean(y, 0.5)
    assert_moments(X[y == 0], np.full(n_features, a), eye)
    assert_moments(X[y == 1], np.full(n_features, -a), eye)
    assert_close_mean((X.sum(axis=1) < 0) != y, stats.norm.cdf(-2))
    X, y = ringnorm
    assert_close_mean(y, 0.5)
    assert_moments(X[y == 0], np.zeros(n_features), 4 * eye)
    assert_moments(X[y == 1], np.full(n_features, a), eye)


@pytest.mark.parametrize("n_features", [3, 20])
def test_breiman_problems(n_features):
    given = {"n_features": n_features, "random_state": 0}
    assert_breiman(make_twonorm(10_000, **given), make_ringnorm(10_000, **given))


@pytest.mark.skipif(not DATA, reason="set SPLBOOST_DATA to the folder of the data")
def test_the_delve_files_are_such_problems():
    files = [load_uci(name, data_home=DATA) for name in ("twonorm", "ringnorm")]
    assert_breiman(*[(frame.to_numpy(), y) for frame, y in files])


def test_long_servedio():
    X, y, kind = make_long_servedio(8_000, random_state=0, return_kind=True)
    assert X.shape == (8_000, 21)
    assert set(np.unique(X)) == {-1, 1}
    np.testing.assert_array_equal(np.sign(X.sum(axis=1)), 2 * y - 1)
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
    penalisers = agrees[kind == "penaliser"]  # which features agree is random
    assert_close_mean(penalisers, np.repeat([5 / 11, 6 / 10], [11, 10]))


@pytest.mark.parametrize("n", [0, 2.5, True, "10"])
def test_counts_are_checked(n):
    with pytest.raises(ValueError, match=r"n_per_class=.* at least 1"):
        make_gaussians(n)
    with pytest.raises(ValueError, match=r"n_samples=.* at least 1"):
        make_long_servedio(n)
    with pytest.raises(ValueError, match=r"n_samples=.* at least 1"):
        make_twonorm(n)
    with pytest.raises(ValueError, match=r"n_features=.* at least 1"):
        make_ringnorm(10, n_features=n)
    assert make_twonorm(np.int32(7), n_features=np.int64(2))[0].shape == (7, 2)
