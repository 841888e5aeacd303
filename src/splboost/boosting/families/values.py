"""Boosters whose learners add values: what they share.

With more than two classes there is a column of scores for each, and a booster says
which answers of its weak learners it needs (``_answers``). One of a margin loss also
says what a round has to fit (``_working_set``) and what to make of an answer
(``_link``). It sets each class against the rest, unless its working set couples them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from splboost._tools.threads import count_threads
from splboost.boosting.families.base import effective_size
from splboost.boosting.families.classifier import BaseBoostedClassifier
from splboost.boosting.fit.data import Samples
from splboost.boosting.learners.weak import (
    check_classifier,
    check_own_tree,
    check_regressor,
    is_own_tree,
)
from splboost.boosting.prediction import level_ties
from splboost.boosting.progress import Progress
from splboost.losses import MarginLoss
from splboost.pace import Pace
from splboost.trees.c45.estimator import C45Classifier
from splboost.trees.estimators import CARTClassifier, CARTRegressor

FloatArray = NDArray[np.float64]

MEANS, SHARES, VOTES = "means", "shares", "votes"


class BaseColumnsBooster(BaseBoostedClassifier):
    """A booster with a column of scores for each class, to which learners add.

    Two classes have one column.
    """

    _answers: ClassVar[str] = MEANS

    def _is_joint(self) -> bool:
        """Whether one learner serves all classes."""
        return False

    def _weak_learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        tree = CARTRegressor if self._answers == MEANS else CARTClassifier
        return tree(max_depth=1, min_weight_fraction_leaf=1e-4)

    def _make_learner(self, samples: Samples, rng: np.random.RandomState) -> Any:
        from splboost.boosting.learners.columns import ColumnsLearner

        estimator = self._weak_learner()
        if self._answers == MEANS:
            check_regressor(estimator, remedy=self._kinds_by_variant())
        else:
            check_classifier(
                estimator,
                probabilities=self._answers == SHARES,
                remedy=self._kinds_by_variant(),
            )
        k = self.classes_.size
        joint = k == 2 or self._is_joint()
        if is_own_tree(estimator):
            check_own_tree(self, estimator)
            columns = self._grow_trees(estimator, samples, rng, joint)
        else:
            columns = self._fit_estimators(estimator, samples, rng, joint)
        return ColumnsLearner(columns)

    def _kinds_by_variant(self) -> str:
        """A sentence on which variants take which learners, where that differs."""
        kinds: dict[str, list[str]] = {"classifiers": [], "regressors": []}
        for constraint in self._parameter_constraints.get("variant", []):
            for variant in sorted(getattr(constraint, "options", [])):
                other = copy(self)
                other.variant = variant
                kind = "regressors" if other._answers == MEANS else "classifiers"
                kinds[kind].append(repr(variant))
        if not all(kinds.values()):
            return ""
        taken = [f"{kind} with variant={' or '.join(v)}" for kind, v in kinds.items()]
        return f" {type(self).__name__} takes {' and '.join(taken)}."

    def _grow_trees(
        self, estimator: Any, samples: Samples, rng: Any, joint: bool
    ) -> list[Any]:
        from splboost.boosting.learners.discrete_learners import C45Learner, TreeLearner
        from splboost.boosting.learners.row_learners import MixtureLearner, VoteLearner
        from splboost.boosting.learners.value_learners import (
            RegressionLearner,
            ShareLearner,
        )

        table, weight, k = samples.table, samples.weight, self.classes_.size
        n_threads, seed = count_threads(self.n_jobs), rng.randint(2**31 - 1)
        options: dict[str, Any] = {"n_threads": n_threads, "seed": seed}
        if not isinstance(estimator, C45Classifier):
            binned = samples.binned(n_threads)
        if self._answers == MEANS:
            return [RegressionLearner(estimator, binned, **options)] * (
                1 if joint else k
            )
        columns: list[Any] = []
        for codes, n_classes in _problems(samples.codes, k, joint):
            if isinstance(estimator, C45Classifier):
                make = MixtureLearner if self._answers == SHARES else VoteLearner
                given = estimator, table, codes, n_classes, weight
                columns.append(make(C45Learner(*given, **options), table))
            else:
                learner = TreeLearner(estimator, binned, codes, n_classes, **options)
                columns.append(ShareLearner(learner))
        return columns

    def _fit_estimators(
        self, estimator: Any, samples: Samples, rng: Any, joint: bool
    ) -> list[Any]:
        from splboost.boosting.learners.row_learners import EstimatorValues

        X, weight, classes = samples.X, samples.weight, self.classes_
        if self._answers == MEANS:
            learner = EstimatorValues(estimator, X, None, classes, weight, rng)
            return [learner] * (1 if joint else classes.size)
        names = classes if joint else np.array([False, True])
        votes = self._answers == VOTES
        return [
            EstimatorValues(estimator, X, codes, names, weight, rng, votes=votes)
            for codes, _ in _problems(samples.codes, classes.size, joint)
        ]


class BaseValueBooster(BaseColumnsBooster):
    """A booster of a margin loss, whose learners add values."""

    _tolerance: ClassVar[float] = 0.0

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

    # ------------------------------------------------------- what a booster supplies

    @abstractmethod
    def _working_set(self) -> Any:
        """What a round has to fit: a ``WorkingSet``."""

    @abstractmethod
    def _link(self, n_samples: float) -> Any:
        """What a weak learner's answer adds to the scores: a ``Link``."""

    # --------------------------------------------------------------- what follows

    def _is_joint(self) -> bool:
        return self._working_set().joint

    @property
    def _loss(self) -> MarginLoss:  # type: ignore[override]
        return self._working_set().loss

    def _make_scores(self, samples: Samples, *, all_outputs: bool = False) -> Any:
        from splboost.boosting.scores.additive import AdditiveScores

        return AdditiveScores(
            self._working_set(),
            samples.codes,
            self.classes_.size,
            samples.weight,
            list(self.paces_.values()),
            n_threads=count_threads(self.n_jobs),
        )

    def _make_step(self, weight: FloatArray) -> Any:
        from splboost.boosting.steps.value_steps import ValueStep

        link = self._link(effective_size(weight))
        return ValueStep(link, float(weight.sum()), self._tolerance)

    def _shape(self, output: FloatArray, time: Any = None) -> FloatArray:
        if self.classes_.size == 2:
            return output[:, 0]
        return level_ties(self._working_set().combine(output))


def _problems(
    codes: NDArray[np.integer], n_classes: int, joint: bool
) -> list[tuple[NDArray[np.integer], int]]:
    """Class numbers, and how many, of each classifier of a round."""
    if joint:
        return [(codes, n_classes)]
    return [((codes == k).astype(np.uint8), 2) for k in range(n_classes)]
