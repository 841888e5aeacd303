"""Ctrl-C at a better moment.

Where numba hands arrays back to Python it calls Python code, and an interrupt that
strikes in there is lost or brings the process down.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class Uninterrupted:
    """Let Ctrl-C wait until the end of the block; other threads never get it."""

    def __enter__(self) -> Self:
        self._came = False
        self._handler: Any = None
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True

    def __exit__(self, *error: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            if self._came:
                signal.raise_signal(signal.SIGINT)


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
