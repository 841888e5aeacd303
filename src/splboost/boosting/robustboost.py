"""RobustBoost and BrownBoost: boosting with a potential that changes with time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from splboost._tools.threads import count_threads
from splboost._tools.user_warnings import warn
from splboost._tools.wording import counted
from splboost.boosting.classifier import BaseBoostedClassifier
from splboost.boosting.docstring_parts import documented
from splboost.boosting.fitting import Fitting, Samples
from splboost.boosting.loop import FINISHED, GOAL_REACHED, NO_EDGE, STUCK, VOTES
from splboost.boosting.potentials import (
    NEARLY,
    BrownPotential,
    PotentialState,
    PotentialStep,
    RobustPotential,
    decays,
)
from splboost.boosting.progress import Progress
from splboost.boosting.state import level_ties
from splboost.losses import LEAST_PROBABILITY

FloatArray = NDArray[np.float64]


class BasePotentialBooster(BaseBoostedClassifier):
    """A booster whose potential changes with time; it takes no pace."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: constraint
        for name, constraint in BaseBoostedClassifier._parameter_constraints.items()
        if name not in ("pace", "warm_rounds", "learning_rate")
    } | {"epsilon": [Interval(Real, 0, 1, closed="neither")]}
    _answers = VOTES
    _sample_attribute = "sample_potential_"
    pace = None
    warm_rounds = 0
    learning_rate = 1.0
    _is_joint = False

    times_: FloatArray
    sample_potential_: FloatArray
    _fitted_potential: RobustPotential | BrownPotential

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        epsilon: float = 0.1,
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

    @abstractmethod
    def _potential(self) -> RobustPotential | BrownPotential:
        """The potential, its parameters checked."""

    def _resolve_paces(self, samples: Samples, *, warns: bool = False) -> None:
        if self.scoring == "loss":
            raise ValueError(
                f'scoring="loss" says nothing of {type(self).__name__}, which keeps '
                "the average potential where it is; give None (accuracy), "
                '"neg_log_loss" or another scorer.'
            )
        # What is fitted does not follow parameters that are set later.
        self._fitted_potential = self._potential()

    def _fixed_parameters(self) -> dict[str, Any]:
        names = ("epsilon", "theta", "sigma", "variant")
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def _make_state(self, samples: Samples, *, validation: bool = False) -> Any:
        return PotentialState(
            self._fitted_potential,
            samples.codes,
            self.classes_.size,
            samples.weight,
            n_threads=count_threads(self.n_jobs),
        )

    def _make_step(self, weight: FloatArray) -> Any:
        return PotentialStep()

    def _set_rounds(self, fitting: Fitting, *given: Any, **more: Any) -> Any:
        state = super()._set_rounds(fitting, *given, **more)
        rounds = fitting.history.rounds[: self.n_iter_]
        times = np.array([each.time for each in rounds])
        self.times_ = times[:, 0] if times.shape[1] == 1 else times
        return state

    def _warn_of_results(self, fitting: Fitting) -> None:
        name = f"{type(self).__name__}(epsilon={self.epsilon!r})"
        rounds = counted(self.n_iter_, "round")
        # With more than two classes, of the one that has come least far.
        gone = float(np.min(self.times_[-1])) / self._fitted_potential.end
        reached = self.stop_reason_ == GOAL_REACHED
        if reached and self.n_iter_ == 1 and gone > 1 - NEARLY:
            warn(
                f"{name} has reached its goal in one round, so that the model is a "
                "single weak learner: this error is no effort. Lower epsilon."
            )
        elif self.stop_reason_ == STUCK:
            warn(
                f"{name} got stuck after {rounds} with {gone:.0%} of the "
                "time gone: its weak learners cannot get the error that low, and until "
                "they do no sample is given up. Raise epsilon, or use a stronger "
                "learner."
            )
        elif self.stop_reason_ == NO_EDGE and gone < 1 - NEARLY:
            warn(
                f"{name} ended after {rounds} with {gone:.0%} of the time "
                "gone: no weak learner does better than guessing on the weighted "
                "samples. Use a stronger learner; if it has an edge on none, the "
                "features say nothing of the classes."
            )
        elif self.stop_reason_ == FINISHED and gone < 1 - NEARLY:
            warn(
                f"{name} has done its {rounds} with {gone:.0%} of the "
                "time gone: until it is, hardly any sample is given up. Raise epsilon "
                "a little (if it then reaches its goal in one round, the right one is "
                "in between), or n_estimators."
            )

    def _time_after(self, n: int) -> Any:
        return self.times_[n]

    def _shape(self, output: FloatArray, time: Any = None) -> FloatArray:
        score = output * decays(self._fitted_potential, time)
        return score[:, 0] if self.classes_.size == 2 else level_ties(score)

    def _probability(self, score: FloatArray, time: Any = None) -> FloatArray:
        # One time for all classes keeps the order of their scores.
        own = self._fitted_potential.probability(score, float(np.min(time)))
        if score.ndim == 1:
            return np.column_stack([1 - own, own])
        own = np.maximum(own, LEAST_PROBABILITY)
        return own / own.sum(axis=1, keepdims=True)


@documented
class RobustBoostClassifier(BasePotentialBooster):
    """RobustBoost: gives up samples that it will not get right in time.

    A potential says how likely a sample of a given margin is to end on the wrong side.
    Each round moves the scores along a weak classifier, and time forward by as much as
    keeps the average potential at ``epsilon`` (Freund 2009). As time runs out, samples
    far behind lose their weight: they are the errors that the goal allows.

    ``epsilon`` decides. Too large, and the goal is reached in one round; too small, and
    boosting gets stuck early and gives up nothing. The useful values are a narrow band
    just above the error that can be attained; both failures are warned of. More than
    two classes are set one against the rest, each with a time of its own.

    There is no ``pace``, since the potential itself gives samples up, and no
    ``learning_rate``, since the goal fixes how far to go: steps and time are solved for
    together, and a shorter step would not keep the average potential.

    Parameters
    ----------
    {classification tree}
    n_estimators : int, default=200
        Most rounds.
    epsilon : float, default=0.1
        Average potential. In the two-sided variant it is the share of samples that may
        end below the goal; in the one-sided some two times the error, since samples
        behind the mean count in full.
    theta : float, default=0.0
        Margin that samples should end above.
    sigma : float, default=0.1
        Width of the potential at the end.
    variant : {"one-sided", "two-sided"}, default="one-sided"
        Whether samples behind the mean of the potential have no weight ("one-sided", as
        in the author's own implementation) or keep one.
    {subsample}
    {further parameters of potential boosters}

    Attributes
    ----------
    {attributes of potential boosters}

    References
    ----------
    Y. Freund, "A more robust boosting algorithm", arXiv:0905.2138 (2009).

    Examples
    --------
    >>> from splboost import RobustBoostClassifier
    >>> from splboost.datasets import flip_labels, make_long_servedio
    >>> X, y = make_long_servedio(800, random_state=0)
    >>> y_noisy, _ = flip_labels(y, 0.1, random_state=0)
    >>> clf = RobustBoostClassifier(epsilon=0.2, n_estimators=300).fit(X, y_noisy)
    >>> clf.stop_reason_, clf.score(X, y) > 0.95
    ('goal reached', True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BasePotentialBooster._parameter_constraints,
        "theta": [Real],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "variant": [StrOptions({"one-sided", "two-sided"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 200,
        epsilon: float = 0.1,
        theta: float = 0.0,
        sigma: float = 0.1,
        variant: str = "one-sided",
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

    def _potential(self) -> RobustPotential:
        two_sided = self.variant == "two-sided"
        return RobustPotential(self.epsilon, self.theta, self.sigma, two_sided)


@documented
class BrownBoostClassifier(BasePotentialBooster):
    """BrownBoost: boosting by majority in continuous time.

    Each round moves the scores along a weak classifier, and time forward by as much as
    keeps the average potential at ``epsilon`` (Freund 2001). Where little time is left,
    samples far behind have no weight. More than two classes are set one against the
    rest, each with a time of its own. As in ``RobustBoostClassifier`` there is no
    ``pace``, since the potential itself gives samples up, and no ``learning_rate``,
    since steps and time are solved for together.

    Parameters
    ----------
    {classification tree}
    n_estimators : int, default=200
        Most rounds.
    epsilon : float in (0, 1), default=0.1
        Average potential, two times the error to end with. It sets the time to spend:
        the smaller, the longer. If it cannot be attained, boosting gets stuck.
    {subsample}
    {further parameters of potential boosters}

    Attributes
    ----------
    {attributes of potential boosters}

    References
    ----------
    Y. Freund, "An adaptive version of the boost by majority algorithm", Machine
    Learning 43 (2001).

    Examples
    --------
    >>> from splboost import BrownBoostClassifier
    >>> from splboost.datasets import flip_labels, make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> y_noisy, _ = flip_labels(y, 0.15, random_state=0)
    >>> clf = BrownBoostClassifier(epsilon=0.3).fit(X, y_noisy)
    >>> clf.score(X, y) > 0.9
    True
    """

    def _potential(self) -> BrownPotential:
        return BrownPotential(self.epsilon)
