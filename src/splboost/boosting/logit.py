"""LogitBoost, paced on request."""

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
from splboost.boosting.progress import Progress
from splboost.boosting.state import WorkingSet
from splboost.boosting.steps import Means, ValueStep
from splboost.losses import Logistic, logistic, sides
from splboost.pace import Pace

FloatArray = NDArray[np.float64]
TOLERANCE = 1e-10  # change of the objective, per unit of weight, that is none
LEAST_WEIGHT = 2.0**-79
LOSS = Logistic()


def newton(m: Any, limit: Any) -> tuple[Any, Any]:
    """LogitBoost: a Newton step on log(1 + exp(-2 m)).

    With p the probability of the label, the target is (1 - p) / (p (1 - p)) = 1 / p, at
    most the limit, by the weight p (1 - p).
    """
    right, wrong = sides(2 * m)
    return clip(right * wrong, LEAST_WEIGHT, 1.0), clip(1 / right, 1.0, limit)


def newton_by_gradient(m: Any, limit: Any) -> tuple[Any, Any]:
    """The same, but where a target is cut off the weight grows as much."""
    right, wrong = sides(2 * m)
    z = clip(1 / right, 1.0, limit)
    return clip(wrong / z, LEAST_WEIGHT, 1.0), z


class SymmetricLogit(WorkingSet):
    """LogitBoost, of which more than two classes are coupled by a softmax."""

    def combine(self, added: FloatArray) -> FloatArray:
        """(K - 1) / K of what each learner adds, less the mean over the classes."""
        k = added.shape[1]
        return (k - 1) / k * (added - added.mean(axis=1, keepdims=True))

    def against_rest(self, score: FloatArray) -> FloatArray:
        """Half the log-odds of each class; probabilities are a softmax."""
        highest = score.max(axis=1, keepdims=True)
        power = np.exp(score - highest)
        # The sum of the classes before and after: the sum of all less a class that is
        # nearly all there is would have no digits left.
        others = np.full_like(power, 1e-300)
        others[:, 1:] += power[:, :-1].cumsum(axis=1)
        others[:, :-1] += power[:, :0:-1].cumsum(axis=1)[:, ::-1]
        return 0.5 * (score - highest - np.log(others))


def logit(limit: float, *, keep_gradient: bool) -> WorkingSet:
    """What a round of LogitBoost fits."""
    fit_of = newton_by_gradient if keep_gradient else newton
    return SymmetricLogit(LOSS, logistic, fit_of, limit=limit)


@documented
class LogitBoostClassifier(BaseValueBooster):
    """LogitBoost: Newton steps on the log-likelihood.

    Each round fits a regression to the working response, the gradient over the
    curvature of the log-likelihood, with the curvature p (1 - p) for a weight, and adds
    half of it to the score (Friedman, Hastie and Tibshirani 2000). More than two
    classes are coupled by a softmax, and every round fits a regression for each.

    The working response grows without bound for samples that are badly wrong, and is
    cut off at ``z_max``. How matters: with "response" the sample then counts for less
    than its gradient, which makes this a robust booster of its own; with "gradient" it
    is the convex booster that its name stands for.

    Parameters
    ----------
    {regression tree}
    {pace and rounds}
    z_clip : {"response", "gradient"}, default="response"
        What happens to a sample whose working response is cut off: "response" leaves
        its weight (as Friedman, Hastie and Tibshirani do), "gradient" raises it, so
        that their product stays the gradient (as Weka does).
    z_max : float above 1, default=4.0
        Where the working response is cut off; 2 to 4 is usual, infinity does not.
    {further parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    J. Friedman, T. Hastie and R. Tibshirani, "Additive logistic regression: a
    statistical view of boosting", Annals of Statistics 28 (2000).

    Examples
    --------
    >>> from splboost import LogitBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = LogitBoostClassifier(n_estimators=20, pace="linear").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseValueBooster._parameter_constraints,
        "z_clip": [StrOptions({"response", "gradient"})],
        "z_max": [Interval(Real, 1, math.inf, closed="right")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | dict[Any, Any] | None = None,
        warm_rounds: int = 3,
        z_clip: str = "response",
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
    def _working_set(self) -> WorkingSet:  # type: ignore[override]
        return logit(float(self.z_max), keep_gradient=self.z_clip == "gradient")

    def _make_step(self, weight: FloatArray) -> Any:
        # For more classes the factor is in how their scores combine.
        rate = self.learning_rate * (0.5 if self.classes_.size == 2 else 1.0)
        return ValueStep(Means(rate), float(weight.sum()), tolerance=TOLERANCE)
