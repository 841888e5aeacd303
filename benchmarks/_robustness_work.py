"""The work of the robustness benchmark: processes that claim cells and measure them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _report import progress
from _robustness_cells import Cell, open_store
from _robustness_data import Problem, draw
from _robustness_methods import METHODS, Method
from sklearn.metrics import balanced_accuracy_score, log_loss

LEAST_PROBABILITY = 1e-3  # for the log loss
WARM_UP_ROWS = 50  # of each class


def positive_probability(model: Any, X: Any) -> np.ndarray:
    """Also of a model that has seen one class only."""
    probability = model.predict_proba(X)
    classes = list(model.classes_)
    return probability[:, classes.index(1)] if 1 in classes else np.zeros(len(X))


def measure(method: Method, problem: Problem, seed: int) -> dict[str, float]:
    """Fit and judge."""
    start = time.process_time()
    model = method.fit(problem.X, problem.y, seed, 1)
    fitted = time.process_time()
    probability = positive_probability(model, problem.X_test)
    predicted = time.process_time()
    guess = (probability > 0.5).astype(int)
    clipped = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return {
        "error": float(np.mean(guess != problem.y_test)),
        "balanced_accuracy": float(balanced_accuracy_score(problem.y_test, guess)),
        "log_loss": float(log_loss(problem.y_test, clipped, labels=[0, 1])),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
    }


class Worker:
    """What a process does: claim a cell, measure it, write it, until none is left."""

    def __init__(self, path: Path, cells: list[Cell], rows: int) -> None:
        self._store = open_store(path)
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
            figures = measure(METHODS[cell.method], problem, cell.seed)
        except Exception as failure:
            self._store.fail(cell, f"{type(failure).__name__}: {failure}")
            progress(f"{place}: {name} failed: {failure}")
            return True
        except BaseException:
            self._store.release(cell)
            raise
        self._store.finish(cell, figures, self._source)
        progress(
            f"{place}: {name}: error {figures['error']:.1%}, "
            f"{figures['fit_seconds']:.1f} s"
        )
        return True

    def _warm_up(self, cell: Cell, problem: Problem) -> None:
        """Import and compile before anything is timed."""
        method = METHODS[cell.method]
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
            problem.X_test,
            problem.y_test,
        )
        measure(method, small, cell.seed)
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


def _work(path: Path, cells: list[Cell], rows: int) -> None:
    warnings.simplefilter("ignore")
    with contextlib.suppress(KeyboardInterrupt):
        Worker(path, cells, rows).run()


def run(path: Path, cells: list[Cell], rows: int, jobs: int) -> None:
    """Measure what is not there yet, in processes of one thread each."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_work, args=(path, cells, rows)) for _ in range(jobs)
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
