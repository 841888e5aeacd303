"""Boosters of your own, from a margin loss.

A booster derived from ``MarginLossBooster`` has all that the others have: a pace, early
stopping, warm starts, callbacks, staged predictions, frames with missing values and
categories, and more than two classes, each set against the rest.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from splboost.boosting.classifier import BaseValueBooster
from splboost.boosting.fitting import Samples
from splboost.boosting.loop import MEANS, SHARES
from splboost.boosting.state import WorkingSet
from splboost.boosting.steps import LogOdds, Means, ValueStep, least_share
from splboost.losses import MarginLoss, check_numbers

__all__ = ["MarginLoss", "MarginLossBooster"]

FloatArray = NDArray[np.float64]
KEYWORDS = inspect.Parameter.VAR_KEYWORD


class FromMargins(WorkingSet):
    """A booster of the user's own: weights and targets from margins and labels.

    Parameters
    ----------
    loss : MarginLoss
    working_set : callable
        ``working_set(margin, y)`` returns weight and target of each sample.
    booster : str
        Its name, for errors.
    """

    def __init__(
        self,
        loss: MarginLoss,
        working_set: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
        booster: str,
    ) -> None:
        super().__init__(loss, None, None)
        self.working_set = working_set
        self.booster = booster

    def fit(self, margin: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        weight, target = map(np.asarray, self.working_set(margin, y))
        wrong = ~((weight >= 0) & np.isfinite(weight) & np.isfinite(target))
        if wrong.any():
            i = int(np.flatnonzero(wrong + np.zeros(y.size, dtype=bool))[0])
            weight, target = weight + np.zeros(y.size), target + np.zeros(y.size)
            raise ValueError(
                f"{self.booster}.working_set gives weight={weight[i]} and "
                f"target={target[i]} at margin={margin[i]:.6g}, y={y[i]:.0f}; weights "
                "must be finite and not negative, targets finite."
            )
        return weight, target


class MarginLossBooster(BaseValueBooster, ABC):
    """A booster that minimises a margin loss; derive yours from it.

    ``margin_loss`` is all it needs. Each round then fits a regression to the labels,
    ±1, each weighted by how fast its loss falls, and adds it to the score, as
    GentleBoost does. ``working_set`` may have it fit something else, and ``answers``
    makes it fit class probabilities instead.

    A constructor with further parameters may pass the others on by ``**others``; these
    are parameters of the new booster, too.

    Attributes
    ----------
    answers : {"means", "shares"}
        A class attribute: what counts of a weak learner. "means" are those of a
        regression, and added as they are. "shares" are the class probabilities of a
        classifier, of which half the log-odds are added; there the target is unused.

    See Also
    --------
    splboost.losses.MarginLoss : A loss, and its link to probabilities.
    splboost.losses.check_margin_loss : Tests one of your own.

    Examples
    --------
    >>> from splboost.boosting.custom import MarginLossBooster
    >>> from splboost.datasets import make_gaussians
    >>> from splboost.losses import Logistic
    >>> class GentleLogitBoost(MarginLossBooster):
    ...     def margin_loss(self):
    ...         return Logistic(coupled=False)
    >>> X, y = make_gaussians(random_state=0)
    >>> clf = GentleLogitBoost(n_estimators=20, pace="linear").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    answers: ClassVar[str] = MEANS

    @abstractmethod
    def margin_loss(self) -> MarginLoss:
        """The loss to minimise, as the parameters have it."""

    def working_set(
        self, margin: FloatArray, y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """What a round fits: a weight and a target for each sample.

        Parameters
        ----------
        margin : array of shape (n,)
            y times the score, kept within ±345.
        y : array of shape (n,)
            1 for samples of the class whose score it is, -1 for the others.

        Returns
        -------
        weight : array of shape (n,)
            Not negative. Paces and sample weights multiply it afterwards.
        target : array of shape (n,)
        """
        return self.margin_loss().weight(margin), y

    def _check_numbers(self) -> None:
        """Refuse a loss or a working set whose answers no round could use."""
        margin = np.linspace(-4.0, 4.0, 9)
        check_numbers(self.margin_loss(), margin)
        answer = self.working_set(margin, np.where(np.arange(9) % 2, 1.0, -1.0))
        pair = isinstance(answer, tuple | list)
        shapes = [np.shape(each) for each in answer] if pair else [np.shape(answer)]
        if len(shapes) != 2 or not set(shapes) <= {(), margin.shape}:
            raise ValueError(
                f"{type(self).__name__}.working_set gives arrays of the shapes "
                f"{shapes} for margins of the shape {margin.shape}; return a weight "
                "and a target, with a number for each margin."
            )

    # --------------------------------------------------- what the base class asks for

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        init = vars(cls).get("__init__")
        if init is not None:
            init.__signature__ = _with_those_passed_on(init, super(cls, cls).__init__)

    @property
    def _answers(self) -> str:  # type: ignore[override]
        if self.answers not in (MEANS, SHARES):
            raise ValueError(
                f"{type(self).__name__}.answers={self.answers!r} is no answer of a "
                f"weak learner; set it to {MEANS!r} or {SHARES!r}."
            )
        return self.answers

    def _resolve_paces(self, samples: Samples, *, warns: bool = False) -> None:
        self._check_numbers()
        super()._resolve_paces(samples, warns=warns)

    @property
    def _working_set(self) -> WorkingSet:  # type: ignore[override]
        return FromMargins(self.margin_loss(), self.working_set, type(self).__name__)

    def _make_step(self, weight: FloatArray) -> Any:
        link: Any = Means(self.learning_rate)
        if self._answers == SHARES:
            link = LogOdds(self.learning_rate, least_share(weight))
        return ValueStep(link, float(weight.sum()))


def _with_those_passed_on(init: Any, above: Any) -> inspect.Signature:
    """The signature of a constructor, those in place of ``**others`` of the one above.

    scikit-learn reads from it what the parameters of an estimator are.
    """
    signature = inspect.signature(init)
    own = [each for each in signature.parameters.values() if each.kind != KEYWORDS]
    if len(own) == len(signature.parameters):
        return signature
    names = {each.name for each in own}
    others = [
        each.replace(kind=each.KEYWORD_ONLY)
        for each in inspect.signature(above).parameters.values()
        if each.name not in names
    ]
    return signature.replace(parameters=[*own, *others])
