"""Makes the scores of other packages' boosters that a test compares ours with.

LogitBoost is compared with Weka's, with that of the package logitboost, and with
OpenCV's; GentleBoost with OpenCV's; Real AdaBoost with OpenCV's and with SAMME.R of an
older scikit-learn. Each fits small data of our own: the first of each kind on which all
packages grow the trees that we grow, because none has to choose between equal splits.
Version 0.1.0 was also compared on whole data sets, tree by tree
(results/independent.md).

    python benchmarks/independent.py --python PEERS/bin/python \\
        --fixture tests/data/independent.json

Needs Java and Weka (Debian: ``apt install weka``; or WEKA_JAR or ``--jar`` names a
weka.jar), and a Python environment for the other packages:

    python -m venv PEERS
    PEERS/bin/pip install scikit-learn==1.3.2 "numpy<2" "scipy<1.12" logitboost \\
        opencv-python-headless
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _report import progress

from splboost import (
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealAdaBoostClassifier,
)
from splboost.trees import CARTClassifier, CARTRegressor

ROUNDS = 8
MOST_TRIES = 500  # data to draw until no package has to choose between equal splits
KEPT_ROWS = 10
DOUBLE, SINGLE = 1e-9, 1e-6  # precision of other packages
Scores = np.ndarray  # rounds, rows, and columns if there are more than two classes


class Peer(NamedTuple):
    """What a booster of another package corresponds to, and its scale.

    Of two classes it may have twice our score. Of more, its scores may not add up to
    zero; Weka's have a column for each of two classes too.
    """

    booster: Any
    is_double: bool
    is_centred: bool
    precision: float
    options: dict[str, Any]

    def to_ours(self, scores: Scores) -> Scores:
        if scores.ndim == 2:
            return scores / 2 if self.is_double else scores
        if self.is_centred:
            return scores
        k = scores.shape[2]  # F_k = (K - 1) / K (f_k - mean over the classes)
        centred = (k - 1) / k * (scores - scores.mean(axis=2, keepdims=True))
        return centred if k > 2 else centred[:, :, 1]


GRADIENT = {"z_clip": "gradient", "z_max": 3.0}
PEERS = {
    "weka": Peer(LogitBoostClassifier, False, False, DOUBLE, GRADIENT),
    "logitboost": Peer(LogitBoostClassifier, True, False, DOUBLE, {}),
    "opencv logit": Peer(LogitBoostClassifier, True, True, SINGLE, {"z_max": 10.0}),
    "opencv gentle": Peer(GentleBoostClassifier, False, True, SINGLE, {}),
    # These clip shares at 1e-5 and 2e-16, ours at 1/n: see `mix`.
    "opencv real": Peer(RealAdaBoostClassifier, False, True, SINGLE, {}),
    "samme.r": Peer(RealAdaBoostClassifier, True, True, DOUBLE, {}),
}


def make_problem(n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(150, 2)), 2)
    truth = X[:, 0] + 0.7 * X[:, 1] ** 2 + rng.normal(size=150)
    cuts = np.quantile(truth, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, truth)


def mix(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row three times with its class and once with each other.

    So no leaf has shares that a Real AdaBoost would clip.
    """
    k = int(y.max()) + 1
    others = np.concatenate([(y + shift) % k for shift in range(1, k)])
    return np.tile(X, (k + 2, 1)), np.r_[y, y, y, others]


def ask(
    names: list[str], python: Path, jar: Path, X: np.ndarray, y: np.ndarray, depth: int
) -> tuple[dict[str, Scores], dict[str, str]]:
    """Scores of the peers after every round, in our scale; versions of packages."""
    with tempfile.TemporaryDirectory() as folder:
        problem, answers = Path(folder) / "problem.npz", Path(folder) / "answers.json"
        np.savez(problem, X=X, y=y, rounds=ROUNDS, depth=depth, names=names)
        script = Path(__file__).parent / "_peers.py"
        subprocess.run([python, script, problem, answers], check=True)
        found = json.loads(answers.read_text())
    versions = found.pop("versions")
    if "weka" in names:
        found["weka"] = {"trees": run_logitboost(jar, X, y, ROUNDS, depth)}
    return {name: read_scores(name, found[name], X) for name in found}, versions


def read_scores(name: str, answer: dict[str, Any], X: np.ndarray) -> Scores:
    """Those of the package, else the sums of its trees; in the scale of ours."""
    to_ours = PEERS[name].to_ours
    if "scores" in answer:
        return to_ours(np.array(answer["scores"]))
    added = [[evaluate(tree, X) for tree in trees] for trees in answer["trees"]]
    scores = np.cumsum(added, axis=0)
    is_single = scores.shape[1] == 1
    return to_ours(scores[:, 0] if is_single else scores.transpose(0, 2, 1))


def evaluate(tree: Any, X: np.ndarray) -> np.ndarray:
    """What the leaf of each row says; ``_peers.py`` says how trees are written."""
    if not isinstance(tree, dict):
        return np.full(len(X), float(tree))
    low, high = evaluate(tree["low"], X), evaluate(tree["high"], X)
    return np.where(X[:, tree["feature"]] <= tree["threshold"], low, high)


def agrees(name: str, scores: Scores, X: np.ndarray, y: np.ndarray, depth: int) -> bool:
    """Whether ours comes to the same scores in every round."""
    peer = PEERS[name]
    is_real = peer.booster is RealAdaBoostClassifier
    tree = (CARTClassifier if is_real else CARTRegressor)(max_depth=depth)
    booster = peer.booster(tree, n_estimators=ROUNDS, **peer.options)
    ours = np.array(list(booster.fit(X, y).staged_decision_function(X)))
    return ours.shape == scores.shape and np.allclose(
        ours, scores, rtol=peer.precision, atol=peer.precision
    )


def find_problem(
    n_classes: int, is_real: bool, depth: int, python: Path, jar: Path
) -> tuple[dict[str, Any], dict[str, str]]:
    """The first small data on which all agree, with the scores; versions."""
    names = [
        name
        for name, peer in PEERS.items()
        if (peer.booster is RealAdaBoostClassifier) == is_real
    ]
    for seed in range(MOST_TRIES):
        X, y = make_problem(n_classes, seed)
        if is_real:
            X, y = mix(X, y)
        scores, versions = ask(names, python, jar, X, y, depth)
        if all(agrees(name, each, X, y, depth) for name, each in scores.items()):
            progress(f"{n_classes} classes, depth {depth}, {', '.join(scores)}: {seed}")
            kept = {name: each[:, :KEPT_ROWS].tolist() for name, each in scores.items()}
            problem = {"depth": depth, "X": X.tolist(), "y": y.tolist(), "scores": kept}
            return problem, versions
    raise SystemExit(f"{', '.join(names)} agree with ours on none of the data.")


# ------------------------------------------ Weka's trees, from the Java that it writes

DEBIAN_JAR = Path("/usr/share/java/weka.jar")
LOGITBOOST = "weka.classifiers.meta.LogitBoost"
STUMP = "weka.classifiers.trees.DecisionStump"
TREE = "weka.classifiers.trees.REPTree"
NO_LIMIT = ("-P", "-M", "0", "-V", "0", "-L")  # not pruned, any leaf; but the depth

CLASS = re.compile(r"^class M_(\d+)_(\d+) \{$(.*?)^\}$", re.DOTALL | re.MULTILINE)
STUMP_BODY = re.compile(
    r"i\[(\d+)\] == null.*doubleValue\(\) <= (\S+)\) "
    r"\{ return (\S+); \} else \{ return (\S+); \}"
)
METHOD = re.compile(
    r"^  static double (N\w+)\(.*?\{$(.*?)^  \}$", re.DOTALL | re.MULTILINE
)
TEST = re.compile(r"\(\(Double\)i\[(\d+)\]\)\.doubleValue\(\) < (\S+)\)")
ANSWER = re.compile(r"\bp = (?!Double\.NaN)([^;]+);")


def find_jar(path: Path | None = None) -> Path:
    """The given weka.jar, else that of WEKA_JAR, else that of Debian's package."""
    jar = path or Path(os.environ.get("WEKA_JAR", DEBIAN_JAR))
    if shutil.which("java") is None or not jar.is_file():
        raise SystemExit(
            f"This needs java and {jar}. Debian: apt install weka. Elsewhere set "
            "WEKA_JAR to a weka.jar; the source archive of python-weka-wrapper3 on "
            "PyPI holds one."
        )
    return jar


def java(jar: Path, *arguments: str) -> str:
    command = ["java", "-cp", str(jar), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def weka_version(jar: Path) -> str:
    return java(jar, "weka.core.Version").split()[0]


def run_logitboost(
    jar: Path, X: np.ndarray, y: np.ndarray, rounds: int, depth: int
) -> list[list[Any]]:
    """The trees of every round, one for each class, written as in ``_peers.py``."""
    k = int(y.max()) + 1
    with tempfile.TemporaryDirectory() as folder:
        fitted = Path(folder) / "fitted.arff"
        write_arff(fitted, X, y)
        learner = [STUMP] if depth == 1 else [TREE, "--", *NO_LIMIT, str(depth)]
        options = ["-I", str(rounds), "-t", str(fitted), "-no-cv", "-v", "-z", "M"]
        source = java(jar, LOGITBOOST, *options, "-W", *learner)
    found = {(int(t), int(k)): read_tree(body) for k, t, body in CLASS.findall(source)}
    return [[found[t, j] for j in range(k)] for t in range(rounds)]


def write_arff(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Numbers in full precision; features x0, x1 and so on, classes c0, c1."""
    classes = ",".join(f"c{label}" for label in range(int(y.max()) + 1))
    lines = ["@relation rows"]
    lines += [f"@attribute x{feature} numeric" for feature in range(X.shape[1])]
    lines += [f"@attribute class {{{classes}}}", "@data"]
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        lines.append(",".join([*map(repr, row), f"c{label}"]))
    path.write_text("\n".join(lines) + "\n")


def read_tree(source: str) -> Any:
    """A tree from the body of its class."""
    stump = STUMP_BODY.search(source)
    if stump:
        threshold, low, high = (float(text) for text in stump.groups()[1:])
        return _test(int(stump[1]), threshold, low, high)
    methods = dict(METHOD.findall(source))

    def read(answer: str) -> Any:
        """A number, or the call of a method."""
        called = re.search(r"\.(N\w+)\(", answer)
        if called is None:
            return float(answer)
        body = methods[called[1]]
        feature, threshold = TEST.search(body).groups()
        # Values at the threshold go high; what is answered for missing ones is first.
        below = float(np.nextafter(float(threshold), -np.inf))
        _, low, high = ANSWER.findall(body)
        return _test(int(feature), below, read(low), read(high))

    return read(ANSWER.search(source)[1])


def _test(feature: int, threshold: float, low: Any, high: Any) -> dict[str, Any]:
    return {"feature": feature, "threshold": threshold, "low": low, "high": high}


# ----------------------------------------------------------------- the command line


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", type=Path, required=True, help="of the peers")
    parser.add_argument("--jar", type=Path)
    parser.add_argument("--fixture", type=Path, required=True, help="file to write")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    jar = find_jar(given.jar)
    problems, versions = [], {}
    for kind in product((2, 3), (False, True), (1, 2)):
        problem, versions = find_problem(*kind, given.python, jar)
        problems.append(problem)
    versions["weka"] = weka_version(jar)
    kept = {"versions": versions, "problems": problems}
    given.fixture.write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main()
