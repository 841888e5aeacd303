"""What the rounds of XGBoost need besides an objective: a start, an end, patience."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray
from xgboost.callback import EarlyStopping, TrainingCallback

from splboost.engines.losses import probability

LEAST_SHARE = 1e-6  # of a class that is not there
TREES = "gbtree"  # the booster whose models can be averaged


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


def check_booster(name: str) -> None:
    """Raise an error where models of this kind cannot be averaged."""
    if name != TREES:
        raise ValueError(
            f"n_seeds above 1 needs booster={TREES!r}, got booster={name!r}; set "
            "n_seeds=1."
        )


def several_outputs() -> ValueError:
    """What to raise where trees cannot be averaged."""
    return ValueError(
        "n_seeds above 1 needs trees of one output; set n_seeds=1, or leave "
        "multi_strategy as it is."
    )


def average(boosters: Sequence[Any]) -> Any:
    """One booster with the trees of all, whose score is the mean of theirs.

    Each of its rounds has the trees that the others have in that round, so that the
    first rounds of it are the mean of their first rounds.
    """
    whole, *_ = learners = [json.loads(each.save_raw("json")) for each in boosters]
    kinds = [each["learner"]["gradient_booster"] for each in learners]
    check_booster(kinds[0]["name"])
    models = [each["model"] for each in kinds]
    trees: list[Any] = []
    classes: list[int] = []
    ends = [0]
    spans = [pairwise(model["iteration_indptr"]) for model in models]
    for of_round in zip_longest(*spans, fillvalue=(0, 0)):
        for model, (begin, end) in zip(models, of_round, strict=True):
            trees += model["trees"][begin:end]
            classes += model["tree_info"][begin:end]
        ends.append(len(trees))
    for number, tree in enumerate(trees):
        _divide(tree, len(boosters))
        tree["id"] = number
    models[0] |= {"trees": trees, "tree_info": classes, "iteration_indptr": ends}
    models[0]["gbtree_model_param"]["num_trees"] = str(len(trees))
    whole["learner"]["attributes"] = {}
    merged = xgboost.Booster()
    merged.load_model(bytearray(json.dumps(whole), "utf-8"))
    return merged


def _divide(tree: dict[str, Any], n: int) -> None:
    """Divide what a tree says; cuts of inner nodes stay as they are."""
    if tree["tree_param"].get("size_leaf_vector", "1") not in ("0", "1"):
        raise several_outputs()
    tree["base_weights"] = [value / n for value in tree["base_weights"]]
    tree["split_conditions"] = [
        value / n if left == -1 else value
        for value, left in zip(
            tree["split_conditions"], tree["left_children"], strict=True
        )
    ]
