"""The potentials of RobustBoost and BrownBoost, and boosting with them.

A potential says how much a sample of a given margin is worth at a given time. As time
runs from 0 to its end, samples that are far on the wrong side count less and less: they
are given up. A round of boosting moves margins and time such that the average potential
stays where it was, at the error that was the goal (Freund 2001, 2009).

Scores fade as time goes on. What is kept are scores as they would be without, so that
learners only add to them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc, erfcinv

from splboost.boosting.loop import GOAL_REACHED, NO_EDGE, STUCK, Round, Rows, Step, Weak
from splboost.boosting.potential_kernels import (
    FARTHEST,
    Course,
    place,
    share_missed,
    solve,
    weigh_samples,
)
from splboost.boosting.state import State
from splboost.boosting.steps import Votes, weights_to_fit

FloatArray = NDArray[np.float64]

OUTCOMES = "moved", "finished", "no edge", "stuck"
NARROWEST = 1e-6  # width at the end
NEARLY = 1e-3  # of the time, which leaves nothing to do
UNDER_WAY = ""
ENDINGS = {"finished": GOAL_REACHED, "no edge": NO_EDGE, "stuck": STUCK}


class Move(NamedTuple):
    """What a round does to margins and time.

    Margins fade by ``decay(duration)``; then those that the weak classifier gets right
    grow by ``step``, and the others fall by it. The outcome is "moved"; "finished",
    which has reached the end; "no edge", where no step of the weak classifier lowers
    the summed potential; or "stuck", where it would take next to no time.
    """

    step: float
    duration: float
    outcome: str


class _Potential:
    """What the potentials have in common: all but their parameters."""

    _course: Course

    @property
    def end(self) -> float:
        """Time at which boosting is done."""
        return self._course.end

    def mean(self, time: float) -> float:
        """Margin around which weights are greatest."""
        return place(self._course, time)[0]

    def width(self, time: float) -> float:
        """Distance from the mean at which weights have fallen to 1 / e."""
        return place(self._course, time)[1]

    def decay(self, duration: float) -> float:
        """Factor by which margins and scores fade."""
        return math.exp(-self._course.pull * duration)

    def value(self, margin: FloatArray, time: float) -> FloatArray:
        """Potential of samples by their margins."""
        return self._course.height * erfc(self._place(margin, time))

    def weight(self, margin: FloatArray, time: float) -> FloatArray:
        """Weight of samples by their margins; the potential falls as fast as that."""
        a = self._place(margin, time)
        return np.where(a > self._course.floor, np.exp(-a * a), 0.0)

    def _place(self, margin: FloatArray, time: float) -> FloatArray:
        """Distance from the mean in widths, where it makes a difference."""
        mean, width = place(self._course, time)
        lowest, highest = mean + self._course.floor * width, mean + FARTHEST * width
        return (np.clip(margin, lowest, highest) - mean) / width

    def weigh(
        self,
        margin: FloatArray,
        time: float,
        sample_weight: FloatArray,
        weight: FloatArray,
    ) -> float:
        """Write ``sample_weight`` times the weight; the sum of it times the potential.

        Parameters
        ----------
        margin, sample_weight : arrays of float64
        time : float
        weight : array of float64, written to
        """
        return weigh_samples(margin, sample_weight, self._course, time, weight)

    def solve(
        self,
        margin: FloatArray,
        vote: NDArray[np.bool_] | NDArray[np.int8],
        sample_weight: FloatArray,
        time: float,
        potential: float = math.nan,
    ) -> Move:
        """The move after which the weak classifier has no edge left.

        The summed potential is then what it was. Of the moves with which this is so, it
        is the one of the shortest duration after which no step lowers the sum. Where
        the end comes first, the move goes to the end, with the step that is best there.

        Parameters
        ----------
        margin, sample_weight : arrays of float64
        vote : array of bool
            Whether the weak classifier is right.
        time : float
            Before the move.
        potential : float, optional
            The summed potential before the move, as ``weigh`` returned it. Without it,
            it is computed once more.

        Returns
        -------
        Move
        """
        right = vote.astype(np.bool_, copy=False)
        outcome, step, duration = solve(
            margin, right, sample_weight, self._course, time, potential
        )
        return Move(step, duration, OUTCOMES[outcome])

    def probability(self, score: FloatArray, time: float) -> FloatArray:
        """Probability of the positive class by the score at a time."""
        return 0.5 * erfc(-score / self.width(time))


def decays(potential: _Potential, times: ArrayLike) -> FloatArray:
    """Factors by which scores have faded since time 0."""
    return np.array([potential.decay(float(t)) for t in np.atleast_1d(times)])


class RobustPotential(_Potential):
    """The potential of RobustBoost.

    Parameters
    ----------
    epsilon : float, default=0.1
        Share of the samples that may end below the goal. In the one-sided form it is to
        be read as some two times the error.
    theta : float, default=0.0
        Margin that samples should end above.
    sigma : float, default=0.1
        Width of the potential at the end.
    two_sided : bool, default=False
        Whether samples below the mean keep a weight; the potential is then a
        probability. The one-sided form is that of the author's own implementation.

    Examples
    --------
    >>> import numpy as np
    >>> from splboost.boosting.potentials import RobustPotential
    >>> potential = RobustPotential(epsilon=0.2)
    >>> margin, weight = np.zeros(100), np.ones(100)
    >>> right = np.arange(100) < 70
    >>> move = potential.solve(margin, right, weight, 0.0)
    >>> move.outcome
    'moved'
    >>> moved = margin * potential.decay(move.duration) + move.step * (2 * right - 1)
    >>> round(float(potential.value(moved, move.duration).mean()), 9)
    0.2
    """

    def __init__(
        self,
        epsilon: float = 0.1,
        theta: float = 0.0,
        sigma: float = 0.1,
        two_sided: bool = False,
    ) -> None:
        if not NARROWEST <= sigma < math.inf:
            raise ValueError(
                f"sigma={sigma} is no width for the potential to end with. Give a "
                f"number from {NARROWEST} on."
            )
        if not math.isfinite(theta):
            raise ValueError(
                f"theta={theta} is no margin to aim at. Give a finite number, say 0."
            )
        height = 0.5 if two_sided else 1.0
        # In Φ(0, 0) = ε, a is (2 (e - 1) ρ - e θ) / start.
        start = math.sqrt((sigma * math.e) ** 2 + math.expm1(2))
        highest = min(height * erfc(-math.e * theta / start), 1.0)
        if not 0 < epsilon < highest:
            form = "two-sided" if two_sided else "one-sided"
            raise ValueError(
                f"epsilon={epsilon} must be above 0 and, with theta={theta} and "
                f"sigma={sigma} in the {form} form, below {highest:.4g}: else rho is "
                f"not above 0, and the goal is met before boosting begins. Lower "
                f"epsilon or raise theta."
            )
        self.rho = (math.e * theta + start * float(erfcinv(epsilon / height))) / (
            2 * (math.e - 1)
        )
        self._course = Course(
            pull=1.0,
            goal=float(theta),
            drift=2 * self.rho,
            spread=float(sigma),
            end=1.0,
            floor=-FARTHEST if two_sided else 0.0,
            height=height,
        )


class BrownPotential(_Potential):
    """The potential of BrownBoost.

    Time runs from 0 up to ``end``, which is Freund's c; what is left of it is his s.

    Parameters
    ----------
    epsilon : float, default=0.1
        Average potential, from 0 to 1: two times the error to aim at.

    Examples
    --------
    >>> from splboost.boosting.potentials import BrownPotential
    >>> potential = BrownPotential(epsilon=0.3)
    >>> round(potential.end, 4), round(float(potential.value(0.0, 0.0)), 9)
    (0.5371, 0.3)
    """

    def __init__(self, epsilon: float = 0.1) -> None:
        if not 0 < epsilon < 1:
            raise ValueError(
                f"epsilon={epsilon} must be between 0 and 1: it is two times the error "
                f"to aim at, and the time to spend would not be above 0."
            )
        root = float(erfcinv(epsilon))
        self._course = Course(
            pull=0.0,
            goal=0.0,
            drift=1.0,
            spread=root,
            end=root * root,
            floor=-FARTHEST,
            height=1.0,
        )


# ------------------------------------------------------------------- state and step


class PotentialState(State):
    """Scores, weights and times of the training samples, for each class.

    Parameters
    ----------
    potential : RobustPotential or BrownPotential
    codes : class number of each sample
    n_classes : int
    sample_weight : the user's weights, all positive
    n_threads : int

    Attributes
    ----------
    score : (n_outputs, n) scores as if none had faded
    time : how far each class has come
    endings : list of str
        Why each class has ended, UNDER_WAY if it has not.
    margin : (n_outputs, n) y F, faded, when last refreshed
    weight : (n_outputs, n) what the next learners are fitted with
    totals : summed potential of each class
    """

    def __init__(
        self,
        potential: Any,
        codes: NDArray[np.integer],
        n_classes: int,
        sample_weight: FloatArray,
        *,
        n_threads: int = 1,
    ) -> None:
        self.potential = potential
        self.codes = codes
        self.sample_weight = np.require(sample_weight, requirements=["C", "W"])
        self.n_threads = n_threads
        self.n_samples = self.n_selected = codes.size
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.score = np.zeros((self.n_outputs, codes.size))
        self.margin = np.empty((self.n_outputs, codes.size))
        self.weight = np.empty((self.n_outputs, codes.size))
        self.time = np.zeros(self.n_outputs)
        self.endings = [UNDER_WAY] * self.n_outputs
        self.totals = [0.0] * self.n_outputs
        self.latent = 0.0
        classes = [1] if n_classes == 2 else range(n_classes)
        self.is_own = np.array([codes == k for k in classes])

    @property
    def mark(self) -> Any:
        return self.time, list(self.endings)

    @mark.setter
    def mark(self, mark: Any) -> None:
        self.time, self.endings = mark[0], list(mark[1])

    def follow(self, new: Round) -> None:
        super().follow(new)
        self.time, self.endings = new.time, new.endings

    def rewind(self, rounds: list[Round]) -> None:
        self.time = rounds[-1].time

    one_class = False

    def refresh(self, *, paced: bool) -> None:
        """Set margins and weights at the present scores and times."""
        for k in range(self.n_outputs):
            margin, time = self.margin[k], self.time[k]
            margin[:] = np.where(self.is_own[k], self.score[k], -self.score[k])
            margin *= self.potential.decay(time)
            self.totals[k] = self.potential.weigh(
                margin, time, self.sample_weight, self.weight[k]
            )
        self.latent = sum(self.totals) / self.n_outputs
        self.n_selected = int(np.count_nonzero(self.weight.any(axis=0)))

    def paces(self) -> FloatArray:
        """In place of v the potential of every sample, for its own class."""
        own = np.zeros(self.n_samples, dtype=int) if self.n_outputs == 1 else self.codes
        score = self.score * decays(self.potential, self.time)[:, None]
        margins = np.where(self.is_own, score, -score)
        values = [
            self.potential.value(margin, time)
            for margin, time in zip(margins, self.time, strict=True)
        ]
        return np.array(values)[own, np.arange(self.n_samples)]

    def _seen(self, rows: slice) -> FloatArray:
        if self.n_outputs == 1:
            return self.score[0, rows]
        return self.score[:, rows].T * decays(self.potential, self.time)


class PotentialStep(Step):
    """Moves scores and time such that the average potential stays what it is."""

    def propose(
        self, learners: Any, state: PotentialState, rows: Rows, *, paced: bool
    ) -> Round:
        """Fit to the present weights, and solve for the moves."""
        potential, endings = state.potential, list(state.endings)
        n = len(learners)
        fitted: list[Weak | None] = [None] * n
        steps, time = np.zeros(n), state.time.copy()
        unused, error, has_edge = None, None, False
        for k, learner in enumerate(learners):
            if endings[k]:
                continue
            weight = weights_to_fit(learner, state.weight[k], rows)
            if weight is None:
                endings[k] = NO_EDGE
                continue
            weak = learner.fit(weight)
            weak.set_output(Votes())
            right = (weak.of_samples() > 0) == state.is_own[k]
            error = share_missed(state.weight[k], right)
            move = potential.solve(
                state.margin[k],
                right,
                state.sample_weight,
                time[k],
                state.totals[k],
            )
            ending = ENDINGS.get(move.outcome, UNDER_WAY)
            if ending in (NO_EDGE, STUCK):
                unused = weak
                # With other rows the next learner may do better.
                endings[k] = ending if rows is None else UNDER_WAY
                continue
            time[k] += move.duration
            if potential.end - time[k] < NEARLY * potential.end:
                ending = GOAL_REACHED
            endings[k], steps[k] = ending, move.step
            weak.scale(move.step / potential.decay(time[k]))
            if n > 1:
                weak.keep()
            fitted[k], has_edge = weak, True
        if not has_edge and n == 1:
            fitted = [unused]
        return Round(
            fitted,
            has_edge,
            steps[0] if n == 1 else steps,
            error if n == 1 else None,
            state.n_selected,
            time=time,
            endings=endings,
        )

    def reason_without_edge(self, new: Round, n_kept: int) -> str:
        return STUCK if STUCK in new.endings else NO_EDGE

    def ends_after(self, state: PotentialState, rounds: list[Round]) -> str | None:
        """Whether all classes have ended; the goal is that of all."""
        if not all(state.endings):
            return None
        reasons = (STUCK, NO_EDGE, GOAL_REACHED)
        return next(reason for reason in reasons if reason in state.endings)
