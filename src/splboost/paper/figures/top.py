"""Figure 5: how often each method is among the best."""

from __future__ import annotations

from typing import Any

import pandas as pd

from splboost._tools.progress_bar import counted
from splboost.paper.figures.looks import look_of, make_figure, tidy
from splboost.paper.names import PAPER, SPL
from splboost.paper.outcomes import BEST_SPL, CHOSEN_SPL, Outcomes

SIZE = 11.0, 4.3  # inches


def draw_top(results: pd.DataFrame) -> Any:
    """Figure 5, of the cells that all methods have finished.

    Beside the paper's nine methods, of which four are SPLBoost, stand two fairer views,
    where there is any SPLBoost: one entry for it, which is the best regulariser of each
    case or the one that cross-validation has chosen.

    Parameters
    ----------
    results : frame
        The table of results.

    Returns
    -------
    matplotlib Figure
    """
    outcomes = Outcomes.of(results)
    n_cases, n_methods = outcomes.cases.shape
    if not n_cases or n_methods < 2:
        raise ValueError(
            "results has no cell that two or more methods of the paper have finished; "
            "run more of them first."
        )
    of_all = "all nine" if n_methods == len(PAPER) else f"{n_methods} of nine"
    views = {f"(a) {of_all} methods": outcomes}
    if set(outcomes.methods) & set(SPL):
        views |= {
            "(b) the best SPL of each case": outcomes.with_one_spl(BEST_SPL),
            "(c) SPL chosen by cross-validation": outcomes.with_one_spl(CHOSEN_SPL),
        }
    figure = make_figure(*SIZE)
    widths = [3, 2, 2][: len(views)]
    panels = figure.subplots(
        1, len(views), sharey=True, width_ratios=widths, squeeze=False
    )[0]
    handles: dict[str, Any] = {}
    for axes, (title, each) in zip(panels, views.items(), strict=True):
        share = 100 * each.top_shares()
        for method in share:
            label = "SPL, one entry" if method in (BEST_SPL, CHOSEN_SPL) else method
            (line,) = axes.plot(share.index, share[method], **look_of(method))
            handles.setdefault(label, line)
        axes.set_title(title, fontsize=10)
        axes.set(xticks=share.index, ylim=(-2, 102))
        axes.set_xlabel("n", fontsize=9)
        tidy(axes)
    share_of = f"ranked in the top n (% of {counted(n_cases, 'case')})"
    panels[0].set_ylabel(share_of, fontsize=9)
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=5,
        frameon=False,
        fontsize=9,
        handlelength=3.2,
    )
    return figure
