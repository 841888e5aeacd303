"""Choosing pace, depth and rounds by cross-validation; a fifth of the labels are wrong.

The labels that judge are as wrong as those fitted to, so the choice is uncertain. What
it is worth is measured on clean test labels, beside boosters without any choice and
beside the best that hindsight could have chosen. With the name of a file, as in

    python examples/pace_search.py pace_search.png

the first search is drawn, too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from splboost import AdaBoostClassifier, PaceSearchCV, SPLBoostClassifier
from splboost.datasets import flip_labels, make_twonorm
from splboost.selection import spl_path

SEEDS = range(4)
DEPTHS = 1, 2, 3


def problem(seed: int) -> tuple[Any, ...]:
    X, y = make_twonorm(400, random_state=seed)
    X_test, y_test = make_twonorm(2000, random_state=100 + seed)
    return X, flip_labels(y, 0.2, random_state=seed)[0], X_test, y_test


def best_in_hindsight(X: Any, y: Any, X_test: Any, y_test: Any) -> float:
    """Error of the setting that is best on the clean test labels."""
    rows = np.arange(len(y) + len(y_test))
    path = spl_path(
        np.concatenate([X, X_test]),
        np.concatenate([y, y_test]),
        depths=DEPTHS,
        cv=[(rows[: len(y)], rows[len(y) :])],
        n_jobs=2,
    )
    return 1 - path.choose().score


def draw(search: PaceSearchCV, picture: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from splboost.display import PaceSearchDisplay

    PaceSearchDisplay.from_estimator(search).figure_.savefig(picture, dpi=110)
    print(f"Picture: {picture.resolve()}\n")


def main() -> None:
    print("Searching ...", flush=True)
    errors: dict[str, list[float]] = {}
    for seed in SEEDS:
        X, y, X_test, y_test = problem(seed)
        search = PaceSearchCV(depths=DEPTHS, n_jobs=2, random_state=0).fit(X, y)
        choice = search.best_setting_
        print(
            f"plateau {choice.value:4g}, depth {choice.max_depth}, "
            f"{choice.n_estimators:3} rounds chosen from {search.path_.n_models} "
            f"boosters: accuracy {choice.score:.3f} ± {choice.standard_error:.3f}"
        )
        if seed == 0 and len(sys.argv) > 1:
            draw(search, Path(sys.argv[1]))
        simple = search.path_.choose("one standard error")
        models = {
            "AdaBoost, 200 stumps": AdaBoostClassifier(),
            "SPLBoost as it comes": SPLBoostClassifier(),
            "PaceSearchCV": search.best_estimator_,
            'PaceSearchCV, "one standard error"': SPLBoostClassifier(
                n_estimators=simple.n_estimators, pace=simple.pace
            ).set_params(estimator__max_depth=simple.max_depth),
        }
        for name, model in models.items():
            error = 1 - model.fit(X, y).score(X_test, y_test)
            errors.setdefault(name, []).append(error)
        hindsight = best_in_hindsight(X, y, X_test, y_test)
        errors.setdefault("best in hindsight", []).append(hindsight)

    print(f"\nClean test error, mean of {len(SEEDS)} problems")
    for name, each in errors.items():
        print(f"{name:36}{np.mean(each):6.1%}")


if __name__ == "__main__":
    main()
