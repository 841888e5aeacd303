"""The page of the audit benchmark: what was measured, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
from _audit_methods import (
    CLEANLAB,
    FIVE_FITS,
    METHODS,
    OURS,
    PLANNED_RIVALS,
    QUICK_AUDIT,
)
from _audit_results import (
    ALL_RIGHT,
    AS_THEY_ARE,
    Tally,
    cleaned_errors,
    tally_bins,
    tally_cuts,
    tally_suspects,
    time_ratios,
)
from _audit_work import N_BINS, PRECISIONS
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
from _report import format_ratio, format_table
from _results import PARTS, Results
from _robustness_data import CLEAN, GROUPS

from splboost.paper.statistics import against, fewest_sets, wins_ties_losses

SETTING = (
    SPLIT,
    SETS.format(splits="partly with the same splits"),
    "Methods see the training rows and their labels, and are asked which labels were "
    "flipped. Sets from files may have wrong labels of their own; who finds these is "
    "counted as mistaken. cleanlab doubts labels by the same five fits as LightGBM, so "
    "the two rank them alike; they decide otherwise. The unit of every test is the "
    "data set: figures are averaged over noise and seeds first. Times are those of the "
    "processor, with one thread.",
)
MEANS = {
    "Average precision": ("average_precision", ".3f"),
    "Precision among as many of the worst as are flipped": (
        "precision_at_flipped",
        ".3f",
    ),
    "F1 of the method's own decision": ("f1", ".3f"),
    "Precision of the method's own decision": ("precision", ".3f"),
    "Recall of the method's own decision": ("recall", ".3f"),
}


def _method_table(results: Results) -> str:
    seconds = results.complete.groupby("method")["seconds"]
    means, counts = seconds.mean(), seconds.size()
    lines = []
    for name in results.methods:
        versions = METHODS[name].versions().items()
        lines.append(
            [
                name,
                counts[name],
                f"{means[name]:.2f}",
                ", ".join(" ".join(each) for each in versions),
                METHODS[name].description,
            ]
        )
    header = ["method", "cells", "seconds", "versions", "what it is"]
    return format_table(header, lines)


# -------------------------------------------------------------------------- the ranking


def _means(results: Results) -> list[str]:
    page = []
    for title, (measure, form) in MEANS.items():
        columns = {
            sized(results, part): results.means(part, measure).mean()
            for part in results.parts()
        }
        page += [f"{title}:", by_method(results.methods, columns, form)]
        page += _left_out(results, measure)
    return page


def _left_out(results: Results, measure: str) -> list[str]:
    """Of which cells there is no such figure, so that means are over the others."""
    is_missing = results.averaged[measure].isna().groupby(results.averaged["method"])
    lacking = [
        f"{name} {is_missing.sum()[name]} of {is_missing.size()[name]}"
        for name in results.methods
        if is_missing.sum()[name]
    ]
    if not lacking:
        return []
    return [
        paragraph(
            "These means leave out cells in which a method suspects no label, so that "
            f"there is no such figure, and are not over the same cells: "
            f"{', '.join(lacking)}."
        )
    ]


def _ranks(results: Results) -> list[str]:
    compared = {part: results.compare(part) for part in results.parts()}
    columns = {sized(results, part): c.mean_ranks for part, c in compared.items()}
    return [
        "Mean ranks of the average precision (number of sets):",
        by_method(results.methods, columns, ".2f"),
        rank_remarks(compared),
    ]


def _audits(results: Results) -> dict[str, list[str]]:
    """This library's, each with its rivals."""
    own = [name for name in (OURS, QUICK_AUDIT) if name in results.methods]
    rivals = [name for name in results.methods if name not in own]
    return {name: rivals for name in own if rivals}


def _against(results: Results, audit: str, rivals: list[str]) -> list[str]:
    page = []
    for part in results.parts():
        means = results.means(part)[[audit, *rivals]]
        table = against_table(means, results.cells(part), audit, PLANNED_RIVALS)
        page += [f"### {audit}, {sized(results, part)}", table]
    return page


def _ahead(results: Results) -> str:
    """In how many of the cells, by rival."""
    lines = []
    for audit, rivals in _audits(results).items():
        for rival in rivals:
            shares = []
            for part in results.parts():
                cells = results.cells(part)
                wins, _, _ = wins_ties_losses(cells[audit], cells[rival])
                shares.append(f"{wins / len(cells):.0%} of {len(cells)}")
            lines.append([audit, rival, *shares])
    return format_table(["method", "is ahead of", *results.parts()], lines)


def _levels(results: Results, part: str) -> list[str]:
    """The main figures by level of noise."""
    page = []
    for title in list(MEANS)[:3]:
        measure, form = MEANS[title]
        tables = {x: results.means_at(x, part, measure) for x in results.wrong}
        columns = {
            f"{level_name(x)} ({len(table)})": table.mean()
            for x, table in tables.items()
            if len(table)
        }
        if columns:
            page += [f"{title}:", by_method(results.methods, columns, form)]
    return [f"## By noise: {part}", *page] if page else []


def _by_set(results: Results) -> str:
    means = pd.concat([results.means(part, "average_precision") for part in PARTS])
    means = means[~means.index.duplicated()]
    lines = [
        [name, GROUPS[name], *(f"{means.loc[name, m]:.3f}" for m in results.methods)]
        for name in GROUPS
        if name in means.index
    ]
    return format_table(["set", "group", *results.methods], lines)


# ------------------------------------------------------------------ what audits state


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def _groups(results: Results) -> list[str]:
    there = set(results.complete["data"].map(GROUPS))
    return [group for group in dict.fromkeys(GROUPS.values()) if group in there]


def _tally_table(
    results: Results, first: str, rows: Sequence[str], tallies: Callable[[str], Any]
) -> str:
    """Of the tallies of a group, one for each row."""
    header, columns = [first], [list(rows)]
    for group in _groups(results):
        own: list[Tally] = tallies(group)
        header += [f"{group}: labels", "stated", "real"]
        columns += [
            [f"{each.labels:.0f}" for each in own],
            [_percent(each.stated) for each in own],
            [_percent(each.real) for each in own],
        ]
        if not all(math.isnan(each.lowest) for each in own):
            header.append("lowest")
            columns.append([_percent(each.lowest) for each in own])
    return format_table(header, list(zip(*columns, strict=True)))


def _stated(results: Results) -> list[str]:
    bins = [f"{k / N_BINS:.0%} to {(k + 1) / N_BINS:.0%}" for k in range(N_BINS)]
    asked = [f"{precision:.0%}" for precision in PRECISIONS]
    levels = [level_name(level) for level in results.wrong]
    page = []
    for audit in (OURS, QUICK_AUDIT):
        if audit not in results.methods:
            continue

        def of_levels(group: str, audit: str = audit) -> list[Tally]:
            return [tally_suspects(results, audit, group, x) for x in results.wrong]

        def of_cuts(group: str, audit: str = audit) -> list[Tally]:
            return tally_cuts(results, audit, group)

        def of_bins(group: str, audit: str = audit) -> list[Tally]:
            return tally_bins(results, audit, group)

        page += [
            f"### {audit}",
            "All labels, by the stated chance that they are wrong; each cell counts "
            "the same:",
            _tally_table(results, "stated chance", bins, of_bins),
            "Suspects by the precision that is asked for; means over sets with "
            "suspects, and the set where it is lowest:",
            _tally_table(results, "asked for", asked, of_cuts),
            "Suspects by its own decision, over sets with suspects:",
            _tally_table(results, "noise", levels, of_levels),
        ]
    return page


def _false_alarms(results: Results) -> str:
    """Share of the labels that are suspected: mean over sets, and largest."""
    columns = {}
    for part in PARTS:
        share = results.means_at(CLEAN, part, "suspected")
        if len(share):
            columns[f"{part} ({len(share)})"] = share
    lines = [
        [
            name,
            *(f"{s[name].mean():.1%} ({s[name].max():.0%})" for s in columns.values()),
        ]
        for name in results.methods
    ]
    return format_table(["method", *columns], lines)


# ----------------------------------------------------------------- what it is good for


def _cleaned_table(results: Results, part: str) -> str:
    """Mean test errors, of all wrong labels and by level."""
    tables = {"wrong labels": cleaned_errors(results, part, None)}
    for level in results.noise:
        tables[level_name(level)] = cleaned_errors(results, part, level)
    columns = {
        f"{name} ({len(table)})": 100 * table.mean()
        for name, table in tables.items()
        if len(table)
    }
    names = list(next(iter(tables.values())).columns)
    return by_method(names, columns, ".2f").replace("method", "labels", 1)


def _cleaned_against(results: Results, part: str) -> str:
    """Ways to clean against the labels as they are and against cleanlab's."""
    errors = cleaned_errors(results, part, None)
    is_testable = len(errors) >= fewest_sets()
    rivals = [name for name in (AS_THEY_ARE, f"{CLEANLAB}: dropped") if name in errors]
    lines = []
    for audit in _audits(results):
        for done in ("dropped", "corrected"):
            own = f"{audit}: {done}"
            for row in against(errors[[own, *rivals]], own, ()).to_dict("records"):
                lines.append(
                    [
                        own,
                        row["rival"],
                        f"{100 * row['difference']:+.2f}",
                        f"{row['wins']} / {row['ties']} / {row['losses']}",
                        probability(row["p"], is_testable=is_testable),
                    ]
                )
    return format_table(["labels", "against", "points", "sets", "p"], lines)


def _cleaned(results: Results) -> list[str]:
    page = []
    for part in results.parts():
        page += [
            f"### {sized(results, part)}",
            _cleaned_table(results, part),
            _cleaned_against(results, part),
        ]
    return page


def _times(results: Results) -> str:
    ratios = time_ratios(results, FIVE_FITS)
    lines = [
        [name, *map(format_ratio, (own.median(), own.min(), own.max()))]
        for name, own in ratios.items()
    ]
    header = ["method", "median of the sets", "least", "most"]
    return format_table(header, lines)


# ---------------------------------------------------------------------------- the page


def sections(
    results: Results, rows: int, failures: Sequence[dict[str, Any]], picture: str | None
) -> list[str]:
    """The page, in pieces."""
    page = [
        *(paragraph(text.format(rows=rows)) for text in SETTING),
        paragraph(completeness(results)),
        "## Methods",
        _method_table(results),
    ]
    if failures:
        page += ["## Audits that failed", list_failures(failures)]
    if len(results.averaged):
        page += ["## Finding wrong labels", *_means(results)]
    if picture is not None:
        page.append(f"![Average precision by noise, and stated chances]({picture})")
    if len(results.averaged) and len(results.methods) > 1:
        page += _ranks(results)
    if len(results.averaged) and _audits(results):
        legend = (
            "Differences of the mean average precision, in points and negative where "
            "the audit finds more; how often it wins, ties and loses, by set and by "
            "cell (set, noise and seed); Wilcoxon's signed-rank test over sets, with "
            "Holm's correction for having tested every rival, and for the two that "
            f"were named beforehand ({' and '.join(PLANNED_RIVALS)}). With eight sets "
            "no p is below 0.0078."
        )
        page += ["## Against each rival", "Cells in which audits are ahead:"]
        page += [_ahead(results), paragraph(legend)]
        for audit, rivals in _audits(results).items():
            page += _against(results, audit, rivals)
    if results.wrong and len(results.complete):
        page += ["## What is stated, and what is real", *_stated(results)]
    if CLEAN in results.noise and len(results.complete):
        legend = (
            "Share of the labels that are suspected, none of which was flipped: mean "
            "over sets (largest)."
        )
        page += ["## False alarms on right labels", legend, _false_alarms(results)]
    if FIVE_FITS in results.methods and len(results.complete):
        legend = "Multiples of the time of five LightGBM fits on the same labels."
        page += ["## Time", legend, _times(results)]
    if len(results.averaged):
        legend = (
            "Test error (%) of LightGBM as it comes, trained on the labels as they "
            "are, without each method's suspects, with what it would label them, and "
            f"on the {ALL_RIGHT}. Negative differences are in favour of the audit."
        )
        page += ["## Is the cleaned data better?", paragraph(legend)]
        page += _cleaned(results)
    for part in PARTS:
        page += _levels(results, part)
    if len(results.averaged):
        page += ["## By set: average precision", _by_set(results)]
    return page
