"""What XGBoost's classifiers with a pace share, on one machine and on many."""

from __future__ import annotations

from typing import Any

from splboost.engines.self_paced import SelfPacedMixin, without_own
from splboost.engines.xgboost_rounds import TREES, check_booster, several_outputs
from splboost.pace import Pace

OBJECTIVES = None, "binary:logistic", "multi:softprob", "multi:softmax"


class SelfPacedXGB(SelfPacedMixin):
    """A classifier of XGBoost with a pace, to be named before XGBoost's own."""

    objective: Any
    base_score: Any
    booster: Any
    multi_strategy: Any
    scale_pos_weight: Any
    callbacks: Any
    early_stopping_rounds: Any
    evals_result_: Any
    _Booster: Any

    def __init__(
        self,
        *,
        p_min: float | None = None,
        pace: Pace | str | dict[Any, Any] | None = "hard",
        warm_rounds: int | None = None,
        n_seeds: int = 1,
        n_estimators: int | None = 100,
        max_depth: int | None = 3,
        learning_rate: float | None = 0.1,
        subsample: float | None = 0.5,
        **kwargs: Any,
    ) -> None:
        super().__init__(  # type: ignore[call-arg]
            n_estimators=n_estimators,
            max_depth=max_depth,
            learning_rate=learning_rate,
            subsample=subsample,
            **kwargs,
        )
        self.p_min = p_min
        self.pace = pace
        self.warm_rounds = warm_rounds
        self.n_seeds = n_seeds

    def get_xgb_params(self) -> dict[str, Any]:
        """The parameters that XGBoost is to see; classes it counts by itself."""
        params = without_own(super().get_xgb_params())  # type: ignore[misc]
        params.pop("num_class", None)
        return params

    def _check_settings(self) -> None:
        super()._check_settings()
        if callable(self.objective) or self.objective not in OBJECTIVES:
            raise ValueError(
                f"{type(self).__name__} has a logistic or softmax loss; leave "
                "objective as it is, or give one of "
                f"{', '.join(map(repr, OBJECTIVES[1:]))}, got "
                f"objective={self.objective!r}."
            )
        if self.n_seeds > 1:
            check_booster(self.booster or TREES)
            if self.multi_strategy == "multi_output_tree":
                raise several_outputs()
