"""HTML of the report: elements, numbers, pictures and tables."""

from __future__ import annotations

import io
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from splboost._tools.wording import counted
from splboost.paper.statistics import (
    DIGITS,
    Outcomes,
    against,
    fewest_sets,
    ranks,
    sets_of,
    signed_rank,
    wins_ties_losses,
)

# ----------------------------------------------------------------------------- elements


class Markup(str):
    """Text that is HTML, and is not to be escaped."""


def join(*children: Any) -> Markup:
    """Texts, which are escaped, and markup in a row."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else escape(str(child), quote=False)
            for child in children
        )
    )


def element(tag: str, *children: Any, **attributes: str) -> Markup:
    """An element; ``class_`` is spelt so because of Python's own.

    Examples
    --------
    >>> from splboost.paper.tables import element
    >>> element("p", "a < b ", element("em", "always"), class_="note")
    '<p class="note">a &lt; b <em>always</em></p>'
    """
    texts = [f' {k.rstrip("_")}="{escape(value)}"' for k, value in attributes.items()]
    return Markup(f"<{tag}{''.join(texts)}>{join(*children)}</{tag}>")


def paragraph(*text: Any, **attributes: str) -> Markup:
    return element("p", *text, **attributes)


def picture(draw: Callable[[], Any], name: str) -> Markup:
    """A figure, or a sentence why it cannot be drawn."""
    try:
        figure = draw()
    except ValueError as why:
        return paragraph(f"{name} is not drawn: {why}", class_="note")
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150)
    source = f"data:image/png;base64,{b64encode(stream.getvalue()).decode()}"
    size = f"max-width: {96 * figure.get_figwidth():.0f}px"
    image = f'<img src="{source}" alt="{escape(name)}" style="{size}">'
    return element("div", Markup(image), class_="wide", tabindex="0")


# ------------------------------------------------------------------------------ numbers

NOTHING = "–"


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}".replace("-", "−")


def probability(p: float) -> str:
    return "below 0.0001" if p < 1e-4 else f"{p:.2g}"


def _write(title: str, value: Any) -> Any:
    """The text of a table's cell, by the title of its column."""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return NOTHING
    if "p" in title.split():
        return probability(value)
    return f"{value:{'+' * ('difference' in title)}.2f}".replace("-", "−")


# ------------------------------------------------------------------------------- tables


def table(rows: Sequence[Mapping[str, Any]], *, class_: str = "plain") -> Markup:
    """A table whose rows name their columns; its box scrolls where it is too wide.

    The first column is words, the others are numbers: probabilities where the title has
    the word p, with a sign if it has "difference".
    """

    def line(tag: str, cells: Iterable[Any]) -> Markup:
        first, *others = cells
        words = element(tag, first, class_="words")
        return element("tr", words, *(element(tag, cell) for cell in others))

    head = element("thead", line("th", rows[0]))
    texts = ([_write(title, value) for title, value in row.items()] for row in rows)
    body = element("tbody", *(line("td", row) for row in texts))
    whole = element("table", head, body, class_=class_)
    return element("div", whole, class_="wide", tabindex="0")


def frame_table(frame: pd.DataFrame) -> Markup:
    """A table of a frame, with its index first."""
    return table(frame.rename_axis("method").reset_index().to_dict("records"))


def rank_table(outcomes: Outcomes) -> Markup:
    """Mean ranks over data sets and cases, mean errors also by level of noise."""
    sets, cases, levels = outcomes.sets, outcomes.cases, outcomes.levels
    by_set = f"mean rank, {counted(len(sets), 'set')}"
    columns = {
        by_set: ranks(sets).mean(),
        "mean error (%)": 100 * sets.mean(),
        **{f"at {level}%": 100 * mean for level, mean in levels.iterrows()},
        f"mean rank, {counted(len(cases), 'case')}": ranks(cases).mean(),
        "best alone (% of cases)": 100 * outcomes.top_shares().loc[1],
    }
    frame = pd.DataFrame(columns).reindex(sets.columns)
    return frame_table(frame.sort_values(by_set, kind="stable"))


def rival_table(outcomes: Outcomes, reference: str) -> Markup:
    """Compare a method with each other one, by data set with tests, and by case.

    Probabilities are left out where there are too few sets for any to be below 5%.
    """
    sets, cases = outcomes.sets, outcomes.cases
    tested = against(sets, reference)

    def shown(p: float, n_tests: int = 1) -> float:
        return p if len(sets) >= fewest_sets(n_tests) else math.nan

    better = "better / equal / worse, of {}".format
    rows = []
    for row in tested.to_dict("records"):
        of_sets = row["wins"], row["ties"], row["losses"]
        in_cases = (cases[reference] - cases[row["rival"]]).to_numpy()
        of_cases = wins_ties_losses(in_cases)
        rows.append(
            {
                f"{reference} against": row["rival"],
                "mean difference (points)": 100 * row["difference"],
                "median difference": 100 * row["median"],
                better(counted(len(sets), "set")): " / ".join(map(str, of_sets)),
                "Wilcoxon's p": shown(row["p"]),
                "Holm's p": shown(row["p_holm"], len(tested)),
                better(counted(len(cases), "case")): " / ".join(map(str, of_cases)),
                "p as if cases were independent": shown(signed_rank(in_cases)),
            }
        )
    return table(rows)


def error_table(outcomes: Outcomes) -> Markup:
    """Mean test errors of each case, with standard errors; the least in bold."""
    mean = outcomes.cases
    errors = outcomes.cells.groupby(["data", "noise", "method"])["error"]
    spread = errors.sem().unstack()
    order, rows = sets_of(outcomes.cells), []
    for case in sorted(mean.index, key=lambda c: (order.index(c[0]), c[1])):
        least = mean.loc[case].round(DIGITS).min()
        row: dict[str, Any] = dict(zip(("data", "noise (%)"), case, strict=True))
        for name in outcomes.methods:
            error, deviation = mean.loc[case, name], spread.loc[case, name]
            kind = "best" if round(error, DIGITS) == least else "other"
            text = element("span", percent(error), class_=kind)
            if not math.isnan(deviation):
                text = join(text, element("small", f" ±{percent(deviation)}"))
            row[name] = text
        rows.append(row)
    return table(rows, class_="dense")
