"""The rounds of LightGBM: a start from the class prior, and patience."""

from __future__ import annotations

from dataclasses import replace as replaced
from functools import partial
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from splboost.engines.losses import probability
from splboost.engines.paced import PacedRounds
from splboost.engines.settings import count_classes, make_loss, resolve_paces

LEAST_SHARE = 1e-15  # of a class, as in LightGBM
EARLY_STOPPING = (
    "early_stopping_round",
    "early_stopping_rounds",
    "early_stopping",
    "n_iter_no_change",
)


class PacedTraining:
    """The objective of one fit, as ``lightgbm.train`` calls it.

    LightGBM lets the scores of an objective that it does not know start at 0. So the
    start score is added here, and put into the finished model.

    Parameters
    ----------
    estimator : the classifier
    warm_rounds : int
    n_done : rounds of a model to go on from
    has_start : whether scores start from ``init_score`` or such a model

    Attributes
    ----------
    scores : those before the last round
    booster : the model, without its start score
    evals_result : metrics of the evaluation sets
    """

    def __init__(
        self, estimator: Any, *, warm_rounds: int, n_done: int, has_start: bool
    ) -> None:
        self._estimator = estimator
        self.warm_rounds = warm_rounds
        self.n_done = n_done
        self.adds_start = not has_start
        self.start: NDArray[np.float64] = np.zeros(1)
        self.rounds: PacedRounds | None = None
        self.booster: Any = None
        self.evals_result: Any = None

    def prepare(self, labels: list[Any], params: dict[str, Any]) -> None:
        """Take the classes and the parameters of LightGBM."""
        self.labels = labels
        self._params = params
        self.adds_start &= bool(params.get("boost_from_average", True))

    def __deepcopy__(self, memo: Any) -> PacedTraining:
        return self  # ``lightgbm.train`` copies its parameters

    def __call__(
        self, scores: NDArray[np.float64], data: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.rounds is None:
            self._begin(np.asarray(data.get_label()), data.get_weight())
        assert self.rounds is not None
        self.scores = self.with_start(scores)
        return tuple(self.rounds(self.scores))  # type: ignore[return-value]

    def with_start(self, scores: NDArray[Any]) -> NDArray[Any]:
        """The scores that the finished model will give."""
        return scores + (self.start if scores.ndim > 1 else self.start[0])

    def probability(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Probabilities by the scores of a model in the making."""
        return probability(self.with_start(np.asarray(scores)))

    def _begin(self, y: NDArray[Any], weight: Any) -> None:
        k = len(self.labels)
        weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        mass = count_classes(y, weight, max(k, 2))
        share = np.clip(mass / mass.sum(), LEAST_SHARE, 1 - LEAST_SHARE)
        if self.adds_start and k > 2:
            self.start = np.log(share)
        elif self.adds_start:
            self.start = np.array([np.log(share[1] / share[0])])
        else:
            self.start = np.zeros(k if k > 2 else 1)
        of_class = self._weigh_classes(y) if k <= 2 else None
        if of_class is not None:
            factor = np.where(y > 0, of_class[1], of_class[0])
            weight = factor if weight is None else weight * factor
        mass = count_classes(y, weight, k)
        self.paces = resolve_paces(self._estimator, self.labels, mass)
        self.y, self.weight = y, weight
        self.rounds = PacedRounds(
            make_loss(self.paces, softmax=k > 2),
            y,
            weight,
            warm_rounds=self.warm_rounds,
            first_round=self.n_done,
        )

    def _weigh_classes(self, y: NDArray[Any]) -> tuple[float, float] | None:
        """Factors of the two classes by ``is_unbalance`` or ``scale_pos_weight``."""
        positive = float(self._params.get("scale_pos_weight", 1.0))
        unbalanced = any(
            self._params.get(name)
            for name in ("is_unbalance", "unbalance", "unbalanced_sets")
        )
        n_positive = int((y > 0).sum())
        n_negative = y.size - n_positive
        if unbalanced and n_positive and n_negative:
            if n_positive > n_negative:
                return n_positive / n_negative, 1.0
            return 1.0, n_negative / n_positive
        return None if positive == 1 else (1.0, positive)


class AfterWarmRounds:
    """Early stopping whose patience begins when the pace has set in.

    Parameters
    ----------
    early_stopping : callback of LightGBM
    warm_rounds : rounds of this fit that do not count
    """

    def __init__(self, early_stopping: Any, warm_rounds: int) -> None:
        self._inner = early_stopping
        self._warm_rounds = warm_rounds
        self.order = getattr(early_stopping, "order", 30)
        self.before_iteration = getattr(early_stopping, "before_iteration", False)

    def __call__(self, env: Any) -> None:
        first = env.begin_iteration + self._warm_rounds
        if env.iteration >= first:
            replace = getattr(env, "_replace", None) or partial(replaced, env)
            self._inner(replace(begin_iteration=first))


class KeepsDraws:
    """Spares LightGBM a reset before the first round, which would shift its draws.

    A booster with an objective of its own is told so once more when it first meets one,
    though it was made without any; that draws columns once more.
    """

    order = 0
    before_iteration = True

    def __call__(self, env: Any) -> None:
        flag = "_Booster__set_objective_to_none"
        if hasattr(env.model, flag):
            setattr(env.model, flag, True)


def patient_callbacks(
    callbacks: list[Any] | None, params: dict[str, Any], warm_rounds: int
) -> list[Any]:
    """The user's callbacks, with early stopping that leaves out the warm rounds.

    ``params`` loses what it says of early stopping.
    """
    patience = [params.pop(name) for name in EARLY_STOPPING if name in params]
    given = list(callbacks or ())
    if patience and patience[0] is not None and patience[0] > 0:
        given.append(
            lightgbm.early_stopping(
                patience[0],
                first_metric_only=params.get("first_metric_only", False),
                min_delta=params.get("early_stopping_min_delta", 0.0),
                verbose=params.get("verbosity", params.get("verbose", 1)) > 0,
            )
        )
    given = [
        AfterWarmRounds(each, warm_rounds)
        if type(each).__name__ == "_EarlyStoppingCallback"
        else each
        for each in given
    ]
    return [*given, KeepsDraws()]


def count_rounds(init_model: Any) -> int:
    """The rounds of a model to go on from."""
    if init_model is None:
        return 0
    if isinstance(init_model, lightgbm.LGBMModel):
        init_model = init_model.booster_
    if not isinstance(init_model, lightgbm.Booster):
        init_model = lightgbm.Booster(model_file=init_model)
    return init_model.current_iteration()
