"""On a Dask cluster of two worker processes."""

import logging
import os
import pickle
import signal
import threading
import time

import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
import xgboost
from distributed import Client, LocalCluster
from lightgbm import DaskLGBMClassifier
from sklearn.metrics import roc_auc_score

from splboost import SPLBoostClassifier, SPLForestClassifier, spl_path
from splboost.datasets import flip_labels, make_twonorm
from splboost.engines import (
    DaskSPLXGBClassifier,
    SelfPacedObjective,
    SPLXGBClassifier,
    dask_watch,
)

N = 1200
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def client():
    with start_cluster() as cluster, Client(cluster) as found:
        yield found


def start_cluster():
    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
        memory_limit=0,
    )


def data(share=0.2):
    """Columns of few values, so that bins are the same however rows are divided."""
    X, y = make_twonorm(N, random_state=0)
    noisy, flipped = flip_labels((y > 0).astype(int), share, random_state=0)
    return np.round(4 * X) / 4, noisy, flipped


def split(*arrays):
    return [da.from_array(a, chunks=(N // 2, *a.shape[1:])) for a in arrays]


def settings(**given):
    return {"n_estimators": 40, "subsample": 1.0, **given}


@pytest.mark.parametrize("on_one_worker", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_model_is_that_of_one_machine(client, on_one_worker, n_classes):
    X, y, flipped = data()
    if n_classes == 3:
        y = y + (X[:, 2] > 0.8)
    if on_one_worker:
        order = np.argsort(~flipped, kind="stable")  # all wrong labels come first
        X, y, flipped = X[order], y[order], flipped[order]
        assert flipped[: N // 2].sum() == flipped.sum()
    weight = np.random.default_rng(0).uniform(0.5, 2, N)
    given = settings(p_min=0.3 if n_classes == 2 else 0.15)
    dX, dy, dw = split(X, y, weight)
    many = DaskSPLXGBClassifier(**given).fit(dX, dy, sample_weight=dw)
    one = SPLXGBClassifier(**given, n_jobs=1).fit(X, y, sample_weight=weight)
    scores = many.predict(dX, output_margin=True).compute()
    assert np.abs(scores - one.predict(X, output_margin=True)).max() <= 1e-5
    np.testing.assert_allclose(many.latent_objective_, one.latent_objective_, rtol=1e-5)
    np.testing.assert_array_equal(many.n_selected_, one.n_selected_)
    v = many.sample_pace_.compute()
    np.testing.assert_array_equal(v, one.sample_pace_)
    assert (v == 0).any()
    if n_classes == 2:
        assert (v == 0)[flipped].mean() > 0.4 and (v == 0)[~flipped].mean() < 0.1
    np.testing.assert_allclose(
        many.predict_proba(dX).compute(), one.predict_proba(X), atol=1e-6
    )
    np.testing.assert_array_equal(many.predict(dX).compute(), one.predict(X))


def test_each_worker_sees_its_own_rows(client):
    X, y, _ = data()
    dX, dy = split(X, y)

    class Spy(SelfPacedObjective):
        def __call__(self, y_true, y_pred, sample_weight=None):
            labels = y_pred.get_label()
            if len(labels) == N:
                raise ValueError("all rows on one worker")
            return super().__call__(y_true, y_pred, sample_weight)

    matrix = xgboost.dask.DaskDMatrix(client, dX, dy)
    params = {"objective": "binary:logistic", "base_score": 0.5, "max_depth": 3}
    found = xgboost.dask.train(
        client, params, matrix, 20, obj=Spy(warm_rounds=5), verbose_eval=False
    )
    alone = xgboost.train(
        {**params, "nthread": 1},
        xgboost.DMatrix(X, y),
        20,
        obj=SelfPacedObjective(warm_rounds=5),
    )
    matrix = xgboost.DMatrix(X)
    np.testing.assert_allclose(
        found["booster"].predict(matrix), alone.predict(matrix), atol=1e-5
    )


def test_without_a_pace_it_is_the_parent(client):
    X, y, _ = data()
    y = y * (np.arange(N) % 3 > 0)
    dX, dy = split(X, y)
    given = settings(max_depth=3, learning_rate=0.1)
    off = DaskSPLXGBClassifier(p_min=0, **given).fit(dX, dy)
    plain = xgboost.dask.DaskXGBClassifier(**given).fit(dX, dy)
    paced = DaskSPLXGBClassifier(**given).fit(dX, dy)
    scores = [
        each.predict(dX, output_margin=True).compute() for each in (off, plain, paced)
    ]
    assert np.abs(scores[0] - scores[1]).max() <= 2e-6
    assert np.abs(scores[2] - scores[1]).max() > 0.3


def test_dataframes_seeds_early_stopping_and_pickling(client, tmp_path):
    X, y, flipped = data()
    frame = pd.DataFrame(X, columns=[f"column_{k}" for k in range(20)]).assign(target=y)
    table = dd.from_pandas(frame, npartitions=3)
    dX, dy = table.drop(columns="target"), table["target"]
    model = DaskSPLXGBClassifier(
        n_seeds=2, n_estimators=60, early_stopping_rounds=3, eval_metric=brier
    )
    model.fit(dX, dy, eval_set=[(dX, dy)], verbose=False)
    v = model.sample_pace_.compute()
    assert v.shape == (N,) and (v == 0)[flipped].mean() > 0.5
    assert len(model.latent_objective_) == len(model.n_selected_) == 2
    assert set(model.paces_) == {0, 1}
    assert min(map(len, model.latent_objective_)) > 15
    copied = pickle.loads(pickle.dumps(model))
    assert not hasattr(copied, "sample_pace_")
    path = tmp_path / "model.json"
    copied.save_model(path)
    plain = xgboost.XGBClassifier()
    plain.load_model(path)
    np.testing.assert_allclose(
        plain.predict_proba(frame.drop(columns="target")),
        model.predict_proba(dX).compute(),
        atol=1e-6,
    )
    assert not [name for name in plain.get_booster().attributes() if "spl" in name]


def brier(y_true, y_pred):
    assert 0 <= y_pred.min() and y_pred.max() <= 1
    return float(np.mean((y_true - y_pred) ** 2))


def test_errors_and_warnings_on_a_cluster(client):
    X, y, _ = data()
    dX, dy = split(X, y)
    model = DaskSPLXGBClassifier(n_estimators=20)
    with pytest.raises(ValueError, match="classes 0 to 1"):
        model.fit(dX, dy + 1)
    with pytest.raises(ValueError, match="all zero: sample_weight leaves no row"):
        model.fit(dX, dy, sample_weight=dy * 0.0)
    with pytest.raises(ValueError, match="both say how strict"):
        from splboost.pace import Hard

        DaskSPLXGBClassifier(pace=Hard(age=1.0), p_min=0.1).fit(dX, dy)
    assert not hasattr(model, "paces_") and model.callbacks is None
    with pytest.warns(UserWarning, match="had no effect: all 5 rounds"):
        DaskSPLXGBClassifier(n_estimators=5).fit(dX, dy)
    rare = (np.arange(N) % 14 == 0).astype(int)
    noise = np.random.default_rng(0).normal(size=(N, 3)) + rare[:, None]
    with pytest.warns(UserWarning, match="has dropped .* of class 1"):
        DaskSPLXGBClassifier(n_estimators=30).fit(*split(noise, rare))


def test_lightgbm_on_dask_by_the_objective(client):
    X, y, _ = data()
    y = y * (np.arange(N) % 3 > 0)
    dX, dy = split(X, y)
    start = float(np.log(y.mean() / (1 - y.mean())))
    objective = SelfPacedObjective(warm_rounds=15, start_score=start)
    given = dict(n_estimators=40, num_leaves=8, verbose=-1, random_state=0)
    model = DaskLGBMClassifier(objective=objective, client=client, **given)
    scores = model.fit(dX, dy).predict(dX, raw_score=True).compute()
    p = objective.probability(scores)[:, 1]
    assert abs(p.mean() - y.mean()) < 0.1
    assert roc_auc_score(y, p) > 0.8
    plain = DaskLGBMClassifier(client=client, **given).fit(dX, dy)
    assert np.abs(plain.predict_proba(dX).compute()[:, 1] - p).max() > 0.1
    off = SelfPacedObjective(pace=None, start_score=start)
    same = DaskLGBMClassifier(objective=off, client=client, **given).fit(dX, dy)
    unpaced = off.probability(same.predict(dX, raw_score=True).compute())[:, 1]
    # LightGBM's bins depend on which rows came to which worker
    assert np.corrcoef(unpaced, plain.predict_proba(dX).compute()[:, 1])[0, 1] > 0.9
    assert abs(unpaced.mean() - y.mean()) < 0.02


def test_bags_and_paths_run_on_the_cluster(client):
    X, y, _ = data()
    X, y = X[:200], y[:200]
    booster = SPLBoostClassifier(n_estimators=5)
    grid = {"booster": booster, "plateaus": [1.5, 3.0], "depths": [1], "cv": 2}
    # Here first: it compiles, and the workers find the kernels
    alone = SPLForestClassifier(n_bags=2, random_state=0).fit(X, y)
    path = spl_path(X, y, **grid, random_state=0)
    before = count_tasks(client)
    with joblib.parallel_config(backend="dask", client=client):
        forest = SPLForestClassifier(n_bags=2, random_state=0).fit(X, y)
        between = count_tasks(client)
        same = spl_path(X, y, **grid, random_state=0)
    assert before < between < count_tasks(client)
    np.testing.assert_allclose(forest.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(same.scores, path.scores)


def count_tasks(client):
    """Kinds of tasks that the scheduler has seen."""
    return client.run_on_scheduler(count_seen)


def count_seen(dask_scheduler):
    return sum(
        sum(prefix.state_counts.values())
        for prefix in dask_scheduler.task_prefixes.values()
    ) + len(dask_scheduler.task_prefixes)


@pytest.mark.parametrize("early", [True, False])
def test_a_lost_worker_ends_the_fit_with_a_clear_error(early, monkeypatch):
    """While training, and before it has begun, when others would wait for it."""
    monkeypatch.setattr(dask_watch, "GRACE", 5.0)
    X, y, _ = data()
    with start_cluster() as cluster, Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))
        model = DaskSPLXGBClassifier(n_estimators=100_000)
        model.client = client
        killer = threading.Thread(target=kill_when, args=(client, victim, early))
        killer.start()
        begun = time.monotonic()
        with pytest.raises(RuntimeError, match=r"Lost 1 of 2 workers during fit"):
            model.fit(*split(X, y))
        assert time.monotonic() - begun < 150
        assert not hasattr(model, "_Booster") and model.callbacks is None
        killer.join()


def kill_when(client, victim, early):
    """Kill a worker as soon as training is asked for, or some time later."""
    while not client.run_on_scheduler(dask_watch.find_bound):
        time.sleep(0.02)
    if not early:
        time.sleep(4.0)
    os.kill(victim, signal.SIGKILL)
