"""The noise model of the audit: T, and the chance that a label is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_audit
from splboost.audit.noise_model import (
    ALIKE,
    DEVIATIONS,
    Floor,
    allow_for_ties,
    as_transitions,
    chance_wrong,
    estimate_noise_model,
    find_floor,
    share_of_variance,
)

several_examples = settings(max_examples=60, deadline=None)


@st.composite
def tables(draw, most_classes=5, most_rows=40):
    """Probabilities from rough to sharp, with ties; labels by them or at random."""
    n_classes = draw(st.integers(2, most_classes))
    n_rows = draw(st.integers(1, most_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sharpness = draw(st.sampled_from([0.05, 0.2, 1.0, 5.0]))
    probability = rng.dirichlet(np.full(n_classes, sharpness), size=n_rows)
    if draw(st.booleans()):
        probability = np.round(probability, 1) + 0.001
        probability /= probability.sum(axis=1, keepdims=True)
    labels = rng.integers(0, n_classes, n_rows)
    if draw(st.booleans()):
        labels = (probability.cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1)
        labels = np.minimum(labels, n_classes - 1)
    return probability, labels


@several_examples
@given(tables())
def test_equals_the_reference(table):
    probability, codes = table
    model = estimate_noise_model(probability, codes)
    rows, labels = probability.tolist(), codes.tolist()
    transitions, rate_std = reference_audit.noise_model(rows, labels)
    np.testing.assert_allclose(model.transitions, transitions, rtol=1e-9, atol=1e-12)
    assert model.rate_std == pytest.approx(rate_std, rel=1e-9)
    np.testing.assert_allclose(
        model.chance_wrong(probability, codes),
        reference_audit.chance_wrong(rows, labels, transitions),
        atol=1e-9,
    )


@several_examples
@given(tables(), st.randoms(use_true_random=False))
def test_order_of_rows_and_of_classes_does_not_matter(table, random):
    probability, codes = table
    n_rows, n_classes = probability.shape
    rows = np.array(random.sample(range(n_rows), n_rows))
    classes = np.array(random.sample(range(n_classes), n_classes))
    top = np.sort(probability, axis=1)
    if (top[:, -1] == top[:, -2]).any():
        classes = np.arange(n_classes)  # which of two equals is taken, is theirs
    place = np.argsort(classes)
    other = probability[rows][:, classes], place[codes[rows]]
    model, twin = estimate_noise_model(probability, codes), estimate_noise_model(*other)
    for own, its in zip(model.transitions, twin.transitions, strict=True):
        np.testing.assert_allclose(own[np.ix_(classes, classes)], its, atol=1e-9)
    assert model.rate_std == pytest.approx(twin.rate_std)
    np.testing.assert_allclose(
        model.chance_wrong(probability, codes)[rows],
        twin.chance_wrong(*other),
        atol=1e-9,
    )


@several_examples
@given(tables())
def test_what_every_model_obeys(table):
    probability, codes = table
    n_classes = probability.shape[1]
    model = estimate_noise_model(probability, codes)
    assert len(model.transitions) == len(DEVIATIONS)
    for own in model.transitions:
        assert own.min() >= 0
        np.testing.assert_allclose(own.sum(axis=1), 1)
        assert (1 - np.diag(own)).max() <= 0.9 * (n_classes - 1) / n_classes + 1e-12
    wrong = model.chance_wrong(probability, codes)
    assert wrong.min() >= 0
    assert wrong.max() <= 0.99
    assert model.rate_std > 0


def test_floor_of_a_level_share():
    """Every fourth differs, however sure: half of the rows tell the share."""
    doubt, differs = np.repeat(np.arange(100.0), 8), np.tile(np.arange(8) % 4 == 0, 100)
    surest, floor = find_floor(doubt, differs)
    assert surest.sum() == 400
    assert floor.rate == 0.25
    # A level line is the mean, and for all that is known it may rise a little.
    mean_only, with_slope = 400, 400 / (1 + 3 * (1 - 2 / np.pi))
    assert with_slope == pytest.approx(floor.weight, rel=0.01)
    assert floor.std == pytest.approx(np.sqrt(0.25 * 0.75 / floor.weight))
    falling = np.sort(differs)[::-1]
    assert find_floor(doubt, falling)[1].weight == pytest.approx(mean_only, rel=0.02)


def test_floor_is_where_a_rising_share_starts():
    rng = np.random.default_rng(0)
    doubt = rng.permutation(20_000).astype(float)
    for start, rise in ((0.1, 0.6), (0.0, 0.5), (0.3, 0.2)):
        differs = rng.random(doubt.size) < start + rise * doubt / doubt.size
        _, floor = find_floor(doubt, differs)
        assert floor.rate == pytest.approx(start, abs=3 * floor.std)
        assert floor.std < 0.012


def test_floor_of_a_share_that_falls_is_its_mean():
    doubt = np.arange(40.0)
    _, floor = find_floor(doubt, doubt < 5)
    assert floor.rate == 0.25


def test_floor_is_never_negative():
    doubt = np.arange(100.0)
    _, floor = find_floor(doubt, doubt > 30)
    assert floor.rate == 0
    assert floor.std > 0.02  # as if a label in a hundred were wrong


@pytest.mark.parametrize("n_rows", [1, 2, 30])
def test_rows_of_the_same_doubt_count_all(n_rows):
    surest, floor = find_floor(np.full(n_rows, 3.0), np.arange(n_rows) == 0)
    assert surest.all()
    assert floor.rate == 1 / n_rows
    assert floor.weight == pytest.approx(n_rows)


def test_start_among_ties_is_anywhere_up_to_their_share():
    level = Floor(0.2, 0.0, 100.0)
    assert allow_for_ties(level, np.arange(50) / 50) == level
    assert allow_for_ties(level, np.full(1, 0.3)) == level
    rate, std, weight = allow_for_ties(level, np.full(50, 0.3))
    assert weight == 100
    ends = rate + std * np.array([DEVIATIONS[0], DEVIATIONS[-1]])
    np.testing.assert_allclose(ends, [0, 0.2], atol=1e-15)
    rate, std, _ = allow_for_ties(level, np.r_[np.full(25, 0.3), 0.4, np.full(23, 0.5)])
    np.testing.assert_allclose(rate + 2 * std, 0.2)
    np.testing.assert_allclose(rate - 2 * std, 0.1)


def test_error_changes_little_by_little_where_the_line_turns_level():
    """One row after the other differs late instead of early."""
    doubt, stds = np.arange(1200.0), []
    for n_late in range(61):
        differs = np.zeros(1200, dtype=bool)
        differs[np.arange(60 - n_late) * 5] = True
        differs[599 - np.arange(n_late) * 5] = True
        stds.append(find_floor(doubt, differs)[1].std)
    assert np.abs(np.diff(stds)).max() < 0.002
    assert max(stds) > 1.4 * stds[0]


@pytest.mark.parametrize("z", [-40.0, -29.9, -3.0, -0.5, 0.0, 1.0, 6.0])
def test_share_of_variance_is_that_of_a_normal_distribution_cut_off(z):
    x = np.linspace(0, max(z, 0) + 30 / (1 + max(-z, 0)), 200_001)
    density = np.exp(-x * (x - 2 * z) / 2)
    mean = np.average(x, weights=density)
    expected = np.average((x - mean) ** 2, weights=density)
    assert share_of_variance(z) == pytest.approx(expected, rel=5e-3)


def test_rounding_does_not_decide_how_much_is_known():
    """The share is exactly level here, but not in floats, by the order of rows."""
    doubt = np.repeat([0.0, 6.0, 9.0], [5, 5, 10])
    differs = np.zeros(20, dtype=bool)
    differs[[0, 1, 2, 5, 6, 7]] = True
    rng = np.random.default_rng(0)
    weights = []
    for _ in range(50):
        order = rng.permutation(20)
        weights.append(find_floor(doubt[order], differs[order])[1].weight)
    assert np.ptp(weights) < 1e-9


@several_examples
@given(st.integers(2, 8), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.3, 1.0]))
def test_classes_can_always_be_told_apart(n_classes, seed, sharpness):
    """However often labels are wrong, and wherever they go, T can be undone."""
    rng = np.random.default_rng(seed)
    count = 1000 * rng.dirichlet(np.full(n_classes, sharpness), n_classes) + 0.01
    found = as_transitions(count)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.min() >= 0
    assert np.linalg.eigvals(found).real.min() > 0.1 - 1e-9
    assert np.abs(np.linalg.inv(found)).max() < 1000
    p = rng.dirichlet(np.ones(n_classes), 20)
    chance = chance_wrong(p, rng.integers(0, n_classes, 20), found)
    assert np.isfinite(chance).all()
    assert chance.min() >= 0
    assert chance.max() <= 1


@pytest.mark.parametrize("stays", [400.0, 500.0])
def test_classes_that_exchange_their_labels(stays):
    """Half of each of two classes, of which labels then say nothing; or more."""
    goes = 1000 - stays
    count = np.array([[stays, goes, 0.01], [goes, stays, 0.01], [0.01, 0.01, 1000]])
    found = as_transitions(count)
    assert found[0, 0] > found[0, 1] > 0.4
    assert found[1, 1] > found[1, 0] > 0.4
    assert found[2, 2] > 0.99


def test_classes_are_alike_until_they_differ_by_more_than_chance():
    even = as_transitions(np.array([[90.0, 10.0], [12.0, 88.0]]))
    np.testing.assert_allclose(even, [[0.89, 0.11], [0.11, 0.89]])
    count = np.array([[990.0, 10.0], [300.0, 700.0]])
    apart = as_transitions(count)
    wrong = 310 / 2000
    alike = np.array([[1 - wrong, wrong], [wrong, 1 - wrong]])
    own = count / 1000
    gain = 2 * np.sum(count * np.log(own / alike))
    trust = 1 - ALIKE / gain
    assert 0.95 < trust < 1
    np.testing.assert_allclose(apart, trust * own + (1 - trust) * alike)


def test_wrong_labels_go_to_the_class_that_they_go_to():
    count = np.array([[800.0, 200.0, 0.01], [0.01, 1000.0, 0.01], [0.01, 0.01, 1000.0]])
    found = as_transitions(count)
    assert found[0, 1] == pytest.approx(0.2, abs=0.01)
    assert found[0, 2] < 0.01
    assert found[1, 0] < 0.01


def test_chance_wrong_is_bayes():
    """By simulation: classes, labels, and which of these are wrong."""
    rng = np.random.default_rng(0)
    transitions = np.array([[0.8, 0.2, 0.0], [0.1, 0.9, 0.0], [0.05, 0.15, 0.8]])
    of_class = np.array([0.5, 0.2, 0.3])
    classes = rng.choice(3, p=of_class, size=200_000)
    uniform = rng.random((classes.size, 1))
    codes = (transitions[classes].cumsum(axis=1) < uniform).sum(axis=1)
    p = np.tile(of_class @ transitions, (3, 1))
    for label, chance in enumerate(chance_wrong(p, np.arange(3), transitions)):
        wrong = np.mean(classes[codes == label] != label)
        assert chance == pytest.approx(wrong, abs=0.01)


def test_label_that_cannot_be_is_wrong():
    sure = np.array([[0.95, 0.05], [0.05, 0.95]])
    found = chance_wrong(sure, np.array([1, 0]), np.array([[0.9, 0.1], [0.1, 0.9]]))
    np.testing.assert_array_equal(found, [1, 1])
    found = chance_wrong(sure, np.array([0, 1]), np.array([[0.9, 0.1], [0.1, 0.9]]))
    np.testing.assert_array_equal(found, [0, 0])


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_noise_is_found_by_true_probabilities(rate):
    """Classes overlap, and p is what the labels really are: T and the chances fit."""
    rng = np.random.default_rng(1)
    q = rng.beta(0.15, 0.15, size=20_000)
    classes = (rng.random(q.size) < q).astype(int)
    is_wrong = rng.random(q.size) < rate
    p = q * (1 - rate) + (1 - q) * rate
    probability, codes = np.column_stack([1 - p, p]), classes ^ is_wrong
    model = estimate_noise_model(probability, codes)
    middle = model.transitions[len(DEVIATIONS) // 2]
    assert 1 - middle[0, 0] == pytest.approx(rate, abs=4 * model.rate_std)
    wrong = model.chance_wrong(probability, codes)
    assert wrong.mean() == pytest.approx(rate, abs=4 * model.rate_std)
    for low in (0.0, 0.3, 0.6, 0.9):
        part = (wrong >= low) & (wrong < low + 0.3)
        if part.sum() > 100:
            assert wrong[part].mean() == pytest.approx(is_wrong[part].mean(), abs=0.1)
