"""Errors of parameters that say why."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import InvalidParameterError

_REASONS = {
    "n_estimators": "A model needs a learner.",
    "learning_rate": (
        "It is a share of the full step: beyond that a step overshoots, and far below "
        "1e-9 it is lost in rounding."
    ),
    "pace": (
        'Give a short name such as "hard", a regulariser such as Hard(plateau=2.0), a '
        "dict of these by class, or None for none."
    ),
    "warm_rounds": "It is a number of rounds; 0 lets the pace set in at once.",
    "subsample": "It is a share of the samples; 1.0 takes all of them.",
    "n_iter_no_change": "It is a number of rounds; None does not stop early.",
    "validation_fraction": (
        "It is a share of the samples: some must be left to fit to, and some to "
        "validate on."
    ),
    "tol": "It is how much better a score must be; 0 takes any that is better.",
    "z_max": (
        "The working response of a sample is at least 1 in size, so that a lower limit "
        "would make all of them alike; 2 to 4 is usual, and inf is no limit."
    ),
    "epsilon": (
        "It is the average potential: near 0 there is no end of time, and from 1 on "
        "the goal is met before boosting begins. Start with one to two times the share "
        "of wrong labels."
    ),
    "theta": "It is the margin that samples should end above; 0 is usual.",
    "sigma": "It is the width of the potential at the end; 0.1 is usual.",
}


def check_parameters(booster: Any) -> None:
    """Hold parameters to their constraints; errors add the reason to the range."""
    try:
        booster._validate_params()
    except InvalidParameterError as error:
        for name, reason in _REASONS.items():
            if str(error).startswith(f"The {name!r} parameter"):
                raise InvalidParameterError(f"{error} {reason}") from None
        raise
