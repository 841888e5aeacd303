"""AdaBoost and SPLBoost on data whose labels are partly wrong.

Two problems: the paper's two Gaussians with 15% of the labels flipped, and
scikit-learn's breast cancer data with 20% of the training labels flipped. Prints a
table and draws what became of the samples, in the manner of the paper's Figure 3, to
two_gaussians.png.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.datasets import flip_labels, gaussians_log_odds, make_gaussians
from splboost.pace import Hard

PICTURE = Path("two_gaussians.png")
N_ROUNDS = 200


def gaussians() -> tuple[Any, ...]:
    """The paper's Gaussians: 100 training samples a class, 15 of each flipped."""
    X, y = make_gaussians(random_state=0)
    y_noisy, flipped = flip_labels(y, {0: 0.15, 1: 0.15}, random_state=0)
    return X, y_noisy, flipped, *make_gaussians(5000, random_state=1)


def breast_cancer() -> tuple[Any, ...]:
    """Breast cancer, a fifth of the training labels flipped; clean test labels."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    y_noisy, flipped = flip_labels(y, 0.2, random_state=0)
    return X, y_noisy, flipped, X_test, y_test


def methods() -> dict[str, Any]:
    return {
        "AdaBoost (scikit-learn)": SklearnAdaBoost(
            DecisionTreeClassifier(max_depth=1), n_estimators=N_ROUNDS
        ),
        "AdaBoost": AdaBoostClassifier(n_estimators=N_ROUNDS),
        "SPLBoost": SPLBoostClassifier(n_estimators=N_ROUNDS),
        "SPLBoost, hard, λ = 2": SPLBoostClassifier(
            n_estimators=N_ROUNDS, pace=Hard(age=2)
        ),
    }


def compare(title: str, data: tuple[Any, ...]) -> None:
    X, y, flipped, X_test, y_test = data
    print(f"\n{title}: {len(y)} training samples, {flipped.sum()} labels flipped")
    header = f"{'':26}{'test error':>11}{'flipped':>10}{'clean':>10}{'fit':>10}"
    print(f"{header}\n{'':26}{'':>11}{'dropped':>10}{'dropped':>10}")
    for name, model in methods().items():
        start = time.perf_counter()
        model.fit(X, y)
        milliseconds = 1000 * (time.perf_counter() - start)
        error = np.mean(model.predict(X_test) != y_test)
        shares = f"{'-':>10}{'-':>10}"
        if getattr(model, "pace", None) is not None:
            dropped = model.sample_pace_ == 0
            shares = f"{dropped[flipped].mean():10.0%}{dropped[~flipped].mean():10.0%}"
        print(f"{name:26}{error:11.1%}{shares}{milliseconds:7.0f} ms")


def draw(data: tuple[Any, ...]) -> None:
    """Samples sized by their final weight, and the boundaries."""
    X, y, flipped, X_test, y_test = data
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.8), sharex=True, sharey=True)
    grid = np.meshgrid(np.linspace(-8, 9, 300), np.linspace(-11, 8, 300))
    cells = np.column_stack([g.ravel() for g in grid])
    bayes = gaussians_log_odds(cells).reshape(grid[0].shape)
    panels = list(methods().items())[1:]
    for ax, (title, model) in zip(axes, panels, strict=True):
        model.fit(X, y)
        score = model.decision_function(cells).reshape(grid[0].shape)
        margin = np.where(y == 1, 1, -1) * model.decision_function(X)
        weight = model.sample_pace_ * np.exp(-margin)
        size = 12 + 400 * weight / weight.sum() / 0.03
        error = np.mean(model.predict(X_test) != y_test)
        ax.contourf(*grid, score > 0, levels=[-0.5, 0.5, 1.5], colors=_SHADES)
        ax.contour(*grid, bayes, levels=[0], colors="black", linestyles="--")
        for label, marker in ((0, "x"), (1, "+")):
            for wrong in (False, True):
                here = (y == label) & (flipped == wrong)
                colour = "#c02040" if wrong else _COLOURS[label]
                ax.scatter(*X[here].T, s=size[here], marker=marker, c=colour, lw=1.2)
        gone = model.sample_pace_ == 0
        ax.scatter(*X[gone].T, s=70, facecolors="none", edgecolors="black", lw=0.9)
        ax.set_title(f"{title}\ntest error {error:.1%}", fontsize=11)
    _legend(figure)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(PICTURE, dpi=110)
    print(f"\nPicture: {PICTURE.resolve()}")


_COLOURS = ("#1f5fa8", "#d9822b")
_SHADES = ("#e8f0f9", "#fdf1e3")


def _legend(figure: Any) -> None:
    def mark(marker: str, colour: str, label: str, **options: Any) -> Any:
        return plt.Line2D(
            [], [], ls="", marker=marker, color=colour, label=label, ms=8, **options
        )

    figure.legend(
        handles=[
            mark("+", _COLOURS[1], "labelled positive"),
            mark("x", _COLOURS[0], "labelled negative"),
            mark("s", "#c02040", "in red: the label is wrong"),
            mark("o", "black", "dropped (weight 0)", mfc="none"),
            plt.Line2D([], [], color="black", ls="--", label="Bayes boundary"),
        ],
        loc="lower center",
        ncol=5,
        frameon=False,
    )


if __name__ == "__main__":
    print("Compiling the kernels, unless an earlier run has ...", flush=True)
    SPLBoostClassifier().fit(*make_gaussians(random_state=0))
    compare("Gaussians", gaussians())
    compare("Breast cancer", breast_cancer())
    draw(gaussians())
    print("The size of a mark is the sample's weight in the last round.")
