"""Numbers and lists in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MOST_LISTED = 10


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things, in the singular or the plural.

    Examples
    --------
    >>> print(counted(1, "row"), counted(2, "row"), counted(0, "class", "classes"))
    1 row 2 rows 0 classes
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(things: Sequence[Any], most: int = MOST_LISTED, between: str = ", ") -> str:
    """Things as texts in a row, the first of them if they are many.

    Examples
    --------
    >>> listed(range(5), most=3)
    '0, 1, 2, …'
    """
    return between.join([*map(str, things[:most]), *["…"] * (len(things) > most)])
