"""SPLBoost: AdaBoost with a pace."""

from __future__ import annotations

from typing import Any

from splboost.boosting.ada import AdaBoostClassifier
from splboost.pace import Pace


class SPLBoostClassifier(AdaBoostClassifier):
    """AdaBoost that is not fooled by wrong labels.

    SPLBoost (self-paced boosting) believes a sample's loss only up to a point: a sample
    that the model gets badly wrong is more likely mislabelled than hard, and its weight
    goes to zero instead of growing.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | None = "linear",
        warm_rounds: int = 3,
        inner_steps: int = 1,
        subsample: float = 1.0,
        on_perfect: str = "stop",
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            pace=pace,
            warm_rounds=warm_rounds,
            inner_steps=inner_steps,
            subsample=subsample,
            on_perfect=on_perfect,
            class_weight=class_weight,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
