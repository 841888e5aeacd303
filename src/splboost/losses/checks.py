"""Is a margin loss one? What boosters rely on, tested on numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.losses.margins import FloatArray, MarginLoss

FARTHEST = 30.0
STEP = 1e-4  # of difference quotients
ROUNDING = 1e-14
SLACK = 1e-4  # of slopes that should agree
MARGINS = np.linspace(-FARTHEST, FARTHEST, 601)
PROBABILITIES = np.linspace(0.01, 0.99, 99)


@np.errstate(all="ignore")
def check_margin_loss(loss: MarginLoss) -> list[str]:
    """Test whether boosters can minimise a loss, and say where they cannot.

    Parameters
    ----------
    loss : MarginLoss
        Most usefully one of your own.

    Returns
    -------
    list of str
        Each condition with "holds".

    Raises
    ------
    TypeError
        If it is no ``MarginLoss``, or a class instead of an object.
    ValueError
        If a condition fails, with the margin, score or probability at which it does,
        and what to do.

    Examples
    --------
    >>> from splboost.losses import Savage, check_margin_loss
    >>> print(*check_margin_loss(Savage()), sep="\\n")
    value and weight a number for each margin: holds
    both finite from -30 to 30, the value not negative: holds
    value falling where the weight is positive: holds
    weight the slope of the value, but for a factor: holds
    link a probability, rising with the score: holds
    inverse_link the inverse of link: holds
    """
    if not isinstance(loss, MarginLoss):
        what = "a class" if isinstance(loss, type) else f"a {type(loss).__name__}"
        raise TypeError(
            f"loss={loss!r} is {what}; give an object whose class derives from "
            "splboost.losses.MarginLoss."
        )
    if not hasattr(loss, "coupled"):
        raise ValueError(
            f"{type(loss).__name__} has no attribute coupled; call super().__init__() "
            "in its __init__."
        )
    value, weight = check_numbers(loss, MARGINS)
    _check_slope(loss, value, weight)
    _check_link(loss)
    return [
        "value and weight a number for each margin: holds",
        f"both finite from {-FARTHEST:.0f} to {FARTHEST:.0f}, the value not negative: "
        "holds",
        "value falling where the weight is positive: holds",
        "weight the slope of the value, but for a factor: holds",
        "link a probability, rising with the score: holds",
        "inverse_link the inverse of link: holds",
    ]


@np.errstate(all="ignore")
def check_numbers(
    loss: MarginLoss, margin: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The value and weight of margins, finite and of their shape."""
    value = _answer(loss, "value", margin, "margin")
    weight = _answer(loss, "weight", margin, "margin")
    _require(
        loss,
        value >= 0,
        "the value must not be negative",
        lambda i: f"value({margin[i]:.6g}) = {value[i]:.6g}",
        "Add a constant, so that it goes to 0 where a sample is right.",
    )
    return value, weight


def _require(
    loss: MarginLoss,
    holds: NDArray[np.bool_],
    rule: str,
    at: Callable[[int], str],
    remedy: str,
) -> None:
    for i in np.flatnonzero(~holds)[:1]:
        raise ValueError(
            f"{type(loss).__name__} is no margin loss: {rule}, but {at(int(i))}. "
            f"{remedy}"
        )


def _answer(loss: MarginLoss, method: str, points: FloatArray, of: str) -> FloatArray:
    """What a method answers to points: a finite number for each."""
    name = type(loss).__name__
    answer: Any = getattr(loss, method)(points.copy())
    if np.shape(answer) != points.shape:
        raise ValueError(
            f"{name} is no margin loss: {method} must give a number for each {of}, but "
            f"for an array of shape {points.shape} it gives "
            f"{type(answer).__name__} of shape {np.shape(answer)}. Compute on whole "
            "arrays, without sums or loops."
        )
    try:
        numbers = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is no margin loss: {method} must give real numbers, but it gives "
            f"an array of {np.asarray(answer).dtype}. Return an array of floats."
        ) from None
    _require(
        loss,
        np.isfinite(numbers),
        f"{method} must be finite",
        lambda i: f"{method}({points[i]:.6g}) = {numbers[i]}",
        "Rewrite it so that no power overflows (scipy.special.expit, "
        "numpy.logaddexp), or clip what it is of.",
    )
    return numbers


def _check_slope(loss: MarginLoss, value: FloatArray, weight: FloatArray) -> None:
    before, after = loss.value(MARGINS - STEP), loss.value(MARGINS + STEP)
    # Two one-sided slopes, between which that of a kink lies. Small values are often
    # differences of larger numbers, and as far off as those at margin 0.
    ahead, behind = (value - after) / STEP, (before - value) / STEP
    slack = ROUNDING * np.maximum(value, value[MARGINS.size // 2]) / STEP
    low, high = np.minimum(ahead, behind) - slack, np.maximum(ahead, behind) + slack

    def both(i: int) -> str:
        return (
            f"weight({MARGINS[i]:.6g}) = {weight[i]:.6g}, where it falls by "
            f"{(ahead[i] + behind[i]) / 2:.6g} per unit of the margin"
        )

    if not (weight > 0).any():
        raise ValueError(
            f"{type(loss).__name__} is no margin loss: some weight must be positive, "
            f"but none is for margins from {-FARTHEST:.0f} to {FARTHEST:.0f}. Return "
            "how fast the value falls, minus its derivative."
        )
    _require(
        loss,
        (weight <= 0) | (high >= 0),
        "the value must fall where the weight is positive",
        both,
        "The weight is minus the derivative of the value: look at the signs of both.",
    )
    clear = (weight > 0) & (low > 2 * slack)
    ratios = (ahead + behind)[clear] / 2 / weight[clear]
    expected = weight * (np.median(ratios) if ratios.size else np.nan)
    slack = SLACK * np.abs(expected)
    _require(
        loss,
        (expected >= low - slack) & (expected <= high + slack),
        "the weight must be minus the derivative of the value, but for a factor that "
        "is the same for all margins",
        both,
        "Derive the value once more.",
    )


def _check_link(loss: MarginLoss) -> None:
    p = _answer(loss, "link", MARGINS, "score")

    def at(i: int) -> str:
        return f"link({MARGINS[i]:.6g}) = {p[i]:.6g}"

    _require(
        loss,
        (p >= 0) & (p <= 1),
        "link must be a probability",
        at,
        "Clip it to 0 and 1.",
    )
    _require(
        loss,
        np.diff(p) >= -ROUNDING,
        "link must rise with the score",
        lambda i: f"{at(i)} and {at(i + 1)}",
        "It is the probability of the second of two classes, from its score.",
    )
    score = _answer(loss, "inverse_link", PROBABILITIES, "probability")
    again = _answer(loss, "link", score, "score")
    _require(
        loss,
        np.abs(again - PROBABILITIES) <= 1e-6,
        "inverse_link must be the inverse of link",
        lambda i: (
            f"inverse_link({PROBABILITIES[i]:.6g}) = {score[i]:.6g}, and "
            f"link({score[i]:.6g}) = {again[i]:.6g}"
        ),
        "Write both, or neither and log_odds_per_score.",
    )
