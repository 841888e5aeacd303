"""Docstrings with parts in common, each written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def documented_by(texts: Mapping[str, str]) -> Callable[[Class], Class]:
    """Class decorator that replaces the lines of a docstring that name a text."""

    def fill_in(cls: Class) -> Class:
        text = cls.__doc__ or ""
        for name, part in texts.items():
            text = text.replace(f"    {name}\n", part)
        cls.__doc__ = text
        return cls

    return fill_in
