"""What tree estimators of every kind share: reading data, and describing themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from splboost._data.labels import (
    check_weights,
    drop_weightless,
    encode_labels,
    weigh_classes,
)
from splboost._data.table import Table, read_table
from splboost.trees.outline import Outline, Wording, tree_text


class BaseTree(BaseEstimator):
    """A tree estimator.

    Its fitted tree is ``tree_``, which knows its ``depth()``, ``n_leaves()``,
    ``importances`` and ``categorical_features``; ``_outline`` puts it into words.
    """

    tree_: Any
    feature_names_in_: NDArray[Any]
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        return read_table(self, X, self.tree_.categorical_features, reset=False)

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

    def _read_cases(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Table, NDArray[np.integer], NDArray[np.float64]]:
        """Check parameters and data; the rows of positive weight, their class numbers
        and weights."""
        self._validate_params()
        table = read_table(self, X, self.categorical_features, reset=True)
        weight = check_weights(sample_weight, table.n_rows)
        self.classes_, codes = encode_labels(self, y, weight)
        given, classes = self.class_weight, self.classes_
        weight, _ = weigh_classes(given, classes, codes, weight)
        table, weight, codes = drop_weightless(table, weight, codes)
        return table, codes, weight


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
