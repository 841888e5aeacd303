"""The members of a pool: boosters and forests, each to be run on many bags.

``member.run(ground, bag, seed, rounds)`` works on one bag of the rows. After each of
the numbers of rounds it gives the trees grown since, and the scores of all rows: those
out of the bag weigh nothing, and are scored all the same. Two classes have one score,
half the log-odds of the second; more have a score each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from splboost._tools.compiling import kernel
from splboost.boosting.learners import Learners, TreeLearner
from splboost.boosting.loop import History, Schedule, boost
from splboost.boosting.state import State
from splboost.boosting.steps import DiscreteStep, Means, Step, ValueStep
from splboost.boosting.weak_learner import MEANS, VOTES
from splboost.boosting.working_sets import DISCRETE, logit
from splboost.losses import Exponential
from splboost.pace import Hard, Pace
from splboost.pace.by_class import paces_of_classes
from splboost.trees.binning import Binned
from splboost.trees.drawn import random_below
from splboost.trees.ensemble import GrownTree
from splboost.trees.estimators import CARTClassifier, CARTRegressor
from splboost.trees.grower import TreeGrower, TreeOptions

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
class Ground:
    """What all runs have in common.

    Attributes
    ----------
    binned : Binned
    codes : class of each row
    n_classes : int
    trusted : whether the label of each row is known to be right
    """

    binned: Binned
    codes: NDArray[np.integer]
    n_classes: int
    trusted: NDArray[np.bool_]

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes


class Member(Protocol):
    """A kind of booster or forest.

    Attributes
    ----------
    rounds : after how many rounds it may end
    """

    @property
    def rounds(self) -> tuple[int, ...]: ...

    def start(self, ground: Ground, bag: FloatArray) -> FloatArray:
        """Scores before the first round."""

    def run(
        self, ground: Ground, bag: FloatArray, seed: int, rounds: Sequence[int]
    ) -> Stages:
        """Trees, and scores of shape (n_rows, n_outputs), after each of the rounds."""

    def scores(self, mean: FloatArray) -> FloatArray:
        """Scores from the mean over bags, half the log-odds of two classes."""

    def describe(self) -> dict[str, Any]:
        """What it is, in words and numbers."""


# ------------------------------------------------------------------------- boosters


@dataclass(frozen=True)
class Votes:
    """Discrete boosting: SPLBoost with a hard pace, or AdaBoost."""

    depth: int
    plateau: float
    rounds: tuple[int, ...] = VOTE_ROUNDS

    def start(self, ground: Ground, bag: FloatArray) -> FloatArray:
        return np.zeros(ground.n_outputs)

    def run(
        self, ground: Ground, bag: FloatArray, seed: int, rounds: Sequence[int]
    ) -> Stages:
        k = ground.n_classes
        tree = CARTClassifier(
            max_depth=self.depth, min_weight_fraction_leaf=LIGHTEST_LEAF
        )
        learners = _learners(tree, VOTES, ground, seed, 1)
        state = TrustingState(
            ground.trusted, DISCRETE, ground.codes, k, bag, self.paces(ground, bag)
        )
        floor = 1 / (4 * max(float(bag.sum()), 1.0))
        step = DiscreteStep(k, floor, stop_when_perfect=False)
        return _boosted(learners, state, step, rounds, VOTE_WARM)

    def paces(self, ground: Ground, bag: FloatArray) -> list[Pace | None]:
        """The pace of each class, corrected for rare ones."""
        if self.plateau == math.inf:
            return [None] * ground.n_classes
        share = np.bincount(ground.codes, bag, ground.n_classes) / bag.sum()
        pace = Hard(plateau=self.plateau, prior_corrected=True)
        paces = paces_of_classes(pace, dict(enumerate(share)), Exponential())
        return list(paces.values())

    def scores(self, mean: FloatArray) -> FloatArray:
        return mean

    def describe(self) -> dict[str, Any]:
        return {
            "kind": "SPLBoost",
            "max_depth": self.depth,
            "plateau": self.plateau,
        }


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
class Logits:
    """LogitBoost with a small learning rate; it starts from the shares of classes."""

    depth: int
    rounds: tuple[int, ...] = LOGIT_ROUNDS

    def start(self, ground: Ground, bag: FloatArray) -> FloatArray:
        k = ground.n_classes
        share = (np.bincount(ground.codes, bag, k) + 1) / (bag.sum() + k)
        return scores_of_shares(share[1:] if k == 2 else share)

    def run(
        self, ground: Ground, bag: FloatArray, seed: int, rounds: Sequence[int]
    ) -> Stages:
        k, start = ground.n_classes, self.start(ground, bag)
        tree = CARTRegressor(
            max_depth=self.depth,
            min_samples_leaf=LOGIT_LEAF,
            min_weight_fraction_leaf=LIGHTEST_LEAF,
        )
        learners = _learners(tree, MEANS, ground, seed, ground.n_outputs)
        working_set = logit(LONGEST_RESPONSE, keep_gradient=False)
        state = State(working_set, ground.codes, k, bag, [None] * k, targets=True)
        # Of more classes (K - 1) / K is taken when their scores are combined.
        state.move_to(np.tile(start if k == 2 else k / (k - 1) * start, (bag.size, 1)))
        rate = LOGIT_RATE * (0.5 if k == 2 else 1.0)
        step = ValueStep(Means(rate), float(bag.sum()))
        return _boosted(learners, state, step, rounds, 0)

    def scores(self, mean: FloatArray) -> FloatArray:
        return mean

    def describe(self) -> dict[str, Any]:
        return {"kind": "LogitBoost", "max_depth": self.depth}


def _learners(
    tree: Any, answers: str, ground: Ground, seed: int, n_learners: int
) -> Learners:
    codes, k = ground.codes, ground.n_classes
    learner = TreeLearner(
        tree, ground.binned, codes, k, answers, n_threads=1, seed=seed
    )
    return Learners([learner] * n_learners)


def _boosted(
    learners: Learners, state: State, step: Step, rounds: Sequence[int], n_warm: int
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
        for each in history.rounds[n_before:]:
            for k, weak in enumerate(each.weak if each.counts else []):
                if weak is None:
                    continue
                output = weak.output
                if len(each.weak) > 1:
                    output = combine(output * (np.arange(state.n_outputs) == k))
                trees.append((weak.fitted, output))
        score = state.output()
        yield trees, score if state.n_outputs == 1 else combine(score)


# --------------------------------------------------------------------------- forests


@dataclass(frozen=True)
class Forest:
    """A random forest, whose leaves have some rows at least.

    With ``random_cuts`` it is one of extremely randomised trees: cuts are drawn, and
    each tree sees all rows of the bag.
    """

    leaf: int
    max_features: Literal["sqrt", "1"] = "sqrt"
    random_cuts: bool = False
    rounds: tuple[int, ...] = (FOREST_TREES,)

    def start(self, ground: Ground, bag: FloatArray) -> FloatArray:
        return np.zeros(ground.n_outputs)

    def run(
        self, ground: Ground, bag: FloatArray, seed: int, rounds: Sequence[int]
    ) -> Stages:
        """Scores are the mean share of each class in the leaves, of two the second."""
        k, rows = ground.n_classes, np.flatnonzero(bag)
        n_features = ground.binned.n_bins.size
        options = TreeOptions(
            max_features=1 if self.max_features == "1" else math.isqrt(n_features),
            random_cuts=self.random_cuts,
            min_samples_leaf=max(self.leaf, math.ceil(rows.size / MOST_LEAVES)),
            min_weight_fraction_leaf=LIGHTEST_LEAF,
        )
        grower = TreeGrower(ground.binned, ground.codes, k, options, seed=seed)
        draws = np.array([2 * seed + 1], dtype=np.uint64)
        total, weight = np.zeros((bag.size, ground.n_outputs)), bag
        done = 0
        for n_trees in rounds:
            trees = []
            for _ in range(n_trees - done):
                if not self.random_cuts:
                    weight = np.zeros(bag.size)
                    draw_rows(rows, bag, draws, weight)
                tree = grower.grow(weight)
                share = tree.total[:, :k] / tree.total[:, :k].sum(axis=1)[:, None]
                share = share[:, -ground.n_outputs :]
                total += share[grower.leaf]
                trees.append((tree, share / FOREST_TREES))
            done = n_trees
            yield trees, total / done

    def scores(self, mean: FloatArray) -> FloatArray:
        return scores_of_shares(mean)

    def describe(self) -> dict[str, Any]:
        return {
            "kind": "extra trees" if self.random_cuts else "forest",
            "min_samples_leaf": self.leaf,
            "max_features": self.max_features,
        }


@kernel
def draw_rows(rows, bag, seed, weight):  # type: ignore[no-untyped-def]
    """Draw as many of the rows as there are, with repeats, and add up their weight."""
    for _ in range(rows.size):
        i = rows[random_below(seed, rows.size)]
        weight[i] += bag[i]


def scores_of_shares(share: FloatArray) -> FloatArray:
    """Scores at which the classes have these shares, of two classes the second.

    Half the log-odds of two classes; of more the logarithms, less their mean.
    """
    if share.shape[-1] == 1:
        share = np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE)
        return 0.5 * np.log(share / (1 - share))
    log = np.log(np.maximum(share, LEAST_SHARE))
    return log - log.mean(axis=-1, keepdims=True)
