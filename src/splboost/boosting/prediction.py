"""From the scores of a fitted booster to labels and probabilities, whole and staged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from splboost._data.table import Table, read_table
from splboost._tools.threads import count_threads
from splboost.boosting.model import Model
from splboost.losses import MarginLoss

FloatArray = NDArray[np.float64]
ROUNDING = 1e-11


class ScorePrediction:
    """Prediction with an additive model of a margin loss."""

    classes_: NDArray[Any]
    n_jobs: int | None
    _model: Model
    _loss: MarginLoss
    _working_set: Any

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
        table = self._read(X)
        score = np.zeros((table.n_rows, self._n_outputs))
        self._model.add(table, X, score, n_threads=count_threads(self.n_jobs))
        return self._shape(score, self._time_after(-1))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Score of each row after each round.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Yields
        ------
        score : array of shape (n_samples,) or (n_samples, n_classes)
        """
        table = self._read(X)
        score = np.zeros((table.n_rows, self._n_outputs))
        for n, _ in enumerate(self._model.stages(table, X, score)):
            yield self._shape(score.copy(), self._time_after(n))

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
        from sklearn.metrics import accuracy_score

        for labels in self.staged_predict(X):
            yield accuracy_score(y, labels, sample_weight=sample_weight)

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        return read_table(self, X, self._model.categorical_features, reset=False)

    @property
    def _n_outputs(self) -> int:
        return 1 if self.classes_.size == 2 else self.classes_.size

    def _time_after(self, n: int) -> Any:
        """Time after a round by its index, where scores depend on it."""
        return None

    def _shape(self, output: FloatArray, time: Any = None) -> FloatArray:
        """Scores as users see them, from the model's outputs at a time."""
        if self.classes_.size == 2:
            return output[:, 0]
        return self._per_score * level_ties(self._working_set().combine(output))

    @property
    def _per_score(self) -> float:
        """Scores that users see, per unit of those that are linked to probabilities.

        For K classes coupled by the exponential loss F = (K - 1) G (``Exponential``).
        """
        return 1.0

    def _labels(self, score: FloatArray) -> NDArray[Any]:
        if score.ndim == 1:
            return self.classes_[(score > 0).astype(np.intp)]
        return self.classes_[score.argmax(axis=1)]

    def _probability(self, score: FloatArray, time: Any = None) -> FloatArray:
        return self._loss.probability(
            score / self._per_score if score.ndim > 1 else score
        )


def level_ties(score: FloatArray) -> FloatArray:
    """Make scores equal that differ from the highest of their row by rounding alone.

    The first of them is then the prediction, whatever the rounding.
    """
    highest = score.max(axis=1, keepdims=True)
    slack = ROUNDING * np.maximum(np.abs(highest), 1.0)
    return np.where(score >= highest - slack, highest, score)
