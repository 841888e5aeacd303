"""The work of the long benchmarks: processes that claim cells and measure them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _cells import Cell
from _report import progress
from _robustness_data import Problem, draw
from _robustness_methods import Method

from splboost.paper.store import Store

WARM_UP_ROWS = 50  # of each class


@dataclass(frozen=True)
class Task:
    """What a benchmark does in its cells.

    Parameters
    ----------
    methods : by name
    open_store : of a path
    measure : of a method, a problem and a seed; gives what is stored
    describe : what was measured, in a few words
    """

    methods: Mapping[str, Method]
    open_store: Callable[[Path], Store]
    measure: Callable[[Method, Problem, int], dict[str, Any]]
    describe: Callable[[dict[str, Any]], str]


class Worker:
    """What a process does: claim a cell, measure it, write it, until none is left."""

    def __init__(self, task: Task, path: Path, cells: list[Cell], rows: int) -> None:
        self._task = task
        self._store = task.open_store(path)
        self._cells = cells
        self._rows = rows
        self._source = code_state()
        self._is_warm: set[tuple[str, bool]] = set()

    def run(self) -> None:
        # Again, because another worker may have died and left a cell.
        while any([self._do(number) for number in range(len(self._cells))]):
            pass

    def _do(self, number: int) -> bool:
        cell = self._cells[number]
        if _is_orphan() or not self._store.claim(cell):
            return False
        place = f"{number + 1} of {len(self._cells)}"
        name = f"seed {cell.seed}, {cell.data}, noise {cell.noise}, {cell.method}"
        try:
            problem = draw(cell.data, cell.noise, cell.seed, self._rows)
            self._warm_up(cell, problem)
            method = self._task.methods[cell.method]
            figures = self._task.measure(method, problem, cell.seed)
        except Exception as failure:
            self._store.fail(cell, f"{type(failure).__name__}: {failure}")
            progress(f"{place}: {name} failed: {failure}")
            return True
        except BaseException:
            self._store.release(cell)
            raise
        self._store.finish(cell, figures, self._source)
        progress(f"{place}: {name}: {self._task.describe(figures)}")
        return True

    def _warm_up(self, cell: Cell, problem: Problem) -> None:
        """Import and compile before anything is timed."""
        method = self._task.methods[cell.method]
        method.versions()
        categories = bool((problem.X.dtypes == "category").any())
        if not method.compiles or (cell.method, categories) in self._is_warm:
            return
        rows = np.concatenate(
            [np.flatnonzero(problem.y == each)[:WARM_UP_ROWS] for each in (0, 1)]
        )
        small = Problem(
            problem.X.iloc[rows],
            problem.y[rows],
            problem.y_right[rows],
            problem.X_test,
            problem.y_test,
        )
        self._task.measure(method, small, cell.seed)
        self._is_warm.add((cell.method, categories))


def _is_orphan() -> bool:
    parent = multiprocessing.parent_process()
    return parent is not None and not parent.is_alive()


def code_state() -> str:
    """The commit that is measured, where there is one."""
    how = ["git", "describe", "--always", "--dirty"]
    folder = Path(__file__).parent
    try:
        said = subprocess.run(how, cwd=folder, capture_output=True, text=True)
    except OSError:
        return "unknown commit"
    return said.stdout.strip() or "unknown commit"


def _work(task: Task, path: Path, cells: list[Cell], rows: int) -> None:
    warnings.simplefilter("ignore")
    with contextlib.suppress(KeyboardInterrupt):
        Worker(task, path, cells, rows).run()


def run(task: Task, path: Path, cells: list[Cell], rows: int, jobs: int) -> None:
    """Measure what is not there yet, in processes of one thread each."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_work, args=(task, path, cells, rows))
        for _ in range(jobs)
    ]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    except KeyboardInterrupt:
        for worker in workers:
            worker.join()
        raise SystemExit("Stopped; the same command goes on from here.") from None
    for worker in workers:
        if worker.exitcode:
            progress(f"A worker ended with {worker.exitcode}; start again to go on.")
