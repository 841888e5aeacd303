"""Probabilities of the labels, by models that have not seen them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
)

from splboost._data.labels import weights_of_classes
from splboost._tools.user_warnings import warn
from splboost.boosting.weak_learner import check_shares
from splboost.selection.belief import unweigh
from splboost.selection.calibration import calibrate
from splboost.selection.forest import SPLForestClassifier
from splboost.selection.quick_forest import QuickForest

FloatArray = NDArray[np.float64]

N_FOLDS = 5
SUM_ERROR = 1e-3  # by which given probabilities may miss 1
SHOWN = 5  # entries of an index, in an error


class Evidence(NamedTuple):
    """What models say of labels that they have not seen.

    Attributes
    ----------
    probability : (n_rows, n_classes); NaN where no model has not seen the row
    model : one that has seen all rows, and can be asked about others; or None
    """

    probability: FloatArray
    model: Any


def find_evidence(
    judge: Any,
    X: Any,
    y: NDArray[Any],
    codes: NDArray[np.integer],
    groups: NDArray[np.intp] | None,
    trusted: Any,
    seed: int,
    n_jobs: int | None,
) -> Evidence:
    """By the bags of a forest, or by folds.

    Parameters
    ----------
    judge : classifier
    X, y : all rows
    codes : class of each row's label
    groups : by row; those of one group do not judge each other
    trusted : by row, whether a label is known to be right; or None
    seed, n_jobs : of the folds
    """
    if isinstance(judge, QuickForest):
        return from_quick_forest(judge, X, y, groups)
    if isinstance(judge, SPLForestClassifier):
        return from_forest(judge, X, y, codes, groups, trusted)
    return from_folds(judge, X, y, codes, groups, seed, n_jobs)


def from_forest(
    forest: SPLForestClassifier,
    X: Any,
    y: Any,
    codes: NDArray[np.integer],
    groups: Any,
    trusted: Any,
) -> Evidence:
    """By the bags without a row."""
    model = clone(forest).fit(X, y, groups=groups, trusted=trusted)
    found = model.oob_decision_function_
    weights = weights_of_classes(
        model.class_weight, model.classes_, codes, np.ones(codes.size)
    )
    return Evidence(unweigh(found, weights), model)


def from_quick_forest(forest: QuickForest, X: Any, y: Any, groups: Any) -> Evidence:
    """By the bags without a row."""
    model = clone(forest).fit(X, y, groups=groups)
    return Evidence(model.oob_decision_function_, model)


def from_folds(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    codes: NDArray[np.integer],
    groups: Any,
    seed: int,
    n_jobs: int | None,
) -> Evidence:
    """By models fitted to the other folds, and then calibrated.

    No class has fewer rows, or groups, than there are folds.
    """
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator={estimator!r} has no predict_proba, by which labels are "
            "judged; give one that has, or pred_probs."
        )
    unit, own = "row", codes
    if groups is not None:
        unit = "group"
        own = np.unique(np.column_stack([groups, codes]), axis=0)[:, 1]
    n_folds, rarest = N_FOLDS, int(np.bincount(own).min())
    if rarest < 2:
        raise ValueError(
            f"A class of y has one {unit} only, which no other fold can speak of; give "
            f"it another {unit}, leave it out, or audit with SPLForestClassifier, the "
            "default."
        )
    if rarest < n_folds:
        warn(f"A class of y has {rarest} {unit}s only, so there are as many folds.")
        n_folds = rarest
    found = cross_val_predict(
        clone(estimator),
        X,
        codes,
        cv=split(codes, groups, n_folds, seed),
        method="predict_proba",
        n_jobs=n_jobs,
    )
    found = check_shares(estimator, found, codes.size, int(codes.max()) + 1)
    probability = calibrate(found, codes, np.ones(codes.size)).apply(found)
    return Evidence(probability, clone(estimator).fit(X, y))


def split(
    codes: NDArray[np.integer],
    groups: NDArray[np.intp] | None,
    n_folds: int,
    seed: int,
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to judge, for each fold; classes are as frequent.

    Groups stay together. Where each is of one class, as copies of a row are, they are
    dealt out one by one, which is fast: to balance groups of several classes takes time
    for each.
    """
    options = {"n_splits": n_folds, "shuffle": True, "random_state": seed}
    if groups is None:
        return list(StratifiedKFold(**options).split(codes, codes))
    _, first, of_row = np.unique(groups, return_index=True, return_inverse=True)
    kind = codes[first]
    if (codes != kind[of_row]).any():
        return list(StratifiedGroupKFold(**options).split(codes, codes, groups))
    own = _deal(kind, np.bincount(of_row), n_folds, seed)[of_row]
    return [
        (np.flatnonzero(own != number), np.flatnonzero(own == number))
        for number in range(n_folds)
    ]


def _deal(
    kind: NDArray[np.integer], size: NDArray[np.intp], n_folds: int, seed: int
) -> NDArray[np.intp]:
    """A fold for each group: the largest first, where there is least of its class."""
    order = np.random.default_rng(seed).permutation(kind.size)
    order = order[np.argsort(-size[order], kind="stable")]
    fold = np.empty(kind.size, dtype=np.intp)
    of_class = [[0] * n_folds for _ in range(int(kind.max()) + 1)]
    rows = [0] * n_folds
    for group in order.tolist():
        own = of_class[int(kind[group])]
        least = min(range(n_folds), key=lambda k: (own[k], rows[k]))
        own[least] += int(size[group])
        rows[least] += int(size[group])
        fold[group] = least
    return fold


def from_given(
    pred_probs: Any,
    classes: NDArray[Any],
    codes: NDArray[np.integer],
    beside: Mapping[str, Any],
) -> Evidence:
    """As they were given, calibrated; the columns of a frame by their names.

    Parameters
    ----------
    pred_probs : array-like or frame
    classes, codes : the labels
    beside : arguments that have the same rows, by their names
    """
    given = np.asarray(_in_order(pred_probs, classes), dtype=np.float64)
    if given.shape != (codes.size, classes.size):
        raise ValueError(
            f"pred_probs is of shape {given.shape}; give a probability for each of the "
            f"{codes.size} rows and each of the {classes.size} classes, in the order "
            f"{classes.tolist()}."
        )
    _check_index(pred_probs, beside)
    if np.isnan(given).any() or given.min() < 0:
        raise ValueError(
            "pred_probs has missing or negative entries; give probabilities."
        )
    if np.abs(given.sum(axis=1) - 1).max() > SUM_ERROR:
        raise ValueError(
            "pred_probs has rows that do not sum to 1; give probabilities of the "
            "classes, not scores."
        )
    return Evidence(calibrate(given, codes, np.ones(codes.size)).apply(given), None)


def _check_index(pred_probs: Any, beside: Mapping[str, Any]) -> None:
    """Refuse a frame whose index says that its rows are others, or in other places."""
    own = _index_of(pred_probs)
    named = next((name for name in beside if _index_of(beside[name]) is not None), None)
    if own is None or named is None:
        return
    other = _index_of(beside[named])
    if own.equals(other):
        return
    to_mend = f"pred_probs.set_axis({named}.index) if they are the same one by one"
    if own.is_unique and other.is_unique and own.isin(other).all():
        to_mend = f"pred_probs.reindex({named}.index), or {to_mend}"
    raise ValueError(
        f"pred_probs has the index {_start(own)}, and {named} has {_start(other)}; "
        f"give {to_mend}."
    )


def _index_of(data: Any) -> Any:
    """What pandas puts rows together by; None elsewhere, as of a list's method."""
    index = getattr(data, "index", None)
    return index if hasattr(index, "equals") else None


def _start(index: Any) -> str:
    """The first of an index, for an error."""
    more = ", …" if len(index) > SHOWN else ""
    return f"[{', '.join(map(repr, index[:SHOWN].tolist()))}{more}]"


def _in_order(pred_probs: Any, classes: NDArray[Any]) -> Any:
    """The columns of a frame in the order of the classes that they are named after."""
    if not isinstance(nw.from_native(pred_probs, pass_through=True), nw.DataFrame):
        return pred_probs
    names, labels = list(pred_probs.columns), classes.tolist()
    numbers = range(len(names))
    if names in (list(numbers), [f"column_{j}" for j in numbers]) and (
        set(names) != set(labels)
    ):
        return pred_probs  # nobody has named them
    for said, sought in ((names, labels), ([*map(str, names)], [*map(str, labels)])):
        if len(said) == len(sought) and set(said) == set(sought):
            return np.asarray(pred_probs)[:, [said.index(each) for each in sought]]
    raise ValueError(
        f"pred_probs has the columns {names}, and the classes are {labels}; name each "
        "column after its class, or give an array with columns in this order."
    )
