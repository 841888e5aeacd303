"""Is XGBoost or LightGBM with a pace more robust than without?

Each classifier of splboost.engines beside its parent, on sixteen data sets and three
generators with 0 to 40% of the training labels flipped: as it comes, and tuned with
as many draws. Nothing is measured twice: what is there is kept in a file, and a run
goes on where another was killed.

    python benchmarks/engines.py               measures what is missing, an hour or two
    python benchmarks/engines.py --overhead    what a pace costs, into results/
    python benchmarks/engines.py --report      saves what is there, in results/
    python benchmarks/engines.py --quick       small, to see that it works

It needs ``pip install 'splboost[bench,rivals]'``. The data sets are read from the
folder that SPLBOOST_DATA names; without it there are the generators.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _long import Results, Study
from _long_methods import (
    RANGES,
    Measures,
    Method,
    draw_settings,
    fit_tuned,
    make_booster,
    measure,
)
from _long_page import (
    SPLIT,
    by_method,
    completeness,
    failures_section,
    level_name,
    method_table,
    paragraph,
    range_table,
    sized,
)
from _report import RESULTS, describe_run, format_table, progress

from splboost.datasets import flip_labels, make_twonorm

SEED = 5  # defaults of the library were chosen with those before
ALL = "all data sets", "generators"
OVERHEAD = "engines_overhead.json"
OVERHEAD_ROWS, TURNS, TARGET = (500, 5000, 100_000), 5, 1.3


# ------------------------------------------------------------------ what is compared

DRAWS = 10
FOLDS = 3
SMALL = {"n_estimators": 100, "max_depth": 3, "learning_rate": 0.1}


P_MIN = 0.0, 0.1, 0.2, 0.3, 0.37, 0.45  # to draw from
PACKAGES = "xgboost", "lightgbm"


def settings_of(package: str, paced: bool, seed: int) -> list[dict[str, float]]:
    """Settings to choose from; with a pace, how strict it is among them."""
    rng = np.random.default_rng(seed)
    settings = draw_settings(RANGES[package], DRAWS, rng)
    if paced:  # the other parameters are those of the parent's draws
        settings = [{**each, "p_min": float(rng.choice(P_MIN))} for each in settings]
    return settings


def fit_drawn(
    X: Any, y: Any, seed: int, n_jobs: int, *, package: str, paced: bool
) -> Any:
    """The best of as many drawn settings."""
    settings = settings_of(package, paced, seed)
    how = {"package": package, "paced": paced, "settings": settings}
    return fit_tuned(X, y, seed, n_jobs, n_folds=FOLDS, **how)


def fit_small(
    X: Any, y: Any, seed: int, n_jobs: int, *, package: str, paced: bool, **given: Any
) -> Any:
    """Trees of depth 3 and steps of 0.1, in all alike."""
    settings = {**SMALL, **given}
    if package == "lightgbm":
        settings["num_leaves"] = 8
    return make_booster(package, paced, seed, n_jobs, **settings).fit(X, y)


def _of_package(package: str, name: str, own: str) -> dict[str, Method]:
    tuned = f"the best of {DRAWS} random settings on {FOLDS} folds"
    half = {"subsample": 0.5}

    def method(fit: Callable[..., Any], text: str, **how: Any) -> Method:
        return Method(partial(fit, package=package, **how), text, (package, "splboost"))

    return {
        f"{own} tuned": method(fit_drawn, f"{tuned}, `p_min` among them", paced=True),
        f"{name} tuned": method(fit_drawn, tuned, paced=False),
        own: method(fit_small, "as it comes: `subsample=0.5`", paced=True, **half),
        f"{name}, depth 3": method(fit_small, "100 rounds, steps of 0.1", paced=False),
        f"{name}, depth 3, half the rows": method(
            fit_small, "and `subsample=0.5`", paced=False, **half
        ),
    }


METHODS = {
    **_of_package("xgboost", "XGBoost", "SPLXGB"),
    **_of_package("lightgbm", "LightGBM", "SPLLGBM"),
}
# Each with what it is to be compared with
PAIRS = [
    pair
    for own, parent in (("SPLXGB", "XGBoost"), ("SPLLGBM", "LightGBM"))
    for pair in (
        (f"{own} tuned", f"{parent} tuned"),
        (own, f"{parent}, depth 3, half the rows"),
    )
]


# ------------------------------------------------------------------ how robust they are


def _errors(results: Results, part: str) -> str:
    columns = {
        level_name(level): 100 * results.means(part, level=level).mean()
        for level in results.noise
        if len(results.means(part, level=level))
    }
    means = results.means(part)
    if len(means):
        columns["mean of wrong"] = 100 * means.mean()
    return by_method(results.methods, columns, ".1f")


def _pairs(results: Results, part: str) -> str:
    """Difference of each to its parent by level, with the standard error over sets."""
    lines = []
    for own, parent in PAIRS:
        if not {own, parent} <= set(results.methods):
            continue
        cells = []
        for level in results.noise:
            means = results.means(part, level=level)
            difference = 100 * (means[own] - means[parent])
            wins, losses = (difference < 0).sum(), (difference > 0).sum()
            error = difference.sem()
            cells.append(
                f"{difference.mean():+.1f} ± {error:.1f}, {wins}/{losses}"
                if len(difference)
                else "-"
            )
        lines.append([own, parent, *cells])
    return format_table(["", "against", *map(level_name, results.noise)], lines)


def _count_off(results: Results) -> str:
    """How many of the settings drawn have no pace."""
    drawn = [
        setting["p_min"]
        for package in PACKAGES
        for seed in results.complete["repeat"].unique()
        for setting in settings_of(package, True, int(seed))
    ]
    return f"{drawn.count(0.0)} of the {len(drawn)} settings"


def make_page(
    results: Results, rows: int, failures: list[dict[str, Any]], folder: Path | None
) -> list[str]:
    """The page, from what every compared method has finished."""
    page = [
        paragraph(SPLIT.format(rows=rows)),
        paragraph(
            f"Tuned are the best of {DRAWS} random settings by accuracy on {FOLDS} "
            "folds of the noisy labels, the same settings with a pace and without; "
            f"with one, `p_min` is one of {', '.join(map(str, P_MIN))}, and 0 in "
            f"{_count_off(results)} of both packages. Times are those of the "
            "processor, with one thread."
        ),
        completeness(results),
        "## Methods",
        method_table(results, METHODS, {"fit_seconds": "fit (s)"}),
        "## Test error (%)",
    ]
    for part in (part for part in ALL if part in results.parts()):
        page += [
            f"### {sized(results, part)}",
            _errors(results, part),
            "Points more (+) or fewer (-) than the other, with the standard error over "
            "sets; on how many sets it is better / worse:",
            _pairs(results, part),
        ]
    page += ["## Ranges of the random settings", range_table()]
    page += failures_section(failures)
    if folder is not None and (RESULTS / OVERHEAD).exists():
        measured = json.loads((RESULTS / OVERHEAD).read_text())
        page += ["## What a pace costs", format_overhead(measured)]
    return page


STUDY = Study(
    "engines",
    "XGBoost and LightGBM with a pace and without",
    METHODS,
    Measures,
    measure,
    "error",
    Measures._fields,
    make_page,
    full={"rows": 500, "seeds": [SEED], "noise": ["0", "10", "20", "30", "40"]},
    quick={
        "rows": 150,
        "seeds": [SEED],
        "sets": ["gaussians"],
        "noise": ["0", "20"],
        "methods": ["SPLXGB", "XGBoost, depth 3, half the rows"],
    },
)


# ------------------------------------------------------------------- what a pace costs


def measure_overhead(
    rows: tuple[int, ...] = OVERHEAD_ROWS, turns: int = TURNS
) -> dict[str, Any]:
    """Processor seconds of fits that take turns, with one thread."""
    found: list[dict[str, Any]] = []
    for n in rows:
        X, y = make_twonorm(n, random_state=0)
        y, _ = flip_labels((y > 0).astype(int), 0.2, random_state=0)
        for package in PACKAGES:
            seconds: dict[bool, list[float]] = {False: [], True: []}
            for turn in range(turns + 1):
                for paced in (False, True) if turn % 2 else (True, False):
                    model = make_booster(package, paced, 0, 1, **SMALL, subsample=0.5)
                    gc.collect()
                    start = time.process_time()
                    model.fit(X, y)
                    if turn:  # the first warms up
                        seconds[paced].append(time.process_time() - start)
            own, parent = (statistics.median(seconds[x]) for x in (True, False))
            found.append(
                {
                    "package": package,
                    "rows": n,
                    "parent_seconds": seconds[False],
                    "own_seconds": seconds[True],
                    "ratio": own / parent,
                }
            )
            progress(f"{package}, {n} rows: {own / parent:.2f} times the parent")
    return {"run": describe_run(), "fits": found}


def format_overhead(measured: dict[str, Any]) -> str:
    """A row for each package and size."""
    most = max(OVERHEAD_ROWS)
    lines = [
        [
            each["package"],
            each["rows"],
            f"{statistics.median(each['parent_seconds']):.3f}",
            f"{statistics.median(each['own_seconds']):.3f}",
            f"{each['ratio']:.2f}",
            "yes" if each["ratio"] <= TARGET or each["rows"] < most else "no",
        ]
        for each in measured["fits"]
    ]
    header = ["package", "rows", "parent (s)", "with a pace (s)", "ratio"]
    return format_table([*header, f"at most {TARGET} at {most:,}"], lines)


# ----------------------------------------------------------------- the command line


def main() -> None:
    parser = STUDY.make_parser(__doc__)
    parser.add_argument("--overhead", action="store_true", help="times of fits alone")
    given = STUDY.parse(parser)
    folder = given.out or (None if given.quick else RESULTS)
    if given.overhead:
        measured = measure_overhead(*(((500,), 1) if given.quick else ()))
        print(format_overhead(measured))
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / OVERHEAD).write_text(json.dumps(measured, indent=1) + "\n")
    else:
        STUDY.perform(given)


if __name__ == "__main__":
    main()
