"""Seconds from nothing to a first model: import, then fit and predict.

Each measurement is a fresh process. Ours is measured with an empty numba cache, as
after installing, when kernels have to be compiled; and with the cache that this filled,
as every time after. scikit-learn's AdaBoost and LightGBM stand beside it.

    python benchmarks/start.py                saved in benchmarks/results
    python benchmarks/start.py --quick        once each, to see that it works
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from _report import Benchmark, format_table, progress

ROWS, FEATURES, ROUNDS = 500, 10, 20
TARGET = 15.0
COLD, WARM = "splboost, cold cache", "splboost, warm cache"
NAMES = [COLD, WARM, "scikit-learn", "LightGBM"]


def measure_here(name: str) -> dict[str, float]:
    """Import, fit and predict in this process, which must be a fresh one."""
    start = time.perf_counter()
    if name == "scikit-learn":
        import sklearn.ensemble
        import sklearn.tree  # noqa: F401
    elif name == "LightGBM":
        import lightgbm  # noqa: F401
    else:
        from splboost import SPLBoostClassifier  # noqa: F401
    imported = time.perf_counter() - start

    from _timing import make_data, make_lightgbm, make_sklearn, make_splboost

    X, y = make_data(ROWS, FEATURES)
    start = time.perf_counter()
    if name == "scikit-learn":
        model = make_sklearn(1, ROUNDS)
    elif name == "LightGBM":
        model = make_lightgbm(1, ROUNDS, 1)
    else:
        model = make_splboost("linear", 1, ROUNDS, 1)
    model.fit(X, y).predict(X)
    return {"import": imported, "first_model": time.perf_counter() - start}


def measure_apart(name: str, cache: str) -> dict[str, float]:
    """The same in a process of its own, with numba's cache in a folder."""
    progress(name)
    command = [sys.executable, __file__, "--name", name]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)


def measure_all(repeats: int) -> dict[str, list[dict[str, float]]]:
    """Everyone in turn; a first time that does not count brings files into memory."""
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in NAMES}
    with tempfile.TemporaryDirectory() as cache:
        for name in NAMES[1:]:
            measure_apart(name, cache)
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            for name in NAMES:  # the cold one fills the cache of the warm one
                measured[name].append(measure_apart(name, cache))
    return measured


def summarise(measured: dict[str, list[dict[str, float]]]) -> list[dict[str, Any]]:
    rows = []
    for name, times in measured.items():
        totals = [each["import"] + each["first_model"] for each in times]
        rows.append(
            {
                "name": name,
                "import": statistics.median(each["import"] for each in times),
                "first_model": statistics.median(each["first_model"] for each in times),
                "total": statistics.median(totals),
            }
        )
    return rows


def format_rows(rows: list[dict[str, Any]]) -> str:
    header = ["", "import [s]", "first fit and predict [s]", "together [s]", "verdict"]
    lines = []
    for row in rows:
        verdict = ""
        if row["name"] == COLD:
            verdict = "met" if row["total"] <= TARGET else "missed"
        seconds = [f"{row[key]:.2f}" for key in ("import", "first_model", "total")]
        lines.append([row["name"], *seconds, verdict])
    return format_table(header, lines)


def main() -> None:
    benchmark = Benchmark(__doc__, "start", "Start")
    benchmark.parser.add_argument("--name", choices=NAMES, help=argparse.SUPPRESS)
    name = benchmark.parser.parse_args().name
    if name is not None:
        print(json.dumps(measure_here(name)))
        return
    given = benchmark.start()
    repeats = 1 if given.quick else 3
    measured = measure_all(repeats)
    rows = summarise(measured)
    sections = [
        f"""\
{ROWS} rows of {FEATURES} columns, {ROUNDS} rounds of stumps (ours with linear pace),
one thread, every measurement in a fresh process; median of {repeats}. The start of
Python itself is not included. Importing includes numpy and whatever else a package
imports; LightGBM imports pandas if it is installed. Target: {TARGET:.0f} s together
with a cold cache.""",
        format_rows(rows),
    ]
    benchmark.finish(sections, {"rows": rows, "measured": measured})


if __name__ == "__main__":
    main()
