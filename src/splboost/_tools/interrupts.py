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
from typing import Any

EXIT_CODE = 130  # of a command that was ended by Ctrl-C
Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off to the end of the block; other threads never get it.

    A handler that calls no Python code is left in place.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        yield
        return
    came: list[int] = []
    try:
        with handling(signal.SIGINT, lambda number, frame: came.append(number)):
            yield
    finally:
        if came:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def handling(number: signal.Signals, handler: Handler) -> Iterator[None]:
    """Handle a signal in the block, if Python can set its handler.

    Only the main thread can set one. A signal that is ignored, as Ctrl-C is by jobs in
    the background, stays ignored. A handler that was not set by Python, as in a program
    that embeds it, is kept, because Python could not set it again. One that is set in
    the block stays after it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(number) in (signal.SIG_IGN, None):
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
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
