"""What the robustness benchmark has measured, as tables that may be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from _results import Results
from _robustness_methods import METHODS

LESS_IS_BETTER = ("error", "balanced_error", "log_loss")


def results_of(rows: Sequence[dict[str, Any]], noise: Iterable[str]) -> Results:
    """Those of finished cells."""
    finished = pd.DataFrame(rows)
    finished["balanced_error"] = 1 - finished["balanced_accuracy"]
    return Results(finished, METHODS, noise, "error")
