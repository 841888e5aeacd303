"""Weak learners that answer with values, as boosters of values see them.

``learner.fit(weight, target)`` fits a regression to the target, or a classifier, whose
class shares count; ``learner.can_fit(weight)`` says whether there is enough to fit to.
It returns a *term*:

    term.output           what it adds to the scores, once ``term.link`` has been called
    term.link(link)       says how to make the output of the learner's answers, which
                          are means or class shares, of nodes or of rows
    term.largest          the largest output then
    term.scale(factor)    multiplies the output
    term.add_to(score)    adds the output to the scores of the training samples
    term.values()         the first output of each of the samples
    term.are_positive()   whether that is above 0
    term.keep()           makes the term outlive the learner's next fit
    term.forget()         lets go of what it knows of the samples, when they have moved

At the end ``learner.model`` makes a model of all rounds. ``learner.on_rows`` is the
term on other rows, prepared once by ``learner.read``.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost.boosting.learners.discrete_learners import TreeLearner
from splboost.boosting.loop import Round
from splboost.boosting.model import (
    TreeModel,
)
from splboost.boosting.scores.links import Link
from splboost.boosting.scores.working import (
    add_leaf_outputs,
    are_positive,
    leaf_values,
    means_of,
    put_on_grid,
    shares_of,
)
from splboost.trees.binning import Binned
from splboost.trees.blocks import Coding
from splboost.trees.ensemble import GrownTree, TreeEnsemble
from splboost.trees.grower import TreeGrower
from splboost.trees.rows import Rows

FloatArray = NDArray[np.float64]


class LeafTerm:
    """A tree; the leaves of its samples are only valid until the next one is grown."""

    def __init__(
        self, grown: GrownTree, leaf: NDArray[np.int32], answers: FloatArray
    ) -> None:
        self.grown = grown
        self.leaf = leaf
        self.output = answers
        self.largest = 0.0

    def link(self, link: Link) -> None:
        self.output = link(self.output)
        self.largest = put_on_grid(self.output, 1.0)

    def scale(self, factor: float) -> None:
        self.largest = put_on_grid(self.output, factor)

    def add_to(self, score: FloatArray) -> None:
        add_leaf_outputs(score, self.leaf, self.output)

    def values(self) -> FloatArray:
        """Of the first output."""
        return leaf_values(self.leaf, self.output)

    def are_positive(self) -> NDArray[np.bool_]:
        """Whether these are above 0."""
        return are_positive(self.leaf, self.output)

    def keep(self) -> None:
        """Make it outlive the next tree."""
        self.leaf = self.leaf.copy()

    def forget(self) -> None:
        """Let go of the samples."""
        self.leaf = self.leaf[:0].copy()


class _TreeValues:
    """What learners of this library's two-way trees share."""

    binned: Binned
    _estimator: Any
    _n_threads: int
    _n_classes: int

    def model(self, rounds: list[Round]) -> TreeModel:
        grown = [each.term.grown for each in rounds]
        trees = TreeEnsemble.from_grown(grown, self._n_classes, self.binned.categories)
        output = np.concatenate([each.term.output * each.move for each in rounds])
        return TreeModel(trees, output, copy(self._estimator))

    def read(self, table: Table, X: Any) -> Rows:
        """Rows on which terms are to vote."""
        return Rows(table, self.binned.categories, n_threads=self._n_threads)

    def can_fit(self, weight: FloatArray) -> bool:
        return bool(weight.any())

    def on_rows(self, term: LeafTerm, rows: Rows) -> LeafTerm:
        """The term on other rows."""
        other = copy(term)
        other.leaf = rows.leaves(term.grown)
        return other

    @property
    def coding(self) -> Coding:
        return self.binned.categories


class RegressionLearner(_TreeValues):
    """Grows regression trees of one kind over one binned table."""

    _n_classes = 0

    def __init__(
        self,
        estimator: Any,
        binned: Binned,
        *,
        n_threads: int,
        seed: int,
    ) -> None:
        d, n = binned.codes.shape
        self.binned = binned
        self._estimator = estimator
        self._n_threads = n_threads
        self._grower = TreeGrower(
            binned,
            np.zeros(n, dtype=np.uint8),
            0,
            estimator.tree_options(d),
            n_threads=n_threads,
            seed=seed,
        )

    def fit(self, weight: FloatArray, target: FloatArray) -> LeafTerm:
        grown = self._grower.grow(weight, target)
        return LeafTerm(grown, self._grower.leaf, means_of(grown.total))

    @property
    def state(self) -> tuple[int, float]:
        return self._grower.state

    @state.setter
    def state(self, state: tuple[int, float]) -> None:
        self._grower.state = state


class ShareLearner(_TreeValues):
    """Grows classification trees of one kind, whose class shares count."""

    def __init__(self, learner: TreeLearner) -> None:
        self.binned = learner.binned
        self._learner = learner
        self._estimator = learner._estimator
        self._n_threads = learner._n_threads
        self._n_classes = learner._n_classes

    def fit(self, weight: FloatArray, target: FloatArray) -> LeafTerm:
        grown = self._learner._grower.grow(weight)
        shares = shares_of(grown.total, self._n_classes)
        return LeafTerm(grown, self._learner._grower.leaf, shares)

    @property
    def state(self) -> tuple[int, float]:
        return self._learner.state

    @state.setter
    def state(self, state: tuple[int, float]) -> None:
        self._learner.state = state
