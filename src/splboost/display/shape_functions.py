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
LINE_STYLES = "-", "--", ":", "-."  # of classes beyond the last colour
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
            known = column[~np.isnan(column)]
            bins: Any = N_BINS
            if known.size and known.min() < known.max():
                # Fewer where there are fewer floats between these two
                bins = np.unique(np.linspace(known.min(), known.max(), N_BINS + 1))
            counts, edges = np.histogram(known, bins)
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
        numbers = self._numbers(class_)
        shown = self._chosen(features, numbers, max_panels)
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
            self._draw(panel, strip, function, numbers)
            if column == 0:
                panel.set_ylabel("score")
            else:
                panel.tick_params(labelleft=False)
        self._write_heading(grid, numbers, len(shown))
        return self

    def _numbers(self, class_: Any) -> list[int]:
        """The numbers of the classes to draw."""
        labels = self.classes.tolist()
        if class_ is not None and class_ not in labels:
            raise ValueError(
                f"class_={class_!r} is not a class of the booster; they are {labels}."
            )
        if class_ is not None:
            return [labels.index(class_)]
        return [1] if len(labels) == 2 else list(range(len(labels)))

    def _of_class(self, values: Any, number: int) -> Any:
        """The scores of a class; two classes share one, in opposite directions."""
        values = np.asarray(values)
        return (
            values[..., number] if len(self.classes) > 2 else values * (2 * number - 1)
        )

    def _chosen(
        self,
        features: Sequence[int | str] | None,
        numbers: list[int],
        max_panels: int,
    ) -> list[ShapeFunction]:
        """The functions to draw; by default those that matter most to the classes."""
        if features is None:

            def spread(function: ShapeFunction) -> Any:
                importance = function.importance
                return -np.linalg.norm([self._of_class(importance, k) for k in numbers])

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

    def _draw(
        self, panel: Any, strip: Any, function: ShapeFunction, numbers: list[int]
    ) -> None:
        """Draw a function for each of some classes, and its data below."""
        panel.axhline(0, color=FAINT, linewidth=0.8, zorder=1)
        lay_out = _lay_out_numbers if function.cuts is not None else _lay_out_categories
        x, steps, ticks, labels, place, width = lay_out(strip, function)
        for k in numbers:
            y = self._of_class(function.values, k)[steps]
            missing = float(self._of_class(function.missing, k))
            colour = line = dot = class_colour(k)
            if len(numbers) == 1:  # the area between the line and zero is filled
                below = class_colour(1 - k) if len(self.classes) == 2 else FAINT
                line, dot = INK, colour if missing > 0 else below
                for fill, part in ((colour, np.maximum), (below, np.minimum)):
                    area = {"color": tint(fill, FILL), "linewidth": 0}
                    panel.fill_between(x, part(y, 0), **area)
            style = LINE_STYLES[k // len(CLASS_COLOURS) % len(LINE_STYLES)]
            label = str(self.classes.tolist()[k])
            look = {"color": line, "linestyle": style, "linewidth": 1.4}
            panel.plot(x, y, label=label, **look)
            if function.n_missing:
                if len(numbers) == 1:
                    panel.vlines(place, 0, missing, color=INK, linewidth=1)
                panel.plot(place, missing, "D", markersize=5, color=dot)
        if function.n_missing:
            strip.bar(place, function.n_missing, width, color=DENSITY)
            ticks, labels = [*ticks, place], [*labels, "missing"]
        strip.set_xticks(ticks, labels, parse_math=False)
        if function.cuts is None and sum(map(len, labels)) > ROW_CHARACTERS:
            for text in strip.get_xticklabels():
                text.set(rotation=45, ha="right", rotation_mode="anchor")
        panel.tick_params(axis="x", bottom=False, labelbottom=False)
        strip.tick_params(axis="y", left=False, labelleft=False)
        panel.spines[["top", "right", "bottom"]].set_visible(False)
        strip.spines[["top", "right", "left"]].set_visible(False)

    def _write_heading(self, grid: Any, numbers: list[int], n_shown: int) -> None:
        """Say what is drawn, and what it is to be added to."""
        rest = "the sum of these functions"
        if n_shown < len(self.functions):
            rest = f"the sum of {len(self.functions)} functions, {n_shown} of them here"
        names = self.classes.tolist()
        intercepts = [f"{self._of_class(self.intercept, k):.3g}" for k in numbers]
        title = f"score of class {names[numbers[0]]} = {intercepts[0]} + {rest}"
        lines, entries = [], []
        if len(numbers) > 1:
            title = f"score of a class = its number in brackets + {rest}"
            lines = self.axes_[0, 0].get_legend_handles_labels()[0]
            entries = [f"{names[k]} ({intercepts[k]})" for k in numbers]
        add_heading(self.figure_, grid, title, lines, entries)


# What a panel draws: points and their steps; ticks and their labels; centre and width
# of a bar of missing values.
Layout = tuple[FloatArray, NDArray[np.intp], Any, list[str], float, float]


def _lay_out_numbers(strip: Any, function: ShapeFunction) -> Layout:
    from matplotlib.ticker import MaxNLocator

    edges, cuts = function.edges, function.cuts
    assert edges is not None and cuts is not None
    low, high = edges[0], edges[-1]
    first = int(np.searchsorted(cuts, low, side="right"))
    between = cuts[first : np.searchsorted(cuts, high)]
    x = np.repeat([low, *between, high], 2)[1:-1]
    steps = np.repeat(np.arange(first, first + between.size + 1), 2)
    strip.stairs(function.counts, edges, fill=True, color=DENSITY)
    strip.set_xlabel(function.name, parse_math=False)
    width = (high - low) / 16
    ticks = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    room = high - width if function.n_missing else high
    ticks = ticks[(ticks >= low) & (ticks <= room)]
    return x, steps, ticks, [f"{tick:.6g}" for tick in ticks], high + 2 * width, width


def _lay_out_categories(strip: Any, function: ShapeFunction) -> Layout:
    """Lay out the commonest categories, in their own order."""
    common = np.argsort(-function.counts, kind="stable")[:MOST_CATEGORIES]
    shown = np.sort(common)
    places = np.arange(shown.size, dtype=float)
    x = np.column_stack([places - 0.4, places + 0.4, np.full(shown.size, np.nan)])
    strip.bar(places, function.counts[shown], 0.8, color=DENSITY)
    n_others = function.counts.size - shown.size
    others = f" (and {n_others} rarer)" if n_others else ""
    strip.set_xlabel(function.name + others, parse_math=False)
    categories = function.categories or []
    names = [shorten(str(categories[k]), LABEL_CHARACTERS) for k in shown]
    return x.ravel(), np.repeat(shown, 3), places, names, shown.size + 0.2, 0.8
