"""What is left of a booster in the end: weak learners, and what they add to the scores.

Two classes have one output, F; K classes have K outputs (see ``losses``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost.trees.additive import AdditiveTables
from splboost.trees.ensemble import TreeEnsemble

FloatArray = NDArray[np.float64]


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
