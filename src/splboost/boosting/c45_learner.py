"""C4.5 trees as weak learners, and the model of a booster of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.coding import Coding, float_matrix
from splboost._data.table import Table
from splboost.boosting.loop import VOTES, Learner, Weak, coded
from splboost.boosting.model import TreesOfBooster
from splboost.trees.additive import AdditiveTables
from splboost.trees.c45.c45_grower import C45Grower
from splboost.trees.c45.multiway import MultiwayTrees, shares_of_rows, votes_of_rows

FloatArray = NDArray[np.float64]

STALLED_EDGE, STALLED_DEPTH = 1e-6, 3


class C45Learner(Learner):
    """Grows C4.5 trees over one ranked table.

    To C4.5 weights are numbers of cases: they are scaled to sum to as many as there are
    samples of positive weight. As class shares count, a leaf has one more case of each.
    """

    def __init__(
        self,
        estimator: Any,
        table: Table,
        codes: NDArray[np.integer],
        n_classes: int,
        sample_weight: FloatArray,
        answers: str,
        *,
        n_threads: int,
    ) -> None:
        self._grower = C45Grower(table, codes, n_classes, n_threads=n_threads)
        self._estimator = estimator
        self._codes = codes
        self._votes = answers == VOTES
        self._classes = np.arange(n_classes)
        self.coding: Coding = self._grower.coding
        self._rows = None if self._votes else self.read(table, None)
        # Weights that sum to less than the number of rows still are that many cases.
        total = sample_weight.sum()
        self._cases = sample_weight * (max(total, sample_weight.size) / total)
        options = estimator.tree_options()
        depth = min(options.max_depth or STALLED_DEPTH, STALLED_DEPTH)
        self._options = options
        self._lenient = options._replace(free_depth=depth)
        self._free = options._replace(mdl=False, max_depth=depth)
        self._begun = False  # whether weights are no longer those of the samples

    def fit(self, weight: FloatArray, target: FloatArray | None = None) -> Weak:
        cases = self._count_cases(weight)
        if self._estimator.mdl != "auto":
            return self._answer(self._grow(cases, self._options)[0])
        # Where cuts cannot pay their price, they go without; but the first tree may be
        # a leaf.
        if not self._begun:
            ratio = (cases / self._cases)[cases > 0]
            self._begun = bool(ratio.max() > ratio.min() * (1 + 1e-9))
        options = self._lenient if self._begun else self._options
        weak, paid = self._grow(cases, options)
        no_edge = weak.error > 1 - 1 / self._classes.size - STALLED_EDGE
        if paid and (no_edge or (self._begun and weak.fitted.child.size == 1)):
            weak, _ = self._grow(cases, self._free)
        return self._answer(weak)

    def _count_cases(self, weight: FloatArray) -> FloatArray:
        """Weights that sum to the cases of the samples that have any.

        Cases that underflow, where weights are many powers of ten apart, count as one
        each.
        """
        cases = self._cases if weight.all() else self._cases[weight > 0]
        factor = cases.sum() / weight.sum()
        if 0.0 < factor < np.inf:
            return weight * factor
        return weight / weight.sum() * cases.size

    def _grow(self, cases: FloatArray, options: Any) -> tuple[Weak, bool]:
        tree, votes, paid = self._grower.grow(cases, options)
        weak = Weak(tree, votes, self._classes)
        weak.error = weak.missed(cases, self._codes) / float(cases.sum())
        return weak, paid

    def _answer(self, weak: Weak) -> Weak:
        if self._votes:
            return weak
        tree = weak.fitted._replace(value=weak.fitted.value + 1)
        return self._share(tree, self._rows)

    def _share(self, tree: Any, rows: Any) -> Weak:
        return Weak(tree, None, shares_of_rows(tree, rows))

    def model(self, learners: list[Weak], counts: FloatArray) -> C45Model:
        trees = self._grower.ensemble([weak.fitted for weak in learners])
        estimator = copy(self._estimator)
        factors = counts * [weak.factor for weak in learners]
        if self._votes:  # outputs lie on the grid
            factors = counts * [weak.move for weak in learners]
        links = None if self._votes else [weak.link for weak in learners]
        return C45Model(trees, estimator, factors, links)

    def read(self, table: Table, X: Any) -> NDArray[np.floating]:
        return float_matrix(table, self.coding, np.arange(table.n_features))

    def on_rows(self, weak: Weak, rows: NDArray[np.floating]) -> Weak:
        if self._votes:
            return weak.on_rows(votes_of_rows(weak.fitted, rows), weak.answers)
        return weak.on_rows(None, self._share(weak.fitted, rows).answers)


@dataclass(eq=False)
class C45Model(TreesOfBooster):
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

    trees: MultiwayTrees
    estimator: Any
    factors: FloatArray
    links: Sequence[Any] | None = None

    @cached_property
    def tables(self) -> AdditiveTables | None:
        """Stumps that vote as lookup tables, made when first needed."""
        if self.links is not None or self.trees.depth() > 1:
            return None
        label, k = self.trees.nodes.label, self.trees.nodes.value.shape[1]
        return AdditiveTables.from_stumps(
            self.trees,
            lambda nodes, t: coded(label[nodes], k) * self.factors[t][:, None],
        )

    def first(self, n: int) -> C45Model:
        links = None if self.links is None else self.links[:n]
        trees = self.trees.slice(0, n)
        return C45Model(trees, self.estimator, self.factors[:n], links)

    def joined(self, later: C45Model) -> C45Model:
        trees = MultiwayTrees.join(
            [self.trees.nodes, later.trees.nodes], self.trees.coding
        )
        factors = np.concatenate([self.factors, later.factors])
        links = None
        if self.links is not None and later.links is not None:
            links = [*self.links, *later.links]
        return C45Model(trees, later.estimator, factors, links)

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        if self.links is not None:
            super().add(table, X, score, n_threads=n_threads)
        elif self.tables is not None:
            self.tables.add(table, score, n_threads=n_threads)
        else:
            self.trees.add_votes(table, self.factors, score, n_threads=n_threads)

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        matrix = self.trees.matrix_of(table)
        for t in range(self.trees.n_trees):
            tree, factor = self.trees.tree(t), self.factors[t : t + 1]
            if self.links is None:
                tree.add_votes(matrix, factor, score)
            else:
                score += factor * self.links[t](tree.class_shares(matrix))
            yield
