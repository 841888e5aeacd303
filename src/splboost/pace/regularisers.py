"""The self-paced regularisers of the literature, in closed form.

Each has two scales, of which one is given, and can be stretched for one class.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import lambertw
from sklearn.base import clone

from splboost._tools.maths import MOST, choose, clip, exp, expm1, log, log1p
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
TINY = 2.0**-53  # so near 0 or 1 the ramp is at its end

# Weight v* and latent loss of each, by (loss, age, shape)


def hard(loss: Any, age: Any, shape: Any) -> Any:
    """1 below the age"""
    return choose(loss < age, 1.0, 0.0)


def hard_latent(loss: Any, age: Any, shape: Any) -> Any:
    """The smaller of loss and age"""
    return clip(loss, 0.0, age)


def linear(loss: Any, age: Any, shape: Any) -> Any:
    """1 - loss/age, not below 0"""
    return clip(1 - loss / age, 0.0, 1.0)


def linear_latent(loss: Any, age: Any, shape: Any) -> Any:
    """loss - loss**2 / (2 age), up to the age"""
    seen = clip(loss, 0.0, age)
    return seen * (1 - 0.5 * (seen / age))


def polynomial(loss: Any, age: Any, t: Any) -> Any:
    """(1 - loss/age)**(1 / (t - 1))"""
    ramp = clip(1 - loss / age, TINY, 1.0)
    v = exp(clip(log(ramp) / (t - 1), -MOST, 0.0))
    return choose(loss < age, v, 0.0)


def polynomial_latent(loss: Any, age: Any, t: Any) -> Any:
    """κ (1 - (1 - loss/age)**(t / (t - 1))), with κ = age (t - 1) / t"""
    share = (t - 1) / t
    seen = clip(loss / age, 0.0, 1 - TINY)
    return -age * share * expm1(clip(log1p(-seen) / share, -MOST, 0.0))


def mixture(loss: Any, age: Any, gamma: Any) -> Any:
    """γ / √loss - γ/age, at most 1"""
    return clip(gamma / np.sqrt(loss) - gamma / age, 0.0, 1.0)


def mixture_latent(loss: Any, age: Any, gamma: Any) -> Any:
    """The loss itself as far as v = 1, then the integral of v"""
    root = 1 / (1 / age + 1 / gamma)
    seen = clip(np.sqrt(loss), root, age)
    bend = choose(age == math.inf, 0.0, (seen + root) / age)
    return clip(loss, 0.0, root * root) + gamma * (seen - root) * (2 - bend)


def logarithmic(loss: Any, age: Any, zeta: Any) -> Any:
    """log(ζ + (1-ζ) loss/age) / log ζ

    With r = (1-ζ)/ζ and u = r loss/λ it is 1 - log(1+u)/log(1+r), which loses no digits
    at either end and is exactly 0 at the cut.
    """
    rise = (1 - zeta) / zeta
    return 1 - log1p(rise * clip(loss / age, 0.0, 1.0)) / log1p(rise)


def logarithmic_latent(loss: Any, age: Any, zeta: Any) -> Any:
    """λ (s - ((1 + u) log(1 + u) - u) / (r log(1 + r))), with s = loss/λ and u = r s"""
    rise = (1 - zeta) / zeta
    seen = clip(loss / age, 0.0, 1.0)
    u = rise * seen
    return age * (seen - ((1 + u) * log1p(u) - u) / (rise * log1p(rise)))


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
    _shape: float = 0.0  # the third argument of the formulas
    _plateau_per_age: float = 1.0

    @abstractmethod
    def _penalty(self, v: FloatArray, age: float) -> FloatArray: ...

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
        return self._scales()[0] == math.inf

    @np.errstate(all="ignore")
    def weight(self, loss: ArrayLike) -> FloatArray:
        loss = np.asarray(loss, dtype=np.float64)
        if self.is_off:
            return np.ones(loss.shape)[()]
        return self._formulas[0](loss, self.resolved_age, self._shape)

    @np.errstate(all="ignore")
    def latent(self, loss: ArrayLike) -> FloatArray:
        loss = np.asarray(loss, dtype=np.float64)
        if self.is_off:
            return loss.copy()[()]
        return self._formulas[1](loss, self.resolved_age, self._shape)

    @np.errstate(all="ignore")
    def penalty(self, v: ArrayLike) -> FloatArray:
        v = unit_interval(v)
        if self.is_off:
            return np.where(v == 1, 0.0, math.inf)[()]
        return self._penalty(v, self.resolved_age)

    def for_loss(self, n_classes: int, link: Link, default_plateau: float) -> Pace:
        """The regulariser in the units of a loss.

        An age is in these units already. A plateau is that of the exponential loss, and
        is translated by the probability at which a label stops being believed.
        """
        if self.age is not None:
            return self
        plateau = default_plateau if self.plateau is None else self.plateau
        own = link.plateau_of(float(plateau), n_classes)
        if own == (DEFAULT_PLATEAU if self.plateau is None else self.plateau):
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
        age, plateau = self._scales()
        cut = self._cut(age)
        if link.probability_at(cut, n_classes) == 0:  # a loss that has a limit below it
            cut = plateau
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
        if type(self).weight is not Scaled.weight:  # of a subclass by the user
            return super().curves()
        formula = Formula(*self._formulas, self._scales()[0], self._shape)
        return Curves(self.weight, self.latent, formula)


class Hard(Scaled):
    """Believe a loss below the age in full, and one from there on not at all.

    Parameters
    ----------
    age, plateau : float, optional
        λ, the loss at which samples are dropped; or κ = λ, the height of the
        latent loss. Give at most one; neither is ``plateau=2.0``.
    prior_corrected : bool, default=False
        Whether rare classes are believed longer, and common ones less long; see
        :mod:`splboost.pace`.

    Examples
    --------
    >>> Hard(age=2.0).weight([0.5, 1.9, 2.0, 7.0])
    array([1., 1., 0., 0.])
    """

    _formulas = hard, hard_latent

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        return -age * v

    def peak(self) -> float:
        return self._scales()[0]


class Linear(Scaled):
    """Believe less of a loss in proportion to its size, and nothing from the age on.

    Parameters
    ----------
    age, plateau : float, optional
        λ, the loss at which samples are dropped; or κ = λ/2, the height of the
        latent loss. Give at most one; neither is ``plateau=2.0``.
    prior_corrected : bool, default=False
        Whether rare classes are believed longer, and common ones less long; see
        :mod:`splboost.pace`.

    Examples
    --------
    >>> Linear(plateau=2.0).weight([0.0, 1.0, 2.0, 7.0])
    array([1.  , 0.75, 0.5 , 0.  ])
    """

    _formulas = linear, linear_latent
    _plateau_per_age = 0.5

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        return age * v * (0.5 * v - 1)

    def peak(self) -> float:
        return 0.5 * self._scales()[0]


class Polynomial(Scaled):
    """A ramp down to the age, bent by ``t``: straight for t = 2, a cliff for large t.

    ``t=1.3`` is the "lowerconvex" scheme of the SPLBoost paper and ``t=4`` its
    "upperconvex"; on the squared loss ``t=1.5`` is Tukey's biweight.

    Parameters
    ----------
    age, plateau : float, optional
        λ, the loss at which samples are dropped; or κ = λ(t-1)/t, the height of the
        latent loss. Give at most one; neither is ``plateau=2.0``.
    t : float, default=1.3
        The shape, above 1.
    prior_corrected : bool, default=False
        Whether rare classes are believed longer, and common ones less long; see
        :mod:`splboost.pace`.

    Examples
    --------
    >>> Polynomial(age=4.0, t=3.0).weight([0.0, 1.75, 3.0, 7.0])
    array([1.  , 0.75, 0.5 , 0.  ])
    """

    def __init__(
        self,
        age: float | None = None,
        *,
        plateau: float | None = None,
        t: float = 1.3,
        prior_corrected: bool = False,
    ) -> None:
        super().__init__(age, plateau=plateau, prior_corrected=prior_corrected)
        self.t = t

    _formulas = polynomial, polynomial_latent

    @property
    def _shape(self) -> float:  # type: ignore[override]
        return checked(self, "t")

    @property
    def _plateau_per_age(self) -> float:  # type: ignore[override]
        return (self._shape - 1) / self._shape

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        return age * (v**self.t / self.t - v)

    def peak(self) -> float:
        return self._scales()[1]


class Mixture(Scaled):
    """Believe small losses in full, then ever less, and nothing from λ² on.

    An infinite age with a finite ``gamma`` never drops a sample: the weight is then
    that of Huber, min(1, γ/√loss), and the latent loss has no plateau.

    Parameters
    ----------
    age, plateau : float, optional
        λ, the root of the loss at which samples are dropped; or κ = λ²γ/(λ+γ), the
        height of the latent loss. Give at most one; neither is ``plateau=2.0``.
    gamma : float, optional
        γ, how long losses are believed in full: up to (λγ/(λ+γ))². The age if None.
    prior_corrected : bool, default=False
        Whether rare classes are believed longer, and common ones less long; see
        :mod:`splboost.pace`.

    Examples
    --------
    >>> Mixture(age=2.0).weight([1.0, 2.56, 4.0])
    array([1.  , 0.25, 0.  ])
    """

    def __init__(
        self,
        age: float | None = None,
        *,
        plateau: float | None = None,
        gamma: float | None = None,
        prior_corrected: bool = False,
    ) -> None:
        super().__init__(age, plateau=plateau, prior_corrected=prior_corrected)
        self.gamma = gamma

    _formulas = mixture, mixture_latent

    @property
    def _shape(self) -> float:  # type: ignore[override]
        return self.resolved_age if self.gamma is None else checked(self, "gamma")

    def _plateau_at(self, age: float) -> float:
        return age * (age / 2 if self.gamma is None else self._full_root(age))

    def _full_root(self, age: float) -> float:
        """The root of the loss up to which v = 1."""
        return 1 / (1 / age + 1 / self._shape)

    def _age_at(self, plateau: float) -> float:
        if self.gamma is None:
            return math.sqrt(2) * math.sqrt(plateau)
        reach = math.hypot(plateau, 2 * self._shape * math.sqrt(plateau))
        return (plateau + reach) / 2 / self._shape

    def _cut(self, age: float) -> float:
        return age * age

    def _stretched(self, factor: float) -> dict[str, float]:
        root = math.sqrt(factor)
        gamma = {} if self.gamma is None else {"gamma": root * self.gamma}
        if self.age is not None:
            return {"age": root * self.age, **gamma}
        return {"plateau": factor * self.resolved_plateau, **gamma}

    @property
    def is_off(self) -> bool:
        return super().is_off and (self.gamma is None or self.plateau == math.inf)

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        gamma = self._shape
        return gamma * (gamma / (v + gamma / age))

    def peak(self) -> float:
        if self.is_off:
            return math.inf
        age = self.resolved_age
        top = max(age / 2, self._full_root(age))
        return top * top


class Logarithmic(Scaled):
    """A ramp that falls fast at first and slowly near the age, on a logarithm.

    The form of the literature holds for ages below 1 only; here the age is the cut
    on any scale of loss, and ``zeta`` the shape (the literature's: age = 1 - zeta).

    Parameters
    ----------
    age, plateau : float, optional
        λ, the loss at which samples are dropped; or κ = λ(-1/log ζ - ζ/(1-ζ)), the
        height of the latent loss. Give at most one; neither is ``plateau=2.0``.
    zeta : float, default=0.1
        ζ in (0, 1): near 1 the ramp is straight, near 0 it drops at once.
    prior_corrected : bool, default=False
        Whether rare classes are believed longer, and common ones less long; see
        :mod:`splboost.pace`.

    Examples
    --------
    >>> Logarithmic(age=4.0, zeta=0.25).weight([0.0, 4 / 3, 4.0])
    array([1. , 0.5, 0. ])
    """

    def __init__(
        self,
        age: float | None = None,
        *,
        plateau: float | None = None,
        zeta: float = 0.1,
        prior_corrected: bool = False,
    ) -> None:
        super().__init__(age, plateau=plateau, prior_corrected=prior_corrected)
        self.zeta = zeta

    _formulas = logarithmic, logarithmic_latent

    @property
    def _shape(self) -> float:  # type: ignore[override]
        return checked(self, "zeta")

    @property
    def _rise(self) -> tuple[float, float]:
        rise = (1 - self._shape) / self._shape
        return rise, float(log1p(rise))

    @property
    def _plateau_per_age(self) -> float:  # type: ignore[override]
        rise, log_rise = self._rise
        return 1 / log_rise - 1 / rise

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        rise, log_rise = self._rise
        return age / rise * (v + np.exp((1 - v) * log_rise) / log_rise)

    def peak(self) -> float:
        # The slope of loss * weight is 0 where log(1+u) + u/(1+u) = log(1+r).
        rise, _ = self._rise
        root = float(lambertw(math.e / (1 + rise)).real)
        return self.resolved_age * (1 / root - 1) / rise
