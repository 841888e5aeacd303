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
from pathlib import Path
from typing import Any

from _report import RESULTS, Usage, describe_run, format_table, progress, save

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

    from _contestants import make_data, make_lightgbm, make_sklearn, make_splboost

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
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="once each")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder for start.json and start.md; a quick run is only printed unless "
        "this is given",
    )
    parser.add_argument("--name", choices=NAMES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.name is not None:
        print(json.dumps(measure_here(given.name)))
        return
    run = describe_run()
    usage = Usage()
    repeats = 1 if given.quick else 3
    measured = measure_all(repeats)
    run["taken_by_others"] = usage.taken_by_others()
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
    print("\n\n".join(sections))
    folder = given.out or (None if given.quick else RESULTS)
    if folder is not None:
        data = {"rows": rows, "measured": measured}
        save(folder, "start", "Start", run, sections, data)


if __name__ == "__main__":
    main()
