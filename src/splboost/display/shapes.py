"""Boosted stumps as what they are: a sum of functions of one feature each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from splboost._data.cells import is_missing
from splboost._data.table import Table
from splboost.boosting.model import PerClassModel
from splboost.boosting.prediction import ScorePrediction

FloatArray = NDArray[np.float64]
N_BINS = 40


@dataclass(frozen=True)
class ShapeFunction:
    """What one feature adds to the score, by its value.

    It is a step function of a number, or a table of categories, and callable. With
    more than two classes each step has a score per class.

    Attributes
    ----------
    feature : int
        Number of the feature.
    name : str
    cuts : array of shape (n_steps - 1,) or None
        Where the steps are, ascending; a number equal to a cut is below it. None for
        categories.
    categories : list or None
        One for each step; None for numbers.
    values : array of shape (n_steps,) or (n_steps, n_classes)
        Score of each step, which over X has a mean of zero.
    missing : float or array of shape (n_classes,)
        Score of a missing value, and of a category that the model does not know.
    importance : float or array of shape (n_classes,)
        Standard deviation of the score over X.
    counts : array of shape (n_bins,)
        Rows of X per category, or per bin of a histogram.
    edges : array of shape (n_bins + 1,) or None
        Edges of that histogram, from the smallest to the largest number in X; None
        for categories.
    n_missing : int
        Rows of X in which the feature is missing or unknown.
    """

    feature: int
    name: str
    cuts: FloatArray | None
    categories: list[Any] | None
    values: FloatArray
    missing: Any
    importance: Any
    counts: NDArray[np.int64]
    edges: FloatArray | None
    n_missing: int

    def __call__(self, column: Iterable[Any]) -> FloatArray:
        """Score of each of some values of the feature.

        Parameters
        ----------
        column : array-like of shape (n_samples,)

        Returns
        -------
        score : array of shape (n_samples,) or (n_samples, n_classes)
        """
        if self.cuts is not None:
            step = _steps_of_numbers(np.asarray(column, dtype=np.float64), self.cuts)
        else:
            step = _steps_of_labels(list(column), self.categories or [])
        return np.concatenate([self.values, np.array(self.missing)[None]])[step]


def shape_functions(booster: Any, X: Any) -> tuple[Any, list[ShapeFunction]]:
    """Intercept and functions whose sum is the booster's ``decision_function``.

    Each function has a mean of zero over X; the one that varies most over X is first.
    """
    _check_booster(booster)
    tables = booster._model.tables
    if isinstance(booster._model, PerClassModel):
        raise ValueError(
            f"{type(booster).__name__} has a model of its own for each of the classes "
            f"{booster.classes_.tolist()}; only boosters that fit all classes together "
            "(AdaBoost, SPLBoost, Real AdaBoost) can be drawn for more than two. Fit "
            "one class against the rest, as fit(X, y == label), and draw that."
        )
    if tables is None:
        raise ValueError(
            f"{type(booster).__name__} has weak learners that split more than once or "
            "are no trees of splboost, so that its score is no sum of functions of one "
            "feature; fit it with trees of splboost.trees of max_depth=1."
        )
    table = booster._read(X)
    names = getattr(booster, "feature_names_in_", table.names)
    time = booster._time_after(-1)
    intercept = booster._shape(tables.intercept[None], time)[0]
    cells = booster._shape(tables.cells, time)
    functions = []
    for f, lo, hi in zip(
        tables.features, tables.offset[:-1], tables.offset[1:], strict=True
    ):
        cell, cuts, coding = cells[lo:hi], tables.cuts[lo : hi - 2], tables.coding[f]
        if coding is None:
            steps, domain = _numeric_steps(table, f, cuts)
        else:
            cell = cell[[*coding.values(), -1]]
            steps, domain = _categorical_steps(table, f, list(coding))
        score = cell[steps]
        mean = score.mean(axis=0)
        intercept = intercept + mean
        functions.append(
            ShapeFunction(
                feature=int(f),
                name=str(names[f]),
                values=cell[:-1] - mean,
                missing=cell[-1] - mean,
                importance=score.std(axis=0),
                n_missing=int(np.sum(steps < 0)),
                **domain,
            )
        )
    functions.sort(key=lambda function: -np.linalg.norm(function.importance))
    return intercept, functions


def _check_booster(booster: Any) -> None:
    if not isinstance(booster, ScorePrediction):
        name = type(booster).__name__
        raise TypeError(
            f"estimator is a {name}; give a fitted booster of splboost, such as "
            "SPLBoostClassifier."
        )
    check_is_fitted(booster)


def _numeric_steps(
    table: Table, f: int, cuts: FloatArray
) -> tuple[NDArray[np.intp], dict[str, Any]]:
    """The step of each row, -1 where it is missing; the cuts and a histogram."""
    column = table.numeric(f).astype(np.float64)
    known = column[~np.isnan(column)]
    within = next((x for x in (known, cuts) if x.size), np.zeros(1))
    low, high = within.min(), within.max()
    if low == high:
        low, high = low - 0.5, high + 0.5
    counts, edges = np.histogram(known, bins=np.linspace(low, high, N_BINS + 1))
    domain = {"cuts": cuts, "categories": None, "counts": counts, "edges": edges}
    return _steps_of_numbers(column, cuts), domain


def _categorical_steps(
    table: Table, f: int, categories: list[Any]
) -> tuple[NDArray[np.intp], dict[str, Any]]:
    """The same of categories, with the rows of each."""
    labels, index = table.category(f)
    steps = np.append(_steps_of_labels(labels, categories), -1)[index]
    counts = np.bincount(steps[steps >= 0], minlength=len(categories))
    domain = {"cuts": None, "categories": categories, "counts": counts, "edges": None}
    return steps, domain


def _steps_of_numbers(column: FloatArray, cuts: FloatArray) -> NDArray[np.intp]:
    return np.where(np.isnan(column), -1, np.searchsorted(cuts, column))


def _steps_of_labels(labels: list[Any], categories: list[Any]) -> NDArray[np.intp]:
    position = {label: step for step, label in enumerate(categories)}
    steps = [-1 if is_missing(x) else position.get(x, -1) for x in labels]
    return np.array(steps, dtype=np.intp)
