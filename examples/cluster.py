"""Growing up: the same data and the same call on one machine and on a Dask cluster.

First SPLXGBClassifier, in this process; then DaskSPLXGBClassifier on a cluster of two
worker processes, which this script starts, as larger data would be on two machines. For
a real cluster only the line that makes the client changes, to

    with Client("tcp://scheduler:8786"):

and the data are read by the workers themselves, as by dask.dataframe.read_parquet. The
scheduler and the workers need splboost and XGBoost, in the versions of this process.
"""

from __future__ import annotations

import logging
from typing import Any

import dask.array as da
import numpy as np
import xgboost
from distributed import Client, LocalCluster

from splboost.datasets import flip_labels, make_twonorm
from splboost.engines import DaskSPLXGBClassifier, SPLXGBClassifier

ROWS = 4000
SETTINGS = {"p_min": 0.3, "n_estimators": 100, "random_state": 0, "verbosity": 0}


def say(name: str, model: Any, X_test: Any, y_test: Any, v: Any, wrong: Any) -> None:
    """What a model is worth, and what it no longer believes."""
    guess = np.asarray(model.predict(X_test))
    print(f"{name:24} test error {np.mean(guess != y_test):.3f}", end="")
    if v is not None:
        found, spared = np.mean(v[wrong] == 0), np.mean(v[~wrong] == 0)
        print(f", dropped {found:.0%} of the wrong labels, {spared:.1%} of the right")
    else:
        print()


def main() -> None:
    X, y = make_twonorm(ROWS, random_state=0)
    X_test, y_test = make_twonorm(4000, random_state=1)
    y, y_test = (y > 0).astype(int), (y_test > 0).astype(int)
    y_noisy, wrong = flip_labels(y, 0.25, random_state=0)

    plain = xgboost.XGBClassifier(
        n_estimators=100, max_depth=3, learning_rate=0.1, n_jobs=1
    ).fit(X, y_noisy)
    say("XGBoost, plain", plain, X_test, y_test, None, wrong)
    one = SPLXGBClassifier(n_jobs=1, **SETTINGS).fit(X, y_noisy)
    say("one machine", one, X_test, y_test, one.sample_pace_, wrong)

    cluster = LocalCluster(  # a real one is there already
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )
    with cluster, Client(cluster):
        half = ROWS // 2
        dX = da.from_array(X, chunks=(half, X.shape[1]))
        dy = da.from_array(y_noisy, chunks=half)
        many = DaskSPLXGBClassifier(**SETTINGS).fit(dX, dy)
        v = many.sample_pace_.compute()
        local = xgboost.XGBClassifier()  # the model itself is an ordinary one
        local.load_model(many.get_booster().save_raw())
        say("two workers", local, X_test, y_test, v, wrong)


if __name__ == "__main__":
    main()
