"""The boosters' kernels against plain numpy."""

import math

import numpy as np
import pytest

from splboost.boosting.scores.discrete_scores import BLOCK, MAX_EXPONENT, Scores
from splboost.boosting.scores.kernels import (
    CHUNK,
    exponential,
    weigh,
    weigh_along_lines,
)
from splboost.boosting.scores.working import savage_totals
from splboost.losses import Savage
from splboost.pace import Hard, Linear, Pace


def test_exponential_to_the_last_digits():
    rng = np.random.default_rng(0)
    xs = [*rng.uniform(-700, 700, size=5000), *rng.normal(size=5000), 0.0, 1e-300]
    for x in [*xs, -700.0, 700.0, -1e-17, 0.5 * math.log(2)]:
        assert exponential(x) == pytest.approx(math.exp(x), rel=4.5e-16, abs=0)
    assert exponential(0.0) == 1


def test_exponential_rises():
    x = np.sort(np.random.default_rng(1).uniform(-1, 1, size=20_000))
    y = np.empty_like(x)
    weigh(-x, 0.0, MAX_EXPONENT, y)
    assert (np.diff(y) >= 0).all()


def test_weights_of_hopeless_and_of_settled_samples():
    weight = np.empty(4)
    weigh(np.array([-1e9, -600.0, 0.0, 1e9]), 0.0, MAX_EXPONENT, weight)
    top = math.exp(MAX_EXPONENT)
    np.testing.assert_allclose(weight, [top, top, 1, math.exp(-700)], rtol=1e-13)


@pytest.mark.parametrize("size", [1, 7, CHUNK - 1, CHUNK, 2 * CHUNK + 3])
@pytest.mark.parametrize(
    "lines",
    [
        ((np.inf, 0.0), (np.inf, 0.0)),
        ((1.5, 0.0), (1.5, 0.0)),
        ((3.0, 1.0), (0.7, 1.0)),
        ((1.5, 0.0), (np.inf, 0.0)),
    ],
)
@pytest.mark.parametrize("weigh_samples", [False, True])
@pytest.mark.parametrize("paced", [False, True])
def test_weights_along_lines(size, lines, weigh_samples, paced):
    rng = np.random.default_rng(size)
    margin, shift = rng.normal(size=size), 0.7
    sample_weight = rng.integers(1, 4, size=size).astype(float)
    codes = rng.integers(0, 2, size=size).astype(np.uint8)
    weight = np.empty(size)
    selected, latent = weigh_along_lines(
        margin,
        codes,
        sample_weight,
        weigh_samples,
        shift,
        MAX_EXPONENT,
        lines,
        paced,
        weight,
    )
    age, slope = np.array(lines)[codes].T
    loss = np.exp(-margin)
    v = np.where(loss < age, 1 - slope * loss / age, 0.0)
    seen = np.minimum(loss, age)
    latent_loss = seen - slope * seen**2 / (2 * age)
    mass = sample_weight if weigh_samples else np.ones(size)
    plain = mass * np.exp(shift - margin)
    np.testing.assert_allclose(weight, plain * v if paced else plain, rtol=1e-12)
    assert selected == (np.count_nonzero(v) if paced else size)
    assert latent == pytest.approx(mass @ latent_loss, rel=1e-12)


class Unlike(Pace):
    """A line that does not say that it is one."""

    def __init__(self, pace):
        self.pace = pace

    def weight(self, loss):
        return self.pace.weight(loss)

    def latent(self, loss):
        return self.pace.latent(loss)


@pytest.mark.parametrize(
    "paces",
    [
        [Hard(age=1.5), Hard(age=1.5)],
        [Linear(age=3.0), Linear(age=3.0)],
        [Hard(age=1.5), Linear(age=5.0)],
        [None, Linear(age=3.0)],
    ],
)
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("size", [50, BLOCK + 5])
@pytest.mark.parametrize("behind", [0.0, 400.0])
def test_lines_or_functions_are_the_same(paces, n_threads, size, behind):
    """``behind`` shifts margins so far that weights are cut off at their exponent."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, size=size).astype(np.uint8)
    mass = rng.integers(1, 4, size=size).astype(float)
    line = Scores(codes, 2, mass, paces, n_threads=n_threads)
    unlike = [pace and Unlike(pace) for pace in paces]
    functions = Scores(codes, 2, mass, unlike, n_threads=n_threads)
    assert line._lines is not None and functions._lines is None
    for scores in (line, functions):
        scores.margin[:] = behind + np.random.default_rng(3).normal(size=size)
        scores.margin[0] = -300
        scores._shift = behind
        scores.refresh(paced=True)
    np.testing.assert_allclose(line.weight, functions.weight, rtol=1e-12, atol=1e-14)
    assert line.n_selected == functions.n_selected
    assert line.latent == pytest.approx(functions.latent, rel=1e-12)


@pytest.mark.parametrize("size", [1, 7, CHUNK, 2 * CHUNK + 3])
def test_savage_losses_along_a_learner(size):
    rng = np.random.default_rng(size)
    score, values, factor = rng.normal(scale=[[20], [3], [0]], size=(3, size))
    factor += rng.random(size)
    codes = rng.integers(2, size=size).astype(np.uint8)
    totals = savage_totals(score, codes, 1, factor, values, 2.0, 2.0**-6, 7)
    y = np.where(codes == 1, 1.0, -1.0)
    expected = [
        factor @ Savage().value(y * (score + length * values))
        for length in [0.0, *2.0 ** np.arange(-6, 2)]
    ]
    np.testing.assert_allclose(totals, expected, rtol=1e-11)
