"""What boosters share around the loop: checks, fitting, attributes."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from splboost._data.labels import all_or_nothing
from splboost._data.table import Table, read_table
from splboost.boosting.fitting import Continuation, Fitting, Kind
from splboost.boosting.learners import make_learners
from splboost.boosting.loop import Round, Schedule
from splboost.boosting.model import Model
from splboost.boosting.parameters import (
    check_parameters,
    check_subsample,
    warn_of_no_rounds,
    warn_of_stop,
    warn_of_warm_rounds,
)
from splboost.boosting.progress import make_watch
from splboost.boosting.samples import (
    GIVEN,
    HELD_OUT,
    FitData,
    Samples,
    ValidationArguments,
    divide,
    read_samples,
)
from splboost.boosting.validation import EarlyStopping, find_scorer
from splboost.boosting.weak_learner import MEANS
from splboost.pace import Pace, resolve_pace
from splboost.pace.by_class import is_paced
from splboost.pace.regularisers import DEFAULT_PLATEAU

FloatArray = NDArray[np.float64]
LEAST_RATE = 1e-9  # steps have a grain of 1e-13


class BaseBooster(BaseEstimator):
    """A booster, paced or not.

    What varies are its data, its scores, its step and its weak learners, which a family
    of boosters makes in the methods that are listed last.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, LEAST_RATE, 1, closed="both")],
        "pace": [Pace, dict, str, None],
        "warm_rounds": [Interval(Integral, 0, None, closed="left")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "scoring": [str, callable, None],
        "categorical_features": ["array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "callback": [callable, None],
        "verbose": ["verbose"],
    }

    estimator: Any
    n_estimators: int
    learning_rate: float
    pace: Pace | str | dict[Any, Any] | None
    warm_rounds: int
    subsample: float
    n_iter_no_change: int | None
    validation_fraction: float
    tol: float
    scoring: Any
    categorical_features: Any
    n_jobs: int | None
    random_state: Any
    warm_start: bool
    callback: Any
    verbose: int

    n_features_in_: int
    estimator_weights_: FloatArray
    estimator_errors_: FloatArray
    sample_pace_: FloatArray
    n_selected_: NDArray[np.int64]
    latent_objective_: FloatArray
    n_iter_: int
    stop_reason_: str
    validation_scores_: FloatArray
    _model: Model
    _continuation: Continuation | None = None
    _default_plateau: float = DEFAULT_PLATEAU  # of paces that name none

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the booster.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels, numbers or strings; for a regressor the numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 3 counts as three copies, a weight of 0 as no row.
        X_val : array-like or frame of shape (n_validation, n_features), default=None
            Validation data, which are not fitted to: their score after each round is
            kept in ``validation_scores_``. With ``n_iter_no_change`` it says when to
            stop; without, all rounds are done and kept.
        y_val : array-like of shape (n_validation,), default=None
            Labels of the validation data, or their numbers.
        sample_weight_val : array-like of shape (n_validation,), default=None
            Weights of the validation data. ``class_weight``, where there is one,
            multiplies them.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            given = ValidationArguments(X_val, y_val, sample_weight_val)
            self._fit(X, y, sample_weight, given)
        return self

    def _fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        given: ValidationArguments,
    ) -> None:
        check_parameters(self)
        scorer, stopping = find_scorer(self.scoring), None
        if self.n_iter_no_change is not None:
            n_warm = self.warm_rounds if is_paced(self.pace) else 0
            stopping = EarlyStopping(self.n_iter_no_change, self.tol, n_warm)
        source = GIVEN if given.are_given() else HELD_OUT if stopping else None
        samples = read_samples(self, X, y, sample_weight)
        kind = Kind.of(self, source) if self.warm_start else None

        earlier, split_seed = self._continuation if self.warm_start else None, None
        if kind is not None and earlier is not None:
            earlier.check(kind, self.n_estimators)
            earlier = earlier.without_stopgap()
            if earlier.is_at_end(self.n_estimators, self.subsample, stopping):
                warn_of_no_rounds(earlier.stop_reason, earlier.mark.n_done)
                return
            # Streams go on where they were; the user's own is left alone.
            rng, split_seed = np.random.RandomState(0), earlier.split_seed
        else:
            rng = check_random_state(self.random_state)
            if source == HELD_OUT:
                split_seed = rng.randint(2**31 - 1)
        data = divide(self, samples, given, split_seed)
        check_subsample(self.subsample, data.fitted.codes.size)
        self._resolve_paces(data.fitted)
        self._warn_of_paces()

        fitting = Fitting(
            kind,
            data,
            make_learners(self, data.fitted, rng),
            self._make_state,
            np.random.default_rng(rng.randint(2**31 - 1)),
            split_seed=split_seed,
        )
        if data.validation is not None:
            fitting.validate(self, data.validation, scorer)
        if earlier is not None:
            fitting.go_on_from(earlier)
        schedule = Schedule(self.n_estimators, self.warm_rounds, self.subsample)
        watch = make_watch(fitting, self, stopping)
        fitting.run(self._make_step(data.fitted.weight), schedule, watch)
        self._set_fitted(fitting, stopping)

    def _set_fitted(self, fitting: Fitting, stopping: EarlyStopping | None) -> None:
        """Set what a fit has led to, up to the best round; warn of what looks wrong."""
        rounds, reason = fitting.history.rounds, fitting.history.stop_reason
        if not rounds:
            raise ValueError(
                f"No learner could be fitted: {reason}. With pace={self.pace!r} and "
                f"warm_rounds={self.warm_rounds} every sample is left out from the "
                "start; choose a larger age or plateau, or keep some warm rounds."
            )
        n_done = n_kept = len(rounds)
        if stopping is not None and stopping.best_round is not None:
            n_kept = stopping.best_round
        of_all = fitting.model_after(n_done)
        model = of_all if n_kept == n_done else of_all.first(n_kept)
        self._set_rounds(
            rounds[:n_kept],
            model,
            reason,
            fitting.validation_scores(),
            fitting.continuation(of_all) if self.warm_start else None,
        )
        some_dropped = rounds[-1].n_selected < fitting.state.n_samples
        self._warn_of_stop(n_done, some_dropped=some_dropped)
        self._set_samples(fitting.state_after(n_kept, model), fitting.data)
        self._warn_of_samples(fitting.data)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the pace and of the weak learner.

        ``pace__plateau`` or ``estimator__max_depth`` may be set where the pace is a
        short name and the weak learner the default: they become objects first.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        of_pace = [name for name in params if name.startswith("pace__")]
        if of_pace and "pace" in self.get_params(deep=False):
            pace = params.get("pace", self.pace)
            if isinstance(pace, dict):
                raise ValueError(
                    f"{', '.join(of_pace)}: pace={pace!r} is a dict, which has no "
                    "parameters; set pace to a new dict, or to one Pace."
                )
            params["pace"] = resolve_pace(pace)
            if params["pace"] is None:
                raise ValueError(
                    f"{', '.join(of_pace)}: pace=None has no parameters; set pace to a "
                    'short name such as "linear", or to a Pace.'
                )
        if any(name.startswith("estimator__") for name in params):
            params.setdefault("estimator", self._weak_learner())
        return super().set_params(**params)

    def _set_rounds(
        self,
        rounds: list[Round],
        model: Model,
        stop_reason: str,
        validation_scores: list[float] | None,
        continuation: Continuation | None,
    ) -> None:
        _, _, coefficients, errors, n_selected, latent, _ = zip(*rounds, strict=True)
        self.n_iter_ = len(rounds)
        self.estimator_weights_ = np.array(coefficients)
        self.__dict__.pop("estimator_errors_", None)
        if errors[0] is not None:
            self.estimator_errors_ = np.array(errors)
        self.n_selected_ = np.array(n_selected)
        self.latent_objective_ = np.array(latent)
        self.stop_reason_ = stop_reason
        self._model = model
        self.__dict__.pop("validation_scores_", None)
        if validation_scores is not None:
            self.validation_scores_ = np.array(validation_scores)
        self.__dict__.pop("_continuation", None)
        if continuation is not None:
            self._continuation = continuation

    @property
    def estimators_(self) -> list[Any]:
        """The fitted weak learners, made on demand where trees are stored flat."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        classes = getattr(self, "classes_", None)
        return self._model.learners(classes, self.n_features_in_, names)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the removed impurity by feature, over all learners."""
        check_is_fitted(self)
        return self._model.importances(self.n_features_in_, self._learner_shares())

    def _weak_learner(self) -> Any:
        """The weak learner in use."""
        return self._default_learner() if self.estimator is None else self.estimator

    def _read(self, X: Any) -> Table:
        """New rows, refused where they are not like those fitted to."""
        check_is_fitted(self)
        return read_table(self, X, self._model.categorical_features, reset=False)

    def _learner_shares(self) -> FloatArray:
        """What each learner counts for in the importances: by its coefficient."""
        weights = self.estimator_weights_
        total = weights.sum(axis=0)
        return weights / np.where(total > 0, total, 1.0)

    # ------------------------------------------------------- what a family supplies

    _answers: ClassVar[str] = MEANS  # what counts of a weak learner

    def _default_learner(self) -> Any:
        """The weak learner where the user names none."""
        raise NotImplementedError

    def _encode(self, y: Any, weight: FloatArray) -> NDArray[Any]:
        """Labels as class numbers, or the numbers of a regression."""
        raise NotImplementedError

    def _fixed_parameters(self) -> dict[str, Any]:
        """Parameters that a warm start must not change, by name."""
        return {}

    def _resolve_paces(self, samples: Samples) -> None:
        """Set the paces in use."""

    def _warn_of_paces(self) -> None:
        """Warn of paces that are too strict from the start."""

    def _warn_of_stop(self, n_rounds: int, *, some_dropped: bool) -> None:
        """Warn where boosting has stopped for want of something."""
        reason, most = self.stop_reason_, self.n_estimators
        warn_of_stop(reason, n_rounds, most, some_dropped=some_dropped)
        warn_of_warm_rounds(self, n_rounds)

    def _set_samples(self, state: Any, data: FitData) -> None:
        """Set what has become of each sample, at the final scores."""
        self.sample_pace_ = data.spread(state.paces())

    def _warn_of_samples(self, data: FitData) -> None:
        """Warn where what has become of the samples looks wrong."""

    def _problems(self, samples: Samples) -> list[tuple[Any, Any]]:
        """What the learners of a round tell apart: class numbers, and classes."""
        raise NotImplementedError

    def _make_state(self, samples: Samples, *, validation: bool = False) -> Any:
        """The ``State`` of samples that are fitted to, or validated on."""
        raise NotImplementedError

    def _make_step(self, weight: FloatArray) -> Any:
        """A ``Step`` for samples of these weights."""
        raise NotImplementedError


def effective_size(weight: FloatArray) -> float:
    """Number of samples: weights that sum to less still are that many of them."""
    return float(max(weight.sum(), weight.size))
