"""What all pictures share: matplotlib, found or missed, and the colours."""

from __future__ import annotations

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
    return CLASS_COLOURS[number % len(CLASS_COLOURS)]


def line_style(number: int) -> str:
    """Another dash for each turn through the colours."""
    return ("-", "--", ":", "-.")[number // len(CLASS_COLOURS) % 4]


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white: 0 is white, 1 the colour itself."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def cell_of(ax: Any) -> Any:
    """The place of axes that are to be divided into panels, hidden from now on.

    Their figure gets a constrained layout unless it has a layout already.
    """
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
    return cell
