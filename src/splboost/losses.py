"""Margin losses: how much a sample hurts, and what its score says of its label.

A loss is a function of the margin m, which is positive where the model is right. The
formulas come first, each once: of the loss, and of how fast it falls. They take numbers
and arrays, so that kernels compile them into their loops (``boosting/state.py``). The
classes add what a pace sees of a loss, and the link from scores to probabilities. A
loss of your own needs ``value`` and ``weight``, and the link with its inverse unless
that is the logistic one; ``check_margin_loss`` tests it.

Scores of two classes are one number per sample, F, and the margin is y F with y = ±1.
Scores of K > 2 classes are a row of K numbers. They are either *coupled*, and turn into
probabilities all together; or each is the F of one class against the rest.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import bisect
from scipy.special import expit, logit, softmax

from splboost._tools.maths import MOST, choose, clip, exp, log1p

__all__ = [
    "LEAST_PROBABILITY",
    "Exponential",
    "Logistic",
    "MarginLoss",
    "Savage",
    "Savage2",
    "Squared",
    "check_margin_loss",
]

FloatArray = NDArray[np.float64]

MOST_AHEAD = 600.0  # exponent that gives a number where a sum over classes must be one
LEAST_PROBABILITY = 1e-300

# Of the checks
FARTHEST = 30.0
STEP = 1e-4  # of difference quotients
ROUNDING = 1e-14
SLACK = 1e-4  # of slopes that should agree
MARGINS = np.linspace(-FARTHEST, FARTHEST, 601)
PROBABILITIES = np.linspace(0.01, 0.99, 99)


# ------------------------------------------------------------------------- the formulas


def sides(m: Any) -> tuple[Any, Any]:
    """1 / (1 + exp(-m)) and 1 / (1 + exp(m)), each to its last digits."""
    e = exp(clip(-abs(m), -MOST, 0.0))
    larger, smaller = 1 / (1 + e), e / (1 + e)
    return choose(m > 0, larger, smaller), choose(m > 0, smaller, larger)


def exponential(m: Any) -> Any:
    """exp(-m), which is also how fast it falls; beyond ±700 it stays where it is."""
    return exp(clip(-m, -MOST, MOST))


def logistic(m: Any) -> Any:
    """log(1 + exp(-2 m))"""
    return log1p(exp(clip(-2 * abs(m), -MOST, 0.0))) - 2 * clip(m, -math.inf, 0.0)


def logistic_slope(m: Any) -> Any:
    """2 / (1 + exp(2 m))"""
    return 2 * sides(2 * m)[1]


def savage2(m: Any) -> Any:
    """(1 + exp(m))**-2"""
    wrong = sides(m)[1]
    return wrong * wrong


def savage2_slope(m: Any) -> Any:
    """2 q**2 (1 - q), with q = 1 / (1 + exp(m))"""
    right, wrong = sides(m)
    return 2 * (right * wrong * wrong)


def savage(m: Any) -> Any:
    """(1 + exp(2 m))**-2"""
    return savage2(2 * m)


def savage_slope(m: Any) -> Any:
    """4 q**2 (1 - q), with q = 1 / (1 + exp(2 m))"""
    return 2 * savage2_slope(2 * m)


# -------------------------------------------------------------------------- the classes


class MarginLoss(ABC):
    """A loss of the margin, and the probability of which a score is the minimiser.

    Unless ``link`` says otherwise, the expected loss is lowest where the score is
    F = log-odds / ``log_odds_per_score``.

    Parameters
    ----------
    coupled : bool
        Whether the scores of more than two classes are coupled by a softmax; if not,
        each is that of one class against the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> class Brier(MarginLoss):
    ...     log_odds_per_score = 1.0
    ...     def value(self, margin):
    ...         return expit(-margin) ** 2
    ...     def weight(self, margin):
    ...         return 2 * expit(margin) * expit(-margin) ** 2
    >>> loss = Brier()
    >>> loss.probability(np.array([0.0, np.log(3)])).round(3)
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    >>> round(loss.plateau_of(2.0, n_classes=2), 6)  # of a label at probability 1/5
    0.64
    """

    log_odds_per_score: ClassVar[float] = 2.0
    # Power of K - 1 by which odds against a label are divided before a pace sees their
    # loss; with 1 that of an undecided model is the same for any K
    _power_of_unit: ClassVar[int] = 1

    def __init__(self, *, coupled: bool = False) -> None:
        self.coupled = coupled

    def __repr__(self) -> str:
        return f"{type(self).__name__}(coupled={self.coupled})"

    @abstractmethod
    def value(self, margin: FloatArray) -> FloatArray:
        """The loss at each margin."""

    @abstractmethod
    def weight(self, margin: FloatArray) -> FloatArray:
        """How fast the loss falls with the margin: what a sample counts for."""

    def link(self, score: FloatArray) -> FloatArray:
        """Probability of the second of two classes, from its score."""
        return expit(self.log_odds_per_score * score)

    def inverse_link(self, probability: FloatArray) -> FloatArray:
        """The score at a probability."""
        return logit(probability) / self.log_odds_per_score

    def at_odds(self, against: FloatArray) -> FloatArray:
        """The loss where these are the odds against the label."""
        return self.value(self.inverse_link(1 / (1 + against)))

    def odds_at(self, value: float) -> float:
        """The odds against a label of that loss."""

        def above(log_odds: float) -> float:
            return float(self.at_odds(np.array(math.exp(log_odds)))) - value

        if above(-MOST) >= 0:
            return 0.0
        return math.exp(bisect(above, -MOST, MOST)) if above(MOST) > 0 else math.inf

    def probability(self, score: FloatArray) -> FloatArray:
        """Probability of each class, from the minimiser of the expected loss.

        Where each class is set against the rest, the probabilities that these models
        give are divided by their sum.
        """
        if score.ndim == 1:
            upper = self.link(score)
            return np.column_stack([1 - upper, upper])
        if self.coupled:
            return softmax(score, axis=1)
        own = np.maximum(self.link(score), LEAST_PROBABILITY)
        return own / own.sum(axis=1, keepdims=True)

    def doubt(self, score: FloatArray, codes: NDArray[np.integer]) -> FloatArray:
        """Loss that a pace sees, from the odds against the sample's own class.

        For more than two classes the odds are divided by what they are for an undecided
        model, K - 1, so that an age means the same strength for any K. The exponential
        loss itself would not do, for instance: exp(-G_y) depends on how the rest of the
        probability is spread over the other classes, and hardly grows with ten of them.
        """
        if score.ndim == 1:
            return self.value(np.where(codes == 1, score, -score))
        unit = (score.shape[1] - 1) ** self._power_of_unit
        return self.at_odds(self._odds(score, codes) / unit)

    def _odds(self, score: FloatArray, codes: NDArray[np.integer]) -> FloatArray:
        """(1 - p) / p of the sample's own class."""
        rows = np.arange(codes.size)
        if self.coupled:  # the sum of exp(G_k - G_y) over the other classes
            ahead = score - score[rows, codes][:, None]
            ahead[rows, codes] = -np.inf
            return np.exp(np.minimum(ahead, MOST_AHEAD)).sum(axis=1)
        own = np.maximum(self.link(score), LEAST_PROBABILITY)
        return (own.sum(axis=1) - own[rows, codes]) / own[rows, codes]

    def probability_at(self, doubt: float, n_classes: int) -> float:
        """Probability of a label, from the loss that a pace sees of it."""
        return 1 / (1 + (n_classes - 1) ** self._power_of_unit * self.odds_at(doubt))

    def doubt_at(self, probability: float, n_classes: int) -> float:
        """Loss that a pace sees of a label, from its probability."""
        against = (1 / probability - 1) / (n_classes - 1) ** self._power_of_unit
        return float(self.at_odds(np.array(against)))

    def plateau_of(self, plateau: float, n_classes: int) -> float:
        """The plateau in units of this loss, from one of the exponential loss.

        Both are the loss of a label at the probability from which it is not believed.
        """
        if plateau == math.inf:
            return plateau
        against = (n_classes - 1) * plateau * plateau
        return self.doubt_at(1 / (1 + against), n_classes)


class Exponential(MarginLoss):
    """AdaBoost's loss exp(-m).

    It is 1 where the model is undecided. With K coupled classes it is the loss of SAMME
    (Zhu et al. 2009): there F = (K - 1) G, and the loss is exp(-F_y / (K - 1)) =
    exp(-G_y).
    """

    def __init__(self, *, coupled: bool = True) -> None:
        super().__init__(coupled=coupled)

    def value(self, margin: FloatArray) -> FloatArray:
        return exponential(margin)

    def weight(self, margin: FloatArray) -> FloatArray:
        return self.value(margin)

    def at_odds(self, against: FloatArray) -> FloatArray:
        return np.sqrt(against)

    def odds_at(self, value: float) -> float:
        return value * value

    def plateau_of(self, plateau: float, n_classes: int) -> float:
        return plateau


class Logistic(MarginLoss):
    """LogitBoost's loss log(1 + exp(-2 m)), the negative log-likelihood of the label.

    With K coupled classes it is -log p_y, with p the softmax of the scores.
    """

    _power_of_unit = 0  # what a pace sees is -log p_y, for any number of classes

    def __init__(self, *, coupled: bool = True) -> None:
        super().__init__(coupled=coupled)

    def value(self, margin: FloatArray) -> FloatArray:
        return logistic(margin)

    def weight(self, margin: FloatArray) -> FloatArray:
        return logistic_slope(margin)

    def at_odds(self, against: FloatArray) -> FloatArray:
        return np.log1p(against)

    def odds_at(self, value: float) -> float:
        return math.expm1(value) if value < MOST else math.inf


class Savage(MarginLoss):
    """SavageBoost's loss (1 + exp(2 m))**-2, flat where a sample is badly wrong.

    With p the probability of the label it is (1 - p)**2, the Brier score under the
    logistic link.
    """

    def value(self, margin: FloatArray) -> FloatArray:
        return savage(margin)

    def weight(self, margin: FloatArray) -> FloatArray:
        return savage_slope(margin)

    def at_odds(self, against: FloatArray) -> FloatArray:
        return (against / (1 + against)) ** 2

    def odds_at(self, value: float) -> float:
        root = math.sqrt(min(value, 1.0))
        return root / (1 - root) if root < 1 else math.inf


class Savage2(Savage):
    """RBoost's loss (1 + exp(m))**-2: Savage with scores twice as large."""

    log_odds_per_score = 1.0

    def value(self, margin: FloatArray) -> FloatArray:
        return savage2(margin)

    def weight(self, margin: FloatArray) -> FloatArray:
        return savage2_slope(margin)


class Squared:
    """Half the squared residual, L2Boost's loss."""

    def value(self, residual: FloatArray) -> FloatArray:
        return 0.5 * residual * residual


# --------------------------------------------------------------- tests of a loss


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
