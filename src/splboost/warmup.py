"""Compile all kernels beforehand: ``python -m splboost.warmup``.

Kernels are compiled when they are first needed, and stored. Where that would be on many
machines, or where none may be slow, this does it once: in the recipe of an image, or
before the workers of a cluster start. ``NUMBA_CACHE_DIR`` names the folder to store
them in.
"""

from __future__ import annotations

import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import numpy as np

import splboost
from splboost._tools import threads
from splboost._tools.compiling import NOT_STORED, notice
from splboost._tools.progress_bar import make_report
from splboost.audit import LabelAudit
from splboost.boosting.state import add_outputs
from splboost.engines.objective import logistic_terms
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

N_ROWS, N_ROUNDS = 300, 4  # so many that columns have more values than bins


def make_cases() -> list[tuple[Any, Any, Any]]:
    """Estimators with data: all kernels, but those for more than 256 classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 5))
    X[::7, 1] = np.nan
    X[:, 4] = rng.integers(0, 4, N_ROWS)
    numbers = X[:, 0] + 0.5 * rng.normal(size=N_ROWS)
    two, three = numbers > 0, np.digitize(numbers, [-0.5, 0.5])
    cases = [(estimator, X, y) for y in (two, three) for estimator in _classifiers()]
    trees = CARTRegressor(n_jobs=2), CARTRegressor(max_depth=2, max_features=2)
    regressors = [*trees, splboost.L2BoostRegressor(n_estimators=N_ROUNDS)]
    return cases + [(estimator, X, numbers) for estimator in regressors]


def _classifiers() -> Iterator[Any]:
    yield CARTClassifier(categorical_features=[4])
    yield CARTClassifier(max_features=2)
    yield C45Classifier(categorical_features=[4])
    few: dict[str, Any] = {"n_estimators": N_ROUNDS, "random_state": 0}
    for tree in (
        None,
        CARTClassifier(max_depth=3),
        CARTClassifier(max_leaf_nodes=4),
        C45Classifier(),
    ):
        yield splboost.SPLBoostClassifier(tree, **few, categorical_features=[4])
        yield splboost.RealAdaBoostClassifier(tree, **few)
    for pace in ("hard", "linear", "polynomial", "mixture", "logarithmic"):
        for kind in (
            splboost.SPLBoostClassifier,
            splboost.GentleBoostClassifier,
            splboost.LogitBoostClassifier,
            splboost.SavageBoostClassifier,
            splboost.RBoostClassifier,
        ):
            yield kind(pace=pace, warm_rounds=1, **few)
    yield splboost.LogitBoostClassifier(z_clip="gradient", **few)
    yield splboost.SavageBoostClassifier(line_search=True, **few)
    for variant in ("fisher", "mm", "discrete"):
        yield splboost.RBoostClassifier(variant=variant, **few)
    for variant in ("one-sided", "two-sided"):
        yield splboost.RobustBoostClassifier(variant=variant, epsilon=0.3, **few)
    yield splboost.PaceSearchCV(
        splboost.SPLBoostClassifier(**few), depths=(1, 3), cv=2, random_state=0
    )
    yield splboost.SPLForestClassifier(random_state=0)
    yield LabelAudit(random_state=0)


def main() -> None:
    """Compile all kernels into the cache, as for an image or a cluster."""
    if notice.remedy == NOT_STORED:
        sys.exit(
            "There is no folder to store compiled kernels in; set NUMBA_CACHE_DIR to "
            "one that can be written to."
        )
    notice.is_due = False  # it is what is asked for
    threads.THREADED_WORK = 1  # kernels that only threads call are to be compiled, too
    logistic_terms(np.zeros(2), np.zeros(2, dtype=np.intp))
    cases = make_cases()
    with make_report(1, len(cases), "compiling") as report, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for done, (estimator, X, y) in enumerate(cases, 1):
            estimator.fit(X, y)
            if hasattr(estimator, "predict"):
                estimator.predict(X)
            report.show(done)
    print(f"All kernels are compiled and stored in {add_outputs._cache.cache_path}.")


if __name__ == "__main__":
    ArgumentParser("python -m splboost.warmup", description=main.__doc__).parse_args()
    main()
