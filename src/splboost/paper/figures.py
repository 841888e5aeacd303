"""The pictures of the SPLBoost paper, and ranks as a diagram, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from splboost import (
    AdaBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    SavageBoostClassifier,
)
from splboost._tools.wording import counted
from splboost.datasets import gaussians_log_odds
from splboost.display import LossDisplay, WeightDisplay
from splboost.display.style import CLASS_COLOURS, FAINT, INK, import_pyplot, tint
from splboost.pace import Hard, Linear, Polynomial
from splboost.paper import gaussians
from splboost.paper.protocol import PAPER, SPL
from splboost.paper.statistics import (
    BEST_SPL,
    CHOSEN_SPL,
    Outcomes,
    critical_difference,
    ranks,
    sets_of,
    span,
)

# --------------------------------------------------------------- what pictures share

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
    """Make an empty figure, in inches, that no window shows."""
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
    """Draw two sides of the frame only, and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=tint(FAINT, 0.35), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)


# ------------------------------------------------------- curves of weights and losses

AGES = 2.0, 3.0, 4.0, 5.0, 6.0
AGE = 3.0  # where regularisers are compared
LINEAR = {f"SPLBoost, λ = {age:g}": Linear(age=age) for age in AGES}
REGULARISERS = {
    "hard": Hard(age=AGE),
    "linear": Linear(age=AGE),
    "polynomial, t = 4": Polynomial(age=AGE, t=4.0),
    "polynomial, t = 1.3": Polynomial(age=AGE, t=1.3),
}
OF_RIVALS = INK, ORANGE, GREEN, PURPLE  # and of their losses, as in other figures


def draw_weights() -> Any:
    """Figure 1: (a) boosters, with SPLBoost at five ages; (b) regularisers at one."""
    figure, left = _make_curves(WeightDisplay)
    boosters = {
        "AdaBoost": AdaBoostClassifier(),
        # With its response clipped it would be another, robust booster.
        "LogitBoost": LogitBoostClassifier(z_clip="gradient"),
        "SavageBoost": SavageBoostClassifier(),
        "RBoost": RBoostClassifier(),
        **{name: AdaBoostClassifier(pace=pace) for name, pace in LINEAR.items()},
    }
    _recolour(WeightDisplay.from_estimators(boosters, ax=left), *OF_RIVALS)
    left.set_title("(a) Boosters; SPLBoost with linear weighting")
    return figure


def draw_losses() -> Any:
    """Figure 2: (a) losses, and latent ones at five ages; (b) of four regularisers."""
    figure, left = _make_curves(LossDisplay)
    names = "exponential", "logistic", "Savage", "Savage2", "zero-one"
    losses = {name: name.lower() for name in names}
    _recolour(LossDisplay.from_losses(losses, paces=LINEAR, ax=left), *OF_RIVALS, INK)
    left.set_title("(a) Losses; SPLBoost's with linear weighting")
    return figure


def _make_curves(display: Any) -> tuple[Any, Any]:
    """A figure with four regularisers on the right, and the axes on its left."""
    figure = make_figure(10.5, 4.2)
    left, right = figure.subplots(1, 2)
    display.from_losses([], paces=REGULARISERS, ax=right)
    right.set_title(f"(b) SPLBoost with four regularisers, λ = {AGE:g}")
    return figure, left


def _recolour(display: Any, *colours: str) -> None:
    """Use these colours, and shades for SPLBoost, which is paler at a lower age."""
    shades = [tint(BLUE, 0.35 + 0.13 * k) for k, _ in enumerate(LINEAR, start=1)]
    for line, colour in zip(display.lines_, [*colours, *shades], strict=True):
        line.set_color(colour)
    display.ax_.legend(loc="best", edgecolor="none", fontsize=9)


# ------------------------------------------------------------------------ the Gaussians

SIZE_OF_GAUSSIANS = 9.6, 11.6  # inches
AREA = 18.0  # of a marker of mean weight, in square points
LEAST_AREA, MOST_AREA = 0.4, 170.0
FRAME = 1.8  # area of a frame around a marker, as a multiple of it
GRID = 300
REGION = 0.12  # strength of the colour of a decision region
HOLLOW = {"facecolors": "none", "linewidths": 1}
# Of the two classes: label, name, marker, frame where the label is wrong, colour
MARKS = (1, "positive", "+", "s", BLUE), (0, "negative", "x", "o", BRICK)


def draw_gaussians(*, rounds: int | None = gaussians.ROUNDS, seed: int = 0) -> Any:
    """Figure 3: training samples as large as they weigh, and decision boundaries.

    Areas of markers are in proportion to weights, but neither vanish nor cover others.
    ``rounds`` are those of every booster; None chooses them by cross-validation.
    """
    sample = gaussians.draw_sample(seed)
    figure = make_figure(*SIZE_OF_GAUSSIANS, h_pad=0.1)
    panels = figure.subplots(3, 3, sharex=True, sharey=True).ravel()
    low, high = sample.X.min(axis=0) - 0.7, sample.X.max(axis=0) + 0.7
    grid = list(np.meshgrid(*np.linspace(low, high, GRID).T))
    points = np.column_stack([each.ravel() for each in grid])

    alike = np.ones(sample.y.size)
    _mark(panels[0], sample, alike, alike == 0)
    _title(panels[0], "(a) original data", f"{sample.is_wrong.sum()} wrong labels")
    for letter, axes, name in zip(
        "bcdefghi", panels[1:], gaussians.BOOSTERS, strict=True
    ):
        fitted = gaussians.fit(name, sample, rounds=rounds)
        sign = np.sign(fitted.booster.decision_function(points)).reshape(GRID, GRID)
        colours = [tint(BRICK, REGION), tint(BLUE, REGION)]
        axes.contourf(*grid, sign, levels=[-2, 0, 2], colors=colours)
        axes.contour(*grid, sign, levels=[0], colors=INK, linewidths=0.7)
        _mark(axes, sample, fitted.weight, fitted.is_given_up)
        n_wrong = (fitted.is_given_up & sample.is_wrong).sum()
        n_right = fitted.is_given_up.sum() - n_wrong
        _title(
            axes,
            f"({letter}) {name}",
            f"{counted(fitted.booster.n_iter_, 'round')}, error {fitted.error:.1%}, "
            f"drops {n_wrong} wrong, {n_right} right",
        )
    odds = gaussians_log_odds(points).reshape(GRID, GRID)
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


def _mark(axes: Any, sample: gaussians.Sample, weight: Any, is_given_up: Any) -> None:
    """Mark samples by label, with frames around wrong labels and circles for v = 0."""

    def draw(chosen: Any, area: Any, marker: str, label: str, **look: Any) -> None:
        X = sample.X[chosen]
        axes.scatter(*X.T, area[chosen], marker=marker, label=label, **look)

    area = np.clip(AREA * weight, LEAST_AREA, MOST_AREA)
    for label, name, marker, frame, colour in MARKS:
        is_shown = (sample.y == label) & ~is_given_up
        text = f"labelled {name}"
        draw(is_shown, area, marker, text, color=colour, linewidths=1)
        framed, text = is_shown & sample.is_wrong, f"{text}, wrongly"
        draw(framed, FRAME * area, frame, text, edgecolors=colour, **HOLLOW)
    text = "dropped: no weight, though on the wrong side"
    draw(is_given_up, AREA + 0 * area, "o", text, edgecolors=INK, **HOLLOW)


def _explain(figure: Any) -> None:
    from matplotlib.lines import Line2D

    marks, _ = figure.axes[0].get_legend_handles_labels()
    handles = [
        *marks,
        Line2D([], [], color=INK, linewidth=0.7, label="decision boundary"),
        Line2D([], [], color=INK, linestyle="dashed", label="Bayes boundary"),
    ]
    legend = figure.legend(
        handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9
    )
    for handle in legend.legend_handles[: len(marks)]:
        handle.set_sizes([2 * AREA])


# --------------------------------------------------------------- errors against noise

N_COLUMNS = 3
PANEL = 2.65, 2.15  # inches
FAN = 1.6  # percent of noise over which the methods of a level are spread
MARGIN, MARGIN_OF_ONE = 2.0, 10.0  # percent beside the levels, or the only one


def draw_errors(results: pd.DataFrame) -> Any:
    """Figure 4: means over the repeats that all methods have finished."""
    outcomes = Outcomes.of(results)
    cells = outcomes.cells
    if not (sets := sets_of(cells)):
        raise ValueError(
            "results has no cell that all its methods of the paper have finished; run "
            "more of them first."
        )
    n_rows = len(sets) // N_COLUMNS + 1  # with a panel for the legend
    figure = make_figure(N_COLUMNS * PANEL[0], n_rows * PANEL[1])
    panels = figure.subplots(n_rows, N_COLUMNS, squeeze=False).ravel()
    low, high = min(outcomes.noise), max(outcomes.noise)
    margin = MARGIN if low < high else MARGIN_OF_ONE
    for name, axes in zip(sets, panels, strict=False):
        lines = _draw_set(axes, name, cells[cells["data"] == name], outcomes.methods)
        axes.set_xlim(low - margin, high + margin)
    for axes in panels[len(sets) :]:
        axes.axis("off")
    panels[len(sets)].legend(
        lines.values(),
        lines,
        loc="center left",
        frameon=False,
        fontsize=8.5,
        handlelength=3.2,
    )
    figure.supxlabel("wrong training labels (%)", fontsize=9)
    figure.supylabel("test error (%)", fontsize=9)
    return figure


def _draw_set(
    axes: Any, name: str, own: pd.DataFrame, methods: Sequence[str]
) -> dict[str, Any]:
    """The panel of a set; the line of each method."""
    grouped = own.groupby(["method", "noise"])
    means, spreads = grouped["error"].mean(), grouped["error"].sem().fillna(0.0)
    shifts = np.linspace(-FAN / 2, FAN / 2, len(methods))
    lines = {
        method: axes.errorbar(
            means[method].index.to_numpy(dtype=float) + shift,
            100 * means[method],
            yerr=100 * spreads[method],
            elinewidth=0.8,
            **look_of(method),
        )
        for method, shift in zip(methods, shifts, strict=True)
    }
    repeats = span(grouped["repeat"].nunique())
    word = "repeat" if repeats == "1" else "repeats"
    axes.set_title(f"{name}, {repeats} {word}", fontsize=9)
    axes.set_xticks(sorted(set(own["noise"])))
    tidy(axes)
    return lines


# ----------------------------------------------------------- how often among the best

SIZE_OF_TOP = 11.0, 4.3  # inches


def draw_top(results: pd.DataFrame) -> Any:
    """Figure 5, of the cells that all methods have finished.

    Beside the paper's nine methods, of which four are SPLBoost, stand two fairer views,
    where there is any SPLBoost: one entry for it, which is the best regulariser of each
    case or the one that cross-validation has chosen.
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
    figure = make_figure(*SIZE_OF_TOP)
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


# ------------------------------------------------------------------------- mean ranks

ROW = 0.28  # inches for each method


def draw_critical_differences(compared: Mapping[str, pd.DataFrame]) -> Any:
    """Draw mean ranks, one comparison below the other, the best method on top.

    Each comparison is a table of errors under its title, with a row for each data set
    and a column for each method. Bars reach half a critical difference to either side:
    by Nemenyi's test methods differ if their bars do not overlap.

    Examples
    --------
    >>> import pandas as pd
    >>> from splboost.paper.figures import draw_critical_differences
    >>> errors = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.2, 0.3]})
    >>> figure = draw_critical_differences({"Errors": errors})
    >>> figure.axes[0].get_title()
    'Errors (2 data sets)'
    """
    rows = [errors.shape[1] + 3 for errors in compared.values()]
    figure = make_figure(9.0, ROW * sum(rows))
    panels = figure.subplots(len(rows), 1, squeeze=False, height_ratios=rows)
    for axes, (title, errors) in zip(panels[:, 0], compared.items(), strict=True):
        n_sets, n_methods = errors.shape
        rank = ranks(errors).mean().sort_values(kind="stable")
        reach = critical_difference(n_methods, n_sets) / 2
        axes.errorbar(
            rank, range(n_methods), xerr=reach, fmt="o", color=BLUE, capsize=3
        )
        axes.axvline(rank.iloc[0] + reach, color=FAINT, linewidth=0.8)
        axes.set_yticks(
            range(n_methods), [f"{name}  {value:.2f}" for name, value in rank.items()]
        )
        axes.invert_yaxis()
        axes.set_xlabel(f"critical difference {2 * reach:.2f}", fontsize=8)
        axes.set_title(f"{title} ({n_sets} data sets)", fontsize=10)
        tidy(axes)
    return figure


# -------------------------------------------------------------------------- by number

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
