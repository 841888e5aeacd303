"""What weak learners add to the scores, and how far to go along them.

A learner (``learners``) answers in every round with a :class:`Weak`, of which counts

    VOTES    a class for each leaf
    SHARES   the share of each class there
    MEANS    the mean of the target

A step turns these into outputs of the leaves: votes into ±α (discrete boosting, in
``adaboost``), class shares into half their log-odds (real), means into Newton steps. A
vote for class k moves F by plus or minus the move; with K classes it moves G by K - 1
moves at k and by minus one move elsewhere. Other answers add values, which may be any
number.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.compiling import kernel
from splboost.boosting.loop import CONVERGED, NO_EDGE, Round
from splboost.boosting.state import State

FloatArray = NDArray[np.float64]
Rows = NDArray[np.bool_] | None  # those that are fitted to; None for all

VOTES, SHARES, MEANS = "votes", "shares", "means"
GRID = 2.0**-43  # sums of its multiples are exact
NO_LEAF = np.empty(0, dtype=np.int32)
NO_VALUE = 1e-12
NEGLIGIBLE = 1e-12  # of the largest weight


# ------------------------------------------------------------------ weak learners


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

    def forget(self) -> None:
        """Let go of the samples, which would fill the memory."""
        if self.leaf is None:
            self.output = self.output[:0].copy()
            self.answers = self.answers[:0].copy()
        else:
            self.leaf = NO_LEAF


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


# --------------------------------------------------------- from answers to outputs


@dataclass(frozen=True)
class Votes:
    """A multiple of ±1."""

    factor: float = 1.0

    def __call__(self, answers: NDArray[Any]) -> FloatArray:
        return self.factor * coded(answers, 2)


@dataclass(frozen=True)
class Means:
    """A multiple of the mean."""

    factor: float

    def __call__(self, answers: NDArray[Any]) -> FloatArray:
        return self.factor * answers


@dataclass(frozen=True)
class LogOdds:
    """A multiple of half the log-odds of two classes, the exponential loss's minimiser.

    For K classes it is log p_k less the mean over the classes. Shares are kept
    ``clip`` away from 0, and so much from 1 that the others can be.
    """

    factor: float
    clip: float

    def __call__(self, answers: NDArray[Any]) -> FloatArray:
        k = answers.shape[1]
        log_p = np.log(np.clip(answers, self.clip, 1 - (k - 1) * self.clip))
        if k == 2:
            return self.factor * 0.5 * (log_p[:, 1:] - log_p[:, :1])
        return self.factor * (log_p - log_p.mean(axis=1, keepdims=True))


def effective_size(weight: FloatArray) -> float:
    """Number of samples: weights that sum to less still are that many of them."""
    return float(max(weight.sum(), weight.size))


# ------------------------------------------------------------------------------- steps


class Step:
    """Fits weak learners to the present weights, and moves the scores along them."""

    def propose(self, learners: Any, state: Any, rows: Rows, *, paced: bool) -> Round:
        """Fit to the samples in ``rows``."""
        raise NotImplementedError

    def take(self, state: Any, new: Round) -> None:
        """Move the scores."""
        state.follow(new.weak, new.time)
        for weak in new.weak:
            if weak is not None:
                weak.forget()

    def reason_without_edge(self, new: Round, n_kept: int) -> str:
        """Why a round improves nothing, after so many that did."""
        return NO_EDGE

    def ends_after(self, state: Any, rounds: list[Round]) -> str | None:
        """A reason to add no more to these rounds, or None."""
        return None


@dataclass
class ValueStep(Step):
    """Fits a learner for each class, and adds what it answers.

    Parameters
    ----------
    link : from a learner's answers to what they add
    total_weight : float
        Summed weight of the samples, for what is negligible.
    tolerance : float
        A change of the latent objective, per unit of weight, below which it has
        converged.
    """

    link: Any
    total_weight: float
    tolerance: float = 0.0

    def propose(self, learners: Any, state: State, rows: Rows, *, paced: bool) -> Round:
        n = len(learners.each)
        fitted: list[Weak | None] = [None] * n
        factors = np.zeros(n)
        for k, learner in enumerate(learners.each):
            weight = weights_to_fit(learner, state.weight[k], rows)
            if weight is None:
                continue
            target = None if state.target is None else state.target[k]
            weak = learner.fit(weight, target)
            largest = weak.set_output(self.link)
            factors[k] = self.factor(state, k, weak) if largest >= NO_VALUE else 0.0
            if factors[k] not in (0.0, 1.0):
                weak.scale(factors[k])
            if n > 1:
                weak.keep()
            if factors[k] or n == 1:
                fitted[k] = weak
        coefficient = factors[0] if n == 1 else factors
        has_edge = bool(factors.any())
        return Round(fitted, has_edge, coefficient, None, state.n_selected)

    def factor(self, state: State, k: int, weak: Weak) -> float:
        """By how much to multiply what a learner adds to class k; 0 leaves it out."""
        return 1.0

    def reason_without_edge(self, new: Round, n_kept: int) -> str:
        return CONVERGED if n_kept else NO_EDGE

    def ends_after(self, state: State, rounds: list[Round]) -> str | None:
        """Whether the latent objective has settled."""
        if len(rounds) < 2 or not self.tolerance:
            return None
        change = abs(rounds[-1].latent - rounds[-2].latent)
        return CONVERGED if change < self.tolerance * self.total_weight else None


def weights_to_fit(learner: Any, weight: FloatArray, rows: Rows) -> FloatArray | None:
    """The weights of the drawn rows, those that are negligible at 0.

    Where a learner cannot be fitted to these, of all rows; None if not to these either.
    """
    for own in [weight] if rows is None else [weight * rows, weight]:
        kept = own * (own >= NEGLIGIBLE * own.max(initial=0.0))
        if learner.can_fit(kept):
            return kept
    return None
