"""The data sets of the long benchmarks, their splits and their wrong labels.

Labels are 1 for the positive class, which is the rarer one of the whole set, and 0 for
the other. Strings are categories, and an empty field is a missing value.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedGroupKFold, train_test_split

from splboost.datasets import (
    flip_labels,
    load_uci,
    make_gaussians,
    make_long_servedio,
    make_ringnorm,
)

PROTOCOL = 1  # one more whenever the rows or labels of a problem change
MOST_TEST_ROWS = 5000
CHOSEN_ON, UNUSED, GENERATED = "chosen on", "unused", "generators"
# In the order of work: cheap ones first.
GROUPS = {
    "pb-T-OR-D": UNUSED,
    "parkinsons": CHOSEN_ON,
    "vc-2classes": UNUSED,
    "titanic": CHOSEN_ON,
    "blood": CHOSEN_ON,
    "pima": CHOSEN_ON,
    "gaussians": GENERATED,
    "st-german-credit": UNUSED,
    "ringnorm, 5 features": GENERATED,
    "long-servedio": GENERATED,
    "magic": UNUSED,
    "oocMerl4D": UNUSED,
    "twonorm": UNUSED,
    "ringnorm": CHOSEN_ON,
    "adult": CHOSEN_ON,
    "bank": UNUSED,
    "spambase": CHOSEN_ON,
    "connect-4": UNUSED,
    "ozone": CHOSEN_ON,
}
GENERATORS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "gaussians": partial(make_gaussians, 4500),
    "ringnorm, 5 features": partial(make_ringnorm, 9000, n_features=5),
    "long-servedio": partial(make_long_servedio, 9000),
}
# Share of labels flipped: of all, or of the positive class alone
NOISE = {
    "0": 0.0,
    "5": 0.05,
    "10": 0.1,
    "20": 0.2,
    "30": 0.3,
    "40": 0.4,
    "20 one-sided": {1: 0.2},
    "40 one-sided": {1: 0.4},
}
CLEAN = "0"


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows, whose labels may be wrong, and test rows with the right ones."""

    X: pd.DataFrame
    y: np.ndarray
    y_right: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray

    def part(self, rows: np.ndarray) -> Problem:
        """The same with some of the training rows."""
        y, y_right = self.y[rows], self.y_right[rows]
        return replace(self, X=self.X.iloc[rows], y=y, y_right=y_right)


def data_folder() -> Path | None:
    """The folder with the sets from files, if there is one."""
    folder = os.environ.get("SPLBOOST_DATA")
    return Path(folder) if folder else None


def available_sets() -> list[str]:
    """Those that can be read or made here, in the order of work."""
    return [name for name in GROUPS if name in GENERATORS or data_folder() is not None]


def _generate(name: str, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = GENERATORS[name](random_state=1000 + seed)
    return pd.DataFrame(X).add_prefix("f"), y


@lru_cache(maxsize=1)
def _read(name: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
    """Features and labels; and the subject of each row, where a subject has several."""
    folder = data_folder()
    if folder is None:
        raise OSError(f"{name} comes from a file: let SPLBOOST_DATA name its folder.")
    X, target, subjects = load_uci(
        name, data_home=folder, download=False, return_groups=True
    )
    columns = {}
    for k, column in enumerate(X):
        values = X[column]
        if isinstance(values.dtype, pd.CategoricalDtype):
            # Numbers for words, which every package takes for categories
            values = values.cat.rename_categories(range(len(values.cat.categories)))
        columns[f"f{k}"] = values
    labels, counts = np.unique(target, return_counts=True)
    # The last of equally rare classes
    rarer = labels[::-1][np.argmin(counts[::-1])]
    return pd.DataFrame(columns), (target == rarer).astype(int), subjects


def _split(y: np.ndarray, subjects: np.ndarray | None, seed: int) -> tuple[Any, Any]:
    """Two thirds to train with and a third to test with."""
    rows = np.arange(len(y))
    if subjects is not None:
        thirds = StratifiedGroupKFold(3, shuffle=True, random_state=seed)
        return next(thirds.split(rows, y, groups=subjects))
    return train_test_split(rows, train_size=2 / 3, stratify=y, random_state=seed)


def _at_most(most: int, rows: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    if len(rows) <= most:
        return rows
    return train_test_split(rows, train_size=most, stratify=y[rows], random_state=seed)[
        0
    ]


@lru_cache(maxsize=1)
def draw(name: str, noise: str, seed: int, rows: int) -> Problem:
    """A problem; the same arguments give the same one."""
    X, y, subjects = (
        (*_generate(name, seed), None) if name in GENERATORS else _read(name)
    )
    train, test = _split(y, subjects, seed)
    train = _at_most(rows, train, y, seed)
    test = _at_most(MOST_TEST_ROWS, test, y, seed)
    y_noisy, _ = flip_labels(y[train], NOISE[noise], random_state=seed)
    return Problem(
        X.iloc[train].reset_index(drop=True),
        y_noisy,
        y[train],
        X.iloc[test].reset_index(drop=True),
        y[test],
    )
