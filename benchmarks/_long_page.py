"""Pieces of the pages of the long benchmarks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from _long import PARTS, Results
from _long_data import CHOSEN_ON, GROUPS, MOST_TEST_ROWS, UNUSED
from _long_methods import RANGES, Method
from _report import format_table

from splboost.paper.statistics import (
    ALPHA,
    against,
    critical_difference,
    fewest_sets,
    friedman,
    holm,
    ranks,
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
TESTS = (
    "how often it wins, ties and loses, by set and by cell (set, noise and seed); "
    "Wilcoxon's signed-rank test over sets, with Holm's correction for having tested "
    "every rival, and for the two that were named beforehand ({planned}). With eight "
    "sets no p is below 0.0078."
)
NAMES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}


def paragraph(text: str) -> str:
    return textwrap.fill(text, 88, break_on_hyphens=False)


def level_name(level: str) -> str:
    share, *sided = level.split(" ", 1)
    return " ".join([f"{share}%", *sided])


def sized(results: Results, part: str) -> str:
    return f"{part} ({len(results.means(part))})"


def completeness(results: Results) -> str:
    keys = ["data", "noise", "repeat"]
    started = len(results.finished.drop_duplicates(keys))
    complete = len(results.complete.drop_duplicates(keys))
    repeats = len(results.averaged.drop_duplicates(["data", "repeat"]))
    return paragraph(
        f"All {len(results.methods)} methods have finished {complete} of the {started} "
        "combinations of set, noise and seed that any of them has; only these count "
        f"below. Averages over wrong labels are over {repeats} repeats of "
        f"{results.averaged['data'].nunique()} sets, which have every level "
        f"({', '.join(map(level_name, results.wrong))}). State of the code: "
        f"{', '.join(results.finished['source'].unique())}."
    )


def method_table(
    results: Results, methods: Mapping[str, Method], times: Mapping[str, str]
) -> str:
    """What each method is, and its mean times; ``times`` says what columns hold."""
    seconds = results.complete.groupby("method")[list(times)]
    means, counts = seconds.mean(), seconds.size()
    lines = [
        [
            name,
            counts[name],
            *(f"{value:.3f}" for value in means.loc[name]),
            ", ".join(" ".join(each) for each in methods[name].versions().items()),
            methods[name].description,
        ]
        for name in results.methods
        if name in counts
    ]
    header = ["method", "cells", *times.values(), "versions", "what it is"]
    return format_table(header, lines)


def range_table() -> str:
    """What random settings are drawn from."""
    lines = [
        [NAMES[package], name, str(each)]
        for package, ranges in RANGES.items()
        for name, each in ranges.items()
    ]
    return format_table(["package", "parameter", "range"], lines)


def failures_section(failures: Sequence[dict[str, Any]]) -> list[str]:
    if not failures:
        return []
    named = (
        f"- {each['method']} on {each['data']}, noise {each['noise']}, seed "
        f"{each['seed']}: {each['failure']}"
        for each in failures
    )
    return ["## What failed", "\n".join(named)]


def by_method(names: Sequence[str], columns: Mapping[str, pd.Series], form: str) -> str:
    """A row for each method."""
    lines = [
        [name, *(format(c[name], form) if name in c else "-" for c in columns.values())]
        for name in names
        if any(name in column for column in columns.values())
    ]
    return format_table(["method", *columns], lines)


def mean_and_largest(
    results: Results,
    level: str,
    measure: str,
    form: str,
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda means: means,
) -> str:
    """Mean and largest value of the sets at one level, for each part that has any."""
    found = {
        f"{part} ({len(means)})": change(means)
        for part, means in results.parts(measure, level=level).items()
    }
    lines = [
        [name, *(form.format(v[name].mean(), v[name].max()) for v in found.values())]
        for name in results.methods
    ]
    return format_table(["method", *found], lines)


def rank_section(results: Results, measure: str, name: str) -> list[str]:
    """Mean ranks of a measure, and whether they differ."""
    columns, remarks = {}, []
    for part in results.parts():
        means = results.compared(part, measure)
        n_sets, n_methods = means.shape
        columns[sized(results, part)] = ranks(means).mean()
        remarks.append(
            f"- {part}: Friedman p = {friedman(means):.2g}; mean ranks more than "
            f"{critical_difference(n_methods, n_sets):.2f} apart differ (Nemenyi, "
            f"{ALPHA:.0%})."
            if n_sets >= fewest_sets()
            else f"- {part}: fewer than {fewest_sets()} sets, no test."
        )
    return [
        f"Mean ranks of the {name} (number of sets):",
        by_method(results.methods, columns, ".2f"),
        "\n".join(remarks),
    ]


def level_section(
    results: Results,
    part: str,
    levels: Sequence[str],
    tables: Mapping[str, tuple[str, Callable[[pd.DataFrame], pd.Series], str]],
) -> list[str]:
    """Tables of a part by level of noise: a measure, its summary over sets, a form."""
    page = []
    for title, (measure, summarise, form) in tables.items():
        columns = {}
        for level in levels:
            means = results.means(part, measure, level=level)
            if len(means):
                columns[f"{level_name(level)} ({len(means)})"] = summarise(means)
        if columns:
            page += [f"{title}:", by_method(results.methods, columns, form)]
    return [f"## By noise: {part}", *page] if page else []


def set_table(results: Results, measure: str, scale: float, form: str) -> str:
    """Means under wrong labels, a row for each set."""
    means = scale * pd.concat([results.means(part, measure) for part in PARTS])
    means = means[~means.index.duplicated()]
    lines = [
        [name, GROUPS[name], *(format(means.loc[name, m], form) for m in means)]
        for name in GROUPS
        if name in means.index
    ]
    return format_table(["set", "group", *means], lines)


def probability(p: float, n_sets: int) -> str:
    return f"{p:.3g}" if n_sets >= fewest_sets() and not math.isnan(p) else "-"


def difference_rows(
    means: pd.DataFrame, reference: str, scale: float = 100, digits: int = 2
) -> list[list[str]]:
    """The reference against each other column: name, difference, counts and test."""
    return [
        [
            row["rival"],
            f"{scale * row['difference']:+.{digits}f}",
            f"{row['wins']} / {row['ties']} / {row['losses']}",
            probability(row["p"], len(means)),
        ]
        for row in against(means, reference).to_dict("records")
    ]


def against_table(
    means: pd.DataFrame, cells: pd.DataFrame, reference: str, planned: Sequence[str]
) -> str:
    """A row for each rival; differences in points, negative where it is worse."""
    tested = against(means, reference).set_index("rival")
    named = [name for name in planned if name in tested.index]
    p_planned = dict(zip(named, holm(tested.loc[named, "p"].to_numpy()), strict=True))
    lines = difference_rows(means, reference)
    for line in lines:
        rival = line[0]
        counts = wins_ties_losses((cells[reference] - cells[rival]).to_numpy())
        line.insert(3, " / ".join(map(str, counts)))
        for p in (tested.loc[rival, "p_holm"], p_planned.get(rival, math.nan)):
            line.append(probability(p, len(means)))
    header = ["rival", "difference (points)", "sets", "cells"]
    return format_table([*header, "p", "Holm's p", "Holm's p, planned"], lines)
