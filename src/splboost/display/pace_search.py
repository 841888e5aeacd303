"""What a search has seen: the score of every pace and depth, round after round."""

from __future__ import annotations

import math
import textwrap
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from splboost.display.margin_curves import pace_label
from splboost.display.style import CLASS_COLOURS, FAINT, INK, cell_of, import_pyplot
from splboost.pace import Pace
from splboost.selection.path import BEST, PacePath, Setting
from splboost.selection.search import PaceSearchCV

PANEL_WIDTH, PANEL_HEIGHT, HEADING_HEIGHT = 3.6, 3.0, 0.7  # inches
MOST_IN_ROW = 3
PANEL_CHARACTERS, KEY_CHARACTERS = 45, 6  # of a heading, and of a line beside a name
BLUE, ORANGE, _, _, _, SKY, BRICK, _ = CLASS_COLOURS
RAMP = BRICK, ORANGE, "#d8c27a", SKY, BLUE  # from the strictest pace to the mildest
N_POINTS = 40  # of a line; more of them than that would be a blur on the right
LOW = 0.02  # share of the points that may be below the picture


class PaceSearchDisplay:
    """Scores of a search over rounds: a panel for each depth, a line for each pace.

    The choice is marked, and a band across all panels shows what lies within its
    standard error: folds cannot tell these settings from it. Make one with
    :meth:`from_estimator` or :meth:`from_path`.

    Parameters
    ----------
    path : PacePath
    choice : Setting
        What to mark.

    Attributes
    ----------
    bounding_ax_ : matplotlib Axes
        The one around all panels.
    axes_ : list of matplotlib Axes
        The panel of each depth.
    lines_ : list of lists of matplotlib Line2D
        Of each depth the line of each pace.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from splboost import PaceSearchCV, SPLBoostClassifier
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> from splboost.display import PaceSearchDisplay
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, _ = flip_labels(y, 0.2, random_state=0)
    >>> booster = SPLBoostClassifier(n_estimators=50)
    >>> search = PaceSearchCV(booster, depths=[1, 2], random_state=0).fit(X, y_noisy)
    >>> display = PaceSearchDisplay.from_estimator(search)
    >>> [ax.get_title() for ax in display.axes_]
    ['depth 1', 'depth 2']
    """

    def __init__(self, *, path: PacePath, choice: Setting) -> None:
        self.path = path
        self.choice = choice

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw a fitted search, and mark what it has chosen.

        Parameters
        ----------
        estimator : PaceSearchCV
        ax : matplotlib Axes, default=None
            Axes to divide into panels, whose figure gets a constrained layout unless
            it has a layout already. None makes a figure.

        Returns
        -------
        display : PaceSearchDisplay
        """
        if not isinstance(estimator, PaceSearchCV):
            raise TypeError(
                f"estimator is a {type(estimator).__name__}; give a fitted "
                "PaceSearchCV, or draw a path of spl_path with from_path."
            )
        check_is_fitted(estimator)
        display = cls(path=estimator.path_, choice=estimator.best_setting_)
        return display.plot(ax=ax)

    @classmethod
    def from_path(cls, path: PacePath, *, rule: str = BEST, ax: Any = None) -> Self:
        """Draw a path, and mark what is to be chosen from it.

        Parameters
        ----------
        path : PacePath
            Of ``splboost.selection.spl_path``.
        rule : {"best", "one standard error"}, default="best"
            By what it is chosen.
        ax : matplotlib Axes, default=None
            As in :meth:`from_estimator`.

        Returns
        -------
        display : PaceSearchDisplay
        """
        if not isinstance(path, PacePath):
            raise TypeError(
                f"path is a {type(path).__name__}; give what spl_path returns, or "
                "draw a PaceSearchCV with from_estimator."
            )
        return cls(path=path, choice=path.choose(rule)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the scores.

        Lines have some forty points, evenly along the axis. The few scores that are
        far below all others leave the picture at the bottom; ``set_ylim`` shows more.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            As in :meth:`from_estimator`.

        Returns
        -------
        self
        """
        plt = import_pyplot()
        n_panels = len(self.path.depths)
        n_cols = min(n_panels, MOST_IN_ROW)
        n_rows = -(-n_panels // n_cols)
        if ax is None:
            size = PANEL_WIDTH * n_cols, HEADING_HEIGHT + PANEL_HEIGHT * n_rows
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.bounding_ax_, self.figure_ = ax, ax.figure
        heights = [HEADING_HEIGHT, *[PANEL_HEIGHT] * n_rows]
        grid = cell_of(ax).subgridspec(len(heights), n_cols, height_ratios=heights)
        self.axes_: list[Any] = []
        for k in range(n_panels):
            place = grid[1 + k // n_cols, k % n_cols]
            first = self.axes_[0] if k else None
            self.axes_.append(
                self.figure_.add_subplot(place, sharex=first, sharey=first)
            )
        self.lines_ = [self._draw(d, panel) for d, panel in enumerate(self.axes_)]
        self._tidy(n_cols)
        heading = self.figure_.add_subplot(grid[0, :])
        self._write(heading, PANEL_CHARACTERS * n_cols)
        return self

    def _draw(self, d: int, panel: Any) -> list[Any]:
        """The lines of a depth, and the choice where it is among them."""
        path, choice = self.path, self.choice
        error = choice.standard_error
        panel.axhspan(
            choice.score - error,
            choice.score + error,
            color=FAINT,
            alpha=0.2,
            linewidth=0,
            zorder=0,
        )
        rounds = self._rounds()
        lines = [
            panel.plot(
                rounds, mean[rounds - 1], label=_label(value), color=colour, zorder=z
            )[0]
            for mean, value, (colour, z) in zip(
                path.mean[d], path.values, self._looks(), strict=True
            )
        ]
        for line in lines:
            line.set(linewidth=1.8 if line.get_color() == INK else 1.4)
        if path.depths[d] == choice.max_depth:
            p = next(k for k, pace in enumerate(path.paces) if pace is choice.pace)
            panel.plot(
                choice.n_estimators,
                choice.score,
                marker="o",
                markersize=8,
                color=lines[p].get_color(),
                markeredgecolor=INK,
                markeredgewidth=1.5,
                linestyle="",
                zorder=4,
            )
        return lines

    def _rounds(self) -> NDArray[np.intp]:
        """Rounds to draw: evenly on a logarithmic axis, and that of the choice."""
        last = self.path.scores.shape[-1]
        even = np.geomspace(1, last, N_POINTS).round().astype(np.intp)
        return np.unique(np.append(even, self.choice.n_estimators))

    def _looks(self) -> list[tuple[Any, int]]:
        """Colour and height of each line: ink for a plain booster, else by order."""
        from matplotlib.colors import LinearSegmentedColormap

        path = self.path
        plain = [pace is None or _is_off(pace) for pace in path.paces]
        paced = [k for k, is_plain in enumerate(plain) if not is_plain]
        if path.scale != "pace":
            paced.sort(key=lambda k: path.values[k])
        ramp = LinearSegmentedColormap.from_list("paces", RAMP)
        colours = {k: ramp(i / max(1, len(paced) - 1)) for i, k in enumerate(paced)}
        return [
            (colours.get(k, INK), 2 if k in colours else 3) for k in range(len(plain))
        ]

    def _tidy(self, n_cols: int) -> None:
        """Axes with their names and ranges."""
        from matplotlib.ticker import FuncFormatter, NullFormatter

        path, first = self.path, self.axes_[0]
        n_rounds = path.scores.shape[-1]
        first.set_xscale("log")
        first.set_xlim(0.9, max(2, n_rounds) * 1.1)
        first.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        first.xaxis.set_minor_formatter(NullFormatter())
        bottom, top = np.nanquantile(path.mean[..., self._rounds() - 1], [LOW, 1])
        bottom = min(bottom, self.choice.score - self.choice.standard_error)
        room = 0.05 * (top - bottom) or 0.05
        first.set_ylim(bottom - room, top + room)
        for k, panel in enumerate(self.axes_):
            panel.set_xlabel("rounds")
            if path.depths[k] is not None:
                panel.set_title(f"depth {path.depths[k]}", fontsize=11)
            panel.spines[["top", "right"]].set_visible(False)
            panel.tick_params(labelleft=k % n_cols == 0)
            if k % n_cols == 0:
                panel.set_ylabel("mean score")

    def _write(self, heading: Any, width: int) -> None:
        """What the lines are, and what was chosen."""
        heading.set_axis_off()
        choice, lines = self.choice, self.lines_[0]
        what = "" if self.path.scale == "pace" else f"{self.path.scale} "
        words = [f"{what}{_label(choice.value)}", f"{choice.n_estimators} rounds"]
        if choice.max_depth is not None:
            words.insert(1, f"depth {choice.max_depth}")
        score = f"{choice.score:.3f} ± {choice.standard_error:.3f}"
        title = f"chosen: {', '.join(words)}: {score}"
        longest = max(len(line.get_label()) for line in lines) + KEY_CHARACTERS
        legend = heading.legend(
            lines,
            [line.get_label() for line in lines],
            title="\n".join(textwrap.wrap(title, width)),
            loc="center",
            ncols=max(1, min(len(lines), width // longest)),
            frameon=False,
            fontsize=9,
            handlelength=1.4,
            columnspacing=1.2,
        )
        for text in (legend.get_title(), *legend.get_texts()):
            text.set(parse_math=False, multialignment="center")


def _is_off(pace: Any) -> bool:
    return isinstance(pace, Pace) and pace.is_off


def _label(value: Any) -> str:
    """A value of a grid in few characters."""
    if value is None:
        return "plain"
    if isinstance(value, Real):
        return "∞ (plain)" if math.isinf(value) else f"{value:g}"
    return pace_label(value) if isinstance(value, Pace) else str(value)
