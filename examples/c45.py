"""C4.5 on data with categories and missing values: alone, pruned, and boosted.

First Quinlan's golf data, one outlook of which is unknown. Then machines that fail or
hold, by a rule of four columns; a tenth of the cells are missing, and a fifth of the
training labels are flipped. Prints trees, and test errors on clean labels as means over
random problems, since one says little. It needs pandas, for the categories.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.datasets import flip_labels
from splboost.trees import C45Classifier

try:
    import pandas as pd
except ImportError:
    raise SystemExit("This example needs pandas: pip install pandas") from None

GOLF = pd.DataFrame(
    [
        ("sunny", 75, 70, "yes", "play"),
        ("sunny", 80, 90, "yes", "don't"),
        ("sunny", 85, 85, "no", "don't"),
        ("sunny", 72, 95, "no", "don't"),
        ("sunny", 69, 70, "no", "play"),
        (None, 72, 90, "yes", "play"),
        ("overcast", 83, 78, "no", "play"),
        ("overcast", 64, 65, "yes", "play"),
        ("overcast", 81, 75, "no", "play"),
        ("rain", 71, 80, "yes", "don't"),
        ("rain", 65, 70, "yes", "don't"),
        ("rain", 75, 80, "no", "play"),
        ("rain", 68, 80, "no", "play"),
        ("rain", 70, 96, "no", "play"),
    ],
    columns=["outlook", "temperature", "humidity", "windy", "class"],
)
SEEDS = range(10)
N_TRAIN, N_TEST = 600, 4000


def golf() -> None:
    """A tree whose unknown value has gone down all branches."""
    X, y = GOLF.drop(columns="class"), GOLF["class"]
    X = X.astype({"outlook": "category", "windy": "category"})
    tree = C45Classifier().fit(X, y)
    print(f"Golf, an outlook unknown: its weight is shared out\n{tree.to_text()}")
    day = X.iloc[[0]].assign(humidity=np.nan)
    shares = dict(zip(tree.classes_, tree.predict_proba(day)[0], strict=True))
    print(f"A sunny day of unknown humidity: play {shares['play']:.0%}")


def machines(seed: int) -> tuple[Any, ...]:
    """Training data with wrong labels, and clean test data."""
    rng = np.random.default_rng(seed)
    n = N_TRAIN + N_TEST
    X = pd.DataFrame(
        {
            "maker": rng.choice(["Abel", "Bohr", "Curie"], n),
            "site": rng.choice(["hill", "plain", "sea"], n),
            "load": rng.normal(50, 15, n).round(1),
            "age": rng.gamma(3, 3, n).round(1),
            "noise": rng.normal(60, 8, n).round(1),
        }
    )
    fails = (X["maker"] == "Bohr") & (X["load"] > 45)
    fails |= (X["site"] == "sea") & (X["age"] > 6)
    fails |= (X["load"] > 65) & (X["age"] > 9)
    y = np.where(fails, "fails", "holds")
    X = X.mask(rng.random(X.shape) < 0.1)
    X = X.astype({"maker": "category", "site": "category"})
    y_noisy, _ = flip_labels(y[:N_TRAIN], 0.2, random_state=seed)
    return X[:N_TRAIN], y_noisy, X[N_TRAIN:], y[N_TRAIN:]


def methods() -> dict[str, Any]:
    tree, shallow = C45Classifier(), C45Classifier(max_depth=2)
    return {
        "C4.5 without its price of cuts": C45Classifier(mdl=False, pruning=False),
        "the same, pruned": C45Classifier(mdl=False),
        "C4.5, not pruned": C45Classifier(pruning=False),
        "C4.5": tree,
        "AdaBoost over C4.5": AdaBoostClassifier(tree, n_estimators=100),
        "SPLBoost over C4.5": SPLBoostClassifier(tree, n_estimators=100),
        "AdaBoost, depth 2": AdaBoostClassifier(shallow, n_estimators=100),
        "SPLBoost, depth 2": SPLBoostClassifier(shallow, n_estimators=100),
    }


def main() -> None:
    golf()
    X, y, _, _ = machines(0)
    print("\nMachines, a fifth of the labels wrong: the pruned tree")
    print(C45Classifier().fit(X, y).to_text(digits=3))

    # Boosting may end for want of a tree that beats guessing: "rounds" shows it.
    warnings.filterwarnings("ignore", message="Boosting stopped .* no edge")
    figures: dict[str, list[tuple[float, float, float]]] = {}
    for seed in SEEDS:
        X, y, X_test, y_test = machines(seed)
        for name, model in methods().items():
            model.fit(X, y)
            trees = getattr(model, "estimators_", [model])
            n_leaves = float(np.mean([tree.get_n_leaves() for tree in trees]))
            error = 1 - model.score(X_test, y_test)
            figures.setdefault(name, []).append((len(trees), n_leaves, error))
    print(f"\nMeans of {len(SEEDS)} problems")
    print(f"{'':32}{'rounds':>8}{'leaves':>8}{'test error':>13}")
    for name, rows in figures.items():
        rounds, n_leaves, error = np.mean(rows, axis=0)
        print(f"{name:32}{rounds:8.0f}{n_leaves:8.1f}{error:13.1%}")


if __name__ == "__main__":
    main()
