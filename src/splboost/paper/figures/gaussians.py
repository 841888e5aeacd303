"""Figure 3: the sample weights of boosters on the synthetic Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.datasets import gaussians_log_odds
from splboost.display.style import CLASS_COLOURS, INK, tint
from splboost.paper.figures.looks import make_figure
from splboost.paper.gaussians import BOOSTERS, ROUNDS, Fit, Sample, error_on_new, fit

FloatArray = NDArray[np.float64]

SEED = 0
SIZE = 9.6, 11.6  # inches
AREA = 18.0  # of a marker of mean weight, in square points
LEAST_AREA, MOST_AREA = 0.4, 170.0
FRAME = 1.8  # area of a frame around a marker
CIRCLE_AREA = 18.0  # of samples without weight
GRID = 300
NEGATIVE, POSITIVE = CLASS_COLOURS[6], CLASS_COLOURS[0]  # brick, blue
REGION = 0.12  # strength of the colour of a decision region


def draw_gaussians(*, rounds: int | None = ROUNDS, seed: int = SEED) -> Any:
    """Draw the training samples as large as they weigh, and the decision boundaries.

    Areas of markers are in proportion to weights, but neither vanish nor cover others.

    Parameters
    ----------
    rounds : int or None, default=60
        Of every booster; None chooses them by cross-validation, up to 200.
    seed : int, default=0
        Of the sample.

    Returns
    -------
    matplotlib Figure
    """
    sample = Sample.draw(seed)
    figure = make_figure(*SIZE, h_pad=0.1)
    panels = figure.subplots(3, 3, sharex=True, sharey=True).ravel()
    low, high = sample.X.min(axis=0) - 0.7, sample.X.max(axis=0) + 0.7
    grid = list(np.meshgrid(*np.linspace(low, high, GRID).T))

    alike = np.ones(len(sample.y))
    _mark(panels[0], sample, alike, alike == 0)
    _title(panels[0], "(a) original data", f"{sample.is_wrong.sum()} wrong labels")
    for letter, axes, name in zip("bcdefghi", panels[1:], BOOSTERS, strict=True):
        fitted = fit(name, sample, rounds=rounds)
        _shade(axes, fitted.booster, grid)
        _mark(axes, sample, fitted.weight, fitted.is_given_up)
        _title(axes, f"({letter}) {name}", _summary(fitted, sample, seed))
    odds = gaussians_log_odds(_points(grid)).reshape(GRID, GRID)
    for axes in panels:
        axes.contour(
            *grid, odds, levels=[0], colors=INK, linewidths=1.2, linestyles="dashed"
        )
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
        axes.set_aspect("equal")
    _explain(figure)
    return figure


def _title(axes: Any, name: str, summary: str) -> None:
    axes.set_title(name, fontsize=10, pad=18)
    where = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(summary, (0.5, 1), (0, 5), ha="center", fontsize=8, **where)


def _summary(fitted: Fit, sample: Sample, seed: int) -> str:
    n = fitted.booster.n_iter_
    wrong = int(fitted.is_given_up[sample.is_wrong].sum())
    right = int(fitted.is_given_up[~sample.is_wrong].sum())
    rounds = "1 round" if n == 1 else f"{n} rounds"
    error = error_on_new(fitted.booster, seed)
    return f"{rounds}, error {error:.1%}, drops {wrong} wrong, {right} right"


def _points(grid: list[FloatArray]) -> FloatArray:
    return np.column_stack([each.ravel() for each in grid])


def _shade(axes: Any, booster: Any, grid: list[FloatArray]) -> None:
    """Tint the two regions, and draw the line between them."""
    score = booster.decision_function(_points(grid)).reshape(GRID, GRID)
    score = np.sign(score)
    colours = [tint(NEGATIVE, REGION), tint(POSITIVE, REGION)]
    axes.contourf(*grid, score, levels=[-2, 0, 2], colors=colours)
    axes.contour(*grid, score, levels=[0], colors=INK, linewidths=0.7)


def _mark(
    axes: Any, sample: Sample, weight: FloatArray, is_given_up: NDArray[np.bool_]
) -> None:
    """Pluses and crosses by label, framed where it is wrong; circles without weight."""
    area = np.clip(AREA * weight, LEAST_AREA, MOST_AREA)
    is_positive = sample.y == 1
    looks = [(is_positive, "+", "s", POSITIVE), (~is_positive, "x", "o", NEGATIVE)]
    for of_class, mark, frame, colour in looks:
        shown = of_class & ~is_given_up
        axes.scatter(
            *sample.X[shown].T, area[shown], marker=mark, color=colour, linewidths=1
        )
        framed = shown & sample.is_wrong
        axes.scatter(
            *sample.X[framed].T,
            FRAME * area[framed],
            marker=frame,
            facecolors="none",
            edgecolors=colour,
            linewidths=1,
        )
    axes.scatter(
        *sample.X[is_given_up].T,
        CIRCLE_AREA,
        marker="o",
        facecolors="none",
        edgecolors=INK,
        linewidths=1.1,
    )


def _explain(figure: Any) -> None:
    from matplotlib.lines import Line2D

    def mark(marker: str, colour: str, label: str, *, hollow: bool = False) -> Line2D:
        fill = "none" if hollow else colour
        line = Line2D([], [], linestyle="none", color=colour, label=label)
        line.set(marker=marker, markerfacecolor=fill)
        return line

    handles = [  # column by column
        mark("+", POSITIVE, "labelled positive"),
        mark("x", NEGATIVE, "labelled negative"),
        mark("s", POSITIVE, "labelled positive, wrongly", hollow=True),
        mark("o", NEGATIVE, "labelled negative, wrongly", hollow=True),
        mark("o", INK, "dropped: no weight, though on the wrong side", hollow=True),
        Line2D([], [], color=INK, linewidth=0.7, label="decision boundary"),
        Line2D([], [], color=INK, linestyle="dashed", label="Bayes boundary"),
    ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9
    )
