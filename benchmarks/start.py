"""Processor seconds until a first model is fitted, with nothing compiled before.

Each measurement is a fresh process that imports, loads the breast cancer data and fits
once: with an empty numba cache, as after installing, when kernels have to be compiled,
and again with the cache that this has filled. Processes that it starts count as well.

    python benchmarks/start.py                         saved in benchmarks/results
    python benchmarks/start.py --quick                 SPLBoost and LightGBM alone
    python benchmarks/start.py --only SPLBoost audit   some of them
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

from _report import Benchmark, format_table, progress

LOAD = """\
from sklearn.datasets import load_breast_cancer
X, y = load_breast_cancer(return_X_y=True)
"""
# Seconds of workers count once they have ended.
FOLDS = """\
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import cross_val_score
cross_val_score(SPLBoostClassifier(), X, y, cv=4, n_jobs={})
get_reusable_executor().shutdown(wait=True)"""
ONE, FOUR = "4 folds, one process", "4 folds, four workers"
# What is imported, what is done, and the most seconds it should take
FITS = {
    "SPLBoost": ("splboost", "SPLBoostClassifier().fit(X, y)", 10),
    "LogitBoost": ("splboost", "LogitBoostClassifier().fit(X, y)", None),
    "C4.5": ("splboost.trees", "C45Classifier().fit(X, y)", None),
    "PaceSearchCV": ("splboost", "PaceSearchCV().fit(X, y)", None),
    "PaceSearchCV, depths 1 and 3": (
        "splboost",
        "PaceSearchCV(depths=(1, 3)).fit(X, y)",
        18,
    ),
    "audit, quick": ("splboost.audit", "LabelAudit(quick=True).fit(X, y)", 20),
    "audit": ("splboost.audit", "LabelAudit().fit(X, y)", None),
    "SPLForest": ("splboost", "SPLForestClassifier().fit(X, y)", 30),
    ONE: ("splboost", FOLDS.format(1), None),
    FOUR: ("splboost", FOLDS.format(4), None),
    "LightGBM": ("lightgbm", "LGBMClassifier(n_jobs=1, verbose=-1).fit(X, y)", None),
}
MOST_OF_FOUR = 1.3  # times the seconds of one process
QUICK = "SPLBoost", "LightGBM"


def seconds_of(name: str, cache: str) -> float:
    """Of a process of its own, with numba's cache in a folder."""
    package, call, _ = FITS[name]
    code = f"{LOAD}from {package} import *\n{call}"
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    before = _seconds_of_children()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return _seconds_of_children() - before


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(names: list[str], repeats: int) -> dict[str, dict[str, list[float]]]:
    """Seconds of each with an ``empty`` and with a ``filled`` cache, all in turn."""
    found = {name: {"empty": [], "filled": []} for name in names}
    for repeat in range(repeats):
        for name, seconds in found.items():
            progress(f"{name}, {repeat + 1} of {repeats}")
            with tempfile.TemporaryDirectory() as cache:
                for of_state in seconds.values():
                    of_state.append(seconds_of(name, cache))
    return found


def format_seconds(found: dict[str, dict[str, list[float]]]) -> str:
    empty = {name: statistics.median(each["empty"]) for name, each in found.items()}
    lines = []
    for name, each in found.items():
        most = FITS[name][2]
        if name == FOUR and ONE in empty:
            most = MOST_OF_FOUR * empty[ONE]
        target = "" if most is None else f"{most:.1f}"
        verdict = "" if most is None else "met" if empty[name] <= most else "missed"
        filled = f"{statistics.median(each['filled']):.1f}"
        lines.append([name, f"{empty[name]:.1f}", filled, target, verdict])
    header = ["what", "empty cache [s]", "filled cache [s]", "at most", "verdict"]
    return format_table(header, lines)


def main() -> None:
    benchmark = Benchmark(__doc__, "start", "Start")
    benchmark.parser.add_argument("--only", nargs="+", choices=FITS, metavar="WHAT")
    given = benchmark.start()
    names = given.only or list(QUICK if given.quick else FITS)
    repeats = 1 if given.quick else 3
    found = measure(names, repeats)
    about = f"""\
Processor seconds of a process that imports, loads the breast cancer data (569 rows of
30 columns) and fits once, all by default; median of {repeats}. The start of Python, the
import of scikit-learn and processes that it starts are included. Four workers are to
take at most {MOST_OF_FOUR} times as long as one process for the same fits."""
    sections = [about, format_seconds(found)]
    benchmark.finish(sections, {"seconds": found}, is_full=names == list(FITS))


if __name__ == "__main__":
    main()
