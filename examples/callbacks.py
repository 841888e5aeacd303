"""Callbacks: a limit of time, and a model that survives Ctrl-C.

Press Ctrl-C while it runs: the rounds done so far are kept.
"""

from __future__ import annotations

import time

import numpy as np

from splboost import SPLBoostClassifier
from splboost.boosting import Progress

SECONDS = 3.0


class TimeLimit:
    """Stops after some seconds, and keeps what there is when interrupted."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.start: float | None = None
        self.next_report = 0.0

    def __call__(self, progress: Progress) -> bool:
        if progress.interrupted:
            print(f"Ctrl-C in round {progress.round + 1}.")
            return True
        now = time.monotonic()
        if self.start is None:
            self.start = self.next_report = now
        if now >= self.next_report:
            self.next_report += 0.5
            accuracy = progress.model.score(X_test, y_test)  # made only when asked for
            print(
                f"round {progress.round:5}: {progress.n_selected} samples selected, "
                f"latent objective {progress.latent_objective:8.1f}, "
                f"test accuracy {accuracy:.3f}"
            )
        return now - self.start > self.seconds


rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 10))
y = ((X**2).sum(axis=1) > 9.34).astype(int)  # within a sphere, or without
X, X_test, y, y_test = X[:50_000], X[50_000:], y[:50_000], y[50_000:]
y = np.where(rng.random(y.size) < 0.2, 1 - y, y)

model = SPLBoostClassifier(
    n_estimators=100_000,
    learning_rate=0.1,
    callback=TimeLimit(SECONDS),
)
print(f"Fitting for {SECONDS} seconds; press Ctrl-C to end it sooner.")
model.fit(X, y)
print(
    f"Stopped by {model.stop_reason_}: {model.n_iter_} rounds kept, "
    f"test accuracy {model.score(X_test, y_test):.3f}."
)
