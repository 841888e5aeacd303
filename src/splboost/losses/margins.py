"""The margin losses of the boosters, and what one of your own derives from."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import bisect
from scipy.special import expit, log_softmax, logit, softmax

FloatArray = NDArray[np.float64]

MOST = 700.0  # exponent that still gives a number
MOST_AHEAD = 600.0  # the same where a sum over all classes must be one, too
LEAST_PROBABILITY = 1e-300


class MarginLoss(ABC):
    """A loss of the margin, and the probability of which a score is the minimiser.

    Unless ``link`` says otherwise, the expected loss is lowest where the score is
    F = log-odds / ``log_odds_per_score``.

    Parameters
    ----------
    coupled : bool
        Whether the scores of more than two classes are coupled by a softmax; if not,
        each is that of one class against the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> class Brier(MarginLoss):
    ...     log_odds_per_score = 1.0
    ...     def value(self, margin):
    ...         return expit(-margin) ** 2
    ...     def weight(self, margin):
    ...         return 2 * expit(margin) * expit(-margin) ** 2
    >>> loss = Brier()
    >>> loss.probability(np.array([0.0, np.log(3)])).round(3)
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    >>> round(loss.plateau_of(2.0, n_classes=2), 6)  # of a label at probability 1/5
    0.64
    """

    log_odds_per_score: ClassVar[float] = 2.0

    def __init__(self, *, coupled: bool = False) -> None:
        self.coupled = coupled

    def __repr__(self) -> str:
        return f"{type(self).__name__}(coupled={self.coupled})"

    @abstractmethod
    def value(self, margin: FloatArray) -> FloatArray:
        """The loss at each margin."""

    @abstractmethod
    def weight(self, margin: FloatArray) -> FloatArray:
        """How fast the loss falls with the margin: what a sample counts for."""

    def link(self, score: FloatArray) -> FloatArray:
        """Probability of the second of two classes, from its score."""
        return expit(self.log_odds_per_score * score)

    def inverse_link(self, probability: FloatArray) -> FloatArray:
        """The score at a probability."""
        return logit(probability) / self.log_odds_per_score

    def at_odds(self, against: FloatArray) -> FloatArray:
        """The loss where these are the odds against the label."""
        return self.value(self.inverse_link(1 / (1 + against)))

    def odds_at(self, value: float) -> float:
        """The odds against a label of that loss."""

        def above(log_odds: float) -> float:
            return float(self.at_odds(np.array(math.exp(log_odds)))) - value

        if above(-MOST) >= 0:
            return 0.0
        return math.exp(bisect(above, -MOST, MOST)) if above(MOST) > 0 else math.inf

    def probability(self, score: FloatArray) -> FloatArray:
        """Probability of each class, from the minimiser of the expected loss.

        Where each class is set against the rest, the probabilities that these models
        give are divided by their sum.
        """
        if score.ndim == 1:
            upper = self.link(score)
            return np.column_stack([1 - upper, upper])
        if self.coupled:
            return softmax(score, axis=1)
        own = np.maximum(self.link(score), LEAST_PROBABILITY)
        return own / own.sum(axis=1, keepdims=True)

    def doubt(self, score: FloatArray, codes: NDArray[np.integer]) -> FloatArray:
        """Loss that a pace sees, from the odds against the sample's own class.

        For more than two classes the odds are divided by what they are for an undecided
        model, K - 1, so that an age means the same strength for any K. The exponential
        loss itself would not do, for instance: exp(-G_y) depends on how the rest of the
        probability is spread over the other classes, and hardly grows with ten of them.
        """
        if score.ndim == 1:
            return self.value(np.where(codes == 1, score, -score))
        return self.at_odds(self._odds(score, codes) / (score.shape[1] - 1))

    def _odds(self, score: FloatArray, codes: NDArray[np.integer]) -> FloatArray:
        """(1 - p) / p of the sample's own class."""
        rows = np.arange(codes.size)
        if self.coupled:  # the sum of exp(G_k - G_y) over the other classes
            ahead = score - score[rows, codes][:, None]
            ahead[rows, codes] = -np.inf
            return np.exp(np.minimum(ahead, MOST_AHEAD)).sum(axis=1)
        own = np.maximum(self.link(score), LEAST_PROBABILITY)
        return (own.sum(axis=1) - own[rows, codes]) / own[rows, codes]

    def probability_at(self, doubt: float, n_classes: int) -> float:
        """Probability of a label, from the loss that a pace sees of it."""
        return 1 / (1 + (n_classes - 1) * self.odds_at(doubt))

    def doubt_at(self, probability: float, n_classes: int) -> float:
        """Loss that a pace sees of a label, from its probability."""
        against = np.array((1 / probability - 1) / (n_classes - 1))
        return float(self.at_odds(against))

    def plateau_of(self, plateau: float, n_classes: int) -> float:
        """The plateau in units of this loss, from one of the exponential loss.

        Both are the loss of a label at the probability from which it is not believed.
        """
        if plateau == math.inf:
            return plateau
        against = (n_classes - 1) * plateau * plateau
        return self.doubt_at(1 / (1 + against), n_classes)


class Exponential(MarginLoss):
    """AdaBoost's loss exp(-m).

    It is 1 where the model is undecided. With K coupled classes it is the loss of SAMME
    (Zhu et al. 2009): there F = (K - 1) G, and the loss is exp(-F_y / (K - 1)) =
    exp(-G_y).
    """

    def __init__(self, *, coupled: bool = True) -> None:
        super().__init__(coupled=coupled)

    def value(self, margin: FloatArray) -> FloatArray:
        """exp(-m), for margins of any size: beyond ±700 it stays where it is."""
        return np.exp(np.clip(-margin, -MOST, MOST))

    def weight(self, margin: FloatArray) -> FloatArray:
        return self.value(margin)

    def at_odds(self, against: FloatArray) -> FloatArray:
        return np.sqrt(against)

    def odds_at(self, value: float) -> float:
        return value * value

    def plateau_of(self, plateau: float, n_classes: int) -> float:
        return plateau


class Logistic(MarginLoss):
    """LogitBoost's loss log(1 + exp(-2 m)), the negative log-likelihood of the label.

    With K coupled classes it is -log p_y, with p the softmax of the scores.
    """

    def __init__(self, *, coupled: bool = True) -> None:
        super().__init__(coupled=coupled)

    def value(self, margin: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, -2 * margin)

    def weight(self, margin: FloatArray) -> FloatArray:
        return 2 * expit(-2 * margin)

    def at_odds(self, against: FloatArray) -> FloatArray:
        return np.log1p(against)

    def odds_at(self, value: float) -> float:
        return math.expm1(min(value, MOST))

    def doubt(self, score: FloatArray, codes: NDArray[np.integer]) -> FloatArray:
        """Minus the logarithm of the label's probability, for any number of classes."""
        if score.ndim == 1:
            return super().doubt(score, codes)
        rows = np.arange(codes.size)
        if self.coupled:
            return -log_softmax(score, axis=1)[rows, codes]
        return -np.log(self.probability(score)[rows, codes])

    def probability_at(self, doubt: float, n_classes: int) -> float:
        return math.exp(-doubt)

    def doubt_at(self, probability: float, n_classes: int) -> float:
        return -math.log(probability)


class Savage(MarginLoss):
    """SavageBoost's loss (1 + exp(2 m))**-2, flat where a sample is badly wrong.

    With p the probability of the label it is (1 - p)**2, the Brier score under the
    logistic link.
    """

    def value(self, margin: FloatArray) -> FloatArray:
        return expit(-self.log_odds_per_score * margin) ** 2

    def weight(self, margin: FloatArray) -> FloatArray:
        right = expit(self.log_odds_per_score * margin)
        wrong = expit(-self.log_odds_per_score * margin)
        return 2 * self.log_odds_per_score * right * wrong * wrong

    def at_odds(self, against: FloatArray) -> FloatArray:
        return (against / (1 + against)) ** 2

    def odds_at(self, value: float) -> float:
        root = math.sqrt(min(value, 1.0))
        return root / (1 - root) if root < 1 else math.inf


class Savage2(Savage):
    """RBoost's loss (1 + exp(m))**-2: Savage with scores twice as large."""

    log_odds_per_score = 1.0


class Squared:
    """Half the squared residual, L2Boost's loss."""

    def value(self, residual: FloatArray) -> FloatArray:
        return 0.5 * residual * residual
