"""Learners and models of several columns: one for each class against the rest.

Where there is but one column, a round's term is a tuple of one, and the model that of
the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost.boosting.loop import Round
from splboost.boosting.model import Model
from splboost.boosting.scores.working import drop_negligible
from splboost.trees.blocks import Coding

FloatArray = NDArray[np.float64]


class ValueTerm(Protocol):
    """What a weak learner adds to the training samples' scores."""

    def add_to(self, score: FloatArray) -> None: ...

    def keep(self) -> None:
        """Make it outlive the learner's next fit."""

    def forget(self) -> None:
        """Let go of what it knows of samples."""


class Terms(tuple[Any, ...]):
    """A round's terms by column, None where a column has got none."""

    def replaced(self, terms: Iterable[Any]) -> Terms:
        """The same round with other terms."""
        return Terms(terms)

    def vote(self, scores: Any, move: float) -> None:
        """Move the scores of samples; a move of 0 leaves them."""
        if not move:
            return
        if len(self) == 1:
            self[0].add_to(scores.raw)
            return
        for k, term in enumerate(self):
            if term is not None:
                term.add_to(scores.raw[k : k + 1])

    def forget(self) -> None:
        """Let go of what the terms know of samples, which would fill the memory."""
        for term in self:
            if term is not None:
                term.forget()


def weights_to_fit(
    learner: Any, weight: FloatArray, rows: NDArray[np.bool_] | None
) -> FloatArray | None:
    """The weights of the drawn rows (None: all), those that are negligible at 0.

    Where a learner cannot be fitted to these, of all rows; None if not to these either.
    """
    for own in [weight] if rows is None else [weight * rows, weight]:
        drop_negligible(own)
        if learner.can_fit(own):
            return own
    return None


class ColumnsLearner:
    """The learner of each column, which may be one and the same."""

    def __init__(self, columns: list[Any]) -> None:
        self.columns = columns

    def model(self, rounds: list[Round]) -> Model:
        """What the rounds have learned."""
        taken = np.array([[term is not None for term in each.term] for each in rounds])
        columns = [
            learner.model(
                [
                    each._replace(term=each.term[k])
                    for each in rounds
                    if each.term[k] is not None
                ]
            )
            if taken[:, k].any()
            else None
            for k, learner in enumerate(self.columns)
        ]
        if len(columns) == 1 and columns[0] is not None:
            return columns[0]
        return ColumnsModel(columns, taken)

    def read(self, table: Table, X: Any) -> Any:
        """Rows on which terms are to vote."""
        return self.columns[0].read(table, X)

    def votes(self, term: Terms, rows: Any, codes: Any) -> Terms:
        """The terms on other rows."""
        return term.replaced(
            None if own is None else learner.on_rows(own, rows)
            for own, learner in zip(term, self.columns, strict=True)
        )

    @property
    def coding(self) -> Coding | None:
        return self.columns[0].coding

    @property
    def state(self) -> list[Any]:
        return [learner.state for learner in self.columns]

    @state.setter
    def state(self, state: list[Any]) -> None:
        for learner, own in zip(self.columns, state, strict=True):
            if own is not None:
                learner.state = own


class ColumnsModel:
    """A model for each column.

    Parameters
    ----------
    columns : list of Model or None, each with one output
    taken : (n_rounds, n_columns) whether a column has got a learner in a round
    """

    tables = None

    def __init__(self, columns: list[Model | None], taken: NDArray[np.bool_]) -> None:
        self.columns = columns
        self.taken = taken
        some = [column for column in columns if column is not None]
        self.categorical_features = some[0].categorical_features if some else None

    def first(self, n: int) -> ColumnsModel:
        """The model of the first n rounds."""
        counts = self.taken[:n].sum(axis=0)
        columns = [
            None if column is None or count == 0 else column.first(int(count))
            for column, count in zip(self.columns, counts, strict=True)
        ]
        return ColumnsModel(columns, self.taken[:n])

    def joined(self, later: ColumnsModel) -> ColumnsModel:
        """This model's rounds followed by those of another."""
        columns = [
            new if old is None else old if new is None else old.joined(new)
            for old, new in zip(self.columns, later.columns, strict=True)
        ]
        return ColumnsModel(columns, np.concatenate([self.taken, later.taken]))

    def add(self, table: Table, X: Any, score: FloatArray, *, n_threads: int) -> None:
        """Add the scores of all rounds."""
        for k, column in enumerate(self.columns):
            if column is not None:
                own = np.zeros((score.shape[0], 1))
                column.add(table, X, own, n_threads=n_threads)
                score[:, k] += own[:, 0]

    def stages(self, table: Table, X: Any, score: FloatArray) -> Iterator[None]:
        """Add the scores of one round after the other."""
        owns = [np.zeros((score.shape[0], 1)) for _ in self.columns]
        steps = [
            iter(()) if column is None else column.stages(table, X, own)
            for column, own in zip(self.columns, owns, strict=True)
        ]
        before = score.copy()
        for taken in self.taken:
            for k in np.flatnonzero(taken):
                next(steps[k])
                score[:, k] = before[:, k] + owns[k][:, 0]
            yield

    def importances(self, n_features: int, share: FloatArray) -> FloatArray:
        """Mean over the columns, each of which has shares of its own."""
        each = [
            column.importances(n_features, share[self.taken[:, k], k])
            for k, column in enumerate(self.columns)
            if column is not None
        ]
        return np.mean(each, axis=0) if each else np.zeros(n_features)

    def learners(
        self, classes: NDArray[Any] | None, n_features: int, names: NDArray[Any] | None
    ) -> list[Any]:
        """Of each round a list: the learner of each column, or None.

        Classifiers know whether a sample is of the column's class.
        """
        own = np.array([False, True])
        each = [
            iter([] if column is None else column.learners(own, n_features, names))
            for column in self.columns
        ]
        return [
            [next(each[k]) if taken[k] else None for k in range(len(each))]
            for taken in self.taken
        ]
