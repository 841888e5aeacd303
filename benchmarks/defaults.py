"""Which weak learner and which pace should be the default?

Fits AdaBoost and SPLBoost over a grid of tree depths, leaf sizes, paces and plateaus
on nine data sets with 0, 10, 20 and 30% of the training labels flipped, and prints the
mean test error (clean labels) of each setting. Only the sets and seeds named here are
used to choose defaults; every other set is kept for reporting.

    python benchmarks/defaults.py              the full grid, some ten minutes
    python benchmarks/defaults.py --seeds 2    a look

The five sets from files (blood, pima, ringnorm, spambase, titanic) are read from the
folder that SPLBOOST_DATA names.
"""

from __future__ import annotations

import argparse
import itertools
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from splboost import AdaBoostClassifier
from splboost.datasets import (
    flip_labels,
    make_gaussians,
    make_long_servedio,
    make_ringnorm,
    make_twonorm,
)
from splboost.pace import Hard, Linear
from splboost.trees import CARTClassifier

SEEDS = 10
NOISE = (0.0, 0.1, 0.2, 0.3)
ROUNDS = (25, 50, 100, 200)
MOST_ROWS = 1000  # of training data, so that small data is what defaults suit
MOST_TEST_ROWS = 1500
DEPTHS = (1, 2, 3)
LEAF_SHARES = (0.0, 0.01)
PLATEAUS = (1.5, 2.0, 2.5, 3.0, 4.0)
RESULTS = Path(__file__).parent / "results"


def from_file(name: str) -> tuple[Any, np.ndarray]:
    path = Path(os.environ["SPLBOOST_DATA"]) / f"{name}.csv.gz"
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    X = frame.drop(columns="target")
    words = X.select_dtypes(exclude="number").columns
    return X.astype(dict.fromkeys(words, "category")), frame["target"].to_numpy()


def generated(maker: Any, **options: Any) -> Any:
    return lambda seed: maker(random_state=seed, **options)


GENERATORS = {
    "gaussians": generated(make_gaussians, n_per_class=1500),
    "twonorm*": generated(make_twonorm, n_samples=3000),
    "ringnorm*": generated(make_ringnorm, n_samples=3000),
    "long-servedio": generated(make_long_servedio, n_samples=3000),
}
FILES = ("blood", "pima", "ringnorm", "spambase", "titanic")
TRAIN_ROWS = {"gaussians": 200, "twonorm*": 300, "ringnorm*": 300, "long-servedio": 800}


def draw(name: str, noise: float, seed: int) -> tuple[Any, Any, Any, Any]:
    """Training data with flipped labels, and clean test data."""
    X, y = GENERATORS[name](1000 + seed) if name in GENERATORS else from_file(name)
    size = TRAIN_ROWS.get(name, min(MOST_ROWS, int(0.7 * len(y))))
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=size, stratify=y, random_state=seed
    )
    some = np.random.default_rng(seed).permutation(len(y_test))[:MOST_TEST_ROWS]
    y_noisy, _ = flip_labels(y, noise, random_state=seed)
    return X, y_noisy, _safe_indexing(X_test, some), y_test[some]


def settings(subsamples: tuple[float, ...]) -> list[dict[str, Any]]:
    paces = [None, *(p(plateau=k) for p in (Hard, Linear) for k in PLATEAUS)]
    return [
        {"depth": depth, "leaf": leaf, "pace": pace, "subsample": subsample}
        for depth, leaf, pace, subsample in itertools.product(
            DEPTHS, LEAF_SHARES, paces, subsamples
        )
    ]


def measure(
    name: str, noise: float, seed: int, grid: list[dict[str, Any]]
) -> list[Any]:
    """Test error of every setting after several numbers of rounds."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = draw(name, noise, seed)
    rows = []
    for setting in grid:
        tree = CARTClassifier(
            max_depth=setting["depth"], min_weight_fraction_leaf=setting["leaf"]
        )
        model = AdaBoostClassifier(
            tree,
            pace=setting["pace"],
            n_estimators=max(ROUNDS),
            subsample=setting["subsample"],
            random_state=seed,
        ).fit(X, y)
        errors = [np.mean(p != y_test) for p in model.staged_predict(X_test)]
        for rounds in ROUNDS:
            label = (
                "none" if setting["pace"] is None else type(setting["pace"]).__name__
            )
            rows.append(
                {
                    "data": name,
                    "noise": noise,
                    "seed": seed,
                    "depth": setting["depth"],
                    "leaf": setting["leaf"],
                    "pace": label,
                    "plateau": getattr(setting["pace"], "plateau", np.inf),
                    "subsample": setting["subsample"],
                    "rounds": rounds,
                    "error": 100 * errors[min(rounds, len(errors)) - 1],
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--subsamples", type=float, nargs="+", default=[1.0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a full run has its own file")
    args = parser.parse_args()
    grid = settings(tuple(args.subsamples))
    tasks = list(itertools.product((*FILES, *GENERATORS), NOISE, range(args.seeds)))
    parts = Parallel(n_jobs=args.jobs, verbose=1)(
        delayed(measure)(*task, grid) for task in tasks
    )
    table = pd.DataFrame(itertools.chain.from_iterable(parts))
    keys = ["depth", "leaf", "pace", "plateau", "subsample", "rounds"]
    mean = table.groupby([*keys, "noise", "data"])["error"].mean().reset_index()
    summary = mean.groupby([*keys, "noise"])["error"].mean().unstack("noise").round(2)
    summary.columns = [f"{100 * c:.0f}%" for c in summary.columns]
    summary["mean"] = summary.mean(axis=1).round(2)
    summary = summary.sort_values("mean").reset_index()
    print(summary.head(40).to_string())
    is_full = args.seeds == SEEDS and args.subsamples == [1.0]
    out = args.out or (RESULTS / "defaults.csv" if is_full else None)
    if out is not None:
        out.parent.mkdir(exist_ok=True)
        summary.to_csv(out, index=False)
        print(f"All {len(summary)} settings: {out}")


if __name__ == "__main__":
    main()
