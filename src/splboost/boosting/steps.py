"""Steps that add what weak learners answer, as values: half log-odds, Newton steps.

A link makes values of the answers: class shares become half their log-odds (real
boosting), means Newton steps. Votes with a move in closed form are AdaBoost's own way
(``adaboost``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.loop import CONVERGED, NO_EDGE, Round, Rows, Step, Weak, coded
from splboost.boosting.state import State

FloatArray = NDArray[np.float64]

NO_VALUE = 1e-12
NEGLIGIBLE = 1e-12  # of the largest weight


# --------------------------------------------------------- from answers to outputs


@dataclass(frozen=True)
class Votes:
    """A multiple of ±1."""

    factor: float = 1.0

    def __call__(self, answers: NDArray[Any]) -> FloatArray:
        return self.factor * coded(answers, 2)


@dataclass(frozen=True)
class Means:
    """A multiple of the mean."""

    factor: float

    def __call__(self, answers: NDArray[Any]) -> FloatArray:
        return self.factor * answers


@dataclass(frozen=True)
class LogOdds:
    """A multiple of half the log-odds of two classes, the exponential loss's minimiser.

    For K classes it is log p_k less the mean over the classes. Shares are kept
    ``clip`` away from 0, and so much from 1 that the others can be.
    """

    factor: float
    clip: float

    def __call__(self, answers: NDArray[Any]) -> FloatArray:
        k = answers.shape[1]
        log_p = np.log(np.clip(answers, self.clip, 1 - (k - 1) * self.clip))
        if k == 2:
            return self.factor * 0.5 * (log_p[:, 1:] - log_p[:, :1])
        return self.factor * (log_p - log_p.mean(axis=1, keepdims=True))


def least_share(weight: FloatArray, n_classes: int = 2) -> float:
    """How far to keep shares from 0: that of a sample among all.

    Weights that sum to less than their number still are that many samples.
    """
    return 1 / max(float(weight.sum()), weight.size, n_classes + 1)


# ------------------------------------------------------------------------------- steps


@dataclass
class ValueStep(Step):
    """Fits a learner for each class, and adds what it answers.

    Parameters
    ----------
    link : from a learner's answers to what they add
    total_weight : float
        Summed weight of the samples, for what is negligible.
    tolerance : float
        A change of the latent objective, per unit of weight, below which it has
        converged.
    unit : float
        Of the scores, as users know them.
    """

    link: Any
    total_weight: float
    tolerance: float = 0.0
    unit: float = 1.0

    def propose(self, learners: Any, state: State, rows: Rows, *, paced: bool) -> Round:
        n = len(learners)
        fitted: list[Weak | None] = [None] * n
        factors = np.zeros(n)
        for k, learner in enumerate(learners):
            weight = weights_to_fit(learner, state.weight[k], rows)
            if weight is None:
                continue
            target = None if state.target is None else state.target[k]
            weak = learner.fit(weight, target)
            largest = weak.set_output(self.link)
            factors[k] = self.factor(state, k, weak) if largest >= NO_VALUE else 0.0
            if factors[k] not in (0.0, 1.0):
                weak.scale(factors[k])
            if n > 1:
                weak.keep()
            if factors[k] or n == 1:
                fitted[k] = weak
        coefficient = self.unit * (factors[0] if n == 1 else factors)
        has_edge = bool(factors.any())
        return Round(fitted, has_edge, coefficient, None, state.n_selected)

    def factor(self, state: State, k: int, weak: Weak) -> float:
        """By how much to multiply what a learner adds to class k; 0 leaves it out."""
        return state.scale_of_target

    def reason_without_edge(self, new: Round, n_kept: int) -> str:
        return CONVERGED if n_kept else NO_EDGE

    def ends_after(self, state: State, rounds: list[Round]) -> str | None:
        """Whether the latent objective has settled."""
        if len(rounds) < 2 or not self.tolerance:
            return None
        change = abs(rounds[-1].latent - rounds[-2].latent)
        return CONVERGED if change < self.tolerance * self.total_weight else None


def weights_to_fit(learner: Any, weight: FloatArray, rows: Rows) -> FloatArray | None:
    """The weights of the drawn rows, those that are negligible at 0.

    Where a learner cannot be fitted to these, of all rows; None if not to these either.
    """
    for own in [weight] if rows is None else [weight * rows, weight]:
        kept = own * (own >= NEGLIGIBLE * own.max(initial=0.0))
        if learner.can_fit(kept):
            return kept
    return None
