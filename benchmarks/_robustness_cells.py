"""What the robustness benchmark measures in one go, and where it keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from splboost.paper.store import Store


class Cell(NamedTuple):
    """What is measured in one go."""

    settings: str
    data: str
    noise: str
    seed: int
    method: str


class Measures(NamedTuple):
    """What is measured."""

    error: float
    balanced_accuracy: float
    log_loss: float
    fit_seconds: float
    predict_seconds: float


MEASURES = Measures._fields


def open_store(path: Path) -> Store:
    """The store of the benchmark."""
    return Store(path, Cell, Measures)
