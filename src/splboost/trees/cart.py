"""What CART trees for classes and for numbers share: their limits and their growth."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from splboost._data.table import Table
from splboost._tools.threads import count_threads
from splboost.trees.base import BaseTree
from splboost.trees.ensemble import TreeEnsemble


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
    n_jobs: int | None
    random_state: Any
    tree_: TreeEnsemble

    def tree_options(self, n_features: int) -> Any:
        """How such a tree is grown."""
        from splboost.trees.workspace import TreeOptions

        return TreeOptions(
            criterion=self.criterion,
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            max_features=count_features(self.max_features, n_features),
        )

    def _grow(
        self,
        table: Table,
        target: NDArray[Any],
        n_classes: int,
        weight: NDArray[np.float64],
    ) -> TreeEnsemble:
        from splboost.trees.binning import bin_table
        from splboost.trees.grower import TreeGrower

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


def count_features(max_features: Any, n_features: int) -> int:
    """How many features ``max_features`` stands for."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))
