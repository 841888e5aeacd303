"""What a sample costs and weighs by its margin: of losses, paces and boosters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from splboost.boosting.classifier import BaseBoostedClassifier
from splboost.boosting.potential import BasePotentialBooster
from splboost.losses import Exponential, Logistic, MarginLoss, Savage, Savage2
from splboost.pace import Pace, resolve_pace
from splboost.pace.classes import paces_of_classes
from splboost.pace.scaled import Scaled

FloatArray = NDArray[np.float64]
Function = Callable[[FloatArray], FloatArray]

ZERO_ONE = "zero-one"
LOSSES: dict[str, type[MarginLoss]] = {
    "exponential": Exponential,
    "logistic": Logistic,
    "savage": Savage,
    "savage2": Savage2,
}


@dataclass(frozen=True)
class MarginCurve:
    """Loss and weight of a sample as functions of its margin.

    Parameters
    ----------
    label : str
    loss : function of an array of margins
        What is minimised; with a pace the latent loss.
    weight : function of an array of margins, or None
        What a sample counts for: how fast the loss falls, in a scale in which this is
        1 at margin 0 where there is no pace. None for a loss that does not fall, but
        jumps.
    family : hashable
        Curves of one family differ by one number, and are drawn in shades of a colour.
    """

    label: str
    loss: Function
    weight: Function | None
    family: Hashable


def curves_of_losses(losses: Any, paces: Any) -> list[MarginCurve]:
    """Of losses, and of the latent exponential losses of paces."""
    curves = []
    for label, loss in _named(losses, _loss_label):
        curves.append(_curve_of_loss(label, loss))
    exponential = Exponential()
    for label, given in _named(paces, pace_label):
        pace = resolve_pace(given)
        if pace is None:
            raise ValueError(
                f"paces={paces!r} holds None, which is the exponential loss itself; "
                'list "exponential" among the losses instead.'
            )
        family = "latent", _kind(pace)
        curves.append(
            _paced_curve(label, exponential, exponential.weight, pace, family)
        )
    if not curves:
        raise ValueError(
            f"losses={losses!r} and paces={paces!r} leave nothing to draw; name a loss "
            f"({_choices()}) or give a pace."
        )
    return _distinct(curves)


def curves_of_estimators(estimators: Any, times: Sequence[float]) -> list[MarginCurve]:
    """Of boosters, fitted or not, as they are."""
    curves = []
    for label, estimator in _named(estimators, _name):
        is_given = isinstance(estimators, Mapping)
        curves += _curves_of(estimator, label, times, name_pace=not is_given)
    if not curves:
        raise ValueError(
            f"estimators={estimators!r} leaves nothing to draw; give at least one "
            "booster."
        )
    return _distinct(curves)


def curves_of_estimator(estimator: Any, times: Sequence[float]) -> list[MarginCurve]:
    """Of a booster, and of the same without its pace."""
    name = _name(estimator)
    curves = _curves_of(estimator, name, times, name_pace=True)
    if isinstance(estimator, BasePotentialBooster):
        return curves
    if any(pace is not None for pace in _paces(estimator).values()):
        plain = _paced_curve(
            f"{name} without a pace", estimator._loss, estimator._pull, None, name
        )
        curves = [plain, *curves]
    return curves


# --------------------------------------------------------------------------- boosters


def _curves_of(
    estimator: Any, label: str, times: Sequence[float], *, name_pace: bool
) -> list[MarginCurve]:
    """One curve; or one for each pace of several classes, or for each time."""
    if isinstance(estimator, BasePotentialBooster):
        return _curves_of_potential(estimator._potential(), label, times)
    if not isinstance(estimator, BaseBoostedClassifier):
        raise TypeError(
            f"estimator={_name(estimator)}: its loss is no function of a margin that "
            "is known here; give a boosted classifier of splboost, such as "
            "SPLBoostClassifier()."
        )
    paces = _paces(estimator)
    groups: dict[str, list[Any]] = {}
    for class_, pace in paces.items():
        groups.setdefault(_pace_or_none(pace), []).append(class_)
    curves = []
    for text, classes in groups.items():
        pace = paces[classes[0]]
        words = [label]
        if (name_pace and pace is not None) or len(groups) > 1:
            words.append(text)
        if len(groups) > 1:
            words.append("class " + " and ".join(str(c) for c in classes))
        family = (type(estimator), None if pace is None else _kind(pace))
        curves.append(
            _paced_curve(
                ", ".join(words), estimator._loss, estimator._pull, pace, family
            )
        )
    return curves


def _paces(estimator: BaseBoostedClassifier) -> dict[Any, Pace | None]:
    """The pace of each class; before a fit, as if two classes were equally common."""
    if hasattr(estimator, "paces_"):
        return estimator.paces_
    given = estimator.pace
    labels = list(given) if isinstance(given, dict) else [0, 1]
    return paces_of_classes(
        given,
        dict.fromkeys(labels, 1 / len(labels)),
        estimator._loss,
        default_plateau=estimator._default_plateau(),
    )


def _curves_of_potential(
    potential: Any, label: str, times: Sequence[float]
) -> list[MarginCurve]:
    """The potential and its weight at shares of the time that it has."""
    if not all(0 <= time <= 1 for time in times):
        raise ValueError(
            f"times={times!r} must be shares of the time that a booster has, from 0 to "
            "1."
        )

    def at(share: float) -> MarginCurve:
        time = share * potential.end
        return MarginCurve(
            f"{label}, {share:.0%} of time",
            lambda margin: potential.value(margin, time),
            lambda margin: potential.weight(margin, time),
            (label, "potential"),
        )

    return [at(time) for time in times]


# ------------------------------------------------------------------- losses and paces


def _curve_of_loss(label: str, loss: Any) -> MarginCurve:
    if loss == ZERO_ONE:
        return MarginCurve(label, _zero_one, None, ZERO_ONE)
    if isinstance(loss, str) and loss in LOSSES:
        loss = LOSSES[loss]()
    if not isinstance(loss, MarginLoss):
        raise ValueError(
            f"losses: {loss!r} is no known loss; pass {_choices()}, or a MarginLoss of "
            "splboost.losses."
        )
    return _paced_curve(label, loss, loss.weight, None, label)


def _paced_curve(
    label: str,
    loss: MarginLoss,
    pull: Function,
    pace: Pace | None,
    family: Hashable,
) -> MarginCurve:
    """The latent loss, and the weight that a pace leaves."""
    undecided = float(pull(np.zeros(1))[0])

    def latent(margin: FloatArray) -> FloatArray:
        value = loss.value(margin)
        return value if pace is None else pace.latent(value)

    def weight(margin: FloatArray) -> FloatArray:
        plain = pull(margin) / undecided
        return plain if pace is None else plain * pace.weight(loss.value(margin))

    return MarginCurve(label, latent, weight, family)


def _zero_one(margin: FloatArray) -> FloatArray:
    return (np.asarray(margin) <= 0).astype(np.float64)


def _kind(pace: Pace) -> Hashable:
    """What two paces have in common that differ by their strength alone."""
    options = pace.get_params()
    rest = {k: v for k, v in options.items() if k not in ("age", "plateau")}
    return type(pace), str(sorted(rest.items()))


# ------------------------------------------------------------------------------ labels


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
    if isinstance(resolved, Scaled) and resolved.age is None:
        resolved = clone(resolved).set_params(plateau=resolved.resolved_plateau)
    text = " ".join(repr(resolved).split())
    return re.sub(r"\d+\.\d+", lambda digits: f"{float(digits[0]):.4g}", text)


def _pace_or_none(pace: Pace | None) -> str:
    return "no pace" if pace is None else pace_label(pace)


def _name(estimator: Any) -> str:
    kind = estimator if isinstance(estimator, type) else type(estimator)
    return kind.__name__.removesuffix("Classifier")


def _choices() -> str:
    return ", ".join(repr(name) for name in (*LOSSES, ZERO_ONE))


def _distinct(curves: list[MarginCurve]) -> list[MarginCurve]:
    label, count = Counter(curve.label for curve in curves).most_common(1)[0]
    if count > 1:
        raise ValueError(
            f"{count} curves would be called {label!r}; give a dict with a name for "
            "each."
        )
    return curves


def check_margins(margins: ArrayLike | None, default: FloatArray) -> FloatArray:
    """Margins to draw, from left to right."""
    if margins is None:
        return default
    array = np.asarray(margins, dtype=np.float64)
    if array.ndim != 1 or array.size < 2 or not np.all(np.isfinite(array)):
        raise ValueError(
            f"margins={margins!r} must be two or more finite numbers in a row, say "
            "np.linspace(-3, 2, 500)."
        )
    return np.sort(array)
