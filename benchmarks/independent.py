"""Do the boosters agree with those of other packages?

Compared are LogitBoost with Weka's, with that of the package logitboost, and with
OpenCV's; GentleBoost with OpenCV's; Real AdaBoost with OpenCV's and with SAMME.R of an
older scikit-learn. Weights, working responses and what leaves add are compared on the
other package's trees, so that no choice between equal splits hides them: each booster
of this library follows these trees (``_follow.py``), and its scores must be the other's
in every round. In every round the other's tree is also compared with that which this
library grows; where a split differs, the gains are.

    python benchmarks/independent.py --python PEERS/bin/python

Needs Java and Weka (as ``j48.py`` does), the data sets in the folder that SPLBOOST_DATA
names, and a Python environment for the other packages:

    python -m venv PEERS
    PEERS/bin/pip install scikit-learn==1.3.2 "numpy<2" "scipy<1.12" logitboost \\
        opencv-python-headless

``--fixture FILE`` writes the scores of small runs that ``tests/test_independent.py``
compares with, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import warnings
from collections import Counter
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _counterparts import DOUBLE, PEERS, SINGLE, Peer, read_scores
from _follow import (
    TIE,
    TOO_LITTLE,
    UNEXPLAINED,
    FollowingClassifier,
    FollowingRegressor,
    Script,
)
from _plain_logitboost import replay
from _report import RESULTS, describe_run, format_table, progress, save
from _weka import find_jar, weka_version
from _weka_logitboost import run_logitboost
from scipy.special import expit, softmax
from sklearn.datasets import load_digits, load_iris, load_wine

BUNDLED = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
DATA = (
    "pima",
    "blood",
    "vc-2classes",
    "parkinsons",
    "st-german-credit",
    "oocMerl4D",
    "spambase",
    "twonorm",
    *BUNDLED,
)
DEPTHS = (1, 2, 3)
ROUNDS = 50
SEED = 0
MOST_VALUES = 255  # of a column that is not binned
# 1 - p of a sample, from which on LogitBoost is compared no further, for there the
# habits of _plain_logitboost.py show; and from which on it has too few digits for these
LEAST, LEAST_OF_PLAIN = 1e-6, 1e-10


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A random half, its columns in single precision and with few enough values."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
    else:
        path = Path(os.environ["SPLBOOST_DATA"]) / f"{name}.csv.gz"
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
        y = np.unique(frame.pop("target"), return_inverse=True)[1]
        X = frame.to_numpy(float)
    rows = np.random.default_rng(SEED).permutation(len(y))[: len(y) // 2]
    X = X[rows].astype(np.float32).astype(float)
    for column in X.T:
        values = np.unique(column)
        if values.size > MOST_VALUES:
            kept = values[np.linspace(0, values.size - 1, MOST_VALUES).astype(int)]
            column[:] = kept[np.searchsorted(kept, column, side="right") - 1]
    return X, y[rows]


def mix(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row three times with its class and once with each other."""
    k = int(y.max()) + 1
    others = np.concatenate([(y + shift) % k for shift in range(1, k)])
    return np.tile(X, (k + 2, 1)), np.r_[y, y, y, others]


def ask(
    python: Path,
    jar: Path,
    X: np.ndarray,
    y: np.ndarray,
    rounds: int,
    depth: int,
    *,
    is_real: bool,
) -> dict[str, Any]:
    """What all peers answer, of Real AdaBoost or else; and versions of packages."""
    names = [name for name, peer in PEERS.items() if peer.is_real == is_real]
    with tempfile.TemporaryDirectory() as folder:
        problem, answers = Path(folder) / "problem.npz", Path(folder) / "answers.json"
        np.savez(problem, X=X, y=y, rounds=rounds, depth=depth, names=names)
        script = Path(__file__).parent / "_peers.py"
        subprocess.run([python, script, problem, answers], check=True)
        found = json.loads(answers.read_text())
    if "weka" in names:
        found["weka"] = {"trees": run_logitboost(jar, X, y, rounds, depth)}
    return found


def compare(
    peer: Peer, answer: dict[str, Any], X: np.ndarray, y: np.ndarray, depth: int
) -> dict[str, Any]:
    theirs = read_scores(peer, answer, X)
    trees = answer["trees"]
    if theirs.ndim == 2:
        trees = [each[-1:] for each in trees]
    script = Script(trees, depth, peer.ways)
    follower = (FollowingClassifier if peer.is_real else FollowingRegressor)(script)
    booster = peer.booster(follower, n_estimators=len(trees), **peer.options)
    ours = np.array(list(booster.fit(X, y).staged_decision_function(X)))
    plain: dict[str, Any] = {}
    if peer.habits:
        ours = ours[: count_rounds(theirs[: len(ours)], LEAST)]
        again = replay(answer["trees"], X, y, peer.habits)
        plain["in all rounds"] = difference(again, theirs)
        again = again[: count_rounds(theirs, LEAST_OF_PLAIN)]
        plain["plain rounds"] = len(again)
        plain["plain differs by"] = difference(again, theirs[: len(again)])
    reasons = script.reasons[: len(ours) * len(trees[0])]
    return {
        "rows": len(y),
        "classes": int(y.max()) + 1,
        "depth": depth,
        "rounds": len(ours),
        "scores differ by": difference(ours, theirs[: len(ours)]),
        **plain,
        "trees": len(reasons),
        "same trees": sum(not each for each in reasons),
        "splits that differ": dict(Counter(each for tree in reasons for each in tree)),
        "lowest share": script.lowest if peer.is_real else None,
    }


def count_rounds(scores: np.ndarray, least: float) -> int:
    """Up to the first after which a sample has 1 - p below the least."""
    if scores.ndim == 2:
        rest = expit(-2 * np.abs(scores))
    else:
        rest = 1 - softmax(scores, axis=2).max(axis=2)
    below = rest.min(axis=1) < least
    return 1 + int(np.argmax(below)) if below.any() else len(scores)


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest, as a share of the largest score if that is above 1."""
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def is_explained(peer: Peer, row: dict[str, Any]) -> bool:
    is_clipped = peer.is_real and row["lowest share"] < 1 / row["rows"]
    return (
        row["scores differ by"] <= peer.ways.precision
        and row.get("plain differs by", 0.0) <= peer.ways.precision
        and UNEXPLAINED not in row["splits that differ"]
        and not is_clipped
    )


def format_cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{n} × {why}" for why, n in value.items())
    return f"{value:.0e}" if isinstance(value, float) else str(value)


def report(name: str, rows: list[dict[str, Any]]) -> list[str]:
    peer = PEERS[name]
    header = ["data", "rows", "classes", "depth", "rounds", "trees", "same trees"]
    header += ["scores differ by"]
    header += ["plain rounds", "plain differs by"] if peer.habits else []
    header += ["splits that differ"]
    cells = [[format_cell(row[key]) for key in header] for row in rows]
    why = Counter[str]()
    for row in rows:
        why.update(row["splits that differ"])
    trees, same = (sum(row[key] for row in rows) for key in ("trees", "same trees"))
    scores = max(row["scores differ by"] for row in rows)
    open_ones = sum(not is_explained(peer, row) for row in rows)
    plain = ""
    if peer.habits:
        keys = "plain differs by", "in all rounds"
        most, at_last = (max(row[key] for row in rows) for key in keys)
        plain = (
            f" The plain one differs by at most {most:.0e}, and by {at_last:.0e} in "
            f"all {ROUNDS} rounds."
        )
    return [
        f"## {peer.title}",
        peer.notes,
        f"Over {len(rows)} runs, scores differ by at most {scores:.0e}. Of {trees} "
        f"trees {same} are the same. Splits that differ: {why[TIE]} ties, "
        f"{why[TOO_LITTLE]} with too little to gain, {why[UNEXPLAINED]} others. Runs "
        f"not explained by this: {open_ones}.{plain}",
        format_table(header, cells),
    ]


def write_fixture(path: Path, python: Path, jar: Path) -> None:
    """Scores of small runs on data of our own: the first of each kind without ties."""
    problems, rounds = [], 8
    for k, is_real, depth in product((2, 3), (False, True), (1, 2)):
        for seed in count():
            X, y = make_problem(k, seed)
            if is_real:
                X, y = mix(X, y)
            answers = ask(python, jar, X, y, rounds, depth, is_real=is_real)
            versions = answers.pop("versions")
            if all(
                row["rounds"] == rounds and row["same trees"] == row["trees"]
                for row in (
                    compare(PEERS[name], answer, X, y, depth)
                    for name, answer in answers.items()
                )
            ):
                break
        scores = {
            name: read_scores(PEERS[name], answer, X)[:, :10].tolist()
            for name, answer in answers.items()
        }
        problems.append(
            {"depth": depth, "X": X.tolist(), "y": y.tolist(), "scores": scores}
        )
        progress(f"{k} classes, depth {depth}, {', '.join(answers)}: seed {seed}")
    versions["weka"] = weka_version(jar)
    path.write_text(json.dumps({"versions": versions, "problems": problems}) + "\n")


def make_problem(n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(150, 2)), 2)
    truth = X[:, 0] + 0.7 * X[:, 1] ** 2 + rng.normal(size=150)
    cuts = np.quantile(truth, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="of the peers")
    parser.add_argument("--jar", type=Path)
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--out", type=Path, help="folder for independent.md and .json")
    parser.add_argument("--fixture", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    jar = find_jar(args.jar)
    if args.fixture:
        write_fixture(args.fixture, args.python, jar)
        return
    run = describe_run()
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in PEERS}
    for name in args.data:
        plain = load(name)
        for depth, is_real in product(DEPTHS, (False, True)):
            X, y = mix(*plain) if is_real else plain
            limits = ROUNDS, depth
            answers = ask(args.python, jar, X, y, *limits, is_real=is_real)
            versions = answers.pop("versions")
            for key, answer in answers.items():
                row = compare(PEERS[key], answer, X, y, depth)
                found[key].append({"data": name, **row})
                is_open = not is_explained(PEERS[key], row)
                state = "NOT EXPLAINED" if is_open else "explained"
                progress(f"{name}, depth {depth}, {key}: {state}")
    versions["weka"] = weka_version(jar)
    run["versions"].update({f"{key} of the peers": v for key, v in versions.items()})
    sections = [
        "Each fits half of a data set, with numbers only and nothing missing, because "
        "the packages treat the rest differently. Columns are in single precision and "
        f"have at most {MOST_VALUES} values, so that nothing is binned.",
        "Ours follows the trees of the other package. Scores are compared after every "
        "round, and the largest difference is given, as a share of the largest score "
        "if that is above 1. LogitBoost is compared until a sample has 1 - p below "
        f"{LEAST:.0e}: beyond, that has lost digits in the other packages, which "
        "compute it from p, and OpenCV's limit of the weights, 1e-7, is near. A "
        "*plain* LogitBoost that does the same follows the trees too, until 1 - p is "
        f"below {LEAST_OF_PLAIN:.0e} and the last digit of an exponential decides.",
        "Beside each tree ours grows its own. Where the first splits differ, gains are "
        f"compared. Those of a *tie* are the same up to {DOUBLE.precision:.0e}, or "
        f"{SINGLE.precision:.0e} in single precision, and the packages take the first "
        "feature, or any, or what rounding decides. Splits that gain nothing are ties "
        "too: some packages divide leaves that are pure already.",
    ]
    for key, rows in found.items():
        if rows:
            sections += report(key, rows)
    print("\n\n".join(sections))
    folder = args.out or (RESULTS if args.data == DATA else None)
    if folder is not None:
        title = "The boosters and those of other packages"
        save(folder, "independent", title, run, sections, {"comparisons": found})


if __name__ == "__main__":
    main()
