"""The one loop behind every booster: Algorithm 1 of the SPLBoost paper.

a loss says how much each sample hurts           scores.refresh
a pace says how much of that hurt to believe     scores.refresh(paced=True)
a weak learner is fitted to the rest             step.propose
a step adds it to the score                      step.take
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

MOST_SKIPPED = 10  # rounds in a row that may pass without an edge, when rows are drawn

FINISHED = "all rounds done"
PERFECT = "perfect fit"
NO_EDGE = "no edge"
ONE_CLASS = "one class selected"
NONE_SELECTED = "no sample selected"


@dataclass(frozen=True)
class Schedule:
    """How long to boost, and when the pace sets in."""

    n_estimators: int
    warm_rounds: int = 0
    subsample: float = 1.0
    stop_when_perfect: bool = True


@dataclass
class History:
    """What the loop leaves behind; the lists have one entry per learner kept."""

    terms: list[Any] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)
    coefficients: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    n_selected: list[int] = field(default_factory=list)
    latent: list[float] = field(default_factory=list)
    stop_reason: str = FINISHED


class State(Protocol):
    """Scores of the training samples, and the weights that follow from them."""

    weight: NDArray[np.float64]
    n_selected: int
    latent: float

    def refresh(self, *, paced: bool) -> None:
        """Set weights, their number and the latent objective at the present scores."""

    def selects_one_class(self) -> bool:
        """Whether all samples of positive weight are of one class."""


class Step(Protocol):
    """Fits weak learners and moves the scores along them."""

    def propose(self, learner: Any, scores: Any, rows: Any, *, paced: bool) -> Any:
        """Fit a learner to the present weights."""

    def has_edge(self, proposal: Any) -> bool:
        """Whether the proposal improves anything."""

    def take(self, scores: Any, proposal: Any) -> float:
        """Move the scores; returns by how much."""

    def coefficient(self, proposal: Any) -> float:
        """The move in the scale that users know."""


def boost(
    learner: Any,
    scores: State,
    step: Step,
    schedule: Schedule,
    *,
    rng: np.random.Generator,
    on_round: Callable[[History], None] | None = None,
) -> History:
    """Fit round after round until done or until nothing is left to improve.

    The first ``warm_rounds`` learners are fitted with all paces at 1. From then on the
    pace is that of the present scores, so that no round can raise the latent objective.
    """
    history = History()
    n_skipped, most_skipped = 0, min(MOST_SKIPPED, schedule.n_estimators)
    scores.refresh(paced=schedule.warm_rounds == 0)
    for _ in range(schedule.n_estimators):
        n_kept = len(history.terms)
        if scores.n_selected == 0:
            history.stop_reason = NONE_SELECTED
            break
        if n_kept > 0 and scores.selects_one_class():
            history.stop_reason = ONE_CLASS
            break

        rows = None
        if schedule.subsample < 1:
            rows = rng.random(scores.weight.size) < schedule.subsample
        paced = n_kept >= schedule.warm_rounds
        proposal = step.propose(learner, scores, rows, paced=paced)
        if not step.has_edge(proposal):
            n_skipped += 1
            if rows is not None and n_skipped < most_skipped:
                continue
            history.stop_reason = NO_EDGE
            if n_kept == 0:  # a model needs a learner, be it of no consequence
                _keep(history, scores, proposal, 0.0, 0.0)
            break

        n_skipped = 0
        move = step.take(scores, proposal)
        scores.refresh(paced=n_kept + 1 >= schedule.warm_rounds)
        _keep(history, scores, proposal, move, step.coefficient(proposal))
        if on_round is not None:
            on_round(history)
        if proposal.error <= 0 and schedule.stop_when_perfect:
            history.stop_reason = PERFECT
            break
    return history


def _keep(
    history: History, scores: State, proposal: Any, move: float, coefficient: float
) -> None:
    history.terms.append(proposal.term)
    history.moves.append(move)
    history.coefficients.append(coefficient)
    history.errors.append(proposal.error)
    history.n_selected.append(proposal.n_selected)
    history.latent.append(scores.latent)
