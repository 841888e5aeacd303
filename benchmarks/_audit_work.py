"""What the audit benchmark does in a cell: doubt labels, and count who was right.

Then a LightGBM is trained on what a method leaves of the data, and tested on right
labels.
"""

from __future__ import annotations

import json
import time
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _audit_methods import METHODS, Verdict
from _cells import Cell
from _robustness_data import Problem
from _robustness_methods import Method
from _work import Task
from sklearn.metrics import average_precision_score

from splboost.paper.store import Store

N_BINS = 10  # of the chance that a label is wrong
PRECISIONS = 0.6, 0.7, 0.8, 0.9  # that are asked for


class Measures(NamedTuple):
    """What is measured.

    Attributes
    ----------
    average_precision, precision_at_flipped : of the ranking; the latter among as many
        of the worst as are flipped. None without flipped labels.
    rows, flipped : of the training data
    suspects, found : by the method's own decision; found ones are flipped
    stated_precision : what the method says of its suspects
    seconds : of the processor
    error_raw, error_right, error_dropped, error_corrected : test errors, trained on the
        labels as they are, on the right ones, without the suspects, and with what the
        method would give them
    bins : for each tenth of the stated chance, how many labels, the sum of their stated
        chances, and how many are flipped
    cuts : for each of ``PRECISIONS``, how many suspects, the sum of their stated
        chances, and how many are flipped
    """

    average_precision: float | None
    precision_at_flipped: float | None
    rows: int
    flipped: int
    suspects: int
    found: int
    stated_precision: float | None
    seconds: float
    error_raw: float
    error_right: float
    error_dropped: float
    error_corrected: float
    bins: str | None
    cuts: str | None


def open_store(path: Path) -> Store:
    """The store of the benchmark."""
    return Store(path, Cell, Measures)


# ------------------------------------------------------------------- who was right


def judge_ranking(
    verdict: Verdict, is_flipped: np.ndarray
) -> tuple[float | None, float | None]:
    """Average precision, and precision at the number flipped."""
    n = int(is_flipped.sum())
    if n == 0:
        return None, None
    worst = np.argsort(-verdict.doubt, kind="stable")[:n]
    average = average_precision_score(is_flipped, verdict.doubt)
    return float(average), float(is_flipped[worst].mean())


def tally(
    chance: np.ndarray, is_flipped: np.ndarray, chosen: np.ndarray
) -> list[float]:
    """How many are chosen, the sum of their stated chances, how many are flipped."""
    return [
        int(chosen.sum()),
        float(chance[chosen].sum()),
        int(is_flipped[chosen].sum()),
    ]


def tally_bins(chance: np.ndarray, is_flipped: np.ndarray) -> list[list[float]]:
    """By tenths of the stated chance."""
    place = np.minimum((chance * N_BINS).astype(int), N_BINS - 1)
    return [tally(chance, is_flipped, place == k) for k in range(N_BINS)]


def tally_cuts(chance: np.ndarray, is_flipped: np.ndarray) -> list[list[float]]:
    """What ``LabelAudit(precision=...)`` would choose, for each of ``PRECISIONS``."""
    order = np.argsort(-chance, kind="stable")
    mean = np.cumsum(chance[order]) / np.arange(1, chance.size + 1)
    cuts = []
    for precision in PRECISIONS:
        chosen = np.zeros(chance.size, dtype=bool)
        chosen[order[: np.count_nonzero(mean >= precision)]] = True
        cuts.append(tally(chance, is_flipped, chosen))
    return cuts


# ---------------------------------------------------------------- is the data better?


def error_of_training(
    problem: Problem, y: np.ndarray, seed: int, rows: np.ndarray | None = None
) -> float:
    """Test error of LightGBM as it comes, trained on these labels, or some of them."""
    from lightgbm import LGBMClassifier

    rows = np.ones(len(y), dtype=bool) if rows is None else rows
    own = y[rows]
    if np.ptp(own) == 0:
        guess = own[0]
    else:
        model = LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
        guess = model.fit(problem.X[rows], own).predict(problem.X_test)
    return float(np.mean(guess != problem.y_test))


@lru_cache(maxsize=1)
def errors_without_audit(problem: Problem, seed: int) -> dict[str, float]:
    """The same for all methods."""
    return {
        "error_raw": error_of_training(problem, problem.y, seed),
        "error_right": error_of_training(problem, problem.y_right, seed),
    }


def errors_after(problem: Problem, verdict: Verdict, seed: int) -> dict[str, float]:
    """Without the suspects, and with what they would be labelled."""
    y, is_suspect = problem.y, verdict.is_suspect
    corrected = np.where(is_suspect, verdict.better, y)
    return {
        "error_dropped": error_of_training(problem, y, seed, ~is_suspect),
        "error_corrected": error_of_training(problem, corrected, seed),
    }


# ------------------------------------------------------------------------ all of it


def measure(method: Method, problem: Problem, seed: int) -> dict[str, Any]:
    """Doubt and judge."""
    start = time.process_time()
    verdict = method.fit(problem.X, problem.y, seed, 1)
    seconds = time.process_time() - start
    is_flipped = problem.y != problem.y_right
    average_precision, precision = judge_ranking(verdict, is_flipped)
    tallies: dict[str, str | None] = {"bins": None, "cuts": None}
    if verdict.chance_wrong is not None:
        chance = np.nan_to_num(verdict.chance_wrong)  # of a label that nobody judges
        tallies = {
            "bins": json.dumps(tally_bins(chance, is_flipped)),
            "cuts": json.dumps(tally_cuts(chance, is_flipped)),
        }
    return {
        "average_precision": average_precision,
        "precision_at_flipped": precision,
        "rows": len(problem.y),
        "flipped": int(is_flipped.sum()),
        "suspects": int(verdict.is_suspect.sum()),
        "found": int(np.sum(verdict.is_suspect & is_flipped)),
        "stated_precision": float(verdict.stated_precision),
        "seconds": seconds,
        **errors_without_audit(problem, seed),
        **errors_after(problem, verdict, seed),
        **tallies,
    }


def describe(figures: dict[str, Any]) -> str:
    average = figures["average_precision"]
    ranking = "" if average is None else f"average precision {average:.3f}, "
    return (
        f"{ranking}{figures['found']} of {figures['flipped']} found among "
        f"{figures['suspects']} suspects, {figures['seconds']:.1f} s"
    )


TASK = Task(METHODS, open_store, measure, describe)
