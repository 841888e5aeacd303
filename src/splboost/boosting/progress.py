"""What a callback is told after each round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


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
