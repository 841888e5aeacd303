"""The page of the benchmark of engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from _engines_methods import DRAWS, FOLDS, METHODS, P_MIN, PAIRS, RANGES, draw_settings
from _page import (
    SPLIT,
    by_method,
    completeness,
    level_name,
    list_failures,
    paragraph,
    sized,
)
from _report import format_table
from _results import Results

ALL = "all data sets", "generators"


def _errors(results: Results, part: str) -> str:
    columns = {
        level_name(level): 100 * results.means_at(level, part).mean()
        for level in results.noise
        if len(results.means_at(level, part))
    }
    means = results.means(part)
    if len(means):
        columns["mean of wrong"] = 100 * means.mean()
    return by_method(results.methods, columns, ".1f")


def _pairs(results: Results, part: str) -> str:
    """Difference of each to its parent by level, with the standard error over sets."""
    lines = []
    for own, parent in PAIRS:
        if not {own, parent} <= set(results.methods):
            continue
        cells = []
        for level in results.noise:
            means = results.means_at(level, part)
            difference = 100 * (means[own] - means[parent]).to_numpy()
            if not len(difference):
                cells.append("-")
                continue
            error = (
                np.std(difference, ddof=1) / len(difference) ** 0.5
                if len(difference) > 1
                else np.nan
            )
            wins, losses = (difference < 0).sum(), (difference > 0).sum()
            cells.append(f"{difference.mean():+.1f} ± {error:.1f}, {wins}/{losses}")
        lines.append([own, parent, *cells])
    return format_table(["", "against", *map(level_name, results.noise)], lines)


def _count_off(results: Results) -> str:
    """How many of the settings drawn have no pace."""
    seeds = sorted(int(seed) for seed in results.complete["seed"].unique())
    drawn = [
        setting["p_min"]
        for package in RANGES
        for seed in seeds
        for setting in draw_settings(package, True, seed)
    ]
    return f"{drawn.count(0.0)} of the {len(drawn)} settings"


def sections(
    results: Results, rows: int, failures: Sequence[dict[str, Any]]
) -> list[str]:
    """The page, from what every compared method has finished."""
    seconds = results.complete.groupby("method")["fit_seconds"].mean()
    page = [
        paragraph(SPLIT.format(rows=rows)),
        paragraph(
            f"Tuned are the best of {DRAWS} random settings by accuracy on {FOLDS} "
            "folds of the noisy labels, the same settings with a pace and without; "
            f"with one, `p_min` is drawn as well ({P_MIN}), and is 0 in "
            f"{_count_off(results)} of both packages. Times are those of the "
            "processor, with one thread."
        ),
        completeness(results),
        "## Methods",
        format_table(
            ["method", "fit (s)", "what it is"],
            [
                [name, f"{seconds[name]:.2f}", METHODS[name].description]
                for name in results.methods
                if name in seconds
            ],
        ),
        "## Test error (%)",
    ]
    for part in (part for part in ALL if part in results.parts()):
        page += [
            f"### {sized(results, part)}",
            _errors(results, part),
            "Points more (+) or fewer (-) than the other, with the standard error over "
            "sets; on how many sets it is better / worse:",
            _pairs(results, part),
        ]
    page += [
        "## Ranges of the random settings",
        format_table(
            ["package", "parameter", "range"],
            [
                [package, name, str(each)]
                for package, ranges in RANGES.items()
                for name, each in ranges.items()
            ],
        ),
    ]
    if failures:
        page += ["## Failed fits", list_failures(failures)]
    return page
