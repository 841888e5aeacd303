"""What boosted stumps have learned, feature by feature.

SPLBoost with stumps is a sum of functions of one feature each. Here they are for
scikit-learn's breast cancer data, of which a fifth of the training labels are flipped.
Prints how well the model does and draws its six most important functions to
shape_functions.png. It needs pandas, for the features' names.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from splboost import SPLBoostClassifier
from splboost.datasets import flip_labels
from splboost.display import ShapeFunctionsDisplay

PICTURE = Path("shape_functions.png")


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.array(["malignant", "benign"])[y]
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    y_noisy, flipped = flip_labels(y, 0.2, random_state=0)
    print("Fitting ...", flush=True)
    booster = SPLBoostClassifier().fit(X, y_noisy)
    print(f"{flipped.sum()} of {y.size} training labels flipped")
    print(f"Test error: {1 - booster.score(X_test, y_test):.1%}")

    display = ShapeFunctionsDisplay.from_estimator(booster, X, max_panels=6)
    print(f"\n{len(display.functions)} features are used; the spread of their scores:")
    for function in display.functions[:6]:
        print(f"{function.name:24}{function.importance:6.2f}")
    score = display.intercept + sum(f(X_test[f.name]) for f in display.functions)
    gap = np.abs(score - booster.decision_function(X_test)).max()
    print(f"\nThe functions add up to the score, but for {gap:.0e}.")
    display.figure_.savefig(PICTURE, dpi=110)
    print(f"Picture: {PICTURE.resolve()}")


if __name__ == "__main__":
    main()
