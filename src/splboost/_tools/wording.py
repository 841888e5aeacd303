"""Numbers and lists in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MOST_LISTED = 10


def counted(number: int, noun: str) -> str:
    """A number and its noun, which is plural unless the number is 1.

    Examples
    --------
    >>> counted(1, "data set"), counted(2, "data set")
    ('1 data set', '2 data sets')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(things: Sequence[Any], most: int = MOST_LISTED, between: str = ", ") -> str:
    """Things as texts in a row, the first of them if they are many.

    Examples
    --------
    >>> listed(range(5), most=3)
    '0, 1, 2, …'
    """
    return between.join([*map(str, things[:most]), *["…"] * (len(things) > most)])
