"""The one loop behind every booster: Algorithm 1 of the SPLBoost paper.

a loss says how much each sample hurts           scores.refresh
a pace says how much of that hurt to believe     scores.refresh
a weak learner is fitted to the rest             learner.fit
a step adds it to the score                      step, term.vote
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.scores import Scores
from splboost.boosting.steps import DiscreteStep

MOST_SKIPPED = 10  # rounds in a row that may pass without an edge, when rows are drawn
INNER_TOLERANCE = 1e-8

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
    inner_steps: int = 1
    subsample: float = 1.0
    stop_when_perfect: bool = True


@dataclass
class History:
    """What the loop leaves behind; the lists have one entry per learner kept."""

    terms: list[Any] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    coefficients: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    n_selected: list[int] = field(default_factory=list)
    latent: list[float] = field(default_factory=list)
    stop_reason: str = FINISHED


class Found(NamedTuple):
    """A fitted learner, its error, its full step, and how many samples it saw."""

    term: Any
    error: float
    full: float
    n_selected: int


def boost(
    learner: Any,
    scores: Scores,
    step: DiscreteStep,
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
    scores.refresh(paced=schedule.warm_rounds == 0)
    skipped = 0
    for _ in range(schedule.n_estimators):
        n_kept = len(history.terms)
        history.stop_reason = _why_not_fit(scores, first=n_kept == 0)
        if history.stop_reason:
            return history
        rows = _draw(schedule.subsample, scores.weight.size, rng)
        term, error = _fit(learner, scores.weight, rows)
        found = Found(term, error, step.full(error), scores.n_selected)

        if not step.has_edge(error):
            skipped += 1
            if rows is not None and skipped < MOST_SKIPPED:
                continue
            history.stop_reason = NO_EDGE
            if n_kept == 0:  # a model needs a learner, be it of no consequence
                _keep(history, found, 0.0, 0.0)
                history.latent.append(scores.latent)
            return history
        skipped = 0

        if schedule.inner_steps > 1 and n_kept >= schedule.warm_rounds:
            n_times = schedule.inner_steps - 1
            found = _alternate(learner, scores, step, found, rows, n_times)

        taken = step.shortened(found.full)
        found.term.vote(scores, taken)
        scores.advance(taken)
        scores.refresh(paced=n_kept + 1 >= schedule.warm_rounds)
        _keep(history, found, taken, step.coefficient(found.full))
        history.latent.append(scores.latent)
        if on_round is not None:
            on_round(history)
        if found.error <= 0 and schedule.stop_when_perfect:
            history.stop_reason = PERFECT
            return history
    history.stop_reason = FINISHED
    return history


def _why_not_fit(scores: Scores, *, first: bool) -> str:
    """A reason to stop before fitting another learner, or nothing."""
    if scores.n_selected == 0:
        return NONE_SELECTED
    if not first and scores.selects_one_class():
        return ONE_CLASS
    return ""


def _draw(
    share: float, n_rows: int, rng: np.random.Generator
) -> NDArray[np.bool_] | None:
    """Rows to fit the round's learner on; None for all."""
    return None if share == 1 else rng.random(n_rows) < share


def _fit(
    learner: Any, weight: NDArray[np.float64], rows: NDArray[np.bool_] | None
) -> tuple[Any, float]:
    """A weak learner fitted on the drawn rows, and its error on all of them."""
    if rows is not None:
        drawn = weight * rows
        if drawn.any():
            term = learner.fit(drawn)
            return term, term.missed(weight) / float(weight.sum())
    term = learner.fit(weight)
    return term, term.error


def _alternate(
    learner: Any,
    scores: Scores,
    step: DiscreteStep,
    found: Found,
    rows: NDArray[np.bool_] | None,
    n_times: int,
) -> Found:
    """Alternate between paces and learner within a round.

    Takes the paces at the scores to which the learner would lead, and refits with them
    from the scores as they are; until the paces settle, or until the new learner does
    not do better than the old one under them (trees are greedy, so it may not).
    """
    v = scores.paces()
    for _ in range(n_times):
        found.term.keep_votes()
        new_v, loss = scores.look_ahead(found.term, found.full)
        settled = np.abs(new_v - v).max() < INNER_TOLERANCE
        v = new_v
        weight = scores.plain_weight() * v
        if settled or np.count_nonzero(np.bincount(scores.codes[weight > 0])) < 2:
            break
        term, error = _fit(learner, weight, rows)
        if not step.has_edge(error):
            break
        new = Found(term, error, step.full(error), int(np.count_nonzero(v)))
        if scores.look_ahead(new.term, new.full, v)[1] >= loss:
            break
        found = new
    return found


def _keep(history: History, found: Found, taken: float, coefficient: float) -> None:
    history.terms.append(found.term)
    history.steps.append(taken)
    history.coefficients.append(coefficient)
    history.errors.append(found.error)
    history.n_selected.append(found.n_selected)
