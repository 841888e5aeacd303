"""Time of a whole path of paces and depths, against one fit of scikit-learn's AdaBoost.

Choosing pace, depth and rounds takes many boosters on many parts of the data. They
share one binned table and the rounds before the pace sets in, and are fitted in two
threads. The measure is a single AdaBoost of scikit-learn, of trees of depth 3 with as
many rounds, on all rows.

    python benchmarks/path_speed.py              all of it, saved in benchmarks/results
    python benchmarks/path_speed.py --quick      small, to see that it works
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any

from _report import Benchmark, format_table, progress
from _timing import make_data, make_sklearn, use_fresh_numba_cache

FEATURES, SKLEARN_DEPTH, THREADS, FOLDS = 20, 3, 2, 5
DEPTHS = 1, 2, 3
ROWS, ROUNDS, TURNS = 5_000, 200, 5


def describe(n: int, rounds: int, turns: int) -> str:
    depths = ", ".join(map(str, DEPTHS))
    return f"""\
Two classes divided by a non-linear function of {FEATURES} normal columns, a fifth of
the labels flipped; {n} rows. The path is `spl_path` as it comes: 8 plateaus, depths
{depths}, {FOLDS} folds and {rounds} rounds; binning and the scores of all rounds are
included. Times are those of the clock: medians of {turns} turns that all take. The
ratio is that to one fit of scikit-learn's."""


def fit_path(rounds: int, n_jobs: int, X: Any, y: Any) -> int:
    """How many boosters it has fitted."""
    from splboost import SPLBoostClassifier
    from splboost.selection import spl_path

    booster = SPLBoostClassifier(n_estimators=rounds)
    how = {"depths": DEPTHS, "cv": FOLDS, "n_jobs": n_jobs, "random_state": 0}
    return spl_path(X, y, booster=booster, **how).n_models


def fit_sklearn(rounds: int, X: Any, y: Any) -> int:
    model = make_sklearn(SKLEARN_DEPTH, rounds).fit(X, y)
    assert len(model.estimators_) == rounds
    return 1


def compare(n: int, rounds: int, turns: int) -> dict[str, tuple[int, float]]:
    """Number of boosters and median seconds of each."""
    fit_path(2, THREADS, *make_data(300, FEATURES))  # compiles
    X, y = make_data(n, FEATURES)
    fits = {
        f"path, {THREADS} threads": partial(fit_path, rounds, THREADS),
        "path, 1 thread": partial(fit_path, rounds, 1),
        "scikit-learn, AdaBoost of depth 3": partial(fit_sklearn, rounds),
    }
    counts, times = {}, {name: [] for name in fits}
    for turn in range(turns):
        progress(f"turn {turn + 1} of {turns}")
        for name, fit in fits.items():
            start = time.perf_counter()
            counts[name] = fit(X, y)
            times[name].append(time.perf_counter() - start)
    return {name: (counts[name], statistics.median(times[name])) for name in fits}


def format_times(times: dict[str, tuple[int, float]]) -> str:
    *_, (_, measure) = times.values()
    lines = [
        [name, count, f"{seconds:.2f}", f"{seconds / measure:.2f}"]
        for name, (count, seconds) in times.items()
    ]
    return format_table(["what", "boosters", "seconds", "ratio"], lines)


def main() -> None:
    benchmark = Benchmark(__doc__, "path_speed", "A path of paces and depths")
    given = benchmark.start()
    use_fresh_numba_cache()
    size = n, rounds, _ = (300, 10, 2) if given.quick else (ROWS, ROUNDS, TURNS)
    times = compare(*size)
    sections = [describe(*size), format_times(times)]
    benchmark.finish(sections, {"n": n, "rounds": rounds, "seconds": times})


if __name__ == "__main__":
    main()
