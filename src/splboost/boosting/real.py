"""Real AdaBoost, paced on request."""

from __future__ import annotations

from typing import Any

from splboost.boosting.booster import effective_size
from splboost.boosting.classifier import BaseValueBooster
from splboost.boosting.docstring_parts import documented
from splboost.boosting.weak_learner import SHARES


@documented
class RealAdaBoostClassifier(BaseValueBooster):
    """Real AdaBoost: learners add half the log-odds of the classes.

    Each round fits class probabilities with AdaBoost's weights, and adds half their
    log-odds to the score (Friedman, Hastie and Tibshirani 2000; for more than two
    classes SAMME.R, Zhu et al. 2009). Where a leaf is pure the step is as large as
    clipping the probability at 1/n allows, so single samples can move the score far,
    and wrong labels fool it early.

    Parameters
    ----------
    {probability tree}
    {pace and rounds}
    {comforts}

    Attributes
    ----------
    {attributes}

    References
    ----------
    J. Friedman, T. Hastie and R. Tibshirani, "Additive logistic regression: a
    statistical view of boosting", Annals of Statistics 28 (2000).

    J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its
    Interface 2 (2009).

    Examples
    --------
    >>> from splboost import RealAdaBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = RealAdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _answers = SHARES

    def _working_set(self) -> Any:
        from splboost.boosting.working_sets import discrete

        return discrete()

    def _make_step(self, weight: Any) -> Any:
        from splboost.boosting.steps import LogOdds, ValueStep

        clip = 1 / max(effective_size(weight), self.classes_.size + 1)
        return ValueStep(LogOdds(self.learning_rate, clip), float(weight.sum()))

    @property
    def _per_score(self) -> float:
        return self.classes_.size - 1.0
