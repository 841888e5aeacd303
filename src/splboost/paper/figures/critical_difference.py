"""Mean ranks with Nemenyi's critical difference, as Demšar draws them (JMLR, 2006)."""

from __future__ import annotations

import math
from typing import Any

from splboost.display.style import INK
from splboost.paper.figures.looks import make_figure
from splboost.paper.statistics import Comparison, cliques

WIDTH = 9.0  # inches
ROW = 0.24  # inches for each line of names
BAR_GAP = 0.45  # rows between two bars
HEAD = 2.6  # rows above the axis
LEADER = "#777777"


def draw_critical_difference(comparison: Comparison) -> Any:
    """Draw mean ranks, and which of them differ.

    Parameters
    ----------
    comparison : Comparison
        Of methods over data sets, as `splboost.paper.statistics` makes it.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import pandas as pd
    >>> from splboost.paper.figures import draw_critical_difference
    >>> from splboost.paper.statistics import Comparison
    >>> errors = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.2, 0.3]})
    >>> figure = draw_critical_difference(Comparison.of("Errors", errors))
    >>> figure.axes[0].get_title()
    'Errors (2 data sets)'
    """
    return draw_comparisons([comparison])


def draw_comparisons(comparisons: list[Comparison]) -> Any:
    """One below the other."""
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
