"""Weka's LogitBoost from outside: its trees, read from the Java that it writes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

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
