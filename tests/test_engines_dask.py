"""On a Dask cluster of two worker processes."""

import asyncio
import contextlib
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import time
import warnings
from types import SimpleNamespace

import dask
import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
import xgboost
from dask import delayed
from distributed import Client, LocalCluster, wait
from lightgbm import DaskLGBMClassifier, LGBMClassifier

from splboost import SPLBoostClassifier, SPLForestClassifier, spl_path
from splboost.datasets import flip_labels, make_twonorm
from splboost.engines import (
    DaskSPLXGBClassifier,
    SelfPacedObjective,
    SPLXGBClassifier,
    lost_workers,
)
from splboost.pace import Hard

N = 1200
SECONDS = 400  # after which a test is taken to hang
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def deadline():
    def give_up(*_):
        raise TimeoutError(f"No end after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def client():
    with start_cluster() as cluster, Client(cluster) as found:
        yield found


def start_cluster(n_workers=2):
    return LocalCluster(
        n_workers=n_workers,
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
    given = settings(p_min=0.3 if n_classes == 2 else 0.2)
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
    with pytest.raises(ValueError, match=r"sum to .*32-bit floats.*rescale"):
        model.fit(dX, dy, sample_weight=dy * 0.0 + 1e-46)
    for wrong in (-1.0, np.inf):
        with pytest.raises(ValueError, match=f"sample_weight must be .* got {wrong:g}"):
            model.fit(dX, dy, sample_weight=dy * 0.0 + wrong)
    with pytest.raises(ValueError, match="y has no rows"):
        model.fit(dX[:0], dy[:0])
    with pytest.raises(TypeError, match=r"y must be a dask array.*got ndarray"):
        model.fit(dX, y)
    for name, wrong in {
        "base_margin": {"base_margin": y},
        "eval_set[0][1]": {"eval_set": [(dX, y)]},
        "eval_set[1][0]": {"eval_set": [(dX, dy), (X, dy)]},
        "sample_weight_eval_set[0]": {"sample_weight_eval_set": [y]},
        "base_margin_eval_set[1]": {"base_margin_eval_set": [None, y]},
    }.items():
        wrong = {"eval_set": [(dX, dy), (dX, dy)], **wrong}
        with pytest.raises(TypeError, match=rf"^{re.escape(name)} must .*got ndarray"):
            model.fit(dX, dy, **wrong)
    with pytest.raises(TypeError, match="did you mean 'p_min'"):
        DaskSPLXGBClassifier(pmin=0.1).fit(dX, dy)
    with pytest.warns(UserWarning, match="y contains only one class, 0"):
        model.fit(dX, dy * 0)
    with pytest.raises(ValueError, match="both say how strict"):
        DaskSPLXGBClassifier(pace=Hard(age=1.0), p_min=0.1).fit(dX, dy)
    assert model.callbacks is None
    with pytest.warns(UserWarning, match="had no effect: all 5 rounds") as given:
        DaskSPLXGBClassifier(n_estimators=5).fit(dX, dy)
    assert [each.filename for each in given] == [__file__]
    rare = (np.arange(N) % 14 == 0).astype(int)
    noise = np.random.default_rng(0).normal(size=(N, 3)) + rare[:, None]
    with pytest.warns(UserWarning, match="has dropped .* of class 1"):
        DaskSPLXGBClassifier(n_estimators=30).fit(*split(noise, rare))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_partitions_without_rows(client, n_classes):
    X, y, _ = data()
    if n_classes == 3:
        y = y + (X[:, 2] > 0.8)
    weight = np.random.default_rng(0).uniform(0.5, 2, N)
    pieces = (500, 0, N - 500, 0)
    dX = da.from_array(X, chunks=(N, 20)).rechunk((pieces, (20,)))
    dy, dw = (da.from_array(a, chunks=N).rechunk((pieces,)) for a in (y, weight))
    assert dX.numblocks == (4, 1)
    given = settings(p_min=0.3 if n_classes == 2 else 0.2)
    many = DaskSPLXGBClassifier(**given).fit(dX, dy, sample_weight=dw)
    one = SPLXGBClassifier(**given, n_jobs=1).fit(X, y, sample_weight=weight)
    scores = many.predict(*split(X), output_margin=True).compute()
    np.testing.assert_allclose(scores, one.predict(X, output_margin=True), atol=1e-5)
    np.testing.assert_array_equal(many.sample_pace_.compute(), one.sample_pace_)
    assert many.sample_pace_.shape == (N,)
    evals = {"eval_set": [(dX, dy)], "sample_weight_eval_set": [dw], "verbose": False}
    many.fit(dX, dy, sample_weight=dw, **evals)
    evals = {"eval_set": [(X, y)], "sample_weight_eval_set": [weight], "verbose": False}
    one.fit(X, y, sample_weight=weight, **evals)
    name = "logloss" if n_classes == 2 else "mlogloss"
    found = [each.evals_result()["validation_0"][name] for each in (many, one)]
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_shares_of_classes_are_those_of_all_weights(client):
    X, y, _ = data()
    y = y * (np.arange(N) % 3 > 0)
    dX, dy, dw = split(X, y, np.where(y > 0, 2.5, 1.0))
    given = settings(pace=Hard(prior_corrected=True), p_min=0.3)
    weighted = DaskSPLXGBClassifier(**given).fit(dX, dy, sample_weight=dw)
    scaled = DaskSPLXGBClassifier(**given, scale_pos_weight=2.5).fit(dX, dy)
    one = SPLXGBClassifier(**given, n_jobs=1, scale_pos_weight=2.5).fit(X, y)
    ages = [[m.paces_[k].age for k in (0, 1)] for m in (weighted, scaled, one)]
    np.testing.assert_allclose(ages[1:], [ages[0]] * 2, rtol=1e-6)
    assert ages[0][1] < -np.log(0.3) + 2 * np.log(1 / (2 * y.mean())) - 0.1


@pytest.mark.parametrize("kind", ["array", "dataframe"])
@pytest.mark.parametrize("n_seeds", [1, 2])
def test_data_are_loaded_once(client, kind, n_seeds, tmp_path):
    n_pieces = 3
    if kind == "array":
        pieces = [
            da.from_delayed(
                delayed(load_piece)(k, tmp_path), (N // n_pieces, 21), dtype=float
            )
            for k in range(n_pieces)
        ]
        table = da.concatenate(pieces)
        dX, dy = table[:, :-1], table[:, -1]
    else:
        table = dd.from_map(load_frame, range(n_pieces), folder=tmp_path)
        (tmp_path / "loads").unlink(missing_ok=True)  # for the types of the columns
        dX, dy = table.drop(columns="20"), table["20"]
    model = DaskSPLXGBClassifier(n_estimators=20, n_seeds=n_seeds)
    model.fit(dX, dy, eval_set=[(dX, dy)], verbose=False)
    assert model.sample_pace_.compute().shape == (N,)
    loads = (tmp_path / "loads").read_text().split()
    assert sorted(loads) == [str(k) for k in range(n_pieces)]


def load_piece(number, folder):
    with open(folder / "loads", "a") as file:
        file.write(f"{number}\n")
    X, y, _ = data()
    rows = slice(number * N // 3, (number + 1) * N // 3)
    return np.column_stack([X, y])[rows]


def load_frame(number, folder):
    piece = load_piece(number, folder)
    return pd.DataFrame(piece, columns=[str(k) for k in range(21)])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lightgbm_on_dask_by_the_objective(client, n_classes):
    """Of few values workers have the same bins.

    Leaves are bounded by their Hessians: LightGBM only estimates counts over workers.
    """
    X, y, flipped = data()
    if n_classes == 3:
        y = y + (X[:, 2] > 0.8)
    X = np.clip(np.round(2 * X) / 2, -2, 2)
    dX, dy = spread(client, X, y)
    share = np.bincount(y) / N
    start = np.log(share) if n_classes == 3 else float(np.log(share[1] / share[0]))
    given = dict(
        n_estimators=30,
        num_leaves=6,
        min_child_samples=0,
        min_child_weight=10.0,
        verbose=-1,
    )
    scores = {}
    for pace in ("hard", None):
        loss = "softmax" if n_classes == 3 else "logistic"
        given_too = {"warm_rounds": 5, "start_score": start}
        objective = SelfPacedObjective(loss, pace, **given_too)
        of_half = OfHalf(loss, pace, **given_too)
        many = DaskLGBMClassifier(objective=of_half, client=client, **given)
        found = many.fit(dX, dy).predict(dX, raw_score=True).compute()
        one = LGBMClassifier(objective=objective, n_jobs=1, **given).fit(X, y)
        np.testing.assert_allclose(found, one.predict(X, raw_score=True), atol=1e-6)
        scores[pace] = found + start
    plain = LGBMClassifier(n_jobs=1, **given).fit(X, y)
    wanted = plain.predict(X, raw_score=True)
    np.testing.assert_allclose(scores[None], wanted, atol=1e-6)
    # With a pace the model believes wrong labels less
    p = {key: own_probability(each, y) for key, each in scores.items()}
    gained = np.log(p["hard"]) - np.log(p[None])
    assert gained[flipped].mean() < gained[~flipped].mean() - 0.3


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


class OfHalf(SelfPacedObjective):
    """Of one half of the rows, as two workers have them."""

    def __call__(self, y_true, y_pred, sample_weight=None):
        if len(y_true) != N // 2:
            raise ValueError(f"{len(y_true)} rows on a worker")
        return super().__call__(y_true, y_pred, sample_weight)


def own_probability(scores, y):
    p = SelfPacedObjective().probability(scores)
    return p[np.arange(len(y)), y]


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


# ----------------------------------------------------------------------- lost workers


@contextlib.contextmanager
def nannies():
    """A client of two workers that are started anew when they are lost."""
    with start_cluster() as cluster, Client(cluster) as client:
        yield client
        client.wait_for_workers(2, timeout=SECONDS)  # one that starts is slow to stop


class Fatal(xgboost.callback.TrainingCallback):
    """Ends a process when it arrives there, or at the end of a round."""

    def __init__(self, victim, at_round=None):
        super().__init__()
        self.victim, self.at_round = victim, at_round

    def __setstate__(self, state):
        vars(self).update(state)
        if self.at_round is None:
            end(self.victim)

    def after_iteration(self, model, epoch, evals_log):
        if epoch == self.at_round:
            end(self.victim)


def end(victim):
    """Ends this process, if it is the one."""
    if os.getpid() == victim:
        os.kill(victim, signal.SIGKILL)


@pytest.mark.parametrize("at_round", [None, 20])
def test_a_lost_worker_ends_the_fit_with_a_clear_error(at_round, monkeypatch):
    """While training, and before it has begun, when others would wait for it."""
    monkeypatch.setattr(lost_workers, "GRACE", 2.0)
    X, y, _ = data()
    with nannies() as client:
        pids = client.run(os.getpid)
        lost, other = pids
        callbacks = [Fatal(pids[lost], at_round)]
        model = DaskSPLXGBClassifier(n_estimators=100_000, callbacks=callbacks)
        model.client = client
        with pytest.raises(RuntimeError, match="XGBoost cannot go on") as at:
            model.fit(*spread(client, X, y))
        assert str(at.value).startswith(f"Lost workers during fit ({lost}), and")
        if at_round is None:
            assert f"Restarted {other}, which waited for them; what" in str(at.value)
        assert not hasattr(model, "_Booster") and model.callbacks is callbacks
        # No worker is left waiting for the lost one
        client.wait_for_workers(2, timeout=SECONDS)
        model.set_params(n_estimators=20, callbacks=None).fit(*split(X, y))
        assert len(model.latent_objective_) == 20


def test_the_loss_of_an_idle_worker_is_none_of_the_fits(tmp_path, monkeypatch):
    """Nor if tasks of the user are bound to it; the user's own error is raised."""
    monkeypatch.setattr(lost_workers, "GRACE", 2.0)
    X, y, _ = data()
    with nannies() as client:
        pids = client.run(os.getpid)
        busy, idle = pids
        whole = [da.from_array(a, chunks=-1) for a in (X, y)]
        dX, dy = client.persist(whole, workers=[busy])
        bound = client.submit(time.sleep, 600, workers=[idle], pure=False)
        ended, seconds = tmp_path / "ended", lost_workers.GRACE + 4 * lost_workers.PAUSE

        def metric(y_true, y_pred):
            time.sleep(0.01)
            if not ended.exists():
                os.kill(pids[idle], signal.SIGKILL)
                ended.touch()
            elif time.time() > ended.stat().st_mtime + seconds:
                raise ValueError("an error of the user")
            return 0.0

        model = DaskSPLXGBClassifier(n_estimators=100_000, eval_metric=metric)
        model.client = client
        with pytest.raises(ValueError, match="an error of the user"):
            model.fit(dX, dy, eval_set=[(dX, dy)], verbose=False)
        assert idle not in client.run(os.getpid)
        bound.cancel()


@pytest.mark.parametrize("how", ["scattered", "bound"])
def test_data_that_only_a_lost_worker_had(how, monkeypatch):
    monkeypatch.setattr(lost_workers, "GRACE", 2.0)
    X, y, _ = data()
    with nannies() as client:
        pids = client.run(os.getpid)
        lost = next(iter(pids))
        if how == "scattered":
            held = client.scatter(X, workers=[lost])
            dX = da.from_delayed(held, X.shape, dtype=X.dtype)
        else:
            dX = client.persist(da.from_array(X, chunks=-1), workers=[lost])
            wait(dX)
        with dask.annotate(workers=[lost], allow_other_workers=True):
            dX = dX.map_blocks(end_and_pass, pids[lost], meta=X[:0])
        model = DaskSPLXGBClassifier(n_estimators=20)
        model.client = client
        with pytest.raises(RuntimeError, match="What was only there, scattered") as at:
            model.fit(dX, da.from_array(y, chunks=-1))
        assert str(at.value).startswith(f"Lost workers during fit ({lost}), and no")
        assert "Restarted" not in str(at.value)


def end_and_pass(block, victim):
    end(victim)
    return block


def test_the_only_worker_is_lost_while_it_loads(monkeypatch):
    monkeypatch.setattr(lost_workers, "GRACE", 2.0)
    X, y, _ = data()
    with start_cluster(0) as cluster, Client(cluster) as client, lone_worker(client):
        [(lost, victim)] = client.run(os.getpid).items()
        dX = da.from_array(X, chunks=-1).map_blocks(end_and_pass, victim, meta=X[:0])
        model = DaskSPLXGBClassifier(n_estimators=20)
        model.client = client
        with pytest.raises(RuntimeError, match="Lost workers during fit") as at:
            model.fit(dX, da.from_array(y, chunks=-1))
        assert lost in str(at.value)


@contextlib.contextmanager
def lone_worker(client):
    """A worker that nobody starts anew."""
    address = client.scheduler.address
    worker = subprocess.Popen(
        [sys.executable, "-m", "dask", "worker", address, "--no-nanny"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL,
    )
    try:
        client.wait_for_workers(1, timeout=SECONDS)
        yield
    finally:
        worker.kill()
        worker.wait()


def test_what_is_seen_on_the_scheduler():
    class Task:
        def __init__(self, key, mark=None, workers=None, waiters=None):
            self.key, self.worker_restrictions, self.waiters = key, workers, waiters
            self.annotations = {lost_workers.MARK: mark} if mark else None

    stuck = Task("stuck")
    bound = [Task(k, "ours", {"one"}) for k in "ab"]
    wanted = {stuck, *bound, Task("other fit", "theirs", {"two"}), Task("data")}
    elsewhere = Task("of another client", "ours", {"three"})
    lost = Task("lost", workers={"gone"}, waiters={stuck, elsewhere})
    clients = {"we": SimpleNamespace(wants_what=wanted)}
    clients["they"] = SimpleNamespace(wants_what={elsewhere})
    scheduler = SimpleNamespace(
        clients=clients, workers={"one": 1, "two": 2}, running={1, 2}, unrunnable={lost}
    )
    seen = lost_workers.look(scheduler, client="we", mark="ours")
    assert seen == ({"one", "two"}, {"one": {"a", "b"}}, {"stuck"})
    scheduler.running = {1}  # the other pauses, and may go on
    assert not lost_workers.look(scheduler, client="we", mark="ours").stuck


class FakeCluster:
    """A client of workers, on which tasks run that training has bound to them."""

    id = "client"
    futures = ()

    def __init__(self, **running):
        self.there, self.running = set(running), running
        self.bound = dict(running)
        self.restarted = []

    def futures_of(self, data):
        return []

    async def run_on_scheduler(self, function, client, mark):
        assert function is lost_workers.look and client == self.id
        return lost_workers.View(set(self.there), dict(self.bound), set())

    async def run(self, function, workers, on_error):
        assert function is lost_workers.list_running
        return {address: self.running[address] for address in workers}

    async def restart_workers(self, addresses):
        self.restarted += addresses


def test_workers_that_cannot_be_restarted_are_named():
    class Unable(FakeCluster):
        async def restart_workers(self, addresses):
            raise ValueError("Restarting workers requires a nanny")

    cluster = Unable(one={"key"})
    said = asyncio.run(lost_workers._free(cluster, cluster.bound, 0.0))
    assert "one may wait" in said and "client.restart()" in said and "nanny" in said


def test_workers_that_train_no_more_are_left_alone():
    cluster = FakeCluster(one={"another"}, other=set())
    bound = {"one": {"key"}, "other": {"key of other"}}
    assert not asyncio.run(lost_workers._free(cluster, bound, 0.0))
    assert not cluster.restarted


@pytest.mark.parametrize("next_seed_needs_it", [False, True])
def test_a_worker_lost_between_two_seeds(next_seed_needs_it, monkeypatch):
    monkeypatch.setattr(lost_workers, "PAUSE", 0.02)
    monkeypatch.setattr(lost_workers, "GRACE", 0.2)
    cluster = FakeCluster(one={"key"}, other={"key of other"})

    async def fit():
        await asyncio.sleep(0.1)
        cluster.there.remove("other")
        if not next_seed_needs_it:
            del cluster.bound["other"]
        await asyncio.sleep(60 if next_seed_needs_it else 0.6)

    if next_seed_needs_it:
        with pytest.raises(RuntimeError, match=r"Lost .*\(other\).*Restarted one"):
            asyncio.run(lost_workers.watch(cluster, fit, None))
    else:
        asyncio.run(lost_workers.watch(cluster, fit, None))
    assert cluster.restarted == ["one"] * next_seed_needs_it


# -------------------------------------------------------------------------- warnings


def test_dask_is_not_to_warn_of_our_mark():
    """By one filter, made once."""
    code = (
        "import warnings; from splboost.engines import lost_workers as own; "
        "warnings.warn(f'Dask annotations {{{own.MARK!r}: 1}} detected.')"
    )
    given = {"capture_output": True, "text": True, "check": True}
    said = subprocess.run([sys.executable, "-c", code], **given)
    assert "annotations" not in said.stderr

    async def fit():
        pass

    with warnings.catch_warnings():
        before = list(warnings.filters)
        asyncio.run(lost_workers.watch(FakeCluster(one=set()), fit, None))
        assert warnings.filters == before
