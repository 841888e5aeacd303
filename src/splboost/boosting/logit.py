"""LogitBoost, paced on request."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from splboost.boosting.classifier import BaseValueBooster
from splboost.boosting.docstring_parts import documented
from splboost.boosting.progress import Progress
from splboost.boosting.steps import Means, ValueStep
from splboost.boosting.working_sets import WorkingSet, logit
from splboost.pace import Pace

FloatArray = NDArray[np.float64]
TOLERANCE = 1e-10  # change of the objective, per unit of weight, that is none


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
    {comforts}

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
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            pace=pace,
            warm_rounds=warm_rounds,
            subsample=subsample,
            n_iter_no_change=n_iter_no_change,
            validation_fraction=validation_fraction,
            tol=tol,
            scoring=scoring,
            class_weight=class_weight,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
            warm_start=warm_start,
            callback=callback,
            verbose=verbose,
        )
        self.z_clip = z_clip
        self.z_max = z_max

    @property
    def _working_set(self) -> WorkingSet:  # type: ignore[override]
        return logit(float(self.z_max), keep_gradient=self.z_clip == "gradient")

    def _make_step(self, weight: FloatArray) -> Any:
        # For more classes the factor is in how their scores combine.
        rate = self.learning_rate * (0.5 if self.classes_.size == 2 else 1.0)
        return ValueStep(Means(rate), float(weight.sum()), tolerance=TOLERANCE)
