"""XGBoost's classifier for Dask with a pace.

A pace with a fixed cut looks at one sample at a time, so workers need not talk. Summed
up are only the weights of the classes before the fit, and the record of the rounds
after it.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Coroutine
from typing import Any

import numpy as np
from dask import array, delayed
from dask.base import is_dask_collection, unpack_collections
from distributed import wait
from numpy.typing import NDArray
from xgboost import collective
from xgboost import dask as xgboost_dask
from xgboost.callback import TrainingCallback

from splboost._tools.user_warnings import keeping_advice, warn
from splboost.engines.objective import PacedRounds
from splboost.engines.self_paced import (
    check_total,
    documented,
)
from splboost.engines.xgboost import (
    BORROWED,
    SelfPacedXGB,
    count_rounds,
    start_score,
    weigh,
)

FloatArray = NDArray[np.float64]
# Arguments of fit that are cut into the same pieces; likewise for each evaluation set
TRAINING = "X", "y", "sample_weight", "base_margin"
EVALUATION = "sample_weight_eval_set", "base_margin_eval_set"
ATTRIBUTE = "splboost_rounds"
PAUSE = 1.0  # seconds between two looks for lost workers


@documented
class DaskSPLXGBClassifier(SelfPacedXGB, xgboost_dask.DaskXGBClassifier):
    """XGBoost on a Dask cluster that is not fooled by wrong labels.

    It is ``xgboost.dask.DaskXGBClassifier`` with what ``SPLXGBClassifier`` adds on one
    machine, for dask arrays and dataframes. A pace looks at one sample at a time, so
    workers exchange no more than XGBoost has them exchange; with the same bins the
    model is that of one machine. If a worker that trains is lost, ``fit`` ends with an
    error.

    Parameters
    ----------
    {pace}
    {step}
    **kwargs
        Those of ``xgboost.dask.DaskXGBClassifier``.

    Attributes
    ----------
    sample_pace_ : dask array of shape (n_samples,)
        v of each training sample at the final scores: 0 means dropped as an outlier.
        NaN for samples of weight zero. It is held by the workers, and not pickled.
    {record}

    See Also
    --------
    SPLXGBClassifier : The same on one machine.

    Examples
    --------
    >>> from splboost.engines import DaskSPLXGBClassifier
    >>> clf = DaskSPLXGBClassifier(p_min=0.3)
    >>> clf.get_params()["subsample"]
    0.5
    """

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        verbose: int | bool | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        feature_weights: Any = None,
    ) -> DaskSPLXGBClassifier:
        """Fit the model; all arguments are those of ``DaskXGBClassifier.fit``.

        Returns
        -------
        self
        """
        data = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._check_settings()
        self._check_columns(getattr(X, "_meta", X), "X")
        with keeping_advice() as kept:  # another thread does the fit
            fitted = self._client_sync(self._fit_async, **data)
        for advice in kept:
            warn(*advice)
        return fitted

    async def _fit_async(self, **data: Any) -> Any:
        with self._borrowed(*BORROWED, "base_score") as borrowed:
            await _watch(self.client, self._fit_paced(data, borrowed))
        return self

    async def _fit_paced(self, data: dict[str, Any], borrowed: dict[str, Any]) -> None:
        data = await _load(self.client, data)
        mass = await _weigh_classes(self.client, data["y"], data["sample_weight"])
        softmax = len(mass) > 2
        positive = 1.0 if softmax else float(self.scale_pos_weight or 1.0)
        factors = np.where(np.arange(len(mass)) == 1, positive, 1.0)
        n_done = count_rounds(data["xgb_model"])
        rounds = self._make_rounds(range(len(mass)), mass * factors, n_done)
        objective = "multi:softprob" if softmax else "binary:logistic"
        if self.base_score is None and data["xgb_model"] is None:
            # XGBoost knows the classes by their weights alone
            params = {"objective": objective, "nthread": 1}
            params |= {"num_class": len(mass)} if softmax else {}
            params["scale_pos_weight"] = self.scale_pos_weight
            self.base_score = start_score(params, np.arange(len(mass)), mass)
        self._set_up(WorkerRounds(rounds, positive), borrowed, n_done)
        await super()._fit_async(**data)
        borrowed["objective"] = objective
        total = json.loads(self._Booster.attr(ATTRIBUTE) or "[]")
        self._Booster.set_attr(**{ATTRIBUTE: None})
        called = total or self._Booster.num_boosted_rounds() == n_done
        assert called, "this XGBoost has not called the objective"
        rounds.latent = total[: len(total) // 2]
        rounds.n_selected = [int(n) for n in total[len(total) // 2 :]]
        n = self._get_iteration_range(None)[1] or self._Booster.num_boosted_rounds()
        closing = await self._close(data, rounds, positive)
        self._keep_record(rounds, n - n_done, *closing)

    async def _close(
        self, data: dict[str, Any], rounds: PacedRounds, positive: float
    ) -> tuple[Any, float, FloatArray]:
        """v of all samples, the summed latent loss, and what is dropped of classes."""
        margin = data["base_margin"]
        if isinstance(margin, array.Array) and margin.ndim == 1:
            # XGBoost would pair its pieces with the columns of X
            margin = margin[:, None]
        scores = await super()._predict_async(
            data["X"],
            output_margin=True,
            validate_features=True,
            base_margin=margin,
            iteration_range=None,
        )
        pieces = self.client.persist(
            [
                delayed(close_piece)(*piece, rounds, positive)
                for piece in _align(scores, data["y"], data["sample_weight"])
            ]
        )
        sums = [delayed((each[0].size, each[1], each[2])) for each in pieces]
        sizes, latent, dropped = zip(*await _gather(self.client, sums), strict=True)
        parts = [
            array.from_delayed(each[0], (n,), dtype=np.float64)
            for each, n in zip(pieces, sizes, strict=True)
        ]
        return array.concatenate(parts), sum(latent), sum(dropped)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("sample_pace_", None)
        return state


# ------------------------------------------------------------------------- on a worker


class WorkerRounds(TrainingCallback):
    """The objective of a fit on the rows of one worker, and a report of its rounds.

    Reports are summed up over all workers, and travel with the booster, as an attribute
    of it. ``positive`` is a factor of the weights of the second class.
    """

    def __init__(self, rounds: PacedRounds, positive: float) -> None:
        super().__init__()
        self._not_started = rounds
        self._positive = positive

    def before_training(self, model: Any) -> Any:
        self._rounds = copy.copy(self._not_started)
        return model

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self._rounds.codes is None:
            weight = weigh(y_true, sample_weight, self._positive)
            self._rounds.start(np.asarray(y_true), weight)
        return self._rounds.step(y_pred)

    def after_training(self, model: Any) -> Any:
        record = [self._rounds.latent, self._rounds.n_selected]
        total = collective.allreduce(
            np.array(record, dtype=np.float64).ravel(), collective.Op.SUM
        )
        model.set_attr(**{ATTRIBUTE: json.dumps(total.tolist())})
        return model


def weigh_labels(y: Any, weight: Any) -> dict[float, float]:
    """The weight of each label in a piece."""
    labels, codes = np.unique(np.asarray(y).ravel(), return_inverse=True)
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64).ravel()
        wrong = ~((weight >= 0) & np.isfinite(weight))
        if wrong.any():
            raise ValueError(
                f"sample_weight must be finite and not negative, got "
                f"{weight[wrong][0]:g}; give a number, zero or positive, for each row."
            )
    mass = np.bincount(codes, weight, minlength=len(labels))
    return dict(zip(labels.tolist(), mass.tolist(), strict=True))


def close_piece(
    scores: Any, y: Any, weight: Any, rounds: PacedRounds, positive: float
) -> tuple[FloatArray, float, FloatArray]:
    """What ``PacedRounds.close`` says of a piece."""
    y = np.asarray(y).ravel()
    of_piece = copy.copy(rounds).start(y, weigh(y, weight, positive))
    return of_piece.close(np.asarray(scores))


# ------------------------------------------------------------------ data of the cluster


async def _load(client: Any, data: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``fit`` that the workers hold, without empty pieces.

    All begin to load at once. XGBoost fails on a piece without rows that has come over
    the network.
    """
    groups = [{name: data[name] for name in TRAINING}]
    for k, pair in enumerate(data["eval_set"] or ()):
        groups.append({f"eval_set[{k}][{j}]": each for j, each in enumerate(pair)})
        for name in EVALUATION:
            groups[-1][f"{name}[{k}]"] = dict(enumerate(data[name] or ())).get(k)
    for group in groups:
        for place, (name, collection) in enumerate(group.items()):
            is_left_out = collection is None and place > 1  # X and y must be there
            if not is_left_out and not is_dask_collection(collection):
                raise TypeError(
                    f"{name} must be a dask array, dataframe or series, got "
                    f"{type(collection).__name__}; dask.array.from_array makes one, "
                    "and SPLXGBClassifier takes the data of one machine."
                )
    lazy, put_back = unpack_collections([list(group.values()) for group in groups])
    (loaded,) = put_back(client.persist(lazy))
    for group in loaded:
        pieces = [delayed(len)(piece) for (piece,) in _align(group[1])]
        n_rows = await _gather(client, pieces)
        if any(n_rows) and not all(n_rows):
            kept = [k for k, n in enumerate(n_rows) if n]
            group[:] = [None if c is None else c.partitions[kept] for c in group]
    training, *evaluation = loaded
    found = dict(zip(TRAINING, training, strict=True))
    if evaluation:
        found["eval_set"] = [(X, y) for X, y, *_ in evaluation]
        for place, name in enumerate(EVALUATION, start=2):
            sets = [group[place] for group in evaluation]
            found[name] = sets if any(each is not None for each in sets) else None
    return data | found


async def _weigh_classes(client: Any, y: Any, weight: Any) -> FloatArray:
    """The weight of each class, from 0 on."""
    pieces = _align(y, weight)
    masses = await _gather(client, [delayed(weigh_labels)(*each) for each in pieces])
    labels = sorted({label for mass in masses for label in mass})
    if not labels:
        raise ValueError(
            "y has no rows in any partition; give at least one sample of each class."
        )
    if labels != list(range(len(labels))):
        raise ValueError(
            f"y must hold the classes 0 to {len(labels) - 1}, got "
            f"{labels[:10]}; encode them, as sklearn's LabelEncoder does."
        )
    total = np.array([sum(mass.get(k, 0.0) for mass in masses) for k in labels])
    if not total.sum() > 0:
        raise ValueError(
            "Sample weights are all zero: sample_weight leaves no row to learn "
            "from. Give at least one sample of each class a positive weight."
        )
    check_total(float(total.sum()))
    return total


def _align(*collections: Any) -> list[tuple[Any, ...]]:
    """The pieces of arrays or series with the same partitions; None stays None."""
    cut = [
        None if each is None else np.ravel(each.to_delayed()).tolist()
        for each in collections
    ]
    lengths = {len(pieces) for pieces in cut if pieces is not None}
    if len(lengths) > 1:
        raise ValueError(
            f"y and sample_weight have {sorted(lengths)} partitions; they must be cut "
            "like X, as repartition and rechunk do."
        )
    n = lengths.pop()
    return list(zip(*([None] * n if p is None else p for p in cut), strict=True))


async def _gather(client: Any, tasks: list[Any]) -> Any:
    """What tasks give, when they are done."""
    futures = client.compute(tasks)
    await wait(futures)  # which can be cancelled, and leaves no errors behind
    return await client.gather(futures, asynchronous=True)


# ------------------------------------------------------------------------ lost workers


async def _watch(client: Any, fit: Coroutine[Any, Any, None]) -> None:
    """Wait for a fit, and end it if a worker is lost that it cannot do without.

    Dask would wait for ever for what is bound to that worker, and XGBoost on the others
    waits for minutes, unless it exchanges data and so notices the loss itself.
    """
    others = set(client.futures)
    task = asyncio.ensure_future(fit)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=PAUSE)
            error = task.exception() if task.done() else None
            if task.done() and error is None:
                return
            lost = await client.run_on_scheduler(
                find_lost, client=client.id, others=others
            )
            if lost:
                raise RuntimeError(
                    f"Lost workers during fit ({', '.join(lost)}), and XGBoost cannot "
                    "go on without their rows. Fit again when the cluster is whole; "
                    "if workers were short of memory, give them more or smaller "
                    "partitions. Others may wait for the lost ones for some minutes, "
                    "which client.restart() ends."
                ) from error
        await task
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=PAUSE)


def find_lost(dask_scheduler: Any, client: str, others: set[Any]) -> list[str]:
    """Workers that are gone and that a fit is bound to; runs on the scheduler.

    XGBoost binds a task to each worker that has rows. ``others`` are what the client
    asked for before the fit.
    """
    bound = {
        address
        for task in dask_scheduler.clients[client].wants_what
        if task.key not in others
        for address in task.worker_restrictions or ()
    }
    return sorted(bound - set(dask_scheduler.workers))
