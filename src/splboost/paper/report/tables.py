"""The tables of the report."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.names import PAPER
from splboost.paper.outcomes import Outcomes, wins
from splboost.paper.report.html import Markup, element, table
from splboost.paper.statistics import (
    DIGITS,
    against,
    fewest_sets,
    ranks,
    signed_rank,
    wins_ties_losses,
)
from splboost.reporting import counted

NOTHING = "–"
GREEK = {"age": "λ", "epsilon": "ε", "theta": "θ", "plateau": "κ"}


def percent(share: float, digits: int = 1) -> str:
    return NOTHING if math.isnan(share) else f"{100 * share:.{digits}f}"


def number(value: float, digits: int = 2) -> str:
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def difference(error: float) -> str:
    """In points, with a sign."""
    return f"{100 * error:+.2f}".replace("-", "−")


def probability(p: float) -> str:
    if math.isnan(p):
        return NOTHING
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


# How a column of a verdict's table is written, by its name; others as they are.
FORMS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "mean rise": ("mean rise (points)", percent),
    "sets where it rises most": ("sets where it rises most", str),
    "Holm's p against AdaBoost": ("Holm's p against AdaBoost", probability),
    "mean difference": ("mean difference (points)", difference),
    "p": ("p", probability),
    "Holm's p": ("Holm's p", probability),
    "mean error": ("mean error (%)", lambda e: percent(e, 2)),
    "mean rank": ("mean rank", number),
    "wrong_given_up": ("wrong labels given up (%)", percent),
    "standard error": ("standard error", percent),
    "right_given_up": ("right labels given up (%)", percent),
    "median weight_ratio": ("weight of wrong over right, median", number),
    "rounds": ("rounds", lambda n: number(n, 1)),
    "error": ("test error (%)", percent),
}


def frame_table(frame: pd.DataFrame, first: str) -> Markup:
    """A frame with known columns, its index in front."""
    forms = [FORMS.get(name, (name, str)) for name in frame.columns]
    rows = [
        [name, *(form(value) for (_, form), value in zip(forms, values, strict=True))]
        for name, *values in frame.itertuples()
    ]
    return table([first, *(title for title, _ in forms)], rows)


def rank_table(outcomes: Outcomes) -> Markup:
    """Mean ranks and errors, over data sets and over cases."""
    by_set, by_case = ranks(outcomes.sets).mean(), ranks(outcomes.cases).mean()
    error, first = outcomes.sets.mean(), outcomes.top_shares().loc[1]
    rows = [
        [
            name,
            number(by_set[name]),
            percent(error[name], 2),
            number(by_case[name]),
            percent(first[name]),
        ]
        for name in by_set.sort_values(kind="stable").index
    ]
    n_sets, n_cases = len(outcomes.sets), len(outcomes.cases)
    header = [
        "method",
        f"mean rank, {counted(n_sets, 'set')}",
        "mean error (%)",
        f"mean rank, {counted(n_cases, 'case')}",
        "best alone (% of cases)",
    ]
    return table(header, rows)


def rival_table(outcomes: Outcomes, reference: str) -> Markup:
    """A method against each other one: by data set with tests, by case as a count."""
    is_testable = len(outcomes.sets) >= fewest_sets()
    rows, cases = [], outcomes.cases
    for row in against(outcomes.sets, reference, ()).to_dict("records"):
        own, other = (cases[name].to_numpy() for name in (reference, row["rival"]))
        counts = wins_ties_losses(own, other)
        rows.append(
            [
                row["rival"],
                difference(row["difference"]),
                f"{row['wins']} / {row['ties']} / {row['losses']}",
                probability(row["p"]) if is_testable else NOTHING,
                probability(row["p_holm"]) if is_testable else NOTHING,
                " / ".join(map(str, counts)),
                probability(signed_rank(own - other)) if is_testable else NOTHING,
            ]
        )
    header = [
        f"{reference} against",
        "difference (points)",
        f"better / equal / worse, of {counted(len(outcomes.sets), 'set')}",
        "Wilcoxon's p",
        "Holm's p",
        f"better / equal / worse, of {counted(len(outcomes.cases), 'case')}",
        "p as if cases were independent",
    ]
    return table(header, rows)


def error_table(outcomes: Outcomes) -> Markup:
    """Mean test errors of each case, with standard errors; the least in bold."""
    grouped = outcomes.cells.groupby(["data", "noise", "method"])["error"]
    mean, spread = grouped.mean().unstack(), grouped.sem().unstack()
    methods = list(outcomes.methods)
    place = {name: k for k, name in enumerate(UCI_CATALOGUE)}
    rows = []
    for data, noise in sorted(mean.index, key=lambda c: (place.get(c[0], 99), *c)):
        errors = mean.loc[(data, noise), methods]
        least = errors.round(DIGITS).min()
        cells = []
        for name in methods:
            error, deviation = errors[name], spread.loc[(data, noise), name]
            kind = "best" if round(error, DIGITS) == least else "other"
            cell = [element("span", percent(error), class_=kind)]
            if not math.isnan(deviation):
                cell.append(element("small", f" ±{percent(deviation)}"))
            cells.append(Markup("".join(cell)))
        rows.append([data, noise, *cells])
    return table(["data", "noise (%)", *methods], rows, class_="dense")


def choice_table(results: pd.DataFrame) -> Markup:
    """What cross-validation has chosen, by method."""
    rows = []
    for name, own in results.groupby("method", sort=False):
        chosen = pd.DataFrame([json.loads(text) for text in own["chosen"]])
        if chosen.empty or own["n_estimators"].isna().all():
            continue
        depth = chosen["depth"].value_counts(normalize=True).sort_index()
        depths = ", ".join(f"{int(d)}: {share:.0%}" for d, share in depth.items())
        grids = [c for c in chosen if c != "depth" and chosen[c].nunique() > 1]
        words = [_describe_choice(column, chosen[column]) for column in grids]
        rounds = number(own["n_estimators"].astype(float).median(), 0)
        rows.append([name, rounds, depths or "whole", "; ".join(words) or NOTHING])
    return table(["method", "rounds", "depth of trees", "parameter"], rows)


def _describe_choice(column: str, values: pd.Series) -> str:
    """Median of a parameter, and how often it is at an end of what was chosen."""
    low, high = values.min(), values.max()
    at_low, at_high = (values == low).mean(), (values == high).mean()
    return (
        f"{GREEK.get(column, column)} {values.median():g} ({at_low:.0%} at {low:g}, "
        f"{at_high:.0%} at {high:g})"
    )


def cost_table(results: pd.DataFrame) -> Markup:
    """Processor time of each method."""
    grouped = results.groupby("method")
    fits, seconds = grouped["n_fits"].sum(), grouped["fit_seconds"].sum()
    known = [name for name in PAPER if name in seconds]
    rows = [
        [
            name,
            int(grouped.size()[name]),
            f"{int(fits[name]):,}".replace(",", " "),
            number(seconds[name] / 3600),
            number(1000 * seconds[name] / fits[name], 1) if fits[name] else NOTHING,
        ]
        for name in [*known, *seconds.index.drop(known)]
    ]
    header = ["method", "cells", "fits", "processor hours", "a fit (ms)"]
    return table(header, rows)


def long_servedio_table(summary: pd.DataFrame) -> Markup:
    rows = [
        [
            name,
            Markup(
                percent(row["error"])
                + element("small", f" ±{percent(row['standard_error'])}")
            ),
            f"{percent(row['least'])} to {percent(row['most'])}",
            percent(row["penaliser"]),
            percent(row["known"]),
            "yes" if row["agrees"] else "no",
        ]
        for name, row in summary.iterrows()
    ]
    header = [
        "method",
        "test error (%)",
        "of the draws",
        "error on penalisers (%)",
        "another implementation (%)",
        "agrees",
    ]
    return table(header, rows)


def table_one_table(frame: pd.DataFrame) -> Markup:
    """Table I of the paper beside the data."""

    def whole(value: Any) -> str:
        return NOTHING if value is None or np.isnan(value) else str(int(value))

    rows = [
        [
            row["name"],
            row["paper_rows"],
            whole(row["rows"]),
            row["paper_columns"],
            whole(row["columns"]),
            row["paper_majority"],
            NOTHING if pd.isna(row["majority"]) else f"{row['majority']:.1f}",
            element("span", row["difference"], class_="prose"),
        ]
        for row in frame.to_dict("records")
    ]
    header = [
        "set",
        "rows, paper",
        "data",
        "features, paper",
        "data",
        "majority (%), paper",
        "data",
        element("span", "why they differ", class_="prose"),
    ]
    return table(header, rows)


def count_of_wins(outcomes: Outcomes, name: str) -> str:
    """In how many cases a method errs less than all others."""
    n = len(outcomes.cases)
    own = wins(outcomes.cases, [name])
    return f"{own} of {counted(n, 'case')} ({own / n:.0%})"
