"""Which tree and how many warm rounds should L2BoostRegressor have by default?

Fits Friedman's first problem (500 rows) with 0, 10, 20 and 30% of the targets off by
N(0, 20²), over trees, paces and warm rounds, and prints the mean error (RMSE, targets
without noise) over seeds 0 to 3, beside scikit-learn's boosting of absolute errors.

    python benchmarks/l2_defaults.py       two minutes; writes results/l2_defaults.csv
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pandas as pd
from _report import RESULTS
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor

from splboost import L2BoostRegressor
from splboost.trees import CARTRegressor

SEEDS, SPOILT, N_FITTED, N_ROWS = range(4), (0.0, 0.1, 0.2, 0.3), 500, 2500
TREES = {
    "depth 1": CARTRegressor(max_depth=1),
    "depth 2": CARTRegressor(max_depth=2),
    "depth 3": CARTRegressor(max_depth=3),
    "4 leaves": CARTRegressor(max_leaf_nodes=4),
    "8 leaves": CARTRegressor(max_leaf_nodes=8),
}
WARM_ROUNDS = 1, 3, 5, 10, 20, 40


def contestants() -> dict[tuple[str, str, int], Any]:
    """What is compared, by tree, pace and warm rounds."""
    made: dict[tuple[str, str, int], Any] = {
        ("scikit-learn, absolute error", "none", 0): GradientBoostingRegressor(
            loss="absolute_error", n_estimators=200
        )
    }
    for name, tree in TREES.items():
        made[name, "none", 0] = L2BoostRegressor(tree)
        for pace, warm in itertools.product(("hard", "linear"), WARM_ROUNDS):
            made[name, pace, warm] = L2BoostRegressor(tree, pace=pace, warm_rounds=warm)
    return made


def draw(seed: int, share: float) -> tuple[Any, Any, Any, Any]:
    """Rows to fit, some of them spoilt, and rows to test with their true targets."""
    X, y = make_friedman1(N_ROWS, noise=1.0, random_state=seed)
    truth = make_friedman1(N_ROWS, noise=0.0, random_state=seed)[1]
    rng = np.random.default_rng(seed)
    spoilt = np.flatnonzero(rng.random(N_FITTED) < share)
    y[spoilt] += 20 * rng.normal(size=spoilt.size)
    return X[:N_FITTED], y[:N_FITTED], X[N_FITTED:], truth[N_FITTED:]


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for seed, share in itertools.product(SEEDS, SPOILT):
        X, y, X_test, truth = draw(seed, share)
        for (tree, pace, warm), model in contestants().items():
            away = model.fit(X, y).predict(X_test) - truth
            error = float(np.sqrt(np.mean(away**2)))
            rows.append([tree, pace, warm, f"{100 * share:.0f}%", error])
    table = pd.DataFrame(rows, columns=["tree", "pace", "warm", "spoilt", "error"])
    keys = ["tree", "pace", "warm"]
    summary = table.pivot_table("error", keys, "spoilt", sort=False).round(2)
    print(summary.to_string())
    summary.reset_index().to_csv(RESULTS / "l2_defaults.csv", index=False)


if __name__ == "__main__":
    main()
