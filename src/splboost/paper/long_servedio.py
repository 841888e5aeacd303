"""The problem of Long and Servedio, on which wrong labels defeat convex boosters.

800 samples, each label wrong with probability 0.1; 400 rounds of stumps, 300 for
RobustBoost. Errors are those of 10 000 new samples with right labels. RobustBoost gets
stuck with a goal below what it can reach, and ends soon with one far above; it gets the
lowest that it reaches.
"""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from sklearn.base import clone

from splboost import (
    AdaBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
)
from splboost.boosting.loop import GOAL_REACHED
from splboost.datasets import flip_labels, make_long_servedio
from splboost.display.style import FAINT, tint
from splboost.pace import Hard
from splboost.paper.plots import BLUE, ORANGE, make_figure
from splboost.paper.protocol import GRADIENT_KEPT
from splboost.trees import CARTClassifier, CARTRegressor

SAMPLES, TEST_SAMPLES = 800, 10_000
WRONG = 0.1
ROUNDS = 400
HALF_DIGIT = 0.0005  # of the known figures
KINDS = "large margin", "puller", "penaliser"
GOALS = [percent / 100 for percent in range(10, 31)]  # ε of RobustBoost

_STUMP = CARTClassifier(max_depth=1)
_REGRESSION = CARTRegressor(max_depth=1)
BOOSTERS: dict[str, Any] = {
    "AdaBoost": AdaBoostClassifier(_STUMP),
    GRADIENT_KEPT: LogitBoostClassifier(_REGRESSION, z_clip="gradient"),
    "LogitBoost, response clipped": LogitBoostClassifier(_REGRESSION),
    "SavageBoost": SavageBoostClassifier(_STUMP),
    "RBoost": RBoostClassifier(_REGRESSION),
    "RobustBoost, one-sided": RobustBoostClassifier(_STUMP),
    "RobustBoost, two-sided": RobustBoostClassifier(_STUMP, variant="two-sided"),
    **{
        f"SPL hard, λ = {age:g}": AdaBoostClassifier(_STUMP, pace=Hard(age=age))
        for age in (2.0, 2.5, 3.0, 4.0)
    },
}
# Errors of one draw, by another implementation, in NumPy and written before this one
KNOWN = {
    "AdaBoost": 0.281,
    GRADIENT_KEPT: 0.264,
    "LogitBoost, response clipped": 0.001,
    "SavageBoost": 0.001,
    "RBoost": 0.000,
    "RobustBoost, one-sided": 0.003,
    "RobustBoost, two-sided": 0.000,
    "SPL hard, λ = 2": 0.173,
    "SPL hard, λ = 2.5": 0.007,
    "SPL hard, λ = 3": 0.018,
    "SPL hard, λ = 4": 0.281,
}


def measure(draws: int = 10) -> pd.DataFrame:
    """Errors of the boosters on several draws.

    Parameters
    ----------
    draws : int, default=10
        With the seeds 0, 1 and so on.

    Returns
    -------
    frame
        A row for each draw and method: ``draw``, ``method``, ``error``, and the error
        on samples of each kind (``large margin``, ``puller``, ``penaliser``).

    Examples
    --------
    >>> from splboost.paper.long_servedio import measure
    >>> table = measure(1).set_index("method")
    >>> bool(table.loc["AdaBoost", "error"] > 0.2)
    True
    >>> bool(table.loc["SPL hard, λ = 2.5", "error"] < 0.05)
    True
    """
    rows = []
    for draw in range(draws):
        X, y = make_long_servedio(SAMPLES, random_state=draw)
        y, _ = flip_labels(y, WRONG, mode="probability", random_state=draw)
        X_test, y_test, kind = make_long_servedio(
            TEST_SAMPLES, random_state=1000 + draw, return_kind=True
        )
        for name, booster in BOOSTERS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of early ends
                if isinstance(booster, RobustBoostClassifier):
                    model = _reach_lowest_goal(booster, X, y)
                else:
                    model = clone(booster).set_params(n_estimators=ROUNDS).fit(X, y)
            is_wrong = model.predict(X_test) != y_test
            by_kind = {each: float(is_wrong[kind == each].mean()) for each in KINDS}
            rows.append(
                {"draw": draw, "method": name, "error": float(is_wrong.mean())}
                | by_kind
            )
    return pd.DataFrame(rows)


def _reach_lowest_goal(booster: Any, X: Any, y: Any) -> Any:
    """RobustBoost with the lowest goal that it reaches."""
    for goal in GOALS:
        model = clone(booster).set_params(epsilon=goal, n_estimators=300).fit(X, y)
        if model.stop_reason_ == GOAL_REACHED:
            break
    return model


def summarise(measured: pd.DataFrame) -> pd.DataFrame:
    """Means over the draws, beside what was known before.

    Returns
    -------
    frame
        A row for each method: mean ``error`` and its ``standard_error``, the ``least``
        and the ``most`` of the draws, the mean error on each kind of sample, the
        ``known`` error of one other draw, and whether this ``agrees``: whether it lies
        between the ``least`` and the ``most``. (Half a digit is allowed for rounding.)
    """
    grouped = measured.groupby("method", sort=False)
    error = grouped["error"]
    table = pd.DataFrame(
        {
            "error": error.mean(),
            "standard_error": error.sem(),
            "least": error.min(),
            "most": error.max(),
        }
    ).join(grouped[list(KINDS)].mean())
    table["known"] = table.index.map(KNOWN)
    above = table["known"] + HALF_DIGIT >= table["least"]
    table["agrees"] = above & (table["known"] - HALF_DIGIT <= table["most"])
    return table


# ------------------------------------------------------------------------- the picture


def draw_long_servedio(measured: pd.DataFrame | None = None) -> Any:
    """Draw the errors of each draw, and what another implementation had.

    Parameters
    ----------
    measured : frame, default=None
        As `splboost.paper.long_servedio.measure` returns it; None measures ten draws.

    Returns
    -------
    matplotlib Figure
    """
    table = measure() if measured is None else measured
    summary = summarise(table)
    place = pd.Series(range(len(summary)), index=summary.index)
    n_draws = table["draw"].nunique()
    figure = make_figure(9.0, 4.2)
    axes = figure.subplots()

    def mark(error: pd.Series, rows: pd.Series, size: float, **how: Any) -> None:
        axes.scatter(100 * error, rows, s=size, **how)

    draws = {"color": tint(BLUE, 0.55), "linewidths": 0, "label": "one draw"}
    mark(table["error"], table["method"].map(place), 24, **draws)
    means = {"marker": "|", "color": BLUE, "linewidths": 2.5}
    mark(summary["error"], place, 190, label=f"mean of {n_draws} draws", **means)
    known = {"marker": "D", "facecolors": "none", "edgecolors": ORANGE}
    label = "another implementation, one draw"
    mark(summary["known"], place, 36, linewidths=1.4, label=label, **known)
    axes.set_yticks(place, place.index)
    axes.set(xlim=(-1, None), ylim=(len(place) - 0.4, -0.6))
    axes.set_xlabel("test error (%)")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color=tint(FAINT, 0.35), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure
