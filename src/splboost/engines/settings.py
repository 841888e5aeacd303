"""What the fits of both packages have in common: paces, warm rounds, an end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.engines.losses import LINKS
from splboost.engines.paced import PacedLoss
from splboost.engines.strength import default_warm_rounds, find_paces
from splboost.pace import Pace

RATES = "learning_rate", "eta", "shrinkage_rate"  # as the packages name one thing


def never_called(package: Any) -> RuntimeError:
    """What to raise where a package has gone its own way."""
    return RuntimeError(
        f"{package.__name__} {package.__version__} did not call the self-paced "
        "objective, so this would be a plain model; install an older version, or use "
        "splboost.engines.SelfPacedObjective."
    )


def count_warm_rounds(estimator: Any, default_rate: float) -> int:
    """Rounds before the pace sets in, given or from the learning rate."""
    if estimator.warm_rounds is not None:
        return int(estimator.warm_rounds)
    params = estimator.get_params(deep=False)
    rates = [params[name] for name in RATES if params.get(name) is not None]
    return default_warm_rounds(rates[-1] if rates else None, default_rate)


def resolve_paces(
    estimator: Any, labels: Sequence[Any], mass: NDArray[np.float64]
) -> dict[Any, Pace | None]:
    """The pace of each class by label, in units of the logistic loss.

    ``mass`` is the weight of each class in the loss, whatever has been multiplied into
    it: without features, the model would find a class as probable as its share of it.
    """
    priors = dict(zip(labels, (mass / mass.sum()).tolist(), strict=True))
    return find_paces(estimator.pace, estimator.p_min, priors, LINKS["logistic"])


def make_loss(paces: dict[Any, Pace | None], *, softmax: bool) -> PacedLoss:
    """The loss of a classifier with these paces."""
    return PacedLoss("softmax" if softmax else "logistic", list(paces.values()))


def count_classes(
    codes: NDArray[Any], weight: NDArray[Any] | None, k: int
) -> NDArray[np.float64]:
    """The weight of each class."""
    given = None if weight is None or not weight.size else weight
    return np.bincount(codes.astype(np.intp), given, minlength=k).astype(np.float64)


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
