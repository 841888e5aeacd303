"""One pool of plain threads for kernels that release the GIL.

The pool is made when first needed, lives as long as the process, is forgotten in a
forked child, and is never part of an estimator, hence never pickled. A task never
submits tasks of its own, so the pool cannot wait for itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

from joblib import effective_n_jobs

_pool: ThreadPoolExecutor | None = None
_lock = Lock()


def count_threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs`` as joblib reads it: None is one, -1 is all cores."""
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return int(n_jobs)
    return int(effective_n_jobs(n_jobs))


def run(task: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> None:
    """Call ``task(*args)`` for each tuple, all but the first on pool threads."""
    first, *rest = arguments
    if not rest:
        task(*first)
        return
    futures = [_executor().submit(task, *args) for args in rest]
    task(*first)
    for future in futures:
        future.result()


def _executor() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(
                max_workers=max(1, os.cpu_count() or 1),
                thread_name_prefix="splboost",
            )
        return _pool


def _forget() -> None:
    global _pool, _lock
    _pool, _lock = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
