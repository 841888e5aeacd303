"""Boosters of AdaBoost's loss: discrete, self-paced (SPLBoost), real and gentle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from splboost.boosting.classifier import BaseBoostedClassifier, BaseValueBooster
from splboost.boosting.docstring_parts import documented
from splboost.boosting.loop import PERFECT, SHARES, VOTES, Round, Rows, Step
from splboost.boosting.progress import Progress
from splboost.boosting.state import State, WorkingSet
from splboost.boosting.steps import LogOdds, Means, ValueStep, least_share
from splboost.losses import Exponential, exponential
from splboost.pace import Pace

FloatArray = NDArray[np.float64]


def by_exponential(m: Any, limit: Any) -> tuple[Any, Any]:
    """Discrete, Real and Gentle AdaBoost: the label, by the slope of exp(-m)."""
    return exponential(m), 1.0


LEAST_EDGE = 1e-12
SMALLEST_ERROR = 1e-10
SETTLED = 1e-8

DISCRETE = WorkingSet(Exponential(), exponential, by_exponential, joint=True)
GENTLE = WorkingSet(Exponential(coupled=False), exponential, by_exponential)


# ---------------------------------------------------------------------------- the step


@dataclass
class DiscreteStep(Step):
    """AdaBoost's step: a classifier with a weighted error, and a move in closed form.

    The move minimises the weighted exponential loss along the classifier's votes. With
    K classes a move a changes the margin by (K - 1) a where the vote is right and by -a
    where it is wrong, and

        a = (log((1 - err) / err) + log(K - 1)) / K,

    which for two classes is AdaBoost's alpha. SAMME's coefficient of the vote coded as
    (1, -1/(K-1), ...) is (K - 1)^2 a.

    Parameters
    ----------
    n_classes : int
    floor : float
        The error is kept at least so far away from 0 and 1.
    learning_rate : float
    n_alternations : int
        How often to alternate between paces and learner within a round, at most.
    stop_when_perfect : bool
        Whether to end with a learner that makes no error.
    """

    n_classes: int
    floor: float
    learning_rate: float = 1.0
    n_alternations: int = 0
    stop_when_perfect: bool = True

    def propose(self, learners: Any, state: State, rows: Rows, *, paced: bool) -> Round:
        learner = learners[0]
        new = self._fit(learner, state, state.weight[0], rows, state.n_selected)
        if paced and self.n_alternations and new.has_edge:
            new = self._alternate(learner, state, rows, new)
        weak = new.weak[0]
        weak.vote(self.n_classes, self.learning_rate * new.move)
        new.shift = (self.n_classes - 1) * weak.factor
        return new

    def _fit(
        self, learner: Any, state: State, weight: FloatArray, rows: Rows, n: int
    ) -> Round:
        """Fit on the drawn rows, or on all if those are too few; judge on all."""
        drawn = weight if rows is None else weight * rows
        if rows is None or not learner.can_fit(drawn):
            weak = learner.fit(weight)
            error = weak.error
        else:
            weak = learner.fit(drawn)
            error = weak.missed(weight, state.codes) / float(weight.sum())
        k = self.n_classes
        floor = max(SMALLEST_ERROR, self.floor)
        kept = min(max(error, floor), 1 - floor)
        move = (math.log((1 - kept) / kept) + math.log(k - 1)) / k
        has_edge = error < 1 - 1 / k - LEAST_EDGE
        return Round([weak], has_edge, (k - 1) ** 2 * move, error, n, move)

    def ends_after(self, state: State, rounds: list[Round]) -> str | None:
        """Whether the last learner makes no error: the next would be like it."""
        error = rounds[-1].error
        perfect = error is not None and error <= 0
        return PERFECT if perfect and self.stop_when_perfect else None

    def _alternate(self, learner: Any, state: State, rows: Rows, new: Round) -> Round:
        """Alternate between paces and learner while the scores stay where they are.

        Takes the paces at the scores to which the learner would lead, and refits with
        them; until the paces settle, or until the new learner does not do better than
        the old one under them (trees are greedy, so it may not).
        """
        v = state.paces()
        plain = state.sample_weight * state.plain_weight()
        for _ in range(self.n_alternations):
            new.weak[0].keep()
            new_v, loss = self._look_ahead(state, new)
            settled = np.abs(new_v - v).max() < SETTLED
            v = new_v
            weight = plain * v
            if settled or np.unique(state.codes[weight > 0]).size < 2:
                break
            newer = self._fit(learner, state, weight, rows, int(np.count_nonzero(v)))
            if not newer.has_edge or self._look_ahead(state, newer, v)[1] >= loss:
                break
            new = newer
        return new

    def _look_ahead(
        self, state: State, new: Round, v: FloatArray | None = None
    ) -> tuple[FloatArray, float]:
        """Paces, and the loss weighted by them, that a full step would lead to.

        With ``v`` given, the loss is weighted by that instead.
        """
        weak = new.weak[0]
        weak.vote(self.n_classes, new.move)
        state.follow(new)
        v = state.paces() if v is None else v
        loss = float((state.sample_weight * v * state.losses()).sum())
        weak.output = -weak.output
        state.follow(new)
        return v, loss


# ------------------------------------------------------------------------- the boosters


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
        # Weights that sum to less than the number of samples still are that many.
        size = max(float(weight.sum()), weight.size)
        return DiscreteStep(
            self.classes_.size,
            1 / ((4 if perfect_stops else 2) * size),
            self.learning_rate,
            self.inner_steps - 1,
            stop_when_perfect=perfect_stops,
        )


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
        clip = least_share(weight, self.classes_.size)
        return ValueStep(LogOdds(self.learning_rate, clip), float(weight.sum()))


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
