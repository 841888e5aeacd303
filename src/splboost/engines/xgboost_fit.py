"""A fit of self-paced XGBoost under way."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray

from splboost.engines.paced import PacedRounds
from splboost.engines.settings import (
    count_classes,
    count_warm_rounds,
    make_loss,
    never_called,
    resolve_paces,
)
from splboost.engines.xgboost_rounds import start_score

DEFAULT_RATE = 0.3  # of XGBoost, where learning_rate is None


class PacedFit:
    """A fit under way: the objective, and what the parent has told so far.

    Parameters
    ----------
    estimator : the classifier
    objective : the objective that the user has named
    n_done : rounds of a model to go on from
    matrices : the data, kept for the next seed
    xgb_model : that model, or None
    """

    def __init__(
        self,
        estimator: Any,
        objective: Any,
        n_done: int,
        matrices: list[Any],
        xgb_model: Any,
    ) -> None:
        self.estimator = estimator
        self.n_done = n_done
        self.warm_rounds = count_warm_rounds(estimator, DEFAULT_RATE)
        self.random_state = estimator.random_state
        self.params: dict[str, Any] = {}
        self.booster: Any = None
        self.evals_result: Any = None
        self._objective = objective
        self._matrices = matrices
        self._n_asked = 0
        self._goes_on = xgb_model is not None

    @property
    def n_warm_left(self) -> int:
        return max(self.warm_rounds - self.n_done, 0)

    def take(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take the parameters of XGBoost, which a start score is still missing from."""
        if self._objective == "multi:softmax" and params.get("num_class"):
            params["objective"] = "multi:softmax"
        self.params = params
        return params

    def matrix(self, create: Any) -> Any:
        """The next of the parent's matrices; the first is that of the training data."""
        if self._n_asked == len(self._matrices):
            self._matrices.append(create())
        data = self._matrices[self._n_asked]
        if self._n_asked == 0:
            self._begin(data)
        self._n_asked += 1
        return data

    def _begin(self, data: Any) -> None:
        y, weight = data.get_label(), data.get_weight()
        if y.size != data.num_row():
            raise ValueError(
                f"y has {y.size} labels for {data.num_row()} rows; SPLXGBClassifier "
                "takes one label for each row. Fit a model for each column."
            )
        k = int(self.params.get("num_class") or 1)
        given = weight if weight.size else None
        if self.params.get("base_score") is None and not self._goes_on:
            self.params["base_score"] = start_score(self.params, y, given)
        positive = self.params.get("scale_pos_weight")
        if positive is not None and k == 1:
            given = np.where(y > 0, positive, 1.0) * (1.0 if given is None else given)
        labels = list(range(max(k, int(self.estimator.n_classes_))))
        mass = count_classes(y, given, len(labels))
        self.paces = resolve_paces(self.estimator, labels, mass)
        self.y, self.weight, self._data = y, given, data
        self.rounds = PacedRounds(
            make_loss(self.paces, softmax=k > 1),
            y,
            None if given is None else given.astype(np.float32),
            warm_rounds=self.warm_rounds,
            first_round=self.n_done,
        )

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        return tuple(self.rounds(y_pred))  # type: ignore[return-value]

    def end(self, model: Any) -> None:
        """Note the final scores: those of the round that early stopping has chosen."""
        n_rounds = model.num_boosted_rounds()
        best = model.attr("best_iteration")
        n_kept = n_rounds if best is None else int(best) + 1
        if n_rounds > self.n_done and not self.rounds.latent:
            raise never_called(xgboost)
        if n_kept == n_rounds:
            # In training they are at hand, but dart leaves trees out of them.
            is_kept = self.params.get("booster") != "dart"
            self.scores = model.predict(
                self._data, output_margin=True, training=is_kept
            )
        else:
            self.scores = model.predict(
                self._data, output_margin=True, iteration_range=(0, n_kept)
            )
        self.rounds.finish(self.scores, n_kept - self.n_done)

    def kept_booster(self) -> Any:
        """The booster up to the round that early stopping has chosen."""
        best = self.booster.attr("best_iteration")
        return self.booster if best is None else self.booster[: int(best) + 1]


def count_rounds(xgb_model: Any) -> int:
    """The rounds of a model to go on from."""
    if xgb_model is None:
        return 0
    if isinstance(xgb_model, xgboost.XGBModel):
        xgb_model = xgb_model.get_booster()
    if not isinstance(xgb_model, xgboost.Booster):
        xgb_model = xgboost.Booster(model_file=xgb_model)
    return xgb_model.num_boosted_rounds()
