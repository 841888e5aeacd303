"""How a weak learner is fitted and how far to go along it.

The loop asks a step for a *proposal*: a fitted weak learner and the length of the move
along it. A family of boosters (discrete, real, Newton, ...) is a step of its own.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.loop import NO_EDGE, PERFECT, Round
from splboost.boosting.scores.discrete_scores import Scores, on_grid

LEAST_EDGE = 1e-12
SMALLEST_ERROR = 1e-10
SETTLED = 1e-8

FloatArray = NDArray[np.float64]


class Proposal(NamedTuple):
    """A fitted weak learner and what to make of it.

    Attributes
    ----------
    term : the learner's votes on the training samples
    error : share of the weight that it gets wrong
    full : length of the best move along it
    n_selected : samples of positive pace that it was fitted for
    """

    term: Any
    error: float
    full: float
    n_selected: int


class DiscreteStep:
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

    def __init__(
        self,
        n_classes: int,
        floor: float,
        learning_rate: float = 1.0,
        n_alternations: int = 0,
        *,
        stop_when_perfect: bool = True,
    ) -> None:
        self.n_classes = n_classes
        self.learning_rate = learning_rate
        self.n_alternations = n_alternations
        self.floor = max(SMALLEST_ERROR, floor)
        self.stop_when_perfect = stop_when_perfect

    def propose(
        self,
        learner: Any,
        scores: Scores,
        rows: NDArray[np.bool_] | None,
        *,
        paced: bool,
    ) -> Proposal:
        """Fit a learner to the present weights, on the given rows (None: all)."""
        proposal = self._fit(learner, scores.weight, rows, scores.n_selected)
        if paced and self.n_alternations and self.has_edge(proposal):
            return self._alternate(learner, scores, rows, proposal)
        return proposal

    def has_edge(self, proposal: Proposal) -> bool:
        """Whether the learner beats guessing."""
        return proposal.error < 1 - 1 / self.n_classes - LEAST_EDGE

    def take(self, scores: Scores, proposal: Proposal) -> float:
        """Move the scores; returns the move, which lies on the grid of exact sums."""
        move = on_grid(self.learning_rate * proposal.full)
        proposal.term.vote(scores, move)
        scores.advance(move)
        return move

    def coefficient(self, proposal: Proposal) -> float:
        """The full move in the scale of the papers: AdaBoost's alpha, SAMME's beta."""
        return (self.n_classes - 1) ** 2 * proposal.full

    def reason_without_edge(self, proposal: Proposal, n_kept: int) -> str:
        return NO_EDGE

    def ends_after(self, scores: Scores, rounds: list[Round]) -> str | None:
        """Whether the last learner makes no error: the next would be like it."""
        error = rounds[-1].error
        perfect = error is not None and error <= 0
        return PERFECT if perfect and self.stop_when_perfect else None

    def _fit(
        self,
        learner: Any,
        weight: FloatArray,
        rows: NDArray[np.bool_] | None,
        n_selected: int,
    ) -> Proposal:
        """Fit on the drawn rows, or on all if those are too few; judge on all."""
        drawn = weight if rows is None else weight * rows
        if rows is None or not learner.can_fit(drawn):
            term = learner.fit(weight)
            error = term.error
        else:
            term = learner.fit(drawn)
            error = term.missed(weight) / float(weight.sum())
        return Proposal(term, error, self._best_move(error), n_selected)

    def _best_move(self, error: float) -> float:
        k = self.n_classes
        error = min(max(error, self.floor), 1 - self.floor)
        return (math.log((1 - error) / error) + math.log(k - 1)) / k

    def _alternate(
        self,
        learner: Any,
        scores: Scores,
        rows: NDArray[np.bool_] | None,
        proposal: Proposal,
    ) -> Proposal:
        """Alternate between paces and learner while the scores stay where they are.

        Takes the paces at the scores to which the learner would lead, and refits with
        them; until the paces settle, or until the new learner does not do better than
        the old one under them (trees are greedy, so it may not).
        """
        v = scores.paces()
        for _ in range(self.n_alternations):
            proposal.term.keep_votes()
            new_v, loss = scores.look_ahead(proposal.term, proposal.full)
            settled = np.abs(new_v - v).max() < SETTLED
            v = new_v
            weight = scores.plain_weight() * v
            if settled or np.count_nonzero(np.bincount(scores.codes[weight > 0])) < 2:
                break
            new = self._fit(learner, weight, rows, int(np.count_nonzero(v)))
            if not self.has_edge(new):
                break
            if scores.look_ahead(new.term, new.full, v)[1] >= loss:
                break
            proposal = new
        return proposal
