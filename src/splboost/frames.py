"""Tables of results, in whichever frame library is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def make_frame(columns: dict[str, Any]) -> Any:
    """A pandas frame; without pandas one of polars; else the columns as they are."""
    for name in ("pandas", "polars"):
        if find_spec(name) is not None:
            return import_module(name).DataFrame(columns)
    return columns
