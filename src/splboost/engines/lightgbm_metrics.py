"""The metrics of LightGBM, from probabilities.

Under an objective that it does not know LightGBM's own take scores for probabilities:
a logarithmic loss of 0.78 has come out as 7.31.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

LEAST = 1e-15  # probability, in a logarithm
OF_ONE_CLASS = 1.0  # a ranking of rows that are all alike, as LightGBM has it
Metric = Callable[[NDArray[Any], NDArray[Any], Any], float]


def _mean(values: NDArray[Any], weight: Any) -> float:
    return float(np.average(values, weights=weight))


def _own(y: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
    """The probability of each sample's label."""
    if p.ndim == 1:
        return np.where(y > 0, p, 1 - p)
    return p[np.arange(len(y)), y.astype(np.intp)]


def log_loss(y: NDArray[Any], p: NDArray[Any], weight: Any) -> float:
    return _mean(-np.log(np.maximum(_own(y, p), LEAST)), weight)


def error(y: NDArray[Any], p: NDArray[Any], weight: Any, top_k: int = 1) -> float:
    if p.ndim == 1:
        return _mean((p > 0.5) != (y > 0), weight)
    not_below = (p >= _own(y, p)[:, None]).sum(axis=1)
    return _mean(not_below > top_k, weight)


def auc(y: NDArray[Any], p: NDArray[Any], weight: Any) -> float:
    if np.unique(y).size < 2:
        return OF_ONE_CLASS
    return float(roc_auc_score(y, p, sample_weight=weight))


def average_precision(y: NDArray[Any], p: NDArray[Any], weight: Any) -> float:
    if np.unique(y).size < 2:
        return OF_ONE_CLASS
    return float(average_precision_score(y, p, sample_weight=weight))


def power(y: NDArray[Any], p: NDArray[Any], weight: Any, *, of: int) -> float:
    return _mean(np.abs(y - p) ** of, weight)


def rmse(y: NDArray[Any], p: NDArray[Any], weight: Any) -> float:
    return power(y, p, weight, of=2) ** 0.5


_TWO: dict[str, tuple[Metric, bool]] = {
    "binary_logloss": (log_loss, False),
    "binary_error": (error, False),
    "auc": (auc, True),
    "average_precision": (average_precision, True),
    "cross_entropy": (log_loss, False),
    "kullback_leibler": (log_loss, False),  # labels of 0 and 1 have no entropy
    "l1": (partial(power, of=1), False),
    "l2": (partial(power, of=2), False),
    "rmse": (rmse, False),
}
_MANY: dict[str, tuple[Metric, bool]] = {
    "multi_logloss": (log_loss, False),
    "multi_error": (error, False),
}
_ALIASES = {
    "binary": "binary_logloss",
    "xentropy": "cross_entropy",
    "kldiv": "kullback_leibler",
    "mean_absolute_error": "l1",
    "mae": "l1",
    "mean_squared_error": "l2",
    "mse": "l2",
    "root_mean_squared_error": "rmse",
    "l2_root": "rmse",
    "multiclass": "multi_logloss",
    "softmax": "multi_logloss",
}
_FOR_TWO = {"multi_logloss": "binary_logloss", "multi_error": "binary_error"}
_NONE = {"", "none", "null", "na", "custom"}


def name_metrics(names: list[str], n_classes: int) -> list[str]:
    """The metrics by their proper names, each once, for that number of classes."""
    known = _MANY if n_classes > 2 else _TWO
    found: list[str] = []
    for given in names:
        name = {"logloss": "binary_logloss", "error": "binary_error"}.get(given, given)
        name = _ALIASES.get(name.lower(), name.lower())
        if name in _NONE:
            continue
        if n_classes <= 2:
            name = _FOR_TWO.get(name, name)
        else:
            name = {two: many for many, two in _FOR_TWO.items()}.get(name, name)
        if name not in known:
            raise ValueError(
                f"metric {given!r} is not among those that SPLLGBMClassifier can give "
                f"for {n_classes} classes: {', '.join(known)}. Pass a function of "
                "y_true, y_pred and weight as eval_metric instead."
            )
        if name not in found:
            found.append(name)
    return found


class ProbabilityMetrics:
    """All metrics of a fit in one, for ``eval_metric`` of LightGBM.

    Parameters
    ----------
    names : of LightGBM's own
    functions : those of the user, who wants probabilities
    to_probability : from the scores of LightGBM
    default_too : whether the metric of the objective comes last
    """

    def __init__(
        self,
        names: list[str],
        functions: list[Any],
        to_probability: Callable[[NDArray[Any]], NDArray[Any]],
        *,
        default_too: bool,
    ) -> None:
        self._default_too = default_too
        self._names = names
        self._functions = functions
        self._to_probability = to_probability
        self._top_k = 1

    def prepare(self, n_classes: int, default: str, top_k: int = 1) -> None:
        """Take what only the fit knows: the classes, and the metric of the objective.

        ``top_k`` is ``multi_error_top_k``.
        """
        names = [*self._names, default] if self._default_too else self._names
        self._names = name_metrics(names, n_classes)
        self._top_k = top_k

    def __deepcopy__(self, memo: Any) -> ProbabilityMetrics:
        return self  # LightGBM copies it; it must go on seeing the fit's start score

    def __call__(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], weight: Any
    ) -> list[tuple[str, float, bool]]:
        p = self._to_probability(y_pred)
        found = []
        for name in self._names:
            function, higher_is_better = {**_TWO, **_MANY}[name]
            label = name
            if name == "multi_error" and self._top_k > 1:
                function, label = (
                    partial(error, top_k=self._top_k),
                    f"{name}@{self._top_k}",
                )
            found.append((label, function(y_true, p, weight), higher_is_better))
        for function in self._functions:
            arguments = [y_true, p, weight, None][: len(signature(function).parameters)]
            given = function(*arguments)
            found += given if isinstance(given, list) else [given]
        return found
