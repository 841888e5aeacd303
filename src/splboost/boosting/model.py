"""What a booster has learned: weak learners and what each adds to the scores.

Two classes have one output, F; K classes have K outputs (see ``losses``). A vote for
class k moves F by plus or minus the move, or G by K - 1 moves at k and by minus one
move elsewhere. Other learners add values, which may be any number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost.boosting.weak_learner import answer
from splboost.trees.additive import AdditiveTables
from splboost.trees.c45.multiway import MultiwayTrees
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


def coded(vote: NDArray[np.integer], n_classes: int) -> FloatArray:
    """What votes add to the scores per unit of a move, a row for each."""
    if n_classes == 2:
        return np.asarray(2.0 * vote - 1.0)[:, None]
    return np.where(np.arange(n_classes) == vote[:, None], n_classes - 1.0, -1.0)


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


class C45Model(_OfTrees):
    """C4.5 trees as flat arrays.

    Parameters
    ----------
    trees : MultiwayTrees
    estimator : the weak learner, as the user described it
    factors : (n_trees,) of what each adds
    links : list of callables or None
        Of each tree, from the class shares of rows to what these add to the scores;
        None where votes are added.
    """

    def __init__(
        self,
        trees: MultiwayTrees,
        estimator: Any,
        factors: FloatArray,
        links: Sequence[Any] | None = None,
    ) -> None:
        self.trees = trees
        self.estimator = estimator
        self.factors = factors
        self.links = links
        self.categorical_features = trees.categorical_features

    @cached_property
    def tables(self) -> AdditiveTables | None:
        """Stumps that vote as lookup tables, made when first needed."""
        if self.links is not None or self.trees.depth() > 1:
            return None
        k = self.trees.nodes.value.shape[1]
        return self.trees.additive_tables(
            lambda vote, t: coded(vote, k) * np.reshape(self.factors[t], (-1, 1))
        )

    def first(self, n: int) -> C45Model:
        """The model of the first n rounds."""
        links = None if self.links is None else self.links[:n]
        trees = self.trees.slice(0, n)
        return C45Model(trees, self.estimator, self.factors[:n], links)

    def joined(self, later: C45Model) -> C45Model:
        """This model's rounds followed by those of another."""
        trees = MultiwayTrees.join(
            [self.trees.nodes, later.trees.nodes], self.trees.coding
        )
        factors = np.concatenate([self.factors, later.factors])
        links = None
        if self.links is not None and later.links is not None:
            links = [*self.links, *later.links]
        return C45Model(trees, later.estimator, factors, links)

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        if self.links is not None:
            for _ in self.stages(table, X, score):
                pass
        elif self.tables is not None:
            self.tables.add(table, score, n_threads=n_threads)
        else:
            self.trees.add_votes(table, self.factors, score, n_threads=n_threads)

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
        matrix = self.trees.matrix_of(table)
        for t in range(self.trees.n_trees):
            tree, factor = self.trees.tree(t), self.factors[t : t + 1]
            if self.links is None:
                tree.add_votes(matrix, factor, score)
            else:
                score += factor * self.links[t](tree.class_shares(matrix))
            yield


class EstimatorModel:
    """Fitted scikit-learn estimators.

    Parameters
    ----------
    estimators : list
    factors : (n_estimators,) of what each adds
    links : list of callables
        Of each, from its answers to what these add to the scores.
    answers : what counts of them, as learners have it
    classes : what they call the classes
    """

    categorical_features = None
    tables = None

    def __init__(
        self,
        estimators: list[Any],
        factors: FloatArray,
        links: Sequence[Callable[[Any], FloatArray]],
        answers: str,
        classes: NDArray[Any],
    ) -> None:
        self.estimators = estimators
        self.factors = factors
        self.links = links
        self.answers = answers
        self.classes = classes

    def _with(self, estimators: list[Any], factors: Any, links: Any) -> EstimatorModel:
        return EstimatorModel(estimators, factors, links, self.answers, self.classes)

    def first(self, n: int) -> EstimatorModel:
        """The model of the first n rounds."""
        return self._with(self.estimators[:n], self.factors[:n], self.links[:n])

    def joined(self, later: EstimatorModel) -> EstimatorModel:
        """This model's rounds followed by those of another."""
        factors = np.concatenate([self.factors, later.factors])
        estimators = self.estimators + later.estimators
        return self._with(estimators, factors, [*self.links, *later.links])

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        for _ in self.stages(table, X, score):
            pass

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
        X = table.native(X)
        for estimator, factor, link in zip(
            self.estimators, self.factors, self.links, strict=True
        ):
            leaf, answers = answer(estimator, X, self.answers, self.classes)
            output = factor * link(answers)
            score += output if leaf is None else output[leaf]
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


class PerClassModel:
    """A model for each class.

    Parameters
    ----------
    models : list of Model or None, of each class, with one output
    taken : (n_rounds, n_classes) whether a class has got a learner in a round
    """

    tables = None

    def __init__(self, models: list[Model | None], taken: NDArray[np.bool_]) -> None:
        self.models = models
        self.taken = taken
        some = [model for model in models if model is not None]
        self.categorical_features = some[0].categorical_features if some else None

    def first(self, n: int) -> PerClassModel:
        """The model of the first n rounds."""
        counts = self.taken[:n].sum(axis=0)
        models = [
            None if model is None or count == 0 else model.first(int(count))
            for model, count in zip(self.models, counts, strict=True)
        ]
        return PerClassModel(models, self.taken[:n])

    def joined(self, later: PerClassModel) -> PerClassModel:
        """This model's rounds followed by those of another."""
        models = [
            new if old is None else old if new is None else old.joined(new)
            for old, new in zip(self.models, later.models, strict=True)
        ]
        return PerClassModel(models, np.concatenate([self.taken, later.taken]))

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        for k, model in enumerate(self.models):
            if model is not None:
                own = np.zeros((score.shape[0], 1))
                model.add(table, X, own, n_threads=n_threads)
                score[:, k] += own[:, 0]

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
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
