"""Tables of results, in whichever frame library is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def frame_library() -> Any:
    """The module pandas; without pandas that of polars; else None."""
    for name in ("pandas", "polars"):
        if find_spec(name) is not None:
            return import_module(name)
    return None


def make_frame(columns: dict[str, Any]) -> Any:
    """A pandas frame; without pandas one of polars; else the columns as they are."""
    library = frame_library()
    return columns if library is None else library.DataFrame(columns)
