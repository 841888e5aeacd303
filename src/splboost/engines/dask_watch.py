"""A fit on a cluster ends when a worker is lost, instead of waiting for it.

XGBoost notices a lost worker when it next talks to it. One that dies before training
has begun is waited for, minutes long, by those that are left.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from typing import Any

PAUSE = 1.0  # seconds between two looks
GRACE = 30.0  # seconds for XGBoost to end by itself
TASKS = "fn-"  # the tasks in which XGBoost trains, one bound to each worker


async def list_workers(client: Any) -> set[str]:
    """The addresses of the workers that are there."""
    return set((await client.scheduler.identity())["workers"])


def find_bound(dask_scheduler: Any) -> list[str]:
    """Workers that training is bound to; runs on the scheduler."""
    return [
        address
        for key, task in dask_scheduler.tasks.items()
        if str(key).startswith(TASKS)
        for address in task.worker_restrictions or ()
    ]


async def watch(client: Any, work: Coroutine[Any, Any, Any]) -> None:
    """Wait for a fit, and end it if a worker that it needs is lost."""
    workers = await list_workers(client)
    task = asyncio.ensure_future(work)
    noticed = None
    try:
        while not (await asyncio.wait({task}, timeout=PAUSE))[0]:
            lost = workers - await list_workers(client)
            if not lost:
                continue
            needed = lost & set(await client.run_on_scheduler(find_bound))
            if needed and noticed is None:
                noticed = time.monotonic()
            if noticed is not None and time.monotonic() - noticed > GRACE:
                raise TimeoutError(f"{', '.join(sorted(needed))} did not come back")
        await task
    except BaseException as error:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await asyncio.wait({task}, timeout=PAUSE)
        if not isinstance(error, Exception):
            raise
        lost = workers - await list_workers(client)
        if not lost:
            raise
        raise RuntimeError(
            f"Lost {len(lost)} of {len(workers)} workers during fit "
            f"({', '.join(sorted(lost))}), and XGBoost cannot go on without their "
            "rows. Fit again when the cluster is whole; if workers were short of "
            "memory, give them more or smaller partitions."
        ) from error
