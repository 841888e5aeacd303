"""L2Boost, paced on request: a regression, with the state of its residuals.

Scores are kept in a unit of their own, a power of two near the spread of y, so that
values on the grid (``loop.GRID``) are as exact for targets of any size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import r2_score

from splboost._data.labels import check_weights, encode_numbers
from splboost._data.table import read_table
from splboost.boosting.booster import BaseBooster
from splboost.boosting.docstring_parts import documented
from splboost.boosting.fitting import Fitting, Samples
from splboost.boosting.learners import check_weak_learner
from splboost.boosting.loop import Round
from splboost.boosting.progress import Progress
from splboost.boosting.state import State
from splboost.boosting.steps import Means, ValueStep
from splboost.losses import Squared
from splboost.pace import Pace, resolve_pace
from splboost.pace.by_class import ClassCurves, is_paced
from splboost.pace.regularisers import Scaled
from splboost.trees.estimators import CARTRegressor

FloatArray = NDArray[np.float64]
DEFAULT_PLATEAU = 3.125  # hard at 2.5 deviations
LARGEST = 1e140  # of which sums of squares are finite
TO_DEVIATION = 1.4826  # from the median absolute deviation of a normal distribution
MOST_UNITS = 1e60  # of a residual, so that its square times any weight is finite


@documented
class L2BoostRegressor(RegressorMixin, BaseBooster):
    """L2Boost: trees fitted to residuals, and to believable ones only if paced.

    Each round fits a regression to the residuals and adds it, shrunk, to the prediction
    (Bühlmann and Yu 2003); it is least-squares gradient boosting. With a ``pace`` it
    starts from the median, measures the residuals by their median absolute deviation
    once the warm rounds are over, and gives less weight to those that are too large to
    believe. With ``Polynomial(t=1.5)`` these are the weights of Tukey's biweight.

    Gross outliers lose most of their harm that way. But losses that grow slower than
    squares do as well or better: where robust regression is all you want, try the
    absolute or Huber loss of scikit-learn, LightGBM or XGBoost first.

    Parameters
    ----------
    {regressor}
    n_estimators : int, default=200
        Most rounds.
    learning_rate : float in [1e-9, 1], default=0.1
        Factor of every step.
    pace : Pace or str, default=None
        How much of a sample's loss to believe: an object of ``splboost.pace``, or the
        name of one, which is then made with ``plateau=3.125``. The loss is half the
        square of the residual in robust standard deviations, so that ``Hard(age=k**2 /
        2)`` drops samples more than k of these away. None believes all.
    warm_rounds : int, default=5
        Rounds before the pace sets in. Too few hardly know the data yet; too many have
        learned the outliers by heart.
    {subsample}
    {further parameters of regressors}

    Attributes
    ----------
    start_ : float
        The prediction before the first round: the mean of y, the median with a pace.
    scale_ : float
        The robust standard deviation of the residuals when the warm rounds were over,
        in units of y. Only with a pace that has set in.
    estimators_ : list of the fitted weak learners
    estimator_weights_ : array of shape (n_iter_,)
        Factor of each learner before the learning rate: each is fitted to residuals in
        a unit of its own, a power of two near their size.
    pace_ : Pace or None
        The pace in use.
    {sample paces}
    latent_objective_ : array of shape (n_iter_,)
        Summed latent loss after each round, in squared deviations; NaN before these are
        known. Without a pace it is half the sum of squared residuals. With trees of
        this library, and without ``subsample``, it never rises.
    {ending}

    References
    ----------
    P. Bühlmann and B. Yu, "Boosting with the L2 loss: regression and classification",
    Journal of the American Statistical Association 98 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from splboost import L2BoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(300, 1))
    >>> truth = np.sin(X[:, 0])
    >>> y = truth + 0.1 * rng.normal(size=300)
    >>> y[:45] += 20  # gross outliers
    >>> plain = L2BoostRegressor().fit(X, y)
    >>> paced = L2BoostRegressor(pace="hard").fit(X, y)
    >>> bool((paced.sample_pace_[:45] == 0).all())
    True
    >>> wrong = [float(np.abs(m.predict(X) - truth).mean()) for m in (plain, paced)]
    >>> wrong[1] < wrong[0] / 5
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        pace: Pace | str | None = None,
        warm_rounds: int = 5,
        subsample: float = 1.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-7,
        scoring: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callback: Callable[[Progress], Any] | None = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    def predict(self, X: Any) -> FloatArray:
        """Predicted value of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        values : array of shape (n_samples,)
        """
        return self._predict_scores(X)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Predicted value of each row after each round.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Yields
        ------
        values : array of shape (n_samples,)
        """
        yield from self._stage_scores(X)

    def staged_score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """R² after each round.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Yields
        ------
        r2 : float
        """
        for values in self.staged_predict(X):
            yield r2_score(y, values, sample_weight=sample_weight)

    def _shape(self, output: FloatArray, time: Any = None) -> FloatArray:
        return self.start_ + self._unit * output[:, 0]

    def _labels(self, values: FloatArray) -> FloatArray:
        return values

    # ----------------------------------------------------------- what the base asks for

    def _read_samples(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        table = read_table(self, X, check_weak_learner(self), reset=True)
        weight = check_weights(sample_weight, table.n_rows)
        return Samples(table, X, encode_numbers(self, y, table.n_rows), weight)

    def _resolve_paces(self, samples: Samples, *, warns: bool = False) -> None:
        if isinstance(self.pace, dict):
            raise TypeError(
                f"pace={self.pace!r} is a dict by class; a regression has none. Give a "
                "Pace, a short name or None."
            )
        pace = resolve_pace(self.pace)
        if pace is not None and pace.get_params().get("prior_corrected"):
            raise ValueError(
                f"pace={pace!r} has prior_corrected=True, which is about classes; a "
                "regression has none. Leave it out."
            )
        if isinstance(pace, Scaled) and pace.age is None and pace.plateau is None:
            pace = clone(pace).set_params(plateau=DEFAULT_PLATEAU)
        self.pace_ = pace
        if self._continuation is not None and self.warm_start:
            return  # an earlier fit has set where it starts
        y, weight = samples.codes, samples.weight
        paced = is_paced(pace)
        mean = float(np.average(y, weights=weight))
        self.start_ = weighted_median(y, weight) if paced else mean
        with np.errstate(over="ignore"):
            spread = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
        if not spread < LARGEST or (spread < 1 / LARGEST and (y != y[0]).any()):
            raise ValueError(
                f"y has a standard deviation of {spread:.3g}, whose square cannot be "
                "told from 0 or infinity; scale y to between "
                f"{1 / LARGEST:.0e} and {LARGEST:.0e}."
            )
        if paced:  # by what outliers do not touch
            spread = robust_deviation(y, weight) or spread
        farthest = float(np.abs(y - self.start_).max())  # rows of next to no weight too
        self._unit = power_of_two(max(spread, farthest / MOST_UNITS))

    def _fixed_parameters(self) -> dict[str, Any]:
        return {"pace": "given" if is_paced(self.pace) else None}  # where it starts

    def _weak_learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return CARTRegressor(max_leaf_nodes=4)

    def _make_state(self, samples: Samples, *, validation: bool = False) -> Any:
        # Samples to validate on count as they are.
        pace = None if validation else self.pace_
        y, weight = samples.codes, samples.weight
        rounds = self.warm_rounds
        return ResidualState(y, weight, pace, rounds, self.start_, self._unit)

    def _make_step(self, weight: FloatArray) -> Any:
        link, total = Means(self.learning_rate), float(weight.sum())
        return ValueStep(link, total, unit=self._unit)

    def _learner_shares(self) -> FloatArray:
        """By squares: variance is removed in the square of each learner's unit."""
        weights = self.estimator_weights_
        return (weights / (weights.max() or 1.0)) ** 2

    def _set_rounds(self, fitting: Fitting, *given: Any, **more: Any) -> Any:
        state = super()._set_rounds(fitting, *given, **more)
        self.__dict__.pop("scale_", None)
        if state.scale is not None:
            self.scale_ = state.scale * self._unit
        return state


# ------------------------------------------------------------------------- the state


def weighted_median(values: FloatArray, weight: FloatArray) -> float:
    """The smallest value up to which half of the weight lies."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2 * (1 - 1e-12))]])


def robust_deviation(values: FloatArray, weight: FloatArray) -> float:
    """The median absolute deviation, as that of a normal distribution."""
    away = np.abs(values - weighted_median(values, weight))
    return TO_DEVIATION * weighted_median(away, weight)


def power_of_two(size: float) -> float:
    """The power of two next to a size; 1 for nothing."""
    return 2.0 ** round(math.log2(size)) if size > 0 else 1.0


class ResidualState(State):
    """Scores, residuals and paces of the training samples.

    Parameters
    ----------
    y : the targets
    sample_weight : the user's weights, all positive
    pace : Pace or None
    warm_rounds : int
        Rounds after which the pace sets in.
    start : float
        The prediction before the first round.
    unit : float
        Of the scores: the prediction is start + unit * score.

    Attributes
    ----------
    weight, target : (1, n) what the next learner is fitted to; targets are residuals
        in units of ``scale_of_target``
    scale : float or None
        Robust standard deviation of the residuals when the warm rounds were over. The
        pace sees half the squares of residuals in units of it.
    """

    n_outputs = 1
    n_threads = 1
    one_class = False
    target: FloatArray

    def __init__(
        self,
        y: FloatArray,
        sample_weight: FloatArray,
        pace: Pace | None,
        warm_rounds: int,
        start: float,
        unit: float,
    ) -> None:
        self.y = (y - start) / unit
        self.sample_weight = np.require(sample_weight, requirements=["C", "W"])
        self.n_samples = self.n_selected = y.size
        self.score = np.zeros((1, y.size))
        self.weight = np.empty((1, y.size))
        self.target = np.empty((1, y.size))
        self.scale: float | None = None
        self.latent = math.nan  # as long as a pace has no scale
        self._unit = unit
        self._warm_rounds = warm_rounds
        self._curves = ClassCurves([pace])
        self._one = np.zeros(y.size, dtype=np.uint8)  # the class of all

    def refresh(self, *, paced: bool) -> None:
        residual = self.y - self.score[0]
        weight = self.sample_weight
        if self._curves.is_plain:
            latent = self._unit**2 * self._loss(residual)
            self.latent = float((weight * latent).sum())
        elif paced and self.scale is None:
            self.scale = robust_deviation(residual, weight)
        v = self.paces() if paced else np.ones(self.n_samples)
        self.n_selected = int(np.count_nonzero(v))
        if self.scale:
            with np.errstate(all="ignore"):
                latent = self._curves.latent(self._loss(residual), self._one)
            self.latent = float((weight * latent).sum())
        self.weight[0] = weight * v
        share = self.weight[0] / (self.weight[0].max() or 1.0)  # else sums overflow
        size = math.sqrt(float((share * residual**2).sum()) / (share.sum() or 1.0))
        self.scale_of_target = power_of_two(size)
        np.divide(residual, self.scale_of_target, out=self.target[0])

    def _loss(self, residual: FloatArray) -> FloatArray:
        return Squared().value(residual / (self.scale or 1.0))

    def paces(self) -> FloatArray:
        if not self.scale:  # there is no pace, or most residuals are 0
            return np.ones(self.n_samples)
        with np.errstate(all="ignore"):
            return self._curves.weight(self._loss(self.y - self.score[0]), self._one)

    @property
    def mark(self) -> Any:
        return self.scale

    @mark.setter
    def mark(self, mark: Any) -> None:
        self.scale = mark

    def rewind(self, rounds: list[Round]) -> None:
        """Forget a scale that is not known yet after so many rounds."""
        if len(rounds) < self._warm_rounds:
            self.scale = None

    def quality(self, weight: FloatArray) -> float:
        """R², the share of the variance explained."""
        away = self.y - np.average(self.y, weights=weight)
        total = float(weight @ away**2)
        left = float(weight @ (self.y - self.score[0]) ** 2)
        if total == 0:
            return 1.0 if left == 0 else 0.0
        return 1 - left / total
