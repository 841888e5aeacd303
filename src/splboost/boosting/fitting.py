"""The data of a fit, the fit under way, and the booster that it has led to."""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from splboost._data.labels import weigh_classes
from splboost._data.table import Table
from splboost.boosting.learners import set_states
from splboost.boosting.loop import (
    CALLBACK,
    INTERRUPTED,
    NO_IMPROVEMENT,
    History,
    Schedule,
    boost,
)
from splboost.boosting.model import Model, PerClassModel
from splboost.boosting.progress import Progress, RoundReport
from splboost.boosting.validation import (
    EarlyStopping,
    Validation,
    ValidationArguments,
    hold_out,
    read_given,
)
from splboost.boosting.warm_start import Continuation, Mark

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
    bins : the table, binned; None before a learner has asked for that
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
        samples = replace(samples, weight=weight)
    used, validation = samples.weight > 0, None
    if split_seed is not None:
        held = hold_out(codes, used, classes, booster.validation_fraction, split_seed)
        used, validation = used & ~held, samples.take(held)
    elif given.X is not None:
        validation = Samples(*read_given(booster, samples, given, of_class))
        validation = validation.take(validation.weight > 0)
    return FitData(samples.take(used), validation, used)


class Fitting:
    """What a fit works on, and the booster that it has led to.

    Parameters
    ----------
    booster : the booster that is being fitted
    data : FitData
    learners : list of Learner
    draws : random generator of the loop
    kind : Kind, optional
        What a later fit must share to go on from this one; None where none is to.
    split_seed : int, optional
        Seed of the split that held validation data out.
    stopping : EarlyStopping, optional

    Attributes
    ----------
    history : History
    state : State
    validation : Validation or None
    scores : of the validation data after each round, where there are any
    """

    def __init__(
        self,
        booster: Any,
        data: FitData,
        learners: list[Any],
        draws: np.random.Generator,
        *,
        kind: Any = None,
        split_seed: int | None = None,
        stopping: EarlyStopping | None = None,
    ) -> None:
        self.booster = copy(booster)  # whose parameters may be set meanwhile
        self.data = data
        self.learners = learners
        self.draws = draws
        self.kind = kind
        self.split_seed = split_seed
        self.stopping = stopping
        self.history = History()
        self.state = booster._make_state(data.fitted)
        self.validation: Validation | None = None
        self.scores: list[float] | None = None
        self._report: RoundReport | None = None
        self._in_doubt = False  # after an interrupt, which may have split a move
        self._keeps_marks = booster.warm_start and booster.callback is not None
        # Rounds of which all is known, and the mark there: one assignment sets both.
        self._complete: tuple[int, Mark | None] = 0, None
        self._model_before: Model | None = None  # of the fits before
        self._n_before = 0  # rounds of that

    def validate(self, scorer: Any, judge: Any = None) -> None:
        """Follow the rounds with the validation data.

        ``judge`` is a booster whose paces count in the loss there, if it is another.
        """
        samples: Any = self.data.validation
        judge = self.booster if judge is None else judge
        state = judge._make_state(samples, validation=True)
        self.validation = Validation(
            samples, self.learners, state, scorer, self.booster
        )
        self.scores = self.validation.history

    def go_on_from(self, earlier: Continuation) -> None:
        """Take up an earlier fit."""
        earlier.check_coding(self.learners[0].coding, self.data.fitted.table)
        mark, n = earlier.mark, len(earlier.rounds)
        self.history = History(list(earlier.rounds), mark.n_done, mark.n_skipped)
        set_states(self.learners, mark.learners)
        self.draws.bit_generator.state = mark.draws
        self._model_before, self._n_before = earlier.model, n
        if earlier.model is not None:
            move_to_model(self.state, earlier.model, self.data.fitted)
        self.state.mark = mark.state
        if self.validation is not None and earlier.model is not None:
            samples = self.validation.samples
            move_to_model(self.validation.state, earlier.model, samples)
            self.validation.history[:] = earlier.validation_scores
        self._complete = n, self.mark() if self._keeps_marks else None

    # ------------------------------------------------------------ round after round

    def run(self) -> None:
        """Boost. An interrupt is only swallowed where the callback wants its rounds."""
        booster, watched = self.booster, self.validation is not None
        schedule = Schedule(
            booster.n_estimators, booster.warm_rounds, booster.subsample
        )
        if booster.verbose:
            self._report = RoundReport(booster.n_estimators, booster.verbose)
        watched = watched or booster.verbose or booster.callback is not None
        try:
            with nullcontext() if self._report is None else self._report:
                boost(
                    self.learners,
                    self.state,
                    booster._make_step(self.data.fitted.weight),
                    schedule,
                    self.history,
                    rng=self.draws,
                    on_round=self._after_round if watched else None,
                )
        except KeyboardInterrupt:
            if not self._keeps_interrupted():
                raise
            self.history.stop_reason = INTERRUPTED
        if not self.history.rounds:
            raise ValueError(
                f"No learner could be fitted: {self.history.stop_reason}. With "
                f"pace={booster.pace!r} and warm_rounds={booster.warm_rounds} every "
                "sample is left out from the start; choose a larger age or plateau, or "
                "keep some warm rounds."
            )

    def _after_round(self, history: History) -> str | None:
        """Judge the last round and report it; a reason to stop, or None."""
        n, stopping = len(history.rounds), self.stopping
        if self.validation is not None:
            make = partial(self.booster_after, n)
            score = self.validation.follow(history.rounds[-1], make)
            if stopping is not None:
                stopping.note(score)
        self._complete = n, self.mark() if self._keeps_marks else None
        callback = self.booster.callback
        if self._report is not None or callback is not None:
            progress = self._progress()
            if self._report is not None:
                self._report.show(progress)
            if callback is not None and callback(progress):
                return CALLBACK
        return NO_IMPROVEMENT if stopping is not None and stopping.is_over else None

    def _keeps_interrupted(self) -> bool:
        """Whether the callback wants the rounds that were done before Ctrl-C."""
        n, _ = self._complete
        if self.booster.callback is None or n == 0:
            return False
        self._in_doubt = True
        del self.history.rounds[n:]
        if self.validation is not None:
            del self.validation.history[n:]
            if self.stopping is not None:
                self.stopping.replay(self.validation.history)
        return bool(self.booster.callback(self._progress(interrupted=True)))

    def _progress(self, *, interrupted: bool = False) -> Progress:
        n, mark = self._complete
        last = self.history.rounds[n - 1]
        return Progress(
            n,
            self.booster.n_estimators,
            last.error,
            last.n_selected,
            last.latent,
            None if self.scores is None else self.scores[n - 1],
            interrupted,
            _make=partial(self.booster_after, n, mark),
        )

    # ------------------------------------------------------------- what has come of it

    def mark(self) -> Mark:
        """Where the fit stands."""
        return Mark(
            len(self.history.rounds),
            self.history.n_done,
            self.history.n_skipped,
            self.state.mark,
            self.draws.bit_generator.state,
            [learner.state for learner in self.learners],
        )

    def after(self, n: int) -> tuple[Model, Any]:
        """The model of the first n rounds, and the state after them."""
        before, rounds = self._model_before, self.history.rounds[self._n_before : n]
        if before is not None and not rounds:
            model = before if n == self._n_before else before.first(n)
        else:
            taken = np.array([[weak is not None for weak in r.weak] for r in rounds])
            counts = np.array([float(r.has_edge) for r in rounds])
            models = [
                learner.model(
                    [r.weak[k] for r in rounds if r.weak[k] is not None],
                    counts[taken[:, k]],
                )
                if taken[:, k].any()
                else None
                for k, learner in enumerate(self.learners)
            ]
            single = models[0] if len(models) == 1 else None
            model = PerClassModel(models, taken) if single is None else single
            model = model if before is None else before.joined(model)
        if n == len(self.history.rounds) and not self._in_doubt:
            return model, self.state
        state = copy(self.state)
        state.rewind(self.history.rounds[:n])
        move_to_model(state, model, self.data.fitted)
        return model, state

    def continuation(
        self, model: Model, n: int, mark: Mark | None, reason: str
    ) -> Continuation:
        """What a later fit needs to go on from a mark, or from the end without one.

        ``model`` is that of the first n rounds.
        """
        if mark is None and self._in_doubt:
            mark = self._complete[1]
        mark = mark or self.mark()
        rounds = self.history.rounds[: mark.n_rounds]
        return Continuation(
            kind=self.kind,
            mark=mark,
            rounds=[replace(each, weak=[]) for each in rounds],
            model=model if mark.n_rounds == n else self.after(mark.n_rounds)[0],
            coding=self.learners[0].coding,
            validation_scores=(self.scores or [])[: mark.n_rounds],
            split_seed=self.split_seed,
            stop_reason=reason,
        )

    def booster_after(self, n: int, mark: Mark | None = None) -> Any:
        """The booster, fitted in n rounds; with a mark it can be fitted on."""
        booster = copy(self.booster)
        goes_on = mark is not None
        booster._set_rounds(
            self, n, NOT_FINISHED, n_scores=n, goes_on=goes_on, mark=mark
        )
        return booster


def move_to_model(state: Any, model: Model, samples: Samples) -> None:
    """Set the scores of samples to those that a model gives them, which are exact."""
    output = np.zeros((state.n_samples, state.n_outputs))
    model.add(samples.table, samples.X, output, n_threads=state.n_threads)
    state.move_to(output)
