"""GentleBoost, paced on request."""

from __future__ import annotations

from typing import Any

from splboost.boosting.classifier import BaseValueBooster
from splboost.boosting.docstring_parts import documented


@documented
class GentleBoostClassifier(BaseValueBooster):
    """Gentle AdaBoost: a Newton step on AdaBoost's loss in every round.

    Each round fits a regression to the labels, ±1, with AdaBoost's weights, and adds it
    to the score (Friedman, Hastie and Tibshirani 2000). Steps are at most 1, where
    AdaBoost's have no bound, so it is gentler with outliers; but its loss is the same,
    and grows without bound. With a ``pace`` it is self-paced. More than two classes are
    set one against the rest.

    Parameters
    ----------
    {regression tree}
    {pace and rounds}
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
    >>> from splboost import GentleBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = GentleBoostClassifier(n_estimators=20).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    def _working_set(self) -> Any:
        from splboost.boosting.working_sets import gentle

        return gentle()

    def _make_step(self, weight: Any) -> Any:
        from splboost.boosting.steps import Means, ValueStep

        return ValueStep(Means(self.learning_rate), float(weight.sum()))
