"""The state of a discrete booster: every sample's margin, and the weight it gives.

The margins are all there is to remember; weights are computed from them anew. Steps are
rounded to a grid of 2**-43, so that sums of steps are exact in floating point. Then

    log weight = shift - margin,

with the shift growing by each step, stays *the same number* for every sample that the
round's learner got right, and the tree engine finds that only the others have changed.
(The shift is a common factor exp(shift) of all weights, to which no learner reacts.)

Work on all samples is done in blocks that fit the cache. Sums are formed per block and
then added up, so they do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._tools.threads import run, share
from splboost.boosting.scores.kernels import dot, share_right, weigh, weigh_along_lines
from splboost.boosting.scores.witnesses import Witnesses
from splboost.boosting.scores.working import GRID
from splboost.losses import Exponential
from splboost.pace import Pace
from splboost.pace.classes import ClassCurves

BLOCK = 32_768
WORK_PER_ROW = 3
MAX_SHIFT = 30.0  # since the weights were last brought back to at most 1
MAX_EXPONENT = 500.0

FloatArray = NDArray[np.float64]


def on_grid(step: float) -> float:
    """The step rounded towards 0 to a multiple of the grid."""
    return math.trunc(step / GRID) * GRID


class Scores:
    """Margins, weights and paces of the training samples.

    Parameters
    ----------
    codes : class number of each sample
    n_classes : int
    sample_weight : the user's weights, all positive
    paces : Pace or None, for each class
    n_threads : int
    all_outputs : bool
        Whether to keep the scores of more than two classes without a pace, too.

    Attributes
    ----------
    margin : (n,) y F for two classes, G_y for more
    score : (n, K) G if a pace needs the scores of more than two classes, else None
    weight : (n,) sample_weight * v * exp(shift - margin), what learners are fitted with
    n_selected : number of samples with v > 0
    latent : summed latent loss at the present margins
    """

    time = None

    def __init__(
        self,
        codes: NDArray[np.integer],
        n_classes: int,
        sample_weight: FloatArray,
        paces: Sequence[Pace | None],
        *,
        n_threads: int = 1,
        all_outputs: bool = False,
    ) -> None:
        self.loss = Exponential()
        self.codes = codes
        self.n_classes = n_classes
        self.sample_weight = sample_weight
        self._weigh_samples = bool((sample_weight != 1).any())
        self.n_threads = n_threads
        self.n_samples = n = codes.size
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.margin = np.zeros(n)
        self._curves = ClassCurves(paces)
        paced = not self._curves.is_plain
        keeps_score = n_classes > 2 and (paced or all_outputs)
        self.score = np.zeros((n, n_classes)) if keeps_score else None
        lines = None if paced and n_classes > 2 else self._curves.lines
        # Two are enough: with more classes they are only taken if all are plain.
        self._lines = None if lines is None else lines[:2]
        self.weight = np.empty(n)
        self.n_selected = n
        self.latent = 0.0
        self._shift = self._base = 0.0
        self._witnesses = Witnesses(codes, n_classes)

    def moves(self, step: float) -> tuple[float, float]:
        """What a step adds to the margin of a sample got right, and got wrong."""
        return (self.n_classes - 1) * step, -step

    def advance(self, step: float) -> None:
        """Note that the margins have moved by a step."""
        self._shift += self.moves(step)[0]
        if self._shift - self._base > MAX_SHIFT:
            selected = self.margin[self.weight > 0]
            self._shift = self._base = float(selected.min()) if selected.size else 0.0

    @property
    def state(self) -> tuple[float, float]:
        """The shift of the log weights: now, and when they were last brought back."""
        return self._shift, self._base

    @state.setter
    def state(self, state: tuple[float, float]) -> None:
        self._shift, self._base = state

    def output(self) -> FloatArray:
        """F as one column, or G; the opposite of ``move_to``."""
        if self.score is not None:
            return self.score
        return np.where(self.codes == 1, self.margin, -self.margin)[:, None]

    def move_to(self, output: FloatArray) -> None:
        """Set margins and scores to those of a model's output, F or G."""
        if self.n_classes == 2:
            self.margin = np.where(self.codes == 1, output[:, 0], -output[:, 0])
            return
        self.margin = output[np.arange(self.codes.size), self.codes]
        if self.score is not None:
            self.score = output

    def rewind(self, n_rounds: int) -> None:
        """Nothing but the scores depends on the rounds."""

    def quality(self, weight: FloatArray) -> float:
        """The accuracy."""
        if self.score is None:
            return share_right(self.margin, self.codes, weight)
        right = self.score.argmax(axis=1) == self.codes
        return float(right @ weight) / float(weight.sum())

    def refresh(self, *, paced: bool) -> None:
        """Set weights at the present margins; unless ``paced``, with all paces at 1."""
        if self.codes.size <= BLOCK:
            self.n_selected, self.latent = self._refresh_block(0, paced)
            return
        starts = range(0, self.codes.size, BLOCK)
        done: list[tuple[int, float]] = [(0, 0.0)] * len(starts)

        def refresh_blocks(first: int, last: int) -> None:
            for k in range(first, last):
                done[k] = self._refresh_block(starts[k], paced)

        run(refresh_blocks, share(len(starts), self.n_threads, BLOCK * WORK_PER_ROW))
        self.n_selected = sum(selected for selected, _ in done)
        self.latent = sum(latent for _, latent in done)

    def _refresh_block(self, start: int, paced: bool) -> tuple[int, float]:
        """Set the weights of a block; its selected samples and its latent loss."""
        rows = slice(start, start + BLOCK)
        margin, weight = self.margin[rows], self.weight[rows]
        # A weight is cut off at the exponent, so that of a sample far behind says
        # nothing of its loss when the shift is large.
        if self._lines is not None and self._shift < MAX_EXPONENT / 2:
            return weigh_along_lines(
                margin,
                self.codes[rows],
                self.sample_weight[rows],
                self._weigh_samples,
                self._shift,
                MAX_EXPONENT,
                self._lines,
                paced,
                weight,
            )
        weigh(margin, self._shift, MAX_EXPONENT, weight)
        return self._pace_block(rows, paced, weight)

    @np.errstate(all="ignore")
    def _pace_block(
        self, rows: slice, paced: bool, weight: FloatArray
    ) -> tuple[int, float]:
        """Multiply plain weights by the paces."""
        doubt = self._doubt(rows)
        selected = weight.size
        latent = self._curves.latent(doubt, self.codes[rows])
        if paced and not self._curves.is_plain:
            v = self._curves.weight(doubt, self.codes[rows])
            selected = int(np.count_nonzero(v))
            weight *= v
        if self._weigh_samples:
            weight *= self.sample_weight[rows]
            latent = latent * self.sample_weight[rows]
        return selected, float(latent.sum())

    def _doubt(self, rows: slice) -> FloatArray:
        """The losses that a pace sees."""
        if self.score is not None:
            return self.loss.doubt(self.score[rows], self.codes[rows])
        return self.loss.value(self.margin[rows])

    def selects_one_class(self) -> bool:
        """Whether all samples of positive weight are of one class."""
        return self._witnesses.see_one_class(self.weight, self.n_selected)

    def paces(self) -> FloatArray:
        """v of every sample at the present margins."""
        v = np.ones(self.codes.size)
        if not self._curves.is_plain:
            with np.errstate(all="ignore"):
                for start in range(0, v.size, BLOCK):
                    rows = slice(start, start + BLOCK)
                    v[rows] = self._curves.weight(self._doubt(rows), self.codes[rows])
        return v

    def plain_weight(self) -> FloatArray:
        """Weights with all paces at 1, up to a common factor."""
        exponent = np.minimum(self._shift - self.margin, MAX_EXPONENT)
        return self.sample_weight * np.exp(exponent)

    def look_ahead(
        self, term: Any, step: float, v: FloatArray | None = None
    ) -> tuple[FloatArray, float]:
        """Paces, and the loss weighted by them, that a full step would lead to.

        With ``v`` given, the loss is weighted by that instead.
        """
        step = on_grid(step)
        term.vote(self, step)
        if v is None:
            v = self.paces()
        loss = dot(self.sample_weight * v, self.loss.value(self.margin))
        term.vote(self, -step)  # exact on the grid, for margins below 1000
        return v, loss
