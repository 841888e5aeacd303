"""Scores of a search: of every pace and depth, round after round."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from splboost.display.loss_curves import pace_label
from splboost.display.style import (
    CLASS_COLOURS,
    FAINT,
    INK,
    add_heading,
    import_pyplot,
    make_grid,
)
from splboost.pace import Pace
from splboost.selection.path import BEST, PacePath, Setting
from splboost.selection.search import PaceSearchCV

PANEL_WIDTH, PANEL_HEIGHT, HEADING_HEIGHT = 3.6, 3.0, 0.7  # inches
MOST_IN_ROW = 3
BLUE, ORANGE, _, _, _, SKY, BRICK, _ = CLASS_COLOURS
RAMP = BRICK, ORANGE, "#d8c27a", SKY, BLUE  # from the strictest pace to the mildest
N_POINTS = 40  # of a line; more of them than that would be a blur on the right
LOW = 0.02  # share of the points that may be below the picture


class PaceSearchDisplay:
    """Scores of a search over rounds: a panel for each depth, a line for each pace.

    The choice is marked. A band across all panels shows the scores within its standard
    error, which the folds cannot distinguish from it. Make one with
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
            Rule of the choice, as in ``PacePath.choose``.
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

        Lines have about forty points, evenly along the axis. Scores far below all
        others are outside the picture; ``set_ylim`` shows more.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            As in :meth:`from_estimator`.

        Returns
        -------
        self
        """
        import_pyplot()
        path = self.path
        n_panels = len(path.depths)
        n_cols = min(n_panels, MOST_IN_ROW)
        heights = [HEADING_HEIGHT, *[PANEL_HEIGHT] * -(-n_panels // n_cols)]
        size = PANEL_WIDTH * n_cols, sum(heights)
        self.bounding_ax_, grid = make_grid(ax, size, heights, n_cols)
        self.figure_ = self.bounding_ax_.figure
        self.axes_: list[Any] = []
        for k, depth in enumerate(path.depths):
            row, column = divmod(k, n_cols)
            first = self.axes_[0] if k else None
            panel = self.figure_.add_subplot(
                grid[1 + row, column], sharex=first, sharey=first
            )
            self.axes_.append(panel)
            panel.set_xlabel("rounds")
            if depth is not None:
                panel.set_title(f"depth {depth}", fontsize=11)
            if column == 0:
                panel.set_ylabel("mean score")
            panel.tick_params(labelleft=column == 0)
            panel.spines[["top", "right"]].set_visible(False)
        self._set_ranges()
        rounds = self._rounds()
        self.lines_ = [
            self._draw(panel, mean, rounds)
            for panel, mean in zip(self.axes_, path.mean, strict=True)
        ]
        self._mark_choice()
        labels = [line.get_label() for line in self.lines_[0]]
        add_heading(self.figure_, grid, self._title(), self.lines_[0], labels)
        return self

    def _rounds(self) -> NDArray[np.intp]:
        """Rounds to draw: evenly on a logarithmic axis, and that of the choice."""
        last = self.path.scores.shape[-1]
        even = np.geomspace(1, last, N_POINTS).round().astype(np.intp)
        return np.unique(np.append(even, self.choice.n_estimators))

    def _draw(
        self, panel: Any, mean: NDArray[np.float64], rounds: NDArray[np.intp]
    ) -> list[Any]:
        """The lines of a depth: ink for a plain booster, else colours by order."""
        from matplotlib.colors import LinearSegmentedColormap

        path = self.path
        plain = [pace is None or getattr(pace, "is_off", False) for pace in path.paces]
        paced = [k for k, is_plain in enumerate(plain) if not is_plain]
        if path.scale != "pace":
            paced.sort(key=lambda k: path.values[k])
        ramp = LinearSegmentedColormap.from_list("paces", RAMP)
        colours = {k: ramp(i / max(1, len(paced) - 1)) for i, k in enumerate(paced)}
        in_ink = {"color": INK, "linewidth": 1.8, "zorder": 3}
        return [
            panel.plot(
                rounds,
                mean[k, rounds - 1],
                label=_label(value),
                **({"color": colours[k], "linewidth": 1.4} if k in colours else in_ink),
            )[0]
            for k, value in enumerate(path.values)
        ]

    def _mark_choice(self) -> None:
        """A point where it is, and its standard error as a band across all panels."""
        path, choice = self.path, self.choice
        low, high = (choice.score + s * choice.standard_error for s in (-1, 1))
        for panel in self.axes_:
            panel.axhspan(low, high, color=FAINT, alpha=0.2, linewidth=0, zorder=0)
        d = path.depths.index(choice.max_depth)
        p = next(k for k, pace in enumerate(path.paces) if pace is choice.pace)
        self.axes_[d].plot(
            choice.n_estimators,
            choice.score,
            marker="o",
            markersize=8,
            color=self.lines_[d][p].get_color(),
            markeredgecolor=INK,
            markeredgewidth=1.5,
            linestyle="",
            zorder=4,
        )

    def _set_ranges(self) -> None:
        """Ranges of the axes, which all panels share."""
        from matplotlib.ticker import FuncFormatter, NullFormatter

        path, first = self.path, self.axes_[0]
        first.set_xscale("log")
        first.set_xlim(0.9, max(2, path.scores.shape[-1]) * 1.1)
        first.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        first.xaxis.set_minor_formatter(NullFormatter())
        bottom, top = np.nanquantile(path.mean[..., self._rounds() - 1], [LOW, 1])
        bottom = min(bottom, self.choice.score - self.choice.standard_error)
        room = 0.05 * (top - bottom) or 0.05
        first.set_ylim(bottom - room, top + room)

    def _title(self) -> str:
        choice = self.choice
        scale = "" if self.path.scale == "pace" else f"{self.path.scale} "
        depth = "" if choice.max_depth is None else f", depth {choice.max_depth}"
        return (
            f"chosen: {scale}{_label(choice.value)}{depth}, {choice.n_estimators} "
            f"rounds: {choice.score:.3f} ± {choice.standard_error:.3f}"
        )


def _label(value: Any) -> str:
    """A value of a grid in few characters."""
    if value is None:
        return "plain"
    if isinstance(value, Real):
        return "∞ (plain)" if math.isinf(value) else f"{value:g}"
    return pace_label(value) if isinstance(value, Pace) else str(value)
