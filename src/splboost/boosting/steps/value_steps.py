"""Steps of boosters whose learners add values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.learners.columns import ColumnsLearner, Terms, weights_to_fit
from splboost.boosting.loop import CONVERGED, NO_EDGE, Round
from splboost.boosting.scores.additive import AdditiveScores
from splboost.boosting.scores.links import Link

NO_VALUE = 1e-12

FloatArray = NDArray[np.float64]


class ValueProposal(NamedTuple):
    """The fitted weak learners of a round.

    Attributes
    ----------
    term : Terms
    coefficient : factor of each
    has_edge : whether any adds something
    n_selected : samples of positive pace that they were fitted for
    error : None, since learners do not vote
    """

    term: Terms
    coefficient: Any
    has_edge: bool
    n_selected: int
    error: None = None


class ValueStep:
    """Fits a learner to each working set, and adds what it answers.

    Parameters
    ----------
    link : from a learner's answers to what they add
    total_weight : float
        Summed weight of the samples, for what is negligible.
    tolerance : float
        A change of the latent objective, per unit of weight, below which it has
        converged.
    """

    def __init__(self, link: Link, total_weight: float, tolerance: float = 0.0) -> None:
        self.link = link
        self.total_weight = total_weight
        self.tolerance = tolerance

    def propose(
        self,
        learner: ColumnsLearner,
        scores: AdditiveScores,
        rows: NDArray[np.bool_] | None,
        *,
        paced: bool,
    ) -> ValueProposal:
        """Fit to the present working sets, on the given rows (None: all)."""
        fitted: list[Any] = []
        factors: list[float] = []
        for k, own in enumerate(learner.columns):
            weight = weights_to_fit(own, scores.weight[k], rows)
            if weight is None:
                fitted.append(None)
                factors.append(0.0)
                continue
            term = own.fit(weight, scores.target[k])
            term.link(self.link)
            factor = self.factor(scores, k, term) if term.largest >= NO_VALUE else 0.0
            if factor not in (0.0, 1.0):
                term.scale(factor)
            if len(learner.columns) > 1:
                term.keep()
            fitted.append(term)
            factors.append(factor)
        has_edge = any(factors)
        if has_edge and len(fitted) > 1:
            fitted = [
                term if factor else None
                for term, factor in zip(fitted, factors, strict=True)
            ]
        coefficient = factors[0] if len(factors) == 1 else np.array(factors)
        return ValueProposal(Terms(fitted), coefficient, has_edge, scores.n_selected)

    def factor(self, scores: AdditiveScores, k: int, term: Any) -> float:
        """By how much to multiply what a learner adds to column k; 0 leaves it out."""
        return 1.0

    def has_edge(self, proposal: ValueProposal) -> bool:
        """Whether any learner adds something."""
        return proposal.has_edge

    def take(self, scores: AdditiveScores, proposal: ValueProposal) -> float:
        """Move the scores."""
        proposal.term.vote(scores, 1.0)
        proposal.term.forget()
        return 1.0

    def coefficient(self, proposal: ValueProposal) -> Any:
        """The factor of each learner before the learning rate."""
        return proposal.coefficient

    def reason_without_edge(self, proposal: ValueProposal, n_kept: int) -> str:
        return CONVERGED if n_kept else NO_EDGE

    def ends_after(self, scores: Any, rounds: list[Round]) -> str | None:
        """Whether the latent objective has settled."""
        if len(rounds) < 2 or not self.tolerance:
            return None
        change = abs(rounds[-1].latent - rounds[-2].latent)
        return CONVERGED if change < self.tolerance * self.total_weight else None
