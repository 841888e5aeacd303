"""A fitted tree as indented text."""

from __future__ import annotations

from splboost.trees.outline import Outline


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
