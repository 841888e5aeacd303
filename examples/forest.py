"""A classifier without knobs on labels a quarter of which are wrong.

It says which settings it has chosen, how many labels it takes to be wrong, and which.
With the name of a file, as in

    python examples/forest.py forest.png

it is drawn how sure the forest is of right and of wrong labels.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from splboost import AdaBoostClassifier, SPLBoostClassifier, SPLForestClassifier
from splboost.datasets import flip_labels, make_ringnorm


def draw(quality: Any, wrong: Any, picture: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    axes.hist(
        [quality[~wrong], quality[wrong]],
        bins=np.linspace(0, 1, 41),
        stacked=True,
        color=["#9ecae1", "#d62728"],
        label=["right labels", "wrong labels"],
    )
    axes.set(
        xlabel="probability of the given label, out of bag",
        ylabel="rows",
        title="How far SPLForestClassifier believes each label",
    )
    axes.legend(frameon=False)
    figure.savefig(picture, dpi=110)
    print(f"\nPicture: {picture.resolve()}")


def show(value: Any) -> str:
    """Nothing where it is missing; a number without its dot."""
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else f"{value:g}"


def main() -> None:
    print("Fitting ...", flush=True)
    X, y = make_ringnorm(800, random_state=0)
    X_test, y_test = make_ringnorm(4000, random_state=1)
    y_noisy, flipped = flip_labels(y, 0.25, random_state=0)
    forest = SPLForestClassifier(n_jobs=2, random_state=0).fit(X, y_noisy)
    models = {
        "AdaBoost, 200 stumps": AdaBoostClassifier().fit(X, y_noisy),
        "SPLBoost as it comes": SPLBoostClassifier().fit(X, y_noisy),
        "SPLForest": forest,
    }
    print("\nClean test error")
    for name, model in models.items():
        print(f"{name:24}{1 - model.score(X_test, y_test):6.1%}")

    print("\nWhat counts most")
    print(
        f"{'kind':12}{'leaves of':>10}{'features':>10}{'rounds':>8}"
        f"{'rows in a bag':>15}{'Brier score':>13}{'weight':>8}"
    )
    settings = forest.settings_
    columns = "kind", "min_samples_leaf", "max_features", "n_estimators", "bag_share"
    names = *columns, "oob_brier", "weight"
    rows = list(zip(*(settings[name] for name in names), strict=True))
    for kind, leaf, features, rounds, share, brier, weight in rows[:5]:
        print(
            f"{kind:12}{show(leaf):>10}{show(features):>10}{rounds:8}"
            f"{share:15.0%}{brier:13.3f}{weight:8.2f}"
        )

    rate, spread = forest.noise_rate_, forest.noise_rate_std_
    print(f"\nLabels taken to be wrong: {rate:.1%} ± {spread:.1%}; in truth 25.0%")
    wrong = np.zeros(len(y), dtype=bool)
    wrong[flipped] = True
    suspects = forest.label_quality_.argsort()[:100]
    print(f"Wrong among the 100 least believed labels: {wrong[suspects].sum()}")
    if len(sys.argv) > 1:
        draw(forest.label_quality_, wrong, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
