"""Tree after tree over one binned table: what a booster's loop calls."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from splboost._tools import threads
from splboost.trees.binning import Binned
from splboost.trees.ensemble import GrownTree
from splboost.trees.grow import advance, advance_drawn, advance_stump
from splboost.trees.search import search
from splboost.trees.split import ENTROPY, GINI, LEAST_SQUARES
from splboost.trees.workspace import (
    N_NODES,
    UNLIMITED,
    Data,
    Limits,
    Memory,
    as_reference,
    make_workspace,
)

CRITERIA = {"gini": GINI, "entropy": ENTROPY, "squared_error": LEAST_SQUARES}


@dataclass(frozen=True)
class TreeOptions:
    """What kind of tree: the constructor arguments of the tree estimators, resolved."""

    criterion: str = "gini"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: int | None = None
    random_cuts: bool = False


class TreeGrower:
    """Grows any number of trees over one binned table, each with its own weights.

    Between trees it keeps the root's histogram. When few weights differ from those of
    the last tree (and the classes are the same), the next root is that one plus the
    difference; sums are exact, so nothing but the time depends on it.

    Parameters
    ----------
    binned : Binned
    y : array of shape (n_rows,)
        Class numbers for classification; ignored for regression.
    n_classes : int
        Number of classes; 0 for regression.
    options : TreeOptions
    n_threads : int
    seed : int
        Used only when features or cuts are drawn at random.

    Attributes
    ----------
    leaf : int32 array of shape (n_rows,)
        The node of the last tree in which each row ended.
    memory : what kernels grow trees in
    """

    def __init__(
        self,
        binned: Binned,
        y: NDArray[np.integer],
        n_classes: int,
        options: TreeOptions,
        *,
        n_threads: int = 1,
        seed: int = 0,
    ) -> None:
        d, n = binned.codes.shape
        n_slots = n_classes or 2
        counting = options.min_samples_leaf > 1
        depth = options.max_depth
        max_features = int(min(options.max_features or d, d))
        drawn = max_features < d or options.random_cuts
        self.binned = binned
        self.n_threads = n_threads
        self.limits = Limits(
            criterion=CRITERIA[options.criterion],
            n_classes=n_slots,
            shift=int(np.ceil(np.log2(n_slots + counting))),
            counter=n_slots if counting else -1,
            max_depth=-1 if depth is None else int(min(depth, n)),
            max_leaves=int(options.max_leaf_nodes or UNLIMITED),
            min_rows=int(options.min_samples_leaf),
            min_share=float(options.min_weight_fraction_leaf),
            max_features=max_features,
            drawn=drawn,
            random_cuts=options.random_cuts,
            threaded_work=threads.THREADED_WORK if n_threads > 1 else UNLIMITED,
        )
        self.regression = n_classes == 0
        self.data = Data(
            binned.codes,
            binned.n_bins,
            binned.kind,
            binned.offset,
            binned.points,
            np.zeros(n, np.uint8) if self.regression else y,
        )
        self.work = make_workspace(binned, self.data.y, self.limits)
        self.work.seed[0] = 2 * seed + 1
        self.leaf = np.empty(n, dtype=np.int32)
        self.memory = as_reference(Memory(self.data, self.limits, self.work))
        self._advance = advance_stump if depth == 1 else advance
        if drawn:
            self._advance = advance_drawn
        self._has_categories = any(c is not None for c in binned.categories)

    @property
    def state(self) -> tuple[int, float]:
        """What the next tree depends on besides its weights."""
        return int(self.work.seed[0]), float(self.work.scale[0])

    @state.setter
    def state(self, state: tuple[int, float]) -> None:
        self.work.seed[0], self.work.scale[0] = state

    def grow(
        self, weight: NDArray[np.float64], target: NDArray[np.float64] | None = None
    ) -> GrownTree:
        """Grow a tree on the rows of positive weight; regression needs a target.

        The target of a regression is best centred and of unit spread: gains below
        1e-12 count as none.
        """
        if target is None:
            target = weight
        size = self._advance(self.memory, weight, target, self.leaf)
        while not size:
            self._search_in_threads()
            size = self._advance(self.memory, weight, target, self.leaf)
        return self.last_tree()

    def last_tree(self) -> GrownTree:
        """The tree that was grown last, by ``grow`` or by a kernel on ``memory``."""
        work, size = self.work, int(self.work.progress[N_NODES])
        return GrownTree(
            work.node[:size].copy(),
            work.number[:size].copy(),
            work.total[:size].copy(),
            work.bins[: size if self._has_categories else 0].copy(),
            work.scale.item(),
        )

    def _search_in_threads(self) -> None:
        d = self.binned.n_bins.size
        n_blocks = min(self.n_threads, d)
        # Even block sizes where possible: features are summed two at a time.
        bounds = 2 * np.linspace(0, (d + 1) // 2, n_blocks + 1).astype(int)
        bounds[-1] = d
        threads.run(
            search,
            [(self.memory, int(lo), int(hi)) for lo, hi in itertools.pairwise(bounds)],
        )
