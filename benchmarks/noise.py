"""How much does SPLBoost help when labels are wrong?

Test error (clean labels) of AdaBoost and of SPLBoost with its defaults and with deeper
trees, beside a random forest with leaves of five and LightGBM, on nine data sets with 0
to 40% of the training labels flipped. None of the sets and none of the seeds were used
to choose defaults (docs/defaults.md says which were).

    python benchmarks/noise.py

Three of the sets come with scikit-learn; the others are read from the folder that
SPLBOOST_DATA names, and are left out without it.
"""

from __future__ import annotations

import itertools
import os
import warnings
from typing import Any

import numpy as np
import pandas as pd
from _report import Benchmark, format_table
from joblib import Parallel, delayed
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.datasets import flip_labels, load_uci
from splboost.pace import Linear
from splboost.trees import CARTClassifier

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4)
BUILT_IN = {
    "breast cancer": load_breast_cancer,
    "digits": load_digits,  # ten classes
    "wine": load_wine,  # three
}
FILES = ("magic", "oocMerl4D", "ozone", "parkinsons", "st-german-credit", "vc-2classes")
MOST_ROWS = 1000
FIRST_SEED, SEEDS = 100, 5


def contestants(seed: int) -> dict[str, Any]:
    return {
        "AdaBoost": AdaBoostClassifier(),
        "AdaBoost, subsample 0.5": AdaBoostClassifier(subsample=0.5, random_state=seed),
        "SPLBoost": SPLBoostClassifier(),
        "SPLBoost, subsample 0.5": SPLBoostClassifier(subsample=0.5, random_state=seed),
        "AdaBoost, depth 3": AdaBoostClassifier(CARTClassifier(max_depth=3)),
        "SPLBoost, depth 3": SPLBoostClassifier(
            CARTClassifier(max_depth=3), pace=Linear(plateau=1.5)
        ),
        "LightGBM": LGBMClassifier(verbose=-1, n_jobs=1),
        "random forest, leaf 5": RandomForestClassifier(
            200, min_samples_leaf=5, random_state=seed
        ),
    }


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in BUILT_IN:
        return BUILT_IN[name](return_X_y=True)
    X, y = load_uci(name, download=False)
    return X.to_numpy(float), y


def measure(name: str, noise: float, seed: int) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore")
    X, y = load(name)
    size = min(MOST_ROWS, int(0.7 * len(y)))
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=size, stratify=y, random_state=seed
    )
    y_noisy, flipped = flip_labels(y, noise, random_state=seed)
    rows = []
    for method, model in contestants(seed).items():
        model.fit(X, y_noisy)
        row = {
            "data": name,
            "noise": noise,
            "seed": seed,
            "method": method,
            "error": 100 * np.mean(model.predict(X_test) != y_test),
        }
        if getattr(model, "pace", None) is not None:
            dropped = model.sample_pace_ == 0
            row["flipped dropped"] = 100 * dropped[flipped].mean() if noise else np.nan
            row["clean dropped"] = 100 * dropped[~flipped].mean()
        rows.append(row)
    return rows


def as_table(table: pd.DataFrame) -> str:
    rows = [
        [label, *(f"{value:.1f}" for value in row)] for label, row in table.iterrows()
    ]
    return format_table([table.index.name or "", *table.columns], rows)


def main() -> None:
    title = "Test error (%) with wrong training labels"
    benchmark = Benchmark(__doc__, "noise", title)
    benchmark.parser.add_argument("--seeds", type=int, default=SEEDS)
    benchmark.parser.add_argument("--jobs", type=int, default=2)
    given = benchmark.start()
    names = [*BUILT_IN, *(FILES if "SPLBOOST_DATA" in os.environ else ())]
    if given.quick:
        names, given.seeds = ["wine"], 1
    seeds = range(FIRST_SEED, FIRST_SEED + given.seeds)
    parts = Parallel(n_jobs=given.jobs, verbose=1)(
        delayed(measure)(*task) for task in itertools.product(names, NOISE, seeds)
    )
    table = pd.DataFrame(itertools.chain.from_iterable(parts))
    table["noise"] = [f"{100 * noise:.0f}%" for noise in table["noise"]]
    order = list(contestants(0))
    by_noise = table.pivot_table("error", "method", "noise").loc[order]
    by_data = table[table["noise"] == "20%"].pivot_table("error", "data", "method")
    dropped = table[table["method"] == "SPLBoost"].pivot_table(
        ["flipped dropped", "clean dropped"], index="noise"
    )
    sections = [
        f"{len(names)} data sets, {given.seeds} splits each, at most {MOST_ROWS} "
        "training rows. Mean over data sets, by share of flipped training labels:",
        as_table(by_noise),
        "By data set, 20% flipped:",
        as_table(by_data[order]),
        "Samples that SPLBoost dropped (%), by share of flipped labels:",
        as_table(dropped.fillna(0).T),
    ]
    is_full = given.seeds == SEEDS and len(names) > len(BUILT_IN)
    data = {"errors": by_noise.to_dict("index")}
    benchmark.finish(sections, data, is_full=is_full)


if __name__ == "__main__":
    main()
