"""A fitted tree as indented text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from splboost.trees.ensemble import TreeEnsemble


def tree_text(
    tree: TreeEnsemble,
    names: list[str],
    describe_leaf: Callable[[int], str],
    digits: int,
) -> str:
    """One line per node, children below their parent."""
    lines: list[str] = []

    def write(node: int, lead: str, indent: str) -> None:
        child = int(tree.child[node])
        if child < 0:
            lines.append(lead + describe_leaf(node))
            return
        lines.append(lead + _question(tree, node, names, digits))
        write(child, indent + "├── yes: ", indent + "│   ")
        write(child + 1, indent + "└── no: ", indent + "    ")

    write(0, "", "")
    return "\n".join(lines)


def _question(tree: TreeEnsemble, node: int, names: list[str], digits: int) -> str:
    feature = int(tree.feature[node])
    name, coding = names[feature], tree.coding[feature]
    missing = bool(tree.missing_left[node])
    if coding is None:
        threshold = tree.threshold[node]
        if np.isinf(threshold):
            return f"{name} is known"
        return f"{name} <= {threshold:z.{digits}g}{' or missing' if missing else ''}"
    chosen = _members(tree.sets[tree.which_set[node]])
    labels = [str(label) for label, code in coding.items() if code in chosen]
    return f"{name} in {{{', '.join(labels)}}}{' or missing' if missing else ''}"


def _members(bits: NDArray[np.uint8]) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist())
