"""Self-paced regularisers: how much of each sample's loss to believe.

Each sample hurts a booster by its ``loss``. A regulariser decides which share v of
that hurt to count, from 0 to 1, by trading the loss against a penalty on v::

    v* = weight(loss)   = argmin over v of  v * loss + penalty(v)
         latent(loss)   = min over v of v * loss + penalty(v), less its value at loss 0
                        = integral of weight from 0 to loss

Weighting by v* is therefore the same as minimising the latent loss, which follows the
loss while it is small and goes flat when it is large: a sample with a hopeless label
stops pulling. Where it goes flat is set by one of two scales. The *age* λ is the one
of the literature, with another strength for each regulariser; the *plateau* κ is the
height of the flat part, and compares between regularisers.

============ ================================== ==================================
regulariser  weight, 0 beyond the cut           plateau κ from the age λ
============ ================================== ==================================
Hard         1 below λ                          λ
Linear       1 - loss/λ                         λ/2
Polynomial   (1 - loss/λ)**(1/(t-1))            λ(t-1)/t
Mixture      γ(1/√loss - 1/λ), at most 1        λ²γ/(λ+γ), the cut being λ²
Logarithmic  log(ζ + (1-ζ)loss/λ) / log ζ       λ(-1/log ζ - ζ/(1-ζ))
============ ================================== ==================================

An infinite plateau is the plain booster: v = 1, whatever the regulariser.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import Legendre
from numpy.typing import ArrayLike, NDArray
from scipy.special import lambertw
from sklearn.base import BaseEstimator, clone

FloatArray = NDArray[np.float64]

DEFAULT_PLATEAU = 2.5

_LARGEST = sys.float_info.max

# What an argument may be: above the first number, up to and with the second.
_RANGES = {
    "age": (0.0, math.inf, "a number above 0", "None uses the plateau"),
    "plateau": (0.0, math.inf, "a number above 0", "inf is the plain booster"),
    "t": (1.0, _LARGEST, "a finite number above 1", "for infinite t use Hard"),
    "gamma": (0.0, _LARGEST, "a finite number above 0", "None takes the age"),
    "zeta": (1e-300, 1 - 1e-6, "a number in (0, 0.999999]", "near 1 use Linear"),
}


def _checked(pace: Pace, name: str) -> float:
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


def _unit(v: ArrayLike) -> FloatArray:
    array = np.asarray(v, dtype=np.float64)
    if not np.all((array >= 0) & (array <= 1)):
        raise ValueError(f"v must lie in [0, 1], got v={v!r}; clip it to that range.")
    return array


class Curves(NamedTuple):
    """The two functions of the loss that a booster needs, on float64 arrays.

    They may raise numpy's floating-point warnings; call them under ``np.errstate``.
    """

    weight: Callable[[FloatArray], FloatArray]
    latent: Callable[[FloatArray], FloatArray]


class Pace(BaseEstimator, ABC):
    """Base of the regularisers, and of your own: only ``weight`` must be written.

    The latent loss, the penalty and the loss of greatest influence are then found
    numerically, for any weight that does not rise with the loss; jumps are welcome.
    Losses are non-negative numbers of any shape, infinity included, and each method
    returns float64 of that shape.

    Examples
    --------
    >>> import numpy as np
    >>> class Welsch(Pace):
    ...     def weight(self, loss):
    ...         return np.exp(-np.asarray(loss, dtype=float))
    >>> Welsch().latent([0.0, 1.0, np.inf]).round(4)
    array([0.    , 0.6321, 1.    ])
    >>> round(Welsch().peak(), 4)
    1.0
    """

    @abstractmethod
    def weight(self, loss: ArrayLike) -> FloatArray:
        """The share v* of each loss that counts, in [0, 1]."""

    @np.errstate(all="ignore")
    def latent(self, loss: ArrayLike) -> FloatArray:
        """The loss that the booster truly minimises: the integral of ``weight``.

        Unless a regulariser has its formula, by adaptive quadrature to about 1e-10;
        an infinite loss then counts as the largest float.
        """
        loss = np.asarray(loss, dtype=np.float64)
        ends = np.minimum(loss, _LARGEST).ravel()
        scales = np.exp2(np.arange(-1000.0, 1024.0))  # the weight may fall anywhere
        scales = scales[scales < ends.max(initial=0.0)]
        points = np.concatenate([[0.0], scales, ends])
        edges, position = np.unique(points, return_inverse=True)
        total = _integrate(self.weight, edges)[position[len(points) - len(ends) :]]
        return total.reshape(loss.shape)[()]

    @np.errstate(all="ignore")
    def penalty(self, v: ArrayLike) -> FloatArray:
        """The penalty for which ``weight`` is the best trade; a constant is free.

        Unless a regulariser has its formula, the concave conjugate of the latent
        loss, max over losses of ``latent(loss) - v * loss``, whose minimum is 0.
        """
        array = _unit(v)
        # The largest loss with a weight above v. Bit patterns order the non-negative
        # floats, so halving them finds it to the last digit at any magnitude.
        low = np.zeros(array.shape, dtype=np.int64)
        high = np.full(array.shape, _LARGEST).view(np.int64)
        for _ in range(63):
            middle = low + (high - low) // 2
            above = self.weight(middle.view(np.float64)) > array
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        edge = low.view(np.float64)
        return np.maximum(self.latent(edge) - array * edge, 0.0)

    @np.errstate(all="ignore")
    def peak(self) -> float:
        """The loss of greatest influence, where ``loss * weight(loss)`` is largest."""
        grid = np.exp2(np.arange(-8000.0, 8184.0) / 8)
        best = int(np.argmax(grid * self.weight(grid)))
        if best == len(grid) - 1:
            return math.inf
        while True:
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
            if high - low <= 1e-12 * high:
                return float(grid[best])
            grid = np.linspace(low, high, 65)
            best = int(np.argmax(grid * self.weight(grid)))

    @property
    def resolved_plateau(self) -> float:
        """The height κ at which the latent loss goes flat."""
        return float(self.latent(math.inf))

    @property
    def is_off(self) -> bool:
        """Whether v = 1 by definition, so that the booster is the plain one."""
        return False

    def curves(self) -> Curves:
        """``weight`` and ``latent`` with the parameters checked once, for a loop."""
        return Curves(self.weight, self.latent)


def _lobatto(order: int) -> tuple[FloatArray, FloatArray]:
    basis = Legendre.basis(order - 1)
    nodes = np.concatenate([[-1.0], np.sort(basis.deriv().roots().real), [1.0]])
    return nodes, 2 / (order * (order - 1) * basis(nodes) ** 2)


# The rule looks at both ends of a panel, so that no jump hides between node and edge.
_NODES, _NODE_WEIGHTS = _lobatto(9)


def _integrate(
    weight: Callable[[ArrayLike], FloatArray], edges: FloatArray
) -> FloatArray:
    """Integral of ``weight`` from the first edge to each, halving panels as needed."""

    def panel(left: FloatArray, right: FloatArray) -> FloatArray:
        half = (right - left) / 2
        points = left[:, None] + half[:, None] * (_NODES + 1)
        return half * (weight(points.ravel()).reshape(points.shape) @ _NODE_WEIGHTS)

    left, right = edges[:-1], edges[1:]
    home = np.arange(len(left))
    coarse = panel(left, right)
    tolerance = 1e-12 * np.cumsum(coarse)
    parts = np.zeros(len(left))
    for _ in range(60):  # enough to corner a jump to the last digit
        middle = left + (right - left) / 2
        halves = panel(left, middle), panel(middle, right)
        rough = np.abs(halves[0] + halves[1] - coarse) > tolerance[home]
        fine = np.where(rough, 0.0, halves[0] + halves[1])
        parts += np.bincount(home, fine, minlength=len(parts))
        left = np.concatenate([left[rough], middle[rough]])
        right = np.concatenate([middle[rough], right[rough]])
        coarse = np.concatenate([halves[0][rough], halves[1][rough]])
        home = np.tile(home[rough], 2)
        if not len(home):
            break
    parts += np.bincount(home, coarse, minlength=len(parts))
    return np.concatenate([[0.0], np.cumsum(parts)])


class _Scaled(Pace):
    """A regulariser with formulas, set by its age or by its plateau."""

    def __init__(
        self, age: float | None = None, *, plateau: float | None = None
    ) -> None:
        self.age = age
        self.plateau = plateau

    @abstractmethod
    def _weight(self, loss: FloatArray, age: float) -> FloatArray: ...

    @abstractmethod
    def _latent(self, loss: FloatArray, age: float) -> FloatArray: ...

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
        if self.age is not None and self.plateau is not None:
            raise ValueError(
                f"{type(self).__name__}: give age or plateau, not both, got "
                f"age={self.age!r} and plateau={self.plateau!r}; set one to None."
            )
        if self.age is not None:
            age = _checked(self, "age")
            return age, self._plateau_at(age)
        plateau = DEFAULT_PLATEAU if self.plateau is None else _checked(self, "plateau")
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
        return np.ones(loss.shape)[()] if self._off(age) else self._weight(loss, age)

    @np.errstate(all="ignore")
    def latent(self, loss: ArrayLike) -> FloatArray:
        loss, age = np.asarray(loss, dtype=np.float64), self.resolved_age
        return loss.copy()[()] if self._off(age) else self._latent(loss, age)

    @np.errstate(all="ignore")
    def penalty(self, v: ArrayLike) -> FloatArray:
        v, age = _unit(v), self.resolved_age
        if self._off(age):
            return np.where(v == 1, 0.0, math.inf)[()]
        return self._penalty(v, age)

    def peak(self) -> float:
        age = self.resolved_age
        return math.inf if self._off(age) else self._peak(age)

    def curves(self) -> Curves:
        age = self.resolved_age
        if self._off(age):
            return Curves(np.ones_like, np.copy)
        return Curves(partial(self._weight, age=age), partial(self._latent, age=age))


class Hard(_Scaled):
    """Believe a loss below the age in full, and one from there on not at all.

    Parameters
    ----------
    age, plateau : float, optional
        λ, the loss at which samples are dropped; or κ = λ, the height of the
        latent loss. Give at most one; neither is ``plateau=2.5``.

    Examples
    --------
    >>> Hard(age=2.0).weight([0.5, 1.9, 2.0, 7.0])
    array([1., 1., 0., 0.])
    """

    def _weight(self, loss: FloatArray, age: float) -> FloatArray:
        return (loss < age).astype(np.float64)

    def _latent(self, loss: FloatArray, age: float) -> FloatArray:
        return np.minimum(loss, age)

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        return -age * v

    def _peak(self, age: float) -> float:
        return age


class Linear(_Scaled):
    """Believe less of a loss in proportion to its size, and nothing from the age on.

    Parameters
    ----------
    age, plateau : float, optional
        λ, the loss at which samples are dropped; or κ = λ/2, the height of the
        latent loss. Give at most one; neither is ``plateau=2.5``.

    Examples
    --------
    >>> Linear(plateau=2.0).weight([0.0, 1.0, 2.0, 7.0])
    array([1.  , 0.75, 0.5 , 0.  ])
    """

    @property
    def _plateau_per_age(self) -> float:
        return 0.5

    def _weight(self, loss: FloatArray, age: float) -> FloatArray:
        return _ramp(loss, age)[()]

    def _latent(self, loss: FloatArray, age: float) -> FloatArray:
        seen = np.minimum(loss, age)
        return seen * (1 - 0.5 * (seen / age))

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        return age * v * (0.5 * v - 1)

    def _peak(self, age: float) -> float:
        return 0.5 * age


def _ramp(loss: FloatArray, age: float) -> FloatArray:
    """1 - loss/age, not below 0."""
    ramp = np.asarray(loss / -age)
    ramp += 1
    return np.maximum(ramp, 0.0, out=ramp)


class Polynomial(_Scaled):
    """A ramp down to the age, bent by ``t``: straight for t = 2, a cliff for large t.

    ``t=1.3`` is the "lowerconvex" scheme of the SPLBoost paper and ``t=4`` its
    "upperconvex"; on the squared loss ``t=1.5`` is Tukey's biweight.

    Parameters
    ----------
    age, plateau : float, optional
        λ, the loss at which samples are dropped; or κ = λ(t-1)/t, the height of the
        latent loss. Give at most one; neither is ``plateau=2.5``.
    t : float, default=1.3
        The shape, above 1.

    Examples
    --------
    >>> Polynomial(age=4.0, t=3.0).weight([0.0, 1.75, 3.0, 7.0])
    array([1.  , 0.75, 0.5 , 0.  ])
    """

    def __init__(
        self, age: float | None = None, *, plateau: float | None = None, t: float = 1.3
    ) -> None:
        super().__init__(age, plateau=plateau)
        self.t = t

    @property
    def _plateau_per_age(self) -> float:
        t = _checked(self, "t")
        return (t - 1) / t

    def _weight(self, loss: FloatArray, age: float) -> FloatArray:
        ramp = _ramp(loss, age)
        ramp **= 1 / (float(self.t) - 1)
        return ramp[()]

    def _latent(self, loss: FloatArray, age: float) -> FloatArray:
        share = self._plateau_per_age
        seen = np.minimum(loss / age, 1.0)
        return -age * share * np.expm1(np.log1p(-seen) / share)

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        return age * (v**self.t / self.t - v)

    def _peak(self, age: float) -> float:
        return self._plateau_at(age)


class Mixture(_Scaled):
    """Believe small losses in full, then ever less, and nothing from λ² on.

    An infinite age with a finite ``gamma`` never drops a sample: the weight is then
    that of Huber, min(1, γ/√loss), and the latent loss has no plateau.

    Parameters
    ----------
    age, plateau : float, optional
        λ, the root of the loss at which samples are dropped; or κ = λ²γ/(λ+γ), the
        height of the latent loss. Give at most one; neither is ``plateau=2.5``.
    gamma : float, optional
        γ, how long losses are believed in full: up to (λγ/(λ+γ))². The age if None.

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
    ) -> None:
        super().__init__(age, plateau=plateau)
        self.gamma = gamma

    def _gamma_root(self, age: float) -> tuple[float, float]:
        """γ, and the root of the loss up to which v = 1."""
        gamma = age if self.gamma is None else _checked(self, "gamma")
        return gamma, 1 / (1 / age + 1 / gamma)

    def _plateau_at(self, age: float) -> float:
        return age * (age / 2 if self.gamma is None else self._gamma_root(age)[1])

    def _age_at(self, plateau: float) -> float:
        if self.gamma is None:
            return math.sqrt(2) * math.sqrt(plateau)
        gamma = _checked(self, "gamma")
        reach = math.hypot(plateau, 2 * gamma * math.sqrt(plateau))
        return (plateau + reach) / 2 / gamma

    def _off(self, age: float) -> bool:
        return age == math.inf and (self.gamma is None or self.plateau == math.inf)

    def _weight(self, loss: FloatArray, age: float) -> FloatArray:
        gamma, _ = self._gamma_root(age)
        share = np.asarray(np.sqrt(loss))
        np.divide(gamma, share, out=share)
        share -= gamma / age
        return np.clip(share, 0.0, 1.0, out=share)[()]

    def _latent(self, loss: FloatArray, age: float) -> FloatArray:
        gamma, root = self._gamma_root(age)
        seen = np.clip(np.sqrt(loss), root, age)
        bend = 0.0 if age == math.inf else (seen + root) / age
        return np.minimum(loss, root * root) + gamma * (seen - root) * (2 - bend)

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        gamma, _ = self._gamma_root(age)
        return gamma * (gamma / (v + gamma / age))

    def _peak(self, age: float) -> float:
        top = max(age / 2, self._gamma_root(age)[1])
        return top * top


class Logarithmic(_Scaled):
    """A ramp that falls fast at first and slowly near the age, on a logarithm.

    The form of the literature holds for ages below 1 only; here the age is the cut
    on any scale of loss, and ``zeta`` the shape (the literature's: age = 1 - zeta).

    Parameters
    ----------
    age, plateau : float, optional
        λ, the loss at which samples are dropped; or κ = λ(-1/log ζ - ζ/(1-ζ)), the
        height of the latent loss. Give at most one; neither is ``plateau=2.5``.
    zeta : float, default=0.1
        ζ in (0, 1): near 1 the ramp is straight, near 0 it drops at once.

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
    ) -> None:
        super().__init__(age, plateau=plateau)
        self.zeta = zeta

    # With r = (1-ζ)/ζ and u = r loss/λ the weight is 1 - log(1+u)/log(1+r), which
    # loses no digits at either end and is exactly 0 at the cut.

    @property
    def _rise(self) -> tuple[float, float]:
        zeta = _checked(self, "zeta")
        rise = (1 - zeta) / zeta
        return rise, float(np.log1p(rise))

    @property
    def _plateau_per_age(self) -> float:
        rise, log_rise = self._rise
        return 1 / log_rise - 1 / rise

    def _weight(self, loss: FloatArray, age: float) -> FloatArray:
        rise, log_rise = self._rise
        share = np.asarray(loss / age)
        share *= rise
        np.log1p(share, out=share)
        share /= -log_rise
        share += 1
        return np.maximum(share, 0.0, out=share)[()]

    def _latent(self, loss: FloatArray, age: float) -> FloatArray:
        rise, log_rise = self._rise
        seen = np.minimum(loss / age, 1.0)
        u = rise * seen
        return age * (seen - ((1 + u) * np.log1p(u) - u) / (rise * log_rise))

    def _penalty(self, v: FloatArray, age: float) -> FloatArray:
        rise, log_rise = self._rise
        return age / rise * (v + np.exp((1 - v) * log_rise) / log_rise)

    def _peak(self, age: float) -> float:
        # The slope of loss * weight is 0 where log(1+u) + u/(1+u) = log(1+r).
        rise, _ = self._rise
        return age * (1 / float(lambertw(math.e / (1 + rise)).real) - 1) / rise


_NAMES: dict[str, type[_Scaled]] = {
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
    if isinstance(pace, _Scaled):
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


@np.errstate(all="ignore")
def check_pace(pace: str | Pace, *, losses: ArrayLike | None = None) -> list[str]:
    """Test whether ``pace`` is a self-paced regulariser, and say where it is not.

    Parameters
    ----------
    pace : str or Pace
        The regulariser, most usefully one of your own.
    losses : array-like, optional
        Where to test; eight decades around the loss of greatest influence if None.

    Returns
    -------
    list of str
        Each condition with "holds", or why it was skipped.

    Raises
    ------
    ValueError
        If a condition fails, with the loss, the age or the v at which it does.

    Examples
    --------
    >>> print(*check_pace(Hard(age=2.0)), sep="\\n")
    (i) penalty convex, least at the weight: holds
    (ii) weight in [0, 1], falling to 0 with the loss: holds
    (iii) weight rising from 0 with the age: holds
    latent loss the integral of the weight: holds
    """
    checked = resolve_pace(pace)
    if checked is None:
        raise TypeError("pace=None has nothing to check; pass a Pace or a short name.")
    if losses is None:
        peak = checked.peak()
        losses = np.geomspace(1e-4, 1e4, 401) * (peak if 0 < peak < 1e300 else 1.0)
    x = np.union1d(0.0, np.asarray(losses, dtype=np.float64))
    if not (x[0] == 0 and x[-1] <= _LARGEST):
        raise ValueError(f"losses must be finite and not negative, got {losses!r}.")

    def require(holds: NDArray[np.bool_], rule: str, at: Callable[[int], str]) -> None:
        for i in np.flatnonzero(~holds)[:1]:
            raise ValueError(
                f"{checked!r} is no self-paced regulariser: {rule}, but {at(i)}."
            )

    # (ii) comes first: the latent loss builds on it, and the penalty on both.
    w = np.broadcast_to(np.asarray(checked.weight(x), dtype=np.float64), x.shape)
    values = [f"weight({a:.6g}) = {b:.6g}" for a, b in zip(x, w, strict=True)]
    require(
        (w >= 0) & (w <= 1), "(ii) the weight must lie in [0, 1]", lambda i: values[i]
    )
    require(
        np.diff(w) <= 1e-12,
        "(ii) the weight must not rise with the loss",
        lambda i: f"{values[i]} and {values[i + 1]}",
    )
    # A floor stands still out here, where the slowest of ramps still falls.
    far = np.broadcast_to(checked.weight(np.array([1e150, 1e300])), 2)
    off = ", as its age or plateau is infinite" if checked.is_off else ""
    require(
        far[1:] <= 0.9 * far[:1],
        "(ii) the weight must go to 0 as the loss grows",
        lambda i: f"weight(1e+300) = {far[1]:.6g}{off}",
    )

    latent, integral = checked.latent(x), Pace.latent(checked, x)
    require(
        np.abs(latent - integral) <= 1e-6 * integral,
        "the latent loss must be the integral of the weight",
        lambda i: f"latent({x[i]:.6g}) = {latent[i]:.6g} against {integral[i]:.6g}",
    )

    v = np.linspace(0, 1, 201)
    f = checked.penalty(v)
    chord = f[:-2] / 2 + f[2:] / 2
    size = np.ptp(f[np.isfinite(f)])
    require(
        f[1:-1] <= chord + 1e-9 * size,
        "(i) the penalty must be convex",
        lambda i: (
            f"at v = {v[i + 1]:.6g} it is {f[i + 1]:.6g} over a chord {chord[i]:.6g}"
        ),
    )
    cost = w * x + checked.penalty(w)
    least = np.min(v * x[:, None] + f, axis=1)
    require(
        cost <= least + 1e-6 * (size + x),
        "(i) the weight must minimise v * loss + penalty(v)",
        lambda i: f"{values[i]} makes it {cost[i]:.6g}, another v {least[i]:.6g}",
    )

    params = checked.get_params(deep=False)
    if "age" in params:
        now = getattr(checked, "resolved_age", params["age"])
        ages = (now if now and now < math.inf else 1.0) * np.geomspace(1e-3, 1e3, 13)
        ages = np.concatenate([[1e-100], ages])
        rest = {"plateau": None} if "plateau" in params else {}
        by_age = np.array(
            [clone(checked).set_params(age=a, **rest).weight(x[1:]) for a in ages]
        )
        require(
            by_age[0] <= 0.01,
            "(iii) the weight must go to 0 with the age",
            lambda i: f"weight({x[i + 1]:.6g}) = {by_age[0, i]:.6g} at age 1e-100",
        )
        falls = np.diff(by_age, axis=0).min(axis=0)
        require(
            falls >= -1e-12,
            "(iii) the weight must not fall as the age grows",
            lambda i: (
                f"weight({x[i + 1]:.6g}) falls by {-falls[i]:.6g} from age "
                f"{ages[np.diff(by_age[:, i]).argmin()]:.6g} to the next"
            ),
        )

    return [
        "(i) penalty convex, least at the weight: holds",
        "(ii) weight in [0, 1], falling to 0 with the loss: holds",
        "(iii) weight rising from 0 with the age: "
        + ("holds" if "age" in params else "skipped: no parameter named age"),
        "latent loss the integral of the weight: holds",
    ]
