"""Peak memory of a fit, above what was in use just before, against LightGBM.

Each measurement has a process of its own, which makes the data, notes its resident
memory, resets the high-water mark, fits, and reads the mark. Kernels have been compiled
before, by another process. The peak is given as a multiple of the bytes of X

    (a) in a process that has already fitted a tiny model: what the fit itself takes,
    (b) in a process that fits for the first time: with numba and the kernels loaded.

    python benchmarks/memory.py               saved in benchmarks/results
    python benchmarks/memory.py --huge        besides, 10 million rows of 30 columns
    python benchmarks/memory.py --quick       small, to see that it works

Only Linux tells the peak.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import psutil
from _report import Benchmark, format_table, progress
from _timing import (
    make_data,
    make_lightgbm,
    make_splboost,
    rounds_done,
    use_fresh_numba_cache,
)

GIB = 2**30
TARGET = 0.5
LIGHTGBM = "LightGBM"
MODELS = ["hard", "linear", "plain", LIGHTGBM]
TINY_ROWS = 2_000
LEAST_ROWS = 500_000  # below, what a fit needs for any number of rows weighs most


@dataclass(frozen=True)
class Task:
    """One fit to measure; ``warm`` for a process that has fitted before."""

    model: str
    n: int
    d: int
    depth: int
    rounds: int
    threads: int
    warm: bool

    def make(self) -> Any:
        shape = self.depth, self.rounds, self.threads
        if self.model == LIGHTGBM:
            return make_lightgbm(*shape)
        return make_splboost(self.model, *shape)


def return_freed_memory() -> None:
    """Give freed memory back, lest the fit reuse it and seem to need less."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except AttributeError:  # not the GNU library
        progress("freed memory could not be returned")


def measure_here(task: Task) -> dict[str, Any]:
    """Fit in this process, which must be a fresh one."""
    model = task.make()  # imports the package
    if task.warm:
        tiny, labels = make_data(TINY_ROWS, task.d, seed=1)
        task.make().fit(tiny, labels)
        del tiny, labels
    X, y = make_data(task.n, task.d)
    return_freed_memory()
    before = psutil.Process().memory_info().rss
    Path("/proc/self/clear_refs").write_text("5")  # resets Linux's high-water mark
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text().splitlines()
    mark = next(line for line in status if line.startswith("VmHWM"))
    peak = int(mark.split()[1]) * 1024
    assert rounds_done(model) == task.rounds, f"{task} stopped early"
    return {
        **asdict(task),
        "input_bytes": X.nbytes,
        "rss_before_bytes": before,
        "rss_peak_bytes": peak,
        "above_bytes": peak - before,
        "ratio": (peak - before) / X.nbytes,
        "fit_seconds": seconds,
    }


def measure_apart(task: Task) -> dict[str, Any]:
    """Fit in a process of its own."""
    progress(str(task))
    command = [sys.executable, __file__, "--task", json.dumps(asdict(task))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def format_results(results: list[dict[str, Any]]) -> str:
    """A row per fit."""
    header = ["n", "d", "depth", "rounds", "threads", "model", "process", "fit [s]"]
    header += ["X [MiB]", "peak RSS [GiB]", "above / X", "verdict"]
    lines = []
    for result in results:
        line = [result[key] for key in header[:6]]
        line += [
            "(a)" if result["warm"] else "(b)",
            f"{result['fit_seconds']:.1f}",
            f"{result['input_bytes'] / 2**20:.0f}",
            f"{result['rss_peak_bytes'] / GIB:.2f}",
            f"{result['ratio']:.2f}",
        ]
        lines.append([*line, verdict(result)])
    return format_table(header, lines)


def verdict(result: dict[str, Any]) -> str:
    if result["model"] == LIGHTGBM or not result["warm"]:
        return ""
    if result["n"] < LEAST_ROWS:
        return "too few rows to judge"
    return "met" if result["ratio"] <= TARGET else "missed"


def main() -> None:
    benchmark = Benchmark(__doc__, "memory", "Memory")
    parser = benchmark.parser
    parser.add_argument("--huge", action="store_true", help="10 million rows as well")
    parser.add_argument("--threads", type=int, default=2, help="of every fit")
    parser.add_argument("--task", help=argparse.SUPPRESS)  # for its own processes
    task = parser.parse_args().task
    if task is not None:
        print(json.dumps(measure_here(Task(**json.loads(task)))))
        return
    given = benchmark.start()
    use_fresh_numba_cache()
    n, rounds, n_huge = (20_000, 5, 50_000) if given.quick else (500_000, 20, 10**7)
    progress("compiling ...")
    for model, depth in product(MODELS[:3], (1, 6)):
        measure_apart(Task(model, n, 20, depth, 5, given.threads, True))
    usual = [
        measure_apart(Task(model, n, d, depth, rounds, given.threads, warm))
        for d, depth, model, warm in product((20, 50), (1, 6), MODELS, (True, False))
    ]
    sections = [
        f"""\
Peak resident memory of `fit` above that just before it, divided by the bytes of X, a
float64 array: (a) in a process that has fitted a tiny model before, (b) in a process
that fits for the first time, kernels compiled but not loaded. {rounds} rounds,
{given.threads} threads, LightGBM with as many leaves and one row in a leaf at least.
Target: (a) at most {TARGET}.""",
        format_results(usual),
    ]
    huge = []
    if given.huge:
        huge = [
            measure_apart(Task(model, n_huge, 30, *shape, given.threads, True))
            for shape, model in product(((1, 10), (6, 5)), ("hard", LIGHTGBM))
        ]
        sections += ["## Many rows", format_results(huge)]
    benchmark.finish(sections, {"usual": usual, "huge": huge})


if __name__ == "__main__":
    main()
