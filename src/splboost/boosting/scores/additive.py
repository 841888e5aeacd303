"""The state of a booster whose learners add values: scores, and what is left to fit.

Two classes have one *column* of scores, F. More classes have a column each, and every
round fits a learner for each column, as for that class against the rest. Values are
rounded to a grid (``put_on_grid``), so that their sums are exact, and a model gives the
training samples the very scores that they had.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._tools.threads import run, share
from splboost.boosting.prediction import level_ties
from splboost.boosting.scores.discrete_scores import BLOCK, WORK_PER_ROW
from splboost.boosting.scores.witnesses import Witnesses
from splboost.boosting.scores.working import believe_along_lines
from splboost.losses import MarginLoss
from splboost.pace import Pace
from splboost.pace.classes import ClassCurves

FloatArray = NDArray[np.float64]

LARGE_WEIGHT = 1e100  # of a sample, from which on its weight in a round may overflow
MOST_WEIGHT = 1e290  # of a sample in a round: a sum of some million is finite


class WorkingSet(ABC):
    """What a round has to fit: the part of a booster that is its own.

    Attributes
    ----------
    loss : MarginLoss
        What it minimises.
    joint : bool
        Whether one learner serves all columns.
    """

    loss: MarginLoss
    joint: bool = False

    @abstractmethod
    def work_out(
        self,
        score: FloatArray,
        codes: NDArray[np.integer],
        own: int,
        weight: FloatArray,
        target: FloatArray,
        loss: FloatArray,
    ) -> None:
        """Write weight, target and loss of each sample, from the scores of a column.

        Samples of class ``own`` have y = 1, the others -1. Weights are those before any
        pace, targets are for boosters that fit regressions.
        """

    def combine(self, added: FloatArray) -> FloatArray:
        """Scores (n, K) of more than two classes, from what learners have added."""
        return added

    def against_rest(self, score: FloatArray) -> FloatArray:
        """Scores of each class against the rest, as two classes have them."""
        return score


class AdditiveScores:
    """Scores, weights, targets and paces of the training samples.

    Parameters
    ----------
    working_set : WorkingSet
    codes : class number of each sample
    n_classes : int
    sample_weight : the user's weights, all positive
    paces : Pace or None, for each class
    n_threads : int

    Attributes
    ----------
    raw : (n_outputs, n) what the learners have added up to, column by column
    weight, target : (n_sets, n) what the next learners are fitted to, one each
    loss : (n_sets, n) the samples' losses there
    n_selected : number of samples with v > 0
    latent : summed latent loss at the present scores
    """

    state: Any = None  # all depends on the scores
    time: Any = None

    def __init__(
        self,
        working_set: WorkingSet,
        codes: NDArray[np.integer],
        n_classes: int,
        sample_weight: FloatArray,
        paces: Sequence[Pace | None],
        *,
        n_threads: int = 1,
    ) -> None:
        self.working_set = working_set
        self.codes = codes
        self.n_classes = n_classes
        self.sample_weight = sample_weight
        self.n_threads = n_threads
        self.n_samples = n = codes.size
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.n_sets = 1 if working_set.joint else self.n_outputs
        self.raw = np.zeros((self.n_outputs, n))
        self.weight = np.empty((self.n_sets, n))
        self.target = np.empty((self.n_sets, n))
        self.n_selected = n
        self.latent = 0.0
        self.loss = np.empty((self.n_sets, n))
        self._factor = np.empty(n)
        self._weigh_samples = bool((sample_weight != 1).any())
        self._may_overflow = bool((sample_weight > LARGE_WEIGHT).any())
        self._curves = ClassCurves(paces)
        lines = self._curves.lines
        self._lines = None if lines is None else tuple(np.array(lines).T.copy())
        if self._lines is not None and self._lines[0].size < n_classes:
            self._lines = tuple(np.resize(each, n_classes) for each in self._lines)
        self._witnesses = Witnesses(codes, n_classes)

    def refresh(self, *, paced: bool) -> None:
        """Set what is to be fitted; unless ``paced``, with all paces at 1."""
        if self.n_samples <= BLOCK:
            self.n_selected, self.latent = self._refresh_block(0, paced)
            return
        starts = range(0, self.n_samples, BLOCK)
        done: list[tuple[int, float]] = [(0, 0.0)] * len(starts)

        def refresh_blocks(first: int, last: int) -> None:
            for k in range(first, last):
                done[k] = self._refresh_block(starts[k], paced)

        work = BLOCK * WORK_PER_ROW * self.n_outputs
        run(refresh_blocks, share(len(starts), self.n_threads, work))
        self.n_selected = sum(selected for selected, _ in done)
        self.latent = sum(latent for _, latent in done)

    def _refresh_block(self, start: int, paced: bool) -> tuple[int, float]:
        rows = slice(start, start + BLOCK)
        columns, codes = self.raw[:, rows], self.codes[rows]
        own = [1] if self.n_outputs == 1 else range(self.n_sets)
        if self.n_outputs > 1:
            score = self._score(rows)
            doubt = self.working_set.loss.doubt(score, codes)
            if self.working_set.joint:  # the margin of the sample's own class
                columns = score[np.arange(codes.size), codes][None]
                codes = np.zeros_like(codes)
            else:
                columns = np.ascontiguousarray(self.working_set.against_rest(score).T)
        for k, own_class in enumerate(own):
            self.working_set.work_out(
                columns[k],
                codes,
                own_class,
                self.weight[k, rows],
                self.target[k, rows],
                self.loss[k, rows],
            )
        if self.n_outputs == 1:
            doubt = self.loss[0, rows]
        factor = self._factor[rows]
        done = self._believe(doubt, rows, paced, factor)
        if self._weigh_samples or (paced and not self._curves.is_plain):
            with np.errstate(over="ignore"):
                self.weight[:, rows] *= factor
            if self._may_overflow:
                np.minimum(self.weight[:, rows], MOST_WEIGHT, self.weight[:, rows])
        return done

    def _score(self, rows: slice) -> FloatArray:
        """F of two classes, or a score of each class."""
        if self.n_outputs == 1:
            return self.raw[0, rows]
        return self.working_set.combine(self.raw[:, rows].T)

    def _believe(
        self, doubt: FloatArray, rows: slice, paced: bool, factor: FloatArray
    ) -> tuple[int, float]:
        """Write the paces times the samples' weights; their number, and latent loss."""
        codes, own = self.codes[rows], self.sample_weight[rows]
        if self._lines is not None:
            return believe_along_lines(doubt, codes, own, *self._lines, paced, factor)
        factor[:] = own
        with np.errstate(all="ignore"):
            latent = float((self._curves.latent(doubt, codes) * own).sum())
            if not paced:
                return codes.size, latent
            v = self._curves.weight(doubt, codes)
        factor *= v
        return int(np.count_nonzero(v)), latent

    def believed(self) -> FloatArray:
        """The pace of each sample times its weight."""
        return self._factor

    def selects_one_class(self) -> bool:
        """Whether all samples of positive pace are of one class."""
        return self._witnesses.see_one_class(self._factor, self.n_selected)

    def paces(self) -> FloatArray:
        """v of every sample at the present scores."""
        v = np.ones(self.n_samples)
        if not self._curves.is_plain:
            with np.errstate(all="ignore"):
                score = self._score(slice(None))
                doubt = self.working_set.loss.doubt(score, self.codes)
                v = self._curves.weight(doubt, self.codes)
        return v

    def output(self) -> FloatArray:
        """The scores as a model gives them."""
        return self.raw.T.copy()

    def move_to(self, output: FloatArray) -> None:
        """Set the scores to those of a model."""
        self.raw = np.ascontiguousarray(output.T)

    def rewind(self, n_rounds: int) -> None:
        """Nothing but the scores depends on the rounds."""

    def quality(self, weight: FloatArray) -> float:
        """The accuracy."""
        if self.n_outputs == 1:
            right = (self.raw[0] > 0) == (self.codes == 1)
        else:
            score = level_ties(self._score(slice(None)))
            right = score.argmax(axis=1) == self.codes
        return float(right @ weight) / float(weight.sum())
