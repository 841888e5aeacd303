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
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _follow import (
    TIE,
    TOO_LITTLE,
    UNEXPLAINED,
    FollowingClassifier,
    FollowingRegressor,
    Script,
    Ways,
    evaluate,
)
from _report import RESULTS, describe_run, format_table, progress, save
from _weka import find_jar, weka_version
from _weka_logitboost import run_logitboost
from sklearn.datasets import load_digits, load_iris, load_wine

from splboost import (
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealAdaBoostClassifier,
)

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
DOUBLE = Ways()
SINGLE = Ways(precision=1e-6, rounding=float(np.finfo(np.float32).eps))
WEKA = Ways(least_gain=1e-6)  # the slack of all its comparisons
# p (1 - p) of a sample, from which on LogitBoost is compared no further: others compute
# 1 - p from p, which loses the digits, and have limits for weights.
LEAST_WEIGHT = 1e-6

Scores = np.ndarray  # rounds, rows, and columns if there are more than two classes


def halve(scores: Scores) -> Scores:
    return scores / 2


def keep(scores: Scores) -> Scores:
    return scores


def centre(scores: Scores) -> Scores:
    """F_k = (K - 1) / K (f_k - mean over the classes)."""
    k = scores.shape[2]
    return (k - 1) / k * (scores - scores.mean(axis=2, keepdims=True))


def scale_weka(scores: Scores) -> Scores:
    """It has a column for each of two classes too; the second is the score."""
    centred = centre(scores)
    return centred if scores.shape[2] > 2 else centred[:, :, 1]


def scale_logitboost(scores: Scores) -> Scores:
    """Log-odds of two classes; for more, sums of trees that are not centred."""
    return halve(scores) if scores.ndim == 2 else centre(scores)


def scale_samme(scores: Scores) -> Scores:
    """log p1 - log p0 of two classes; (K - 1) (log p - mean log p) of more."""
    return halve(scores) if scores.ndim == 2 else scores / (scores.shape[2] - 1)


@dataclass(frozen=True)
class Peer:
    """A booster of another package, and what it corresponds to."""

    title: str
    booster: Any
    to_ours: Callable[[Scores], Scores]
    ways: Ways
    notes: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_real(self) -> bool:
        return self.booster is RealAdaBoostClassifier


PEERS = {
    "weka": Peer(
        "Weka's LogitBoost",
        LogitBoostClassifier,
        scale_weka,
        WEKA,
        "Ours has `z_clip='gradient', z_max=3`. Weka's trees are DecisionStump and, "
        "deeper, REPTree without pruning or limits; but it makes no split that gains "
        "less than 1e-6. Of two classes Weka fits both, which mirror each other; the "
        "second is followed. Its scores are summed up from its trees, as the source "
        "that it writes does it.",
        {"z_clip": "gradient", "z_max": 3.0},
    ),
    "logitboost": Peer(
        "LogitBoost of the package logitboost",
        LogitBoostClassifier,
        scale_logitboost,
        DOUBLE,
        "Ours has `z_clip='response', z_max=4`, the defaults of both; its trimming of "
        "small weights is off. Its scores are log-odds, twice ours; of more classes it "
        "sums up trees without centring them, which its probabilities do not show.",
    ),
    "opencv logit": Peer(
        "OpenCV's LogitBoost",
        LogitBoostClassifier,
        halve,
        SINGLE,
        "Ours has `z_clip='response', z_max=10`. OpenCV knows two classes and single "
        "precision: of X, of responses, and of what a tree adds during training. Its "
        "score, summed up from its trees, is twice ours.",
        {"z_max": 10.0},
    ),
    "opencv gentle": Peer(
        "OpenCV's Gentle AdaBoost",
        GentleBoostClassifier,
        keep,
        SINGLE,
        "The same score; single precision as above.",
    ),
    "opencv real": Peer(
        "OpenCV's Real AdaBoost",
        RealAdaBoostClassifier,
        keep,
        SINGLE,
        "The same score; single precision as above. It clips shares at 1e-5, ours at "
        "1/n, so each row is in the data three times with its class and once with each "
        "other, and no leaf has shares to clip.",
    ),
    "samme.r": Peer(
        "SAMME.R of scikit-learn",
        RealAdaBoostClassifier,
        scale_samme,
        DOUBLE,
        "Its score is twice ours of two classes, and K - 1 times ours of K. It clips "
        "shares at 2e-16, ours at 1/n, so the data are as for OpenCV's Real AdaBoost.",
    ),
}


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


def read_scores(peer: Peer, answer: dict[str, Any], X: np.ndarray) -> Scores:
    """Those of the package, else the sums of its trees; in the scale of ours."""
    if "scores" in answer:
        return peer.to_ours(np.array(answer["scores"]))
    added = [[evaluate(tree, X) for tree in trees] for trees in answer["trees"]]
    scores = np.cumsum(added, axis=0)
    if scores.shape[1] == 1:
        return peer.to_ours(scores[:, 0])
    return peer.to_ours(scores.transpose(0, 2, 1))


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
    if peer.booster is LogitBoostClassifier:
        stages = booster.staged_predict_proba(X)
        least = np.array([(p * (1 - p)).min() for p in stages])
        ours = ours[: 1 + int(np.argmax(np.r_[least, 0.0] < LEAST_WEIGHT))]
    theirs = theirs[: len(ours)]
    reasons = script.reasons[: len(ours) * len(trees[0])]
    return {
        "rows": len(y),
        "classes": int(y.max()) + 1,
        "depth": depth,
        "rounds": len(ours),
        "scores differ by": float(
            np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
        ),
        "trees": len(reasons),
        "same trees": sum(not each for each in reasons),
        "splits that differ": dict(Counter(each for tree in reasons for each in tree)),
        "lowest share": script.lowest if peer.is_real else None,
    }


def is_explained(peer: Peer, row: dict[str, Any]) -> bool:
    is_clipped = peer.is_real and row["lowest share"] < 1 / row["rows"]
    return (
        row["scores differ by"] <= peer.ways.precision
        and UNEXPLAINED not in row["splits that differ"]
        and not is_clipped
    )


def report(name: str, rows: list[dict[str, Any]]) -> list[str]:
    peer = PEERS[name]
    plain = ["data", "rows", "classes", "depth", "rounds", "trees", "same trees"]
    header = [*plain, "scores differ by", "splits that differ"]
    cells = [
        [
            *(row[key] for key in plain),
            f"{row['scores differ by']:.0e}",
            ", ".join(f"{n} × {why}" for why, n in row["splits that differ"].items()),
        ]
        for row in rows
    ]
    why = Counter[str]()
    for row in rows:
        why.update(row["splits that differ"])
    trees, same = (sum(row[key] for row in rows) for key in ("trees", "same trees"))
    scores = max(row["scores differ by"] for row in rows)
    open_ones = sum(not is_explained(peer, row) for row in rows)
    return [
        f"## {peer.title}",
        peer.notes,
        f"Over {len(rows)} runs, scores differ by at most {scores:.0e}. Of {trees} "
        f"trees {same} are the same. Splits that differ: {why[TIE]} ties, "
        f"{why[TOO_LITTLE]} with too little to gain, {why[UNEXPLAINED]} others. Runs "
        f"not explained by this: {open_ones}.",
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
        "if that is above 1. LogitBoost is compared until a sample has p (1 - p) below "
        f"{LEAST_WEIGHT:.0e}: beyond, 1 - p has lost digits in the other packages, "
        "which compute it from p, and OpenCV's limit of the weights, 1e-7, is near.",
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
