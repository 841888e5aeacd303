"""The tests of C4.5 release 8: their gain, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from reference.trees import MIN_GAIN, class_weights, is_larger

EPSILON = 1e-3
ROUNDING = 1e-9
SAME_VALUE = 1e-5


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
