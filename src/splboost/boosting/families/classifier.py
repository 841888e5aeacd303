"""What boosted classifiers share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from splboost._tools.user_warnings import warn
from splboost.boosting.families.advice import warn_of_collapse
from splboost.boosting.families.base import BaseBooster
from splboost.boosting.fit.data import (
    FitData,
    Samples,
    ValidationArguments,
    divide,
    read_samples,
)
from splboost.boosting.loop import ONE_CLASS
from splboost.boosting.prediction import ScorePrediction
from splboost.pace import Pace
from splboost.pace.classes import describe_dropped_classes, paces_of_classes

FloatArray = NDArray[np.float64]


class BaseBoostedClassifier(ScorePrediction, ClassifierMixin, BaseBooster):
    """A boosted classifier, paced or not; its loss is ``_loss``."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBooster._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    class_weight: Any
    classes_: NDArray[Any]
    paces_: dict[Any, Pace | None]

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
