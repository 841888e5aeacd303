"""Figures of matplotlib as SVG inside a page, which darken with the page.

Each colour of a picture becomes a variable of CSS, of which a dark page has another
value: what is light becomes dark, in the same hue.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from splboost.paper.report.html import Markup, element

COLOUR = re.compile(r"#[0-9a-f]{6}\b")
PATH = re.compile(r'(?<= d=")[^"]+')
LONG_NUMBER = re.compile(r"\d+\.\d{3,}")
CURVE = re.compile(r"[^MLz\d.\s-]")
DARKEST, RANGE, BEND = 0.2, 0.75, 0.6  # lightness on a dark page

# Björn Ottosson's Oklab: linear sRGB to cone responses, and these to lightness and hue
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def inline_svg(figure: Any, name: str, description: str) -> Markup:
    """A figure as an SVG element.

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
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    text = re.sub(r"<style.*?</style>\s*", "", text, flags=re.S)
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", text)
    text = PATH.sub(lambda found: shorten(found[0]), text)
    text = COLOUR.sub(lambda found: f"var({variable(found[0])})", text)
    width, height = figure.get_size_inches() * 72
    opening = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(description)}" '
        f'style="max-width: {width * 4 / 3:.0f}px" version="1.1">'
    )
    return Markup(re.sub(r"<svg[^>]*>", lambda _: opening, text, count=1))


def shorten(path: str) -> str:
    """A path with two digits, without points in the middle of upright or level lines.

    Boundaries of trees have thousands of these.

    Examples
    --------
    >>> from splboost.paper.report.pictures import shorten
    >>> shorten("M 0 0 L 0 1.2345 L 0 2 L 3 2 L 2 2 z")
    'M 0 0 L 0 2 L 3 2 L 2 2 z'
    """
    path = LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", path)
    if CURVE.search(path):
        return " ".join(path.split())
    kept: list[tuple[str, str]] = []
    for command, where in re.findall(r"([MLz])([^MLz]*)", path):
        point = command, where.strip()
        if len(kept) > 1 and _is_passed(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return " ".join(" ".join(point).strip() for point in kept)


def _is_passed(*points: tuple[str, str]) -> bool:
    """Whether the way from the first point to the third goes straight by the second."""
    if points[1][0] != "L" or points[2][0] != "L":
        return False
    (x0, y0), (x1, y1), (x2, y2) = (where.split() for _, where in points)
    if x0 == x1 == x2:
        return (float(y1) - float(y0)) * (float(y2) - float(y1)) >= 0
    if y0 == y1 == y2:
        return (float(x1) - float(x0)) * (float(x2) - float(x1)) >= 0
    return False


def variable(colour: str) -> str:
    """The name of a colour's variable."""
    return f"--c{colour[1:]}"


def palette(page: str) -> tuple[str, str]:
    """Values of the variables of a page, when it is light and when it is dark."""
    names = sorted(set(re.findall(r"var\(--c([0-9a-f]{6})\)", page)))
    light = "".join(f"--c{name}:#{name};" for name in names)
    dark = "".join(f"--c{name}:{darken('#' + name)};" for name in names)
    return light, dark


def darken(colour: str) -> str:
    """What stands for a colour on a dark page.

    Examples
    --------
    >>> from splboost.paper.report.pictures import darken
    >>> darken("#ffffff"), darken("#000000")
    ('#161616', '#eeeeee')
    """
    part = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    lab = _TO_LAB @ np.cbrt(_TO_CONES @ linear)
    lab[0] = DARKEST + RANGE * max(1 - lab[0], 0.0) ** BEND
    linear = np.linalg.solve(_TO_CONES, np.linalg.solve(_TO_LAB, lab) ** 3).clip(0, 1)
    part = np.where(
        linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055
    )
    return "#" + "".join(f"{round(255 * each):02x}" for each in part)


def picture(name: str, draw: Callable[[], Any], caption: str, note: str = "") -> Markup:
    """A figure with its caption; where it cannot be drawn, a sentence why."""
    try:
        figure = draw()
    except ValueError as why:
        title = caption.partition(".")[0]
        return element("p", f"{title} is not drawn: {why}", class_="note")
    drawn = inline_svg(figure, name, caption)
    box = element("div", drawn, class_="wide", tabindex="0")
    words = element("figcaption", f"{caption} {note}".strip())
    return element("figure", box, words)
