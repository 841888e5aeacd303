"""The synthetic Gaussians of the paper: which samples boosters give weight to.

A hundred samples of each class, of which 15 have the wrong label. What the paper does
not say is chosen here: the rounds (60, or by cross-validation up to 200), trees of at
most 3 splits on a path for CART and whole trees for C4.5, and RobustBoost's goal, by
cross-validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from splboost import RobustBoostClassifier
from splboost.datasets import flip_labels, make_gaussians
from splboost.display.loss_curves import curves_of_estimators
from splboost.paper.draw import Draw, FloatArray
from splboost.paper.protocol import METHODS, ONE_STEP, RIVALS, Protocol
from splboost.trees import C45Classifier

ROUNDS = 60
MOST_ROUNDS = 200  # to choose from
FOLDS = 5
DEPTH = 3
WRONG = 0.15
N_TEST = 5000  # of each class
NEXT_TO_NOTHING = 1e-4  # of the mean weight
SPLBOOST = {f"SPLBoost, λ = {age:.1f}": age for age in (1.5, 2.0, 2.5)}
BOOSTERS = (*RIVALS, *SPLBOOST)


@dataclass(frozen=True, eq=False)
class Sample(Draw):
    """A draw of the Gaussians, of which it is known which labels are wrong."""

    is_wrong: NDArray[np.bool_]


def draw_sample(seed: int) -> Sample:
    """Draw the Gaussians, with the same share of wrong labels in both classes."""
    X, y = make_gaussians(random_state=seed)
    y, is_wrong = flip_labels(y, {0: WRONG, 1: WRONG}, random_state=seed)
    X_test, y_test = make_gaussians(N_TEST, random_state=1000 + seed)
    return Sample(X, y, X_test, y_test, (0, 0), FOLDS, 0, is_wrong)


class Fit(NamedTuple):
    """A booster fitted to a sample, and what it makes of each training sample."""

    booster: Any
    error: float  # on new samples with right labels
    margin: FloatArray  # positive where the booster agrees with the label
    # What a sample would count for in one more round, by the slope of the loss (for
    # LogitBoost that is not the weight of its regression), with a mean of 1
    weight: FloatArray
    # Samples that weigh next to nothing although the booster has them wrong
    is_given_up: NDArray[np.bool_]


def fit(name: str, sample: Sample, *, rounds: int | None = ROUNDS) -> Fit:
    """Fit one of the boosters; ``rounds=None`` chooses rounds by cross-validation."""
    if name not in BOOSTERS:
        raise ValueError(f"{name!r} is unknown; give one of {', '.join(BOOSTERS)}.")
    method = METHODS[ONE_STEP if name in SPLBOOST else name]
    is_whole = isinstance(method.booster.estimator, C45Classifier)
    protocol = Protocol(
        rounds=rounds or MOST_ROUNDS, ages=(SPLBOOST.get(name, 1.0),), depths=(DEPTH,)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that paces or goals are too strict is shown
        booster = (
            replace(method, whole_trees=is_whole)
            .fit(sample, protocol, all_rounds=rounds is not None)
            .model
        )
    sign = np.where(sample.y == booster.classes_[1], 1, -1)
    margin = sign * booster.decision_function(sample.X)
    is_timed = isinstance(booster, RobustBoostClassifier)
    (curve,) = curves_of_estimators([booster], [booster.times_[-1]] if is_timed else [])
    assert curve.weight is not None
    weight = curve.weight(margin)
    if weight.any():  # at its goal RobustBoost may have no sample left that weighs
        weight = weight / weight.mean()
    is_given_up = (weight < NEXT_TO_NOTHING) & (margin < 0)
    error = float(np.mean(booster.predict(sample.X_test) != sample.y_test))
    return Fit(booster, error, margin, weight, is_given_up)


def measure(
    draws: int = 10, *, rounds: int | None = ROUNDS, names: Iterable[str] = BOOSTERS
) -> pd.DataFrame:
    """Measure how much weight boosters give to wrong labels, over several samples.

    There is a row for each draw and method, with the shares of samples given up among
    those with a wrong and with a right label, and the mean weight of wrong labels over
    that of right ones. ``rounds=None`` chooses them by cross-validation.

    Examples
    --------
    >>> from splboost.paper.gaussians import measure
    >>> table = measure(1, names=["AdaBoost", "SPLBoost, λ = 2.0"])
    >>> table["wrong_given_up"].round(1).tolist()
    [0.0, 0.8]
    """
    rows = []
    for draw in range(draws):
        sample = draw_sample(draw)
        wrong, right = sample.is_wrong, ~sample.is_wrong
        for name in names:
            fitted = fit(name, sample, rounds=rounds)
            of_right = fitted.weight[right].mean()
            of_wrong = fitted.weight[wrong].mean()
            rows.append(
                {
                    "draw": draw,
                    "method": name,
                    "wrong_given_up": fitted.is_given_up[wrong].mean(),
                    "right_given_up": fitted.is_given_up[right].mean(),
                    "weight_ratio": of_wrong / of_right if of_right else np.nan,
                    "rounds": fitted.booster.n_iter_,
                    "error": fitted.error,
                }
            )
    return pd.DataFrame(rows)
