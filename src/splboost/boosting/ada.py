"""AdaBoost, paced on request."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from splboost.boosting.booster import effective_size
from splboost.boosting.classifier import BaseBoostedClassifier
from splboost.boosting.docstring_parts import documented
from splboost.boosting.progress import Progress
from splboost.boosting.weak_learner import VOTES
from splboost.pace import Pace


@documented
class AdaBoostClassifier(BaseBoostedClassifier):
    """Discrete AdaBoost; self-paced if given a pace.

    AdaBoost (Freund and Schapire 1997; for more than two classes SAMME, Zhu et al.
    2009) fits weak classifiers one after the other, each to weights that favour the
    samples that the ones before got wrong. With a ``pace`` it is SPLBoost.

    Parameters
    ----------
    {classification tree}
    {rounds}
    {pace}
    {discrete steps}
    {comforts}

    Attributes
    ----------
    {attributes of discrete boosters}

    See Also
    --------
    SPLBoostClassifier : The same with a pace by default.

    Examples
    --------
    >>> from splboost import AdaBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostedClassifier._parameter_constraints,
        "inner_steps": [Interval(Integral, 1, None, closed="left")],
        "on_perfect": [StrOptions({"stop", "continue"})],
    }
    _answers = VOTES

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | dict[Any, Any] | None = None,
        warm_rounds: int = 3,
        inner_steps: int = 1,
        subsample: float = 1.0,
        on_perfect: str = "stop",
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
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.pace = pace
        self.warm_rounds = warm_rounds
        self.inner_steps = inner_steps
        self.subsample = subsample
        self.on_perfect = on_perfect
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.scoring = scoring
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def _working_set(self) -> Any:
        from splboost.boosting.working_sets import discrete

        return discrete()

    def _make_step(self, weight: NDArray[np.float64]) -> Any:
        from splboost.boosting.steps import DiscreteStep

        perfect_stops = self.on_perfect == "stop"
        return DiscreteStep(
            self.classes_.size,
            1 / ((4 if perfect_stops else 2) * effective_size(weight)),
            self.learning_rate,
            self.inner_steps - 1,
            stop_when_perfect=perfect_stops,
        )

    @property
    def _per_score(self) -> float:
        return self.classes_.size - 1.0
