"""Which plateau should a pace have by default, for each booster and learning rate?

Fits every booster that takes a pace with hard and linear paces over a grid of plateaus
(in the scale of the exponential loss), learning rates, warm rounds and tree depths, on
the problems and seeds of ``defaults.py``, and prints the mean test error (clean labels)
of each setting. No other data take part in the choice. A learning rate of 0.1, with
which the plateau matters little, has the first seed only.

    python benchmarks/rival_defaults.py              the full grid, some 15 minutes
    python benchmarks/rival_defaults.py --seeds 1    a look

Five of the sets are read from the folder that SPLBOOST_DATA names.
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from defaults import FILES, GENERATORS, NOISE, RESULTS, draw
from joblib import Parallel, delayed
from sklearn.base import clone

from splboost import (
    AdaBoostClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    SavageBoostClassifier,
)
from splboost.pace import Hard, Linear
from splboost.trees import CARTClassifier, CARTRegressor

SEEDS = 3
BOOSTERS = {
    "AdaBoost": (AdaBoostClassifier(), CARTClassifier),
    "Real": (RealAdaBoostClassifier(), CARTClassifier),
    "Gentle": (GentleBoostClassifier(), CARTRegressor),
    "Logit, response": (LogitBoostClassifier(), CARTRegressor),
    "Logit, gradient": (LogitBoostClassifier(z_clip="gradient"), CARTRegressor),
    "Savage": (SavageBoostClassifier(), CARTClassifier),
    "RBoost, gentle": (RBoostClassifier(), CARTRegressor),
    "RBoost, fisher": (RBoostClassifier(variant="fisher"), CARTRegressor),
    "RBoost, mm": (RBoostClassifier(variant="mm"), CARTRegressor),
    "RBoost, discrete": (RBoostClassifier(variant="discrete"), CARTClassifier),
}
PLATEAUS = {  # by depth
    1: (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0),
    3: (1.0, 1.5, 2.0, 3.0),
}
WARM_ROUNDS = {1.0: (3,), 0.1: (3, 15)}  # by learning rate
KEYS = ["booster", "depth", "rate", "warm", "pace", "plateau"]


def settings(seed: int) -> list[dict[str, Any]]:
    grid = []
    rates = list(WARM_ROUNDS) if seed == 0 else [1.0]
    for booster, depth, rate in itertools.product(BOOSTERS, PLATEAUS, rates):
        shared = {"booster": booster, "depth": depth, "rate": rate}
        grid.append({**shared, "warm": 0, "pace": "none", "plateau": math.inf})
        for warm, pace, plateau in itertools.product(
            WARM_ROUNDS[rate], ("hard", "linear"), PLATEAUS[depth]
        ):
            grid.append({**shared, "warm": warm, "pace": pace, "plateau": plateau})
    return grid


def make(setting: dict[str, Any]) -> Any:
    booster, tree = BOOSTERS[setting["booster"]]
    paces = {"hard": Hard, "linear": Linear}
    is_plain = setting["pace"] == "none"
    return clone(booster).set_params(
        estimator=tree(max_depth=setting["depth"], min_weight_fraction_leaf=1e-4),
        learning_rate=setting["rate"],
        warm_rounds=setting["warm"],
        pace=None if is_plain else paces[setting["pace"]](plateau=setting["plateau"]),
    )


def measure(name: str, noise: float, seed: int) -> list[dict[str, Any]]:
    """Test error (%) of every setting after all rounds."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = draw(name, noise, seed)
    rows = []
    for setting in settings(seed):
        wrong = make(setting).fit(X, y).predict(X_test) != y_test
        given = {"data": name, "noise": noise, "seed": seed}
        rows.append({**setting, **given, "error": 100 * wrong.mean()})
    return rows


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Mean over the problems by share of wrong labels, and what the pace gains.

    The gain is that over no pace, with its standard error over the problems.
    """
    by_noise = table.pivot_table("error", KEYS, "noise", sort=False).sort_index(axis=1)
    by_noise.columns = [f"{100 * noise:.0f}%" for noise in by_noise.columns]
    by_data = table.pivot_table("error", KEYS, "data", sort=False)
    own = by_data.index.droplevel(["warm", "pace", "plateau"])
    plain = by_data.xs("none", level="pace").droplevel(["warm", "plateau"])
    gain = plain.loc[own].to_numpy() - by_data.to_numpy()
    by_noise["mean"] = by_noise.mean(axis=1)
    by_noise["gain"] = gain.mean(axis=1)
    by_noise["gain_error"] = gain.std(axis=1, ddof=1) / np.sqrt(gain.shape[1])
    return by_noise.round(2).reset_index()


def print_choice(summary: pd.DataFrame, depth: int) -> None:
    """A row for each booster, rate and pace; a column for each plateau."""
    print(f"\nMean test error (%) by plateau, depth {depth}; inf is without a pace")
    part = summary[summary["depth"] == depth]
    plain = part[part["pace"] == "none"].set_index(["booster", "rate"])["mean"]
    grid = part[part["pace"] != "none"].pivot_table(
        "mean", ["booster", "rate", "pace", "warm"], "plateau", sort=False
    )
    grid[math.inf] = [plain[key[:2]] for key in grid.index]
    print(grid.round(1).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a full run has its own file")
    args = parser.parse_args()
    tasks = itertools.product(range(args.seeds), (*FILES, *GENERATORS), NOISE)
    parts = Parallel(n_jobs=args.jobs, verbose=1)(
        delayed(measure)(name, noise, seed) for seed, name, noise in tasks
    )
    summary = summarise(pd.DataFrame(itertools.chain.from_iterable(parts)))
    for depth in PLATEAUS:
        print_choice(summary, depth)
    out = args.out or (RESULTS / "rival_defaults.csv" if args.seeds == SEEDS else None)
    if out is not None:
        out.parent.mkdir(exist_ok=True)
        summary.to_csv(out, index=False)
        print(f"All {len(summary)} settings: {out}")


if __name__ == "__main__":
    main()
