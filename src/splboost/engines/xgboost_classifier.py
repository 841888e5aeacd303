"""XGBoost's classifier with a pace."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray

from splboost.engines.losses import probability
from splboost.engines.paced import PacedRounds
from splboost.engines.settings import (
    NEVER_CALLED,
    OWN,
    check_settings,
    count_classes,
    count_warm_rounds,
    make_loss,
    one_or_all,
    resolve_paces,
    unchanged_on_error,
    warn_of_dropped_classes,
    warn_of_empty_rounds,
    warn_of_warm_rounds,
)
from splboost.engines.xgboost_rounds import (
    AtTheEnd,
    average,
    patient_callbacks,
    start_score,
)
from splboost.pace import Pace

OBJECTIVES = None, "binary:logistic", "multi:softprob", "multi:softmax"
DEFAULT_RATE = 0.3  # of XGBoost, where learning_rate is None


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
        "hard" believes all or nothing; with "linear" choose a smaller ``p_min``, such as
        0.2. ``Hard(prior_corrected=True)`` is for rare classes. A dict has one for each
        label; None believes all.
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
    >>> bool(dropped[flipped].mean() > 0.8), bool(dropped[~flipped].mean() < 0.1)
    (True, True)
    """

    sample_pace_: NDArray[np.float64]
    paces_: dict[Any, Pace | None]

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

    def _more_tags(self) -> dict[str, bool]:
        return {**super()._more_tags(), "multilabel": False}

    def get_xgb_params(self) -> dict[str, Any]:
        """The parameters that XGBoost is to see."""
        given = super().get_xgb_params()
        return {name: value for name, value in given.items() if name not in OWN}

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

    def _fit_seeds(self, X: Any, y: Any, given: dict[str, Any]) -> list[_Fit]:
        own = {
            name: getattr(self, name)
            for name in ("objective", "callbacks", "early_stopping_rounds")
        }
        seeds = list_seeds(self)
        n_done = count_rounds(given["xgb_model"])
        fits: list[_Fit] = []
        matrices: list[Any] = []
        for seed in seeds:
            fit = _Fit(self, own["objective"], n_done, matrices, given["xgb_model"])
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
        vars(self).update(own, random_state=fits[0].random_state)
        self.objective = fits[0].params["objective"]
        return fits

    def _keep(self, fits: list[_Fit]) -> None:
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

    # -------------------------------------------- what the parent asks during its fit

    def _configure_fit(self, *args: Any, **kwargs: Any) -> Any:
        model, metric, params, feature_weights = super()._configure_fit(*args, **kwargs)
        fit = vars(self).get("_fit_now")
        if fit is not None:
            params = fit.take(params)
            metric = None if metric is None else of_probabilities(metric)
        return model, metric, params, feature_weights

    def _create_dmatrix(self, ref: Any, **kwargs: Any) -> Any:
        fit = vars(self).get("_fit_now")
        if fit is None:
            return super()._create_dmatrix(ref, **kwargs)
        return fit.matrix(lambda: super(SPLXGBClassifier, self)._create_dmatrix(ref, **kwargs))


class _Fit:
    """A fit under way: the objective, and what the parent has told so far.

    Parameters
    ----------
    estimator : the classifier
    objective : the objective that the user has named
    n_done : rounds of a model to go on from
    matrices : the data, kept for the next seed
    xgb_model : that model, or None
    """

    def __init__(
        self, estimator: Any, objective: Any, n_done: int, matrices: list[Any], xgb_model: Any
    ) -> None:
        self.estimator = estimator
        self.n_done = n_done
        self.warm_rounds = count_warm_rounds(estimator, DEFAULT_RATE)
        self.random_state = estimator.random_state
        self.params: dict[str, Any] = {}
        self.booster: Any = None
        self._objective = objective
        self._matrices = matrices
        self._n_asked = 0
        self._goes_on = xgb_model is not None

    @property
    def n_warm_left(self) -> int:
        return max(self.warm_rounds - self.n_done, 0)

    def take(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take the parameters of XGBoost, which a start score is still missing from."""
        if self._objective == "multi:softmax" and params.get("num_class"):
            params["objective"] = "multi:softmax"
        self.params = params
        return params

    def matrix(self, create: Any) -> Any:
        """The next of the parent's matrices; the first is that of the training data."""
        if self._n_asked == len(self._matrices):
            self._matrices.append(create())
        data = self._matrices[self._n_asked]
        if self._n_asked == 0:
            self._begin(data)
        self._n_asked += 1
        return data

    def _begin(self, data: Any) -> None:
        y, weight = data.get_label(), data.get_weight()
        if y.ndim > 1:
            raise ValueError(
                f"y has shape {y.shape}; SPLXGBClassifier takes one label for each "
                "row. Fit a model for each column."
            )
        k = int(self.params.get("num_class") or 1)
        labels = list(range(max(k, int(self.estimator.n_classes_))))
        mass = count_classes(y, weight, len(labels))
        self.paces = resolve_paces(self.estimator, labels, mass)
        given = weight if weight.size else None
        if self.params.get("base_score") is None and not self._goes_on:
            self.params["base_score"] = start_score(self.params, y, given)
        positive = self.params.get("scale_pos_weight")
        if positive is not None and k == 1:
            given = np.where(y > 0, positive, 1.0) * (1.0 if given is None else given)
        self.y, self.weight, self._data = y, given, data
        self.rounds = PacedRounds(
            make_loss(self.paces, softmax=k > 1),
            y,
            None if given is None else given.astype(np.float32),
            warm_rounds=self.warm_rounds,
            first_round=self.n_done,
        )

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        return tuple(self.rounds(y_pred))  # type: ignore[return-value]

    def end(self, model: Any) -> None:
        """Note the final scores: those of the round that early stopping has chosen."""
        n_rounds = model.num_boosted_rounds()
        best = model.attr("best_iteration")
        n_kept = n_rounds if best is None else int(best) + 1
        if n_rounds > self.n_done and not self.rounds.latent:
            raise RuntimeError(
                NEVER_CALLED.format(
                    package="XGBoost", version=xgboost.__version__, versions="3.0 and 3.4"
                )
            )
        if n_kept == n_rounds:
            self.scores = model.predict(self._data, output_margin=True, training=True)
        else:
            self.scores = model.predict(
                self._data, output_margin=True, iteration_range=(0, n_kept)
            )
        self.rounds.finish(self.scores, n_kept - self.n_done)

    def kept_booster(self) -> Any:
        """The booster up to the round that early stopping has chosen."""
        best = self.booster.attr("best_iteration")
        return self.booster if best is None else self.booster[: int(best) + 1]


def check_objective(estimator: Any) -> None:
    """Refuse objectives of which the pace would know nothing."""
    if callable(estimator.objective) or estimator.objective not in OBJECTIVES:
        raise ValueError(
            f"{type(estimator).__name__} has a logistic or softmax loss; leave "
            "objective as it is, or give one of "
            f"{', '.join(map(repr, OBJECTIVES[1:]))}, got "
            f"objective={estimator.objective!r}."
        )


def list_seeds(estimator: Any) -> list[Any]:
    """A seed for each model; the first is the given one."""
    n = int(estimator.n_seeds)
    if n == 1:
        return [estimator.random_state]
    first = estimator.get_params()["random_state"]  # an integer by now, or None
    return [(first or 0) + number for number in range(n)]


def count_rounds(xgb_model: Any) -> int:
    """The rounds of a model to go on from."""
    if xgb_model is None:
        return 0
    if isinstance(xgb_model, xgboost.XGBModel):
        xgb_model = xgb_model.get_booster()
    if not isinstance(xgb_model, xgboost.Booster):
        xgb_model = xgboost.Booster(model_file=xgb_model)
    return xgb_model.num_boosted_rounds()


def of_probabilities(metric: Any) -> Any:
    """A metric of the user, who wants probabilities, for XGBoost, which gives scores.

    It gives scores where the objective is one that it does not know.
    """

    def of_scores(scores: NDArray[Any], data: Any) -> Any:
        return metric(probability(np.asarray(scores)), data)

    return of_scores
