"""Where the boxes of a drawn tree go: a tidy tree, children below their parent.

Subtrees keep their own shape and are pushed together until two of their boxes, on
whichever level, are a gap apart; a parent stands midway between its first and its last
child (after Reingold and Tilford, 1981, with boxes of any width). Lengths are points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Box:
    """A node to be placed; ``x`` becomes its centre and ``top`` its upper edge.

    ``room`` is the width to keep free, for the box or for what is written above it.
    """

    level: int
    room: float
    height: float
    children: list[int]
    x: float = 0.0
    top: float = 0.0


def place(boxes: list[Box], *, gap: float, level_gap: float) -> tuple[float, float]:
    """Place boxes, of which each comes before its children.

    Returns the width and the height of the whole, whose upper left corner is (0, 0);
    it goes down to negative heights.
    """
    shift = np.zeros(len(boxes))  # of a box from its parent
    # Left and right edges of a box and of what is below it, level by level
    contour: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for i in reversed(range(len(boxes))):
        left = right = np.empty(0)
        for child in boxes[i].children:
            its_left, its_right = contour.pop(child)
            n = min(left.size, its_left.size)
            shift[child] = np.max(right[:n] - its_left[:n]) + gap if n else 0.0
            left = np.append(left, its_left[n:] + shift[child])
            right = np.append(its_right + shift[child], right[its_right.size :])
        if boxes[i].children:
            first, last = boxes[i].children[0], boxes[i].children[-1]
            middle = (shift[first] + shift[last]) / 2
            shift[boxes[i].children] -= middle
            left, right = left - middle, right - middle
        half = boxes[i].room / 2
        contour[i] = np.append(-half, left), np.append(half, right)

    left, right = contour[0]
    boxes[0].x = -left.min()
    for box in boxes:
        for child in box.children:
            boxes[child].x = box.x + shift[child]
    return right.max() - left.min(), _stack(boxes, level_gap)


def _stack(boxes: list[Box], level_gap: float) -> float:
    """Set the tops, level below level; returns the height of the whole."""
    highest: dict[int, float] = {}
    for box in boxes:
        highest[box.level] = max(highest.get(box.level, 0.0), box.height)
    tops, bottom = {}, level_gap
    for level in sorted(highest):
        tops[level] = bottom - level_gap
        bottom = tops[level] - highest[level]
    for box in boxes:
        box.top = tops[box.level]
    return -bottom
