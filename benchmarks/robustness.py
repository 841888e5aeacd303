"""How robust are classifiers to wrong labels? An honest table.

Boosters of this library, forests, gradient boosting and cleanlab on sixteen data sets
and three generators, with right training labels, with 10 to 40% of them flipped, and
with 20 and 40% of the positive class flipped alone. Nothing is measured twice: what is
there is kept in a file, one row for each set, noise, seed and method, and a run goes on
where another was killed. Several runs may work on one file at a time.

    python benchmarks/robustness.py             measures what is missing, for many hours
    python benchmarks/robustness.py --report    saves what is there, in results/
    python benchmarks/robustness.py --quick     small, to see that it works

The rivals need ``pip install 'splboost[bench,plot,rivals]'``. The data sets are read
from the folder that SPLBOOST_DATA names; without it there are the generators.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from _long import PARTS, Results, Study
from _long_data import CLEAN
from _long_methods import LEAST_PROBABILITY, METHODS, Measures, measure
from _long_page import (
    SETS,
    SPLIT,
    TESTS,
    against_table,
    by_method,
    completeness,
    difference_rows,
    failures_section,
    level_section,
    mean_and_largest,
    method_table,
    paragraph,
    range_table,
    rank_section,
    set_table,
    sized,
)
from _report import format_table

from splboost.paper.figures import draw_critical_differences
from splboost.paper.statistics import fewest_sets, ranks

SEEDS = 5, 6, 7  # defaults were chosen with those before
PLANNED_RIVALS = "LightGBM tuned", "XGBoost tuned"  # named beforehand
LESS_IS_BETTER = "error", "balanced_error", "log_loss"
SETTING = (
    SPLIT,
    SETS.format(splits="with other splits than these"),
    "The unit of every test is the data set: errors are averaged over noise and seeds "
    f"first. For the log loss probabilities are kept {LEAST_PROBABILITY:g} away from 0 "
    "and 1. It is that of right labels, so a model pays for saying how many of the "
    "training labels were wrong. Times are those of the processor, with one thread.",
)
TIMES = {"fit_seconds": "fit (s)", "predict_seconds": "predict (s)"}


def derive(finished: pd.DataFrame) -> pd.DataFrame:
    """With another measure of which less is better."""
    return finished.assign(balanced_error=1 - finished["balanced_accuracy"])


def _against(results: Results) -> list[str]:
    """The first method against each other one, part by part."""
    legend = "Differences of the mean test error, negative where it errs less; " + TESTS
    page = [
        f"## {results.ranked[0]} against each rival, wrong labels",
        paragraph(legend.format(planned=" and ".join(PLANNED_RIVALS))),
    ]
    for part, means in results.parts().items():
        own = means[results.ranked], results.cells(part), results.ranked[0]
        table = against_table(*own, PLANNED_RIVALS)
        page += [f"### {sized(results, part)}", table]
    return page


def _variants(results: Results) -> list[str]:
    """Each variant against what it is a variant of."""
    lines = []
    for name in results.methods:
        whole = METHODS[name].variant_of
        for part in results.parts() if whole in results.methods else ():
            for each in LESS_IS_BETTER:
                means = results.means(part, each)[[whole, name]]
                scale = 100 if "error" in each else 1
                (row,) = difference_rows(means, str(whole), scale, digits=3)
                measured = each.replace("_", " ")
                lines.append([whole, name, sized(results, part), measured, *row[1:]])
    if not lines:
        return []
    header = ["method", "against", "part", "measure", "difference", "sets", "p"]
    return [
        "## What parts of a method add",
        paragraph(
            "Variants take no part in ranks. Differences are negative where the whole "
            "method is better than the variant; errors are in points."
        ),
        format_table(header, lines),
    ]


def _right_labels(results: Results) -> list[str]:
    """Mean errors without noise, and how far they are from the best."""
    columns = {}
    for part, of_sets in results.parts(level=CLEAN).items():
        means = 100 * of_sets.mean()
        columns[f"{part} (%)"] = means
        columns[f"{part}, above the best"] = means - means[results.ranked].min()
    points = mean_and_largest(
        results,
        CLEAN,
        "error",
        "{:.2f} ({:.1f})",
        lambda means: 100 * means.sub(means.min(axis=1), axis=0),
    )
    return [
        "## Right labels",
        "Mean test error, and points above the method of the lowest mean:",
        by_method(results.methods, columns, ".2f"),
        "Points above the best method of each set: mean (largest).",
        points,
    ]


def make_page(
    results: Results, rows: int, failures: list[dict[str, Any]], folder: Path | None
) -> list[str]:
    """The page, in pieces, and beside it the picture."""
    page = [
        *(paragraph(text.format(rows=rows)) for text in SETTING),
        completeness(results),
        "## Methods",
        method_table(results, METHODS, TIMES),
        "Random settings are drawn from these ranges, evenly or in the logarithm:",
        range_table(),
        *failures_section(failures),
    ]
    if len(results.averaged) and len(results.methods) > 1:
        page.append("## Ranks under wrong labels")
        for each in LESS_IS_BETTER:
            page += rank_section(results, each, each.replace("_", " "))
        page += [*_draw_ranks(results, folder), *_against(results)]
    page += _variants(results)
    if CLEAN in results.noise:
        page += _right_labels(results)
    tables = {
        "Test error (%)": ("error", lambda means: 100 * means.mean(), ".1f"),
        "Mean rank of the error": (
            "error",
            lambda means: ranks(means[results.ranked]).mean(),
            ".2f",
        ),
        "Balanced accuracy (%)": (
            "balanced_accuracy",
            lambda means: 100 * means.mean(),
            ".1f",
        ),
        "Log loss": ("log_loss", lambda means: means.mean(), ".3f"),
    }
    for part in PARTS:
        page += level_section(results, part, results.noise, tables)
    by_set = set_table(results, "error", 100, ".1f")
    return [*page, "## By set: test error (%) under wrong labels", by_set]


def _draw_ranks(results: Results, folder: Path | None) -> list[str]:
    """Mean ranks with critical differences, one part below the other."""
    compared = {part: results.compared(part) for part in results.parts()}
    drawn = {
        f"Mean rank of the test error under wrong labels: {part}": means
        for part, means in compared.items()
        if len(means) >= fewest_sets()
    }
    if not drawn:
        return []
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        draw_critical_differences(drawn).savefig(folder / "robustness.png", dpi=130)
    return ["![Mean ranks with critical differences](robustness.png)"]


STUDY = Study(
    "robustness",
    "How robust classifiers are to wrong labels",
    METHODS,
    Measures,
    measure,
    "error",
    Measures._fields,
    make_page,
    derive=derive,
    full={
        "rows": 1000,
        "seeds": list(SEEDS),
        "noise": ["0", "10", "20", "30", "40", "20 one-sided", "40 one-sided"],
    },
    quick={
        "rows": 200,
        "seeds": [SEEDS[0]],
        "sets": ["gaussians"],
        "noise": ["0", "20"],
        "methods": ["ExtraTrees", "HistGradientBoosting"],
    },
)


if __name__ == "__main__":
    STUDY.perform(STUDY.parse(STUDY.make_parser(__doc__)))
