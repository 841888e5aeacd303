"""What boosted classifiers share around the loop: checks, fitting, attributes."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from splboost.boosting.loop import (
    NO_EDGE,
    NONE_SELECTED,
    ONE_CLASS,
    PERFECT,
    Schedule,
    boost,
)
from splboost.boosting.model import Model
from splboost.boosting.prediction import ScorePrediction
from splboost.losses import Exponential
from splboost.pace import Pace, resolve_pace
from splboost.pace.classes import describe_dropped_classes, paces_of_classes
from splboost.trees.c45.estimator import C45Classifier
from splboost.trees.columns import Table, read_table
from splboost.trees.estimators import CARTClassifier
from splboost.trees.labels import (
    all_or_nothing,
    check_weights,
    drop_weightless,
    encode_labels,
    weigh_classes,
)
from splboost.trees.threads import count_threads

FloatArray = NDArray[np.float64]
LEAST_RATE = 1e-9  # steps have a grain of 1e-13


class BaseDiscreteBooster(ScorePrediction, ClassifierMixin, BaseEstimator):
    """Discrete boosting of the exponential loss, paced or not."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, LEAST_RATE, 1, closed="both")],
        "pace": [Pace, dict, str, None],
        "warm_rounds": [Interval(Integral, 0, None, closed="left")],
        "inner_steps": [Interval(Integral, 1, None, closed="left")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "on_perfect": [StrOptions({"stop", "continue"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "categorical_features": ["array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    estimator: Any
    n_estimators: int
    learning_rate: float
    pace: Pace | str | dict[Any, Any] | None
    warm_rounds: int
    inner_steps: int
    subsample: float
    on_perfect: str
    class_weight: Any
    categorical_features: Any
    n_jobs: int | None
    random_state: Any
    verbose: int

    classes_: NDArray[Any]
    n_features_in_: int
    estimator_weights_: FloatArray
    estimator_errors_: FloatArray
    paces_: dict[Any, Pace | None]
    sample_pace_: FloatArray
    n_selected_: NDArray[np.int64]
    latent_objective_: FloatArray
    n_iter_: int
    stop_reason_: str
    _model: Model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the booster.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 3 counts as three copies, a weight of 0 as no row.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        from splboost.boosting.scores import Scores
        from splboost.boosting.steps import DiscreteStep

        self._validate_params()
        table = read_table(self, X, self._categorical_features(), reset=True)
        X = table.native(X)
        all_weight = check_weights(sample_weight, table.n_rows)
        self.classes_, codes = encode_labels(self, y, all_weight)
        k = self.classes_.size
        all_weight = weigh_classes(self.class_weight, self.classes_, codes, all_weight)
        table, weight, codes = drop_weightless(table, all_weight, codes)
        self._check_subsample(codes.size)
        mass = np.bincount(codes, weight, minlength=k)
        priors = dict(zip(self.classes_.tolist(), mass / mass.sum(), strict=True))
        self.paces_ = paces_of_classes(self.pace, priors, Exponential())

        rng = check_random_state(self.random_state)
        n_threads = count_threads(self.n_jobs)
        learner = self._make_learner(table, X, all_weight, codes, weight, rng)
        paces = list(self.paces_.values())
        scores = Scores(codes, k, weight, paces, n_threads=n_threads)
        self._warn_of_collapse()
        # Weights that sum to less than the number of rows (to 1, say) still are that
        # many samples.
        n_samples = max(weight.sum(), weight.size)
        go_on = self.on_perfect == "continue"
        history = boost(
            learner,
            scores,
            DiscreteStep(
                k,
                1 / ((2 if go_on else 4) * n_samples),
                self.learning_rate,
                self.inner_steps - 1,
            ),
            Schedule(
                self.n_estimators,
                self.warm_rounds,
                self.subsample,
                not go_on,
            ),
            rng=np.random.default_rng(rng.randint(2**31 - 1)),
            on_round=self._report if self.verbose else None,
        )
        self._set_fitted(learner, history, codes.size)
        del learner, history  # and with them most of the memory
        self.sample_pace_ = scores.paces()
        self._warn_of_dropped_classes(codes, weight)
        if codes.size < all_weight.size:
            of_all = np.full(all_weight.size, np.nan)
            of_all[all_weight > 0] = self.sample_pace_
            self.sample_pace_ = of_all

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
        if of_pace:
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

    def _check_subsample(self, n_rows: int) -> None:
        if self.subsample * n_rows < 2:
            raise ValueError(
                f"subsample={self.subsample!r} of {n_rows} rows leaves nothing to fit "
                f"a learner to; give at least {2 / n_rows:.2g}."
            )

    def _categorical_features(self) -> Any:
        """The user's list, here or on the weak learner."""
        own, estimator = self.categorical_features, self._weak_learner()
        if not _is_own_tree(estimator):
            if own is not None:
                raise ValueError(
                    f"categorical_features={own!r} is for the trees of splboost.trees; "
                    f"estimator={estimator!r} would take these columns for numbers. "
                    "Use CARTClassifier, or encode them yourself."
                )
            return None
        if own is not None and estimator.categorical_features is not None:
            raise ValueError(
                f"categorical_features={own!r} is given to {type(self).__name__}, and "
                f"{estimator.categorical_features!r} to its estimator; give it once."
            )
        return own if own is not None else estimator.categorical_features

    def _weak_learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return CARTClassifier(max_depth=1, min_weight_fraction_leaf=1e-4)

    def _make_learner(
        self,
        table: Table,
        X: Any,
        all_weight: FloatArray,
        codes: NDArray[np.integer],
        weight: FloatArray,
        rng: np.random.RandomState,
    ) -> Any:
        from sklearn.utils import _safe_indexing

        from splboost.boosting.learners import C45Learner, EstimatorLearner, TreeLearner

        estimator = self._weak_learner()
        if _is_own_tree(estimator):
            estimator._validate_params()
            if estimator.class_weight is not None:
                raise ValueError(
                    f"estimator={estimator!r} has a class_weight, which would change "
                    "the weights that boosting has set; give class_weight="
                    f"{estimator.class_weight!r} to {type(self).__name__} instead."
                )
            make = C45Learner if isinstance(estimator, C45Classifier) else TreeLearner
            return make(
                estimator,
                table,
                codes,
                self.classes_.size,
                weight,
                n_threads=count_threads(self.n_jobs),
                seed=rng.randint(2**31 - 1),
            )
        if weight.size < all_weight.size:
            X = _safe_indexing(X, np.flatnonzero(all_weight > 0))
        return EstimatorLearner(estimator, X, codes, self.classes_, weight, rng)

    def _given_paces(self) -> list[Pace | None]:
        """The paces of the user, before any correction."""
        given = self.pace.values() if isinstance(self.pace, dict) else [self.pace]
        return [resolve_pace(pace) for pace in given]

    def _warn_of_collapse(self) -> None:
        for pace in self._given_paces():
            if self.learning_rate < 1 or pace is None or pace.peak() > 1:
                continue
            warnings.warn(
                f"pace={pace!r} gives its greatest weight to samples with a loss of "
                f"{pace.peak():.3g}, but an undecided sample has 1 already: the "
                "booster may lose samples before it has learned from them, and "
                "collapse. Choose a larger age or plateau.",
                UserWarning,
                stacklevel=4,
            )
            return

    def _warn_of_dropped_classes(
        self, codes: NDArray[np.integer], weight: FloatArray
    ) -> None:
        given = self._given_paces()
        if (
            self.n_iter_ <= self.warm_rounds  # no learner has felt the pace
            or self.stop_reason_ == ONE_CLASS  # said already
            or any(getattr(pace, "prior_corrected", False) for pace in given)
        ):
            return
        message = describe_dropped_classes(
            self.sample_pace_, codes, weight, self.classes_.tolist()
        )
        if message is not None:
            warnings.warn(message, UserWarning, stacklevel=4)

    def _report(self, history: Any) -> None:
        n = len(history.terms)
        if n % max(1, 100 // (10 ** min(self.verbose - 1, 2))) == 0:
            print(
                f"round {n:5d}: error {history.errors[-1]:.4f}, "
                f"{history.n_selected[-1]} samples selected, "
                f"latent objective {history.latent[-1]:.6g}"
            )

    def _set_fitted(self, learner: Any, history: Any, n_samples: int) -> None:
        if not history.terms:
            raise ValueError(
                f"No learner could be fitted: {history.stop_reason}. With "
                f"pace={self.pace!r} and warm_rounds={self.warm_rounds} every sample "
                "is left out from the start; choose a larger age or plateau, or keep "
                "some warm rounds."
            )
        self.n_iter_ = len(history.terms)
        self.estimator_weights_ = np.array(history.coefficients)
        self.estimator_errors_ = np.array(history.errors)
        self.n_selected_ = np.array(history.n_selected)
        self.latent_objective_ = np.array(history.latent)
        self.stop_reason_ = history.stop_reason
        self._model = learner.model(history.terms, np.array(history.moves))
        remedy = _REMEDIES.get(history.stop_reason)
        dropped = history.n_selected[-1] < n_samples
        if history.stop_reason == PERFECT and not dropped:
            remedy = None
        if remedy is not None:
            warnings.warn(
                f"Boosting stopped after {self.n_iter_} of {self.n_estimators} rounds: "
                f"{history.stop_reason}. {remedy}",
                UserWarning,
                stacklevel=4,
            )

    @property
    def estimators_(self) -> list[Any]:
        """The fitted weak learners, made on demand where trees are stored flat."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return self._model.learners(self.classes_, self.n_features_in_, names)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the removed impurity by feature, learners by their coefficients."""
        check_is_fitted(self)
        share = self.estimator_weights_ / (self.estimator_weights_.sum() or 1.0)
        return self._model.importances(self.n_features_in_, share)


def _is_own_tree(estimator: Any) -> bool:
    """Whether the tree engine is to grow it; not if a subclass fits in its own way."""
    return any(
        isinstance(estimator, kind) and type(estimator).fit is kind.fit
        for kind in (CARTClassifier, C45Classifier)
    )


_REMEDIES = {
    PERFECT: (
        "The last learner makes no error on the samples still selected. Use a weaker "
        'learner, a larger age or plateau, or on_perfect="continue".'
    ),
    NO_EDGE: (
        "No weak learner does better than guessing on the weighted samples. Use a "
        "stronger learner or fewer rounds; with a pace, a larger age or plateau."
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
