"""What the `fit` of all estimators shares: checks of targets and of weights."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from splboost._data.table import (
    BLOCK_ROWS,
    is_missing,
    refuse_rounded,
    series_values,
)
from splboost._tools.user_warnings import warn
from splboost._tools.wording import counted

MOST_CLASSES = 1 << 16
SMALL = 20  # rows, of which any number of classes is given without a warning
MANY_CLASSES = 100
FEW_ROWS = 20  # for each of many classes


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Sample weights as floats: one per row, finite, non-negative, not all zero.

    Without weights a read-only view of a single 1, which takes no memory.
    """
    if sample_weight is None:
        return np.broadcast_to(1.0, n_rows)
    if isinstance(sample_weight, str):
        raise TypeError(
            f"sample_weight={sample_weight!r} is a string; give a number for each row."
        )
    if isinstance(sample_weight, np.ma.MaskedArray):
        refuse_masked(sample_weight, "sample_weight")
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    try:
        weight = check_array(
            sample_weight,
            ensure_2d=False,
            dtype=np.float64,
            input_name="sample_weight",
        )
    except ValueError as why:
        said = str(why).partition("\n")[0].rstrip(".")
        raise ValueError(
            f"sample_weight will not do: {said}. Give a number, zero or positive, for "
            "each row."
        ) from None
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array."
        )
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: one weight "
            "for each row of X."
        )
    if weight.min() < 0:
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: the smallest is "
            f"{weight.min():g}. Weights must be zero or positive."
        )
    if weight.max() == 0:
        raise ValueError(
            "Sample weights are all zero: sample_weight leaves no row to learn from. "
            "Give at least one sample of each class a positive weight."
        )
    _check_total(weight, "sample_weight")
    return weight


def _check_total(weight: NDArray[np.float64], source: str) -> None:
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not 1e-200 < total < 1e200:
        raise ValueError(
            f"Sample weights sum to {total:g}, which is beyond what floats can work "
            f"with; rescale {source}, say to a mean of 1."
        )


def read_target(
    y: Any, estimator: BaseEstimator | None = None, n_rows: int | None = None
) -> NDArray[Any]:
    """A target as a 1-d array without missing values, one for each row of X."""
    if y is None and estimator is not None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but "
            "the target y is None."
        )
    if isinstance(y, np.ma.MaskedArray):
        refuse_masked(y, "y")
    y = column_or_1d(y if isinstance(y, np.ndarray) else _as_array(y), warn=True)
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        what = "NaN" if np.isnan(y).any() else "infinity"
        raise ValueError(
            f"Input y contains {what}. Remove the rows without a valid target."
        )
    if y.dtype.kind == "O" and any(map(is_missing, y.tolist())):
        raise ValueError(
            "Input y contains NaN or None. Remove the rows without a valid target."
        )
    if n_rows is not None and y.size != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has "
            f"{counted(n_rows, 'row')} and y has {counted(y.size, 'value')}."
        )
    return y


def _as_array(y: Any) -> Any:
    """A column of pandas or polars as an array; integers and booleans stay such."""
    library = type(y).__module__.partition(".")[0]
    if library == "pandas" and getattr(y, "ndim", 0) == 1:
        import pandas

        y = pandas.Series(y)  # also of an index, or an array of pandas' own
    given = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(given, nw.DataFrame) and given.shape[1] == 1:
        return series_values(given[:, 0]).reshape(-1, 1)
    return series_values(given) if isinstance(given, nw.Series) else y


def refuse_masked(values: np.ma.MaskedArray[Any, Any], argument: str) -> None:
    """Refuse masked entries, which would be taken for valid."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{argument} is masked in {np.ma.count_masked(values)} of {values.size} "
            "entries; remove these rows."
        )


def check_labels(y: NDArray[Any]) -> None:
    """Refuse a checked target that cannot be classes."""
    if y.dtype.kind == "f":
        broken = y[y != np.floor(y)]
        if broken.size:
            raise ValueError(
                f"Unknown label type: continuous. y holds {broken[0]:g}, and a "
                "classifier needs classes; if y is a number to be predicted, use a "
                "regressor."
            )
        refuse_rounded(y, "y")
    elif y.dtype.kind == "O":
        kinds = {type(label).__name__: isinstance(label, str) for label in y.tolist()}
        if not all(kinds.values()):
            whole = [int(each) for each in y.tolist() if isinstance(each, Integral)]
            is_long = max(map(abs, whole), default=0) >= 2**63
            ways = "" if is_long else "y.astype(int) or "
            raise ValueError(
                f"Unknown label type: y is of dtype object and holds "
                f"{' and '.join(kinds)}. Convert it, for instance with {ways}"
                "y.astype(str)."
            )
    elif y.dtype.kind not in "iubUS":
        check_classification_targets(y)


def warn_of_many_classes(n_classes: int, n_rows: int) -> None:
    """Warn of a number to be predicted that is given for classes.

    Half as many classes as rows is where scikit-learn warns.
    """
    half = n_rows > SMALL and 2 * n_classes > n_rows
    if half or (n_classes > MANY_CLASSES and n_rows < FEW_ROWS * n_classes):
        warn(
            f"y has {n_classes} classes in {n_rows} rows, "
            f"{n_rows / n_classes:.2g} to a class on average: few of them can be "
            "learned, and each makes a fit longer. If y is a number to be predicted, "
            "use a regressor."
        )


def encode_labels(
    estimator: BaseEstimator, y: Any, weight: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[np.integer]]:
    """Distinct labels in order, and each row's position among them.

    Labels that occur only with weight zero do not exist. (Rows of weight zero get some
    position or other; the caller drops them.)
    """
    y = read_target(y, estimator, weight.size)
    if y.dtype.kind not in "iubUS":
        check_labels(y)
    blocks = [slice(lo, lo + BLOCK_ROWS) for lo in range(0, y.size, BLOCK_ROWS)]
    distinct = [np.unique(y[rows][weight[rows] > 0]) for rows in blocks]
    classes = distinct[0] if len(blocks) == 1 else np.unique(np.concatenate(distinct))
    if classes.size < 2:
        raise ValueError(
            f"y contains only one class, {classes.tolist()[0]!r}, among the samples of "
            "positive weight; a classifier needs at least two classes."
        )
    if classes.size > MOST_CLASSES:
        raise ValueError(
            f"y has {classes.size} classes, more than the {MOST_CLASSES} that a "
            "classifier can have here; if y is a number to be predicted, use a "
            "regressor."
        )
    if 2 * classes.size > SMALL:  # fewer are never too many
        warn_of_many_classes(classes.size, int(np.count_nonzero(weight)))
    codes = np.empty(y.size, dtype=np.uint8 if classes.size <= 256 else np.uint16)
    for rows in blocks:
        codes[rows] = np.searchsorted(classes, y[rows]).clip(max=classes.size - 1)
    return classes, codes


def encode_numbers(
    estimator: BaseEstimator, y: Any, n_rows: int
) -> NDArray[np.float64]:
    """Numeric targets as floats."""
    y = read_target(y, estimator, n_rows)
    try:
        numbers = y.astype(np.float64)
    except (TypeError, ValueError) as why:
        raise ValueError(f"y must be numeric for regression: {why}.") from None
    if not np.isfinite(numbers).all():
        raise ValueError(
            "Input y contains infinity. Remove the rows without a valid target."
        )
    return numbers


def check_trusted(trusted: Any, n_rows: int) -> NDArray[np.bool_]:
    """Whether the label of each row is known to be right."""
    if trusted is None:
        return np.zeros(n_rows, dtype=bool)
    if isinstance(trusted, np.ma.MaskedArray):
        refuse_masked(trusted, "trusted")
    mask = np.asarray(trusted)
    if mask.dtype == object and any(map(is_missing, mask.flat)):
        raise ValueError(
            "trusted has missing entries; give True or False for each row of X."
        )
    if mask.dtype == object and all(isinstance(v, bool | np.bool_) for v in mask.flat):
        mask = mask.astype(bool)
    if mask.shape != (n_rows,) or mask.dtype != bool:
        raise ValueError(
            f"trusted is of shape {mask.shape} and type {mask.dtype}, for {n_rows} "
            "rows; give True or False for each row of X."
        )
    return mask


def weigh_classes(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.integer], weight: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Sample weights times the weights of their classes, and these, or None."""
    of_class = weights_of_classes(class_weight, classes, codes, weight)
    if of_class is None:
        return weight, None
    with np.errstate(over="ignore"):
        weight = weight * of_class[codes]
    _check_total(weight, "class_weight or sample_weight")
    return weight, of_class


def weights_of_classes(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.integer], weight: Any
) -> NDArray[np.float64] | None:
    """The weight of each class, or None.

    "balanced" gives every class the same total weight.
    """
    if class_weight is None:
        return None
    labels = classes.tolist()
    if class_weight == "balanced":
        mass = np.bincount(codes, weight, minlength=classes.size)
        return weight.sum() / (classes.size * mass)
    bad = {
        label: w
        for label, w in class_weight.items()
        if not (isinstance(w, Real) and 0 <= float(w) < np.inf)
    }
    if bad:
        raise ValueError(
            f"class_weight contains {reprlib.repr(bad)}: weights must be finite, zero "
            "or positive."
        )
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ValueError(
            f"class_weight names {reprlib.repr(unknown)}, which y does not contain; "
            f"its classes are {reprlib.repr(labels)}."
        )
    of_class = np.array([float(class_weight.get(label, 1)) for label in labels])
    if np.count_nonzero(of_class) < 2:
        raise ValueError(
            f"class_weight={class_weight} leaves fewer than two classes to tell apart; "
            "give at least two of them a positive weight."
        )
    return of_class


def drop_weightless(table: Any, weight: NDArray[np.float64], *arrays: Any) -> Any:
    """Table, weights and further arrays without the rows of weight zero."""
    kept = weight > 0
    if kept.all():
        return table, weight, *arrays
    return table.take(kept), weight[kept], *(a[kept] for a in arrays)


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Let a fit that fails, or is interrupted, leave the estimator as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
