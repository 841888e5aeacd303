"""What a search is given, read and checked: a booster, paces, depths and folds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from splboost._data.labels import weights_of_classes
from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import restate
from splboost._tools.wording import counted
from splboost.boosting.booster import BaseBooster, check_parameters, check_subsample
from splboost.boosting.fitting import Samples
from splboost.boosting.learners import is_own_tree
from splboost.boosting.validation import find_scorer, labels_of
from splboost.pace import Hard, resolve_pace
from splboost.pace.regularisers import Scaled
from splboost.selection.bags import check_groups

Mask = NDArray[np.bool_]
# Rows to fit to, rows to judge by, and the weights that classes have in the former,
# infinite for a class without a row; None where classes have none
Part = tuple[Mask, Mask, Any]

PLATEAUS = 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, math.inf
PAPER_AGES = tuple(1 + 0.5 * k for k in range(11))
PRESETS = {"plateau": ("plateau", PLATEAUS), "paper": ("age", PAPER_AGES)}
N_FOLDS = 5  # where cv is None


class Grid(NamedTuple):
    """Paces to compare.

    Attributes
    ----------
    scale : "plateau", "age" or "pace"
    values : numbers on that scale, or the paces as they were given
    paces : the pace for each of them
    """

    scale: str
    values: list[Any]
    paces: list[Any]


def read_grid(booster: Any, given: Any, argument: str) -> Grid:
    """The grid that an argument stands for, once the booster is found to be in order.

    Parameters
    ----------
    booster : its pace says which regulariser, Hard where there is none
    given : "plateau", "paper", numbers, paces, or None for the booster's own pace
    argument : its name, for errors
    """
    _check_booster(booster, given)
    if given is None:
        return Grid("pace", [booster.pace], [booster.pace])
    scale, values = "plateau", given
    if isinstance(given, str):
        if given not in PRESETS:
            raise ValueError(
                f'{argument}={given!r} is unknown; give "plateau", "paper", plateaus '
                "as numbers, paces, or None to keep the pace of the booster."
            )
        scale, values = PRESETS[given]
    if isinstance(values, Mapping):
        raise TypeError(
            f"{argument}={given!r} is a single pace, by class; put it into a list."
        )
    if not isinstance(values, Iterable):
        raise TypeError(
            f"{argument}={given!r} is no grid; give plateaus in a list, such as "
            "[2.0, 3.0]."
        )
    values = list(values)
    if not values:
        raise ValueError(
            f"{argument}={given!r} is empty; give a plateau at least, such as [2.0]."
        )
    numbers = [value for value in values if isinstance(value, Real)]
    if 0 < len(numbers) < len(values):
        raise TypeError(
            f"{argument}={given!r} mixes plateaus and paces; give numbers or paces. "
            "The plain booster is the plateau inf, or the pace None."
        )
    base = _find_regulariser(booster, scale) if numbers else None
    try:
        if base is None:
            return Grid("pace", values, [_resolve(value) for value in values])
        unset = dict.fromkeys(["age", "plateau"])
        paces = [clone(base).set_params(**unset | {scale: v}) for v in values]
        return Grid(scale, values, [resolve_pace(pace) for pace in paces])
    except (TypeError, ValueError) as why:
        raise restate(why, f"{argument}={given!r} will not do: {why}") from None


def _resolve(pace: Any) -> Any:
    """A pace, a short name as the pace that it stands for, or a dict of these."""
    if isinstance(pace, dict):
        return {label: resolve_pace(of_class) for label, of_class in pace.items()}
    return resolve_pace(pace)


def _find_regulariser(booster: Any, scale: str) -> Scaled:
    """The regulariser of the booster, to be set to several ages or plateaus."""
    pace = booster.pace
    regulariser = Hard() if pace is None else _resolve(pace)
    if not isinstance(regulariser, Scaled):
        raise TypeError(
            f"pace={pace!r} of the booster has no {scale} to choose; give the booster "
            "a regulariser of splboost.pace, or a grid of paces."
        )
    return regulariser


def _check_booster(booster: Any, grid: Any) -> None:
    """Refuse what is no booster of this library, takes no pace, or could not be fitted.

    Some of its parameters do nothing before it is fitted to all data in the end.
    """
    if not isinstance(booster, BaseBooster):
        raise TypeError(
            f"booster={booster!r} is no booster of splboost; give one, such as "
            "SPLBoostClassifier(), or use GridSearchCV of scikit-learn."
        )
    if grid is not None and "pace" not in booster.get_params(deep=False):
        raise ValueError(
            f"booster={booster!r} takes no pace, so there is none to choose; set the "
            "grid of paces to None (grid=None, or plateaus=None in spl_path) to choose "
            "rounds and depth alone."
        )
    if booster.n_iter_no_change is not None:
        raise ValueError(
            f"n_iter_no_change={booster.n_iter_no_change} of the booster would stop "
            "rounds that are to be judged; set it to None."
        )
    check_parameters(booster)
    count_threads(booster.n_jobs)
    find_scorer(booster.scoring)


def read_depths(booster: Any, depths: Any) -> list[int | None]:
    """The depths as a list; [None] where they are left alone."""
    if depths is None:
        return [None]
    chosen = list(depths) if isinstance(depths, Iterable) else [depths]
    whole = [isinstance(d, Integral) and not isinstance(d, bool) for d in chosen]
    if not chosen or not all(whole) or min(chosen) < 1:
        raise ValueError(
            f"depths={depths!r} must be whole numbers from 1 on, such as (1, 2, 3); "
            "None leaves the trees as they are."
        )
    if not is_own_tree(booster._weak_learner()):
        raise ValueError(
            f"depths={depths!r}, but the weak learner {booster._weak_learner()!r} is "
            "no tree of splboost; set depths=None."
        )
    return [int(depth) for depth in chosen]


# ------------------------------------------------------------------------ dividing rows


def divide_rows(
    booster: Any,
    samples: Samples,
    X: Any,
    cv: Any,
    groups: Any,
    rng: np.random.RandomState,
) -> tuple[Samples, list[Part]]:
    """The samples of positive weight, and the parts that they are divided into."""
    kept, of_classes = samples.weight > 0, is_classifier(booster)
    n_rows = kept.size
    if groups is not None:
        groups = check_groups(groups, n_rows)
    splitter = cv
    if cv is None or isinstance(cv, Integral):
        n_folds = N_FOLDS if cv is None else int(cv)
        kind: Any = StratifiedKFold if of_classes else KFold
        if groups is not None:
            kind = StratifiedGroupKFold if of_classes else GroupKFold
            n_groups = int(groups.max()) + 1
            if n_groups < n_folds:
                fewer = "" if n_groups == 1 else ", or fewer folds"
                raise ValueError(
                    f"groups has {counted(n_groups, 'group')} only, which {n_folds} "
                    f"folds cannot share without dividing one; give more groups{fewer}."
                )
        seed = rng.randint(2**31 - 1)
        splitter = kind(n_folds, shuffle=True, random_state=seed)
    y = labels_of(booster, samples)
    splitter = check_cv(splitter, y, classifier=of_classes)
    rows = X if hasattr(X, "shape") else np.empty((n_rows, 0))
    masks = []
    for number, (fitted, judging) in enumerate(_split(splitter, cv, rows, y, groups)):
        fitted = _mask_of(fitted, f"rows to fit to in part {number}", n_rows)
        judging = _mask_of(judging, f"rows to judge by in part {number}", n_rows)
        both = np.flatnonzero(fitted & judging)
        if both.size:
            raise ValueError(
                f"cv fits to and judges by row {both[0]} alike in part {number}, and "
                f"{both.size} in all; judge by rows that are not fitted to."
            )
        masks.append((fitted[kept], judging[kept]))
    if not masks:
        raise ValueError(f"cv={cv!r} gives no part of the data; give folds.")
    samples = samples.take(kept)
    return samples, [_check_part(booster, samples, *part) for part in masks]


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


def _mask_of(rows: Any, what: str, n_rows: int) -> Mask:
    """A mask of the rows that a splitter gives by numbers or as a mask."""
    rows = np.asarray(rows)
    if rows.dtype == bool and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if not rows.size:
        raise ValueError(
            f"cv gives no {what}; give fewer folds, other ones, or more data."
        )
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"cv gives an array of shape {rows.shape} and type {rows.dtype} for the "
            f"{what}; give their numbers, from 0 to {n_rows - 1}."
        )
    wrong = rows[(rows < 0) | (rows >= n_rows)]
    if wrong.size:
        raise ValueError(
            f"cv gives {wrong[0]} among the {what}; give numbers from 0 to "
            f"{n_rows - 1}."
        )
    count = np.bincount(rows.astype(np.intp), minlength=n_rows)
    if count.max() > 1:
        raise ValueError(
            f"cv repeats row {count.argmax()} among the {what}; give each once. "
            "What a row counts for is its sample_weight."
        )
    return count > 0


def _check_part(booster: Any, samples: Samples, fitted: Mask, judging: Mask) -> Part:
    """A part without the classes of weight zero; refused if it says nothing."""
    of_class = None
    if is_classifier(booster):
        codes, weight = samples.codes[fitted], samples.weight[fitted]
        given, classes = booster.class_weight, booster.classes_
        with np.errstate(divide="ignore"):
            of_class = weights_of_classes(given, classes, codes, weight)
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
    return fitted, judging, of_class
