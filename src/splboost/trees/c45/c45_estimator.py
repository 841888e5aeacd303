"""C4.5 as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from splboost._data.table import Table
from splboost._tools.user_warnings import warn
from splboost.trees.c45.c45_grower import C45Grower, C45Options
from splboost.trees.c45.multiway import MultiwayTrees
from splboost.trees.outline import Outline, Wording
from splboost.trees.tree_estimator import BaseTreeClassifier


class C45Classifier(BaseTreeClassifier):
    """Quinlan's C4.5, release 8.

    Splits are chosen by gain ratio among the attributes whose gain is at least average.
    A numeric attribute is split at a value of the data, and its gain pays for the
    choice among the possible cuts (``mdl``). A categorical one gets a branch for each
    category, once on the way to a leaf. Cases with a missing value go down all branches
    with a share of their weight, in training and in prediction; so do categories that
    training did not see. The tree is then pruned by the upper confidence limit of its
    errors: subtrees become leaves, or give way to their largest branch.

    All counts are sums of weights: a case of weight 3 equals three cases. Cuts are
    found among all values of the data; nothing is binned. Numbers no further apart than
    1e-5 are equal to C4.5, so give each column in units that suit it.

    Parameters
    ----------
    confidence : float in (0, 1], default=0.25
        Confidence level of pruning; smaller prunes more.
    min_cases : float, default=2
        Weight that at least two branches of a split must hold. A node is not split
        below twice that.
    mdl : bool or "auto", default="auto"
        Whether a numeric split pays log2(number of possible cuts) / weight of its gain.
        "auto" does so; but inside a booster, where reweighted cases may leave no
        attribute that can pay, a tree of a single leaf, or one no better than guessing,
        is grown once more without it and at most 3 deep. (The first tree may be a leaf
        if that is better than guessing.)
    pruning : bool, default=True
        Whether to prune.
    max_depth : int, default=None
        Most tests on the way to a leaf; None means no limit, as in C4.5.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights.
    categorical_features : array-like of names, indices or booleans, default=None
        Columns to treat as categories, besides those whose dtype says so.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    feature_importances_ : array of shape (n_features,)
        Share of the information gained that each feature accounts for.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only when X has column names.
    tree_ : MultiwayTrees
        The fitted tree as flat arrays.

    See Also
    --------
    CARTClassifier : Two-way splits on binned columns; faster.

    References
    ----------
    J. R. Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.

    J. R. Quinlan (1996). Improved use of continuous attributes in C4.5. Journal of
    Artificial Intelligence Research 4, 77-90.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from splboost.trees import C45Classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = C45Classifier(max_depth=2).fit(X, y)
    >>> print(tree.to_text())
    petal width (cm) <= 0.6
    ├── yes: class 0 (share 1, weight 50)
    └── no: petal width (cm) <= 1.7
        ├── yes: class 1 (share 0.9074, weight 54)
        └── no: class 2 (share 0.9783, weight 46)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "confidence": [Interval(Real, 0.0, 1.0, closed="right")],
        "min_cases": [Interval(Real, 0.0, None, closed="neither")],
        "mdl": ["boolean", StrOptions({"auto"})],
        "pruning": ["boolean"],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "categorical_features": ["array-like", None],
    }

    tree_: MultiwayTrees

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        min_cases: float = 2,
        mdl: bool | str = "auto",
        pruning: bool = True,
        max_depth: int | None = None,
        class_weight: Any = None,
        categorical_features: Any = None,
    ) -> None:
        self.confidence = confidence
        self.min_cases = min_cases
        self.mdl = mdl
        self.pruning = pruning
        self.max_depth = max_depth
        self.class_weight = class_weight
        self.categorical_features = categorical_features

    def tree_options(self) -> C45Options:
        """The engine's description of such a tree."""
        return C45Options(
            confidence=self.confidence,
            min_cases=self.min_cases,
            mdl=bool(self.mdl),
            pruning=self.pruning,
            max_depth=self.max_depth,
        )

    def _grow(
        self,
        table: Table,
        target: NDArray[Any],
        n_classes: int,
        weight: NDArray[np.float64],
    ) -> MultiwayTrees:
        if weight.sum() < 2 * self.min_cases <= weight.size:
            warn(
                f"The weights of {weight.size} cases sum to {weight.sum():.3g}. C4.5 "
                "takes weights for numbers of cases, and does not split fewer than "
                f"2 * min_cases = {2 * self.min_cases:g}; scale sample_weight to a "
                "mean of 1, or lower min_cases.",
            )
        grower = C45Grower(table, target, n_classes)
        tree, _, _ = grower.grow(weight, self.tree_options())
        return grower.ensemble([tree])

    def _shares(self, table: Table) -> NDArray[np.float64]:
        return self.tree_.class_shares(table)

    def _votes(self, table: Table) -> NDArray[np.integer]:
        return self.tree_.votes(table)

    def _outline(self, wording: Wording) -> Outline:
        nodes, weight = self.tree_.nodes, self.tree_.nodes.value.sum(axis=1)
        one_hot = np.eye(self.classes_.size)
        outline = [
            wording.class_leaf(value / total if total > 0 else one_hot[label], total)
            for value, total, label in zip(
                nodes.value, weight, nodes.label, strict=True
            )
        ]
        for i in np.flatnonzero(nodes.child >= 0)[::-1]:  # children before parents
            below = outline[nodes.child[i] : nodes.child[i] + nodes.children[i]]
            feature = nodes.feature[i]
            coding = self.tree_.coding[feature]
            question, answers = wording.feature_names[feature], ["yes", "no"]
            if coding is None:
                question = wording.is_at_most(feature, nodes.threshold[i])
            else:
                answers = [wording.category(label) for label in coding]
            branches = tuple(zip(answers, below, strict=True))
            outline[i] = replace(outline[i], question=question, branches=branches)
        return outline[0]
