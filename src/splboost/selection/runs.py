"""Boosters of one kind on some of the rows, one for each pace, judged on the others.

Until the pace sets in they are all the same, so these rounds are done once.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from splboost.boosting.fitting import Continuation, Fitting, Kind
from splboost.boosting.learners import make_learners
from splboost.boosting.loop import History, Schedule
from splboost.boosting.samples import GIVEN, FitData, Samples
from splboost.selection.folds import Part
from splboost.selection.workers import Stop

FloatArray = NDArray[np.float64]

STOPPED = "stopped"


class Watch:
    """Judges every round; ends a run when the search is to stop."""

    def __init__(self, fitting: Fitting, booster: Any, stop: Stop) -> None:
        self._fitting = fitting
        self._booster = booster
        self._stop = stop

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __call__(self, history: History) -> str | None:
        fitting, n = self._fitting, len(history.rounds)
        if fitting.validation is not None:
            fitting.validation.follow(
                history.rounds[-1],
                lambda: fitting.booster_after(self._booster, n, None),
            )
        return STOPPED if self._stop.is_set else None

    def keeps_interrupted(self) -> bool:
        return False


def follow(
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

    NaN where a pace leaves nothing to fit to from the start.

    Parameters
    ----------
    booster : one that has read the samples
    depth : of its trees; None leaves them as they are
    paces : what to set ``pace`` to
    samples : Samples
    part : Part
    scorer : as ``find_scorer`` gives it
    seed : int
    stop : Stop
    """
    booster = copy(booster)
    if depth is not None:
        booster.estimator = clone(booster._weak_learner()).set_params(max_depth=depth)
    fitted, judging = part.take(samples)
    data = FitData(fitted, judging, part.fitted)
    rng = np.random.RandomState(seed)
    learners = make_learners(booster, fitted, rng)
    start, draws_seed = learners.state, rng.randint(2**31 - 1)
    kind = Kind.of(booster, GIVEN)

    def run(paced: Any, n_rounds: int, earlier: Continuation | None) -> Any:
        draws = np.random.default_rng(draws_seed)
        make_state = _StateOf(paced)
        fitting = Fitting(kind, data, learners, make_state, draws, split_seed=None)
        fitting.validate(paced, judging, scorer)
        if earlier is None:
            learners.state = start
        else:
            fitting.go_on_from(earlier)
        schedule = Schedule(n_rounds, paced.warm_rounds, paced.subsample)
        step = paced._make_step(fitted.weight)
        fitting.run(step, schedule, Watch(fitting, paced, stop))
        return fitting

    scores = np.full((len(paces), booster.n_estimators), np.nan)
    n_warm = min(booster.warm_rounds, booster.n_estimators)
    shared: list[tuple[dict[str, Any], Continuation]] = []
    for of_pace, pace in zip(scores, paces, strict=True):
        paced = copy(booster)
        if paced.pace is not pace:
            paced.pace = pace
        paced._resolve_paces(fitted)
        start_of = paced._fixed_parameters()  # what the first rounds depend on
        earlier = next((warm for of, warm in shared if of == start_of), None)
        if earlier is None and n_warm > 0 and len(paces) > 1:
            warm = run(paced, n_warm, None)
            model = warm.model_after(len(warm.history.rounds))
            earlier = warm.continuation(model).without_stopgap()
            shared.append((start_of, earlier))
        history = run(paced, paced.n_estimators, earlier).validation.history
        if stop.is_set:
            break
        if history:
            of_pace[: len(history)] = history
            of_pace[len(history) :] = history[-1]
    return scores


class _StateOf:
    """Makes the states of a booster; those that judge have no pace.

    What a pace leaves of a loss says how strict it is, not how good the booster is.
    """

    def __init__(self, booster: Any) -> None:
        self._booster = booster
        self._judge = copy(booster)
        if hasattr(booster, "paces_"):
            self._judge.paces_ = dict.fromkeys(booster.paces_)

    def __call__(self, samples: Samples, *, validation: bool = False) -> Any:
        booster = self._judge if validation else self._booster
        return booster._make_state(samples, validation=validation)
