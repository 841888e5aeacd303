"""Time of a default SPLForestClassifier, against a tuned LightGBM.

The forest has nothing to tune, and is to cost no more than tuning something else: the
search of the robustness benchmark, which takes the best of 30 random settings on 5
folds. Both get one thread, and their seconds are those of the processor, which other
work on the machine changes little.

    python benchmarks/forest_cost.py             all of it, saved in benchmarks/results
    python benchmarks/forest_cost.py --quick     small, to see that it works
"""

from __future__ import annotations

import pickle
import time
from functools import partial
from typing import Any

import pandas as pd
from _long_methods import DRAWS, FOLDS, fit_spl_forest, fit_tuned
from _report import Benchmark, format_table, progress
from _timing import make_data, use_fresh_numba_cache

FEATURES, THREADS, SEED = 20, 1, 0
ROWS = 1_000, 10_000, 50_000
ABOUT = f"""\
Two classes divided by a non-linear function of {FEATURES} normal columns, a fifth of
the labels flipped. The forest is `SPLForestClassifier()`; LightGBM is tuned over
{DRAWS} random settings on {FOLDS} folds, and fitted again. Seconds are those of the
processor, with one thread each. The ratio is that of the forest's time to the time of
LightGBM. Prediction is of all rows, per row; the size is that of a pickle."""


def measure(fit: Any, n: int) -> dict[str, float]:
    X, y = make_data(n, FEATURES)
    X = pd.DataFrame(X).add_prefix("f")
    start = time.process_time()
    model = fit(X, y, SEED, THREADS)
    fitted = time.process_time()
    model.predict_proba(X)
    predicted = time.process_time()
    return {
        "fit": fitted - start,
        "predict": (predicted - fitted) / n,
        "size": len(pickle.dumps(model)),
    }


def compare(rows: tuple[int, ...]) -> dict[int, dict[str, dict[str, float]]]:
    measure(fit_spl_forest, 200)  # compiles
    found: dict[int, dict[str, dict[str, float]]] = {}
    fit_lightgbm = partial(fit_tuned, package="lightgbm")
    for n in rows:
        found[n] = {}
        for name, fit in (("forest", fit_spl_forest), ("LightGBM", fit_lightgbm)):
            progress(f"{n} rows, {name}")
            found[n][name] = measure(fit, n)
    return found


def table(found: dict[int, dict[str, dict[str, float]]]) -> str:
    lines = []
    for n, of in found.items():
        ratio = of["forest"]["fit"] / of["LightGBM"]["fit"]
        for name, each in of.items():
            lines.append(
                [
                    n,
                    name,
                    f"{each['fit']:.1f}",
                    f"{ratio:.2f}" if name == "forest" else "1",
                    f"{1e6 * each['predict']:.0f}",
                    f"{each['size'] / 1e6:.1f}",
                ]
            )
    names = ["rows", "what", "fit, s", "ratio", "prediction, us", "size, MB"]
    return format_table(names, lines)


def main() -> None:
    benchmark = Benchmark(__doc__, "forest_cost", "What a forest costs")
    given = benchmark.start()
    use_fresh_numba_cache()
    found = compare((200,) if given.quick else ROWS)
    benchmark.finish([ABOUT, table(found)], found)


if __name__ == "__main__":
    main()
