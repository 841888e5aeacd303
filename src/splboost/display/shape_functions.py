"""The shape functions of boosted stumps as a grid of panels."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from splboost.display.panels import Curve, draw_panel, legend_key
from splboost.display.shapes import ShapeFunction, shape_functions
from splboost.display.style import (
    FAINT,
    cell_of,
    class_colour,
    import_pyplot,
    line_style,
)

PANEL_WIDTH, PANEL_HEIGHT, STRIP_HEIGHT, HEADING_HEIGHT = 3.5, 2.1, 0.3, 0.4  # inches
LABEL_HEIGHT = 0.5
PANEL_CHARACTERS, KEY_CHARACTERS = 45, 8  # of a heading, and of a line beside a name


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
        display = cls(
            intercept=intercept, functions=functions, classes=estimator.classes_
        )
        return display.plot(
            features=features,
            class_=class_,
            max_panels=max_panels,
            n_cols=n_cols,
            ax=ax,
        )

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
        plt = import_pyplot()
        for name, number in (("max_panels", max_panels), ("n_cols", n_cols)):
            if number < 1:
                raise ValueError(f"{name}={number!r} must be 1 or more.")
        if not self.functions:
            raise ValueError("No tree of the booster splits; there is nothing to draw.")
        curves = self._curves(class_)
        shown = self._chosen(features, curves, max_panels)
        n_cols = min(n_cols, len(shown))
        n_rows = -(-len(shown) // n_cols)
        if ax is None:
            per_row = PANEL_HEIGHT + STRIP_HEIGHT + LABEL_HEIGHT
            size = (PANEL_WIDTH * n_cols, HEADING_HEIGHT + per_row * n_rows)
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.bounding_ax_, self.figure_ = ax, ax.figure
        heading = self._make_axes(len(shown), n_rows, n_cols)
        self._annotate(heading, curves, len(shown))
        panels = zip(shown, self.axes_.flat, self.density_axes_.flat, strict=False)
        for function, panel, strip in panels:
            draw_panel(panel, strip, function, curves)
        return self

    def _curves(self, class_: Any) -> list[Curve]:
        """The classes to draw."""
        labels = self.classes.tolist()
        if class_ is not None and class_ not in labels:
            raise ValueError(
                f"class_={class_!r} is not a class of the booster; they are {labels}."
            )
        colours = [class_colour(k) for k in range(len(labels))]
        if len(labels) == 2:
            k = 1 if class_ is None else labels.index(class_)
            sign = 2 * k - 1
            return [Curve(f"{labels[k]}", None, sign, colours[k], colours[1 - k])]
        if class_ is not None:
            k = labels.index(class_)
            return [Curve(f"{labels[k]}", k, 1, colours[k], FAINT)]
        return [
            Curve(f"{label}", k, 1, colours[k], None, line_style(k))
            for k, label in enumerate(labels)
        ]

    def _chosen(
        self,
        features: Sequence[int | str] | None,
        curves: list[Curve],
        max_panels: int,
    ) -> list[ShapeFunction]:
        """The functions to draw; by default those that matter most to the curves."""
        if features is None:
            spread = {
                f.feature: np.linalg.norm([curve.of(f.importance) for curve in curves])
                for f in self.functions
            }
            ranked = sorted(self.functions, key=lambda f: -spread[f.feature])
            return ranked[:max_panels]
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

    def _make_axes(self, n_panels: int, n_rows: int, n_cols: int) -> Any:
        """Panels to one y-axis, each over a strip with its x-axis; returns the heading.

        All are cells of one grid, so that equal heights mean equal scores.
        """
        figure, cell = self.figure_, cell_of(self.bounding_ax_)
        heights = [HEADING_HEIGHT, *[PANEL_HEIGHT, STRIP_HEIGHT] * n_rows]
        grid = cell.subgridspec(len(heights), n_cols, height_ratios=heights)
        self.axes_ = np.full((n_rows, n_cols), None, dtype=object)
        self.density_axes_ = self.axes_.copy()
        for i in range(n_panels):
            row, column = divmod(i, n_cols)
            panel = figure.add_subplot(
                grid[1 + 2 * row, column], sharey=self.axes_[0, 0]
            )
            strip = figure.add_subplot(grid[2 + 2 * row, column], sharex=panel)
            self.axes_[row, column], self.density_axes_[row, column] = panel, strip
        heading = figure.add_subplot(grid[0, :])
        heading.set_axis_off()
        return heading

    def _annotate(self, heading: Any, curves: list[Curve], n_shown: int) -> None:
        """Say what is drawn, and what it is to be added to."""
        rest = "the sum of these functions"
        if n_shown < len(self.functions):
            rest = f"the sum of {len(self.functions)} functions, {n_shown} of them here"
        intercepts = [curve.of(np.asarray(self.intercept)) for curve in curves]
        if len(curves) == 1:
            score = f"score of class {curves[0].label}"
            title, entries = f"{score} = {intercepts[0]:.3g} + {rest}", []
        else:
            title = f"score of a class = its number in brackets + {rest}"
            entries = [
                f"{curve.label} ({intercept:.3g})"
                for curve, intercept in zip(curves, intercepts, strict=True)
            ]
        width = PANEL_CHARACTERS * self.axes_.shape[1]
        longest = max(map(len, entries), default=0) + KEY_CHARACTERS
        legend = heading.legend(
            [legend_key(curve) for curve in curves][: len(entries)],
            entries,
            title="\n".join(textwrap.wrap(title, width)),
            loc="center",
            ncols=max(1, width // longest),
            frameon=False,
        )
        for text in (legend.get_title(), *legend.get_texts()):
            text.set(parse_math=False, multialignment="center")
        for row in self.axes_:
            row[0].set_ylabel("score")
            for panel in row[1:]:
                if panel is not None:
                    panel.tick_params(labelleft=False)
