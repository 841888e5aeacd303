"""Models of LightGBM as text: what a custom objective leaves out is put back.

LightGBM writes the start score into the leaves of the first trees, and the name of the
objective into the header. Of an objective that it does not know it does neither, and
the model would give scores without a start where probabilities are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

VALUES = "leaf_value", "internal_value", "leaf_const"
END_OF_TREES = "\nend of trees\n"


def complete_model(
    models: Sequence[str], objective: str, start: Sequence[float], *, add_start: bool
) -> str:
    """The text of one model whose score is the mean of those given.

    The rounds of the models follow in turn: the first of each, the second of each.

    Parameters
    ----------
    models : texts of models that differ in their trees only
    objective : as it stands in a header, such as "binary sigmoid:1"
    start : start score, one for each tree of a round
    add_start : whether the models lack it
    """
    header, _, _ = _parts(models[0])
    per_round = len(start)
    rounds: list[list[list[str]]] = []
    for text in models:
        blocks = _parts(text)[1]
        if add_start:
            first = [
                _change(block, 1.0, bias)
                for block, bias in zip(blocks, start, strict=False)
            ]
            blocks = first + blocks[len(first) :]
        if len(models) > 1:
            blocks = [_change(block, 1 / len(models), 0.0) for block in blocks]
        rounds.append(
            [blocks[at : at + per_round] for at in range(0, len(blocks), per_round)]
        )
    in_turn = zip_longest(*rounds, fillvalue=[])
    ordered = (block for same in in_turn for each in same for block in each)
    trees = [
        re.sub(r"^Tree=\d+", f"Tree={number}", block)
        for number, block in enumerate(ordered)
    ]
    lines = [
        line
        for line in header.split("\n")
        if not line.startswith(("objective=", "tree_sizes="))
    ]
    at = next(i for i, line in enumerate(lines) if line.startswith("feature_names="))
    lines.insert(at, f"objective={objective}")
    sizes = " ".join(str(len(block.encode())) for block in trees)
    lines = [*(line for line in lines if line), f"tree_sizes={sizes}", "", ""]
    rest = _parts(models[0])[2]
    rest = re.sub(
        r"^\[objective: .*\]$", f"[objective: {objective.split()[0]}]", rest, flags=re.M
    )
    return "\n".join(lines) + "".join(trees) + END_OF_TREES[1:] + rest


def _parts(text: str) -> tuple[str, list[str], str]:
    """Header, trees and what comes after these."""
    body, end, rest = text.partition(END_OF_TREES)
    if not end:
        raise ValueError("The text is no model of LightGBM that this version can read.")
    starts = [match.start() for match in re.finditer(r"^Tree=\d+$", body, flags=re.M)]
    if not starts:
        return body + "\n", [], rest
    ends = [*starts[1:], len(body) + 1]
    blocks = [(body + "\n")[a:b] for a, b in zip(starts, ends, strict=True)]
    return body[: starts[0]], blocks, rest


def _change(block: str, factor: float, bias: float) -> str:
    """A tree whose values are factor times what they were, plus the bias."""

    def changed(match: re.Match[str]) -> str:
        name, values = match[1], match[2].split()
        add = 0.0 if name == "leaf_coeff" else bias
        return f"{name}=" + " ".join(repr(float(v) * factor + add) for v in values)

    names = [*VALUES, "leaf_coeff"] if factor != 1 else VALUES
    pattern = rf"^({'|'.join(names)})=(.*)$"
    block = re.sub(pattern, changed, block, flags=re.M)
    return (
        re.sub(r"^shrinkage=.*$", "shrinkage=1", block, flags=re.M) if bias else block
    )
