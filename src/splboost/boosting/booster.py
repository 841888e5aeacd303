"""What boosters share around the loop: checks, fitting, attributes."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
)
from sklearn.utils.validation import check_is_fitted

from splboost._data.labels import all_or_nothing
from splboost._data.table import Table, TableEstimator, read_table
from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import warn
from splboost._tools.wording import counted
from splboost.boosting.fitting import Fitting, Samples, divide
from splboost.boosting.learners import make_learners
from splboost.boosting.loop import (
    FINISHED,
    MEANS,
    NO_EDGE,
    NONE_SELECTED,
    ONE_CLASS,
    PERFECT,
)
from splboost.boosting.model import Model
from splboost.boosting.validation import (
    GIVEN,
    HELD_OUT,
    EarlyStopping,
    ValidationArguments,
    find_scorer,
)
from splboost.boosting.warm_start import Continuation, Mark, kind_of
from splboost.pace import Pace, resolve_pace
from splboost.pace.by_class import is_paced
from splboost.pace.regularisers import DEFAULT_PLATEAU

FloatArray = NDArray[np.float64]
LEAST_RATE = 1e-9  # steps have a grain of 1e-13
WARM_ROUNDS = "warm rounds"

_REMEDIES = {
    PERFECT: (
        "The last learner makes no error on the samples still selected, which may be "
        "all there is to learn. If not, use a weaker learner, a larger age or plateau, "
        'or on_perfect="continue".'
    ),
    NO_EDGE: (
        "No weak learner does better than guessing on the weighted samples, which may "
        "be all there is to learn. If not, use a stronger learner; with a pace, a "
        "larger age or plateau."
    ),
    ONE_CLASS: (
        "The pace has left samples of one class only. Choose a larger age or plateau, "
        "more warm rounds, or, where a class is rare, a pace with prior_corrected=True "
        'or class_weight="balanced".'
    ),
    NONE_SELECTED: (
        "The pace has left no sample. Choose a larger age or plateau, or more warm "
        "rounds."
    ),
}

_REASONS = {
    "n_estimators": "A model needs a learner.",
    "learning_rate": (
        "It is a share of the full step: beyond that a step overshoots, and far below "
        "1e-9 it is lost in rounding."
    ),
    "pace": (
        'Give a short name such as "hard", a regulariser such as Hard(plateau=2.0), a '
        "dict of these by class, or None for none."
    ),
    "warm_rounds": "It is a number of rounds; 0 lets the pace set in at once.",
    "subsample": "It is a share of the samples; 1.0 takes all of them.",
    "n_iter_no_change": "It is a number of rounds; None does not stop early.",
    "validation_fraction": (
        "It is a share of the samples: some must be left to fit to, and some to "
        "validate on."
    ),
    "tol": "It is how much better a score must be; 0 takes any that is better.",
    "z_max": (
        "The working response of a sample is at least 1 in size, so that a lower limit "
        "would make all of them alike; 2 to 4 is usual, and inf is no limit."
    ),
    "epsilon": (
        "It is the average potential: near 0 there is no end of time, and from 1 on "
        "the goal is met before boosting begins. Start with one to two times the share "
        "of wrong labels."
    ),
    "theta": "It is the margin that samples should end above; 0 is usual.",
    "sigma": "It is the width of the potential at the end; 0.1 is usual.",
}


def check_parameters(booster: Any) -> None:
    """Hold parameters to their constraints; errors add the reason to the range."""
    try:
        booster._validate_params()
    except InvalidParameterError as error:
        for name, reason in _REASONS.items():
            if str(error).startswith(f"The {name!r} parameter"):
                raise InvalidParameterError(f"{error} {reason}") from None
        raise


def check_subsample(subsample: float, n_rows: int) -> None:
    """Refuse a share of the rows that leaves fewer than two."""
    if subsample < 1 and subsample * n_rows < 2:
        unit = 10.0 ** (math.floor(math.log10(2 / n_rows)) - 1)
        enough = math.ceil(2 / n_rows / unit) * unit
        raise ValueError(
            f"subsample={subsample!r} of {counted(n_rows, 'row')} leaves nothing to "
            f"fit a learner to; give at least {enough:.2g}."
        )


class BaseBooster(TableEstimator):
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
            fitting = self._begin(X, y, sample_weight, given)
            if fitting is not None:
                fitting.run()
                history, stopping = fitting.history, fitting.stopping
                best = None if stopping is None else stopping.best_round
                self._set_rounds(
                    fitting,
                    len(history.rounds) if best is None else best,
                    history.stop_reason,
                    goes_on=self.warm_start,
                )
                self._warn_of_results(fitting)
        return self

    def _begin(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        given: ValidationArguments,
    ) -> Fitting | None:
        """Check parameters and data; None where a warm start has nothing to add."""
        check_parameters(self)
        scorer = None if self.scoring is None else find_scorer(self.scoring)
        source, stopping = None, None
        if any(argument is not None for argument in given):
            given.check()
            source = GIVEN
        if self.n_iter_no_change is not None:
            n_warm = self.warm_rounds if is_paced(self.pace) else 0
            stopping = EarlyStopping(self.n_iter_no_change, self.tol, n_warm)
            source = source or HELD_OUT
        samples = self._read_samples(X, y, sample_weight)
        kind = kind_of(self, source) if self.warm_start else None

        earlier, split_seed = self._continuation if self.warm_start else None, None
        if kind is not None and earlier is not None:
            earlier.check(kind, self.n_estimators)
            earlier = earlier.without_stopgap()
            # Streams go on where they were; the user's own is left alone.
            rng, split_seed = np.random.RandomState(0), earlier.split_seed
        else:
            rng = check_random_state(self.random_state)
            if source == HELD_OUT:
                split_seed = rng.randint(2**31 - 1)
        data = divide(self, samples, given, split_seed)
        if self.subsample < 1:
            check_subsample(self.subsample, data.fitted.codes.size)
        learners = make_learners(self, data.fitted, rng)
        # Only now are all columns known to be sound.
        n_rounds, subsample = self.n_estimators, self.subsample
        if earlier is not None and earlier.is_at_end(n_rounds, subsample, stopping):
            _warn_of_no_rounds(earlier.stop_reason, earlier.mark.n_done)
            return None
        self._resolve_paces(data.fitted, warns=True)
        draws = np.random.default_rng(rng.randint(2**31 - 1))
        fitting = Fitting(
            self,
            data,
            learners,
            draws,
            kind=kind,
            split_seed=split_seed,
            stopping=stopping,
        )
        if data.validation is not None:
            fitting.validate(scorer)
        if earlier is not None:
            fitting.go_on_from(earlier)
        return fitting

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
        fitting: Fitting,
        n_rounds: int,
        stop_reason: str,
        *,
        n_scores: int | None = None,
        goes_on: bool,
        mark: Mark | None = None,
    ) -> Any:
        """Set what the first rounds of a fit have led to; the state after them.

        ``n_scores`` of the validation scores are kept. If it ``goes_on``, another fit
        can do so from the mark, or from the end without one.
        """
        model, state = fitting.after(n_rounds)
        rounds = fitting.history.rounds[:n_rounds]
        self.n_iter_ = n_rounds
        self.estimator_weights_ = np.array([each.coefficient for each in rounds])
        self.__dict__.pop("estimator_errors_", None)
        if rounds[0].error is not None:
            self.estimator_errors_ = np.array([each.error for each in rounds])
        self.n_selected_ = np.array([each.n_selected for each in rounds])
        self.latent_objective_ = np.array([each.latent for each in rounds])
        self.stop_reason_ = stop_reason
        self._model = model
        self.__dict__.pop("validation_scores_", None)
        if fitting.scores is not None:
            self.validation_scores_ = np.array(fitting.scores[:n_scores])
        self.__dict__.pop("_continuation", None)
        if goes_on:
            self._continuation = fitting.continuation(
                model, n_rounds, mark, stop_reason
            )
        of_samples = np.full(fitting.data.used.size, np.nan)
        of_samples[fitting.data.used] = state.paces()
        setattr(self, self._sample_attribute, of_samples)
        return state

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

    def _read(self, X: Any) -> Table:
        """New rows, refused where they are not like those fitted to."""
        check_is_fitted(self)
        return read_table(self, X, self._model.categorical_features, reset=False)

    def _predict_scores(self, X: Any) -> FloatArray:
        """Scores of new rows."""
        table = self._read(X)
        output = np.zeros((table.n_rows, self._n_outputs))
        self._model.add(table, X, output, n_threads=count_threads(self.n_jobs))
        return self._shape(output, self._time_after(-1))

    def _stage_scores(self, X: Any) -> Iterator[FloatArray]:
        """Scores of new rows after each round."""
        table = self._read(X)
        output = np.zeros((table.n_rows, self._n_outputs))
        for n, _ in enumerate(self._model.stages(table, X, output)):
            yield self._shape(output.copy(), self._time_after(n))

    def _learner_shares(self) -> FloatArray:
        """What each learner counts for in the importances: by its coefficient."""
        weights = self.estimator_weights_
        total = weights.sum(axis=0)
        return weights / np.where(total > 0, total, 1.0)

    # ------------------------------------------------------- what a family supplies

    _answers: ClassVar[str] = MEANS  # what counts of a weak learner
    _n_outputs: int = 1  # of the model
    _note_on_learners: ClassVar[str] = ""  # what else errors say of the wrong kind
    _sample_attribute: ClassVar[str] = "sample_pace_"  # v of each sample in the end

    def _time_after(self, n: int) -> Any:
        """Time after a round by its index, where scores depend on it."""
        return None

    def _shape(self, output: FloatArray, time: Any = None) -> FloatArray:
        """Scores as users see them, from the model's outputs at a time."""
        raise NotImplementedError

    def _weak_learner(self) -> Any:
        """The weak learner in use."""
        raise NotImplementedError

    def _read_samples(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        """Check the data to fit to; learn the features and what y is."""
        raise NotImplementedError

    def _fixed_parameters(self) -> dict[str, Any]:
        """Parameters that a warm start must not change, by name."""
        return {}

    def _resolve_paces(self, samples: Samples, *, warns: bool = False) -> None:
        """Set the paces in use; warn of those that are too strict from the start."""

    def _warn_of_results(self, fitting: Fitting) -> None:
        """Warn where what a fit has led to looks wrong.

        Here, where boosting has stopped for want of something, or has felt no pace.
        """
        reason, parameters = self.stop_reason_, inspect.signature(type(self)).parameters
        n_rounds, last = len(fitting.history.rounds), fitting.history.rounds[-1]
        as_asked = reason == PERFECT and (
            last.n_selected == fitting.state.n_samples or n_rounds == self.n_estimators
        )
        if reason in _REMEDIES and not as_asked:
            warn(
                f"Boosting stopped after {n_rounds} of {self.n_estimators} rounds: "
                f"{reason}. {_REMEDIES[reason]}"
            )
        elif (
            reason == FINISHED
            and n_rounds <= self.warm_rounds
            and is_paced(self.pace)
            and "pace" in parameters
            and self.pace != parameters["pace"].default
            and self.n_iter_no_change is None
            and not self.warm_start
        ):
            warn(
                f"pace={self.pace!r} has had no effect: all {n_rounds} rounds were "
                f"among the warm_rounds={self.warm_rounds} before it sets in, and "
                "sample_pace_ only says what a further one would believe. Give fewer "
                "warm_rounds or a larger n_estimators.",
                topic=WARM_ROUNDS,
            )

    def _make_state(self, samples: Samples, *, validation: bool = False) -> Any:
        """The ``State`` of samples that are fitted to, or validated on."""
        raise NotImplementedError

    def _make_step(self, weight: FloatArray) -> Any:
        """A ``Step`` for samples of these weights."""
        raise NotImplementedError


def _warn_of_no_rounds(reason: str, n_done: int) -> None:
    """Warn where a warm start has nothing to add."""
    remedy = "raise n_estimators to add rounds"
    if reason != FINISHED:
        remedy = "there is nothing to add unless what ended it is changed"
    warn(
        f"warm_start=True: the fit before ended after {counted(n_done, 'round')} "
        f"({reason}), and this one adds none; {remedy}, or set warm_start=False to "
        "start anew."
    )
