"""Which rows a search fits to and which it judges by: folds, splitters, or a list."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from splboost._data.labels import weights_of_classes
from splboost.boosting.parameters import check_subsample
from splboost.boosting.samples import Samples
from splboost.selection.bags import check_groups

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]

N_FOLDS = 5  # where cv is None


class Part(NamedTuple):
    """Some of the samples to fit to, and some to judge by.

    Attributes
    ----------
    fitted, judging : masks
    of_class : weight of each class, as the booster has it on the rows fitted to; or
        None
    """

    fitted: Mask
    judging: Mask
    of_class: FloatArray | None

    def take(self, samples: Samples) -> tuple[Samples, Samples]:
        """The samples of the part.

        Those fitted to are weighed as the booster would weigh them alone. Scores know
        nothing of the weights of classes, as those of GridSearchCV; but rows of a class
        of weight zero are left out.
        """
        fitted, judging = samples.take(self.fitted), samples.take(self.judging)
        if self.of_class is not None:
            fitted = fitted.weighing(fitted.weight * self.of_class[fitted.codes])
        return fitted, judging


def divide_rows(
    X: Any,
    y: Any,
    cv: Any,
    groups: Any,
    rng: np.random.RandomState,
    n_rows: int,
    *,
    of_classes: bool,
) -> list[tuple[Mask, Mask]]:
    """Masks of the rows to fit to and of those to judge by, of each part."""
    if groups is not None:
        groups = check_groups(groups, n_rows)
    splitter = cv
    if cv is None or isinstance(cv, Integral):
        n_folds = N_FOLDS if cv is None else int(cv)
        if groups is not None:
            _check_number_of_groups(groups, n_folds)
        splitter = _make_folds(n_folds, of_classes, groups is not None, rng)
    splitter = check_cv(splitter, y, classifier=of_classes)
    rows = X if hasattr(X, "shape") else np.empty((n_rows, 0))
    masks = [
        _check_part(fitted, judging, number, n_rows)
        for number, (fitted, judging) in enumerate(
            _split(splitter, cv, rows, y, groups)
        )
    ]
    if not masks:
        raise ValueError(f"cv={cv!r} gives no part of the data; give folds.")
    return masks


def _split(splitter: Any, cv: Any, *data: Any) -> Iterator[tuple[Any, Any]]:
    """What a splitter gives; its errors name the argument that it comes from."""
    try:
        for part in splitter.split(*data):
            fitted, judging = part
            yield fitted, judging
    except (TypeError, ValueError) as why:
        name, remedy = f"cv={cv!r}", "give another"
        if data[-1] is None and "groups" in str(why):
            remedy = "give groups to fit"
        elif cv is None or isinstance(cv, Integral):
            remedy = "give fewer folds, or more data"
        elif not hasattr(cv, "split"):
            name, remedy = "cv", "give pairs (train, test) of arrays of row numbers"
        said = str(why).rstrip(".")
        message = f"{name} cannot divide the rows: {said}; {remedy}."
        raise ValueError(message) from why


def _make_folds(
    n_folds: int, of_classes: bool, grouped: bool, rng: np.random.RandomState
) -> Any:
    seed = rng.randint(2**31 - 1)
    if grouped:
        if of_classes:
            return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        return GroupKFold(n_folds, shuffle=True, random_state=seed)
    kind = StratifiedKFold if of_classes else KFold
    return kind(n_folds, shuffle=True, random_state=seed)


def _check_number_of_groups(groups: NDArray[np.intp], n_folds: int) -> None:
    n_groups = int(groups.max()) + 1
    if n_groups < n_folds:
        some = "one group" if n_groups == 1 else f"{n_groups} groups"
        fewer = "" if n_groups == 1 else ", or fewer folds"
        raise ValueError(
            f"groups has {some} only, which {n_folds} folds cannot share without "
            f"dividing one; give more groups{fewer}."
        )


def _check_part(
    given_fitted: Any, given_judging: Any, number: int, n_rows: int
) -> tuple[Mask, Mask]:
    """Masks of a part; refused where it is not what it should be."""
    fitted = _mask_of(given_fitted, "fit to", number, n_rows)
    judging = _mask_of(given_judging, "judge by", number, n_rows)
    both = np.flatnonzero(fitted & judging)
    if both.size:
        raise ValueError(
            f"cv fits to and judges by row {both[0]} alike in part {number}, and "
            f"{both.size} in all; judge by rows that are not fitted to."
        )
    return fitted, judging


def _mask_of(given: Any, purpose: str, number: int, n_rows: int) -> Mask:
    rows = np.asarray(given)
    where = f"rows to {purpose} in part {number}"
    if rows.dtype == bool and rows.shape == (n_rows,):
        mask = rows
    elif rows.size and (rows.ndim != 1 or rows.dtype.kind not in "iu"):
        raise ValueError(
            f"cv gives an array of shape {rows.shape} and type {rows.dtype} for the "
            f"{where}; give their numbers, from 0 to {n_rows - 1}."
        )
    else:
        rows = rows.astype(np.intp).ravel()
        if rows.size and (rows.min() < 0 or rows.max() >= n_rows):
            wrong = rows[(rows < 0) | (rows >= n_rows)][0]
            raise ValueError(
                f"cv gives {wrong} among the {where}; give numbers from 0 to "
                f"{n_rows - 1}."
            )
        count = np.bincount(rows, minlength=n_rows)
        if count.max() > 1:
            raise ValueError(
                f"cv repeats row {count.argmax()} among the {where}; give each once. "
                "What a row counts for is its sample_weight."
            )
        mask = count > 0
    if not mask.any():
        raise ValueError(
            f"cv gives no {where}; give fewer folds, other ones, or more data."
        )
    return mask


def make_part(booster: Any, samples: Samples, fitted: Mask, judging: Mask) -> Part:
    """A part of samples of positive weight; refused if it says nothing."""
    of_class = None
    if is_classifier(booster):
        of_class = _weigh_classes(booster, samples, fitted)
    if of_class is not None:
        counts = of_class[samples.codes] > 0
        fitted, judging = fitted & counts, judging & counts
    if not fitted.any() or not judging.any():
        raise ValueError(
            "cv gives a part of the data without rows of positive weight to fit to, or "
            "to judge by; give fewer folds, other ones, or more data."
        )
    if is_classifier(booster):
        there = np.unique(samples.codes[fitted])
        if there.size < 2:
            raise ValueError(
                "cv gives a part of the data with rows of "
                f"{booster.classes_[there].tolist()} only to fit to, of the classes "
                f"{booster.classes_.tolist()}. Give stratified folds, and at least two "
                "rows of each class."
            )
    check_subsample(booster.subsample, int(fitted.sum()))
    return Part(fitted, judging, of_class)


def _weigh_classes(booster: Any, samples: Samples, fitted: Mask) -> FloatArray | None:
    """Weights of the classes; infinite for one that no row fitted to belongs to."""
    codes, weight = samples.codes[fitted], samples.weight[fitted]
    with np.errstate(divide="ignore"):
        return weights_of_classes(booster.class_weight, booster.classes_, codes, weight)
