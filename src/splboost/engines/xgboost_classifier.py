"""XGBoost's classifier with a pace."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray

from splboost.engines.settings import (
    as_parent,
    check_settings,
    one_or_all,
    set_pace_parameters,
    take_pace_parameters,
    unchanged_on_error,
    warn_of_dropped_classes,
    warn_of_empty_rounds,
    warn_of_warm_rounds,
    without_own,
)
from splboost.engines.xgboost_fit import (
    PacedFit,
    check_objective,
    count_rounds,
    list_seeds,
)
from splboost.engines.xgboost_rounds import (
    AtTheEnd,
    OfProbabilities,
    average,
    patient_callbacks,
)
from splboost.pace import Pace


class SPLXGBClassifier(xgboost.XGBClassifier):
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
    p_min : float or None, default=None
        Labels to which the model gives a lower probability have weight 0, whatever the
        pace. 0 is off. None is 0.37 for two classes, 0.74 / K for K; or what the pace
        says, if it has an age or plateau of its own.
    pace : Pace, str, dict or None, default="hard"
        How belief falls until then: an object of ``splboost.pace``, or the name of one.
        "hard" believes all or nothing; with "linear" choose a smaller ``p_min``, such
        as 0.2. ``Hard(prior_corrected=True)`` is for rare classes. A dict has one for
        each label; None believes all.
    warm_rounds : int or None, default=None
        Rounds before the pace sets in, which do not count for early stopping either.
        None is 1.5 / ``learning_rate``.
    n_seeds : int, default=1
        Models to fit, each with a seed of its own, and to average into one, which has
        the trees of all. 5 did better than 1, at five times the cost.
    n_estimators : int, default=100
        Rounds.
    max_depth : int, default=3
        Depth of the trees.
    learning_rate : float, default=0.1
        Factor of every step.
    subsample : float in (0, 1], default=0.5
        Share of the samples that each tree is fitted on. Below 1 it adds much to what a
        pace does.
    **kwargs
        Those of ``xgboost.XGBClassifier``.

    Attributes
    ----------
    sample_pace_ : array of shape (n_samples,)
        v of each training sample at the final scores, which one more round would use:
        0 means dropped as an outlier. NaN for samples of weight zero.
    n_selected_ : array of shape (n_rounds,)
        Number of samples with v > 0 in each round; a list of such arrays, one for each
        seed, if there are several.
    latent_objective_ : array of shape (n_rounds,)
        Summed latent loss after each round; a list likewise.
    paces_ : dict
        The pace of each class by its label, in units of the logistic loss; None where
        it has none.

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

    sample_pace_: NDArray[np.float64]
    paces_: dict[Any, Pace | None]
    objective: Any
    random_state: Any
    callbacks: Any
    early_stopping_rounds: Any
    _fit_now: Any
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

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
        check_settings(self)
        check_objective(self)
        given = {
            "sample_weight": sample_weight,
            "base_margin": base_margin,
            "eval_set": eval_set,
            "verbose": verbose,
            "xgb_model": xgb_model,
            "sample_weight_eval_set": sample_weight_eval_set,
            "base_margin_eval_set": base_margin_eval_set,
            "feature_weights": feature_weights,
        }
        with unchanged_on_error(self):
            fits = self._fit_seeds(X, y, given)
            self._keep(fits)
        return self

    def _fit_seeds(self, X: Any, y: Any, given: dict[str, Any]) -> list[PacedFit]:
        own = {
            name: getattr(self, name)
            for name in ("objective", "callbacks", "early_stopping_rounds")
        }
        seeds = list_seeds(self)
        n_done = count_rounds(given["xgb_model"])
        fits: list[PacedFit] = []
        matrices: list[Any] = []
        for seed in seeds:
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
            if seed != seeds[-1]:
                given = {**given, "verbose": False}
            fits.append(fit)
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
        self.paces_ = first.paces
        self.sample_pace_ = first.rounds.final_weight(scores)
        self.n_selected_ = one_or_all([np.array(f.rounds.n_selected) for f in fits])
        self.latent_objective_ = one_or_all([np.array(f.rounds.latent) for f in fits])
        if not first.rounds.loss.is_plain:
            n_rounds = first.n_done + max(len(f.rounds.latent) for f in fits)
            warn_of_warm_rounds(n_rounds, first.warm_rounds)
            warn_of_empty_rounds([f.rounds.n_selected for f in fits])
            if n_rounds > first.warm_rounds:
                warn_of_dropped_classes(
                    self, self.sample_pace_, first.y, first.weight, list(first.paces)
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
        return as_parent(self, xgboost.XGBClassifier)

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
