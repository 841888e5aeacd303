"""A fitted tree in words, from which its text and its picture are made.

Each kind of tree builds an :class:`Outline`, in which a node may have any number of
branches, with the words of a :class:`Wording`, so that all trees read alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost.trees.ensemble import TreeEnsemble


@dataclass(frozen=True, eq=False)
class Outline:
    """A node of a tree, with all that is below it.

    Attributes
    ----------
    prediction : str
        What is predicted here, or would be if the tree ended here.
    note : str
        What the prediction rests on, such as "share 0.9, weight 54".
    weight : float
        Summed weight of the training rows that came by.
    shares : tuple of float or None
        Share of each class; None in a regression tree.
    mean : float or None
        Mean of the target; None in a classification tree.
    question : str or None
        What the node asks; None in a leaf.
    branches : tuple of (str, Outline)
        The answers, each with the node it leads to; empty in a leaf.
    """

    prediction: str
    note: str
    weight: float
    shares: tuple[float, ...] | None = None
    mean: float | None = None
    question: str | None = None
    branches: tuple[tuple[str, Outline], ...] = field(default=(), repr=False)

    def nodes(self) -> list[Outline]:
        """This node and all below it, parents before their children."""
        found = [self]
        for node in found:
            found.extend(child for _, child in node.branches)
        return found


@dataclass(frozen=True)
class Wording:
    """How nodes are put into words.

    Attributes
    ----------
    feature_names, class_names : names in the order of the features and classes
    digits : significant digits of thresholds, shares and means; weights have two more
    most_categories : categories that a list names, the others being counted; None: all
    """

    feature_names: Sequence[str]
    class_names: Sequence[str]
    digits: int = 4
    most_categories: int | None = None

    def number(self, value: float) -> str:
        return f"{value:z.{self.digits}g}"

    def category(self, label: Any) -> str:
        """A category, in quotes where it would not be seen or would break a line."""
        text = str(label)
        return text if text.strip() and text.isprintable() else repr(label)

    def threshold(self, value: float) -> str:
        """A threshold; none of the digits before the point, and one after it, is cut.

        Whole numbers, such as years, would otherwise end up on the wrong side.
        """
        before = int(np.log10(abs(value))) + 1 if abs(value) >= 1 else 0
        return f"{value:z.{max(self.digits, before + 1)}g}"

    def categories(self, labels: Iterable[Any]) -> str:
        """A list of categories, such as "red, green, +5"."""
        names = [self.category(label) for label in labels]
        most = self.most_categories
        if most is not None and len(names) > most + 1:  # "+1" is no shorter than a name
            names = [*names[:most], f"+{len(names) - most}"]
        return ", ".join(names)

    def is_at_most(
        self, feature: int, threshold: float, *, or_missing: bool = False
    ) -> str:
        """The question whether a number is at most a threshold."""
        name = self.feature_names[feature]
        if np.isinf(threshold):
            return f"{name} is known"
        return f"{name} <= {self.threshold(threshold)}{' or missing' * or_missing}"

    def is_among(
        self, feature: int, labels: Iterable[Any], *, or_missing: bool = False
    ) -> str:
        """The question whether a category is among some."""
        name = self.feature_names[feature]
        return f"{name} in {{{self.categories(labels)}}}{' or missing' * or_missing}"

    def _weight(self, weight: float) -> str:
        return f"weight {weight:.{self.digits + 2}g}"  # often a count of rows

    def class_leaf(self, shares: NDArray[np.float64], weight: float) -> Outline:
        """A node of a classification tree, without branches so far."""
        best = int(np.argmax(shares))
        return Outline(
            prediction=f"class {self.class_names[best]}",
            note=f"share {self.number(shares[best])}, {self._weight(weight)}",
            weight=float(weight),
            shares=tuple(np.asarray(shares).tolist()),
        )

    def mean_leaf(self, mean: float, weight: float) -> Outline:
        """A node of a regression tree, without branches so far."""
        return Outline(
            prediction=self.number(mean),
            note=self._weight(weight),
            weight=float(weight),
            mean=float(mean),
        )


def tree_text(outline: Outline) -> str:
    """One line per node, children below their parent."""
    lines: list[str] = []
    waiting = [("", "", outline)]  # what its line and those below it begin with
    while waiting:
        lead, indent, node = waiting.pop()
        if node.question is None:
            lines.append(f"{lead}{node.prediction} ({node.note})")
            continue
        lines.append(lead + node.question)
        *others, last = node.branches
        answer, child = last
        waiting.append((f"{indent}└── {answer}: ", indent + "    ", child))
        for answer, child in reversed(others):
            waiting.append((f"{indent}├── {answer}: ", indent + "│   ", child))
    return "\n".join(lines)


def outline_two_way(
    tree: TreeEnsemble, leaves: list[Outline], wording: Wording
) -> Outline:
    """The outline of a tree of two-way splits; ``leaves`` has its nodes unsplit."""
    nodes = list(leaves)
    for node in np.flatnonzero(tree.child >= 0)[::-1]:  # children before their parents
        child = tree.child[node]
        nodes[node] = replace(
            nodes[node],
            question=_question(tree, node, wording),
            branches=(("yes", nodes[child]), ("no", nodes[child + 1])),
        )
    return nodes[0]


def _question(tree: TreeEnsemble, node: int, wording: Wording) -> str:
    feature = int(tree.feature[node])
    coding, missing = tree.coding[feature], bool(tree.missing_left[node])
    if coding is None:
        return wording.is_at_most(feature, tree.threshold[node], or_missing=missing)
    chosen = np.unpackbits(tree.sets[tree.which_set[node]], bitorder="little")
    labels = [label for label, code in coding.items() if chosen[code]]
    return wording.is_among(feature, labels, or_missing=missing)
