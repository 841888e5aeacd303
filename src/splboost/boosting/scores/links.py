"""What a weak learner's answer adds to the scores.

A regression answers with a mean for each row (or node of a tree), a classifier with the
share of each class there. A link turns answers, a row each, into outputs, a row each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.scores.working import half_log_odds, votes_of

FloatArray = NDArray[np.float64]


class Link(Protocol):
    """From answers to outputs."""

    def __call__(self, answers: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class Mean:
    """A multiple of the mean."""

    factor: float

    def __call__(self, answers: FloatArray) -> FloatArray:
        return self.factor * answers


@dataclass(frozen=True)
class LogOdds:
    """A multiple of half the log-odds of two classes, the exponential loss's minimiser.

    For K classes it is log p_k less the mean over the classes. Shares are kept
    ``clip`` away from 0, and so much from 1 that the others can be.
    """

    factor: float
    clip: float

    def __call__(self, answers: FloatArray) -> FloatArray:
        k = answers.shape[1]
        if k == 2:
            return half_log_odds(answers, self.clip, self.factor)
        log_p = np.log(np.clip(answers, self.clip, 1 - (k - 1) * self.clip))
        return self.factor * (log_p - log_p.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class Vote:
    """A multiple of ±1: the second of two classes where it is heavier."""

    factor: float

    def __call__(self, answers: FloatArray) -> FloatArray:
        return votes_of(answers, self.factor)
