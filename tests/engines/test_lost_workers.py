"""Workers that are lost while a Dask cluster fits a model."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import pytest
import xgboost
from distributed import Client, wait

from dask_cluster import SECONDS, data, split, spread, start_cluster
from splboost.engines import DaskSPLXGBClassifier, lost_workers

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.usefixtures("deadline"),
]


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


@pytest.mark.parametrize("it_is_needed", [False, True])
def test_a_worker_lost_when_training_is_over(it_is_needed, monkeypatch):
    monkeypatch.setattr(lost_workers, "PAUSE", 0.02)
    monkeypatch.setattr(lost_workers, "GRACE", 0.2)
    cluster = FakeCluster(one={"key"}, other={"key of other"})

    async def fit():
        await asyncio.sleep(0.1)
        cluster.there.remove("other")
        if not it_is_needed:
            del cluster.bound["other"]
        await asyncio.sleep(60 if it_is_needed else 0.6)

    if it_is_needed:
        with pytest.raises(RuntimeError, match=r"Lost .*\(other\).*Restarted one"):
            asyncio.run(lost_workers.watch(cluster, fit, None))
    else:
        asyncio.run(lost_workers.watch(cluster, fit, None))
    assert cluster.restarted == ["one"] * it_is_needed


# -------------------------------------------------------------------------- warnings
