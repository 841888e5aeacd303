"""Time to fit and to predict, against scikit-learn's AdaBoost and LightGBM.

All contestants get the same float64 array, the same number of rounds, the same depth
and the same number of threads (scikit-learn's AdaBoost has none: one). Binning counts.
A cell of the benchmark is a number of rows and a depth; its contestants take turns, in
another order each time, so that whatever disturbs the machine disturbs them alike, and
the median of the turns is reported.

    python benchmarks/speed.py                all of it, saved in benchmarks/results
    python benchmarks/speed.py --quick        a few seconds, to see that it works
    python benchmarks/speed.py --only-n 5000 --depths 1 --threads 1
"""

from __future__ import annotations

import argparse
import gc
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from _contestants import (
    make_data,
    make_default,
    make_lightgbm,
    make_sklearn,
    make_splboost,
    rounds_done,
    use_fresh_numba_cache,
)
from _report import (
    RESULTS,
    describe_run,
    format_ratio,
    format_table,
    progress,
    save,
)

FEATURES = 20
PACES = ["hard", "linear", "plain"]
WARM_UP_ROUNDS = 5  # enough for the paces to set in
LEAST_SECONDS = 0.1  # what is quicker is repeated within a turn, and averaged
PAUSE = 0.02  # after each turn: OpenMP's idle threads spin for a while


@dataclass(frozen=True)
class Plan:
    """Size of the run."""

    n: tuple[int, ...] = (500, 5_000, 50_000, 500_000)
    depths: tuple[int, ...] = (1, 3, 6)
    threads: tuple[int, ...] = (1, 2)
    rounds: int = 100
    turns: int = 5
    turns_when_large: int = 3
    large: int = 50_000
    sklearn_seconds: float = 20.0  # a longer fit does fewer rounds and is scaled up

    def turns_at(self, n: int) -> int:
        return self.turns if n < self.large else self.turns_when_large


QUICK = Plan(
    n=(500, 2_000), rounds=20, turns=2, turns_when_large=2, sklearn_seconds=0.2
)


@dataclass
class Contestant:
    """A model to measure in one cell, and what was measured."""

    name: str
    threads: int
    rounds: int  # that the cell asks for
    make: Callable[[int], Any]  # from a number of rounds
    rounds_run: int = 0  # fewer than asked for if the times are scaled up
    fit_seconds: list[float] = field(default_factory=list)
    predict_seconds: list[float] = field(default_factory=list)
    accuracy: float | None = None  # of a model with all its rounds

    @property
    def scale(self) -> float:
        return self.rounds / self.rounds_run

    @property
    def fit(self) -> float:
        return self.scale * statistics.median(self.fit_seconds)

    @property
    def predict(self) -> float:
        return self.scale * statistics.median(self.predict_seconds)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "threads": self.threads,
            "rounds": self.rounds,
            "rounds_run": self.rounds_run,
            "fit_seconds": self.fit,
            "predict_seconds": self.predict,
            "fit_seconds_unscaled": self.fit_seconds,
            "predict_seconds_unscaled": self.predict_seconds,
            "accuracy": self.accuracy,
        }


@dataclass
class Cell:
    """Contestants that are compared: same rows, depth and rounds."""

    n: int
    depth: int
    rounds: int
    contestants: list[Contestant]

    def find(self, name: str, threads: int) -> Contestant:
        for contestant in self.contestants:
            if (contestant.name, contestant.threads) == (name, threads):
                return contestant
        raise LookupError(f"no {name} with {threads} threads at n={self.n}")

    def __str__(self) -> str:
        return f"n={self.n}, depth {self.depth}, {self.rounds} rounds"


# ---------------------------------------------------------------------- measuring


def plan_cells(plan: Plan) -> list[Cell]:
    """Every size and depth, and per size one more for the default configuration."""
    default_depth, default_rounds = default_shape()
    cells = []
    for n in plan.n:
        for depth in plan.depths:
            ours = {pace: partial(make_splboost, pace, depth) for pace in PACES}
            cells.append(make_cell(n, depth, plan.rounds, plan.threads, ours))
        if default_depth in plan.depths:
            ours = {"default": make_default}
            cells.append(
                make_cell(n, default_depth, default_rounds, plan.threads, ours)
            )
    return cells


def default_shape() -> tuple[int, int]:
    """Depth and rounds of the default configuration."""
    X, y = make_data(500, FEATURES)
    rounds = make_default().n_estimators
    depth = make_default(rounds=1).fit(X, y).estimators_[0].max_depth
    if depth is None:
        raise ValueError("the default trees have no depth that peers could share")
    return depth, rounds


def make_cell(
    n: int,
    depth: int,
    rounds: int,
    threads: tuple[int, ...],
    ours: dict[str, Callable[..., Any]],
) -> Cell:
    sklearn = Contestant("scikit-learn", 1, rounds, partial(make_sklearn, depth))
    contestants = [sklearn]
    for k in threads:
        boosters = {"LightGBM": partial(make_lightgbm, depth), **ours}
        contestants += [
            Contestant(name, k, rounds, partial(make, threads=k))
            for name, make in boosters.items()
        ]
    return Cell(n, depth, rounds, contestants)


def measure(cell: Cell, plan: Plan) -> None:
    """Fill in the times of all contestants of a cell."""
    X, y = make_data(cell.n, FEATURES)
    X_new, y_new = make_data(cell.n, FEATURES, seed=1, noise=0.0)
    models: dict[int, Any] = {}
    n_fits, n_predictions = [], []
    for contestant in cell.contestants:
        seconds = warm_up(contestant, plan, X, y)
        n_fits.append(times_to_repeat(seconds))

    for i in turns(cell, plan.turns_at(cell.n), "fit"):
        contestant = cell.contestants[i]

        def fit(i: int = i, contestant: Contestant = contestant) -> None:
            models[i] = contestant.make(contestant.rounds_run).fit(X, y)

        contestant.fit_seconds.append(time_of(fit, n_fits[i]))

    for i, contestant in enumerate(cell.contestants):
        done = rounds_done(models[i])
        assert done == contestant.rounds_run, (
            f"{cell}: {contestant.name} stopped after {done} rounds of "
            f"{contestant.rounds_run}, so its time compares with nothing"
        )
        start = time.perf_counter()
        accuracy = float((models[i].predict(X_new) == y_new).mean())
        n_predictions.append(times_to_repeat(time.perf_counter() - start))
        contestant.accuracy = accuracy if contestant.scale == 1 else None

    for i in turns(cell, plan.turns_at(cell.n), "predict"):
        predict = partial(models[i].predict, X_new)
        seconds = time_of(predict, n_predictions[i])
        cell.contestants[i].predict_seconds.append(seconds)


def warm_up(contestant: Contestant, plan: Plan, X: Any, y: Any) -> float:
    """Fit a few rounds at full size and decide how many to measure.

    Compiles what this size and this number of threads need. Returns about how long a
    fit to be measured will take.
    """
    contestant.rounds_run = contestant.rounds
    is_sklearn = contestant.name == "scikit-learn"
    rounds = 1 if is_sklearn else min(WARM_UP_ROUNDS, contestant.rounds)
    contestant.make(rounds).fit(X[:100], y[:100]).predict(X[:100])
    start = time.perf_counter()
    model = contestant.make(rounds).fit(X, y)
    per_round = (time.perf_counter() - start) / rounds
    model.predict(X)
    if is_sklearn and per_round * contestant.rounds > plan.sklearn_seconds:
        fitting = int(plan.sklearn_seconds / per_round)
        contestant.rounds_run = min(max(1, fitting), contestant.rounds)
    return per_round * contestant.rounds_run


def times_to_repeat(seconds: float) -> int:
    return max(1, math.ceil(LEAST_SECONDS / max(seconds, 1e-6)))


def turns(cell: Cell, number: int, what: str) -> Iterator[int]:
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


# ---------------------------------------------------------------------- reporting


def compare(cell: Cell) -> list[dict[str, Any]]:
    """A row for each of our configurations: times, ratios, verdict."""
    sklearn = cell.find("scikit-learn", 1)
    rows = []
    for ours in cell.contestants:
        if ours.name in ("scikit-learn", "LightGBM"):
            continue
        lightgbm = cell.find("LightGBM", ours.threads)
        row = {
            "n": cell.n,
            "depth": cell.depth,
            "rounds": cell.rounds,
            "threads": ours.threads,
            "configuration": ours.name,
            "sklearn_rounds_run": sklearn.rounds_run,
        }
        for what in ("fit", "predict"):
            time_ours = getattr(ours, what)
            row[f"{what}_seconds"] = time_ours
            for name, peer in (("lightgbm", lightgbm), ("sklearn", sklearn)):
                row[f"{what}_seconds_{name}"] = getattr(peer, what)
                row[f"{what}_ratio_{name}"] = getattr(peer, what) / time_ours
        row["misses"] = find_misses(row)
        rows.append(row)
    return rows


TARGETS = """\
Targets, for the ratios of the peer's time to ours: to fit, at least 100 against
scikit-learn's AdaBoost from 5 000 rows on and at least 40 below; at least 2 against
LightGBM for stumps with hard pace; and at least 1 against LightGBM everywhere, to fit
and to predict. There is no target for predicting against scikit-learn."""


def find_misses(row: dict[str, Any]) -> list[str]:
    """The targets that a row does not reach."""
    stumps_with_hard_pace = row["depth"] == 1 and row["configuration"] == "hard"
    targets = [
        ("fit", "sklearn", 100 if row["n"] >= 5_000 else 40),
        ("fit", "lightgbm", 2 if stumps_with_hard_pace else 1),
        ("predict", "lightgbm", 1),
    ]
    names = {"sklearn": "scikit-learn", "lightgbm": "LightGBM"}
    return [
        f"{what} {row[f'{what}_ratio_{peer}']:.3g}× of {target}× {names[peer]}"
        for what, peer, target in targets
        if row[f"{what}_ratio_{peer}"] < target
    ]


def format_times(rows: list[dict[str, Any]], what: str) -> str:
    """The table of the times to fit or to predict."""
    header = ["n", "depth", "rounds", "threads", "pace", f"{what} [ms]"]
    header += ["LightGBM [ms]", "ratio", "scikit-learn [ms]", "ratio", "verdict"]
    lines = []
    for row in rows:
        scaled = "*" if row["sklearn_rounds_run"] < row["rounds"] else ""
        misses = [miss for miss in row["misses"] if miss.startswith(what)]
        lines.append(
            [
                row["n"],
                row["depth"],
                row["rounds"],
                row["threads"],
                row["configuration"],
                format_ms(row[f"{what}_seconds"]),
                format_ms(row[f"{what}_seconds_lightgbm"]),
                format_ratio(row[f"{what}_ratio_lightgbm"]),
                format_ms(row[f"{what}_seconds_sklearn"]) + scaled,
                format_ratio(row[f"{what}_ratio_sklearn"]),
                "missed: " + ", ".join(misses) if misses else "met",
            ]
        )
    return format_table(header, lines)


def format_ms(seconds: float) -> str:
    milliseconds = 1000 * seconds
    if milliseconds < 10:
        return f"{milliseconds:.2f}"
    return f"{milliseconds:.1f}" if milliseconds < 100 else f"{milliseconds:.0f}"


def format_accuracies(cells: list[Cell]) -> str:
    """How right the models are, to show that none is fast because it does nothing."""
    names = ["hard", "linear", "plain", "default", "LightGBM", "scikit-learn"]
    lines = []
    for cell in cells:
        known = {c.name: c.accuracy for c in cell.contestants if c.accuracy is not None}
        shares = [f"{known[name]:.3f}" if name in known else "" for name in names]
        lines.append([cell.n, cell.depth, cell.rounds, *shares])
    return format_table(["n", "depth", "rounds", *names], lines)


def format_scaling(cells: list[Cell]) -> str:
    """Which of scikit-learn's times are scaled up, and from how many rounds."""
    scaled = [
        f"{cell} from {sklearn.rounds_run}"
        for cell in cells
        if (sklearn := cell.find("scikit-learn", 1)).scale > 1
    ]
    if not scaled:
        return "No time is scaled: every contestant did all its rounds."
    return (
        "\\* scikit-learn's AdaBoost did fewer rounds than the others, so that the run "
        "ends, and its times are multiplied up in proportion: " + "; ".join(scaled)
    )


def format_setting(plan: Plan) -> str:
    return f"""\
Two classes divided by a non-linear function of {FEATURES} normal columns, a fifth of
the labels flipped; a float64 array. All contestants do all rounds. Fitting includes
binning, for LightGBM too. LightGBM: `max_depth=depth`, `num_leaves=2**depth`,
`min_child_samples=1` (like the others), all else by default. scikit-learn:
`AdaBoostClassifier` over `DecisionTreeClassifier(max_depth=depth)`; it has no threads,
so rows with two threads compare two of ours with one of its. Paces have a plateau of
2.5; "plain" is AdaBoost without a pace, "default" is `SPLBoostClassifier()`. Prediction
is of as many new rows. Median of {plan.turns} turns, {plan.turns_when_large} from
{plan.large:,} rows on, all contestants of a cell taking turns; compiled beforehand."""


def format_summary(rows: list[dict[str, Any]]) -> str:
    missed = sum(1 for row in rows if row["misses"])
    return f"{len(rows) - missed} of {len(rows)} rows meet all targets."


def parse(arguments: list[str]) -> tuple[Plan, Path | None]:
    """The plan, and the folder to save in; None for not at all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows and rounds")
    parser.add_argument("--only-n", type=int, nargs="+", metavar="N")
    parser.add_argument("--depths", type=int, nargs="+", metavar="DEPTH")
    parser.add_argument("--threads", type=int, nargs="+", metavar="THREADS")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder for speed.json and speed.md; a full run has its own, a quick or "
        "filtered one is only printed unless this is given",
    )
    given = parser.parse_args(arguments)
    plan = QUICK if given.quick else Plan()
    chosen = Plan(
        **{
            **vars(plan),
            "n": tuple(given.only_n or plan.n),
            "depths": tuple(given.depths or plan.depths),
            "threads": tuple(given.threads or plan.threads),
        }
    )
    return chosen, given.out or (RESULTS if chosen == Plan() else None)


def main() -> None:
    plan, folder = parse(sys.argv[1:])
    use_fresh_numba_cache()
    run = describe_run()
    start = time.perf_counter()
    progress("compiling ...")
    cells = plan_cells(plan)
    for cell in cells:
        measure(cell, plan)
        for row in compare(cell):
            progress(
                f"  {row['configuration']}, {row['threads']} threads: "
                + (", ".join(row["misses"]) or "targets met")
            )
    run["minutes"] = round((time.perf_counter() - start) / 60, 1)

    rows = [row for cell in cells for row in compare(cell)]
    sections = [
        format_setting(plan),
        TARGETS,
        format_summary(rows),
        "## Fit",
        format_times(rows, "fit"),
        "## Predict",
        format_times(rows, "predict"),
        format_scaling(cells),
        "## Accuracy",
        "Share of new rows put into their true class; no entry where fewer rounds were "
        "done.",
        format_accuracies(cells),
    ]
    print("\n\n".join(sections))
    if folder is not None:
        measured = [
            {
                "n": cell.n,
                "depth": cell.depth,
                "rounds": cell.rounds,
                "contestants": [c.as_dict() for c in cell.contestants],
            }
            for cell in cells
        ]
        data = {"plan": vars(plan), "rows": rows, "cells": measured}
        save(folder, "speed", "Speed", run, sections, data)


if __name__ == "__main__":
    main()
