"""Samples that are not fitted to, their score, and when to stop because of it.

They are given by the user, or held out of those that are fitted to.

Each round's learners answer for them, so their scores are always those of the booster
so far, and a round costs the same however many went before. What the scorers of
scikit-learn and of users get is ``BoosterSoFar``.
"""

from __future__ import annotations

import inspect
import math
import reprlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from splboost._data.labels import check_weights, encode_numbers, read_target
from splboost._data.table import Table, read_table, refuse_rounded
from splboost._tools.user_warnings import restate, warn
from splboost.boosting.loop import Round

FloatArray = NDArray[np.float64]

GIVEN, HELD_OUT = "given", "held out"


# ------------------------------------------------------------------------- the samples


class ValidationArguments(NamedTuple):
    """X_val, y_val and sample_weight_val as the user gave them."""

    X: Any
    y: Any
    sample_weight: Any

    def check(self) -> None:
        """Refuse arguments of which one is missing."""
        if self.X is not None and self.y is not None:
            return
        names = "X_val", "y_val", "sample_weight_val"
        given = [k for k, v in zip(names, self, strict=True) if v is not None]
        missing = "y_val" if "X_val" in given else "X_val"
        raise ValueError(
            f"{' and '.join(given)} given, but {missing} is None; validation data are "
            "X_val and y_val together, or neither."
        )


def hold_out(
    codes: NDArray[Any],
    usable: NDArray[np.bool_],
    classes: NDArray[Any] | None,
    fraction: float,
    seed: int,
) -> NDArray[np.bool_]:
    """Mask of rows drawn, from each class; at least one goes out, and one stays."""
    rng = np.random.default_rng(seed)
    held = np.zeros(codes.size, dtype=bool)
    groups = [(usable, "there is")]
    if classes is not None:
        groups = [
            (usable & (codes == k), f"class {label!r} has")
            for k, label in enumerate(classes.tolist())
        ]
    for group, there_is in groups:
        rows = np.flatnonzero(group)
        if rows.size == 1:
            leave_out = "" if classes is None else "leave the class out, "
            raise ValueError(
                f"validation_fraction={fraction}: {there_is} a single sample of "
                "positive weight, which cannot be both fitted to and held out. Give "
                f"X_val and y_val, {leave_out}or set n_iter_no_change=None."
            )
        if rows.size > 1:
            n_held = min(max(round(fraction * rows.size), 1), rows.size - 1)
            held[rng.permutation(rows)[:n_held]] = True
    return held


def read_given(
    booster: Any,
    samples: Any,
    given: ValidationArguments,
    of_class: FloatArray | None,
) -> tuple[Table, Any, NDArray[Any], FloatArray]:
    """Table, data, codes and weights of the user's validation data, checked.

    ``of_class`` has the weight of each class, if there are any.
    """
    with _blaming("X_val", "it needs a row at least, and the columns of X"):
        categorical = samples.table.is_categorical
        table = read_table(
            booster, given.X, categorical if categorical.any() else None, reset=False
        )
    with _blaming("sample_weight_val", "it needs a weight for each row of X_val"):
        weight = check_weights(given.sample_weight, table.n_rows)
    if not hasattr(booster, "classes_"):
        with _blaming("y_val", "it needs a number for each row of X_val"):
            y = encode_numbers(booster, given.y, table.n_rows)
        return table, given.X, y, weight
    with _blaming("y_val", "it needs a label for each row of X_val"):
        y = read_target(given.y, booster, table.n_rows)
        refuse_rounded(y, "y_val")
    classes = booster.classes_.tolist()
    position = {label: k for k, label in enumerate(classes)}
    codes = np.array([position.get(label, -1) for label in y.tolist()])
    unknown = np.flatnonzero((codes < 0) & (weight > 0))
    if unknown.size:
        labels = dict.fromkeys(y[unknown].tolist())
        raise ValueError(
            f"y_val contains {', '.join(map(repr, list(labels)[:5]))}, which y lacks; "
            f"its classes are {reprlib.repr(classes)}. Leave such rows out of the "
            "validation data."
        )
    if of_class is not None:
        weight = weight * of_class[codes]
        if not weight.any():
            raise ValueError(
                f"class_weight={booster.class_weight} leaves no weight to the labels "
                "of y_val; give validation data of the other classes, too."
            )
    return table, given.X, codes.astype(samples.codes.dtype), weight


@contextmanager
def _blaming(argument: str, remedy: str) -> Iterator[None]:
    """Name the argument in errors that speak of X, y or sample_weight."""
    try:
        yield
    except (TypeError, ValueError) as why:
        raise restate(why, f"{argument} will not do, {remedy}: {why}") from None


def labels_of(booster: Any, samples: Any) -> NDArray[Any]:
    """What the samples' y was."""
    classes = getattr(booster, "classes_", None)
    return samples.codes if classes is None else classes[samples.codes]


# --------------------------------------------------------------------------- the score


class Validation:
    """The validation samples and their score after each round.

    Parameters
    ----------
    samples : Samples
    learners : list of Learner
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
        self,
        samples: Any,
        learners: list[Any],
        state: Any,
        scorer: Any,
        booster: Any,
    ) -> None:
        self.samples = samples
        self.state = state
        self.history: list[float] = []
        self._learners = learners
        self._rows = learners[0].read(samples.table, samples.X)
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
            weak = [
                None if own is None else learner.on_rows(own, self._rows)
                for own, learner in zip(last.weak, self._learners, strict=True)
            ]
            self.state.follow(replace(last, weak=weak, shift=0.0))
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
