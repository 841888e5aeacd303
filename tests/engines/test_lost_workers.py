"""Workers that are lost while a Dask cluster fits a model."""

import contextlib
import os
import signal
import time

import dask.array as da
import pytest
import xgboost
from distributed import Client

from dask_cluster import SECONDS, data, split, spread, start_cluster
from splboost.engines import DaskSPLXGBClassifier

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
def test_a_lost_worker_ends_the_fit_with_a_clear_error(at_round):
    """While training, and before it has begun, when others would wait for it."""
    X, y, _ = data()
    with nannies() as client:
        pids = client.run(os.getpid)
        lost, *_ = pids
        callbacks = [Fatal(pids[lost], at_round)]
        model = DaskSPLXGBClassifier(n_estimators=100_000, callbacks=callbacks)
        model.client = client
        with pytest.raises(RuntimeError, match="XGBoost cannot go on") as at:
            model.fit(*spread(client, X, y))
        assert str(at.value).startswith(f"Lost workers during fit ({lost}), and")
        assert not hasattr(model, "_Booster") and model.callbacks is callbacks
        if at_round is not None:  # the others do not wait for the lost one
            client.wait_for_workers(2, timeout=SECONDS)
            model.set_params(n_estimators=20, callbacks=None).fit(*split(X, y))
            assert len(model.latent_objective_) == 20


def test_the_loss_of_an_idle_worker_is_none_of_the_fits(tmp_path):
    """Nor if tasks of the user are bound to it; the user's own error is raised."""
    X, y, _ = data()
    with nannies() as client:
        pids = client.run(os.getpid)
        busy, idle = pids
        whole = [da.from_array(a, chunks=-1) for a in (X, y)]
        dX, dy = client.persist(whole, workers=[busy])
        bound = client.submit(time.sleep, 600, workers=[idle], pure=False)
        ended = tmp_path / "ended"

        def metric(y_true, y_pred):
            time.sleep(0.01)
            if not ended.exists():
                os.kill(pids[idle], signal.SIGKILL)
                ended.touch()
            elif time.time() > ended.stat().st_mtime + 4:
                raise ValueError("an error of the user")
            return 0.0

        model = DaskSPLXGBClassifier(n_estimators=100_000, eval_metric=metric)
        model.client = client
        with pytest.raises(ValueError, match="an error of the user"):
            model.fit(dX, dy, eval_set=[(dX, dy)], verbose=False)
        assert idle not in client.run(os.getpid)
        bound.cancel()
