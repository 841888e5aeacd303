"""XGBoost's classifier with a pace, and what it shares with the one for Dask."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray
from xgboost.callback import EarlyStopping, TrainingCallback

from splboost._tools.wording import counted
from splboost.engines.objective import PacedRounds, probability
from splboost.engines.self_paced import (
    SelfPacedMixin,
    checking_columns,
    documented,
    without_ours,
)
from splboost.pace import Pace

OBJECTIVES = "binary:logistic", "multi:softprob", "multi:softmax"
BORROWED = "objective", "callbacks", "early_stopping_rounds"
NOT_PASSED_ON = "self", "X", "y", "__class__"  # of the arguments of fit
LEAST_SHARE = 1e-6  # of a class that is not there


class SelfPacedXGB(SelfPacedMixin):
    """A classifier of XGBoost with a pace, to be named before XGBoost's own."""

    _package, _default_rate = "XGBoost", 0.3
    _fit_now: PacedFit | None = None  # on one machine
    objective: Any
    base_score: Any
    scale_pos_weight: Any
    callbacks: Any
    early_stopping_rounds: Any
    _Booster: Any

    def __init__(
        self,
        *,
        p_min: float | None = None,
        pace: Pace | str | dict[Any, Any] | None = "hard",
        warm_rounds: int | None = None,
        n_estimators: int | None = 100,
        max_depth: int | None = 3,
        learning_rate: float | None = 0.1,
        subsample: float | None = 0.5,
        **kwargs: Any,
    ) -> None:
        super().__init__(  # type: ignore[call-arg]
            n_estimators=n_estimators,
            max_depth=max_depth,
            learning_rate=learning_rate,
            subsample=subsample,
            **kwargs,
        )
        self.p_min, self.pace, self.warm_rounds = p_min, pace, warm_rounds

    def get_xgb_params(self) -> dict[str, Any]:
        """The parameters that XGBoost is to see; classes it counts by itself."""
        params = without_ours(super().get_xgb_params())  # type: ignore[misc]
        params.pop("num_class", None)
        return params

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.objective is not None:
            self._check_objective(self.objective, OBJECTIVES)

    def _configure_fit(self, model: Any, params: Any, feature_weights: Any) -> Any:
        """What the parent's ``fit`` asks for before it trains with these parameters.

        A metric is to see probabilities: XGBoost gives it scores where the objective is
        one that it does not know.
        """
        fit = self._fit_now
        if fit is not None:
            if fit.objective == "multi:softmax" and params.get("num_class"):
                params["objective"] = "multi:softmax"
            fit.params = params
        model, metric, *rest = super()._configure_fit(  # type: ignore[misc]
            model, params, feature_weights
        )

        def of_scores(scores: NDArray[Any], data: Any) -> Any:
            return metric(probability(np.asarray(scores)), data)

        return model, None if metric is None else of_scores, *rest

    def _set_up(self, objective: Any, borrowed: dict[str, Any], n_done: int) -> None:
        """Set the parameters that the fit borrows; the objective is a callback, too."""
        self.objective = objective
        self.early_stopping_rounds = None
        n_warm = self._count_warm_rounds() - n_done
        patience = borrowed["early_stopping_rounds"]
        callbacks = list(borrowed["callbacks"] or ())
        if patience:
            callbacks.append(EarlyStopping(rounds=patience))
        self.callbacks = [
            after_warm_rounds(each, n_warm) if isinstance(each, EarlyStopping) else each
            for each in callbacks
        ]
        self.callbacks.append(objective)


@documented
class SPLXGBClassifier(SelfPacedXGB, xgboost.XGBClassifier):
    """XGBoost that is not fooled by wrong labels.

    It is ``xgboost.XGBClassifier``, with other defaults and four parameters more: from
    a certain round on, samples whose label the model finds improbable no longer count.
    Everything else is the parent's, before and after ``fit``: early stopping, SHAP,
    ``save_model``, GPUs, callbacks. A saved model is an ordinary one of XGBoost.

    It makes a given XGBoost more robust. One whose depth, ``min_child_weight`` and
    rounds are tuned well is as good in many cases, and a pace does harm with stumps
    (``docs/engines.md`` has figures). Labels are 0 to K - 1, one for each row.

    Parameters
    ----------
    {pace}
    {step}
    **kwargs
        Those of ``xgboost.XGBClassifier``.

    Attributes
    ----------
    {sample pace}
    {record}

    See Also
    --------
    SPLLGBMClassifier : The same of LightGBM.
    DaskSPLXGBClassifier : The same on a Dask cluster.

    Examples
    --------
    >>> from splboost.datasets import flip_labels, make_twonorm
    >>> from splboost.engines import SPLXGBClassifier
    >>> X, y = make_twonorm(1000, random_state=0)
    >>> y_noisy, flipped = flip_labels((y > 0).astype(int), 0.2, random_state=0)
    >>> clf = SPLXGBClassifier(random_state=0).fit(X, y_noisy)
    >>> dropped = clf.sample_pace_ == 0
    >>> bool(dropped[flipped].mean() > 0.6), bool(dropped[~flipped].mean() < 0.05)
    (True, True)
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Any = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        feature_weights: ArrayLike | None = None,
    ) -> SPLXGBClassifier:
        """Fit the model; all arguments are those of ``XGBClassifier.fit``.

        With ``xgb_model`` the rounds of that model count as done, so that no warm
        rounds may be left.

        Returns
        -------
        self
        """
        arguments = {k: v for k, v in locals().items() if k not in NOT_PASSED_ON}
        self._check_settings()
        weight = self._check_training(X, y, sample_weight, eval_set)
        arguments["sample_weight"] = weight
        with self._borrowed(*BORROWED) as borrowed:
            fit = self._fit_now = PacedFit(self, borrowed["objective"], xgb_model)
            self._set_up(fit, borrowed, fit.n_done)
            super().fit(X, y, **arguments)
            del self._fit_now
            borrowed["objective"] = fit.params["objective"]
            self._keep_record(fit.rounds, fit.n_kept, *fit.closing)
        return self

    predict = checking_columns(xgboost.XGBClassifier.predict)
    predict_proba = checking_columns(xgboost.XGBClassifier.predict_proba)

    def to_plain(self) -> xgboost.XGBClassifier:
        """The fitted model as a plain ``XGBClassifier``.

        For tools that go by the class, such as converters to ONNX.

        Examples
        --------
        >>> from splboost.engines import SPLXGBClassifier
        >>> X, y = [[0.0], [1.0]] * 9, [0, 1] * 9
        >>> model = SPLXGBClassifier(n_estimators=20).fit(X, y)
        >>> type(model.to_plain()).__name__
        'XGBClassifier'
        """
        return self._as_parent(xgboost.XGBClassifier)

    def _create_dmatrix(self, ref: Any, **kwargs: Any) -> Any:
        """What the parent makes of data, first of those for training."""
        data = super()._create_dmatrix(ref, **kwargs)
        if self._fit_now is not None and self._fit_now.data is None:
            self._fit_now.start(data)
        return data


class PacedFit(TrainingCallback):
    """One fit: its objective, and a callback when it ends."""

    params: dict[str, Any]  # which XGBoost trains with
    data: Any = None  # on which it trains
    rounds: PacedRounds
    n_kept: int  # rounds of this fit that are in the model
    closing: Any  # by ``PacedRounds.close``

    def __init__(self, estimator: Any, objective: Any, xgb_model: Any) -> None:
        super().__init__()
        self.n_done = count_rounds(xgb_model)
        self.objective = objective  # that the user has named
        self._goes_on = xgb_model is not None
        self._estimator = estimator

    def start(self, data: Any) -> None:
        """Begin with these training data, and with the score of XGBoost itself."""
        self.data = data
        y, weight = data.get_label(), data.get_weight()
        if y.size != data.num_row():
            raise ValueError(
                f"y has {counted(y.size, 'label')} for "
                f"{counted(data.num_row(), 'row')}; SPLXGBClassifier takes one label "
                "for each row. Fit a model for each column."
            )
        params = self.params
        k = int(params.get("num_class") or 1)
        if params.get("base_score") is None and not self._goes_on:
            params["base_score"] = start_score(params, y, weight)
        factor = weigh(y, weight, params.get("scale_pos_weight") if k == 1 else None)
        labels = list(range(max(k, int(self._estimator.n_classes_))))
        mass = np.bincount(y.astype(np.intp), factor, minlength=len(labels))
        self.rounds = self._estimator._make_rounds(labels, mass, self.n_done)
        self.rounds.start(y, factor)

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.rounds.step(y_pred)

    def after_training(self, model: Any) -> Any:
        """Note the final scores: those of the round that early stopping has chosen.

        In training those of all rounds are at hand; to work them out afterwards takes a
        tenth of the time of the fit.
        """
        n_rounds = model.num_boosted_rounds()
        best = model.attr("best_iteration")
        n_kept = n_rounds if best is None else int(best) + 1
        called = self.rounds.latent or n_rounds == self.n_done
        assert called, "this XGBoost has not called the objective"
        scores = model.predict(
            self.data, output_margin=True, iteration_range=(0, n_kept)
        )
        self.closing = self.rounds.close(scores)
        self.n_kept = n_kept - self.n_done
        return model


# --------------------------------------------------------- also for the one on clusters


def after_warm_rounds(early_stopping: EarlyStopping, warm_rounds: int) -> EarlyStopping:
    """Early stopping whose patience begins when the pace has set in.

    A pace changes the course of a fit; what the warm rounds have reached says nothing
    of what the rounds after them will. It is a copy, for XGBoost's keeps what it has
    seen in an earlier fit.
    """
    patient = copy.deepcopy(early_stopping)
    look = patient.after_iteration

    def look_later(model: Any, epoch: int, evals_log: Any) -> bool:
        return epoch >= warm_rounds and look(model, epoch, evals_log)

    vars(patient)["after_iteration"] = look_later
    return patient


def count_rounds(xgb_model: Any) -> int:
    """The rounds of a model to go on from."""
    if xgb_model is None:
        return 0
    if isinstance(xgb_model, xgboost.XGBModel):
        xgb_model = xgb_model.get_booster()
    if not isinstance(xgb_model, xgboost.Booster):
        xgb_model = xgboost.Booster(model_file=xgb_model)
    return xgb_model.num_boosted_rounds()


def weigh(y: Any, weight: Any, positive: float | None) -> NDArray[np.float32] | None:
    """The weights of samples of two classes, with ``scale_pos_weight``; None is all 1.

    XGBoost applies neither under an objective that it does not know.
    """
    weight = None if weight is None or not np.size(weight) else np.asarray(weight)
    if positive is not None and positive != 1:
        factor = np.where(np.asarray(y) > 0, positive, 1.0)
        weight = factor if weight is None else weight * factor
    return None if weight is None else weight.astype(np.float32)


def start_score(params: dict[str, Any], label: NDArray[Any], weight: Any) -> Any:
    """The ``base_score`` that XGBoost itself would start from.

    It works it out from labels and weights, in ways that differ between versions, but
    not for an objective that it does not know. So it is asked to, on a column of zeros.
    """
    names = ("objective", "num_class", "scale_pos_weight", "seed", "nthread", "n_jobs")
    known = {name: params[name] for name in names if params.get(name) is not None}
    zeros = np.zeros((len(label), 1), dtype=np.float32)
    weight = weight if weight is not None and weight.size else None
    data = xgboost.DMatrix(zeros, label, weight=weight)
    try:
        booster = xgboost.train({**known, "max_depth": 1}, data, 1)
    except xgboost.core.XGBoostError:  # of one class, in versions before 3.1
        return float(np.clip(np.mean(label), LEAST_SHARE, 1 - LEAST_SHARE))
    config = json.loads(booster.save_config())
    score = json.loads(config["learner"]["learner_model_param"]["base_score"])
    return score[0] if isinstance(score, list) and len(score) == 1 else score
