"""What a search is given: the booster, depths, and how to divide the rows."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

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

from splboost.boosting.families.base import BaseBooster
from splboost.boosting.learners.weak import is_own_tree

Mask = NDArray[np.bool_]


def check_booster(booster: Any, grid: Any) -> None:
    """Refuse what is no booster of this library, or takes no pace."""
    if not isinstance(booster, BaseBooster):
        raise TypeError(
            f"booster={booster!r} is no booster of splboost; give one, such as "
            "SPLBoostClassifier(), or use GridSearchCV of scikit-learn."
        )
    if grid is not None and "pace" not in booster.get_params(deep=False):
        raise ValueError(
            f"booster={booster!r} takes no pace, so there is none to choose; set the "
            "grid of paces to None to choose rounds and depth alone."
        )
    if booster.n_iter_no_change is not None:
        raise ValueError(
            f"n_iter_no_change={booster.n_iter_no_change} of the booster would stop "
            "rounds that are to be judged; set it to None."
        )


def check_depths(booster: Any, depths: Any) -> list[int | None]:
    """The depths as a list; [None] where they are left alone."""
    if depths is None:
        return [None]
    chosen = [depths] if isinstance(depths, Integral) else list(depths)
    if not chosen or not all(isinstance(d, Integral) and int(d) >= 1 for d in chosen):
        raise ValueError(
            f"depths={depths!r} must be whole numbers from 1 on, such as (1, 2, 3); "
            "None leaves the trees as they are."
        )
    if not is_own_tree(booster._weak_learner()):
        raise ValueError(
            f"depths={depths!r}, but the weak learner {booster._weak_learner()!r} is "
            "no tree of splboost; set depths=None."
        )
    return [int(d) for d in chosen]


def divide_rows(
    booster: Any,
    X: Any,
    y: Any,
    cv: Any,
    groups: Any,
    rng: np.random.RandomState,
    n_rows: int,
) -> Iterator[tuple[Mask, Mask]]:
    """Masks of the rows to fit to and of those to judge by, of each part."""
    if isinstance(cv, Integral):
        cv = _make_folds(int(cv), is_classifier(booster), groups is not None, rng)
    n_parts = 0
    for fitted, judging in check_cv(cv, y, classifier=is_classifier(booster)).split(
        X if hasattr(X, "shape") else np.empty((n_rows, 0)), y, groups
    ):
        masks = np.zeros((2, n_rows), dtype=bool)
        masks[0, fitted] = masks[1, judging] = True
        if not masks.any(axis=1).all():
            raise ValueError(
                f"cv={cv!r} gives a part without rows to fit to or to judge by; give "
                "other folds."
            )
        n_parts += 1
        yield masks[0], masks[1]
    if n_parts == 0:
        raise ValueError(f"cv={cv!r} gives no part of the data; give folds.")


def _make_folds(
    n_folds: int, of_classes: bool, grouped: bool, rng: np.random.RandomState
) -> Any:
    seed = rng.randint(2**31 - 1)
    if n_folds < 2:
        raise ValueError(f"cv={n_folds} must be 2 folds at least.")
    if grouped:
        if of_classes:
            return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        return GroupKFold(n_folds)
    kind = StratifiedKFold if of_classes else KFold
    return kind(n_folds, shuffle=True, random_state=seed)
