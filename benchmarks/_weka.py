"""Weka's J48 from outside: its files, its runs, and its trees and predictions read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from _c45 import SWITCHES, Leaf, Problem, Test, Tree

DEBIAN_JAR = Path("/usr/share/java/weka.jar")
PRINTED = 1e-6  # of a threshold; J48 prints six decimals
J48 = "weka.classifiers.trees.J48"
NODE = re.compile(r"(?P<bars>(\|   )*)x(?P<feature>\d+) (?P<test>\S+) (?P<value>[^:]+)")
LEAF = re.compile(r": c(?P<label>\d+) \(")
PREDICTION = re.compile(r"\s*\d+\s+\d+:c\d+\s+\d+:c(\d+)\s")


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


def knows_option(jar: Path, option: str) -> bool:
    """Whether this J48 has an option: -J came after 3.6."""
    command = ["java", "-cp", str(jar), J48, "-h"]
    answer = subprocess.run(command, capture_output=True, text=True)
    return f"\n{option}\n" in answer.stdout + answer.stderr


def own_ways(jar: Path) -> list[str]:
    """The switches that this J48 has on."""
    is_old = not knows_option(jar, "-J")
    return [way for way in SWITCHES if is_old or way != "threshold slack"]


def run_j48(
    jar: Path, train: Problem, test: Problem, options: list[str]
) -> tuple[Tree, np.ndarray, np.ndarray]:
    """The tree of the training rows, and its classes of the training and test rows."""
    with tempfile.TemporaryDirectory() as folder:
        fitted, asked = Path(folder) / "fitted.arff", Path(folder) / "asked.arff"
        write_arff(fitted, train, train.X, train.y)
        write_arff(
            asked, train, np.r_[train.X, test.X], np.r_[train.y, test.y].astype(int)
        )
        arguments = [J48, *options, "-t", str(fitted)]
        tree = read_tree(java(jar, *arguments, "-no-cv", "-v"), train)
        answers = java(jar, *arguments, "-T", str(asked), "-p", "0")
    found = [PREDICTION.match(line) for line in answers.splitlines()]
    labels = np.array([int(match[1]) for match in found if match])
    if labels.size != len(train.y) + len(test.y):
        raise RuntimeError(f"J48 answered for {labels.size} rows:\n{answers[:2000]}")
    return tree, labels[: len(train.y)], labels[len(train.y) :]


def write_arff(path: Path, problem: Problem, X: np.ndarray, y: np.ndarray) -> None:
    """Numbers in full precision; features x0, x1, values v0, v1, classes c0, c1."""
    lines = ["@relation rows"]
    for feature, n_values in enumerate(problem.n_values):
        kind = "numeric" if n_values is None else _values("v", n_values)
        lines.append(f"@attribute x{feature} {kind}")
    lines += [f"@attribute class {_values('c', problem.n_classes)}", "@data"]
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        cells = [
            "?" if value != value else repr(value) if n is None else f"v{int(value)}"
            for value, n in zip(row, problem.n_values, strict=True)
        ]
        lines.append(",".join([*cells, f"c{label}"]))
    path.write_text("\n".join(lines) + "\n")


def _values(letter: str, count: int) -> str:
    return "{" + ",".join(f"{letter}{code}" for code in range(count)) + "}"


def read_tree(text: str, problem: Problem) -> Tree:
    """The tree that J48 printed; thresholds have at most six decimals."""
    lines = [line for line in text.splitlines() if NODE.match(line) or LEAF.match(line)]

    def read(depth: int) -> Tree:
        """The subtree whose first branch is the next line."""
        head = NODE.match(lines[0])
        feature = int(head["feature"])
        n_values = problem.n_values[feature]
        threshold = float(head["value"]) if n_values is None else None
        branches: list[Tree] = []
        for _ in range(n_values or 2):
            line = lines.pop(0)
            node = NODE.match(line)
            assert len(node["bars"]) == 4 * depth, line
            assert int(node["feature"]) == feature, line
            leaf = LEAF.search(line)
            branches.append(Leaf(int(leaf["label"])) if leaf else read(depth + 1))
        return Test(feature, threshold, tuple(branches))

    root = LEAF.match(lines[0])
    return Leaf(int(root["label"])) if root else read(0)
