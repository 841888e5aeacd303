"""Time of a solve under the potentials, beside a round of AdaBoost.

Rounds of boosting pick the best of many random stumps. The solve of each is timed and
set beside a round of ``AdaBoostClassifier`` with stumps on the same rows: its fit time,
by rounds. A pass is what it takes to weigh all rows once.

    python benchmarks/potential_solve.py            only prints
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _contestants import make_splboost
from _report import format_table, progress

from splboost.boosting.potentials import BrownPotential, RobustPotential

SIZES = 500, 5_000, 50_000
FEATURES, ROUNDS, REPEATS = 20, 100, 7
POTENTIALS = {
    "RobustBoost, one-sided": lambda: RobustPotential(0.2),
    "RobustBoost, two-sided": lambda: RobustPotential(0.14, two_sided=True),
    "BrownBoost": lambda: BrownPotential(0.3),
}


def make_data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten columns that matter, and a label in ten flipped."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, FEATURES))
    y = X[:, : FEATURES // 2].sum(axis=1) > 0
    return X, y ^ (rng.random(n) < 0.1)


def shortest(run: Callable[[], Any]) -> float:
    """Seconds of the shortest of some runs, without what others took of the machine."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def time_solves(potential: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Median seconds of a solve over rounds of boosting, and of a pass over rows."""
    n = y.size
    rng = np.random.default_rng(1)
    margin, weight, ones, now = np.zeros(n), np.empty(n), np.ones(n), 0.0
    solves, passes = [], []
    for _ in range(ROUNDS):
        total = potential.weigh(margin, now, ones, weight)
        features, cuts = rng.integers(FEATURES, size=10), rng.normal(size=10)
        votes = [(X[:, j] > cut) == y for j, cut in zip(features, cuts, strict=True)]
        votes += [~vote for vote in votes]
        vote = max(votes, key=lambda vote: weight @ vote)
        move = potential.solve(margin, vote, ones, now, total)
        solves.append(
            shortest(lambda: potential.solve(margin, vote, ones, now, total))  # noqa: B023
        )
        passes.append(
            shortest(lambda: potential.weigh(margin, now, ones, weight))  # noqa: B023
        )
        if move.outcome != "moved":
            break
        margin *= potential.decay(move.duration)
        margin += np.where(vote, move.step, -move.step)
        now += move.duration
    return statistics.median(solves), statistics.median(passes)


def time_round(X: np.ndarray, y: np.ndarray) -> float:
    """Seconds of a round of AdaBoost with stumps."""
    model = make_splboost("plain", 1, 2 * ROUNDS, 1).fit(X, y)
    return shortest(lambda: model.fit(X, y)) / len(model.estimators_)


def main() -> None:
    header = ["rows", "AdaBoost round [µs]", "", "solve [µs]", "solve [ns / row]"]
    header += ["one pass [ns / row]", "solve / round"]
    lines = []
    for n in SIZES:
        X, y = make_data(n)
        progress(f"{n} rows")
        one_round = time_round(X, y)
        for name, make in POTENTIALS.items():
            solve, one_pass = time_solves(make(), X, y)
            lines.append(
                [
                    f"{n:,}".replace(",", " "),
                    f"{1e6 * one_round:.0f}",
                    name,
                    f"{1e6 * solve:.0f}",
                    f"{1e9 * solve / n:.1f}",
                    f"{1e9 * one_pass / n:.1f}",
                    f"{solve / one_round:.2f}",
                ]
            )
    print(format_table(header, lines))


if __name__ == "__main__":
    main()
