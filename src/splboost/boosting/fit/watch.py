"""What is done after each round: validate, report, call back, decide on stopping."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Self

from splboost.boosting.fit.continuation import Mark
from splboost.boosting.fit.fitting import Fitting
from splboost.boosting.fit.reporting import RoundBar, RoundLines, make_round_report
from splboost.boosting.fit.validation import EarlyStopping
from splboost.boosting.loop import CALLBACK, NO_IMPROVEMENT, History
from splboost.boosting.progress import Progress


def make_watch(
    fitting: Fitting, booster: Any, stopping: EarlyStopping | None
) -> Watch | None:
    """A watch over the rounds, if anything asks for one."""
    report = make_round_report(booster.verbose, booster.n_estimators)
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
    report : RoundLines, RoundBar or None
    """

    def __init__(
        self,
        fitting: Fitting,
        booster: Any,
        stopping: EarlyStopping | None,
        report: RoundLines | RoundBar | None,
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
        fitting.scores_in_doubt = True
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
