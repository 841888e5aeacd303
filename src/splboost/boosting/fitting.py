"""A fit under way, and what it leaves behind for one that goes on where it ended.

A booster's state is its scores, and these follow from its model exactly (``state``).
So little has to be remembered besides the model: where the random streams stood, and
the scales in which weights were computed, that not a digit may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.wording import counted
from splboost.boosting.loop import (
    INTERRUPTED,
    MOST_SKIPPED,
    NO_EDGE,
    STUCK,
    History,
    Round,
    Schedule,
    boost,
)
from splboost.boosting.model import Model
from splboost.boosting.samples import HELD_OUT, FitData, Samples
from splboost.boosting.validation import EarlyStopping, Validation

REMEDY = "give the data of the fit before, or set warm_start=False to start anew."
NOT_FINISHED = "not finished"


class Fitting:
    """What a fit works on, and the booster that it has led to.

    Parameters
    ----------
    kind : Kind or None
        None where no later fit is to go on from this one.
    data : FitData
    learners : Learners
    make_state : callable
        Makes the state of samples that are fitted to, or of those to validate on.
    draws : random generator of the loop
    split_seed : int or None
        Seed of the split that held validation data out.
    """

    def __init__(
        self,
        kind: Kind | None,
        data: FitData,
        learners: Any,
        make_state: Callable[..., Any],
        draws: np.random.Generator,
        *,
        split_seed: int | None,
    ) -> None:
        self.kind: Any = kind
        self.data = data
        self.learners = learners
        self.draws = draws
        self.split_seed = split_seed
        self.history = History()
        self.state = make_state(data.fitted)
        self._make_state = make_state
        self.state_in_doubt = False  # after an interrupt, which may have split a move
        self.validation: Validation | None = None
        self._interrupted_at: Any = None
        self._model: Model | None = None  # of the fits before, and how long it is
        self._n_before = 0

    def validate(self, booster: Any, samples: Samples, scorer: Any) -> None:
        """Follow the rounds of a booster with validation data."""
        state = self._make_state(samples, validation=True)
        self.validation = Validation(samples, self.learners, state, scorer, booster)

    def go_on_from(self, earlier: Continuation) -> None:
        """Take up an earlier fit."""
        earlier.check_coding(self.learners.coding, self.data.fitted.table)
        mark = earlier.mark
        self.history = History(list(earlier.rounds), mark.n_done, mark.n_skipped)
        self.learners.state = mark.learners
        self.draws.bit_generator.state = mark.draws
        self._model, self._n_before = earlier.model, len(earlier.rounds)
        if earlier.model is not None:
            move_to_model(self.state, earlier.model, self.data.fitted)
        self.state.mark = mark.state
        if self.validation is not None and earlier.model is not None:
            samples = self.validation.samples
            move_to_model(self.validation.state, earlier.model, samples)
            self.validation.history = list(earlier.validation_scores)

    def run(self, step: Any, schedule: Schedule, watch: Any) -> None:
        """Boost. An interrupt is only swallowed where the watch wants its rounds."""
        try:
            with nullcontext() if watch is None else watch:
                boost(
                    self.learners,
                    self.state,
                    step,
                    schedule,
                    self.history,
                    rng=self.draws,
                    on_round=watch,
                )
        except KeyboardInterrupt:
            if watch is None or not watch.keeps_interrupted():
                raise
            self.history.stop_reason = INTERRUPTED
            self._interrupted_at = watch.mark

    def mark(self) -> Mark:
        """Where the fit stands."""
        return Mark(
            len(self.history.rounds),
            self.history.n_done,
            self.history.n_skipped,
            self.state.mark,
            self.draws.bit_generator.state,
            self.learners.state,
        )

    def cut(self, n: int) -> None:
        """Forget the rounds after the first n."""
        del self.history.rounds[n:]
        if self.validation is not None:
            del self.validation.history[n:]

    def model_after(self, n: int) -> Model:
        """The model of the first n rounds."""
        if self._model is not None and n <= self._n_before:
            return self._model if n == self._n_before else self._model.first(n)
        new = self.history.rounds[self._n_before : n]
        model = self.learners.model(new)
        return model if self._model is None else self._model.joined(model)

    def state_after(self, n: int, model: Model) -> Any:
        """The state after n rounds, of which ``model`` is the model."""
        if n == len(self.history.rounds) and not self.state_in_doubt:
            return self.state
        state = copy(self.state)
        state.rewind(n)
        move_to_model(state, model, self.data.fitted)
        return state

    def continuation(self, model: Model, mark: Mark | None = None) -> Continuation:
        """What a later fit needs to go on from a mark, up to which ``model`` goes.

        Without a mark, from the end.
        """
        reason = self.history.stop_reason if mark is None else NOT_FINISHED
        mark = mark or self._interrupted_at or self.mark()
        scores = self.validation_scores() or []
        rounds = self.history.rounds[: mark.n_rounds]
        return Continuation(
            kind=self.kind,
            mark=mark,
            rounds=[each._replace(weak=[]) for each in rounds],
            model=model,
            coding=self.learners.coding,
            validation_scores=scores[: mark.n_rounds],
            split_seed=self.split_seed,
            stop_reason=reason,
        )

    def validation_scores(self) -> list[float] | None:
        """The score of each round, where there is validation."""
        return None if self.validation is None else self.validation.history

    def booster_after(self, template: Any, n: int, mark: Mark | None) -> Any:
        """A copy of a booster, fitted in n rounds; with a mark it can be fitted on."""
        booster = copy(template)
        model = self.model_after(n)
        scores = self.validation_scores()
        booster._set_rounds(
            self.history.rounds[:n],
            model,
            NOT_FINISHED,
            None if scores is None else scores[:n],
            None if mark is None else self.continuation(model, mark),
        )
        booster._set_samples(self.state_after(n, model), self.data)
        return booster


def move_to_model(state: Any, model: Model, samples: Samples) -> None:
    """Set the scores of samples to those that a model gives them, which are exact."""
    output = np.zeros((state.n_samples, state.n_outputs))
    model.add(samples.table, samples.X, output, n_threads=state.n_threads)
    state.move_to(output)


# ------------------------------------------------------ what a later fit goes on from


class Mark(NamedTuple):
    """Where a fit stood after a round.

    Attributes
    ----------
    n_rounds, n_done, n_skipped : see ``History``
    state : mark of the state
    draws : state of the generator that draws rows
    learners : state of the learners
    """

    n_rounds: int
    n_done: int
    n_skipped: int
    state: Any
    draws: Any
    learners: Any


class Kind(NamedTuple):
    """What the fits of one booster must have in common."""

    n_features: int
    names: tuple[str, ...] | None
    classes: NDArray[Any] | None
    weak_learner: type
    validation: str | None
    scoring: Any
    parameters: dict[str, Any]

    @classmethod
    def of(cls, booster: Any, validation: str | None) -> Kind:
        names = getattr(booster, "feature_names_in_", None)
        fixed = booster._fixed_parameters()
        if validation == HELD_OUT:
            fixed["validation_fraction"] = booster.validation_fraction
        return cls(
            booster.n_features_in_,
            None if names is None else tuple(names),
            getattr(booster, "classes_", None),
            type(booster._weak_learner()),
            validation,
            None if validation is None else booster.scoring,
            fixed,
        )


@dataclass(frozen=True)
class Continuation:
    """All that a later fit needs.

    Attributes
    ----------
    kind : Kind
    mark : Mark
        The end of the last round.
    rounds : list of Round
        Without their learners; also those after the best round.
    model : Model or None
        Of all of these.
    coding : codes of the categories; see ``Learner``
    validation_scores : one for each of the rounds, where there is validation
    split_seed : seed of the split that held rows out
    stop_reason : str
    """

    kind: Kind
    mark: Mark
    rounds: list[Round]
    model: Model | None
    coding: Any
    validation_scores: list[float]
    split_seed: int | None
    stop_reason: str

    def without_stopgap(self) -> Self:
        """Without the learner that stands in where every round was passed over."""
        if self.mark.n_skipped < self.mark.n_done:
            return self
        return replace(self, rounds=[], model=None, validation_scores=[])

    def check(self, kind: Kind, n_estimators: int) -> None:
        """Refuse data or parameters that the model so far does not fit."""
        old = self.kind
        if kind.n_features != old.n_features or kind.names != old.names:
            raise ValueError(
                f"warm_start=True: X has {_features(kind)}, but the fit before had "
                f"{_features(old)}; {REMEDY}"
            )
        if _labels(kind) != _labels(old):
            raise ValueError(
                f"warm_start=True: y has the classes {_labels(kind)}, but in the fit "
                f"before it had {_labels(old)}; {REMEDY}"
            )
        if kind.weak_learner is not old.weak_learner:
            raise ValueError(
                f"warm_start=True: estimator is a {kind.weak_learner.__name__}, but in "
                f"the fit before it was a {old.weak_learner.__name__}; set it back, or "
                "set warm_start=False to start anew."
            )
        if kind.validation != old.validation:
            raise ValueError(
                f"warm_start=True: validation data are {kind.validation or 'absent'}, "
                f"but in the fit before they were {old.validation or 'absent'}; give "
                "the same X_val, y_val and n_iter_no_change, or set warm_start=False "
                "to start anew."
            )
        if kind.scoring != old.scoring:
            raise ValueError(
                f"warm_start=True: scoring={kind.scoring!r}, but in the fit before it "
                f"was {old.scoring!r}; set it back, or set warm_start=False to start "
                "anew."
            )
        for name, value in kind.parameters.items():
            if value != old.parameters[name]:
                raise ValueError(
                    f"warm_start=True: {name}={value!r}, but in the fit before it was "
                    f"{old.parameters[name]!r}, on which all rounds depend; set it "
                    "back, or set warm_start=False to start anew."
                )
        if n_estimators < self.mark.n_done:
            raise ValueError(
                f"warm_start=True: n_estimators={n_estimators} is less than the "
                f"{counted(self.mark.n_done, 'round')} that the fits before have done; "
                "give at least as many, or set warm_start=False to start anew."
            )

    def check_coding(self, coding: Any, table: Table) -> None:
        """Refuse a table whose columns have other categories."""
        for name, new, old in zip(
            table.names, coding or (), self.coding or (), strict=False
        ):
            if new != old:
                raise ValueError(
                    f"warm_start=True: column {name!r} of X has "
                    f"{_categories(new)}, but in the fit before it had "
                    f"{_categories(old)}; {REMEDY}"
                )

    def is_at_end(
        self, n_estimators: int, subsample: float, stopping: EarlyStopping | None
    ) -> bool:
        """Whether a single fit of so many rounds would not have gone further.

        The loop finds out by itself where it can do so again. It cannot where chance
        gave it a learner without an edge, for the next might have one.
        """
        if stopping is not None:
            stopping.replay(self.validation_scores)
            if stopping.is_over:
                return True
        may_skip = subsample < 1 and self.mark.n_skipped < MOST_SKIPPED
        no_edge = self.stop_reason in (NO_EDGE, STUCK) and not may_skip
        return no_edge or self.mark.n_done >= n_estimators


def _labels(kind: Kind) -> list[Any]:
    return [] if kind.classes is None else kind.classes.tolist()


def _features(kind: Kind) -> str:
    if kind.names is None:
        return f"{counted(kind.n_features, 'feature')} without names"
    shown = ", ".join(map(repr, kind.names[:8]))
    more = ", …" if len(kind.names) > 8 else ""
    return f"the {kind.n_features} features {shown}{more}"


def _categories(coding: dict[Any, int] | None) -> str:
    if coding is None:
        return "numbers"
    shown = ", ".join(repr(value) for value in list(coding)[:8])
    more = ", …" if len(coding) > 8 else ""
    return f"the categories {shown}{more}"
