"""Pictures of trees: what they say, and that nothing in them covers anything else."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from helpers import mixed_data, name_columns
from splboost import AdaBoostClassifier
from splboost.display import LossDisplay, plot_tree
from splboost.display.style import CLASS_COLOURS, tint
from splboost.trees import CARTClassifier, CARTRegressor
from splboost.trees.outline import Wording


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return CARTClassifier(max_depth=2).fit(X, y)


def fit_mixed(n_classes, **options):
    X, y = mixed_data(250, n_classes)
    CART = CARTClassifier if n_classes else CARTRegressor
    return CART(**options).fit(name_columns(X), y)


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


def boxes(ax):
    return [text for text in ax.texts if text.get_bbox_patch().get_linewidth() > 0]


def answers(ax):
    return [text for text in ax.texts if text.get_bbox_patch().get_linewidth() == 0]


def assert_tidy(ax):
    """No box or answer covers another, and none is cut off."""
    ax.figure.canvas.draw()
    drawn = [box.get_bbox_patch() for box in boxes(ax)]
    drawn += [text for text in answers(ax) if text.get_text()]
    found = np.array([each.get_window_extent().extents for each in drawn])
    left, bottom, right, top = found.T
    apart = (right[:, None] <= left) | (top[:, None] <= bottom)
    overlapping = np.argwhere(np.triu(~(apart | apart.T), 1))
    assert overlapping.size == 0, found[overlapping]
    within = ax.get_window_extent().padded(1e-6)
    assert left.min() >= within.x0 and right.max() <= within.x1
    assert bottom.min() >= within.y0 and top.max() <= within.y1


def test_boxes_and_answers_of_a_small_tree(iris):
    ax = plot_tree(iris, class_names=["setosa", "versicolor", "virginica"], digits=2)
    assert [box.get_text().replace("\n", " ") for box in boxes(ax)] == [
        "petal length (cm) <= 2.5",
        "class setosa share 1 weight 50",
        "petal width (cm) <= 1.8 or missing",
        "class versicolor share 0.91 weight 54",
        "class virginica share 0.98 weight 46",
    ]
    assert [text.get_text() for text in answers(ax)] == ["yes", "no"] * 2
    assert_tidy(ax)
    root, left, right, *_ = (box.get_position() for box in boxes(ax))
    assert root[0] == pytest.approx((left[0] + right[0]) / 2)
    assert left[0] < right[0] and max(left[1], right[1]) < root[1]
    for line in ax.lines:  # from a parent's centre to the top of a child
        assert line.get_ydata()[0] > line.get_ydata()[-1]
    ends = [(line.get_xdata()[0], line.get_xdata()[-1]) for line in ax.lines]
    xs = {box.get_position()[0] for box in boxes(ax)}
    assert {start for start, _ in ends} == {root[0], right[0]}
    assert {end for _, end in ends} == xs - {root[0]}


def test_leaves_are_coloured_by_class_and_purity():
    ax = plot_tree(CARTClassifier().fit([[1.0], [2.0], [2.0], [3.0]], [0, 0, 1, 1]))
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


@pytest.mark.parametrize(("n_classes", "max_depth"), [(0, 4), (2, 1), (5, 6)])
def test_nothing_overlaps(n_classes, max_depth):
    tree = fit_mixed(n_classes, max_depth=max_depth, min_samples_leaf=2)
    ax = plot_tree(tree)
    n_nodes = 2 * tree.get_n_leaves() - 1
    assert (len(boxes(ax)), len(answers(ax))) == (n_nodes, n_nodes - 1)
    assert not any(text.get_parse_math() for text in ax.texts)  # "$size$" is a name
    assert_tidy(ax)
    lines = [line for box in boxes(ax) for line in box.get_text().split("\n")]
    assert not [line for line in lines if line.endswith(("<=", " or", "or", "is"))]
    assert max(map(len, lines)) <= 24


def test_nothing_overlaps_with_many_branches_or_levels():
    ax = plot_tree(MultiwayTree())
    assert len(boxes(ax)) == 1 + 9 + 2 + 4 + 2
    assert_tidy(ax)
    X = np.arange(60.0)[:, None]
    tree = CARTRegressor().fit(X, 2.0 ** np.arange(60))
    assert tree.get_depth() >= 10
    assert_tidy(plot_tree(tree))
    shortened = [text.get_text() for text in answers(ax) if "…" in text.get_text()]
    assert shortened == ["w" * 9 + "…" + "w" * 10]


@pytest.mark.parametrize(
    ("layout", "size"), [(None, (30, 2)), ("constrained", (9, 5)), ("tight", (9, 5))]
)
def test_a_tree_fits_into_given_axes(layout, size):
    figure, axes = plt.subplots(1, 2, figsize=size, layout=layout)
    axes[1].set_ylabel("far away", labelpad=320)  # a layout engine makes room for it
    assert plot_tree(fit_mixed(3, max_depth=4), ax=axes[0]) is axes[0]
    assert axes[0].figure is figure and not axes[1].texts
    assert_tidy(axes[0])
    assert len({text.get_fontsize() for text in axes[0].texts}) == 1
    assert axes[0].texts[0].get_fontsize() < 9


def test_axes_may_be_large_or_in_a_part_of_a_figure(iris):
    _, ax = plt.subplots(figsize=(14, 9))
    plot_tree(iris, ax=ax)
    assert ax.texts[0].get_fontsize() == 9  # not blown up
    assert_tidy(ax)
    part, _ = plt.figure(figsize=(12, 4), layout="constrained").subfigures(1, 2)
    assert len(boxes(plot_tree(iris, ax=part.subplots()))) == 5


def test_what_is_too_deep_is_counted():
    tree = fit_mixed(2)
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


def test_figures_have_a_largest_size(monkeypatch):
    monkeypatch.setattr("splboost.display.tree.MOST_INCHES", 8)
    ax = plot_tree(fit_mixed(3, max_depth=4))
    assert max(ax.figure.get_size_inches()) == pytest.approx(8)
    assert ax.texts[0].get_fontsize() < 9
    assert_tidy(ax)
    monkeypatch.setattr("splboost.display.tree.READABLE_INCHES", 4)
    with pytest.warns(UserWarning, match="8 by .* inches; draw fewer levels"):
        plot_tree(fit_mixed(3, max_depth=4))


def test_small_trees_and_long_lists():
    ax = plot_tree(CARTClassifier().fit([[0.0], [0.0]], [0, 1]))
    assert [text.get_text() for text in ax.texts] == ["class 0\nshare 0.5\nweight 2"]
    frame = pd.DataFrame({"town": pd.Categorical([f"t{k}" for k in range(12)])})
    ax = plot_tree(CARTClassifier().fit(frame, [0] * 8 + [1] * 4))
    text = ax.texts[0].get_text().replace("\n", " ")
    assert text.removesuffix(" or missing") == "town in {t0, t1, t2, +5}"


def test_a_boosted_tree():
    X, y = mixed_data(200, 2)
    booster = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=3).fit(X, y)
    ax = plot_tree(booster.estimators_[2], feature_names=list("abcde"))
    assert ax.texts[0].get_text()[0] in "abcde"
    with pytest.raises(TypeError, match="holds many trees"):
        plot_tree(booster)


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


def test_wrong_arguments(iris):
    with pytest.raises(NotFittedError):
        plot_tree(CARTClassifier())
    with pytest.raises(ValueError, match="max_depth=-1 must be 0 or more"):
        plot_tree(iris, max_depth=-1)
    with pytest.raises(ValueError, match="class_names"):
        plot_tree(iris, class_names=["a"])
    assert not plt.get_fignums()


def test_matplotlib_is_asked_for(iris, without_matplotlib):
    for draw in (lambda: plot_tree(iris), LossDisplay.from_losses):
        with pytest.raises(ImportError, match=r"pip install 'splboost\[plot\]'"):
            draw()
