"""Naive reference for the paces, the CART and C4.5 trees, the discrete boosters.

Every algorithm is written once more in plain NumPy, slowly and as close to its
formula as possible, so that the fast engine can be compared with something that
can be checked by reading. Nothing here imports the package under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

# --------------------------------------------------------------------------------------
# Paces (self-paced regularisers)
# --------------------------------------------------------------------------------------


def pace_weight(kind, loss, age, *, t=None, gamma=None, zeta=0.1) -> np.ndarray:
    """Optimal sample weight v*(age; loss) of a self-paced regulariser.

    This is the closed-form argmin over v in [0, 1] of ``v * loss + penalty(v)``. The
    mixture with a fixed gamma tends to ``min(1, gamma / sqrt(loss))`` for an infinite
    age, every other pace to 1; gamma=None means gamma=age. The age of the logarithmic
    pace is its cut-off, zeta its shape.
    """
    loss = np.asarray(loss, dtype=float)
    if kind == "none":
        return np.ones_like(loss)
    if kind == "hard":
        return (loss < age).astype(float)
    if kind == "linear":
        return np.maximum(0.0, 1.0 - loss / age)
    if kind == "polynomial":
        return np.maximum(0.0, 1.0 - loss / age) ** (1.0 / (t - 1.0))
    if kind == "mixture":
        gamma = age if gamma is None else gamma
        with np.errstate(divide="ignore"):
            return np.clip(gamma * (1.0 / np.sqrt(loss) - 1.0 / age), 0.0, 1.0)
    if kind == "logarithmic":
        inside = np.log(zeta + (1.0 - zeta) * loss / age) / np.log(zeta)
        return np.where(loss < age, inside, 0.0)
    raise ValueError(f"unknown pace {kind!r}")


def pace_latent(kind, loss, age, *, t=None, gamma=None, zeta=0.1) -> np.ndarray:
    """Latent loss of a pace: the integral of v*(age; s) over s from 0 to loss.

    Closed forms; flat (the plateau) beyond the cut-off. An infinite age gives the loss
    itself, for the mixture with a fixed gamma ``2 gamma sqrt(loss) - gamma**2`` above
    ``gamma**2``.
    """
    loss = np.asarray(loss, dtype=float)
    if kind == "none":
        return loss.copy()
    if kind == "mixture":
        return _mixture_latent(loss, age, age if gamma is None else gamma)
    if np.isinf(age):
        return loss.copy()
    if kind == "hard":
        return np.minimum(loss, age)
    if kind == "linear":
        short = np.minimum(loss, age)
        return short - short**2 / (2.0 * age)
    if kind == "polynomial":
        rest = np.maximum(0.0, 1.0 - loss / age)
        return age * (t - 1.0) / t * (1.0 - rest ** (t / (t - 1.0)))
    if kind == "logarithmic":
        s = (1.0 - zeta) * np.minimum(loss, age) / age
        numerator = (s + zeta) * np.log(s + zeta) - s - zeta * np.log(zeta)
        return age / (1.0 - zeta) * numerator / np.log(zeta)
    raise ValueError(f"unknown pace {kind!r}")


def _mixture_latent(loss: np.ndarray, age: float, gamma: float) -> np.ndarray:
    """Latent loss of the mixture pace: linear, then a square-root piece, then flat."""
    if np.isinf(gamma):
        return loss.copy()
    knee = 1.0 / (1.0 / age + 1.0 / gamma)  # age gamma / (age + gamma), age may be inf
    short = np.minimum(loss, age**2)
    middle = gamma * (2.0 * np.sqrt(short) - short / age) - gamma * knee
    return np.where(loss <= knee**2, loss, middle)


def pace_penalty(kind, v, age, *, t=None, gamma=None, zeta=0.1) -> np.ndarray:
    """Self-paced regulariser, the function of v added to ``v * loss`` (finite age)."""
    v = np.asarray(v, dtype=float)
    if kind == "none":
        return np.zeros_like(v)
    if kind == "hard":
        return -age * v
    if kind == "linear":
        return age * (v**2 / 2.0 - v)
    if kind == "polynomial":
        return age * (v**t / t - v)
    if kind == "mixture":
        gamma = age if gamma is None else gamma
        return gamma**2 / (v + gamma / age)
    if kind == "logarithmic":
        return age / (1.0 - zeta) * (zeta * v - zeta**v / np.log(zeta))
    raise ValueError(f"unknown pace {kind!r}")


def age_from_plateau(kind, plateau, *, t=None, gamma=None, zeta=0.1) -> float:
    """Age at which the latent loss goes flat at the given height.

    An infinite plateau gives an infinite age; that it stands for v = 1 also in the
    mixture with a fixed gamma is up to the caller (use kind "none").
    """
    if kind == "none" or np.isinf(plateau):
        return np.inf
    if kind == "hard":
        return plateau
    if kind == "linear":
        return 2.0 * plateau
    if kind == "polynomial":
        return plateau * t / (t - 1.0)
    if kind == "mixture" and gamma is None:
        return np.sqrt(2.0 * plateau)
    if kind == "mixture":
        root = np.sqrt(plateau**2 + 4.0 * plateau * gamma**2)
        return (plateau + root) / (2.0 * gamma)
    if kind == "logarithmic":
        return plateau * (1.0 - zeta) / ((1.0 - zeta) / abs(np.log(zeta)) - zeta)
    raise ValueError(f"unknown pace {kind!r}")


# --------------------------------------------------------------------------------------
# CART
# --------------------------------------------------------------------------------------

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


# --------------------------------------------------------------------------------------
# Boosters
# --------------------------------------------------------------------------------------

MAX_SCORE = 350.0
MAX_SKIPPED = 10


@dataclass
class Boosted:
    """What a boosting run leaves behind; the lists have one entry per kept learner.

    steps = learning rate times alphas. F is (n,) for two classes, else (n, K). v is the
    weight the next learner would have used. n_selected counts the rows handed to the
    weak learner, latent is the latent objective after the learner was added.
    """

    F: np.ndarray
    v: np.ndarray
    n_classes: int
    alphas: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    weak: list[Callable] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    n_selected: list[int] = field(default_factory=list)
    latent: list[float] = field(default_factory=list)
    stop_reason: str = "n_estimators"


@dataclass
class Learner:
    """One fitted weak learner, its vote per row, weighted error and coefficient."""

    predict: Callable
    vote: np.ndarray
    error: float
    alpha: float
    n_rows: int
    has_edge: bool


def tree_learner(**options) -> Callable:
    """Weak learner ``weak(X, y, D)`` that fits a reference tree with these options."""

    def weak(X, y, D):
        node = fit_tree(X, y, D, **options)
        return lambda X_new: predict_tree(node, X_new)

    return weak


def code_votes(classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Class code of SAMME: 1 for the class, -1/(K-1) for the others; +-1 for K=2."""
    classes = np.asarray(classes, dtype=int)
    if n_classes == 2:
        return 2.0 * classes - 1.0
    code = np.full((classes.size, n_classes), -1.0 / (n_classes - 1.0))
    code[np.arange(classes.size), classes] = 1.0
    return code


def log_exp_loss(F: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Logarithm of the exponential loss: -yF, for K classes -F_y / (K - 1)."""
    if F.ndim == 1:
        return -(2.0 * y - 1.0) * F
    return -F[np.arange(len(y)), y] / (F.shape[1] - 1.0)


def pace_loss(F: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The loss the pace sees, from scores clipped to +-350.

    Two classes: exp(-yF). K classes: sqrt((1 - p_y) / p_y / (K - 1)) with p the softmax
    of F / (K - 1), which is the same for K = 2, and 1 at F = 0.
    """
    F = np.clip(F, -MAX_SCORE, MAX_SCORE)
    if F.ndim == 1:
        return np.exp(log_exp_loss(F, y))
    e = np.exp(F / (F.shape[1] - 1.0))
    own = e[np.arange(len(y)), y]
    others = np.where(np.arange(F.shape[1]) == y[:, None], 0.0, e).sum(axis=1)
    return np.sqrt(others / own / (F.shape[1] - 1.0))


def boosting_weights(F, y, omega, v) -> np.ndarray:
    """D proportional to omega * v * exp(log loss), summing to 1; zeros if all are."""
    with np.errstate(divide="ignore"):
        log_weight = np.log(omega) + np.log(v) + log_exp_loss(F, y)
    if np.isneginf(log_weight).all():
        return np.zeros(len(y))
    D = np.exp(log_weight - log_weight.max())
    return D / D.sum()


def step_size(error: float, n_classes: int, n_samples: float) -> float:
    """Coefficient of the multi-class AdaBoost step (SAMME), error floored.

    (K-1)^2 / K * [log((1 - err) / err) + log(K - 1)], for two classes the AdaBoost
    coefficient log((1 - err) / err) / 2. The floor is max(1e-10, 1 / (4 n)), with n the
    sum of the sample weights, or the number of samples if that is larger.
    """
    K = n_classes
    floor = max(1e-10, 1.0 / (4.0 * n_samples))
    error = min(max(error, floor), 1.0 - floor)
    return (K - 1.0) ** 2 / K * (np.log((1.0 - error) / error) + np.log(K - 1.0))


def fit_learner(X, y, D, omega, rows, weak, n_classes) -> Learner | None:
    """Fit the weak learner on the drawn rows, judge it on all rows.

    Rows with D below 1e-12 of the largest drawn D are left out, the others get weights
    that sum to their summed sample weight. None if no drawn row has D > 0.
    """
    rows = rows[D[rows] > 0]
    if rows.size == 0:
        return None
    rows = rows[D[rows] >= 1e-12 * D[rows].max()]
    weight = D[rows] * omega[rows].sum() / D[rows].sum()
    predict = weak(X[rows], y[rows], weight)
    predicted = np.asarray(predict(X))
    error = float(D[predicted != y].sum())
    return Learner(
        predict,
        code_votes(predicted, n_classes),
        error,
        step_size(error, n_classes, max(omega.sum(), omega.size)),
        rows.size,
        error < 1.0 - 1.0 / n_classes - 1e-12,
    )


def boost(
    X,
    y,
    *,
    n_estimators: int,
    kind: str = "none",
    age: float | list[float] = np.inf,
    shape: dict | None = None,
    warm_rounds: int = 3,
    inner_steps: int = 1,
    inner_tol: float = 1e-8,
    learning_rate: float = 1.0,
    sample_weight=None,
    weak: Callable | None = None,
    rows_per_round: list[np.ndarray] | None = None,
    n_classes: int | None = None,
) -> Boosted:
    """Algorithm 1 of the SPLBoost paper; AdaBoost with kind "none", SAMME for K > 2.

    A list of ages has one for each class.
    ``weak(X, y, D)`` returns a function from X to class indices, a stump by default.
    The first warm_rounds learners are fitted with v = 1: the v computed once learner t
    is added uses the age if t >= warm_rounds (skipped rounds do not count). A learner
    without error on the weighted rows is added with a floored error and ends the run
    ("perfect"). A first learner without edge is kept with alpha = 0 and ends the run;
    a later one ends it without being added ("no edge"). Later than the first learner,
    a selected set of one class ends the run without adding ("one class"), and so does
    an empty one at any time ("no sample selected"). With rows_per_round, a list of the
    rows drawn in each round, a round without edge (the first too) is skipped and ten
    in a row end the run ("no edge").
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=int)
    n = len(y)
    K = max(2, int(y.max()) + 1) if n_classes is None else n_classes
    omega = np.ones(n) if sample_weight is None else np.asarray(sample_weight, float)
    weak = tree_learner(max_depth=1, n_classes=K) if weak is None else weak
    shape = {} if shape is None else shape
    age_of_rows = np.broadcast_to(age, K)[y]

    def optimal_v(F, n_learners):
        if n_learners < warm_rounds:
            return np.ones(n)
        return pace_weight(kind, pace_loss(F, y), age_of_rows, **shape)

    F = np.zeros(n) if K == 2 else np.zeros((n, K))
    out = Boosted(F, optimal_v(F, 0), K)
    skipped = 0
    for round_ in range(n_estimators):
        first = not out.alphas
        t = len(out.alphas) + 1
        rows = np.arange(n) if rows_per_round is None else rows_per_round[round_]
        D = boosting_weights(out.F, y, omega, out.v)
        if not D.any():
            out.stop_reason = "no sample selected"
            break
        if not first and np.unique(y[D > 0]).size == 1:
            out.stop_reason = "one class"
            break
        learner = fit_learner(X, y, D, omega, rows, weak, K)

        if learner is None or not learner.has_edge:
            skipped += 1
            if rows_per_round is not None and skipped < MAX_SKIPPED:
                continue
            out.stop_reason = "no edge"
            if rows_per_round is None and first:
                learner.alpha = 0.0
                add_learner(out, learner, learning_rate)
                out.latent.append(
                    latent_objective(out.F, y, omega, kind, age_of_rows, shape)
                )
            break
        skipped = 0

        v = out.v
        for _ in range(inner_steps - 1 if t > warm_rounds else 0):
            v_old, v = v, optimal_v(out.F + learner.alpha * learner.vote, t)
            if np.abs(v - v_old).max() < inner_tol:
                break
            other = refit(X, y, out.F, omega, v, rows, weak, K)
            if other is None or not lowers(other, learner, out.F, y, omega * v):
                break
            learner = other

        add_learner(out, learner, learning_rate)
        out.v = optimal_v(out.F, t)
        out.latent.append(latent_objective(out.F, y, omega, kind, age_of_rows, shape))
        if learner.error <= 0.0:
            out.stop_reason = "perfect"
            break
    return out


def refit(X, y, F, omega, v, rows, weak, n_classes) -> Learner | None:
    """A further inner step: refit for a new v; None if there is nothing to gain.

    That is, if no row or a single class is selected, or the learner has no edge.
    """
    D = boosting_weights(F, y, omega, v)
    if np.unique(y[D > 0]).size < 2:
        return None
    learner = fit_learner(X, y, D, omega, rows, weak, n_classes)
    return learner if learner is not None and learner.has_edge else None


def lowers(new: Learner, old: Learner, F, y, weight) -> bool:
    """Guard of the inner loop: the new learner's weighted loss is below the old one's.

    The weighted loss is sum omega v exp(log loss at F + alpha * vote), at the same v.
    """

    def total(learner):
        log_loss = log_exp_loss(F + learner.alpha * learner.vote, y)
        return (weight[weight > 0] * np.exp(log_loss[weight > 0])).sum()

    return bool(total(new) < total(old))


def add_learner(out: Boosted, learner: Learner, learning_rate: float) -> None:
    """F += learning rate * alpha * vote, and the bookkeeping."""
    step = learning_rate * learner.alpha
    out.F = out.F + step * learner.vote
    out.alphas.append(float(learner.alpha))
    out.steps.append(float(step))
    out.weak.append(learner.predict)
    out.errors.append(learner.error)
    out.n_selected.append(learner.n_rows)


def latent_objective(F, y, omega, kind, age, shape) -> float:
    """Sum of omega times the latent loss, at the target age of each row."""
    loss = pace_loss(F, y)
    return sum(
        w * float(pace_latent(kind, loss[i], age[i], **shape))
        for i, w in enumerate(omega)
    )


def boosted_score(model: Boosted, X) -> np.ndarray:
    """Score F of new rows: the sum of steps times votes."""
    X = np.asarray(X, dtype=float)
    K = model.n_classes
    F = np.zeros(len(X)) if K == 2 else np.zeros((len(X), K))
    for step, predict in zip(model.steps, model.weak, strict=True):
        F = F + step * code_votes(predict(X), K)
    return F


# --------------------------------------------------------------------------------------
# C4.5 release 8
# --------------------------------------------------------------------------------------

EPSILON = 1e-3
ROUNDING = 1e-9
SAME_VALUE = 1e-5
CONFIDENCE_TABLE = [0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0]
DEVIATION_TABLE = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0]


def at_least(weight: float, bound: float) -> bool:
    """Whether a summed weight reaches a bound, but for rounding."""
    return weight >= bound * (1.0 - ROUNDING)


def heaviest_class(class_weight: np.ndarray, preferred: int = 0) -> int:
    """The heaviest class: the preferred one if it ties, else the first that does."""
    best = preferred
    for k, weight in enumerate(class_weight):
        if not at_least(class_weight[best], weight):
            best = k
    return best


@dataclass
class C45Node:
    """A node; a leaf has no branches, a test of categories has no threshold.

    leaf_class is the class the node has, or would have, as a leaf. A numeric test has
    the branches x <= threshold and x > threshold, one of categories a branch per value.
    """

    class_weight: np.ndarray
    leaf_class: int
    depth: int
    feature: int | None = None
    threshold: float | None = None
    branches: list[C45Node] = field(default_factory=list)

    @property
    def weight(self) -> float:
        return float(self.class_weight.sum())


@dataclass
class C45Split:
    """A usable test: which rows belong to each branch (the unknown to none)."""

    feature: int
    threshold: float | None
    members: list[np.ndarray]
    gain: float
    split_info: float


@dataclass
class C45Problem:
    """The training rows of positive weight and the options.

    n_values holds the number of categories of each feature, None for a numeric one. The
    cases of a node are a weight per training row, 0 for the rows that are elsewhere.
    """

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    n_classes: int
    n_values: list[int | None]
    confidence: float
    min_cases: float
    mdl: bool
    max_depth: float

    def class_weights(self, weight: np.ndarray) -> np.ndarray:
        return class_weights(self.y, weight, self.n_classes)


def c45_problem(
    X, y, weight, n_classes, categorical, confidence, min_cases, mdl, max_depth
) -> C45Problem:
    """Drop the rows of weight zero, count the values of the categorical features."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=int)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    kept = weight > 0
    X, y, weight = X[kept], y[kept], weight[kept]
    n_values = [
        np.unique(x[~np.isnan(x)]).size if feature in categorical else None
        for feature, x in enumerate(X.T)
    ]
    max_depth = np.inf if max_depth is None else max_depth
    return C45Problem(
        X, y, weight, n_classes, n_values, confidence, min_cases, mdl, max_depth
    )


# ---------------------------------------------------------------------- gain of a test


def information(group_weight) -> float:
    """Entropy in bits of the shares of these groups."""
    share = np.asarray(group_weight, dtype=float) / np.sum(group_weight)
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())


def judge_split(p: C45Problem, weight, feature, threshold, members) -> C45Split | None:
    """Gain and split information; None unless two branches hold min_cases.

    Gain: W_known / W * [I(known) - sum_v W_v / W_known * I(branch v)]. The split
    information counts the unknown as a further branch.
    """
    branch = [weight[member].sum() for member in members]
    if sum(at_least(w, p.min_cases) for w in branch) < 2:
        return None
    is_known = np.any(members, axis=0)
    known, unknown = weight[is_known].sum(), weight[~is_known].sum()
    after = sum(
        w / known * information(p.class_weights(weight * member))
        for w, member in zip(branch, members, strict=True)
        if w > 0
    )
    before = information(p.class_weights(weight * is_known))
    gain = known / weight.sum() * (before - after)
    return C45Split(
        feature, threshold, members, float(gain), information([*branch, unknown])
    )


def categorical_split(p: C45Problem, weight, feature: int) -> C45Split | None:
    """The test of all values of a categorical feature; none if it is not usable."""
    x = p.X[:, feature]
    members = [x == value for value in range(p.n_values[feature])]
    if weight[~np.isnan(x)].sum() == 0.0:
        return None
    split = judge_split(p, weight, feature, None, members)
    return split if split is not None and split.gain > -EPSILON else None


def numeric_split(p: C45Problem, weight, feature: int) -> C45Split | None:
    """The cut of largest gain, its gain less log2(number of cuts) / W; none if <= 0."""
    x = p.X[:, feature]
    here = (weight > 0) & ~np.isnan(x)
    known = weight[here].sum()
    if not at_least(known, 2.0 * p.min_cases):
        return None
    min_split = 0.10 * known / p.n_classes
    min_split = p.min_cases if min_split <= p.min_cases else min(min_split, 25.0)

    best, n_cuts = None, 0
    for low, high in pairwise(np.unique(x[here])):
        members = [x <= low, x >= high]
        enough = [at_least(weight[member].sum(), min_split) for member in members]
        if not (low < high - SAME_VALUE and all(enough)):
            continue
        n_cuts += 1
        split = judge_split(p, weight, feature, stored_threshold(x, low, high), members)
        if split and (best is None or is_larger(split.gain, best.gain)):
            best = split
    if best is None:
        return None
    if p.mdl:
        best.gain -= float(np.log2(n_cuts)) / weight.sum()
    return best if best.gain > MIN_GAIN else None


def stored_threshold(x: np.ndarray, low: float, high: float) -> float:
    """The largest value of all training rows not above the middle of low and high.

    The middle of two values next to each other in floating point counts as low.
    """
    middle = (low + high) / 2.0
    return float(x[x <= (low if middle >= high else middle)].max())


def usable_splits(p: C45Problem, weight, tested=frozenset()) -> list[C45Split]:
    """The test of each feature that has one, without the categorical ones tested."""
    splits = []
    for feature, n_values in enumerate(p.n_values):
        if feature in tested:
            continue
        find = numeric_split if n_values is None else categorical_split
        splits.append(find(p, weight, feature))
    return [split for split in splits if split is not None]


def choose_c45_split(p: C45Problem, weight, tested) -> C45Split | None:
    """The largest gain ratio among the tests of at least average gain.

    Categorical features with many values do not count for the average, unless all
    features are such.
    """
    few = [v is None or not at_least(v, 0.3 * p.weight.sum()) for v in p.n_values]
    splits = usable_splits(p, weight, tested)
    gains = [split.gain for split in splits if few[split.feature] or not any(few)]
    if not gains:
        return None
    best, best_ratio = None, -EPSILON
    for split in splits:
        if split.gain >= np.mean(gains) - EPSILON and split.split_info > EPSILON:
            ratio = split.gain / split.split_info
            if is_larger(ratio, best_ratio):
                best, best_ratio = split, ratio
    return best


def c45_attribute_gains(
    X, y, weight=None, *, n_classes, categorical=(), min_cases=2.0, mdl=True
) -> list[tuple[float, float] | None]:
    """Gain (less the price of the cut) and split information of each feature's test.

    For a node that holds all rows; None for a feature without a usable test.
    """
    p = c45_problem(X, y, weight, n_classes, categorical, 0.25, min_cases, mdl, None)
    out: list[tuple[float, float] | None] = [None] * len(p.n_values)
    for split in usable_splits(p, p.weight):
        out[split.feature] = (split.gain, split.split_info)
    return out


# ----------------------------------------------------------------------------- growing


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
