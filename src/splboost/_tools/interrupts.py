"""Ctrl-C put off to a safe moment, and signals handled for the time of a block.

Where numba returns arrays to Python it calls Python code, and an interrupt in there is
lost or crashes the process.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

EXIT_CODE = 130  # of a command that was ended by Ctrl-C
Handler = Callable[[int, FrameType | None], Any]


class Uninterrupted:
    """Put Ctrl-C off to the end of the block; other threads never get it.

    A handler that calls no Python code is left in place.
    """

    def __enter__(self) -> Self:
        self._came = False
        self._handler: Any = None
        if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
            self._handler = take_signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True

    def __exit__(self, *error: object) -> None:
        if self._handler is not None:
            give_back_signal(signal.SIGINT, self._note, self._handler)
            if self._came:
                signal.raise_signal(signal.SIGINT)


@contextmanager
def handling(number: signal.Signals, handler: Handler) -> Iterator[None]:
    """Handle a signal in the block, if Python can set its handler.

    A signal that is ignored, as Ctrl-C is by jobs in the background, stays ignored.
    """
    before = take_signal(number, handler)
    try:
        yield
    finally:
        if before is not None:
            give_back_signal(number, handler, before)


def take_signal(number: signal.Signals, handler: Handler) -> Any:
    """Set a handler; returns the one before, or None if nothing was changed.

    Only the main thread can set one. A handler that was not set by Python, as in a
    program that embeds it, is kept, because Python could not set it again.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    if signal.getsignal(number) in (signal.SIG_IGN, None):
        return None
    return signal.signal(number, handler)


def give_back_signal(number: signal.Signals, handler: Handler, before: Any) -> None:
    """Restore the handler before, unless another has been set since."""
    if signal.getsignal(number) == handler:
        signal.signal(number, before)


@contextmanager
def ctrl_c_blocked() -> Iterator[None]:
    """Put Ctrl-C off to the end of the block; processes started in it ignore it.

    On Windows nothing changes.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # before Python 3.13, starting it later would unblock Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
