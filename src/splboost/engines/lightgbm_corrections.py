"""What LightGBM gets wrong under an objective that it does not know, done here.

Its metrics take scores for probabilities: a logarithmic loss of 0.78 has come out as
7.31. And its models lack the start score, which it writes into the leaves of the first
trees, and the name of the objective in the header, so that they would give scores where
probabilities are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

# ----------------------------------------------------------------------------- metrics

LEAST = 1e-15  # probability, in a logarithm
Metric = Callable[[NDArray[Any], NDArray[Any], Any], float]


def _of_labels(y: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
    """The probability of each sample's label."""
    if p.ndim == 1:
        return np.where(y > 0, p, 1 - p)
    return p[np.arange(len(y)), y.astype(np.intp)]


def _log_loss(y: NDArray[Any], p: NDArray[Any], weight: Any) -> float:
    return np.average(-np.log(np.maximum(_of_labels(y, p), LEAST)), weights=weight)


def _error(y: NDArray[Any], p: NDArray[Any], weight: Any, top_k: int = 1) -> float:
    if p.ndim == 1:
        return np.average((p > 0.5) != (y > 0), weights=weight)
    not_below = (p >= _of_labels(y, p)[:, None]).sum(axis=1)
    return np.average(not_below > top_k, weights=weight)


def _ranking(
    y: NDArray[Any], p: NDArray[Any], weight: Any, *, score: Callable[..., float]
) -> float:
    """A ranking; that of rows which are all of one class is 1, as LightGBM has it."""
    return score(y, p, sample_weight=weight) if np.unique(y).size > 1 else 1.0


# For two and for more classes
_OF_TWO: dict[str, Metric] = {
    "binary_logloss": _log_loss,
    "binary_error": _error,
    "auc": partial(_ranking, score=roc_auc_score),
    "average_precision": partial(_ranking, score=average_precision_score),
}
_OF_MANY: dict[str, Metric] = {"multi_logloss": _log_loss, "multi_error": _error}
_HIGHER_IS_BETTER = "auc", "average_precision"
_ALIASES = {
    "logloss": "binary_logloss",
    "binary": "binary_logloss",
    "error": "binary_error",
    "multiclass": "multi_logloss",
    "softmax": "multi_logloss",
}
_FOR_TWO = {"multi_logloss": "binary_logloss", "multi_error": "binary_error"}
_FOR_MANY = {two: many for many, two in _FOR_TWO.items()}
_NONE = {"", "none", "null", "na", "custom"}


class Metrics:
    """All metrics of a fit in one, for ``eval_metric`` of LightGBM.

    Parameters
    ----------
    eval_metric : names of LightGBM's own and functions, or one of these
        Functions are the user's, who wants probabilities.
    to_probability : function of the scores of LightGBM
    """

    def __init__(
        self, eval_metric: Any, to_probability: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> None:
        asked = eval_metric if isinstance(eval_metric, list) else [eval_metric]
        self._names = [each for each in asked if isinstance(each, str)]
        self._functions = [each for each in asked if callable(each)]
        self._to_probability = to_probability

    def prepare(self, told: Any, n_classes: int, top_k: int) -> None:
        """Take what only the fit knows: the parameter ``metric``, and the classes."""
        known = _OF_MANY if n_classes > 2 else _OF_TWO
        asked = [*self._names, *(told.split(",") if isinstance(told, str) else told)]
        self._metrics: dict[str, Metric] = {}
        for given in asked:
            name = _ALIASES.get(given.lower(), given.lower())
            if name in _NONE:
                continue
            name = (_FOR_MANY if n_classes > 2 else _FOR_TWO).get(name, name)
            if name not in known:
                raise ValueError(
                    f"metric {given!r} is not among those that SPLLGBMClassifier can "
                    f"give for {n_classes} classes: {', '.join(known)}. Pass a "
                    "function of y_true, y_pred and weight as eval_metric instead."
                )
            if name == "multi_error" and top_k > 1:
                self._metrics[f"{name}@{top_k}"] = partial(_error, top_k=top_k)
            else:
                self._metrics[name] = known[name]

    def __deepcopy__(self, memo: Any) -> Metrics:
        return self  # LightGBM copies it; it must go on seeing the fit's start score

    def __call__(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], weight: Any
    ) -> list[tuple[str, float, bool]]:
        p = self._to_probability(y_pred)
        values = [
            (name, float(metric(y_true, p, weight)), name in _HIGHER_IS_BETTER)
            for name, metric in self._metrics.items()
        ]
        for function in self._functions:
            arguments = [y_true, p, weight, None][: len(signature(function).parameters)]
            value = function(*arguments)
            values += value if isinstance(value, list) else [value]
        return values


# ------------------------------------------------------------------- the text of models

VALUES = "leaf_value", "internal_value", "leaf_const"
END_OF_TREES = "\nend of trees\n"


def complete_model(text: str, objective: str, start: Sequence[float]) -> str:
    """The text of a model with what it lacks.

    Parameters
    ----------
    text : of a model
    objective : as it stands in a header, such as "binary sigmoid:1"
    start : start score to add to each tree of the first round
    """
    body, end, rest = text.partition(END_OF_TREES)
    if not end:
        raise ValueError("The text is no model of LightGBM that this version can read.")
    header, *trees = re.split(r"^(?=Tree=\d+$)", body + "\n", flags=re.M)
    for number, bias in enumerate(start[: len(trees)]):
        trees[number] = _add(trees[number], bias)
    # Without the sizes of trees LightGBM reads them one after the other
    header = re.sub(r"^(objective|tree_sizes)=.*\n", "", header, flags=re.M)
    header = re.sub(
        r"^(?=feature_names=)", f"objective={objective}\n", header, flags=re.M
    )
    name = objective.split()[0]
    rest = re.sub(r"^\[objective: .*\]$", f"[objective: {name}]", rest, flags=re.M)
    return header + "".join(trees) + END_OF_TREES[1:] + rest


def _add(tree: str, bias: float) -> str:
    """A tree whose values are larger by the bias."""

    def changed(match: re.Match[str]) -> str:
        values = match[2].split()
        return f"{match[1]}=" + " ".join(repr(float(v) + bias) for v in values)

    tree = re.sub(rf"^({'|'.join(VALUES)})=(.*)$", changed, tree, flags=re.M)
    return re.sub(r"^shrinkage=.*$", "shrinkage=1", tree, flags=re.M) if bias else tree
