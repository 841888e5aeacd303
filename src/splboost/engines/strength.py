"""How strict a pace is, said as a probability.

``p_min`` is the probability at which a label stops being believed: whatever the pace,
a label to which the model gives less has weight 0. In units of the logistic loss that
is the age λ = -log p_min.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from sklearn.base import clone

from splboost._tools.user_warnings import restate
from splboost.losses import MarginLoss
from splboost.pace import Pace, resolve_pace
from splboost.pace.classes import paces_of_classes
from splboost.pace.scaled import Scaled

# Of the probability that an undecided model gives a label: 0.37 for two classes, which
# is λ = 1 on the logistic loss
DEFAULT_SHARE = 0.74


def default_p_min(n_classes: int) -> float:
    """The cut where none is given: 0.37 for two classes, 0.74 / K for K.

    Examples
    --------
    >>> default_p_min(2), default_p_min(10)
    (0.37, 0.074)
    """
    return DEFAULT_SHARE / max(n_classes, 2)


def find_paces(
    pace: str | Pace | dict[Any, Any] | None,
    p_min: float | None,
    priors: Mapping[Any, float],
    link: MarginLoss,
) -> dict[Any, Pace | None]:
    """The regulariser of each class, in units of the loss.

    Parameters
    ----------
    pace : str, Pace, dict or None
        For all classes, or a dict from each label to one.
    p_min : float or None
        Probability below which a label has weight 0; 0 is off. None is
        ``default_p_min``, unless the pace has an age or plateau.
    priors : mapping from each label to the share of its class
    link : loss, for what its values mean as probabilities

    Examples
    --------
    >>> from splboost.losses import Logistic
    >>> find_paces("linear", 0.1, {0: 0.5, 1: 0.5}, Logistic())[1]
    Linear(age=2.302...)
    """
    check_p_min(p_min)
    if p_min == 0:
        return dict.fromkeys(priors)
    k = max(len(priors), 2)
    cut = link.doubt_at(default_p_min(k) if p_min is None else p_min, k)
    given: Any = {}
    if not isinstance(pace, dict):
        given = _with_cut(pace, p_min, cut)
    for label, own in pace.items() if isinstance(pace, dict) else ():
        try:
            given[label] = _with_cut(own, p_min, cut)
        except (TypeError, ValueError) as why:
            raise restate(why, f"pace of class {label!r}: {why}") from None
    return paces_of_classes(given, priors, link)


def check_p_min(p_min: Any) -> None:
    """Raise an error unless ``p_min`` is a probability below 1, or None."""
    if p_min is None:
        return
    number = isinstance(p_min, Real) and not isinstance(p_min, bool)
    if not number or not 0 <= p_min < 1:
        raise (ValueError if number else TypeError)(
            "p_min must be a probability from 0 (off) to below 1, or None, got "
            f"p_min={p_min!r}; 0.37 drops labels to which the model gives less."
        )


def _with_cut(pace: Any, p_min: float | None, cut: float) -> Pace | None:
    """The pace with its cut at that loss, unless it has a strength of its own."""
    resolved = resolve_pace(pace)
    if resolved is None:
        return None
    has_own = not isinstance(resolved, Scaled) or not (
        resolved.age is None and resolved.plateau is None
    )
    if has_own:
        if p_min is None:
            return resolved
        raise ValueError(
            f"pace={pace!r} and p_min={p_min!r} both say how strict the pace is; set "
            "p_min=None, or give the pace by name or without age and plateau."
        )
    of_one = clone(resolved).set_params(age=1.0)  # whose cut is a loss of 1
    return of_one.set_params(age=of_one._stretched(cut)["age"])


def default_warm_rounds(learning_rate: float | None, otherwise: float) -> int:
    """Rounds before the pace sets in: about 1.5 / learning rate.

    Examples
    --------
    >>> default_warm_rounds(0.1, 0.3), default_warm_rounds(None, 0.3)
    (15, 5)
    """
    rate = otherwise if learning_rate is None else float(learning_rate)
    return 0 if rate <= 0 else math.ceil(1.5 / rate - 1e-9)
