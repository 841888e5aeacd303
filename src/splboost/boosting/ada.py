"""AdaBoost, paced on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from splboost.boosting.families.discrete import BaseDiscreteBooster
from splboost.boosting.families.documentation import documented
from splboost.boosting.progress import Progress
from splboost.pace import Pace


@documented
class AdaBoostClassifier(BaseDiscreteBooster):
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
