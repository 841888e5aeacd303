"""What ``verbose`` shows: a bar on a terminal, else lines, both on stderr."""

from __future__ import annotations

import math
import sys
from typing import Self

from splboost._tools.progress_bar import N_LINES, Bar, has_room_for_bar
from splboost.boosting.progress import Progress


def make_round_report(verbose: int, n_rounds: int) -> RoundLines | RoundBar | None:
    """A bar where one can be shown, with lines above it if ``verbose`` is 2 or more."""
    if not verbose:
        return None
    if has_room_for_bar():
        return RoundBar(n_rounds, with_lines=verbose > 1)
    return RoundLines(n_rounds)


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


class RoundLines:
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


class RoundBar:
    """A progress bar, with what the last round was like."""

    def __init__(self, n_rounds: int, *, with_lines: bool) -> None:
        self._bar = Bar(n_rounds, "boosting")
        self._every = max(1, n_rounds // N_LINES) if with_lines else 0

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def show(self, progress: Progress) -> None:
        if self._every and progress.round % self._every == 0:
            self._bar.print(line_of(progress))
        self._bar.show(progress.round, _short(progress))

    def __exit__(self, *error: object) -> None:
        self._bar.__exit__(*error)


def _short(progress: Progress) -> str:
    """What there is room for beside a bar."""
    error = "" if progress.error is None else f"error {progress.error:.3f}  "
    text = f"{error}selected {progress.n_selected}  "
    if progress.validation_score is not None:  # there is no room for both
        return f"{text}validation {progress.validation_score:.4g}"
    if not math.isnan(progress.latent_objective):
        return f"{text}latent {progress.latent_objective:.4g}"
    return text
