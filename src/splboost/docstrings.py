"""Docstrings with parts in common, each written once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def fill_in(cls: Class, texts: Mapping[str, str]) -> Class:
    """Put texts into a docstring, where a line of it names them in braces."""
    text = cls.__doc__ or ""
    for name, part in texts.items():
        text = text.replace(f"    {name}\n", part)
    cls.__doc__ = text
    return cls
