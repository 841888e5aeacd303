"""The noise model of the audit: T, and the chance that a label is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_audit
from splboost.audit.issues import (
    ALIKE,
    DEVIATIONS,
    as_transitions,
    chance_wrong,
    estimate_noise_model,
    find_floor,
    share_of_variance,
)

several_examples = settings(max_examples=60)


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
    found, rate_std = estimate_noise_model(probability, codes)
    rows, labels = probability.tolist(), codes.tolist()
    transitions, expected_std = reference_audit.noise_model(rows, labels)
    np.testing.assert_allclose(found, transitions, rtol=1e-9, atol=1e-12)
    assert rate_std == pytest.approx(expected_std, rel=1e-9) and rate_std > 0
    wrong = chance_wrong(probability, codes, found)
    expected = reference_audit.chance_wrong(rows, labels, transitions)
    np.testing.assert_allclose(wrong, expected, atol=1e-9)
    assert 0 <= wrong.min() <= wrong.max() <= 0.99


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
    model, std = estimate_noise_model(probability, codes)
    twin, twin_std = estimate_noise_model(*other)
    for own, its in zip(model, twin, strict=True):
        np.testing.assert_allclose(own[np.ix_(classes, classes)], its, atol=1e-9)
    assert std == pytest.approx(twin_std)
    wrong = chance_wrong(probability, codes, model)[rows]
    np.testing.assert_allclose(wrong, chance_wrong(*other, twin), atol=1e-9)


def test_floor_is_where_a_rising_share_starts():
    rng = np.random.default_rng(0)
    doubt = rng.permutation(20_000).astype(float)
    for start, rise in ((0.1, 0.6), (0.0, 0.5), (0.3, 0.2)):
        differs = rng.random(doubt.size) < start + rise * doubt / doubt.size
        _, rate, std, _ = find_floor(doubt, differs)
        assert rate == pytest.approx(start, abs=3 * std)
        assert std < 0.012
    _, rate, std, _ = find_floor(np.arange(100.0), np.arange(100) > 30)
    assert rate == 0 and std > 0.02  # as if a label in a hundred were wrong


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
        weights.append(find_floor(doubt[order], differs[order])[3])
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
    chance = chance_wrong(p, rng.integers(0, n_classes, 20), [found])
    assert np.isfinite(chance).all()
    assert chance.min() >= 0
    assert chance.max() <= 1


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


def test_chance_wrong_is_bayes():
    """By simulation: classes, labels, and which of these are wrong."""
    rng = np.random.default_rng(0)
    transitions = np.array([[0.8, 0.2, 0.0], [0.1, 0.9, 0.0], [0.05, 0.15, 0.8]])
    of_class = np.array([0.5, 0.2, 0.3])
    classes = rng.choice(3, p=of_class, size=200_000)
    uniform = rng.random((classes.size, 1))
    codes = (transitions[classes].cumsum(axis=1) < uniform).sum(axis=1)
    p = np.tile(of_class @ transitions, (3, 1))
    for label, chance in enumerate(chance_wrong(p, np.arange(3), [transitions])):
        wrong = np.mean(classes[codes == label] != label)
        assert chance == pytest.approx(wrong, abs=0.01)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_noise_is_found_by_true_probabilities(rate):
    """Classes overlap, and p is what the labels really are: T and the chances fit."""
    rng = np.random.default_rng(1)
    q = rng.beta(0.15, 0.15, size=20_000)
    classes = (rng.random(q.size) < q).astype(int)
    is_wrong = rng.random(q.size) < rate
    p = q * (1 - rate) + (1 - q) * rate
    probability, codes = np.column_stack([1 - p, p]), classes ^ is_wrong
    transitions, std = estimate_noise_model(probability, codes)
    middle = transitions[len(DEVIATIONS) // 2]
    assert 1 - middle[0, 0] == pytest.approx(rate, abs=4 * std)
    wrong = chance_wrong(probability, codes, transitions)
    assert wrong.mean() == pytest.approx(rate, abs=4 * std)
    for low in (0.0, 0.3, 0.6, 0.9):
        part = (wrong >= low) & (wrong < low + 0.3)
        if part.sum() > 100:
            assert wrong[part].mean() == pytest.approx(is_wrong[part].mean(), abs=0.1)
