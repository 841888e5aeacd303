"""Boosters of AdaBoost's loss: discrete, self-paced (SPLBoost), real and gentle."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from splboost.boosting.classifier import BaseBoostedClassifier, BaseValueBooster
from splboost.boosting.docstring_parts import documented
from splboost.boosting.model import SHARES, VOTES
from splboost.boosting.progress import Progress
from splboost.boosting.state import WorkingSet
from splboost.boosting.steps import (
    DiscreteStep,
    LogOdds,
    Means,
    ValueStep,
    effective_size,
)
from splboost.losses import Exponential, exponential
from splboost.pace import Pace


def by_exponential(m: Any, limit: Any) -> tuple[Any, Any]:
    """Discrete, Real and Gentle AdaBoost: the label, by the slope of exp(-m)."""
    return exponential(m), 1.0


DISCRETE = WorkingSet(Exponential(), exponential, by_exponential, joint=True)
GENTLE = WorkingSet(Exponential(coupled=False), exponential, by_exponential)


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
    {further parameters}

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
    _working_set = DISCRETE

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
        self._set_parameters(locals())

    def _make_step(self, weight: Any) -> Any:
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


@documented
class SPLBoostClassifier(AdaBoostClassifier):
    """AdaBoost that is not fooled by wrong labels.

    SPLBoost (self-paced boosting) believes a sample's loss only up to a point: a sample
    that the model gets badly wrong is more likely mislabelled than hard, and its weight
    goes to zero instead of growing. It minimises a *latent* loss, which follows
    AdaBoost's while it is small and goes flat where a label is no longer believed.

    It helps when labels are wrong here and there; it costs little on clean ones. It
    cannot help a weak learner strong enough to fit the wrong labels (deep trees), for
    then no loss is large; and a pace too strict for the data drops hard samples with
    the wrong ones. Where one class is rare, it drops many of it even if all labels are
    right, and a warning says so: use ``pace=Linear(prior_corrected=True)``.

    Parameters
    ----------
    {classification tree}
    {rounds}
    pace : Pace, str or dict, default="linear"
        How much of a sample's loss to believe: an object of ``splboost.pace``, or the
        name of one, which is then made with ``plateau=2.0``. Stumps with this pace did
        best among those tried (docs/defaults.md). None is AdaBoost. A dict
        gives each class its own, by label.
    {discrete steps}
    {further parameters}

    Attributes
    ----------
    {attributes of discrete boosters}

    See Also
    --------
    AdaBoostClassifier : The same without a pace by default.

    References
    ----------
    K. Wang, Y. Wang, Q. Zhao, D. Meng and Z. Xu, "SPLBoost: An Improved Robust Boosting
    Algorithm Based on Self-paced Learning".

    Examples
    --------
    >>> from splboost import SPLBoostClassifier
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, flipped = flip_labels(y, 0.15, random_state=0)
    >>> clf = SPLBoostClassifier().fit(X, y_noisy)
    >>> dropped = clf.sample_pace_ == 0
    >>> bool(dropped[flipped].mean() > 0.5), bool(dropped[~flipped].mean() < 0.1)
    (True, True)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        pace: Pace | str | dict[Any, Any] | None = "linear",
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
        self._set_parameters(locals())


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
    {further parameters}

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
    _working_set = DISCRETE

    def _make_step(self, weight: Any) -> Any:
        clip = 1 / max(effective_size(weight), self.classes_.size + 1)
        return ValueStep(LogOdds(self.learning_rate, clip), float(weight.sum()))

    @property
    def _per_score(self) -> float:
        return self.classes_.size - 1.0


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
    >>> from splboost import GentleBoostClassifier
    >>> from splboost.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = GentleBoostClassifier(n_estimators=20).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _working_set = GENTLE

    def _make_step(self, weight: Any) -> Any:
        return ValueStep(Means(self.learning_rate), float(weight.sum()))
