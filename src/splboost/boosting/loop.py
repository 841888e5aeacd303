"""The one loop behind every booster: Algorithm 1 of the SPLBoost paper.

a loss says how much each sample hurts           scores.refresh
a pace says how much of that hurt to believe     scores.refresh(paced=True)
a weak learner is fitted to the rest             step.propose
a step adds it to the score                      step.take
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

MOST_SKIPPED = 10  # rounds in a row that may pass without an edge, when rows are drawn

FINISHED = "all rounds done"
PERFECT = "perfect fit"
CONVERGED = "converged"
GOAL_REACHED = "goal reached"
STUCK = "stuck"
NO_EDGE = "no edge"
ONE_CLASS = "one class selected"
NONE_SELECTED = "no sample selected"
NO_IMPROVEMENT = "no improvement"
CALLBACK = "callback"
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Schedule:
    """How long to boost, and when the pace sets in."""

    n_estimators: int
    warm_rounds: int = 0
    subsample: float = 1.0


class Round(NamedTuple):
    """A learner that was kept, and what became of the samples."""

    term: Any
    move: float
    coefficient: Any  # a number, or one for each column
    error: float | None
    n_selected: int
    latent: float


@dataclass
class History:
    """What the loop has done so far.

    Attributes
    ----------
    rounds : a Round for each learner kept; it gets a whole one or none
    n_done : rounds done, those passed over included
    n_skipped : rounds passed over since the last learner kept
    stop_reason : why the loop ended
    """

    rounds: list[Round] = field(default_factory=list)
    n_done: int = 0
    n_skipped: int = 0
    stop_reason: str = FINISHED


class State(Protocol):
    """Scores of the training samples, and the weights that follow from them."""

    n_samples: int
    n_outputs: int
    n_threads: int
    n_selected: int
    latent: float
    state: Any  # what the weights depend on besides the scores
    time: Any  # of potentials that change with it, by output; None for losses

    def refresh(self, *, paced: bool) -> None:
        """Set weights, their number and the latent objective at the present scores."""

    def selects_one_class(self) -> bool:
        """Whether all samples of positive weight are of one class."""

    def paces(self) -> NDArray[np.float64]:
        """v of every sample at the present scores."""

    def output(self) -> NDArray[np.float64]:
        """The scores, a column for each output; the opposite of ``move_to``."""

    def move_to(self, output: NDArray[np.float64]) -> None:
        """Set the scores to those of a model."""

    def rewind(self, n_rounds: int) -> None:
        """Forget later rounds, but for the scores, which ``move_to`` sets."""

    def quality(self, weight: NDArray[np.float64]) -> float:
        """How good the predictions are: the accuracy, or R² of a regression."""


class Step(Protocol):
    """Fits weak learners and moves the scores along them."""

    def propose(self, learner: Any, scores: Any, rows: Any, *, paced: bool) -> Any:
        """Fit a learner to the present weights."""

    def has_edge(self, proposal: Any) -> bool:
        """Whether the proposal improves anything."""

    def take(self, scores: Any, proposal: Any) -> float:
        """Move the scores; returns by how much."""

    def coefficient(self, proposal: Any) -> Any:
        """The move in the scale that users know, of each column if there are more."""

    def reason_without_edge(self, proposal: Any, n_kept: int) -> str:
        """Why a proposal improves nothing, after so many learners that did."""

    def ends_after(self, scores: Any, rounds: list[Round]) -> str | None:
        """A reason to add no more to these rounds, or None."""


def boost(
    learner: Any,
    scores: State,
    step: Step,
    schedule: Schedule,
    history: History,
    *,
    rng: np.random.Generator,
    on_round: Callable[[History], str | None] | None = None,
) -> None:
    """Fit round after round until done or until nothing is left to improve.

    The first ``warm_rounds`` learners are fitted with all paces at 1. From then on the
    pace is that of the present scores, so that no round can raise the latent objective.

    The rounds are added to ``history``; where it has some, boosting goes on from there.
    ``on_round`` is called after each and may return a reason to stop.
    """
    n_estimators, warm_rounds = schedule.n_estimators, schedule.warm_rounds
    rounds, most_skipped = history.rounds, min(MOST_SKIPPED, n_estimators)
    history.stop_reason = FINISHED
    scores.refresh(paced=len(rounds) >= warm_rounds)
    if rounds and (reason := step.ends_after(scores, rounds)) is not None:
        history.stop_reason = reason
        return
    while history.n_done < n_estimators:
        n_kept = len(rounds)
        if scores.n_selected == 0:
            history.stop_reason = NONE_SELECTED
            break
        if n_kept > 0 and scores.selects_one_class():
            history.stop_reason = ONE_CLASS
            break

        rows = None
        if schedule.subsample < 1:
            rows = rng.random(scores.n_samples) < schedule.subsample
        paced = n_kept >= warm_rounds
        proposal = step.propose(learner, scores, rows, paced=paced)
        history.n_done += 1
        if not step.has_edge(proposal):
            history.n_skipped += 1
            if rows is not None and history.n_skipped < most_skipped:
                continue
            history.stop_reason = step.reason_without_edge(proposal, n_kept)
            if n_kept == 0:  # a model needs a learner, be it of no consequence
                nothing = 0.0 * step.coefficient(proposal)
                rounds.append(_round(scores, proposal, 0.0, nothing))
                if on_round is not None:
                    on_round(history)
            break

        history.n_skipped = 0
        move = step.take(scores, proposal)
        scores.refresh(paced=n_kept + 1 >= warm_rounds)
        rounds.append(_round(scores, proposal, move, step.coefficient(proposal)))
        reason = None if on_round is None else on_round(history)
        if reason is None:
            reason = step.ends_after(scores, rounds)
        if reason is not None:
            history.stop_reason = reason
            break


def _round(scores: State, proposal: Any, move: float, coefficient: Any) -> Round:
    error, n_selected = proposal.error, proposal.n_selected
    return Round(proposal.term, move, coefficient, error, n_selected, scores.latent)
