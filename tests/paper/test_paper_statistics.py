"""The statistics of comparisons over data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paper_results import NOISE, SETS, make_results, without
from splboost.paper import statistics
from splboost.paper.protocol import PAPER, RIVALS, SPL
from splboost.paper.statistics import (
    BEST_SPL,
    CHOSEN_SPL,
    Outcomes,
    is_best,
)


def test_nemenyi_has_the_critical_values_of_demsar():
    """Table 5(a) of his paper: q for 5%, two to ten methods."""
    published = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, q in enumerate(published, start=2):
        own = statistics.critical_difference(k, 30) / np.sqrt(k * (k + 1) / 180)
        assert own == pytest.approx(q, abs=1e-3)


def test_small_statistics_by_hand():
    values = np.random.default_rng(0).normal(size=9)
    reach = 2.306 * values.std(ddof=1) / 3  # Student's t for nine values
    ends = values.mean() - reach, values.mean() + reach
    assert statistics.interval(values) == pytest.approx(ends, abs=1e-3)
    rows = [[0.1, 0.3, 0.2], [0.2, 0.1 + 0.2, 0.3]]  # equal but for rounding
    means = pd.DataFrame(rows, columns=["a", "b", "c"])
    assert statistics.ranks(means).to_numpy().tolist() == [[1, 3, 2], [1, 2.5, 2.5]]
    assert is_best(means, ["a"]).sum() == is_best(means, ["a", "b"]).sum() == 2
    assert is_best(means, ["b"]).sum() == 0  # equals do not win


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
    table = statistics.against(means, "a").set_index("rival")
    assert table.loc["b", ["wins", "ties", "losses"]].tolist() == [6, 0, 0]
    assert table.loc["c", ["wins", "ties", "losses"]].tolist() == [0, 6, 0]
    assert table.loc["b", "difference"] == pytest.approx(-0.035)
    assert table.loc["b", "p"] == pytest.approx(2 / 2**6)
    assert table.loc["b", "p_holm"] == pytest.approx(4 / 2**6)
    assert table.loc["c", "p"] == 1.0


def table(rows):
    columns = ["data", "noise", "repeat", "method", "error", "cv_error"]
    return pd.DataFrame(rows, columns=columns)


def test_a_whole_table_has_the_cases_of_the_paper():
    outcomes = Outcomes.of(make_results())
    assert (outcomes.methods, outcomes.noise) == (PAPER, NOISE)
    assert (outcomes.cases.shape, outcomes.sets.shape) == ((85, 9), (17, 9))
    best = outcomes.with_one_spl(BEST_SPL).cases[BEST_SPL]
    np.testing.assert_allclose(best, outcomes.cases[list(SPL)].min(axis=1))
    rivals = Outcomes.of(make_results(methods=RIVALS)).with_one_spl(CHOSEN_SPL)
    assert rivals.methods == RIVALS


def test_only_complete_cells_and_repeats_count():
    results = make_results(SETS[:2], repeats=2)
    lost = without(results, data=SETS[0], noise=30, repeat=1, method="RBoost")
    outcomes, whole = Outcomes.of(lost), Outcomes.of(results)
    first = results[(results["data"] == SETS[0]) & (results["repeat"] == 0)]
    own = first[first["method"] == "AdaBoost"].set_index("noise")["error"]
    # At 30% the first repeat alone, in the mean of the set in all levels
    assert outcomes.cases.loc[(SETS[0], 30), "AdaBoost"] == own[30]
    assert outcomes.cases.loc[(SETS[0], 20), "AdaBoost"] != own[20]
    assert outcomes.sets.loc[SETS[0], "AdaBoost"] == pytest.approx(own.mean())
    pd.testing.assert_series_equal(outcomes.sets.loc[SETS[1]], whole.sets.loc[SETS[1]])
    assert SETS[0] not in Outcomes.of(without(lost, data=SETS[0], noise=5)).sets.index


def test_rises_are_paired():
    results = make_results(SETS[:3], repeats=2)
    rises = Outcomes.of(results).rises(0, 30)
    means = results.groupby(["noise", "data", "method"])["error"].mean()
    for data in SETS[:3]:
        rise = means[30, data, "RBoost"] - means[0, data, "RBoost"]
        assert rises.loc[data, "RBoost"] == pytest.approx(rise)
    lost = without(results, data=SETS[0], noise=30)
    assert list(Outcomes.of(lost).rises(0, 30).index) == sorted(SETS[1:3])


def test_one_entry_for_splboost():
    rows = [("x", 0, r, "AdaBoost", 0.5, 0.5) for r in (0, 1)]
    rows += [("x", 0, 0, SPL[0], 0.1, 0.30), ("x", 0, 1, SPL[0], 0.2, 0.25)]
    rows += [("x", 0, 0, SPL[1], 0.3, 0.20), ("x", 0, 1, SPL[1], 0.4, 0.25)]
    outcomes = Outcomes.of(table(rows))
    chosen, best = (outcomes.with_one_spl(each) for each in (CHOSEN_SPL, BEST_SPL))
    # Linear is chosen in the first repeat; in the second, of equals, the first
    assert chosen.cases.loc[("x", 0), CHOSEN_SPL] == pytest.approx((0.3 + 0.2) / 2)
    assert best.cases.loc[("x", 0), BEST_SPL] == pytest.approx((0.1 + 0.2) / 2)
    for one in (chosen, best):
        assert one.methods[0] == "AdaBoost" and len(one.methods) == 2
        assert one.cases.loc[("x", 0), "AdaBoost"] == 0.5


def test_shares_of_the_top_by_hand():
    errors = {"RBoost": [0.1, 0.2, 0.1], SPL[0]: [0.2, 0.1, 0.1], SPL[1]: [0.3] * 3}
    rows = [
        (data, 0, 0, method, error, 0.5)
        for method, column in errors.items()
        for data, error in zip("xyz", column, strict=True)
    ]
    share = Outcomes.of(table(rows)).top_shares()
    assert share.index.tolist() == [1, 2, 3]
    assert share["RBoost"].tolist() == pytest.approx([1 / 3, 1, 1])  # of equals none
    assert share[SPL[0]].tolist() == pytest.approx([1 / 3, 1, 1])
    assert share[SPL[1]].tolist() == [0, 0, 1]


def test_a_table_of_something_else_is_refused():
    with pytest.raises(ValueError, match="'error', 'cv_error'"):
        Outcomes.of(make_results(SETS[:1]).drop(columns=["error", "cv_error"]))
