"""What a fit leaves behind for one that goes on where it ended.

A booster's state is its scores, and these follow from its model exactly (``state``).
So little has to be remembered besides the model: where the random streams stood, and
the scales in which weights were computed, that not a digit may differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.wording import counted
from splboost.boosting.loop import MOST_SKIPPED, NO_EDGE, STUCK, Round
from splboost.boosting.model import Model
from splboost.boosting.samples import HELD_OUT
from splboost.boosting.validation import EarlyStopping

REMEDY = "give the data of the fit before, or set warm_start=False to start anew."


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


class Kind(NamedTuple):
    """What the fits of one booster must have in common."""

    n_features: int
    names: tuple[str, ...] | None
    classes: NDArray[Any] | None
    weak_learner: type
    validation: str | None
    scoring: Any
    parameters: dict[str, Any]

    @classmethod
    def of(cls, booster: Any, validation: str | None) -> Kind:
        names = getattr(booster, "feature_names_in_", None)
        fixed = booster._fixed_parameters()
        if validation == HELD_OUT:
            fixed["validation_fraction"] = booster.validation_fraction
        return cls(
            booster.n_features_in_,
            None if names is None else tuple(names),
            getattr(booster, "classes_", None),
            type(booster._weak_learner()),
            validation,
            None if validation is None else booster.scoring,
            fixed,
        )


@dataclass(frozen=True)
class Continuation:
    """All that a later fit needs.

    Attributes
    ----------
    kind : Kind
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

    kind: Kind
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

    def check(self, kind: Kind, n_estimators: int) -> None:
        """Refuse data or parameters that the model so far does not fit."""
        old = self.kind
        if kind.n_features != old.n_features or kind.names != old.names:
            raise ValueError(
                f"warm_start=True: X has {_features(kind)}, but the fit before had "
                f"{_features(old)}; {REMEDY}"
            )
        if _labels(kind) != _labels(old):
            raise ValueError(
                f"warm_start=True: y has the classes {_labels(kind)}, but in the fit "
                f"before it had {_labels(old)}; {REMEDY}"
            )
        if kind.weak_learner is not old.weak_learner:
            raise ValueError(
                f"warm_start=True: estimator is a {kind.weak_learner.__name__}, but in "
                f"the fit before it was a {old.weak_learner.__name__}; set it back, or "
                "set warm_start=False to start anew."
            )
        if kind.validation != old.validation:
            raise ValueError(
                f"warm_start=True: validation data are {kind.validation or 'absent'}, "
                f"but in the fit before they were {old.validation or 'absent'}; give "
                "the same X_val, y_val and n_iter_no_change, or set warm_start=False "
                "to start anew."
            )
        if kind.scoring != old.scoring:
            raise ValueError(
                f"warm_start=True: scoring={kind.scoring!r}, but in the fit before it "
                f"was {old.scoring!r}; set it back, or set warm_start=False to start "
                "anew."
            )
        for name, value in kind.parameters.items():
            if value != old.parameters[name]:
                raise ValueError(
                    f"warm_start=True: {name}={value!r}, but in the fit before it was "
                    f"{old.parameters[name]!r}, on which all rounds depend; set it "
                    "back, or set warm_start=False to start anew."
                )
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


def _labels(kind: Kind) -> list[Any]:
    return [] if kind.classes is None else kind.classes.tolist()


def _features(kind: Kind) -> str:
    if kind.names is None:
        return f"{counted(kind.n_features, 'feature')} without names"
    shown = ", ".join(map(repr, kind.names[:8]))
    more = ", …" if len(kind.names) > 8 else ""
    return f"the {kind.n_features} features {shown}{more}"


def _categories(coding: dict[Any, int] | None) -> str:
    if coding is None:
        return "numbers"
    shown = ", ".join(repr(value) for value in list(coding)[:8])
    more = ", …" if len(coding) > 8 else ""
    return f"the categories {shown}{more}"
