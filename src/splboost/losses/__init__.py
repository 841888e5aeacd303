"""Margin losses: how much a sample hurts, and what its score says of its label.

A loss is a function of the margin m, which is positive where the model is right. Each
class here gives the loss itself, how fast it falls, what a pace sees of it, and the
link from scores to probabilities. A loss of your own needs ``value`` and ``weight``,
and the link with its inverse unless that is the logistic one; ``check_margin_loss``
tests it.

Scores of two classes are one number per sample, F, and the margin is y F with y = ±1.
Scores of K > 2 classes are a row of K numbers. They are either *coupled*, and turn into
probabilities all together; or each is the F of one class against the rest.
"""

from splboost.losses.checks import check_margin_loss
from splboost.losses.margins import (
    LEAST_PROBABILITY,
    Exponential,
    Logistic,
    MarginLoss,
    Savage,
    Savage2,
    Squared,
)

__all__ = [
    "LEAST_PROBABILITY",
    "Exponential",
    "Logistic",
    "MarginLoss",
    "Savage",
    "Savage2",
    "Squared",
    "check_margin_loss",
]
