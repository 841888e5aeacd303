"""Data that the packages cannot take: refused by name, before they crash on it."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import _num_samples

from splboost._data.frames import as_frame
from splboost._data.labels import check_weights
from splboost._data.table import object_numbers, refuse_rounded

WIDE = nw.Int128, nw.UInt128
FLOAT32 = np.finfo(np.float32)  # of which both packages make weights
# Characters that names of columns may not have
NOT_IN_NAMES = {"XGBoost": "[]<", "LightGBM": '",:[]{}'}
PANDAS_CATEGORIES_ONLY = ("LightGBM",)


def check_training(
    package: str, X: Any, y: Any, sample_weight: Any, *, check_names: bool = True
) -> Any:
    """Refuse what "XGBoost" or "LightGBM" cannot be fitted to.

    Returns the weights as floats, or None. ``check_names`` says whether the names of X
    are those of the features.
    """
    check_columns(package, X, "X")
    for name in map(str, getattr(X, "columns", ()) if check_names else ()):
        if any(character in NOT_IN_NAMES[package] for character in name):
            raise ValueError(
                f"X has a column named {name!r}, and in a name {package} takes "
                f"none of {NOT_IN_NAMES[package]}; rename it."
            )
    n = _num_samples(X)
    if n == 0:
        raise ValueError(
            f"X has no rows, got X of shape {np.shape(X)}; give at least one sample of "
            "each class."
        )
    _check_labels(y, n, "X", "y")
    if sample_weight is None or hasattr(sample_weight, "__cuda_array_interface__"):
        return sample_weight
    weight = check_weights(sample_weight, n)
    check_total(float(weight.sum()))
    return weight


def check_total(total: float) -> None:
    """Refuse weights of which nothing is left in the packages."""
    if not float(FLOAT32.tiny) <= total <= float(FLOAT32.max):
        raise ValueError(
            f"Sample weights sum to {total:g}, which is beyond what 32-bit floats can "
            "work with; rescale sample_weight, say to a mean of 1."
        )


def check_evaluation(package: str, eval_set: Any) -> None:
    """Refuse what a package cannot be evaluated on."""
    pairs = [eval_set] if isinstance(eval_set, tuple) else eval_set
    for k, pair in enumerate(pairs or ()):
        if isinstance(pair, tuple | list) and len(pair) == 2:  # else the package speaks
            X, y = pair
            name = f"X of eval_set[{k}]"
            check_columns(package, X, name)
            _check_labels(y, _num_samples(X), name, f"y of eval_set[{k}]")


def check_columns(package: str, X: Any, argument: str) -> None:
    """Refuse data with a column that a package cannot take."""
    frame = as_frame(X, argument)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{argument} is a lazy frame; call .collect() on it first.")
    if not isinstance(frame, nw.DataFrame):
        cells = np.array(X, dtype=object) if isinstance(X, list) else X
        is_array = isinstance(cells, np.ndarray) and cells.ndim == 2
        if is_array and cells.dtype.kind in "OUS":
            for j, column in enumerate(cells.T):
                object_numbers(column, j)  # which refuses texts and other objects
        return
    of_pandas = frame.implementation.is_pandas_like()
    for name, dtype in frame.schema.items():
        if isinstance(dtype, nw.Categorical | nw.Enum):
            is_known = of_pandas or package not in PANDAS_CATEGORIES_ONLY
        elif dtype.is_numeric():
            is_known = not dtype.is_decimal() and dtype not in WIDE
        else:  # sparse columns of pandas are of an unknown type
            is_known = dtype == nw.Boolean or (of_pandas and dtype == nw.Unknown)
        if not is_known:
            column = frame[name].to_native()
            raise ValueError(
                f"Column {name!r} of {argument} has dtype "
                f"{getattr(column, 'dtype', None) or column.type}, which "
                f"{package} cannot take. Convert it to floats (dates to days "
                "since one of them, say) or to a category of pandas, or drop it."
            )


def _check_labels(y: Any, n_rows: int, rows: str, argument: str) -> None:
    if y is None or hasattr(y, "__cuda_array_interface__"):
        return
    n = _num_samples(y)
    if n != n_rows:
        raise ValueError(
            f"{rows} has {n_rows} rows and {argument} has {n} labels; give one for "
            "each row."
        )
    refuse_rounded(np.asarray(y), argument)
