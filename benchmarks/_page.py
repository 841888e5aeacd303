"""Pieces of the pages of the long benchmarks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from _report import format_table
from _results import Results
from _robustness_data import CHOSEN_ON, GROUPS, MOST_TEST_ROWS, UNUSED

from splboost.paper.statistics import (
    ALPHA,
    Comparison,
    against,
    fewest_sets,
    wins_ties_losses,
)


def _names(group: str) -> str:
    return ", ".join(sorted(name for name in GROUPS if GROUPS[name] == group))


SPLIT = (
    "Each repeat divides a data set into two thirds to train with and a third to test "
    "with, stratified by class, and keeps at most {rows} training and "
    f"{MOST_TEST_ROWS} test rows. Training labels are then flipped: a share of all of "
    'them, or ("one-sided") that share of the positive class alone, which is the rarer '
    "class of the set. Test labels are right. In parkinsons all rows of a subject are "
    "on one side, but no method's own folds know of subjects."
)
SETS = (
    f"Sets are kept apart. Defaults of splboost were chosen on {_names(CHOSEN_ON)}, "
    "{splits}, and on draws from generators like these and like twonorm; nothing was "
    f"chosen on the files {_names(UNUSED)}."
)


def paragraph(text: str) -> str:
    return textwrap.fill(text, 88, break_on_hyphens=False)


def level_name(level: str) -> str:
    share, *sided = level.split(" ", 1)
    return " ".join([f"{share}%", *sided])


def sized(results: Results, part: str) -> str:
    return f"{part} ({len(results.means(part))})"


def completeness(results: Results) -> str:
    keys = ["data", "noise", "seed"]
    started = len(results.finished.drop_duplicates(keys))
    complete = len(results.complete.drop_duplicates(keys))
    repeats = len(results.averaged.drop_duplicates(["data", "seed"]))
    return (
        f"All {len(results.methods)} methods have finished {complete} of the {started} "
        "combinations of set, noise and seed that any of them has; only these count "
        f"below. Averages over wrong labels are over {repeats} repeats of "
        f"{results.averaged['data'].nunique()} sets, which have every level "
        f"({', '.join(map(level_name, results.wrong))}). State of the code: "
        f"{', '.join(results.finished['source'].unique())}."
    )


def list_failures(failures: Sequence[dict[str, Any]]) -> str:
    named = (
        f"- {each['method']} on {each['data']}, noise {each['noise']}, seed "
        f"{each['seed']}: {each['failure']}"
        for each in failures
    )
    return "\n".join(named)


def by_method(names: Sequence[str], columns: Mapping[str, pd.Series], form: str) -> str:
    """A row for each method."""
    lines = [
        [
            name,
            *(format(c[name], form) if name in c else "-" for c in columns.values()),
        ]
        for name in names
        if any(name in column for column in columns.values())
    ]
    return format_table(["method", *columns], lines)


def rank_remarks(compared: Mapping[str, Comparison]) -> str:
    """Whether mean ranks differ, part by part."""
    remarks = [
        f"- {part}: Friedman p = {each.friedman:.2g}; mean ranks more than "
        f"{each.critical_difference:.2f} apart differ (Nemenyi, {ALPHA:.0%})."
        if each.is_testable
        else f"- {part}: fewer than {fewest_sets()} sets, no test."
        for part, each in compared.items()
    ]
    return "\n".join(remarks)


def probability(p: float, *, is_testable: bool) -> str:
    return f"{p:.3g}" if is_testable and not math.isnan(p) else "-"


def against_table(
    means: pd.DataFrame, cells: pd.DataFrame, reference: str, planned: Sequence[str]
) -> str:
    """A row for each rival; differences in points, negative where it is worse."""
    is_testable = len(means) >= fewest_sets()
    lines = []
    for row in against(means, reference, planned).to_dict("records"):
        counts = wins_ties_losses(cells[reference], cells[row["rival"]])
        lines.append(
            [
                row["rival"],
                f"{100 * row['difference']:+.2f}",
                f"{row['wins']} / {row['ties']} / {row['losses']}",
                " / ".join(map(str, counts)),
                *(
                    probability(row[name], is_testable=is_testable)
                    for name in ("p", "p_holm", "p_planned")
                ),
            ]
        )
    header = [
        "rival", "difference (points)", "sets", "cells", "p", "Holm's p",
        "Holm's p, planned",
    ]  # fmt: skip
    return format_table(header, lines)
