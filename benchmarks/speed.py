"""Time to fit and to predict, against scikit-learn's AdaBoost and LightGBM.

All contestants get the same float64 array, the same number of rounds, the same depth
and the same number of threads (scikit-learn's AdaBoost has none: one). Binning counts.
How they are measured is told in ``_timing.py``.

    python benchmarks/speed.py                all of it, saved in benchmarks/results
    python benchmarks/speed.py --quick        small, to see that it works
    python benchmarks/speed.py --only-n 5000 --depths 1 --threads 1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from _report import Benchmark, format_table, progress
from _timing import (
    DISTURBED,
    FEATURES,
    FULL,
    QUICK,
    SKLEARN,
    Cell,
    Contestant,
    Effort,
    compare,
    format_accuracies,
    make_data,
    make_lightgbm,
    make_sklearn,
    make_splboost,
    measure,
    use_fresh_numba_cache,
)

PACES = ["hard", "linear", "plain"]
LIGHTGBM = "LightGBM"
PEERS = [LIGHTGBM, SKLEARN]
SIZES, DEPTHS, THREADS, ROUNDS = (500, 5_000, 50_000, 500_000), (1, 3, 6), (1, 2), 100
QUICK_SIZES, QUICK_ROUNDS = (300, 1_000), 10


def make_default(rounds: int | None = None, threads: int = 1) -> Any:
    """This library's booster as it comes."""
    from splboost import SPLBoostClassifier

    model = SPLBoostClassifier(n_jobs=threads)
    return model if rounds is None else model.set_params(n_estimators=rounds)


def plan_cells(
    sizes: Sequence[int], depths: Sequence[int], threads: Sequence[int], rounds: int
) -> list[Cell]:
    """Every size and depth, and per size one more for the default configuration."""
    default = make_default(rounds=1).fit(*make_data(500, FEATURES))
    default_depth = default.estimators_[0].max_depth
    if default_depth is None:
        raise ValueError("the default trees have no depth that peers could share")
    cells = []
    for n in sizes:
        for depth in depths:
            ours = {pace: partial(make_splboost, pace, depth) for pace in PACES}
            cells.append(make_cell(n, depth, rounds, threads, ours))
        if default_depth in depths:
            shape = n, default_depth, make_default().n_estimators
            cells.append(make_cell(*shape, threads, {"default": make_default}))
    return cells


def make_cell(
    n: int,
    depth: int,
    rounds: int,
    threads: Sequence[int],
    ours: dict[str, Callable[..., Any]],
) -> Cell:
    """A cell of our configurations and both peers."""
    contestants = [Contestant(SKLEARN, 1, rounds, partial(make_sklearn, depth))]
    boosters = {LIGHTGBM: partial(make_lightgbm, depth), **ours}
    for k in threads:
        contestants += [
            Contestant(name, k, rounds, partial(make, threads=k))
            for name, make in boosters.items()
        ]
    return Cell(n, depth, rounds, contestants)


TARGETS = """\
Targets, for the ratio of the peer's time to ours: to fit, at least 100 against
scikit-learn's AdaBoost from 5 000 rows on and at least 40 below; at least 2 against
LightGBM for stumps with hard pace; and at least 1 against LightGBM everywhere, to fit
and to predict. There is no target for predicting against scikit-learn."""


def target_ratio(what: str, peer: str, cell: Cell, ours: str) -> float | None:
    """The least ratio of the peer's time to ours that is good enough."""
    if peer == SKLEARN:
        if what == "predict":
            return None
        return 100 if cell.n >= 5_000 else 40
    if what == "fit" and cell.depth == 1 and ours == "hard":
        return 2
    return 1


def format_setting(effort: Effort) -> str:
    return f"""\
Two classes divided by a non-linear function of {FEATURES} normal columns, a fifth of
the labels flipped; a float64 array. All contestants do all rounds. Fitting includes
binning, for LightGBM too. LightGBM: `max_depth=depth`, `num_leaves=2**depth`,
`min_child_samples=1` (like the others), all else by default. scikit-learn:
`AdaBoostClassifier` over `DecisionTreeClassifier(max_depth=depth)`; it has no threads,
so rows with two threads compare two of ours with one of its. Paces have a plateau of
2.5; "plain" is AdaBoost without a pace, "default" is `SPLBoostClassifier()`. Prediction
is of as many new rows. All contestants of a cell take turns, after compiling and
warming up; the times are medians of {effort.turns} turns, from {effort.large} rows on
of {effort.turns_when_large}."""


def format_notes(cells: list[Cell]) -> str:
    """What must be known of the times: which are scaled, and which are not reliable."""
    notes = []
    peers = {str(cell): cell.find(SKLEARN, 1) for cell in cells}
    scaled = [f"{k} from {p.rounds_run}" for k, p in peers.items() if p.is_scaled]
    if scaled:
        notes.append(
            "\\* scikit-learn's AdaBoost did fewer rounds than the others, so that the "
            "run ends in time, and its times are multiplied up in proportion: "
            + "; ".join(scaled)
            + "."
        )
    disturbed = [
        f"{cell} ({cell.taken_by_others:.0%})" for cell in cells if cell.is_disturbed
    ]
    if disturbed:
        notes.append(
            f"Disturbed: other processes took more than {DISTURBED:.0%} of the machine "
            "meanwhile. **These times are not to be relied on**, least of all those of "
            "LightGBM with all cores, whose threads wait for each other: "
            + "; ".join(disturbed)
            + "."
        )
    return "\n\n".join(notes or ["No time is scaled, and nothing disturbed the run."])


def main() -> None:
    benchmark = Benchmark(__doc__, "speed", "Speed")
    parser = benchmark.parser
    parser.add_argument("--only-n", type=int, nargs="+", metavar="N")
    parser.add_argument("--depths", type=int, nargs="+", metavar="DEPTH")
    parser.add_argument("--threads", type=int, nargs="+", metavar="THREADS")
    given = benchmark.start()
    plan = {
        "n": given.only_n or (QUICK_SIZES if given.quick else SIZES),
        "depths": given.depths or DEPTHS,
        "threads": given.threads or THREADS,
        "rounds": QUICK_ROUNDS if given.quick else ROUNDS,
    }
    effort = QUICK if given.quick else FULL
    use_fresh_numba_cache()
    progress("compiling ...")
    cells = plan_cells(*plan.values())
    for cell in cells:
        measure(cell, effort)
    fits, predictions = (
        compare(cells, what, PEERS, target_ratio) for what in ("fit", "predict")
    )
    verdicts = [line[-1] for line in fits[1] + predictions[1]]
    n_met = sum(verdict.startswith("met") for verdict in verdicts)
    sections = [
        format_setting(effort),
        TARGETS,
        f"{n_met} of {len(verdicts)} rows meet their targets.",
        format_notes(cells),
        "## Fit",
        format_table(*fits),
        "## Predict",
        format_table(*predictions),
        *format_accuracies(cells, [*PACES, "default", *PEERS]),
    ]
    data = {
        "plan": {**plan, "effort": effort._asdict()},
        "cells": [cell.as_dict() for cell in cells],
    }
    is_part = given.only_n or given.depths or given.threads
    benchmark.finish(sections, data, is_full=not is_part)


if __name__ == "__main__":
    main()
