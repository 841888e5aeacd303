"""Time that a round of each booster takes, against a round of AdaBoost.

AdaBoost's own rounds are cheaper still, because only the samples got wrong change their
weights and the root of the next tree is summed from these alone. No other booster can
do that, so the measure is AdaBoost with a pace that hardly acts but changes every
weight. RobustBoost and BrownBoost solve two equations in each round.

    python benchmarks/rival_speed.py              all of it, saved in benchmarks/results
    python benchmarks/rival_speed.py --quick      small, to see that it works
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

from _report import Benchmark, format_table, progress
from _timing import make_data, use_fresh_numba_cache

MEASURE = "AdaBoost, all weights change"
SOLVERS = "RobustBoost", "BrownBoost"
MOST, MOST_OF_SOLVERS = 1.5, 2.0
SIZES, DEPTHS = {500: (100, 31), 5_000: (60, 25), 50_000: (20, 9)}, (1, 3)
SETTING = f"""\
Two classes divided by a non-linear function of 20 normal columns, a fifth of the labels
flipped; one thread. The time is that of the processor, for a fit with all that belongs
to it, divided by the rounds done; medians of turns that all boosters take. The ratio is
to the first line's with as many rounds; the target is at most {MOST}, for
{" and ".join(SOLVERS)} {MOST_OF_SOLVERS:g}."""


def boosters(depth: int) -> dict[str, Callable[[], Any]]:
    """What makes each."""
    import splboost as s
    from splboost.pace import Linear
    from splboost.trees import CARTClassifier, CARTRegressor

    votes, means = CARTClassifier(max_depth=depth), CARTRegressor(max_depth=depth)
    hardly = Linear(plateau=1e3)
    return {
        MEASURE: lambda: s.AdaBoostClassifier(
            votes, pace=hardly, on_perfect="continue"
        ),
        "AdaBoost": lambda: s.AdaBoostClassifier(votes, on_perfect="continue"),
        "Real AdaBoost": lambda: s.RealAdaBoostClassifier(votes),
        "GentleBoost": lambda: s.GentleBoostClassifier(means),
        "LogitBoost": lambda: s.LogitBoostClassifier(means),
        "LogitBoost, gradient clip": lambda: s.LogitBoostClassifier(
            means, z_clip="gradient"
        ),
        "LogitBoost, linear pace": lambda: s.LogitBoostClassifier(means, pace="linear"),
        "SavageBoost": lambda: s.SavageBoostClassifier(votes),
        "SavageBoost, line search": lambda: s.SavageBoostClassifier(
            votes, line_search=True
        ),
        "RBoost, gentle": lambda: s.RBoostClassifier(means),
        "RBoost, fisher": lambda: s.RBoostClassifier(means, variant="fisher"),
        "RBoost, mm": lambda: s.RBoostClassifier(means, variant="mm"),
        "RBoost, discrete": lambda: s.RBoostClassifier(votes, variant="discrete"),
        "RobustBoost": lambda: s.RobustBoostClassifier(votes, epsilon=0.1),
        "BrownBoost": lambda: s.BrownBoostClassifier(votes, epsilon=0.2),
        "L2Boost": lambda: s.L2BoostRegressor(means),
    }


def time_fit(make: Callable[[], Any], X: Any, y: Any, rounds: int) -> tuple[float, int]:
    """Seconds of a fit, and the rounds that it did."""
    booster = make().set_params(n_estimators=rounds)
    start = time.process_time()
    booster.fit(X, y)
    return time.process_time() - start, booster.n_iter_


def compare(n: int, depth: int, rounds: int, turns: int) -> dict[str, Any]:
    """Of each, median seconds of a round, and the ratio to the measure's.

    What belongs to a fit but to no round weighs more on few rounds. So where a booster
    reaches its end early, the measure does as many rounds.
    """
    X, y = make_data(n, 20)
    makers = boosters(depth)
    times: dict[str, list[float]] = {name: [] for name in makers}
    of_measure: dict[int, list[float]] = {}
    n_done = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn in range(turns + 1):
            for name, make in makers.items():
                seconds, n_done[name] = time_fit(make, X, y, rounds)
                if turn > 0:  # the first compiles
                    times[name].append(seconds)
            for number in set(n_done.values()):
                seconds = time_fit(makers[MEASURE], X, y, number)[0]
                if turn > 0:
                    of_measure.setdefault(number, []).append(seconds)
    return {
        name: {
            "seconds": statistics.median(each) / n_done[name],
            "rounds": n_done[name],
            "ratio": statistics.median(each)
            / statistics.median(of_measure[n_done[name]]),
        }
        for name, each in times.items()
    }


def format_times(times: dict[str, Any]) -> str:
    lines = []
    for name, of in times.items():
        most = MOST_OF_SOLVERS if name in SOLVERS else MOST
        verdict = "" if name == MEASURE else "met" if of["ratio"] <= most else "missed"
        lines.append(
            [
                name,
                str(of["rounds"]),
                f"{1e6 * of['seconds']:.0f}",
                f"{of['ratio']:.2f}",
                verdict,
            ]
        )
    head = ["booster", "rounds", "µs a round", "ratio", "verdict"]
    return format_table(head, lines)


def main() -> None:
    benchmark = Benchmark(__doc__, "rival_speed", "A round of each booster")
    given = benchmark.start()
    use_fresh_numba_cache()
    sizes = {300: (10, 2)} if given.quick else SIZES
    sections, data = [SETTING], []
    for n, (rounds, turns) in sizes.items():
        for depth in DEPTHS:
            progress(f"{n} rows, depth {depth}")
            times = compare(n, depth, rounds, turns)
            data.append({"n": n, "depth": depth, "boosters": times})
            sections += [f"## {n} rows, depth {depth}", format_times(times)]
    benchmark.finish(sections, {"cells": data})


if __name__ == "__main__":
    main()
