"""HTML of the report: elements, pictures, tables, and the comparisons with them."""

from __future__ import annotations

import io
import json
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from splboost._tools.wording import counted
from splboost.datasets import UCI_CATALOGUE
from splboost.paper.figures import draw_critical_differences
from splboost.paper.protocol import (
    FOREST,
    GRADIENT_KEPT,
    METHODS,
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

# ----------------------------------------------------------------------------- elements


class Markup(str):
    """Text that is HTML, and is not to be escaped."""


def element(tag: str, *children: Any, **attributes: str) -> Markup:
    """An element; ``class_`` is spelt so because of Python's own.

    Examples
    --------
    >>> from splboost.paper.tables import element
    >>> element("p", "a < b ", element("em", "always"), class_="note")
    '<p class="note">a &lt; b <em>always</em></p>'
    """
    texts = [f' {k.rstrip("_")}="{escape(value)}"' for k, value in attributes.items()]
    inside = "".join(
        child if isinstance(child, Markup) else escape(str(child), quote=False)
        for child in children
    )
    return Markup(f"<{tag}{''.join(texts)}>{inside}</{tag}>")


def paragraph(*text: Any, **attributes: str) -> Markup:
    return element("p", *text, **attributes)


def table(
    header: Iterable[Any], rows: Iterable[Iterable[Any]], *, class_: str = "plain"
) -> Markup:
    """A table in a box of its own, which scrolls where it is too wide.

    The first column is words, the others are numbers.
    """

    def line(tag: str, cells: Iterable[Any]) -> Markup:
        first, *others = cells
        words = element(tag, first, class_="words")
        return element("tr", words, *(element(tag, cell) for cell in others))

    head = element("thead", line("th", header))
    body = element("tbody", *(line("td", row) for row in rows))
    whole = element("table", head, body, class_=class_)
    return element("div", whole, class_="wide", tabindex="0")


def table_of(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """A table whose rows name their columns."""
    return table(rows[0], [row.values() for row in rows])


def picture(draw: Callable[[], Any], caption: str, note: str = "") -> Markup:
    """A figure with its caption; where it cannot be drawn, a sentence why."""
    try:
        figure = draw()
    except ValueError as why:
        title = caption.partition(".")[0]
        return paragraph(f"{title} is not drawn: {why}", class_="note")
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150, transparent=True)
    source = f"data:image/png;base64,{b64encode(stream.getvalue()).decode()}"
    size = f"max-width: {96 * figure.get_figwidth():.0f}px"
    image = f'<img src="{source}" alt="{escape(caption)}" style="{size}">'
    box = element("div", Markup(image), class_="wide", tabindex="0")
    return element("figure", box, element("figcaption", f"{caption} {note}".strip()))


# ------------------------------------------------------------------------------- tables

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
                lambda: draw_critical_differences(comparison),
                "Mean ranks over data sets, the best on top. By Nemenyi's test methods "
                "differ if their bars do not overlap.",
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
