"""What an argument ``pace=`` stands for: a regulariser for all classes, or for each."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from splboost._tools.user_warnings import restate, warn
from splboost.pace.base import FloatArray, Formula, Link, Pace
from splboost.pace.regularisers import (
    DEFAULT_PLATEAU,
    PLAIN,
    Hard,
    Linear,
    Logarithmic,
    Mixture,
    Polynomial,
    Scaled,
)

RARE, VERY_RARE = 0.7, 0.5  # of an equal share
FAR_ABOVE, TIMES_ABOVE, TIMES_ABOVE_IF_VERY_RARE = 0.1, 10.0, 3.0
FEWEST_DROPPED = 5
MOST_LISTED = 5

_NAMES: dict[str, type[Scaled]] = {
    "hard": Hard,
    "linear": Linear,
    "polynomial": Polynomial,
    "mixture": Mixture,
    "logarithmic": Logarithmic,
}


def resolve_pace(pace: str | Pace | None) -> Pace | None:
    """The regulariser that an argument ``pace=`` stands for, validated.

    Parameters
    ----------
    pace : str, Pace or None
        A short name, for the regulariser at its default plateau; a regulariser; or
        None for none.

    Examples
    --------
    >>> resolve_pace("hard"), resolve_pace(Linear(age=5.0)), resolve_pace(None)
    (Hard(), Linear(age=5.0), None)
    """
    choices = f"a Pace, None or one of {', '.join(map(repr, _NAMES))}"
    if isinstance(pace, str):
        if pace not in _NAMES:
            raise ValueError(f"pace={pace!r} is no known regulariser; pass {choices}.")
        return _NAMES[pace]()
    if isinstance(pace, Scaled):
        pace._scales()
    elif isinstance(pace, type) and issubclass(pace, Pace):
        raise TypeError(f"pace={pace.__name__} is a class; pass {pace.__name__}().")
    elif callable(getattr(pace, "weight", None)) and not isinstance(pace, Pace):
        raise TypeError(
            f"pace={pace!r} has a weight method but is no Pace; derive its class from "
            "splboost.pace.Pace."
        )
    elif pace is not None and not isinstance(pace, Pace):
        raise TypeError(f"pace must be {choices}, got pace={pace!r}.")
    return pace


def given_paces(pace: Any) -> list[Pace | None]:
    """The regularisers that an argument ``pace=`` stands for: several in a dict."""
    given = pace.values() if isinstance(pace, dict) else [pace]
    return [resolve_pace(of_class) for of_class in given]


def is_paced(pace: Any) -> bool:
    """Whether an argument ``pace=`` stands for one that leaves something out."""
    return any(each and not each.is_off for each in given_paces(pace))


def paces_of_classes(
    pace: str | Pace | dict[Any, Any] | None,
    priors: Mapping[Any, float],
    link: Link,
    *,
    default_plateau: float = DEFAULT_PLATEAU,
    warns: bool = False,
) -> dict[Any, Pace | None]:
    """The regulariser of each class, from an argument ``pace=``.

    Parameters
    ----------
    pace : str, Pace, dict or None
        For all classes, or a dict from each label to one.
    priors : mapping from each label to the share of its class in the training data
    link : loss, for what its values mean as probabilities
    default_plateau : of the exponential loss, where a pace names none
    warns : whether to warn of a pace that favours samples less doubtful than undecided
        ones

    Examples
    --------
    >>> from splboost.losses import Exponential
    >>> from splboost.pace import Hard
    >>> priors = {"no": 0.9, "yes": 0.1}
    >>> paces_of_classes({"no": "hard", "yes": None}, priors, Exponential())
    {'no': Hard(), 'yes': None}
    >>> pace = Hard(age=2.0, prior_corrected=True)
    >>> paces_of_classes(pace, {"no": 0.8, "yes": 0.2}, Exponential())["yes"]
    Hard(age=3.39...)
    """
    if isinstance(pace, dict):
        _check_labels(pace, list(priors))
        given = {label: _resolve_for(label, pace[label]) for label in priors}
    else:
        given = dict.fromkeys(priors, resolve_pace(pace))
    k, in_units, paces = len(priors), {}, dict(given)
    for label, own in given.items():
        if own is not None:
            if id(own) not in in_units:
                # A copy: what the user changes later does not change a fitted model.
                copy = clone(own).for_loss(k, link, default_plateau)
                in_units[id(own)] = copy
                undecided = link.doubt_at(1 / k, k) if warns else 0.0
                if warns and copy.peak() <= undecided:
                    warns = False
                    warn(
                        f"pace={copy!r} gives its greatest weight to samples with a "
                        f"loss of {copy.peak():.3g}, but an undecided sample has "
                        f"{undecided:.3g} already: the booster may lose samples before "
                        "it has learned from them, and collapse. Choose a larger age "
                        "or plateau."
                    )
            paces[label] = in_units[id(own)].for_class(priors[label], k, link)
    return paces


def _resolve_for(label: Any, pace: Any) -> Pace | None:
    try:
        return resolve_pace(pace)
    except (TypeError, ValueError) as why:
        raise restate(why, f"pace of class {label!r}: {why}") from None


def _check_labels(given: dict[Any, Any], labels: list[Any]) -> None:
    missing = [label for label in labels if label not in given]
    unknown = [label for label in given if label not in labels]
    faults = []
    if missing:
        lacking = reprlib.repr(missing)
        faults.append(f"has no entry for {lacking} (None is a class without a pace)")
    if unknown:
        faults.append(f"names {reprlib.repr(unknown)}, which y does not contain")
    if faults:
        raise ValueError(
            f"pace={given!r} {' and '.join(faults)}; give one entry for each of the "
            f"classes {reprlib.repr(labels)}."
        )


def describe_lost_classes(
    mass: NDArray[Any],
    lost: NDArray[Any],
    n_lost: NDArray[Any],
    labels: Sequence[Any],
) -> str | None:
    """What to tell the user if rare classes are dropped far more than the rest.

    Parameters
    ----------
    mass, lost : weight of each class, and what of it is dropped
    n_lost : number of samples of each class that are dropped
    labels : of the classes

    The rarer a class, the likelier it is the pace: without any wrong label, classes of
    5 to 20% of the data lost 20 to 50% of their samples, those of a third 5%. Where
    classes are of about one size, wrong labels alone can make the shares differ
    threefold; so of a class that is not very rare more is asked.
    """
    share = lost / np.maximum(mass, np.finfo(float).tiny)
    rare = mass < RARE * mass.mean()
    common = lost[~rare].sum() / mass[~rare].sum()
    very_rare = mass < VERY_RARE * mass.mean()
    times = np.where(very_rare, TIMES_ABOVE_IF_VERY_RARE, TIMES_ABOVE)
    eaten = rare & (n_lost >= FEWEST_DROPPED)
    eaten &= (share > common + FAR_ABOVE) & (share > times * common)
    if not eaten.any():
        return None
    worst = [code for code in np.argsort(-share, kind="stable") if eaten[code]]
    listed = ", ".join(
        f"{share[code]:.0%} of class {labels[code]!r}" for code in worst[:MOST_LISTED]
    )
    if len(worst) > MOST_LISTED:
        listed += f" (and so on, {len(worst)} classes)"
    return (
        f"The pace has dropped {listed}, and {common:.1%} of the classes that are not "
        "rare. Samples of a rare class are improbable at first, and pass for wrong "
        "labels. Unless that many of these labels really are wrong, use a pace with "
        "prior_corrected=True, a dict with a pace for each class, or a larger age or "
        "plateau."
    )


class ClassCurves:
    """Weight and latent loss of samples, each by the regulariser of its class.

    They may raise numpy's floating-point warnings; call them under ``np.errstate``.

    Parameters
    ----------
    paces : the regulariser of each class, None for none

    Attributes
    ----------
    weight : callable
        ``weight(loss, codes)``, with the class number of each loss, is the share of it
        that counts.
    latent : callable
        ``latent(loss, codes)`` is the latent loss of each sample.
    is_plain : whether the weight is 1 by definition
    formula : Formula or None
        That of all classes, with an array of ages and one of shapes; None where there
        is none, or classes have different ones.
    """

    def __init__(self, paces: Sequence[Pace | None]) -> None:
        distinct = {id(pace): pace for pace in paces}
        curves = {
            key: PLAIN if pace is None or pace.is_off else pace.curves()
            for key, pace in distinct.items()
        }
        each = [curves[id(pace)] for pace in paces]
        self.is_plain = all(own is PLAIN for own in each)
        self.formula = None
        known = [own.formula for own in each if own.formula is not None]
        if len(known) == len(each) and len({formula[:2] for formula in known}) == 1:
            ages = np.array([formula.age for formula in known])
            shapes = np.array([formula.shape for formula in known])
            self.formula = Formula(*known[0][:2], ages, shapes)
        if all(own is each[0] for own in each):
            del each[1:]
        self.weight = partial(_by_class, [own.weight for own in each])
        self.latent = partial(_by_class, [own.latent for own in each])


def _by_class(
    functions: list[Callable[[FloatArray], FloatArray]],
    loss: FloatArray,
    codes: NDArray[np.integer],
) -> FloatArray:
    """The function of each sample's class at its loss, or the only one."""
    if len(functions) == 1:
        return functions[0](loss)
    values = np.empty_like(loss)
    for code, function in enumerate(functions):
        rows = np.flatnonzero(codes == code)  # four times as fast as a mask
        values[rows] = function(loss[rows])
    return values
