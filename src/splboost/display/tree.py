"""A fitted tree as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from splboost._tools.user_warnings import warn
from splboost.display.layout import Box, place
from splboost.display.style import FAINT, INK, class_colour, import_pyplot, tint
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
    nodes = _list_nodes(root, max_depth)
    boxes = _measure(nodes)
    width, height = place(boxes, gap=GAP, level_gap=LEVEL_GAP)
    width, height = width + 2 * MARGIN, height + 2 * MARGIN
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
    for node, box in zip(nodes, boxes, strict=True):
        _draw_box(ax, node, box, scale)
        for child in box.children:
            _draw_branch(ax, box, boxes[child], nodes[child].answer, scale)
    return ax


def _check_tree(tree: Any) -> None:
    if hasattr(tree, "outline") and not isinstance(tree, type):
        return
    name = tree.__name__ if isinstance(tree, type) else type(tree).__name__
    if isinstance(tree, type):
        remedy = f"give a fitted object, say {name}().fit(X, y)."
    elif hasattr(type(tree), "estimators_") or hasattr(tree, "estimators_"):
        remedy = "it holds many trees; give one of them, say estimators_[0]."
    elif isinstance(tree, BaseEstimator) and hasattr(tree, "tree_"):
        remedy = "scikit-learn draws its own, by sklearn.tree.plot_tree."
    else:
        remedy = "give a fitted tree of splboost.trees."
    raise TypeError(f"tree={name}: {remedy}")


# ---------------------------------------------------------------------- what to draw


@dataclass
class _Node:
    """What a box says and what leads to it; ``fill`` is None where it asks."""

    level: int
    answer: str
    lines: list[str]
    fill: tuple[float, float, float] | None
    is_cut: bool
    children: list[int]


def _list_nodes(root: Outline, max_depth: int | None) -> list[_Node]:
    """The nodes to draw, each before its children."""
    colours, n_leaves = _colours(root), _count_leaves(root)
    nodes: list[_Node] = []
    waiting: list[tuple[Outline, int, str, list[int]]] = [(root, 0, "", [])]
    while waiting:
        outline, level, answer, siblings = waiting.pop()
        siblings.append(len(nodes))
        is_cut = outline.question is not None and level == max_depth
        node = _Node(level, _shorten(answer), [], None, is_cut, [])
        nodes.append(node)
        if outline.question is None or is_cut:
            node.fill = colours[id(outline)]
            node.lines = [outline.prediction, *outline.note.split(", ")]
            node.lines += [f"… {n_leaves[id(outline)]} leaves"] * is_cut
        else:
            node.lines = _wrap(outline.question)
            for text, child in reversed(outline.branches):
                waiting.append((child, level + 1, text, node.children))
    return nodes


def _colours(root: Outline) -> dict[int, tuple[float, float, float]]:
    """Colour of each node by its identity: by class and purity, or by the mean."""
    nodes = root.nodes()
    means = [node.mean for node in nodes if node.mean is not None]
    low, high = min(means, default=0.0), max(means, default=0.0)
    colours = {}
    for node in nodes:
        number, strength = 0, 0.0
        if node.shares is not None:
            number, even = int(np.argmax(node.shares)), 1 / len(node.shares)
            strength = (node.shares[number] - even) / (1 - even)
        elif node.mean is not None and high > low:
            strength = node.mean / (high - low) - low / (high - low)
        strength = PALEST + (STRONGEST - PALEST) * strength
        colours[id(node)] = tint(class_colour(number), strength)
    return colours


def _count_leaves(root: Outline) -> dict[int, int]:
    """Leaves below each node, by the node's identity."""
    count: dict[int, int] = {}
    for node in reversed(root.nodes()):
        count[id(node)] = sum(count[id(child)] for _, child in node.branches) or 1
    return count


def _shorten(answer: str) -> str:
    if len(answer) <= ANSWER_CHARACTERS:
        return answer
    return answer[: ANSWER_CHARACTERS - 1].rstrip() + "…"


def _wrap(question: str) -> list[str]:
    """A question in lines that part neither "<= 2" nor "or missing"."""
    for words in ("<= ", "or missing", "is known"):
        question = question.replace(words, words.replace(" ", NO_BREAK))
    lines = textwrap.wrap(question, QUESTION_CHARACTERS)
    return [line.replace(NO_BREAK, " ") for line in lines]


def _measure(nodes: list[_Node]) -> list[Box]:
    """Boxes as large as their text at ``FONT_SIZE``."""
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    renderer, font = RendererAgg(1, 1, 72), FontProperties(size=FONT_SIZE)

    def width(lines: list[str]) -> float:
        sizes = [renderer.get_text_width_height_descent(s, font, False) for s in lines]
        return max(size[0] for size in sizes)

    return [
        Box(
            node.level,
            max(width(node.lines) + 2 * PADDING, width([node.answer])),
            len(node.lines) * LINE * FONT_SIZE + 2 * PADDING,
            node.children,
        )
        for node in nodes
    ]


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


def _draw_box(ax: Any, node: _Node, box: Box, scale: float) -> None:
    ax.text(
        box.x,
        box.top - box.height / 2,
        "\n".join(node.lines),
        ha="center",
        va="center",
        color=INK,
        fontsize=FONT_SIZE * scale,
        linespacing=LINE,
        parse_math=False,
        bbox={
            "boxstyle": f"round,pad={PADDING / FONT_SIZE},rounding_size=0.3",
            "facecolor": "white" if node.fill is None else node.fill,
            "edgecolor": FAINT,
            "linestyle": "--" if node.is_cut else "-",
            "linewidth": 0.8 * scale,
        },
        zorder=3,
    )


def _draw_branch(ax: Any, parent: Box, child: Box, answer: str, scale: float) -> None:
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
        answer,
        ha="center",
        va="center",
        color=INK,
        fontsize=FONT_SIZE * scale,
        parse_math=False,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "linewidth": 0},
        zorder=2,
    )
