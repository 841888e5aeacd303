"""State and step of boosters whose potential changes with time.

Scores fade as time goes on. What is kept are scores as they would be without, so that
learners only add to them; ``factor`` is how much they have faded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.learners.columns import ColumnsLearner, Terms, weights_to_fit
from splboost.boosting.loop import GOAL_REACHED, NO_EDGE, STUCK, Round
from splboost.boosting.potential_kernels import count_selected, face, share_missed
from splboost.boosting.potentials import NEARLY, decays
from splboost.boosting.prediction import level_ties
from splboost.boosting.scores.links import Vote

FloatArray = NDArray[np.float64]

UNDER_WAY = ""
VOTE = Vote(1.0)
ENDINGS = {"finished": GOAL_REACHED, "no edge": NO_EDGE, "stuck": STUCK}


class PotentialScores:
    """Scores, weights and times of the training samples, a column for each class.

    Parameters
    ----------
    potential : RobustPotential or BrownPotential
    codes : class number of each sample
    n_classes : int
    sample_weight : the user's weights, all positive
    n_threads : int

    Attributes
    ----------
    raw : (n_outputs, n) scores as if none had faded
    times : list of arrays
        How far each column has come, at the start and after every round.
    endings : list of str
        Why each column has ended, UNDER_WAY if it has not.
    margin : (n_outputs, n) y F, faded, when last refreshed
    weight : (n_outputs, n) what the next learners are fitted with
    totals : summed potential of each column
    """

    def __init__(
        self,
        potential: Any,
        codes: NDArray[np.integer],
        n_classes: int,
        sample_weight: FloatArray,
        *,
        n_threads: int = 1,
    ) -> None:
        self.potential = potential
        self.codes = codes
        self.sample_weight = np.ascontiguousarray(sample_weight)
        self.n_threads = n_threads
        self.n_samples = self.n_selected = codes.size
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.raw = np.zeros((self.n_outputs, codes.size))
        self.margin = np.empty((self.n_outputs, codes.size))
        self.weight = np.empty((self.n_outputs, codes.size))
        self.times = [np.zeros(self.n_outputs)]
        self.endings = [UNDER_WAY] * self.n_outputs
        self.totals = [0.0] * self.n_outputs
        self.latent = 0.0
        classes = [1] if n_classes == 2 else range(n_classes)
        self.is_own = np.array([codes == k for k in classes])

    @property
    def state(self) -> tuple[list[FloatArray], list[str]]:
        return list(self.times), list(self.endings)

    @state.setter
    def state(self, state: tuple[list[FloatArray], list[str]]) -> None:
        self.times, self.endings = list(state[0]), list(state[1])

    def rewind(self, n_rounds: int) -> None:
        """Forget the times of later rounds."""
        self.times = self.times[: n_rounds + 1]

    @property
    def time(self) -> FloatArray:
        """How far each column has come."""
        return self.times[-1]

    def refresh(self, *, paced: bool) -> None:
        """Set margins and weights at the present scores and times."""
        for k in range(self.n_outputs):
            margin, time = self.margin[k], self.time[k]
            fade = self.potential.decay(time)
            face(self.raw[k], self.is_own[k], fade, margin)
            self.totals[k] = self.potential.weigh(
                margin, time, self.sample_weight, self.weight[k]
            )
        self.latent = sum(self.totals) / self.n_outputs
        self.n_selected = count_selected(self.weight)

    def selects_one_class(self) -> bool:
        return False

    def paces(self) -> FloatArray:
        return np.ones(self.n_samples)

    def potentials(self) -> FloatArray:
        """Potential of every sample, in the column of its own class."""
        own = np.zeros(self.n_samples, dtype=int) if self.n_outputs == 1 else self.codes
        score = self.raw * decays(self.potential, self.time)[:, None]
        margins = np.where(self.is_own, score, -score)
        values = [
            self.potential.value(margin, time)
            for margin, time in zip(margins, self.time, strict=True)
        ]
        return np.array(values)[own, np.arange(self.n_samples)]

    def output(self) -> FloatArray:
        """The scores as a model gives them."""
        return self.raw.T.copy()

    def move_to(self, output: FloatArray) -> None:
        """Set the scores to those of a model."""
        self.raw = np.ascontiguousarray(output.T)

    def quality(self, weight: FloatArray) -> float:
        """The accuracy."""
        if self.n_outputs == 1:
            right = (self.raw[0] > 0) == (self.codes == 1)
        else:
            score = level_ties(self.raw.T * decays(self.potential, self.time))
            right = score.argmax(axis=1) == self.codes
        return float(right @ weight) / float(weight.sum())


class TimedTerms(Terms):
    """A round's terms, and the time after it, by column."""

    time: FloatArray

    def replaced(self, terms: Iterable[Any]) -> TimedTerms:
        other = TimedTerms(terms)
        other.time = self.time
        return other

    def vote(self, scores: Any, move: float) -> None:
        super().vote(scores, move)
        scores.times.append(self.time)


class PotentialProposal(NamedTuple):
    """The fitted weak classifiers of a round, and where they lead.

    Attributes
    ----------
    term : TimedTerms
    coefficient : by how much each moves the scores
    error : weighted error of the classifier; None for several
    endings : why each column ends with this round, UNDER_WAY if it does not
    n_selected : samples of positive weight
    """

    term: TimedTerms
    coefficient: Any
    error: float | None
    endings: list[str]
    n_selected: int
    has_edge: bool


class PotentialStep:
    """Moves scores and time such that the average potential stays what it is."""

    def propose(
        self,
        learner: ColumnsLearner,
        scores: PotentialScores,
        rows: NDArray[np.bool_] | None,
        *,
        paced: bool,
    ) -> PotentialProposal:
        """Fit to the present weights, on the given rows (None: all)."""
        potential, endings = scores.potential, list(scores.endings)
        n_columns = len(learner.columns)
        fitted: list[Any] = [None] * n_columns
        steps, time = np.zeros(n_columns), scores.time.copy()
        unused, error, has_edge = None, None, False
        for k, own in enumerate(learner.columns):
            if endings[k]:
                continue
            weight = weights_to_fit(own, scores.weight[k], rows)
            if weight is None:
                endings[k] = NO_EDGE
                continue
            term = own.fit(weight, weight)
            term.link(VOTE)
            right = term.are_positive() == scores.is_own[k]
            error = share_missed(scores.weight[k], right)
            move = potential.solve(
                scores.margin[k],
                right,
                scores.sample_weight,
                time[k],
                scores.totals[k],
            )
            ending = ENDINGS.get(move.outcome, UNDER_WAY)
            if ending in (NO_EDGE, STUCK):
                unused = term
                # With other rows the next learner may do better.
                endings[k] = ending if rows is None else UNDER_WAY
                continue
            time[k] += move.duration
            if potential.end - time[k] < NEARLY * potential.end:
                ending = GOAL_REACHED
            endings[k], steps[k] = ending, move.step
            term.scale(move.step / potential.decay(time[k]))
            if n_columns > 1:
                term.keep()
            fitted[k], has_edge = term, True
        if not has_edge and n_columns == 1:
            fitted = [unused]
        terms = TimedTerms(fitted)
        terms.time = time
        coefficient = steps[0] if n_columns == 1 else steps
        return PotentialProposal(
            terms,
            coefficient,
            error if n_columns == 1 else None,
            endings,
            scores.n_selected,
            has_edge,
        )

    def has_edge(self, proposal: PotentialProposal) -> bool:
        """Whether any classifier moves its column."""
        return proposal.has_edge

    def take(self, scores: PotentialScores, proposal: PotentialProposal) -> float:
        """Move scores and times."""
        proposal.term.vote(scores, 1.0)
        proposal.term.forget()
        scores.endings = proposal.endings
        return 1.0

    def coefficient(self, proposal: PotentialProposal) -> Any:
        """The step of each classifier."""
        return proposal.coefficient

    def reason_without_edge(self, proposal: PotentialProposal, n_kept: int) -> str:
        return STUCK if STUCK in proposal.endings else NO_EDGE

    def ends_after(self, scores: PotentialScores, rounds: list[Round]) -> str | None:
        """Whether all columns have ended; the goal is that of all."""
        if not all(scores.endings):
            return None
        reasons = (STUCK, NO_EDGE, GOAL_REACHED)
        return next(reason for reason in reasons if reason in scores.endings)
