"""A fit on a cluster ends when a worker is lost, instead of waiting for it.

XGBoost notices a lost worker when it next talks to it. One that dies before training
has begun is waited for, minutes long, by those that are left, and these could do
nothing else meanwhile: they are restarted.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import dask

PAUSE = 1.0  # seconds between two looks
GRACE = 30.0  # seconds for XGBoost to end by itself
MARK = "splboost_fit"  # annotation of all tasks of a fit


def list_workers(dask_scheduler: Any) -> list[str]:
    """The addresses of all workers that are there; runs on the scheduler."""
    return list(dask_scheduler.workers)


def find_bound(dask_scheduler: Any, mark: str | None = None) -> dict[str, bool]:
    """Workers that training is bound to, and whether they still train.

    It runs on the scheduler. XGBoost binds a task to each worker that has rows, and it
    alone binds any of a fit. ``mark`` is that of the fit; None is any fit.
    """
    found: dict[str, bool] = {}
    for task in dask_scheduler.tasks.values():
        given = (task.annotations or {}).get(MARK)
        if given is not None and mark in (given, None):
            for address in task.worker_restrictions or ():
                found[address] = task.state == "processing"
    return found


async def watch(client: Any, work: Callable[[], Awaitable[None]]) -> None:
    """Wait for a fit, and end it if a worker that it needs is lost."""
    mark = uuid.uuid4().hex
    # Tasks of dataframes do not carry it, which is no matter: they are bound nowhere
    warnings.filterwarnings("ignore", message=f"Dask annotations .*{MARK}")
    with dask.annotate(**{MARK: mark}):  # which the tasks made in there carry
        task = asyncio.ensure_future(work())
    needed: dict[str, bool] = {}
    noticed = None
    try:
        while not (await asyncio.wait({task}, timeout=PAUSE))[0]:
            there = set(await client.run_on_scheduler(list_workers))
            if not needed or needed.keys() - there:  # another seed may need others
                needed = await client.run_on_scheduler(find_bound, mark=mark)
            if not needed.keys() - there:
                noticed = None
                continue
            noticed = noticed or time.monotonic()
            if time.monotonic() - noticed > GRACE:
                raise TimeoutError("XGBoost waits for workers that are lost")
        await task
    except Exception as error:
        needed |= await client.run_on_scheduler(find_bound, mark=mark)
        there = set(await client.run_on_scheduler(list_workers))
        lost = needed.keys() - there
        if not lost:
            raise
        until = GRACE + (noticed or time.monotonic())
        waiting = await _find_waiting(client, mark, until)
        await _stop(task)
        raise RuntimeError(
            f"Lost {len(lost)} of {len(needed)} workers during fit "
            f"({', '.join(sorted(lost))}), and XGBoost cannot go on without their "
            f"rows. {await _free(client, waiting)}Fit again when the cluster is whole; "
            "if workers were short of memory, give them more or smaller partitions."
        ) from error
    finally:
        await _stop(task)


async def _stop(task: Any) -> None:
    """Cancel a task, and let it put its things in order."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await asyncio.wait({task}, timeout=PAUSE)


async def _find_waiting(client: Any, mark: str, until: float) -> list[str]:
    """The workers that still train when the time is over."""
    while True:
        there = await client.run_on_scheduler(list_workers)
        bound = await client.run_on_scheduler(find_bound, mark=mark)
        waiting = sorted(address for address in there if bound.get(address))
        if not waiting or time.monotonic() > until:
            return waiting
        await asyncio.sleep(PAUSE)


async def _free(client: Any, waiting: list[str]) -> str:
    """Restart workers that wait for a lost one, and say so."""
    if not waiting:
        return ""
    names = ", ".join(waiting)
    try:
        await client.restart_workers(waiting)
    except Exception as why:
        return (
            f"{names} may wait for them for minutes, and could not be restarted "
            f"({why}): call client.restart(), or start them anew. "
        )
    return f"Restarted {names}, which waited for them. "
