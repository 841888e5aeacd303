"""What LightGBM gets wrong under an objective that it does not know, done here.

Its metrics take scores for probabilities: a logarithmic loss of 0.78 has come out as
7.31. And its models lack the start score, which it writes into the leaves of the first
trees, and the name of the objective in the header, so that they would give scores where
probabilities are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

# ----------------------------------------------------------------------------- metrics

LEAST = 1e-15  # probability, in a logarithm


def _of_labels(y: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
    """The probability of each sample's label."""
    if p.ndim == 1:
        return np.where(y > 0, p, 1 - p)
    return p[np.arange(len(y)), y.astype(np.intp)]


def _log_loss(y: NDArray[Any], p: NDArray[Any], weight: Any) -> float:
    return np.average(-np.log(np.maximum(_of_labels(y, p), LEAST)), weights=weight)


def _error(y: NDArray[Any], p: NDArray[Any], weight: Any, top_k: int) -> float:
    if p.ndim == 1:
        return np.average((p > 0.5) != (y > 0), weights=weight)
    not_below = (p >= _of_labels(y, p)[:, None]).sum(axis=1)
    return np.average(not_below > top_k, weights=weight)


def _ranking(
    y: NDArray[Any], p: NDArray[Any], weight: Any, *, score: Callable[..., float]
) -> float:
    """A ranking; that of rows which are all of one class is 1, as LightGBM has it."""
    return score(y, p, sample_weight=weight) if np.unique(y).size > 1 else 1.0


RANKINGS = {  # of two classes; the higher the better
    "auc": partial(_ranking, score=roc_auc_score),
    "average_precision": partial(_ranking, score=average_precision_score),
}
ALIASES = {"binary": "logloss", "multiclass": "logloss", "softmax": "logloss"}
NONE = "", "none", "null", "na", "custom"


def find_metrics(
    names: Sequence[str], n_classes: int, top_k: int
) -> dict[str, Callable[..., float]]:
    """Metrics of LightGBM by their names there, which differ by the number of classes.

    Of the given names and aliases some stand for none. With more than two classes a
    label is an error if more than ``top_k`` of them are at least as probable.
    """
    prefix = "multi_" if n_classes > 2 else "binary_"
    known: dict[str, Callable[..., float]] = {
        prefix + "logloss": _log_loss,
        prefix + "error": partial(_error, top_k=top_k),
    }
    known |= RANKINGS if n_classes <= 2 else {}
    metrics = {}
    for given in names:
        kind = re.sub("^(binary|multi)_", "", given.lower())
        name = kind if kind in RANKINGS else prefix + ALIASES.get(kind, kind)
        if kind in NONE:
            continue
        if name not in known:
            raise ValueError(
                f"metric {given!r} is not among those that SPLLGBMClassifier can "
                f"give for {n_classes} classes: {', '.join(known)}. Pass a "
                "function of y_true, y_pred and weight as eval_metric instead."
            )
        suffix = f"@{top_k}" if name == "multi_error" and top_k > 1 else ""
        metrics[name + suffix] = known[name]
    return metrics


def of_probabilities(metric: Any, to_probability: Any) -> Any:
    """A metric of the user, who wants probabilities where LightGBM has scores."""

    @wraps(metric)  # LightGBM looks at its signature
    def of_scores(y_true: Any, y_pred: Any, *more: Any) -> Any:
        return metric(y_true, to_probability(y_pred), *more)

    return of_scores


# ------------------------------------------------------------------- the text of models

VALUES = "leaf_value", "internal_value", "leaf_const"


def complete_model(text: str, objective: str, start: Sequence[float]) -> str:
    """The text of a model with what it lacks.

    That is its objective, such as "binary sigmoid:1", in the header, and the start
    scores in the trees of the first round.
    """
    header, *trees = re.split(r"^(?=Tree=\d+$)", text, flags=re.M)
    for number, bias in enumerate(start[: len(trees)]):
        trees[number] = _add(trees[number], bias)
    # Without the sizes of trees LightGBM reads them one after the other
    header = re.sub(r"^(objective|tree_sizes)=.*\n", "", header, flags=re.M)
    header = header.replace(
        "\nfeature_names=", f"\nobjective={objective}\nfeature_names="
    )
    setting = f"[objective: {objective.split()[0]}]"  # the last tree has them behind it
    trees[-1:] = [
        re.sub(r"^\[objective: .*\]$", setting, tree, flags=re.M) for tree in trees[-1:]
    ]
    return header + "".join(trees)


def _add(tree: str, bias: float) -> str:
    """A tree whose values are larger by the bias."""

    def changed(match: re.Match[str]) -> str:
        values = match[2].split()
        return f"{match[1]}=" + " ".join(repr(float(v) + bias) for v in values)

    tree = re.sub(rf"^({'|'.join(VALUES)})=(.*)$", changed, tree, flags=re.M)
    return re.sub(r"^shrinkage=.*$", "shrinkage=1", tree, flags=re.M) if bias else tree
