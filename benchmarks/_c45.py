"""C4.5 release 8 once more, plainly, with a switch for each way of J48's own.

Without switches it grows the trees of ``splboost.trees.C45Classifier`` on unweighted
rows, with all of them those of Weka's J48. ``SWITCHES`` says what each of them does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

SWITCHES = {
    "confidence quantile": "The normal quantile that goes with the confidence is exact "
    "(0.6745 for 0.25); C4.5 interpolates a table (0.6925).",
    "error bound": "Where nearly all cases of a leaf are errors, the pessimistic "
    "estimate adds N − e errors to e; C4.5 adds 0.67 (N − e).",
    "ties": "Gains, gain ratios and weights that differ by less than 1e-6 are equal, "
    "and the first wins; in C4.5 they are not.",
    "threshold slack": "A value up to 1e-6 above a threshold still counts as below it, "
    "both when the threshold is placed and when rows are sent down; not so in C4.5, "
    "nor in J48 of Weka 3.9.",
    "value gap": "A cut needs values more than 1e-5 apart. J48 adds 1e-5 to the lower "
    "one, C4.5 takes it off the higher; where values are just 1e-5 apart, rounding "
    "decides, and not in the same way.",
    "no gain": "A test without gain is never made; C4.5 makes it if no other has gain, "
    "hoping for gain below.",
    "empty branch": "A branch without training cases answers with the class shares of "
    "its parent; in C4.5 it stands wholly for the class that its parent had before "
    "pruning.",
}

EPSILON = 1e-3
SLACK = 1e-6  # of J48's comparisons
ROUNDING = 1e-10  # sums in another order are still equal
SAME_VALUE = 1e-5
CONFIDENCES = [0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0]
DEVIATIONS = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0]


@dataclass(frozen=True)
class Problem:
    """Rows with NaN for what is unknown; n_values is None for a numeric feature."""

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    n_values: Sequence[int | None]


@dataclass(frozen=True)
class Leaf:
    label: int


@dataclass(frozen=True)
class Test:
    """A test of numbers has the branches <= and >, one of categories one per value."""

    feature: int
    threshold: float | None
    branches: tuple[Tree, ...]


Tree = Leaf | Test


def count_leaves(tree: Tree) -> int:
    if isinstance(tree, Leaf):
        return 1
    return sum(map(count_leaves, tree.branches))


def is_same_tree(tree: Tree, other: Tree, slack: float = 0.0) -> bool:
    """Same tests, thresholds but for the slack, and classes at the leaves."""
    if isinstance(tree, Leaf) or isinstance(other, Leaf):
        return tree == other
    if tree.feature != other.feature:
        return False
    if tree.threshold is not None and abs(tree.threshold - other.threshold) > slack:
        return False
    pairs = zip(tree.branches, other.branches, strict=True)
    return all(is_same_tree(one, two, slack) for one, two in pairs)


@dataclass
class Node:
    """A node with the weight of its cases by class; a leaf has no branches."""

    counts: np.ndarray
    label: int
    feature: int = -1
    threshold: float | None = None
    branches: list[Node] = field(default_factory=list)

    @property
    def errors(self) -> float:
        return float(self.counts.sum() - self.counts[self.label])

    def become(self, other: Node) -> None:
        vars(self).update(vars(other))


class C45:
    """A tree of a problem, grown and pruned when it is made."""

    def __init__(
        self,
        problem: Problem,
        *,
        confidence: float = 0.25,
        min_cases: float = 2.0,
        mdl: bool = True,
        pruning: bool = True,
        switches: Collection[str] = (),
    ) -> None:
        if unknown := set(switches) - set(SWITCHES):
            raise ValueError(f"unknown switches {sorted(unknown)}")
        self.problem, self.min_cases, self.mdl = problem, min_cases, mdl
        self.confidence = confidence
        self.switches = frozenset(switches)
        self.tie = SLACK if "ties" in switches else ROUNDING
        self.above = SLACK if "threshold slack" in switches else 0.0
        rows, weight = np.arange(len(problem.y)), np.ones(len(problem.y))
        self.root = self.grow(rows, weight)
        if pruning:
            self.estimate(self.root, rows, weight, update=True)

    # ------------------------------------------------------------------------- growing

    def count(self, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.bincount(self.problem.y[rows], weight, self.problem.n_classes)

    def heaviest(self, counts: np.ndarray, start: int = 0) -> int:
        """The first class, or the given one, that no other exceeds."""
        best = start
        for label, weight in enumerate(counts.tolist()):
            if weight > counts[best] + self.tie:
                best = label
        return best

    def grow(self, rows: np.ndarray, weight: np.ndarray) -> Node:
        """A subtree; it is a leaf if its leaves make no fewer errors than one would."""
        counts = self.count(rows, weight)
        node = Node(counts, self.heaviest(counts))
        is_small = counts.sum() < 2 * self.min_cases - self.tie
        if is_small or node.errors < self.tie:
            return node
        chosen = self.choose_test(rows, weight)
        if chosen is None:
            return node
        feature, threshold = chosen
        parts = self.divide(feature, threshold, rows, weight)
        branches = [
            self.grow(*part) if part[0].size else Node(0 * counts, node.label)
            for part in parts
        ]
        if sum(map(errors_of_leaves, branches)) < node.errors - EPSILON:
            node.feature, node.threshold, node.branches = feature, threshold, branches
        return node

    def divide(
        self,
        feature: int,
        threshold: float | None,
        rows: np.ndarray,
        weight: np.ndarray,
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """The cases of each branch; the unknown go to all, by the known weight."""
        which = self.branch_of(feature, threshold, self.problem.X[rows, feature])
        n_branches = self.problem.n_values[feature] or 2
        known = np.bincount(which[which >= 0], weight[which >= 0], n_branches)
        parts = []
        for branch, share in enumerate(known / known.sum()):
            kept = (which == branch) | ((which < 0) & (share > 0))
            part = np.where(which < 0, share, 1.0) * weight
            parts.append((rows[kept], part[kept]))
        return parts

    def branch_of(
        self, feature: int, threshold: float | None, x: np.ndarray
    ) -> np.ndarray:
        """The branch of each value, -1 if it is unknown."""
        known = ~np.isnan(x)
        if threshold is None:
            return np.where(known, x, -1).astype(int)
        return np.where(known, x > threshold + self.above, -1).astype(int)

    def choose_test(
        self, rows: np.ndarray, weight: np.ndarray
    ) -> tuple[int, float | None] | None:
        """The largest gain ratio among the tests of at least average gain."""
        n_values = self.problem.n_values
        few = [n is None or n < 0.3 * len(self.problem.y) for n in n_values]
        tests = []
        for feature, n in enumerate(n_values):
            judge = self.judge_categories if n is not None else self.judge_numbers
            if (test := judge(feature, rows, weight)) is not None:
                tests.append((feature, *test))
        gains = [gain for f, gain, _, _ in tests if few[f] or not any(few)]
        if not gains:
            return None
        enough = np.mean(gains) - EPSILON
        chosen, best = None, 0.0 if "no gain" in self.switches else -EPSILON
        for feature, gain, split_information, threshold in tests:
            if gain < enough or split_information <= EPSILON:
                continue
            if gain / split_information > best + self.tie:
                chosen, best = (feature, threshold), gain / split_information
        return chosen

    def judge_categories(
        self, feature: int, rows: np.ndarray, weight: np.ndarray
    ) -> tuple[float, float, None] | None:
        """Gain and split information, if two values have enough cases."""
        x, y = self.problem.X[rows, feature], self.problem.y[rows]
        n_values, n_classes = self.problem.n_values[feature], self.problem.n_classes
        known = ~np.isnan(x)
        cells = x[known].astype(int) * n_classes + y[known]
        table = np.bincount(cells, weight[known], n_values * n_classes)
        table = table.reshape(n_values, n_classes)
        if np.sum(table.sum(axis=1) >= self.min_cases - self.tie) < 2:
            return None
        total = weight.sum()
        gain = (entropy(table.sum(axis=0)) - entropy(table).sum()) / total
        groups = [*table.sum(axis=1), max(0.0, total - table.sum())]
        return float(gain), float(entropy(np.array(groups)) / total), None

    def judge_numbers(
        self, feature: int, rows: np.ndarray, weight: np.ndarray
    ) -> tuple[float, float, float] | None:
        """Gain less the price of choosing the cut, split information, threshold."""
        x, total = self.problem.X[rows, feature], weight.sum()
        order = np.argsort(x, kind="stable")[: np.sum(~np.isnan(x))]
        x, rows, weight = x[order], rows[order], weight[order]
        known = weight.sum()
        least = 0.1 * known / self.problem.n_classes
        least = self.min_cases if least <= self.min_cases else min(least, 25.0)

        if "value gap" in self.switches:
            ends = np.flatnonzero(x[:-1] + SAME_VALUE < x[1:])
        else:
            ends = np.flatnonzero(x[:-1] < x[1:] - SAME_VALUE)
        classes = np.eye(self.problem.n_classes)[self.problem.y[rows]]
        below = np.cumsum(classes * weight[:, None], axis=0)
        above = below[-1:] - below
        low = below.sum(axis=1)[ends]
        ends = ends[np.minimum(low, known - low) >= least - self.tie]
        if not ends.size:
            return None
        after = entropy(below[ends]) + entropy(above[ends])
        gains = (entropy(below[-1]) - after) / total
        place, gain = 0, -np.inf
        for candidate, value in enumerate(gains.tolist()):
            if value > gain + self.tie:
                place, gain = candidate, value
        if self.mdl:
            gain -= np.log2(ends.size) / total
        if gain <= self.tie:
            return None
        end = ends[place]
        sides = [below[end].sum(), above[end].sum(), max(0.0, total - known)]
        threshold = self.place_threshold(feature, x[end], x[end + 1])
        return float(gain), float(entropy(np.array(sides)) / total), threshold

    def place_threshold(self, feature: int, low: float, high: float) -> float:
        """The largest value of all training rows that is not above the middle.

        With its slack, J48 takes a value up to 1e-6 above the middle too, and among
        values closer than that the one that comes first.
        """
        middle = (low + high) / 2
        middle = low if middle >= high else middle
        x = self.problem.X[:, feature]
        candidates = x[x - middle < self.above] if self.above else x[x <= middle]
        best = -np.inf
        for value in candidates.tolist():
            if value > best + self.above:
                best = value
        return best

    # ------------------------------------------------------------------------- pruning

    def estimate(
        self, node: Node, rows: np.ndarray, weight: np.ndarray, update: bool
    ) -> float:
        """Pessimistic errors of a subtree on these cases; with update it is pruned."""
        counts = self.count(rows, weight)
        leaf = Node(counts, self.heaviest(counts, node.label))
        as_leaf = leaf.errors + self.extra_errors(counts.sum(), leaf.errors)
        if update:
            node.counts, node.label = leaf.counts, leaf.label
        if not node.branches:
            return as_leaf
        parts = self.divide(node.feature, node.threshold, rows, weight)
        as_tree = 0.0
        for branch, part in zip(node.branches, parts, strict=True):
            if part[0].size:
                as_tree += self.estimate(branch, *part, update)
        if not update:
            return as_tree
        sizes = np.array([part[1].sum() for part in parts])
        largest = node.branches[np.flatnonzero(sizes > sizes.max() - self.tie)[-1]]
        as_branch = self.estimate(largest, rows, weight, update=False)
        if as_leaf <= min(as_tree, as_branch) + 0.1 + self.tie:
            node.become(leaf)
            return as_leaf
        if as_branch <= as_tree + 0.1 + self.tie:
            node.become(largest)
            return self.estimate(node, rows, weight, update=True)
        return as_tree

    def extra_errors(self, N: float, e: float) -> float:
        """What the pessimistic estimate adds to e errors in N cases."""
        none = N * (1 - self.confidence ** (1 / N))
        if e < 1e-6:
            return none
        if e < 0.9999:
            return none + e * (self.extra_errors(N, 1.0) - none)
        if e + 0.5 >= N:
            return (1.0 if "error bound" in self.switches else 0.67) * (N - e)
        if "confidence quantile" in self.switches:
            z = NormalDist().inv_cdf(1 - self.confidence)
        else:
            z = np.interp(self.confidence, CONFIDENCES, DEVIATIONS)
        root = np.sqrt(z * z * ((e + 0.5) * (1 - (e + 0.5) / N) + z * z / 4))
        return N * (e + 0.5 + z * z / 2 + root) / (N + z * z) - e

    # --------------------------------------------------------------------- the outcome

    @property
    def tree(self) -> Tree:
        def show(node: Node, parent: Node) -> Tree:
            if node.branches:
                branches = tuple(show(branch, node) for branch in node.branches)
                return Test(node.feature, node.threshold, branches)
            return Leaf(self.heaviest(self.shares_of_leaf(node, parent)))

        return show(self.root, self.root)

    def shares_of_leaf(self, node: Node, parent: Node) -> np.ndarray:
        counts = node.counts
        if counts.sum() == 0.0 and "empty branch" in self.switches:
            counts = parent.counts
        if counts.sum() == 0.0:
            return np.eye(self.problem.n_classes)[node.label]
        return counts / counts.sum()

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class of the largest share, the first of those that tie."""
        shares = np.zeros((len(X), self.problem.n_classes))

        def descend(node: Node, parent: Node, rows: np.ndarray, part: np.ndarray):
            if not node.branches:
                shares[rows] += part[:, None] * self.shares_of_leaf(node, parent)
                return
            which = self.branch_of(node.feature, node.threshold, X[rows, node.feature])
            size = node.counts.sum()
            for number, branch in enumerate(node.branches):
                reaching = np.where(
                    which < 0, branch.counts.sum() / size, which == number
                )
                kept = reaching > 0
                descend(branch, node, rows[kept], (part * reaching)[kept])

        descend(self.root, self.root, np.arange(len(X)), np.ones(len(X)))
        return np.array([self.heaviest(row) for row in shares], dtype=int)


def errors_of_leaves(node: Node) -> float:
    if not node.branches:
        return node.errors
    return sum(map(errors_of_leaves, node.branches))


def entropy(counts: np.ndarray) -> np.ndarray:
    """Entropy in bits of groups, times their weight; groups along the last axis."""
    counts = np.maximum(counts, 0.0)
    total = counts.sum(axis=-1)
    return _x_log_x(total) - _x_log_x(counts).sum(axis=-1)


def _x_log_x(x: np.ndarray) -> np.ndarray:
    return x * np.log2(np.where(x > 0, x, 1.0))
