"""What the cells of a column hold: numbers, categories, or nothing."""

from __future__ import annotations

import reprlib
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._tools.user_warnings import restate

MOST_EXACT = 2**53  # up to which float64 tells all whole numbers apart
LEAST_PAST_INTEGERS = 2.0**64  # beyond all integers of 64 bits


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # NA, and a NaN of decimal that signals
        return True
    except ValueError:  # an array has no truth value, but is there
        return False


def object_numbers(column: NDArray[Any], name: Any) -> NDArray[np.floating]:
    """Objects as floats, missing ones as NaN."""
    values = np.empty(len(column))
    for i, value in enumerate(column):
        try:
            values[i] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError) as why:
            raise restate(
                why,
                f"Column {name!r} of X holds {reprlib.repr(value)}, which is no "
                "number; encode it, or use trees of splboost.trees and list the column "
                f"in categorical_features ({why}).",
            ) from None
    return finite(values, name)


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


def distinct_numbers(
    column: NDArray[Any], name: Any, missing: NDArray[np.bool_] | None = None
) -> tuple[list[Any], NDArray[np.integer]]:
    """Distinct numbers in order, and each cell's index into them (-1: missing).

    Whole numbers are told apart however large they are. ``missing`` marks what is
    missing besides NaN.
    """
    if column.dtype.kind in "bf":
        refuse_rounded(column, f"Column {name!r} of X")
        column = as_float(column)
        missing = np.isnan(column)
    known = slice(None) if missing is None else ~missing
    values, inverse = np.unique(column[known], return_inverse=True)
    index = np.full(column.size, -1, dtype=np.int32)
    index[known] = inverse
    return [shorter(value) for value in values.tolist()], index


def shorter(number: Any) -> Any:
    """A whole number as an int, which is the same category but reads better."""
    return int(number) if number == int(number) else float(number)


def is_beyond_floats(value: Any) -> bool:
    """Whether a value is a whole number that float64 may merge with another."""
    return isinstance(value, Integral) and abs(int(value)) > MOST_EXACT


def refuse_rounded(values: NDArray[Any], holder: str) -> None:
    """Refuse floats so large that 64-bit integers have been merged in them."""
    if values.dtype.kind != "f" or not values.size:
        return
    size = np.abs(values)
    rounded = (size >= 2 / np.finfo(values.dtype).eps) & (size < LEAST_PAST_INTEGERS)
    if rounded.any():
        raise ValueError(
            f"{holder} holds {values[rounded][0]!s} as a {values.dtype}, which cannot "
            "tell such whole numbers apart; give them as integers (in pandas Int64, "
            "where some are missing) or as text."
        )


def distinct_objects(
    column: list[Any], name: Any
) -> tuple[list[Any], NDArray[np.integer]]:
    """Distinct objects as they come, and each cell's index into them (-1: missing)."""
    position: dict[Any, int] = {}
    index = np.empty(len(column), dtype=np.int32)
    for i, value in enumerate(column):
        absent = is_missing(value)
        try:
            index[i] = -1 if absent else position.setdefault(value, len(position))
        except TypeError:
            raise TypeError(
                f"Column {name!r} of X holds {reprlib.repr(value)}, and a "
                f"{type(value).__name__} cannot be a category; make texts, numbers or "
                "tuples of its cells, or drop it."
            ) from None
    return list(position), index
