"""The nodes of pruned C4.5 trees, as kernels and Python know them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SLACK = 1e-9  # by which sums of weights may fall short of a bound, or of each other

FloatArray = NDArray[np.float64]


class Nodes(NamedTuple):
    """Nodes of many trees, one tree after the other, roots first.

    Attributes
    ----------
    start : (n_trees + 1,) first node of each tree
    feature : feature that a node tests, -1 in a leaf
    child : its first child, -1 in a leaf; the others follow
    children : their number
    threshold : values up to it go to the first child; NaN in leaves, and where every
        category has a child of its own
    share : of the weight of its siblings and itself
    label : class that a leaf predicts
    value : class weights of the training cases
    """

    start: NDArray[np.int64]
    feature: NDArray[np.int64]
    child: NDArray[np.int64]
    children: NDArray[np.int64]
    threshold: FloatArray
    share: FloatArray
    label: NDArray[np.int64]
    value: FloatArray
