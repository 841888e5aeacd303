"""What tree estimators of every kind share.

Each is an estimator of its own and, inside a booster, only a description of the tree to
grow: boosters of this library bin the data once and drive the tree engine themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from splboost._data.labels import (
    all_or_nothing,
    check_weights,
    drop_weightless,
    encode_labels,
    weigh_classes,
)
from splboost._data.table import Table, TableEstimator, read_table
from splboost.trees.outline import Outline, Wording, tree_text


class BaseTree(TableEstimator):
    """A tree estimator.

    Its fitted tree is ``tree_``, which knows its ``depth()``, ``n_leaves()``,
    ``importances`` and ``categorical_features``; ``_outline`` puts it into words.
    """

    tree_: Any
    feature_names_in_: NDArray[Any]
    n_features_in_: int

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        return read_table(self, X, self.tree_.categorical_features, reset=False)

    def _grow(
        self,
        table: Table,
        target: NDArray[Any],
        n_classes: int,
        weight: NDArray[np.float64],
    ) -> Any:
        """The tree of rows of positive weight."""
        raise NotImplementedError

    def get_depth(self) -> int:
        """Number of splits on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth()

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves()

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the removed impurity that each feature accounts for."""
        check_is_fitted(self)
        return self.tree_.importances(self.n_features_in_, np.ones(1))

    def to_text(self, *, digits: int = 4) -> str:
        """The tree as indented text, one line per node.

        Parameters
        ----------
        digits : int, default=4
            Significant digits of thresholds and values.

        Returns
        -------
        text : str
        """
        return tree_text(self.outline(digits=digits))

    def outline(
        self,
        *,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        digits: int = 4,
        most_categories: int | None = None,
    ) -> Outline:
        """The tree in words, node by node.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            A name for each feature; None takes those that ``fit`` saw.
        class_names : sequence of str, default=None
            A name for each class, in the order of ``classes_``; None takes the labels.
        digits : int, default=4
            Significant digits of thresholds and values.
        most_categories : int, default=None
            Categories to name in a list of them; further ones are counted. None names
            them all.

        Returns
        -------
        root : Outline
            The root, which holds its branches.
        """
        check_is_fitted(self)
        features = [f"x{j}" for j in range(self.n_features_in_)]
        features = list(getattr(self, "feature_names_in_", features))
        classes = list(getattr(self, "classes_", []))
        return self._outline(
            Wording(
                _names("feature_names", feature_names, features),
                _names("class_names", class_names, classes),
                digits,
                most_categories,
            )
        )

    def _outline(self, wording: Wording) -> Outline:
        raise NotImplementedError

    def from_tree(
        self,
        tree: Any,
        classes: NDArray[Any] | None,
        n_features: int,
        names: NDArray[Any] | None,
    ) -> Self:
        """A fitted estimator like this one, around a tree that a booster has grown."""
        fitted = clone(self)
        fitted.tree_, fitted.n_features_in_ = tree, n_features
        if is_classifier(fitted):
            fitted.classes_ = classes
        if names is not None:
            fitted.feature_names_in_ = names
        return fitted


class BaseTreeClassifier(ClassifierMixin, BaseTree):
    """A tree that predicts classes, alone or as one of a booster's."""

    class_weight: Any
    categorical_features: Any
    classes_: NDArray[Any]

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 3 counts as three copies, a weight of 0 as no row.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._validate_params()
            table = read_table(self, X, self.categorical_features, reset=True)
            weight = check_weights(sample_weight, table.n_rows)
            self.classes_, codes = encode_labels(self, y, weight)
            given, classes = self.class_weight, self.classes_
            weight, _ = weigh_classes(given, classes, codes, weight)
            table, weight, codes = drop_weightless(table, weight, codes)
            self.tree_ = self._grow(table, codes, classes.size, weight)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Share of each class in the leaf of each row.

        A row that reaches several leaves of a C4.5 tree, for its missing values, gets
        their mixture.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._shares(self._read(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Heaviest class in the leaf of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        votes = self._votes(self._read(X))
        return self.classes_[votes]

    def _shares(self, table: Table) -> NDArray[np.float64]:
        """What ``predict_proba`` gives."""
        raise NotImplementedError

    def _votes(self, table: Table) -> NDArray[np.integer]:
        """Number of the class that ``predict`` gives."""
        return self._shares(table).argmax(axis=1)


def _names(argument: str, given: Sequence[str] | None, own: list[Any]) -> list[str]:
    if given is None:
        return [str(name) for name in own]
    if isinstance(given, str) or len(given) != len(own):
        what = "features" if argument == "feature_names" else "classes"
        raise ValueError(
            f"{argument}={given!r} does not fit a tree with {len(own)} {what}; give a "
            "list with a name for each, or None."
        )
    return [str(name) for name in given]
