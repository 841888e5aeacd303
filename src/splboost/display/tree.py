"""A fitted tree as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
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
WIDER = 1.06  # letters are a few percent wider at some resolutions
PADDING, GAP, LEVEL_GAP, MARGIN = 5.0, 12.0, 34.0, 6.0  # in points, at that size
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
    boxes, width = _make_boxes(root, max_depth)
    n_lines = np.zeros(1 + max(box.level for box in boxes))
    np.maximum.at(n_lines, [b.level for b in boxes], [len(b.lines) for b in boxes])
    heights = n_lines * LINE * FONT_SIZE + 2 * PADDING + LEVEL_GAP
    tops = -MARGIN - np.cumsum([0, *heights])
    height = MARGIN - LEVEL_GAP - float(tops[-1])
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
        _draw(ax, box, tops, scale)
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


@dataclass
class _Box:
    """A node of the picture."""

    lines: list[str]
    answer: str  # which leads here
    level: int  # number of questions above it
    is_cut: bool = False  # whether questions below it are not drawn
    x: float = 0.0  # of its centre, in points
    fill: tuple[float, float, float] | None = None  # of a leaf
    children: list[_Box] = field(default_factory=list)


def _make_boxes(root: Outline, max_depth: int | None) -> tuple[list[_Box], float]:
    """Boxes, parents before their children, and the width of the picture."""
    means = [node.mean for node in root.nodes() if node.mean is not None]
    low, high = min(means, default=0.0), max(means, default=0.0)
    boxes: list[_Box] = []

    def add(node: Outline, answer: str, level: int, left: float) -> float:
        """Add a node and all below it, from the left on; returns the right edge."""
        box = _Box([node.prediction, *node.note.split(", ")], answer, level)
        boxes.append(box)
        n_boxes, right = len(boxes), left
        box.is_cut = node.question is not None and level == max_depth
        if box.is_cut:
            n_leaves = sum(each.question is None for each in node.nodes())
            box.lines.append(f"… {n_leaves} leaves")
        if node.question is None or box.is_cut:
            box.fill = _colour(node, low, high)
        else:
            box.lines = _wrap(node.question)
            for words, child in node.branches:
                k, words = len(boxes), shorten(words, ANSWER_CHARACTERS)
                right = add(child, words, level + 1, right)
                box.children.append(boxes[k])
        width = _width([*box.lines, answer])
        spare = max(0.0, width - (right - left))
        for below in boxes[n_boxes:]:
            below.x += spare / 2
        right += spare
        ends = box.children[:1] + box.children[-1:]
        middle = sum(child.x for child in ends) / 2 if ends else left
        box.x = min(max(middle, left + width / 2), right - width / 2)
        return right

    return boxes, add(root, "", 0, MARGIN) + MARGIN


def _width(texts: list[str]) -> float:
    """Width of a box with these lines, and the gap beside it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    measure = text_to_path.get_text_width_height_descent
    font = FontProperties(size=FONT_SIZE)
    widest = max(measure(text, font, False)[0] for text in texts)
    return WIDER * widest + 2 * PADDING + GAP


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


# --------------------------------------------------------------------------- drawing


def _fit(ax: Any, width: float, height: float) -> float:
    """Make data units points, or fewer where the tree is too large; returns the scale.

    The tree is at the top of the axes, and in the middle.
    """
    ax.set_axis_off()
    figure = ax.figure.figure  # the whole, where the axes are in a part of one
    figure.draw_without_rendering()  # so that a layout engine has placed the axes
    extent = ax.get_window_extent()
    across, down = (72 / figure.dpi * length for length in extent.size)
    scale = min(across / width, down / height, 1.0)
    spare = across / scale - width
    ax.set_xlim(-spare / 2, width + spare / 2)
    ax.set_ylim(-down / scale, 0)
    return scale


def _draw(ax: Any, box: _Box, tops: Any, scale: float) -> None:
    """A box, and a line to each of its children, with the answer."""
    x, (top, below) = box.x, tops[box.level : box.level + 2]
    style = {"ha": "center", "color": INK, "fontsize": FONT_SIZE * scale}
    style |= {"linespacing": LINE, "parse_math": False}
    frame = {
        "boxstyle": f"round,pad={PADDING / FONT_SIZE},rounding_size=0.3",
        "facecolor": "white" if box.fill is None else box.fill,
        "edgecolor": FAINT,
        "linestyle": "--" if box.is_cut else "-",
        "linewidth": 0.8 * scale,
    }
    text = "\n".join(box.lines)
    ax.text(x, top - PADDING, text, va="top", bbox=frame, zorder=3, **style)
    frame = {"boxstyle": "square,pad=0.1", "facecolor": "white", "linewidth": 0}
    for child in box.children:
        bar, xs = below + BAR, [x, x, child.x, child.x]
        ys = [top - PADDING, bar, bar, below]
        ax.plot(xs, ys, color=FAINT, linewidth=scale, zorder=1)
        place = child.x, below + BAR / 2
        ax.text(*place, child.answer, va="center", bbox=frame, zorder=2, **style)
