"""Warnings that point at the user's own line, and are not repeated; errors restated."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Advice(NamedTuple):
    """What is to be said, and of what."""

    message: str
    topic: str


_said: ContextVar[set[str] | None] = ContextVar("said", default=None)
_kept: ContextVar[list[Advice] | None] = ContextVar("kept", default=None)


def warn(message: str, topic: str | None = None) -> None:
    """Warn where the user's code called into this package.

    Parameters
    ----------
    message : str
    topic : str, default=None
        What it is about, so that nothing more is said of that in ``once``; None is the
        message itself.
    """
    topic = message if topic is None else topic
    kept, said = _kept.get(), _said.get()
    if kept is not None:
        kept.append(Advice(message, topic))
        return
    if said is not None:
        if topic in said:
            return
        said.add(topic)
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("splboost."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def restate(error: Exception, message: str) -> TypeError | ValueError:
    """An error of the same kind that says more."""
    return (TypeError if isinstance(error, TypeError) else ValueError)(message)


@contextmanager
def once() -> Iterator[None]:
    """Warn once of each topic in the block, and in blocks inside it."""
    if _said.get() is not None:
        yield
        return
    token = _said.set(set())
    try:
        yield
    finally:
        _said.reset(token)


@contextmanager
def keeping_advice() -> Iterator[list[Advice]]:
    """Keep the warnings of the block, which another thread is to give."""
    kept: list[Advice] = []
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)
