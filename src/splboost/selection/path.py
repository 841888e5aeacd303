"""A grid of hundreds of boosters as if it were one fit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import validate_parameter_constraints

from splboost._data.frames import make_frame
from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import once
from splboost.boosting import SPLBoostClassifier
from splboost.boosting.fitting import FitData, Fitting, Mark, Samples
from splboost.boosting.learners import is_binned, make_learners, set_states
from splboost.boosting.loop import History, Schedule, boost
from splboost.boosting.validation import find_scorer
from splboost.selection.arguments import (
    PLATEAUS,
    Grid,
    Part,
    divide_rows,
    read_depths,
    read_grid,
)
from splboost.selection.workers import Stop, work_through
from splboost.trees.binning import bin_table

FloatArray = NDArray[np.float64]

BEST, ONE_STANDARD_ERROR = "best", "one standard error"
STOPPED = "stopped"  # in a round after which the search was to end
ROUNDING = 1e-12  # means of the same scores in another order differ by less

# Of arguments that a search passes on as they are
CONSTRAINTS: dict[str, list[Any]] = {
    "cv": ["cv_object"],
    "scoring": [str, callable, None],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


@dataclass(frozen=True, eq=False)
class Setting:
    """One point of a path.

    Attributes
    ----------
    value : of the grid: a plateau, an age, or a pace as it was given
    pace : the pace, None for none
    max_depth : of the trees; None where it was not chosen
    n_estimators : number of rounds
    score : mean over the parts of the data
    standard_error : of the score
    """

    value: Any
    pace: Any
    max_depth: int | None
    n_estimators: int
    score: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class PacePath:
    """What ``spl_path`` found.

    Attributes
    ----------
    scale : str
        What ``values`` are: "plateau", "age" or "pace".
    values : list
        The grid.
    paces : list
        The pace for each of them.
    depths : list
        Depths of the trees; [None] where these were left as they are.
    scores : array of shape (n_depths, n_values, n_parts, n_rounds)
        Score of each booster on the rows of a part that it was not fitted to, after
        each round. Greater is better. A booster that has ended before keeps its last;
        NaN where the pace left nothing to fit to from the start.
    """

    scale: str
    values: list[Any]
    paces: list[Any]
    depths: list[int | None]
    scores: FloatArray

    @property
    def n_models(self) -> int:
        """Boosters that were fitted."""
        return int(np.prod(self.scores.shape[:3]))

    @property
    def mean(self) -> FloatArray:
        """Mean over the parts, as an array of shape (n_depths, n_values, n_rounds)."""
        return self.scores.mean(axis=2)

    @property
    def standard_error(self) -> FloatArray:
        """Of the mean; 0 where there is one part only.

        Parts that share rows to judge by, as bags do, make it too small.
        """
        n = self.scores.shape[2]
        if n == 1:
            return np.zeros_like(self.mean)
        return self.scores.std(axis=2, ddof=1) / math.sqrt(n)

    def choose(self, rule: str = BEST) -> Setting:
        """The setting to take.

        Parameters
        ----------
        rule : {"best", "one standard error"}, default="best"
            The highest mean; or the simplest of those that are at most its standard
            error below. Simpler are shallower trees, then fewer rounds, then a pace
            that drops less: of ages or plateaus a larger one, of paces one that comes
            later in the grid. Of settings that are equal it is the simplest, too.

        Returns
        -------
        Setting
        """
        if rule not in (BEST, ONE_STANDARD_ERROR):
            raise ValueError(
                f"rule={rule!r} is unknown; give {BEST!r} or {ONE_STANDARD_ERROR!r}."
            )
        mean = self.mean
        if np.isnan(mean).all():
            raise ValueError(
                "No setting has a score: every pace leaves nothing to fit to from the "
                "start. Give larger ages or plateaus, or keep some warm rounds."
            )
        best = np.unravel_index(np.nanargmax(mean), mean.shape)
        least = mean[best] - ROUNDING * max(1.0, abs(mean[best]))
        if rule == ONE_STANDARD_ERROR:
            least -= self.standard_error[best]
        leniency = range(len(self.paces)) if self.scale == "pace" else self.values

        def complexity(at: list[int]) -> tuple[float, int, float]:
            depth, pace, t = at
            return self.depths[depth] or 0, t, -leniency[pace]

        d, p, t = min(np.argwhere(mean >= least).tolist(), key=complexity)
        return Setting(
            self.values[p],
            self.paces[p],
            self.depths[d],
            t + 1,
            float(mean[d, p, t]),
            float(self.standard_error[d, p, t]),
        )

    def to_frame(self) -> Any:
        """One row for each setting, in pandas or polars, whichever is installed.

        Without either, a dict of columns.
        """
        n_depths, n_values, n_parts, n_rounds = self.scores.shape
        depth, value, t = (
            index.ravel() for index in np.indices((n_depths, n_values, n_rounds))
        )
        mean = self.mean.ravel()
        columns: dict[str, tuple[type, Any]] = {
            f"param_{self.scale}": (
                object if self.scale == "pace" else float,
                [self.values[k] for k in value],
            ),
            "param_max_depth": (
                float if self.depths == [None] else int,
                [self.depths[k] for k in depth],
            ),
            "param_n_estimators": (int, t + 1),
            "mean_test_score": (float, mean),
            "std_test_score": (float, self.scores.std(axis=2).ravel()),
            "rank_test_score": (int, 1 + np.searchsorted(np.sort(-mean), -mean)),
        }
        for k in range(n_parts):
            columns[f"split{k}_test_score"] = float, self.scores[:, :, k].ravel()
        return make_frame(columns)


def spl_path(
    X: Any,
    y: ArrayLike,
    *,
    plateaus: Any = PLATEAUS,
    depths: Iterable[int] | None = (1, 2, 3),
    booster: Any = None,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> PacePath:
    """Fit boosters at every plateau and depth on parts of the data.

    All share one binned table, boosters that differ in the pace alone share the rounds
    before it sets in, and each is judged after every round on the rows that it was not
    fitted to. Boosters are fitted in parallel, one thread each; the result is the same
    for any number of threads.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    plateaus : sequence, "plateau", "paper" or None
        Plateaus of the booster's regulariser (``Hard`` where it has none), where
        infinity is the plain booster. "paper" are the ages 1 to 6 of the SPLBoost
        paper. A sequence of paces is taken as it is; None leaves the booster its own.
    depths : sequence of int or None, default=(1, 2, 3)
        Depths of the trees; None leaves the booster its own weak learner.
    booster : default=None
        What to fit, with all its other parameters; None is ``SPLBoostClassifier()``.
    cv : int, splitter or iterable of (train, test), default=5
        Stratified folds, shuffled; or a splitter of scikit-learn;
        ``splboost.selection.StratifiedBags`` draws bags.
    groups : array-like of shape (n_samples,), default=None
        Passed to the splitter; with ``cv`` a number, no group is divided.
    sample_weight : array-like of shape (n_samples,), default=None
    scoring : str, callable or None, default=None
        None is the accuracy, or R²; "loss" the booster's loss without any pace,
        negated; otherwise as scikit-learn's. Weights of samples count, those of classes
        do not: with ``class_weight="balanced"``, "balanced_accuracy" goes well.
    n_jobs : int or None, default=None
        Threads; -1 uses all cores.
    random_state : int, RandomState or None, default=None
        Draws folds and features.
    verbose : int, default=0
        1 shows how far it is.

    Returns
    -------
    PacePath

    Examples
    --------
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> from splboost.selection import spl_path
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, _ = flip_labels(y, 0.2, random_state=0)
    >>> path = spl_path(X, y_noisy, plateaus=[2, 3], depths=[1, 2], random_state=0)
    >>> path.n_models, path.scores.shape
    (20, (2, 2, 5, 200))
    >>> path.choose().score > 0.7
    True
    """
    given = {
        "cv": cv,
        "scoring": scoring,
        "n_jobs": n_jobs,
        "random_state": random_state,
        "verbose": verbose,
    }
    validate_parameter_constraints(CONSTRAINTS, given, "spl_path")
    n_threads, scorer = count_threads(n_jobs), find_scorer(scoring)
    booster = SPLBoostClassifier() if booster is None else booster
    # A search has read its grid, which errors call by another name.
    grid: Grid = plateaus
    if not isinstance(grid, Grid):
        grid = read_grid(booster, plateaus, "plateaus")
    chosen = read_depths(booster, depths)
    booster = clone(booster).set_params(
        n_jobs=None, verbose=0, callback=None, scoring=scoring
    )
    rng = check_random_state(random_state)
    with once():
        samples = booster._read_samples(X, y, sample_weight)
        samples, parts = divide_rows(booster, samples, X, cv, groups, rng)
        if is_binned(booster._weak_learner()):
            samples.bins = bin_table(samples.table, samples.weight, n_threads=n_threads)
        seeds = rng.randint(2**31 - 1, size=(len(parts), len(chosen)))
        # Deeper trees take longest and mostly come last in the list: they are begun
        # first, so that no thread is left alone with one in the end.
        order = [
            (d, k) for d in reversed(range(len(chosen))) for k in range(len(parts))
        ]
        results = work_through(
            _fit_paces,
            [
                (booster, chosen[d], grid.paces, samples, parts[k], scorer, seeds[k, d])
                for d, k in order
            ],
            n_jobs=n_jobs,
            verbose=verbose,
            title="path",
            unit="boosters",
            worth=len(grid.paces),
        )
    shape = len(chosen), len(grid.paces), len(parts), booster.n_estimators
    scores = np.empty(shape)
    for (d, k), of_paces in zip(order, results, strict=True):
        scores[d, :, k] = of_paces
    return PacePath(*grid, chosen, scores)


def _fit_paces(
    booster: Any,
    depth: int | None,
    paces: list[Any],
    samples: Samples,
    part: Part,
    scorer: Any,
    seed: int,
    stop: Stop,
) -> FloatArray:
    """Score of each pace after each round, as an array (n_paces, n_rounds).

    NaN where a pace leaves nothing to fit to from the start. Boosters are all the same
    until the pace sets in, so these rounds are done once.
    """
    booster = copy(booster)
    if depth is not None:
        booster.estimator = clone(booster._weak_learner()).set_params(max_depth=depth)
    used, others, of_class = part
    fitted, judging = samples.take(used), samples.take(others)
    if of_class is not None:  # scores know nothing of it, as those of GridSearchCV
        fitted = replace(fitted, weight=fitted.weight * of_class[fitted.codes])
    one_part = _OnePart(booster, FitData(fitted, judging, used), scorer, seed, stop)
    scores = np.full((len(paces), booster.n_estimators), np.nan)
    n_warm = min(booster.warm_rounds, booster.n_estimators)
    shared: list[tuple[dict[str, Any], tuple[Fitting, Mark]]] = []
    for of_pace, pace in zip(scores, paces, strict=True):
        paced = copy(booster)
        if paced.pace is not pace:
            paced.pace = pace
        paced._resolve_paces(fitted)
        start = paced._fixed_parameters()  # what the first rounds depend on
        warm = next((each for of, each in shared if of == start), None)
        if warm is None and n_warm > 0 and len(paces) > 1:
            fitting = one_part.fit(paced, n_warm)
            warm = fitting, fitting.mark()
            shared.append((start, warm))
        fitting = one_part.fit(paced, paced.n_estimators, warm)
        if stop.is_set:
            break
        history = fitting.scores
        if history:
            of_pace[: len(history)] = history
            of_pace[len(history) :] = history[-1]
    return scores


class _OnePart:
    """Fits boosters that differ in the pace alone, and judges them after each round.

    They draw the same rows and features.
    """

    def __init__(
        self, booster: Any, data: FitData, scorer: Any, seed: int, stop: Stop
    ) -> None:
        rng = np.random.RandomState(seed)
        self._learners = make_learners(booster, data.fitted, rng)
        self._start = [learner.state for learner in self._learners]
        self._draws_seed = rng.randint(2**31 - 1)
        self._data, self._scorer, self._stop = data, scorer, stop

    def fit(
        self, booster: Any, n_rounds: int, warm: tuple[Fitting, Mark] | None = None
    ) -> Fitting:
        """Fit a booster up to so many rounds, from the end of a warm one if given."""
        learners, draws = self._learners, np.random.default_rng(self._draws_seed)
        fitting = Fitting(booster, self._data, learners, draws)
        set_states(learners, self._start)
        judge = copy(booster)
        if hasattr(booster, "paces_"):
            # What a pace leaves of a loss says how strict it is, not how good the
            # booster is.
            judge.paces_ = dict.fromkeys(booster.paces_)
        fitting.validate(self._scorer, judge)
        validation: Any = fitting.validation
        if warm is not None:
            _go_on(fitting, *warm)

        def after_round(history: History) -> str | None:
            n = len(history.rounds)
            make = partial(fitting.booster_after, n)
            validation.follow(history.rounds[-1], make)
            return STOPPED if self._stop.is_set else None

        boost(
            learners,
            fitting.state,
            booster._make_step(self._data.fitted.weight),
            Schedule(n_rounds, booster.warm_rounds, booster.subsample),
            fitting.history,
            rng=draws,
            on_round=after_round,
        )
        return fitting


def _go_on(fitting: Fitting, warm: Fitting, mark: Mark) -> None:
    """Let a fit go on where another has ended, whose pace had not set in yet."""
    rounds = list(warm.history.rounds)
    if mark.n_skipped == mark.n_done:  # the only one stands in for none
        rounds = []
    fitting.history = History(rounds, mark.n_done, mark.n_skipped)
    set_states(fitting.learners, mark.learners)
    fitting.draws.bit_generator.state = mark.draws
    fitting.state.move_to(warm.state.output())
    fitting.state.mark = mark.state
    validation: Any = fitting.validation
    earlier: Any = warm.validation
    validation.state.move_to(earlier.state.output())
    validation.history[:] = earlier.history[: len(rounds)]
