"""CART by exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

MIN_GAIN = 1e-12
RELATIVE_TIE = 1e-10
ABSOLUTE_TIE = 1e-13


def is_larger(new: float, old: float) -> bool:
    """Whether new exceeds old by more than what counts as a tie."""
    return new - old > RELATIVE_TIE * max(abs(new), abs(old)) + ABSOLUTE_TIE


@dataclass
class Node:
    """A tree node; a leaf has no children, a numeric split no categories.

    value holds the class weights (classification) or the weighted mean (regression).
    gain is the normalised gain of the node's split.
    """

    value: np.ndarray | float
    weight: float
    n_rows: int
    depth: int
    gain: float = 0.0
    feature: int | None = None
    threshold: float | None = None
    left_categories: tuple[int, ...] | None = None
    right_categories: tuple[int, ...] | None = None
    missing_left: bool | None = None
    left: Node | None = None
    right: Node | None = None


@dataclass
class Candidate:
    """One way to cut a node by one feature; go_left marks the node's rows."""

    go_left: np.ndarray
    missing_left: bool | None
    threshold: float | None = None
    left_categories: tuple[int, ...] | None = None
    right_categories: tuple[int, ...] | None = None
    feature: int = -1
    gain: float = -np.inf


@dataclass
class TreeProblem:
    """The training data of one tree and its options."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    classification: bool
    criterion: str
    n_classes: int
    max_depth: float
    min_samples_leaf: int
    min_leaf_weight: float
    categorical: tuple[int, ...]


def class_weights(y: np.ndarray, weight: np.ndarray, n_classes: int) -> np.ndarray:
    """Summed weight of each class."""
    return np.array([weight[y == k].sum() for k in range(n_classes)])


def side_score(p: TreeProblem, rows: np.ndarray) -> float:
    """What a split maximises, for one side (W = summed weight).

    Gini: sum_k W_k^2 / W. Entropy: minus W times the entropy. Regression:
    (sum w z)^2 / W.
    """
    y, weight = p.y[rows], p.weight[rows]
    total = weight.sum()
    if not p.classification:
        return (weight * y).sum() ** 2 / total
    per_class = class_weights(y, weight, p.n_classes)
    if p.criterion == "gini":
        return (per_class**2).sum() / total
    if p.criterion == "entropy":
        present = per_class[per_class > 0]
        return (present * np.log(present / total)).sum()
    raise ValueError(f"unknown criterion {p.criterion!r}")


def numeric_candidates(x: np.ndarray) -> Iterator[Candidate]:
    """Cuts midway between neighbouring values; all with the missing right come first.

    The last one of these, all values left, has threshold +inf.
    """
    missing = np.isnan(x)
    values = np.unique(x[~missing])
    cuts = []
    for low, high in pairwise(values):
        middle = (low + high) / 2.0
        cuts.append(low if middle >= high else middle)
    if not missing.any():
        for cut in cuts:
            yield Candidate(x <= cut, None, cut)
        return
    for cut in cuts:
        yield Candidate(x <= cut, False, cut)
    if values.size:
        yield Candidate(~missing, False, np.inf)
    for cut in cuts:
        yield Candidate((x <= cut) | missing, True, cut)


def category_orders(p: TreeProblem, rows: np.ndarray, x: np.ndarray) -> list[list[int]]:
    """Orders of the categories present in a node.

    By the share of class 1 for two classes, by the mean for regression, by the share of
    each class in turn for more classes; equal shares by the lower code.
    """
    y, weight = p.y[rows], p.weight[rows]
    present = [int(c) for c in np.unique(x[~np.isnan(x)])]

    def by_mean_of(target):
        means = [np.average(target[x == c], weights=weight[x == c]) for c in present]
        return [c for _, c in sorted(zip(means, present, strict=True))]

    if not p.classification:
        return [by_mean_of(y)]
    if p.n_classes == 2:
        return [by_mean_of((y == 1).astype(float))]
    return [by_mean_of((y == k).astype(float)) for k in range(p.n_classes)]


def categorical_candidates(
    x: np.ndarray, orders: list[list[int]]
) -> Iterator[Candidate]:
    """Prefixes of each order go left; those with the missing right come first.

    The last one of these is all present categories left.
    """
    missing = np.isnan(x)
    for order in orders:
        prefixes = [
            (tuple(sorted(order[:size])), tuple(sorted(order[size:])))
            for size in range(1, len(order) + 1)
        ]
        if not missing.any():
            for left, right in prefixes[:-1]:
                yield Candidate(np.isin(x, left), None, None, left, right)
            continue
        for left, right in prefixes:
            yield Candidate(np.isin(x, left), False, None, left, right)
        for left, right in prefixes[:-1]:
            yield Candidate(np.isin(x, left) | missing, True, None, left, right)


def best_split(p: TreeProblem, rows: np.ndarray) -> Candidate | None:
    """Best admissible cut of a node: the best of each feature, then of the features."""
    parent, total = side_score(p, rows), p.weight[rows].sum()
    best = None
    for feature in range(p.X.shape[1]):
        x = p.X[rows, feature]
        if feature in p.categorical:
            candidates = categorical_candidates(x, category_orders(p, rows, x))
        else:
            candidates = numeric_candidates(x)
        best_here = None
        for cut in candidates:
            left, right = rows[cut.go_left], rows[~cut.go_left]
            if min(left.size, right.size) < p.min_samples_leaf:
                continue
            if min(p.weight[left].sum(), p.weight[right].sum()) < p.min_leaf_weight:
                continue
            cut.feature = feature
            cut.gain = (side_score(p, left) + side_score(p, right) - parent) / total
            if best_here is None or is_larger(cut.gain, best_here.gain):
                best_here = cut
        if best_here is None:
            continue
        if best is None or is_larger(best_here.gain, best.gain):
            best = best_here
    return best if best is not None and best.gain > MIN_GAIN else None


def make_leaf(p: TreeProblem, rows: np.ndarray, depth: int) -> Node:
    """A node without children."""
    y, weight = p.y[rows], p.weight[rows]
    if p.classification:
        value = class_weights(y, weight, p.n_classes)
    else:
        value = float((weight * y).sum() / weight.sum())
    return Node(value, float(weight.sum()), rows.size, depth)


def fit_tree(
    X,
    y,
    weight=None,
    *,
    task: str = "classification",
    criterion: str = "gini",
    n_classes: int | None = None,
    max_depth: int | None = None,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int = 1,
    min_weight_fraction_leaf: float = 0.0,
    categorical: tuple[int, ...] = (),
) -> Node:
    """CART by exhaustive search, missing values and categories included.

    Rows of weight zero are deleted first. Leaves are expanded in the order of their
    total improvement (gain times weight), the older first on ties, which matters only
    with max_leaf_nodes. A value that was not missing in a node while growing goes to
    the heavier child at prediction if it is missing (left if equal within the tie
    tolerance), and so does a category the node has not seen.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    kept = weight > 0
    X, y, weight = X[kept], y[kept], weight[kept]
    classification = task == "classification"
    if classification and n_classes is None:
        n_classes = max(2, int(y.max()) + 1)
    p = TreeProblem(
        X,
        y if classification else y.astype(float),
        weight,
        classification,
        criterion,
        n_classes if classification else 0,
        np.inf if max_depth is None else max_depth,
        min_samples_leaf,
        min_weight_fraction_leaf * weight.sum(),
        tuple(categorical),
    )
    all_rows = np.arange(len(y))
    root = make_leaf(p, all_rows, 0)
    most_leaves = np.inf if max_leaf_nodes is None else max_leaf_nodes
    open_leaves = [(root, all_rows, split_below(p, root, all_rows))]
    n_leaves = 1
    while open_leaves and n_leaves < most_leaves:
        chosen = next_to_expand(open_leaves, root.weight)
        node, rows, cut = open_leaves.pop(chosen)
        if cut is None:
            continue
        for child, child_rows in split_node(p, node, rows, cut):
            open_leaves.append((child, child_rows, split_below(p, child, child_rows)))
        n_leaves += 1
    return root


def split_below(p: TreeProblem, node: Node, rows: np.ndarray) -> Candidate | None:
    """The node's best split, none at the greatest depth."""
    return best_split(p, rows) if node.depth < p.max_depth else None


def next_to_expand(open_leaves: list, root_weight: float) -> int:
    """Position of the open leaf with the largest total improvement, oldest on ties."""
    best, best_gain = 0, -np.inf
    for i, (node, _, cut) in enumerate(open_leaves):
        total = -1.0 if cut is None else cut.gain * node.weight / root_weight
        if best_gain == -np.inf or is_larger(total, best_gain):
            best, best_gain = i, total
    return best


def split_node(p: TreeProblem, node: Node, rows: np.ndarray, cut: Candidate) -> list:
    """Turn a leaf into a split; return its two children with their rows."""
    left_rows, right_rows = rows[cut.go_left], rows[~cut.go_left]
    node.left = make_leaf(p, left_rows, node.depth + 1)
    node.right = make_leaf(p, right_rows, node.depth + 1)
    node.feature, node.gain = cut.feature, float(cut.gain)
    node.threshold = None if cut.threshold is None else float(cut.threshold)
    node.left_categories = cut.left_categories
    node.right_categories = cut.right_categories
    if cut.missing_left is None:
        left, right = node.left.weight / node.weight, node.right.weight / node.weight
        node.missing_left = not is_larger(right, left)
    else:
        node.missing_left = cut.missing_left
    return [(node.left, left_rows), (node.right, right_rows)]


def goes_left(node: Node, x: np.ndarray) -> np.ndarray:
    """Which values of the node's feature go to its left child."""
    if node.left_categories is None:
        return np.where(np.isnan(x), node.missing_left, x <= node.threshold)
    known = np.isin(x, node.left_categories + node.right_categories)
    return np.where(known, np.isin(x, node.left_categories), node.missing_left)


def tree_leaves(node: Node) -> list[Node]:
    """Leaves from left to right."""
    if node.left is None:
        return [node]
    return tree_leaves(node.left) + tree_leaves(node.right)


def apply_tree(node: Node, X) -> np.ndarray:
    """Number of the leaf each row ends in, counted from left to right from 0."""
    X = np.asarray(X, dtype=float)
    if node.left is None:
        return np.zeros(len(X), dtype=int)
    left = goes_left(node, X[:, node.feature])
    out = np.empty(len(X), dtype=int)
    out[left] = apply_tree(node.left, X[left])
    out[~left] = apply_tree(node.right, X[~left]) + len(tree_leaves(node.left))
    return out


def leaf_class(class_weight: np.ndarray) -> int:
    """The heaviest class, the lowest of those that tie with it."""
    share = class_weight / class_weight.sum()
    return next(k for k, s in enumerate(share) if not is_larger(share.max(), s))


def predict_tree(node: Node, X) -> np.ndarray:
    """Class index (classification) or weighted mean (regression) of each row's leaf."""
    leaves = tree_leaves(node)
    if np.ndim(node.value):
        values = np.array([leaf_class(leaf.value) for leaf in leaves])
    else:
        values = np.array([leaf.value for leaf in leaves])
    return values[apply_tree(node, X)]


def predict_proba_tree(node: Node, X) -> np.ndarray:
    """Class shares of each row's leaf."""
    shares = [leaf.value / leaf.value.sum() for leaf in tree_leaves(node)]
    return np.array(shares)[apply_tree(node, X)]


def tree_to_tuple(node: Node, digits: int = 9):
    """Nested tuples that are equal when two trees are.

    A split is (feature, threshold or tuple of left categories, missing goes left, left,
    right), a leaf its class, or its mean rounded to that many digits.
    """
    if node.left is None:
        if np.ndim(node.value):
            return leaf_class(node.value)
        return round(node.value, digits)
    cut = node.threshold if node.left_categories is None else node.left_categories
    left, right = tree_to_tuple(node.left, digits), tree_to_tuple(node.right, digits)
    return (node.feature, cut, bool(node.missing_left), left, right)
