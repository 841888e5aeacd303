"""Docstrings with parts in common, each written once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

Class = TypeVar("Class", bound=type)


class Decorator(Protocol):
    """What takes a class and gives the same."""

    def __call__(self, cls: Class) -> Class: ...


def documented_by(texts: Mapping[str, str]) -> Decorator:
    """Put texts into a docstring, where a line of it names them in braces."""

    def fill_in(cls: Class) -> Class:
        text = cls.__doc__ or ""
        for name, part in texts.items():
            text = text.replace(f"    {name}\n", part)
        cls.__doc__ = text
        return cls

    return fill_in
