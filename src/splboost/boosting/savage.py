"""SavageBoost, paced on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from splboost.boosting.booster import effective_size
from splboost.boosting.classifier import BaseValueBooster
from splboost.boosting.docstring_parts import documented
from splboost.boosting.progress import Progress
from splboost.boosting.weak_learner import SHARES
from splboost.pace import Pace


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
    {comforts}

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
        self.line_search = line_search

    def _working_set(self) -> Any:
        from splboost.boosting.working_sets import savage_boost

        return savage_boost()

    def _default_plateau(self) -> float:
        return 1.5

    def _make_step(self, weight: Any) -> Any:
        from splboost.boosting.steps import HalvingStep, LogOdds, ValueStep

        total = float(weight.sum())
        link = LogOdds(self.learning_rate, 1 / max(effective_size(weight), 3))
        if self.line_search:
            return HalvingStep(link, total, self.learning_rate)
        return ValueStep(link, total)
