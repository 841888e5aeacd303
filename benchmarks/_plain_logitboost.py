"""A plain LogitBoost on given trees, with the habits of other packages.

They compute 1 - p from p, which loses its digits where p is near 1, keep weights from
becoming small, and round. This says what that does where it matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from _follow import Tree, evaluate, fill


@dataclass(frozen=True)
class Habits:
    """Of another package.

    Attributes
    ----------
    z_max : where it cuts off the working response
    keep_gradient : whether it then raises the weight
    least_weight : a limit of p (1 - p)
    single : whether responses, and what a tree adds, are in single precision
    """

    z_max: float
    keep_gradient: bool = False
    least_weight: float = 0.0
    single: bool = False


def replay(
    rounds: list[list[Tree]], X: np.ndarray, y: np.ndarray, habits: Habits
) -> np.ndarray:
    """Scores after each round; of two classes, those of the second."""
    k = len(rounds[0])
    number = np.float32 if habits.single else np.float64
    labels = np.column_stack([y == j for j in range(k)] if k > 1 else [y == 1])
    score = np.zeros(labels.shape)
    stages = []
    for trees in rounds:
        if k == 1:
            p = 1 / (1 + np.exp(-2 * score))
        else:
            power = np.exp(score - score.max(axis=1, keepdims=True))
            p = power / power.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            size = np.minimum(np.where(labels, 1 / p, 1 / (1 - p)), habits.z_max)
        z = np.where(labels, size, -size)
        w = np.maximum(p * (1 - p), habits.least_weight)
        if habits.keep_gradient:
            w = (labels - p) / z
        z = z.astype(number).astype(float)
        added = np.empty(score.shape)
        for j, tree in enumerate(trees):
            counts = w[:, j] > 0
            filled = fill(tree, X[counts], z[counts, j : j + 1], w[counts, j])
            added[:, j] = evaluate(filled, X).astype(number)
        if k == 1:
            score = score + added / 2
        else:
            score = score + (k - 1) / k * (added - added.mean(axis=1, keepdims=True))
        stages.append(score if k > 2 else score[:, -1])
    return np.array(stages)
