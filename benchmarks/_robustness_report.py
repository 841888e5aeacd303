"""The page of the robustness benchmark: what was measured, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from _page import (
    SETS,
    SPLIT,
    against_table,
    by_method,
    completeness,
    level_name,
    list_failures,
    paragraph,
    probability,
    rank_remarks,
    sized,
)
from _report import format_table
from _results import PARTS, Results
from _robustness_data import CLEAN, GROUPS
from _robustness_methods import METHODS, PLANNED_RIVALS
from _robustness_results import LESS_IS_BETTER
from _robustness_tuning import LIGHTGBM_RANGES, XGBOOST_RANGES
from _robustness_work import LEAST_PROBABILITY

from splboost.paper.statistics import (
    against,
    distance_from_best,
    fewest_sets,
    ranks,
)

SETTING = (
    SPLIT,
    SETS.format(splits="with other splits than these"),
    "The unit of every test is the data set: errors are averaged over noise and seeds "
    f"first. For the log loss probabilities are kept {LEAST_PROBABILITY:g} away from 0 "
    "and 1. It is that of right labels, so a model pays for saying how many of the "
    "training labels were wrong. Times are those of the processor, with one thread.",
)


def _method_table(results: Results) -> str:
    seconds = results.complete.groupby("method")[["fit_seconds", "predict_seconds"]]
    means, counts = seconds.mean(), seconds.size()
    lines = []
    for name in results.methods:
        fit, predict = means.loc[name]
        versions = METHODS[name].versions().items()
        lines.append(
            [
                name,
                counts[name],
                f"{fit:.2f}",
                f"{predict:.3f}",
                ", ".join(" ".join(each) for each in versions),
                METHODS[name].description,
            ]
        )
    header = ["method", "cells", "fit (s)", "predict (s)", "versions", "what it is"]
    return format_table(header, lines)


def _range_table() -> str:
    packages = {"LightGBM": LIGHTGBM_RANGES, "XGBoost": XGBOOST_RANGES}
    lines = [
        [package, name, str(each)]
        for package, ranges in packages.items()
        for name, each in ranges.items()
    ]
    return format_table(["package", "parameter", "range"], lines)


def _ranks(results: Results) -> list[str]:
    page = []
    for measure in LESS_IS_BETTER:
        compared = {part: results.compare(part, measure) for part in results.parts()}
        columns = {sized(results, part): c.mean_ranks for part, c in compared.items()}
        page += [
            f"Mean ranks of the {measure.replace('_', ' ')} (number of sets):",
            by_method(results.methods, columns, ".2f"),
        ]
        page.append(rank_remarks(compared))
    return page


def _against(results: Results) -> list[str]:
    page = []
    for part in results.parts():
        means = results.means(part)[results.ranked]
        table = against_table(
            means, results.cells(part), results.reference, PLANNED_RIVALS
        )
        page += [f"### {sized(results, part)}", table]
    return page


def _variants(results: Results) -> str:
    """Each variant against what it is a variant of."""
    lines = []
    for name in results.methods:
        whole = METHODS[name].variant_of
        for part in results.parts() if whole in results.methods else ():
            for measure in LESS_IS_BETTER:
                means = results.means(part, measure)
                (row,) = against(means[[whole, name]], whole, ()).to_dict("records")
                scale = 100 if "error" in measure else 1
                is_testable = len(means) >= fewest_sets()
                lines.append(
                    [
                        whole,
                        name,
                        sized(results, part),
                        measure.replace("_", " "),
                        f"{scale * row['difference']:+.3f}",
                        f"{row['wins']} / {row['ties']} / {row['losses']}",
                        probability(row["p"], is_testable=is_testable),
                    ]
                )
    header = ["method", "against", "part", "measure", "difference", "sets", "p"]
    return format_table(header, lines)


def _distance(results: Results) -> str:
    means = {part: results.means_at(CLEAN, part) for part in PARTS}
    points = {
        f"{part} ({len(table)})": 100 * distance_from_best(table)
        for part, table in means.items()
        if len(table)
    }
    lines = [
        [
            name,
            *(f"{p[name].mean():.2f} ({p[name].max():.1f})" for p in points.values()),
        ]
        for name in results.methods
    ]
    return format_table(["method", *points], lines)


def _clean_means(results: Results) -> str:
    """Mean errors, and how far they are from that of the best method."""
    columns = {}
    for part in PARTS:
        means = 100 * results.means_at(CLEAN, part).mean()
        if means.notna().any():
            columns[f"{part} (%)"] = means
            columns[f"{part}, above the best"] = means - means[results.ranked].min()
    return by_method(results.methods, columns, ".2f")


def _levels(results: Results, part: str) -> list[str]:
    """Everything by level of noise."""

    def means(measure: str) -> dict[str, pd.DataFrame]:
        tables = {x: results.means_at(x, part, measure) for x in results.noise}
        return {level_name(x): table for x, table in tables.items() if len(table)}

    errors = means("error")
    if not errors:
        return []
    tables = {
        "Test error (%)": ({x: 100 * t.mean() for x, t in errors.items()}, ".1f"),
        "Mean rank of the error": (
            {x: ranks(t[results.ranked]).mean() for x, t in errors.items()},
            ".2f",
        ),
        "Balanced accuracy (%)": (
            {x: 100 * t.mean() for x, t in means("balanced_accuracy").items()},
            ".1f",
        ),
        "Log loss": ({x: t.mean() for x, t in means("log_loss").items()}, ".3f"),
    }
    counts = ", ".join(f"{len(t)} at {x}" for x, t in errors.items())
    page = [f"## By noise: {part}", f"Means over sets: {counts}."]
    for title, (columns, form) in tables.items():
        page += [f"{title}:", by_method(results.methods, columns, form)]
    return page


def _by_set(results: Results) -> str:
    means = 100 * pd.concat([results.means(part) for part in PARTS])
    means = means[~means.index.duplicated()]
    lines = [
        [name, GROUPS[name], *(f"{means.loc[name, m]:.1f}" for m in results.methods)]
        for name in GROUPS
        if name in means.index
    ]
    return format_table(["set", "group", *results.methods], lines)


def sections(
    results: Results, rows: int, failures: Sequence[dict[str, Any]], picture: str | None
) -> list[str]:
    """The page, in pieces."""
    page = [
        *(paragraph(text.format(rows=rows)) for text in SETTING),
        paragraph(completeness(results)),
        "## Methods",
        _method_table(results),
        "Random settings are drawn from these ranges, evenly or in the logarithm:",
        _range_table(),
    ]
    if failures:
        page += ["## Fits that failed", list_failures(failures)]
    if len(results.averaged) and len(results.methods) > 1:
        page += ["## Ranks under wrong labels", *_ranks(results)]
        if picture is not None:
            page.append(f"![Mean ranks with critical differences]({picture})")
        legend = (
            "Differences of the mean test error, negative where it errs less; how "
            "often it wins, ties and loses, by set and by cell (set, noise and seed); "
            "Wilcoxon's signed-rank test over sets, with Holm's correction for having "
            "tested every rival, and for the two that were named beforehand "
            f"({' and '.join(PLANNED_RIVALS)}). With eight sets no p is below 0.0078."
        )
        page += [f"## {results.reference} against each rival, wrong labels"]
        page += [paragraph(legend), *_against(results)]
    if any(METHODS[name].variant_of in results.methods for name in results.methods):
        legend = (
            "Variants take no part in ranks. Differences are negative where the whole "
            "method is better than the variant; errors are in points."
        )
        page += ["## What parts of a method add", paragraph(legend)]
        page.append(_variants(results))
    if CLEAN in results.noise:
        page += [
            "## Right labels",
            "Mean test error, and points above the method of the lowest mean:",
            _clean_means(results),
            "Points above the best method of each set: mean (largest).",
            _distance(results),
        ]
    for part in PARTS:
        page += _levels(results, part)
    page += ["## By set: test error (%) under wrong labels", _by_set(results)]
    return page
