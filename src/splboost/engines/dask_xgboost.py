"""XGBoost's classifier for Dask with a pace."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np
import xgboost
from dask import array, delayed
from numpy.typing import NDArray
from xgboost import dask as xgboost_dask

from splboost._tools.user_warnings import keeping_advice, warn
from splboost.engines.dask_data import WEIGHT, align, drop_empty, gather, persist
from splboost.engines.dask_rounds import (
    Reporter,
    WorkerObjective,
    close_piece,
    count_labels,
    take_report,
)
from splboost.engines.dask_watch import watch
from splboost.engines.documentation import documented
from splboost.engines.given_data import XGBOOST, check_columns, check_total
from splboost.engines.paced import PacedLoss
from splboost.engines.settings import (
    count_warm_rounds,
    make_loss,
    never_called,
    resolve_paces,
    unchanged_on_error,
)
from splboost.engines.xgboost_fit import DEFAULT_RATE, count_rounds
from splboost.engines.xgboost_rounds import (
    OfProbabilities,
    average,
    patient_callbacks,
    start_score,
)
from splboost.engines.xgboost_shared import SelfPacedXGB

FloatArray = NDArray[np.float64]


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
    >>> clf = DaskSPLXGBClassifier(p_min=0.3, n_seeds=5)
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
        self._check_settings()
        check_columns(XGBOOST, getattr(X, "_meta", X), "X")
        with keeping_advice() as kept:  # another thread does the fit
            fitted = self._client_sync(
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
        for advice in kept:
            warn(*advice)
        return fitted

    def _configure_fit(self, *args: Any, **kwargs: Any) -> Any:
        model, metric, params, feature_weights = super()._configure_fit(*args, **kwargs)
        if metric is not None:
            metric = OfProbabilities(metric)
        return model, metric, params, feature_weights

    async def _fit_async(self, X: Any, y: Any, **given: Any) -> DaskSPLXGBClassifier:
        X, y, given = persist(self.client, X, y, given)
        with unchanged_on_error(self):
            await watch(
                self.client, lambda: self._fit_seeds(X, y, given), (X, y, given)
            )
        return self

    async def _fit_seeds(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        X, y, given = await drop_empty(self.client, X, y, given)
        mass = await self._count_classes(y, given[WEIGHT])
        softmax = len(mass) > 2
        positive = 1.0
        if not softmax and self.scale_pos_weight is not None:
            positive = float(self.scale_pos_weight)
        n_done = count_rounds(given["xgb_model"])
        warm_rounds = count_warm_rounds(self, DEFAULT_RATE)
        weighed = mass if softmax else mass * [1.0, positive][: len(mass)]
        paces = resolve_paces(self, list(range(len(mass))), weighed)
        loss = make_loss(paces, softmax=softmax)
        names = (
            "objective",
            "callbacks",
            "early_stopping_rounds",
            "random_state",
            "base_score",
        )
        own = {name: getattr(self, name) for name in names}
        if self.base_score is None and given["xgb_model"] is None:
            self.base_score = self._start_score(mass)
        boosters, latent, n_selected, evals = [], [], [], []
        for seed in self._list_seeds():
            objective = WorkerObjective(
                list(paces.values()),
                softmax=softmax,
                warm_rounds=warm_rounds,
                n_done=n_done,
                positive=positive,
            )
            self.objective = objective
            self.random_state = seed
            self.early_stopping_rounds = None
            self.callbacks = [
                *patient_callbacks(
                    own["callbacks"],
                    own["early_stopping_rounds"],
                    max(warm_rounds - n_done, 0),
                ),
                Reporter(objective),
            ]
            await super()._fit_async(X, y, **given)
            before, selected = take_report(self._Booster)
            if not before and self._Booster.num_boosted_rounds() > n_done:
                raise never_called(xgboost)
            v, last, dropped = await self._close(X, y, given, loss, positive)
            n = self._get_iteration_range(None)[1] or self._Booster.num_boosted_rounds()
            latent.append([*before[1:], last][: n - n_done])
            n_selected.append(selected[: n - n_done])
            boosters.append((self._Booster, n))
            evals.append(vars(self).get("evals_result_"))
            given = {**given, "verbose": False}
        self.__dict__.update(own)
        self.objective = "multi:softprob" if softmax else "binary:logistic"
        if len(boosters) > 1:
            self._Booster = average([each[:n] for each, n in boosters])
            self.evals_result_ = evals[0]
            v, _, dropped = await self._close(X, y, given, loss, positive)
        self._keep_record(paces, v, latent, n_selected)
        self._warn_of_fit(n_done, warm_rounds, dropped, is_plain=loss.is_plain)

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
        counts = await gather(
            self.client, [delayed(count_labels)(*piece) for piece in align(y, weight)]
        )
        labels = sorted({label for count in counts for label in count})
        if not labels:
            raise ValueError(
                "y has no rows in any partition; give at least one sample of each "
                "class."
            )
        if labels != list(range(len(labels))):
            raise ValueError(
                f"y must hold the classes 0 to {len(labels) - 1}, got "
                f"{labels[:10]}; encode them, as sklearn's LabelEncoder does."
            )
        mass = np.array([sum(count.get(k, 0.0) for count in counts) for k in labels])
        if not mass.sum() > 0:
            raise ValueError(
                "Sample weights are all zero: sample_weight leaves no row to learn "
                "from. Give at least one sample of each class a positive weight."
            )
        check_total(float(mass.sum()))
        return mass

    async def _close(
        self, X: Any, y: Any, given: dict[str, Any], loss: PacedLoss, positive: float
    ) -> tuple[Any, float, FloatArray]:
        """v of all samples, the summed latent loss, and what is dropped of classes."""
        margin = given["base_margin"]
        if isinstance(margin, array.Array) and margin.ndim == 1:
            # XGBoost would pair its pieces with the columns of X
            margin = margin[:, None]
        scores = await super()._predict_async(
            X,
            output_margin=True,
            validate_features=True,
            base_margin=margin,
            iteration_range=None,
        )
        closed = self.client.compute(
            [
                delayed(close_piece)(*piece, loss, positive)
                for piece in align(scores, y, given[WEIGHT])
            ]
        )
        found = await gather(
            self.client, [delayed(itemgetter(1, 2, 3))(piece) for piece in closed]
        )
        parts = [
            array.from_delayed(delayed(itemgetter(0))(piece), (n,), dtype=np.float64)
            for piece, (n, _, _) in zip(closed, found, strict=True)
        ]
        latent = sum(latent for _, latent, _ in found)
        return array.concatenate(parts), latent, sum(each for _, _, each in found)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("sample_pace_", None)
        return state
