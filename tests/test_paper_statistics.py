"""The statistics of comparisons over data sets."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from splboost.paper import statistics


def test_nemenyi_has_the_critical_values_of_demsar():
    """Table 5(a) of his paper: q for 5%, two to ten methods."""
    published = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, q in enumerate(published, start=2):
        own = statistics.critical_difference(k, 30) / np.sqrt(k * (k + 1) / 180)
        assert own == pytest.approx(q, abs=1e-3)


def test_equals_share_ranks():
    means = pd.DataFrame(
        [[0.1, 0.3, 0.2], [0.2, 0.1 + 0.2, 0.3]], columns=["a", "b", "c"]
    )
    assert statistics.ranks(means).to_numpy().tolist() == [[1, 3, 2], [1, 2.5, 2.5]]


def test_intervals_are_students():
    values = np.random.default_rng(0).normal(size=9)
    known = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert statistics.interval(values) == pytest.approx(tuple(known))


def test_intervals_over_sets_draw_whole_sets():
    """A hundred sets with one value each are as a hundred cases, however many."""
    index = pd.MultiIndex.from_product([range(100), range(5)], names=["data", "noise"])
    half = pd.Series(index.get_level_values("data") % 2 == 0, index=index)
    low, high = statistics.interval_over_sets(half)
    assert (low, high) == pytest.approx((0.402, 0.598), abs=0.015)
    assert statistics.interval_over_sets(half | True) == (1, 1)


def test_friedman_is_that_of_the_ranks():
    means = pd.DataFrame(np.random.default_rng(0).random((8, 4)))
    n, k = means.shape
    rank = means.rank(axis=1).mean()
    chi2 = 12 * n / (k * (k + 1)) * (np.sum(rank**2) - k * (k + 1) ** 2 / 4)
    f = (n - 1) * chi2 / (n * (k - 1) - chi2)  # Iman and Davenport
    p = stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    assert statistics.friedman(means) == pytest.approx(p)
    agreed = pd.DataFrame(np.tile([1.0, 2.0, 3.0], (7, 1)))
    assert statistics.friedman(agreed) == pytest.approx(np.exp(-7))
    assert statistics.friedman(means * 0) == 1.0
    assert np.isnan(statistics.friedman(means[[0, 1]]))


def test_holm_by_hand():
    adjusted = statistics.holm(np.array([0.01, 0.04, 0.03, 0.6]))
    assert adjusted == pytest.approx([0.04, 0.09, 0.09, 0.6])
    assert statistics.holm(np.array([0.7, 0.6])) == pytest.approx([1.0, 1.0])


def test_reference_against_rivals():
    a = np.array([0.10, 0.20, 0.30, 0.40, 0.50, 0.60])
    means = pd.DataFrame({"a": a, "b": a + 0.01 * np.arange(1, 7), "c": a})
    table = statistics.against(means, "a", ["b"]).set_index("rival")
    assert table.loc["b", ["wins", "ties", "losses"]].tolist() == [6, 0, 0]
    assert table.loc["c", ["wins", "ties", "losses"]].tolist() == [0, 6, 0]
    assert table.loc["b", "difference"] == pytest.approx(-0.035)
    assert table.loc["b", "p"] == pytest.approx(2 / 2**6)
    assert table.loc["b", "p_holm"] == pytest.approx(4 / 2**6)
    assert table.loc["b", "p_planned"] == pytest.approx(2 / 2**6)
    assert table.loc["c", "p"] == 1.0
    assert np.isnan(table.loc["c", "p_planned"])


def test_cliques():
    rank = pd.Series({"a": 1.0, "c": 2.6, "b": 1.8, "d": 4.0})
    assert statistics.cliques(rank, 1.0) == [["a", "b"], ["b", "c"]]
    assert statistics.cliques(rank, 2.0) == [["a", "b", "c"], ["c", "d"]]
    assert statistics.cliques(rank, 0.5) == []


def test_distance_from_the_best():
    means = pd.DataFrame({"a": [0.1, 0.4], "b": [0.3, 0.2]})
    distance = statistics.distance_from_best(means)
    assert distance.to_numpy() == pytest.approx(np.array([[0, 0.2], [0.2, 0]]))


def test_only_what_all_methods_have_finished_is_compared():
    keys = [
        (data, noise, seed, method)
        for data in ("x", "y")
        for noise in (0, 10)
        for seed in (1, 2)
        for method in ("a", "b", "other")
    ]
    table = pd.DataFrame(keys, columns=["data", "noise", "seed", "method"])
    lost = [("x", 10, 2, "b"), ("y", 0, 1, "other")]
    table = table[[key not in lost for key in keys]]
    complete = statistics.complete_cells(table, ["a", "b"], repeat="seed")
    assert set(complete["method"]) == {"a", "b"}
    assert len(complete) == 2 * 7  # y, 0, 1 lacks only what is not compared
    whole = statistics.complete_repeats(complete, [0, 10], repeat="seed")
    assert set(whole.groupby(["data", "seed"]).groups) == {("x", 1), ("y", 1), ("y", 2)}
    repeats = table.rename(columns={"seed": "repeat"})
    assert len(statistics.complete_cells(repeats, ["a", "b"])) == 14
