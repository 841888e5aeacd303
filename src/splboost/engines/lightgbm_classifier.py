"""LightGBM's classifier with a pace."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from splboost.engines.documentation import documented
from splboost.engines.given_data import (
    LIGHTGBM,
    check_columns,
    check_evaluation,
    check_training,
)
from splboost.engines.lightgbm_arguments import (
    BOOSTING,
    DEPTH,
    METRICS,
    check_lightgbm,
    check_objective,
    read_metrics,
    without_bagging,
    without_classes,
)
from splboost.engines.lightgbm_model import complete_model
from splboost.engines.lightgbm_rounds import (
    EARLY_STOPPING,
    PacedTraining,
    count_rounds,
    patient_callbacks,
)
from splboost.engines.self_paced import (
    SelfPacedMixin,
    count_dropped,
    without_own,
)
from splboost.engines.settings import (
    count_warm_rounds,
    never_called,
    unchanged_on_error,
)
from splboost.pace import Pace

DEFAULT_RATE = 0.1


@documented
class SPLLGBMClassifier(SelfPacedMixin, lightgbm.LGBMClassifier):
    """LightGBM that is not fooled by wrong labels.

    It is ``lightgbm.LGBMClassifier``, with other defaults and four parameters more:
    from a certain round on, samples whose label the model finds improbable no longer
    count. Everything else is the parent's, before and after ``fit``: early stopping,
    SHAP, saving, callbacks, categories. A saved model is an ordinary one of LightGBM.

    Where it differs: metrics are computed here, because LightGBM gets its own wrong
    under an objective that it does not know, and a few (``auc_mu`` and those of other
    tasks) are refused; ``min_child_weight`` must be above 0, since rows that do not
    count would crash LightGBM; ``boosting_type="rf"``, ``sigmoid`` and shares of rows
    to draw from a class (``pos_bagging_fraction``) are refused; GOSS, which
    allows no other draws of rows, is without ``subsample``. The trees of several seeds
    follow in turn, so that the mean of their first r rounds is what ``predict`` gives
    with ``num_iteration=n_seeds * r``.

    Parameters
    ----------
    {pace}
    num_leaves : int, default=8
        Most leaves of a tree, which ``max_depth`` bounds too: for more than 8 set both,
        with ``max_depth=-1`` for any depth.
    {step}
    subsample_freq : int, default=1
        Rounds until the next draw. LightGBM's own default of 0 ignores ``subsample``.
    **kwargs
        Those of ``lightgbm.LGBMClassifier``.

    Attributes
    ----------
    {sample pace}
    {record}

    See Also
    --------
    SPLXGBClassifier : The same of XGBoost.

    Examples
    --------
    >>> from splboost.datasets import flip_labels, make_twonorm
    >>> from splboost.engines import SPLLGBMClassifier
    >>> X, y = make_twonorm(1000, random_state=0)
    >>> y_noisy, flipped = flip_labels(y, 0.2, random_state=0)
    >>> clf = SPLLGBMClassifier(random_state=0, verbose=-1).fit(X, y_noisy)
    >>> dropped = clf.sample_pace_ == 0
    >>> bool(dropped[flipped].mean() > 0.6), bool(dropped[~flipped].mean() < 0.05)
    (True, True)
    """

    _fit_now: Any
    _Booster: Any
    _best_score: dict[str, Any]

    def __init__(
        self,
        *,
        p_min: float | None = None,
        pace: Pace | str | dict[Any, Any] | None = "hard",
        warm_rounds: int | None = None,
        n_seeds: int = 1,
        n_estimators: int = 100,
        max_depth: int = DEPTH,
        num_leaves: int = 8,
        learning_rate: float = 0.1,
        subsample: float = 0.5,
        subsample_freq: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            max_depth=max_depth,
            num_leaves=num_leaves,
            learning_rate=learning_rate,
            subsample=subsample,
            subsample_freq=subsample_freq,
            **kwargs,
        )
        self.p_min = p_min
        self.pace = pace
        self.warm_rounds = warm_rounds
        self.n_seeds = n_seeds

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Any = None,
        eval_names: list[str] | None = None,
        eval_sample_weight: Any = None,
        eval_class_weight: Any = None,
        eval_init_score: Any = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: list[Any] | None = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
    ) -> SPLLGBMClassifier:
        """Fit the model; all arguments are those of ``LGBMClassifier.fit``.

        With ``init_model`` the rounds of that model count as done, so that no warm
        rounds may be left.

        Returns
        -------
        self
        """
        self._check_settings()
        check_lightgbm(self)
        own_names = isinstance(feature_name, str)
        weight = check_training(LIGHTGBM, X, y, sample_weight, own_names=own_names)
        check_evaluation(LIGHTGBM, eval_set)
        if eval_X is not None and eval_y is not None:
            several = isinstance(eval_X, tuple)
            sets = zip(eval_X, eval_y, strict=False) if several else [(eval_X, eval_y)]
            check_evaluation(LIGHTGBM, list(sets))
        given = {
            "sample_weight": weight,
            "init_score": init_score,
            "eval_set": eval_set,
            "eval_names": eval_names,
            "eval_sample_weight": eval_sample_weight,
            "eval_class_weight": eval_class_weight,
            "eval_init_score": eval_init_score,
            "feature_name": feature_name,
            "categorical_feature": categorical_feature,
            "init_model": init_model,
        }
        if eval_X is not None or eval_y is not None:  # younger than the others
            given |= {"eval_X": eval_X, "eval_y": eval_y}
        with unchanged_on_error(self):
            self._keep(
                self._fit_seeds(X, y, given, eval_metric, callbacks), X, init_score
            )
        return self

    @wraps(lightgbm.LGBMClassifier.predict)
    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        check_columns(LIGHTGBM, X, "X")
        return super().predict(X, *args, **kwargs)

    @wraps(lightgbm.LGBMClassifier.predict_proba)
    def predict_proba(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        check_columns(LIGHTGBM, X, "X")
        return super().predict_proba(X, *args, **kwargs)

    def to_plain(self) -> lightgbm.LGBMClassifier:
        """The fitted model as a plain ``LGBMClassifier``.

        For tools that go by the class, such as converters to ONNX.
        """
        plain = self._as_parent(lightgbm.LGBMClassifier)
        if self._n_classes <= 2:
            without_classes(vars(plain))
            without_classes(plain._other_params)
        return plain

    def _fit_seeds(
        self, X: Any, y: Any, given: dict[str, Any], eval_metric: Any, callbacks: Any
    ) -> list[PacedTraining]:
        own_seed = self.random_state
        params = self.get_params()
        n_done = count_rounds(given["init_model"])
        warm_rounds = count_warm_rounds(self, DEFAULT_RATE)
        trainings = []
        for seed in self._list_seeds():
            training = PacedTraining(
                self,
                warm_rounds=warm_rounds,
                n_done=n_done,
                has_start=n_done > 0 or given["init_score"] is not None,
            )
            metrics = read_metrics(eval_metric, params, training)
            patient = patient_callbacks(
                callbacks, dict(params), max(warm_rounds - n_done, 0)
            )
            self._fit_now = training, metrics
            self.random_state = seed
            super().fit(X, y, eval_metric=metrics, callbacks=patient, **given)
            if training.rounds is None:
                raise never_called(lightgbm)
            training.booster = self._Booster
            training.evals_result = self._evals_result
            trainings.append(training)
        self.random_state = own_seed
        del self._fit_now
        return trainings

    def _process_params(self, stage: str) -> dict[str, Any]:
        """What LightGBM is to see; in a fit of ours, with the paced objective."""
        params = without_own(super()._process_params(stage))
        if self._n_classes <= 2:  # of more, LightGBM itself puts their number right
            without_classes(params)
        now = vars(self).get("_fit_now")
        if stage != "fit" or now is None:
            return params
        training, metrics = now
        check_objective(params)
        params["objective"] = "multiclass" if self._n_classes > 2 else "binary"
        self._objective = params["objective"]
        metrics.prepare(
            self._n_classes,
            params["objective"],
            int(params.get("multi_error_top_k", 1)),
        )
        training.prepare(self._classes.tolist(), dict(params))
        for name in (*EARLY_STOPPING, *METRICS):
            params.pop(name, None)
        params |= {"objective": training, "metric": "None"}
        return without_bagging(params)

    def _keep(self, trainings: list[PacedTraining], X: Any, init_score: Any) -> None:
        """What there is to know of the fits, and one model of all, made complete."""
        first = trainings[0]
        scores = [self._finish(training, X, init_score) for training in trainings]
        rounds = [training.rounds for training in trainings if training.rounds]
        v = rounds[0].final_weight(np.mean(scores, axis=0))
        self._Booster = self._complete(trainings)
        self._keep_record(
            first.paces,
            v,
            [each.latent for each in rounds],
            [each.n_selected for each in rounds],
        )
        self._warn_of_fit(
            first.n_done,
            first.warm_rounds,
            count_dropped(v, first.y, first.weight, len(first.labels)),
            is_plain=rounds[0].loss.is_plain,
        )

    def _finish(
        self, training: PacedTraining, X: Any, init_score: Any
    ) -> NDArray[np.float64]:
        """The final scores: those of the round that early stopping has chosen."""
        rounds, booster = training.rounds, training.booster
        assert rounds is not None
        n_asked = len(rounds.latent)
        n_trees = booster.current_iteration()
        best = booster.best_iteration
        n_kept = n_asked if best is None or best <= 0 else best - training.n_done
        options: dict[str, Any] = {"raw_score": True, "num_iteration": -1}
        base: Any = training.start if training.start.size > 1 else training.start[0]
        if n_kept == n_asked == n_trees - training.n_done and self._keeps_trees():
            base = training.scores
            options |= {"start_iteration": n_trees - 1, "num_iteration": 1}
        elif n_kept != n_asked:
            options["num_iteration"] = best
        self._Booster = booster
        with warnings.catch_warnings():
            # Names given to fit, where X itself has none
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            scores = base + lightgbm.LGBMModel.predict(self, X, **options)
        if base is not training.scores and init_score is not None:
            scores += np.reshape(init_score, scores.shape, order="F")
        rounds.finish(scores, n_kept)
        return scores

    def _keeps_trees(self) -> bool:
        """Whether a round leaves the trees before it as they are."""
        params = self.get_params()
        kinds = {params.get(name) for name in BOOSTING}
        return kinds <= {"gbdt", None}

    def _complete(self, trainings: list[PacedTraining]) -> Any:
        """The booster as LightGBM itself would have made it."""
        first = trainings[0]
        k = len(first.labels)
        objective = f"multiclass num_class:{k}" if k > 2 else "binary sigmoid:1"
        kept = -1 if len(trainings) == 1 else None  # None are those of the best round
        text = complete_model(
            [each.booster.model_to_string(num_iteration=kept) for each in trainings],
            objective,
            first.start.tolist(),
            add_start=first.adds_start,
        )
        booster = lightgbm.Booster(model_str=text)
        if len(trainings) == 1:
            booster.best_iteration = first.booster.best_iteration
            booster.best_score = first.booster.best_score
        else:
            self._evals_result = first.evals_result
            self._best_iteration, self._best_score = -1, {}
        return booster
