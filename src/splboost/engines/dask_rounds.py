"""What runs on each worker of a cluster: an objective, and a report of its rounds.

A pace with a fixed cut looks at one sample at a time, so workers need not talk. Only
the record of the rounds is summed up over the workers, once, at the end.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xgboost import collective
from xgboost.callback import TrainingCallback

from splboost.engines.paced import PacedLoss, PacedRounds
from splboost.engines.self_paced import count_dropped
from splboost.pace import Pace

ATTRIBUTE = "splboost_rounds"


class WorkerObjective:
    """The objective of a fit on the rows of one worker.

    Parameters
    ----------
    paces : the pace of each class
    softmax : whether there are more than two classes
    warm_rounds : int
    n_done : rounds of a model to go on from
    positive : factor of the weights of the second class
    """

    def __init__(
        self,
        paces: Sequence[Pace | None],
        *,
        softmax: bool,
        warm_rounds: int,
        n_done: int,
        positive: float = 1.0,
    ) -> None:
        self._paces = list(paces)
        self._loss = "softmax" if softmax else "logistic"
        self._warm_rounds = warm_rounds
        self._n_done = n_done
        self._positive = positive
        self.rounds: PacedRounds | None = None

    def restart(self) -> None:
        """Begin a fit; a worker may have kept the object of another."""
        self.rounds = None

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.rounds is None:
            self.rounds = PacedRounds(
                PacedLoss(self._loss, self._paces),
                np.asarray(y_true),
                weigh(y_true, sample_weight, self._positive),
                warm_rounds=self._warm_rounds,
                first_round=self._n_done,
            )
        return tuple(self.rounds(y_pred))  # type: ignore[return-value]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "rounds": None}


def weigh(y: Any, weight: Any, positive: float) -> NDArray[np.float32] | None:
    """The weights of the samples with the factor of the second class."""
    given = None if weight is None or not np.size(weight) else np.asarray(weight)
    if positive != 1:
        factor = np.where(np.asarray(y) > 0, positive, 1.0)
        given = factor if given is None else given * factor
    return None if given is None else given.astype(np.float32)


class Reporter(TrainingCallback):
    """Starts the objective afresh, and sums up the records of all workers.

    The sums travel with the booster, as an attribute of it.
    """

    def __init__(self, objective: WorkerObjective) -> None:
        self._objective = objective
        super().__init__()

    def before_training(self, model: Any) -> Any:
        self._objective.restart()
        return model

    def after_training(self, model: Any) -> Any:
        rounds = self._objective.rounds
        record = [[], []] if rounds is None else [rounds.latent, rounds.n_selected]
        total = collective.allreduce(
            np.array(record, dtype=np.float64).ravel(), collective.Op.SUM
        )
        model.set_attr(**{ATTRIBUTE: json.dumps(total.tolist())})
        return model


def take_report(booster: Any) -> tuple[list[float], list[int]]:
    """Latent loss before each round and number of samples, taken from a booster."""
    total = json.loads(booster.attr(ATTRIBUTE) or "[]")
    booster.set_attr(**{ATTRIBUTE: None})
    half = len(total) // 2
    return total[:half], [int(n) for n in total[half:]]


# ------------------------------------------------------------ pieces of a collection


def count_labels(y: Any, weight: Any) -> dict[float, float]:
    """The weight of each label in a piece."""
    labels, codes = np.unique(np.asarray(y).ravel(), return_inverse=True)
    given = None if weight is None else np.asarray(weight, dtype=np.float64).ravel()
    if given is not None:
        wrong = ~((given >= 0) & np.isfinite(given))
        if wrong.any():
            raise ValueError(
                f"sample_weight must be finite and not negative, got "
                f"{given[wrong][0]:g}; give a number, zero or positive, for each row."
            )
    mass = np.bincount(codes, given, minlength=len(labels))
    return dict(zip(labels.tolist(), mass.tolist(), strict=True))


def close_piece(
    scores: Any, y: Any, weight: Any, loss: PacedLoss, positive: float
) -> tuple[NDArray[np.float64], int, float, NDArray[np.float64]]:
    """v and number of a piece's samples, latent loss, and what it drops of classes."""
    scores, codes = np.asarray(scores), np.asarray(y).ravel()
    k = 2 if scores.ndim == 1 else scores.shape[1]
    given = weigh(codes, weight, positive)
    rounds = PacedRounds(loss, codes, given, warm_rounds=0)
    v = rounds.final_weight(scores)
    rounds.latent = [0.0]
    rounds.finish(scores, 1)
    return v, v.size, rounds.latent[0], count_dropped(v, codes, given, k)
