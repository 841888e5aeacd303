"""How far a fit has come, for callbacks and for those who watch."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from splboost._tools.progress_bar import N_LINES, Bar, has_room_for_bar
from splboost._tools.wording import counted


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a fit has come; what its ``callback`` gets.

    Attributes
    ----------
    round : int
        Learners kept so far, 1 after the first round.
    n_rounds : int
        Most rounds, ``n_estimators``.
    error : float or None
        Weighted error of the last learner; None where learners add values, and where a
        round has several.
    n_selected : int
        Number of samples with v > 0 in the last round.
    latent_objective : float
        Summed latent loss.
    validation_score : float or None
        Score of the validation data, where there are any.
    interrupted : bool
        Whether this call comes from Ctrl-C instead of the end of a round. Return True
        then to keep the rounds done; otherwise the fit fails with KeyboardInterrupt.

    Examples
    --------
    >>> from splboost import SPLBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> def stop_after_five(progress):
    ...     return progress.round == 5
    >>> clf = SPLBoostClassifier(callback=stop_after_five).fit(X, y)
    >>> clf.n_iter_, clf.stop_reason_
    (5, 'callback')
    """

    round: int
    n_rounds: int
    error: float | None
    n_selected: int
    latent_objective: float
    validation_score: float | None = None
    interrupted: bool = False
    _make: Callable[[], Any] = field(kw_only=True, repr=False)

    @cached_property
    def model(self) -> Any:
        """The fitted booster of the rounds so far.

        It is made when asked for, which takes time, and does not change when boosting
        goes on. Its ``stop_reason_`` is "not finished". With ``warm_start=True`` it can
        be fitted on, also from a pickle.
        """
        return self._make()


def line_of(progress: Progress) -> str:
    """One line about a round."""
    width = len(str(progress.n_rounds))
    error = "" if progress.error is None else f"error {progress.error:.4f}, "
    line = (
        f"round {progress.round:{width}d} of {progress.n_rounds}: {error}"
        f"{counted(progress.n_selected, 'sample')} selected"
    )
    if not math.isnan(progress.latent_objective):
        line += f", latent objective {progress.latent_objective:.6g}"
    if progress.validation_score is not None:
        line += f", validation score {progress.validation_score:.6g}"
    return line


class RoundReport:
    """A bar where one can be shown; else a line for every tenth of the rounds.

    With ``verbose`` above 1 there are both.
    """

    def __init__(self, n_rounds: int, verbose: int) -> None:
        self._bar = Bar(n_rounds, "boosting") if has_room_for_bar() else None
        has_lines = self._bar is None or verbose > 1
        self._every = max(1, n_rounds // N_LINES) if has_lines else 0
        self._unseen: Progress | None = None

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.__enter__()
        return self

    def show(self, progress: Progress) -> None:
        """Show what a round was like."""
        self._unseen = progress
        if self._every and progress.round % self._every == 0:
            self._print(progress)
        if self._bar is not None:
            self._bar.show(progress.round, _short(progress))

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)
        elif self._unseen is not None:
            self._print(self._unseen)

    def _print(self, progress: Progress) -> None:
        self._unseen = None
        if self._bar is not None:
            self._bar.print(line_of(progress))
        else:
            print(line_of(progress), file=sys.stderr, flush=True)


def _short(progress: Progress) -> str:
    """What there is room for beside a bar."""
    error = "" if progress.error is None else f"error {progress.error:.3f}  "
    text = f"{error}selected {progress.n_selected}  "
    if progress.validation_score is not None:  # there is no room for both
        return f"{text}validation {progress.validation_score:.4g}"
    if not math.isnan(progress.latent_objective):
        return f"{text}latent {progress.latent_objective:.4g}"
    return text
