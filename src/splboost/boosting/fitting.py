"""A fit under way: what is done around its rounds, and the booster it has led to."""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from splboost.boosting.loop import (
    CALLBACK,
    INTERRUPTED,
    NO_IMPROVEMENT,
    History,
    Schedule,
    boost,
)
from splboost.boosting.model import Model
from splboost.boosting.progress import Progress, RoundReport
from splboost.boosting.samples import FitData, Samples
from splboost.boosting.validation import EarlyStopping, Validation
from splboost.boosting.warm_start import Continuation, Mark

NOT_FINISHED = "not finished"


class Fitting:
    """What a fit works on, and the booster that it has led to.

    Parameters
    ----------
    booster : the booster that is being fitted
    data : FitData
    learners : Learners
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
        learners: Any,
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
        earlier.check_coding(self.learners.each[0].coding, self.data.fitted.table)
        mark, n = earlier.mark, len(earlier.rounds)
        self.history = History(list(earlier.rounds), mark.n_done, mark.n_skipped)
        self.learners.state = mark.learners
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

    def run(self, step: Any, schedule: Schedule) -> None:
        """Boost. An interrupt is only swallowed where the callback wants its rounds."""
        booster, watched = self.booster, self.validation is not None
        if booster.verbose:
            self._report = RoundReport(booster.n_estimators, booster.verbose)
        watched = watched or booster.verbose or booster.callback is not None
        try:
            with nullcontext() if self._report is None else self._report:
                boost(
                    self.learners,
                    self.state,
                    step,
                    schedule,
                    self.history,
                    rng=self.draws,
                    on_round=self._after_round if watched else None,
                )
        except KeyboardInterrupt:
            if not self._keeps_interrupted():
                raise
            self.history.stop_reason = INTERRUPTED

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
            self.learners.state,
        )

    def model_after(self, n: int) -> Model:
        """The model of the first n rounds."""
        before = self._model_before
        if before is not None and n <= self._n_before:
            return before if n == self._n_before else before.first(n)
        model = self.learners.model(self.history.rounds[self._n_before : n])
        return model if before is None else before.joined(model)

    def state_after(self, n: int, model: Model) -> Any:
        """The state after n rounds, of which ``model`` is the model."""
        if n == len(self.history.rounds) and not self._in_doubt:
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
        if mark is None and self._in_doubt:
            mark = self._complete[1]
        mark = mark or self.mark()
        rounds = self.history.rounds[: mark.n_rounds]
        return Continuation(
            kind=self.kind,
            mark=mark,
            rounds=[replace(each, weak=[]) for each in rounds],
            model=model,
            coding=self.learners.each[0].coding,
            validation_scores=(self.scores or [])[: mark.n_rounds],
            split_seed=self.split_seed,
            stop_reason=reason,
        )

    def booster_after(self, n: int, mark: Mark | None = None) -> Any:
        """The booster, fitted in n rounds; with a mark it can be fitted on."""
        booster = copy(self.booster)
        model = self.model_after(n)
        scores = None if self.scores is None else self.scores[:n]
        earlier = None if mark is None else self.continuation(model, mark)
        booster._set_rounds(self, n, model, NOT_FINISHED, scores, earlier)
        return booster


def move_to_model(state: Any, model: Model, samples: Samples) -> None:
    """Set the scores of samples to those that a model gives them, which are exact."""
    output = np.zeros((state.n_samples, state.n_outputs))
    model.add(samples.table, samples.X, output, n_threads=state.n_threads)
    state.move_to(output)
