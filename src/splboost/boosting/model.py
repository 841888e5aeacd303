"""What a booster has learned: weak learners and what each adds to the scores.

Two classes have one output, F; K classes have K outputs (see ``losses``). A vote for
class k moves F by plus or minus the move, or G by K - 1 moves at k and by minus one
move elsewhere. Other learners add values, which may be any number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost.boosting.answers import predicted_classes
from splboost.trees.additive import AdditiveTables
from splboost.trees.c45.trees import MultiwayTrees
from splboost.trees.ensemble import TreeEnsemble

FloatArray = NDArray[np.float64]


class Model(Protocol):
    """Scores new rows; ``X`` is the user's data, ``table`` the engine's view of it."""

    categorical_features: Any

    @property
    def tables(self) -> AdditiveTables | None:
        """The score as a sum over features, where it is one."""

    def first(self, n: int) -> Model: ...

    def joined(self, later: Any) -> Model: ...

    def add(
        self, table: Table, X: Any, score: FloatArray, *, n_threads: int
    ) -> None: ...

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]: ...

    def importances(self, n_features: int, share: FloatArray) -> FloatArray: ...

    def learners(
        self, classes: NDArray[Any] | None, n_features: int, names: NDArray[Any] | None
    ) -> list[Any]: ...


def votes(vote: NDArray[np.integer], move: Any, n_classes: int) -> FloatArray:
    """What votes add to the scores, a row for each."""
    if n_classes == 2:
        return np.where(vote == 1, move, -move)[:, None]
    coded = np.where(np.arange(n_classes) == vote[:, None], n_classes - 1.0, -1.0)
    return coded * np.reshape(move, (-1, 1))


class _OfTrees:
    """What models of this library's trees share."""

    trees: Any
    estimator: Any

    def importances(self, n_features: int, share: FloatArray) -> FloatArray:
        """What each feature contributes, trees weighted by ``share``."""
        return self.trees.importances(n_features, share)

    def learners(
        self, classes: NDArray[Any] | None, n_features: int, names: NDArray[Any] | None
    ) -> list[Any]:
        """Fitted tree estimators, made on demand."""
        return [
            self.estimator.from_tree(self.trees.tree(t), classes, n_features, names)
            for t in range(self.trees.n_trees)
        ]


class TreeModel(_OfTrees):
    """Trees as flat arrays; an ensemble of stumps as lookup tables.

    Parameters
    ----------
    trees : TreeEnsemble
    output : (n_nodes, n_outputs) what each node adds to the scores
    estimator : the weak learner, as the user described it
    """

    def __init__(self, trees: TreeEnsemble, output: FloatArray, estimator: Any) -> None:
        self.trees = trees
        self.output = output
        self.estimator = estimator
        self.categorical_features = trees.categorical_features

    @classmethod
    def of_votes(
        cls, trees: TreeEnsemble, moves: FloatArray, n_classes: int, estimator: Any
    ) -> TreeModel:
        """Trees that vote for the heaviest class of a node."""
        per_node = np.repeat(moves, np.diff(trees.start))
        vote = trees.class_shares().argmax(axis=1)
        return cls(trees, votes(vote, per_node, n_classes), estimator)

    @cached_property
    def tables(self) -> AdditiveTables | None:
        """Stumps as lookup tables, made when first needed."""
        if not self.trees.is_stumps:
            return None
        return AdditiveTables.from_stumps(self.trees, self.output)

    def first(self, n: int) -> TreeModel:
        """The model of the first n rounds."""
        output = self.output[: self.trees.start[n]]
        return TreeModel(self.trees.slice(0, n), output, self.estimator)

    def joined(self, later: TreeModel) -> TreeModel:
        """This model's rounds followed by those of another."""
        trees = self.trees.joined(later.trees)
        output = np.concatenate([self.output, later.output])
        return TreeModel(trees, output, later.estimator)

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        if self.tables is not None:
            self.tables.add(table, score, n_threads=n_threads)
        else:
            self.trees.add(table, self.output, score, n_threads=n_threads)

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
        matrix = self.trees.matrix_of(table)
        for t in range(self.trees.n_trees):
            nodes = slice(self.trees.start[t], self.trees.start[t + 1])
            self.trees.tree(t).add(matrix, self.output[nodes], score)
            yield


class MultiwayModel(_OfTrees):
    """C4.5 trees as flat arrays."""

    def __init__(self, trees: MultiwayTrees, moves: FloatArray, estimator: Any) -> None:
        self.trees = trees
        self.moves = moves
        self.estimator = estimator
        self.categorical_features = trees.categorical_features

    @cached_property
    def tables(self) -> AdditiveTables | None:
        """Stumps as lookup tables, made when first needed."""
        if self.trees.depth() > 1:
            return None
        n_classes = self.trees.nodes.value.shape[1]
        return self.trees.additive_tables(
            lambda vote, t: votes(vote, self.moves[t], n_classes)
        )

    def first(self, n: int) -> MultiwayModel:
        """The model of the first n rounds."""
        return MultiwayModel(self.trees.slice(0, n), self.moves[:n], self.estimator)

    def joined(self, later: MultiwayModel) -> MultiwayModel:
        """This model's rounds followed by those of another."""
        trees = MultiwayTrees.join(
            [self.trees.nodes, later.trees.nodes], self.trees.coding
        )
        moves = np.concatenate([self.moves, later.moves])
        return MultiwayModel(trees, moves, later.estimator)

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        if self.tables is not None:
            self.tables.add(table, score, n_threads=n_threads)
        else:
            self.trees.add_votes(table, self.moves, score, n_threads=n_threads)

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
        matrix = self.trees.matrix_of(table)
        for t in range(self.trees.n_trees):
            self.trees.tree(t).add_votes(matrix, self.moves[t : t + 1], score)
            yield


class MixtureModel(_OfTrees):
    """C4.5 trees that add a function of the class shares which a row meets.

    Parameters
    ----------
    trees : MultiwayTrees
    moves : factor of each
    outputs_of : list of callables
        Of each, from the class shares of rows to what these add to the scores.
    estimator : the weak learner, as the user described it
    """

    tables = None

    def __init__(
        self,
        trees: MultiwayTrees,
        moves: FloatArray,
        outputs_of: Sequence[Callable[[FloatArray], FloatArray]],
        estimator: Any,
    ) -> None:
        self.trees = trees
        self.moves = moves
        self.outputs_of = outputs_of
        self.estimator = estimator
        self.categorical_features = trees.categorical_features

    def first(self, n: int) -> MixtureModel:
        """The model of the first n rounds."""
        trees = self.trees.slice(0, n)
        moves, outputs_of = self.moves[:n], self.outputs_of[:n]
        return MixtureModel(trees, moves, outputs_of, self.estimator)

    def joined(self, later: MixtureModel) -> MixtureModel:
        """This model's rounds followed by those of another."""
        trees = MultiwayTrees.join(
            [self.trees.nodes, later.trees.nodes], self.trees.coding
        )
        moves = np.concatenate([self.moves, later.moves])
        outputs_of = [*self.outputs_of, *later.outputs_of]
        return MixtureModel(trees, moves, outputs_of, later.estimator)

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        for _ in self.stages(table, X, score):
            pass

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
        matrix = self.trees.matrix_of(table)
        for t in range(self.trees.n_trees):
            shares = self.trees.tree(t).class_shares(matrix)
            score += self.moves[t] * self.outputs_of[t](shares)
            yield


class EstimatorModel:
    """Fitted scikit-learn estimators.

    Parameters
    ----------
    estimators : list
    moves : factor of each
    outputs_of : list of callables
        Of each, from an estimator and rows to what it adds to the scores.
    """

    categorical_features = None
    tables = None

    def __init__(
        self,
        estimators: list[Any],
        moves: FloatArray,
        outputs_of: Sequence[Callable[[Any, Any], FloatArray]],
    ) -> None:
        self.estimators = estimators
        self.moves = moves
        self.outputs_of = outputs_of

    def first(self, n: int) -> EstimatorModel:
        """The model of the first n rounds."""
        return EstimatorModel(self.estimators[:n], self.moves[:n], self.outputs_of[:n])

    def joined(self, later: EstimatorModel) -> EstimatorModel:
        """This model's rounds followed by those of another."""
        moves = np.concatenate([self.moves, later.moves])
        estimators = self.estimators + later.estimators
        return EstimatorModel(estimators, moves, [*self.outputs_of, *later.outputs_of])

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        for _ in self.stages(table, X, score):
            pass

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
        X = table.native(X)
        for estimator, move, outputs_of in zip(
            self.estimators, self.moves, self.outputs_of, strict=True
        ):
            score += move * outputs_of(estimator, X)
            yield

    def importances(self, n_features: int, share: FloatArray) -> FloatArray:
        """Mean of the estimators' own importances, weighted by ``share``."""
        if not hasattr(self.estimators[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self.estimators[0]).__name__} has no feature_importances_, so "
                "the booster has none either."
            )
        each = [estimator.feature_importances_ for estimator in self.estimators]
        return np.average(each, axis=0, weights=share if share.any() else None)

    def learners(
        self, classes: NDArray[Any] | None, n_features: int, names: NDArray[Any] | None
    ) -> list[Any]:
        """The fitted estimators."""
        return list(self.estimators)


@dataclass(frozen=True)
class Votes:
    """What classifiers add to the scores: their votes."""

    classes: NDArray[Any]

    def __call__(self, estimator: Any, X: Any) -> FloatArray:
        vote = predicted_classes(estimator, X, self.classes)
        return votes(vote, 1.0, self.classes.size)
