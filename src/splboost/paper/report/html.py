"""A little HTML: elements whose text is escaped, unless it is markup already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


class Markup(str):
    """Text that is HTML, and is not to be escaped."""


def element(tag: str, *children: Any, **attributes: str) -> Markup:
    """An element; ``class_`` and ``for_`` are spelt so because of Python's own.

    Examples
    --------
    >>> from splboost.paper.report.html import element
    >>> element("p", "a < b ", element("em", "always"), class_="note")
    '<p class="note">a &lt; b <em>always</em></p>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
    return Markup(f"<{tag}{given}>{_inside(children)}</{tag}>")


def table(
    header: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    *,
    class_: str = "plain",
) -> Markup:
    """A table in a box of its own, which scrolls where it is too wide.

    The first column is words, the others are numbers.
    """

    def line(tag: str, cells: Sequence[Any]) -> Markup:
        first, *others = cells
        words = element(tag, first, class_="words")
        return element("tr", words, *(element(tag, cell) for cell in others))

    head = element("thead", line("th", header))
    body = element("tbody", *(line("td", row) for row in rows))
    whole = element("table", head, body, class_=class_)
    return element("div", whole, class_="wide", tabindex="0")


def _inside(children: Iterable[Any]) -> str:
    return "".join(
        child if isinstance(child, Markup) else escape(str(child), quote=False)
        for child in children
    )
