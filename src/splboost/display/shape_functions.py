"""Boosted stumps as what they are, a sum of functions of one feature each, drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from splboost._data.table import is_missing
from splboost.boosting.classifier import BaseBoostedClassifier
from splboost.boosting.model import PerClassModel
from splboost.display.style import (
    CLASS_COLOURS,
    FAINT,
    INK,
    add_heading,
    class_colour,
    import_pyplot,
    make_grid,
    shorten,
    tint,
)

FloatArray = NDArray[np.float64]

N_BINS = 40
PANEL_WIDTH, PANEL_HEIGHT, STRIP_HEIGHT, HEADING_HEIGHT = 3.5, 2.1, 0.3, 0.4  # inches
LABEL_HEIGHT = 0.5
FILL, DENSITY = 0.4, "#b8b8b8"
MOST_CATEGORIES, LABEL_CHARACTERS, ROW_CHARACTERS = 12, 14, 30


@dataclass(frozen=True)
class ShapeFunction:
    """What one feature adds to the score, by its value.

    It is a step function of a number, or a table of categories, and callable. With
    more than two classes each step has a score per class.

    Attributes
    ----------
    feature : int
        Number of the feature.
    name : str
    cuts : array of shape (n_steps - 1,) or None
        Where the steps are, ascending; a number equal to a cut is below it. None for
        categories.
    categories : list or None
        One for each step; None for numbers.
    values : array of shape (n_steps,) or (n_steps, n_classes)
        Score of each step, which over X has a mean of zero.
    missing : float or array of shape (n_classes,)
        Score of a missing value, and of a category that the model does not know.
    importance : float or array of shape (n_classes,)
        Standard deviation of the score over X.
    counts : array of shape (n_bins,)
        Rows of X per category, or per bin of a histogram.
    edges : array of shape (n_bins + 1,) or None
        Edges of that histogram, from the smallest to the largest number in X; None
        for categories.
    n_missing : int
        Rows of X in which the feature is missing or unknown.
    """

    feature: int
    name: str
    cuts: FloatArray | None
    categories: list[Any] | None
    values: FloatArray
    missing: Any
    importance: Any
    counts: NDArray[np.int64]
    edges: FloatArray | None
    n_missing: int

    def __call__(self, column: Iterable[Any]) -> FloatArray:
        """Score of each of some values of the feature.

        Parameters
        ----------
        column : array-like of shape (n_samples,)

        Returns
        -------
        score : array of shape (n_samples,) or (n_samples, n_classes)
        """
        if self.cuts is not None:
            step = _steps_of_numbers(np.asarray(column, dtype=np.float64), self.cuts)
        else:
            step = _steps_of_labels(list(column), self.categories or [])
        return np.concatenate([self.values, np.array(self.missing)[None]])[step]


def shape_functions(booster: Any, X: Any) -> tuple[Any, list[ShapeFunction]]:
    """Intercept and functions whose sum is the booster's ``decision_function``.

    Each function has a mean of zero over X; the one that varies most over X is first.
    """
    tables = _tables(booster)
    table = booster._read(X)
    names = getattr(booster, "feature_names_in_", table.names)
    time = booster._time_after(-1)
    intercept = booster._shape(tables.intercept[None], time)[0]
    cells = booster._shape(tables.cells, time)
    functions = []
    for f, lo, hi in zip(
        tables.features, tables.offset[:-1], tables.offset[1:], strict=True
    ):
        cell, coding = cells[lo:hi], tables.coding[f]
        cuts, categories, edges = None, None, None
        if coding is None:
            column, cuts = table.numeric(f).astype(float), tables.cuts[lo : hi - 2]
            steps = _steps_of_numbers(column, cuts)
            counts, edges = np.histogram(column[~np.isnan(column)], N_BINS)
        else:
            cell, categories = cell[[*coding.values(), -1]], list(coding)
            labels, index = table.category(f)
            steps = np.append(_steps_of_labels(labels, categories), -1)[index]
            counts = np.bincount(steps[steps >= 0], minlength=len(categories))
        score = cell[steps]
        mean = score.mean(axis=0)
        intercept = intercept + mean
        functions.append(
            ShapeFunction(
                feature=int(f),
                name=str(names[f]),
                cuts=cuts,
                categories=categories,
                values=cell[:-1] - mean,
                missing=cell[-1] - mean,
                importance=score.std(axis=0),
                counts=counts,
                edges=edges,
                n_missing=int(np.sum(steps < 0)),
            )
        )
    functions.sort(key=lambda function: -np.linalg.norm(function.importance))
    return intercept, functions


def _tables(booster: Any) -> Any:
    """The lookup tables that a fitted booster of stumps is made of."""
    name = type(booster).__name__
    if not isinstance(booster, BaseBoostedClassifier):
        raise TypeError(
            f"estimator is a {name}; give a fitted booster of splboost, such as "
            "SPLBoostClassifier."
        )
    check_is_fitted(booster)
    if isinstance(booster._model, PerClassModel):
        raise ValueError(
            f"{name} has a model of its own for each of the classes "
            f"{booster.classes_.tolist()}; only boosters that fit all classes together "
            "(AdaBoost, SPLBoost, Real AdaBoost) can be drawn for more than two. Fit "
            "one class against the rest, as fit(X, y == label), and draw that."
        )
    if booster._model.tables is None:
        raise ValueError(
            f"{name} has weak learners that split more than once or are no trees of "
            "splboost, so that its score is no sum of functions of one feature; fit it "
            "with trees of splboost.trees of max_depth=1."
        )
    return booster._model.tables


def _steps_of_numbers(column: FloatArray, cuts: FloatArray) -> NDArray[np.intp]:
    return np.where(np.isnan(column), -1, np.searchsorted(cuts, column))


def _steps_of_labels(labels: list[Any], categories: list[Any]) -> NDArray[np.intp]:
    position = {label: step for step, label in enumerate(categories)}
    steps = [-1 if is_missing(x) else position.get(x, -1) for x in labels]
    return np.array(steps, dtype=np.intp)


class ShapeFunctionsDisplay:
    """What each feature adds to the score of a booster of stumps.

    The score of a booster whose trees split only once is a sum of functions of one
    feature each, and an intercept. Here they are drawn, the one that varies most over
    the data first, all to the same scale, with the distribution of the data below. Make
    one with :meth:`from_estimator`.

    Parameters
    ----------
    intercept : float or array of shape (n_classes,)
        Mean score over the data.
    functions : list of ShapeFunction
        All functions of the model, the most important first. With the intercept they
        add up to ``decision_function``.
    classes : array of shape (n_classes,)

    Attributes
    ----------
    bounding_ax_ : matplotlib Axes
        The one around all panels.
    axes_ : array of matplotlib Axes, of shape (n_rows, n_cols)
        The panels, row by row; None where there is none.
    density_axes_ : array of matplotlib Axes, of shape (n_rows, n_cols)
        The strips below them, which show where the data are.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from splboost import SPLBoostClassifier
    >>> from splboost.display import ShapeFunctionsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> booster = SPLBoostClassifier(n_estimators=50).fit(X, y)
    >>> display = ShapeFunctionsDisplay.from_estimator(booster, X, max_panels=6)
    >>> display.functions[0].name
    'worst area'
    >>> score = display.intercept + sum(f(X[f.name]) for f in display.functions)
    >>> bool(abs(score - booster.decision_function(X)).max() < 1e-10)
    True
    """

    def __init__(
        self,
        *,
        intercept: Any,
        functions: list[ShapeFunction],
        classes: NDArray[Any],
    ) -> None:
        self.intercept = intercept
        self.functions = functions
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: Sequence[int | str] | None = None,
        class_: Any = None,
        max_panels: int = 9,
        n_cols: int = 3,
        ax: Any = None,
    ) -> Self:
        """Draw the shape functions of a fitted booster.

        Parameters
        ----------
        estimator : booster of splboost
            Fitted with stumps, such as ``CARTClassifier(max_depth=1)``.
        X : array-like or frame of shape (n_samples, n_features)
            Data, over which each function has a mean of zero and which say where the
            functions matter.
        features : sequence of int or str, default=None
            Numbers or names of the features to draw; None draws the most important.
        class_ : label, default=None
            Class whose score to draw. None means ``classes_[1]`` of two classes, and
            a line for each of more.
        max_panels : int, default=9
            Most features to draw when ``features`` is None.
        n_cols : int, default=3
            Panels next to each other.
        ax : matplotlib Axes, default=None
            Axes to divide into panels, whose figure gets a constrained layout unless
            it has a layout already. None makes a figure.

        Returns
        -------
        display : ShapeFunctionsDisplay
        """
        intercept, functions = shape_functions(estimator, X)
        shown = {"features": features, "class_": class_, "max_panels": max_panels}
        display = cls(
            intercept=intercept, functions=functions, classes=estimator.classes_
        )
        return display.plot(**shown, n_cols=n_cols, ax=ax)

    def plot(
        self,
        *,
        features: Sequence[int | str] | None = None,
        class_: Any = None,
        max_panels: int = 9,
        n_cols: int = 3,
        ax: Any = None,
    ) -> Self:
        """Draw the functions; parameters are those of :meth:`from_estimator`.

        Parameters
        ----------
        features : sequence of int or str, default=None
        class_ : label, default=None
        max_panels : int, default=9
        n_cols : int, default=3
        ax : matplotlib Axes, default=None

        Returns
        -------
        self
        """
        import_pyplot()
        for name, number in (("max_panels", max_panels), ("n_cols", n_cols)):
            if number < 1:
                raise ValueError(f"{name}={number!r} must be 1 or more.")
        if not self.functions:
            raise ValueError("No tree of the booster splits; there is nothing to draw.")
        curves = self._curves(class_)
        shown = self._chosen(features, curves, max_panels)
        n_cols = min(n_cols, len(shown))
        n_rows = -(-len(shown) // n_cols)
        # Cells of one grid, so that equal heights mean equal scores
        heights = [HEADING_HEIGHT, *[PANEL_HEIGHT, STRIP_HEIGHT] * n_rows]
        size = PANEL_WIDTH * n_cols, sum(heights) + LABEL_HEIGHT * n_rows
        self.bounding_ax_, grid = make_grid(ax, size, heights, n_cols)
        self.figure_ = self.bounding_ax_.figure
        self.axes_ = np.full((n_rows, n_cols), None, dtype=object)
        self.density_axes_ = self.axes_.copy()
        for k, function in enumerate(shown):
            row, column = divmod(k, n_cols)
            cell, below = grid[1 + 2 * row, column], grid[2 + 2 * row, column]
            panel = self.figure_.add_subplot(cell, sharey=self.axes_[0, 0])
            strip = self.figure_.add_subplot(below, sharex=panel)
            self.axes_[row, column], self.density_axes_[row, column] = panel, strip
            _draw_panel(panel, strip, function, curves)
            if column == 0:
                panel.set_ylabel("score")
            else:
                panel.tick_params(labelleft=False)
        self._write_heading(grid, curves, len(shown))
        return self

    def _curves(self, class_: Any) -> list[_Curve]:
        """The classes to draw."""
        labels = self.classes.tolist()
        if class_ is not None and class_ not in labels:
            raise ValueError(
                f"class_={class_!r} is not a class of the booster; they are {labels}."
            )
        colours = [class_colour(k) for k in range(len(labels))]
        if len(labels) == 2:
            k = 1 if class_ is None else labels.index(class_)
            return [_Curve(labels[k], None, colours[k], colours[1 - k], sign=2 * k - 1)]
        if class_ is not None:
            k = labels.index(class_)
            return [_Curve(labels[k], k, colours[k], FAINT)]
        return [_Curve(label, k, colours[k], None) for k, label in enumerate(labels)]

    def _chosen(
        self,
        features: Sequence[int | str] | None,
        curves: list[_Curve],
        max_panels: int,
    ) -> list[ShapeFunction]:
        """The functions to draw; by default those that matter most to the curves."""
        if features is None:

            def spread(function: ShapeFunction) -> Any:
                return -np.linalg.norm([c.of(function.importance) for c in curves])

            return sorted(self.functions, key=spread)[:max_panels]
        known: dict[Any, ShapeFunction] = {f.name: f for f in self.functions}
        known.update((f.feature, f) for f in self.functions)
        alone = isinstance(features, str | Integral)
        wanted: list[Any] = [features] if alone else list(features)
        unknown = [feature for feature in wanted if feature not in known]
        if unknown or not wanted:
            names = ", ".join(repr(f.name) for f in self.functions)
            raise ValueError(
                f"features={features!r} must list features that the booster uses, by "
                f"name or number; those it uses are {names}."
            )
        return [known[feature] for feature in wanted]

    def _write_heading(self, grid: Any, curves: list[_Curve], n_shown: int) -> None:
        """Say what is drawn, and what it is to be added to."""
        rest = "the sum of these functions"
        if n_shown < len(self.functions):
            rest = f"the sum of {len(self.functions)} functions, {n_shown} of them here"
        intercepts = [curve.of(np.asarray(self.intercept)) for curve in curves]
        if len(curves) == 1:
            title = f"score of class {curves[0].label} = {intercepts[0]:.3g} + {rest}"
            add_heading(self.figure_, grid, title, [], [])
            return
        title = f"score of a class = its number in brackets + {rest}"
        entries = [
            f"{curve.label} ({intercept:.3g})"
            for curve, intercept in zip(curves, intercepts, strict=True)
        ]
        lines = self.axes_[0, 0].get_legend_handles_labels()[0]
        add_heading(self.figure_, grid, title, lines, entries)


# ----------------------------------------------------------------------------- panels


@dataclass(frozen=True)
class _Curve:
    """The score of one class, as a part of a function's values.

    ``column`` is None where two classes share one score, and ``sign`` its direction.
    ``below`` is the colour under zero; None draws a line of the class's colour and
    fills nothing.
    """

    label: Any
    column: int | None
    colour: str
    below: str | None
    sign: int = 1

    def of(self, values: Any) -> Any:
        return self.sign * (values if self.column is None else values[..., self.column])

    def draw(self, panel: Any, x: FloatArray, y: FloatArray) -> None:
        """Draw a line, and fill the area between it and zero."""
        if self.below is not None:
            for fill, part in ((self.colour, np.maximum), (self.below, np.minimum)):
                panel.fill_between(x, part(y, 0), color=tint(fill, FILL), linewidth=0)
        turn = (self.column or 0) // len(CLASS_COLOURS)
        panel.plot(
            x,
            y,
            color=self.colour if self.below is None else INK,
            linestyle=("-", "--", ":", "-.")[turn % 4],
            linewidth=1.4,
            label=str(self.label),
        )

    def mark(self, panel: Any, x: float, y: float) -> None:
        """Draw a point, here that of missing values."""
        colour = self.colour
        if self.below is not None:
            panel.vlines(x, 0, y, color=INK, linewidth=1)
            colour = self.colour if y > 0 else self.below
        panel.plot(x, y, marker="D", markersize=5, color=colour, linestyle="")


def _draw_panel(
    panel: Any, strip: Any, function: ShapeFunction, curves: list[_Curve]
) -> None:
    """Draw a function for each of some classes, and its data below."""
    panel.axhline(0, color=FAINT, linewidth=0.8, zorder=1)
    draw = _draw_categories if function.edges is None else _draw_numbers
    ticks, labels, missing, width = draw(panel, strip, function, curves)
    if function.n_missing:
        for curve in curves:
            curve.mark(panel, missing, curve.of(np.asarray(function.missing)))
        strip.bar(missing, function.n_missing, width, color=DENSITY)
        ticks, labels = [*ticks, missing], [*labels, "missing"]
    strip.set_xticks(ticks, labels, parse_math=False)
    if function.edges is None and sum(map(len, labels)) > ROW_CHARACTERS:
        strip.tick_params(axis="x", labelrotation=45)
        for label in strip.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    panel.tick_params(axis="x", bottom=False, labelbottom=False)
    strip.tick_params(axis="y", left=False, labelleft=False)
    panel.spines[["top", "right", "bottom"]].set_visible(False)
    strip.spines[["top", "right", "left"]].set_visible(False)


# Both return ticks and their labels, and centre and width of a bar of missing values.


def _draw_numbers(
    panel: Any, strip: Any, function: ShapeFunction, curves: list[_Curve]
) -> tuple[Sequence[float], list[str], float, float]:
    from matplotlib.ticker import MaxNLocator

    edges, cuts = function.edges, function.cuts
    assert edges is not None and cuts is not None
    low, high = edges[0], edges[-1]
    first = int(np.searchsorted(cuts, low, side="right"))
    between = cuts[first : np.searchsorted(cuts, high)]
    x = np.repeat([low, *between, high], 2)[1:-1]
    for curve in curves:
        score = curve.of(function.values)[first : first + between.size + 1]
        curve.draw(panel, x, np.repeat(score, 2))
    strip.stairs(function.counts, edges, fill=True, color=DENSITY)
    strip.set_xlabel(function.name, parse_math=False)
    width = (high - low) / 16
    ticks = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    room = high - width if function.n_missing else high
    ticks = ticks[(ticks >= low) & (ticks <= room)]
    return ticks, [f"{tick:.6g}" for tick in ticks], high + 2 * width, width


def _draw_categories(
    panel: Any, strip: Any, function: ShapeFunction, curves: list[_Curve]
) -> tuple[Sequence[float], list[str], float, float]:
    """Draw the commonest categories, in their own order."""
    common = np.argsort(-function.counts, kind="stable")[:MOST_CATEGORIES]
    shown = np.sort(common)
    places = np.arange(shown.size, dtype=float)
    x = np.column_stack([places - 0.4, places + 0.4, np.full(shown.size, np.nan)])
    for curve in curves:
        curve.draw(panel, x.ravel(), np.repeat(curve.of(function.values)[shown], 3))
    strip.bar(places, function.counts[shown], 0.8, color=DENSITY)
    n_others = function.counts.size - shown.size
    others = f" (and {n_others} rarer)" if n_others else ""
    strip.set_xlabel(function.name + others, parse_math=False)
    categories = function.categories or []
    names = [shorten(str(categories[k]), LABEL_CHARACTERS) for k in shown]
    return places.tolist(), names, shown.size + 0.2, 0.8
