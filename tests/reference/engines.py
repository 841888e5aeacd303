"""Self-paced gradients for a boosting package, one sample after the other.

ALGORITHMS, section 3: with v = v*(age; loss) at the raw margin, gradient and Hessian
of the loss are both multiplied by v, and by the weight of the sample.
"""

from __future__ import annotations

import math

import numpy as np

from reference.paces import pace_weight


def sample_loss(loss: str, score, label: int) -> float:
    """The loss of one sample; a score is a log-odds, or one for each class."""
    if loss == "logistic":
        p = 1.0 / (1.0 + math.exp(-score))
        return -math.log(p if label == 1 else 1.0 - p)
    if loss == "exponential":
        y = 2 * label - 1
        return math.exp(-y * score / 2.0)
    odds = [math.exp(each) for each in score]
    return -math.log(odds[label] / sum(odds))


def sample_gradient(loss: str, score, label: int, factor: float):
    """Gradient and Hessian of one sample; of a softmax the diagonal times a factor."""
    if loss == "logistic":
        p = 1.0 / (1.0 + math.exp(-score))
        return p - label, p * (1.0 - p)
    if loss == "exponential":
        y = 2 * label - 1
        return -y * math.exp(-y * score / 2.0) / 2.0, math.exp(-y * score / 2.0) / 4.0
    odds = [math.exp(each) for each in score]
    p = [each / sum(odds) for each in odds]
    gradient = [p[k] - (1.0 if k == label else 0.0) for k in range(len(p))]
    return gradient, [factor * each * (1.0 - each) for each in p]


def paced_gradient(
    loss: str,
    scores,
    labels,
    weights,
    *,
    kind: str,
    age: float,
    factor: float = 2.0,
    **shape,
):
    """Gradients, Hessians and paces of all samples."""
    gradients, hessians, paces = [], [], []
    for score, label, weight in zip(scores, labels, weights, strict=True):
        value = sample_loss(loss, score, int(label))
        v = float(pace_weight(kind, value, age, **shape))
        gradient, hessian = sample_gradient(loss, score, int(label), factor)
        gradients.append(v * weight * np.asarray(gradient))
        hessians.append(v * weight * np.asarray(hessian))
        paces.append(v)
    return np.array(gradients), np.array(hessians), np.array(paces)
