"""Errors of parameters and warnings of a fit, each with a reason and a remedy."""

from __future__ import annotations

import inspect
import math
from typing import Any

from sklearn.utils._param_validation import InvalidParameterError

from splboost._tools.user_warnings import warn
from splboost._tools.wording import counted
from splboost.boosting.loop import (
    FINISHED,
    NO_EDGE,
    NONE_SELECTED,
    ONE_CLASS,
    PERFECT,
)
from splboost.pace.by_class import is_paced

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


def check_subsample(subsample: float, n_rows: int) -> None:
    """Refuse a share of the rows that leaves fewer than two."""
    if subsample < 1 and subsample * n_rows < 2:
        unit = 10.0 ** (math.floor(math.log10(2 / n_rows)) - 1)
        enough = math.ceil(2 / n_rows / unit) * unit
        raise ValueError(
            f"subsample={subsample!r} of {counted(n_rows, 'row')} leaves nothing to "
            f"fit a learner to; give at least {enough:.2g}."
        )


WARM_ROUNDS = "warm rounds"

_REMEDIES = {
    PERFECT: (
        "The last learner makes no error on the samples still selected, which may be "
        "all there is to learn. If not, use a weaker learner, a larger age or plateau, "
        'or on_perfect="continue".'
    ),
    NO_EDGE: (
        "No weak learner does better than guessing on the weighted samples, which may "
        "be all there is to learn. If not, use a stronger learner; with a pace, a "
        "larger age or plateau."
    ),
    ONE_CLASS: (
        "The pace has left samples of one class only. Choose a larger age or plateau, "
        "more warm rounds, or, where a class is rare, a pace with prior_corrected=True "
        'or class_weight="balanced".'
    ),
    NONE_SELECTED: (
        "The pace has left no sample. Choose a larger age or plateau, or more warm "
        "rounds."
    ),
}


def warn_of_stop(
    reason: str, n_done: int, n_estimators: int, *, some_dropped: bool
) -> None:
    """Warn where boosting has stopped for want of something."""
    as_asked = reason == PERFECT and (not some_dropped or n_done == n_estimators)
    if reason in _REMEDIES and not as_asked:
        warn(
            f"Boosting stopped after {n_done} of {n_estimators} rounds: {reason}. "
            f"{_REMEDIES[reason]}"
        )


def warn_of_warm_rounds(booster: Any, n_rounds: int) -> None:
    """Warn of a pace of the user's own that no round has felt, nor is about to."""
    parameter = inspect.signature(type(booster)).parameters.get("pace")
    if (
        parameter is not None
        and booster.pace != parameter.default
        and is_paced(booster.pace)
        and n_rounds <= booster.warm_rounds
        and booster.stop_reason_ == FINISHED
        and booster.n_iter_no_change is None
        and not booster.warm_start
    ):
        warn(
            f"pace={booster.pace!r} has had no effect: all {n_rounds} rounds were "
            f"among the warm_rounds={booster.warm_rounds} before it sets in, and "
            "sample_pace_ only says what a further one would believe. Give fewer "
            "warm_rounds or a larger n_estimators.",
            topic=WARM_ROUNDS,
        )


def warn_of_no_rounds(reason: str, n_done: int) -> None:
    """Warn where a warm start has nothing to add."""
    remedy = "raise n_estimators to add rounds"
    if reason != FINISHED:
        remedy = "there is nothing to add unless what ended it is changed"
    warn(
        f"warm_start=True: the fit before ended after {counted(n_done, 'round')} "
        f"({reason}), and this one adds none; {remedy}, or set warm_start=False to "
        "start anew."
    )
