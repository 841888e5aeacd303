"""Losses and sample weights of losses, paces and boosters, against the margin."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from splboost.boosting.classifier import BaseBoostedClassifier
from splboost.boosting.robustboost import BasePotentialBooster
from splboost.display.style import CLASS_COLOURS, FAINT, INK, import_pyplot, tint
from splboost.losses import Exponential, Logistic, MarginLoss, Savage, Savage2
from splboost.pace import Hard, Pace, resolve_pace
from splboost.pace.by_class import paces_of_classes
from splboost.pace.regularisers import Scaled

FloatArray = NDArray[np.float64]
Function = Callable[[FloatArray], Any]

ZERO_ONE = "zero-one"
LOSSES: dict[str, type[MarginLoss]] = {
    "exponential": Exponential,
    "logistic": Logistic,
    "savage": Savage,
    "savage2": Savage2,
}
CHOICES = ", ".join(repr(name) for name in (*LOSSES, ZERO_ONE))
MARGINS = np.linspace(-3.0, 2.0, 1001)
TIMES = 0.0, 0.5, 0.9
SIZE = 6.4, 4.4  # inches
BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, BRICK, GREY = CLASS_COLOURS
LINE_COLOURS = BLUE, ORANGE, GREEN, PURPLE, BRICK, SKY, GREY, YELLOW
PALEST = 0.35
CLIMBING = 1.15  # factor over a tenth of the picture


@dataclass(frozen=True)
class MarginCurve:
    """Loss and weight of a sample as functions of its margin.

    Parameters
    ----------
    label : str
    loss : function of an array of margins
        What is minimised; with a pace the latent loss.
    weight : function of an array of margins
        How fast the loss falls, times the pace; scaled to 1 at margin 0 without a pace.
    family : hashable
        Curves of one family differ by one number, and are drawn in shades of a colour.
    """

    label: str
    loss: Function
    weight: Function
    family: Hashable


class _MarginDisplay:
    """Curves over the margin, either all their losses or all their weights."""

    _drawn: str  # attribute of a curve
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
        ax : matplotlib Axes, default=None
            As in :meth:`plot`.

        Returns
        -------
        display : object of this class
        """
        losses = cls._default_losses if losses is None else losses
        return cls(curves=curves_of_losses(losses, paces)).plot(margins=margins, ax=ax)

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
            Times to draw of a booster whose loss changes with time, as shares of the
            whole time.
        margins : array-like, default=None
        ax : matplotlib Axes, default=None
            As in :meth:`plot`.

        Returns
        -------
        display : object of this class
        """
        curves = curves_of_estimators([estimator], times, with_plain=True)
        return cls(curves=curves).plot(margins=margins, ax=ax)

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
            As in :meth:`from_estimator`.
        margins : array-like, default=None
        ax : matplotlib Axes, default=None
            As in :meth:`plot`.

        Returns
        -------
        display : object of this class
        """
        curves = curves_of_estimators(estimators, times)
        return cls(curves=curves).plot(margins=margins, ax=ax)

    def plot(self, *, margins: ArrayLike | None = None, ax: Any = None) -> Self:
        """Draw the curves.

        Curves that still climb steeply at the left edge are cut off at the top, so that
        the others can be seen; ``ax_.set_ylim`` shows more.

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
        if not self.curves:
            raise ValueError(
                f"There is nothing to draw; name a loss ({CHOICES}), or give a pace or "
                "a booster."
            )
        margin = MARGINS if margins is None else np.asarray(margins, dtype=np.float64)
        if margin.ndim != 1 or margin.size < 2 or not np.isfinite(margin).all():
            raise ValueError(
                f"margins={margins!r} must be two or more finite numbers in a row, say "
                "np.linspace(-3, 2, 500)."
            )
        margin = np.sort(margin)
        values = [getattr(curve, self._drawn)(margin) for curve in self.curves]
        plt = import_pyplot()
        if ax is None:
            _, ax = plt.subplots(figsize=SIZE, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
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

    _drawn = _ylabel = "loss"
    _default_losses = (*LOSSES, ZERO_ONE)


class WeightDisplay(_MarginDisplay):
    """Weight of a sample in a round of boosting, against its margin.

    The weight is how fast the loss falls with the margin, times the pace. Only the
    ratios of weights matter to a weak learner, so those of each loss are scaled to 1 at
    margin 0; a pace that is below 1 there already takes weight from undecided samples.
    (Weights of a potential are at most 1.) LogitBoost gives its learner weights and
    targets of different sizes; the curve is their product, with ``z_clip`` and
    ``z_max``. Make one with :meth:`from_estimators`, :meth:`from_estimator` or
    :meth:`from_losses`.

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

    _drawn, _ylabel = "weight", "sample weight"
    _default_losses = tuple(LOSSES)


# ----------------------------------------------------------------------------- curves


def curves_of_losses(losses: Any, paces: Any) -> list[MarginCurve]:
    """Curves of losses, and of the latent exponential losses of paces."""
    curves = []
    for label, loss in _named(losses, _loss_label):
        if loss == ZERO_ONE:
            jump = MarginCurve(label, lambda m: (m <= 0) * 1.0, np.zeros_like, ZERO_ONE)
            curves.append(jump)
            continue
        if isinstance(loss, str) and loss in LOSSES:
            loss = LOSSES[loss]()
        if not isinstance(loss, MarginLoss):
            raise ValueError(
                f"losses: {loss!r} is no known loss; pass {CHOICES}, or a MarginLoss "
                "of splboost.losses."
            )
        curves.append(_curve(label, loss, None, label))
    for label, given in _named(paces, pace_label):
        pace = resolve_pace(given)
        curves.append(_curve(label, Exponential(), pace, _kind(pace)))
    return curves


def curves_of_estimators(
    estimators: Any, times: Sequence[float] = TIMES, *, with_plain: bool = False
) -> list[MarginCurve]:
    """Curves of boosters, fitted or not, as `from_estimators` takes them.

    ``with_plain`` puts the same booster without a pace before each that has one.
    """
    curves: list[MarginCurve] = []
    for label, estimator in _named(estimators, _estimator_label):
        if isinstance(estimator, BasePotentialBooster):
            if not all(0 <= time <= 1 for time in times):
                raise ValueError(
                    f"times={times!r} must be shares of the time that a booster has, "
                    "from 0 to 1."
                )
            potential = estimator._potential()
            for share in times:
                time = share * potential.end
                curve = MarginCurve(
                    f"{label}, {share:.0%} of time",
                    partial(potential.value, time=time),
                    partial(potential.weight, time=time),
                    (label, "potential"),
                )
                curves.append(curve)
            continue
        if not isinstance(estimator, BaseBoostedClassifier):
            raise TypeError(
                f"estimator={_estimator_label(estimator)}: its loss is no function of "
                "a margin that is known here; give a boosted classifier of splboost, "
                "such as SPLBoostClassifier()."
            )
        loss, slope, paces = estimator._loss, estimator._pull, _paces(estimator)
        if with_plain and any(pace is not None for pace in paces.values()):
            curves.append(_curve(f"{label} without a pace", loss, None, label, slope))
        classes: dict[str, list[Any]] = {}
        for class_, pace in paces.items():
            classes.setdefault(pace_label(pace), []).append(class_)
        for text, members in classes.items():
            pace = paces[members[0]]
            words = [label]
            if len(classes) > 1:
                words += [text, "class " + " and ".join(map(str, members))]
            elif pace is not None and not isinstance(estimators, Mapping):
                words.append(text)
            family = type(estimator), _kind(pace)
            curves.append(_curve(", ".join(words), loss, pace, family, slope))
    return curves


def _paces(estimator: BaseBoostedClassifier) -> dict[Any, Pace | None]:
    """The pace of each class; before a fit, as if all classes were equally common."""
    if hasattr(estimator, "paces_"):
        return estimator.paces_
    given = estimator.pace
    labels = list(given) if isinstance(given, dict) else [0, 1]
    return paces_of_classes(
        given,
        dict.fromkeys(labels, 1 / len(labels)),
        estimator._loss,
        default_plateau=estimator._default_plateau,
    )


def _curve(
    label: str,
    loss: MarginLoss,
    pace: Pace | None,
    family: Hashable,
    slope: Function | None = None,
) -> MarginCurve:
    """The latent loss, and the weight that a pace leaves.

    ``slope`` is the weight without a pace, unless that is how fast the loss falls.
    """
    slope = slope or loss.weight
    undecided = float(slope(np.zeros(1))[0])
    regulariser = Hard(plateau=np.inf) if pace is None else pace
    return MarginCurve(
        label,
        lambda margin: regulariser.latent(loss.value(margin)),
        lambda m: slope(m) / undecided * regulariser.weight(loss.value(m)),
        family,
    )


# ----------------------------------------------------------------------------- labels


def _named(given: Any, name: Callable[[Any], str]) -> list[tuple[str, Any]]:
    """Pairs of a label and an object, from a dict, a list or a single object."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(str(label), thing) for label, thing in given.items()]
    alone = isinstance(given, str) or not isinstance(given, Sequence)
    return [(name(thing), thing) for thing in ([given] if alone else given)]


def _loss_label(loss: Any) -> str:
    return loss if isinstance(loss, str) else type(loss).__name__.lower()


def pace_label(pace: Any) -> str:
    """A pace as one would write it, with its strength and few digits."""
    resolved = resolve_pace(pace)
    if resolved is None:
        return "no pace"
    if isinstance(resolved, Scaled) and resolved.age is None:
        resolved = clone(resolved).set_params(plateau=resolved.resolved_plateau)
    text = " ".join(repr(resolved).split())
    return re.sub(r"\d+\.\d+", lambda digits: f"{float(digits[0]):.4g}", text)


def _estimator_label(estimator: Any) -> str:
    kind = estimator if isinstance(estimator, type) else type(estimator)
    return kind.__name__.removesuffix("Classifier")


# ---------------------------------------------------------------------------- looks


def _kind(pace: Pace | None) -> Hashable:
    """What two paces have in common that differ by their strength alone."""
    options = {} if pace is None else pace.get_params()
    rest = {k: v for k, v in options.items() if k not in ("age", "plateau")}
    return type(pace), str(sorted(rest.items()))


def _looks(curves: list[MarginCurve]) -> list[dict[str, Any]]:
    """A colour for each family, in shades where it has several members."""
    families = [curve.family for curve in curves]
    coloured = [family for family in dict.fromkeys(families) if family != ZERO_ONE]
    looks: list[dict[str, Any]] = []
    for k, family in enumerate(families):
        if family == ZERO_ONE:
            looks.append(
                {"color": INK, "linewidth": 1.2, "linestyle": ":", "zorder": 3}
            )
            continue
        turn, place = divmod(coloured.index(family), len(LINE_COLOURS))
        share = families[: k + 1].count(family) / families.count(family)
        colour = tint(LINE_COLOURS[place], PALEST + (1 - PALEST) * share)
        line = ("-", "--", "-.")[turn % 3]
        looks.append({"color": colour, "linewidth": 1.8, "linestyle": line})
    return looks


def _top(margin: FloatArray, values: list[FloatArray]) -> float:
    """Height of the picture: all of curves that level off, others up to margin -1."""
    left = margin[0], margin[0] + 0.1 * (margin[-1] - margin[0]), -1.0
    heights = []
    for value in values:
        edge, tenth, at_minus_one = np.interp(left, margin, value)
        heights.append(at_minus_one if edge > CLIMBING * tenth else value.max())
    return 1.1 * float(max(heights))
