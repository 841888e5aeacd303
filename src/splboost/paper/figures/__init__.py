"""The pictures of the SPLBoost paper, with matplotlib."""

from __future__ import annotations

from typing import Any

import pandas as pd

from splboost.paper.figures.critical_difference import draw_critical_difference
from splboost.paper.figures.curves import draw_losses, draw_weights
from splboost.paper.figures.errors import draw_errors
from splboost.paper.figures.gaussians import draw_gaussians
from splboost.paper.figures.long_servedio import draw_long_servedio
from splboost.paper.figures.top import draw_top

__all__ = [
    "draw_critical_difference",
    "draw_errors",
    "draw_figure",
    "draw_gaussians",
    "draw_long_servedio",
    "draw_losses",
    "draw_top",
    "draw_weights",
]

ALONE = {1: draw_weights, 2: draw_losses, 3: draw_gaussians}  # that need no results
OF_RESULTS = {4: draw_errors, 5: draw_top}


def draw_figure(number: int, results: pd.DataFrame | None = None) -> Any:
    """Draw a figure of the SPLBoost paper.

    Parameters
    ----------
    number : int
        1 is what samples weigh by their margin, 2 what they cost; 3 the sample weights
        on the synthetic Gaussians; 4 the test errors against noise, and 5 how often
        each method is among the best.
    results : frame, default=None
        The table of results, which 4 and 5 are drawn from. It need not be complete.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from splboost.paper.figures import draw_figure
    >>> [axes.get_ylabel() for axes in draw_figure(2).axes]
    ['loss', 'loss']
    """
    if number in ALONE:
        return ALONE[number]()
    if number not in OF_RESULTS:
        raise ValueError(f"number={number!r} is no figure of the paper; give 1 to 5.")
    if results is None:
        raise ValueError(
            f"Figure {number} is drawn from results; run the protocol first, and give "
            "its table."
        )
    return OF_RESULTS[number](results)
