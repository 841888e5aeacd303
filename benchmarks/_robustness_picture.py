"""Mean ranks of the robustness benchmark, with Nemenyi's critical difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from splboost.paper.figures.critical_difference import draw_comparisons
from splboost.paper.statistics import Comparison

TITLE = "Mean rank of the test error under wrong labels: {}"


def save_comparisons(comparisons: Sequence[Comparison], path: Path) -> None:
    """One below the other, in a PNG file."""
    titled = [replace(each, title=TITLE.format(each.title)) for each in comparisons]
    path.parent.mkdir(parents=True, exist_ok=True)
    draw_comparisons(titled).savefig(path, dpi=130)
