"""XGBoost's classifier with a pace."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np
import xgboost
from numpy.typing import ArrayLike

from splboost.engines.documentation import documented
from splboost.engines.given_data import (
    XGBOOST,
    check_columns,
    check_evaluation,
    check_training,
)
from splboost.engines.self_paced import count_dropped
from splboost.engines.settings import unchanged_on_error
from splboost.engines.xgboost_fit import PacedFit, count_rounds
from splboost.engines.xgboost_rounds import (
    AtTheEnd,
    OfProbabilities,
    average,
    patient_callbacks,
)
from splboost.engines.xgboost_shared import SelfPacedXGB


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

    _fit_now: Any

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
        self._check_settings()
        weight = check_training(XGBOOST, X, y, sample_weight)
        check_evaluation(XGBOOST, eval_set)
        given = {
            "sample_weight": weight,
            "base_margin": base_margin,
            "eval_set": eval_set,
            "verbose": verbose,
            "xgb_model": xgb_model,
            "sample_weight_eval_set": sample_weight_eval_set,
            "base_margin_eval_set": base_margin_eval_set,
            "feature_weights": feature_weights,
        }
        with unchanged_on_error(self):
            self._keep(self._fit_seeds(X, y, given))
        return self

    @wraps(xgboost.XGBClassifier.predict)
    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        check_columns(XGBOOST, X, "X")
        return super().predict(X, *args, **kwargs)

    @wraps(xgboost.XGBClassifier.predict_proba)
    def predict_proba(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        check_columns(XGBOOST, X, "X")
        return super().predict_proba(X, *args, **kwargs)

    def _fit_seeds(self, X: Any, y: Any, given: dict[str, Any]) -> list[PacedFit]:
        own = {
            name: getattr(self, name)
            for name in ("objective", "callbacks", "early_stopping_rounds")
        }
        n_done = count_rounds(given["xgb_model"])
        fits: list[PacedFit] = []
        matrices: list[Any] = []
        for seed in self._list_seeds():
            fit = PacedFit(self, own["objective"], n_done, matrices, given["xgb_model"])
            self._fit_now = fit
            self.objective = fit
            self.random_state = seed
            self.early_stopping_rounds = None
            self.callbacks = [
                *patient_callbacks(
                    own["callbacks"], own["early_stopping_rounds"], fit.n_warm_left
                ),
                AtTheEnd(fit.end),
            ]
            super().fit(X, y, **given)
            fit.booster = self._Booster
            fit.evals_result = vars(self).get("evals_result_")
            fits.append(fit)
            given = {**given, "verbose": False}
        del self._fit_now
        self.__dict__.update(own, random_state=fits[0].random_state)
        self.objective = fits[0].params["objective"]
        return fits

    def _keep(self, fits: list[PacedFit]) -> None:
        """What there is to know of the fits, and one model of all."""
        first = fits[0]
        scores = first.scores
        if len(fits) > 1:
            scores = np.mean([fit.scores for fit in fits], axis=0)
            self._Booster = average([fit.kept_booster() for fit in fits])
            self.evals_result_ = first.evals_result
        v = first.rounds.final_weight(scores)
        self._keep_record(
            first.paces,
            v,
            [fit.rounds.latent for fit in fits],
            [fit.rounds.n_selected for fit in fits],
        )
        self._warn_of_fit(
            first.n_done,
            first.warm_rounds,
            count_dropped(v, first.y, first.weight, len(first.paces)),
            is_plain=first.rounds.loss.is_plain,
        )

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

    # -------------------------------------------- what the parent asks during its fit

    def _configure_fit(self, *args: Any, **kwargs: Any) -> Any:
        model, metric, params, feature_weights = super()._configure_fit(*args, **kwargs)
        fit = vars(self).get("_fit_now")
        if fit is not None:
            params = fit.take(params)
            metric = None if metric is None else OfProbabilities(metric)
        return model, metric, params, feature_weights

    def _create_dmatrix(self, ref: Any, **kwargs: Any) -> Any:
        fit = vars(self).get("_fit_now")
        if fit is None:
            return super()._create_dmatrix(ref, **kwargs)
        return fit.matrix(
            lambda: super(SPLXGBClassifier, self)._create_dmatrix(ref, **kwargs)
        )
