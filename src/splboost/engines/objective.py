"""A self-paced objective for XGBoost and LightGBM, on one machine or many."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from numbers import Integral
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splboost.engines.losses import FUNCTIONS, LINKS, probability
from splboost.engines.paced import PacedLoss, step
from splboost.engines.strength import check_p_min, find_paces
from splboost.pace import Pace
from splboost.pace.resolve import given_paces

MOST_DATA_SETS = 64  # whose rounds are counted at a time, as in cross-validation


class _Course(NamedTuple):
    """How far a fit has got: its round, and the scores that it started from."""

    round: int
    start: int
    level: bool
    loss: PacedLoss


class SelfPacedObjective:
    """An objective that stops believing labels which the model gets badly wrong.

    It multiplies gradient and Hessian of a loss by the pace v of each sample, which
    falls from 1 to 0 as the sample's own loss grows; ``sample_weight`` multiplies both
    as well. It is the ``obj=`` of ``xgboost.train`` and ``xgboost.dask.train``, the
    ``objective`` of ``lightgbm.train``, and that of the estimators of either package,
    also on Dask; and it can be pickled.

    It counts rounds, for the pace sets in after the warm ones, and keeps nothing else:
    the count starts again when all scores are equal, as they are before the first
    tree, and is kept apart for each training set. So one object serves any number of
    fits, one after the other, also after one that was interrupted. (Estimators do not
    say which training set is theirs, so theirs go by the labels: where fits with equal
    labels start from unequal scores, give each an object of its own.)

    Two things are left to the caller, and done by ``SPLXGBClassifier`` and
    ``SPLLGBMClassifier`` where these can be used. Neither package puts the class prior
    into the first scores of an objective that it does not know: give XGBoost
    ``base_score``, and LightGBM ``start_score`` here. And each must know how to turn
    scores into probabilities: XGBoost by ``"objective": "binary:logistic"`` or
    ``"multi:softprob"`` beside ``obj=``; for LightGBM, which returns scores,
    ``probability`` does it, and ``start_score`` has to be added to them.

    Parameters
    ----------
    loss : {"logistic", "exponential", "softmax"}, default="logistic"
        "softmax" is for more than two classes, the others are for two. Scores are
        log-odds for either of these; the exponential loss is exp(-yF) with F half of
        them. Labels are 0 and 1, or 0 to K - 1.
    pace : Pace, str, dict or None, default="hard"
        How much of a sample's loss to believe: an object of ``splboost.pace``, with its
        age in units of the loss, or the name of one, whose strength ``p_min`` says. A
        dict has one for each label; None believes all.
    p_min : float or None, default=None
        Probability of a label from which on the pace counts any of its loss; below it
        the weight is 0. 0 is off. None is 0.37 for two classes and 0.74 / K for K.
    warm_rounds : int, default=15
        Rounds before the pace sets in; 1 to 2 divided by the learning rate did well.
    start_round : int or None, default=None
        Rounds that are done already when a fit starts. Needed where scores differ from
        the beginning, by ``base_margin``, ``init_score`` or a model to go on from;
        None asks for equal ones.
    start_score : float or array of shape (n_classes,), default=0.0
        What to add to the scores of a package that starts at 0 whatever the prior.
    priors : array of shape (n_classes,) or None, default=None
        Share of each class, for a pace with ``prior_corrected=True``. None takes them
        from labels and weights, which on a cluster are those of one worker.

    Examples
    --------
    >>> import numpy as np
    >>> objective = SelfPacedObjective(p_min=0.2, warm_rounds=0)
    >>> y, scores = np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0])
    >>> gradient, hessian = objective(y, scores)
    >>> gradient.tolist()
    [0.5, -0.5, -0.5]
    >>> gradient, hessian = objective(y, np.array([-2.0, 1.0, -2.0]))
    >>> gradient.round(2).tolist(), bool(hessian[2] == 0)  # the last is not believed
    ([0.12, -0.27, -0.0], True)
    """

    def __init__(
        self,
        loss: str = "logistic",
        pace: Pace | str | dict[Any, Any] | None = "hard",
        *,
        p_min: float | None = None,
        warm_rounds: int = 15,
        start_round: int | None = None,
        start_score: ArrayLike = 0.0,
        priors: ArrayLike | None = None,
    ) -> None:
        self.loss = loss
        self.pace = pace
        self.p_min = p_min
        self.warm_rounds = warm_rounds
        self.start_round = start_round
        self.start_score = start_score
        self.priors = priors
        self._check()
        self._forget()

    def _forget(self) -> None:
        """Know of no fit: of none on a training set, and of none on labels alone."""
        self._of_data: WeakKeyDictionary[Any, _Course] = WeakKeyDictionary()
        self._of_labels: dict[Any, _Course] = {}

    def _check(self) -> None:
        if self.loss not in FUNCTIONS:
            names = ", ".join(map(repr, FUNCTIONS))
            raise ValueError(f"loss={self.loss!r} is unknown; give one of {names}.")
        given_paces(self.pace)
        check_p_min(self.p_min)
        check_rounds("warm_rounds", self.warm_rounds)
        if self.start_round is not None:
            check_rounds("start_round", self.start_round)

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian of a round.

        Parameters
        ----------
        y_true, y_pred, sample_weight : arrays
            As estimators call it; or scores and a ``DMatrix`` or ``Dataset``, as
            ``train`` of both packages does.
        """
        data = None
        if hasattr(y_pred, "get_label"):
            data, y_pred = y_pred, y_true
            y_true, sample_weight = data.get_label(), data.get_weight()
        scores = np.asarray(y_pred)
        y = np.asarray(y_true).astype(scores.dtype, copy=False)
        factor = None
        if sample_weight is not None and np.size(sample_weight):
            factor = np.asarray(sample_weight)
        course = self._advance(data, scores, y, factor)
        start = np.asarray(self.start_score, dtype=scores.dtype)
        terms = course.loss.terms(scores + start if start.any() else scores, y)
        if course.round >= self.warm_rounds and not course.loss.is_plain:
            v = course.loss.weight(terms.loss, y)
            factor = v if factor is None else v * factor
        return tuple(step(terms, factor))  # type: ignore[return-value]

    def probability(self, scores: ArrayLike) -> NDArray[Any]:
        """Probabilities from the scores of LightGBM, which knows of no link.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, n_classes)

        Examples
        --------
        >>> SelfPacedObjective(start_score=-1.0).probability([1.0]).tolist()
        [[0.5, 0.5]]
        """
        given = np.asarray(scores, dtype=np.float64)
        p = probability(given + np.asarray(self.start_score, dtype=np.float64))
        return p if p.ndim > 1 else np.column_stack([1 - p, p])

    # ------------------------------------------------------------ which round it is

    def _advance(
        self, data: Any, scores: NDArray[Any], y: NDArray[Any], weight: Any
    ) -> _Course:
        """The course of the fit that asks, one round further."""
        courses: Any = self._of_data
        key = data
        if data is None:
            courses = self._of_labels
            key = y.shape, zlib.crc32(np.ascontiguousarray(y).view(np.uint8).data)
        last = courses.pop(key, None)
        level = not scores.size or bool((scores == scores[:1]).all())
        mark = zlib.crc32(scores.tobytes("A"))
        again = last is None or mark == last.start or (level and not last.level)
        if again:
            if self.start_round is None and not level:
                raise ValueError(
                    "SelfPacedObjective: the scores differ from one sample to the next "
                    "when the fit begins, so the round cannot be told. With "
                    "base_margin, init_score or a model to go on from give "
                    "start_round, the number of rounds done before (0 for none)."
                )
            loss = self._paced_loss(scores, y, weight)
            course = _Course(self.start_round or 0, mark, level, loss)
        else:
            assert last is not None
            course = last._replace(round=last.round + 1, level=level)
        while len(self._of_labels) >= MOST_DATA_SETS:
            self._of_labels.pop(next(iter(self._of_labels)))
        courses[key] = course
        return course

    def _paced_loss(
        self, scores: NDArray[Any], y: NDArray[Any], weight: Any
    ) -> PacedLoss:
        k = self._count_classes(scores)
        known = (
            np.isin(y, np.arange(k)) if k <= 2 else (y >= 0) & (y < k) & (y % 1 == 0)
        )
        if not known.all():
            raise ValueError(
                f"loss={self.loss!r} wants labels from 0 to {k - 1}, got "
                f"{y[~known][0]:g}; encode them, as sklearn's LabelEncoder does."
            )
        shares = self.priors
        if shares is None:
            mass = np.bincount(y.astype(np.intp), weight, minlength=k)
            shares = mass / (mass.sum() or 1)
        if np.shape(shares) != (k,):
            raise ValueError(
                f"priors must have a share for each of {k} classes, got {shares!r}."
            )
        priors: Mapping[Any, float] = dict(enumerate(np.asarray(shares).tolist()))
        paces = find_paces(self.pace, self.p_min, priors, LINKS[self.loss])
        return PacedLoss(self.loss, list(paces.values()))

    def _count_classes(self, scores: NDArray[Any]) -> int:
        if (scores.ndim == 2) != (self.loss == "softmax"):
            remedy = 'loss="softmax"' if scores.ndim == 2 else 'loss="logistic"'
            raise ValueError(
                f"loss={self.loss!r} does not fit scores of shape {scores.shape}; use "
                f"{remedy}."
            )
        return scores.shape[1] if scores.ndim == 2 else 2

    # -------------------------------------------------------------- as a Python object

    @property
    def _given(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}

    def __getstate__(self) -> dict[str, Any]:
        return self._given

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._given.items())
        return f"{type(self).__name__}({given})"


def check_rounds(name: str, value: Any) -> None:
    """Raise an error unless an argument is a number of rounds."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, got {name}={value!r}.")
    if value < 0:
        raise ValueError(f"{name} must be 0 or more, got {name}={value!r}.")
