"""A fit under way: what the loop works on, and what is done after each round."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from typing import Any, Self

import numpy as np

from splboost._tools.progress_bar import N_LINES, Bar, has_room_for_bar
from splboost.boosting.loop import (
    CALLBACK,
    INTERRUPTED,
    NO_IMPROVEMENT,
    History,
    Schedule,
    boost,
)
from splboost.boosting.model import Model
from splboost.boosting.progress import Progress
from splboost.boosting.resume import Continuation, Kind, Mark
from splboost.boosting.samples import FitData, Samples
from splboost.boosting.validation import EarlyStopping, Validation

NOT_FINISHED = "not finished"


class Fitting:
    """What a fit works on, and the booster that it has led to.

    Parameters
    ----------
    kind : Kind
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
        kind: Kind,
        data: FitData,
        learners: Any,
        make_state: Callable[..., Any],
        draws: np.random.Generator,
        *,
        split_seed: int | None,
    ) -> None:
        self.kind = kind
        self.data = data
        self.learners = learners
        self.draws = draws
        self.split_seed = split_seed
        self.history = History()
        self.state = make_state(data.fitted)
        self._make_state = make_state
        self.state_in_doubt = False  # after an interrupt, which may have split a move
        self.validation: Validation | None = None
        self._last_mark: Any = None
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
            self._last_mark = self.mark()
        except KeyboardInterrupt:
            if watch is None or not watch.keeps_interrupted():
                raise
            self.history.stop_reason = INTERRUPTED
            self._last_mark = watch.mark

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
        mark = self._last_mark if mark is None else mark
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


# ----------------------------------------------------------------- after each round


def make_watch(
    fitting: Fitting, booster: Any, stopping: EarlyStopping | None
) -> Watch | None:
    """A watch over the rounds, if anything asks for one."""
    report = None
    if booster.verbose:
        report = RoundReport(booster.n_estimators, booster.verbose)
    if booster.callback is None and report is None and fitting.validation is None:
        return None
    return Watch(fitting, booster, stopping, report)


class Watch:
    """What is done after each round.

    Parameters
    ----------
    fitting : Fitting
    booster : the booster that is being fitted
    stopping : EarlyStopping or None
    report : RoundReport or None
    """

    def __init__(
        self,
        fitting: Fitting,
        booster: Any,
        stopping: EarlyStopping | None,
        report: RoundReport | None,
    ) -> None:
        self._fitting = fitting
        self._template = copy(booster)
        self._n_rounds: int = booster.n_estimators
        self._callback: Callable[[Progress], Any] | None = booster.callback
        self._keeps_marks = booster.warm_start and booster.callback is not None
        self._stopping = stopping
        self._report = report
        # Rounds of which all is known, and the mark there: one assignment sets both.
        self._complete: tuple[int, Mark | None] = len(fitting.history.rounds), None
        if self._complete[0] and self._keeps_marks:
            self._complete = self._complete[0], fitting.mark()

    def __enter__(self) -> Self:
        if self._report is not None:
            self._report.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._report is not None:
            self._report.__exit__(*error)

    @property
    def n_complete(self) -> int:
        return self._complete[0]

    @property
    def mark(self) -> Mark | None:
        return self._complete[1]

    def __call__(self, history: History) -> str | None:
        """Look at the last round; a reason to stop, or None."""
        validation, stopping = self._fitting.validation, self._stopping
        if validation is not None:
            n = len(history.rounds)
            score = validation.follow(history.rounds[-1], lambda: self._booster(n))
            if stopping is not None:
                stopping.note(score)
        mark = self._fitting.mark() if self._keeps_marks else None
        self._complete = len(history.rounds), mark
        if self._report is not None or self._callback is not None:
            progress = self._progress()
            if self._report is not None:
                self._report.show(progress)
            if self._callback is not None and self._callback(progress):
                return CALLBACK
        return NO_IMPROVEMENT if stopping is not None and stopping.is_over else None

    def keeps_interrupted(self) -> bool:
        """Whether the callback wants the rounds that were done before Ctrl-C."""
        fitting = self._fitting
        fitting.state_in_doubt = True
        if self._callback is None or self.n_complete == 0:
            return False
        fitting.cut(self.n_complete)
        if self._stopping is not None:
            self._stopping.replay(fitting.validation_scores() or [])
        return bool(self._callback(self._progress(interrupted=True)))

    def _progress(self, *, interrupted: bool = False) -> Progress:
        n, mark = self._complete
        last = self._fitting.history.rounds[n - 1]
        scores = self._fitting.validation_scores()
        return Progress(
            n,
            self._n_rounds,
            last.error,
            last.n_selected,
            last.latent,
            None if scores is None else scores[n - 1],
            interrupted,
            _make=lambda: self._booster(n, mark),
        )

    def _booster(self, n: int, mark: Mark | None = None) -> Any:
        return self._fitting.booster_after(self._template, n, mark)


def line_of(progress: Progress) -> str:
    """One line about a round."""
    width = len(str(progress.n_rounds))
    error = "" if progress.error is None else f"error {progress.error:.4f}, "
    line = (
        f"round {progress.round:{width}d} of {progress.n_rounds}: {error}"
        f"{progress.n_selected} samples selected"
    )
    if not math.isnan(progress.latent_objective):
        line += f", latent objective {progress.latent_objective:.6g}"
    if progress.validation_score is not None:
        line += f", validation score {progress.validation_score:.6g}"
    return line


class RoundReport:
    """A bar where one can be shown; else a line for every tenth of the rounds.

    With ``verbose`` above 1 there are both.
    """

    def __init__(self, n_rounds: int, verbose: int) -> None:
        self._bar = Bar(n_rounds, "boosting") if has_room_for_bar() else None
        has_lines = self._bar is None or verbose > 1
        self._every = max(1, n_rounds // N_LINES) if has_lines else 0
        self._unseen: Progress | None = None

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.__enter__()
        return self

    def show(self, progress: Progress) -> None:
        """Show what a round was like."""
        self._unseen = progress
        if self._every and progress.round % self._every == 0:
            self._print(progress)
        if self._bar is not None:
            self._bar.show(progress.round, _short(progress))

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)
        elif self._unseen is not None:
            self._print(self._unseen)

    def _print(self, progress: Progress) -> None:
        self._unseen = None
        if self._bar is not None:
            self._bar.print(line_of(progress))
        else:
            print(line_of(progress), file=sys.stderr, flush=True)


def _short(progress: Progress) -> str:
    """What there is room for beside a bar."""
    error = "" if progress.error is None else f"error {progress.error:.3f}  "
    text = f"{error}selected {progress.n_selected}  "
    if progress.validation_score is not None:  # there is no room for both
        return f"{text}validation {progress.validation_score:.4g}"
    if not math.isnan(progress.latent_objective):
        return f"{text}latent {progress.latent_objective:.4g}"
    return text
