"""What the rounds of XGBoost need besides an objective: a start, an end, patience."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray
from xgboost.callback import EarlyStopping, TrainingCallback

from splboost.engines.losses import probability

LEAST_SHARE = 1e-6  # of a class that is not there


class AfterWarmRounds(TrainingCallback):
    """Early stopping whose patience begins when the pace has set in.

    A pace changes the course of a fit; what the warm rounds have reached says nothing
    of what the rounds after them will.

    Parameters
    ----------
    early_stopping : EarlyStopping
    warm_rounds : rounds of this fit that do not count
    """

    def __init__(self, early_stopping: EarlyStopping, warm_rounds: int) -> None:
        self._inner = early_stopping
        self._warm_rounds = warm_rounds
        super().__init__()

    def before_training(self, model: Any) -> Any:
        return self._inner.before_training(model)

    def after_training(self, model: Any) -> Any:
        return self._inner.after_training(model)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch < self._warm_rounds:
            return False
        return self._inner.after_iteration(model, epoch, evals_log)


class AtTheEnd(TrainingCallback):
    """Calls a function with the booster before its caches are gone."""

    def __init__(self, function: Callable[[Any], None]) -> None:
        self._function = function
        super().__init__()

    def after_training(self, model: Any) -> Any:
        self._function(model)
        return model


class OfProbabilities:
    """A metric of the user, who wants probabilities, for XGBoost, which gives scores.

    It gives scores where the objective is one that it does not know.
    """

    def __init__(self, metric: Any) -> None:
        self._metric = metric

    def __call__(self, scores: NDArray[Any], data: Any) -> Any:
        return self._metric(probability(np.asarray(scores)), data)


def patient_callbacks(
    callbacks: Sequence[Any] | None, early_stopping_rounds: int | None, warm_rounds: int
) -> list[Any]:
    """The user's callbacks, with early stopping that leaves out the warm rounds.

    Early stopping is copied, for XGBoost's keeps what it has seen in an earlier fit.
    """
    given = list(callbacks or ())
    if early_stopping_rounds:
        given.append(EarlyStopping(rounds=early_stopping_rounds))
    return [
        AfterWarmRounds(copy.deepcopy(each), warm_rounds)
        if isinstance(each, EarlyStopping)
        else each
        for each in given
    ]


def start_score(
    params: dict[str, Any],
    label: NDArray[Any],
    weight: NDArray[Any] | None,
) -> Any:
    """The ``base_score`` that XGBoost itself would start from.

    It works it out from labels and weights, in ways that differ between versions, but
    not for an objective that it does not know. So it is asked to, on a column of zeros.
    """
    kept = ("objective", "num_class", "scale_pos_weight", "seed", "nthread", "n_jobs")
    given = {name: params[name] for name in kept if params.get(name) is not None}
    data = xgboost.DMatrix(
        np.zeros((len(label), 1), dtype=np.float32), label, weight=weight
    )
    try:
        booster = xgboost.train({**given, "max_depth": 1}, data, 1)
    except xgboost.core.XGBoostError:  # of one class, in versions before 3.1
        return float(np.clip(np.mean(label), LEAST_SHARE, 1 - LEAST_SHARE))
    found = json.loads(read_start(booster))
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def read_start(booster: Any) -> str:
    """The ``base_score`` of a booster, as it stands in its configuration."""
    config = json.loads(booster.save_config())
    return config["learner"]["learner_model_param"]["base_score"]


def average(boosters: Sequence[Any]) -> Any:
    """One booster with the trees of all, whose score is the mean of theirs."""
    first, *others = (json.loads(each.save_raw("json")) for each in boosters)
    model = first["learner"]["gradient_booster"]
    if model["name"] != "gbtree":
        raise ValueError(
            f"n_seeds above 1 needs booster='gbtree', got booster={model['name']!r}; "
            "set n_seeds=1."
        )
    model = model["model"]
    for other in others:
        more = other["learner"]["gradient_booster"]["model"]
        model["trees"] += more["trees"]
        model["tree_info"] += more["tree_info"]
        done = model["iteration_indptr"][-1]
        model["iteration_indptr"] += [done + at for at in more["iteration_indptr"][1:]]
    for number, tree in enumerate(model["trees"]):
        tree["id"] = number
        if tree["tree_param"].get("size_leaf_vector", "1") not in ("0", "1"):
            raise ValueError(
                "n_seeds above 1 needs trees of one output; set n_seeds=1, or leave "
                "multi_strategy as it is."
            )
        at_leaf = [left == -1 for left in tree["left_children"]]
        for name, scaled in (("base_weights", None), ("split_conditions", at_leaf)):
            tree[name] = [
                value / len(boosters) if scaled is None or scaled[i] else value
                for i, value in enumerate(tree[name])
            ]
    model["gbtree_model_param"]["num_trees"] = str(len(model["trees"]))
    first["learner"]["attributes"] = {}
    merged = xgboost.Booster()
    merged.load_model(bytearray(json.dumps(first), "utf-8"))
    return merged
