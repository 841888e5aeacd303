"""Weights from margins: kernels give what numpy makes of the same formulas."""

import math

import numpy as np
import pytest

from splboost._tools import maths
from splboost.boosting import (
    AdaBoostClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    SavageBoostClassifier,
)
from splboost.boosting.state import BLOCK, CHUNK, State
from splboost.pace import Hard, Linear, Logarithmic, Mixture, Pace, Polynomial

BOOSTERS = {
    "ada": AdaBoostClassifier(),
    "gentle": GentleBoostClassifier(),
    "logit": LogitBoostClassifier(),
    "logit, gradient": LogitBoostClassifier(z_clip="gradient", z_max=3.0),
    "savage": SavageBoostClassifier(),
    "rboost": RBoostClassifier(),
    "fisher": RBoostClassifier(variant="fisher"),
    "mm": RBoostClassifier(variant="mm"),
}
WORKING_SETS = {name: booster._working_set for name, booster in BOOSTERS.items()}
PACES = {
    "none": [None, None],
    "hard": [Hard(age=1.5), None],
    "linear": [Linear(age=3.0), Linear(age=0.7)],
    "polynomial": [Polynomial(age=3.0, t=1.4)] * 2,
    "mixture": [Mixture(age=1.2), Mixture(age=1.2, gamma=0.4)],
    "logarithmic": [Logarithmic(age=2.0), Logarithmic(age=2.0, zeta=0.3)],
}
PAIRS = [
    *((working_set, "hard") for working_set in WORKING_SETS),
    *(("ada", pace) for pace in PACES if pace != "hard"),
]


def make_state(working_set, paces, n, *, seed=0, **options):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size=n).astype(np.uint8)
    weight = rng.integers(1, 4, size=n).astype(float)
    state = State(working_set, codes, 2, weight, paces, **options)
    state.score[0] = rng.normal(size=n)
    return state


@pytest.mark.parametrize(("name", "pace"), PAIRS)
@pytest.mark.parametrize("paced", [False, True])
def test_kernels_follow_the_formulas(name, pace, paced):
    working_set, paces = WORKING_SETS[name], PACES[pace]
    state = make_state(working_set, paces, CHUNK + 3, targets=True)
    if name == "ada":
        state.shift = 0.7  # a common factor of all weights
    state.refresh(paced=paced)
    y = np.where(state.codes == 1, 1.0, -1.0)
    margin = y * state.score[0]
    loss = working_set.loss.value(margin)
    weight, target = working_set.fit_of(margin - state.shift, working_set.limit)
    pace_of = [Hard(age=math.inf) if each is None else each for each in paces]
    v = np.where(state.codes == 1, pace_of[1].weight(loss), pace_of[0].weight(loss))
    latent = [each.latent(loss) for each in pace_of]
    latent = np.where(state.codes == 1, latent[1], latent[0])
    factor = state.sample_weight * (v if paced else 1.0)
    np.testing.assert_allclose(state.loss[0], loss, rtol=1e-12)
    np.testing.assert_allclose(state.weight[0], weight * factor, rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(state.target[0], y * target, rtol=1e-12)
    np.testing.assert_allclose(state.factor, factor, rtol=1e-11, atol=1e-15)
    assert state.latent == pytest.approx((latent * state.sample_weight).sum())
    assert state.n_selected == (np.count_nonzero(v) if paced else v.size)


class Welsch(Pace):
    def weight(self, loss):
        return np.exp(-np.asarray(loss, dtype=float))

    def latent(self, loss):
        return -np.expm1(-np.asarray(loss, dtype=float))


class OwnHard(Hard):
    """By numpy, as a pace of a user's own."""

    def weight(self, loss):
        return super().weight(loss)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("size", [1, BLOCK + 5])
def test_numpy_and_kernels_are_the_same(size, n_threads, eager_threads):
    states = [
        make_state(WORKING_SETS["ada"], [pace, pace], size, n_threads=n_threads)
        for pace in (Hard(age=1.2), OwnHard(age=1.2))
    ]
    for state in states:
        state.refresh(paced=True)
    np.testing.assert_allclose(states[0].weight, states[1].weight, rtol=1e-13)
    assert states[0].n_selected == states[1].n_selected
    assert states[0].one_class == states[1].one_class
    assert states[0].latent == pytest.approx(states[1].latent)


@pytest.mark.parametrize("pace", [Hard(age=1.0), Welsch()])
def test_samples_of_one_class_are_noticed(pace):
    state = make_state(WORKING_SETS["ada"], [pace, pace], 50)
    state.score[0] = np.where(state.codes == 1, 9.0, 9.0)  # the others are wrong
    state.refresh(paced=True)
    state_of_both = make_state(WORKING_SETS["ada"], [None, None], 50)
    state_of_both.refresh(paced=True)
    assert state.one_class and not state_of_both.one_class


def test_weights_of_hopeless_and_of_settled_samples_stay_finite():
    state = make_state(WORKING_SETS["ada"], [None, None], 4)
    state.codes[:] = 1
    state.score[0] = [-1e9, -600.0, 0.0, 1e9]
    state.refresh(paced=False)
    top = math.exp(345) * state.sample_weight
    np.testing.assert_allclose(state.weight[0, :2], top[:2], rtol=1e-12)
    assert 0 < state.weight[0, 3] < 1e-100


def test_elementary_functions_to_the_last_digits():
    rng = np.random.default_rng(0)
    x = np.array([*rng.uniform(-700, 700, size=5000), *rng.normal(size=5000), 0.0])
    np.testing.assert_allclose(maths.exp(x), np.exp(x), rtol=4.5e-16)
    assert maths.exp(0.0) == 1
    x = np.array([*np.logspace(-300, 300, 5000), 0.0])
    np.testing.assert_allclose(maths.log1p(x), np.log1p(x), rtol=6e-16)
    rising = np.sort(rng.uniform(-1, 1, size=20_000))
    assert (np.diff(maths.exp(rising)) >= 0).all()
