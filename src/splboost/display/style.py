"""What all pictures share: matplotlib, the colours, and a heading above panels."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

# Told apart also by the colour-blind; the first two are those of the examples.
CLASS_COLOURS = (
    "#1f5fa8",  # blue
    "#d9822b",  # orange
    "#2a9d74",  # green
    "#a64d9a",  # purple
    "#e3c12b",  # yellow
    "#56b4e9",  # sky
    "#b5382a",  # brick
    "#6b6b6b",  # grey
)
INK = "#222222"
FAINT = "#8a8a8a"
PANEL_CHARACTERS, KEY_CHARACTERS = 45, 7  # of a heading, and of a line beside a name


def import_pyplot() -> Any:
    """``matplotlib.pyplot``, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as why:
        raise ImportError(
            "Pictures need matplotlib, which is not installed; run: "
            "pip install 'splboost[plot]'"
        ) from why
    return plt


def class_colour(number: int) -> str:
    """Colour of a class; the colours repeat after the last."""
    return CLASS_COLOURS[number % len(CLASS_COLOURS)]


def shorten(text: str, most: int) -> str:
    """A text of at most so many characters, cut in the middle: names differ at ends."""
    half = most // 2
    return text if len(text) <= most else f"{text[: half - 1]}…{text[-half:]}"


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white: 0 is white, 1 the colour itself."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def make_grid(
    ax: Any, size: tuple[float, float], heights: Sequence[float], n_cols: int
) -> tuple[Any, Any]:
    """Axes and, in place of them, a grid for panels, with rows of these heights.

    The figure of given axes gets a constrained layout unless it has a layout already;
    without axes a figure of this size, in inches, is made.
    """
    if ax is None:
        _, ax = import_pyplot().subplots(figsize=size, layout="constrained")
    cell = ax.get_subplotspec()
    if cell is None:
        raise ValueError(
            "ax cannot be divided into panels: make it with plt.subplots or "
            "add_subplot, not with add_axes."
        )
    figure = ax.figure.figure  # the whole one, if the axes are in a part
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    ax.set_axis_off()
    return ax, cell.subgridspec(len(heights), n_cols, height_ratios=heights)


def add_heading(
    figure: Any, grid: Any, title: str, handles: Sequence[Any], labels: Sequence[str]
) -> None:
    """Write a title and a legend into the first row of a grid."""
    heading = figure.add_subplot(grid[0, :])
    heading.set_axis_off()
    width = PANEL_CHARACTERS * grid.ncols
    longest = max(map(len, labels), default=0) + KEY_CHARACTERS
    legend = heading.legend(
        handles,
        labels,
        title="\n".join(textwrap.wrap(title, width)),
        loc="center",
        ncols=max(1, min(len(labels), width // longest)),
        frameon=False,
        fontsize=9,
        handlelength=1.4,
        columnspacing=1.2,
    )
    for text in (legend.get_title(), *legend.get_texts()):
        text.set(parse_math=False, multialignment="center")
