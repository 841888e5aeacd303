"""What a booster has learned: weak learners and what each adds to the scores.

A learner (``learners``) gives a :class:`Weak` in every round, and at the end a model of
all of them. What counts of a weak learner is one of

    VOTES    a class for each leaf
    SHARES   the share of each class there
    MEANS    the mean of the target

Two classes have one output, F; K classes have K outputs (see ``losses``). A vote for
class k moves F by plus or minus the move, or G by K - 1 moves at k and by minus one
move elsewhere. Other learners add values, which may be any number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.compiling import kernel
from splboost.trees.additive import AdditiveTables
from splboost.trees.ensemble import TreeEnsemble

FloatArray = NDArray[np.float64]

VOTES, SHARES, MEANS = "votes", "shares", "means"
GRID = 2.0**-43  # sums of its multiples are exact
NO_LEAF = np.empty(0, dtype=np.int32)


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


# ------------------------------------------------------------------------- models


class Model:
    """Scores new rows; ``X`` is the user's data, ``table`` the engine's view of it.

    Attributes
    ----------
    categorical_features : what the trees take for categories; None of other learners
    tables : AdditiveTables or None
        The score as a sum over features, where it is one.
    """

    categorical_features: Any = None
    tables: Any = None

    def first(self, n: int) -> Any:
        """The model of the first n rounds."""
        raise NotImplementedError

    def joined(self, later: Any) -> Any:
        """This model's rounds followed by those of another."""
        raise NotImplementedError

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        for _ in self.stages(table, X, score):
            pass

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
        raise NotImplementedError

    def importances(self, n_features: int, share: FloatArray) -> FloatArray:
        """What each feature contributes, learners weighted by ``share``."""
        raise NotImplementedError

    def learners(
        self, classes: NDArray[Any] | None, n_features: int, names: NDArray[Any] | None
    ) -> list[Any]:
        """Fitted weak learners, made on demand."""
        raise NotImplementedError


class TreesOfBooster(Model):
    """What models of this library's trees share."""

    trees: Any
    estimator: Any

    @property
    def categorical_features(self) -> Any:
        return self.trees.categorical_features

    def importances(self, n_features: int, share: FloatArray) -> FloatArray:
        return self.trees.importances(n_features, share)

    def learners(
        self, classes: NDArray[Any] | None, n_features: int, names: NDArray[Any] | None
    ) -> list[Any]:
        return [
            self.estimator.from_tree(self.trees.tree(t), classes, n_features, names)
            for t in range(self.trees.n_trees)
        ]


@dataclass(eq=False)
class TreeModel(TreesOfBooster):
    """Trees as flat arrays; an ensemble of stumps as lookup tables.

    Parameters
    ----------
    trees : TreeEnsemble
    output : (n_nodes, n_outputs) what each node adds to the scores
    estimator : the weak learner, as the user described it
    """

    trees: TreeEnsemble
    output: FloatArray
    estimator: Any

    @cached_property
    def tables(self) -> AdditiveTables | None:
        """Stumps as lookup tables, made when first needed."""
        if not self.trees.is_stumps:
            return None
        return AdditiveTables.from_stumps(
            self.trees, lambda nodes, t: self.output[nodes]
        )

    def first(self, n: int) -> TreeModel:
        output = self.output[: self.trees.start[n]]
        return TreeModel(self.trees.slice(0, n), output, self.estimator)

    def joined(self, later: TreeModel) -> TreeModel:
        trees = self.trees.joined(later.trees)
        output = np.concatenate([self.output, later.output])
        return TreeModel(trees, output, later.estimator)

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        if self.tables is not None:
            self.tables.add(table, score, n_threads=n_threads)
        else:
            self.trees.add(table, self.output, score, n_threads=n_threads)

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        matrix = self.trees.matrix_of(table)
        for t in range(self.trees.n_trees):
            nodes = slice(self.trees.start[t], self.trees.start[t + 1])
            self.trees.tree(t).add(matrix, self.output[nodes], score)
            yield


class PerClassModel(Model):
    """A model for each class.

    Parameters
    ----------
    models : list of Model or None, of each class, with one output
    taken : (n_rounds, n_classes) whether a class has got a learner in a round
    """

    def __init__(self, models: list[Model | None], taken: NDArray[np.bool_]) -> None:
        self.models = models
        self.taken = taken
        some = [model for model in models if model is not None]
        self.categorical_features = some[0].categorical_features if some else None

    def first(self, n: int) -> PerClassModel:
        counts = self.taken[:n].sum(axis=0)
        models = [
            None if model is None or count == 0 else model.first(int(count))
            for model, count in zip(self.models, counts, strict=True)
        ]
        return PerClassModel(models, self.taken[:n])

    def joined(self, later: PerClassModel) -> PerClassModel:
        models = [
            new if old is None else old if new is None else old.joined(new)
            for old, new in zip(self.models, later.models, strict=True)
        ]
        return PerClassModel(models, np.concatenate([self.taken, later.taken]))

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        for k, model in enumerate(self.models):
            if model is not None:
                own = np.zeros((score.shape[0], 1))
                model.add(table, X, own, n_threads=n_threads)
                score[:, k] += own[:, 0]

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        owns = [np.zeros((score.shape[0], 1)) for _ in self.models]
        steps = [
            iter(()) if model is None else model.stages(table, X, own)
            for model, own in zip(self.models, owns, strict=True)
        ]
        before = score.copy()
        for taken in self.taken:
            for k in np.flatnonzero(taken):
                next(steps[k])
                score[:, k] = before[:, k] + owns[k][:, 0]
            yield

    def importances(self, n_features: int, share: FloatArray) -> FloatArray:
        """Mean over the classes, each of which has shares of its own."""
        each = [
            model.importances(n_features, share[self.taken[:, k], k])
            for k, model in enumerate(self.models)
            if model is not None
        ]
        return np.mean(each, axis=0) if each else np.zeros(n_features)

    def learners(
        self, classes: NDArray[Any] | None, n_features: int, names: NDArray[Any] | None
    ) -> list[Any]:
        """Of each round a list: the learner of each class, or None.

        Classifiers know whether a sample is of the class.
        """
        own = np.array([False, True])
        each = [
            iter([] if model is None else model.learners(own, n_features, names))
            for model in self.models
        ]
        return [
            [next(each[k]) if taken[k] else None for k in range(len(each))]
            for taken in self.taken
        ]
