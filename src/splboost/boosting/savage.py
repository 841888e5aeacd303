"""Boosters of a loss that goes flat where a sample is badly wrong: Savage, RBoost."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from splboost._tools.maths import clip
from splboost.boosting.classifier import BaseValueBooster
from splboost.boosting.docstring_parts import documented
from splboost.boosting.line_search import FlatStep, HalvingStep, VoteStep
from splboost.boosting.loop import MEANS, SHARES, VOTES
from splboost.boosting.progress import Progress
from splboost.boosting.state import WorkingSet
from splboost.boosting.steps import LogOdds, Means, ValueStep, Votes, least_share
from splboost.losses import (
    Savage,
    Savage2,
    savage,
    savage2,
    savage2_slope,
    savage_slope,
    sides,
)
from splboost.pace import Pace

FloatArray = NDArray[np.float64]

HIGHEST_CURVATURE = 0.15405857012135055  # of Savage2, at exp(m) = (7 + sqrt(33)) / 8


def by_savage(m: Any, limit: Any) -> tuple[Any, Any]:
    """SavageBoost: the label, by a fourth of the slope of its loss."""
    return savage_slope(m) / 4, 1.0


def by_savage2(m: Any, limit: Any) -> tuple[Any, Any]:
    """RBoost, gentle and discrete: the label, by half the slope of its loss."""
    return savage2_slope(m) / 2, 1.0


def fisher(m: Any, limit: Any) -> tuple[Any, Any]:
    """RBoost by Fisher scoring: the expected curvature of Savage2."""
    right, wrong = sides(m)
    weight = right * wrong
    return weight * weight, clip(1 / right, 1.0, limit)


def majorise(m: Any, limit: Any) -> tuple[Any, Any]:
    """RBoost by a quadratic majoriser: the slope over the highest curvature."""
    return 1.0, savage2_slope(m) / HIGHEST_CURVATURE


FIT_OF_VARIANT = {
    "gentle": by_savage2,
    "fisher": fisher,
    "mm": majorise,
    "discrete": by_savage2,
}


@documented
class SavageBoostClassifier(BaseValueBooster):
    """SavageBoost: a loss that goes flat where a sample is badly wrong.

    Each round fits class probabilities, with the slope of the Savage loss
    (1 + exp(2 m))**-2 for a weight, and adds half their log-odds to the score
    (Masnadi-Shirazi and Vasconcelos 2008). Samples far on the wrong side weigh next to
    nothing; but those in between weigh most, and wrong labels are among them. The step
    is that of another loss, so nothing keeps the loss from rising; early stopping
    matters here more than elsewhere. More than two classes are set one against the
    rest.

    Parameters
    ----------
    {probability tree}
    {pace and rounds}
    line_search : bool, default=False
        Whether to try steps from 2**-6 to 2 times as long, and to stop where none
        lowers the loss.
    {further parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    H. Masnadi-Shirazi and N. Vasconcelos, "On the design of loss functions for
    classification: theory, robustness to outliers, and SavageBoost", NIPS 21 (2008).

    Examples
    --------
    >>> from splboost import SavageBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = SavageBoostClassifier(n_estimators=10).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseValueBooster._parameter_constraints,
        "line_search": ["boolean"],
    }
    _answers = SHARES
    _working_set = WorkingSet(Savage(), savage, by_savage)
    _default_plateau = 1.5

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | dict[Any, Any] | None = None,
        warm_rounds: int = 3,
        line_search: bool = False,
        subsample: float = 1.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-7,
        scoring: Any = None,
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callback: Callable[[Progress], Any] | None = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    def _make_step(self, weight: Any) -> Any:
        total = float(weight.sum())
        link = LogOdds(self.learning_rate, least_share(weight))
        if self.line_search:
            return HalvingStep(link, total, learning_rate=self.learning_rate)
        return ValueStep(link, total)


@documented
class RBoostClassifier(BaseValueBooster):
    """RBoost: the Savage2 loss (1 + exp(m))**-2, with numerically stable steps.

    The loss is that of SavageBoost with scores twice as large; what differs is the
    step. RBoost1 fits regressions: "gentle" to the labels, as GentleBoost does;
    "fisher" by Newton steps with the expected curvature, as LogitBoost does; "mm" by
    steepest descent over the highest curvature, which never raises the loss, and is
    slow. RBoost2, "discrete", fits classifiers and searches for the best length of the
    step. (Miao et al. 2016; the steps are derived from the loss, since the
    paper's own equations were not at hand.) More than two classes are set one against
    the rest.

    Parameters
    ----------
    estimator : regressor or classifier, default=None
        The weak learner: a tree of ``splboost.trees`` (fast), or any of scikit-learn
        whose ``fit`` takes ``sample_weight``; a regressor, for "discrete" a classifier.
        None is a stump, with ``max_depth=1, min_weight_fraction_leaf=1e-4``.
    {pace and rounds}
    variant : {"gentle", "fisher", "mm", "discrete"}, default="gentle"
        The step.
    z_max : float above 1, default=4.0
        Where "fisher" cuts off its working response.
    {further parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Q. Miao, Y. Cao, G. Xia, M. Gong, J. Liu and J. Song, "RBoost: label noise-robust
    boosting algorithm based on a nonconvex loss function and the numerically stable
    base learners", IEEE Transactions on Neural Networks and Learning Systems 27 (2016).

    Examples
    --------
    >>> from splboost import RBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = RBoostClassifier(n_estimators=20).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseValueBooster._parameter_constraints,
        "variant": [StrOptions({"gentle", "fisher", "mm", "discrete"})],
        "z_max": [Interval(Real, 1, math.inf, closed="right")],
    }
    _note_on_learners = (
        " RBoostClassifier takes classifiers with variant='discrete' and regressors "
        "with variant='fisher' or 'gentle' or 'mm'."
    )

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | dict[Any, Any] | None = None,
        warm_rounds: int = 3,
        variant: str = "gentle",
        z_max: float = 4.0,
        subsample: float = 1.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-7,
        scoring: Any = None,
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callback: Callable[[Progress], Any] | None = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    @property
    def _answers(self) -> str:  # type: ignore[override]
        return VOTES if self.variant == "discrete" else MEANS

    @property
    def _working_set(self) -> WorkingSet:  # type: ignore[override]
        fit_of = FIT_OF_VARIANT[self.variant]
        return WorkingSet(Savage2(), savage2, fit_of, limit=float(self.z_max))

    @property
    def _default_plateau(self) -> float:  # type: ignore[override]
        return 1.5 if self.variant in ("gentle", "mm") else 2.0

    def _make_step(self, weight: Any) -> Any:
        total = float(weight.sum())
        if self.variant == "discrete":
            return VoteStep(Votes(self.learning_rate), total)
        return FlatStep(Means(self.learning_rate), total)
