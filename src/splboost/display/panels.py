"""One shape function in one panel, with a strip below it that shows the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.display.shapes import ShapeFunction
from splboost.display.style import FAINT, INK, tint

FloatArray = NDArray[np.float64]
FILL, DENSITY = 0.4, "#b8b8b8"
MOST_CATEGORIES, LABEL_CHARACTERS, ROW_CHARACTERS = 12, 14, 30


@dataclass(frozen=True)
class Curve:
    """The score of one class, as a part of a function's values.

    ``column`` is None where two classes share one score, and ``sign`` its direction.
    ``below`` is the colour under zero; None draws a line of its own colour and fills
    nothing.
    """

    label: str
    column: int | None
    sign: int
    colour: str
    below: str | None
    style: str = "-"

    def of(self, values: Any) -> Any:
        return self.sign * (values if self.column is None else values[..., self.column])

    def line(self) -> dict[str, Any]:
        """How its line looks."""
        return {
            "color": self.colour if self.below is None else INK,
            "linestyle": self.style,
            "linewidth": 1.4,
            "label": self.label,
        }


@dataclass(frozen=True)
class Scale:
    """Where a function's steps, and the rows of data, stand along the x-axis.

    Attributes
    ----------
    name : what the axis is called
    steps : numbers of the steps shown, ``left`` and ``right`` their edges
    bars : edges of the bars of the data, (n_bars, 2), and ``counts`` their heights
    missing : place of missing values, of width ``unit``
    ticks, labels : what is written below
    """

    name: str
    steps: NDArray[np.intp]
    left: FloatArray
    right: FloatArray
    bars: FloatArray
    counts: NDArray[np.int64]
    missing: float
    unit: float
    ticks: FloatArray
    labels: list[str]


def draw_panel(
    panel: Any, strip: Any, function: ShapeFunction, curves: list[Curve]
) -> None:
    """Draw a function for each of some classes, and its data below."""
    numeric = function.edges is not None
    scale = _numeric_scale(function) if numeric else _categorical_scale(function)
    panel.axhline(0, color=FAINT, linewidth=0.8, zorder=1)
    for curve in curves:
        _draw_steps(panel, scale, curve, function.values, joined=numeric)
        if function.n_missing:
            _draw_missing(panel, scale, curve, function.missing)
    width = scale.bars[:, 1] - scale.bars[:, 0]
    strip.bar(scale.bars[:, 0], scale.counts, width, align="edge", color=DENSITY)
    ticks, labels = scale.ticks, scale.labels
    if function.n_missing:
        strip.bar(scale.missing, function.n_missing, scale.unit, color=DENSITY)
        ticks, labels = np.append(ticks, scale.missing), [*labels, "missing"]
    strip.set_xticks(ticks, labels, parse_math=False)
    if not numeric and sum(map(len, labels)) > ROW_CHARACTERS:
        strip.tick_params(axis="x", labelrotation=45)
        for label in strip.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    strip.set_xlabel(scale.name, parse_math=False)
    _tidy(panel, strip)


def legend_key(curve: Curve) -> Any:
    """The line of a curve by itself."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **curve.line())


def _numeric_scale(function: ShapeFunction) -> Scale:
    from matplotlib.ticker import MaxNLocator

    edges, cuts = function.edges, function.cuts
    assert edges is not None and cuts is not None
    low, high = edges[0], edges[-1]
    first = int(np.searchsorted(cuts, low, side="right"))
    between = cuts[first : np.searchsorted(cuts, high)]
    unit = (high - low) / 16
    room = high - unit if function.n_missing else high
    ticks = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    ticks = ticks[(ticks >= low) & (ticks <= room)]
    return Scale(
        name=function.name,
        steps=first + np.arange(between.size + 1),
        left=np.append(low, between),
        right=np.append(between, high),
        bars=np.column_stack([edges[:-1], edges[1:]]),
        counts=function.counts,
        missing=high + 2 * unit,
        unit=unit,
        ticks=ticks,
        labels=[f"{tick:.6g}" for tick in ticks],
    )


def _categorical_scale(function: ShapeFunction) -> Scale:
    """The commonest categories, in their own order."""
    common = np.argsort(-function.counts, kind="stable")[:MOST_CATEGORIES]
    steps = np.sort(common)
    places = np.arange(steps.size)
    edges = np.column_stack([places - 0.4, places + 0.4])
    names = [str((function.categories or [])[step]) for step in steps]
    n_others = function.counts.size - steps.size
    return Scale(
        name=function.name + (f" (and {n_others} rarer)" if n_others else ""),
        steps=steps,
        left=edges[:, 0],
        right=edges[:, 1],
        bars=edges,
        counts=function.counts[steps],
        missing=steps.size + 0.2,
        unit=0.8,
        ticks=places.astype(float),
        labels=[_shorten(name) for name in names],
    )


def _shorten(name: str) -> str:
    half = LABEL_CHARACTERS // 2  # names often differ at their ends only
    short = name[: half - 1].rstrip() + "…" + name[-half:].lstrip()
    return name if len(name) <= LABEL_CHARACTERS else short


def _draw_steps(
    panel: Any, scale: Scale, curve: Curve, values: FloatArray, *, joined: bool
) -> None:
    score = curve.of(values)[scale.steps]
    gaps = [] if joined else [np.full(score.size, np.nan)]
    x = np.column_stack([scale.left, scale.right, *gaps]).ravel()
    y = np.repeat(score, 2 + len(gaps))
    if curve.below is not None:
        for fill, part in ((curve.colour, np.maximum), (curve.below, np.minimum)):
            panel.fill_between(x, part(y, 0), color=tint(fill, FILL), linewidth=0)
    panel.plot(x, y, **curve.line())


def _draw_missing(panel: Any, scale: Scale, curve: Curve, missing: Any) -> None:
    score = curve.of(np.asarray(missing))
    colour = curve.colour
    if curve.below is not None:
        panel.vlines(scale.missing, 0, score, color=INK, linewidth=1)
        colour = curve.colour if score > 0 else curve.below
    panel.plot(scale.missing, score, marker="D", markersize=5, color=colour, ls="")


def _tidy(panel: Any, strip: Any) -> None:
    panel.tick_params(axis="x", bottom=False, labelbottom=False)
    strip.tick_params(axis="y", left=False, labelleft=False)
    for ax in (panel, strip):
        ax.spines[["top", "right"]].set_visible(False)
    panel.spines["bottom"].set_visible(False)
    strip.spines["left"].set_visible(False)
