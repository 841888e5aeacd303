"""A loss with a pace: gradients times v, and a record of what the pace did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.engines.losses import FUNCTIONS, Terms
from splboost.pace import Pace
from splboost.pace.classes import ClassCurves


class Step(NamedTuple):
    """What a round hands to the package.

    Attributes
    ----------
    gradient, hessian : arrays of the shape of the scores, both times v and the weights
    """

    gradient: NDArray[Any]
    hessian: NDArray[Any]


class PacedLoss:
    """The loss of a boosting package, of which each sample's share v counts.

    With v held fixed, v times the loss lies above the latent loss and touches it; its
    gradient and Hessian are v times those of the loss, so the Hessian is never
    negative.

    Parameters
    ----------
    loss : {"logistic", "exponential", "softmax"}
    paces : the regulariser of each class, in units of the loss; None for none
    """

    def __init__(self, loss: str, paces: Sequence[Pace | None]) -> None:
        self._function = FUNCTIONS[loss]
        self._curves = ClassCurves(paces)
        self._lines: Any = None
        if self._curves.lines is not None and not self._curves.is_plain:
            lines = np.array(self._curves.lines)
            self._lines = lines[0] if (lines == lines[0]).all() else lines

    @property
    def is_plain(self) -> bool:
        """Whether v is 1 by definition."""
        return self._curves.is_plain

    @np.errstate(all="ignore")
    def terms(self, scores: NDArray[Any], y: NDArray[Any]) -> Terms:
        """Loss, gradient and Hessian, before any pace."""
        return self._function(scores, y)

    @np.errstate(all="ignore")
    def weight(self, loss: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        """The share v of each loss that counts, from 0 to 1."""
        if self.is_plain:
            return np.ones_like(loss)
        if self._lines is None:
            codes = y.astype(np.intp)
            v = self._curves.weight(loss.astype(np.float64), codes)
            return v.astype(loss.dtype)
        age, slope = self._ages(y)
        believed = loss < age
        if not np.any(slope):  # all of a loss, or nothing
            return believed.astype(loss.dtype)
        return np.where(believed, 1 - slope * loss / age, 0).astype(loss.dtype)

    @np.errstate(all="ignore")
    def latent(self, loss: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        """The latent loss, of which v is the slope."""
        if self.is_plain:
            return loss
        if self._lines is None:
            return self._curves.latent(loss.astype(np.float64), y.astype(np.intp))
        age, slope = self._ages(y)
        seen = np.minimum(loss, age)
        return seen * (1 - slope * seen / age / 2) if np.any(slope) else seen

    def _ages(self, y: NDArray[Any]) -> Any:
        """Age and slope of each sample's line, or of all."""
        if self._lines.ndim == 1:
            return self._lines.astype(y.dtype)
        return self._lines.T.astype(y.dtype)[:, y.astype(np.intp)]


def step(terms: Terms, factor: NDArray[Any] | None) -> Step:
    """Gradient and Hessian times a factor for each sample."""
    if factor is None:
        return Step(terms.gradient, terms.hessian)
    gradient, hessian = terms.gradient, terms.hessian
    factor = factor.astype(gradient.dtype, copy=False)
    if gradient.ndim > 1:
        factor = factor[:, None]
    return Step(gradient * factor, hessian * factor)


class PacedRounds:
    """The rounds of one fit: warm ones first, then paced; with a record of each.

    Parameters
    ----------
    loss : PacedLoss
    y : array of shape (n_samples,)
        Numbers of the classes.
    weight : array of shape (n_samples,) or None
    warm_rounds : int
        Rounds before the pace sets in.
    first_round : int, default=0
        Rounds that were done before this fit.

    Attributes
    ----------
    latent : list of float
        The summed latent loss before each round; after each, when finished.
    n_selected : list of int
        Samples of positive weight with v > 0 in each round.
    """

    def __init__(
        self,
        loss: PacedLoss,
        y: NDArray[Any],
        weight: NDArray[Any] | None,
        *,
        warm_rounds: int,
        first_round: int = 0,
    ) -> None:
        self.loss = loss
        self.latent: list[float] = []
        self.n_selected: list[int] = []
        self._y = y
        self._weight = None if weight is None or not weight.size else weight
        self._warm_rounds = warm_rounds
        self._round = first_round

    def __call__(self, scores: NDArray[Any]) -> Step:
        """The next round's gradient and Hessian, at the scores before it."""
        y = self._y.astype(scores.dtype, copy=False)
        self._y = y
        terms = self.loss.terms(scores, y)
        self.latent.append(self._sum(self.loss.latent(terms.loss, y)))
        factor = self._weight
        if self._round >= self._warm_rounds and not self.loss.is_plain:
            v = self.loss.weight(terms.loss, y)
            factor = v if factor is None else v * factor
        self._round += 1
        n = terms.loss.size if factor is None else np.count_nonzero(factor)
        self.n_selected.append(int(n))
        return step(terms, factor)

    def finish(self, scores: NDArray[Any], n_kept: int) -> None:
        """Keep the record of so many rounds; ``scores`` are those after the last.

        Afterwards ``latent`` has the summed latent loss after each round.
        """
        y = self._y.astype(scores.dtype, copy=False)
        last = self._sum(self.loss.latent(self.loss.terms(scores, y).loss, y))
        self.latent = [*self.latent[1:], last][:n_kept]
        self.n_selected = self.n_selected[:n_kept]

    def final_weight(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """v at these scores; NaN for samples of weight zero."""
        y = self._y.astype(scores.dtype, copy=False)
        v = self.loss.weight(self.loss.terms(scores, y).loss, y).astype(np.float64)
        if self._weight is not None:
            v[self._weight == 0] = np.nan
        return v

    def _sum(self, latent: NDArray[Any]) -> float:
        if self._weight is None:
            return float(latent.sum(dtype=np.float64))
        return float(np.dot(latent.astype(np.float64), self._weight))
