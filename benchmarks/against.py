"""Time of everything that fits or predicts, against an earlier commit of splboost.

Each row is done by two processes, one with the package as it is here and one with that
of the commit, which take turns. Seconds are those of the processor, with one thread;
the ratio is the median over the turns of new to old. Data and scripts are those of
here, so rows that the earlier commit cannot do are left out.

    python benchmarks/against.py COMMIT                 all rows, half an hour
    python benchmarks/against.py COMMIT --only c45 3    rows whose names have both words
    python benchmarks/against.py COMMIT --turns 9       more turns, for a closer look
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from _report import format_table, progress
from _timing import FEATURES, make_data, make_splboost

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1.15  # of the ratio
LEAST_SECONDS = 0.15  # what is quicker is repeated in a turn
CUTS = -0.4, 0.6  # of the first column, for three classes
BOOSTERS = "SPLBoost", "RealAdaBoost", "GentleBoost", "LogitBoost", "SavageBoost"
BOOSTERS += "RBoost", "RobustBoost", "BrownBoost"


def rows() -> dict[str, Callable[[], Callable[[], Any]]]:
    """What is timed: each entry prepares something and returns what to do."""
    found = {}

    def add(what: str, n: int, make: Callable[[], Any], classes: int = 2) -> None:
        """A fit of what is made, or a prediction."""
        row = partial(prepare, make, n, classes, predicts=what.startswith("predict"))
        words = [what, f"{classes} classes" * (classes > 2), f"rows {n}"]
        found[" ".join(filter(None, words))] = row

    for n, rounds in (500, 100), (5_000, 100), (50_000, 30), (500_000, 10):
        for depth in 1, 3, 6:
            for pace in "hard", "linear", "plain":
                make = partial(make_splboost, pace, depth, rounds, 1)
                add(f"fit {pace} depth {depth}", n, make)
            make = partial(make_splboost, "hard", depth, rounds, 1)
            add(f"predict depth {depth}", n, make)
    for name in BOOSTERS:
        for n, rounds in (300, 100), (5_000, 50), (50_000, 10):
            add(f"fit {name}", n, public(f"{name}Classifier", n_estimators=rounds))
        add(f"fit {name}", 1000, public(f"{name}Classifier", n_estimators=40), 3)
    add("fit L2Boost", 5000, public("L2BoostRegressor", n_estimators=100))
    for n, rounds in (500, 40), (5_000, 20), (50_000, 5):
        for depth in 1, 3:
            for classes in 2, 3:
                make = partial(make_c45, depth, rounds)
                add(f"fit c45 depth {depth}", n, make, classes)
        add("predict c45 depth 3", n, partial(make_c45, 3, rounds))
    add("spl_path", 2_000, make_path)
    for n in 500, 5_000:
        add("PaceSearchCV", n, make_search)
    for n, classes in (500, 2), (1_000, 3), (5_000, 2):
        add("fit forest", n, public("SPLForestClassifier"), classes)
    add("predict forest", 5_000, public("SPLForestClassifier"))
    add("audit quick", 1_000, public("LabelAudit", "splboost.audit", quick=True))
    add("audit", 1_000, public("LabelAudit", "splboost.audit"))
    # LightGBM would write to where answers are read from.
    for name, quiet in ("XGB", {}), ("LGBM", {"verbose": -1}):
        size = {"n_estimators": 100, "max_depth": 4, **quiet}
        make = public(f"SPL{name}Classifier", "splboost.engines", **size)
        add(f"fit SPL{name}", 5_000, make)
    return found


def prepare(
    make: Callable[[], Any], n: int, classes: int, *, predicts: bool
) -> Callable[[], Any]:
    """Make the data, and for a prediction a model of some of them."""
    X, y = make_data(n, FEATURES)
    if classes == 3:
        y = y + np.digitize(X[:, 0], CUTS).clip(max=1)
    if predicts:
        model = make().fit(X[:5_000], y[:5_000])
        return lambda: model.predict_proba(X)
    return lambda: make().fit(X, y)


def public(name: str, module: str = "splboost", **options: Any) -> Callable[[], Any]:
    """Make an estimator of the package, which is imported when it is made."""

    def make() -> Any:
        estimator = getattr(import_module(module), name)
        return estimator(random_state=0, n_jobs=1, **options)

    return make


def make_c45(depth: int, rounds: int) -> Any:
    from splboost import AdaBoostClassifier
    from splboost.trees import C45Classifier

    return AdaBoostClassifier(
        C45Classifier(max_depth=depth), n_estimators=rounds, n_jobs=1
    )


def make_search() -> Any:
    from splboost import PaceSearchCV, SPLBoostClassifier

    booster = SPLBoostClassifier(n_estimators=50, n_jobs=1)
    return PaceSearchCV(booster, n_jobs=1, random_state=0)


def make_path() -> Any:
    from splboost import SPLBoostClassifier
    from splboost.selection import spl_path

    booster = SPLBoostClassifier(n_estimators=50, random_state=0)
    how = {"booster": booster, "depths": (1, 3), "random_state": 0, "n_jobs": 1}
    return SimpleNamespace(fit=partial(spl_path, **how))


def work() -> None:
    """Do rows as their names come in, and answer with seconds."""
    every = rows()
    ready: tuple[str, Any, int] | None = None
    for line in sys.stdin:
        name = line.strip()
        try:
            if ready is None or ready[0] != name:
                do = every[name]()
                do()  # compiles
                ready = name, do, max(1, round(LEAST_SECONDS / max(seconds(do), 1e-9)))
            _, do, times = ready
            answer = {"seconds": statistics.fmean(seconds(do) for _ in range(times))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:100]}
        print(json.dumps(answer), flush=True)


def seconds(do: Callable[[], Any]) -> float:
    start = time.process_time()
    do()
    return time.process_time() - start


def start(source: Path, cache: Path) -> subprocess.Popen[str]:
    """A process that does rows with the package of a folder."""
    env = {
        **os.environ,
        "PYTHONPATH": str(source),
        "NUMBA_CACHE_DIR": str(cache),
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
    }
    return subprocess.Popen(
        [sys.executable, __file__, "--work"],
        env=env,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def compare(
    versions: dict[str, subprocess.Popen[str]], name: str, turns: int
) -> dict[str, Any]:
    """A line of the table."""
    measured: dict[str, list[float]] = {"new": [], "old": []}
    for turn in range(turns):
        for which in ("new", "old") if turn % 2 else ("old", "new"):
            process = versions[which]
            assert process.stdin is not None and process.stdout is not None
            print(name, file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            if "error" in answer:
                return {"row": name, "verdict": f"{which}: {answer['error']}"}
            measured[which].append(answer["seconds"])
    ratio = statistics.median(
        a / b for a, b in zip(measured["new"], measured["old"], strict=True)
    )
    return {
        "row": name,
        "old [ms]": f"{1e3 * statistics.median(measured['old']):.4g}",
        "new [ms]": f"{1e3 * statistics.median(measured['new']):.4g}",
        "new / old": f"{ratio:.2f}",
        "verdict": "slower" if ratio > LIMIT else "",
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", help="of the version to compare with")
    parser.add_argument("--only", nargs="+", metavar="WORD", default=[])
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    names = [
        name for name in rows() if all(word in name.split() for word in options.only)
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        archive = subprocess.run(
            ["git", "archive", options.commit, "src"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
            tar.extractall(folder / "old", filter="data")
        versions = {
            "new": start(ROOT / "src", folder / "new-cache"),
            "old": start(folder / "old" / "src", folder / "old-cache"),
        }
        lines = []
        for name in names:
            line = compare(versions, name, options.turns)
            progress(" ".join(str(value) for value in line.values()))
            lines.append(line)
        for process in versions.values():
            process.communicate()
    columns = ["row", "old [ms]", "new [ms]", "new / old", "verdict"]
    cells = [[line.get(column, "") for column in columns] for line in lines]
    print(format_table(columns, cells))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        main()
