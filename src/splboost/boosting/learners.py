"""Weak learners as the loop sees them: each answers with leaves.

A learner is made once per fit and class. ``learner.fit(weight, target)`` fits a tree or
an estimator to the samples of positive weight and returns a :class:`Weak`: the leaf of
every training sample, and an answer for each leaf. What counts of a learner is one of

    VOTES    a class for each leaf
    SHARES   the share of each class there
    MEANS    the mean of the target

and a step turns answers into outputs, which are added to the scores. ``TreeLearner``
grows this library's CART trees over one binned table, ``C45Learner`` C4.5 trees over a
ranked one; ``EstimatorLearner`` clones and fits estimators of scikit-learn. Where an
answer is a row's own (a regression of scikit-learn, a C4.5 tree whose rows meet several
leaves), every row is its own leaf, and ``leaf`` is None.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from splboost._data.coding import Coding, float_matrix
from splboost._data.table import Table
from splboost._tools.compiling import kernel
from splboost._tools.threads import count_threads
from splboost.boosting.loop import Round
from splboost.boosting.model import (
    C45Model,
    EstimatorModel,
    Model,
    PerClassModel,
    TreeModel,
    coded,
)
from splboost.boosting.samples import Samples
from splboost.boosting.weak_learner import (
    MEANS,
    NEGLIGIBLE,
    SHARES,
    VOTES,
    answer,
    check_weak_learner,
    fit_clone,
    is_own_tree,
)
from splboost.trees.c45.c45_estimator import C45Classifier
from splboost.trees.c45.grower import C45Grower
from splboost.trees.c45.multiway import shares_of_rows, votes_of_rows
from splboost.trees.ensemble import Rows, TreeEnsemble
from splboost.trees.grower import TreeGrower
from splboost.trees.split import TIE
from splboost.trees.workspace import CHILD

FloatArray = NDArray[np.float64]

GRID = 2.0**-43  # sums of its multiples are exact
NO_LEAF = np.empty(0, dtype=np.int32)
STALLED_EDGE, STALLED_DEPTH = 1e-6, 3


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


class Learner(Protocol):
    """Fits weak learners to weights.

    Attributes
    ----------
    coding : the codes of categories, which a later fit must share; or None
    state : what the next learner depends on besides its weights; a warm start sets it
    """

    coding: Any
    state: Any

    def can_fit(self, weight: FloatArray) -> bool:
        """Whether these weights leave something to fit to."""

    def fit(self, weight: FloatArray, target: FloatArray | None = None) -> Weak:
        """Fit to the samples of positive weight."""

    def model(self, learners: list[Weak], counts: FloatArray) -> Model:
        """A model of these; ``counts`` is 1, or 0 for one that stands in for none."""

    def read(self, table: Table, X: Any) -> Any:
        """Other rows, such as the validation data, prepared once."""

    def on_rows(self, weak: Weak, rows: Any) -> Weak:
        """A learner on such rows."""


class TreeLearner:
    """Grows CART trees of one kind over one binned table."""

    def __init__(
        self,
        estimator: Any,
        binned: Any,
        codes: NDArray[np.integer],
        n_classes: int,
        answers: str,
        *,
        n_threads: int,
        seed: int,
    ) -> None:
        self._estimator = estimator
        self._answers = answers
        self._n_classes = 0 if answers == MEANS else n_classes
        self._n_threads = n_threads
        self.coding: Coding = binned.categories
        self._grower = TreeGrower(
            binned,
            codes,
            self._n_classes,
            estimator.tree_options(binned.n_bins.size),
            n_threads=n_threads,
            seed=seed,
        )

    def can_fit(self, weight: FloatArray) -> bool:
        return bool(weight.any())

    def fit(self, weight: FloatArray, target: FloatArray | None = None) -> Weak:
        grown, leaf = self._grower.grow(weight, target), self._grower.leaf
        if self._answers == MEANS:
            return Weak(grown, leaf, grown.total[:, 1:2] / grown.total[:, :1])
        if self._answers == SHARES:
            return Weak(grown, leaf, shares_in_leaves(grown.total, self._n_classes))
        votes = np.empty(grown.node.shape[0], dtype=np.int64)
        error = vote_in_leaves(grown.node, grown.total, self._n_classes, votes)
        return Weak(grown, leaf, votes, error)

    def model(self, learners: list[Weak], counts: FloatArray) -> TreeModel:
        grown = [weak.fitted for weak in learners]
        trees = TreeEnsemble.from_grown(grown, self._n_classes, self.coding)
        outputs = [w.output * own for w, own in zip(learners, counts, strict=True)]
        return TreeModel(trees, np.concatenate(outputs), copy(self._estimator))

    def read(self, table: Table, X: Any) -> Rows:
        return Rows(table, self.coding, n_threads=self._n_threads)

    def on_rows(self, weak: Weak, rows: Rows) -> Weak:
        return weak.on_rows(rows.leaves(weak.fitted), weak.answers)

    @property
    def state(self) -> Any:
        return self._grower.state

    @state.setter
    def state(self, state: Any) -> None:
        self._grower.state = state


@kernel
def shares_in_leaves(total, n_classes):  # type: ignore[no-untyped-def]
    """The share of each class in each node; the heaviest but for rounding are equal."""
    shares = np.empty((total.shape[0], n_classes))
    for i in range(total.shape[0]):
        most = whole = 0.0
        for c in range(n_classes):
            most = max(most, total[i, c])
        for c in range(n_classes):
            near = total[i, c] >= most * (1 - TIE)
            shares[i, c] = most if near else total[i, c]
            whole += shares[i, c]
        for c in range(n_classes):
            shares[i, c] /= whole
    return shares


@kernel
def vote_in_leaves(node, total, n_classes, votes):  # type: ignore[no-untyped-def]
    """Write the heaviest class of each node; the share of weight not of its leaf's.

    Of classes that are as heavy but for rounding it is the first, as in predictions.
    """
    missed = everything = 0
    for i in range(node.shape[0]):
        weight = most = 0
        for c in range(n_classes):
            weight += total[i, c]
            most = max(most, total[i, c])
        best = 0
        while total[i, best] < most * (1 - TIE):
            best += 1
        votes[i] = best
        if node[i, CHILD] < 0:
            missed += weight - total[i, best]
            everything += weight
    return missed / everything


class C45Learner:
    """Grows C4.5 trees over one ranked table.

    To C4.5 weights are numbers of cases: they are scaled to sum to as many as there are
    samples of positive weight. As class shares count, a leaf has one more case of each.
    """

    state = None  # a tree depends on nothing but its weights

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

    def can_fit(self, weight: FloatArray) -> bool:
        return bool(weight.any())

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
        there = weight > 0
        factor = self._cases[there].sum() / weight.sum()
        if 0.0 < factor < np.inf:
            return weight * factor
        return weight / weight.sum() * np.count_nonzero(there)

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


class EstimatorLearner:
    """Fits clones of any estimator that takes ``sample_weight``.

    Parameters
    ----------
    estimator : the weak learner
    X : the training samples
    codes : class numbers, for classifiers
    classes : what to call these
    sample_weight : the samples' own weights
    answers : what counts of it
    rng : seeds the learners
    """

    coding = None

    def __init__(
        self,
        estimator: Any,
        X: Any,
        codes: NDArray[np.integer],
        classes: NDArray[Any],
        sample_weight: FloatArray,
        answers: str,
        rng: np.random.RandomState,
    ) -> None:
        self._estimator = estimator
        self._X = X
        self._codes = codes
        self._classes = classes
        self._sample_weight = sample_weight
        self._answers = answers
        self._rng = rng

    def can_fit(self, weight: FloatArray) -> bool:
        """Whether there are samples; two classes of them, if these are to be told."""
        if self._answers == MEANS:
            return bool(weight.any())
        return np.unique(self._codes[weight > 0]).size > 1

    def fit(self, weight: FloatArray, target: FloatArray | None = None) -> Weak:
        of_classes = self._answers != MEANS
        estimator = fit_clone(
            self._estimator,
            self._X,
            self._classes[self._codes] if of_classes else np.asarray(target),
            weight,
            self._sample_weight,
            self._rng,
            of_classes=of_classes,
        )
        leaf, answers = answer(estimator, self._X, self._answers, self._classes)
        weak = Weak(estimator, leaf, answers)
        if self._answers == VOTES:
            weak.error = weak.missed(weight, self._codes) / float(weight.sum())
        return weak

    def model(self, learners: list[Weak], counts: FloatArray) -> EstimatorModel:
        factors = counts * [weak.factor for weak in learners]
        links: list[Any] = [weak.link for weak in learners]
        if self._answers == VOTES:  # outputs lie on the grid
            factors = counts * [weak.move for weak in learners]
            links = [partial(coded, n_classes=self._classes.size)] * len(learners)
        return EstimatorModel(
            [weak.fitted for weak in learners],
            factors,
            links,
            self._answers,
            self._classes,
        )

    def read(self, table: Table, X: Any) -> Any:
        return table.native(X)

    def on_rows(self, weak: Weak, rows: Any) -> Weak:
        return weak.on_rows(*answer(weak.fitted, rows, self._answers, self._classes))

    @property
    def state(self) -> Any:
        return self._rng.get_state()

    @state.setter
    def state(self, state: Any) -> None:
        self._rng.set_state(state)


# ---------------------------------------------------------- a learner for each class


def drop_negligible(weight: FloatArray) -> FloatArray:
    """Weights, those at 0 that are next to nothing beside the largest."""
    return weight * (weight >= NEGLIGIBLE * weight.max(initial=0.0))


class Learners:
    """A learner for each class, or a single one for all of them.

    Attributes
    ----------
    each : list of Learner, which may be one and the same
    """

    def __init__(self, each: list[Any]) -> None:
        self.each = each

    def model(self, rounds: list[Round]) -> Model:
        """What the rounds have learned."""
        taken = np.array([[weak is not None for weak in r.weak] for r in rounds])
        counts = np.array([r.counts for r in rounds])
        models = [
            learner.model(
                [r.weak[k] for r in rounds if r.weak[k] is not None],
                counts[taken[:, k]],
            )
            if taken[:, k].any()
            else None
            for k, learner in enumerate(self.each)
        ]
        if len(models) == 1 and models[0] is not None:
            return models[0]
        return PerClassModel(models, taken)

    def read(self, table: Table, X: Any) -> Any:
        """Other rows, prepared once."""
        return self.each[0].read(table, X)

    def on_rows(self, weak: list[Weak | None], rows: Any) -> list[Weak | None]:
        """A round's learners on such rows."""
        return [
            None if own is None else learner.on_rows(own, rows)
            for own, learner in zip(weak, self.each, strict=True)
        ]

    @property
    def coding(self) -> Coding | None:
        return self.each[0].coding

    @property
    def state(self) -> list[Any]:
        return [learner.state for learner in self.each]

    @state.setter
    def state(self, state: list[Any]) -> None:
        for learner, own in zip(self.each, state, strict=True):
            if own is not None:
                learner.state = own


def make_learners(booster: Any, samples: Samples, rng: np.random.RandomState) -> Any:
    """The learners of a round: one for all classes, or one for each."""
    estimator, answers = booster._weak_learner(), booster._answers
    check_weak_learner(booster, estimator, answers)
    problems = booster._problems(samples)
    repeats = len(problems) if answers == MEANS else 1  # the target differs alone
    del problems[: repeats - 1]
    weight = samples.weight
    if not is_own_tree(estimator):
        X = samples.X
        each: list[Any] = [
            EstimatorLearner(estimator, X, codes, classes, weight, answers, rng)
            for codes, classes in problems
        ]
        return Learners(each * repeats)
    n_threads, seed = count_threads(booster.n_jobs), rng.randint(2**31 - 1)
    if isinstance(estimator, C45Classifier):
        each = [
            C45Learner(
                estimator,
                samples.table,
                codes,
                classes.size,
                weight,
                answers,
                n_threads=n_threads,
            )
            for codes, classes in problems
        ]
    else:
        binned = samples.binned(n_threads)
        each = [
            TreeLearner(
                estimator,
                binned,
                codes,
                classes.size,
                answers,
                n_threads=n_threads,
                seed=seed,
            )
            for codes, classes in problems
        ]
    return Learners(each * repeats)
