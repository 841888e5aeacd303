"""The one loop behind every booster: Algorithm 1 of the SPLBoost paper.

a loss says how much each sample hurts           state.refresh
a pace says how much of that hurt to believe     state.refresh(paced=True)
a weak learner is fitted to the rest             step.propose
a step adds it to the score                      step.take
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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


@dataclass(slots=True, eq=False)
class Round:
    """The weak learners of a round, and what became of the samples.

    Attributes
    ----------
    weak : list of Weak or None, for each class or one for all
    has_edge : whether they improve anything; if not, they stand in for none
    coefficient : how far to go along them, in the scale that users know
    error : weighted error; None where learners do not vote, or there are several
    n_selected : samples of positive pace that they were fitted for
    move : length of the best move along a learner that votes
    time : of potentials, afterwards
    endings : of potentials, why each class ends
    latent : summed latent loss afterwards
    """

    weak: list[Any]
    has_edge: bool
    coefficient: Any
    error: float | None
    n_selected: int
    move: float = 1.0
    time: Any = None
    endings: Any = None
    latent: float = math.nan


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


def boost(
    learners: Any,
    state: Any,
    step: Any,
    schedule: Schedule,
    history: History,
    *,
    rng: np.random.Generator,
    on_round: Callable[[History], str | None] | None = None,
) -> None:
    """Boost round after round until done or until nothing is left to improve.

    The first ``warm_rounds`` learners are fitted with v = 1. From then on the pace is
    that of the present scores, so that no round can raise the latent objective.

    Parameters
    ----------
    learners : Learners
        Fit weak learners to the weights.
    state : State
        F, and the weights that follow from it.
    step : Step
        From learners to what is added to F.
    schedule : Schedule
    history : History
        The rounds are added to it; where it has some, boosting goes on from there.
    rng : draws rows
    on_round : callable, default=None
        Called after each round; returns a reason to stop, or None.
    """
    rounds = history.rounds
    history.stop_reason = FINISHED
    state.refresh(paced=len(rounds) >= schedule.warm_rounds)
    if rounds and (reason := step.ends_after(state, rounds)) is not None:
        history.stop_reason = reason
        return
    while history.n_done < schedule.n_estimators:
        if state.n_selected == 0:
            history.stop_reason = NONE_SELECTED
            break
        if rounds and state.one_class:
            history.stop_reason = ONE_CLASS
            break
        rows = None
        if schedule.subsample < 1:
            rows = rng.random(state.n_samples) < schedule.subsample

        # Fit f_t to the weights, and find its coefficient.
        paced = len(rounds) >= schedule.warm_rounds
        new = step.propose(learners, state, rows, paced=paced)
        history.n_done += 1
        if new.has_edge:
            # Add alpha_t f_t to F; the losses there say how much v to believe, and
            # both give the weights of the next round.
            history.n_skipped = 0
            step.take(state, new)
            state.refresh(paced=len(rounds) + 1 >= schedule.warm_rounds)
        else:
            history.n_skipped += 1
            most_skipped = min(MOST_SKIPPED, schedule.n_estimators)
            if rows is not None and history.n_skipped < most_skipped:
                continue
            history.stop_reason = step.reason_without_edge(new, len(rounds))
            if rounds:
                break
            # A model needs a learner, which counts for nothing.
            new.coefficient = 0.0 * new.coefficient
        new.latent = state.latent
        rounds.append(new)
        reason = None if on_round is None else on_round(history)
        if not new.has_edge:
            break
        if reason is None:
            reason = step.ends_after(state, rounds)
        if reason is not None:
            history.stop_reason = reason
            break
