"""Weak learners as the loop sees them.

A learner is made once per fit. ``learner.fit(weight)`` fits a weak classifier to the
samples of positive weight and returns a *term*, which knows the classifier's votes on
all training samples (and, at the end, ``learner.model`` makes a model of all rounds;
``learner.votes`` is the term on other rows, prepared once by ``learner.read``):

    term.error                  share of the weight fitted to that it gets wrong
    term.missed(weight)         summed weight of the samples it gets wrong
    term.vote(scores, step)     moves margins and scores by a step
    term.keep_votes()           makes the votes outlive the learner's next fit

``TreeLearner`` drives this library's tree engine over one binned table, ``C45Learner``
grows C4.5 trees over a ranked one.
``EstimatorLearner`` clones and fits any scikit-learn classifier.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost.boosting.answers import predicted_classes
from splboost.boosting.learners.weak import check_classifier, fit_clone
from splboost.boosting.loop import Round
from splboost.boosting.model import (
    EstimatorModel,
    Model,
    MultiwayModel,
    TreeModel,
    Votes,
)
from splboost.boosting.scores.discrete_scores import Scores
from splboost.boosting.scores.kernels import (
    judge_nodes,
    move_margins,
    move_scores,
    scale_cases,
    weight_missed,
)
from splboost.trees.binning import Binned
from splboost.trees.blocks import Coding, float_matrix
from splboost.trees.c45.grower import C45Grower
from splboost.trees.c45.trees import votes_of_rows
from splboost.trees.ensemble import TreeEnsemble
from splboost.trees.grower import TreeGrower
from splboost.trees.rows import Rows

FloatArray = NDArray[np.float64]
STALLED_EDGE, STALLED_DEPTH = 1e-6, 3


def moves_of(rounds: list[Round]) -> FloatArray:
    """The move of each round."""
    return np.array([each.move for each in rounds])


class Term(Protocol):
    """A fitted weak classifier's votes on the training samples."""

    error: float

    def missed(self, weight: FloatArray) -> float: ...

    def vote(self, scores: Scores, step: float) -> None: ...

    def keep_votes(self) -> None: ...


class Learner(Protocol):
    """Fits weak classifiers to weights."""

    def can_fit(self, weight: FloatArray) -> bool: ...

    def fit(self, weight: FloatArray) -> Term: ...

    def model(self, rounds: list[Round]) -> Model: ...

    def read(self, table: Table, X: Any) -> Any: ...

    def votes(self, term: Any, rows: Any, codes: NDArray[np.integer]) -> Term: ...

    @property
    def coding(self) -> Coding | None:
        """The codes of categories, which a later fit must share."""

    @property
    def state(self) -> Any:
        """What the next learner depends on besides its weights; it can be set."""


class TreeTerm:
    """A tree; the leaves of its samples are only valid until the next one is grown."""

    def __init__(
        self,
        grown: Any,
        leaf: NDArray[np.int32],
        leaf_class: NDArray[np.int64],
        codes: Any,
        error: float,
    ) -> None:
        self.grown = grown
        self.leaf_class = leaf_class
        self.error = error
        self._leaf = leaf
        self._codes = codes

    def missed(self, weight: FloatArray) -> float:
        return weight_missed(weight, self._leaf, self.leaf_class, self._codes)

    def vote(self, scores: Scores, step: float) -> None:
        right, wrong = scores.moves(step)
        move_margins(
            scores.margin, self._leaf, self.leaf_class, self._codes, right, wrong
        )
        if scores.score is not None:
            move_scores(scores.score, self._leaf, self.leaf_class, right, wrong)

    def keep_votes(self) -> None:
        """Make the votes outlive the next tree."""
        self._leaf = self._leaf.copy()

    def elsewhere(self, leaf: NDArray[np.int32], codes: Any) -> TreeTerm:
        """The same tree on other rows, by their leaves and their classes."""
        return TreeTerm(self.grown, leaf, self.leaf_class, codes, self.error)


class TreeLearner:
    """Grows trees of one kind over one binned table."""

    def __init__(
        self,
        estimator: Any,
        binned: Binned,
        codes: NDArray[np.integer],
        n_classes: int,
        *,
        n_threads: int,
        seed: int,
    ) -> None:
        self.binned = binned
        self._estimator = estimator
        self._codes = codes
        self._n_classes = n_classes
        self._n_threads = n_threads
        self._grower = TreeGrower(
            self.binned,
            codes,
            n_classes,
            estimator.tree_options(binned.n_bins.size),
            n_threads=n_threads,
            seed=seed,
        )

    def can_fit(self, weight: FloatArray) -> bool:
        return bool(weight.any())

    def fit(self, weight: FloatArray) -> TreeTerm:
        grown = self._grower.grow(weight)
        leaf_class = np.empty(grown.node.shape[0], dtype=np.int64)
        error = judge_nodes(grown.node, grown.total, self._n_classes, leaf_class)
        return TreeTerm(grown, self._grower.leaf, leaf_class, self._codes, error)

    def model(self, rounds: list[Round]) -> TreeModel:
        grown = [each.term.grown for each in rounds]
        trees = TreeEnsemble.from_grown(grown, self._n_classes, self.binned.categories)
        moves = moves_of(rounds)
        return TreeModel.of_votes(trees, moves, self._n_classes, copy(self._estimator))

    def read(self, table: Table, X: Any) -> Rows:
        """Rows on which terms are to vote."""
        return Rows(table, self.coding, n_threads=self._n_threads)

    def votes(self, term: TreeTerm, rows: Rows, codes: NDArray[np.integer]) -> TreeTerm:
        """The term's votes on other rows, of which ``codes`` are the classes."""
        return term.elsewhere(rows.leaves(term.grown), codes)

    @property
    def coding(self) -> Coding:
        return self.binned.categories

    @property
    def state(self) -> tuple[int, float]:
        return self._grower.state

    @state.setter
    def state(self, state: tuple[int, float]) -> None:
        self._grower.state = state


class C45Learner:
    """Grows C4.5 trees over one ranked table.

    To C4.5 weights are numbers of cases: they are scaled to sum to as many as there are
    samples of positive weight.
    """

    def __init__(
        self,
        estimator: Any,
        table: Table,
        codes: NDArray[np.integer],
        n_classes: int,
        sample_weight: FloatArray,
        *,
        n_threads: int,
        seed: int,
    ) -> None:
        self._grower = C45Grower(table, codes, n_classes, n_threads=n_threads)
        self._estimator = estimator
        self._codes = codes
        self._n_classes = n_classes
        # Weights that sum to less than the number of rows still are that many cases.
        total = sample_weight.sum()
        self._cases = sample_weight * (max(total, sample_weight.size) / total)
        self._classes = np.arange(n_classes)
        options = estimator.tree_options()
        depth = min(options.max_depth or STALLED_DEPTH, STALLED_DEPTH)
        self._options = options
        self._lenient = options._replace(free_depth=depth)
        self._free = options._replace(mdl=False, max_depth=depth)
        self._begun = False  # whether weights are no longer those of the samples

    def can_fit(self, weight: FloatArray) -> bool:
        return bool(weight.any())

    def fit(self, weight: FloatArray) -> TreeTerm:
        cases = np.empty(weight.size)
        total = scale_cases(weight, self._cases, cases)
        if self._estimator.mdl != "auto":
            return self._grow(cases, total, self._options)[0]
        # Where cuts cannot pay their price, they go without; but the first tree may be
        # a leaf.
        if not self._begun:
            ratio = (cases / self._cases)[cases > 0]
            self._begun = bool(ratio.max() > ratio.min() * (1 + 1e-9))
        options = self._lenient if self._begun else self._options
        term, paid = self._grow(cases, total, options)
        no_edge = term.error > 1 - 1 / self._n_classes - STALLED_EDGE
        if paid and (no_edge or (self._begun and term.grown.child.size == 1)):
            term, _ = self._grow(cases, total, self._free)
        return term

    def _grow(
        self, cases: FloatArray, total: float, options: Any
    ) -> tuple[TreeTerm, bool]:
        tree, votes, paid = self._grower.grow(cases, options)
        missed = weight_missed(cases, votes, self._classes, self._codes)
        return TreeTerm(tree, votes, self._classes, self._codes, missed / total), paid

    def model(self, rounds: list[Round]) -> MultiwayModel:
        trees = self._grower.ensemble([each.term.grown for each in rounds])
        return MultiwayModel(trees, moves_of(rounds), copy(self._estimator))

    def read(self, table: Table, X: Any) -> NDArray[np.floating]:
        """Rows on which terms are to vote."""
        return float_matrix(table, self.coding, np.arange(table.n_features))

    def votes(
        self,
        term: TreeTerm,
        rows: NDArray[np.floating],
        codes: NDArray[np.integer],
    ) -> TreeTerm:
        """The term's votes on other rows, of which ``codes`` are the classes."""
        return term.elsewhere(votes_of_rows(term.grown, rows), codes)

    @property
    def coding(self) -> Coding:
        return self._grower.coding

    state = None  # a tree depends on nothing but its weights


class EstimatorTerm:
    """A fitted scikit-learn classifier and its predictions."""

    def __init__(self, estimator: Any, predicted: Any, codes: Any, weight: Any) -> None:
        self.estimator = estimator
        self._predicted = predicted
        self._right = predicted == codes
        self.error = self.missed(weight) / float(weight.sum())

    def missed(self, weight: FloatArray) -> float:
        return float(weight[~self._right].sum())

    def vote(self, scores: Scores, step: float) -> None:
        right, wrong = scores.moves(step)
        scores.margin += np.where(self._right, right, wrong)
        if scores.score is not None:
            scores.score += wrong
            rows = np.arange(self._predicted.size)
            scores.score[rows, self._predicted] += right - wrong

    def keep_votes(self) -> None:
        """Predictions are its own already."""


class EstimatorLearner:
    """Fits clones of any classifier that takes ``sample_weight``."""

    coding = None

    def __init__(
        self,
        estimator: Any,
        X: Any,
        codes: NDArray[np.integer],
        classes: NDArray[Any],
        sample_weight: FloatArray,
        rng: np.random.RandomState,
    ) -> None:
        check_classifier(estimator)
        self._estimator = estimator
        self._X = X
        self._codes = codes
        self._classes = classes
        self._sample_weight = sample_weight
        self._rng = rng

    def can_fit(self, weight: FloatArray) -> bool:
        """Whether two classes are there; many classifiers refuse a single one."""
        return np.unique(self._codes[weight > 0]).size > 1

    def fit(self, weight: FloatArray) -> EstimatorTerm:
        estimator = fit_clone(
            self._estimator,
            self._X,
            self._classes[self._codes],
            weight,
            self._sample_weight,
            self._rng,
            of_classes=True,
        )
        predicted = predicted_classes(estimator, self._X, self._classes)
        return EstimatorTerm(estimator, predicted, self._codes, weight)

    def model(self, rounds: list[Round]) -> EstimatorModel:
        estimators = [each.term.estimator for each in rounds]
        outputs_of = [Votes(self._classes)] * len(rounds)
        return EstimatorModel(estimators, moves_of(rounds), outputs_of)

    def read(self, table: Table, X: Any) -> Any:
        """Rows on which terms are to vote."""
        return table.native(X)

    def votes(
        self, term: EstimatorTerm, rows: Any, codes: NDArray[np.integer]
    ) -> EstimatorTerm:
        """The term's votes on other rows, of which ``codes`` are the classes."""
        predicted = predicted_classes(term.estimator, rows, self._classes)
        return EstimatorTerm(term.estimator, predicted, codes, np.ones(codes.size))

    @property
    def state(self) -> Any:
        return self._rng.get_state()

    @state.setter
    def state(self, state: Any) -> None:
        self._rng.set_state(state)
