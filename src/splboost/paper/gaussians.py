"""The synthetic Gaussians of the paper: which samples boosters give weight to.

A hundred samples of each class, of which 15 have the wrong label. What the paper does
not say is chosen here: the rounds (60, or by cross-validation up to 200), trees of at
most 3 splits on a path for CART and whole trees for C4.5, and RobustBoost's goal, by
cross-validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from splboost import RobustBoostClassifier, spl_path
from splboost.datasets import flip_labels, make_gaussians
from splboost.display.loss_curves import curves_of_estimators
from splboost.pace import Hard
from splboost.paper.protocol import EPSILONS, METHODS, ONE_STEP, RIVALS
from splboost.trees import C45Classifier

FloatArray = NDArray[np.float64]

ROUNDS = 60
MOST_ROUNDS = 200  # to choose from
FOLDS = 5
DEPTH = 3
WRONG = 0.15
NEXT_TO_NOTHING = 1e-4  # of the mean weight
SPLBOOST = {f"SPLBoost, λ = {age:.1f}": age for age in (1.5, 2.0, 2.5)}
BOOSTERS = (*RIVALS, *SPLBOOST)


class Sample(NamedTuple):
    """Training data, and which of their labels are wrong."""

    X: FloatArray
    y: NDArray[np.int64]
    is_wrong: NDArray[np.bool_]


def draw_sample(seed: int) -> Sample:
    """Draw the Gaussians, with the same share of wrong labels in both classes."""
    X, y = make_gaussians(random_state=seed)
    return Sample(X, *flip_labels(y, {0: WRONG, 1: WRONG}, random_state=seed))


class Fit(NamedTuple):
    """A booster fitted to a sample, and what it makes of each training sample.

    Attributes
    ----------
    booster : fitted
    margin : array of shape (n_samples,)
        Positive where the booster agrees with the label.
    weight : array of shape (n_samples,)
        What a sample would count for in one more round, by the slope of the loss (for
        LogitBoost that is not the weight of its regression). The mean is 1.
    is_given_up : array of shape (n_samples,)
        Samples that weigh next to nothing although the booster has them wrong.
    """

    booster: Any
    margin: FloatArray
    weight: FloatArray
    is_given_up: NDArray[np.bool_]


def fit(name: str, sample: Sample, *, rounds: int | None = ROUNDS) -> Fit:
    """Fit one of the boosters; ``rounds=None`` chooses rounds by cross-validation."""
    if name not in BOOSTERS:
        raise ValueError(f"{name!r} is unknown; give one of {', '.join(BOOSTERS)}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that paces or goals are too strict is shown
        booster = _choose_booster(name, sample, rounds).fit(sample.X, sample.y)
    sign = np.where(sample.y == booster.classes_[1], 1, -1)
    margin = sign * booster.decision_function(sample.X)
    is_timed = isinstance(booster, RobustBoostClassifier)
    (curve,) = curves_of_estimators([booster], [booster.times_[-1]] if is_timed else [])
    assert curve.weight is not None
    weight = curve.weight(margin)
    if weight.any():  # at its goal RobustBoost may have no sample left that weighs
        weight = weight / weight.mean()
    return Fit(booster, margin, weight, (weight < NEXT_TO_NOTHING) & (margin < 0))


def _choose_booster(name: str, sample: Sample, rounds: int | None) -> Any:
    """Choose rounds, and the goal of RobustBoost, by cross-validation.

    Weak learners are those of the paper. Ties are broken in favour of fewer rounds,
    then of the higher goal.
    """
    booster = clone(METHODS[ONE_STEP if name in SPLBOOST else name].booster)
    booster.set_params(n_estimators=MOST_ROUNDS if rounds is None else rounds)
    if name in SPLBOOST:
        booster.set_params(pace=Hard(age=SPLBOOST[name]))
    elif not isinstance(booster.estimator, C45Classifier):
        booster.set_params(estimator__max_depth=DEPTH)
    candidates = [booster]
    if name == "RobustBoost":
        candidates = [clone(booster).set_params(epsilon=e) for e in EPSILONS[::-1]]
    elif rounds is not None:
        return booster
    found = []
    for candidate in candidates:
        path = spl_path(
            sample.X,
            sample.y,
            plateaus=None,
            depths=None,
            booster=candidate,
            cv=FOLDS,
            random_state=0,
        )
        n_rounds = path.choose().n_estimators if rounds is None else rounds
        found.append((-float(path.mean[0, 0, n_rounds - 1]), n_rounds, candidate))
    _, n_rounds, best = min(found, key=lambda each: each[:2])
    return best.set_params(n_estimators=n_rounds)


def error_on_new(booster: Any, seed: int) -> float:
    """Share of errors on new samples with right labels."""
    X, y = make_gaussians(5000, random_state=1000 + seed)
    return float(np.mean(booster.predict(X) != y))


def measure(
    draws: int = 10, *, rounds: int | None = ROUNDS, names: Iterable[str] = BOOSTERS
) -> pd.DataFrame:
    """Measure how much weight boosters give to wrong labels, over several samples.

    Parameters
    ----------
    draws : int, default=10
        Number of samples, with the seeds 0, 1 and so on.
    rounds : int or None, default=60
        None chooses them by cross-validation.
    names : iterable of str
        Some of ``BOOSTERS``.

    Returns
    -------
    frame
        A row for each draw and method: ``draw``, ``method``; the shares of samples
        given up among those with a wrong (``wrong_given_up``) and with a right label
        (``right_given_up``); ``weight_ratio``, the mean weight of wrong labels over
        that of right ones; ``rounds``; ``error``, on new samples with right labels.

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
        for name in names:
            fitted = fit(name, sample, rounds=rounds)
            wrong, right = sample.is_wrong, ~sample.is_wrong
            of_right = fitted.weight[right].mean()
            rows.append(
                {
                    "draw": draw,
                    "method": name,
                    "wrong_given_up": fitted.is_given_up[wrong].mean(),
                    "right_given_up": fitted.is_given_up[right].mean(),
                    "weight_ratio": (
                        fitted.weight[wrong].mean() / of_right if of_right else np.nan
                    ),
                    "rounds": fitted.booster.n_iter_,
                    "error": error_on_new(fitted.booster, draw),
                }
            )
    return pd.DataFrame(rows)
