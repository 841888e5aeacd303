"""Which way to find wrong labels finds them? An honest table.

The audits of this library, cleanlab, a random forest and out-of-fold gradient boosting
on sixteen data sets and three generators, with 5 to 30% of the labels flipped, with 20%
of the positive class flipped alone, and with none flipped, for false alarms. Then a
LightGBM is trained on what each leaves of the data. Nothing is measured twice: what is
there is kept in a file, one row for each set, noise, seed and method, and a run goes on
where another was killed. Several runs may work on one file at a time.

    python benchmarks/audit.py                  measures what is missing, for hours
    python benchmarks/audit.py --report         saves what is there, in results/
    python benchmarks/audit.py --quick          small, to see that it works

All needs ``pip install 'splboost[bench,rivals]'``. The data sets are read from the
folder that SPLBOOST_DATA names; without it there are the generators.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _audit_methods import (
    CLEANLAB,
    FIVE_FITS,
    METHODS,
    N_BINS,
    OURS,
    PLANNED_RIVALS,
    QUICK_AUDIT,
    Measures,
    measure,
)
from _long import PARTS, Results, Study
from _long_data import CLEAN, GROUPS
from _long_page import (
    SETS,
    SPLIT,
    TESTS,
    against_table,
    by_method,
    completeness,
    difference_rows,
    failures_section,
    level_name,
    level_section,
    mean_and_largest,
    method_table,
    paragraph,
    rank_section,
    set_table,
    sized,
)
from _report import format_ratio, format_table

from splboost.paper.statistics import mean_of, wins_ties_losses

SEEDS = 0, 1
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
    "Average precision": "average_precision",
    "Precision among as many of the worst as are flipped": "precision_at_flipped",
    "F1 of the method's own decision": "f1",
    "Precision of the method's own decision": "precision",
    "Recall of the method's own decision": "recall",
}


# ------------------------------------------------------------------------ the results

FIGURES = [name for name in Measures._fields if name != "bins"]
AS_THEY_ARE, ALL_RIGHT = "labels as they are", "right labels"


def derive(finished: pd.DataFrame) -> pd.DataFrame:
    """With the measures that follow from the others."""
    finished = finished.copy()
    finished[FIGURES] = finished[FIGURES].astype(float)
    found, suspects, flipped = (
        finished[name] for name in ("found", "suspects", "flipped")
    )
    # Tests take less for better.
    finished["lost_precision"] = 1 - finished["average_precision"]
    finished["precision"] = found / suspects.where(suspects > 0)
    finished["recall"] = found / flipped.where(flipped > 0)
    finished["f1"] = 2 * found / (suspects + flipped).where(flipped > 0)
    finished["suspected"] = suspects / finished["rows"]
    return finished


def stated_and_real(
    results: Results, audit: str, group: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What an audit states in a group of sets, and the real shares of wrong labels.

    The first frame has a row for each tenth of the stated chance, over all labels;
    each cell counts the same. The second has one for each level of noise, over
    suspects; each set with suspects counts the same, and ``lowest`` is the real share
    of the set where it is lowest.
    """
    own = results.complete
    own = own[own["noise"].isin(results.wrong) & (own["method"] == audit)]
    own = own[own["data"].map(GROUPS) == group]
    names = "labels", "stated", "real"
    bins = np.array([json.loads(text) for text in own["bins"]])  # cells, bins, names
    weighted = (bins / own["rows"].to_numpy()[:, None, None]).sum(axis=0)
    by_chance = pd.DataFrame(weighted, columns=names)
    by_chance = by_chance.div(
        by_chance["labels"].where(by_chance["labels"] > 0), axis=0
    )
    by_chance["labels"] = bins[:, :, 0].sum(axis=0)

    own = own.assign(stated=own["stated_precision"] * own["suspects"])
    sums = own.groupby(["noise", "data"])[["suspects", "stated", "found"]].sum()
    sums = sums[sums["suspects"] > 0].set_axis(names, axis=1)
    shares = sums.div(sums["labels"], axis=0).groupby("noise")
    by_level = shares.mean().assign(lowest=shares["real"].min())
    by_level["labels"] = sums["labels"].groupby("noise").sum()
    return by_chance, by_level.reindex(results.wrong).fillna({"labels": 0})


def cleaned_errors(results: Results, part: str, level: str | None) -> pd.DataFrame:
    """Test errors by set, for what may be done with the labels.

    ``level`` is one of noise, or None for wrong labels of all levels.
    """

    def means(measure: str) -> pd.DataFrame:
        return results.means(part, measure, level=level)

    first = results.methods[0]  # those without an audit are the same for all
    columns = {AS_THEY_ARE: means("error_raw")[first]}
    for done in ("dropped", "corrected"):
        of_method = means(f"error_{done}")
        for name in results.methods:
            columns[f"{name}: {done}"] = of_method[name]
    columns[ALL_RIGHT] = means("error_right")[first]
    return pd.DataFrame(columns)


# -------------------------------------------------------------------------- the ranking


def mean_tables(results: Results) -> list[str]:
    """Means under wrong labels, and of which cells there is no such figure."""
    page = []
    for title, each in MEANS.items():
        columns = {
            f"{part} ({len(means)})": means.mean()
            for part, means in results.parts(each).items()
        }
        page += [f"{title}:", by_method(results.methods, columns, ".3f")]
        is_missing = results.averaged[each].isna().groupby(results.averaged["method"])
        missing, size = is_missing.sum(), is_missing.size()
        lacking = [f"{m} {missing[m]} of {size[m]}" for m in missing[missing > 0].index]
        if lacking:
            page.append(
                paragraph(
                    "These means leave out cells in which a method suspects no label, "
                    "so that there is no such figure, and are not over the same cells: "
                    f"{', '.join(lacking)}."
                )
            )
    return page


def _audits(results: Results) -> dict[str, list[str]]:
    """This library's, each with its rivals."""
    own = [name for name in (OURS, QUICK_AUDIT) if name in results.methods]
    rivals = [name for name in results.methods if name not in own]
    return {name: rivals for name in own if rivals}


def _against(results: Results) -> list[str]:
    """In how many cells audits are ahead, and their differences to rivals."""
    ahead, tables = [], []
    for audit, rivals in _audits(results).items():
        for rival in rivals:
            shares = []
            for part in results.parts():
                cells = results.cells(part)
                wins, _, _ = wins_ties_losses((cells[audit] - cells[rival]).to_numpy())
                shares.append(f"{wins / len(cells):.0%} of {len(cells)}")
            ahead.append([audit, rival, *shares])
        for part, means in results.parts().items():
            own = means[[audit, *rivals]], results.cells(part), audit
            table = against_table(*own, PLANNED_RIVALS)
            tables += [f"### {audit}, {sized(results, part)}", table]
    legend = (
        "Differences of the mean average precision, in points and negative where the "
        "audit finds more; " + TESTS
    )
    return [
        "## Against each rival",
        "Cells in which audits are ahead:",
        format_table(["method", "is ahead of", *results.parts()], ahead),
        paragraph(legend.format(planned=" and ".join(PLANNED_RIVALS))),
        *tables,
    ]


# ------------------------------------------------------------------ what audits state


def _stated(results: Results, audit: str) -> list[str]:
    """The chances and precisions that an audit states, and the real ones."""
    there = set(results.complete["data"].map(GROUPS))
    groups = [group for group in dict.fromkeys(GROUPS.values()) if group in there]
    found = [stated_and_real(results, audit, group) for group in groups]
    bins = [f"{k / N_BINS:.0%} to {(k + 1) / N_BINS:.0%}" for k in range(N_BINS)]
    levels = [level_name(level) for level in results.wrong]
    titles = {
        "All labels, by the stated chance that they are wrong; each cell counts the "
        "same:": ("stated chance", bins),
        "Suspects by its own decision; means over sets with suspects, and the set "
        "where it is lowest:": ("noise", levels),
    }
    page = [f"### {audit}"]
    for k, (title, (first, names)) in enumerate(titles.items()):
        header, columns = [first], [names]
        for group, frames in zip(groups, found, strict=True):
            for name, values in frames[k].items():
                header.append(f"{group}: {name}" if name == "labels" else name)
                form = "{:.0f}" if name == "labels" else "{:.1%}"
                columns.append([*map(form.format, values)])
        rows = list(zip(*columns, strict=True))
        page += [title, format_table(header, rows).replace("nan%", "   -")]
    return page


def _false_alarms(results: Results) -> list[str]:
    return [
        "## False alarms on right labels",
        "Share of the labels that are suspected, none of which was flipped: mean over "
        "sets (largest).",
        mean_and_largest(results, CLEAN, "suspected", "{:.1%} ({:.0%})"),
    ]


def _times(results: Results) -> list[str]:
    seconds = mean_of(results.complete, results.methods, "data", measure="seconds")
    ratios = seconds.div(seconds[FIVE_FITS], axis=0)
    lines = [
        [name, *map(format_ratio, (own.median(), own.min(), own.max()))]
        for name, own in ratios.items()
    ]
    return [
        "## Time",
        "Multiples of the time of five LightGBM fits on the same labels.",
        format_table(["method", "median of the sets", "least", "most"], lines),
    ]


# ----------------------------------------------------------------- what it is good for


def _cleaned(results: Results) -> list[str]:
    """Test errors of a model trained on cleaned data, and what cleaning gains."""
    legend = (
        "Test error (%) of LightGBM as it comes, trained on the labels as they are, "
        "without each method's suspects, with what it would label them, and on the "
        f"{ALL_RIGHT}. Negative differences are in favour of the audit."
    )
    page = ["## Is the cleaned data better?", paragraph(legend)]
    for part in results.parts():
        errors = cleaned_errors(results, part, None)
        tables = {"wrong labels": errors}
        for level in results.noise:
            tables[level_name(level)] = cleaned_errors(results, part, level)
        columns = {
            f"{name} ({len(table)})": 100 * table.mean()
            for name, table in tables.items()
            if len(table)
        }
        means = by_method(list(errors.columns), columns, ".2f")
        rivals = [x for x in (AS_THEY_ARE, f"{CLEANLAB}: dropped") if x in errors]
        lines = [
            [own, *row]
            for audit in _audits(results)
            for own in (f"{audit}: dropped", f"{audit}: corrected")
            for row in difference_rows(errors[[own, *rivals]], own)
        ]
        page += [
            f"### {sized(results, part)}",
            means.replace("method", "labels", 1),
            format_table(["labels", "against", "points", "sets", "p"], lines),
        ]
    return page


# ---------------------------------------------------------------------------- the page


def make_page(
    results: Results, rows: int, failures: list[dict[str, Any]], folder: Path | None
) -> list[str]:
    """The page, in pieces."""
    is_complete, is_averaged = bool(len(results.complete)), bool(len(results.averaged))
    page = [
        *(paragraph(text.format(rows=rows)) for text in SETTING),
        completeness(results),
        "## Methods",
        method_table(results, METHODS, {"seconds": "seconds"}),
        *failures_section(failures),
    ]
    if is_averaged:
        page += ["## Finding wrong labels", *mean_tables(results)]
    if is_averaged and len(results.methods) > 1:
        page += rank_section(results, results.main_measure, "average precision")
    if is_averaged and _audits(results):
        page += _against(results)
    if results.wrong and is_complete:
        page.append("## What is stated, and what is real")
        for audit in (OURS, QUICK_AUDIT):
            page += _stated(results, audit) if audit in results.methods else []
    if CLEAN in results.noise and is_complete:
        page += _false_alarms(results)
    if FIVE_FITS in results.methods and is_complete:
        page += _times(results)
    if is_averaged:
        page += _cleaned(results)
    tables = {
        title: (each, pd.DataFrame.mean, ".3f")
        for title, each in list(MEANS.items())[:3]
    }
    for part in PARTS:
        page += level_section(results, part, results.wrong, tables)
    if is_averaged:
        by_set_ = set_table(results, "average_precision", 1, ".3f")
        page += ["## By set: average precision", by_set_]
    return page


STUDY = Study(
    "audit",
    "Which way to find wrong labels finds them",
    METHODS,
    Measures,
    measure,
    "lost_precision",
    FIGURES,
    make_page,
    derive=derive,
    full={
        "rows": 3000,
        "seeds": list(SEEDS),
        "noise": ["20", "0", "20 one-sided", "5", "30", "10"],  # in the order of work
    },
    quick={
        "rows": 200,
        "seeds": [0],
        "sets": ["gaussians"],
        "noise": ["20", "0"],
        "methods": ["LabelAudit, quick", "random forest", "LightGBM"],
    },
    levels_first=True,
)


if __name__ == "__main__":
    STUDY.perform(STUDY.parse(STUDY.make_parser(__doc__)))
