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
from pathlib import Path
from typing import Any

import numpy as np
from _report import format_table, progress
from _timing import FEATURES, make_data, make_splboost

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1.15  # of the ratio
LEAST_SECONDS = 0.15  # what is quicker is repeated in a turn
CUTS = -0.4, 0.6  # of the first column, for three classes
Row = Callable[[], Callable[[], Any]]


def rows() -> dict[str, Row]:
    """What is timed: each entry prepares something and returns what to do."""
    found: dict[str, Row] = {}
    for n, rounds in (500, 100), (5_000, 100), (50_000, 30), (500_000, 10):
        for depth in 1, 3, 6:
            for pace in "hard", "linear", "plain":
                make = make_splboost, pace, depth, rounds, 1
                found[f"fit {pace} depth {depth} rows {n}"] = fit_row(n, *make)
            make = make_splboost, "hard", depth, rounds, 1
            found[f"predict depth {depth} rows {n}"] = predict_row(n, *make)
    boosters = (
        "SPLBoost RealAdaBoost GentleBoost LogitBoost SavageBoost RBoost RobustBoost "
        "BrownBoost"
    )
    for name in boosters.split():
        for n, rounds in (300, 100), (5_000, 50), (50_000, 10):
            make = make_public, f"{name}Classifier", rounds
            found[f"fit {name} rows {n}"] = fit_row(n, *make)
        make = make_public, f"{name}Classifier", 40
        found[f"fit {name} 3 classes rows 1000"] = fit_row(1000, *make, classes=3)
    found["fit L2Boost rows 5000"] = fit_row(5000, make_public, "L2BoostRegressor", 100)
    for n, rounds in (500, 40), (5_000, 20), (50_000, 5):
        for depth in 1, 3:
            for classes in 2, 3:
                row = fit_row(n, make_c45, depth, rounds, classes=classes)
                found[f"fit c45 depth {depth} {classes} classes rows {n}"] = row
        found[f"predict c45 depth 3 rows {n}"] = predict_row(n, make_c45, 3, rounds)
    found["spl_path rows 2000"] = path_row(2_000)
    for n in 500, 5_000:
        found[f"PaceSearchCV rows {n}"] = fit_row(n, make_search)
    for n, classes in (500, 2), (1_000, 3), (5_000, 2):
        row = fit_row(n, make_public, "SPLForestClassifier", None, classes=classes)
        found[f"fit forest {classes} classes rows {n}"] = row
    found["predict forest rows 5000"] = predict_row(
        5_000, make_public, "SPLForestClassifier", None
    )
    for quick in True, False:
        found[f"audit {'quick ' * quick}rows 1000"] = audit_row(1_000, quick)
    for name in "XGB", "LGBM":
        found[f"fit SPL{name} rows 5000"] = fit_row(5_000, make_engine, name)
    return found


def data(n: int, classes: int = 2) -> Any:
    X, y = make_data(n, FEATURES)
    return X, y if classes == 2 else y + np.digitize(X[:, 0], CUTS).clip(max=1)


def fit_row(n: int, make: Any, *options: Any, classes: int = 2) -> Row:
    def prepare() -> Callable[[], Any]:
        X, y = data(n, classes)
        return lambda: make(*options).fit(X, y)

    return prepare


def predict_row(n: int, make: Any, *options: Any) -> Row:
    def prepare() -> Callable[[], Any]:
        X, y = data(n)
        model = make(*options).fit(X[:5_000], y[:5_000])
        return lambda: model.predict_proba(X)

    return prepare


def path_row(n: int) -> Row:
    def prepare() -> Callable[[], Any]:
        from splboost import SPLBoostClassifier
        from splboost.selection import spl_path

        X, y = data(n)
        booster = SPLBoostClassifier(n_estimators=50, random_state=0)
        return lambda: spl_path(booster, X, y, depths=(1, 3), random_state=0, n_jobs=1)

    return prepare


def audit_row(n: int, quick: bool) -> Row:
    def prepare() -> Callable[[], Any]:
        from splboost.audit import LabelAudit

        X, y = data(n)
        return lambda: LabelAudit(quick=quick, n_jobs=1, random_state=0).fit(X, y)

    return prepare


def make_public(name: str, rounds: int | None) -> Any:
    import splboost

    model = getattr(splboost, name)(random_state=0, n_jobs=1)
    return model if rounds is None else model.set_params(n_estimators=rounds)


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


def make_engine(name: str) -> Any:
    from splboost import engines

    return getattr(engines, f"SPL{name}Classifier")(
        n_estimators=100, max_depth=4, n_jobs=1, random_state=0
    )


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


class Version:
    """A process that does rows with the package of a folder."""

    def __init__(self, source: Path, folder: Path) -> None:
        env = {
            **os.environ,
            "PYTHONPATH": str(source),
            "NUMBA_CACHE_DIR": str(folder),
            "OMP_NUM_THREADS": "1",
            "PYTHONWARNINGS": "ignore",
        }
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work"],
            env=env,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def measure(self, name: str) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(name, file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def stop(self) -> None:
        self._process.communicate()


def compare(new: Version, old: Version, name: str, turns: int) -> dict[str, Any]:
    """A line of the table."""
    measured: dict[str, list[float]] = {"new": [], "old": []}
    for turn in range(turns):
        pair = [("new", new), ("old", old)]
        for which, version in pair if turn % 2 else pair[::-1]:
            answer = version.measure(name)
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
        new = Version(ROOT / "src", folder / "new-cache")
        old = Version(folder / "old" / "src", folder / "old-cache")
        lines = []
        for name in names:
            line = compare(new, old, name, options.turns)
            progress(" ".join(str(value) for value in line.values()))
            lines.append(line)
        new.stop()
        old.stop()
    columns = ["row", "old [ms]", "new [ms]", "new / old", "verdict"]
    cells = [[line.get(column, "") for column in columns] for line in lines]
    print(format_table(columns, cells))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        main()
