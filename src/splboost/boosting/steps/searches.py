"""Steps of the Savage losses: how far to go along a learner, and when to stop."""

from __future__ import annotations

from typing import Any

from splboost.boosting.scores.additive import AdditiveScores
from splboost.boosting.scores.links import Link
from splboost.boosting.scores.working import (
    best_vote_step,
    savage2_slope,
    savage_totals,
)
from splboost.boosting.steps.value_steps import ValueStep

NO_SLOPE = (
    1e-6  # summed slope of the loss, per unit of weight, that leaves nothing to do
)
SHORTEST, N_DOUBLINGS = 2.0**-6, 7


class HalvingStep(ValueStep):
    """Tries lengths from 2**-6 to 2, and takes the one with the lowest loss.

    ``learning_rate`` is in the link already, and no part of the length.
    """

    def __init__(self, link: Link, total_weight: float, learning_rate: float) -> None:
        super().__init__(link, total_weight)
        self.learning_rate = learning_rate

    def factor(self, scores: AdditiveScores, k: int, term: Any) -> float:
        """The best of the lengths, by the loss of the samples as far as believed."""
        totals = savage_totals(
            scores.raw[k],
            scores.codes,
            1 if scores.n_outputs == 1 else k,
            scores.believed(),
            term.values(),
            scores.working_set.loss.log_odds_per_score,
            SHORTEST / self.learning_rate,
            N_DOUBLINGS,
        )
        best = int(totals.argmin())
        return SHORTEST * 2.0 ** (best - 1) if best else 0.0


class FlatStep(ValueStep):
    """Stops where the loss is flat for all samples."""

    def factor(self, scores: AdditiveScores, k: int, term: Any) -> float:
        """1, unless next to nothing is left to gain."""
        slope = savage2_slope(scores.loss[k], scores.believed())
        return float(slope >= NO_SLOPE * self.total_weight)


class VoteStep(FlatStep):
    """Searches for the best length along votes, from 0 to 2."""

    def factor(self, scores: AdditiveScores, k: int, term: Any) -> float:
        """The length with the lowest loss of the samples as far as believed."""
        if not super().factor(scores, k, term):
            return 0.0
        return best_vote_step(
            scores.raw[k],
            scores.codes,
            1 if scores.n_outputs == 1 else k,
            scores.believed(),
            term.are_positive(),
        )
