"""From a round's weak learners to what they add: one step for each family of boosters.

A weak learner answers with leaves (``learners``). A step turns the answers into outputs
of the leaves: votes into ±α (discrete boosting), class shares into half their log-odds
(real), means into Newton steps; and says how far to go along them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.learners import Learners, drop_negligible
from splboost.boosting.loop import CONVERGED, NO_EDGE, PERFECT, Round
from splboost.boosting.model import Weak, coded
from splboost.boosting.state import State

FloatArray = NDArray[np.float64]
Rows = NDArray[np.bool_] | None  # those that are fitted to; None for all

LEAST_EDGE = 1e-12
SMALLEST_ERROR = 1e-10
SETTLED = 1e-8
NO_VALUE = 1e-12


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


def effective_size(weight: FloatArray) -> float:
    """Number of samples: weights that sum to less still are that many of them."""
    return float(max(weight.sum(), weight.size))


# ------------------------------------------------------------------------------- steps


class Proposal(NamedTuple):
    """The fitted weak learners of a round.

    Attributes
    ----------
    weak : list of Weak or None, for each class or one for all
    has_edge : whether they improve anything
    coefficient : how far to go, in the scale that users know
    error : weighted error of a classifier that votes; None of others, or of several
    n_selected : samples of positive pace that they were fitted for
    move : length of the best move along it
    time : of potentials, after the round
    endings : of potentials, why each class ends
    """

    weak: list[Weak | None]
    has_edge: bool
    coefficient: Any
    error: float | None
    n_selected: int
    move: float = 1.0
    time: Any = None
    endings: Any = None


class Step:
    """Fits weak learners to the present weights, and moves the scores along them."""

    def propose(
        self, learners: Learners, state: Any, rows: Rows, *, paced: bool
    ) -> Proposal:
        """Fit to the samples in ``rows``."""
        raise NotImplementedError

    def take(self, state: Any, proposal: Proposal) -> None:
        """Move the scores."""
        state.follow(proposal.weak, proposal.time)
        for weak in proposal.weak:
            if weak is not None:
                weak.forget()

    def reason_without_edge(self, proposal: Proposal, n_kept: int) -> str:
        """Why a proposal improves nothing, after so many learners that did."""
        return NO_EDGE

    def ends_after(self, state: Any, rounds: list[Round]) -> str | None:
        """A reason to add no more to these rounds, or None."""
        return None


@dataclass
class DiscreteStep(Step):
    """AdaBoost's step: a classifier with a weighted error, and a move in closed form.

    The move minimises the weighted exponential loss along the classifier's votes. With
    K classes a move a changes the margin by (K - 1) a where the vote is right and by -a
    where it is wrong, and

        a = (log((1 - err) / err) + log(K - 1)) / K,

    which for two classes is AdaBoost's alpha. SAMME's coefficient of the vote coded as
    (1, -1/(K-1), ...) is (K - 1)^2 a.

    Parameters
    ----------
    n_classes : int
    floor : float
        The error is kept at least so far away from 0 and 1.
    learning_rate : float
    n_alternations : int
        How often to alternate between paces and learner within a round, at most.
    stop_when_perfect : bool
        Whether to end with a learner that makes no error.
    """

    n_classes: int
    floor: float
    learning_rate: float = 1.0
    n_alternations: int = 0
    stop_when_perfect: bool = True

    def propose(
        self, learners: Learners, state: State, rows: Rows, *, paced: bool
    ) -> Proposal:
        learner = learners.each[0]
        proposal = self._fit(learner, state, state.weight[0], rows, state.n_selected)
        if paced and self.n_alternations and proposal.has_edge:
            proposal = self._alternate(learner, state, rows, proposal)
        weak: Any = proposal.weak[0]
        weak.vote(self.n_classes, self.learning_rate * proposal.move)
        return proposal

    def _fit(
        self, learner: Any, state: State, weight: FloatArray, rows: Rows, n: int
    ) -> Proposal:
        """Fit on the drawn rows, or on all if those are too few; judge on all."""
        drawn = weight if rows is None else weight * rows
        if rows is None or not learner.can_fit(drawn):
            weak = learner.fit(weight)
            error = weak.error
        else:
            weak = learner.fit(drawn)
            error = weak.missed(weight, state.codes) / float(weight.sum())
        k = self.n_classes
        floor = max(SMALLEST_ERROR, self.floor)
        kept = min(max(error, floor), 1 - floor)
        move = (math.log((1 - kept) / kept) + math.log(k - 1)) / k
        has_edge = error < 1 - 1 / k - LEAST_EDGE
        return Proposal([weak], has_edge, (k - 1) ** 2 * move, error, n, move)

    def take(self, state: State, proposal: Proposal) -> None:
        """Move the scores, and with them the margin that weights start from."""
        weak: Any = proposal.weak[0]
        state.follow([weak])
        state.advance((self.n_classes - 1) * weak.factor)
        weak.forget()

    def ends_after(self, state: State, rounds: list[Round]) -> str | None:
        """Whether the last learner makes no error: the next would be like it."""
        error = rounds[-1].error
        perfect = error is not None and error <= 0
        return PERFECT if perfect and self.stop_when_perfect else None

    def _alternate(
        self, learner: Any, state: State, rows: Rows, proposal: Proposal
    ) -> Proposal:
        """Alternate between paces and learner while the scores stay where they are.

        Takes the paces at the scores to which the learner would lead, and refits with
        them; until the paces settle, or until the new learner does not do better than
        the old one under them (trees are greedy, so it may not).
        """
        v = state.paces()
        plain = state.sample_weight * state.plain_weight()
        for _ in range(self.n_alternations):
            proposal.weak[0].keep()  # type: ignore[union-attr]
            new_v, loss = self._look_ahead(state, proposal)
            settled = np.abs(new_v - v).max() < SETTLED
            v = new_v
            weight = plain * v
            if settled or np.unique(state.codes[weight > 0]).size < 2:
                break
            new = self._fit(learner, state, weight, rows, int(np.count_nonzero(v)))
            if not new.has_edge or self._look_ahead(state, new, v)[1] >= loss:
                break
            proposal = new
        return proposal

    def _look_ahead(
        self, state: State, proposal: Proposal, v: FloatArray | None = None
    ) -> tuple[FloatArray, float]:
        """Paces, and the loss weighted by them, that a full step would lead to.

        With ``v`` given, the loss is weighted by that instead.
        """
        weak: Any = proposal.weak[0]
        weak.vote(self.n_classes, proposal.move)
        state.follow([weak])
        v = state.paces() if v is None else v
        loss = float((state.sample_weight * v * state.losses()).sum())
        weak.output = -weak.output
        state.follow([weak])
        return v, loss


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
    """

    link: Any
    total_weight: float
    tolerance: float = 0.0

    def propose(
        self, learners: Learners, state: State, rows: Rows, *, paced: bool
    ) -> Proposal:
        n = len(learners.each)
        fitted: list[Weak | None] = [None] * n
        factors = np.zeros(n)
        for k, learner in enumerate(learners.each):
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
        coefficient = factors[0] if n == 1 else factors
        has_edge = bool(factors.any())
        return Proposal(fitted, has_edge, coefficient, None, state.n_selected)

    def factor(self, state: State, k: int, weak: Weak) -> float:
        """By how much to multiply what a learner adds to class k; 0 leaves it out."""
        return 1.0

    def reason_without_edge(self, proposal: Proposal, n_kept: int) -> str:
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
        kept = drop_negligible(own)
        if learner.can_fit(kept):
            return kept
    return None
