"""Where a fit stands: the scores F of the training samples, and what they lead to.

``State.refresh`` is the part of Algorithm 1 that goes over all samples. For each it
takes the margin m = y F(x), the loss of it, and how much of that the pace believes,

    v = v*(λ; loss(m)),

and writes the weight, and the target of a regression, that the round's weak learner is
fitted with. All are made by formulas that stand in :mod:`splboost.losses`,
:mod:`splboost.pace` and :mod:`splboost.boosting.working_sets`, and that are compiled
into one loop over the samples for each combination that a booster needs. A loss or a
pace of a user's own is computed by numpy instead.

Scores are sums of leaf outputs, which are rounded to a grid of 2**-43. Such sums are
exact, so that a fitted model gives the training samples the very scores that they had.

Work is done in blocks that fit the cache. Sums are formed per block and then added up,
so they do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._tools.compiling import inner_kernel, jitable, kernel
from splboost._tools.maths import clip, exp
from splboost._tools.threads import run, share
from splboost.boosting.prediction import level_ties
from splboost.boosting.working_sets import WorkingSet
from splboost.losses import MarginLoss
from splboost.pace import Pace
from splboost.pace.classes import ClassCurves

FloatArray = NDArray[np.float64]

BLOCK = 32_768  # rows of a task for a thread
CHUNK = 4096  # rows whose intermediate results stay in the fastest cache
WORK_PER_ROW = 3
MOST_MARGIN = 345.0  # beyond it losses and weights stay what they are
MOST_SHIFT = 30.0  # since weights were last brought back to at most 1
FAR_SHIFT = 250.0  # from which on the loss of a sample far behind is not its weight
LARGE_WEIGHT = 1e100  # of a sample, from which on its weight in a round may overflow
MOST_WEIGHT = 1e290  # of a sample in a round: a sum of some million is finite
NO_TARGET = np.empty((1, 0))


class Samples(NamedTuple):
    """Samples of a block, as kernels get them; one class is set against the others.

    Attributes
    ----------
    score : F of the class
    codes : class numbers
    sample_weight : the user's weights
    weight, target : what the weak learner is fitted with; no target if it is empty
    loss, factor : loss, and v times the sample's weight
    """

    score: FloatArray
    codes: NDArray[np.integer]
    sample_weight: FloatArray
    weight: FloatArray
    target: FloatArray
    loss: FloatArray
    factor: FloatArray


class Believed(NamedTuple):
    """How many samples have v > 0, in classes from lowest to highest; latent loss."""

    n_selected: int
    lowest: int
    highest: int
    latent: float


# ----------------------------------------------------------------------------- kernels


def weigh(fit_of, loss_of, samples, own, shift, limit):
    """Write weight, target and loss of each sample, before any pace.

    Weights are those of margins less the shift: times exp(shift), which is a common
    factor, for the exponential loss; other losses have no shift.
    """
    score, codes, _, weight, target, loss, _ = samples
    with_target = target.size > 0
    unshift = exp(-shift)
    for i in range(score.size):
        y = 1.0 if codes[i] == own else -1.0
        m = clip(y * score[i] - shift, -MOST_MARGIN, MOST_MARGIN)
        weight[i], z = fit_of(m, limit)
        loss[i] = loss_of(m) * unshift
        if with_target:
            target[i] = y * z


def believe(weight_of, latent_of, samples, ages, shapes, paced, latent):
    """Write v times the weight of each sample; which samples are selected.

    ``ages`` and ``shapes`` are those of the two classes; ``latent`` is memory.
    """
    _, codes, sample_weight, weight, _, loss, factor = samples
    n_selected, lowest, highest = 0, 1, 0
    for i in range(loss.size):
        age = ages[1] if codes[i] else ages[0]  # a table would not vectorise
        shape = shapes[1] if codes[i] else shapes[0]
        v = weight_of(loss[i], age, shape) if paced else 1.0
        latent[i] = sample_weight[i] * latent_of(loss[i], age, shape)
        factor[i] = sample_weight[i] * v
        weight[i] *= factor[i]
        believed = v > 0
        n_selected += believed
        code = 1 if codes[i] else 0
        lowest = min(lowest, code if believed else 1)
        highest = max(highest, code if believed else 0)
    return n_selected, lowest, highest, add_up(latent, loss.size)


@inner_kernel(fastmath={"reassoc"})
def add_up(values, size):
    """Sum of the first values, several at a time."""
    total = 0.0
    for i in range(size):
        total += values[i]
    return total


jitable(weigh, believe)


@cache
def weigher(fit_of: Callable[..., Any], loss_of: Callable[..., Any]) -> Any:
    """The kernel that writes weights, targets and losses by these formulas."""
    jitable(fit_of, loss_of)

    @kernel
    def weigh_all(samples, own, shift, limit):
        weigh(fit_of, loss_of, samples, own, shift, limit)

    return weigh_all


@cache
def refresher(
    fit_of: Callable[..., Any],
    loss_of: Callable[..., Any],
    weight_of: Callable[..., Any],
    latent_of: Callable[..., Any],
) -> Any:
    """The kernel that weighs samples of two classes, and believes them."""
    jitable(fit_of, loss_of, weight_of, latent_of)

    @kernel
    def refresh(samples, shift, limit, ages, shapes, paced):
        score, codes, sample_weight, weight, target, loss, factor = samples
        latent = np.empty(min(CHUNK, score.size))
        n_selected, lowest, highest, total = 0, 1, 0, 0.0
        for start in range(0, score.size, CHUNK):
            end = start + CHUNK
            few = (
                score[start:end],
                codes[start:end],
                sample_weight[start:end],
                weight[start:end],
                target[start:end],
                loss[start:end],
                factor[start:end],
            )
            weigh(fit_of, loss_of, few, 1, shift, limit)
            found = believe(weight_of, latent_of, few, ages, shapes, paced, latent)
            n_selected += found[0]
            lowest, highest = min(lowest, found[1]), max(highest, found[2])
            total += found[3]
        return n_selected, lowest, highest, total

    return refresh


@kernel
def add_outputs(score, leaf, output):
    """score[k, i] += output of the leaf of sample i, for all columns of the output."""
    for k in range(output.shape[1]):
        for i in range(leaf.size):
            score[k, i] += output[leaf[i], k]


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
    weight, target : (n_sets, n) what the next learners are fitted with, one each
    loss : (n_sets, n) the samples' losses there
    factor : (n,) v times the samples' weights
    n_selected : number of samples with v > 0
    one_class : whether these are all of one class
    latent : summed latent loss at the present scores
    time : of potentials that change with it; None for losses
    """

    time: Any = None

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
        self.sample_weight = np.ascontiguousarray(sample_weight)
        self.n_threads = n_threads
        self.n_samples = self.n_selected = n
        self.n_outputs = 1 if n_classes == 2 else n_classes
        n_sets = 1 if working_set.joint else self.n_outputs
        self.score = np.zeros((self.n_outputs, n))
        self.weight = np.empty((n_sets, n))
        self.target = np.empty((n_sets, n)) if targets else NO_TARGET
        self.loss = np.empty((n_sets, n))
        self.factor = np.empty(n)
        self.one_class = False
        self.latent = 0.0
        self.shift = self._base = 0.0
        self._may_overflow = bool((sample_weight > LARGE_WEIGHT).any())
        self._ones = np.ones(n if n_classes > 2 else 0, dtype=np.uint8)
        self._curves = ClassCurves(paces)
        self._kernel = self._make_kernel()

    def _make_kernel(self) -> Any:
        """The kernel of a block; None where numpy has to help."""
        formula, fit_of = self._curves.formula, self.working_set.fit_of
        is_plain = self.working_set.joint and self._curves.is_plain
        if formula is None or fit_of is None or not (self.n_outputs == 1 or is_plain):
            return None
        # Two are enough: more are there only where there is no pace.
        self._ages = tuple(map(float, formula.age[:2]))
        self._shapes = tuple(map(float, formula.shape[:2]))
        return refresher(
            fit_of, self.working_set.loss_of, formula.weight, formula.latent
        )

    # ------------------------------------------------------------ weights from scores

    def refresh(self, *, paced: bool) -> None:
        """Set what is to be fitted at the present scores; unless paced, with v = 1."""
        starts = range(0, self.n_samples, BLOCK)
        done = [Believed(0, 0, 0, 0.0)] * len(starts)

        def refresh_blocks(first: int, last: int) -> None:
            for k in range(first, last):
                rows = slice(starts[k], starts[k] + BLOCK)
                done[k] = self._refresh_block(rows, paced)

        if len(starts) == 1:
            refresh_blocks(0, 1)
            self.n_selected, lowest, highest, self.latent = done[0]
            self.one_class = lowest >= highest
        else:
            work = BLOCK * WORK_PER_ROW * self.n_outputs
            run(refresh_blocks, share(len(starts), self.n_threads, work))
            self.n_selected = sum(each[0] for each in done)
            lowest, highest = (
                min(each[1] for each in done),
                max(each[2] for each in done),
            )
            self.one_class = lowest >= highest
            self.latent = sum(each[3] for each in done)
        if self._may_overflow:
            np.minimum(self.weight, MOST_WEIGHT, out=self.weight)

    def _refresh_block(self, rows: slice, paced: bool) -> Any:
        if self._kernel is None or self.shift > FAR_SHIFT:
            return self._refresh_by_numpy(rows, paced)
        score, codes = self.score[0, rows], self.codes[rows]
        if self.n_outputs > 1:  # the margin of the sample's own class
            score, codes = self._margin(rows), self._ones[rows]
        found = self._kernel(
            self._samples(0, rows, score, codes),
            self.shift,
            self.working_set.limit,
            self._ages,
            self._shapes,
            paced,
        )
        return found if self.n_outputs == 1 else (found[0], 0, 1, found[3])

    def _samples(self, k: int, rows: slice, score: FloatArray, codes: Any) -> Samples:
        return Samples(
            score,
            codes,
            self.sample_weight[rows],
            self.weight[k, rows],
            self.target[min(k, len(self.target) - 1), rows],
            self.loss[k, rows],
            self.factor[rows],
        )

    def _refresh_by_numpy(self, rows: slice, paced: bool) -> Believed:
        codes, joint = self.codes[rows], self.working_set.joint
        if self.n_outputs == 1:
            columns, of_column, own = self.score[:, rows], codes, [1]
        else:
            score = self._seen(rows)
            if joint:
                columns, own = self._margin(rows)[None], [1]
                of_column = self._ones[rows]
            else:
                columns = np.ascontiguousarray(self.working_set.against_rest(score).T)
                of_column, own = codes, [*range(self.n_outputs)]
        for k, own_class in enumerate(own):
            samples = self._samples(k, rows, columns[k], of_column)
            self.working_set.weigh(samples, own_class, self.shift)
        if self.shift > FAR_SHIFT:
            margin = np.where(of_column == own[0], columns[0], -columns[0])
            self.loss[0, rows] = self.working_set.loss.value(margin)
        sample_weight, factor = self.sample_weight[rows], self.factor[rows]
        with np.errstate(all="ignore"):
            if self.n_outputs == 1 or (joint and self._curves.is_plain):
                doubt = self.loss[0, rows]
            else:
                doubt = self.working_set.loss.doubt(score, codes)
            latent = float(self._curves.latent(doubt, codes) @ sample_weight)
            v = self._curves.weight(doubt, codes) if paced else np.ones(codes.size)
            np.multiply(sample_weight, v, out=factor)
            self.weight[:, rows] *= factor
        believed = codes[v > 0]
        lowest = int(believed.min(initial=self.n_classes))
        return Believed(believed.size, lowest, int(believed.max(initial=0)), latent)

    def paces(self) -> FloatArray:
        """v of every sample at the present scores."""
        v = np.ones(self.n_samples)
        if not self._curves.is_plain:
            with np.errstate(all="ignore"):
                for start in range(0, self.n_samples, BLOCK):
                    rows = slice(start, start + BLOCK)
                    doubt = self.loss_function.doubt(self._seen(rows), self.codes[rows])
                    v[rows] = self._curves.weight(doubt, self.codes[rows])
        return v

    def losses(self) -> FloatArray:
        """The loss of every sample at its own margin."""
        return self.loss_function.value(self._margin())

    def plain_weight(self) -> FloatArray:
        """Weights with v = 1, up to a common factor."""
        return self.loss_function.weight(self._margin() - self.shift)

    @property
    def loss_function(self) -> MarginLoss:
        return self.working_set.loss

    def _seen(self, rows: slice) -> FloatArray:
        """F of two classes, or a score of each class."""
        if self.n_outputs == 1:
            return self.score[0, rows]
        return self.working_set.combine(self.score[:, rows].T)

    # -------------------------------------------------------------------- the scores

    def add(self, leaf: Any, output: FloatArray, column: int | None = None) -> None:
        """Add the output of each sample's leaf to a column of the scores, or to all.

        Without leaves, ``output`` has a row for each sample.
        """
        score = self.score if column is None else self.score[column : column + 1]
        if leaf is None:
            score += output.T
        else:
            add_outputs(score, leaf, output)

    def follow(self, weak: list[Any], time: Any = None) -> None:
        """Move the scores along a round's learners."""
        for k, own in enumerate(weak):
            if own is not None:
                self.add(own.leaf, own.output, k if len(weak) > 1 else None)

    def advance(self, step: float) -> None:
        """Let weights be those of margins that have grown by a step.

        Samples that the round's learner got right then keep *the same* weight, and the
        tree engine finds that only the others have changed.
        """
        self.shift += step
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

    def rewind(self, n_rounds: int) -> None:
        """Forget what depends on later rounds, but for the scores."""
