"""What the self-paced estimators of both packages share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.advice import warn
from splboost.engines.losses import LINKS
from splboost.engines.objective import check_rounds
from splboost.engines.paced import PacedLoss
from splboost.engines.strength import check_p_min, default_warm_rounds, find_paces
from splboost.pace import Pace
from splboost.pace.classes import describe_lost_classes
from splboost.pace.resolve import given_paces

# Parameters of ours, which the packages must not see
OWN = "p_min", "pace", "warm_rounds", "n_seeds"
LEARNED = "sample_pace_", "n_selected_", "latent_objective_", "paces_"


RATES = "learning_rate", "eta", "shrinkage_rate"  # as the packages name one thing


def without_own(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a package is to see; those of a pace are none of them."""
    return {
        name: value
        for name, value in params.items()
        if name.partition("__")[0] not in OWN
    }


def take_pace_parameters(params: dict[str, Any]) -> dict[str, Any]:
    """Remove what is to be set in the pace, such as ``pace__age``, and return it."""
    start = "pace__"
    return {
        name.removeprefix(start): params.pop(name)
        for name in list(params)
        if name.startswith(start)
    }


def set_pace_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Set parameters of an estimator's pace, which packages would take for theirs."""
    if not given:
        return
    if not isinstance(estimator.pace, Pace):
        raise ValueError(
            f"pace__{next(iter(given))} cannot be set in pace={estimator.pace!r}; give "
            "an object of splboost.pace, such as pace=Hard()."
        )
    estimator.pace.set_params(**given)


NEVER_CALLED = (
    "{package} {version} did not call the self-paced objective, so this would be a "
    "plain model; install a version between {versions}, or use "
    "splboost.engines.SelfPacedObjective."
)


def check_settings(estimator: Any) -> None:
    """Raise an error where a parameter of ours makes no sense."""
    check_p_min(estimator.p_min)
    given_paces(estimator.pace)
    if estimator.warm_rounds is not None:
        check_rounds("warm_rounds", estimator.warm_rounds)
    n = estimator.n_seeds
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise (TypeError if not isinstance(n, Integral) else ValueError)(
            f"n_seeds must be a whole number of 1 or more, got n_seeds={n!r}."
        )


def count_warm_rounds(estimator: Any, default_rate: float) -> int:
    """Rounds before the pace sets in, given or from the learning rate."""
    if estimator.warm_rounds is not None:
        return int(estimator.warm_rounds)
    params = estimator.get_params(deep=False)
    rates = [params[name] for name in RATES if params.get(name) is not None]
    return default_warm_rounds(rates[-1] if rates else None, default_rate)


def count_classes(
    codes: NDArray[Any], weight: NDArray[Any] | None, k: int
) -> NDArray[np.float64]:
    """The weight of each class, which must not be zero in all."""
    given = None if weight is None or not weight.size else weight
    mass = np.bincount(codes.astype(np.intp), given, minlength=k).astype(np.float64)
    if not mass.sum() > 0:
        raise ValueError(
            "sample_weight is zero for all samples; give a positive weight to those "
            "that are to count."
        )
    return mass


def resolve_paces(
    estimator: Any, labels: Sequence[Any], mass: NDArray[np.float64]
) -> dict[Any, Pace | None]:
    """The pace of each class by label, in units of the logistic loss."""
    priors = dict(zip(labels, (mass / mass.sum()).tolist(), strict=True))
    return find_paces(estimator.pace, estimator.p_min, priors, LINKS["logistic"])


def make_loss(paces: dict[Any, Pace | None], *, softmax: bool) -> PacedLoss:
    """The loss of a classifier with these paces."""
    return PacedLoss("softmax" if softmax else "logistic", list(paces.values()))


def warn_of_dropped_classes(
    estimator: Any,
    v: NDArray[np.float64],
    codes: NDArray[Any],
    weight: NDArray[Any] | None,
    labels: Sequence[Any],
) -> None:
    """Warn where a rare class is dropped far more than the rest."""
    k = max(len(labels), 2)
    codes = codes.astype(np.intp)
    mass = np.ones(len(v)) if weight is None or not weight.size else weight
    dropped = v == 0
    warn_of_lost_classes(
        estimator,
        np.bincount(codes, mass, minlength=k),
        np.bincount(codes[dropped], mass[dropped], minlength=k),
        np.bincount(codes[dropped], minlength=k),
        labels,
    )


def warn_of_lost_classes(
    estimator: Any,
    mass: NDArray[Any],
    lost: NDArray[Any],
    n_lost: NDArray[Any],
    labels: Sequence[Any],
) -> None:
    """The same, from the weight of each class, what of it is dropped, and how many."""
    given = given_paces(estimator.pace)
    corrected = any(getattr(pace, "prior_corrected", False) for pace in given)
    if corrected or len(labels) < 2 or not n_lost.any():
        return
    message = describe_lost_classes(mass, lost, n_lost, labels)
    if message is not None:
        warn(message.replace("a larger age or plateau", "a smaller p_min"))


def warn_of_warm_rounds(n_rounds: int, warm_rounds: int) -> None:
    """Warn of a fit that the pace has had no part in."""
    if n_rounds <= warm_rounds:
        warn(
            f"The pace has had no effect: all {n_rounds} rounds were among the "
            f"{warm_rounds} warm ones before it sets in, and sample_pace_ only says "
            "what a further one would believe. Give fewer warm_rounds, a larger "
            "n_estimators or a larger learning_rate."
        )


def warn_of_empty_rounds(n_selected: Sequence[Sequence[int]]) -> None:
    """Warn of rounds for which the pace has left nothing."""
    n_empty = sum(list(of_seed).count(0) for of_seed in n_selected)
    if n_empty:
        warn(
            f"The pace has left no sample in {n_empty} rounds, which have added "
            "nothing to the model. Give a smaller p_min, or more warm_rounds."
        )


def as_parent(estimator: Any, parent: Any) -> Any:
    """The estimator as one of its parent's class, without what is ours."""
    plain = parent.__new__(parent)
    plain.__dict__.update(
        {
            name: value
            for name, value in vars(estimator).items()
            if name not in OWN and name not in LEARNED
        }
    )
    return plain


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was if the block fails or is interrupted."""
    kept = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(kept)
        raise


def one_or_all(records: list[NDArray[Any]]) -> Any:
    """The record of the only seed, or a list with one for each."""
    return records[0] if len(records) == 1 else records
