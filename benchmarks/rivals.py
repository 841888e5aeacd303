"""Do the boosters show what an independent prototype has shown?

Runs every booster on two problems with flipped training labels and compares it with a
prototype's figures (``_rivals.py``): the problem of Long and Servedio (800 samples, 10%
flipped, stumps), and the paper's two Gaussians (200 samples, 15% flipped, stumps, depth
3 and C4.5, 60 rounds), these also with rounds and ages chosen by cross-validation. Test
labels are clean. Two toys follow, of three classes and of regression
(``_rivals_toys.py``).

    python benchmarks/rivals.py              ten draws, some ten minutes
    python benchmarks/rivals.py --draws 2    a look
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
from _report import RESULTS, describe_run, format_table, save_page
from _rivals import (
    C45,
    CHOSEN,
    FIGURES,
    GAUSSIANS,
    GAUSSIANS_C45,
    LONG_SERVEDIO,
    PROTOTYPE_DRAWS,
    WHY_NOT,
    final_weights,
    make,
    read_table,
)
from _rivals_toys import EXPECTED, REMARKS, TOYS
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

from splboost.datasets import flip_labels, make_gaussians, make_long_servedio

SERVEDIO, GAUSS, CHOICE = PROTOTYPE_DRAWS
DRAWS = 10
TEST_ROWS = 10_000
SERVEDIO_ROUNDS = {"Real AdaBoost": 120, "GentleBoost": 120, "RobustBoost": 300}
ROUNDS, FOLDS = 60, 5
AGES = (1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
NEXT_TO_NOTHING = 1e-4  # of the mean weight
LEARNERS = {1: "stumps", 3: "depth 3", C45: "C4.5"}


# --------------------------------------------------------------------- what is measured


def error(booster: Any, X: np.ndarray, y: np.ndarray) -> float:
    return 100 * float(np.mean(booster.predict(X) != y))


def staged_errors(booster: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array([100 * np.mean(p != y) for p in booster.staged_predict(X)])


def measure_long_servedio(name: str, depth: int, seed: int) -> dict[str, float]:
    X, y = make_long_servedio(800, random_state=seed)
    y_noisy, _ = flip_labels(y, 0.1, mode="probability", random_state=seed)
    rounds = SERVEDIO_ROUNDS.get(name.split(",")[0], 400)
    booster = make(name, depth, rounds).fit(X, y_noisy)
    test = make_long_servedio(TEST_ROWS, random_state=1000 + seed)
    return {"final": error(booster, *test), "rounds": booster.n_iter_}


def draw_gaussians(seed: int) -> tuple[Any, ...]:
    X, y = make_gaussians(100, random_state=seed)
    y_noisy, flipped = flip_labels(y, {0: 0.15, 1: 0.15}, random_state=seed)
    test = make_gaussians(TEST_ROWS // 2, random_state=1000 + seed)
    return X, y_noisy, flipped, *test


def measure_gaussians(name: str, depth: int, seed: int) -> dict[str, float]:
    X, y, flipped, X_test, y_test = draw_gaussians(seed)
    booster = make(name, depth, ROUNDS).fit(X, y)
    errors = staged_errors(booster, X_test, y_test)
    weight = final_weights(booster, X, y)
    is_nothing = weight < NEXT_TO_NOTHING * weight.mean()
    figures = (
        errors[-1],
        errors.min(),
        weight[flipped].mean() / weight[~flipped].mean(),
        is_nothing[flipped].mean(),
        is_nothing[~flipped].mean(),
        len(errors),
    )
    return dict(zip(FIGURES, map(float, figures), strict=True))


def measure_choice(name: str, depth: int, seed: int) -> dict[str, float]:
    """Choose age and rounds by folds of the noisy data, fewest rounds first."""
    X, y, _, X_test, y_test = draw_gaussians(seed)
    names = [name.replace("*", str(age)) for age in (AGES if "*" in name else AGES[:1])]
    curves = np.zeros((len(names), ROUNDS))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for train, held in folds.split(X, y):
        for curve, each in zip(curves, names, strict=True):
            booster = make(each, depth, ROUNDS).fit(X[train], y[train])
            errors = staged_errors(booster, X[held], y[held])
            curve += np.pad(errors, (0, ROUNDS - len(errors)), mode="edge")
    best = np.argwhere(curves <= curves.min() + 1e-9)
    k, last = best[best[:, 1].argmin()]
    booster = make(names[k], depth, int(last) + 1).fit(X, y)
    return {"final": error(booster, X_test, y_test)}


MEASURES = {
    SERVEDIO: measure_long_servedio,
    GAUSS: measure_gaussians,
    CHOICE: measure_choice,
}


def expectations() -> dict[tuple[str, int, str], dict[str, float]]:
    """The prototype's figures, by problem, depth and algorithm."""
    tables = [
        (SERVEDIO, (1,), LONG_SERVEDIO),
        (GAUSS, (1, 3), GAUSSIANS),
        (GAUSS, (C45,), GAUSSIANS_C45),
        (CHOICE, (1, 3, C45), CHOSEN),
    ]
    return {
        (problem, depth, name): dict(zip(FIGURES, cell, strict=False))
        for problem, depths, text in tables
        for name, cells in read_table(text).items()
        for depth, cell in zip(depths, cells, strict=False)
    }


def measure(problem: str, depth: int, name: str, seed: int) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore")
    figures = MEASURES[problem](name, depth, seed)
    key = {"problem": problem, "learner": LEARNERS[depth], "algorithm": name}
    return [{**key, "figure": each, "value": v} for each, v in figures.items()]


def measure_toy(toy: str, seed: int) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore")
    key = {"problem": toy, "learner": "", "figure": "final"}
    return [
        {**key, "algorithm": name, "value": value}
        for name, value in TOYS[toy](seed).items()
    ]


# ------------------------------------------------------------- what it is compared with


def judge(apart: float, own: float, other: float) -> str:
    """Whether two means agree, from their distance and standard errors."""
    if math.isnan(apart):
        return ""
    if apart <= 2 * own:
        return "="
    return "≈" if apart <= 2 * math.hypot(own, other) else "≠"


def compare(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each figure: ours, the prototype's, and whether they agree.

    The prototype's standard error is what its draws give if they vary as ours do. What
    it printed is right to half a digit.
    """
    expected = {
        (problem, LEARNERS[depth], name): figures
        for (problem, depth, name), figures in expectations().items()
    }
    rows = []
    keys = ["problem", "learner", "algorithm", "figure"]
    for key, values in table.groupby(keys, sort=False)["value"]:
        *whose, figure = key
        theirs = expected.get(tuple(whose), {}).get(figure, math.nan)
        deviation = values.std(ddof=1)
        own = deviation / math.sqrt(len(values))
        other = deviation / math.sqrt(PROTOTYPE_DRAWS.get(whose[0], math.inf))
        digit = 0.01 if figure in ("flipped0", "clean0") or theirs < 0.3 else 0.1
        apart = max(abs(values.mean() - theirs) - digit / 2, 0.0)
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                "mean": values.mean(),
                "standard_error": own,
                "least": values.min(),
                "median": values.median(),
                "most": values.max(),
                "prototype": theirs,
                "prototype_error": other,
                "agrees": judge(apart, own, other),
            }
        )
    return pd.DataFrame(rows)


# -------------------------------------------------------------------------- the report

LEGEND = """{draws} draws. Each cell: mean ± standard error of ours; where there is \
one, the prototype's figure ± the standard error that its draws ({theirs}) have if \
they vary as ours do. Between them "=" says that they are within two of our standard \
errors, "≈" within two of their difference's, "≠" that they differ."""
HEADINGS = {
    "final": "error (%)",
    "best": "best error",
    "ratio": "weight of flipped / clean",
    "flipped0": "flipped given up",
    "clean0": "clean given up",
    "rounds": "rounds",
}


def format_cell(row: dict[str, Any]) -> str:
    digits = 2 if row["figure"] in ("ratio", "flipped0", "clean0") else 1
    cell = f"{row['mean']:.{digits}f} ± {row['standard_error']:.{digits}f}"
    if row["agrees"]:
        theirs = f"{row['prototype']:.{digits}f} ± {row['prototype_error']:.{digits}f}"
        cell = f"{cell} {row['agrees']} {theirs}"
    return cell


def format_problem(rows: pd.DataFrame) -> str:
    """A table with a row for each algorithm."""
    figures = list(dict.fromkeys(rows["figure"]))
    lines = []
    for name, own in rows.groupby("algorithm", sort=False):
        cells = {row["figure"]: row for row in own.to_dict("records")}
        final = cells["final"]
        extent = f"{final['least']:.1f} to {final['most']:.1f}"
        lines.append([name, extent, *(format_cell(cells[each]) for each in figures)])
    header = ["algorithm", "errors of draws", *(HEADINGS[each] for each in figures)]
    return format_table(header, lines)


def format_toy(toy: str, rows: pd.DataFrame) -> str:
    lines = [
        [
            row["algorithm"],
            f"{row['mean']:.2f} ± {row['standard_error']:.2f}",
            f"{EXPECTED[toy][row['algorithm']]:.2f}",
        ]
        for row in rows.to_dict("records")
    ]
    header = ["algorithm", "mean ± standard error", "prototype, on other data"]
    return format_table(header, lines)


def format_differences(compared: pd.DataFrame) -> str:
    lines = []
    for row in compared[compared["agrees"] == "≠"].to_dict("records"):
        key = row["problem"], row["learner"], row["algorithm"], row["figure"]
        what = f"{row['problem']}, {row['learner']}, {row['algorithm']}"
        lines.append(
            f"- {what}, {HEADINGS[row['figure']]}: {format_cell(row)}. "
            + WHY_NOT.get(key, "Not explained.")
        )
    return "\n".join(lines) or "None."


def report(compared: pd.DataFrame, draws: int) -> list[str]:
    sections = []
    for problem, learner in dict.fromkeys(
        zip(compared["problem"], compared["learner"], strict=True)
    ):
        of_problem = compared["problem"] == problem
        rows = compared[of_problem & (compared["learner"] == learner)]
        if problem in TOYS:
            table = format_toy(problem, rows)
            sections += [f"## {problem}", table, REMARKS[problem]]
            continue
        legend = LEGEND.format(draws=draws, theirs=PROTOTYPE_DRAWS[problem])
        sections += [f"## {problem}, {learner}", legend, format_problem(rows)]
    counts = compared["agrees"].value_counts()
    total = int(sum(counts.get(mark, 0) for mark in "=≈≠"))
    tally = (
        f"Of {total} figures {counts.get('=', 0)} are within two of our standard "
        f"errors, {counts.get('≈', 0)} more within two of the difference's, and "
        f"{counts.get('≠', 0)} differ. Some {0.05 * total:.0f} would by chance, "
        "and more at a time than that, since figures share their draws."
    )
    return [tally, *sections, "## Figures that differ", format_differences(compared)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--out", type=Path, help="folder for rivals.md and .csv; a full run has one"
    )
    args = parser.parse_args()
    run = describe_run()
    seeds = range(args.draws)
    tasks = [
        *(delayed(measure)(*key, seed) for key in expectations() for seed in seeds),
        *(delayed(measure_toy)(toy, seed) for toy in TOYS for seed in seeds),
    ]
    parts = Parallel(n_jobs=args.jobs, verbose=1)(tasks)
    compared = compare(pd.DataFrame(itertools.chain.from_iterable(parts)))
    sections = report(compared, args.draws)
    print("\n\n".join(sections))
    folder = args.out or (RESULTS if args.draws == DRAWS else None)
    if folder is not None:
        title = "The boosters against an independent prototype"
        save_page(folder, "rivals", title, run, sections)
        compared.to_csv(folder / "rivals.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
