"""A new booster from a loss: TangentBoost, paced on request.

The loss is (2 arctan(m) - 1)**2, with m the margin (H. Masnadi-Shirazi, V. Mahadevan
and N. Vasconcelos, "On the design of robust classifiers for computer vision", CVPR
2010). It is bounded, so that a wrong label can only do so much; and it rises again
where a sample is more than right, so that no score runs away. docs/new_booster.md goes
through it.
"""

from __future__ import annotations

import numpy as np

from splboost import AdaBoostClassifier
from splboost.boosting.custom import MarginLoss, MarginLossBooster
from splboost.datasets import flip_labels, make_gaussians


class Tangent(MarginLoss):
    """Four times the squared error of the probability p = arctan(F) + 1/2."""

    def value(self, margin):
        return (2 * np.arctan(margin) - 1) ** 2

    def weight(self, margin):
        return 4 * (1 - 2 * np.arctan(margin)) / (1 + margin**2)

    def link(self, score):
        return np.clip(np.arctan(score) + 0.5, 0, 1)

    def inverse_link(self, probability):
        return np.tan(probability - 0.5)


class TangentBoostClassifier(MarginLossBooster):
    """TangentBoost: Gauss-Newton steps on the tangent loss."""

    def margin_loss(self):
        return Tangent()

    def working_set(self, margin, y):
        # With p'(F) = 1 / (1 + F²) the error 1 - p of a label is, after a step f,
        # 1 - p - p' f: a weighted regression of (1 - p) / p' on the features.
        slope = 1 / (1 + margin**2)
        return slope**2, y * (0.5 - np.arctan(margin)) / slope


def main():
    X, y = make_gaussians(500, random_state=0)
    X_test, y_test = make_gaussians(10_000, random_state=1)
    y_noisy, flipped = flip_labels(y, 0.2, random_state=0)

    print("Test errors with a fifth of the training labels wrong, after 100 rounds:")
    for booster in (
        AdaBoostClassifier(n_estimators=100),
        TangentBoostClassifier(n_estimators=100),
        TangentBoostClassifier(n_estimators=100, pace="linear"),
        TangentBoostClassifier(n_estimators=100, n_iter_no_change=10, random_state=0),
    ):
        booster.fit(X, y_noisy)
        print(f"  {1 - booster.score(X_test, y_test):.3f}  {booster}")

    paced = TangentBoostClassifier(n_estimators=100, pace="hard").fit(X, y_noisy)
    dropped = paced.sample_pace_ == 0
    print(
        f"A hard pace drops {dropped[flipped].mean():.0%} of the wrong labels and "
        f"{dropped[~flipped].mean():.0%} of the right ones."
    )


if __name__ == "__main__":
    main()
