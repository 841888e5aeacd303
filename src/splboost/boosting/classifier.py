"""What boosted classifiers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import StrOptions

from splboost._data.labels import check_weights, encode_labels
from splboost._data.table import read_table
from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import warn
from splboost.boosting.booster import BaseBooster
from splboost.boosting.fitting import Fitting, Samples
from splboost.boosting.learners import check_weak_learner
from splboost.boosting.loop import MEANS, ONE_CLASS
from splboost.boosting.progress import Progress
from splboost.boosting.state import State, WorkingSet, check_memory, level_ties
from splboost.losses import MarginLoss
from splboost.pace import Pace
from splboost.pace.by_class import describe_lost_classes, paces_of_classes
from splboost.trees.estimators import CARTClassifier, CARTRegressor

FloatArray = NDArray[np.float64]


class BaseBoostedClassifier(ClassifierMixin, BaseBooster):
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
    _working_set: WorkingSet
    classes_: NDArray[Any]
    paces_: dict[Any, Pace | None]

    @property
    def _loss(self) -> MarginLoss:
        return self._working_set.loss

    def _weak_learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        tree = CARTRegressor if self._answers == MEANS else CARTClassifier
        return tree(max_depth=1, min_weight_fraction_leaf=1e-4)

    def _read_samples(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        table = read_table(self, X, check_weak_learner(self), reset=True)
        weight = check_weights(sample_weight, table.n_rows)
        self.classes_, codes = encode_labels(self, y, weight)
        n, k = codes.size, self.classes_.size
        if k > 2:  # a score of each class, and for each learner what it is fitted to
            check_memory(n, k, 8 * n * (k + 4 * (1 if self._is_joint else k)))
        return Samples(table, X, codes, weight)

    @property
    def _is_joint(self) -> bool:
        """Whether one learner serves all classes."""
        return self._working_set.joint

    def _make_state(self, samples: Samples, *, validation: bool = False) -> Any:
        return State(
            self._working_set,
            samples.codes,
            self.classes_.size,
            samples.weight,
            list(self.paces_.values()),
            targets=self._answers == MEANS,
            n_threads=count_threads(self.n_jobs),
        )

    def _resolve_paces(self, samples: Samples, *, warns: bool = False) -> None:
        mass = np.bincount(samples.codes, samples.weight, self.classes_.size)
        self.paces_ = paces_of_classes(
            self.pace,
            dict(zip(self.classes_.tolist(), mass / mass.sum(), strict=True)),
            self._working_set.loss,
            default_plateau=self._default_plateau,
            warns=warns and self.learning_rate == 1,
        )

    def _warn_of_results(self, fitting: Fitting) -> None:
        super()._warn_of_results(fitting)
        given = self.pace.values() if isinstance(self.pace, dict) else [self.pace]
        if (
            self.n_iter_ <= self.warm_rounds  # no learner has felt the pace
            or self.stop_reason_ == ONE_CLASS  # said already
            or any(getattr(pace, "prior_corrected", False) for pace in given)
        ):
            return
        fitted, k = fitting.data.fitted, self.classes_.size
        codes, weight = fitted.codes, fitted.weight
        dropped = self.sample_pace_[fitting.data.used] == 0
        message = describe_lost_classes(
            np.bincount(codes, weight, k),
            np.bincount(codes[dropped], weight[dropped], k),
            np.bincount(codes[dropped], minlength=k),
            self.classes_.tolist(),
        )
        if message is not None:
            warn(message)

    def _pull(self, margin: FloatArray) -> FloatArray:
        """What a sample counts for in a round by its margin, before any pace."""
        weight, target = self._working_set.fit(margin, np.ones_like(margin))
        return weight * target if self._answers == MEANS else weight

    # -------------------------------------------------------------------- predictions

    def decision_function(self, X: Any) -> FloatArray:
        """Score of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        score : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes F, positive where ``classes_[1]`` is predicted; for more
            one score per class, the highest of which is predicted. What a score means
            depends on the loss (``docs/boosters.md``).
        """
        return self._predict_scores(X)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Score of each row after each round.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Yields
        ------
        score : array of shape (n_samples,) or (n_samples, n_classes)
        """
        yield from self._stage_scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted label of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        return self._labels(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predicted label of each row after each round.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Yields
        ------
        labels : array of shape (n_samples,)
        """
        for score in self.staged_decision_function(X):
            yield self._labels(score)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class, as the loss links it to the score.

        These probabilities are not calibrated: boosting drives scores apart, and a
        self-paced loss is flat where it no longer believes a label. Put
        ``CalibratedClassifierCV`` on top where they matter.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        return self._probability(self.decision_function(X), self._time_after(-1))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithm of the probability of each class; see ``predict_proba``.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Probability of each class after each round; see ``predict_proba``.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Yields
        ------
        probabilities : array of shape (n_samples, n_classes)
        """
        for n, score in enumerate(self.staged_decision_function(X)):
            yield self._probability(score, self._time_after(n))

    def staged_score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """Accuracy after each round.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Yields
        ------
        accuracy : float
        """
        for labels in self.staged_predict(X):
            yield accuracy_score(y, labels, sample_weight=sample_weight)

    @property
    def _n_outputs(self) -> int:  # type: ignore[override]
        return 1 if self.classes_.size == 2 else self.classes_.size

    def _shape(self, output: FloatArray, time: Any = None) -> FloatArray:
        if self.classes_.size == 2:
            return output[:, 0]
        return self._per_score * level_ties(self._working_set.combine(output))

    @property
    def _per_score(self) -> float:
        """Scores that users see, per unit of those that are linked to probabilities.

        For K classes coupled by the exponential loss F = (K - 1) G (``Exponential``).
        """
        return self.classes_.size - 1.0 if self._is_joint else 1.0

    def _labels(self, score: FloatArray) -> NDArray[Any]:
        if score.ndim == 1:
            return self.classes_[(score > 0).astype(np.intp)]
        return self.classes_[score.argmax(axis=1)]

    def _probability(self, score: FloatArray, time: Any = None) -> FloatArray:
        return self._loss.probability(
            score / self._per_score if score.ndim > 1 else score
        )


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
        self._set_parameters(locals())
