"""What the pictures of experiments share: how methods look, and ranks as a diagram."""

from __future__ import annotations

import math
from typing import Any

from splboost.display.style import CLASS_COLOURS, FAINT, INK, import_pyplot, tint
from splboost.paper.statistics import BEST_SPL, CHOSEN_SPL, Comparison, cliques

BLUE, ORANGE, GREEN, PURPLE, _, _, BRICK, _ = CLASS_COLOURS
# Colour and its strength, dash, marker. One hue for all of SPLBoost, whose entries
# dashes and markers tell apart.
LOOKS = {
    "AdaBoost": (INK, 1.0, "-", "o"),
    "LogitBoost": (ORANGE, 1.0, "-", "s"),
    "SavageBoost": (GREEN, 1.0, "-", "^"),
    "RBoost": (PURPLE, 1.0, "-", "v"),
    "RobustBoost": (BRICK, 1.0, "-", "D"),
    "SPL hard": (BLUE, 1.0, "-", "P"),
    "SPL linear": (BLUE, 0.8, "--", "X"),
    "SPL lower convex": (BLUE, 0.65, "-.", "<"),
    "SPL upper convex": (BLUE, 0.5, ":", ">"),
    CHOSEN_SPL: (BLUE, 1.0, "-", "*"),
    BEST_SPL: (BLUE, 1.0, "-", "*"),
}


def make_figure(width: float, height: float, **spacing: float) -> Any:
    """An empty figure of so many inches, which no window shows."""
    import_pyplot()  # its error says how to get matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("constrained", **spacing)
    return figure


def look_of(method: str) -> dict[str, Any]:
    """Colour, dash and marker of a method's line."""
    colour, strength, dash, marker = LOOKS[method]
    return {
        "color": tint(colour, strength),
        "linestyle": dash,
        "marker": marker,
        "linewidth": 1.8 if colour == BLUE else 1.3,
        "markersize": 8 if marker == "*" else 4,
        "markeredgewidth": 0,
    }


def tidy(axes: Any) -> None:
    """A frame of two sides, and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=tint(FAINT, 0.35), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)


# ------------------------------------------------------------------------- mean ranks

WIDTH = 9.0  # inches
ROW = 0.24  # inches for each line of names
BAR_GAP = 0.45  # rows between two bars
HEAD = 2.6  # rows above the axis
LEADER = "#777777"


def draw_critical_differences(*comparisons: Comparison) -> Any:
    """Draw mean ranks, and which of them differ, one comparison below the other.

    Parameters
    ----------
    *comparisons : Comparison
        Of methods over data sets, as `splboost.paper.statistics` makes them.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import pandas as pd
    >>> from splboost.paper.plots import draw_critical_differences
    >>> from splboost.paper.statistics import Comparison
    >>> errors = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.2, 0.3]})
    >>> figure = draw_critical_differences(Comparison.of("Errors", errors))
    >>> figure.axes[0].get_title()
    'Errors (2 data sets)'
    """
    rows = [HEAD + 2.2 + len(c.mean_ranks) / 2 + BAR_GAP * 4 for c in comparisons]
    figure = make_figure(WIDTH, ROW * sum(rows))
    panels = figure.subplots(len(rows), 1, squeeze=False, height_ratios=rows)
    for axes, comparison in zip(panels[:, 0], comparisons, strict=True):
        _draw(axes, comparison)
    return figure


def _draw(axes: Any, comparison: Comparison) -> None:
    """One scale of ranks, the best on the left; a bar joins what does not differ."""
    ordered = comparison.mean_ranks.sort_values(kind="stable")
    k = len(ordered)
    bars = cliques(ordered, comparison.critical_difference)
    below = 0.6 + BAR_GAP * len(bars)  # rows between the axis and the first name
    n_left = math.ceil(k / 2)
    axes.set_xlim(1 - 0.35 * (k - 1), k + 0.35 * (k - 1))
    axes.set_ylim(below + n_left, -HEAD)
    axes.axis("off")

    axes.plot([1, k], [0, 0], color=INK, linewidth=1)
    for rank in range(1, k + 1):
        axes.plot([rank, rank], [0, -0.25], color=INK, linewidth=1)
        axes.text(rank, -0.4, str(rank), ha="center", va="bottom", fontsize=8)

    for place, (name, rank) in enumerate(ordered.items()):
        is_left = place < n_left
        row = below + (place if is_left else k - 1 - place)
        edge = 1 - 0.04 * (k - 1) if is_left else k + 0.04 * (k - 1)
        axes.plot([rank, rank, edge], [0, row, row], color=LEADER, linewidth=0.8)
        label = f"{name}  {rank:.2f}" if is_left else f"{rank:.2f}  {name}"
        side = "right" if is_left else "left"
        nudge = -0.01 * (k - 1) if is_left else 0.01 * (k - 1)
        axes.text(edge + nudge, row, label, ha=side, va="center", fontsize=9)

    for n, bar in enumerate(bars):
        row = 0.5 + BAR_GAP * n
        ends = ordered[bar[0]] - 0.03, ordered[bar[-1]] + 0.03
        axes.plot(ends, [row, row], color=INK, linewidth=3.5, solid_capstyle="butt")

    ruler = 1.0, 1.0 + comparison.critical_difference
    axes.plot(ruler, [-1.8, -1.8], color=INK, linewidth=1)
    for end in ruler:
        axes.plot([end, end], [-1.95, -1.65], color=INK, linewidth=1)
    label = f"  critical difference {comparison.critical_difference:.2f}"
    axes.text(ruler[1], -1.8, label, ha="left", va="center", fontsize=8)
    axes.set_title(f"{comparison.title} ({comparison.n_sets} data sets)", fontsize=10)
