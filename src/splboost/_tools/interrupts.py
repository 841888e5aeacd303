"""Ctrl-C at a better moment, and signals handled for a while.

Where numba hands arrays back to Python it calls Python code, and an interrupt that
strikes in there is lost or brings the process down.
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
    """Let Ctrl-C wait until the end of the block; other threads never get it.

    Where it would call no Python code, it is left as it is.
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
    """Handle a signal in the block, where that is Python's to do.

    One that is ignored, as Ctrl-C is by jobs in the background, stays so.
    """
    before = take_signal(number, handler)
    try:
        yield
    finally:
        if before is not None:
            give_back_signal(number, handler, before)


def take_signal(number: signal.Signals, handler: Handler) -> Any:
    """Set a handler; the one before, or None where nothing was set.

    Only the main thread can set one, and one that was not set by Python, as in a
    program with a Python inside, Python could not set again.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    if signal.getsignal(number) in (signal.SIG_IGN, None):
        return None
    return signal.signal(number, handler)


def give_back_signal(number: signal.Signals, handler: Handler, before: Any) -> None:
    """Set the handler before again, unless another has been set since."""
    if signal.getsignal(number) == handler:
        signal.signal(number, before)


@contextmanager
def ctrl_c_blocked() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block; processes started in it ignore it.

    On Windows it does neither.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # to start it later would end the blocking, before Python 3.13
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
