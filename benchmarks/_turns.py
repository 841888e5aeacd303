"""Contestants taking turns: how the times of the speed benchmark are measured.

A cell is what can be compared: same rows, depth and rounds. Its contestants take
turns, in another order each time, so that whatever disturbs the machine disturbs them
alike. How much of the machine other processes took meanwhile is measured as well: with
one core taken, two threads that wait for each other (OpenMP's barriers spin) may take a
hundred times as long, and a ratio to that says nothing.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from _contestants import make_data, rounds_done
from _report import Usage, progress

FEATURES = 20
SKLEARN = "scikit-learn"
WARM_UP_ROUNDS = 5  # enough for the paces to set in
PAUSE = 0.02  # after each turn: OpenMP's idle threads spin for a while


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    turns: int = 5
    turns_when_large: int = 3
    large: int = 50_000  # rows
    least_seconds: float = 0.1  # what is quicker is repeated in a turn, and averaged
    # A fit of scikit-learn's that would take longer does fewer rounds, to take about
    # the second number, and is scaled up.
    sklearn_longest: float = 20.0
    sklearn_instead: float = 8.0

    def turns_at(self, n: int) -> int:
        return self.turns if n < self.large else self.turns_when_large

    def repeats(self, seconds: float) -> int:
        return max(1, math.ceil(self.least_seconds / max(seconds, 1e-6)))


@dataclass
class Contestant:
    """A model to measure in one cell, and what was measured."""

    name: str
    threads: int
    rounds: int  # that the cell asks for
    make: Callable[[int], Any]  # from a number of rounds
    rounds_run: int = 0  # fewer than asked for if the times are scaled up
    fit_seconds: list[float] = field(default_factory=list)  # of rounds_run, per turn
    predict_seconds: list[float] = field(default_factory=list)
    accuracy: float | None = None  # of a model with all its rounds

    @property
    def is_scaled(self) -> bool:
        return self.rounds_run < self.rounds

    def seconds(self, what: str) -> float:
        """Median time of ``what``, fit or predict, scaled up to all rounds."""
        measured = self.fit_seconds if what == "fit" else self.predict_seconds
        return statistics.median(measured) * self.rounds / self.rounds_run

    def as_dict(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "make"}


@dataclass
class Cell:
    """Contestants that are compared, over the same rows, depth and rounds."""

    n: int
    depth: int
    rounds: int
    contestants: list[Contestant]
    taken_by_others: float = 0.0  # share of all cores, while measuring

    def find(self, name: str, threads: int) -> Contestant:
        for contestant in self.contestants:
            if (contestant.name, contestant.threads) == (name, threads):
                return contestant
        raise LookupError(f"no {name} with threads={threads} at {self}")

    def __str__(self) -> str:
        return f"n={self.n}, depth {self.depth}, {self.rounds} rounds"

    def as_dict(self) -> dict[str, Any]:
        contestants = [contestant.as_dict() for contestant in self.contestants]
        return {**vars(self), "contestants": contestants}


def measure(cell: Cell, effort: Effort) -> None:
    """Fill in the times of all contestants of a cell."""
    X, y = make_data(cell.n, FEATURES)
    X_new, y_new = make_data(cell.n, FEATURES, seed=1, noise=0.0)
    models: dict[int, Any] = {}
    n_turns = effort.turns_at(cell.n)
    repeats = [
        effort.repeats(warm_up(contestant, effort, X, y))
        for contestant in cell.contestants
    ]
    usage = Usage()

    for i in take_turns(cell, n_turns, "fit"):
        contestant = cell.contestants[i]

        def fit(i: int = i, contestant: Contestant = contestant) -> None:
            models[i] = contestant.make(contestant.rounds_run).fit(X, y)

        contestant.fit_seconds.append(time_of(fit, repeats[i]))

    for i, contestant in enumerate(cell.contestants):
        done = rounds_done(models[i])
        assert done == contestant.rounds_run, (
            f"{cell}: {contestant.name} stopped after {done} rounds of "
            f"{contestant.rounds_run}, so its time compares with nothing"
        )
        start = time.perf_counter()
        accuracy = float((models[i].predict(X_new) == y_new).mean())
        repeats[i] = effort.repeats(time.perf_counter() - start)
        contestant.accuracy = None if contestant.is_scaled else accuracy

    for i in take_turns(cell, n_turns, "predict"):
        seconds = time_of(partial(models[i].predict, X_new), repeats[i])
        cell.contestants[i].predict_seconds.append(seconds)
    cell.taken_by_others = usage.taken_by_others()


def warm_up(contestant: Contestant, effort: Effort, X: Any, y: Any) -> float:
    """Fit a few rounds at full size and decide how many to measure.

    Compiles what this size and this number of threads need. Returns about how long a
    fit to be measured will take.
    """
    may_scale = contestant.name == SKLEARN
    rounds = 1 if may_scale else min(WARM_UP_ROUNDS, contestant.rounds)
    contestant.make(rounds).fit(X[:100], y[:100]).predict(X[:100])
    start = time.perf_counter()
    model = contestant.make(rounds).fit(X, y)
    per_round = (time.perf_counter() - start) / rounds
    model.predict(X)
    contestant.rounds_run = contestant.rounds
    if may_scale and per_round * contestant.rounds > effort.sklearn_longest:
        contestant.rounds_run = max(1, int(effort.sklearn_instead / per_round))
    return per_round * contestant.rounds_run


def take_turns(cell: Cell, number: int, what: str) -> Iterator[int]:
    """Whose turn it is: everyone's ``number`` times, in another order each time."""
    size = len(cell.contestants)
    for turn in range(number):
        progress(f"{cell}: {what} {turn + 1} of {number}")
        first = turn * size // number
        for i in range(size):
            yield (first + i) % size
            time.sleep(PAUSE)


def time_of(call: Callable[[], Any], number: int) -> float:
    """Seconds that a call takes, averaged over a number of calls."""
    gc.collect()
    start = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - start) / number
