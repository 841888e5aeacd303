"""What the cells of a column hold: numbers, categories, or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA has no truth value
        return True


def object_numbers(column: NDArray[Any], name: Any) -> NDArray[np.floating]:
    """Objects as floats, missing ones as NaN."""
    try:
        values = [np.nan if is_missing(value) else float(value) for value in column]
    except (TypeError, ValueError) as why:
        raise ValueError(
            f"Column {name!r} of X holds values that are not numbers ({why}); list it "
            "in categorical_features or encode it."
        ) from None
    return finite(np.array(values, dtype=np.float64), name)


def finite(values: NDArray[np.floating], name: Any) -> NDArray[np.floating]:
    """The values of a column, unless one is infinite."""
    if np.isinf(values).any():
        raise ValueError(
            f"Input X contains infinity in column {name!r}; replace infinite cells by "
            "a large number or by NaN (missing)."
        )
    return values


def as_float(values: NDArray[Any]) -> NDArray[np.floating]:
    """Values as floats, copied only where they are none."""
    if values.dtype in (np.float64, np.float32):
        return values
    return values.astype(np.float64)


def distinct_numbers(column: NDArray[Any]) -> tuple[list[Any], NDArray[np.integer]]:
    """Distinct numbers in order, and each cell's index into them (-1: missing)."""
    column = as_float(column)
    missing = np.isnan(column)
    values, inverse = np.unique(column[~missing], return_inverse=True)
    index = np.full(column.size, -1, dtype=np.int32)
    index[~missing] = inverse
    return [_shorter(value) for value in values.tolist()], index


def _shorter(number: float) -> float | int:
    """A whole number as an int, which is the same category but reads better."""
    return int(number) if number.is_integer() else number


def distinct_objects(column: list[Any]) -> tuple[list[Any], NDArray[np.integer]]:
    """Distinct objects as they come, and each cell's index into them (-1: missing)."""
    position: dict[Any, int] = {}
    index = np.empty(len(column), dtype=np.int32)
    for i, value in enumerate(column):
        absent = is_missing(value)
        index[i] = -1 if absent else position.setdefault(value, len(position))
    return list(position), index
