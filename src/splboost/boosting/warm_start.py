"""What a fit leaves behind for one that goes on where it ended.

A booster's state is its scores, and these follow from its model exactly (``state``).
So little has to be remembered besides the model: where the random streams stood, and
the scales in which weights were computed, that not a digit may differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from splboost._data.table import Table
from splboost._tools.wording import counted
from splboost.boosting.loop import MOST_SKIPPED, NO_EDGE, STUCK, Round
from splboost.boosting.model import Model
from splboost.boosting.validation import HELD_OUT, EarlyStopping

REMEDY = "give the data of the fit before, or set warm_start=False to start anew."
SET_BACK = "set it back, or set warm_start=False to start anew."


class Mark(NamedTuple):
    """Where a fit stood after a round.

    Attributes
    ----------
    n_rounds, n_done, n_skipped : see ``History``
    state : mark of the state
    draws : state of the generator that draws rows
    learners : state of the learners
    """

    n_rounds: int
    n_done: int
    n_skipped: int
    state: Any
    draws: Any
    learners: Any


class Aspect(NamedTuple):
    """Something that the fits of one booster must have in common.

    Attributes
    ----------
    value : what is compared
    shown : how errors show it
    difference : what errors say of this one and the one before
    remedy : what to do
    """

    value: Any
    shown: Any
    difference: str
    remedy: str


def kind_of(booster: Any, validation: str | None) -> list[Aspect]:
    """What the fits of a booster must have in common."""
    n, names = booster.n_features_in_, getattr(booster, "feature_names_in_", None)
    names = None if names is None else names.tolist()
    classes = getattr(booster, "classes_", np.empty(0)).tolist()
    learner = type(booster._weak_learner())
    fixed = booster._fixed_parameters()
    if validation == HELD_OUT:
        fixed["validation_fraction"] = booster.validation_fraction
    scoring = None if validation is None else booster.scoring
    had, was = ("but in the fit before it " + verb for verb in ("had {}", "was {}"))
    same_data = (
        "give the same X_val, y_val and n_iter_no_change, or set warm_start=False to "
        "start anew."
    )
    return [
        Aspect((n, names), _features(n, names), f"X has {{}}, {had}", REMEDY),
        Aspect(classes, classes, f"y has the classes {{}}, {had}", REMEDY),
        Aspect(
            learner,
            f"a {learner.__name__}",
            f"estimator is {{}}, {was}",
            SET_BACK,
        ),
        Aspect(
            validation,
            validation or "absent",
            "validation data are {}, but in the fit before they were {}",
            same_data,
        ),
        Aspect(scoring, repr(scoring), f"scoring={{}}, {was}", SET_BACK),
        *(
            Aspect(
                value,
                repr(value),
                f"{name}={{}}, {was}, on which all rounds depend",
                SET_BACK,
            )
            for name, value in fixed.items()
        ),
    ]


@dataclass(frozen=True)
class Continuation:
    """All that a later fit needs.

    Attributes
    ----------
    kind : list of Aspect
    mark : Mark
        The end of the last round.
    rounds : list of Round
        Without their learners; also those after the best round.
    model : Model or None
        Of all of these.
    coding : codes of the categories; see ``Learner``
    validation_scores : one for each of the rounds, where there is validation
    split_seed : seed of the split that held rows out
    stop_reason : str
    """

    kind: list[Aspect]
    mark: Mark
    rounds: list[Round]
    model: Model | None
    coding: Any
    validation_scores: list[float]
    split_seed: int | None
    stop_reason: str

    def without_stopgap(self) -> Self:
        """Without the learner that stands in where every round was passed over."""
        if self.mark.n_skipped < self.mark.n_done:
            return self
        return replace(self, rounds=[], model=None, validation_scores=[])

    def check(self, kind: list[Aspect], n_estimators: int) -> None:
        """Refuse data or parameters that the model so far does not fit."""
        for new, old in zip(kind, self.kind, strict=False):
            if new.value != old.value:
                difference = new.difference.format(new.shown, old.shown)
                raise ValueError(f"warm_start=True: {difference}; {new.remedy}")
        if n_estimators < self.mark.n_done:
            raise ValueError(
                f"warm_start=True: n_estimators={n_estimators} is less than the "
                f"{counted(self.mark.n_done, 'round')} that the fits before have done; "
                "give at least as many, or set warm_start=False to start anew."
            )

    def check_coding(self, coding: Any, table: Table) -> None:
        """Refuse a table whose columns have other categories."""
        for name, new, old in zip(
            table.names, coding or (), self.coding or (), strict=False
        ):
            if new != old:
                raise ValueError(
                    f"warm_start=True: column {name!r} of X has "
                    f"{_categories(new)}, but in the fit before it had "
                    f"{_categories(old)}; {REMEDY}"
                )

    def is_at_end(
        self, n_estimators: int, subsample: float, stopping: EarlyStopping | None
    ) -> bool:
        """Whether a single fit of so many rounds would not have gone further.

        The loop finds out by itself where it can do so again. It cannot where chance
        gave it a learner without an edge, for the next might have one.
        """
        if stopping is not None:
            stopping.replay(self.validation_scores)
            if stopping.is_over:
                return True
        may_skip = subsample < 1 and self.mark.n_skipped < MOST_SKIPPED
        no_edge = self.stop_reason in (NO_EDGE, STUCK) and not may_skip
        return no_edge or self.mark.n_done >= n_estimators


def _features(n: int, names: list[str] | None) -> str:
    if names is None:
        return f"{counted(n, 'feature')} without names"
    shown = ", ".join(map(repr, names[:8]))
    more = ", …" if n > 8 else ""
    return f"the {n} features {shown}{more}"


def _categories(coding: dict[Any, int] | None) -> str:
    if coding is None:
        return "numbers"
    shown = ", ".join(repr(value) for value in list(coding)[:8])
    more = ", …" if len(coding) > 8 else ""
    return f"the categories {shown}{more}"
