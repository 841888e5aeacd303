"""Time to boost C4.5 trees, against scikit-learn's AdaBoost over entropy trees.

There is no other C4.5 in Python, so the peer's trees are the nearest that it has: of
the same depth, by entropy, and not pruned, which saves it that work. Ours are exact
(every value of a column may be a cut), and pruned or not. The library's CART trees,
which are binned, stand beside them.

    python benchmarks/c45.py              all of it, saved in benchmarks/results
    python benchmarks/c45.py --quick      small, to see that it works
"""

from __future__ import annotations

from functools import partial
from typing import Any

from _report import Benchmark, format_table
from _timing import (
    FULL,
    QUICK,
    SKLEARN,
    Cell,
    Contestant,
    compare,
    format_accuracies,
    make_splboost,
    measure,
    use_fresh_numba_cache,
)

PRUNED, UNPRUNED, CART = "C4.5", "C4.5, not pruned", "CART"
TARGET = 20
SIZES, DEPTHS, ROUNDS = (500, 5_000, 50_000), (1, 3, 6), 100
SETTING = f"""\
Two classes divided by a non-linear function of 20 normal columns, a fifth of the labels
flipped, {ROUNDS} rounds, one thread each, no pace. scikit-learn: `AdaBoostClassifier`
over `DecisionTreeClassifier(criterion="entropy", max_depth=depth)`. Fitting includes
sorting or binning the columns. The target is that scikit-learn takes {TARGET} times as
long as C4.5. All contestants of a row take turns; times are medians."""


def make_c45(depth: int, pruning: bool, rounds: int) -> Any:
    from splboost import AdaBoostClassifier
    from splboost.trees import C45Classifier

    tree = C45Classifier(max_depth=depth, pruning=pruning)
    return AdaBoostClassifier(tree, n_estimators=rounds, on_perfect="continue")


def make_peer(depth: int, rounds: int) -> Any:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(criterion="entropy", max_depth=depth)
    return AdaBoostClassifier(tree, n_estimators=rounds)


def make_cell(n: int, depth: int, rounds: int) -> Cell:
    makers = {
        SKLEARN: partial(make_peer, depth),
        PRUNED: partial(make_c45, depth, True),
        UNPRUNED: partial(make_c45, depth, False),
        CART: partial(make_splboost, "plain", depth, threads=1),
    }
    contestants = [Contestant(name, 1, rounds, make) for name, make in makers.items()]
    return Cell(n, depth, rounds, contestants)


def target_ratio(what: str, peer: str, cell: Cell, ours: str) -> float | None:
    return TARGET if what == "fit" and ours != CART else None


def main() -> None:
    benchmark = Benchmark(__doc__, "c45", "Boosted C4.5")
    given = benchmark.start()
    use_fresh_numba_cache()
    full, quick = (SIZES, ROUNDS, FULL), ((300,), 10, QUICK)
    sizes, rounds, effort = quick if given.quick else full
    cells = [make_cell(n, depth, rounds) for n in sizes for depth in DEPTHS]
    for cell in cells:
        measure(cell, effort)
    sections = [
        SETTING,
        "## Fit",
        format_table(*compare(cells, "fit", [SKLEARN], target_ratio)),
        "\\* scaled up from fewer rounds.",
        "## Predict",
        format_table(*compare(cells, "predict", [SKLEARN], target_ratio)),
        *format_accuracies(cells, [SKLEARN, PRUNED, UNPRUNED, CART]),
    ]
    benchmark.finish(sections, {"cells": [cell.as_dict() for cell in cells]})


if __name__ == "__main__":
    main()
