"""Weak learners as the loop sees them: each answers with leaves.

A learner is made once per fit and class. ``learner.fit(weight, target)`` fits a tree or
an estimator to the samples of positive weight and returns a ``Weak`` (``loop``): the
leaf of every training sample, and an answer for each leaf, which is its vote, the
shares of the classes there, or the mean of the target. A step turns answers into
outputs, which are added to the scores.

``TreeLearner`` grows this library's CART trees over one binned table. C4.5 trees over a
ranked one are in ``c45_learner``, estimators of scikit-learn in ``estimator_learner``.
Where an answer is a row's own (a regression of scikit-learn, a C4.5 tree whose rows
meet several leaves), every row is its own leaf, and ``leaf`` is None.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from splboost._data.coding import Coding, float_matrix
from splboost._data.table import Table
from splboost._tools.compiling import kernel
from splboost._tools.threads import count_threads
from splboost.boosting.c45_learner import C45Learner
from splboost.boosting.estimator_learner import EstimatorLearner
from splboost.boosting.loop import MEANS, SHARES, Learner, Weak
from splboost.boosting.model import TreeModel
from splboost.trees.binning import bin_table
from splboost.trees.c45.c45_estimator import C45Classifier
from splboost.trees.ensemble import TreeEnsemble, leaves_of_grown
from splboost.trees.estimators import CARTClassifier, CARTRegressor
from splboost.trees.grower import TreeGrower
from splboost.trees.split import TIE
from splboost.trees.workspace import CHILD

FloatArray = NDArray[np.float64]


class TreeLearner(Learner):
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

    def read(self, table: Table, X: Any) -> FloatArray:
        return float_matrix(table, self.coding, np.arange(table.n_features))

    def on_rows(self, weak: Weak, rows: FloatArray) -> Weak:
        leaf = leaves_of_grown(weak.fitted, rows, n_threads=self._n_threads)
        return weak.on_rows(leaf, weak.answers)

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


# ---------------------------------------------------------- a learner for each class


def set_states(learners: list[Any], states: list[Any]) -> None:
    """Let learners go on from states that they once had."""
    for learner, state in zip(learners, states, strict=True):
        if state is not None:
            learner.state = state


def make_learners(booster: Any, samples: Any, rng: np.random.RandomState) -> list[Any]:
    """The learners of a round: one for all classes, or one for each."""
    estimator, answers = booster._weak_learner(), booster._answers
    codes, weight = samples.codes, samples.weight
    classes: Any = getattr(booster, "classes_", np.zeros(1))
    n_learners = 1
    if classes.size > 2 and not booster._is_joint:
        n_learners = classes.size
    problems = [(codes, classes)]  # what is to be told apart
    if n_learners > 1 and answers != MEANS:  # of means the target differs alone
        own = np.array([False, True])
        problems = [((codes == k).astype(np.uint8), own) for k in range(n_learners)]
    n_threads, is_own = count_threads(booster.n_jobs), is_own_tree(estimator)
    seed = rng.randint(2**31 - 1) if is_own else 0
    each: list[Any]
    if not is_own:
        X = samples.X
        each = [
            EstimatorLearner(estimator, X, *problem, weight, answers, rng)
            for problem in problems
        ]
    elif isinstance(estimator, C45Classifier):
        given, table = (weight, answers), samples.table
        each = [
            C45Learner(estimator, table, codes, k.size, *given, n_threads=n_threads)
            for codes, k in problems
        ]
    else:
        if samples.bins is None:
            samples.bins = bin_table(samples.table, samples.weight, n_threads=n_threads)
        grown = {"n_threads": n_threads, "seed": seed}
        each = [
            TreeLearner(estimator, samples.bins, codes, k.size, answers, **grown)
            for codes, k in problems
        ]
    return each * (n_learners // len(each))


# ------------------------------------------------- the weak learner that users ask for


def is_own_tree(estimator: Any) -> bool:
    """Whether the tree engine is to grow it; not if a subclass goes its own way."""
    return any(
        isinstance(estimator, kind)
        and type(estimator).fit is kind.fit
        and type(estimator).predict is kind.predict
        for kind in (CARTClassifier, C45Classifier, CARTRegressor)
    )


def is_binned(estimator: Any) -> bool:
    """Whether it is grown from a binned table."""
    return is_own_tree(estimator) and isinstance(
        estimator, CARTClassifier | CARTRegressor
    )


def check_weak_learner(booster: Any) -> Any:
    """Refuse what a booster cannot boost, and say why; its categorical features.

    These are listed for the booster or for the weak learner.
    """
    estimator, answers = booster._weak_learner(), booster._answers
    own = booster.categorical_features
    if not is_own_tree(estimator) and own is not None:
        raise ValueError(
            f"categorical_features={own!r} is for the trees of splboost.trees; "
            f"estimator={estimator!r} would take these columns for numbers. "
            "Use a tree of splboost.trees, or encode them yourself."
        )
    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(f"estimator={name} is a class; give an object, say {name}().")
    instead = "CARTRegressor" if answers == MEANS else "CARTClassifier"
    if answers == MEANS and not is_regressor(estimator):
        raise TypeError(
            f"estimator={estimator!r} is not a regressor, and this booster fits "
            f"numbers; give a scikit-learn regressor or splboost.trees.{instead}."
            f"{booster._note_on_learners}"
        )
    if answers != MEANS and not is_classifier(estimator):
        raise TypeError(
            f"estimator={estimator!r} is not a classifier; give a scikit-learn "
            f"classifier or one of splboost.trees.{booster._note_on_learners}"
        )
    if answers == SHARES and not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator={estimator!r} has no predict_proba, which this booster needs; "
            f"give a classifier that has, for instance splboost.trees.{instead}."
        )
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"estimator={type(estimator).__name__} doesn't support sample_weight in "
            "fit, which boosting needs; choose another weak learner, for instance "
            f"splboost.trees.{instead}."
        )
    if not is_own_tree(estimator):
        return None
    estimator._validate_params()
    if getattr(estimator, "class_weight", None) is not None:
        raise ValueError(
            f"estimator={estimator!r} has a class_weight, which would change the "
            "weights that boosting has set; give class_weight="
            f"{estimator.class_weight!r} to {type(booster).__name__} instead."
        )
    if own is not None and estimator.categorical_features is not None:
        raise ValueError(
            f"categorical_features={own!r} is given to {type(booster).__name__}, and "
            f"{estimator.categorical_features!r} to its estimator; give it once."
        )
    return own if own is not None else estimator.categorical_features
