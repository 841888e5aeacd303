"""A Dask cluster of worker processes, and data for it, for the tests of engines."""

import logging
import os

import dask.array as da
import numpy as np
from distributed import LocalCluster

import engine_models

N = 1200
SECONDS = 150  # after which a test is taken to hang


def start_cluster(n_workers=2):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
        memory_limit=0,
    )


def data():
    """Columns of few values, so that bins are the same however rows are divided."""
    X, y, flipped = engine_models.data(N)
    return np.round(4 * X) / 4, y, flipped


def split(*arrays):
    return [da.from_array(a, chunks=(N // 2, *a.shape[1:])) for a in arrays]


def spread(client, *arrays):
    """Arrays with one half on each worker."""
    workers = sorted(client.run(os.getpid))
    assert len(workers) == 2
    halves = [slice(N // 2), slice(N // 2, N)]
    return [
        da.concatenate(
            [
                client.persist(da.from_array(a[half], chunks=-1), workers=[worker])
                for half, worker in zip(halves, workers, strict=True)
            ]
        )
        for a in arrays
    ]
