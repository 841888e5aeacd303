"""What is compared of a table of results."""

import numpy as np
import pandas as pd
import pytest

from paper_results import NOISE, SETS, make_results, without
from splboost.paper.protocol import PAPER, RIVALS, SPL
from splboost.paper.outcomes import (
    BEST_SPL,
    CHOSEN_SPL,
    Outcomes,
    is_best,
    share_of_top,
)


def table(rows):
    columns = ["data", "noise", "repeat", "method", "error", "cv_error"]
    return pd.DataFrame(rows, columns=columns)


def test_a_whole_table_has_the_cases_of_the_paper():
    outcomes = Outcomes.of(make_results())
    assert outcomes.methods == PAPER
    assert outcomes.noise == NOISE
    assert outcomes.cases.shape == (85, 9)
    assert outcomes.sets.shape == (17, 9)


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


def test_one_entry_is_on_whole_tables_and_without_splboost():
    results = make_results()
    outcomes = Outcomes.of(results)
    best = outcomes.with_one_spl(BEST_SPL).cases[BEST_SPL]
    np.testing.assert_allclose(best, outcomes.cases[list(SPL)].min(axis=1))
    chosen = outcomes.with_one_spl(CHOSEN_SPL)
    spl = results[results["method"].isin(SPL)]
    least = spl.loc[spl.groupby(["data", "noise", "repeat"])["cv_error"].idxmin()]
    means = least.groupby(["data", "noise"])["error"].mean()
    np.testing.assert_allclose(chosen.cases[CHOSEN_SPL], means)
    assert chosen.sets.shape == (17, 6)
    rivals = Outcomes.of(make_results(methods=RIVALS)).with_one_spl(CHOSEN_SPL)
    assert rivals.methods == RIVALS


def test_shares_of_the_top_by_hand():
    cases = pd.DataFrame({"a": [0.1, 0.2, 0.1], "b": [0.2, 0.1, 0.1], "c": [0.3] * 3})
    share = share_of_top(cases)
    assert share.index.tolist() == [1, 2, 3]
    assert share["a"].tolist() == pytest.approx([1 / 3, 1, 1])  # shares a first place
    assert share["b"].tolist() == pytest.approx([1 / 3, 1, 1])
    assert share["c"].tolist() == [0, 0, 1]


def test_equals_do_not_win():
    cases = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.2, 0.2], "c": [0.9] * 3})
    assert is_best(cases, ["a"]).sum() == 1
    assert is_best(cases, ["a", "b"]).sum() == 3
    assert is_best(cases, ["c"]).sum() == 0


def test_comparison_needs_something_to_compare():
    results = make_results(SETS[:6], repeats=1)
    assert Outcomes.of(results).compare("x").n_sets == 6
    assert Outcomes.of(results[:0]).compare("x") is None
    assert Outcomes.of(results[results["method"] == "RBoost"]).compare("x") is None


def test_a_table_of_something_else_is_refused():
    with pytest.raises(ValueError, match="'error', 'cv_error'"):
        Outcomes.of(make_results(SETS[:1]).drop(columns=["error", "cv_error"]))
