"""The extra picture: errors on the problem of Long and Servedio."""

from __future__ import annotations

from typing import Any

import pandas as pd

from splboost.display.style import CLASS_COLOURS, FAINT, tint
from splboost.paper.figures.looks import make_figure
from splboost.paper.long_servedio import measure, summarise

SIZE = 9.0, 4.2  # inches
OWN, OTHER = CLASS_COLOURS[0], CLASS_COLOURS[1]


def draw_long_servedio(measured: pd.DataFrame | None = None) -> Any:
    """Draw the errors of each draw, and what another implementation had.

    Parameters
    ----------
    measured : frame, default=None
        As `splboost.paper.long_servedio.measure` returns it; None measures ten draws.

    Returns
    -------
    matplotlib Figure
    """
    table = measure() if measured is None else measured
    summary = summarise(table)
    place = pd.Series(range(len(summary)), index=summary.index)
    n_draws = table["draw"].nunique()
    figure = make_figure(*SIZE)
    axes = figure.subplots()
    axes.scatter(
        100 * table["error"],
        table["method"].map(place),
        s=24,
        color=tint(OWN, 0.55),
        linewidths=0,
        label="one draw",
    )
    axes.scatter(
        100 * summary["error"],
        place,
        s=190,
        marker="|",
        color=OWN,
        linewidths=2.5,
        label=f"mean of {n_draws} draws",
    )
    axes.scatter(
        100 * summary["known"],
        place,
        s=36,
        marker="D",
        facecolors="none",
        edgecolors=OTHER,
        linewidths=1.4,
        label="another implementation, one draw",
    )
    axes.set_yticks(place, place.index)
    axes.set(xlim=(-1, None), ylim=(len(place) - 0.4, -0.6))
    axes.set_xlabel("test error (%)")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color=tint(FAINT, 0.35), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure
