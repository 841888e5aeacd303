"""The boosters of ``rivals.py``, and what a prototype has measured with each.

The prototype was written in NumPy before this library, and independently of it. It
averaged few draws, as PROTOTYPE_DRAWS says. A dash is a figure that it did not report.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from splboost import (
    AdaBoostClassifier,
    BrownBoostClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
)
from splboost.boosting.potentials import BrownPotential, RobustPotential
from splboost.losses import Exponential, Savage, Savage2
from splboost.pace import Hard, Linear, Pace, Polynomial
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

C45 = 0  # as a depth: trees of C4.5, as deep as they grow
PROTOTYPE_DRAWS = {
    "Long/Servedio": 1,
    "Gaussians": 6,
    "Gaussians, rounds and ages chosen": 4,
}
FIGURES = "final", "best", "ratio", "flipped0", "clean0", "rounds"

# Test error (%).
LONG_SERVEDIO = """
AdaBoost                     | 28.1
Real AdaBoost                | 28.1
GentleBoost                  | 28.1
LogitBoost, not clipped      | 26.4
LogitBoost, gradient kept    | 26.4
LogitBoost, response clipped |  0.1
SavageBoost                  |  0.1
RBoost1, gentle              |  0.0
RBoost1, fisher              |  0.0
RBoost1, mm                  |  0.6
RBoost2                      |  0.0
RobustBoost, one-sided, 0.18 |  0.3
RobustBoost, one-sided, 0.10 | 27.4
RobustBoost, two-sided, 0.14 |  0.1
RobustBoost, two-sided, 0.13 |  0.0
BrownBoost, 0.24             | 25.7
AdaBoost: hard 2             | 17.3
AdaBoost: hard 2.5           |  0.7
AdaBoost: hard 3             |  1.8
AdaBoost: hard 4             | 28.1
AdaBoost: linear 3           | 13.7
AdaBoost: linear 6           |  0.4
AdaBoost: linear 10          | 26.9
AdaBoost: upper 3            |  0.5
AdaBoost: upper 6            | 27.2
AdaBoost: lower 6            | 13.7
AdaBoost: lower 20           |  0.2
"""
# The FIGURES for stumps and for depth 3, errors in %.
GAUSSIANS = """
AdaBoost                     |  8.9 7.8 3.9 0   0   - | 11.9 5.8 4.2 0   0   -
Real AdaBoost                | 11.3 7.4 4.0 0   0   - | 15.5 6.7 4.9 .01 .15 -
GentleBoost                  | 10.1 6.7 3.9 0   0   - | 14.9 5.6 4.3 0   0   -
LogitBoost, response clipped |  8.2 4.7 2.3 0   0   - | 14.9 5.5 3.8 0   0   -
LogitBoost, gradient kept    | 11.1 7.8 2.0 0   0   - | 15.3 5.7 4.3 0   0   -
AdaBoost: hard 1.5           |  9.2 -   .3  .89 .38 - |  7.4 -   .5  .79 -   -
AdaBoost: hard 2             |  6.6 -   1.7 .83 .13 - |  7.4 -   .6  .79 -   -
AdaBoost: hard 2.5           |  6.1 -   2.5 .74 .01 - |  9.6 -   3.2 .41 -   -
AdaBoost: linear 3           |  6.4 -   -   .87 -   - |  7.7 -   -   .75 -   -
AdaBoost: upper 3            |  5.9 -   -   .74 -   - |  8.8 -   -   .52 -   -
AdaBoost: lower 3            | 11.3 -   -   .86 -   - |  7.0 -   -   .85 -   -
GentleBoost: hard 2          |  5.8 -   -   .83 -   - |  9.9 -   -   .47 -   -
LogitBoost: hard 1.2         |  5.7 -   -   .86 -   - |  8.7 -   -   .61 -   -
SavageBoost                  | 17.0 7.7 4.3 -   -   - | 16.0 6.7 2.6 .68 .83 -
SavageBoost, line search     | 12.3 8.4 3.8 -   -   - | 15.5 6.8 3.9 -   -   -
RBoost1, gentle              |  9.4 5.2 -   -   -   - | 15.2 5.5 -   -   -   -
RBoost1, fisher              |  9.8 5.4 -   -   -   - | 14.9 5.5 -   -   -   -
RBoost1, mm                  |  8.5 6.9 -   -   -   - | 15.2 5.5 -   -   -   -
RBoost2                      |  9.8 7.8 3.8 -   -   - | 13.5 6.1 4.6 -   -   -
RobustBoost, two-sided, 0.15 |  8.9 7.1 3.9 -   -   - |  8.0 6.6 3.7 -   -   -
RobustBoost, two-sided, 0.20 |  8.7 -   1.0 -   -   - |  6.6 -   1   -   -   1
RobustBoost, one-sided, 0.15 |  8.6 7.4 4.0 -   -   - |  8.1 5.6 2.0 -   -   -
RobustBoost, one-sided, 0.25 | 11.3 -   .16 -   -   1 |  6.6 -   .14 -   -   1
BrownBoost, 0.30             |  6.3 5.4 2.9 -   -   - |  7.7 6.2 1.9 -   -   -
"""
GAUSSIANS_C45 = """
AdaBoost                     |  7.4 -   4.3 0   -   3
AdaBoost: hard 2             |  7.5 -   .24 .81 -   -
AdaBoost: linear 3           |  7.5 6.2 .39 .77 -   -
"""
# Ages and rounds chosen by cross-validation; test error (%) of stumps, depth 3
# and C4.5.
CHOSEN = """
AdaBoost                     |  8.6 |  6.8 |  7.0
AdaBoost: hard *             |  5.0 |  6.5 |  7.0
AdaBoost: linear *           |  4.6 |  5.7 |  5.3
AdaBoost: upper *            |  6.4 |    -
AdaBoost: lower *            |  7.4 |  6.0
GentleBoost                  |  8.6 |  5.6
LogitBoost, response clipped |  5.0 |  9.6
SavageBoost                  |  9.2 |  8.1
RBoost1, gentle              |  6.8 |    -
RBoost1, fisher              |  6.0 |    -
RBoost2                      |  9.8 |  6.3
"""


def read_table(text: str) -> dict[str, list[list[float]]]:
    """Numbers by name, one list for each cell after it."""
    table = {}
    for line in text.strip().splitlines():
        name, *cells = line.split("|")
        table[name.strip()] = [
            [math.nan if word == "-" else float(word) for word in cell.split()]
            for cell in cells
        ]
    return table


PLAIN: dict[str, Any] = {
    "AdaBoost": AdaBoostClassifier(),
    "Real AdaBoost": RealAdaBoostClassifier(),
    "GentleBoost": GentleBoostClassifier(),
    "LogitBoost": LogitBoostClassifier(),
    "LogitBoost, response clipped": LogitBoostClassifier(),
    "LogitBoost, gradient kept": LogitBoostClassifier(z_clip="gradient"),
    "LogitBoost, not clipped": LogitBoostClassifier(z_max=math.inf),
    "SavageBoost": SavageBoostClassifier(),
    "SavageBoost, line search": SavageBoostClassifier(line_search=True),
    "RBoost1, gentle": RBoostClassifier(),
    "RBoost1, fisher": RBoostClassifier(variant="fisher"),
    "RBoost1, mm": RBoostClassifier(variant="mm"),
    "RBoost2": RBoostClassifier(variant="discrete"),
    "BrownBoost": BrownBoostClassifier(),
    "RobustBoost, one-sided": RobustBoostClassifier(),
    "RobustBoost, two-sided": RobustBoostClassifier(variant="two-sided"),
}
FIT_REGRESSIONS = "GentleBoost", "LogitBoost", "RBoost1"
PACES: dict[str, Callable[[float], Pace]] = {
    "hard": lambda age: Hard(age=age),
    "linear": lambda age: Linear(age=age),
    "upper": lambda age: Polynomial(age=age, t=4.0),
    "lower": lambda age: Polynomial(age=age, t=1.3),
}


def make(name: str, depth: int, rounds: int) -> Any:
    """The booster of that name over trees of that depth.

    A number behind a comma is epsilon. A pace stands behind a colon, with its age.
    """
    name, _, pace = name.partition(": ")
    family, _, epsilon = name.rpartition(", ")
    if name in PLAIN:
        booster = clone(PLAIN[name])
    else:
        booster = clone(PLAIN[family]).set_params(epsilon=float(epsilon))
    if pace:
        kind, age = pace.split()
        booster.set_params(pace=PACES[kind](float(age)))
    tree: Any = C45Classifier(mdl=True)  # as release 8, also where no cut is worth it
    if depth != C45:
        cart = CARTRegressor if name.startswith(FIT_REGRESSIONS) else CARTClassifier
        tree = cart(max_depth=depth, min_weight_fraction_leaf=1e-4)
    return booster.set_params(estimator=tree, n_estimators=rounds)


def final_weights(booster: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What each training sample would count for in one more round."""
    margin = np.where(y == booster.classes_[1], 1, -1) * booster.decision_function(X)
    match booster:
        case LogitBoostClassifier():  # of the Newton step
            weight = expit(2 * margin) * expit(-2 * margin)
        case SavageBoostClassifier():
            weight = Savage().weight(margin)
        case RBoostClassifier():
            weight = Savage2().weight(margin)
        case RobustBoostClassifier():
            potential = RobustPotential(
                booster.epsilon, two_sided=booster.variant == "two-sided"
            )
            return potential.weight(margin, booster.times_[-1])
        case BrownBoostClassifier():
            potential = BrownPotential(booster.epsilon)
            return potential.weight(margin, booster.times_[-1])
        case _:
            weight = Exponential().weight(margin)
    return weight * booster.sample_pace_


# Why a figure differs, by problem, learner, algorithm and figure. Found out by hand,
# with 40 draws.
EASY = "The ten draws are easier than most: over 40 it is {}, which agrees."
ROUNDS = (
    "Over 40 draws {}, still below. Errors after all rounds agree; over which rounds "
    "the prototype took its best is not known."
)
WHY_NOT = {
    ("Gaussians", "stumps", "AdaBoost", "ratio"): (
        "Chance: over 40 draws it is 4.16 ± 0.07, which agrees."
    ),
    ("Gaussians", "depth 3", "Real AdaBoost", "ratio"): (
        "Over 40 draws 3.99 ± 0.14, still below, by 2.3 standard errors of the "
        "difference. Taken for chance, as errors and shares agree."
    ),
    ("Gaussians", "stumps", "LogitBoost, gradient kept", "best"): (
        EASY.format("6.9 ± 0.3")
    ),
    ("Gaussians", "stumps", "GentleBoost: hard 2", "flipped0"): (
        EASY.format("0.81 ± 0.02")
    ),
    ("Gaussians", "stumps", "SavageBoost", "best"): ROUNDS.format("6.2 ± 0.2"),
    ("Gaussians", "stumps", "SavageBoost, line search", "best"): (
        ROUNDS.format("6.2 ± 0.2")
    ),
    ("Gaussians", "stumps", "RBoost1, mm", "best"): EASY.format("6.7 ± 0.2"),
    ("Gaussians", "stumps", "RBoost2", "best"): ROUNDS.format("6.2 ± 0.2"),
    ("Gaussians", "stumps", "RobustBoost, two-sided, 0.15", "best"): (
        EASY.format("6.0 ± 0.2")
    ),
    ("Gaussians", "depth 3", "RobustBoost, two-sided, 0.15", "ratio"): (
        "It is 1 in draws whose first tree reaches the goal, and about 4 in others; of "
        "the first there are many among the ten. Over 40 it is 2.8 ± 0.3, which agrees."
    ),
    ("Gaussians", "C4.5", "AdaBoost", "final"): EASY.format("7.4 ± 0.4"),
    ("Gaussians", "C4.5", "AdaBoost: linear 3", "final"): EASY.format("7.3 ± 0.4"),
    ("Gaussians", "C4.5", "AdaBoost: linear 3", "flipped0"): (
        "Where no cut is worth it the run ends, often after three rounds, when wrong "
        "labels still have losses below 3. The prototype went on there with larger "
        'trees; with mdl="auto", which does so too, it is 0.75 ± 0.04.'
    ),
    ("Gaussians, rounds and ages chosen", "stumps", "SavageBoost", "final"): (
        EASY.format("8.0 ± 0.4")
    ),
    ("Gaussians, rounds and ages chosen", "stumps", "RBoost2", "final"): (
        EASY.format("8.1 ± 0.3")
    ),
    (
        "Gaussians, rounds and ages chosen",
        "depth 3",
        "LogitBoost, response clipped",
        "final",
    ): EASY.format("9.1 ± 0.5"),
}
