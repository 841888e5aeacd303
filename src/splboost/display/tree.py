"""A fitted tree as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from splboost._tools.user_warnings import warn
from splboost.display.style import (
    FAINT,
    INK,
    class_colour,
    import_pyplot,
    shorten,
    tint,
)
from splboost.trees.outline import Outline

FONT_SIZE = 9.0
LINE = 1.2  # height of a line of text, in font sizes
PADDING, GAP, LEVEL_GAP, MARGIN = 5.0, 12.0, 34.0, 10.0  # in points, at that size
BAR = 26.0  # height above the children of the bar that joins them
QUESTION_CHARACTERS, ANSWER_CHARACTERS = 24, 20  # longest lines
NO_BREAK = "\N{NO-BREAK SPACE}"
MOST_CATEGORIES = 3
MOST_INCHES = 200.0  # beyond, pixels no longer fit into an image
READABLE_INCHES = 60.0
PALEST, STRONGEST = 0.08, 0.6


def plot_tree(
    tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    digits: int = 4,
    ax: Any = None,
) -> Any:
    """Draw a fitted tree.

    White boxes ask; the branches carry the answers. Coloured boxes are leaves: the
    colour is that of the predicted class, the stronger the purer the leaf, or darker
    the larger the predicted value.

    Parameters
    ----------
    tree : CARTClassifier, CARTRegressor or C45Classifier
        A fitted tree, also one of a booster's ``estimators_``.
    max_depth : int, default=None
        Levels of questions to draw. What is below is counted. None draws all.
    feature_names : sequence of str, default=None
        A name for each feature; None takes those that ``fit`` saw.
    class_names : sequence of str, default=None
        A name for each class, in the order of ``classes_``; None takes the labels.
    digits : int, default=4
        Significant digits of thresholds and values.
    ax : matplotlib Axes, default=None
        Where to draw, with letters as small as need be. None makes a figure that is as
        large as the tree needs.

    Returns
    -------
    ax : matplotlib Axes

    See Also
    --------
    splboost.trees.CARTClassifier.to_text : The same as text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from splboost.display import plot_tree
    >>> from splboost.trees import CARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_tree(CARTClassifier(max_depth=2).fit(X, y))
    >>> len(ax.texts)  # five boxes and four answers
    9
    """
    plt = import_pyplot()
    _check_tree(tree)
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth={max_depth!r} must be 0 or more, or None for all.")
    root = tree.outline(
        feature_names=feature_names,
        class_names=class_names,
        digits=digits,
        most_categories=MOST_CATEGORIES,
    )
    boxes = _make_boxes(root, max_depth)
    width, height = (length + 2 * MARGIN for length in _place(boxes))
    if ax is None:
        inch = max(72.0, width / MOST_INCHES, height / MOST_INCHES)
        if max(width, height) > READABLE_INCHES * inch:
            warn(
                f"The picture of this tree is {width / inch:.0f} by "
                f"{height / inch:.0f} inches; draw fewer levels by max_depth, or read "
                "the tree by to_text()."
            )
        figure = plt.figure(figsize=(width / inch, height / inch))
        ax = figure.add_axes((0, 0, 1, 1))
    scale = _fit(ax, width, height)
    for box in boxes:
        _draw_box(ax, box, scale)
        for child in box.children:
            _draw_branch(ax, box, child, scale)
    return ax


def _check_tree(tree: Any) -> None:
    if hasattr(tree, "outline") and not isinstance(tree, type):
        return
    name = getattr(tree, "__name__", type(tree).__name__)
    if isinstance(tree, type):
        remedy = f"give a fitted object, say {name}().fit(X, y)."
    elif hasattr(tree, "estimators_") or hasattr(type(tree), "estimators_"):
        remedy = "it holds many trees; give one of them, say estimators_[0]."
    elif isinstance(tree, BaseEstimator) and hasattr(tree, "tree_"):
        remedy = "scikit-learn draws its own, by sklearn.tree.plot_tree."
    else:
        remedy = "give a fitted tree of splboost.trees."
    raise TypeError(f"tree={name}: {remedy}")


# ---------------------------------------------------------------------- what to draw


@dataclass(eq=False)
class _Box:
    """A node of the picture; lengths are points.

    Attributes
    ----------
    answer : what leads here
    fill : colour of a leaf; None where the node asks
    width, height : of the box; the width also has room for the answer above it
    column : width of what is drawn here and below, which nothing else overlaps
    left : left edge of that column
    x, top : centre and upper edge of the box; heights below the root are negative
    """

    outline: Outline
    answer: str
    level: int
    is_cut: bool = False
    lines: list[str] = field(default_factory=list)
    fill: tuple[float, float, float] | None = None
    children: list[_Box] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    column: float = 0.0
    left: float = 0.0
    x: float = 0.0
    top: float = 0.0


def _make_boxes(root: Outline, max_depth: int | None) -> list[_Box]:
    """Boxes as large as their text, level by level."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    dpi, font = rcParams["figure.dpi"], FontProperties(size=FONT_SIZE)
    renderer = RendererAgg(1, 1, dpi)  # letters are a few percent wider at some dpi

    def width(text: str) -> float:
        pixels, *_ = renderer.get_text_width_height_descent(text, font, False)
        return float(pixels) * 72 / dpi

    means = [node.mean for node in root.nodes() if node.mean is not None]
    low, high = min(means, default=0.0), max(means, default=0.0)
    boxes = [_Box(root, "", 0)]
    for box in boxes:
        node = box.outline
        box.is_cut = node.question is not None and box.level == max_depth
        if node.question is None or box.is_cut:
            box.fill = _colour(node, low, high)
            box.lines = [node.prediction, *node.note.split(", ")]
            if box.is_cut:
                n_leaves = sum(each.question is None for each in node.nodes())
                box.lines.append(f"… {n_leaves} leaves")
        else:
            box.lines = _wrap(node.question)
            box.children = [
                _Box(child, shorten(answer, ANSWER_CHARACTERS), box.level + 1)
                for answer, child in node.branches
            ]
            boxes.extend(box.children)
        box.width = max(max(map(width, box.lines)) + 2 * PADDING, width(box.answer))
        box.height = len(box.lines) * LINE * FONT_SIZE + 2 * PADDING
    return boxes


def _colour(node: Outline, low: float, high: float) -> tuple[float, float, float]:
    """By class and purity, or by the mean between the lowest and the highest."""
    number, strength = 0, 0.0
    if node.shares is not None:
        number, even = int(np.argmax(node.shares)), 1 / len(node.shares)
        strength = (node.shares[number] - even) / (1 - even)
    elif node.mean is not None and high > low:
        strength = node.mean / (high - low) - low / (high - low)
    return tint(class_colour(number), PALEST + (STRONGEST - PALEST) * strength)


def _wrap(question: str) -> list[str]:
    """A question in lines that part neither "<= 2" nor "or missing"."""
    for words in ("<= ", "or missing", "is known"):
        question = question.replace(words, words.replace(" ", NO_BREAK))
    lines = textwrap.wrap(question, QUESTION_CHARACTERS)
    return [line.replace(NO_BREAK, " ") for line in lines]


def _place(boxes: list[_Box]) -> tuple[float, float]:
    """Place boxes, the columns of children side by side below their parent.

    Returns the width and the height of the whole, whose upper left corner is (0, 0).
    """

    def width_below(box: _Box) -> float:
        return sum(child.column + GAP for child in box.children) - GAP

    for box in reversed(boxes):  # children before their parents
        box.column = max(box.width, width_below(box))
    for box in boxes:
        left = box.left + (box.column - width_below(box)) / 2
        for child in box.children:
            child.left = left
            left += child.column + GAP
    for box in reversed(boxes):
        ends = box.children[:1] + box.children[-1:]
        middle = sum(child.x for child in ends) / 2 if ends else box.left
        first, last = box.left + box.width / 2, box.left + box.column - box.width / 2
        box.x = min(max(middle, first), last)
    top = 0.0
    for _, level in groupby(boxes, key=lambda box: box.level):
        row = list(level)
        for box in row:
            box.top = top
        top -= max(box.height for box in row) + LEVEL_GAP
    return boxes[0].column, -top - LEVEL_GAP


# --------------------------------------------------------------------------- drawing


def _fit(ax: Any, width: float, height: float) -> float:
    """Make data units points, or fewer where the tree is too large; returns the scale.

    The tree is centred at the top of the axes.
    """
    ax.set_axis_off()
    figure = ax.figure.figure  # the whole, where the axes are in a part of one
    figure.draw_without_rendering()  # so that a layout engine has placed the axes
    extent = ax.get_window_extent()
    across, down = (72 / figure.dpi * length for length in extent.size)
    scale = min(across / width, down / height, 1.0)
    spare = across / scale - width
    ax.set_xlim(-MARGIN - spare / 2, width - MARGIN + spare / 2)
    ax.set_ylim(MARGIN - down / scale, MARGIN)
    return scale


def _draw_box(ax: Any, box: _Box, scale: float) -> None:
    ax.text(
        box.x,
        box.top - box.height / 2,
        "\n".join(box.lines),
        ha="center",
        va="center",
        color=INK,
        fontsize=FONT_SIZE * scale,
        linespacing=LINE,
        parse_math=False,
        bbox={
            "boxstyle": f"round,pad={PADDING / FONT_SIZE},rounding_size=0.3",
            "facecolor": "white" if box.fill is None else box.fill,
            "edgecolor": FAINT,
            "linestyle": "--" if box.is_cut else "-",
            "linewidth": 0.8 * scale,
        },
        zorder=3,
    )


def _draw_branch(ax: Any, parent: _Box, child: _Box, scale: float) -> None:
    """A line down to a bar, along it, and down to the child; the answer above it."""
    start, bar = parent.top - parent.height / 2, child.top + BAR
    ax.plot(
        [parent.x, parent.x, child.x, child.x],
        [start, bar, bar, child.top],
        color=FAINT,
        linewidth=scale,
        zorder=1,
    )
    ax.text(
        child.x,
        child.top + BAR / 2,
        child.answer,
        ha="center",
        va="center",
        color=INK,
        fontsize=FONT_SIZE * scale,
        parse_math=False,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "linewidth": 0},
        zorder=2,
    )
