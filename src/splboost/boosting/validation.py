"""The score of samples that are not fitted to, and when to stop because of it.

Each round's learners answer for them, so their scores are always those of the booster
so far, and a round costs the same however many went before. What the scorers of
scikit-learn and of users get is ``BoosterSoFar``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._tools.user_warnings import restate, warn
from splboost.boosting.loop import Round
from splboost.boosting.samples import Samples, labels_of

FloatArray = NDArray[np.float64]


class Validation:
    """The validation samples and their score after each round.

    Parameters
    ----------
    samples : Samples
    learners : Learners
    state : State
        That of the validation samples.
    scorer : None, "loss" or callable
        As ``find_scorer`` gives it.
    booster : the booster that is being fitted

    Attributes
    ----------
    history : list of float
        The score after each round.
    """

    def __init__(
        self, samples: Samples, learners: Any, state: Any, scorer: Any, booster: Any
    ) -> None:
        self.samples = samples
        self.state = state
        self.history: list[float] = []
        self._learners = learners
        self._rows = learners.each[0].read(samples.table, samples.X)
        self._total = float(samples.weight.sum())
        self._scorer = scorer
        self._booster = booster
        self._y = labels_of(booster, samples)
        weighted = bool((samples.weight != samples.weight[0]).any())
        pass_weight = callable(scorer) and weighted and _takes_weight(scorer)
        if callable(scorer) and weighted and not pass_weight:
            warn(
                f"scoring={booster.scoring!r} takes no sample_weight, so the weights "
                "of the validation data do not count."
            )
        self._options = {"sample_weight": samples.weight} if pass_weight else {}

    def follow(self, last: Round, make: Callable[[], Any]) -> float:
        """Add the last round's learners; the score with them.

        ``make`` makes the fitted booster of the rounds so far.
        """
        if last.has_edge:
            weak = self._learners.on_rows(last.weak, self._rows)
            self.state.follow(weak, last.time)
        self.history.append(self._judge(make))
        return self.history[-1]

    def _judge(self, make: Callable[[], Any]) -> float:
        if self._scorer is None:
            return self.state.quality(self.samples.weight)
        if self._scorer == "loss":
            self.state.refresh(paced=False)
            return -self.state.latent / self._total
        X = self.samples.X
        output, time = self.state.output(), self.state.time
        so_far = BoosterSoFar(self._booster, X, output, time, make)
        try:
            score = self._scorer(so_far, X, self._y, **self._options)
        except (AttributeError, LookupError, TypeError, ValueError) as why:
            said = str(why).rstrip(".")
            kind = "classifier" if hasattr(self._booster, "classes_") else "regressor"
            raise restate(
                why,
                f"scoring={self._booster.scoring!r} failed on the validation data "
                f"after round {len(self.history) + 1}: {said}. Give a scorer of a "
                f"{kind}, which is called with the booster, X and y, and validation "
                "data that it can judge, with all classes for most.",
            ) from why
        if not isinstance(score, Real) or math.isnan(score):
            raise ValueError(
                f"scoring={self._scorer!r} gave {score!r} for validation data after "
                f"round {len(self.history) + 1}; it must give a number, greater where "
                "the booster is better. Choose another, or other validation data."
            )
        return float(score)


def find_scorer(scoring: Any) -> Any:
    """None for accuracy, "loss", or a callable; names are scikit-learn's."""
    if not isinstance(scoring, str) or scoring == "loss":
        return scoring
    from sklearn.metrics import get_scorer, get_scorer_names

    if scoring not in get_scorer_names():
        raise ValueError(
            f'scoring={scoring!r} is unknown; give None (accuracy), "loss", a name '
            "from sklearn.metrics.get_scorer_names(), or a function of the booster, X "
            "and y."
        )
    return get_scorer(scoring)


def _takes_weight(scorer: Callable[..., Any]) -> bool:
    function = getattr(scorer, "_score_func", scorer)  # of scikit-learn's scorers
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # some that are written in C have none
        return False
    any_name = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return any_name or "sample_weight" in parameters


class BoosterSoFar:
    """The booster of the rounds so far, as scorers get it.

    Predictions for the validation samples are at hand. Anything else, be it other rows
    or another attribute, comes from a fitted booster that is made when asked for.

    Parameters
    ----------
    booster : the booster that is being fitted
    X : the validation samples
    output : what its model adds up to there
    time : that of the scores
    make : callable
        Makes the fitted booster.
    """

    def __init__(
        self,
        booster: Any,
        X: Any,
        output: FloatArray,
        time: Any,
        make: Callable[[], Any],
    ) -> None:
        if hasattr(booster, "classes_"):
            self.classes_ = booster.classes_
        self._booster = booster
        self._X = X
        self._time = time
        self._score = booster._shape(output, time)
        self._make = make

    @cached_property
    def _fitted(self) -> Any:
        return self._make()

    def decision_function(self, X: Any) -> FloatArray:
        self._require("decision_function")
        if X is self._X:
            return self._score.copy()
        return self._fitted.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        if X is self._X:
            return self._booster._labels(self._score)
        return self._fitted.predict(X)

    def predict_proba(self, X: Any) -> FloatArray:
        self._require("predict_proba")
        if X is self._X:
            return self._booster._probability(self._score, self._time)
        return self._fitted.predict_proba(X)

    def _require(self, method: str) -> None:
        if not hasattr(type(self._booster), method):
            name = type(self._booster).__name__
            raise AttributeError(f"{name} has no {method}, which the scorer asks for")

    def __sklearn_tags__(self) -> Any:
        return self._booster.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._fitted, name)


@dataclass
class EarlyStopping:
    """Remembers the best round, and says when none has been better for long.

    Parameters
    ----------
    patience : int
        Rounds without improvement after which to stop.
    tol : float
        A score must be better by more than this to count as better.
    n_warm : int
        Rounds that do not count: where there is a pace it has yet to set in, and a
        booster stopped before that would never have been paced.

    Attributes
    ----------
    best_round : int or None
        None as long as no round counts.
    n_rounds, best_score : rounds so far, and the best of their scores
    """

    patience: int
    tol: float
    n_warm: int
    best_round: int | None = None
    n_rounds: int = 0
    best_score: float = -math.inf

    def replay(self, scores: list[float]) -> None:
        """Start anew with the scores of some rounds."""
        self.best_round, self.n_rounds, self.best_score = None, 0, -math.inf
        for score in scores:
            self.note(score)

    def note(self, score: float) -> None:
        """Note the score of the next round."""
        self.n_rounds += 1
        if self.n_rounds <= self.n_warm:
            return
        if self.best_round is None or score > self.best_score + self.tol:
            self.best_round, self.best_score = self.n_rounds, score

    @property
    def is_over(self) -> bool:
        """Whether patience is at an end."""
        if self.best_round is None:
            return False
        return self.n_rounds - self.best_round >= self.patience
