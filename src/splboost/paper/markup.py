"""HTML elements, whose text is escaped unless it is markup already; and figures."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any


class Markup(str):
    """Text that is HTML, and is not to be escaped."""


def element(tag: str, *children: Any, **attributes: str) -> Markup:
    """An element; ``class_`` is spelt so because of Python's own.

    Examples
    --------
    >>> from splboost.paper.markup import element
    >>> element("p", "a < b ", element("em", "always"), class_="note")
    '<p class="note">a &lt; b <em>always</em></p>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
    inside = "".join(
        child if isinstance(child, Markup) else escape(str(child), quote=False)
        for child in children
    )
    return Markup(f"<{tag}{given}>{inside}</{tag}>")


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


# ---------------------------------------------------------------------------- pictures

PATH = re.compile(r'(?<= d=")[^"]+')
ONLY_LINES = re.compile(r"[MLz\d.\s-]*")
LONG_NUMBER = re.compile(r"\d+\.\d{2,}")


def inline_svg(figure: Any, name: str, description: str) -> Markup:
    """A figure of matplotlib as an SVG element.

    Parameters
    ----------
    figure : matplotlib Figure
    name : str
        Letters, to tell its parts from those of other pictures on the page.
    description : str
        For those who cannot see it.
    """
    import matplotlib as mpl

    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(stream, format="svg", transparent=True, metadata=metadata)
    text = stream.getvalue()
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<(metadata|style).*?</\1>\s*", "", text, flags=re.S)
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", text)
    text = PATH.sub(lambda found: _shorten(found[0]), text)
    width, height = figure.get_size_inches() * 72
    opening = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(description)}" '
        f'style="max-width: {width * 4 / 3:.0f}px" version="1.1">'
    )
    return Markup(re.sub(r"<svg[^>]*>", lambda _: opening, text, count=1))


def _shorten(path: str) -> str:
    """A path to a tenth of a point, without points inside upright or level lines.

    Boundaries of trees have thousands of these.
    """
    path = LONG_NUMBER.sub(lambda found: f"{float(found[0]):.1f}", path)
    if not ONLY_LINES.fullmatch(path):
        return " ".join(path.split())
    kept: list[list[str]] = []
    for point in re.findall(r"([MLz])\s*([\d.-]*)\s*([\d.-]*)", path):
        while len(kept) > 1 and _is_between(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return " ".join(" ".join(point).strip() for point in kept)


def _is_between(*points: Sequence[str]) -> bool:
    """Whether three points are one upright or level line, the second inside it."""
    if points[1][0] != "L" or points[2][0] != "L":
        return False
    (x0, y0), (x1, y1), (x2, y2) = ((float(p[1]), float(p[2])) for p in points)
    return (x0 == x1 == x2 and (y0 <= y1 <= y2 or y0 >= y1 >= y2)) or (
        y0 == y1 == y2 and (x0 <= x1 <= x2 or x0 >= x1 >= x2)
    )


def picture(name: str, draw: Callable[[], Any], caption: str, note: str = "") -> Markup:
    """A figure with its caption; where it cannot be drawn, a sentence why."""
    try:
        figure = draw()
    except ValueError as why:
        title = caption.partition(".")[0]
        return paragraph(f"{title} is not drawn: {why}", class_="note")
    box = element("div", inline_svg(figure, name, caption), class_="wide", tabindex="0")
    words = element("figcaption", f"{caption} {note}".strip())
    return element("figure", box, words)
