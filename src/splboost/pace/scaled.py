"""What the regularisers of the literature share: two scales, and a stretch by class."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from splboost._tools.maths import choose, clip
from splboost.pace.base import (
    LARGEST,
    Curves,
    FloatArray,
    Formula,
    Link,
    Pace,
    unit_interval,
)

DEFAULT_PLATEAU = 2.0


def hard(loss: Any, age: Any, shape: Any) -> Any:
    """1 below the age"""
    return choose(loss < age, 1.0, 0.0)


def hard_latent(loss: Any, age: Any, shape: Any) -> Any:
    """The smaller of loss and age"""
    return clip(loss, 0.0, age)


# No pace: v = 1, and the loss itself
UNPACED = Formula(hard, hard_latent, math.inf, 0.0)
PLAIN = Curves(np.ones_like, np.copy, UNPACED)

# What an argument may be: above the first number, up to and with the second.
_RANGES = {
    "age": (0.0, math.inf, "a number above 0", "None uses the plateau"),
    "plateau": (0.0, math.inf, "a number above 0", "inf is the plain booster"),
    "t": (1.0, LARGEST, "a finite number above 1", "for infinite t use Hard"),
    "gamma": (0.0, LARGEST, "a finite number above 0", "None takes the age"),
    "zeta": (1e-300, 1 - 1e-6, "a number in (0, 0.999999]", "near 1 use Linear"),
}


def checked(pace: Pace, name: str) -> float:
    value = getattr(pace, name)
    low, high, allowed, remedy = _RANGES[name]
    number = isinstance(value, (int, float, np.integer, np.floating))
    number = number and not isinstance(value, bool)
    if number and low < value <= high:  # nan is out
        return float(value)
    raise (ValueError if number else TypeError)(
        f"{type(pace).__name__}: {name} must be {allowed}, got "
        f"{name}={value!r}; {remedy}."
    )


class Scaled(Pace):
    """A regulariser with formulas, set by its age or by its plateau."""

    def __init__(
        self,
        age: float | None = None,
        *,
        plateau: float | None = None,
        prior_corrected: bool = False,
    ) -> None:
        self.age = age
        self.plateau = plateau
        self.prior_corrected = prior_corrected

    # Weight and latent loss, as formulas of (loss, age, shape)
    _formulas: ClassVar[tuple[Callable[..., Any], Callable[..., Any]]]

    def _shape(self, age: float) -> float:
        """The third argument of the formulas."""
        return 0.0

    @abstractmethod
    def _penalty(self, v: FloatArray, age: float) -> FloatArray: ...

    @abstractmethod
    def _peak(self, age: float) -> float: ...

    @property
    def _plateau_per_age(self) -> float:
        return 1.0

    def _plateau_at(self, age: float) -> float:
        return age * self._plateau_per_age

    def _age_at(self, plateau: float) -> float:
        return plateau / self._plateau_per_age

    def _scales(self) -> tuple[float, float]:
        """Age and plateau, validated."""
        if not isinstance(self.prior_corrected, (bool, np.bool_)):
            raise TypeError(
                f"{type(self).__name__}: prior_corrected must be True or False, got "
                f"prior_corrected={self.prior_corrected!r}."
            )
        if self.age is not None and self.plateau is not None:
            raise ValueError(
                f"{type(self).__name__}: give age or plateau, not both, got "
                f"age={self.age!r} and plateau={self.plateau!r}; set one to None."
            )
        if self.age is not None:
            age = checked(self, "age")
            return age, self._plateau_at(age)
        plateau = DEFAULT_PLATEAU if self.plateau is None else checked(self, "plateau")
        return self._age_at(plateau), plateau

    @property
    def resolved_age(self) -> float:
        """The age λ in use, given or worked out from the plateau."""
        return self._scales()[0]

    @property
    def resolved_plateau(self) -> float:
        return self._scales()[1]

    @property
    def is_off(self) -> bool:
        return self._off(self.resolved_age)

    def _off(self, age: float) -> bool:
        return age == math.inf

    @np.errstate(all="ignore")
    def weight(self, loss: ArrayLike) -> FloatArray:
        loss, age = np.asarray(loss, dtype=np.float64), self.resolved_age
        if self._off(age):
            return np.ones(loss.shape)[()]
        return self._formulas[0](loss, age, self._shape(age))

    @np.errstate(all="ignore")
    def latent(self, loss: ArrayLike) -> FloatArray:
        loss, age = np.asarray(loss, dtype=np.float64), self.resolved_age
        if self._off(age):
            return loss.copy()[()]
        return self._formulas[1](loss, age, self._shape(age))

    @np.errstate(all="ignore")
    def penalty(self, v: ArrayLike) -> FloatArray:
        v, age = unit_interval(v), self.resolved_age
        if self._off(age):
            return np.where(v == 1, 0.0, math.inf)[()]
        return self._penalty(v, age)

    def peak(self) -> float:
        age = self.resolved_age
        return math.inf if self._off(age) else self._peak(age)

    def for_loss(self, n_classes: int, link: Link, default_plateau: float) -> Pace:
        """The regulariser in the units of a loss.

        An age is in these units already. A plateau is that of the exponential loss, and
        is translated by the probability at which a label stops being believed.
        """
        if self.age is not None:
            return self
        plateau = default_plateau if self.plateau is None else self.resolved_plateau
        own = link.plateau_of(plateau, n_classes)
        if own == self.resolved_plateau:
            return self
        return clone(self).set_params(plateau=own)

    def for_class(self, prior: float, n_classes: int, link: Link) -> Pace:
        """The regulariser for a class with that share of the data.

        If corrected, the cut moves to the loss at which a label has K * prior times the
        probability that it has at the cut now, and the curves stretch with it; where
        the loss never gets as far as the cut, the plateau takes its place. They
        shrink no further than half of the way, in logarithms, from the loss of greatest
        influence down to that of an undecided sample; and not at all from below it.
        """
        if not self.prior_corrected:
            return self
        cut = self._cut(self.resolved_age)
        if link.probability_at(cut, n_classes) == 0:  # a loss that has a limit below it
            cut = self.resolved_plateau
        p = n_classes * prior * link.probability_at(cut, n_classes)
        if p == 0:  # nothing is dropped, or there is nothing to drop
            return self
        undecided = link.doubt_at(1 / n_classes, n_classes)
        least = min(1.0, math.sqrt(undecided / self.peak()))
        factor = max(link.doubt_at(min(p, 1.0), n_classes) / cut, least)
        return clone(self).set_params(prior_corrected=False, **self._stretched(factor))

    def _cut(self, age: float) -> float:
        """The loss from which nothing is believed."""
        return age

    def _stretched(self, factor: float) -> dict[str, float]:
        """Parameters that give a loss the weight of a loss that factor smaller."""
        if self.age is not None:
            return {"age": factor * self.age}
        return {"plateau": factor * self.resolved_plateau}

    def curves(self) -> Curves:
        age = self.resolved_age
        if type(self).weight is not Scaled.weight:  # of a subclass by the user
            return super().curves()
        if self._off(age):
            return PLAIN
        formula = Formula(*self._formulas, age, self._shape(age))
        return Curves(self.weight, self.latent, formula)
