"""Shape functions: they add up to the score, and are drawn as they are."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from helpers import CATEGORICAL, NAN, assert_apart, mixed_data, name_columns
from splboost import AdaBoostClassifier, LogitBoostClassifier, SPLBoostClassifier
from splboost.display import ShapeFunctionsDisplay
from splboost.display.shape_functions import shape_functions
from splboost.trees import CARTClassifier

show = ShapeFunctionsDisplay.from_estimator


def fit_stumps(X, y, n_estimators=40, **options):
    options.setdefault("on_perfect", "continue")
    return AdaBoostClassifier(n_estimators=n_estimators, **options).fit(X, y)


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


# -------------------------------------------------------------------- functions as data


@pytest.mark.filterwarnings("ignore:Boosting stopped")
@settings(max_examples=30)
@example([(1.0, 0.0, 0), (1.0000000000000002, 0.0, 0)] * 2, 2, 1.0)
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


@pytest.mark.parametrize(
    ("Booster", "n_classes", "kind"),
    [
        (AdaBoostClassifier, 4, "numpy"),
        (SPLBoostClassifier, 2, "pandas"),
        (SPLBoostClassifier, 4, "polars"),
    ],
)
def test_functions_add_up_for_any_frame(Booster, n_classes, kind):
    X, y = mixed_data(300, n_classes)
    categorical = {"categorical_features": CATEGORICAL} if kind == "numpy" else {}
    if kind != "numpy":
        X = name_columns(X)
    if kind == "polars":
        X = pl.from_pandas(X)
    booster = Booster(n_estimators=50, **categorical).fit(X, y)
    display = show(booster, X)
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
    booster = fit_stumps(X, y)
    display = show(booster, X)
    spread = [np.linalg.norm(f(X[:, f.feature]).std(axis=0)) for f in display.functions]
    assert len(spread) > 2
    assert spread == sorted(spread, reverse=True)
    new = X[:50] + 3  # the data need not be those of fit
    new[:, 0] = NAN
    display = show(booster, new)
    assert_additive(display, booster, new)
    blind = next(f for f in display.functions if f.feature == 0)
    assert blind.n_missing == 50 and not np.any(blind.importance)


# ------------------------------------------------------------------------------ drawn


def drawn_steps(ax, label):
    (line,) = [line for line in ax.lines if line.get_label() == str(label)]
    return line.get_xdata(), line.get_ydata()


def heading(display):
    (legend,) = [ax.get_legend() for ax in display.figure_.axes if ax.get_legend()]
    return legend


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


def test_one_class_of_two():
    X, y = mixed_data(300, 2)
    booster = fit_stumps(X, np.array(["no", "yes"])[y])
    first = show(booster, X, class_="no", max_panels=1).axes_[0, 0]
    second = show(booster, X, class_="yes", max_panels=1).axes_[0, 0]
    np.testing.assert_array_equal(
        drawn_steps(first, "no")[1], -drawn_steps(second, "yes")[1]
    )
    assert first.get_ylabel() == "score"


def test_lines_and_order_of_panels_for_more_classes():
    """A line for each class or for one; panels are ranked by what is drawn."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    display = show(fit_stumps(X, y, learning_rate=0.3), X)
    orders, lines = [], {}
    for k in (None, 0, 1, 2):
        display.plot(class_=k)
        shown = [strip.get_xlabel() for strip in display.density_axes_.flat if strip]
        spread = {
            f.name: np.linalg.norm(f.importance if k is None else f.importance[k])
            for f in display.functions
        }
        assert shown == sorted(spread, key=spread.get, reverse=True)[: len(shown)]
        orders.append(tuple(shown))
        for panel, name in zip(display.axes_.flat, shown, strict=False):
            assert len(panel.get_legend_handles_labels()[1]) == (3 if k is None else 1)
            for each in range(3) if k is None else [k]:
                score = drawn_steps(panel, each)[1]
                expected = lines.setdefault((name, each), score)
                np.testing.assert_array_equal(score, expected)
    assert len(set(orders)) == 4


def test_categories_and_missing_values_are_drawn():
    X, y = mixed_data(300, 2)
    frame = name_columns(X)
    display = show(fit_stumps(frame, y), frame, features=["town"])
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


def test_without_missing_values_and_with_many_categories():
    X, y = load_iris(return_X_y=True)
    display = show(fit_stumps(X, y == 1), X)
    strip = display.density_axes_[0, 0]
    assert "missing" not in [label.get_text() for label in strip.get_xticklabels()]
    (histogram,) = strip.patches
    assert histogram.get_data().values.sum() == len(X)
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
    sizes = [ax.get_window_extent().size for ax in panels]
    np.testing.assert_allclose(sizes, sizes[:1] * 4)
    for panel, strip in zip(panels, display.density_axes_.flat, strict=False):
        assert panel.get_xlim() == strip.get_xlim()
        assert strip.get_window_extent().y1 <= panel.get_window_extent().y0
    score = f"score of class 1 = {display.intercept:.3g} + the sum of "
    n = len(display.functions)
    for words in (f"{n} functions, 4 of them here", "these functions"):
        title = heading(display).get_title().get_text().replace("\n", " ")
        assert title == score + words
        display.plot()


@pytest.mark.parametrize(("n_classes", "n_cols"), [(3, 1), (10, 3)])
def test_labels_have_room(n_classes, n_cols):
    X, y = mixed_data(400, n_classes)
    frame = name_columns(X)
    display = show(fit_stumps(frame, y, learning_rate=0.5), frame, n_cols=n_cols)
    figure = display.figure_
    figure.canvas.draw()
    panels = [*display.axes_.flat, *display.density_axes_.flat]
    found = [ax.get_tightbbox() for ax in panels if ax is not None]
    found.append(heading(display).get_window_extent())
    assert_apart(found, figure)


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
    frame = name_columns(X)
    display = show(fit_stumps(frame, y), frame, features=["town", 1, "$size$"])
    names = [strip.get_xlabel() for strip in display.density_axes_.flat]
    assert names == ["town", "income per month", "$size$"]
    assert display.plot(features="town").axes_.shape == (1, 1)
    assert display.plot(features=1).density_axes_[0, 0].get_xlabel() == names[1]


# --------------------------------------------------------------------------- refusals


@pytest.fixture(scope="module")
def stumps():
    X, y = mixed_data(100, 2)
    return fit_stumps(X, y), X, y


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_": "maybe"}, r"class_='maybe' is not a class .* \[0, 1\]"),
        ({"features": ["x0", "age"]}, r"features=\['x0', 'age'\] .* 'x0'"),
        ({"max_panels": 0}, "max_panels=0 must be 1 or more"),
        ({"n_cols": 0}, "n_cols=0 must be 1 or more"),
    ],
)
def test_wrong_arguments(stumps, options, message):
    booster, X, _ = stumps
    with pytest.raises(ValueError, match=message):
        show(booster, X, **options)


def test_what_cannot_be_drawn(stumps):
    booster, X, y = stumps
    with pytest.raises(NotFittedError):
        show(AdaBoostClassifier(), X)
    with pytest.raises(TypeError, match="estimator is a CARTClassifier; give a fitted"):
        show(CARTClassifier().fit(X, y), X)
    known = np.nan_to_num(X)
    for learner in (CARTClassifier(max_depth=2), DecisionTreeClassifier(max_depth=1)):
        other = fit_stumps(known, y, 3, estimator=learner)
        with pytest.raises(ValueError, match=r"splboost\.trees of max_depth=1"):
            show(other, known)
    logit = LogitBoostClassifier(n_estimators=2).fit(X, np.arange(100) % 3)
    with pytest.raises(ValueError, match=r"each of the classes \[0, 1, 2\]; only"):
        show(logit, X)
    with pytest.raises(ValueError, match="3 features"):
        show(booster, X[:, :3])
    with pytest.raises(ValueError, match="ax cannot be divided"):
        show(booster, X, ax=plt.figure().add_axes((0, 0, 1, 1)))


@pytest.mark.filterwarnings("ignore:Boosting stopped")
def test_a_booster_that_never_splits():
    booster = fit_stumps([[0.0]] * 3, [0, 0, 1], n_estimators=2)
    with pytest.raises(ValueError, match="No tree of the booster splits"):
        show(booster, [[0.0]] * 3)
