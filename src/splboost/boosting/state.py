"""Where a fit stands: the scores F of the training samples, and what they lead to.

``State.refresh`` is the part of Algorithm 1 that goes over all samples. For each it
takes the margin m = y F(x), the loss of it, and how much of that the pace believes,

    v = v*(λ; loss(m)),

and writes the weight, and the target of a regression, that the round's weak learner is
fitted with. All are made by formulas that stand in :mod:`splboost.losses`,
:mod:`splboost.pace` and the files of the boosters, and that are compiled into one
loop over the samples for each combination that a booster needs. A loss or a
pace of a user's own is computed by numpy instead.

Scores are sums of leaf outputs, which are rounded to a grid of 2**-43. Such sums are
exact, so that a fitted model gives the training samples the very scores that they had.

Work is done in blocks that fit the cache. Sums are formed per block and then added up,
so they do not depend on the number of threads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._tools.compiling import inner_kernel, jitable, kernel
from splboost._tools.maths import MOST, clip, exp
from splboost._tools.threads import run, share
from splboost.boosting.loop import Round
from splboost.losses import MarginLoss
from splboost.pace import Pace
from splboost.pace.by_class import ClassCurves
from splboost.pace.regularisers import UNPACED

FloatArray = NDArray[np.float64]

BLOCK = 32_768  # rows of a task for a thread
CHUNK = 4096
CELLS, FEWEST, MOST_ROWS = 65_536, 256, 8192  # scores, and rows, of numpy at a time
WORK_PER_ROW = 3
MOST_MARGIN = 345.0  # beyond it losses and weights stay what they are
MOST_SHIFT = 30.0  # since weights were last brought back to at most 1
FAR_SHIFT = 250.0  # from which on the loss of a sample far behind is not its weight
LARGE_WEIGHT = 1e100  # of a sample, from which on its weight in a round may overflow
ROUNDING = 1e-11  # of scores, whose order it must not change
MOST_WEIGHT = 1e290  # of a sample in a round: a sum of some million is finite


# Rows of ``State.work``, as kernels get them for one learner: weights that it is fitted
# with; v times the sample's weight; loss; and the target, if there is one
WEIGHT, FACTOR, LOSS, TARGET = range(4)


class Believed(NamedTuple):
    """How many samples have v > 0, in classes from lowest to highest; latent loss."""

    n_selected: int
    lowest: int
    highest: int
    latent: float


# ----------------------------------------------------------------------------- kernels


@inner_kernel(fastmath={"reassoc"})
def add_up(values, size):
    """Sum of the first values, several at a time."""
    total = 0.0
    for i in range(size):
        total += values[i]
    return total


@cache
def refresher(
    fit_of: Callable[..., Any],
    loss_of: Callable[..., Any],
    weight_of: Callable[..., Any],
    latent_of: Callable[..., Any],
) -> Any:
    """The kernel that weighs samples by these formulas.

    Samples are scores of one class, F; the class numbers; the users' weights; and work.
    ``pace`` has the ages and shapes of the two classes, and whether v counts. Returns
    how many samples have v > 0, how many of these are of class 1, and the latent loss.

    Weights are those of margins less the shift: times exp(shift), which is a common
    factor, for the exponential loss; other losses have no shift.
    """
    jitable(fit_of, loss_of, weight_of, latent_of)

    @kernel
    def refresh(samples, first, last, own, shift, limit, pace):
        n_selected, n_upper, total = 0, 0, 0.0
        latent = np.empty(min(CHUNK, last - first))
        with_target = samples[3].shape[0] > TARGET
        unshift = exp(clip(-shift, -MOST, MOST))
        ages, shapes, paced = pace
        for start in range(first, last, CHUNK):
            end = min(start + CHUNK, last)
            score, codes = samples[0][start:end], samples[1][start:end]
            sample_weight, work = samples[2][start:end], samples[3]
            weight, factor = work[WEIGHT][start:end], work[FACTOR][start:end]
            loss = work[LOSS][start:end]
            target = work[TARGET][start:end] if with_target else latent[:0]
            for i in range(end - start):
                is_own = codes[i] == own
                m = (score[i] if is_own else -score[i]) - shift
                m = clip(m, -MOST_MARGIN, MOST_MARGIN)
                weight[i], z = fit_of(m, limit)
                loss[i] = loss_of(m) * unshift
                if with_target:
                    target[i] = z if is_own else -z
            for i in range(end - start):
                is_upper = codes[i] != 0
                age = ages[1] if is_upper else ages[0]  # a table would not vectorise
                shape = shapes[1] if is_upper else shapes[0]
                v = weight_of(loss[i], age, shape)
                v = v if paced else 1.0
                latent[i] = sample_weight[i] * latent_of(loss[i], age, shape)
                factor[i] = sample_weight[i] * v
                weight[i] *= factor[i]
                n_selected += factor[i] > 0
                n_upper += (factor[i] > 0) & is_upper
            total += add_up(latent, end - start)
        return n_selected, n_upper, total

    return refresh


@kernel
def add_outputs(score, leaf, output):
    """score[k, i] += output of the leaf of sample i, for all columns of the output."""
    for k in range(output.shape[1]):
        for i in range(leaf.size):
            score[k, i] += output[leaf[i], k]


# ---------------------------------------------------------------- what a round fits


@dataclass(eq=False)
class WorkingSet:
    """What a round fits: the weight and the target of each sample.

    Both are formulas of the margin, like those of the losses. Sample weights and paces
    multiply the weight afterwards; targets are for boosters that fit regressions, and
    are those of samples with y = 1.

    Parameters
    ----------
    loss : MarginLoss
        What the booster minimises.
    loss_of, fit_of : formulas of the loss, and of weight and target
    limit : float
        The second argument of ``fit_of``.
    joint : bool
        Whether one learner serves all classes.
    """

    loss: MarginLoss
    loss_of: Callable[..., Any] | None
    fit_of: Callable[..., Any] | None
    limit: float = math.inf
    joint: bool = False

    def fit(self, margin: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight and target of samples with these margins and labels, ±1."""
        weight, target = self.fit_of(margin, self.limit)  # type: ignore[misc]
        return weight, y * target

    def combine(self, added: FloatArray) -> FloatArray:
        """Scores (n, K) of more than two classes, from what learners have added."""
        return added

    def against_rest(self, score: FloatArray) -> FloatArray:
        """Scores of each class against the rest, as two classes have them."""
        return score


# --------------------------------------------------------------------------- the state


class State:
    """Scores of the training samples, and the weights that follow from them.

    Two classes have one score, F; more have one each.

    Parameters
    ----------
    working_set : WorkingSet
        What a round of the booster fits.
    codes : class number of each sample
    n_classes : int
    sample_weight : the user's weights, all positive
    paces : Pace or None, for each class
    targets : bool
        Whether weak learners are regressions.
    n_threads : int

    Attributes
    ----------
    score : (n_outputs, n) the scores
    work : (n_sets, 3 or 4, n) what is computed for each learner of a round
    weight, target, loss : (n_sets, n) parts of it
    factor : (n,) v times the samples' weights
    n_selected : number of samples with v > 0
    one_class : whether these are all of one class
    latent : summed latent loss at the present scores
    time : of potentials that change with it; None for losses
    scale_of_target : what targets are in units of
    """

    time: Any = None
    scale_of_target = 1.0  # what targets are in units of
    shift = _base = 0.0  # of the margins that weights are those of

    def __init__(
        self,
        working_set: WorkingSet,
        codes: NDArray[np.integer],
        n_classes: int,
        sample_weight: FloatArray,
        paces: Sequence[Pace | None],
        *,
        targets: bool = False,
        n_threads: int = 1,
    ) -> None:
        n = codes.size
        self.working_set = working_set
        self.codes = codes
        self.n_classes = n_classes
        self.sample_weight = np.require(sample_weight, requirements=["C", "W"])
        self.n_threads = n_threads
        self.n_samples = self.n_selected = n
        self.n_outputs = 1 if n_classes == 2 else n_classes
        n_sets = 1 if working_set.joint else self.n_outputs
        self.score = np.zeros((self.n_outputs, n))
        self.work = np.empty((n_sets, 4 if targets else 3, n))
        self.weight, self.loss = self.work[:, WEIGHT], self.work[:, LOSS]
        self.target = self.work[:, TARGET] if targets else None
        self.factor = self.work[0, FACTOR]
        self.one_class = False
        self.latent = 0.0
        self._may_overflow = bool((sample_weight > LARGE_WEIGHT).any())
        # What kernels see where a sample has several scores: one, of class 1
        several = n if n_classes > 2 else 0
        self._column, self._ones = np.empty(several), np.ones(several, dtype=np.uint8)
        self._curves = ClassCurves(paces)
        formula, fit_of = self._curves.formula, working_set.fit_of
        is_plain = working_set.joint and self._curves.is_plain
        # Paces of coupled scores, and those of users, are for numpy.
        self._has_paces = formula is not None and (n_classes == 2 or is_plain)
        if formula is None or not self._has_paces:
            formula = UNPACED
        # Two are enough: more are there only where there is no pace.
        ages, shapes = np.ravel(formula.age), np.ravel(formula.shape)
        self._pace = tuple(ages[[0, -1]].tolist()), tuple(shapes[[0, -1]].tolist())
        self._kernel: Any = None  # where weights are a user's own
        if fit_of is not None:
            formulas = fit_of, working_set.loss_of, formula.weight, formula.latent
            self._kernel = refresher(*formulas)

    # ------------------------------------------------------------ weights from scores

    def refresh(self, *, paced: bool) -> None:
        """Set what is to be fitted at the present scores; unless paced, with v = 1."""
        by_kernel = self._kernel is not None and self.shift <= FAR_SHIFT
        block = min(max(CELLS // self.n_outputs, FEWEST), MOST_ROWS)
        if by_kernel and self._has_paces:
            block = BLOCK
        if self.n_samples <= block:
            found = self._refresh_rows(slice(0, self.n_samples), by_kernel, paced)
        else:
            found = self._in_blocks(block, by_kernel, paced)
        self.n_selected, lowest, highest, self.latent = found
        self.one_class = lowest >= highest
        if self._may_overflow:
            np.minimum(self.weight, MOST_WEIGHT, out=self.weight)

    def _in_blocks(self, block: int, by_kernel: bool, paced: bool) -> Believed:
        """All rows, some at a time and in threads."""
        starts = range(0, self.n_samples, block)
        done = [Believed(0, 0, 0, 0.0)] * len(starts)

        def refresh_blocks(first: int, last: int) -> None:
            for k in range(first, last):
                end = min(starts[k] + block, self.n_samples)
                done[k] = self._refresh_rows(slice(starts[k], end), by_kernel, paced)

        work = block * WORK_PER_ROW * self.n_outputs
        run(refresh_blocks, share(len(starts), self.n_threads, work))
        n_selected, lowest, highest, latent = zip(*done, strict=True)
        return Believed(sum(n_selected), min(lowest), max(highest), sum(latent))

    def _refresh_rows(self, rows: slice, by_kernel: bool, paced: bool) -> Believed:
        """Write weights, targets and losses of some rows for each learner, and v."""
        joint, codes = self.working_set.joint, self.codes
        finds_paces = by_kernel and self._has_paces
        if self.n_outputs > 1 and joint:
            codes, columns = self._ones, self._margin(rows)[None]
        elif self.n_outputs > 1:
            columns = self.working_set.against_rest(self._seen(rows)).T
        for k in range(len(self.work)):
            score, own = self.score[0], 1
            if self.n_outputs > 1:
                score, own = self._column, 1 if joint else k
                score[rows] = columns[k]
            if by_kernel:
                n_selected, n_upper, latent = self._kernel(
                    (score, codes, self.sample_weight, self.work[k]),
                    rows.start,
                    rows.stop,
                    own,
                    self.shift,
                    self.working_set.limit,
                    (*self._pace, paced and finds_paces),
                )
            else:
                self._weigh_by_numpy(score[rows], codes[rows] == own, k, rows)
        if not finds_paces:
            return self._believe(rows, paced)
        if self.n_outputs > 1:
            return Believed(n_selected, 0, 1, latent)
        return Believed(n_selected, n_upper == n_selected, n_upper > 0, latent)

    @np.errstate(all="ignore")
    def _weigh_by_numpy(self, score: Any, is_own: Any, k: int, rows: slice) -> None:
        """The same, without v, for one learner whose weights are a user's own."""
        y = np.where(is_own, 1.0, -1.0)
        margin, work = y * score, self.work[k][:, rows]
        near = np.clip(margin - self.shift, -MOST_MARGIN, MOST_MARGIN)
        weight, target = self.working_set.fit(near, y)
        work[WEIGHT] = weight * self.sample_weight[rows]
        work[LOSS] = self.working_set.loss.value(margin if self.shift else near)
        if len(work) > TARGET:
            work[TARGET] = target

    @np.errstate(all="ignore")
    def _believe(self, rows: slice, paced: bool) -> Believed:
        """Multiply weights by v, as far as paced, where numpy has to find it."""
        codes, sample_weight = self.codes[rows], self.sample_weight[rows]
        if self.n_outputs == 1 or (self.working_set.joint and self._curves.is_plain):
            doubt = self.loss[0, rows]
        else:
            doubt = self.working_set.loss.doubt(self._seen(rows), codes)
        latent = float(self._curves.latent(doubt, codes) @ sample_weight)
        self.factor[rows] = sample_weight
        if paced and not self._curves.is_plain:
            v = self._curves.weight(doubt, codes)
            self.factor[rows] *= v
            self.weight[:, rows] *= v
        codes = codes[self.factor[rows] > 0]
        lowest = int(codes.min(initial=self.n_classes))
        return Believed(codes.size, lowest, int(codes.max(initial=0)), latent)

    def paces(self) -> FloatArray:
        """v of every sample at the present scores."""
        v = np.ones(self.n_samples)
        if self._curves.is_plain:
            return v
        by_kernel = self._kernel is not None and self._has_paces
        work = np.empty((self.work.shape[1], CHUNK))
        for start in range(0, v.size, CHUNK):
            rows = slice(start, min(start + CHUNK, v.size))
            codes = self.codes[rows]
            if by_kernel:
                # Of samples that weigh 1 the factor is v.
                samples = self.score[0, rows], codes, v[rows], work
                pace, limit = (*self._pace, True), self.working_set.limit
                self._kernel(samples, 0, codes.size, 1, 0.0, limit, pace)
                v[rows] = work[FACTOR, : codes.size]
            else:
                with np.errstate(all="ignore"):
                    doubt = self.working_set.loss.doubt(self._seen(rows), codes)
                    v[rows] = self._curves.weight(doubt, codes)
        return v

    def losses(self) -> FloatArray:
        """The loss of every sample at its own margin."""
        return self.working_set.loss.value(self._margin())

    def plain_weight(self) -> FloatArray:
        """Weights with v = 1, up to a common factor."""
        return self.working_set.loss.weight(self._margin() - self.shift)

    def _seen(self, rows: slice) -> FloatArray:
        """F of two classes, or a score of each class."""
        if self.n_outputs == 1:
            return self.score[0, rows]
        return self.working_set.combine(self.score[:, rows].T)

    # -------------------------------------------------------------------- the scores

    def follow(self, new: Round) -> None:
        """Move the scores along a round's learners, one for all columns or for each.

        Adds to the score of each sample the output of its leaf, or its own. Weights
        become those of margins that have grown by the shift of the round: samples that
        its learner got right then keep *the same* weight, and the tree engine finds
        that only the others have changed.
        """
        for k, own in enumerate(new.weak):
            if own is None:
                continue
            score = self.score if len(new.weak) == 1 else self.score[k : k + 1]
            if own.leaf is None:
                score += own.output.T
            else:
                add_outputs(score, own.leaf, own.output)
        self.shift += new.shift
        if self.shift - self._base > MOST_SHIFT:
            margin = self._margin()[self.factor > 0]
            self.shift = self._base = float(margin.min()) if margin.size else 0.0

    def _margin(self, rows: slice = slice(None)) -> FloatArray:
        """y F for two classes, else the score of the sample's own class."""
        codes, score = self.codes[rows], self.score[:, rows]
        if self.n_outputs == 1:
            return np.where(codes == 1, score[0], -score[0])
        return score[codes, np.arange(codes.size)]

    def output(self) -> FloatArray:
        """The scores as a model gives them; the opposite of ``move_to``."""
        return self.score.T.copy()

    def move_to(self, output: FloatArray) -> None:
        """Set the scores to those of a model."""
        self.score = np.ascontiguousarray(output.T)

    def quality(self, weight: FloatArray) -> float:
        """How good the predictions are: the accuracy."""
        if self.n_outputs == 1:
            right = (self.score[0] > 0) == (self.codes == 1)
        else:
            score = level_ties(self._seen(slice(None)))
            right = score.argmax(axis=1) == self.codes
        return float(right @ weight) / float(weight.sum())

    @property
    def mark(self) -> Any:
        """What the weights depend on besides the scores; it can be set."""
        return self.shift, self._base

    @mark.setter
    def mark(self, mark: Any) -> None:
        self.shift, self._base = mark

    def rewind(self, rounds: list[Round]) -> None:
        """Forget what depends on rounds later than these, but for the scores."""


def check_memory(n_rows: int, n_classes: int, size: int) -> None:
    """Refuse scores of so many bytes that the machine cannot hold them."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # nothing is known of it
        return
    if size > memory:
        raise MemoryError(
            f"The scores of {n_rows} rows for each of {n_classes} classes, and what is "
            f"fitted to them, would take {size / 1e9:.1f} GB, more than the "
            f"{memory / 1e9:.1f} GB of this machine. Fit on fewer rows, or put rare "
            "classes together; if y is a number to be predicted, use a regressor."
        )


def level_ties(score: FloatArray) -> FloatArray:
    """Make scores equal that differ from the highest of their row by rounding alone.

    The first of them is then the prediction, whatever the rounding.
    """
    highest = score.max(axis=1, keepdims=True)
    slack = ROUNDING * np.maximum(np.abs(highest), 1.0)
    return np.where(score >= highest - slack, highest, score)
