"""The data and the models that the benchmarks compare, and how they take turns.

Models are imported when they are made: what an import costs is measured too, and the
folder of numba's cache must be set before numba is imported.

A cell is what can be compared: same rows, depth and rounds. Its contestants take
turns, in another order each time, so that whatever disturbs the machine disturbs them
alike. How much of the machine other processes took meanwhile is measured as well: with
one core taken, two threads that wait for each other (OpenMP's barriers spin) may take a
hundred times as long, and a ratio to that says nothing.
"""

from __future__ import annotations

import atexit
import gc
import math
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _report import Usage, format_ratio, format_table, progress
from numpy.typing import NDArray

NOISE = 0.2
PLATEAU = 2.5
ROWS_AT_A_TIME = 100_000


def make_data(
    n: int, d: int, *, seed: int = 0, noise: float = NOISE
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes divided by a non-linear function, a share of the labels flipped.

    Filled in place, so that nothing but the result takes memory.
    """
    rng = np.random.default_rng(seed)
    X, y = np.empty((n, d)), np.empty(n, dtype=np.int64)
    for lo in range(0, n, ROWS_AT_A_TIME):
        block = X[lo : lo + ROWS_AT_A_TIME]
        rng.standard_normal(out=block)
        a, b, c, e, f = block[:, :5].T
        positive = np.sin(3 * a) + b * c + e**2 - 1 + 0.5 * f > 0
        y[lo : lo + ROWS_AT_A_TIME] = positive ^ (rng.random(len(block)) < noise)
    return X, y


def make_splboost(pace: str, depth: int, rounds: int, threads: int) -> Any:
    """This library's booster; ``pace`` is hard, linear or plain."""
    from splboost import AdaBoostClassifier
    from splboost.pace import Hard, Linear
    from splboost.trees import CARTClassifier

    paces = {
        "hard": Hard(plateau=PLATEAU),
        "linear": Linear(plateau=PLATEAU),
        "plain": None,
    }
    return AdaBoostClassifier(
        CARTClassifier(max_depth=depth),
        n_estimators=rounds,
        pace=paces[pace],
        n_jobs=threads,
    )


def make_lightgbm(depth: int, rounds: int, threads: int) -> Any:
    """LightGBM with trees of the same depth, as full as the depth allows.

    Its default of 20 rows in a leaf is lowered to 1, which is what the others have.
    """
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=rounds,
        max_depth=depth,
        num_leaves=2**depth,
        min_child_samples=1,
        n_jobs=threads,
        verbose=-1,
    )


def make_sklearn(depth: int, rounds: int) -> Any:
    """scikit-learn's AdaBoost, which has no threads."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    return AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth), n_estimators=rounds
    )


def rounds_done(model: Any) -> int:
    """How many rounds a fitted model has."""
    if hasattr(model, "n_iter_"):
        return int(model.n_iter_)
    return len(model.estimators_)


def use_fresh_numba_cache() -> str:
    """Let this process and its children compile into a new folder; its path.

    numba does not notice when a kernel that another file calls has changed, so an old
    cache could measure old code. The folder is removed at the end of the process.
    """
    folder = tempfile.mkdtemp(prefix="splboost-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder
    return folder


FEATURES = 20
SKLEARN = "scikit-learn"
DISTURBED = 0.05  # of the machine taken by others
WARM_UP_ROUNDS = 5  # enough for the paces to set in
PAUSE = 0.02  # after each turn: OpenMP's idle threads spin for a while


class Effort(NamedTuple):
    """How long to measure."""

    turns: int = 5
    turns_when_large: int = 3
    large: int = 50_000  # rows
    least_seconds: float = 0.1  # what is quicker is repeated in a turn, and averaged
    # A fit of scikit-learn's that would take longer does fewer rounds, to take about
    # the second number, and is scaled up.
    sklearn_longest: float = 20.0
    sklearn_instead: float = 8.0

    def repeats(self, seconds: float) -> int:
        return max(1, math.ceil(self.least_seconds / max(seconds, 1e-6)))


FULL, QUICK = Effort(), Effort(2, 2, 50_000, 0.01, 1.0, 0.2)


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

    @property
    def is_disturbed(self) -> bool:
        return self.taken_by_others > DISTURBED

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
    n_turns = effort.turns if cell.n < effort.large else effort.turns_when_large
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


def compare(
    cells: list[Cell],
    what: str,
    peers: Sequence[str],
    target: Callable[[str, str, Cell, str], float | None],
) -> tuple[list[str], list[list[str]]]:
    """Times to fit or to predict: header, and lines of contestants that are no peers.

    ``target`` is a function of what is timed, a peer, a cell and a name of ours. It
    gives the least ratio of the peer's time to ours that is good enough, or None.
    """
    header = ["n", "depth", "rounds", "threads", "model", "time [ms]"]
    for peer in peers:
        header += [f"{peer} [ms]", "ratio"]
    lines = []
    for cell in cells:
        for ours in [each for each in cell.contestants if each.name not in peers]:
            line = [cell.n, cell.depth, cell.rounds, ours.threads, ours.name]
            line.append(format_ms(ours.seconds(what)))
            misses, has_target = [], False
            for name in peers:
                peer = cell.find(name, 1 if name == SKLEARN else ours.threads)
                ratio = peer.seconds(what) / ours.seconds(what)
                least = target(what, name, cell, ours.name)
                has_target |= least is not None
                if least is not None and ratio < least:
                    misses.append(f"{ratio:.3g}× of {least}× {name}")
                milliseconds = format_ms(peer.seconds(what)) + "*" * peer.is_scaled
                line += [milliseconds, format_ratio(ratio)]
            verdict = "missed: " + ", ".join(misses) if misses else "met" * has_target
            lines.append([*line, verdict + " (disturbed)" * cell.is_disturbed])
    return [*header, "verdict"], lines


def format_ms(seconds: float) -> str:
    digits = 2 if seconds < 0.01 else 1 if seconds < 0.1 else 0
    return f"{1000 * seconds:.{digits}f}"


def format_accuracies(cells: list[Cell], names: list[str]) -> list[str]:
    """How right the models are, to show that none is fast because it does nothing."""
    lines = []
    for cell in cells:
        known = {c.name: c.accuracy for c in cell.contestants if c.accuracy is not None}
        shares = [f"{known[name]:.3f}" if name in known else "" for name in names]
        lines.append([cell.n, cell.depth, cell.rounds, *shares])
    return [
        "## Accuracy",
        "Share of new rows put into their true class; empty where fewer rounds were "
        "done.",
        format_table(["n", "depth", "rounds", *names], lines),
    ]
