"""What a pace costs: the time of a fit, as a multiple of the parent's."""

from __future__ import annotations

import gc
import json
import statistics
import time
from pathlib import Path
from typing import Any

from _engines_methods import make
from _report import describe_run, format_table, progress

from splboost.datasets import flip_labels, make_twonorm

ROWS = 500, 5000, 100_000
TURNS = 5
NOISE = 0.2
TARGET = 1.3
SETTING = {
    "n_estimators": 100,
    "max_depth": 3,
    "learning_rate": 0.1,
    "subsample": 0.5,
}


def measure(rows: tuple[int, ...] = ROWS, turns: int = TURNS) -> dict[str, Any]:
    """Processor seconds of fits that take turns, with one thread."""
    found: list[dict[str, Any]] = []
    for n in rows:
        X, y = make_twonorm(n, random_state=0)
        y, _ = flip_labels((y > 0).astype(int), NOISE, random_state=0)
        for package in ("xgboost", "lightgbm"):
            seconds: dict[bool, list[float]] = {False: [], True: []}
            for turn in range(turns + 1):
                for paced in (False, True) if turn % 2 else (True, False):
                    model = make(package, paced, 0, 1, **SETTING)
                    gc.collect()
                    start = time.process_time()
                    model.fit(X, y)
                    if turn:  # the first warms up
                        seconds[paced].append(time.process_time() - start)
            row = {
                "package": package,
                "rows": n,
                "parent_seconds": seconds[False],
                "own_seconds": seconds[True],
                "ratio": ratio(seconds),
            }
            found.append(row)
            progress(f"{package}, {n} rows: {row['ratio']:.2f} times the parent")
    return {"run": describe_run(), "fits": found}


def ratio(seconds: dict[bool, list[float]]) -> float:
    """That of the medians."""
    return statistics.median(seconds[True]) / statistics.median(seconds[False])


def table(measured: dict[str, Any]) -> str:
    """A row for each package and size."""
    lines = [
        [
            each["package"],
            each["rows"],
            f"{statistics.median(each['parent_seconds']):.3f}",
            f"{statistics.median(each['own_seconds']):.3f}",
            f"{each['ratio']:.2f}",
            "yes" if each["ratio"] <= TARGET or each["rows"] < max(ROWS) else "no",
        ]
        for each in measured["fits"]
    ]
    header = ["package", "rows", "parent (s)", "with a pace (s)", "ratio"]
    return format_table([*header, f"at most {TARGET} at {max(ROWS):,}"], lines)


def save(measured: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(measured, indent=1) + "\n")
    progress(f"written: {path}")
