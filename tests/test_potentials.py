"""The potentials of RobustBoost and BrownBoost, and the solve for a round's move."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import erfc
from scipy.stats import norm

from splboost.boosting.potential_kernels import (
    OF_SAMPLES,
    place,
    search,
    survey,
    weigh_and_rate,
)
from splboost.boosting.potentials import FARTHEST, BrownPotential, RobustPotential

ONE_SIDED = RobustPotential(0.2)
TWO_SIDED = RobustPotential(0.14, two_sided=True)
BROWN = BrownPotential(0.3)
KINDS = {"one-sided": ONE_SIDED, "two-sided": TWO_SIDED, "brown": BROWN}
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


def lowest(potential, margin, vote, weight, time, duration, n_steps=81):
    """Step up to 8 with the lowest summed potential after a duration, and this."""

    def here(step):
        return sums(potential, margin, vote, weight, time, step, duration)

    steps = np.linspace(0, 8, n_steps)
    moved = after(potential, margin, vote, steps[:, None], duration)
    potentials = potential.value(moved, time + duration) @ weight
    k = int(np.argmin(potentials))
    lower, upper = steps[max(k - 1, 0)], steps[min(k + 1, n_steps - 1)]
    if here(lower)[0] > 0 > here(upper)[0]:
        for _ in range(60):
            middle = (lower + upper) / 2
            if here(middle)[0] > 0:
                lower = middle
            else:
                upper = middle
        if here(lower)[1] <= potentials[k]:
            return lower, here(lower)[1]
    return steps[k], potentials[k]


def solve_naively(potential, margin, vote, weight, time):
    """The nested solve, with no thought of speed."""
    start = weight @ potential.value(margin, time)

    def risen(duration):
        args = potential, margin, vote, weight, time, duration
        return lowest(*args)[1] - start

    if risen(0.0) > -1e-12 * weight.sum():
        return "no edge", 0.0, 0.0
    shorter = 0.0
    for longer in np.linspace(0, potential.end - time, 51)[1:]:
        if risen(longer) >= 0:
            break
        shorter = longer
    else:
        step = lowest(potential, margin, vote, weight, time, longer)[0]
        return "finished", step, longer
    for _ in range(36):
        middle = (shorter + longer) / 2
        if risen(middle) < 0:
            shorter = middle
        else:
            longer = middle
    if longer < 1e-7 * potential.end:
        return "stuck", 0.0, 0.0
    step = lowest(potential, margin, vote, weight, time, longer)[0]
    outcome = "finished" if time + longer > 0.999 * potential.end else "moved"
    return outcome, step, longer


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


# The potential itself


def test_erfc_and_weight():
    a = np.concatenate([np.linspace(-FARTHEST, FARTHEST, 20_001), [0.0, -1e-9, 1e-9]])
    weight, rate = np.array([weigh_and_rate(x, -FARTHEST) for x in a]).T
    inside = a > -FARTHEST
    np.testing.assert_allclose(weight[inside], np.exp(-a * a)[inside], rtol=1e-14)
    np.testing.assert_allclose(rate, erfc(a), rtol=1e-13)
    near = np.abs(a) < 1
    np.testing.assert_allclose(rate[near], erfc(a)[near], rtol=0, atol=2e-15)


@given(
    epsilon=st.floats(1e-6, 0.999),
    theta=st.floats(0, 3),
    sigma=st.floats(0.01, 2),
    two_sided=st.booleans(),
)
def test_robust_potential_starts_at_epsilon(epsilon, theta, sigma, two_sided):
    assume(not two_sided or epsilon < 0.5)
    potential = RobustPotential(epsilon, theta, sigma, two_sided)
    assert potential.rho > 0
    assert potential.value(np.zeros(1), 0.0)[0] == pytest.approx(epsilon, rel=1e-10)
    assert potential.mean(1.0) == pytest.approx(theta, abs=1e-12)
    assert potential.width(1.0) == pytest.approx(sigma)
    assert potential.end == 1


@given(epsilon=st.floats(1e-6, 0.999))
def test_brown_potential_starts_at_epsilon(epsilon):
    potential = BrownPotential(epsilon)
    assert potential.value(np.zeros(1), 0.0)[0] == pytest.approx(epsilon, rel=1e-10)
    assert potential.decay(0.3) == 1
    assert potential.mean(potential.end) == 0


def test_two_sided_potential_solves_its_equation():
    """Φ_t + (2ρ - m) Φ_m + Φ_mm / 2 = 0"""
    margin, h = np.linspace(-3, 3, 61), 1e-4
    for time in (0.1, 0.5, 0.8):
        by_time = (
            TWO_SIDED.value(margin, time + h) - TWO_SIDED.value(margin, time - h)
        ) / (2 * h)
        lower, here, upper = (TWO_SIDED.value(margin + d, time) for d in (-h, 0.0, h))
        by_margin = (upper - lower) / (2 * h)
        curvature = (upper - 2 * here + lower) / (h * h)
        drift = 2 * TWO_SIDED.rho - margin
        np.testing.assert_allclose(
            by_time + drift * by_margin + curvature / 2, 0, atol=1e-6
        )


@every_kind
def test_weight_is_the_fall_of_the_potential(potential):
    time, h = 0.4 * potential.end, 1e-6
    margin = np.linspace(-4, 4, 57)
    fall = (potential.value(margin - h, time) - potential.value(margin + h, time)) / h
    weight = potential.weight(margin, time)
    scale = fall.max() / weight.max()
    away = np.abs(margin - potential.mean(time)) > 2 * h
    np.testing.assert_allclose(fall[away], scale * weight[away], atol=1e-6)


def test_one_sided_potential_gives_up_what_is_below_the_mean():
    time = 0.5
    margin = ONE_SIDED.mean(time) + np.array([-5.0, -1e-3, 1e-3, 5.0])
    assert (ONE_SIDED.weight(margin, time) > 0).tolist() == [False, False, True, True]
    assert ONE_SIDED.value(margin, time)[:2].tolist() == [1, 1]


@every_kind
def test_weigh_is_weight_and_value(potential):
    rng = np.random.default_rng(0)
    margin, sample_weight = rng.normal(size=(2, 1003))
    sample_weight = np.abs(sample_weight)
    time, weight = 0.7 * potential.end, np.empty(1003)
    total = potential.weigh(margin, time, sample_weight, weight)
    assert total == pytest.approx(sample_weight @ potential.value(margin, time))
    expected = sample_weight * potential.weight(margin, time)
    np.testing.assert_allclose(weight, expected, rtol=1e-12)
    mean, width = place(potential._course, time)
    assert (mean, width) == pytest.approx((potential.mean(time), potential.width(time)))


@every_kind
def test_probability_rises_with_the_score(potential):
    probability = potential.probability(np.linspace(-9, 9, 31), potential.end)
    assert probability[15] == 0.5
    assert (np.diff(probability) >= 0).all()
    np.testing.assert_allclose(probability, 1 - probability[::-1], atol=1e-15)
    if potential is BROWN:
        expected = (1 + math.erf(0.6 / math.sqrt(BROWN.end))) / 2
        assert BROWN.probability(np.array([0.6]), BROWN.end) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"epsilon": 0.0}, "epsilon=0.0 must be above 0"),
        ({"epsilon": 1.0}, "below 1:"),
        (
            {"epsilon": 0.5, "two_sided": True},
            r"epsilon=0.5 .*two-sided form, below 0.5",
        ),
        ({"epsilon": 0.6, "theta": -1.0}, r"theta=-1.0 .* below 0.1"),
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"sigma": math.nan}, "sigma=nan"),
        ({"theta": math.inf}, "theta=inf"),
    ],
)
def test_robust_parameters_that_do_not_work(given_, message):
    with pytest.raises(ValueError, match=message):
        RobustPotential(**given_)


def test_a_goal_above_zero_allows_a_higher_epsilon():
    assert RobustPotential(0.6, theta=1.0, two_sided=True).rho > 0


@pytest.mark.parametrize("epsilon", [0.0, 1.0, math.nan])
def test_brown_parameters_that_do_not_work(epsilon):
    with pytest.raises(ValueError, match=f"epsilon={epsilon} must be between"):
        BrownPotential(epsilon)


# Rounds


@every_kind
@pytest.mark.parametrize("n", [1, 7, 60, 300, 3000])
def test_rounds_meet_both_equations(potential, n):
    moved = 0
    for state in boost(potential, n, 60, seed=n):
        margin, _, _, time, move = state
        start = potential.value(margin, time).sum()
        assert start / n == pytest.approx(potential.value(0.0, 0.0), abs=1e-8)
        edge, total = sums(potential, *state[:4], move.step, move.duration)
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
    rng = np.random.default_rng(n)
    weight = rng.integers(0, 4, size=n)
    for margin, vote, _, time, move in boost(potential, n, 12, 1, weight.astype(float)):
        copies = [np.repeat(each, weight) for each in (margin, vote)]
        same = potential.solve(*copies, np.ones(weight.sum()), time)
        assert same.outcome == move.outcome
        assert same[:2] == pytest.approx(move[:2], rel=1e-6, abs=1e-12)


@every_kind
@pytest.mark.parametrize("n", [40, 300])
def test_rows_without_weight_leave_no_trace(potential, n):
    rng = np.random.default_rng(n)
    odd = np.concatenate([rng.normal(scale=50, size=20), [1e300, -1e300]])
    for margin, vote, weight, time, move in boost(potential, n, 12, 2):
        more = potential.solve(
            np.concatenate([odd, margin]),
            np.concatenate([odd > rng.normal(), vote]),
            np.concatenate([np.zeros(odd.size), weight]),
            time,
        )
        assert more.outcome == move.outcome
        assert more[:2] == pytest.approx(move[:2], rel=1e-7, abs=1e-12)


@every_kind
def test_a_known_potential_changes_nothing(potential):
    for margin, vote, weight, time, move in boost(potential, 200, 10, 3):
        total = potential.weigh(margin, time, weight, np.empty(200))
        known = potential.solve(margin, vote.astype(np.int8), weight, time, total)
        assert known.outcome == move.outcome
        assert known[:2] == pytest.approx(move[:2], rel=1e-7)


# The solve against others


def random_state(rng, potential):
    """Margins, votes, weights and a time, from the usual to the odd."""
    n = int(rng.choice([1, 2, 3, 10, 40, 100, 200]))
    time = potential.end * rng.choice([0, rng.random(), rng.random(), 0.95, 0.99])
    margin = rng.normal(scale=rng.choice([0, 0.1, 0.3, 0.6]), size=n)
    if rng.random() < 0.3:
        margin = np.round(margin, 1)
    vote = rng.random(n) < rng.choice([0.5, 0.55, 0.6, 0.7, 0.9])
    odd = rng.random()
    if odd < 0.05:
        vote[:] = True
    elif odd < 0.1:
        vote[:] = np.arange(n) > 0
    elif odd < 0.12:
        vote[:] = False
    weight = np.ones(n)
    if rng.random() < 0.3:
        weight = rng.choice([1.0, 2.0, 100.0], size=n)
    return margin, vote, weight, time


@smooth_kind
def test_solve_is_the_naive_solve(potential):
    rng = np.random.default_rng(0)
    met = []
    for _ in range(100):
        if rng.random() < 0.5:
            state = random_state(rng, potential)
        else:
            *_, last = boost(potential, 150, int(rng.integers(1, 15)), rng.integers(99))
            state = last[:4]
        move = potential.solve(*state)
        outcome, step, duration = solve_naively(potential, *state)
        assert move.outcome == outcome
        assert move.duration == pytest.approx(duration, abs=1e-9)
        total = sums(potential, *state, move.step, move.duration)[1]
        assert (
            total <= sums(potential, *state, step, duration)[1] + 1e-9 * state[2].sum()
        )
        met.append(outcome)
    assert {"moved", "finished", "no edge"} <= set(met)
    assert met.count("moved") > 30


@every_kind
def test_solve_finds_the_first_return_of_the_potential(potential):
    """Before it some step lowers the sum, and after it none does.

    Steps between those tried may do so too: one-sided sums are rugged.
    """
    rng = np.random.default_rng(1)
    moved = 0
    for _ in range(80):
        state = random_state(rng, potential)
        total = state[2].sum()
        start = state[2] @ potential.value(state[0], state[3])
        move = potential.solve(*state)
        if move.outcome != "moved":
            continue
        moved += 1
        slack = 1e-9 if potential is not ONE_SIDED else 1e-3
        here = lowest(potential, *state, move.duration, n_steps=161)[1]
        assert here >= start - slack * total
        for longer in np.linspace(0, potential.end - state[3], 51):
            if longer < move.duration:
                there = lowest(potential, *state, longer, n_steps=161)[1]
                assert there < start + 1e-3 * total
    assert moved > 10


@every_kind
@pytest.mark.parametrize("n", [100, 1000])
def test_cells_lead_to_what_a_search_among_all_samples_finds(potential, n):
    met = set()
    for margin, vote, weight, time, move in boost(potential, n, 40, seed=5):
        rows = survey(margin, vote, weight)[0]
        found = search(rows, potential._course, time, OF_SAMPLES, 0.0)
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
    for _ in range(400):
        n = int(rng.choice([70, 100, 300]))
        size = rng.choice([0.2, 0.5, 1.0]) * potential.width(0.0)
        margin, weight = rng.normal(scale=size, size=n), np.ones(n)
        vote = rng.random(n) < rng.choice([0.55, 0.6, 0.7, 0.9])
        time = potential.end * rng.choice([0.0, 0.5, 0.9, 0.99, rng.random()])
        state = margin, vote, weight, time
        rows = survey(margin, vote, weight)[0]
        found = search(rows, potential._course, time, OF_SAMPLES, 0.0)
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
    naive = solve_naively(TWO_SIDED, *state)
    assert move[:2] == pytest.approx(naive[1:], rel=1e-6)


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


@every_kind
@pytest.mark.parametrize("n", [4, 400])
@pytest.mark.parametrize("size", [1e2, 1e8, 1e308])
def test_margins_of_any_size(potential, n, size):
    rng = np.random.default_rng(n)
    margin = size * rng.uniform(-1, 1, size=n)
    time, weight = 0.5 * potential.end, np.empty(n)
    total = potential.weigh(margin, time, np.ones(n), weight)
    assert np.isfinite(total)
    assert np.isfinite(weight).all()
    assert np.isfinite(potential.value(margin, time)).all()
    assert np.isfinite(potential.weight(margin, time)).all()
    move = potential.solve(margin, rng.random(n) < 0.7, np.ones(n), time)
    assert np.isfinite(move[:2]).all()


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(list(KINDS)),
    rows=st.lists(
        st.tuples(
            st.floats(-1e3, 1e3), st.booleans(), st.sampled_from([0.0, 1e-9, 1.0, 1e6])
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


@pytest.mark.parametrize("two_sided", [False, True])
def test_too_high_an_epsilon_finishes_in_one_round(two_sided):
    potential = RobustPotential(0.45, two_sided=two_sided)
    vote = np.arange(200) < 160
    move = potential.solve(np.zeros(200), vote, np.ones(200), 0.0)
    assert move.outcome == "finished"
    assert move.duration == 1


@every_kind
def test_too_low_an_epsilon_gets_stuck(potential):
    """One sample in ten is wrong by every rule, and less is wanted."""
    if potential is BROWN:
        potential = BrownPotential(0.05)
    else:
        potential = RobustPotential(0.03, two_sided=potential is TWO_SIDED)
    n = 300
    part = np.arange(n) % 30
    rules = [~np.isin(part, [k, 10 + k, 20, 21, 22]) for k in range(10)]
    margin, time, weight = np.zeros(n), 0.0, np.empty(n)
    for _ in range(400):
        potential.weigh(margin, time, np.ones(n), weight)
        vote = max(rules, key=lambda rule: weight @ signs(rule))
        move = potential.solve(margin, vote, np.ones(n), time)
        if move.outcome != "moved":
            break
        margin = after(potential, margin, vote, move.step, move.duration)
        time += move.duration
    assert move.outcome == "stuck"
    assert time < 0.8 * potential.end
