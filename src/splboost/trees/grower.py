"""Tree after tree over one binned table: what a booster's loop calls."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from splboost._tools import threads
from splboost.trees.binning import Binned
from splboost.trees.drawn import advance_drawn
from splboost.trees.ensemble import GrownTree
from splboost.trees.grow import advance, advance_stump
from splboost.trees.search import search
from splboost.trees.workspace import N_NODES, TreeOptions, as_reference, make_work


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
        n_rows = binned.codes.shape[1]
        self.binned = binned
        self.n_threads = n_threads
        self.regression = n_classes == 0
        classes = np.zeros(n_rows, np.uint8) if self.regression else y
        self.work = make_work(binned, classes, n_classes, options, n_threads)
        self.work.seed[0] = 2 * seed + 1
        self.leaf = np.empty(n_rows, dtype=np.int32)
        self.memory = as_reference(self.work)
        self._advance = advance_stump if options.max_depth == 1 else advance
        if options.draws(binned.n_bins.size):
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
