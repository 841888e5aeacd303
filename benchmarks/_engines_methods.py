"""The classifiers that the benchmark of engines compares, each with its parent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from _long_methods import LIGHTGBM_RANGES, XGBOOST_RANGES, Method
from sklearn.model_selection import StratifiedKFold

DRAWS = 10
FOLDS = 3
SEEDS = 5
SMALL = {"n_estimators": 100, "max_depth": 3, "learning_rate": 0.1}


@dataclass(frozen=True)
class Choice:
    """Values to draw a setting from."""

    values: tuple[float, ...]

    def draw(self, rng: np.random.Generator) -> float:
        return float(rng.choice(self.values))

    def __str__(self) -> str:
        return "one of " + ", ".join(f"{value:g}" for value in self.values)


P_MIN = Choice((0.0, 0.1, 0.2, 0.3, 0.37, 0.45))
PACKAGES = "xgboost", "lightgbm"
RANGES: dict[str, dict[str, Any]] = {
    "xgboost": dict(XGBOOST_RANGES),
    "lightgbm": dict(LIGHTGBM_RANGES),
}


def make(package: str, paced: bool, seed: int, n_jobs: int, **given: Any) -> Any:
    """A classifier of a package, with a pace or without."""
    from splboost import engines

    if package == "xgboost":
        from xgboost import XGBClassifier

        fixed = {"enable_categorical": True, "random_state": seed, "n_jobs": n_jobs}
        return (engines.SPLXGBClassifier if paced else XGBClassifier)(**fixed, **given)
    from lightgbm import LGBMClassifier

    fixed = {"subsample_freq": 1, "random_state": seed, "n_jobs": n_jobs, "verbose": -1}
    given = {"max_depth": -1, **given}  # tuned ones have leaves alone, in both
    return (engines.SPLLGBMClassifier if paced else LGBMClassifier)(**fixed, **given)


def draw_settings(package: str, paced: bool, seed: int) -> list[dict[str, float]]:
    """Settings to choose from; with a pace, how strict it is among them."""
    rng = np.random.default_rng(seed)
    ranges = RANGES[package]
    settings = [
        {name: each.draw(rng) for name, each in ranges.items()} for _ in range(DRAWS)
    ]
    if paced:  # the other parameters are those of the parent's draws
        settings = [{**each, "p_min": P_MIN.draw(rng)} for each in settings]
    return settings


def fit_tuned(
    X: Any, y: Any, seed: int, n_jobs: int, *, package: str, paced: bool
) -> Any:
    """The best of as many drawn settings."""
    settings = draw_settings(package, paced, seed)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    parts = list(folds.split(X, y))
    of = partial(make, package, paced, seed, n_jobs)

    def count_right(setting: dict[str, float]) -> int:
        return sum(
            int(np.sum(of(**setting).fit(X.iloc[a], y[a]).predict(X.iloc[b]) == y[b]))
            for a, b in parts
        )

    return of(**max(settings, key=count_right)).fit(X, y)


def fit_small(
    X: Any, y: Any, seed: int, n_jobs: int, *, package: str, paced: bool, **given: Any
) -> Any:
    """Trees of depth 3 and steps of 0.1, in all alike."""
    leaves = {"num_leaves": 8} if package == "lightgbm" else {}
    return make(package, paced, seed, n_jobs, **{**SMALL, **leaves, **given}).fit(X, y)


def _method(fit: Callable[..., Any], package: str, text: str, **how: Any) -> Method:
    return Method(
        partial(fit, package=package, **how), text, (package, "splboost"), definition=1
    )


def _of_package(package: str, name: str, own: str) -> dict[str, Method]:
    tuned = f"the best of {DRAWS} random settings on {FOLDS} folds"
    return {
        f"{own} tuned": _method(
            fit_tuned, package, f"{tuned}, `p_min` among them", paced=True
        ),
        f"{name} tuned": _method(fit_tuned, package, tuned, paced=False),
        f"{own}": _method(
            fit_small,
            package,
            "as it comes: `subsample=0.5`",
            paced=True,
            subsample=0.5,
        ),
        f"{own}, {SEEDS} seeds": _method(
            fit_small,
            package,
            f"`n_seeds={SEEDS}`",
            paced=True,
            subsample=0.5,
            n_seeds=SEEDS,
        ),
        f"{name}, depth 3": _method(
            fit_small, package, "100 rounds, steps of 0.1", paced=False
        ),
        f"{name}, depth 3, half the rows": _method(
            fit_small, package, "and `subsample=0.5`", paced=False, subsample=0.5
        ),
    }


METHODS = {
    **_of_package("xgboost", "XGBoost", "SPLXGB"),
    **_of_package("lightgbm", "LightGBM", "SPLLGBM"),
}
# Each with what it is to be compared with; of several seeds there is no parent
PAIRS = [
    pair
    for own, parent in (("SPLXGB", "XGBoost"), ("SPLLGBM", "LightGBM"))
    for pair in (
        (f"{own} tuned", f"{parent} tuned"),
        (own, f"{parent}, depth 3, half the rows"),
        (f"{own}, {SEEDS} seeds", f"{parent}, depth 3, half the rows"),
        (f"{own}, {SEEDS} seeds", f"{parent} tuned"),
    )
]
