"""Weak learners that answer row by row: C4.5 trees, and estimators of scikit-learn.

Their terms are like those of ``value_learners``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost.boosting.answers import (
    predicted_classes,
    predicted_numbers,
    predicted_shares,
)
from splboost.boosting.learners.discrete_learners import C45Learner
from splboost.boosting.learners.weak import fit_clone
from splboost.boosting.loop import Round
from splboost.boosting.model import (
    EstimatorModel,
    MixtureModel,
    MultiwayModel,
)
from splboost.boosting.scores.links import Link
from splboost.trees.blocks import Coding
from splboost.trees.c45.trees import shares_of_rows, votes_of_rows

FloatArray = NDArray[np.float64]


class RowTerm:
    """A learner that answers row by row."""

    def __init__(self, fitted: Any, answers: FloatArray) -> None:
        self.fitted = fitted
        self.output = answers
        self.largest = 0.0
        self.factor = 1.0
        self.outputs_of: Link | None = None

    def link(self, link: Link) -> None:
        self.outputs_of = link
        self.output = link(self.output)
        self.largest = float(np.abs(self.output).max())

    def scale(self, factor: float) -> None:
        self.factor *= factor
        self.output = factor * self.output

    def on_rows(self, answers: FloatArray) -> RowTerm:
        """The term where the learner answers with these."""
        other = RowTerm(self.fitted, answers)
        if self.outputs_of is not None:
            other.link(self.outputs_of)
        other.scale(self.factor)
        return other

    def add_to(self, score: FloatArray) -> None:
        score += self.output.T

    def values(self) -> FloatArray:
        """Of the first output."""
        return self.output[:, 0]

    def are_positive(self) -> NDArray[np.bool_]:
        """Whether these are above 0."""
        return self.output[:, 0] > 0

    def keep(self) -> None:
        """Answers are its own already."""

    def forget(self) -> None:
        """Let go of the samples."""
        self.output = self.output[:0].copy()


class MixtureLearner:
    """Grows C4.5 trees, whose class shares count, with one more case of each class."""

    def __init__(self, learner: C45Learner, table: Table) -> None:
        self._learner = learner
        self._rows = learner.read(table, None)

    def can_fit(self, weight: FloatArray) -> bool:
        return self._learner.can_fit(weight)

    def fit(self, weight: FloatArray, target: FloatArray) -> RowTerm:
        tree = self._learner.fit(weight).grown
        tree = tree._replace(value=tree.value + 1)
        return RowTerm(tree, shares_of_rows(tree, self._rows))

    def model(self, rounds: list[Round]) -> MixtureModel:
        trees = self._learner._grower.ensemble([each.term.fitted for each in rounds])
        outputs_of = [each.term.outputs_of for each in rounds]
        estimator = copy(self._learner._estimator)
        return MixtureModel(trees, _factors(rounds), outputs_of, estimator)

    def read(self, table: Table, X: Any) -> NDArray[np.floating]:
        """Rows on which terms are to vote."""
        return self._learner.read(table, X)

    def on_rows(self, term: RowTerm, rows: NDArray[np.floating]) -> RowTerm:
        """The term on other rows."""
        return term.on_rows(shares_of_rows(term.fitted, rows))

    @property
    def coding(self) -> Coding:
        return self._learner.coding

    state = None  # a tree depends on nothing but its weights


class VoteLearner(MixtureLearner):
    """Grows C4.5 trees whose votes count."""

    def fit(self, weight: FloatArray, target: FloatArray) -> RowTerm:
        tree = self._learner.fit(weight).grown
        return RowTerm(tree, _all_for(votes_of_rows(tree, self._rows)))

    def model(self, rounds: list[Round]) -> MultiwayModel:  # type: ignore[override]
        trees = self._learner._grower.ensemble([each.term.fitted for each in rounds])
        moves = _factors(rounds) * [each.term.outputs_of.factor for each in rounds]
        return MultiwayModel(trees, moves, copy(self._learner._estimator))

    def on_rows(self, term: RowTerm, rows: NDArray[np.floating]) -> RowTerm:
        """The term on other rows."""
        return term.on_rows(_all_for(votes_of_rows(term.fitted, rows)))


def _all_for(vote: NDArray[np.integer]) -> FloatArray:
    """Class shares that are all for the class voted for, of two."""
    return np.eye(2)[vote]


class EstimatorValues:
    """Fits clones of any estimator that takes ``sample_weight``.

    Parameters
    ----------
    estimator : the weak learner
    X : the training samples
    codes : class numbers, for classifiers; None for regressors
    classes : what to call these
    sample_weight : the samples' own weights
    rng : seeds the learners
    votes : bool
        Whether a classifier's predictions count, instead of its probabilities.
    """

    coding = None

    def __init__(
        self,
        estimator: Any,
        X: Any,
        codes: NDArray[np.integer] | None,
        classes: NDArray[Any],
        sample_weight: FloatArray,
        rng: np.random.RandomState,
        *,
        votes: bool = False,
    ) -> None:
        self._estimator = estimator
        self._X = X
        self._codes = codes
        self._classes = classes
        self._sample_weight = sample_weight
        self._rng = rng
        self._answers: Callable[[Any, Any], FloatArray] = predicted_means
        if codes is not None:
            self._answers = (PredictedVotes if votes else PredictedShares)(classes)

    def can_fit(self, weight: FloatArray) -> bool:
        """Whether there are samples; two classes of them, if these are to be told."""
        if self._codes is None:
            return bool(weight.any())
        return np.unique(self._codes[weight > 0]).size > 1

    def fit(self, weight: FloatArray, target: FloatArray) -> RowTerm:
        labels = None if self._codes is None else self._classes[self._codes]
        estimator = fit_clone(
            self._estimator,
            self._X,
            target if labels is None else labels,
            weight,
            self._sample_weight,
            self._rng,
            of_classes=labels is not None,
        )
        return RowTerm(estimator, self._answers(estimator, self._X))

    def model(self, rounds: list[Round]) -> EstimatorModel:
        estimators = [each.term.fitted for each in rounds]
        outputs_of = [Answered(self._answers, each.term.outputs_of) for each in rounds]
        return EstimatorModel(estimators, _factors(rounds), outputs_of)

    def read(self, table: Table, X: Any) -> Any:
        """Rows on which terms are to vote."""
        return table.native(X)

    def on_rows(self, term: RowTerm, rows: Any) -> RowTerm:
        """The term on other rows."""
        return term.on_rows(self._answers(term.fitted, rows))

    @property
    def state(self) -> Any:
        return self._rng.get_state()

    @state.setter
    def state(self, state: Any) -> None:
        self._rng.set_state(state)


def _factors(rounds: list[Round]) -> FloatArray:
    return np.array([each.move * each.term.factor for each in rounds])


def predicted_means(estimator: Any, X: Any) -> FloatArray:
    """What a regressor predicts, as a column."""
    return predicted_numbers(estimator, X)[:, None]


@dataclass(frozen=True)
class PredictedShares:
    """The probabilities that a classifier predicts, in the order of the classes."""

    classes: NDArray[Any]

    def __call__(self, estimator: Any, X: Any) -> FloatArray:
        return predicted_shares(estimator, X, self.classes)


@dataclass(frozen=True)
class PredictedVotes:
    """The classes that a classifier predicts, as shares that are all for one of two."""

    classes: NDArray[Any]

    def __call__(self, estimator: Any, X: Any) -> FloatArray:
        return _all_for(predicted_classes(estimator, X, self.classes))


@dataclass(frozen=True)
class Answered:
    """Outputs of an estimator: its answers through a link."""

    answers: Callable[[Any, Any], FloatArray]
    link: Link

    def __call__(self, estimator: Any, X: Any) -> FloatArray:
        return self.link(self.answers(estimator, X))
