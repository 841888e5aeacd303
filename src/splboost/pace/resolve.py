"""What an argument ``pace=`` stands for."""

from __future__ import annotations

from typing import Any

from splboost.pace.base import Pace
from splboost.pace.regularisers import (
    Hard,
    Linear,
    Logarithmic,
    Mixture,
    Polynomial,
)
from splboost.pace.scaled import Scaled

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
        _ = pace.resolved_age
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
