"""The losses: value, slope, link to probabilities, and what a pace sees."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from reference import pace_loss
from splboost.losses import Exponential, Logistic, Savage, Savage2

LOSS = Exponential()
MARGINS = np.linspace(-30, 30, 241)
every_k = pytest.mark.parametrize("n_classes", [3, 4, 10])


def scores(n, n_classes, seed=0, size=3.0):
    """Rows of scores that sum to zero, and a class for each."""
    rng = np.random.default_rng(seed)
    G = rng.normal(scale=size, size=(n, n_classes))
    return G - G.mean(axis=1, keepdims=True), rng.integers(n_classes, size=n)


def test_value_is_the_exponential():
    np.testing.assert_allclose(LOSS.value(MARGINS), np.exp(-MARGINS), rtol=1e-15)
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


# -------------------------------------------------------------- losses of the rivals

LOSSES = {
    "exponential": Exponential(),
    "logistic": Logistic(),
    "savage": Savage(),
    "savage2": Savage2(),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


@every_loss
def test_weight_is_the_slope(loss):
    m, h = np.linspace(-8, 8, 161), 1e-6
    slope = (loss.value(m - h) - loss.value(m + h)) / (2 * h)
    np.testing.assert_allclose(loss.weight(m), slope, rtol=1e-6, atol=1e-9)


@every_loss
def test_link_is_the_minimiser(loss):
    """The score at which the expected loss is lowest gives back the probability."""
    for share in (0.05, 0.3, 0.5, 0.8):

        def expected(F, share=share):
            F = np.atleast_1d(F)
            return float(share * loss.value(F)[0] + (1 - share) * loss.value(-F)[0])

        best = minimize_scalar(expected, bounds=(-4, 4), method="bounded").x
        upper = loss.probability(np.array([best]))[0, 1]
        assert upper == pytest.approx(share, abs=2e-4)


@every_loss
def test_odds_and_losses_belong_together(loss):
    m = np.linspace(-5, 5, 41)
    against = np.exp(-loss.log_odds_per_score * m)
    np.testing.assert_allclose(loss.at_odds(against), loss.value(m), rtol=1e-12)
    for value, odds in zip(loss.value(m), against, strict=True):
        assert loss.odds_at(float(value)) == pytest.approx(odds, rel=1e-9)


@every_loss
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_doubt_and_probability_belong_together(loss, n_classes):
    for p in (0.001, 0.2, 0.7, 0.99):
        doubt = loss.doubt_at(p, n_classes)
        assert loss.probability_at(doubt, n_classes) == pytest.approx(p)


@every_loss
@every_k
def test_doubt_follows_the_probability_of_the_label(loss, n_classes):
    for coupled in (False, True):
        own = type(loss)(coupled=coupled)
        F, codes = scores(200, n_classes)
        p = own.probability(F)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        doubt = own.doubt(F, codes)
        expected = [own.doubt_at(q, n_classes) for q in p[np.arange(200), codes]]
        np.testing.assert_allclose(doubt, expected, rtol=1e-7)


@every_loss
@every_k
def test_an_undecided_model_has_the_same_doubt_for_any_number_of_classes(
    loss, n_classes
):
    zero = np.zeros((1, n_classes))
    doubt = loss.doubt(zero, np.array([1]))[0]
    if isinstance(loss, Logistic):  # minus the logarithm of the probability
        assert doubt == pytest.approx(math.log(n_classes))
    else:
        assert doubt == pytest.approx(loss.value(np.zeros(1))[0])


@every_loss
@pytest.mark.parametrize("n_classes", [2, 5])
def test_plateaus_are_translated_by_probability(loss, n_classes):
    exponential = Exponential()
    for plateau in (0.5, 1.0, 2.5, 6.0):
        p = exponential.probability_at(plateau, n_classes)
        own = loss.plateau_of(plateau, n_classes)
        assert loss.probability_at(own, n_classes) == pytest.approx(p)
    assert loss.plateau_of(math.inf, n_classes) == math.inf


@every_loss
def test_far_margins_are_finite(loss):
    far = np.array([-1e6, -800.0, 800.0, 1e6])
    for values in (loss.value(far), loss.weight(far)):
        assert np.isfinite(values).all()
        assert (values >= 0).all()


@pytest.mark.parametrize(("loss", "scale"), [(Savage(), 2.0), (Savage2(), 1.0)])
def test_savage_is_the_brier_score(loss, scale):
    F = np.linspace(-4, 4, 33)
    for y in (-1, 1):
        p, t = 1 / (1 + np.exp(-scale * F)), (y + 1) / 2
        np.testing.assert_allclose(loss.value(y * F), (t - p) ** 2, atol=1e-15)


@pytest.mark.parametrize(("loss", "peak"), [(Savage(), -0.5), (Savage2(), -1.0)])
def test_where_savage_weighs_most(loss, peak):
    best = minimize_scalar(
        lambda m: -loss.weight(np.array([m]))[0], bounds=(-3, 3), method="bounded"
    ).x
    assert best == pytest.approx(peak * math.log(2), abs=1e-5)


def test_savage2_is_savage_with_scores_twice_as_large():
    np.testing.assert_allclose(Savage2().value(2 * MARGINS), Savage().value(MARGINS))


def test_logistic_is_the_log_likelihood():
    F, codes = scores(50, 4)
    p = np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        Logistic().doubt(F, codes), -np.log(p[np.arange(50), codes])
    )
