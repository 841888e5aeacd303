"""The data and the models that the benchmarks compare.

Models are imported when they are made: what an import costs is measured too, and the
folder of numba's cache must be set before numba is imported.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOISE = 0.2
PLATEAU = 2.5
ROWS_AT_A_TIME = 100_000


def make_data(
    n: int, d: int, *, seed: int = 0, noise: float = NOISE
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes divided by a non-linear function, a share of the labels flipped.

    Filled in place, so that nothing but the result takes memory.
    """
    rng = np.random.default_rng(seed)
    X, y = np.empty((n, d)), np.empty(n, dtype=np.int64)
    for lo in range(0, n, ROWS_AT_A_TIME):
        block = X[lo : lo + ROWS_AT_A_TIME]
        rng.standard_normal(out=block)
        a, b, c, e, f = block[:, :5].T
        positive = np.sin(3 * a) + b * c + e**2 - 1 + 0.5 * f > 0
        y[lo : lo + ROWS_AT_A_TIME] = positive ^ (rng.random(len(block)) < noise)
    return X, y


def make_splboost(pace: str, depth: int, rounds: int, threads: int) -> Any:
    """This library's booster; ``pace`` is hard, linear or plain."""
    from splboost import AdaBoostClassifier
    from splboost.pace import Hard, Linear
    from splboost.trees import CARTClassifier

    paces = {
        "hard": Hard(plateau=PLATEAU),
        "linear": Linear(plateau=PLATEAU),
        "plain": None,
    }
    return AdaBoostClassifier(
        CARTClassifier(max_depth=depth),
        n_estimators=rounds,
        pace=paces[pace],
        n_jobs=threads,
    )


def make_default(rounds: int | None = None, threads: int = 1) -> Any:
    """This library's booster as it comes."""
    from splboost import SPLBoostClassifier

    model = SPLBoostClassifier(n_jobs=threads)
    return model if rounds is None else model.set_params(n_estimators=rounds)


def make_lightgbm(depth: int, rounds: int, threads: int) -> Any:
    """LightGBM with trees of the same depth, as full as the depth allows.

    Its default of 20 rows in a leaf is lowered to 1, which is what the others have.
    """
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=rounds,
        max_depth=depth,
        num_leaves=2**depth,
        min_child_samples=1,
        n_jobs=threads,
        verbose=-1,
    )


def make_sklearn(depth: int, rounds: int) -> Any:
    """scikit-learn's AdaBoost, which has no threads."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    return AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth), n_estimators=rounds
    )


def rounds_done(model: Any) -> int:
    """How many rounds a fitted model has."""
    if hasattr(model, "n_iter_"):
        return int(model.n_iter_)
    return len(model.estimators_)


def use_fresh_numba_cache() -> str:
    """Let this process and its children compile into a new folder; its path.

    numba does not notice when a kernel that another file calls has changed, so an old
    cache could measure old code. The folder is removed at the end of the process.
    """
    folder = tempfile.mkdtemp(prefix="splboost-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder
    return folder
