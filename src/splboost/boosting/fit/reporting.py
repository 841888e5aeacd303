"""What ``verbose`` shows: a bar on a terminal, else lines, both on stderr."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Protocol, Self

from splboost.boosting.progress import Progress

SECONDS = 0.1  # between two states of the bar
N_LINES = 10
COMPILING = "compiling, as on first use; this may take a minute"


class Report(Protocol):
    """Shows how far a fit has come; a context manager that tidies up in the end."""

    def show(self, progress: Progress) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def make_report(verbose: int, n_rounds: int) -> Report | None:
    """A bar where one can be shown, with lines above it if ``verbose`` is 2 or more."""
    if not verbose:
        return None
    if sys.stderr.isatty() and find_spec("rich") is not None:
        return Bar(n_rounds, with_lines=verbose > 1)
    return Lines(n_rounds)


@contextmanager
def announcing_compilation(verbose: int) -> Iterator[None]:
    """Say so, once, where numba compiles: the first round may be long in coming."""
    if not verbose:
        yield
        return
    from numba.core.event import Listener, install_listener

    class Announcement(Listener):
        made = False

        def on_start(self, event: Any) -> None:
            if not self.made:
                self.made = True
                print(COMPILING, file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            """The rounds speak for themselves."""

    with install_listener("numba:compile", Announcement()):
        yield


def line_of(progress: Progress) -> str:
    """One line about a round."""
    width = len(str(progress.n_rounds))
    error = "" if progress.error is None else f"error {progress.error:.4f}, "
    line = (
        f"round {progress.round:{width}d} of {progress.n_rounds}: {error}"
        f"{progress.n_selected} samples selected"
    )
    if not math.isnan(progress.latent_objective):
        line += f", latent objective {progress.latent_objective:.6g}"
    if progress.validation_score is not None:
        line += f", validation score {progress.validation_score:.6g}"
    return line


class Lines:
    """A line for every tenth of the rounds, and one for the last."""

    def __init__(self, n_rounds: int) -> None:
        self._every = max(1, n_rounds // N_LINES)
        self._unseen: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def show(self, progress: Progress) -> None:
        self._unseen = progress
        if progress.round % self._every == 0:
            self._print()

    def __exit__(self, *error: object) -> None:
        if self._unseen is not None:
            self._print()

    def _print(self) -> None:
        print(line_of(self._unseen), file=sys.stderr, flush=True)  # type: ignore[arg-type]
        self._unseen = None


class Bar:
    """A progress bar, drawn anew some ten times a second."""

    def __init__(self, n_rounds: int, *, with_lines: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        self._bar: Any = RichProgress(
            TextColumn("boosting"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=n_rounds)
        self._every = max(1, n_rounds // N_LINES) if with_lines else 0
        self._due = 0.0
        self._last: Progress | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def show(self, progress: Progress) -> None:
        self._last = progress
        if self._every and progress.round % self._every == 0:
            self._bar.console.print(line_of(progress), highlight=False)
        now = time.monotonic()
        if now >= self._due:
            self._due = now + SECONDS
            self._draw()

    def __exit__(self, *error: object) -> None:
        self._draw()
        self._bar.stop()

    def _draw(self) -> None:
        if self._last is None:
            return
        last = self._last
        error = "" if last.error is None else f"error {last.error:.3f}  "
        description = f"{error}selected {last.n_selected}  "
        if last.validation_score is not None:  # there is no room for both
            description += f"validation {last.validation_score:.4g}"
        elif not math.isnan(last.latent_objective):
            description += f"latent {last.latent_objective:.4g}"
        self._bar.update(
            self._task,
            completed=last.round,
            description=description,
            refresh=True,
        )
