"""Trees of another package, followed.

A follower is a weak learner that takes the next tree of another package's booster,
whatever it would have chosen itself, and answers in each leaf what the samples there
ask for. A booster of this library over it must come to the scores of the other, round
for round. Beside, the follower grows a tree of its own for the same weights and
targets, and says why where the first splits differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from splboost.trees import CARTClassifier, CARTRegressor

Tree = Any  # as in _peers.py
TIE, TOO_LITTLE, UNEXPLAINED = "tie", "too little to gain", "NOT EXPLAINED"


def evaluate(tree: Tree, X: np.ndarray) -> np.ndarray:
    """What the leaf of each row says."""
    if not isinstance(tree, dict):
        return np.broadcast_to(np.asarray(tree), (len(X), *np.shape(tree)))
    low, high = evaluate(tree["low"], X), evaluate(tree["high"], X)
    goes_low = X[:, tree["feature"]] <= tree["threshold"]
    return np.where(goes_low.reshape(-1, *[1] * (low.ndim - 1)), low, high)


@dataclass(frozen=True)
class Ways:
    """Of another package, where its trees may differ from ours.

    Attributes
    ----------
    precision : share by which the gains of two splits may differ in a tie
    rounding : the same, as a share of the sum of squares, from which gains are computed
    least_gain : gain up to which it makes no split, with weights that sum up to n
    """

    precision: float = 1e-9
    rounding: float = 1e-12
    least_gain: float = 0.0


@dataclass
class Script:
    """The trees to follow, in the order in which a booster asks for them.

    Attributes
    ----------
    trees : those of each round
    depth : of the trees to grow beside them
    ways : of the package that they are from
    reasons : for every tree that was followed, those of ``compare``
    lowest : the lowest mean of a target in a leaf
    """

    trees: list[list[Tree]]
    depth: int
    ways: Ways
    reasons: list[list[str]] = field(default_factory=list)
    lowest: float = np.inf

    def __post_init__(self) -> None:
        self._next = iter([tree for trees in self.trees for tree in trees])

    def take(
        self, X: np.ndarray, target: np.ndarray, weight: np.ndarray, own: Any
    ) -> Tree:
        """The next tree, its leaves filled with means of the target's columns."""
        theirs = next(self._next)
        weighs = weight > 0
        given = X[weighs], target[weighs], weight[weighs] / weight.mean()
        reasons = compare(read_own(own.tree_), theirs, *given, self.ways)
        self.reasons.append(list(reasons))
        filled = fill(theirs, *given)
        self.lowest = min(self.lowest, float(np.min(evaluate(filled, X))))
        return filled


def read_own(tree: Any, node: int = 0) -> Tree:
    child = tree.child[node]
    if child < 0:
        return 0.0
    return {
        "feature": int(tree.feature[node]),
        "threshold": float(tree.threshold[node]),
        "low": read_own(tree, child),
        "high": read_own(tree, child + 1),
    }


def fill(tree: Tree, X: np.ndarray, target: np.ndarray, weight: np.ndarray) -> Tree:
    """The tree with means in its leaves; where nothing weighs, it stays what it was."""
    if not isinstance(tree, dict):
        if not len(X):
            return tree
        mean = weight @ target / weight.sum()
        return float(mean[0]) if mean.size == 1 else mean.tolist()
    low = X[:, tree["feature"]] <= tree["threshold"]
    return {
        **tree,
        "low": fill(tree["low"], X[low], target[low], weight[low]),
        "high": fill(tree["high"], X[~low], target[~low], weight[~low]),
    }


def compare(
    ours: Tree,
    theirs: Tree,
    X: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    ways: Ways,
) -> Iterator[str]:
    """Why splits differ though those above them are the same."""
    one, two = (divide(tree, X) for tree in (ours, theirs))
    if not np.array_equal(one, two):
        own, other = (gain(low, target, weight) for low in (one, two))
        squares = float(weight @ (target**2).sum(axis=1))
        slack = ways.precision * max(own, other) + ways.rounding * squares
        if abs(own - other) <= slack:
            yield TIE
        else:
            yield TOO_LITTLE if two.all() and own <= ways.least_gain else UNEXPLAINED
    elif not one.all():
        for side, branch in ((one, "low"), (~one, "high")):
            given = X[side], target[side], weight[side]
            yield from compare(ours[branch], theirs[branch], *given, ways)


def divide(tree: Tree, X: np.ndarray) -> np.ndarray:
    """Which rows go low; all, in a leaf and where a test does not divide them."""
    if not isinstance(tree, dict):
        return np.ones(len(X), dtype=bool)
    low = X[:, tree["feature"]] <= tree["threshold"]
    return low if low.any() else ~low


def gain(low: np.ndarray, target: np.ndarray, weight: np.ndarray) -> float:
    """What a split takes off the sum of squares: for shares, off the Gini impurity."""

    def explained(rows: np.ndarray) -> float:
        total = weight[rows] @ target[rows]
        return float(total @ total / weight[rows].sum()) if rows.any() else 0.0

    return explained(low) + explained(~low) - explained(low | ~low)


class _Follower(BaseEstimator):
    def __init__(self, script: Script) -> None:
        self.script = script

    def __sklearn_clone__(self) -> Any:
        return type(self)(self.script)  # all clones read on in the one script


class FollowingRegressor(RegressorMixin, _Follower):
    """Answers with means of the target."""

    def fit(self, X: Any, z: Any, sample_weight: Any) -> FollowingRegressor:
        own = CARTRegressor(max_depth=self.script.depth).fit(X, z, sample_weight)
        self.tree_ = self.script.take(X, z[:, None], sample_weight, own)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return evaluate(self.tree_, X).astype(float)


class FollowingClassifier(ClassifierMixin, _Follower):
    """Answers with shares of the classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any) -> FollowingClassifier:
        self.classes_, codes = np.unique(y, return_inverse=True)
        own = CARTClassifier(max_depth=self.script.depth).fit(X, y, sample_weight)
        shares = np.eye(self.classes_.size)[codes]
        self.tree_ = self.script.take(X, shares, sample_weight, own)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return evaluate(self.tree_, X).astype(float)

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
