"""Losses and sample weights against the margin."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splboost.display.margin_curves import (
    LOSSES,
    ZERO_ONE,
    Function,
    MarginCurve,
    check_margins,
    curves_of_estimator,
    curves_of_estimators,
    curves_of_losses,
)
from splboost.display.style import CLASS_COLOURS, FAINT, INK, import_pyplot, tint

FloatArray = NDArray[np.float64]

MARGINS = np.linspace(-3.0, 2.0, 1001)
TIMES = 0.0, 0.5, 0.9
SIZE = 6.4, 4.4  # inches
BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, BRICK, GREY = CLASS_COLOURS
LINE_COLOURS = BLUE, ORANGE, GREEN, PURPLE, BRICK, SKY, GREY, YELLOW
PALEST = 0.35
CLIMBING = 1.15  # factor over a tenth of the picture


class _MarginDisplay:
    """Curves over the margin; which ones a display says."""

    _ylabel: str
    _default_losses: tuple[str, ...]

    def __init__(self, *, curves: list[MarginCurve]) -> None:
        self.curves = curves

    @classmethod
    def from_losses(
        cls,
        losses: Any = None,
        *,
        paces: Any = None,
        margins: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw losses, and what paces make of the exponential loss.

        Parameters
        ----------
        losses : sequence or dict of str or MarginLoss, default=None
            "exponential", "logistic", "savage", "savage2" and, where losses are drawn,
            "zero-one"; or losses of ``splboost.losses``. None is all of these names,
            an empty list no loss. The keys of a dict are the labels.
        paces : sequence or dict of Pace or str, default=None
            Each makes a latent loss of the exponential one.
        margins : array-like, default=None
            Margins to draw; None is -3 to 2.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : object of this class
        """
        losses = cls._default_losses if losses is None else losses
        display = cls(curves=curves_of_losses(losses, paces))
        return display.plot(margins=margins, ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        times: Sequence[float] = TIMES,
        margins: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a booster, and what it would be without its pace.

        Parameters
        ----------
        estimator : boosted classifier of splboost, fitted or not
            Before a fit, classes count as equally common. With several classes this is
            each one against the rest.
        times : sequence of float, default=(0, 0.5, 0.9)
            Of a booster whose loss changes with time, the moments to draw, as shares of
            the time that it has.
        margins : array-like, default=None
            Margins to draw; None is -3 to 2.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : object of this class
        """
        display = cls(curves=curves_of_estimator(estimator, times))
        return display.plot(margins=margins, ax=ax)

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        *,
        times: Sequence[float] = TIMES,
        margins: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw several boosters, each as it is.

        Parameters
        ----------
        estimators : sequence or dict of boosted classifiers, fitted or not
            The keys of a dict are the labels.
        times : sequence of float, default=(0, 0.5, 0.9)
        margins : array-like, default=None
        ax : matplotlib Axes, default=None
            As in :meth:`from_estimator`.

        Returns
        -------
        display : object of this class
        """
        display = cls(curves=curves_of_estimators(estimators, times))
        return display.plot(margins=margins, ax=ax)

    def plot(self, *, margins: ArrayLike | None = None, ax: Any = None) -> Self:
        """Draw the curves.

        What still climbs steeply at the left edge leaves the picture at the top, so
        that the rest can be seen; ``ax_.set_ylim`` shows more.

        Parameters
        ----------
        margins : array-like, default=None
            Margins to draw; None is -3 to 2.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self
        """
        margin = check_margins(margins, MARGINS)
        functions = [self._function(curve) for curve in self.curves]
        plt = import_pyplot()
        if ax is None:
            _, ax = plt.subplots(figsize=SIZE, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        values = [function(margin) for function in functions]
        self.lines_ = [
            ax.plot(margin, value, label=curve.label, **look)[0]
            for curve, value, look in zip(
                self.curves, values, _looks(self.curves), strict=True
            )
        ]
        top = _top(margin, values)
        ax.set(
            xlim=(margin[0], margin[-1]),
            ylim=(-0.02 * top, top),
            xlabel="margin (below 0: on the wrong side)",
            ylabel=self._ylabel,
        )
        ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
        ax.spines[["top", "right"]].set_visible(False)
        legend = ax.legend(loc="best", edgecolor="none", fontsize=9)
        for text in legend.get_texts():
            text.set(parse_math=False)
        return self

    def _function(self, curve: MarginCurve) -> Function:
        """What to draw of a curve."""
        raise NotImplementedError


class LossDisplay(_MarginDisplay):
    """Losses against the margin, and the latent losses that paces make of them.

    The margin is y F(x), positive where the model is right. A latent loss follows its
    loss while that is small, and goes flat where a label is not believed. Make one with
    :meth:`from_losses`, :meth:`from_estimator` or :meth:`from_estimators`.

    Parameters
    ----------
    curves : list of MarginCurve
        Each has a ``label``, and ``loss`` and ``weight`` as functions of the margin.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each curve.

    See Also
    --------
    WeightDisplay : How fast these losses fall.

    Examples
    --------
    >>> from splboost.display import LossDisplay
    >>> from splboost.pace import Linear
    >>> paces = [Linear(age=age) for age in (2.0, 4.0, 6.0)]
    >>> display = LossDisplay.from_losses(["exponential", "savage"], paces=paces)
    >>> [curve.label for curve in display.curves][1:3]
    ['savage', 'Linear(age=2)']
    >>> [float(line.get_ydata()[0]) for line in display.lines_[2:]]  # half the age
    [1.0, 2.0, 3.0]
    """

    _ylabel = "loss"
    _default_losses = (*LOSSES, ZERO_ONE)

    def _function(self, curve: MarginCurve) -> Function:
        return curve.loss


class WeightDisplay(_MarginDisplay):
    """What a sample weighs in a round of boosting, against its margin.

    The weight is how fast the loss falls with the margin, times the pace: what a sample
    counts for when a round asks where to go. A weak learner feels only how weights
    compare, so those of each loss are scaled to be 1 at margin 0; a pace can but lower
    them, and one that does not show 1 there takes from undecided samples already.
    (Weights of a potential are 1 at most.) LogitBoost hands its learner other weights
    together with targets that differ in size; here is what they amount to, with
    ``z_clip`` and ``z_max``. Make one with :meth:`from_estimators`,
    :meth:`from_estimator` or :meth:`from_losses`.

    Parameters
    ----------
    curves : list of MarginCurve
        Each has a ``label``, and ``loss`` and ``weight`` as functions of the margin.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each curve.

    See Also
    --------
    LossDisplay : The losses themselves.

    Examples
    --------
    >>> from splboost import AdaBoostClassifier, LogitBoostClassifier
    >>> from splboost.display import WeightDisplay
    >>> from splboost.pace import Hard
    >>> boosters = [
    ...     AdaBoostClassifier(),
    ...     LogitBoostClassifier(z_clip="gradient"),
    ...     AdaBoostClassifier(pace=Hard(age=3.0)),
    ... ]
    >>> display = WeightDisplay.from_estimators(boosters, margins=[-2, 0])
    >>> for curve, line in zip(display.curves, display.lines_):
    ...     print(curve.label, line.get_ydata().round(2).tolist())
    AdaBoost [7.39, 1.0]
    LogitBoost [1.96, 1.0]
    AdaBoost, Hard(age=3) [0.0, 1.0]
    """

    _ylabel = "sample weight"
    _default_losses = tuple(LOSSES)

    def _function(self, curve: MarginCurve) -> Function:
        if curve.weight is None:
            raise ValueError(
                f"losses: {curve.label!r} jumps and has no slope, so samples have no "
                "weight by it; leave it out, or draw it with LossDisplay."
            )
        return curve.weight


def _looks(curves: list[MarginCurve]) -> list[dict[str, Any]]:
    """A colour for each family, in shades where it has several members."""
    members: dict[Hashable, int] = {}
    for curve in curves:
        members[curve.family] = members.get(curve.family, 0) + 1
    numbers = {
        family: number
        for number, family in enumerate(f for f in members if f != ZERO_ONE)
    }
    seen: dict[Hashable, int] = dict.fromkeys(members, 0)
    looks = []
    for curve in curves:
        seen[curve.family] += 1
        if curve.family == ZERO_ONE:
            looks.append(
                {"color": INK, "linewidth": 1.2, "linestyle": ":", "zorder": 3}
            )
            continue
        turn, place = divmod(numbers[curve.family], len(LINE_COLOURS))
        strength = PALEST + (1 - PALEST) * seen[curve.family] / members[curve.family]
        looks.append(
            {
                "color": tint(LINE_COLOURS[place], strength),
                "linewidth": 1.8,
                "linestyle": ("-", "--", "-.")[turn % 3],
            }
        )
    return looks


def _top(margin: FloatArray, values: list[FloatArray]) -> float:
    """Height of the picture: of what levels off all, of the rest up to margin -1."""
    heights = []
    tenth = margin[0] + 0.1 * (margin[-1] - margin[0])
    for value in values:
        if value[0] > CLIMBING * np.interp(tenth, margin, value):
            heights.append(float(np.interp(-1.0, margin, value)))
        else:
            heights.append(float(value.max()))
    return 1.1 * max(heights)
