"""The rows of a fit: those fitted to, and those validated on, given or held out."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from splboost._data.labels import (
    check_target,
    check_weights,
    encode_numbers,
    weigh_classes,
)
from splboost._data.table import Table, read_table, refuse_rounded
from splboost._tools.user_warnings import restate
from splboost.boosting.weak_learner import categorical_features_of
from splboost.trees.binning import bin_table

FloatArray = NDArray[np.float64]

GIVEN, HELD_OUT = "given", "held out"


class Samples:
    """Checked data.

    Attributes
    ----------
    table : Table
    X : what ``table`` is a view of, at the same rows
    codes : class number of each sample; of a regression its target
    weight : weight of each sample
    """

    def __init__(
        self,
        table: Table,
        X: Any,
        codes: NDArray[Any],
        weight: FloatArray,
        rows: NDArray[np.intp] | None = None,
        binned: Any = None,
    ) -> None:
        self.table = table
        self.codes = codes
        self.weight = weight
        self._X = X
        self._rows = rows
        self._binned = binned

    @cached_property
    def X(self) -> Any:
        """The rows that were taken, copied only when asked for."""
        X = self.table.native(self._X)
        if self._rows is None or X is not self._X:
            return X
        return _safe_indexing(X, self._rows)

    def binned(self, n_threads: int = 1) -> Any:
        """The table, binned when first asked for."""
        if self._binned is None:
            self._binned = bin_table(self.table, self.weight, n_threads=n_threads)
        return self._binned

    def weighing(self, weight: FloatArray) -> Samples:
        """The same samples with other weights."""
        return Samples(
            self.table, self._X, self.codes, weight, self._rows, self._binned
        )

    def take(self, kept: NDArray[np.bool_]) -> Samples:
        """Some of the samples, in the same bins if there are any."""
        if kept.all():
            return self
        return Samples(
            self.table.take(kept),
            self.X,
            self.codes[kept],
            self.weight[kept],
            np.flatnonzero(kept),
            None if self._binned is None else self._binned.take(kept),
        )


@dataclass(frozen=True)
class ValidationArguments:
    """X_val, y_val and sample_weight_val as the user gave them."""

    X: Any
    y: Any
    sample_weight: Any

    def are_given(self) -> bool:
        """Whether there are validation data; what is given in part is refused."""
        if self.X is not None and self.y is not None:
            return True
        arguments = {
            "X_val": self.X,
            "y_val": self.y,
            "sample_weight_val": self.sample_weight,
        }
        given = [name for name, value in arguments.items() if value is not None]
        if not given:
            return False
        missing = "y_val" if "X_val" in given else "X_val"
        raise ValueError(
            f"{' and '.join(given)} given, but {missing} is None; validation data are "
            "X_val and y_val together, or neither."
        )


@dataclass(frozen=True)
class FitData:
    """The samples that are fitted to, and those validated on.

    ``used`` marks the former among all that were given.
    """

    fitted: Samples
    validation: Samples | None
    used: NDArray[np.bool_]

    def spread(self, values: FloatArray) -> FloatArray:
        """Values of the samples fitted to, among all; NaN for the others."""
        if self.used.all():
            return values
        of_all = np.full(self.used.size, np.nan)
        of_all[self.used] = values
        return of_all


def read_samples(booster: Any, X: Any, y: ArrayLike, sample_weight: Any) -> Samples:
    """Check the data to fit to; the booster learns its features and what y is."""
    categorical = categorical_features_of(booster, booster._weak_learner())
    table = read_table(booster, X, categorical, reset=True)
    weight = check_weights(sample_weight, table.n_rows)
    return Samples(table, X, booster._encode(y, weight), weight)


def labels_of(booster: Any, samples: Samples) -> NDArray[Any]:
    """What the samples' y was."""
    classes = getattr(booster, "classes_", None)
    return samples.codes if classes is None else classes[samples.codes]


def divide(
    booster: Any, samples: Samples, given: ValidationArguments, split_seed: int | None
) -> FitData:
    """Leave out rows without weight, weigh classes, and take validation data aside.

    With a seed, rows are held out.
    """
    classes, codes = getattr(booster, "classes_", None), samples.codes
    of_class, weight = None, samples.weight
    if classes is not None:
        given_weight = booster.class_weight
        weight, of_class = weigh_classes(given_weight, classes, codes, weight)
    weighed = samples.weighing(weight)
    used, validation = weight > 0, None
    if split_seed is not None:
        fraction = booster.validation_fraction
        held = _hold_out(codes, used, classes, fraction, split_seed)
        used, validation = used & ~held, weighed.take(held)
    elif given.X is not None:
        validation = _read_given(booster, samples, given, of_class)
    return FitData(weighed.take(used), validation, used)


def _hold_out(
    codes: NDArray[Any],
    usable: NDArray[np.bool_],
    classes: NDArray[Any] | None,
    fraction: float,
    seed: int,
) -> NDArray[np.bool_]:
    """Mask of rows drawn, from each class; at least one goes out, and one stays."""
    rng = np.random.default_rng(seed)
    held = np.zeros(codes.size, dtype=bool)
    groups = [(usable, "there is")]
    if classes is not None:
        groups = [
            (usable & (codes == k), f"class {label!r} has")
            for k, label in enumerate(classes.tolist())
        ]
    for group, there_is in groups:
        rows = np.flatnonzero(group)
        if rows.size == 1:
            leave_out = "" if classes is None else "leave the class out, "
            raise ValueError(
                f"validation_fraction={fraction}: {there_is} a single sample of "
                "positive weight, which cannot be both fitted to and held out. Give "
                f"X_val and y_val, {leave_out}or set n_iter_no_change=None."
            )
        if rows.size > 1:
            n_held = min(max(round(fraction * rows.size), 1), rows.size - 1)
            held[rng.permutation(rows)[:n_held]] = True
    return held


def _read_given(
    booster: Any,
    samples: Samples,
    given: ValidationArguments,
    of_class: FloatArray | None,
) -> Samples:
    """Check the user's validation data against what is fitted to."""
    table, weight = _read_rows(booster, samples, given)
    if not hasattr(booster, "classes_"):
        with _blaming("y_val", "it needs a number for each row of X_val"):
            y = encode_numbers(booster, given.y, table.n_rows)
        return Samples(table, given.X, y, weight).take(weight > 0)
    with _blaming("y_val", "it needs a label for each row of X_val"):
        y = check_target(booster, given.y, table.n_rows)
        refuse_rounded(y, "y_val")
    classes = booster.classes_.tolist()
    position = {label: k for k, label in enumerate(classes)}
    codes = np.array([position.get(label, -1) for label in y.tolist()])
    unknown = np.flatnonzero((codes < 0) & (weight > 0))
    if unknown.size:
        labels = dict.fromkeys(y[unknown].tolist())
        raise ValueError(
            f"y_val contains {', '.join(map(repr, list(labels)[:5]))}, which y lacks; "
            f"its classes are {reprlib.repr(classes)}. Leave such rows out of the "
            "validation data."
        )
    if of_class is not None:
        weight = weight * of_class[codes]
        if not weight.any():
            raise ValueError(
                f"class_weight={booster.class_weight} leaves no weight to the labels "
                "of y_val; give validation data of the other classes, too."
            )
    codes = codes.astype(samples.codes.dtype)
    return Samples(table, given.X, codes, weight).take(weight > 0)


def _read_rows(
    booster: Any, samples: Samples, given: ValidationArguments
) -> tuple[Table, FloatArray]:
    """The user's validation data, but for their labels, and their weights."""
    with _blaming("X_val", "it needs a row at least, and the columns of X"):
        categorical = samples.table.is_categorical
        table = read_table(
            booster, given.X, categorical if categorical.any() else None, reset=False
        )
    with _blaming("sample_weight_val", "it needs a weight for each row of X_val"):
        weight = check_weights(given.sample_weight, table.n_rows)
    return table, weight


@contextmanager
def _blaming(argument: str, remedy: str) -> Iterator[None]:
    """Name the argument in errors that speak of X, y or sample_weight."""
    try:
        yield
    except (TypeError, ValueError) as why:
        raise restate(why, f"{argument} will not do, {remedy}: {why}") from None
