"""The losses: value, slope, link to probabilities, and what a pace sees."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from reference import pace_loss
from splboost.losses import Exponential

LOSS = Exponential()
MARGINS = np.linspace(-30, 30, 241)
every_k = pytest.mark.parametrize("n_classes", [3, 4, 10])


def scores(n, n_classes, seed=0, size=3.0):
    """Rows of scores that sum to zero, and a class for each."""
    rng = np.random.default_rng(seed)
    G = rng.normal(scale=size, size=(n, n_classes))
    return G - G.mean(axis=1, keepdims=True), rng.integers(n_classes, size=n)


def test_value_is_the_exponential():
    np.testing.assert_array_equal(LOSS.value(MARGINS), np.exp(-MARGINS))
    assert LOSS.value(np.zeros(1)) == 1


@pytest.mark.parametrize("margin", [-1e6, -800.0, 800.0, 1e6])
def test_far_margins_stay_finite(margin):
    value = LOSS.value(np.array([margin]))
    assert np.isfinite(value)
    assert value > 0
    assert (value > 1) == (margin < 0)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9])
def test_probability_of_two_classes_is_the_minimisers(share):
    best = minimize(
        lambda F: share * LOSS.value(F)[0] + (1 - share) * LOSS.value(-F)[0],
        0.0,
        tol=1e-10,
    ).x
    np.testing.assert_allclose(LOSS.probability(best), [[1 - share, share]], rtol=1e-5)


@every_k
def test_probability_of_more_classes_is_the_minimisers(n_classes):
    share = np.random.default_rng(n_classes).dirichlet(np.ones(n_classes))

    def expected(G):
        return share @ LOSS.value(G - G.mean())

    best = minimize(expected, np.zeros(n_classes), tol=1e-12).x
    np.testing.assert_allclose(
        LOSS.probability(best[None] - best.mean())[0], share, atol=1e-5
    )


def test_probabilities_sum_to_one_and_survive_large_scores():
    G, _ = scores(50, 5, size=1000.0)
    for p in (LOSS.probability(G), LOSS.probability(G[:, 0])):
        assert ((p >= 0) & (p <= 1)).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)


def test_doubt_of_two_classes_is_the_loss():
    F, codes = np.linspace(-5, 5, 41), np.arange(41) % 2
    np.testing.assert_allclose(LOSS.doubt(F, codes), np.exp(-(2 * codes - 1) * F))


@every_k
def test_doubt_of_two_live_classes(n_classes):
    # all the probability on two classes, whose scores differ by 2 F
    F = np.linspace(-3, 3, 13)
    G = np.full((13, n_classes), -600.0)
    G[:, 1], G[:, 2] = F, -F
    codes = np.full(13, 1)
    expected = np.exp(-F) / np.sqrt(n_classes - 1)
    np.testing.assert_allclose(LOSS.doubt(G, codes), expected, rtol=1e-12)


@every_k
def test_doubt_is_a_function_of_the_probability(n_classes):
    G, codes = scores(200, n_classes)
    p = LOSS.probability(G)[np.arange(200), codes]
    expected = np.sqrt((1 - p) / p / (n_classes - 1))
    np.testing.assert_allclose(LOSS.doubt(G, codes), expected, rtol=1e-7)
    np.testing.assert_allclose(
        LOSS.doubt(G, codes), pace_loss((n_classes - 1) * G, codes)
    )


@every_k
def test_doubt_of_the_undecided(n_classes):
    doubt = LOSS.doubt(np.zeros((1, n_classes)), np.zeros(1, dtype=int))
    np.testing.assert_allclose(doubt, 1)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_doubt_and_probability_of_a_label(n_classes):
    score, codes = scores(20, n_classes)
    if n_classes == 2:
        score = score[:, 1]
    probability = LOSS.probability(score)[np.arange(20), codes]
    for p, doubt in zip(probability, LOSS.doubt(score, codes), strict=True):
        assert LOSS.probability_at(doubt, n_classes) == pytest.approx(p, rel=1e-12)
        assert LOSS.doubt_at(p, n_classes) == pytest.approx(doubt, rel=1e-12)
    assert LOSS.doubt_at(1.0, n_classes) == 0
    assert LOSS.probability_at(0.0, n_classes) == 1
    assert LOSS.probability_at(math.inf, n_classes) == 0


def test_doubt_of_far_scores():
    G = np.array([[3000.0, -1000.0, -2000.0]] * 3)
    certain, wrong, worse = LOSS.doubt(G, np.arange(3))
    assert certain == 0
    assert 1e100 < wrong <= worse < np.inf


def test_doubt_leaves_the_scores_alone():
    G, codes = scores(20, 3)
    before = G.copy()
    LOSS.doubt(G, codes)
    np.testing.assert_array_equal(G, before)
