"""Pictures: what they show, and that nothing in them covers anything else."""

import sys
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from helpers import CATEGORICAL, NAN, mixed_data
from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.display import ShapeFunctionsDisplay, plot_tree
from splboost.display.shapes import shape_functions
from splboost.display.style import CLASS_COLOURS, tint
from splboost.trees import CARTClassifier, CARTRegressor
from splboost.trees.outline import Wording


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def fit_tree(X, y, **options):
    CART = CARTClassifier if len(np.unique(y)) < 20 else CARTRegressor
    return CART(**options).fit(X, y)


def named(X):
    """Mixed data as a frame, with categories by name."""
    frame = pd.DataFrame(X[:, :3], columns=["age", "income per month", "$size$"])
    names = ["Aachen", "Bonn", "Celle, on the river Aller", "a" * 40, "Erfurt"]
    for name, column in (("town", X[:, 3]), ("birthplace", X[:, 4])):
        codes = np.nan_to_num(column, nan=-1).astype(int)
        frame[name] = pd.Categorical.from_codes(codes, names)
    return frame


class MultiwayTree:
    """A tree with a branch for each of many categories, some with long names."""

    def outline(self, **options):
        wording = Wording(["town", "age"], ["no", "yes"])
        rng = np.random.default_rng(0)

        def leaf():
            share = rng.random()
            return wording.class_leaf(np.array([1 - share, share]), rng.integers(99))

        def split(question, answers, children):
            branches = tuple(zip(answers, children, strict=True))
            return replace(leaf(), question=question, branches=branches)

        answers = ["w" * k for k in (1, 30, 2, 20, 19, 1, 18, 18, 5)]
        children = [leaf() for _ in answers]
        children[2] = split("age <= 4", ["yes", "no"], [leaf(), leaf()])
        inner = split("age <= 3", ["yes", "no"], [leaf(), leaf()])
        children[5] = split("colour", "rgby", [leaf(), inner, leaf(), leaf()])
        return split("a feature with a name that is long", answers, children)


# -------------------------------------------------------------------------- plot_tree


def boxes(ax):
    return [text for text in ax.texts if text.get_bbox_patch().get_linewidth() > 0]


def answers(ax):
    return [text for text in ax.texts if text.get_bbox_patch().get_linewidth() == 0]


def extents(ax):
    """Left, bottom, right and top of every box and every answer, as drawn."""
    renderer = ax.figure.canvas.get_renderer()
    ax.figure.canvas.draw()
    found = [box.get_bbox_patch().get_window_extent(renderer) for box in boxes(ax)]
    found += [text.get_window_extent(renderer) for text in answers(ax) if text._text]
    return np.array([extent.extents for extent in found])


def assert_tidy(ax):
    """No box or answer covers another, and none is cut off."""
    found = extents(ax)
    left, bottom, right, top = found.T
    apart_across = right[:, None] <= left
    apart_down = top[:, None] <= bottom
    apart = apart_across | apart_across.T | apart_down | apart_down.T
    overlapping = np.argwhere(np.triu(~apart, 1))
    assert overlapping.size == 0, found[overlapping]
    within = ax.get_window_extent().padded(1e-6)
    assert left.min() >= within.x0 and right.max() <= within.x1
    assert bottom.min() >= within.y0 and top.max() <= within.y1


def test_boxes_and_answers_of_a_small_tree():
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = CARTClassifier(max_depth=2).fit(X, y)
    ax = plot_tree(tree, class_names=["setosa", "versicolor", "virginica"], digits=2)
    assert [box.get_text().replace("\n", " ") for box in boxes(ax)] == [
        "petal length (cm) <= 2.5",
        "class setosa share 1 weight 50",
        "petal width (cm) <= 1.8 or missing",
        "class versicolor share 0.91 weight 54",
        "class virginica share 0.98 weight 46",
    ]
    assert [text.get_text() for text in answers(ax)] == ["yes", "no"] * 2
    assert len(ax.lines) == 4
    assert_tidy(ax)


def test_children_stand_below_their_parent_in_order():
    X, y = load_iris(return_X_y=True, as_frame=True)
    ax = plot_tree(CARTClassifier(max_depth=2).fit(X, y))
    root, left, right, *_ = (box.get_position() for box in boxes(ax))
    assert left[0] < root[0] < right[0]
    assert root[0] == pytest.approx((left[0] + right[0]) / 2)
    assert max(left[1], right[1]) < root[1]
    for line in ax.lines:  # from a parent's centre to the top of a child
        assert line.get_ydata()[0] > line.get_ydata()[-1]
    starts = {line.get_xdata()[0] for line in ax.lines}
    ends = {line.get_xdata()[-1] for line in ax.lines}
    xs = {box.get_position()[0] for box in boxes(ax)}
    assert starts == {root[0], right[0]}
    assert ends == xs - {root[0]}


def test_leaves_are_coloured_by_class_and_purity():
    X, y = [[1.0], [2.0], [2.0], [3.0]], [0, 0, 1, 1]
    ax = plot_tree(CARTClassifier().fit(X, y))
    colours = {}
    for box in boxes(ax):
        colour = to_rgb(box.get_bbox_patch().get_facecolor())
        colours.setdefault(box.get_text().split("\n")[0], []).append(colour)
    asking = [colours[text] for text in colours if "x0" in text]
    assert np.all(np.concatenate(asking) == 1)
    (palest, pure), (other,) = sorted(colours["class 0"])[::-1], colours["class 1"]
    assert pure == pytest.approx(tint(CLASS_COLOURS[0], 0.6))
    assert other == pytest.approx(tint(CLASS_COLOURS[1], 0.6))
    assert palest == pytest.approx(tint(CLASS_COLOURS[0], 0.08))


def test_leaves_of_a_regression_darken_with_the_mean():
    X = np.arange(8.0)[:, None]
    ax = plot_tree(CARTRegressor(max_depth=2).fit(X, X[:, 0] ** 2))
    leaves = [box for box in boxes(ax) if "weight" in box.get_text()]
    means = [float(box.get_text().split("\n")[0]) for box in leaves]
    red = [box.get_bbox_patch().get_facecolor()[0] for box in leaves]
    assert len(leaves) == 4
    assert np.all(np.argsort(means) == np.argsort(red)[::-1])


@pytest.mark.parametrize("n_classes", [0, 2, 5])
@pytest.mark.parametrize("max_depth", [1, 4, None])
def test_nothing_overlaps(n_classes, max_depth):
    X, y = mixed_data(250, n_classes)
    tree = fit_tree(named(X), y, max_depth=max_depth, min_samples_leaf=2)
    ax = plot_tree(tree)
    n_nodes = 2 * tree.get_n_leaves() - 1
    assert (len(boxes(ax)), len(answers(ax))) == (n_nodes, n_nodes - 1)
    assert not any(text.get_parse_math() for text in ax.texts)  # "$size$" is a name
    assert_tidy(ax)


def test_nothing_overlaps_with_many_branches():
    ax = plot_tree(MultiwayTree())
    assert len(boxes(ax)) == 1 + 9 + 2 + 4 + 2
    assert_tidy(ax)
    shortened = [text.get_text() for text in answers(ax) if "…" in text.get_text()]
    assert shortened == ["w" * 19 + "…"]


def test_nothing_overlaps_in_a_deep_tree():
    X = np.arange(60.0)[:, None]
    tree = CARTRegressor().fit(X, 2.0 ** np.arange(60))
    assert tree.get_depth() >= 10
    assert_tidy(plot_tree(tree))


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
@pytest.mark.parametrize("size", [(9, 5), (30, 2)])
def test_a_tree_fits_into_given_axes(layout, size):
    X, y = mixed_data(250, 3)
    tree = fit_tree(named(X), y, max_depth=4)
    figure, axes = plt.subplots(1, 2, figsize=size, layout=layout)
    axes[1].set_ylabel("far away", labelpad=320)  # a layout engine makes room for it
    assert plot_tree(tree, ax=axes[0]) is axes[0]
    assert axes[0].figure is figure and not axes[1].texts
    assert_tidy(axes[0])
    assert len({text.get_fontsize() for text in axes[0].texts}) == 1
    assert axes[0].texts[0].get_fontsize() < 9


def test_a_small_tree_is_not_blown_up():
    X, y = load_iris(return_X_y=True)
    _, ax = plt.subplots(figsize=(14, 9))
    plot_tree(CARTClassifier(max_depth=2).fit(X, y), ax=ax)
    assert ax.texts[0].get_fontsize() == 9
    assert_tidy(ax)


def test_axes_in_a_part_of_a_figure():
    X, y = load_iris(return_X_y=True)
    part, _ = plt.figure(figsize=(12, 4), layout="constrained").subfigures(1, 2)
    ax = part.subplots()
    plot_tree(CARTClassifier(max_depth=1).fit(X, y), ax=ax)
    assert len(boxes(ax)) == 3


def test_what_is_too_deep_is_counted():
    X, y = mixed_data(250, 2)
    tree = fit_tree(X, y)
    ax = plot_tree(tree, max_depth=2)
    assert_tidy(ax)
    n_leaves = 0
    for box in boxes(ax):
        *_, last = box.get_text().split("\n")
        if "weight" in box.get_text():
            n_leaves += int(last.split()[1]) if last.startswith("…") else 1
        dashed = box.get_bbox_patch().get_linestyle() == "--"
        assert dashed == last.startswith("…")
    assert n_leaves == tree.get_n_leaves()
    (only,) = plot_tree(tree, max_depth=0).texts
    assert only.get_text().endswith(f"\n… {tree.get_n_leaves()} leaves")
    n_texts = len(plot_tree(tree).texts)
    assert len(plot_tree(tree, max_depth=99).texts) == n_texts


def test_figures_have_a_largest_size(monkeypatch):
    X, y = mixed_data(250, 3)
    monkeypatch.setattr("splboost.display.tree.MOST_INCHES", 8)
    ax = plot_tree(fit_tree(named(X), y, max_depth=4))
    assert max(ax.figure.get_size_inches()) == pytest.approx(8)
    assert ax.texts[0].get_fontsize() < 9
    assert_tidy(ax)


def test_lines_do_not_part_what_belongs_together():
    X, y = mixed_data(250, 2)
    lines = [
        line
        for box in boxes(plot_tree(fit_tree(named(X), y)))
        for line in box.get_text().split("\n")
    ]
    assert any(line.startswith("<=") for line in lines)
    assert not [line for line in lines if line.endswith(("<=", " or", "or", "is"))]
    assert max(map(len, lines)) <= 24


def test_a_tree_of_one_leaf():
    ax = plot_tree(CARTClassifier().fit([[0.0], [0.0]], [0, 1]))
    assert [text.get_text() for text in ax.texts] == ["class 0\nshare 0.5\nweight 2"]


def test_categories_are_shortened():
    frame = pd.DataFrame({"town": pd.Categorical([f"t{k}" for k in range(12)])})
    ax = plot_tree(CARTClassifier().fit(frame, [0] * 8 + [1] * 4))
    text = ax.texts[0].get_text().replace("\n", " ")
    assert text.removesuffix(" or missing") == "town in {t0, t1, t2, +5}"


def test_a_boosted_tree():
    X, y = mixed_data(200, 2)
    booster = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=3).fit(X, y)
    ax = plot_tree(booster.estimators_[2], feature_names=list("abcde"))
    assert ax.texts[0].get_text()[0] in "abcde"
    assert_tidy(ax)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (AdaBoostClassifier(), r"AdaBoostClassifier: .* give one .* estimators_\[0\]"),
        (DecisionTreeClassifier().fit([[0], [1]], [0, 1]), "sklearn.tree.plot_tree"),
        (CARTClassifier, r"give a fitted object, say CARTClassifier\(\)"),
        (3, "tree=int: give a fitted tree of splboost.trees"),
    ],
)
def test_what_is_no_tree_is_refused(tree, message):
    with pytest.raises(TypeError, match=message):
        plot_tree(tree)
    assert not plt.get_fignums()


def test_refusals_of_plot_tree():
    with pytest.raises(NotFittedError):
        plot_tree(CARTClassifier())
    X, y = mixed_data(50, 2)
    tree, booster = fit_tree(X, y), AdaBoostClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match="holds many trees"):
        plot_tree(booster)
    with pytest.raises(ValueError, match="max_depth=-1 must be 0 or more"):
        plot_tree(tree, max_depth=-1)
    with pytest.raises(ValueError, match="class_names"):
        plot_tree(tree, class_names=["a"])
    assert not plt.get_fignums()


def test_matplotlib_is_asked_for(monkeypatch):
    X, y = mixed_data(50, 2)
    booster = AdaBoostClassifier(n_estimators=2).fit(X, y)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'splboost\[plot\]'"):
        plot_tree(booster.estimators_[0])
    with pytest.raises(ImportError, match=r"pip install 'splboost\[plot\]'"):
        ShapeFunctionsDisplay.from_estimator(booster, X)


# -------------------------------------------------------------- shape functions as data


def fit_stumps(X, y, n_estimators=40, **options):
    options.setdefault("on_perfect", "continue")
    return AdaBoostClassifier(n_estimators=n_estimators, **options).fit(X, y)


def show(booster, X, **options):
    return ShapeFunctionsDisplay.from_estimator(booster, X, **options)


def add_up(display, X):
    by_name = hasattr(X, "columns")
    total = np.repeat(np.asarray(display.intercept)[None], len(X), axis=0)
    for function in display.functions:
        key = function.name if by_name else (slice(None), function.feature)
        total = total + function(X[key])
    return total


def assert_additive(display, booster, X):
    score = booster.decision_function(X)
    np.testing.assert_allclose(add_up(display, X), score, rtol=0, atol=1e-10)
    np.testing.assert_allclose(display.intercept, score.mean(axis=0), atol=1e-10)
    for function in display.functions:
        assert function.counts.sum() + function.n_missing == len(X)


@pytest.mark.filterwarnings("ignore:Boosting stopped")
@settings(max_examples=40, deadline=None)
@given(
    cells=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 1.0000000000000002, 2.5, -7.0, 1e9, NAN]),
            st.sampled_from([0.0, 1.0, 2.0, 3.0, NAN]),
            st.integers(0, 2),
        ),
        min_size=4,
        max_size=25,
    ),
    n_classes=st.sampled_from([2, 3]),
    learning_rate=st.sampled_from([0.3, 1.0]),
)
def test_functions_add_up(cells, n_classes, learning_rate):
    *features, y = np.array(cells).T
    X, y = np.column_stack(features), y.astype(int) % n_classes
    y[:2] = 0, 1
    booster = fit_stumps(
        X, y, 12, learning_rate=learning_rate, categorical_features=[1]
    )
    intercept, functions = shape_functions(booster, X)
    display = ShapeFunctionsDisplay(
        intercept=intercept, functions=functions, classes=booster.classes_
    )
    assert_additive(display, booster, X)


@pytest.mark.parametrize("Booster", [AdaBoostClassifier, SPLBoostClassifier])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars"])
def test_functions_add_up_for_any_frame(Booster, n_classes, kind):
    X, y = mixed_data(300, n_classes)
    if kind == "numpy":
        booster = Booster(n_estimators=50, categorical_features=CATEGORICAL)
    else:
        X = named(X)
        booster = Booster(n_estimators=50)
    if kind == "polars":
        X = pl.from_pandas(X)
    display = show(booster.fit(X, y), X)
    assert_additive(display, booster, X)
    if kind == "numpy":
        assert {f.name for f in display.functions} <= {f"x{j}" for j in range(5)}
    new = X[:40]
    expected = booster.decision_function(new)
    np.testing.assert_allclose(add_up(display, new), expected, atol=1e-10)


def test_functions_are_steps_between_the_stumps_thresholds():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [NAN]])
    booster = fit_stumps(X, [0, 0, 1, 1, 0], n_estimators=1)
    (function,) = show(booster, X).functions
    np.testing.assert_array_equal(function.cuts, [2.5])
    step = booster.estimator_weights_[0]
    low, high = function([2.5, np.nextafter(2.5, 3)])
    assert high - low == pytest.approx(2 * step)
    assert function([NAN])[0] == function.missing == pytest.approx(low)
    assert function.importance == pytest.approx(2 * step * np.sqrt(0.24))
    assert (function.feature, function.n_missing, function.categories) == (0, 1, None)
    assert function.edges[[0, -1]].tolist() == [1, 4]


def test_categories_keep_their_names():
    frame = pd.DataFrame({"town": pd.Categorical(["Ulm", "Bonn", "Ulm", None, "Köln"])})
    booster = fit_stumps(frame, ["a", "b", "a", "b", "b"], n_estimators=3)
    (function,) = show(booster, frame).functions
    assert function.categories == ["Bonn", "Köln", "Ulm"]
    assert function.counts.tolist() == [1, 1, 2]
    assert (function.cuts, function.edges, function.n_missing) == (None, None, 1)
    np.testing.assert_array_equal(
        function(["Ulm", None, "Paris"]),
        [function.values[2], function.missing, function.missing],
    )


def test_the_most_important_function_comes_first():
    X, y = mixed_data(300, 3)
    display = show(fit_stumps(X, y), X)
    spread = [np.linalg.norm(f(X[:, f.feature]).std(axis=0)) for f in display.functions]
    assert len(spread) > 2
    assert spread == sorted(spread, reverse=True)


def test_other_data_than_those_fitted():
    X, y = mixed_data(300, 2)
    booster = fit_stumps(X, y)
    new = X[:50] + 3
    new[:, 0] = NAN
    display = show(booster, new)
    assert_additive(display, booster, new)
    blind = next(f for f in display.functions if f.feature == 0)
    assert (blind.n_missing, blind.importance) == (50, 0)


# ---------------------------------------------------------------- shape functions drawn


def drawn_steps(ax, label):
    (line,) = [line for line in ax.lines if line.get_label() == str(label)]
    return line.get_xdata(), line.get_ydata()


@pytest.mark.parametrize("limits", [(-np.inf, np.inf), (3, 6)])
def test_steps_are_drawn_as_they_are(limits):
    X, y = mixed_data(300, 2)
    booster = fit_stumps(X, y)
    X = np.clip(X, *limits)
    display = show(booster, X)
    for function, ax in zip(display.functions, display.axes_.flat, strict=False):
        x, score = drawn_steps(ax, 1)
        assert x[0] == np.nanmin(X[:, function.feature])
        assert x[-1] == np.nanmax(X[:, function.feature])
        assert np.all(np.diff(x) >= 0)
        middle = (x[::2] + x[1::2]) / 2
        np.testing.assert_allclose(function(middle), score[::2])
        np.testing.assert_array_equal(score[::2], score[1::2])


def test_one_class_can_be_chosen():
    X, y = mixed_data(300, 2)
    booster = fit_stumps(X, np.array(["no", "yes"])[y])
    first, second = show(booster, X, class_="no"), show(booster, X, class_="yes")
    for a, b in zip(first.axes_.flat, second.axes_.flat, strict=True):
        if a is not None:
            np.testing.assert_array_equal(
                drawn_steps(a, "no")[1], -drawn_steps(b, "yes")[1]
            )
    assert first.axes_[0, 0].get_ylabel() == "score"


def test_a_line_for_each_class():
    X, y = mixed_data(300, 3)
    booster = fit_stumps(X, y)
    every = show(booster, X)
    for k in range(3):
        one = show(booster, X, class_=k, features=[every.functions[0].feature])
        np.testing.assert_array_equal(
            drawn_steps(one.axes_[0, 0], k)[1], drawn_steps(every.axes_[0, 0], k)[1]
        )
        assert len(every.axes_[0, 0].get_legend_handles_labels()[1]) == 3
        assert len(one.axes_[0, 0].get_legend_handles_labels()[1]) == 1


def test_panels_are_ranked_by_the_class_drawn():
    X, y = load_wine(return_X_y=True, as_frame=True)
    display = show(fit_stumps(X, y, learning_rate=0.3), X)
    orders = []
    for k in (None, 0, 1, 2):
        display.plot(class_=k)
        shown = [strip.get_xlabel() for strip in display.density_axes_.flat if strip]
        spread = {
            f.name: np.linalg.norm(f.importance if k is None else f.importance[k])
            for f in display.functions
        }
        assert shown == sorted(spread, key=spread.get, reverse=True)[: len(shown)]
        orders.append(tuple(shown))
    assert len(set(orders)) == 4


def test_categories_and_missing_values_are_drawn():
    X, y = mixed_data(300, 2)
    frame = named(X)
    booster = fit_stumps(frame, y, categorical_features=None)
    display = show(booster, frame, features=["town"])
    (panel,), (strip,) = display.axes_[0], display.density_axes_[0]
    labels = [label.get_text() for label in strip.get_xticklabels()]
    assert {label.get_ha() for label in strip.get_xticklabels()} == {"right"}
    long = "a" * 6 + "…" + "a" * 7
    assert labels == ["Aachen", "Bonn", "Celle,…r Aller", "Erfurt", long, "missing"]
    (town,) = [f for f in display.functions if f.name == "town"]
    heights = [bar.get_height() for bar in strip.patches]
    assert heights == [*town.counts, town.n_missing]
    np.testing.assert_array_equal(drawn_steps(panel, 1)[1][::3], town.values)
    mark = panel.lines[-1]
    assert (mark.get_marker(), mark.get_ydata().item()) == ("D", town.missing)
    assert mark.get_xdata().item() == strip.get_xticks()[-1]


def test_missing_values_are_not_drawn_where_there_are_none():
    X, y = load_iris(return_X_y=True)
    display = show(fit_stumps(X, y == 1), X)
    strip = display.density_axes_[0, 0]
    assert "missing" not in [label.get_text() for label in strip.get_xticklabels()]
    assert sum(bar.get_height() for bar in strip.patches) == len(X)


def test_many_categories_are_counted():
    codes = np.arange(600) % 40
    frame = pd.DataFrame({"code": pd.Categorical([f"c{code}" for code in codes])})
    display = show(fit_stumps(frame, codes % 2), frame)
    strip = display.density_axes_[0, 0]
    assert len(strip.get_xticklabels()) == 12
    assert strip.get_xlabel() == "code (and 28 rarer)"


def test_panels_share_scales_and_stand_in_a_grid():
    X, y = mixed_data(300, 2)
    display = show(fit_stumps(X, y), X, max_panels=4, n_cols=3)
    assert display.axes_.shape == display.density_axes_.shape == (2, 3)
    panels = [ax for ax in display.axes_.flat if ax is not None]
    assert len(panels) == 4
    assert len({ax.get_ylim() for ax in panels}) == 1
    display.figure_.canvas.draw()
    heights = [ax.get_window_extent().height for ax in panels]
    widths = [ax.get_window_extent().width for ax in panels]
    np.testing.assert_allclose(heights, heights[0])
    np.testing.assert_allclose(widths, widths[0])
    for panel, strip in zip(panels, display.density_axes_.flat, strict=False):
        assert panel.get_xlim() == strip.get_xlim()
        assert strip.get_window_extent().y1 <= panel.get_window_extent().y0


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("n_cols", [1, 3])
def test_labels_have_room(n_classes, n_cols):
    X, y = mixed_data(400, n_classes)
    frame = named(X)
    display = show(fit_stumps(frame, y, learning_rate=0.5), frame, n_cols=n_cols)
    figure = display.figure_
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    panels = [*display.axes_.flat, *display.density_axes_.flat]
    found = [ax.get_tightbbox(renderer) for ax in panels if ax is not None]
    (legend,) = [ax.get_legend() for ax in figure.axes if ax.get_legend()]
    found.append(legend.get_window_extent(renderer))
    for i, one in enumerate(found):
        assert one.x0 >= 0 and one.x1 <= figure.bbox.x1
        for other in found[:i]:
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            down = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert across <= 1 or down <= 1


def test_the_heading_says_what_is_missing():
    X, y = mixed_data(300, 2)
    booster = fit_stumps(X, y)
    display = show(booster, X, max_panels=1)
    n = len(display.functions)

    def heading(display):
        axes = display.figure_.axes
        (legend,) = [ax.get_legend() for ax in axes if ax.get_legend()]
        return legend.get_title().get_text().replace("\n", " ")

    score = f"score of class 1 = {display.intercept:.3g} + the sum of "
    assert heading(display) == f"{score}{n} functions, 1 of them here"
    assert heading(display.plot()) == f"{score}these functions"


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_panels_fit_into_given_axes(layout):
    X, y = mixed_data(300, 2)
    figure, axes = plt.subplots(1, 2, figsize=(12, 6), layout=layout)
    display = show(fit_stumps(X, y), X, max_panels=2, n_cols=1, ax=axes[0])
    assert display.bounding_ax_ is axes[0] and display.figure_ is figure
    assert figure.axes[1] is axes[1]
    figure.canvas.draw()
    for ax in display.axes_.flat:
        assert ax.get_window_extent().x1 <= axes[1].get_window_extent().x0
    labels = display.density_axes_[0, 0].get_tightbbox()
    assert display.axes_[1, 0].get_tightbbox().y1 <= labels.y0


def test_features_by_name_and_number():
    X, y = mixed_data(300, 2)
    display = show(fit_stumps(named(X), y), named(X), features=["town", 1, "$size$"])
    names = [strip.get_xlabel() for strip in display.density_axes_.flat]
    assert names == ["town", "income per month", "$size$"]
    assert display.plot(features="town").axes_.shape == (1, 1)
    assert display.plot(features=1).density_axes_[0, 0].get_xlabel() == names[1]


def test_refusals_of_shape_functions():
    X, y = mixed_data(100, 2)
    stumps = fit_stumps(X, y)
    with pytest.raises(NotFittedError):
        show(AdaBoostClassifier(), X)
    with pytest.raises(TypeError, match="estimator is a CARTClassifier; give a fitted"):
        show(CARTClassifier().fit(X, y), X)
    deep = fit_stumps(X, y, estimator=CARTClassifier(max_depth=2))
    foreign = fit_stumps(
        np.nan_to_num(X), y, estimator=DecisionTreeClassifier(max_depth=1)
    )
    for booster in (deep, foreign):
        with pytest.raises(ValueError, match=r"splboost\.trees of max_depth=1"):
            show(booster, np.nan_to_num(X))
    for options, message in {
        "class_": ("maybe", r"class_='maybe' is not a class .* \[0, 1\]"),
        "features": (["x0", "age"], r"features=\['x0', 'age'\] .* 'x0'"),
        "max_panels": (0, "max_panels=0 must be 1 or more"),
        "n_cols": (0, "n_cols=0 must be 1 or more"),
        "ax": (plt.figure().add_axes((0, 0, 1, 1)), "ax cannot be divided"),
    }.items():
        with pytest.raises(ValueError, match=message[1]):
            show(stumps, X, **{options: message[0]})
    with pytest.raises(ValueError, match="3 features"):
        show(stumps, X[:, :3])


@pytest.mark.filterwarnings("ignore:Boosting stopped")
def test_a_booster_that_never_splits():
    booster = fit_stumps([[0.0]] * 3, [0, 0, 1], n_estimators=2)
    display = ShapeFunctionsDisplay(
        intercept=0.0, functions=[], classes=booster.classes_
    )
    with pytest.raises(ValueError, match="No tree of the booster splits"):
        display.plot()
    with pytest.raises(ValueError, match="No tree of the booster splits"):
        show(booster, [[0.0]] * 3)
