"""Results as frames of pandas or polars, whichever is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


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
