"""What the full protocol of the SPLBoost paper costs, and would cost scikit-learn.

The protocol is that of `splboost paper run --preset full`: 17 sets, 5 levels of noise,
50 repeats, nine boosters, three depths of trees, five folds. One fit of each booster,
in the middle of its grid, is timed on each set and at each depth, and beside it
scikit-learn's AdaBoost with as many rounds over trees of the same depth; the protocol
then takes as many fits as it has settings and folds.

    python benchmarks/paper_cost.py                     all sets that are there
    python benchmarks/paper_cost.py --sets twonorm      some of them
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from _report import RESULTS, Benchmark, format_ratio, format_table, progress
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from splboost.paper.cells import warm_up
from splboost.paper.draw import Draw, draw, read_set
from splboost.paper.methods import METHODS, Method
from splboost.paper.protocol import PAPER, PAPER_SETS, PRESETS, Protocol

NOISE, SEED = 20, 0
LONGEST = 5.0  # seconds that scikit-learn may take; else it does fewer rounds
FEWEST_ROUNDS = 5
PROTOCOL, STANDARD = PRESETS["full"], PRESETS["standard"]
ABOUT = f"""\
Seconds of the processor, in one thread, on the rows of one fold of a draw with {NOISE}%
wrong labels; means over the depths {", ".join(map(str, PROTOCOL.depths))}.
`AdaBoost` is that of the protocol, over C4.5; scikit-learn's is over CART, with
categories as columns of 0 and 1 and medians for missing values. Where it would take
more than {LONGEST:.0f} seconds, it does fewer rounds and is scaled up. Hours are those
of one core for the whole protocol, every booster at its own price on the left, and as
many fits at the price of scikit-learn's AdaBoost on the right. `standard` are those of
`--preset standard`, with fewer repeats and, on sets of more than 8 000 rows, fewer
settings."""


def one_fold(case: Draw) -> Draw:
    """The rows of the first fold to train with."""
    train = case.folds[0][0]
    return Draw(
        case.X[train], case.y[train], case.X_test, case.y_test, case.n_categories, [], 0
    )


def middle_of(method: Method, depth: int) -> Any:
    """The booster of a method with parameters from the middle of its grid."""
    parameters = method.parameters(PROTOCOL)
    booster = clone(method.booster).set_params(
        n_estimators=PROTOCOL.rounds,
        estimator__max_depth=depth,
        random_state=SEED,
        n_jobs=1,
        **parameters[len(parameters) // 2],
    )
    if method.paces is not None:
        paces = method.paces(PROTOCOL)
        booster.set_params(pace=paces[len(paces) // 2][1])
    return booster


def seconds_of(booster: Any, X: Any, y: Any) -> float:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        booster.fit(X, y)
    return time.process_time() - start


def seconds_of_sklearn(X: Any, y: Any, depth: int) -> float:
    """Of scikit-learn's AdaBoost, by as many rounds as there is time for."""
    n_rounds = FEWEST_ROUNDS
    while True:
        tree = DecisionTreeClassifier(max_depth=depth, random_state=SEED)
        booster = SklearnAdaBoost(tree, n_estimators=n_rounds, random_state=SEED)
        seconds = seconds_of(booster, X, y)
        of_round = seconds / len(booster.estimators_)  # it may end early
        affordable = min(PROTOCOL.rounds, int(LONGEST / of_round))
        if affordable <= n_rounds:
            return of_round * PROTOCOL.rounds
        n_rounds = affordable


def measure(name: str) -> dict[str, Any]:
    """Seconds of a fit, by method and depth, and how many the protocol takes."""
    plain = one_fold(draw(read_set(name), noise=NOISE, seed=SEED, n_folds=5))
    coded = plain.one_hot()
    seconds: dict[str, list[float]] = {}
    for method in PAPER:
        own = METHODS[method]
        case = coded if own.one_hot else plain
        seconds[method] = []
        for depth in PROTOCOL.depths:
            booster = middle_of(own, depth)
            booster.set_params(categorical_features=case.categorical)
            seconds[method].append(seconds_of(booster, case.X, case.y))
    # Its AdaBoost takes no missing values.
    X = np.where(np.isnan(coded.X), np.nanmedian(coded.X, axis=0), coded.X)
    peer = [seconds_of_sklearn(X, coded.y, depth) for depth in PROTOCOL.depths]
    return {"rows": plain.y.size, "seconds": seconds, "scikit-learn": peer}


def hours(
    found: dict[str, Any], protocol: Protocol, *, of_sklearn: bool = False
) -> float:
    """Of one core for the protocol of a set, or at scikit-learn's price of a fit."""
    total = 0.0
    for method in PAPER:
        seconds = found["scikit-learn"] if of_sklearn else found["seconds"][method]
        of_depth = dict(zip(PROTOCOL.depths, seconds, strict=True))
        price = np.mean([of_depth[depth] for depth in protocol.depths])
        total += METHODS[method].count_fits(protocol) * float(price)
    return len(protocol.noise) * protocol.repeats * total / 3600


def table(found: dict[str, dict[str, Any]]) -> str:
    lines, sums = [], np.zeros(4)
    for name, each in found.items():
        costs = [
            hours(each, protocol.for_set(name), of_sklearn=of_sklearn)
            for protocol in (PROTOCOL, STANDARD)
            for of_sklearn in (False, True)
        ]
        sums += costs
        ada = float(np.mean(each["seconds"]["AdaBoost"]))
        sklearn = float(np.mean(each["scikit-learn"]))
        lines.append(
            [
                name,
                each["rows"],
                f"{ada:.3f}",
                f"{sklearn:.2f}",
                format_ratio(sklearn / ada),
                *_in_words(costs, digits=1),
            ]
        )
    lines.append(["all", *[""] * 4, *_in_words(sums, digits=0)])
    header = ["set", "rows", "AdaBoost, s", "scikit-learn, s", "ratio"]
    header += ["hours", "at its price", "ratio", "standard", "at its price"]
    return format_table(header, lines)


def _in_words(costs: Sequence[float], digits: int) -> list[str]:
    own, peer, standard, peer_standard = costs
    return [
        f"{own:.{digits}f}",
        f"{peer:.0f}",
        format_ratio(peer / own),
        f"{standard:.{digits + 1}f}",
        f"{peer_standard:.{digits}f}",
    ]


def main() -> None:
    title = "What the paper's protocol costs"
    benchmark = Benchmark(__doc__, "cost", title, RESULTS / "paper")
    benchmark.parser.add_argument("--sets", help="some of them, with commas between")
    given = benchmark.start()
    names = given.sets.split(",") if given.sets else PAPER_SETS
    for method in PAPER:
        warm_up(method)
    found: dict[str, dict[str, Any]] = {}
    for name in names[:1] if given.quick else names:
        progress(name)
        try:
            found[name] = measure(name)
        except FileNotFoundError as error:
            progress(str(error))
    sections = [ABOUT, table(found)]
    benchmark.finish(sections, {"found": found}, is_full=not given.sets)


if __name__ == "__main__":
    main()
