"""Discrete boosting: weak classifiers that vote, moves in closed form."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from splboost._tools.threads import count_threads
from splboost.boosting.families.base import effective_size
from splboost.boosting.families.classifier import BaseBoostedClassifier
from splboost.boosting.fit.data import Samples
from splboost.boosting.learners.weak import (
    check_classifier,
    check_own_tree,
    is_own_tree,
)
from splboost.boosting.prediction import CoupledPrediction
from splboost.losses import Exponential
from splboost.trees.c45.estimator import C45Classifier
from splboost.trees.estimators import CARTClassifier

FloatArray = NDArray[np.float64]


class BaseDiscreteBooster(CoupledPrediction, BaseBoostedClassifier):
    """Discrete boosting of the exponential loss, paced or not."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostedClassifier._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "inner_steps": [Interval(Integral, 1, None, closed="left")],
        "on_perfect": [StrOptions({"stop", "continue"})],
    }
    inner_steps: int
    on_perfect: str

    _loss = Exponential()

    def _weak_learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return CARTClassifier(max_depth=1, min_weight_fraction_leaf=1e-4)

    def _make_step(self, weight: FloatArray) -> Any:
        from splboost.boosting.steps.discrete_steps import DiscreteStep

        perfect_stops = self.on_perfect == "stop"
        return DiscreteStep(
            self.classes_.size,
            1 / ((4 if perfect_stops else 2) * effective_size(weight)),
            self.learning_rate,
            self.inner_steps - 1,
            stop_when_perfect=perfect_stops,
        )

    def _make_scores(self, samples: Samples, *, all_outputs: bool = False) -> Any:
        from splboost.boosting.scores.discrete_scores import Scores

        return Scores(
            samples.codes,
            self.classes_.size,
            samples.weight,
            list(self.paces_.values()),
            n_threads=count_threads(self.n_jobs),
            all_outputs=all_outputs,
        )

    def _make_learner(self, samples: Samples, rng: np.random.RandomState) -> Any:
        from splboost.boosting.learners.discrete_learners import (
            C45Learner,
            EstimatorLearner,
            TreeLearner,
        )

        estimator = self._weak_learner()
        codes, weight = samples.codes, samples.weight
        if not is_own_tree(estimator):
            X, classes = samples.X, self.classes_
            return EstimatorLearner(estimator, X, codes, classes, weight, rng)
        check_classifier(estimator)
        check_own_tree(self, estimator)
        k, n_threads = self.classes_.size, count_threads(self.n_jobs)
        options = {"n_threads": n_threads, "seed": rng.randint(2**31 - 1)}
        if isinstance(estimator, C45Classifier):
            return C45Learner(estimator, samples.table, codes, k, weight, **options)
        return TreeLearner(estimator, samples.binned(n_threads), codes, k, **options)
