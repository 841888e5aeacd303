"""A fit on a cluster ends when a worker is lost, instead of waiting for it.

XGBoost notices that a worker is lost when it next exchanges data with it. If a worker
dies before training begins, the others wait for it for minutes and can do nothing else
meanwhile: they are restarted. Dask waits for ever for data that only a lost worker had
or could make.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
import warnings
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from typing import Any, NamedTuple

import dask

PAUSE = 1.0  # seconds between two looks
GRACE = 30.0  # seconds for XGBoost to end by itself, and for workers to come
MARK = "splboost_fit"  # annotation of the tasks of a fit

# Tasks of dataframes do not carry it, which is no matter: they are bound nowhere
warnings.filterwarnings("ignore", message=f"Dask annotations .*{MARK}")

OF_ROWS = "XGBoost cannot go on without their rows."
OF_DATA = (
    "no other has or can make their part of the data. What was only there, scattered "
    "or persisted with workers=, must be made again."
)


class View(NamedTuple):
    """The workers, and what keys of a client have to do with them."""

    there: set[str]  # addresses of all workers
    bound: dict[str, set[Any]]  # what training has bound to each worker
    stuck: set[Any]  # what no worker that is there can make


def look(dask_scheduler: Any, client: str, mark: str) -> View:
    """See how a client's tasks are; runs on the scheduler.

    XGBoost binds a task to each worker that has rows, and it alone binds any of those
    that carry the mark of a fit.
    """
    wanted = dask_scheduler.clients[client].wants_what
    bound: dict[str, set[Any]] = {}
    for task in wanted:
        if (task.annotations or {}).get(MARK) == mark:
            for address in task.worker_restrictions or ():
                bound.setdefault(address, set()).add(task.key)
    stuck: set[Any] = set()
    paused = len(dask_scheduler.running) < len(dask_scheduler.workers)
    found = [] if paused else list(dask_scheduler.unrunnable)  # who pauses may go on
    while found:
        task = found.pop()
        if task not in stuck:
            stuck.add(task)
            found.extend(task.waiters or ())
    keys = {task.key for task in stuck & wanted}
    return View(set(dask_scheduler.workers), bound, keys)


def list_running(dask_worker: Any) -> set[Any]:
    """The tasks that run, also if nobody wants them any more; runs on a worker."""
    return {task.key for task in dask_worker.state.executing}


async def watch(client: Any, work: Callable[[], Awaitable[None]], data: Any) -> None:
    """Wait for a fit, and end it if a worker that it needs is lost.

    ``data`` are those of the fit; it needs nothing else that the client holds by now.
    """
    mark = uuid.uuid4().hex

    async def view() -> View:
        return await client.run_on_scheduler(look, client=client.id, mark=mark)

    others = set(client.futures) - {future.key for future in client.futures_of(data)}
    known = (await view()).there
    with dask.annotate(**{MARK: mark}):  # which the tasks made in there carry
        task = asyncio.ensure_future(work())
    bound: dict[str, set[Any]] = {}
    noticed = None
    try:
        while not (await asyncio.wait({task}, timeout=PAUSE))[0]:
            there, bound, stuck = await view()
            known |= there
            if not _find_lost(known, there, bound, stuck - others):
                noticed = None
                continue
            noticed = noticed or time.monotonic()
            if time.monotonic() - noticed > GRACE:
                raise TimeoutError("The fit waits for workers that are lost")
        await task
    except Exception as error:
        there, last, stuck = await view()
        bound |= last
        lost = _find_lost(known, there, bound, stuck - others)
        if isinstance(error, CancelledError):  # Dask has forgotten what they held
            lost = lost or known - there
        if not lost:
            raise
        await _stop(task)
        left = {address: bound[address] for address in bound.keys() & there}
        raise RuntimeError(
            f"Lost workers during fit ({', '.join(sorted(lost))}), and "
            f"{OF_ROWS if lost & bound.keys() else OF_DATA} "
            f"{await _free(client, left, GRACE + (noticed or time.monotonic()))}"
            "Fit again when the cluster is whole; if workers were short of memory, "
            "give them more or smaller partitions."
        ) from error
    finally:
        await _stop(task)


def _find_lost(
    known: set[str], there: set[str], bound: dict[str, set[Any]], stuck: set[Any]
) -> set[str]:
    """The workers that the fit waits for: those that train, or that alone had data."""
    return bound.keys() - there or (known - there if stuck or not there else set())


async def _stop(task: Any) -> None:
    """Cancel a task, and let it put its things in order."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await asyncio.wait({task}, timeout=PAUSE)


async def _free(client: Any, bound: dict[str, set[Any]], until: float) -> str:
    """Restart workers that still train when the time is over, and say so."""
    while True:
        running = await client.run(list_running, workers=list(bound), on_error="ignore")
        waiting = sorted(each for each in running if bound[each] & running[each])
        if not waiting:
            return ""
        if time.monotonic() > until:
            break
        await asyncio.sleep(PAUSE)
    listed = ", ".join(waiting)
    try:
        await client.restart_workers(waiting)
    except Exception as why:
        return (
            f"{listed} may wait for them for minutes, and could not be "
            f"restarted ({why}): call client.restart(), or start them anew. "
        )
    return (
        f"Restarted {listed}, which waited for them; what was held there, such "
        "as scattered data and results, is lost. "
    )
