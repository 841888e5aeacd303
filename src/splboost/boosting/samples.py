"""The data of a fit: samples to fit to, and samples that are kept out to validate on.

The latter are given by the user, or held out of the former.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from splboost._data.labels import (
    check_weights,
    encode_numbers,
    read_target,
    weigh_classes,
)
from splboost._data.table import Table, read_table, refuse_rounded
from splboost._tools.user_warnings import restate
from splboost.trees.binning import bin_table

FloatArray = NDArray[np.float64]

GIVEN, HELD_OUT = "given", "held out"  # validation data


class ValidationArguments(NamedTuple):
    """X_val, y_val and sample_weight_val as the user gave them."""

    X: Any
    y: Any
    sample_weight: Any

    def check(self) -> None:
        """Refuse arguments of which one is missing."""
        if self.X is not None and self.y is not None:
            return
        names = "X_val", "y_val", "sample_weight_val"
        given = [k for k, v in zip(names, self, strict=True) if v is not None]
        missing = "y_val" if "X_val" in given else "X_val"
        raise ValueError(
            f"{' and '.join(given)} given, but {missing} is None; validation data are "
            "X_val and y_val together, or neither."
        )


@dataclass(eq=False)
class Samples:
    """Checked data.

    Attributes
    ----------
    table : Table
    native : what the user gave, of which the samples may be some rows
    codes : class number of each sample; of a regression its target
    weight : weight of each sample
    rows : the rows of ``native`` that the samples are; None for all
    bins : the table, binned; None before that is asked for
    """

    table: Table
    native: Any
    codes: NDArray[Any]
    weight: FloatArray
    rows: NDArray[np.intp] | None = None
    bins: Any = None

    @cached_property
    def X(self) -> Any:
        """The samples as another library's estimator should get them."""
        X = self.table.native(self.native)
        if self.rows is None or X is not self.native:
            return X
        return _safe_indexing(X, self.rows)

    def binned(self, n_threads: int = 1) -> Any:
        """The table, binned when first asked for."""
        if self.bins is None:
            self.bins = bin_table(self.table, self.weight, n_threads=n_threads)
        return self.bins

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
            None if self.bins is None else self.bins.take(kept),
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


def divide(
    booster: Any, samples: Samples, given: ValidationArguments, split_seed: int | None
) -> FitData:
    """Leave out rows without weight, weigh classes, and take validation data aside.

    With a seed, rows are held out.
    """
    classes: Any = getattr(booster, "classes_", None)
    codes, of_class = samples.codes, None
    if getattr(booster, "class_weight", None) is not None:
        weight, of_class = weigh_classes(
            booster.class_weight, classes, codes, samples.weight
        )
        samples = replace(samples, weight=weight)
    used, validation = samples.weight > 0, None
    if split_seed is not None:
        held = hold_out(codes, used, classes, booster.validation_fraction, split_seed)
        used, validation = used & ~held, samples.take(held)
    elif given.X is not None:
        validation = read_given(booster, samples, given, of_class)
        validation = validation.take(validation.weight > 0)
    return FitData(samples.take(used), validation, used)


def hold_out(
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


def read_given(
    booster: Any,
    samples: Samples,
    given: ValidationArguments,
    of_class: FloatArray | None,
) -> Samples:
    """Check the user's validation data against what is fitted to."""
    with _blaming("X_val", "it needs a row at least, and the columns of X"):
        categorical = samples.table.is_categorical
        table = read_table(
            booster, given.X, categorical if categorical.any() else None, reset=False
        )
    with _blaming("sample_weight_val", "it needs a weight for each row of X_val"):
        weight = check_weights(given.sample_weight, table.n_rows)
    if not hasattr(booster, "classes_"):
        with _blaming("y_val", "it needs a number for each row of X_val"):
            y = encode_numbers(booster, given.y, table.n_rows)
        return Samples(table, given.X, y, weight)
    with _blaming("y_val", "it needs a label for each row of X_val"):
        y = read_target(given.y, booster, table.n_rows)
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
    return Samples(table, given.X, codes.astype(samples.codes.dtype), weight)


@contextmanager
def _blaming(argument: str, remedy: str) -> Iterator[None]:
    """Name the argument in errors that speak of X, y or sample_weight."""
    try:
        yield
    except (TypeError, ValueError) as why:
        raise restate(why, f"{argument} will not do, {remedy}: {why}") from None


def labels_of(booster: Any, samples: Samples) -> NDArray[Any]:
    """What the samples' y was."""
    classes = getattr(booster, "classes_", None)
    return samples.codes if classes is None else classes[samples.codes]
