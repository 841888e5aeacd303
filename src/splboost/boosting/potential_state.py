"""State and step of boosters whose potential changes with time.

Scores fade as time goes on. What is kept are scores as they would be without, so that
learners only add to them; ``factor`` is how much they have faded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.learners import Learners, Weak
from splboost.boosting.loop import GOAL_REACHED, NO_EDGE, STUCK, Round
from splboost.boosting.potential_kernels import count_selected, face, share_missed
from splboost.boosting.potentials import NEARLY, decays
from splboost.boosting.prediction import level_ties
from splboost.boosting.state import State
from splboost.boosting.steps import Proposal, Rows, Step, Votes, weights_to_fit

FloatArray = NDArray[np.float64]

UNDER_WAY = ""
ENDINGS = {"finished": GOAL_REACHED, "no edge": NO_EDGE, "stuck": STUCK}


class PotentialState(State):
    """Scores, weights and times of the training samples, for each class.

    Parameters
    ----------
    potential : RobustPotential or BrownPotential
    codes : class number of each sample
    n_classes : int
    sample_weight : the user's weights, all positive
    n_threads : int

    Attributes
    ----------
    score : (n_outputs, n) scores as if none had faded
    times : list of arrays
        How far each class has come, at the start and after every round.
    endings : list of str
        Why each class has ended, UNDER_WAY if it has not.
    margin : (n_outputs, n) y F, faded, when last refreshed
    weight : (n_outputs, n) what the next learners are fitted with
    totals : summed potential of each class
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
        self.score = np.zeros((self.n_outputs, codes.size))
        self.margin = np.empty((self.n_outputs, codes.size))
        self.weight = np.empty((self.n_outputs, codes.size))
        self.times = [np.zeros(self.n_outputs)]
        self.endings = [UNDER_WAY] * self.n_outputs
        self.totals = [0.0] * self.n_outputs
        self.latent = 0.0
        classes = [1] if n_classes == 2 else range(n_classes)
        self.is_own = np.array([codes == k for k in classes])

    @property
    def mark(self) -> Any:
        return list(self.times), list(self.endings)

    @mark.setter
    def mark(self, mark: Any) -> None:
        self.times, self.endings = list(mark[0]), list(mark[1])

    def follow(self, weak: list[Any], time: Any = None) -> None:
        super().follow(weak, time)
        self.times.append(time)

    def rewind(self, n_rounds: int) -> None:
        """Forget the times of later rounds."""
        self.times = self.times[: n_rounds + 1]

    one_class = False

    @property
    def time(self) -> FloatArray:
        """How far each class has come."""
        return self.times[-1]

    def refresh(self, *, paced: bool) -> None:
        """Set margins and weights at the present scores and times."""
        for k in range(self.n_outputs):
            margin, time = self.margin[k], self.time[k]
            fade = self.potential.decay(time)
            face(self.score[k], self.is_own[k], fade, margin)
            self.totals[k] = self.potential.weigh(
                margin, time, self.sample_weight, self.weight[k]
            )
        self.latent = sum(self.totals) / self.n_outputs
        self.n_selected = count_selected(self.weight)

    def paces(self) -> FloatArray:
        return np.ones(self.n_samples)

    def potentials(self) -> FloatArray:
        """Potential of every sample, for its own class."""
        own = np.zeros(self.n_samples, dtype=int) if self.n_outputs == 1 else self.codes
        score = self.score * decays(self.potential, self.time)[:, None]
        margins = np.where(self.is_own, score, -score)
        values = [
            self.potential.value(margin, time)
            for margin, time in zip(margins, self.time, strict=True)
        ]
        return np.array(values)[own, np.arange(self.n_samples)]

    def quality(self, weight: FloatArray) -> float:
        """The accuracy."""
        if self.n_outputs == 1:
            right = (self.score[0] > 0) == (self.codes == 1)
        else:
            score = level_ties(self.score.T * decays(self.potential, self.time))
            right = score.argmax(axis=1) == self.codes
        return float(right @ weight) / float(weight.sum())


class PotentialStep(Step):
    """Moves scores and time such that the average potential stays what it is."""

    def propose(
        self, learners: Learners, state: PotentialState, rows: Rows, *, paced: bool
    ) -> Proposal:
        """Fit to the present weights, and solve for the moves."""
        potential, endings = state.potential, list(state.endings)
        n = len(learners.each)
        fitted: list[Weak | None] = [None] * n
        steps, time = np.zeros(n), state.time.copy()
        unused, error, has_edge = None, None, False
        for k, learner in enumerate(learners.each):
            if endings[k]:
                continue
            weight = weights_to_fit(learner, state.weight[k], rows)
            if weight is None:
                endings[k] = NO_EDGE
                continue
            weak = learner.fit(weight)
            weak.set_output(Votes())
            right = (weak.of_samples() > 0) == state.is_own[k]
            error = share_missed(state.weight[k], right)
            move = potential.solve(
                state.margin[k],
                right,
                state.sample_weight,
                time[k],
                state.totals[k],
            )
            ending = ENDINGS.get(move.outcome, UNDER_WAY)
            if ending in (NO_EDGE, STUCK):
                unused = weak
                # With other rows the next learner may do better.
                endings[k] = ending if rows is None else UNDER_WAY
                continue
            time[k] += move.duration
            if potential.end - time[k] < NEARLY * potential.end:
                ending = GOAL_REACHED
            endings[k], steps[k] = ending, move.step
            weak.scale(move.step / potential.decay(time[k]))
            if n > 1:
                weak.keep()
            fitted[k], has_edge = weak, True
        if not has_edge and n == 1:
            fitted = [unused]
        return Proposal(
            fitted,
            has_edge,
            steps[0] if n == 1 else steps,
            error if n == 1 else None,
            state.n_selected,
            time=time,
            endings=endings,
        )

    def take(self, state: PotentialState, proposal: Proposal) -> None:
        """Move scores and times."""
        super().take(state, proposal)
        state.endings = proposal.endings

    def reason_without_edge(self, proposal: Proposal, n_kept: int) -> str:
        return STUCK if STUCK in proposal.endings else NO_EDGE

    def ends_after(self, state: PotentialState, rounds: list[Round]) -> str | None:
        """Whether all classes have ended; the goal is that of all."""
        if not all(state.endings):
            return None
        reasons = (STUCK, NO_EDGE, GOAL_REACHED)
        return next(reason for reason in reasons if reason in state.endings)
