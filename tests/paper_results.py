"""Made-up tables of results, for the tests of the paper's figures and report."""

import json

import numpy as np
import pandas as pd

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.protocol import (
    FOREST,
    GRADIENT_KEPT,
    PAPER,
    PLATEAU_SPL,
    SPL,
    THREE_THETAS,
    TWO_SIDED,
    UNTIL_CONVERGENCE,
    WHOLE_TREES,
    WITH_CART,
)

SETS = [name for name, entry in UCI_CATALOGUE.items() if entry.paper is not None]
NOISE = 0, 5, 10, 20, 30
# What a method adds to the error without noise, and for each percent of noise
CHARACTERS = {
    "AdaBoost": (0.0, 0.0060),
    "LogitBoost": (0.002, 0.0042),
    "SavageBoost": (0.004, 0.0038),
    "RBoost": (0.003, 0.0034),
    "RobustBoost": (0.003, 0.0030),
    **dict.fromkeys(SPL, (0.001, 0.0020)),
    **dict.fromkeys(PLATEAU_SPL, (0.001, 0.0020)),
    FOREST: (0.000, 0.0012),
    UNTIL_CONVERGENCE: (0.001, 0.0020),
    GRADIENT_KEPT: (0.002, 0.0044),
    TWO_SIDED: (0.003, 0.0031),
    THREE_THETAS: (0.003, 0.0029),
    **dict.fromkeys(WHOLE_TREES, (0.01, 0.0040)),
    **dict(zip(WITH_CART, [(0.0, 0.0061), (0.001, 0.0022)], strict=True)),
}


def make_results(
    sets=SETS, noise=NOISE, repeats=3, methods=PAPER, *, characters=None, seed=0
):
    """A row for each cell; chance is that of the cell and of the method in it."""
    characters = CHARACTERS | (characters or {})
    rows = []
    for k, data in enumerate(sets):
        rng = np.random.default_rng([seed, k])
        base = rng.uniform(0.03, 0.3)
        for level in noise:
            for repeat in range(repeats):
                shared = rng.normal(scale=0.01)
                for method in methods:
                    start, slope = characters[method]
                    error = base + start + slope * level
                    error += shared + rng.normal(scale=0.003)
                    rows.append(
                        {
                            "data": data,
                            "n_train": 100 * (k + 1),
                            "noise": level,
                            "repeat": repeat,
                            "method": method,
                            "error": float(np.clip(error, 0, 1)),
                            "cv_error": float(
                                error + level / 100 + rng.normal(scale=0.01)
                            ),
                            "n_estimators": int(rng.integers(1, 200)),
                            "chosen": json.dumps({"depth": 3, "age": 1.5 + k % 2}),
                            "n_fits": 55,
                            "fit_seconds": float(rng.uniform(0.1, 2)),
                            "source": "catalogue",
                            "protocol": "large" if data == "adult" else "small",
                            "version": "0.1.0",
                            "settings": "0123456789ab",
                        }
                    )
    return pd.DataFrame(rows)


def without(results, **where):
    """The table without the rows of these values."""
    hit = np.ones(len(results), dtype=bool)
    for column, value in where.items():
        hit &= (results[column] == value).to_numpy()
    return results[~hit]
