"""Early stopping with a pace and without, by what labels and which metric."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _engines_methods import SMALL, make
from _long_data import GENERATORS, draw
from _long_page import paragraph
from _report import describe_run, format_table, progress, save
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split

NAME = "engines_stopping"
TITLE = "Early stopping with a pace and without"
SETS = [*GENERATORS, "blood", "pima", "st-german-credit", "spambase"]
NOISE = "20"
ROWS = 1000
SPLITS = 5
MOST_ROUNDS = 300
PATIENCE = 20
METRICS = {
    "xgboost": {"log loss": "logloss", "error": "error"},
    "lightgbm": {"log loss": "binary_logloss", "error": "binary_error"},
}
METRIC_NAMES = {"xgboost": "eval_metric", "lightgbm": "metric"}
# Rounds that are given, or the metric that ends them and the labels it goes by
WAYS: dict[str, int | tuple[str, str]] = {
    "100 rounds": 100,
    "300 rounds": MOST_ROUNDS,
    "log loss of noisy labels": ("log loss", "noisy"),
    "error of noisy labels": ("error", "noisy"),
    "log loss of right labels": ("log loss", "right"),
    "error of right labels": ("error", "right"),
}


def run(
    sets: Sequence[str],
    seeds: Sequence[int],
    rows: int,
    jobs: int,
    folder: Path | None,
) -> None:
    """Print test errors and rounds of all fits, and write them into a folder."""
    machine = describe_run()
    tasks = [(name, seed) for name in sets for seed in seeds]
    found: list[dict[str, Any]] = []
    of_tasks = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_measure_split)(name, seed, rows) for name, seed in tasks
    )
    for (name, seed), fits in zip(tasks, of_tasks, strict=True):
        found += fits
        progress(f"{name}, split {seed}")
    measured = {"rows": rows, "fits": found}
    page = sections(measured)
    print("\n\n".join(page))
    if folder is not None:
        save(folder, NAME, TITLE, machine, page, measured)


def _measure_split(name: str, seed: int, rows: int) -> list[dict[str, Any]]:
    problem = draw(name, NOISE, seed, rows)
    train, held = train_test_split(
        np.arange(len(problem.y)),
        test_size=1 / 4,
        stratify=problem.y,
        random_state=seed,
    )
    X, y = problem.X.iloc[train], problem.y[train]
    X_held = problem.X.iloc[held]
    labels = {"noisy": problem.y[held], "right": problem.y_right[held]}
    found = []
    for package, way, paced in product(METRICS, WAYS, (False, True)):
        given: dict[str, Any] = {**SMALL, "subsample": 0.5}
        if package == "lightgbm":
            given["num_leaves"] = 8
        evaluation: dict[str, Any] = {}
        how = WAYS[way]
        if isinstance(how, int):
            given["n_estimators"] = how
        else:
            metric, by = how
            given |= {
                "n_estimators": MOST_ROUNDS,
                "early_stopping_rounds": PATIENCE,
                METRIC_NAMES[package]: METRICS[package][metric],
            }
            evaluation["eval_set"] = [(X_held, labels[by])]
            if package == "xgboost":
                evaluation["verbose"] = False
        model = make(package, paced, seed, 1, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y, **evaluation)
        error = 1 - model.score(problem.X_test, problem.y_test)
        found.append(
            {
                "set": name,
                "seed": seed,
                "package": package,
                "way": way,
                "paced": paced,
                "error": float(error),
                "rounds": _count_rounds(model, package),
            }
        )
    return found


def _count_rounds(model: Any, package: str) -> int:
    """Those that count for predictions."""
    if package == "lightgbm":
        best = model.best_iteration_
        return int(best if best and best > 0 else model.booster_.num_trees())
    best = model.get_booster().attr("best_iteration")
    return model.get_booster().num_boosted_rounds() if best is None else int(best) + 1


def sections(measured: dict[str, Any]) -> list[str]:
    """Errors of both, and by how much they differ on each set."""
    fits = pd.DataFrame(measured["fits"])
    n_splits = fits["seed"].nunique()
    errors = 100 * fits.pivot_table("error", ["package", "way", "set"], "paced")
    rounds = fits.pivot_table("rounds", ["package", "way"], "paced")
    each = 100 * fits.pivot_table("error", ["package", "way", "set", "seed"], "paced")
    of_splits = (each[True] - each[False]).groupby(["package", "way", "set"])
    differences = errors[True] - errors[False]
    names = list(dict.fromkeys(fits["set"]))
    overall, by_set = [], []
    for package in METRICS:
        for way in WAYS:
            of_way = errors.loc[package, way]
            difference = differences.loc[package, way]
            overall.append(
                [
                    package,
                    way,
                    *(f"{of_way[paced].mean():.1f}" for paced in (False, True)),
                    _with_error(difference),
                    *(f"{rounds.loc[package, way][p]:.0f}" for p in (False, True)),
                ]
            )
            by_set.append(
                [
                    package,
                    way,
                    *(
                        _with_error(of_splits.get_group((package, way, n)))
                        for n in names
                    ),
                ]
            )
    header = ["package", "rounds by", "parent", "with a pace", "difference"]
    return [
        paragraph(
            f"Splits: {n_splits}, with at most {measured['rows']} rows and {NOISE}% of "
            "the labels flipped: three quarters to train with, a quarter to "
            "evaluate with, whose labels are as noisy, or right. Parent and own class "
            "have trees of depth 3, steps of 0.1 and half the rows for each; early "
            f"stopping has a patience of {PATIENCE} rounds and at most {MOST_ROUNDS}."
        ),
        "## Test error (%)",
        "Points more (+) or fewer (-) than the parent, with the standard error over "
        "sets, and the rounds kept:",
        format_table([*header, "its rounds", "own rounds"], overall),
        f"The own class after {MOST_ROUNDS} rounds, against a parent that was stopped:",
        _against_stopped(errors),
        "## Difference on each set",
        "In points, with the standard error over splits:",
        format_table(["package", "rounds by", *names], by_set),
    ]


def _against_stopped(errors: pd.DataFrame) -> str:
    """The own class without early stopping, the parent with it."""
    lines = []
    for package in METRICS:
        own = errors.loc[package, f"{MOST_ROUNDS} rounds"][True]
        for way in (way for way, how in WAYS.items() if not isinstance(how, int)):
            difference = own - errors.loc[package, way][False]
            wins, losses = (difference < 0).sum(), (difference > 0).sum()
            lines.append([package, way, _with_error(difference), f"{wins}/{losses}"])
    header = ["package", "the parent's rounds by", "difference"]
    return format_table([*header, "better/worse on sets"], lines)


def _with_error(differences: Any) -> str:
    n = len(differences)
    error = np.std(differences, ddof=1) / n**0.5 if n > 1 else np.nan
    return f"{np.mean(differences):+.1f} ± {error:.1f}"
