"""The members of a pool: boosters and forests, each to be run on many bags.

``member.run(rows, bag, seed, rounds)`` works on one bag, the weights of its rows. After
each of the numbers of rounds it gives the trees grown since, and the scores of all
rows: those out of the bag weigh nothing, and are scored all the same. Two classes have
one score, half the log-odds of the second; more have a score each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from splboost._tools.compiling import kernel
from splboost.boosting.adaboost import DISCRETE, DiscreteStep
from splboost.boosting.learners import TreeLearner
from splboost.boosting.logit import logit
from splboost.boosting.loop import MEANS, VOTES, History, Schedule, Step, boost
from splboost.boosting.state import State
from splboost.boosting.steps import Means, ValueStep
from splboost.losses import Exponential
from splboost.pace import Hard, Pace
from splboost.pace.by_class import paces_of_classes
from splboost.trees.binning import Binned
from splboost.trees.drawn import random_below
from splboost.trees.ensemble import GrownTree
from splboost.trees.estimators import CARTClassifier, CARTRegressor
from splboost.trees.grower import TreeGrower
from splboost.trees.workspace import TreeOptions

FloatArray = NDArray[np.float64]
Trees = list[tuple[GrownTree, FloatArray]]  # with what each node adds to the scores
Stages = Iterator[tuple[Trees, FloatArray]]

VOTE_ROUNDS = 1, 2, 4, 8, 16, 32, 64
VOTE_WARM = 3  # rounds before the pace sets in
LOGIT_ROUNDS = 4, 8, 16, 32, 64, 100
LOGIT_RATE = 0.1
LOGIT_LEAF = 5  # rows
LONGEST_RESPONSE = 4.0  # of LogitBoost
FOREST_TREES = 10  # on one bag
MOST_LEAVES = 5000  # of a tree of a forest
LIGHTEST_LEAF = 1e-4  # of the weight
LEAST_SHARE = 1e-3  # of a class, where the logarithm of a share is taken


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that a forest is fitted to.

    Attributes
    ----------
    binned : Binned
    codes : class of each row
    n_classes : int
    weight : what each row counts for, in fitting and in judging
    own_weight : the same without the weights of classes
    of_class : weight of each class, or None
    groups : number of each row's group; None where every row is on its own
    trusted : whether the label of each row is known to be right
    used : which of the rows that were given these are, as a mask
    """

    binned: Binned
    codes: NDArray[np.integer]
    n_classes: int
    weight: FloatArray
    own_weight: FloatArray
    of_class: FloatArray | None
    groups: NDArray[np.intp] | None
    trusted: NDArray[np.bool_]
    used: NDArray[np.bool_]

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def units(self) -> NDArray[np.intp]:
        """The group of each row, or its own number."""
        return np.arange(self.codes.size) if self.groups is None else self.groups


class Member:
    """A kind of booster or forest.

    Attributes
    ----------
    kind : its name
    rounds : after how many rounds it may end
    """

    kind: Any
    rounds: ClassVar[tuple[int, ...]]

    def start(self, rows: TrainingRows, bag: FloatArray) -> FloatArray:
        """Scores before the first round."""
        return np.zeros(rows.n_outputs)

    def run(
        self, rows: TrainingRows, bag: FloatArray, seed: int, rounds: Sequence[int]
    ) -> Stages:
        """Trees, and scores of shape (n_rows, n_outputs), after each of the rounds."""
        raise NotImplementedError

    def scores(self, mean: NDArray[Any]) -> NDArray[Any]:
        """Scores from the mean over bags, half the log-odds of two classes."""
        return mean


# ------------------------------------------------------------------------- boosters


@dataclass(frozen=True)
class Votes(Member):
    """Discrete boosting: SPLBoost with a hard pace, or AdaBoost."""

    max_depth: int
    plateau: float
    kind = "SPLBoost"
    rounds = VOTE_ROUNDS

    def run(
        self, rows: TrainingRows, bag: FloatArray, seed: int, rounds: Sequence[int]
    ) -> Stages:
        k = rows.n_classes
        tree = CARTClassifier(
            max_depth=self.max_depth, min_weight_fraction_leaf=LIGHTEST_LEAF
        )
        learner = TreeLearner(
            tree, rows.binned, rows.codes, k, VOTES, n_threads=1, seed=seed
        )
        paces = self.paces(rows, bag)
        state = TrustingState(rows.trusted, DISCRETE, rows.codes, k, bag, paces)
        floor = 1 / (4 * max(float(bag.sum()), 1.0))
        step = DiscreteStep(k, floor, stop_when_perfect=False)
        return _boosted([learner], state, step, rounds, VOTE_WARM)

    def paces(self, rows: TrainingRows, bag: FloatArray) -> list[Pace | None]:
        """The pace of each class, corrected for rare ones."""
        if self.plateau == math.inf:
            return [None] * rows.n_classes
        share = np.bincount(rows.codes, bag, rows.n_classes) / bag.sum()
        pace = Hard(plateau=self.plateau, prior_corrected=True)
        paces = paces_of_classes(pace, dict(enumerate(share)), Exponential())
        return list(paces.values())


class TrustingState(State):
    """Scores and weights where some labels are known to be right: these have v = 1."""

    def __init__(self, trusted: NDArray[np.bool_], *given: Any) -> None:
        super().__init__(*given)
        self._trusted = np.flatnonzero(trusted)

    def refresh(self, *, paced: bool) -> None:
        """Set what is to be fitted at the present scores; unless paced, with v = 1."""
        if not paced or not self._trusted.size:
            super().refresh(paced=paced)
            return
        super().refresh(paced=False)
        plain = self.work[0][:, self._trusted]
        super().refresh(paced=True)
        self.work[0][:, self._trusted] = plain
        believed = self.codes[self.factor > 0]
        self.n_selected = believed.size
        self.one_class = bool(believed.size) and believed.min() == believed.max()


@dataclass(frozen=True)
class Logits(Member):
    """LogitBoost with a small learning rate; it starts from the shares of classes."""

    max_depth: int
    kind = "LogitBoost"
    rounds = LOGIT_ROUNDS

    def start(self, rows: TrainingRows, bag: FloatArray) -> FloatArray:
        k = rows.n_classes
        share = (np.bincount(rows.codes, bag, k) + 1) / (bag.sum() + k)
        return scores_of_shares(share[1:] if k == 2 else share)

    def run(
        self, rows: TrainingRows, bag: FloatArray, seed: int, rounds: Sequence[int]
    ) -> Stages:
        k, start = rows.n_classes, self.start(rows, bag)
        tree = CARTRegressor(
            max_depth=self.max_depth,
            min_samples_leaf=LOGIT_LEAF,
            min_weight_fraction_leaf=LIGHTEST_LEAF,
        )
        learner = TreeLearner(
            tree, rows.binned, rows.codes, k, MEANS, n_threads=1, seed=seed
        )
        working_set = logit(LONGEST_RESPONSE, keep_gradient=False)
        state = State(working_set, rows.codes, k, bag, [None] * k, targets=True)
        # Of more classes (K - 1) / K is taken when their scores are combined.
        state.move_to(np.tile(start if k == 2 else k / (k - 1) * start, (bag.size, 1)))
        rate = LOGIT_RATE * (0.5 if k == 2 else 1.0)
        step = ValueStep(Means(rate), float(bag.sum()))
        return _boosted([learner] * rows.n_outputs, state, step, rounds, 0)


def _boosted(
    learners: list[Any], state: State, step: Step, rounds: Sequence[int], n_warm: int
) -> Stages:
    """Boost up to each of the rounds; nothing where the bag has one class only."""
    several = np.unique(state.codes[state.sample_weight > 0]).size > 1
    history, combine = History(), state.working_set.combine
    draws = np.random.default_rng(0)  # of rows: there are none
    for n_rounds in rounds:
        n_before, trees = len(history.rounds), []
        if several:
            schedule = Schedule(n_rounds, n_warm)
            boost(learners, state, step, schedule, history, rng=draws)
        for done in history.rounds[n_before:]:
            for k, weak in enumerate(done.weak if done.has_edge else []):
                if weak is None:
                    continue
                output = weak.output
                if len(done.weak) > 1:
                    output = combine(output * (np.arange(state.n_outputs) == k))
                trees.append((weak.fitted, output))
        score = state.output()
        yield trees, score if state.n_outputs == 1 else combine(score)


# --------------------------------------------------------------------------- forests


@dataclass(frozen=True)
class Forest(Member):
    """A random forest, whose leaves have some rows at least.

    With ``random_cuts`` it is one of extremely randomised trees: cuts are drawn, and
    each tree sees all rows of the bag.
    """

    min_samples_leaf: int
    max_features: Literal["sqrt", "1"] = "sqrt"
    random_cuts: bool = False
    rounds = (FOREST_TREES,)

    @property
    def kind(self) -> str:
        return "extra trees" if self.random_cuts else "forest"

    def run(
        self, rows: TrainingRows, bag: FloatArray, seed: int, rounds: Sequence[int]
    ) -> Stages:
        """Scores are the mean share of each class in the leaves, of two the second."""
        k, inside = rows.n_classes, np.flatnonzero(bag)
        n_features = rows.binned.n_bins.size
        fewest = max(self.min_samples_leaf, math.ceil(inside.size / MOST_LEAVES))
        options = TreeOptions(
            max_features=1 if self.max_features == "1" else math.isqrt(n_features),
            random_cuts=self.random_cuts,
            min_samples_leaf=fewest,
            min_weight_fraction_leaf=LIGHTEST_LEAF,
        )
        grower = TreeGrower(rows.binned, rows.codes, k, options, seed=seed)
        draws = np.array([2 * seed + 1], dtype=np.uint64)
        total, weight, trees = np.zeros((bag.size, rows.n_outputs)), bag, []
        for _ in range(FOREST_TREES):
            if not self.random_cuts:
                weight = np.zeros(bag.size)
                draw_rows(inside, bag, draws, weight)
            tree = grower.grow(weight)
            share = tree.total[:, :k] / tree.total[:, :k].sum(axis=1)[:, None]
            share = share[:, -rows.n_outputs :]
            total += share[grower.leaf]
            trees.append((tree, share / FOREST_TREES))
        yield trees, total / FOREST_TREES

    def scores(self, mean: NDArray[Any]) -> NDArray[Any]:
        return scores_of_shares(mean)


@kernel
def draw_rows(rows, bag, seed, weight):  # type: ignore[no-untyped-def]
    """Draw as many of the rows as there are, with repeats, and add up their weight."""
    for _ in range(rows.size):
        i = rows[random_below(seed, rows.size)]
        weight[i] += bag[i]


def scores_of_shares(share: NDArray[Any]) -> NDArray[Any]:
    """Scores at which the classes have these shares, of two classes the second.

    Half the log-odds of two classes; of more the logarithms, less their mean.
    """
    if share.shape[-1] == 1:
        share = np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE)
        return 0.5 * np.log(share / (1 - share))
    log = np.log(np.maximum(share, LEAST_SHARE))
    return log - log.mean(axis=-1, keepdims=True)
