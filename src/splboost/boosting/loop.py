"""The one loop behind every booster: Algorithm 1 of the SPLBoost paper.

a loss says how much each sample hurts           state.refresh
a pace says how much of that hurt to believe     state.refresh(paced=True)
a weak learner is fitted to the rest             step.propose
a step adds it to the score                      step.take

A :class:`Learner` answers in every round with a :class:`Weak`, of which counts

    VOTES    a class for each leaf
    SHARES   the share of each class there
    MEANS    the mean of the target

A :class:`Step` turns these into outputs of the leaves. A vote for class k moves F by
plus or minus the move; with K classes it moves G by K - 1 moves at k and by minus one
move elsewhere. Other answers add values, which may be any number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.compiling import kernel

FloatArray = NDArray[np.float64]
Rows = NDArray[np.bool_] | None  # those that are fitted to; None for all

VOTES, SHARES, MEANS = "votes", "shares", "means"
GRID = 2.0**-43  # sums of its multiples are exact
NO_LEAF = np.empty(0, dtype=np.int32)
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
    shift : by how much margins grow where such a learner is right
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
    shift: float = 0.0
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


# ------------------------------------------------------------- Algorithm 1


def boost(
    learners: list[Any],
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
    learners : list of Learner, for each class or one for all
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


# ------------------------------------------------------ what it asks of learners


@dataclass
class Weak:
    """A fitted weak learner.

    Attributes
    ----------
    fitted : tree or estimator
    leaf : (n,) leaf of each sample, valid until the next one is fitted; None where
        each sample is its own
    answers : (n_leaves,) votes, or (n_leaves, ...) shares or means
    error : share of the weight fitted to that votes get wrong
    output : (n_leaves, n_outputs) what is added to the scores
    link, factor : how outputs follow from answers
    """

    fitted: Any
    leaf: NDArray[np.int32] | None
    answers: NDArray[Any]
    error: float = np.nan
    output: Any = None
    link: Any = None
    factor: float = 1.0

    def vote(self, n_classes: int, move: float) -> None:
        """Let votes add a move, rounded to the grid so that sums are exact."""
        self.factor = math.trunc(move / GRID) * GRID
        self.output = self.factor * coded(self.answers, n_classes)

    def set_output(self, link: Any) -> float:
        """Make outputs of the answers; the largest."""
        self.link = link
        self.output = link(self.answers)
        if self.leaf is None:
            return float(np.abs(self.output).max())
        return put_on_grid(self.output, 1.0)

    def scale(self, factor: float) -> None:
        """Multiply the outputs."""
        self.factor *= factor
        if self.leaf is None:
            self.output = factor * self.output
        else:
            put_on_grid(self.output, factor)

    def on_rows(self, leaf: NDArray[np.int32] | None, answers: NDArray[Any]) -> Weak:
        """The learner on other rows, by their leaves or their own answers."""
        other = copy(self)
        other.leaf = leaf
        if leaf is None and self.link is not None:
            other.output = self.factor * self.link(answers)
        return other

    def of_samples(self) -> FloatArray:
        """The first output of each sample."""
        values = self.output[:, 0]
        return values if self.leaf is None else values[self.leaf]

    @property
    def move(self) -> float:
        """What votes add per unit of their code, as the outputs have it."""
        unit = coded(self.answers[:1], max(2, self.output.shape[1]))[0]
        j = int(np.abs(unit).argmin())  # where it is 1 or -1
        return float(self.output[0, j] / unit[j])

    def missed(self, weight: FloatArray, codes: NDArray[np.integer]) -> float:
        """Summed weight of the samples that votes get wrong."""
        # By a sum: a product would start the threads of the linear algebra library.
        return float((weight * (self.answers[self.leaf] != codes)).sum())

    def keep(self) -> None:
        """Make it outlive the learner's next fit."""
        self.leaf = None if self.leaf is None else self.leaf.copy()


@kernel
def put_on_grid(values, factor):  # type: ignore[no-untyped-def]
    """Multiply values, and round them towards 0 to the grid; the largest."""
    largest = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] = np.trunc(factor * values[i, j] / GRID) * GRID
            largest = max(largest, abs(values[i, j]))
    return largest


def coded(vote: NDArray[np.integer], n_classes: int) -> FloatArray:
    """What votes add to the scores per unit of a move, a row for each."""
    if n_classes == 2:
        return np.asarray(2.0 * vote - 1.0)[:, None]
    return np.where(np.arange(n_classes) == vote[:, None], n_classes - 1.0, -1.0)


class Learner:
    """Fits weak learners to weights; made once per fit, for each class or for all.

    Attributes
    ----------
    coding : the codes of categories, which a later fit must share; or None
    state : what the next learner depends on besides its weights; a warm start sets it
    """

    coding: Any = None
    state: Any = None

    def can_fit(self, weight: FloatArray) -> bool:
        """Whether these weights leave something to fit to."""
        return bool(weight.any())

    def fit(self, weight: FloatArray, target: FloatArray | None = None) -> Weak:
        """Fit to the samples of positive weight."""
        raise NotImplementedError

    def model(self, learners: list[Weak], counts: FloatArray) -> Any:
        """A model of these; ``counts`` is 1, or 0 for one that stands in for none."""
        raise NotImplementedError

    def read(self, table: Table, X: Any) -> Any:
        """Other rows, such as the validation data, prepared once."""
        raise NotImplementedError

    def on_rows(self, weak: Weak, rows: Any) -> Weak:
        """A learner on such rows."""
        raise NotImplementedError


# --------------------------------------------------------- what it asks of steps


class Step:
    """Fits weak learners to the present weights, and moves the scores along them."""

    def propose(self, learners: Any, state: Any, rows: Rows, *, paced: bool) -> Round:
        """Fit to the samples in ``rows``."""
        raise NotImplementedError

    def take(self, state: Any, new: Round) -> None:
        """Move the scores; let go of the samples, which would fill the memory."""
        state.follow(new)
        for weak in new.weak:
            if weak is not None and weak.leaf is None:
                weak.output = weak.output[:0].copy()
                weak.answers = weak.answers[:0].copy()
            elif weak is not None:
                weak.leaf = NO_LEAF

    def reason_without_edge(self, new: Round, n_kept: int) -> str:
        """Why a round improves nothing, after so many that did."""
        return NO_EDGE

    def ends_after(self, state: Any, rounds: list[Round]) -> str | None:
        """A reason to add no more to these rounds, or None."""
        return None
