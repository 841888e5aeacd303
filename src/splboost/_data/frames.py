"""Frames of pandas and polars: read through narwhals, and made of results."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray


def as_frame(X: Any, argument: str = "X") -> Any:
    """X as narwhals sees it: a frame (pandas, polars, ...), or X itself."""
    try:
        return nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in X.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"{argument} has several columns named {', '.join(map(repr, twice))}; "
            "rename them."
        ) from None


def as_array(y: Any) -> Any:
    """A column of pandas or polars as an array; integers and booleans stay such."""
    library = type(y).__module__.partition(".")[0]
    if library == "pandas" and getattr(y, "ndim", 0) == 1:
        import pandas

        y = pandas.Series(y)  # also of an index, or an array of pandas' own
    given = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(given, nw.DataFrame) and given.shape[1] == 1:
        return _values(given[:, 0]).reshape(-1, 1)
    return _values(given) if isinstance(given, nw.Series) else y


def _values(series: nw.Series[Any]) -> NDArray[Any]:
    if series.dtype in (nw.Int128, nw.UInt128):  # which numpy lacks
        return np.array(series.to_list(), dtype=object)
    return np.asarray(series.to_numpy())


def whole_numbers(series: nw.Series[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The integers of a column, with 0 for missing ones, and which are missing."""
    missing = np.asarray(series.is_null().to_numpy())
    return _values(series.fill_null(0) if missing.any() else series), missing


def first_installed(*names: str) -> Any:
    """The first of some modules that is there; None without any."""
    for name in names:
        if find_spec(name.partition(".")[0]) is not None:
            return import_module(name)
    return None


def make_frame(columns: dict[str, tuple[type, Any]]) -> Any:
    """A pandas frame; without pandas one of polars; else a dict of the columns.

    Parameters
    ----------
    columns : type and values of each column
        The type, of int, float, str and object, is that of the column of a frame
        whatever its values are; numbers of which some may be missing are floats.
    """
    library = first_installed("pandas", "polars")
    if library is None:
        return {name: list(values) for name, (_, values) in columns.items()}
    return library.DataFrame(
        {
            name: library.Series(values, dtype=kind)
            for name, (kind, values) in columns.items()
        }
    )
