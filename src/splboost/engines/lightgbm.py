"""LightGBM's classifier with a pace."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import lightgbm
import numpy as np
from lightgbm.basic import _ConfigAliases
from numpy.typing import NDArray

from splboost._tools.user_warnings import warn
from splboost.engines.lightgbm_corrections import (
    RANKINGS,
    complete_model,
    find_metrics,
    of_probabilities,
)
from splboost.engines.objective import PacedRounds, probability
from splboost.engines.self_paced import (
    SelfPacedMixin,
    checking_columns,
    documented,
    without_ours,
)
from splboost.pace import Pace

OBJECTIVES = "binary", "multiclass", "softmax"
DEPTH = 3  # by default, unlike LightGBM's
BAGGING = {"subsample": 0.5, "subsample_freq": 1}  # by default
# Of the arguments of fit
NOT_PASSED_ON = "self", "X", "y", "eval_metric", "callbacks", "__class__"
LEAST_SHARE = 1e-15  # of a class, as in LightGBM


@documented
class SPLLGBMClassifier(SelfPacedMixin, lightgbm.LGBMClassifier):
    """LightGBM that is not fooled by wrong labels.

    It is ``lightgbm.LGBMClassifier``, with other defaults and four parameters more:
    from a certain round on, samples whose label the model finds improbable no longer
    count. Everything else is the parent's, before and after ``fit``: early stopping,
    SHAP, saving, callbacks, categories. A saved model is an ordinary one of LightGBM.

    Where it differs: metrics are computed here, because LightGBM gets its own wrong
    under an objective that it does not know, and only log loss, error, AUC and average
    precision are, beside your own functions; ``min_child_weight`` must be above 0,
    since rows that do not count would crash LightGBM; ``boosting_type="rf"``,
    ``sigmoid`` and shares of rows to draw from a class (``pos_bagging_fraction``) are
    refused; GOSS, which allows no other draws of rows, is without ``subsample``.

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

    _package, _default_rate = "LightGBM", 0.1
    _fit_now: PacedFit | None = None
    _Booster: Any

    def __init__(
        self,
        *,
        p_min: float | None = None,
        pace: Pace | str | dict[Any, Any] | None = "hard",
        warm_rounds: int | None = None,
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
        self.p_min, self.pace, self.warm_rounds = p_min, pace, warm_rounds

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
        arguments = {k: v for k, v in locals().items() if k not in NOT_PASSED_ON}
        self._check_settings()
        if eval_X is None and eval_y is None:  # younger than the others
            del arguments["eval_X"], arguments["eval_y"]
        elif eval_X is not None and eval_y is not None:
            several = isinstance(eval_X, tuple)
            pairs = zip(eval_X, eval_y, strict=False) if several else [(eval_X, eval_y)]
            eval_set = list(pairs)
        weight = self._check_training(X, y, sample_weight, eval_set)
        arguments["sample_weight"] = weight
        with self._borrowed():
            fit = self._fit_now = PacedFit(self, init_model, init_score, eval_metric)
            super().fit(
                X,
                y,
                eval_metric=fit.eval_metric,
                callbacks=fit.callbacks(callbacks),
                **arguments,
            )
            del self._fit_now
            fit.end(X)
            self._keep_record(fit.rounds, fit.n_kept, *fit.rounds.close(fit.scores))
        return self

    predict = checking_columns(lightgbm.LGBMClassifier.predict)
    predict_proba = checking_columns(lightgbm.LGBMClassifier.predict_proba)

    def to_plain(self) -> lightgbm.LGBMClassifier:
        """The fitted model as a plain ``LGBMClassifier``.

        For tools that go by the class, such as converters to ONNX.
        """
        plain = self._as_parent(lightgbm.LGBMClassifier)
        if self._n_classes <= 2:
            _drop(vars(plain), "num_class")
            _drop(plain._other_params, "num_class")
        return plain

    def _check_settings(self) -> None:
        """Refuse what would crash LightGBM, or mean something else than it says."""
        super()._check_settings()
        params = self.get_params()
        for name, least in _named(params, "min_sum_hessian_in_leaf"):
            is_number = isinstance(least, Real)
            if not is_number or not least > 0:
                raise (ValueError if is_number else TypeError)(
                    f"{name} must be a number above 0 for a self-paced LightGBM, got "
                    f"{name}={least!r}: a leaf of rows that no longer count would "
                    "crash it. The default is 0.001."
                )
        for name, share in _named(
            params, "pos_bagging_fraction", "neg_bagging_fraction"
        ):
            if share != 1:
                raise ValueError(
                    f"{name}={share!r} would be ignored: LightGBM draws rows by class "
                    "under its own objective alone. Leave it out; subsample draws from "
                    "both classes, and class_weight makes one count for more."
                )
        if params.get("sigmoid", 1.0) != 1:
            raise ValueError(f"sigmoid must be 1, got sigmoid={params['sigmoid']!r}.")
        for name, leaves in _named(params, "num_leaves"):
            if self.max_depth == DEPTH and leaves > 2**DEPTH:
                warn(
                    f"{name}={leaves!r} cannot be reached: with max_depth={DEPTH} a "
                    f"tree has at most {2**DEPTH} leaves. Give max_depth=-1 for trees "
                    "of any depth, or fewer leaves."
                )

    def _process_params(self, stage: str) -> dict[str, Any]:
        """What LightGBM is to see; in a fit of ours, with the paced objective."""
        params = without_ours(super()._process_params(stage))
        if self._n_classes <= 2:  # of more, LightGBM itself puts their number right
            _drop(params, "num_class")
        fit = self._fit_now
        if stage != "fit" or fit is None:
            _drop(params, "metric")  # one that is known here may be wrong there
            return params
        self._check_objective(params["objective"], OBJECTIVES)
        self._objective = "multiclass" if self._n_classes > 2 else "binary"
        params["objective"] = self._objective
        fit.take_params(self._classes.tolist(), dict(params))
        _drop(params, "early_stopping_round", "metric")
        params |= {"objective": fit, "metric": "None"}
        kinds = [kind for _, kind in _named(params, "boosting", "data_sample_strategy")]
        if "goss" in kinds and BAGGING.items() <= params.items():
            for name in BAGGING:  # GOSS draws rows in a way of its own
                del params[name]
        return params


class PacedFit:
    """One fit: its objective, as ``lightgbm.train`` calls it.

    LightGBM lets the scores of an objective that it does not know start at 0. So the
    start score is added here, and put into the finished model.
    """

    rounds: PacedRounds
    n_kept: int  # rounds of this fit that are in the model

    def __init__(
        self, estimator: Any, init_model: Any, init_score: Any, eval_metric: Any
    ) -> None:
        self.n_done = count_rounds(init_model)
        self._adds_start = not self.n_done and init_score is None
        self._start: Any = None  # what to add to scores, for each class
        self.scores: Any = None  # in the end the final ones
        self._estimator = estimator
        self._init_score = init_score
        self._params = estimator.get_params()
        asked = eval_metric if isinstance(eval_metric, list) else [eval_metric]
        self._names = [each for each in asked if isinstance(each, str)]
        self.eval_metric = [
            self._evaluate,
            *(
                of_probabilities(each, self._probability)
                for each in asked
                if callable(each)
            ),
        ]

    def callbacks(self, callbacks: list[Any] | None) -> list[Any]:
        """The user's callbacks, with early stopping that leaves out the warm rounds."""
        params = self._params
        patience = [rounds for _, rounds in _named(params, "early_stopping_round")]
        callbacks = list(callbacks or ())
        if patience and patience[0] > 0:
            callbacks.append(
                lightgbm.early_stopping(
                    patience[0],
                    first_metric_only=params.get("first_metric_only", False),
                    min_delta=params.get("early_stopping_min_delta", 0.0),
                    verbose=params.get("verbosity", params.get("verbose", 1)) > 0,
                )
            )
        n_warm = max(self._estimator._count_warm_rounds() - self.n_done, 0)
        return [
            after_warm_rounds(each, n_warm)
            if type(each).__name__ == "_EarlyStoppingCallback"
            else each
            for each in callbacks
        ] + [keep_draws, self._keep_last]

    def take_params(self, labels: list[Any], params: dict[str, Any]) -> None:
        """Take the labels of the classes and the parameters of LightGBM."""
        self._labels = labels
        self._params = params
        self._adds_start &= bool(params.get("boost_from_average", True))
        told = params["metric"] or params["objective"]
        told = told.split(",") if isinstance(told, str) else told
        top_k = int(params.get("multi_error_top_k", 1))
        self._metrics = find_metrics([*self._names, *told], len(labels), top_k)

    def __deepcopy__(self, memo: Any) -> PacedFit:
        return self  # ``lightgbm.train`` copies its parameters

    def __call__(
        self, scores: NDArray[np.float64], data: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self._start is None:
            self._begin(np.asarray(data.get_label()), data.get_weight())
        return self.rounds.step(scores + self._start)

    def _keep_last(self, env: Any) -> None:
        """A callback, which takes the scores of the last round.

        To work them out afterwards takes a fifth to a half of the time of the fit. With
        "dart" asking for scores would drop trees.
        """

        def take(scores: NDArray[np.float64], data: Any) -> tuple[str, float, bool]:
            self.scores = scores + self._start
            return "", 0.0, False

        kinds = {kind for _, kind in _named(self._params, "boosting")}
        if env.iteration + 1 == env.end_iteration and kinds <= {"gbdt"}:
            env.model.eval_train(take)

    def end(self, X: Any) -> None:
        """Complete the model, and the scores if early stopping chose a round."""
        estimator = self._estimator
        booster, k = estimator._Booster, len(self._labels)
        assert self._start is not None, "this LightGBM has not called the objective"
        text = complete_model(
            booster.model_to_string(num_iteration=-1),
            f"multiclass num_class:{k}" if k > 2 else "binary sigmoid:1",
            self._start.tolist() if self._adds_start else [],
        )
        best = booster.best_iteration
        estimator._Booster = lightgbm.Booster(model_str=text)
        estimator._Booster.best_iteration = best
        estimator._Booster.best_score = booster.best_score
        self.n_kept = n_asked = len(self.rounds.latent)
        if best is not None and best > 0:
            self.n_kept = best - self.n_done
        if self.scores is not None and self.n_kept == n_asked:
            return
        with warnings.catch_warnings():
            # Names given to fit, where X itself has none
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            predict = lightgbm.LGBMModel.predict
            self.scores = predict(estimator, X, raw_score=True, num_iteration=best)
        if self._init_score is not None:
            shape = self.scores.shape
            self.scores += np.reshape(self._init_score, shape, order="F")

    def _begin(self, y: NDArray[Any], weight: Any) -> None:
        """Begin with these numbers of classes, and with a start score."""
        k = len(self._labels)
        codes = y.astype(np.intp)
        weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        mass = np.bincount(codes, weight, minlength=max(k, 2))
        share = np.clip(mass / mass.sum(), LEAST_SHARE, 1 - LEAST_SHARE)
        self._start = np.log(share) if k > 2 else np.log(share[1:2] / share[0])
        self._start *= self._adds_start
        n = np.bincount(codes, minlength=2)
        factors = np.array([1.0, float(self._params.get("scale_pos_weight") or 1.0)])
        if n.all() and any(value for _, value in _named(self._params, "is_unbalance")):
            factors = n.max() / n
        if k <= 2 and (factors != 1).any():
            weight = factors[codes] * (1.0 if weight is None else weight)
        mass = np.bincount(codes, weight, minlength=k)
        rounds = self._estimator._make_rounds(self._labels, mass, self.n_done)
        self.rounds = rounds.start(y, weight)

    def _probability(self, scores: NDArray[Any]) -> NDArray[Any]:
        return probability(np.asarray(scores) + self._start)

    def _evaluate(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], weight: Any
    ) -> list[tuple[str, float, bool]]:
        """The metrics that LightGBM has names for."""
        p = self._probability(y_pred)
        return [
            (name, float(metric(y_true, p, weight)), name in RANKINGS)
            for name, metric in self._metrics.items()
        ]


def after_warm_rounds(early_stopping: Any, warm_rounds: int) -> Any:
    """Early stopping whose patience begins when the pace has set in."""

    def callback(env: Any) -> None:
        first = env.begin_iteration + warm_rounds
        if env.iteration >= first:
            change = getattr(env, "_replace", None) or partial(replace, env)
            early_stopping(change(begin_iteration=first))

    vars(callback).update(order=early_stopping.order, before_iteration=False)
    return callback


def keep_draws(env: Any) -> None:
    """A callback that spares LightGBM a reset, which would shift its draws.

    A booster with an objective of its own is told so once more when it first meets one,
    though it was made without any; that draws columns once more.
    """
    flag = "_Booster__set_objective_to_none"
    if hasattr(env.model, flag):
        setattr(env.model, flag, True)


vars(keep_draws).update(order=0, before_iteration=True)


def count_rounds(init_model: Any) -> int:
    """The rounds of a model to go on from."""
    if init_model is None:
        return 0
    if isinstance(init_model, lightgbm.LGBMModel):
        init_model = init_model.booster_
    if not isinstance(init_model, lightgbm.Booster):
        init_model = lightgbm.Booster(model_file=init_model)
    return init_model.current_iteration()


def _named(params: dict[str, Any], *names: str) -> list[tuple[str, Any]]:
    """Parameters under all names that LightGBM has for them, where they are set."""
    known = [alias for name in names for alias in _ConfigAliases.get_sorted(name)]
    return [(name, params[name]) for name in known if params.get(name) is not None]


def _drop(params: dict[str, Any], *names: str) -> None:
    """Take out parameters under all names that LightGBM has for them."""
    for name in _ConfigAliases.get(*names):
        params.pop(name, None)
