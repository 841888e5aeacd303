"""The pictures of the paper show what they should."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from paper_results import SETS, make_results, without

pytest.importorskip("matplotlib", reason="pictures need the extra plot")

from matplotlib.collections import PathCollection

from splboost.boosting.potentials import RobustPotential
from splboost.paper import figures, gaussians
from splboost.paper.figures import (
    draw_critical_differences,
    draw_errors,
    draw_figure,
    draw_gaussians,
    draw_top,
)
from splboost.paper.protocol import PAPER, RIVALS
from splboost.paper.statistics import Outcomes, critical_difference


def lines_of(axes):
    return {line.get_label(): line.get_xydata().T for line in axes.get_lines()}


# ------------------------------------------------------------------------- the curves


def test_figure_1_has_the_weights_of_the_formulas():
    left, right = draw_figure(1).axes
    lines = lines_of(left)
    margin, ada = lines["AdaBoost"]
    np.testing.assert_allclose(ada, np.exp(-margin))
    logit = lines["LogitBoost"][1]
    np.testing.assert_allclose(logit, 2 / (1 + np.exp(2 * margin)))
    savage = lines["SavageBoost"][1]
    assert margin[savage.argmax()] == pytest.approx(-np.log(2) / 2, abs=0.01)
    rboost = lines["RBoost"][1]
    assert margin[rboost.argmax()] == pytest.approx(-np.log(2), abs=0.01)
    for age in (2, 3, 4, 5, 6):
        own = lines[f"SPLBoost, λ = {age}"][1]
        expected = np.exp(-margin) * np.maximum(1 - np.exp(-margin) / age, 0)
        np.testing.assert_allclose(own, expected, atol=1e-12)
    ends = {"hard": 1e9, "linear": 1, "polynomial, t = 4": 1 / 3}
    for name, exponent in (*ends.items(), ("polynomial, t = 1.3", 10 / 3)):
        margin, own = lines_of(right)[name]
        pace = np.maximum(1 - np.exp(-margin) / 3, 0) ** exponent
        if name == "hard":
            pace = np.exp(-margin) < 3
        np.testing.assert_allclose(own, np.exp(-margin) * pace, atol=1e-9)


def test_figure_2_has_the_plateaus_of_the_latent_losses():
    left, right = draw_figure(2).axes
    lines = lines_of(left)
    for age in (2, 3, 4, 5, 6):
        assert lines[f"SPLBoost, λ = {age}"][1][0] == pytest.approx(age / 2)
    assert {"exponential", "logistic", "Savage", "Savage2", "zero-one"} <= set(lines)
    heights = {name: values[1][0] for name, values in lines_of(right).items()}
    assert heights["hard"] == pytest.approx(3)
    assert heights["linear"] == pytest.approx(1.5)
    assert heights["polynomial, t = 4"] == pytest.approx(2.25)
    assert heights["polynomial, t = 1.3"] == pytest.approx(9 / 13)


# ---------------------------------------------------------------------- the Gaussians


def test_weights_are_those_of_one_more_round():
    sample = gaussians.draw_sample(3)
    assert sample.is_wrong[sample.y == 0].sum() == 15
    ada = gaussians.fit("AdaBoost", sample)
    expected = np.exp(-ada.margin)
    np.testing.assert_allclose(ada.weight, expected / expected.mean())
    assert (ada.margin > 0).mean() == ada.booster.score(sample.X, sample.y)
    robust = gaussians.fit("RobustBoost", sample)
    potential = RobustPotential(robust.booster.epsilon)
    expected = potential.weight(robust.margin, robust.booster.times_[-1])
    np.testing.assert_allclose(robust.weight, expected / expected.mean())
    spl = gaussians.fit("SPLBoost, λ = 2.0", sample)
    pace = spl.booster.sample_pace_
    np.testing.assert_array_equal(spl.is_given_up, pace == 0)
    assert 10 < spl.is_given_up[sample.is_wrong].sum() <= 30
    # What is fitted well weighs next to nothing too, but is not given up
    savage = gaussians.fit("SavageBoost", gaussians.draw_sample(0))
    next_to_nothing = savage.weight < gaussians.NEXT_TO_NOTHING
    assert next_to_nothing.sum() > 20
    assert not savage.is_given_up[next_to_nothing & (savage.margin > 0)].any()
    with pytest.raises(ValueError, match="'NoBoost'"):
        gaussians.fit("NoBoost", sample)


def test_figure_3_shows_every_sample():
    figure = draw_gaussians()
    names = [axes.get_title() for axes in figure.axes]
    assert names[0] == "(a) original data"
    assert names[1:] == [
        f"({letter}) {name}"
        for letter, name in zip("bcdefghi", gaussians.BOOSTERS, strict=True)
    ]
    sample = gaussians.draw_sample(0)
    for name, axes in zip(names[1:], figure.axes[1:], strict=True):
        fitted = gaussians.fit(name[4:], sample)
        marks = [c for c in axes.collections if isinstance(c, PathCollection)]
        counts = [len(c.get_offsets()) for c in marks]
        plus, wrong_plus, cross, wrong_cross, circles = counts
        assert plus + cross + circles == 200 and circles == fitted.is_given_up.sum()
        is_framed = sample.is_wrong & ~fitted.is_given_up
        assert wrong_plus + wrong_cross == is_framed.sum()
        shown = (sample.y == 1) & ~fitted.is_given_up
        np.testing.assert_array_equal(marks[0].get_offsets(), sample.X[shown])
        area = figures.AREA * fitted.weight[shown]
        np.testing.assert_allclose(
            marks[0].get_sizes(), np.clip(area, figures.LEAST_AREA, figures.MOST_AREA)
        )


# ------------------------------------------------------------------ errors and places


def test_figure_4_has_means_and_standard_errors():
    results = make_results(SETS[:5], repeats=3)
    figure = draw_errors(results)
    panels = [axes for axes in figure.axes if axes.get_title()]
    titles = [f"{name}, 3 repeats" for name in SETS[:5]]
    assert [axes.get_title() for axes in panels] == titles
    own = results[(results["data"] == SETS[4]) & (results["method"] == "RBoost")]
    errors = 100 * own.groupby("noise")["error"].mean()
    spread = 100 * own.groupby("noise")["error"].sem()
    line, _, (bars,) = panels[4].containers[PAPER.index("RBoost")]
    np.testing.assert_allclose(line.get_ydata().astype(float), errors)
    np.testing.assert_allclose(line.get_xdata(), errors.index.to_numpy(), atol=1)
    heights = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(heights, 2 * spread)
    texts = figure.axes[5].get_legend().get_texts()
    assert [text.get_text() for text in texts] == list(PAPER)


def test_figure_4_of_part_of_a_table():
    results = make_results(["pima", "mine"], repeats=2)
    part = without(results, data="pima", noise=30, repeat=1)
    part = without(part, data="mine", method="AdaBoost")
    part = without(part, method="RBoost")
    titles = [axes.get_title() for axes in draw_errors(part).axes]
    # "mine" lacks a method that others have; it is not drawn.
    assert titles[0] == "pima, 1 to 2 repeats" and "mine" not in " ".join(titles)
    one = draw_errors(results[(results["data"] == "pima") & (results["repeat"] == 0)])
    assert one.axes[0].get_title() == "pima, 1 repeat"
    for wrong in (results[:0], results.assign(method="SPLForest")):
        with pytest.raises(ValueError, match="no cell that all"):
            draw_errors(wrong)
    some = results[(results["data"] == "mine") | (results["noise"] == 20)]
    assert {axes.get_xlim() for axes in draw_errors(some).axes[:2]} == {(-2, 32)}


def test_figure_5_has_three_views():
    results = make_results(repeats=1)
    figure = draw_top(results)
    nine, best, chosen = figure.axes
    assert [len(axes.get_lines()) for axes in figure.axes] == [9, 6, 6]
    share = 100 * Outcomes.of(results).top_shares()
    for line, name in zip(nine.get_lines(), share, strict=True):
        np.testing.assert_allclose(line.get_ydata(), share[name])
    assert nine.get_title() == "(a) all nine methods"
    assert best.get_lines()[5].get_ydata()[0] >= chosen.get_lines()[5].get_ydata()[0]
    part = draw_top(without(results, method="RBoost"))
    assert part.axes[0].get_title() == "(a) 8 of nine methods"
    (axes,) = draw_top(results[results["method"].isin(RIVALS)]).axes
    assert axes.get_title() == "(a) 5 of nine methods"
    for few in (results[:0], results[results["method"] == "RBoost"]):
        with pytest.raises(ValueError, match="two or more methods"):
            draw_top(few)


def test_numbers_that_are_no_figures_are_refused():
    with pytest.raises(ValueError, match="number=6"):
        draw_figure(6)
    for number in (4, 5):
        with pytest.raises(ValueError, match=f"Figure {number} is drawn from results"):
            draw_figure(number)


def test_bars_overlap_where_methods_do_not_differ():
    errors = pd.DataFrame({"b": [2, 2, 3, 2, 2], "a": [1] * 5, "c": [3, 3, 2, 3, 3]})
    errors = pd.concat([errors.assign(d=4)] * 6)
    (axes,) = draw_critical_differences({"Ranks": errors}).axes
    (bars,) = axes.collections
    ends = [segment[:, 0] for segment in bars.get_segments()]
    reach = critical_difference(4, 30) / 2
    expected = [[rank - reach, rank + reach] for rank in (1.0, 2.2, 2.8, 4.0)]
    np.testing.assert_allclose(ends, expected)
    texts = [text.get_text() for text in axes.get_yticklabels()]
    assert texts == ["a  1.00", "b  2.20", "c  2.80", "d  4.00"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the best on top
    assert axes.get_title() == "Ranks (30 data sets)"


def test_without_matplotlib_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"need matplotlib.*'splboost\[plot\]'"):
        draw_figure(1)


def test_without_pandas_one_sentence_says_what_to_do():
    program = (
        "import importlib.util as util\n"
        "def find(name, *_, known=util.find_spec):\n"
        "    return None if name == 'pandas' else known(name)\n"
        "util.find_spec = find\n"
        "import splboost.paper"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert run.stderr.strip().endswith("pip install 'splboost[paper]'")
