"""Weka's LogitBoost from outside: its trees, read from the Java that it writes."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from _c45 import Problem
from _weka import java, write_arff

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


def run_logitboost(
    jar: Path, X: np.ndarray, y: np.ndarray, rounds: int, depth: int
) -> list[list[Any]]:
    """The trees of every round, one for each class, written as in ``_peers.py``."""
    k = int(y.max()) + 1
    with tempfile.TemporaryDirectory() as folder:
        fitted = Path(folder) / "fitted.arff"
        write_arff(fitted, Problem(X, y, k, [None] * X.shape[1]), X, y)
        learner = [STUMP] if depth == 1 else [TREE, "--", *NO_LIMIT, str(depth)]
        options = ["-I", str(rounds), "-t", str(fitted), "-no-cv", "-v", "-z", "M"]
        source = java(jar, LOGITBOOST, *options, "-W", *learner)
    found = {(int(t), int(k)): read_tree(body) for k, t, body in CLASS.findall(source)}
    return [[found[t, j] for j in range(k)] for t in range(rounds)]


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
