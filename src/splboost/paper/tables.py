"""The tables of the report, the comparisons with them, and Table I also as text."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from splboost._tools.progress_bar import counted
from splboost.datasets import UCI_CATALOGUE
from splboost.datasets.uci import data_folder, load_checked
from splboost.paper.markup import Markup, element, paragraph, picture, table, table_of
from splboost.paper.methods import METHODS
from splboost.paper.plots import draw_critical_differences
from splboost.paper.protocol import (
    FOREST,
    GRADIENT_KEPT,
    ONE_STEP,
    PAPER,
    THREE_THETAS,
    TWO_SIDED,
    WHOLE_TREES,
    WITH_CART,
    Protocol,
)
from splboost.paper.statistics import (
    ALPHA,
    BEST_SPL,
    CHOSEN_SPL,
    DIGITS,
    Outcomes,
    against,
    fewest_sets,
    is_best,
    ranks,
    signed_rank,
    wins_ties_losses,
)

NOTHING = "–"
TESTS = "Wilcoxon's p", "Holm's p", "p as if cases were independent"
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


def frame_table(frame: pd.DataFrame) -> Markup:
    """A frame with known columns, its index in front."""
    forms = [_form(name) for name in frame.columns]
    rows = [
        [name, *(form(value) for (_, form), value in zip(forms, values, strict=True))]
        for name, *values in frame.itertuples()
    ]
    first = frame.index.name or "method"
    return table([first, *(title for title, _ in forms)], rows)


def _form(name: str) -> tuple[str, Callable[[Any], str]]:
    """How a column is written; a "mean rise to 5%" is as a mean rise."""
    kind, to, level = name.partition(" to ")
    title, form = FORMS.get(kind, (kind, str))
    return title + to + level, form


def rank_table(outcomes: Outcomes) -> Markup:
    """Mean ranks over data sets and cases, mean errors also by level of noise."""
    by_set, by_case = ranks(outcomes.sets).mean(), ranks(outcomes.cases).mean()
    error, first = outcomes.sets.mean(), outcomes.top_shares().loc[1]
    n_sets, n_cases = len(outcomes.sets), len(outcomes.cases)
    rows = [
        {
            "method": name,
            f"mean rank, {counted(n_sets, 'set')}": number(by_set[name]),
            "mean error (%)": percent(error[name], 2),
            **{
                f"at {level}%": percent(mean)
                for level, mean in outcomes.levels.loc[name].items()
            },
            f"mean rank, {counted(n_cases, 'case')}": number(by_case[name]),
            "best alone (% of cases)": percent(first[name]),
        }
        for name in by_set.sort_values(kind="stable").index
    ]
    return table_of(rows)


def rival_table(
    outcomes: Outcomes, reference: str, *, with_tests: bool = True
) -> Markup:
    """A method against each other one: by data set with tests, by case as a count.

    Probabilities are left out where there are too few sets for any to be below 5%.
    """
    cases, n_sets = outcomes.cases, len(outcomes.sets)
    tested = against(outcomes.sets, reference)
    is_testable = n_sets >= fewest_sets()
    is_adjustable = n_sets >= fewest_sets(len(tested))
    rows = []
    for row in tested.to_dict("records"):
        own, other = (cases[name].to_numpy() for name in (reference, row["rival"]))
        of_sets = row["wins"], row["ties"], row["losses"]
        of_cases = wins_ties_losses(own, other)
        cells = {
            f"{reference} against": row["rival"],
            "mean difference (points)": difference(row["difference"]),
            "median": difference(row["median"]),
            f"better / equal / worse, of {counted(n_sets, 'set')}": _counts(of_sets),
            "Wilcoxon's p": probability(row["p"]) if is_testable else NOTHING,
            "Holm's p": probability(row["p_holm"]) if is_adjustable else NOTHING,
            f"better / equal / worse, of {counted(len(cases), 'case')}": _counts(
                of_cases
            ),
            "p as if cases were independent": (
                probability(signed_rank(own - other)) if is_testable else NOTHING
            ),
        }
        rows.append({k: v for k, v in cells.items() if with_tests or k not in TESTS})
    return table_of(rows)


def _counts(counts: tuple[int, int, int]) -> str:
    return " / ".join(map(str, counts))


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


def choice_table(results: pd.DataFrame, protocol: Protocol | None = None) -> Markup:
    """What cross-validation has chosen, by method, and how often an end of a grid.

    Depths are those of the sets that had several to choose from, if any had.
    """
    rows = []
    for name, own in results.groupby("method", sort=False):
        chosen = pd.DataFrame([json.loads(text) for text in own["chosen"]])
        if chosen.empty or own["n_estimators"].isna().all():
            continue
        depth, grids = chosen["depth"], {}
        if protocol is not None:
            n_depths = [len(protocol.for_set(data).depths) for data in own["data"]]
            has_choice = np.greater(n_depths, 1)
            depth = depth[has_choice] if has_choice.any() else depth
            grids = METHODS[name].grids(protocol) if name in METHODS else {}
        share_of = depth.value_counts(normalize=True).sort_index()
        depths = ", ".join(f"{int(d)}: {share:.0%}" for d, share in share_of.items())
        words = [
            _describe_choice(column, chosen[column], grids.get(column, ()))
            for column in chosen
            if column != "depth" and chosen[column].nunique() > 1
        ]
        rounds = number(own["n_estimators"].astype(float).median(), 0)
        rows.append([name, rounds, depths or "whole", "; ".join(words) or NOTHING])
    return table(["method", "rounds", "depth of trees", "parameter"], rows)


def _describe_choice(column: str, values: pd.Series, grid: Sequence[float]) -> str:
    """Median of a parameter, and how often it is at an end of its grid."""
    median = f"{GREEK.get(column, column)} {values.median():g}"
    if not grid:
        return median
    low, high = min(grid), max(grid)
    at_low, at_high = (values == low).mean(), (values == high).mean()
    return f"{median} ({at_low:.0%} at {low:g}, {at_high:.0%} at {high:g})"


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
    return table(["method", "cells", "fits", "processor hours", "a fit (ms)"], rows)


def long_servedio_table(summary: pd.DataFrame) -> Markup:
    rows = []
    for name, row in summary.iterrows():
        spread = element("small", f" ±{percent(row['standard_error'])}")
        cells = {
            "method": name,
            "test error (%)": Markup(percent(row["error"]) + spread),
            "of the draws": f"{percent(row['least'])} to {percent(row['most'])}",
            "error on penalisers (%)": percent(row["penaliser"]),
            "another implementation (%)": percent(row["known"]),
            "agrees": "yes" if row["agrees"] else "no",
        }
        rows.append(cells)
    return table_of(rows)


# ------------------------------------------------------------------------------ Table I

ABSENT, UNREADABLE = "absent", "broken"
EXACT, COUNTED = "the catalogue's", "same counts"
STATES = ABSENT, UNREADABLE, EXACT, COUNTED  # of the data of a set


def compare_with_data(
    data_home: str | os.PathLike[str] | None = None,
) -> list[dict[str, Any]]:
    """Figures of Table I and of the data, for each of its 17 sets.

    ``data`` says what there is: the catalogue's file, one with the same counts, such as
    a download, or nothing that can be read. ``rows``, ``columns`` and ``majority`` (the
    share of the largest class, in percent) were counted, and are None where there are
    no data; those with ``paper_`` in front are the paper's. ``difference`` says why the
    two differ. Nothing is downloaded.
    """
    rows = []
    for name, entry in UCI_CATALOGUE.items():
        if entry.paper is None:
            continue
        row: dict[str, Any] = dict.fromkeys(("rows", "columns", "majority"))
        row |= {f"paper_{each}": getattr(entry.paper, each) for each in row}
        row |= {"name": name, "difference": entry.difference}
        try:
            X, y, exact = load_checked(name, data_home, download=False)
        except FileNotFoundError:
            row["data"] = ABSENT
        except (OSError, ValueError):
            row["data"] = UNREADABLE
        else:
            largest = np.unique(y, return_counts=True)[1].max()
            row["data"] = EXACT if exact else COUNTED
            row["rows"], row["columns"] = X.shape
            row["majority"] = float(100 * largest / len(y))
        rows.append(row)
    return rows


def table_one(data_home: str | os.PathLike[str] | None = None) -> Markup:
    """Table I of the paper beside the data."""
    rows = []
    for row in compare_with_data(data_home):
        here = [row["rows"], row["columns"], row["majority"]]
        n_rows, n_columns, share = (NOTHING if n is None else n for n in here)
        share = share if share == NOTHING else f"{share:.1f}"
        why = element("span", row["difference"], class_="prose")
        rows.append(
            [
                *(row["name"], row["paper_rows"], n_rows, row["paper_columns"]),
                *(n_columns, row["paper_majority"], share, why),
            ]
        )
    why = element("span", "why they differ", class_="prose")
    header = ["set", "rows, paper", "data", "features, paper", "data"]
    return table([*header, "majority (%), paper", "data", why], rows)


def describe_table_one(data_home: str | os.PathLike[str] | None = None) -> str:
    """Table I of the paper beside the data, as text.

    Examples
    --------
    >>> from splboost.paper.tables import describe_table_one
    >>> print(describe_table_one("no such folder"))
    Table I of the SPLBoost paper, and the data in no such folder
    <BLANKLINE>
                                rows      columns    majority, %
                        paper   data  paper  data    paper  data
    adult               48842 absent     14     -     75.9     - *
    ...
    """
    rows = compare_with_data(data_home)
    lines = [
        f"Table I of the SPLBoost paper, and the data in {data_folder(data_home)}",
        "",
        f"{'rows':>32}{'columns':>13}{'majority, %':>15}",
        f"{'paper':>25}{'data':>7}{'paper':>7}{'data':>6}{'paper':>9}{'data':>6}",
    ]
    for row in rows:
        n, columns, majority = row["rows"], row["columns"], row["majority"]
        if n is None:
            n, columns, majority = row["data"], "-", "-"
        else:
            majority = f"{majority:.1f}"
        lines.append(
            f"{row['name']:16}{row['paper_rows']:9}{n:>7}{row['paper_columns']:7}"
            f"{columns:>6}{row['paper_majority']:9}{majority:>6}"
            f"{' *' if row['difference'] else ''}"
        )
    for row in rows:
        if row["difference"]:
            text = f"* {row['name']}: {row['difference']}"
            lines += ["", fill(text, width=79, subsequent_indent="  ")]
    named = {what: [r["name"] for r in rows if r["data"] == what] for what in STATES}
    if others := named[COUNTED]:
        text = f"Counted in other files than the catalogue's: {', '.join(others)}."
        lines += ["", fill(text, width=79)]
    if absent := named[ABSENT]:
        lines += ["", "Absent sets: load_uci downloads them, or says how to get them."]
        if {"ringnorm", "twonorm"} & set(absent):
            lines += ["splboost paper makes its own ringnorm and twonorm."]
    if named[UNREADABLE]:
        lines += ["", "Broken files: load_uci says what is wrong with them."]
    return "\n".join(lines)


# ---------------------------------------------------------------------- the comparisons


def count_of_wins(outcomes: Outcomes, name: str) -> str:
    """In how many cases a method errs less than all others."""
    n = len(outcomes.cases)
    own = is_best(outcomes.cases, [name]).sum()
    return f"{own} of {counted(n, 'case')} ({own / n:.0%})"


# What the paper leaves open, done in another way: the way among the nine, the others,
# a title, and what differs.
VARIANTS = (
    (
        "LogitBoost",
        (GRADIENT_KEPT,),
        "LogitBoost, clipped in two ways",
        "LogitBoost must bound the response of samples that it has badly wrong. Among "
        "the nine it does so with the weights as they are, by which such samples count "
        "for less; here it is compared with one that raises the weights to keep the "
        "gradient.",
    ),
    (
        "RobustBoost",
        (TWO_SIDED,),
        "RobustBoost, with two potentials",
        "Among the nine is that of the author's own program, in which samples behind "
        "the goal have no weight; here it is compared with the one in which they keep "
        "some, and in which the goal is an error rate.",
    ),
    (
        "RobustBoost",
        (THREE_THETAS,),
        "RobustBoost, with more goals",
        "Among the nine the margin that RobustBoost aims at is θ = 0; here it is "
        "compared with one that may choose of 0, 0.2 and 1.",
    ),
    (
        ONE_STEP,
        ("AdaBoost", *WHOLE_TREES),
        "With whole trees",
        "The paper does not say how deep its trees are. Among the nine the depth is "
        "chosen; whole trees are those that C4.5 grows and prunes by itself.",
    ),
    (
        WITH_CART[1],
        (WITH_CART[0], "LogitBoost", "SavageBoost", "RBoost"),
        "With the same trees for all",
        "Among the nine some boosters have trees of C4.5, with a branch for each "
        "category, and others those of CART, with a column for each; where they differ "
        "it may be by their trees. Here AdaBoost and SPLBoost have CART's as well.",
    ),
)


def compare(results: pd.DataFrame) -> list[Markup]:
    """Ranks and tests, over data sets and over cases."""
    outcomes = Outcomes.of(results)
    comparison = outcomes.compare("Mean rank of the test error, all levels of noise")
    if comparison is None:
        return [paragraph("There is nothing to compare yet.", class_="note")]
    parts = [
        paragraph(
            "Compared are the draws that all methods have finished. Errors of a data "
            "set are averaged over noise and repeats, since these are not independent "
            "of each other; the tests take the data set as the unit. The counts of "
            "cases are the paper's: there is one from each data set and level of "
            "noise, so that they look like more evidence than they are. Differences "
            "are the first minus the second, as mean and median over the data sets: "
            "where they are far apart, few sets decide the mean."
        ),
        rank_table(outcomes),
    ]
    if comparison.is_testable:
        p, difference = comparison.friedman, comparison.critical_difference
        parts += [
            paragraph(
                f"Friedman's test over {comparison.n_sets} data sets, by Iman and "
                f"Davenport's F, has a p of {probability(p)}. By Nemenyi's "
                f"test, mean ranks more than {difference:.2f} apart differ at "
                f"{ALPHA:.0%}."
            ),
            picture(
                "ranks",
                lambda: draw_critical_differences(comparison),
                "Mean ranks over data sets, the best on the left. Bars join what "
                "Nemenyi's test cannot tell apart.",
            ),
        ]
    else:
        parts.append(
            paragraph(
                f"{counted(comparison.n_sets, 'data set')}: too few for a test.",
                class_="note",
            )
        )
    parts += _against_rivals(outcomes)
    parts += _forest(results)
    for variant in VARIANTS:
        parts += _variants(results, *variant)
    return parts


def _against_rivals(outcomes: Outcomes) -> list[Markup]:
    chosen = outcomes.with_one_spl(CHOSEN_SPL)
    if CHOSEN_SPL not in chosen.methods or len(chosen.methods) < 2:
        return []
    best = outcomes.with_one_spl(BEST_SPL)
    return [
        element("h3", "SPLBoost against its rivals"),
        paragraph(
            "SPLBoost as one entry, with the regulariser that cross-validation has "
            f"chosen, is best alone in {count_of_wins(chosen, CHOSEN_SPL)}."
        ),
        rival_table(chosen, CHOSEN_SPL),
        paragraph(
            "With the best regulariser of each case, which nobody can know and which "
            f"favours it, it would be in {count_of_wins(best, BEST_SPL)}. Tests "
            "would mean nothing here, since it is chosen by the errors that they test."
        ),
        rival_table(best, BEST_SPL, with_tests=False),
    ]


def _forest(results: pd.DataFrame) -> list[Markup]:
    """SPLForest as a tenth entry."""
    outcomes = Outcomes.of(results, (*PAPER, FOREST))
    if FOREST not in outcomes.methods or not len(outcomes.sets):
        return []
    if len(outcomes.methods) < 2:
        return []
    return [
        element("h3", "With SPLForest as a tenth entry"),
        paragraph(
            "SPLForest is this library's own, and no method of the paper; here it is "
            "ranked among its nine."
        ),
        rank_table(outcomes),
        rival_table(outcomes, FOREST),
    ]


def _variants(
    results: pd.DataFrame, name: str, others: Sequence[str], title: str, text: str
) -> list[Markup]:
    """What the paper leaves open, done otherwise."""
    outcomes = Outcomes.of(results, (name, *others))
    if len(outcomes.methods) < 1 + len(others) or not len(outcomes.sets):
        return []
    return [element("h3", title), paragraph(text), rival_table(outcomes, name)]
