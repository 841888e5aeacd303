"""What a search is given: the booster, depths, and the samples of a part."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from splboost._data.labels import weights_of_classes
from splboost._tools.threads import count_threads
from splboost.boosting.booster import BaseBooster
from splboost.boosting.parameters import check_parameters, check_subsample
from splboost.boosting.samples import Samples
from splboost.boosting.validation import find_scorer
from splboost.boosting.weak_learner import is_own_tree

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]


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


def check_booster(booster: Any, grid: Any) -> None:
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


def check_depths(booster: Any, depths: Any) -> list[int | None]:
    """The depths as a list; [None] where they are left alone."""
    if depths is None:
        return [None]
    chosen = list(depths) if isinstance(depths, Iterable) else [depths]
    if not chosen or not all(map(_is_depth, chosen)):
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


def _is_depth(given: Any) -> bool:
    is_whole = isinstance(given, Integral) and not isinstance(given, bool)
    return is_whole and int(given) >= 1


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
