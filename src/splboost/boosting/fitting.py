"""The data of a fit, and the fit under way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from splboost._data.labels import weigh_classes
from splboost._data.table import Table
from splboost.boosting.loop import INTERRUPTED, History, Schedule, boost
from splboost.boosting.model import Model
from splboost.boosting.validation import (
    Validation,
    ValidationArguments,
    hold_out,
    read_given,
)
from splboost.boosting.warm_start import Continuation, Mark
from splboost.trees.binning import bin_table

FloatArray = NDArray[np.float64]

NOT_FINISHED = "not finished"


@dataclass(eq=False)
class Samples:
    """Checked data.

    Attributes
    ----------
    table : Table
    native : what the user gave, of which the samples may be some rows
    codes : class number of each sample; of a regression its target
    weight : weight of each sample
    rows : the rows of ``native`` that the samples are; None for all
    bins : the table, binned; None before that is asked for
    """

    table: Table
    native: Any
    codes: NDArray[Any]
    weight: FloatArray
    rows: NDArray[np.intp] | None = None
    bins: Any = None

    @cached_property
    def X(self) -> Any:
        """The samples as another library's estimator should get them."""
        X = self.table.native(self.native)
        if self.rows is None or X is not self.native:
            return X
        return _safe_indexing(X, self.rows)

    def binned(self, n_threads: int = 1) -> Any:
        """The table, binned when first asked for."""
        if self.bins is None:
            self.bins = bin_table(self.table, self.weight, n_threads=n_threads)
        return self.bins

    def weighing(self, weight: FloatArray) -> Samples:
        """The same samples with other weights."""
        return replace(self, weight=weight)

    def take(self, kept: NDArray[np.bool_]) -> Samples:
        """Some of the samples, in the same bins if there are any."""
        if kept.all():
            return self
        return Samples(
            self.table.take(kept),
            self.X,
            self.codes[kept],
            self.weight[kept],
            np.flatnonzero(kept),
            None if self.bins is None else self.bins.take(kept),
        )


@dataclass(frozen=True)
class FitData:
    """The samples that are fitted to, and those validated on.

    ``used`` marks the former among all that were given.
    """

    fitted: Samples
    validation: Samples | None
    used: NDArray[np.bool_]

    def spread(self, values: FloatArray) -> FloatArray:
        """Values of the samples fitted to, among all; NaN for the others."""
        if self.used.all():
            return values
        of_all = np.full(self.used.size, np.nan)
        of_all[self.used] = values
        return of_all


def divide(
    booster: Any, samples: Samples, given: ValidationArguments, split_seed: int | None
) -> FitData:
    """Leave out rows without weight, weigh classes, and take validation data aside.

    With a seed, rows are held out.
    """
    classes: Any = getattr(booster, "classes_", None)
    codes, of_class = samples.codes, None
    if getattr(booster, "class_weight", None) is not None:
        weight, of_class = weigh_classes(
            booster.class_weight, classes, codes, samples.weight
        )
        samples = samples.weighing(weight)
    used, validation = samples.weight > 0, None
    if split_seed is not None:
        held = hold_out(codes, used, classes, booster.validation_fraction, split_seed)
        used, validation = used & ~held, samples.take(held)
    elif given.X is not None:
        validation = Samples(*read_given(booster, samples, given, of_class))
        validation = validation.take(validation.weight > 0)
    return FitData(samples.take(used), validation, used)


@dataclass(eq=False)
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

    kind: Any
    data: FitData
    learners: Any
    make_state: Callable[..., Any]
    draws: np.random.Generator
    split_seed: int | None = None
    history: History = field(default_factory=History)
    validation: Validation | None = None
    validation_scores: list[float] | None = None  # one for each round
    state_in_doubt: bool = False  # after an interrupt, which may have split a move
    interrupted_at: Any = None
    model_before: Model | None = None  # of the fits before, and how long it is
    n_before: int = 0

    def __post_init__(self) -> None:
        self.state = self.make_state(self.data.fitted)

    def validate(self, booster: Any, samples: Samples, scorer: Any) -> None:
        """Follow the rounds of a booster with validation data."""
        state = self.make_state(samples, validation=True)
        self.validation = Validation(samples, self.learners, state, scorer, booster)
        self.validation_scores = self.validation.history

    def go_on_from(self, earlier: Continuation) -> None:
        """Take up an earlier fit."""
        earlier.check_coding(self.learners.coding, self.data.fitted.table)
        mark = earlier.mark
        self.history = History(list(earlier.rounds), mark.n_done, mark.n_skipped)
        self.learners.state = mark.learners
        self.draws.bit_generator.state = mark.draws
        self.model_before, self.n_before = earlier.model, len(earlier.rounds)
        if earlier.model is not None:
            move_to_model(self.state, earlier.model, self.data.fitted)
        self.state.mark = mark.state
        if self.validation is not None and earlier.model is not None:
            samples = self.validation.samples
            move_to_model(self.validation.state, earlier.model, samples)
            self.validation.history[:] = earlier.validation_scores

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
            self.interrupted_at = watch.mark

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
        before = self.model_before
        if before is not None and n <= self.n_before:
            return before if n == self.n_before else before.first(n)
        model = self.learners.model(self.history.rounds[self.n_before : n])
        return model if before is None else before.joined(model)

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
        mark = mark or self.interrupted_at or self.mark()
        scores = self.validation_scores or []
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

    def booster_after(self, template: Any, n: int, mark: Mark | None) -> Any:
        """A copy of a booster, fitted in n rounds; with a mark it can be fitted on."""
        booster = copy(template)
        model = self.model_after(n)
        scores = self.validation_scores
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
