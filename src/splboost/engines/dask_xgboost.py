"""XGBoost's classifier for Dask with a pace."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xgboost
from dask import array, delayed
from numpy.typing import NDArray
from xgboost import dask as xgboost_dask

from splboost.engines.dask_rounds import (
    Reporter,
    WorkerObjective,
    count_labels,
    sum_piece,
    take_report,
    weigh_piece,
)
from splboost.engines.dask_watch import watch
from splboost.engines.paced import PacedLoss
from splboost.engines.settings import (
    NEVER_CALLED,
    check_settings,
    count_warm_rounds,
    make_loss,
    one_or_all,
    resolve_paces,
    set_pace_parameters,
    take_pace_parameters,
    unchanged_on_error,
    warn_of_empty_rounds,
    warn_of_lost_classes,
    warn_of_warm_rounds,
    without_own,
)
from splboost.engines.xgboost_fit import (
    DEFAULT_RATE,
    check_objective,
    count_rounds,
    list_seeds,
)
from splboost.engines.xgboost_rounds import (
    OfProbabilities,
    average,
    patient_callbacks,
    start_score,
)
from splboost.pace import Pace

FloatArray = NDArray[np.float64]


class DaskSPLXGBClassifier(xgboost_dask.DaskXGBClassifier):
    """XGBoost on a Dask cluster that is not fooled by wrong labels.

    It is ``xgboost.dask.DaskXGBClassifier`` with what ``SPLXGBClassifier`` adds on one
    machine, for dask arrays and dataframes. A pace looks at one sample at a time, so
    workers exchange no more than XGBoost has them exchange; with the same bins the
    model is that of one machine. If a worker is lost, ``fit`` ends with an error.

    Parameters
    ----------
    p_min : float or None, default=None
        Labels to which the model gives a lower probability have weight 0, whatever the
        pace. 0 is off. None is 0.37 for two classes, 0.74 / K for K; or what the pace
        says, if it has an age or plateau of its own.
    pace : Pace, str, dict or None, default="hard"
        How belief falls until then: an object of ``splboost.pace``, or the name of one.
        A dict has one for each label; None believes all.
    warm_rounds : int or None, default=None
        Rounds before the pace sets in, which do not count for early stopping either.
        None is 1.5 / ``learning_rate``.
    n_seeds : int, default=1
        Models to fit one after the other, each with a seed of its own, and to average
        into one, which has the trees of all.
    n_estimators : int, default=100
        Rounds.
    max_depth : int, default=3
        Depth of the trees.
    learning_rate : float, default=0.1
        Factor of every step.
    subsample : float in (0, 1], default=0.5
        Share of the samples that each tree is fitted on.
    **kwargs
        Those of ``xgboost.dask.DaskXGBClassifier``.

    Attributes
    ----------
    sample_pace_ : dask array of shape (n_samples,)
        v of each training sample at the final scores, worked out when it is asked for:
        0 means dropped as an outlier. NaN for samples of weight zero. It refers to the
        data on the cluster, and is not pickled.
    n_selected_ : array of shape (n_rounds,)
        Number of samples with v > 0 in each round; a list of such arrays, one for each
        seed, if there are several.
    latent_objective_ : array of shape (n_rounds,)
        Summed latent loss after each round, over all workers; a list likewise.
    paces_ : dict
        The pace of each class by its label, in units of the logistic loss; None where
        it has none.

    See Also
    --------
    SPLXGBClassifier : The same on one machine.

    Examples
    --------
    >>> from splboost.engines import DaskSPLXGBClassifier
    >>> clf = DaskSPLXGBClassifier(p_min=0.3, n_seeds=5)
    >>> clf.get_params()["subsample"]
    0.5
    """

    sample_pace_: Any
    paces_: dict[Any, Pace | None]
    objective: Any
    random_state: Any
    base_score: Any
    callbacks: Any
    early_stopping_rounds: Any
    _Booster: Any

    def __init__(
        self,
        *,
        p_min: float | None = None,
        pace: Pace | str | dict[Any, Any] | None = "hard",
        warm_rounds: int | None = None,
        n_seeds: int = 1,
        n_estimators: int | None = 100,
        max_depth: int | None = 3,
        learning_rate: float | None = 0.1,
        subsample: float | None = 0.5,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            max_depth=max_depth,
            learning_rate=learning_rate,
            subsample=subsample,
            **kwargs,
        )
        self.p_min = p_min
        self.pace = pace
        self.warm_rounds = warm_rounds
        self.n_seeds = n_seeds

    def get_xgb_params(self) -> dict[str, Any]:
        """The parameters that XGBoost is to see."""
        return without_own(super().get_xgb_params())

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the pace, such as ``pace__age``."""
        of_pace = take_pace_parameters(params)
        super().set_params(**params)
        set_pace_parameters(self, of_pace)
        return self

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
        check_settings(self)
        check_objective(self)
        return self._client_sync(
            self._fit_async,
            X=X,
            y=y,
            sample_weight=sample_weight,
            base_margin=base_margin,
            eval_set=eval_set,
            verbose=verbose,
            xgb_model=xgb_model,
            sample_weight_eval_set=sample_weight_eval_set,
            base_margin_eval_set=base_margin_eval_set,
            feature_weights=feature_weights,
        )

    def _configure_fit(self, *args: Any, **kwargs: Any) -> Any:
        model, metric, params, feature_weights = super()._configure_fit(*args, **kwargs)
        if metric is not None:
            metric = OfProbabilities(metric)
        return model, metric, params, feature_weights

    async def _fit_async(self, X: Any, y: Any, **given: Any) -> DaskSPLXGBClassifier:
        with unchanged_on_error(self):
            await watch(self.client, self._fit_seeds(X, y, given))
        return self

    async def _fit_seeds(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        weight = given["sample_weight"]
        mass = await self._count_classes(y, weight)
        n_done = count_rounds(given["xgb_model"])
        warm_rounds = count_warm_rounds(self, DEFAULT_RATE)
        self.paces_ = resolve_paces(self, list(range(len(mass))), mass)
        loss = make_loss(self.paces_, softmax=len(mass) > 2)
        positive = 1.0
        if len(mass) <= 2 and self.scale_pos_weight is not None:
            positive = float(self.scale_pos_weight)
        names = "objective", "callbacks", "early_stopping_rounds", "random_state"
        own = {name: getattr(self, name) for name in names}
        own["base_score"] = self.base_score
        if self.base_score is None and given["xgb_model"] is None:
            self.base_score = self._start_score(mass)
        n_left = max(warm_rounds - n_done, 0)
        boosters, latent, n_selected, n_kept = [], [], [], []
        for seed in list_seeds(self):
            objective = WorkerObjective(
                list(self.paces_.values()),
                softmax=len(mass) > 2,
                warm_rounds=warm_rounds,
                n_done=n_done,
                positive=positive,
            )
            self.objective = objective
            self.random_state = seed
            self.early_stopping_rounds = None
            self.callbacks = [
                *patient_callbacks(
                    own["callbacks"], own["early_stopping_rounds"], n_left
                ),
                Reporter(objective),
            ]
            await super()._fit_async(X, y, **given)
            before, selected = take_report(self._Booster)
            if not before and self._Booster.num_boosted_rounds() > n_done:
                raise RuntimeError(
                    NEVER_CALLED.format(
                        package="XGBoost",
                        version=xgboost.__version__,
                        versions="3.0 and 3.4",
                    )
                )
            pieces = await self._cut(X, y, given)
            last, held = await self._sum(pieces, loss, positive)
            n = self._get_iteration_range(None)[1] or self._Booster.num_boosted_rounds()
            latent.append(np.array([*before[1:], last][: n - n_done]))
            n_selected.append(np.array(selected[: n - n_done], dtype=np.intp))
            boosters.append(self._Booster)
            n_kept.append(n)
        self.__dict__.update(own)
        self.objective = "multi:softprob" if len(mass) > 2 else "binary:logistic"
        if len(boosters) > 1:
            kept = [each[:n] for each, n in zip(boosters, n_kept, strict=True)]
            self._Booster = average(kept)
            pieces = await self._cut(X, y, given)
            _, held = await self._sum(pieces, loss, positive)
        self.sample_pace_ = _join(pieces, loss, positive)
        self.latent_objective_ = one_or_all(latent)
        self.n_selected_ = one_or_all(n_selected)
        if not loss.is_plain:
            warn_of_warm_rounds(int(max(n_kept)), warm_rounds)
            warn_of_empty_rounds([each.tolist() for each in n_selected])
            if max(n_kept) > warm_rounds:
                warn_of_lost_classes(self, held[0], held[1], held[2], list(self.paces_))

    def _start_score(self, mass: FloatArray) -> Any:
        """Where XGBoost would start from: it knows the classes by their weights."""
        params = {
            "objective": "multi:softprob" if len(mass) > 2 else "binary:logistic",
            "num_class": len(mass) if len(mass) > 2 else None,
            "scale_pos_weight": self.scale_pos_weight,
            "nthread": 1,
        }
        return start_score(params, np.arange(len(mass)), mass)

    async def _count_classes(self, y: Any, weight: Any) -> FloatArray:
        """The weight of each class, from 0 on."""
        counts = await self._gather(
            [delayed(count_labels)(*piece) for piece in _align(y, weight)]
        )
        labels = sorted({label for count in counts for label in count})
        if labels != list(range(len(labels))):
            raise ValueError(
                f"y must hold the classes 0 to {len(labels) - 1}, got "
                f"{labels[:10]}; encode them, as sklearn's LabelEncoder does."
            )
        mass = np.array([sum(count.get(k, 0.0) for count in counts) for k in labels])
        if not mass.sum() > 0:
            raise ValueError(
                "sample_weight is zero for all samples; give a positive weight to "
                "those that are to count."
            )
        return mass

    async def _cut(self, X: Any, y: Any, given: dict[str, Any]) -> list[Any]:
        """Scores, labels and weights of the training data, piece by piece."""
        scores = await super()._predict_async(
            X,
            output_margin=True,
            validate_features=True,
            base_margin=given["base_margin"],
            iteration_range=None,
        )
        return _align(scores, y, given["sample_weight"])

    async def _sum(
        self, pieces: list[Any], loss: PacedLoss, positive: float
    ) -> tuple[float, FloatArray]:
        """The summed latent loss, and what there is of each class."""
        found = await self._gather(
            [delayed(sum_piece)(*piece, loss, positive) for piece in pieces]
        )
        return sum(latent for latent, _ in found), sum(held for _, held in found)

    async def _gather(self, tasks: list[Any]) -> Any:
        futures = self.client.compute(tasks)
        return await self.client.gather(futures, asynchronous=True)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("sample_pace_", None)
        return state


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


def _join(pieces: list[Any], loss: PacedLoss, positive: float) -> Any:
    """v of all samples as one dask array, to be worked out when asked for."""
    parts = [
        array.from_delayed(
            delayed(weigh_piece)(*piece, loss, positive), (np.nan,), dtype=np.float64
        )
        for piece in pieces
    ]
    return array.concatenate(parts, allow_unknown_chunksizes=True)
