"""How far to go along a weak learner: the length with the lowest summed loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splboost._tools.compiling import inner_kernel, kernel
from splboost._tools.maths import clip, exp
from splboost.boosting.loop import Weak
from splboost.boosting.state import CHUNK, MOST_MARGIN, State, add_up
from splboost.boosting.steps import ValueStep

NO_SLOPE = 1e-6  # of the loss, per unit of weight, that leaves nothing to do
SHORTEST, N_DOUBLINGS = 2.0**-6, 7
N_LENGTHS, LENGTH, FARTHEST = 41, 0.05, 2.0
CLOSE = 1e-7  # to a length: from there a step of Newton is exact
N_CELLS, FAR = 128, 12.0  # of like margins, and where they are all alike


@dataclass
class HalvingStep(ValueStep):
    """SavageBoost: tries lengths from 2**-6 to 2, and takes the one of the lowest loss.

    The ``learning_rate`` is in the link already, and no part of the length.
    """

    learning_rate: float = 1.0

    def factor(self, state: State, k: int, weak: Weak) -> float:
        """The best of the lengths, by the loss of the samples as far as believed."""
        totals = np.empty(N_DOUBLINGS + 2)
        savage_totals(
            state.score[k],
            state.codes,
            1 if state.n_outputs == 1 else k,
            state.factor,
            np.ascontiguousarray(weak.of_samples()),
            SHORTEST / self.learning_rate,
            totals,
        )
        best = int(np.argmin(totals))
        return SHORTEST * 2.0 ** (best - 1) if best else 0.0


class FlatStep(ValueStep):
    """RBoost: stops where the loss is flat for all samples."""

    def factor(self, state: State, k: int, weak: Weak) -> float:
        """1, unless next to nothing is left to gain."""
        slope = 2 * slope_left(state.loss[k], state.factor)
        return float(slope >= NO_SLOPE * self.total_weight)


class VoteStep(FlatStep):
    """RBoost with classifiers: searches for the best length along votes, up to 2."""

    def factor(self, state: State, k: int, weak: Weak) -> float:
        """The length with the lowest loss of the samples as far as believed."""
        if not super().factor(state, k, weak):
            return 0.0
        own = 1 if state.n_outputs == 1 else k
        above = weak.of_samples() > 0
        return float(best_length(state.score[k], state.codes, own, state.factor, above))


@kernel(fastmath={"reassoc"})
def slope_left(loss, factor):
    """The summed slope of the Savage2 loss, but for a factor 2."""
    total = 0.0
    for i in range(loss.size):
        total += factor[i] * loss[i] * (1 - np.sqrt(loss[i]))
    return total


@kernel
def savage_totals(score, codes, own, factor, values, shortest, totals):
    """Write the summed Savage loss at F, at F + a G for a shortest a, and its doubles.

    From one length to the next, what the odds exp(2 m) grow by is squared: a third
    faster than to compute them anew.
    """
    totals[:] = 0.0
    odds, growth, loss = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    for start in range(0, score.size, CHUNK):
        size = min(CHUNK, score.size - start)
        for i in range(size):
            y = 1.0 if codes[start + i] == own else -1.0
            odds[i] = exp(2 * clipped(y * score[start + i]))
            growth[i] = exp(2 * clipped(y * shortest * values[start + i]))
        for k in range(totals.size):
            for i in range(size):
                q = 1 / (1 + odds[i])
                loss[i] = factor[start + i] * q * q
            totals[k] += add_up(loss, size)
            for i in range(size):
                odds[i] *= growth[i]
                growth[i] *= growth[i] if k > 0 else 1.0


@inner_kernel
def clipped(margin):
    """A margin where the loss still changes."""
    return clip(margin, -MOST_MARGIN, MOST_MARGIN)


@kernel
def best_length(score, codes, own, factor, upper):
    """Length a in [0, 2] with the lowest summed Savage2 loss at F + a h, h = ±1.

    ``upper`` says where h = 1. The best of 41 lengths first, and Newton's way from
    there to where the slope is 0, by samples that were put together; then by all.
    """
    n = score.size
    margin, odds, right = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_)
    for i in range(n):
        is_own = codes[i] == own
        margin[i] = clipped(score[i] if is_own else -score[i])
        odds[i] = exp(margin[i])
        right[i] = is_own == upper[i]
    mean, vote, weight = gather(margin, right, factor, -FAR, FAR, N_CELLS)
    full = weight > 0
    cells = np.exp(mean[full]), vote[full], weight[full]
    start = best_of_grid(*cells)
    nearby = descend(*cells, start)
    length = descend(odds, right, factor, nearby if nearby >= 0 else start)
    if length < 0:
        length = descend(odds, right, factor, best_of_grid(odds, right, factor))
    return length if length >= 0 else start


@inner_kernel
def gather(margin, right, weight, lowest, highest, n_cells):
    """Cells of samples of like margin and vote: their means, votes and weights."""
    scale = n_cells / (highest - lowest) if highest > lowest else 0.0
    of_cell, mean = np.zeros(2 * n_cells), np.zeros(2 * n_cells)
    for i in range(margin.size):
        m = min(max(margin[i], lowest), highest)
        cell = min(int((m - lowest) * scale), n_cells - 1)
        cell += n_cells * right[i]
        of_cell[cell] += weight[i]
        mean[cell] += weight[i] * m
    of_right = np.zeros(2 * n_cells, dtype=np.bool_)
    for cell in range(2 * n_cells):
        of_right[cell] = cell >= n_cells
        mean[cell] /= of_cell[cell] if of_cell[cell] > 0 else 1.0
    return mean, of_right, of_cell


@inner_kernel
def best_of_grid(odds, right, factor):
    """The length of 41 with the lowest loss."""
    best, lowest = 0, np.inf
    for k in range(N_LENGTHS):
        total = total_along(odds, right, factor, k * LENGTH)
        if total < lowest:
            best, lowest = k, total
    return best * LENGTH


@inner_kernel
def descend(odds, right, factor, start):
    """From a length to the lowest loss nearby, within [0, 2]; -1 if it leads away."""
    length = start
    for _ in range(50):
        slope, curvature = slopes_along(odds, right, factor, length)
        if (length == 0.0 and slope >= 0) or (length == FARTHEST and slope <= 0):
            return length
        if curvature <= 0:
            return -1.0
        new = min(max(length - slope / curvature, 0.0), FARTHEST)
        if abs(new - start) > 3 * LENGTH:
            return -1.0
        if abs(new - length) < CLOSE:
            return new
        length = new
    return length


@inner_kernel(fastmath={"reassoc"})
def total_along(odds, right, factor, length):
    """The summed loss after a step."""
    up, down = np.exp(length), np.exp(-length)
    total = 0.0
    for i in range(odds.size):
        q = 1 / (1 + odds[i] * (up if right[i] else down))
        total += factor[i] * q * q
    return total


@inner_kernel(fastmath={"reassoc"})
def slopes_along(odds, right, factor, length):
    """Its first and second derivative by the length, both but for a factor 2."""
    up, down = np.exp(length), np.exp(-length)
    slope = curvature = 0.0
    for i in range(odds.size):
        q = 1 / (1 + odds[i] * (up if right[i] else down))
        part = factor[i] * q * q * (1 - q)
        slope += -part if right[i] else part
        curvature += part * (2 - 3 * q)
    return slope, curvature
