"""A grid of hundreds of boosters as if it were one fit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import validate_parameter_constraints

from splboost._data.frames import make_frame
from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import once
from splboost.boosting import SPLBoostClassifier
from splboost.boosting.samples import Samples, labels_of, read_samples
from splboost.boosting.validation import find_scorer
from splboost.boosting.weak_learner import is_binned
from splboost.selection.folds import Part, divide_rows, make_part
from splboost.selection.grid import PLATEAUS, check_booster, check_depths, make_grid

FloatArray = NDArray[np.float64]

BEST, ONE_STANDARD_ERROR = "best", "one standard error"
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
            "rank_test_score": (int, _ranks(mean)),
        }
        for k in range(n_parts):
            columns[f"split{k}_test_score"] = float, self.scores[:, :, k].ravel()
        return make_frame(columns)


def _ranks(score: FloatArray) -> NDArray[np.intp]:
    """1 for the best; equal scores share the better rank."""
    order = np.sort(-score)
    return 1 + np.searchsorted(order, -score)


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
    _check_options(
        cv=cv,
        scoring=scoring,
        n_jobs=n_jobs,
        random_state=random_state,
        verbose=verbose,
    )
    booster = SPLBoostClassifier() if booster is None else booster
    check_booster(booster, plateaus)
    booster = clone(booster).set_params(
        n_jobs=None, verbose=0, callback=None, scoring=scoring
    )
    grid = make_grid(booster.pace, plateaus, "plateaus")
    chosen = check_depths(booster, depths)
    rng = check_random_state(random_state)
    with once():
        samples = read_samples(booster, X, y, sample_weight)
        samples, parts = _divide(booster, samples, X, cv, groups, rng)
        if is_binned(booster._weak_learner()):
            samples.binned(count_threads(n_jobs))
        scores = _judge_all(
            booster,
            chosen,
            grid.paces,
            samples,
            parts,
            rng.randint(2**31 - 1, size=(len(parts), len(chosen))),
            n_jobs=n_jobs,
            verbose=verbose,
        )
    return PacePath(*grid, chosen, scores)


def _check_options(**given: Any) -> None:
    """Refuse what makes no sense, before anything is read."""
    validate_parameter_constraints(CONSTRAINTS, given, "spl_path")
    count_threads(given["n_jobs"])
    find_scorer(given["scoring"])


def _divide(
    booster: Any,
    samples: Samples,
    X: Any,
    cv: Any,
    groups: Any,
    rng: np.random.RandomState,
) -> tuple[Samples, list[Part]]:
    """The samples of positive weight, and the parts that they are divided into."""
    kept = samples.weight > 0
    masks = divide_rows(
        X,
        labels_of(booster, samples),
        cv,
        groups,
        rng,
        kept.size,
        of_classes=is_classifier(booster),
    )
    samples = samples.take(kept)
    return samples, [
        make_part(booster, samples, fitted[kept], judging[kept])
        for fitted, judging in masks
    ]


def _judge_all(
    booster: Any,
    depths: list[int | None],
    paces: list[Any],
    samples: Samples,
    parts: list[Part],
    seeds: NDArray[np.integer],
    *,
    n_jobs: int | None,
    verbose: int,
) -> FloatArray:
    """Scores as a ``PacePath`` has them, of boosters that are fitted in parallel."""
    from splboost.selection.runs import follow
    from splboost.selection.workers import work_through

    scorer = find_scorer(booster.scoring)
    # The longest first, so that no thread is left alone with it in the end.
    order = [
        (d, k)
        for d in sorted(range(len(depths)), key=lambda d: -(depths[d] or 0))
        for k in range(len(parts))
    ]
    results = work_through(
        follow,
        [
            (booster, depths[d], paces, samples, parts[k], scorer, int(seeds[k, d]))
            for d, k in order
        ],
        n_jobs=n_jobs,
        verbose=verbose,
        title="path",
        unit="boosters",
        worth=len(paces),
    )
    scores = np.empty((len(depths), len(paces), len(parts), booster.n_estimators))
    for (d, k), of_paces in zip(order, results, strict=True):
        scores[d, :, k] = of_paces
    return scores
