"""Figure 4: test errors against noise, a panel for each data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.figures.looks import look_of, make_figure, tidy
from splboost.paper.names import PAPER
from splboost.paper.outcomes import Outcomes

COLUMNS = 4, 3  # whichever leaves fewer places empty
PANEL = 2.65, 2.15  # inches
FAN = 1.6  # percent of noise over which the methods of a level are spread
MARGIN, MARGIN_OF_ONE = 2.0, 10.0  # percent beside the levels, or the only one


def draw_errors(results: pd.DataFrame) -> Any:
    """Figure 4, of the cells that all methods have finished.

    Parameters
    ----------
    results : frame
        The table of results.

    Returns
    -------
    matplotlib Figure
        Means over the repeats of each method, with their standard errors.
    """
    outcomes = Outcomes.of(results)
    table = outcomes.cells
    present = set(table["data"])
    sets = [name for name in UCI_CATALOGUE if name in present]
    sets += sorted(present.difference(sets))
    if not sets:
        raise ValueError(
            "results has no cell that all its methods of the paper have finished; run "
            "more of them first."
        )
    n_panels = len(sets) + 1  # one for the legend
    n_columns = min(n_panels, min(COLUMNS, key=lambda n: -n_panels % n))
    n_rows = math.ceil(n_panels / n_columns)
    size = max(n_columns, 2) * PANEL[0], n_rows * PANEL[1]
    figure = make_figure(*size)
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    lines: dict[str, Any] = {}
    for name, axes in zip(sets, panels, strict=False):
        _draw_set(axes, name, table[table["data"] == name], outcomes.methods, lines)
        axes.set_xlim(*_range(outcomes.noise))
    _draw_legend(panels[len(sets) :], lines)
    figure.supxlabel("wrong training labels (%)", fontsize=9)
    figure.supylabel("test error (%)", fontsize=9)
    return figure


def _range(noise: Sequence[int]) -> tuple[float, float]:
    """Of the axis, the same for all sets."""
    low, high = min(noise), max(noise)
    margin = MARGIN if low < high else MARGIN_OF_ONE
    return low - margin, high + margin


def _draw_set(
    axes: Any,
    name: str,
    own: pd.DataFrame,
    methods: Sequence[str],
    lines: dict[str, Any],
) -> None:
    errors = 100 * own.set_index(["method", "noise"])["error"]
    grouped = errors.groupby(level=[0, 1])
    summary = pd.DataFrame({"mean": grouped.mean(), "se": grouped.sem()})
    shifts = np.linspace(-FAN / 2, FAN / 2, len(methods))
    for method, shift in zip(methods, shifts, strict=True):
        line = summary.loc[method]
        lines[method] = axes.errorbar(
            line.index.to_numpy(dtype=float) + shift,
            line["mean"],
            yerr=line["se"].fillna(0.0),
            elinewidth=0.8,
            **look_of(method),
        )
    repeats = own.groupby(["method", "noise"])["repeat"].nunique()
    least, most = repeats.min(), repeats.max()
    count = f"{most}" if least == most else f"{least} to {most}"
    unit = "repeat" if most == 1 else "repeats"
    axes.set_title(f"{name}, {count} {unit}", fontsize=9)
    axes.set_xticks(sorted(set(own["noise"])))
    tidy(axes)


def _draw_legend(panels: Any, lines: dict[str, Any]) -> None:
    for axes in panels:
        axes.axis("off")
    ordered = [name for name in PAPER if name in lines]
    panels[0].legend(
        [lines[name] for name in ordered],
        ordered,
        loc="center left",
        frameon=False,
        fontsize=8.5,
        handlelength=3.2,
    )
