"""The potentials of RobustBoost and BrownBoost, and the solve for a round's move."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfc
from scipy.stats import norm

from reference import potentials as reference
from splboost.boosting.potential_kernels import (
    OF_SAMPLES,
    search,
    survey,
    weigh_and_rate,
)
from splboost.boosting.potentials import FARTHEST, BrownPotential, RobustPotential

ONE_SIDED = RobustPotential(0.2)
TWO_SIDED = RobustPotential(0.14, two_sided=True)
BROWN = BrownPotential(0.3)
KINDS = {"one-sided": ONE_SIDED, "two-sided": TWO_SIDED, "brown": BROWN}
REFERENCES = {
    ONE_SIDED: reference.RobustPotential(0.2),
    TWO_SIDED: reference.RobustPotential(0.14, variant="two-sided"),
    BROWN: reference.BrownPotential(0.3),
}
every_kind = pytest.mark.parametrize("potential", KINDS.values(), ids=KINDS)
smooth_kind = pytest.mark.parametrize(
    "potential", [TWO_SIDED, BROWN], ids=["two-sided", "brown"]
)


def signs(vote):
    return np.where(vote, 1.0, -1.0)


def after(potential, margin, vote, step, duration):
    return margin * potential.decay(duration) + step * signs(vote)


def sums(potential, margin, vote, weight, time, step, duration):
    """The edge and the potential after a move, summed."""
    moved = after(potential, margin, vote, step, duration)
    edge = weight * signs(vote) @ potential.weight(moved, time + duration)
    return edge, weight @ potential.value(moved, time + duration)


def lowest(potential, margin, vote, weight, time, duration):
    """The lowest summed potential after a duration, of steps on a grid."""
    steps = np.linspace(0, 8, 161)[:, None]
    moved = after(potential, margin, vote, steps, duration)
    return (potential.value(moved, time + duration) @ weight).min()


def search_samples(potential, margin, vote, weight, time):
    """The move that a search among the samples themselves finds."""
    samples = survey(margin, vote, weight)[0]
    return search(samples, potential._course, time, OF_SAMPLES, 0.0)


def boost(potential, n, n_rounds, seed, weight=None):
    """Random rounds: before each the margins, votes and time, and its move."""
    rng = np.random.default_rng(seed)
    weight = np.ones(n) if weight is None else weight
    margin, time = np.zeros(n), 0.0
    hard = rng.random(n)
    for _ in range(n_rounds):
        vote = rng.random(n) < np.where(hard < 0.1, 0.4, rng.choice([0.55, 0.6, 0.65]))
        move = potential.solve(margin, vote, weight, time)
        yield margin, vote, weight, time, move
        if move.outcome == "moved":
            margin = after(potential, margin, vote, move.step, move.duration)
            time += move.duration
        elif move.outcome == "finished":
            return


def random_state(rng, potential):
    """Margins, votes, weights and a time, from the usual to the odd."""
    n = int(rng.choice([1, 2, 3, 10, 40, 100, 200]))
    time = potential.end * rng.choice([0, rng.random(), rng.random(), 0.95, 0.99])
    margin = rng.normal(scale=rng.choice([0, 0.1, 0.3, 0.6]), size=n)
    if rng.random() < 0.3:
        margin = np.round(margin, 1)
    vote = rng.random(n) < rng.choice([0.5, 0.55, 0.6, 0.7, 0.9])
    if rng.random() < 0.1:
        vote[:] = np.arange(n) > rng.choice([-1, 0, n])
    weight = rng.choice([1.0, 2.0, 100.0], size=n) if rng.random() < 0.3 else np.ones(n)
    return margin, vote, weight, time


# The potential itself


def test_erfc_and_weight():
    a = np.concatenate([np.linspace(-FARTHEST, FARTHEST, 4001), [0.0, -1e-9, 1e-9]])
    weight, rate = np.array([weigh_and_rate(x, -FARTHEST) for x in a]).T
    inside = a > -FARTHEST
    np.testing.assert_allclose(weight[inside], np.exp(-a * a)[inside], rtol=1e-14)
    np.testing.assert_allclose(rate, erfc(a), rtol=1e-13)
    near = np.abs(a) < 1
    np.testing.assert_allclose(rate[near], erfc(a)[near], rtol=0, atol=2e-15)


@given(
    epsilon=st.floats(1e-6, 0.49),
    theta=st.floats(0, 3),
    sigma=st.floats(0.01, 2),
    variant=st.sampled_from(["one-sided", "two-sided", "brown"]),
    time=st.floats(0, 1),
)
def test_potentials_are_those_of_the_reference(epsilon, theta, sigma, variant, time):
    if variant == "brown":
        potential = BrownPotential(epsilon)
        expected = reference.BrownPotential(epsilon)
    else:
        potential = RobustPotential(epsilon, theta, sigma, variant == "two-sided")
        expected = reference.RobustPotential(epsilon, theta, sigma, variant)
        assert potential.mean(time) == pytest.approx(expected.mu(time), abs=1e-8)
        assert potential.width(time) == pytest.approx(expected.sigma(time))
    assert potential.value(np.zeros(1), 0.0)[0] == pytest.approx(epsilon, rel=1e-10)
    assert potential.end == pytest.approx(expected.end)
    assert potential.decay(time) == pytest.approx(expected.decay(time))
    time *= potential.end
    margin = potential.mean(time) + potential.width(time) * np.linspace(-3, 3, 14)
    value, weight = (
        expected.value(margin, time),
        np.exp(expected.log_weight(margin, time)),
    )
    np.testing.assert_allclose(potential.value(margin, time), value, rtol=1e-6)
    np.testing.assert_allclose(potential.weight(margin, time), weight, rtol=1e-6)
    sample_weight, weighed = np.linspace(0, 2, margin.size), np.empty(margin.size)
    total = potential.weigh(margin, time, sample_weight, weighed)
    assert total == pytest.approx(sample_weight @ value, rel=1e-6)
    np.testing.assert_allclose(weighed, sample_weight * weight, rtol=1e-6)


@every_kind
def test_probability_rises_with_the_score(potential):
    probability = potential.probability(np.linspace(-9, 9, 31), potential.end)
    assert probability[15] == 0.5
    assert (np.diff(probability) >= 0).all()
    np.testing.assert_allclose(probability, 1 - probability[::-1], atol=1e-15)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (RobustPotential, {"epsilon": 0.0}, "epsilon=0.0 must be above 0"),
        (RobustPotential, {"epsilon": 0.5, "two_sided": True}, "two-sided .*below 0.5"),
        (RobustPotential, {"epsilon": 0.6, "theta": -1.0}, r"theta=-1.0 .*below 0.1"),
        (RobustPotential, {"sigma": math.nan}, "sigma=nan"),
        (RobustPotential, {"theta": math.inf}, "theta=inf"),
        (BrownPotential, {"epsilon": math.nan}, "epsilon=nan must be between"),
        (BrownPotential, {"epsilon": 1.0}, "epsilon=1.0 must be between"),
    ],
)
def test_parameters_that_do_not_work(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(**options)


def test_a_goal_above_zero_allows_a_higher_epsilon():
    assert RobustPotential(0.6, theta=1.0, two_sided=True).rho > 0


# Rounds


@every_kind
@pytest.mark.parametrize("n", [7, 300, 3000])
def test_rounds_meet_both_equations(potential, n):
    moved = 0
    for *state, move in boost(potential, n, 60, seed=n):
        margin, _, _, time = state
        start = potential.value(margin, time).sum()
        assert start / n == pytest.approx(potential.value(0.0, 0.0), abs=1e-8)
        edge, total = sums(potential, *state, move.step, move.duration)
        if move.outcome == "moved":
            moved += 1
            assert move.step > 0
            assert move.duration > 0
            assert abs(edge) < 1e-8 * n
            assert abs(total - start) < 1e-8 * n
        elif move.outcome == "finished":
            assert time + move.duration > 0.999 * potential.end
            assert abs(edge) < 1e-8 * n or move.step == 0
            assert total <= start + 1e-8 * n
        else:
            assert (move.step, move.duration) == (0, 0)
    assert moved > 10 or n < 60


@every_kind
@pytest.mark.parametrize("n", [40, 300])
def test_weights_count_as_copies(potential, n):
    """Samples of weight 0, wherever they are, leave no trace."""
    rng = np.random.default_rng(n)
    weight = rng.integers(0, 4, size=n)
    for margin, vote, _, time, move in boost(potential, n, 12, 1, weight.astype(float)):
        copies = [np.repeat(each, weight) for each in (margin, vote)]
        same = potential.solve(*copies, np.ones(weight.sum()), time)
        margin[weight == 0] = rng.choice([50, -50, 1e300, -1e300], (weight == 0).sum())
        more = potential.solve(margin, vote, weight.astype(float), time)
        assert same.outcome == more.outcome == move.outcome
        assert same[:2] == pytest.approx(move[:2], rel=1e-6, abs=1e-12)
        assert more[:2] == pytest.approx(move[:2], rel=1e-7, abs=1e-12)


@every_kind
def test_a_known_potential_changes_nothing(potential):
    for margin, vote, weight, time, move in boost(potential, 200, 10, 3):
        total = potential.weigh(margin, time, weight, np.empty(200))
        known = potential.solve(margin, vote.astype(np.int8), weight, time, total)
        assert known.outcome == move.outcome
        assert known[:2] == pytest.approx(move[:2], rel=1e-7)


# The solve against others


@smooth_kind
def test_solve_is_that_of_the_reference(potential):
    rng = np.random.default_rng(0)
    met = []
    for k in range(40):
        if k % 2:
            state = random_state(rng, potential)
        else:
            *_, last = boost(potential, 150, int(rng.integers(1, 15)), rng.integers(99))
            state = last[:4]
        margin, vote, weight, time = state
        move = potential.solve(*state)
        size = weight.sum()
        try:
            step, duration = reference.solve_step(
                REFERENCES[potential], margin, signs(vote), weight, time, size
            )
        except reference.Stop as stop:
            assert move == (0, 0, str(stop))
            met.append(move.outcome)
            continue
        assert move.duration == pytest.approx(duration, abs=1e-8)
        reached = sums(potential, *state, move.step, move.duration)[1]
        assert reached <= sums(potential, *state, step, duration)[1] + 1e-9 * size
        met.append(move.outcome)
    assert {"moved", "finished"} <= set(met)
    assert met.count("moved") > 12


@every_kind
def test_solve_finds_the_first_return_of_the_potential(potential):
    """Before it some step lowers the sum, and after it none does.

    Steps between those tried may do so too: one-sided sums are rugged.
    """
    rng = np.random.default_rng(1)
    moved = 0
    for _ in range(60):
        state = random_state(rng, potential)
        total = state[2].sum()
        start = state[2] @ potential.value(state[0], state[3])
        move = potential.solve(*state)
        if move.outcome != "moved":
            continue
        moved += 1
        slack = 1e-9 if potential is not ONE_SIDED else 1e-3
        assert lowest(potential, *state, move.duration) >= start - slack * total
        for longer in np.linspace(0, potential.end - state[3], 51):
            if longer < move.duration:
                assert lowest(potential, *state, longer) < start + 1e-3 * total
    assert moved > 5


@every_kind
@pytest.mark.parametrize("n", [100, 1000])
def test_cells_lead_to_what_a_search_among_all_samples_finds(potential, n):
    met = set()
    for *state, move in boost(potential, n, 40, seed=5):
        found = search_samples(potential, *state)
        met.add(move.outcome)
        if potential is ONE_SIDED:  # many lowest sums next to each other
            assert move.duration == pytest.approx(found[2], rel=0.03)
        else:
            assert move[:2] == pytest.approx(found[1:], rel=1e-6, abs=1e-8)
    assert "moved" in met


@pytest.mark.parametrize("two_sided", [False, True])
def test_cells_know_what_they_do_not_know(two_sided):
    """Wide margins, late times and leaps to a narrow end, where cells say little."""
    potential = RobustPotential(0.2, sigma=0.02, two_sided=two_sided)
    rng = np.random.default_rng(7)
    met = []
    for _ in range(250):
        n = int(rng.choice([70, 100, 300]))
        size = rng.choice([0.2, 0.5, 1.0]) * potential.width(0.0)
        margin = rng.normal(scale=size, size=n)
        vote = rng.random(n) < rng.choice([0.55, 0.6, 0.7, 0.9])
        time = potential.end * rng.choice([0.0, 0.5, 0.9, 0.99, rng.random()])
        state = margin, vote, np.ones(n), time
        found = search_samples(potential, *state)
        move = potential.solve(*state)
        relative = 1e-6 if two_sided else 0.03
        assert move.duration == pytest.approx(found[2], rel=relative, abs=1e-8)
        reached = sums(potential, *state, move.step, move.duration)[1]
        assert reached <= sums(potential, *state, *found[1:])[1] + 1e-8 * n
        met.append(move.outcome)
    assert met.count("moved") > 10
    assert met.count("finished") > 10


def test_a_rise_of_the_potential_is_not_leapt_over():
    """Without a step the sum rises at first, and is far lower at the end."""
    n, time = 300, 0.8
    margin = norm.ppf((np.arange(n) + 0.5) / n, 0.3, 0.1)
    vote = (np.arange(n) % 2 == 0) | (np.arange(n) % 75 == 0)
    state = margin, vote, np.ones(n), time
    start = TWO_SIDED.value(margin, time).sum()
    assert sums(TWO_SIDED, *state, 0.0, 0.02)[1] > start
    assert sums(TWO_SIDED, *state, 0.0, 0.1)[1] < start - 1
    move = TWO_SIDED.solve(*state)
    assert move.outcome == "moved"
    assert move.duration < 0.01


# The edges


@every_kind
def test_all_right_finishes_with_nothing_left(potential):
    n = 100
    move = potential.solve(np.zeros(n), np.ones(n, bool), np.ones(n), 0.0)
    assert move.outcome == "finished"
    assert move.duration == potential.end
    left = potential.value(np.full(n, move.step), potential.end)
    assert left.max() < 1e-10


@every_kind
@pytest.mark.parametrize("n", [3, 100])
def test_all_wrong_or_weightless_has_no_edge(potential, n):
    margin, wrong = np.zeros(n), np.zeros(n, bool)
    for weight in (np.ones(n), np.zeros(n)):
        assert potential.solve(margin, wrong, weight, 0.0) == (0, 0, "no edge")
    assert potential.solve(margin, ~wrong, np.zeros(n), 0.0).outcome == "no edge"


@settings(max_examples=100)
@given(
    kind=st.sampled_from(list(KINDS)),
    rows=st.lists(
        st.tuples(
            st.floats(-1e3, 1e3) | st.sampled_from([-1e308, 1e308]),
            st.booleans(),
            st.sampled_from([0.0, 1e-9, 1.0, 1e6]),
        ),
        min_size=1,
        max_size=90,
    ),
    time=st.floats(0, 0.999),
)
def test_any_state_gives_a_move(kind, rows, time):
    potential = KINDS[kind]
    margin, vote, weight = (np.array(each) for each in zip(*rows, strict=True))
    time *= potential.end
    move = potential.solve(margin, vote, weight, time)
    assert np.isfinite(move[:2]).all()
    assert move.step >= 0
    assert 0 <= move.duration <= potential.end - time
    start = weight @ potential.value(margin, time)
    total = sums(potential, margin, vote, weight, time, move.step, move.duration)[1]
    assert total <= start + 1e-8 * weight.sum()
