"""A self-paced objective for XGBoost and LightGBM, on one machine or many.

Both packages ask an objective for the gradient and the Hessian of the loss before each
round. A pace multiplies both by v, the share of each sample's loss to believe. With v
held fixed, v times the loss lies above the latent loss and touches it, so the Hessian
is never negative.

A score z is a log-odds, as both packages have it: p = 1 / (1 + exp(-z)), or a softmax
over the classes. In the units of this library's boosters F = z / 2. Gradients have the
precision of the scores, which is single in XGBoost and double in LightGBM.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.utils import check_scalar

from splboost._tools.compiling import jitable, kernel
from splboost._tools.user_warnings import restate
from splboost.losses import (
    LEAST_PROBABILITY,
    Exponential,
    Logistic,
    MarginLoss,
    logistic,
    logistic_slope,
)
from splboost.pace import Pace, resolve_pace
from splboost.pace.by_class import ClassCurves, given_paces, paces_of_classes
from splboost.pace.regularisers import Scaled

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]
Terms = tuple[FloatArray, NDArray[Any], NDArray[Any]]  # loss, gradient and Hessian

MOST_EXPONENT = 80.0  # whose power is still a number in single precision
LEAST_HESSIAN = 1e-16  # as in XGBoost
# Default of p_min, as a share of the probability that an undecided model gives a label:
# 0.37 for two classes, which is the age 1 on the logistic loss
DEFAULT_SHARE = 0.74
MOST_DATA_SETS = 64  # whose rounds are counted at a time, as in cross-validation

# ------------------------------------------------------------------------------ losses

jitable(logistic, logistic_slope)


@kernel
def logistic_terms(scores, codes):  # type: ignore[no-untyped-def]
    """Loss, gradient and Hessian of the logistic loss.

    Compiled, for in NumPy it adds half to the time of a fit of 100,000 rows.
    """
    loss, gradient = np.empty_like(scores), np.empty_like(scores)
    hessian = np.empty_like(scores)
    for i in range(scores.size):
        sign = 2.0 * codes[i] - 1.0
        margin = sign * scores[i] / 2
        slope = logistic_slope(margin)
        loss[i] = logistic(margin)
        gradient[i] = -sign * slope / 2
        hessian[i] = max(slope * (2 - slope) / 4, LEAST_HESSIAN)
    return loss, gradient, hessian


def exponential_terms(scores: FloatArray, codes: Codes) -> Terms:
    """Loss, gradient and Hessian of exp(-yF)."""
    sign = 2 * codes - 1
    margin = np.clip(sign * scores / 2, -MOST_EXPONENT, MOST_EXPONENT)
    loss = Exponential().value(margin)
    return loss, -sign * loss / 2, loss / 4


def softmax_terms(scores: NDArray[Any], codes: Codes) -> Terms:
    """Loss -log p(y) with p the softmax, its gradient, and the Hessian's diagonal."""
    label = np.arange(codes.size), codes
    width = max(scores.shape[-1], 1)  # a worker without rows may have any shape
    p = softmax(scores.reshape(codes.size, width), axis=1)
    loss = -np.log(np.maximum(p[label], LEAST_PROBABILITY))
    hessian = np.maximum(p * (1 - p), LEAST_HESSIAN)
    p[label] -= 1
    return loss, p, hessian


# With each the loss that gives the probability of a label, for the cut of a pace
LOSSES: dict[str, tuple[Any, MarginLoss]] = {
    "logistic": (logistic_terms, Logistic()),
    "exponential": (exponential_terms, Exponential()),
    "softmax": (softmax_terms, Logistic()),
}


def probability(scores: NDArray[Any]) -> NDArray[Any]:
    """Probability of the second of two classes, or of each of several."""
    return expit(scores) if scores.ndim == 1 else softmax(scores, axis=1)


class PacedRounds:
    """The rounds of one fit: warm ones first, then paced; with a record of each.

    Parameters
    ----------
    loss : {"logistic", "exponential", "softmax"}
    paces : dict
        The pace of each class by its label, in units of the loss; None for none.
    warm_rounds : int
        Rounds before the pace sets in.
    n_done : int
        Rounds that were done before this fit.

    Attributes
    ----------
    curves : ClassCurves
        The weights and latent losses of the paces.
    latent : list of float
        The summed latent loss before each round.
    n_selected : list of int
        Samples of positive weight with v > 0 in each round.
    """

    def __init__(
        self, loss: str, paces: dict[Any, Pace | None], *, warm_rounds: int, n_done: int
    ) -> None:
        self._terms, _ = LOSSES[loss]
        self.paces = paces
        self.curves = ClassCurves(list(paces.values()))
        self.warm_rounds = warm_rounds
        self.n_done = n_done
        self.codes: Any = None
        self.latent: list[float] = []
        self.n_selected: list[int] = []

    def start(self, y: NDArray[Any], weight: NDArray[Any] | None) -> Self:
        """Begin with these numbers of classes and weights, or None for all 1."""
        self.codes = y.astype(np.intp)
        self.weight = weight
        self.latent, self.n_selected = [], []
        return self

    @np.errstate(all="ignore")
    def step(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The next round's gradient and Hessian, at the scores before it.

        The Hessian of a softmax is its diagonal times the factor that the package has:
        2 in XGBoost, K / (K - 1) in LightGBM, which is told from it by the precision of
        the scores.
        """
        loss, gradient, hessian = self._evaluate(scores)
        factor = self.weight
        is_warm = self.n_done + len(self.latent) < self.warm_rounds
        if not is_warm and not self.curves.is_plain:
            v = self.curves.weight(loss, self.codes)
            factor = v if factor is None else v * factor
        self.latent.append(self._sum_latent(loss))
        n = loss.size if factor is None else np.count_nonzero(factor)
        self.n_selected.append(int(n))
        if gradient.ndim > 1:
            k = gradient.shape[1]
            hessian *= 2.0 if scores.dtype == np.float32 else k / (k - 1)
        if factor is not None:
            column = factor if gradient.ndim == 1 else factor[:, None]
            gradient *= column
            hessian *= column
        gradient = gradient.astype(scores.dtype, copy=False)
        return gradient, hessian.astype(scores.dtype, copy=False)

    @np.errstate(all="ignore")
    def close(self, scores: NDArray[Any]) -> tuple[FloatArray, float, FloatArray]:
        """v of each sample at the final scores, the latent loss, and what is dropped.

        v is NaN for samples of weight zero. The last has, for each class, its weight,
        and weight and number of what is dropped.
        """
        codes, k = self.codes, len(self.paces)
        loss, *_ = self._evaluate(scores)
        v = self.curves.weight(loss, codes)
        mass = np.ones(len(v)) if self.weight is None else self.weight
        v[mass == 0] = np.nan
        gone = v == 0
        dropped = [
            np.bincount(codes, mass, minlength=k),
            np.bincount(codes[gone], mass[gone], minlength=k),
            np.bincount(codes[gone], minlength=k),
        ]
        return v, self._sum_latent(loss), np.array(dropped, dtype=np.float64)

    def _evaluate(self, scores: NDArray[Any]) -> Terms:
        """Loss of each sample, before any pace, with its gradient and Hessian."""
        if scores.ndim == 1:  # of one signature, whatever the package has
            scores = np.array(scores, dtype=np.float64)
        loss, gradient, hessian = self._terms(scores, self.codes)
        return loss.astype(np.float64, copy=False), gradient, hessian

    def _sum_latent(self, loss: FloatArray) -> float:
        latent = self.curves.latent(loss, self.codes)
        weight = self.weight
        return float(latent.sum() if weight is None else np.dot(latent, weight))


# --------------------------------------------------------- how strict a pace is: p_min


def find_paces(
    pace: str | Pace | dict[Any, Any] | None,
    p_min: float | None,
    shares: Mapping[Any, float],
    loss: str,
) -> dict[Any, Pace | None]:
    """The regulariser of each class, in units of the loss.

    ``pace``, ``p_min`` and ``loss`` are those of `SelfPacedObjective`; ``shares`` has
    the share of each class by its label.

    Examples
    --------
    >>> find_paces("linear", 0.1, {0: 0.5, 1: 0.5}, "logistic")[1]
    Linear(age=2.302...)
    """
    check_p_min(p_min)
    if p_min == 0:
        return dict.fromkeys(shares)
    link, k = LOSSES[loss][1], max(len(shares), 2)
    cut = link.doubt_at(DEFAULT_SHARE / k if p_min is None else p_min, k)
    if not isinstance(pace, dict):
        return paces_of_classes(_with_cut(pace, p_min, cut), shares, link)
    with_cut = {}
    for label, of_class in pace.items():
        try:
            with_cut[label] = _with_cut(of_class, p_min, cut)
        except (TypeError, ValueError) as why:
            raise restate(why, f"pace of class {label!r}: {why}") from None
    return paces_of_classes(with_cut, shares, link)


def _with_cut(pace: Any, p_min: float | None, cut: float) -> Pace | None:
    """The pace with weight 0 from that loss on, unless it has an age or plateau."""
    resolved = resolve_pace(pace)
    if resolved is None:
        return None
    by_default = isinstance(resolved, Scaled) and (
        resolved.age is None and resolved.plateau is None
    )
    if by_default:
        unit = clone(resolved).set_params(age=1.0)  # whose cut is a loss of 1
        return unit.set_params(age=unit._stretched(cut)["age"])
    if p_min is None:
        return resolved
    raise ValueError(
        f"pace={pace!r} and p_min={p_min!r} both say how strict the pace is; set "
        "p_min=None, or give the pace by name or without age and plateau."
    )


def check_p_min(p_min: Any) -> None:
    """Raise an error unless ``p_min`` is a probability below 1, or None."""
    if p_min is not None:
        check_scalar(
            p_min, "p_min", Real, min_val=0, max_val=1, include_boundaries="left"
        )


# ----------------------------------------------------------------------- the objective


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
        if loss not in LOSSES:
            names = ", ".join(map(repr, LOSSES))
            raise ValueError(f"loss={loss!r} is unknown; give one of {names}.")
        given_paces(pace)
        check_p_min(p_min)
        check_scalar(warm_rounds, "warm_rounds", Integral, min_val=0)
        if start_round is not None:
            check_scalar(start_round, "start_round", Integral, min_val=0)
        self.loss, self.pace, self.p_min = loss, pace, p_min
        self.warm_rounds, self.start_round = warm_rounds, start_round
        self.start_score, self.priors = start_score, priors
        # Of each fit, by its training set or by labels alone: the rounds, a mark of the
        # scores before the first, and whether the last were equal
        self._of_data: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._of_labels: dict[Any, Any] = {}

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
        rounds = self._find_rounds(data, scores, y, factor)
        start = np.asarray(self.start_score, dtype=scores.dtype)
        return rounds.step(scores + start if start.any() else scores)

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
        start = np.asarray(self.start_score, dtype=np.float64)
        p = probability(np.asarray(scores, dtype=np.float64) + start)
        return p if p.ndim > 1 else np.column_stack([1 - p, p])

    def _find_rounds(
        self, data: Any, scores: NDArray[Any], y: NDArray[Any], weight: Any
    ) -> PacedRounds:
        """The rounds of the fit that asks.

        A fit begins where its training set is new, where the scores are those that an
        earlier fit on it started from, and where they are equal after they were not.
        """
        fits: Any = self._of_data
        key = data
        if data is None:
            fits = self._of_labels
            key = y.shape, zlib.crc32(np.ascontiguousarray(y).view(np.uint8).data)
        rounds, start, was_level = fits.pop(key, (None, 0, False))
        level = not scores.size or bool((scores == scores[:1]).all())
        mark = zlib.crc32(scores.tobytes("A"))
        goes_on = rounds and mark != start and (was_level or not level)
        if not goes_on and self.start_round is None and not level:
            raise ValueError(
                "SelfPacedObjective: the scores differ from one sample to the next "
                "when the fit begins, so the round cannot be told. With base_margin, "
                "init_score or a model to go on from give start_round, the number of "
                "rounds done before (0 for none)."
            )
        if not goes_on:
            rounds, start = self._make_rounds(scores, y, weight), mark
        while len(self._of_labels) >= MOST_DATA_SETS:
            self._of_labels.pop(next(iter(self._of_labels)))
        fits[key] = rounds, start, level
        return rounds

    def _make_rounds(
        self, scores: NDArray[Any], y: NDArray[Any], weight: Any
    ) -> PacedRounds:
        if (scores.ndim == 2) != (self.loss == "softmax"):
            remedy = 'loss="softmax"' if scores.ndim == 2 else 'loss="logistic"'
            raise ValueError(
                f"loss={self.loss!r} does not fit scores of shape {scores.shape}; use "
                f"{remedy}."
            )
        k = scores.shape[1] if scores.ndim == 2 else 2
        known = (y >= 0) & (y < k) & (y % 1 == 0)
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
        of_label: dict[Any, float] = dict(enumerate(np.asarray(shares).tolist()))
        paces = find_paces(self.pace, self.p_min, of_label, self.loss)
        rounds = PacedRounds(
            self.loss,
            paces,
            warm_rounds=self.warm_rounds,
            n_done=self.start_round or 0,
        )
        return rounds.start(y, weight)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _of_data=WeakKeyDictionary(), _of_labels={})

    def __repr__(self) -> str:
        state = self.__getstate__().items()
        listed = ", ".join(f"{name}={value!r}" for name, value in state)
        return f"{type(self).__name__}({listed})"
