"""CART trees as scikit-learn estimators."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from splboost._data.labels import (
    all_or_nothing,
    check_weights,
    drop_weightless,
    encode_numbers,
)
from splboost._data.table import Table, read_table
from splboost._tools.docstrings import documented_by
from splboost._tools.threads import count_threads
from splboost.trees.binning import bin_table
from splboost.trees.ensemble import TreeEnsemble
from splboost.trees.grower import TreeGrower
from splboost.trees.outline import Outline, Wording, outline_two_way
from splboost.trees.tree_estimator import BaseTree, BaseTreeClassifier
from splboost.trees.workspace import TreeOptions

_documented = documented_by(
    {
        "{limits}": """\
    max_depth : int, default=None
        Most splits on the way to a leaf; None means no limit.
    max_leaf_nodes : int, default=None
        Most leaves. The tree then grows best first: the split that removes most
        impurity (in a regression, variance) comes next.
    min_samples_leaf : int, default=1
        Rows (of positive weight) that a leaf must hold.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight that a leaf must hold.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Features drawn at random to choose from at each split: a number, a share, or
        all of them.
""",
        "{data}": """\
    categorical_features : array-like of names, indices or booleans, default=None
        Columns to treat as categories, besides those whose dtype says so.
    n_jobs : int, default=None
        Threads; None is one, -1 all cores. The tree is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws the features when ``max_features`` limits them.
""",
        "{tree}": """\
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only when X has column names.
    tree_ : TreeEnsemble
        The fitted tree as flat arrays.
""",
    }
)


class BaseCART(BaseTree):
    """What classification and regression trees share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "categorical_features": ["array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    criterion: str
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    max_features: int | float | str | None
    categorical_features: Any
    n_jobs: int | None
    random_state: Any
    tree_: TreeEnsemble

    def tree_options(self, n_features: int) -> Any:
        """How such a tree is grown."""
        most = self.max_features
        if most is None:
            most = n_features
        elif isinstance(most, str):
            root = {"sqrt": np.sqrt, "log2": np.log2}[most]
            most = int(root(n_features))
        elif not isinstance(most, Integral):
            most = int(most * n_features)
        return TreeOptions(
            criterion=self.criterion,
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            max_features=max(1, min(int(most), n_features)),
        )

    def _grow(
        self,
        table: Table,
        target: NDArray[Any],
        n_classes: int,
        weight: NDArray[np.float64],
    ) -> TreeEnsemble:
        n_threads = count_threads(self.n_jobs)
        binned = bin_table(table, weight, n_threads=n_threads)
        grower = TreeGrower(
            binned,
            target,
            n_classes,
            self.tree_options(table.n_features),
            n_threads=n_threads,
            seed=check_random_state(self.random_state).randint(2**31 - 1),
        )
        # Kernels would be compiled anew for weights that are read-only or strided.
        weight = np.require(weight, requirements=["C", "W"])
        grown = grower.grow(weight, None if n_classes else target)
        return TreeEnsemble.from_grown([grown], n_classes, binned.categories)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Number of the leaf in which each row ends.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        leaves : array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.tree_.apply(self._read(X))[:, 0]


@_documented
class CARTClassifier(BaseTreeClassifier, BaseCART):
    """Classification tree with two-way splits (CART).

    Missing values go to whichever side is better. Categorical columns are split into
    two sets of categories, the best there are for two classes. Numeric columns with
    more than 255 distinct values are put into 255 bins of about equal weight, and split
    between bins.

    Parameters
    ----------
    criterion : {"gini", "entropy"}, default="gini"
        Impurity that splits remove.
    {limits}
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights.
    {data}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    feature_importances_ : array of shape (n_features,)
        Share of the removed impurity that each feature accounts for.
    {tree}

    See Also
    --------
    CARTRegressor : The same for numeric targets.
    C45Classifier : A branch for each category, exact cuts, and pruning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from splboost.trees import CARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = CARTClassifier(max_depth=2).fit(X, y)
    >>> print(tree.to_text())
    petal length (cm) <= 2.45
    ├── yes: class 0 (share 1, weight 50)
    └── no: petal width (cm) <= 1.75 or missing
        ├── yes: class 1 (share 0.9074, weight 54)
        └── no: class 2 (share 0.9783, weight 46)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseCART._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self._set_parameters(locals())

    def _shares(self, table: Table) -> NDArray[np.float64]:
        return self.tree_.class_shares()[self.tree_.apply(table)[:, 0]]

    def _outline(self, wording: Wording) -> Outline:
        shares, weight = self.tree_.class_shares(), self.tree_.value.sum(axis=1)
        leaves = list(map(wording.class_leaf, shares, weight))
        return outline_two_way(self.tree_, leaves, wording)


@_documented
class CARTRegressor(RegressorMixin, BaseCART):
    """Regression tree with two-way splits by weighted least squares (CART).

    Missing values, categories and bins are as in :class:`CARTClassifier`.

    Parameters
    ----------
    {limits}
    {data}

    Attributes
    ----------
    feature_importances_ : array of shape (n_features,)
        Share of the removed variance that each feature accounts for.
    {tree}

    See Also
    --------
    CARTClassifier : The same for classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from splboost.trees import CARTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(CARTRegressor(max_leaf_nodes=8).fit(X, y).score(X, y), 2)
    0.51
    """

    criterion = "squared_error"

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self._set_parameters(locals())

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 3 counts as three copies, a weight of 0 as no row.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._validate_params()
            table = read_table(self, X, self.categorical_features, reset=True)
            target = encode_numbers(self, y, table.n_rows)
            weight = check_weights(sample_weight, table.n_rows)
            table, weight, target = drop_weightless(table, weight, target)
            # Standardised, so that the engine's absolute limits suit any unit of y; in
            # steps of which none can overflow.
            largest = float(np.abs(target).max()) or 1.0
            centre = float(np.average(target / largest, weights=weight))
            centred = target / largest - centre
            widest = float(np.abs(centred).max()) or 1.0
            scaled = centred / widest
            unit = float(np.sqrt(np.average(scaled**2, weights=weight))) or 1.0
            self.tree_ = self._grow(table, scaled / unit, 0, weight)
            mean = _means_of_nodes(self.tree_)
            self._node_mean = largest * (centre + widest * unit * mean)
        return self

    def from_tree(self, tree: Any, *given: Any) -> Self:
        """A fitted estimator like this one, around a tree that a booster has grown."""
        fitted = super().from_tree(tree, *given)
        fitted._node_mean = _means_of_nodes(tree)
        return fitted

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Weighted mean of the training targets in the leaf of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : array of shape (n_samples,)
        """
        leaf = self.apply(X)
        return self._node_mean[leaf]

    def _outline(self, wording: Wording) -> Outline:
        mean, weight = self._node_mean, self.tree_.value[:, 0]
        rounding = 1e-14 * np.abs(mean).max()
        mean = np.where(np.abs(mean) < rounding, 0.0, mean)
        leaves = list(map(wording.mean_leaf, mean, weight))
        return outline_two_way(self.tree_, leaves, wording)


def _means_of_nodes(tree: TreeEnsemble) -> NDArray[np.float64]:
    """Weighted mean of the target in each node."""
    return tree.value[:, 1] / tree.value[:, 0]
