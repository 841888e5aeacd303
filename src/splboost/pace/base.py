"""What a self-paced regulariser must offer, and numerical ways to offer it."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.polynomial.legendre import Legendre
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

FloatArray = NDArray[np.float64]

LARGEST = sys.float_info.max
MOST_PANELS = 1_000_000  # of a quadrature; a weight that needs more is no weight


def unit_interval(v: ArrayLike) -> FloatArray:
    array = np.asarray(v, dtype=np.float64)
    if not np.all((array >= 0) & (array <= 1)):
        raise ValueError(f"v must lie in [0, 1], got v={v!r}; clip it to that range.")
    return array


class Formula(NamedTuple):
    """A regulariser as kernels have it: two formulas of (loss, age, shape)."""

    weight: Callable[[Any, Any, Any], Any]
    latent: Callable[[Any, Any, Any], Any]
    age: Any  # a number, or an array with one for each class
    shape: Any


class Curves(NamedTuple):
    """The two functions of the loss that a booster needs, on float64 arrays.

    They may raise numpy's floating-point warnings; call them under ``np.errstate``.
    Where there is a ``formula``, kernels use that instead of the functions.
    """

    weight: Callable[[FloatArray], FloatArray]
    latent: Callable[[FloatArray], FloatArray]
    formula: Formula | None = None


class Link(Protocol):
    """How a loss turns into the probability of a label, and back."""

    def probability_at(self, doubt: float, n_classes: int) -> float:
        """Probability of a label whose loss is ``doubt``, above 0 or nearly."""

    def doubt_at(self, probability: float, n_classes: int) -> float:
        """Loss of a label of that probability, which is above 0 and at most 1."""

    def plateau_of(self, plateau: float, n_classes: int) -> float:
        """The plateau in units of this loss, from one of the exponential loss."""


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
        ends = np.minimum(loss, LARGEST).ravel()
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
        array = unit_interval(v)
        # The largest loss with a weight above v. Bit patterns order the non-negative
        # floats, so halving them finds it to the last digit at any magnitude.
        low = np.zeros(array.shape, dtype=np.int64)
        high = np.full(array.shape, LARGEST).view(np.int64)
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

    def for_loss(self, n_classes: int, link: Link, default_plateau: float) -> Pace:
        """The regulariser in the units of a loss; here the same."""
        return self

    def for_class(self, prior: float, n_classes: int, link: Link) -> Pace:
        """The regulariser for a class with that share of the data; here the same."""
        return self

    def curves(self) -> Curves:
        """``weight`` and ``latent`` with the parameters checked once, for a loop."""
        losses = np.array([0.0, 0.25, 1.0, 4.0, 1e3])
        v = self.weight(losses)
        if np.shape(v) != losses.shape or not np.all(
            (np.asarray(v, dtype=np.float64) >= 0) & (np.asarray(v) <= 1)
        ):
            raise ValueError(
                f"pace={self!r}: weight({losses.tolist()}) gives {v!r}, where one "
                "number in [0, 1] is wanted for each loss; try it with "
                "splboost.pace.check_pace."
            )
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
    tolerance = 1e-12 * np.cumsum(np.abs(coarse))
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
        if not 0 < len(home) < MOST_PANELS:
            break
    parts += np.bincount(home, coarse, minlength=len(parts))
    return np.concatenate([[0.0], np.cumsum(parts)])
