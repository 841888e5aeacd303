"""What the robustness benchmark measures, and where it keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from _cells import Cell

from splboost.paper.store import Store


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
