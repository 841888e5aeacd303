"""How far to go along a weak learner."""

from __future__ import annotations

import math

from splboost.boosting.scores import on_grid

NO_EDGE = 1e-12
SMALLEST_ERROR = 1e-10


class DiscreteStep:
    """AdaBoost's step for a classifier with a weighted error, in closed form.

    It minimises the weighted exponential loss along the classifier's votes. With K
    classes a step a moves the margin by (K - 1) a where the vote is right and by -a
    where it is wrong, and

        a = (log((1 - err) / err) + log(K - 1)) / K,

    which for two classes is AdaBoost's alpha. SAMME's coefficient of the vote coded as
    (1, -1/(K-1), ...) is (K - 1)^2 a.

    Parameters
    ----------
    n_classes : int
    n_samples : float
        What the floor of the error, 1 / (4 n_samples), is taken from.
    learning_rate : float
    """

    def __init__(
        self, n_classes: int, n_samples: float, learning_rate: float = 1.0
    ) -> None:
        self.n_classes = n_classes
        self.learning_rate = learning_rate
        self.floor = max(SMALLEST_ERROR, 1 / (4 * n_samples))

    def has_edge(self, error: float) -> bool:
        """Whether the classifier beats guessing."""
        return error < 1 - 1 / self.n_classes - NO_EDGE

    def full(self, error: float) -> float:
        """The minimising step, the error kept away from 0 and 1."""
        k = self.n_classes
        error = min(max(error, self.floor), 1 - self.floor)
        return (math.log((1 - error) / error) + math.log(k - 1)) / k

    def shortened(self, full: float) -> float:
        """The step to take: times the learning rate, on the grid of exact sums."""
        return on_grid(self.learning_rate * full)

    def coefficient(self, full: float) -> float:
        """The step in the scale of the paper: AdaBoost's alpha, SAMME's beta."""
        return (self.n_classes - 1) ** 2 * full
