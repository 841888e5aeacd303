"""What the robustness benchmark does in a cell: fit a classifier, and judge it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from _robustness_cells import open_store
from _robustness_data import Problem
from _robustness_methods import METHODS, Method
from _work import Task
from sklearn.metrics import balanced_accuracy_score, log_loss

LEAST_PROBABILITY = 1e-3  # for the log loss


def positive_probability(model: Any, X: Any) -> np.ndarray:
    """Also of a model that has seen one class only."""
    probability = model.predict_proba(X)
    classes = list(model.classes_)
    return probability[:, classes.index(1)] if 1 in classes else np.zeros(len(X))


def measure(method: Method, problem: Problem, seed: int) -> dict[str, float]:
    """Fit and judge."""
    start = time.process_time()
    model = method.fit(problem.X, problem.y, seed, 1)
    fitted = time.process_time()
    probability = positive_probability(model, problem.X_test)
    predicted = time.process_time()
    guess = (probability > 0.5).astype(int)
    clipped = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return {
        "error": float(np.mean(guess != problem.y_test)),
        "balanced_accuracy": float(balanced_accuracy_score(problem.y_test, guess)),
        "log_loss": float(log_loss(problem.y_test, clipped, labels=[0, 1])),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
    }


def describe(figures: dict[str, float]) -> str:
    return f"error {figures['error']:.1%}, {figures['fit_seconds']:.1f} s"


TASK = Task(METHODS, open_store, measure, describe)
