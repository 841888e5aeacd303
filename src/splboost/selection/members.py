"""The members of a pool: boosters and forests, each to be run on many bags.

``member.start(ground, bag, seed)`` begins a *run* on one bag. ``run.advance(n)`` does n
rounds at full speed; ``run.harvest(n)`` does the same and keeps the trees. Meanwhile
``run.score`` are the scores of all rows, in the bag or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.model import coded
from splboost.losses import Exponential
from splboost.pace import Hard
from splboost.pace.by_class import paces_of_classes
from splboost.selection.rounds import (
    add_logits,
    do_logits,
    do_shares,
    do_votes,
    fit_logit,
)
from splboost.trees.binning import Binned
from splboost.trees.ensemble import GrownTree
from splboost.trees.grower import TreeGrower
from splboost.trees.workspace import TreeOptions

FloatArray = NDArray[np.float64]
Gathered = list[tuple[GrownTree, FloatArray]]

VOTE_ROUNDS = 1, 2, 4, 8, 16, 32, 64
LOGIT_ROUNDS = 4, 8, 16, 32, 64, 100
LEARNING_RATE = 0.1  # of LogitBoost
LOGIT_LEAF = 5  # rows in a leaf of LogitBoost
MOST_LEAVES = 5000  # of a tree of a forest
VOTE_WARM = 3  # rounds before the pace sets in
FOREST_TREES = 10  # on one bag
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

    def grower(self, seed: int, **options: Any) -> TreeGrower:
        """Grows trees of these options."""
        n_classes = 0 if options.get("criterion") == "squared_error" else self.n_classes
        kind = TreeOptions(min_weight_fraction_leaf=LIGHTEST_LEAF, **options)
        return TreeGrower(self.binned, self.codes, n_classes, kind, seed=seed)

    def ages(self, plateau: float, bag: FloatArray) -> FloatArray:
        """Loss from which a label is not believed, by row: corrected for rare classes.

        In units of the exponential loss.
        """
        if plateau == math.inf:
            return np.full(self.codes.size, math.inf)
        share = np.bincount(self.codes, bag, self.n_classes) / bag.sum()
        pace = Hard(plateau=plateau, prior_corrected=True)
        paces = paces_of_classes(pace, dict(enumerate(share)), Exponential())
        of_class = np.array([own.resolved_age for own in paces.values()])  # type: ignore[union-attr]
        return np.where(self.trusted, math.inf, of_class[self.codes])


class Run(Protocol):
    """One member on one bag.

    Attributes
    ----------
    initial : (n_outputs,) scores before the first round
    """

    initial: FloatArray

    @property
    def score(self) -> FloatArray:
        """(n_rows, n_outputs), summed or averaged over the rounds so far."""

    def advance(self, n_rounds: int) -> None:
        """Do some rounds."""

    def harvest(self, n_rounds: int) -> Gathered:
        """Do some rounds; their trees, and what each node adds to the scores."""


class Member(Protocol):
    """A kind of booster or forest.

    Attributes
    ----------
    rounds : after how many rounds it may end
    """

    @property
    def rounds(self) -> tuple[int, ...]: ...

    def start(self, ground: Ground, bag: FloatArray, seed: int) -> Run:
        """Begin a run."""

    def scores(self, mean: FloatArray) -> FloatArray:
        """Scores from the mean over bags, half the log-odds of two classes."""

    def describe(self) -> dict[str, Any]:
        """What it is, in words and numbers."""


@dataclass(frozen=True)
class Votes:
    """Discrete boosting: SPLBoost with a hard pace."""

    depth: int
    plateau: float
    rounds: tuple[int, ...] = VOTE_ROUNDS

    def start(self, ground: Ground, bag: FloatArray, seed: int) -> Run:
        return _VoteRun(self, ground, bag, seed)

    def scores(self, mean: FloatArray) -> FloatArray:
        return mean

    def describe(self) -> dict[str, Any]:
        return {
            "kind": "SPLBoost",
            "max_depth": self.depth,
            "plateau": self.plateau,
        }


@dataclass(frozen=True)
class Logits:
    """LogitBoost with a small learning rate."""

    depth: int
    rounds: tuple[int, ...] = LOGIT_ROUNDS

    def start(self, ground: Ground, bag: FloatArray, seed: int) -> Run:
        return _LogitRun(self, ground, bag, seed)

    def scores(self, mean: FloatArray) -> FloatArray:
        return mean

    def describe(self) -> dict[str, Any]:
        return {"kind": "LogitBoost", "max_depth": self.depth}


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

    def start(self, ground: Ground, bag: FloatArray, seed: int) -> Run:
        return _ForestRun(self, ground, bag, seed)

    def scores(self, mean: FloatArray) -> FloatArray:
        return scores_of_shares(mean)

    def describe(self) -> dict[str, Any]:
        return {
            "kind": "extra trees" if self.random_cuts else "forest",
            "min_samples_leaf": self.leaf,
            "max_features": self.max_features,
        }


class _VoteRun:
    """Discrete boosting on a bag; the pace sets in after the warm rounds."""

    def __init__(
        self, member: Votes, ground: Ground, bag: FloatArray, seed: int
    ) -> None:
        n = ground.codes.size
        self.initial = np.zeros(ground.n_outputs)
        self.score = np.zeros((n, ground.n_outputs))
        self._done = 0
        self._ages = ground.ages(member.plateau, bag)
        self._no_ages = np.full(n, math.inf)
        self._ground = ground
        self._bag = bag
        self._floor = 1 / (4 * max(float(bag.sum()), 1.0))
        self._grower = ground.grower(seed, max_depth=member.depth)
        self._weight = np.empty(n)
        self._leaf_class = np.empty(self._grower.work.node.shape[0], dtype=np.int64)

    def advance(self, n_rounds: int) -> None:
        n_warm = min(n_rounds, max(VOTE_WARM - self._done, 0))
        if n_warm > 0:
            self._do(n_warm, self._no_ages)
        if n_rounds > n_warm:
            self._do(n_rounds - n_warm, self._ages)

    def harvest(self, n_rounds: int) -> Gathered:
        gathered: Gathered = []
        for _ in range(n_rounds):
            move = self._do(1, self._no_ages if self._done < VOTE_WARM else self._ages)
            if move == 0:
                break
            tree = self._grower.last_tree()
            vote = self._leaf_class[: tree.node.shape[0]]
            gathered.append((tree, move * coded(vote, self._ground.n_classes)))
        return gathered

    def _do(self, n_rounds: int, ages: FloatArray) -> float:
        self._done += n_rounds
        return do_votes(
            self._grower.memory,
            self._ground.codes,
            self._ground.n_classes,
            self._bag,
            ages,
            self._floor,
            n_rounds,
            self.score,
            self._weight,
            self._grower.leaf,
            self._leaf_class,
        )


class _LogitRun:
    """LogitBoost on a bag; it starts from the shares of the classes."""

    def __init__(
        self, member: Logits, ground: Ground, bag: FloatArray, seed: int
    ) -> None:
        n, k = ground.codes.size, ground.n_classes
        share = (np.bincount(ground.codes, bag, k) + 1) / (bag.sum() + k)
        self.initial = scores_of_shares(share[1:] if k == 2 else share)
        self.score = np.tile(self.initial, (n, 1))
        self._ground = ground
        self._bag = bag
        self._grower = ground.grower(
            seed,
            criterion="squared_error",
            max_depth=member.depth,
            min_samples_leaf=LOGIT_LEAF,
        )
        self._rest = np.empty(n), np.empty(n), self._grower.leaf
        self._added = np.empty((ground.n_outputs, n))

    def advance(self, n_rounds: int) -> None:
        ground = self._ground
        do_logits(
            self._grower.memory,
            ground.codes,
            ground.n_classes,
            self._bag,
            LEARNING_RATE,
            n_rounds,
            self.score,
            *self._rest,
            self._added,
        )

    def harvest(self, n_rounds: int) -> Gathered:
        ground, k, gathered = self._ground, self._ground.n_classes, []
        for _ in range(n_rounds):
            for own, added in enumerate(self._added):
                fit_logit(
                    self._grower.memory,
                    ground.codes,
                    k,
                    1 if k == 2 else own,
                    self._bag,
                    LEARNING_RATE,
                    self.score,
                    *self._rest,
                    added,
                )
                tree = self._grower.last_tree()
                mean = tree.total[:, 1] / tree.total[:, 0]
                step = LEARNING_RATE * np.outer(mean, _column(own, k))
                gathered.append((tree, step))
            add_logits(self._added, self.score)
        return gathered


def _column(own: int, n_classes: int) -> FloatArray:
    """What 1 for a class against the rest adds to the scores of all classes."""
    if n_classes == 2:
        return np.array([0.5])
    k = n_classes
    return (k - 1) / k * ((np.arange(k) == own) - 1 / k)


class _ForestRun:
    """A random forest on a bag: the mean share of each class, of two the second."""

    def __init__(
        self, member: Forest, ground: Ground, bag: FloatArray, seed: int
    ) -> None:
        n = ground.codes.size
        self.initial = np.zeros(ground.n_outputs)
        self._total = np.zeros((n, ground.n_classes))
        self._n_trees = 0
        self._ground = ground
        self._bag = bag
        self._rows = np.flatnonzero(bag)
        self._random_cuts = member.random_cuts
        n_features = ground.binned.n_bins.size
        self._grower = ground.grower(
            seed,
            max_features=1 if member.max_features == "1" else math.isqrt(n_features),
            random_cuts=member.random_cuts,
            min_samples_leaf=max(member.leaf, math.ceil(self._rows.size / MOST_LEAVES)),
        )
        self._weight = np.empty(n)
        self._seed = np.array([2 * seed + 1], dtype=np.uint64)

    @property
    def score(self) -> FloatArray:
        return self._total[:, -self._ground.n_outputs :] / self._n_trees

    def advance(self, n_rounds: int) -> None:
        self._n_trees += n_rounds
        do_shares(
            self._grower.memory,
            self._ground.n_classes,
            self._bag,
            self._rows,
            not self._random_cuts,
            n_rounds,
            self._total,
            self._weight,
            self._grower.leaf,
            self._seed,
        )

    def harvest(self, n_rounds: int) -> Gathered:
        gathered = []
        for _ in range(n_rounds):
            self.advance(1)
            tree = self._grower.last_tree()
            total = tree.total[:, : self._ground.n_classes]
            share = total / total.sum(axis=1, keepdims=True)
            own = share[:, -self._ground.n_outputs :]
            gathered.append((tree, own / FOREST_TREES))
        return gathered


def scores_of_shares(share: FloatArray) -> FloatArray:
    """Scores at which the classes have these shares, of two classes the second.

    Half the log-odds of two classes; of more the logarithms, less their mean.
    """
    if share.shape[-1] == 1:
        share = np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE)
        return 0.5 * np.log(share / (1 - share))
    log = np.log(np.maximum(share, LEAST_SHARE))
    return log - log.mean(axis=-1, keepdims=True)
