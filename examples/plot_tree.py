"""A tree before and after the wrong labels have lost their say.

A fifth of the training labels of scikit-learn's breast cancer data are flipped. The
first tree is fitted to all of them. The second is the same tree, fitted with the
weights that SPLBoost has learned for the samples: 0 where it no longer believes the
label. Draws both, for the first of 30 random splits, to tree.png; the errors are means
over all 30, since one split says little. It needs pandas, for the features' names.
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
N_SPLITS = 30
TITLES = ("All labels", "Weighted by SPLBoost's belief in them")


def breast_cancer(seed: int) -> tuple[Any, ...]:
    """Breast cancer, a fifth of the training labels flipped; clean test labels."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.array(["malignant", "benign"])[y]
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=seed)
    y_noisy, flipped = flip_labels(y, 0.2, random_state=seed)
    return X, y_noisy, flipped, X_test, y_test


def fit_both(seed: int) -> tuple[list[CARTClassifier], list[float]]:
    """Both trees for one split, and their test errors."""
    X, y, flipped, X_test, y_test = breast_cancer(seed)
    pace = SPLBoostClassifier(n_estimators=200).fit(X, y).sample_pace_
    if seed == 0:
        print(f"Labels flipped: {flipped.sum()} of {y.size}")
        print(f"Weight left to flipped labels: {pace[flipped].mean():.2f} on average")
        print(f"Weight left to right labels:   {pace[~flipped].mean():.2f}")
    trees = [
        CARTClassifier(max_depth=3, min_samples_leaf=8).fit(X, y, sample_weight=weight)
        for weight in (None, pace)
    ]
    return trees, [1 - tree.score(X_test, y_test) for tree in trees]


def main() -> None:
    print("Fitting ...", flush=True)
    fitted = [fit_both(seed) for seed in range(N_SPLITS)]
    errors = np.array([error for _, error in fitted])
    better, worse = (errors[:, 1] < errors[:, 0]), (errors[:, 1] > errors[:, 0])
    figure, axes = plt.subplots(2, 1, figsize=(10.6, 8.5), layout="constrained")
    panels = zip(axes, TITLES, fitted[0][0], errors.mean(axis=0), strict=True)
    for ax, title, tree, error in panels:
        heading = f"{title}: mean test error over {N_SPLITS} splits {error:.1%}"
        ax.set_title(heading, fontsize=11)
        plot_tree(tree, digits=3, ax=ax)
        print(f"\n{heading}\n{tree.to_text(digits=3)}")
    print(f"\nThe second is better in {better.sum()} splits, worse in {worse.sum()}.")
    figure.savefig(PICTURE, dpi=110)
    print(f"Picture: {PICTURE.resolve()}")


if __name__ == "__main__":
    main()
