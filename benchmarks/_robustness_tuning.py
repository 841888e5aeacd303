"""Choice by cross-validation: folds for all methods, random settings for the rivals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

FOLDS = 5
DRAWS = 30


@dataclass(frozen=True)
class Range:
    """Numbers to draw a setting from; whole ones if the ends are."""

    low: float
    high: float
    is_logarithmic: bool = False

    def draw(self, rng: np.random.Generator) -> float:
        whole = isinstance(self.low, int)
        # Whole numbers are rounded, and the ends must be as likely as the others.
        low, high = (
            (self.low - 0.5, self.high + 0.5) if whole else (self.low, self.high)
        )
        if self.is_logarithmic:
            value = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        else:
            value = float(rng.uniform(low, high))
        return round(value) if whole else value

    def __str__(self) -> str:
        scale = ", logarithmic" if self.is_logarithmic else ""
        return f"{self.low:g} to {self.high:g}{scale}"


SHARED_RANGES = {
    "learning_rate": Range(0.01, 0.3, True),
    "n_estimators": Range(20, 500, True),
    "subsample": Range(0.4, 1.0),
    "colsample_bytree": Range(0.3, 1.0),
}
LIGHTGBM_RANGES = {
    **SHARED_RANGES,
    "num_leaves": Range(2, 63, True),
    "min_child_samples": Range(1, 100, True),
}
XGBOOST_RANGES = {
    **SHARED_RANGES,
    "max_depth": Range(1, 10),
    "min_child_weight": Range(0.25, 25.0, True),  # a row counts for a quarter at most
}


def folds(seed: int) -> StratifiedKFold:
    """The same folds for every method that chooses by cross-validation."""
    return StratifiedKFold(FOLDS, shuffle=True, random_state=seed)


def tune(
    make: Callable[..., Any], ranges: dict[str, Range], X: Any, y: Any, seed: int
) -> Any:
    """Fit the drawn setting of the highest accuracy over the folds, first of equals."""
    rng = np.random.default_rng(seed)
    parts = list(folds(seed).split(X, y))

    def count_right(setting: dict[str, float]) -> int:
        return sum(
            np.sum(make(**setting).fit(X.iloc[a], y[a]).predict(X.iloc[b]) == y[b])
            for a, b in parts
        )

    settings = [
        {name: each.draw(rng) for name, each in ranges.items()} for _ in range(DRAWS)
    ]
    return make(**max(settings, key=count_right)).fit(X, y)
