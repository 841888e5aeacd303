"""A fit under way: all that the loop works on, and the booster of any round so far."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from typing import Any

import numpy as np

from splboost.boosting.fit.continuation import Continuation, Kind, Mark
from splboost.boosting.fit.data import FitData, Samples
from splboost.boosting.fit.validation import Validation
from splboost.boosting.loop import (
    INTERRUPTED,
    History,
    Schedule,
    State,
    boost,
)
from splboost.boosting.model import Model

NOT_FINISHED = "not finished"


class Fitting:
    """What a fit works on, and the booster that it has led to.

    Parameters
    ----------
    kind : Kind
    data : FitData
    learner : Learner
    make_scores : callable
        Makes the scores of samples; with ``all_outputs``, whatever they are for.
    draws : random generator of the loop
    split_seed : int or None
        Seed of the split that held validation data out.
    """

    def __init__(
        self,
        kind: Kind,
        data: FitData,
        learner: Any,
        make_scores: Callable[..., State],
        draws: np.random.Generator,
        *,
        split_seed: int | None,
    ) -> None:
        self.kind = kind
        self.data = data
        self.learner = learner
        self.draws = draws
        self.split_seed = split_seed
        self.history = History()
        self.scores = make_scores(data.fitted)
        self._make_scores = make_scores
        self.scores_in_doubt = False  # after an interrupt, which may have split a move
        self.validation: Validation | None = None
        self._last_mark: Any = None
        self._model: Model | None = None  # of the fits before, and how long it is
        self._n_before = 0

    def validate(self, booster: Any, samples: Samples, scorer: Any) -> None:
        """Follow the rounds of a booster with validation data."""
        scores = self._make_scores(samples, all_outputs=True)
        self.validation = Validation(samples, self.learner, scores, scorer, booster)

    def go_on_from(self, earlier: Continuation) -> None:
        """Take up an earlier fit."""
        earlier.check_coding(self.learner.coding, self.data.fitted.table)
        mark = earlier.mark
        self.history = History(list(earlier.rounds), mark.n_done, mark.n_skipped)
        self.learner.state = mark.learner
        self.draws.bit_generator.state = mark.draws
        self._model, self._n_before = earlier.model, len(earlier.rounds)
        if earlier.model is not None:
            move_to_model(self.scores, earlier.model, self.data.fitted)
        self.scores.state = mark.scores
        if self.validation is not None and earlier.model is not None:
            samples = self.validation.samples
            move_to_model(self.validation.scores, earlier.model, samples)
            self.validation.history = list(earlier.validation_scores)

    def run(self, step: Any, schedule: Schedule, watch: Any) -> None:
        """Boost. An interrupt is only swallowed where the watch wants its rounds."""
        try:
            with nullcontext() if watch is None else watch:
                boost(
                    self.learner,
                    self.scores,
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
            self.scores.state,
            self.draws.bit_generator.state,
            self.learner.state,
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
        model = self.learner.model(new)
        return model if self._model is None else self._model.joined(model)

    def scores_after(self, n: int, model: Model) -> State:
        """The scores after n rounds, of which ``model`` is the model."""
        if n == len(self.history.rounds) and not self.scores_in_doubt:
            return self.scores
        scores = copy(self.scores)
        scores.rewind(n)
        move_to_model(scores, model, self.data.fitted)
        return scores

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
            rounds=[each._replace(term=None) for each in rounds],
            model=model,
            coding=self.learner.coding,
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
        booster._set_samples(self.scores_after(n, model), self.data)
        return booster


def move_to_model(scores: State, model: Model, samples: Samples) -> None:
    """Set the scores of samples to those that a model gives them, which are exact."""
    output = np.zeros((scores.n_samples, scores.n_outputs))
    model.add(samples.table, samples.X, output, n_threads=scores.n_threads)
    scores.move_to(output)
