"""On a Dask cluster of two worker processes, also when one of them is lost."""

import logging
import os
import pickle
import re
import signal
import time
from contextlib import contextmanager

import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
import xgboost
from distributed import Client, LocalCluster
from lightgbm import DaskLGBMClassifier, LGBMClassifier
from scipy.special import softmax

import engine_models
from splboost import SPLForestClassifier
from splboost.engines import (
    DaskSPLXGBClassifier,
    SelfPacedObjective,
    SPLXGBClassifier,
)
from splboost.pace import Hard

N = 1200
SECONDS = 150  # after which a test is taken to hang
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.usefixtures("deadline"),
]


@pytest.fixture
def deadline():
    """Ends a test that hangs."""

    def give_up(*_):
        raise TimeoutError(f"No end after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@contextmanager
def start_cluster():
    """A client of two workers, which are started anew when they are lost."""
    options = {"threads_per_worker": 1, "processes": True, "memory_limit": 0}
    options |= {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as found:
        yield found


@pytest.fixture(scope="module")
def client():
    with start_cluster() as found:
        yield found


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


def settings(**given):
    return {"n_estimators": 40, "subsample": 1.0, **given}


@pytest.mark.parametrize("on_one_worker, n_classes", [(True, 2), (False, 3)])
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


def test_dataframes_early_stopping_and_pickling(client, tmp_path):
    X, y, flipped = data()
    frame = pd.DataFrame(X, columns=[f"column_{k}" for k in range(20)]).assign(target=y)
    table = dd.from_pandas(frame, npartitions=3)
    dX, dy = table.drop(columns="target"), table["target"]
    model = DaskSPLXGBClassifier(
        n_estimators=60, early_stopping_rounds=3, eval_metric=brier
    )
    model.fit(dX, dy, eval_set=[(dX, dy)], verbose=False)
    v = model.sample_pace_.compute()
    assert v.shape == (N,) and (v == 0)[flipped].mean() > 0.5
    assert set(model.paces_) == {0, 1}
    assert 15 < len(model.latent_objective_) == len(model.n_selected_)
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
    with pytest.warns(UserWarning, match="had no effect: 5 rounds") as given:
        DaskSPLXGBClassifier(n_estimators=5).fit(dX, dy)
    assert [each.filename for each in given] == [__file__]
    rare = (np.arange(N) % 14 == 0).astype(int)
    noise = np.random.default_rng(0).normal(size=(N, 3)) + rare[:, None]
    with pytest.warns(UserWarning, match="has dropped .* of class 1"):
        DaskSPLXGBClassifier(n_estimators=30).fit(*split(noise, rare))


def test_partitions_without_rows(client):
    X, y, _ = data()
    y = y + (X[:, 2] > 0.8)
    weight = np.random.default_rng(0).uniform(0.5, 2, N)
    pieces = (500, 0, N - 500, 0)
    dX = da.from_array(X, chunks=(N, 20)).rechunk((pieces, (20,)))
    dy, dw = (da.from_array(a, chunks=N).rechunk((pieces,)) for a in (y, weight))
    assert dX.numblocks == (4, 1)
    given = settings(p_min=0.2)
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
    found = [each.evals_result()["validation_0"]["mlogloss"] for each in (many, one)]
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


def test_data_are_loaded_once(client, tmp_path):
    table = dd.from_map(load_frame, range(3), folder=tmp_path)
    (tmp_path / "loads").unlink(missing_ok=True)  # for the types of the columns
    dX, dy = table.drop(columns="20"), table["20"]
    model = DaskSPLXGBClassifier(n_estimators=20)
    model.fit(dX, dy, eval_set=[(dX, dy)], verbose=False)
    assert model.sample_pace_.compute().shape == (N,)
    assert sorted((tmp_path / "loads").read_text().split()) == ["0", "1", "2"]


def load_frame(number, folder):
    with open(folder / "loads", "a") as file:
        file.write(f"{number}\n")
    X, y, _ = data()
    rows = slice(number * N // 3, (number + 1) * N // 3)
    columns = [str(k) for k in range(21)]
    return pd.DataFrame(np.column_stack([X, y])[rows], columns=columns)


def test_lightgbm_on_dask_by_the_objective(client):
    """Of few values workers have the same bins.

    Leaves are bounded by their Hessians: LightGBM only estimates counts over workers.
    """
    X, y, flipped = data()
    y = y + (X[:, 2] > 0.8)
    X = np.clip(np.round(2 * X) / 2, -2, 2)
    dX, dy = spread(client, X, y)
    share = np.bincount(y) / N
    start = np.log(share)
    given = dict(
        n_estimators=30,
        num_leaves=6,
        min_child_samples=0,
        min_child_weight=10.0,
        verbose=-1,
    )
    scores = {}
    for pace in ("hard", None):
        given_too = {"warm_rounds": 5, "start_score": start}
        objective = SelfPacedObjective("softmax", pace, **given_too)
        of_half = OfHalf("softmax", pace, **given_too)
        many = DaskLGBMClassifier(objective=of_half, client=client, **given)
        found = many.fit(dX, dy).predict(dX, raw_score=True).compute()
        one = LGBMClassifier(objective=objective, n_jobs=1, **given).fit(X, y)
        np.testing.assert_allclose(found, one.predict(X, raw_score=True), atol=1e-6)
        scores[pace] = found + start
    plain = LGBMClassifier(n_jobs=1, **given).fit(X, y)
    wanted = plain.predict(X, raw_score=True)
    np.testing.assert_allclose(scores[None], wanted, atol=1e-6)
    # With a pace the model believes wrong labels less
    p = {key: softmax(each, axis=1)[np.arange(N), y] for key, each in scores.items()}
    gained = np.log(p["hard"]) - np.log(p[None])
    assert gained[flipped].mean() < gained[~flipped].mean() - 0.3


class OfHalf(SelfPacedObjective):
    """Of one half of the rows, as two workers have them."""

    def __call__(self, y_true, y_pred, sample_weight=None):
        if len(y_true) != N // 2:
            raise ValueError(f"{len(y_true)} rows on a worker")
        return super().__call__(y_true, y_pred, sample_weight)


def test_bags_run_on_the_cluster(client):
    X, y, _ = data()
    X, y = X[:200], y[:200]
    # Here first: it compiles, and the workers find the kernels
    alone = SPLForestClassifier(n_bags=2, random_state=0).fit(X, y)
    before = count_tasks(client)
    with joblib.parallel_config(backend="dask", client=client):
        forest = SPLForestClassifier(n_bags=2, random_state=0).fit(X, y)
    assert before < count_tasks(client)
    np.testing.assert_allclose(forest.predict_proba(X), alone.predict_proba(X))


def count_tasks(client):
    """Kinds of tasks that the scheduler has seen."""
    return client.run_on_scheduler(count_seen)


def count_seen(dask_scheduler):
    return sum(
        sum(prefix.state_counts.values())
        for prefix in dask_scheduler.task_prefixes.values()
    ) + len(dask_scheduler.task_prefixes)


@pytest.mark.parametrize(
    "kind, shape", [("array", (N,)), ("array", (N, 1)), ("frame", (N, 1))]
)
def test_scores_to_start_from(client, kind, shape):
    X, y, _ = data()
    start = np.random.default_rng(0).normal(size=N).astype(np.float32)

    def cut(values):
        if kind == "array":
            return da.from_array(values, chunks=(N // 3, *values.shape[1:]))
        make = pd.DataFrame if values.ndim > 1 else pd.Series
        return dd.from_pandas(make(values), npartitions=3)

    given = dict(n_estimators=20, warm_rounds=3, subsample=1.0)
    many = DaskSPLXGBClassifier(**given).fit(
        cut(X), cut(y), base_margin=cut(start.reshape(shape))
    )
    one = SPLXGBClassifier(**given, n_jobs=1).fit(X, y, base_margin=start)
    np.testing.assert_array_equal(many.sample_pace_.compute(), one.sample_pace_)
    np.testing.assert_allclose(many.latent_objective_, one.latent_objective_, rtol=1e-5)


# ------------------------------------------------------------------- lost workers


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


def test_the_loss_of_an_idle_worker_is_none_of_the_fits(client, tmp_path):
    """Nor if tasks of the user are bound to it; the user's own error is raised."""
    X, y, _ = data()
    processes = client.run(os.getpid)
    busy, idle = processes
    whole = [da.from_array(a, chunks=-1) for a in (X, y)]
    dX, dy = client.persist(whole, workers=[busy])
    bound = client.submit(time.sleep, 600, workers=[idle], pure=False)
    ended, victim = tmp_path / "ended", processes[idle]

    def metric(y_true, y_pred):
        time.sleep(0.01)
        if not ended.exists():
            os.kill(victim, signal.SIGKILL)
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
    client.wait_for_workers(2, timeout=SECONDS)


def fit_without_a_worker(client, at_round):
    """The model whose fit loses a worker, when that arrives there or at a round."""
    X, y, _ = data()
    processes = client.run(os.getpid)
    lost, *_ = processes
    callbacks = [Fatal(processes[lost], at_round)]
    model = DaskSPLXGBClassifier(n_estimators=100_000, callbacks=callbacks)
    model.client = client
    with pytest.raises(RuntimeError, match="XGBoost cannot go on") as at:
        model.fit(*spread(client, X, y))
    assert str(at.value).startswith(f"Lost workers during fit ({lost}), and")
    assert not hasattr(model, "_Booster") and model.callbacks is callbacks
    return model


def test_a_lost_worker_ends_the_fit_with_a_clear_error(client):
    """Nor does the other worker wait for it."""
    model = fit_without_a_worker(client, at_round=20)
    client.wait_for_workers(2, timeout=SECONDS)
    X, y, _ = data()
    model.set_params(n_estimators=20, callbacks=None).fit(*split(X, y))
    assert len(model.latent_objective_) == 20


def test_a_worker_that_is_lost_before_training_begins():
    """The other one may wait for it from then on, so these are of this test alone."""
    with start_cluster() as client:
        fit_without_a_worker(client, at_round=None)
