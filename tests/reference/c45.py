"""C4.5 release 8: growing, pruning and prediction."""

from __future__ import annotations

import numpy as np

from reference.c45_gain import (
    EPSILON,
    ROUNDING,
    C45Node,
    C45Problem,
    at_least,
    c45_problem,
    choose_c45_split,
    heaviest_class,
)

CONFIDENCE_TABLE = [0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0]
DEVIATION_TABLE = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0]


def fit_c45(
    X,
    y,
    weight=None,
    *,
    n_classes: int,
    categorical: tuple[int, ...] = (),
    confidence: float = 0.25,
    min_cases: float = 2.0,
    mdl: bool = True,
    max_depth: int | None = None,
    pruning: bool = True,
) -> C45Node:
    """Quinlan's C4.5 release 8 on weighted cases; the numbers in it are weights.

    NaN is unknown. A categorical feature holds the codes 0 to V - 1, each in a row of
    positive weight. mdl=False charges nothing for the choice among cuts.
    """
    p = c45_problem(
        X, y, weight, n_classes, categorical, confidence, min_cases, mdl, max_depth
    )
    root = grow_c45(p, p.weight, 0, frozenset())
    if pruning:
        estimate_errors(p, root, p.weight, update=True)
        set_depth(root, 0)
    return root


def grow_c45(p: C45Problem, weight, depth: int, tested: frozenset) -> C45Node:
    """Grow a subtree; it collapses to a leaf if it makes no fewer errors than one."""
    class_weight = p.class_weights(weight)
    node = C45Node(class_weight, heaviest_class(class_weight), depth)
    is_pure = errors_as_leaf(node) <= ROUNDING * node.weight
    if depth >= p.max_depth or is_pure or not at_least(node.weight, 2.0 * p.min_cases):
        return node
    split = choose_c45_split(p, weight, tested)
    if split is None:
        return node

    if split.threshold is None:
        tested = tested | {split.feature}
    branches = []
    for branch_weight in spread_cases(weight, split.members):
        if branch_weight.any():
            branches.append(grow_c45(p, branch_weight, depth + 1, tested))
        else:
            nothing = np.zeros(p.n_classes)
            branches.append(C45Node(nothing, node.leaf_class, depth + 1))

    errors = sum(errors_as_leaf(leaf) for b in branches for leaf in c45_leaves(b))
    if errors >= errors_as_leaf(node) - EPSILON:
        return node
    node.feature, node.threshold = split.feature, split.threshold
    node.branches = branches
    return node


def errors_as_leaf(node: C45Node) -> float:
    """Weight of the node's cases that are not of its class."""
    return node.weight - float(node.class_weight[node.leaf_class])


def spread_cases(weight: np.ndarray, members: list[np.ndarray]) -> list[np.ndarray]:
    """Weights of the cases in each branch: the unknown go to all, by known weight.

    A branch without known cases gets none.
    """
    is_known = np.any(members, axis=0)
    known = weight[is_known].sum()
    return [
        np.where(is_known, weight * member, weight * weight[member].sum() / known)
        for member in members
    ]


def c45_leaves(node: C45Node) -> list[C45Node]:
    """Leaves in the order of the branches."""
    if not node.branches:
        return [node]
    return [leaf for branch in node.branches for leaf in c45_leaves(branch)]


def set_depth(node: C45Node, depth: int) -> None:
    """Number the levels anew, after subtrees have been raised."""
    node.depth = depth
    for branch in node.branches:
        set_depth(branch, depth + 1)


# ----------------------------------------------------------------------------- pruning


def c45_z(confidence: float) -> float:
    """Standard deviations that go with a confidence, from C4.5's table."""
    return float(np.interp(confidence, CONFIDENCE_TABLE, DEVIATION_TABLE))


def c45_extra_errors(N: float, e: float, confidence: float = 0.25) -> float:
    """What the pessimistic estimate adds to e errors in N cases (AddErrs)."""
    without_error = N * (1.0 - confidence ** (1.0 / N))
    if e < 1e-6:
        return without_error
    if e < 0.9999:
        one_error = c45_extra_errors(N, 1.0, confidence)
        return without_error + e * (one_error - without_error)
    if e + 0.5 >= N:
        return 0.67 * (N - e)
    z2 = c45_z(confidence) ** 2
    root = np.sqrt(z2 * ((e + 0.5) * (1.0 - (e + 0.5) / N) + z2 / 4.0))
    return float(N * (e + 0.5 + z2 / 2.0 + root) / (N + z2) - e)


def estimate_errors(p: C45Problem, node: C45Node, weight, update: bool) -> float:
    """Pessimistic errors of a subtree on these cases; with update it is pruned.

    An updated node takes over the class weights of these cases, and becomes a leaf or
    its own largest branch if that is hardly worse. Pruning only ever brings a node more
    cases than it was grown from, so some of them are known to its test.
    """
    class_weight = p.class_weights(weight)
    leaf = C45Node(
        class_weight, heaviest_class(class_weight, node.leaf_class), node.depth
    )
    basic = errors_as_leaf(leaf)
    leaf_errors = basic + c45_extra_errors(leaf.weight, basic, p.confidence)
    if update:
        node.class_weight, node.leaf_class = leaf.class_weight, leaf.leaf_class
    if not node.branches:
        return leaf_errors

    members = branch_members(node, p.X)
    tree_errors, largest, largest_known = 0.0, None, 0.0
    for branch, member, branch_weight in zip(
        node.branches, members, spread_cases(weight, members), strict=True
    ):
        known = weight[member].sum()
        if known == 0.0:
            continue
        tree_errors += estimate_errors(p, branch, branch_weight, update)
        if at_least(known, largest_known):
            largest, largest_known = branch, known
    if not update:
        return tree_errors

    branch_errors = estimate_errors(p, largest, weight, update=False)
    if leaf_errors <= branch_errors + 0.1 and leaf_errors <= tree_errors + 0.1:
        replace_node(node, leaf)
        return leaf_errors
    if branch_errors <= tree_errors + 0.1:
        replace_node(node, largest)
        return estimate_errors(p, node, weight, update=True)
    return tree_errors


def branch_members(node: C45Node, X: np.ndarray) -> list[np.ndarray]:
    """Which rows belong to each branch of a node; the unknown belong to none."""
    x = X[:, node.feature]
    if node.threshold is not None:
        return [x <= node.threshold, x > node.threshold]
    return [x == value for value in range(len(node.branches))]


def replace_node(node: C45Node, other: C45Node) -> None:
    """Put another node in the place of this one."""
    node.class_weight, node.leaf_class = other.class_weight, other.leaf_class
    node.feature, node.threshold = other.feature, other.threshold
    node.branches = other.branches


# -------------------------------------------------------------------------- prediction


def predict_proba_c45(node: C45Node, X) -> np.ndarray:
    """Class shares of the leaves a row reaches, by the share of it that reaches them.

    A row that is unknown to a test, or has a category without a branch, goes to all
    branches by their weight. A leaf without cases stands for its class.
    """
    X = np.asarray(X, dtype=float)
    if not node.branches:
        if node.weight > 0.0:
            share = node.class_weight / node.weight
        else:
            share = np.eye(len(node.class_weight))[node.leaf_class]
        return np.tile(share, (len(X), 1))
    members = branch_members(node, X)
    is_known = np.any(members, axis=0)
    total = sum(branch.weight for branch in node.branches)
    out = np.zeros((len(X), len(node.class_weight)))
    for branch, member in zip(node.branches, members, strict=True):
        part = np.where(is_known, member, branch.weight / total)
        out += part[:, None] * predict_proba_c45(branch, X)
    return out


def predict_c45(node: C45Node, X) -> np.ndarray:
    """The class of the largest share, the first of those that tie."""
    return np.array([heaviest_class(share) for share in predict_proba_c45(node, X)])


def c45_to_tuple(node: C45Node, digits: int = 9):
    """Nested tuples that are equal when two trees are.

    A split is (feature, threshold or None, branches...), a leaf (class, (class weights
    rounded to that many digits)).
    """
    if not node.branches:
        class_weight = (round(float(w), digits) for w in node.class_weight)
        return (node.leaf_class, tuple(class_weight))
    branches = (c45_to_tuple(branch, digits) for branch in node.branches)
    return (node.feature, node.threshold, *branches)
