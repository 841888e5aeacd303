"""What boosted classifiers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import warn
from splboost.boosting.booster import BaseBooster
from splboost.boosting.loop import ONE_CLASS
from splboost.boosting.parameters import warn_of_collapse
from splboost.boosting.prediction import ScorePrediction
from splboost.boosting.progress import Progress
from splboost.boosting.samples import (
    FitData,
    Samples,
    ValidationArguments,
    divide,
    read_samples,
)
from splboost.boosting.weak_learner import MEANS
from splboost.losses import MarginLoss
from splboost.pace import Pace
from splboost.pace.classes import describe_dropped_classes, paces_of_classes
from splboost.trees.estimators import CARTClassifier, CARTRegressor

FloatArray = NDArray[np.float64]


class BaseBoostedClassifier(ScorePrediction, ClassifierMixin, BaseBooster):
    """A boosted classifier, paced or not.

    A booster says what a round has to fit (``_working_set``), which answers of its weak
    learners count (``_answers``), and what to make of them (``_make_step``). With more
    than two classes there is a learner for each, set against the rest, unless one
    serves all.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBooster._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    class_weight: Any
    classes_: NDArray[Any]
    paces_: dict[Any, Pace | None]

    def _working_set(self) -> Any:
        """What a round has to fit: a ``WorkingSet``."""
        raise AttributeError(f"{type(self).__name__} has no loss of the margin.")

    @property
    def _loss(self) -> MarginLoss:  # type: ignore[override]
        return self._working_set().loss

    def _weak_learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        tree = CARTRegressor if self._answers == MEANS else CARTClassifier
        return tree(max_depth=1, min_weight_fraction_leaf=1e-4)

    def _problems(self, samples: Samples) -> list[tuple[Any, Any]]:
        if self.classes_.size == 2 or self._is_joint():
            return [(samples.codes, self.classes_)]
        own = np.array([False, True])
        return [
            ((samples.codes == k).astype(np.uint8), own)
            for k in range(self.classes_.size)
        ]

    def _is_joint(self) -> bool:
        """Whether one learner serves all classes."""
        return self._working_set().joint

    def _make_state(self, samples: Samples, *, validation: bool = False) -> Any:
        from splboost.boosting.state import State

        return State(
            self._working_set(),
            samples.codes,
            self.classes_.size,
            samples.weight,
            list(self.paces_.values()),
            targets=self._answers == MEANS,
            n_threads=count_threads(self.n_jobs),
        )

    def _read_samples(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        return read_samples(self, X, y, sample_weight, self._categorical_features())

    def _divide(
        self, samples: Samples, given: ValidationArguments, split_seed: int | None
    ) -> FitData:
        return divide(self, samples, given, split_seed)

    def _labels_of(self, samples: Samples) -> NDArray[Any]:
        return self.classes_[samples.codes]

    def _resolve_paces(self, samples: Samples) -> None:
        k, default = self.classes_.size, self._default_plateau()
        mass = np.bincount(samples.codes, samples.weight, k)
        priors = dict(zip(self.classes_.tolist(), mass / mass.sum(), strict=True))
        self.paces_ = paces_of_classes(
            self.pace, priors, self._loss, default_plateau=default
        )

    def _warn_of_paces(self) -> None:
        given = [pace for pace in self._given_paces() if pace is not None]
        if given and self.learning_rate == 1:
            k, default = self.classes_.size, self._default_plateau()
            in_units = [pace.for_loss(k, self._loss, default) for pace in given]
            warn_of_collapse(in_units, self._loss.doubt_at(1 / k, k))

    def _warn_of_samples(self, data: FitData) -> None:
        given = self._given_paces()
        if (
            self.n_iter_ <= self.warm_rounds  # no learner has felt the pace
            or self.stop_reason_ == ONE_CLASS  # said already
            or any(getattr(pace, "prior_corrected", False) for pace in given)
        ):
            return
        samples = data.fitted
        v = self.sample_pace_[data.used]
        message = describe_dropped_classes(
            v, samples.codes, samples.weight, self.classes_.tolist()
        )
        if message is not None:
            warn(message)

    def _pull(self, margin: FloatArray) -> FloatArray:
        """What a sample counts for in a round by its margin, before any pace.

        The slope of the loss, unless a step does not follow that.
        """
        return self._loss.weight(margin)


class BaseValueBooster(BaseBoostedClassifier):
    """A booster of a margin loss whose learners add values, with its parameters."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | dict[Any, Any] | None = None,
        warm_rounds: int = 3,
        subsample: float = 1.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-7,
        scoring: Any = None,
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callback: Callable[[Progress], Any] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.pace = pace
        self.warm_rounds = warm_rounds
        self.subsample = subsample
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.scoring = scoring
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
