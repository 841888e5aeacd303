"""Rows that trees are not grown on, sent down each tree as it is grown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.compiling import kernel
from splboost._tools.threads import run, share
from splboost.trees.blocks import Coding, float_matrix
from splboost.trees.ensemble import WALKING_WORK, GrownTree
from splboost.trees.predict import goes_right
from splboost.trees.workspace import CHILD, FEATURE, MISSING_LEFT, THRESHOLD


class Rows:
    """Rows of a table, read once; ``coding`` is that of the trees' own table.

    Parameters
    ----------
    table : Table
    coding : per feature None, or the table from a category to its code
    n_threads : int
    """

    def __init__(self, table: Table, coding: Coding, *, n_threads: int = 1) -> None:
        matrix = float_matrix(table, coding, np.arange(table.n_features))
        # Kernels would be compiled anew for cells of another kind or order.
        self._matrix = np.require(matrix, np.float64, ["C", "W"])
        self._categorical = np.array([codes is not None for codes in coding])
        self._n_threads = n_threads

    def leaves(self, tree: GrownTree) -> NDArray[np.int32]:
        """The node in which each row ends."""
        leaf = np.empty(self._matrix.shape[0], dtype=np.int32)
        of_tree = tree.node, tree.number, tree.bins, self._categorical
        parts = share(leaf.size, self._n_threads, WALKING_WORK)
        run(find_leaf, [(self._matrix[a:b], *of_tree, leaf[a:b]) for a, b in parts])
        return leaf


@kernel
def find_leaf(X, node, number, bins, categorical, leaf):
    """leaf[i] = node of a tree, as the grower leaves it, in which row i ends."""
    for i in range(X.shape[0]):
        k = 0
        while node[k, CHILD] >= 0:
            f = node[k, FEATURE]
            k = node[k, CHILD] + goes_right(
                X[i, f],
                number[k, THRESHOLD],
                node[k, MISSING_LEFT] == 1,
                k if categorical[f] else -1,
                bins,
            )
        leaf[i] = k
