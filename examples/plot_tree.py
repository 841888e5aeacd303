"""A tree before and after the wrong labels have lost their say.

A fifth of the training labels of scikit-learn's breast cancer data are flipped. The
first tree is fitted to all of them. The second is the same tree, fitted with the
weights that SPLBoost has learned for the samples: 0 where it no longer believes the
label. Draws both to tree.png.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from splboost import SPLBoostClassifier
from splboost.datasets import flip_labels
from splboost.display import plot_tree
from splboost.trees import CARTClassifier

PICTURE = Path("tree.png")


def breast_cancer() -> tuple[Any, ...]:
    """Breast cancer, a fifth of the training labels flipped; clean test labels."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.array(["malignant", "benign"])[y]
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    y_noisy, flipped = flip_labels(y, 0.2, random_state=0)
    return X, y_noisy, flipped, X_test, y_test


def main() -> None:
    X, y, flipped, X_test, y_test = breast_cancer()
    print("Fitting; the first time kernels are compiled, too ...", flush=True)
    booster = SPLBoostClassifier(n_estimators=200, learning_rate=0.2).fit(X, y)
    pace = booster.sample_pace_
    print(f"Labels flipped: {flipped.sum()} of {y.size}")
    print(f"Weight left to flipped labels: {pace[flipped].mean():.2f} on average")
    print(f"Weight left to right labels:   {pace[~flipped].mean():.2f}")

    figure, axes = plt.subplots(2, 1, figsize=(10.6, 8.5), layout="constrained")
    weights = {"All labels": None, "Weighted by SPLBoost's belief in them": pace}
    for ax, (title, weight) in zip(axes, weights.items(), strict=True):
        tree = CARTClassifier(max_depth=3, min_samples_leaf=8)
        tree.fit(X, y, sample_weight=weight)
        error = 1 - tree.score(X_test, y_test)
        ax.set_title(f"{title}: test error {error:.1%}", fontsize=11)
        plot_tree(tree, digits=3, ax=ax)
        print(f"\n{title}: test error {error:.1%}\n{tree.to_text(digits=3)}")
    figure.savefig(PICTURE, dpi=110)
    print(f"\nPicture: {PICTURE.resolve()}")


if __name__ == "__main__":
    main()
