"""HTML of the report: elements, pictures, tables, and the comparisons with them."""

from __future__ import annotations

import io
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from splboost._tools.wording import counted
from splboost.datasets import UCI_CATALOGUE
from splboost.paper.figures import draw_critical_differences
from splboost.paper.protocol import (
    FOREST,
    GRADIENT_KEPT,
    ONE_STEP,
    PAPER,
    THREE_THETAS,
    TWO_SIDED,
    WHOLE_TREES,
    WITH_CART,
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


def table(rows: Sequence[Mapping[str, Any]], *, class_: str = "plain") -> Markup:
    """A table whose rows name their columns; its box scrolls where it is too wide.

    The first column is words, the others are numbers.
    """

    def line(tag: str, cells: Iterable[Any]) -> Markup:
        first, *others = cells
        words = element(tag, first, class_="words")
        return element("tr", words, *(element(tag, cell) for cell in others))

    head = element("thead", line("th", rows[0]))
    body = element("tbody", *(line("td", row.values()) for row in rows))
    whole = element("table", head, body, class_=class_)
    return element("div", whole, class_="wide", tabindex="0")


def picture(draw: Callable[[], Any], caption: str, note: str = "") -> Markup:
    """A figure with its caption, or a sentence why it cannot be drawn."""
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


def percent(share: float, digits: int = 1) -> str:
    return NOTHING if math.isnan(share) else f"{100 * share:.{digits}f}"


def number(value: float, digits: int = 2) -> str:
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def difference(error: float) -> str:
    """A difference of errors in percentage points, with a sign."""
    return f"{100 * error:+.2f}".replace("-", "−")


def probability(p: float) -> str:
    if math.isnan(p):
        return NOTHING
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


# How a column of a verdict's table is written, by its name; others as they are.
FORMS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "mean rise": ("mean rise (points)", percent),
    "Holm's p against AdaBoost": ("Holm's p against AdaBoost", probability),
    "mean difference": ("mean difference (points)", difference),
    "p": ("p", probability),
    "Holm's p": ("Holm's p", probability),
    "mean error": ("mean error (%)", lambda error: percent(error, 2)),
    "mean rank": ("mean rank", number),
    "wrong_given_up": ("wrong labels given up (%)", percent),
    "standard error": ("standard error", percent),
    "right_given_up": ("right labels given up (%)", percent),
    "median weight_ratio": ("weight of wrong over right, median", number),
    "rounds": ("rounds", lambda rounds: number(rounds, 1)),
    "error": ("test error (%)", percent),
}


def frame_table(frame: pd.DataFrame) -> Markup:
    """A table of a frame whose columns are in ``FORMS``, with its index first."""
    rows: list[dict[str, Any]] = [
        {frame.index.name or "method": name} for name in frame.index
    ]
    for column in frame:
        kind, to, level = column.partition(" to ")  # a "mean rise to 5%" is one
        title, form = FORMS.get(kind, (kind, str))
        for row, value in zip(rows, frame[column], strict=True):
            row[title + to + level] = form(value)
    return table(rows)


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
    return table(rows)


def rival_table(outcomes: Outcomes, reference: str) -> Markup:
    """Compare a method with each other one, by data set with tests, and by case.

    Probabilities are left out where there are too few sets for any to be below 5%.
    """
    sets, cases = outcomes.sets, outcomes.cases
    tested = against(sets, reference)

    def shown(p: float, n_tests: int = 1) -> str:
        return probability(p) if len(sets) >= fewest_sets(n_tests) else NOTHING

    rows = []
    for row in tested.to_dict("records"):
        own, other = (cases[name].to_numpy() for name in (reference, row["rival"]))
        of_sets = row["wins"], row["ties"], row["losses"]
        of_cases = wins_ties_losses(own, other)
        better = "better / equal / worse, of {}".format
        rows.append(
            {
                f"{reference} against": row["rival"],
                "mean difference (points)": difference(row["difference"]),
                "median": difference(row["median"]),
                better(counted(len(sets), "set")): " / ".join(map(str, of_sets)),
                "Wilcoxon's p": shown(row["p"]),
                "Holm's p": shown(row["p_holm"], len(tested)),
                better(counted(len(cases), "case")): " / ".join(map(str, of_cases)),
                "p as if cases were independent": shown(signed_rank(own - other)),
            }
        )
    return table(rows)


def error_table(outcomes: Outcomes) -> Markup:
    """Mean test errors of each case, with standard errors; the least in bold."""
    grouped = outcomes.cells.groupby(["data", "noise", "method"])["error"]
    mean, spread = grouped.mean().unstack(), grouped.sem().unstack()
    place = {name: k for k, name in enumerate(UCI_CATALOGUE)}
    rows = []
    for case in sorted(mean.index, key=lambda c: (place.get(c[0], 99), *c)):
        least = mean.loc[case].round(DIGITS).min()
        row: dict[str, Any] = dict(zip(("data", "noise (%)"), case, strict=True))
        for name in outcomes.methods:
            error, deviation = mean.loc[case, name], spread.loc[case, name]
            kind = "best" if round(error, DIGITS) == least else "other"
            row[name] = element("span", percent(error), class_=kind)
            if not math.isnan(deviation):
                row[name] += element("small", f" ±{percent(deviation)}")
            row[name] = Markup(row[name])
        rows.append(row)
    return table(rows, class_="dense")


# ---------------------------------------------------------------------- the comparisons


def count_of_wins(outcomes: Outcomes, name: str) -> str:
    """Number of cases in which a method has fewer errors than all others."""
    n = len(outcomes.cases)
    own = is_best(outcomes.cases, [name]).sum()
    return f"{own} of {counted(n, 'case')} ({own / n:.0%})"


# Beyond the paper's nine: a method, the others that it is compared with, a title, and
# what differs. All but the first do otherwise what the paper leaves open.
BEYOND = (
    (
        FOREST,
        PAPER,
        "With SPLForest as a tenth entry",
        "SPLForest is this library's own, and no method of the paper; here it is "
        "ranked among its nine.",
    ),
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
    for beyond in BEYOND:
        parts += _compare_beyond(results, *beyond)
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
            f"chosen, is best alone in {count_of_wins(chosen, CHOSEN_SPL)}. With the "
            "best regulariser of each case, which nobody can know and which favours "
            f"it, it would be in {count_of_wins(best, BEST_SPL)}."
        ),
        rival_table(chosen, CHOSEN_SPL),
    ]


def _compare_beyond(
    results: pd.DataFrame, name: str, others: Sequence[str], title: str, text: str
) -> list[Markup]:
    """Compare methods that are not all among the paper's nine."""
    outcomes = Outcomes.of(results, (*others, name))
    if len(outcomes.methods) < 1 + len(others) or not len(outcomes.sets):
        return []
    return [
        element("h3", title),
        paragraph(text),
        *([rank_table(outcomes)] if name == FOREST else []),
        rival_table(outcomes, name),
    ]
