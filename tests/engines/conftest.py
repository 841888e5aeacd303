"""Fixtures of the tests on a Dask cluster."""

import signal

import pytest


@pytest.fixture
def deadline():
    """Ends a test that hangs."""
    from dask_cluster import SECONDS

    def give_up(*_):
        raise TimeoutError(f"No end after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def client():
    """A client of two workers."""
    from distributed import Client

    from dask_cluster import start_cluster

    with start_cluster() as cluster, Client(cluster) as found:
        yield found
