"""Warnings that name the user's line and are given once; errors with a fuller text."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_said: ContextVar[set[str] | None] = ContextVar("said", default=None)
_kept: ContextVar[list[tuple[str, str]] | None] = ContextVar("kept", default=None)


def warn(message: str, topic: str | None = None) -> None:
    """Warn, and name the line of the user's code that called this package.

    Parameters
    ----------
    message : str
    topic : str, default=None
        Within ``once`` only the first warning of a topic is given. None takes the
        message as topic.
    """
    topic = message if topic is None else topic
    kept, said = _kept.get(), _said.get()
    if kept is not None:
        kept.append((message, topic))
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
    """A TypeError for a TypeError, otherwise a ValueError, with another message."""
    return (TypeError if isinstance(error, TypeError) else ValueError)(message)


@contextmanager
def once() -> Iterator[None]:
    """Give one warning of each topic in the block, blocks inside it included."""
    if _said.get() is not None:
        yield
        return
    token = _said.set(set())
    try:
        yield
    finally:
        _said.reset(token)


@contextmanager
def keeping_advice() -> Iterator[list[tuple[str, str]]]:
    """Collect the arguments of ``warn`` in the block, for another thread to give."""
    kept: list[tuple[str, str]] = []
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)
