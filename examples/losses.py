"""Why a pace helps: what boosters minimise, and what a wrong label weighs in them.

Draws the losses of the boosters and the latent losses that paces make of AdaBoost's to
losses.png, and the weights that samples have by them to weights.png; prints what a
sample weighs that is on the wrong side by a little, and by far.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from splboost import (
    AdaBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    SavageBoostClassifier,
    SPLBoostClassifier,
)
from splboost.display import LossDisplay, WeightDisplay
from splboost.pace import Hard, Linear, Pace, Polynomial

LOSSES, WEIGHTS = Path("losses.png"), Path("weights.png")
AGES = 2.0, 3.0, 4.0, 5.0, 6.0
LINEAR = {f"linear, λ = {age:g}": Linear(age=age) for age in AGES}
AT_AGE_3 = {
    "hard": Hard(age=3.0),
    "polynomial, t = 4": Polynomial(age=3.0, t=4.0),
    "linear": Linear(age=3.0),
    "polynomial, t = 1.3": Polynomial(age=3.0, t=1.3),
}
RIVALS = {
    "AdaBoost": AdaBoostClassifier(),
    "LogitBoost": LogitBoostClassifier(z_clip="gradient"),
    "SavageBoost": SavageBoostClassifier(),
    "RBoost": RBoostClassifier(),
}


def two_panels(left: str, right: str) -> tuple[plt.Figure, np.ndarray]:
    size = {"figsize": (11, 4.4), "layout": "constrained"}
    figure, axes = plt.subplots(1, 2, sharey=True, **size)
    for ax, title in zip(axes, (left, right), strict=True):
        ax.set_title(title, fontsize=11)
    return figure, axes


def paced(paces: dict[str, Pace]) -> dict[str, SPLBoostClassifier]:
    return {label: SPLBoostClassifier(pace=pace) for label, pace in paces.items()}


def main() -> None:
    titles = "Losses, and SPLBoost's latent loss", "The latent losses of λ = 3"
    figure, axes = two_panels(*titles)
    LossDisplay.from_losses(paces=LINEAR, ax=axes[0])
    LossDisplay.from_losses("exponential", paces=AT_AGE_3, ax=axes[1])
    axes[1].set_ylabel("")
    figure.savefig(LOSSES, dpi=110)

    figure, axes = two_panels("Weights in boosters", "Weights in SPLBoost with λ = 3")
    rivals = {**RIVALS, **{f"SPL, {k}": v for k, v in paced(LINEAR).items()}}
    display = WeightDisplay.from_estimators(rivals, ax=axes[0])
    plain = {"AdaBoost": AdaBoostClassifier()}
    WeightDisplay.from_estimators({**plain, **paced(AT_AGE_3)}, ax=axes[1])
    axes[1].set_ylabel("")
    figure.savefig(WEIGHTS, dpi=110)

    margins = np.array([-0.5, -1.0, -2.0, -3.0])
    print("margin" + " " * 15 + "".join(f"{margin:8}" for margin in margins))
    for curve in display.curves:
        weights = "".join(f"{weight:8.2f}" for weight in curve.weight(margins))
        print(f"{curve.label:21}{weights}")
    for picture in (LOSSES, WEIGHTS):
        print(f"Picture: {picture.resolve()}")


if __name__ == "__main__":
    main()
