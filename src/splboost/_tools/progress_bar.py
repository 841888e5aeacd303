"""Progress of long work: a bar on a terminal, otherwise lines, both on stderr."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from typing import Any, Self

SECONDS = 0.1  # between two states of the bar
N_LINES = 10
SECONDS_OF_LINES = 300.0  # after which a line is due in any case


class Report:
    """Shows nothing of the progress; a context manager that tidies up at the end."""

    def show(self, done: int, text: str = "") -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def has_room_for_bar() -> bool:
    """Whether stderr is a terminal and rich is installed."""
    return sys.stderr.isatty() and find_spec("rich") is not None


def make_report(
    verbose: int, total: int, title: str, *, estimates: bool = True
) -> Report:
    """A bar where one can be shown, otherwise lines; nothing unless ``verbose``.

    A bar estimates the time left, unless ``estimates`` is False.
    """
    if not verbose:
        return Report()
    if has_room_for_bar():
        return Bar(total, title, estimates=estimates)
    return Lines(total, title)


class Lines(Report):
    """Writes a line for every tenth of the work, and every few minutes."""

    def __init__(self, total: int, title: str) -> None:
        self._total = total
        self._title = title
        self._due = self._last = 0.0

    def show(self, done: int, text: str = "") -> None:
        now = time.monotonic()
        is_late = now >= self._last + SECONDS_OF_LINES
        if is_late or done >= min(self._due, self._total):
            self._due, self._last = done + self._total / N_LINES, now
            width = len(str(self._total))
            line = f"{self._title}: {done:{width}d} of {self._total}"
            print(f"{line}  {text}".rstrip(), file=sys.stderr, flush=True)


class Bar(Report):
    """A progress bar, redrawn up to ten times a second."""

    def __init__(self, total: int, title: str, *, estimates: bool = True) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._bar: Any = Progress(
            TextColumn(title),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            *([TimeRemainingColumn()] if estimates else []),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=total)
        self._last = 0, ""
        self._due = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def show(self, done: int, text: str = "") -> None:
        self._last = done, text
        now = time.monotonic()
        if now >= self._due:
            self._due = now + SECONDS
            self._draw()

    def print(self, line: str) -> None:
        """Write a line above the bar."""
        self._bar.console.print(line, highlight=False)

    def __exit__(self, *error: object) -> None:
        self._draw()
        self._bar.stop()

    def _draw(self) -> None:
        done, text = self._last
        self._bar.update(self._task, completed=done, description=text, refresh=True)


class TimeLeft:
    """Estimates the time left of work whose pieces differ in size.

    Parameters
    ----------
    work : float
        The whole work, in any unit.
    """

    def __init__(self, work: float) -> None:
        self._start = time.monotonic()
        self._all, self._done = work, 0.0

    def spare(self, work: float) -> None:
        """Leave out work that is done elsewhere."""
        self._all -= work

    def after(self, work: float) -> str:
        """The time left, in words, once this much more is done."""
        self._done += work
        rate = (time.monotonic() - self._start) / self._done
        return f"{format_duration(rate * max(self._all - self._done, 0.0))} left"


def format_duration(seconds: float) -> str:
    """A rounded time in words.

    Examples
    --------
    >>> from splboost._tools.progress_bar import format_duration
    >>> [format_duration(seconds) for seconds in (20, 400, 9000, 300_000)]
    ['20 s', '7 min', '2.5 h', '3.5 days']
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"
