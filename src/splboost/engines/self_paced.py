"""What the classifiers of both packages have of a pace: checks, a record, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from splboost._tools.user_warnings import warn
from splboost.engines.objective import check_rounds
from splboost.engines.strength import check_p_min
from splboost.pace import Pace
from splboost.pace.classes import describe_lost_classes
from splboost.pace.resolve import given_paces

# Parameters of ours, which the packages must not see
OWN = "p_min", "pace", "warm_rounds", "n_seeds"
LEARNED = "sample_pace_", "n_selected_", "latent_objective_", "paces_"
OF_PACE = "pace__"
UNNAMED = "kwargs", "_other_params"  # where the packages keep parameters by name
ALIKE = 0.8  # of two names, from which on one is taken for a slip in the other


class SelfPacedMixin:
    """A classifier of a package with a pace, to be named before the package's own.

    It has no ``get_params``: both packages look for that of their own class by going
    up from the first base that has one.
    """

    p_min: float | None
    pace: Pace | str | dict[Any, Any] | None
    warm_rounds: int | None
    n_seeds: int
    random_state: Any
    sample_pace_: Any
    n_selected_: Any
    latent_objective_: Any
    paces_: dict[Any, Pace | None]

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the pace, such as ``pace__age``."""
        of_pace = {
            name.removeprefix(OF_PACE): params.pop(name)
            for name in list(params)
            if name.startswith(OF_PACE)
        }
        if of_pace:
            pace = params.get("pace", self.pace)
            if not isinstance(pace, Pace):
                raise ValueError(
                    f"pace__{next(iter(of_pace))} cannot be set in pace={pace!r}; "
                    "give an object of splboost.pace, such as pace=Hard()."
                )
            pace.set_params(**of_pace)
        return super().set_params(**params)  # type: ignore[misc]

    def _check_settings(self) -> None:
        """Raise an error where a parameter of ours makes no sense."""
        check_p_min(self.p_min)
        given_paces(self.pace)
        if self.warm_rounds is not None:
            check_rounds("warm_rounds", self.warm_rounds)
        n = self.n_seeds
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
            raise (TypeError if not isinstance(n, Integral) else ValueError)(
                f"n_seeds must be a whole number of 1 or more, got n_seeds={n!r}."
            )
        params = self.get_params(deep=False)
        for name in without_own(params):
            meant = get_close_matches(name, OWN, n=1, cutoff=ALIKE)
            if meant:
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}; did you mean "
                    f"{meant[0]!r}?"
                )

    def _list_seeds(self) -> list[Any]:
        """A seed for each model; the first is the given one."""
        seed, n = self.random_state, int(self.n_seeds)
        if n == 1:
            return [seed]
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**30)
        elif isinstance(seed, np.random.Generator):
            seed = int(seed.integers(2**30))
        return [seed, *((seed or 0) + number for number in range(1, n))]

    def _keep_record(
        self,
        paces: dict[Any, Pace | None],
        sample_pace: Any,
        latent: Sequence[Sequence[float]],
        n_selected: Sequence[Sequence[int]],
    ) -> None:
        """Learn what the fit of each seed has done."""
        self.paces_ = paces
        self.sample_pace_ = sample_pace
        losses = [np.array(each, dtype=np.float64) for each in latent]
        counts = [np.array(each, dtype=np.intp) for each in n_selected]
        self.latent_objective_ = losses if len(losses) > 1 else losses[0]
        self.n_selected_ = counts if len(counts) > 1 else counts[0]

    def _warn_of_fit(
        self, n_done: int, warm_rounds: int, dropped: NDArray[Any], *, is_plain: bool
    ) -> None:
        """Warn of what the record says, and of classes, by ``count_dropped``."""
        mass, lost, n_lost = dropped
        labels = list(self.paces_)
        if np.count_nonzero(mass) < 2:
            there = labels[int(np.argmax(mass))]
            warn(
                f"y contains only one class, {there!r}, among the samples of positive "
                "weight, so that the model gives it to every row; give samples of "
                "another class."
            )
        if is_plain:
            return
        records = self.n_selected_
        records = records if isinstance(records, list) else [records]
        n_rounds = n_done + max(map(len, records))
        if n_rounds <= warm_rounds:
            warn(
                f"The pace has had no effect: all {n_rounds} rounds were among the "
                f"{warm_rounds} warm ones before it sets in, and sample_pace_ only "
                "says what a further one would believe. Give fewer warm_rounds, a "
                "larger n_estimators or a larger learning_rate."
            )
            return
        n_empty = sum(int((each == 0).sum()) for each in records)
        if n_empty:
            warn(
                f"The pace has left no sample in {n_empty} rounds, which have added "
                "nothing to the model. Give a smaller p_min, or more warm_rounds."
            )
        corrected = any(
            getattr(pace, "prior_corrected", False) for pace in given_paces(self.pace)
        )
        if corrected or len(labels) < 2 or not n_lost.any():
            return
        message = describe_lost_classes(mass, lost, n_lost, labels)
        if message is not None:
            warn(message.replace("a larger age or plateau", "a smaller p_min"))

    def _as_parent(self, parent: Any) -> Any:
        """The same as an object of the parent's class, without what is ours."""
        plain = parent.__new__(parent)
        for name, value in vars(self).items():
            if name not in OWN and name not in LEARNED:
                held = without_own(value) if name in UNNAMED else value
                vars(plain)[name] = held
        return plain


def without_own(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a package is to see; those of a pace are none of them."""
    return {
        name: value
        for name, value in params.items()
        if name.partition("__")[0] not in OWN
    }


def count_dropped(
    v: NDArray[np.float64], codes: NDArray[Any], weight: NDArray[Any] | None, k: int
) -> NDArray[np.float64]:
    """Of each class: its weight, the weight of what is dropped, and how many are."""
    codes = codes.astype(np.intp)
    mass = np.ones(len(v)) if weight is None or not weight.size else weight
    dropped = v == 0
    return np.array(
        [
            np.bincount(codes, mass, minlength=k),
            np.bincount(codes[dropped], mass[dropped], minlength=k),
            np.bincount(codes[dropped], minlength=k),
        ],
        dtype=np.float64,
    )
