"""One pool of plain threads for kernels that release the GIL.

The pool is made when first needed, lives as long as the process, is dropped in a
forked child, and is never part of an estimator, hence never pickled. A task never
submits tasks of its own, so the pool cannot wait for itself.

It is not ``concurrent.futures``, whose locks can stay locked for ever after Ctrl-C; a
``SimpleQueue`` is interrupted only while it waits. It is also faster.
"""

from __future__ import annotations

import itertools
import os
from _thread import start_new_thread
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from threading import Lock
from typing import Any

from joblib import effective_n_jobs

# Steps of half a nanosecond or so, below which waking a thread costs more than it saves
THREADED_WORK = 1_000_000

_tasks: SimpleQueue[Any] | None = None
_lock = Lock()


def count_threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs`` as joblib reads it: None is one, -1 is all cores."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 has no meaning; give the number of threads, or -1 for all cores."
        )
    if n_jobs > 0:
        return int(n_jobs)
    return int(effective_n_jobs(n_jobs))


def share(size: int, n_threads: int, work: int = 1) -> list[tuple[int, int]]:
    """Bounds of the parts of ``size`` things, each of which takes ``work`` steps.

    There is one part if waking a thread would take longer than it saves.
    """
    n_parts = n_threads if size * work >= THREADED_WORK else 1
    bounds = [size * k // n_parts for k in range(n_parts + 1)]
    return list(itertools.pairwise(bounds))


def run(task: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> None:
    """Call ``task(*args)`` for each tuple, all but the first on pool threads."""
    first, *rest = arguments
    if not rest:
        task(*first)
        return
    tasks = _start()
    results: SimpleQueue[BaseException | None] = SimpleQueue()
    for args in rest:
        tasks.put((task, args, results))
    task(*first)
    for _ in rest:
        error = results.get()
        if error is not None:
            raise error


def _start() -> SimpleQueue[Any]:
    """The queue that the pool's threads take their tasks from."""
    global _tasks
    with _lock:
        if _tasks is None:
            _tasks = SimpleQueue()
            for _ in range(max(1, os.cpu_count() or 1)):
                start_new_thread(_work, (_tasks,))
        return _tasks


def _work(tasks: SimpleQueue[Any]) -> None:
    while True:
        task, args, results = tasks.get()
        error = None
        try:
            task(*args)
        except BaseException as raised:
            error = raised
        results.put(error)
        del task, args, results, error  # what they hold must not outlive the task


def _forget() -> None:
    global _tasks, _lock
    _tasks, _lock = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
