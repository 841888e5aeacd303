"""A rare class without wrong labels, and how to keep a pace from dropping it.

Seven in a hundred samples are of the second class. SPLBoost takes many of them for
wrong labels and says so; the table shows what that costs and what helps.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, recall_score
from sklearn.model_selection import train_test_split

from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.pace import Linear

SEEDS = range(8)


def methods() -> dict[str, Any]:
    return {
        "AdaBoost": AdaBoostClassifier(),
        "SPLBoost": SPLBoostClassifier(),
        "Linear(prior_corrected=True)": SPLBoostClassifier(
            pace=Linear(prior_corrected=True)
        ),
        'pace={0: "linear", 1: None}': SPLBoostClassifier(pace={0: "linear", 1: None}),
    }


def rare_class(seed: int) -> tuple[Any, ...]:
    X, y = make_classification(
        4000,
        n_features=10,
        n_informative=6,
        weights=[0.93],
        flip_y=0,
        class_sep=1.5,
        random_state=seed,
    )
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    return X, y, X_test, y_test


def main() -> None:
    figures: dict[str, list[tuple[float, float, float]]] = {}
    said = set()
    for seed in SEEDS:
        X, y, X_test, y_test = rare_class(seed)
        for name, model in methods().items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X, y)
            if caught and name not in said:
                said.add(name)
                print(f"{name} warns: {caught[0].message}\n")
            dropped = np.mean(model.sample_pace_[y == 1] == 0)
            recall = recall_score(y_test, model.predict(X_test))
            score = model.decision_function(X_test)
            precision = average_precision_score(y_test, score)
            figures.setdefault(name, []).append((dropped, recall, precision))

    print(f"Rare class, mean of {len(SEEDS)} problems")
    print(f"{'':30}{'dropped':>9}{'recall':>9}{'average precision':>20}")
    for name, rows in figures.items():
        dropped, recall, precision = np.mean(rows, axis=0)
        print(f"{name:30}{dropped:9.1%}{recall:9.1%}{precision:20.3f}")


if __name__ == "__main__":
    main()
