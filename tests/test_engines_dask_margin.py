"""Scores to start from, on a Dask cluster of two worker processes."""

import logging

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from splboost.datasets import flip_labels, make_twonorm
from splboost.engines import DaskSPLXGBClassifier, SPLXGBClassifier

N = 600
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            memory_limit=0,
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


def as_array(values):
    return da.from_array(values, chunks=(N // 3, *values.shape[1:]))


def as_frame(values):
    make = pd.DataFrame if values.ndim > 1 else pd.Series
    return dd.from_pandas(make(values), npartitions=3)


@pytest.mark.parametrize("kind", [as_array, as_frame])
@pytest.mark.parametrize("n_seeds", [1, 2])
@pytest.mark.parametrize("shape", [(N,), (N, 1)])
def test_scores_to_start_from(client, kind, n_seeds, shape):
    X, y = make_twonorm(N, random_state=0)
    y, _ = flip_labels((y > 0).astype(int), 0.2, random_state=0)
    X = np.round(4 * X) / 4  # so that bins are the same however rows are divided
    start = np.random.default_rng(0).normal(size=N).astype(np.float32)
    given = dict(n_estimators=20, warm_rounds=3, subsample=1.0, n_seeds=n_seeds)
    many = DaskSPLXGBClassifier(**given).fit(
        kind(X), kind(y), base_margin=kind(start.reshape(shape))
    )
    one = SPLXGBClassifier(**given, n_jobs=1).fit(X, y, base_margin=start)
    np.testing.assert_array_equal(many.sample_pace_.compute(), one.sample_pace_)
    np.testing.assert_allclose(many.latent_objective_, one.latent_objective_, rtol=1e-5)
