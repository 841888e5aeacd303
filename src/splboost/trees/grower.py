"""Growing trees over one binned table: what a booster's loop calls.

``advance`` is the whole algorithm in one kernel. It keeps a frontier of nodes whose
best split is known, takes the next one, divides its rows, and looks for the best splits
of the two children. That search (``search``) is independent between features. When it
is long enough to be worth threads, ``advance`` writes down what is to be searched,
returns to Python, which runs ``search`` on blocks of features, and is called again to
go on. Features never share a sum, so the tree does not depend on the number of threads.
``advance_stump`` is what remains of it for a single split, and ``advance_drawn`` (in
drawn.py) grows trees whose nodes look at drawn features: a fit compiles one of them.

Depth-first growth takes the smaller child first, so few histograms are alive at a time;
best-first growth (``max_leaf_nodes``) takes the node whose split removes most impurity.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from splboost._tools import threads
from splboost._tools.compiling import as_reference, inner_kernel, kernel
from splboost.trees import workspace as at
from splboost.trees.binning import Binned
from splboost.trees.drawn import advance_drawn
from splboost.trees.ensemble import GrownTree
from splboost.trees.nodes import (
    gather,
    leaf_of_rows,
    may_split,
    next_node,
    plan_root,
    split_node,
)
from splboost.trees.small import SMALL_NODE, grow_small
from splboost.trees.split import choose, search
from splboost.trees.workspace import TreeOptions, make_work, refer


class TreeGrower:
    """Grows any number of trees over one binned table, each with its own weights.

    Between trees it keeps the root's histogram. When few weights differ from those of
    the last tree (and the classes are the same), the next root is that one plus the
    difference; sums are exact, so nothing but the time depends on it. A round of stumps
    takes a sixth less for it where a pace is hard.

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
        self.memory = as_reference(refer, self.work)
        self._advance = advance_stump if options.max_depth == 1 else advance
        if options.random_cuts or self.work.max_features < binned.n_bins.size:
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
            d = self.binned.n_bins.size
            n_blocks = min(self.n_threads, d)
            # Even block sizes where possible: features are summed two at a time.
            bounds = 2 * np.linspace(0, (d + 1) // 2, n_blocks + 1).astype(int)
            bounds[-1] = d
            pairs = itertools.pairwise(bounds.tolist())
            threads.run(search_block, [(self.memory, *pair) for pair in pairs])
            size = self._advance(self.memory, weight, target, self.leaf)
        work = self.work
        return GrownTree(
            work.node[:size].copy(),
            work.number[:size].copy(),
            work.total[:size].copy(),
            work.bins[: size if self._has_categories else 0].copy(),
            work.scale.item(),
        )


# ------------------------------------------------------------------------- the kernels


@kernel
def search_block(work, first, last):
    """A part of the search, for a thread of its own."""
    search(work, first, last)


@kernel
def advance(work, weight, target, leaf):
    """Grow until done, or until a search is left to the caller.

    Returns the number of nodes, or 0 if the tree is not done yet. In the end ``leaf``
    holds the node of every row.
    """
    if not work.progress[at.STARTED]:
        plan_root(work, weight, target)
    else:
        choose_planned(work)
    while True:
        if work.plan[0, at.NODE] < 0:
            node = next_node(work)
            if node < 0:
                break
            split_node(work, node)
            plan_children(work, node)
        if work.plan[0, at.NODE] >= 0:
            if work.progress[at.N_PLANNED] * work.n_bins.size >= work.threaded_work:
                return 0
            search(work, 0, work.n_bins.size)
            choose_planned(work)
    leaf_of_rows(work, leaf)
    work.progress[at.STARTED] = 0
    return work.progress[at.N_NODES]


@kernel
def advance_stump(work, weight, target, leaf):
    """The same for trees of one split."""
    if not work.progress[at.STARTED]:
        plan_root(work, weight, target)
        if work.progress[at.N_PLANNED] * work.n_bins.size >= work.threaded_work:
            return 0
        search(work, 0, work.n_bins.size)
    choose(work, at.ROOT, at.FIRST_SIDE)
    leaf[:] = 0
    if work.number[0, at.GAIN] > 0:
        split_node(work, at.ROOT)
        codes, sides = work.codes[work.node[0, at.FEATURE]], work.sides
        for i in range(leaf.size):
            leaf[i] = 1 + np.int32(sides[codes[i]])
    work.progress[at.STARTED] = 0
    return work.progress[at.N_NODES]


@inner_kernel
def choose_planned(work):
    """Take the best feature of each searched node; put the node on the frontier."""
    p = work.progress
    # The larger child first, so that depth-first growth takes the smaller one next.
    for side in (1, 0):
        node = work.plan[side, at.NODE]
        if node < 0:
            continue
        if work.plan[side, at.WANTED]:
            choose(work, node, side)
        if work.plan[side, at.WANTED] and work.number[node, at.GAIN] > 0:
            work.frontier[p[at.N_FRONTIER]] = node
            p[at.N_FRONTIER] += 1
            if at.ROOT_SLOT < work.node[node, at.SLOT] < at.FIRST_FREE_SLOT:
                work.node[node, at.SLOT] = -1
        else:
            release(work, node)
    work.plan[:, at.NODE] = -1


@inner_kernel
def plan_children(work, node):
    """Decide how the children are searched, or that they are leaves."""
    p, plan, nodes, free = work.progress, work.plan, work.node, work.free
    left = nodes[node, at.CHILD]
    larger_right = nodes[left, at.END] - nodes[left, at.START] <= (
        nodes[left + 1, at.END] - nodes[left + 1, at.START]
    )
    for side in range(2):  # the smaller child, then the larger one
        child = left + (side if larger_right else 1 - side)
        wanted = may_split(work, child)
        small = nodes[child, at.END] - nodes[child, at.START] <= SMALL_NODE
        if wanted and small and work.max_leaves == at.UNLIMITED:  # depth first
            grow_small(work, child)
            wanted = 0
        plan[side, at.NODE], plan[side, at.WANTED] = child, wanted
        nodes[child, at.SLOT] = at.SCRATCH_SLOT + side
        plan[side, at.WAY] = at.BUILD if wanted else at.NOTHING
    own_slot = nodes[node, at.SLOT]
    needed = 2 if own_slot == at.ROOT_SLOT else 1  # the next tree needs the root's
    if plan[1, at.WANTED] and own_slot >= 0 and p[at.N_FREE] >= needed:
        plan[0, at.WAY], plan[1, at.WAY] = at.BUILD, at.SUBTRACT
        p[at.N_FREE] -= needed
        nodes[plan[0, at.NODE], at.SLOT] = free[p[at.N_FREE] + needed - 1]
        if own_slot == at.ROOT_SLOT:
            own_slot = free[p[at.N_FREE]]
            # By hand: errors that an assignment could raise take a second to compile.
            for cell in range(work.hist.shape[1]):
                work.hist[own_slot, cell] = work.hist[at.ROOT_SLOT, cell]
        nodes[plan[1, at.NODE], at.SLOT], nodes[node, at.SLOT] = own_slot, -1
    release(work, node)
    p[at.N_PLANNED] = 0
    for side in range(2):
        if plan[side, at.WAY] == at.BUILD:
            child = plan[side, at.NODE]
            gather(work, child)
            p[at.N_PLANNED] += nodes[child, at.END] - nodes[child, at.START]
    if plan[0, at.WAY] == plan[1, at.WAY] == at.NOTHING:
        plan[:, at.NODE] = -1


@inner_kernel
def release(work, node):
    """Give back the histogram that a node keeps, if any."""
    slot = work.node[node, at.SLOT]
    if slot >= at.FIRST_FREE_SLOT:
        work.free[work.progress[at.N_FREE]] = slot
        work.progress[at.N_FREE] += 1
    work.node[node, at.SLOT] = -1
