"""The picture of a search: its lines are the path, its mark is the choice."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from sklearn.exceptions import NotFittedError

from helpers import assert_apart
from splboost import PaceSearchCV, SPLBoostClassifier
from splboost.datasets import make_gaussians
from splboost.display import PaceSearchDisplay
from splboost.display.style import INK
from splboost.pace import Hard, Linear
from splboost.selection import PacePath, spl_path


def path_of(shape=(3, 4, 5, 60), values=(3.0, 1.5, np.inf, 2.0), seed=0, **options):
    """A path whose scores rise with the rounds and end somewhere."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=shape) / 20 + np.log(np.arange(1, shape[-1] + 1)) / 9
    paces = [Hard(plateau=value) for value in values]
    given = {"scale": "plateau", "values": list(values), "paces": paces}
    given |= {"depths": list(range(1, shape[0] + 1)), "scores": scores}
    return PacePath(**(given | options))


def show(path, **options):
    display = PaceSearchDisplay.from_path(path, **options)
    display.figure_.canvas.draw()
    return display


def legend_of(display):
    (legend,) = [ax.get_legend() for ax in display.figure_.axes if ax.get_legend()]
    return legend


def marks(panel):
    return [line for line in panel.get_lines() if line.get_marker() == "o"]


def test_lines_are_the_means():
    path = path_of()
    display = show(path)
    assert [ax.get_title() for ax in display.axes_] == ["depth 1", "depth 2", "depth 3"]
    for d, lines in enumerate(display.lines_):
        assert len(lines) == 4
        for p, line in enumerate(lines):
            assert line.axes is display.axes_[d]
            rounds = line.get_xdata()
            assert rounds[0] == 1 and rounds[-1] == 60 and len(rounds) > 25
            expected = path.mean[d, p, rounds - 1]
            np.testing.assert_array_equal(line.get_ydata(), expected)


@pytest.mark.parametrize("rule", ["best", "one standard error"])
def test_the_choice_is_marked(rule):
    path = path_of()
    display = show(path, rule=rule)
    choice = path.choose(rule)
    assert choice.standard_error > 0
    for depth, panel in zip(path.depths, display.axes_, strict=True):
        (band,) = panel.patches
        assert band.get_y() == pytest.approx(choice.score - choice.standard_error)
        assert band.get_height() == pytest.approx(2 * choice.standard_error)
        assert panel.get_ylim()[0] < band.get_y()
        if depth != choice.max_depth:
            assert not marks(panel)
            continue
        (mark,) = marks(panel)
        assert mark.get_xydata().tolist() == [[choice.n_estimators, choice.score]]
        line = display.lines_[depth - 1][path.paces.index(choice.pace)]
        assert mark.get_color() == line.get_color()
        assert choice.n_estimators in line.get_xdata()
    value = "∞ (plain)" if np.isinf(choice.value) else f"{choice.value:g}"
    assert legend_of(display).get_title().get_text() == (
        f"chosen: plateau {value}, depth {choice.max_depth}, {choice.n_estimators} "
        f"rounds: {choice.score:.3f} ± {choice.standard_error:.3f}"
    )


def test_colours_follow_the_plateau():
    """From red to blue, the plain booster in ink, whatever the order of the grid."""
    lines = show(path_of()).lines_[0]
    assert to_rgb(lines[2].get_color()) == to_rgb(INK)
    red, _, blue = np.array([to_rgb(lines[k].get_color()) for k in (1, 3, 0)]).T
    assert red[0] > red[2] and blue[0] < blue[2]
    assert len({to_rgb(line.get_color()) for line in lines}) == 4
    assert lines[2].get_linewidth() > lines[0].get_linewidth()
    given = [None, Linear(age=2.0), "hard", {0: "hard", 1: None}]
    path = path_of(
        scale="pace",
        values=given,
        paces=[None, Linear(age=2.0), Hard(), {0: Hard(), 1: None}],
    )
    display = show(path)
    texts = [text.get_text() for text in legend_of(display).get_texts()]
    assert texts == ["plain", "Linear(age=2)", "hard", "{0: 'hard', 1: None}"]
    assert to_rgb(display.lines_[0][0].get_color()) == to_rgb(INK)
    title = legend_of(display).get_title().get_text()
    assert title.startswith(f"chosen: {texts[path.values.index(path.choose().value)]},")


def test_the_axis_of_rounds_is_logarithmic_and_lines_are_not_a_blur():
    display = show(path_of((1, 4, 2, 5000)))
    panel = display.axes_[0]
    assert panel.get_xscale() == "log"
    ticks = {text.get_text() for text in panel.get_xticklabels()}
    assert {"1", "10", "100"} <= ticks
    low, high = panel.get_xlim()
    assert low < 1 and high > 5000
    assert all(len(line.get_xdata()) <= 41 for line in display.lines_[0])


def test_paces_that_collapse_or_have_no_score_leave_the_picture():
    path = path_of()
    path.scores[0, 0, :, :3] = -1e6
    path.scores[:, 1] = np.nan
    display = show(path)
    assert np.isnan(display.lines_[0][1].get_ydata()).all()
    low, high = display.axes_[0].get_ylim()
    assert -10 < low < high < 10


@pytest.mark.parametrize(("n_depths", "n_values"), [(1, 14), (2, 1), (4, 8)])
def test_nothing_overlaps(n_depths, n_values):
    values = [*(1 + np.arange(n_values - 1) / 4), np.inf]
    display = show(path_of((n_depths, n_values, 3, 20), values))
    figure = display.figure_
    found = [ax.get_tightbbox() for ax in display.axes_]
    found.append(legend_of(display).get_window_extent())
    assert_apart(found, figure)
    assert len(display.axes_) == n_depths


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 2, 1, 2)])
def test_small_paths(shape):
    display = show(path_of(shape, [2.0, np.inf][: shape[1]], depths=[None]))
    low, high = display.axes_[0].get_ylim()
    assert low < high
    assert display.axes_[0].get_title() == ""
    assert "depth" not in legend_of(display).get_title().get_text()


def test_panels_fit_into_given_axes():
    figure, axes = plt.subplots(1, 2, figsize=(12, 4))
    display = show(path_of(), ax=axes[0])
    assert display.bounding_ax_ is axes[0] and display.figure_ is figure
    for panel in display.axes_:
        assert panel.get_window_extent().x1 <= axes[1].get_window_extent().x0
    with pytest.raises(ValueError, match="ax cannot be divided"):
        show(path_of(), ax=plt.figure().add_axes((0, 0, 1, 1)))


def test_of_a_search():
    X, y = make_gaussians(80, random_state=0)
    search = PaceSearchCV(
        SPLBoostClassifier(n_estimators=15),
        grid=[2.0, np.inf],
        depths=[1, 2],
        cv=3,
        rule="one standard error",
        random_state=0,
    ).fit(X, y)
    search.set_params(rule="best")  # of the next fit
    assert search.path_.choose().score > search.best_score_
    display = PaceSearchDisplay.from_estimator(search)
    assert display.path is search.path_
    assert display.choice is search.best_setting_
    assert display.choice.n_estimators == search.best_params_["n_estimators"]
    assert display.choice.score == search.best_score_
    assert display.plot() is display
    path = spl_path(X, y, booster=search.booster, plateaus=[2.0], depths=[1], cv=2)
    assert len(PaceSearchDisplay.from_path(path).axes_) == 1


def test_what_cannot_be_drawn():
    with pytest.raises(NotFittedError):
        PaceSearchDisplay.from_estimator(PaceSearchCV())
    with pytest.raises(TypeError, match=r"estimator is a PacePath; give .* from_path"):
        PaceSearchDisplay.from_estimator(path_of())
    with pytest.raises(TypeError, match="path is a PaceSearchCV; give what spl_path"):
        PaceSearchDisplay.from_path(PaceSearchCV())
    with pytest.raises(ValueError, match="rule='x' is unknown"):
        PaceSearchDisplay.from_path(path_of(), rule="x")
    assert not plt.get_fignums()
