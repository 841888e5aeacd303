"""Figures 1 and 2: what a sample weighs and costs, by its margin."""

from __future__ import annotations

from typing import Any

from splboost import (
    AdaBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    SavageBoostClassifier,
)
from splboost.display import LossDisplay, WeightDisplay
from splboost.display.style import tint
from splboost.pace import Hard, Linear, Polynomial
from splboost.paper.figures.looks import BLUE, LOOKS, make_figure

AGES = 2.0, 3.0, 4.0, 5.0, 6.0
AGE = 3.0  # where regularisers are compared
LOSSES = {
    "exponential": "exponential",
    "logistic": "logistic",
    "Savage": "savage",
    "Savage2": "savage2",
    "zero-one": "zero-one",
}
BOOSTER_OF = {
    "exponential": "AdaBoost",
    "logistic": "LogitBoost",
    "Savage": "SavageBoost",
    "Savage2": "RBoost",
}
SIZE = 10.5, 4.2  # inches


def draw_weights() -> Any:
    """Figure 1: (a) boosters, with SPLBoost at five ages; (b) regularisers at one."""
    figure, (left, right) = _two_panels()
    boosters = {
        "AdaBoost": AdaBoostClassifier(),
        # With its response clipped it would be another, robust booster.
        "LogitBoost": LogitBoostClassifier(z_clip="gradient"),
        "SavageBoost": SavageBoostClassifier(),
        "RBoost": RBoostClassifier(),
        **{
            label: AdaBoostClassifier(pace=pace)
            for label, pace in _linear_paces("SPLBoost").items()
        },
    }
    WeightDisplay.from_estimators(boosters, ax=left)
    _recolour(left, {name: LOOKS[name][0] for name in boosters if name in LOOKS})
    WeightDisplay.from_losses([], paces=_regularisers(), ax=right)
    left.set_title("(a) Boosters; SPLBoost with linear weighting")
    right.set_title(f"(b) SPLBoost with four regularisers, λ = {AGE:g}")
    return figure


def draw_losses() -> Any:
    """Figure 2: (a) losses, and latent ones at five ages; (b) of four regularisers."""
    figure, (left, right) = _two_panels()
    LossDisplay.from_losses(LOSSES, paces=_linear_paces("SPLBoost"), ax=left)
    _recolour(left, {loss: LOOKS[booster][0] for loss, booster in BOOSTER_OF.items()})
    LossDisplay.from_losses([], paces=_regularisers(), ax=right)
    left.set_title("(a) Losses; SPLBoost's with linear weighting")
    right.set_title(f"(b) SPLBoost's with four regularisers, λ = {AGE:g}")
    return figure


def _two_panels() -> Any:
    figure = make_figure(*SIZE)
    return figure, figure.subplots(1, 2)


def _recolour(axes: Any, colours: dict[str, str]) -> None:
    """Colours as in the other figures; SPLBoost's are paler, the lower the age."""
    ages = zip(_linear_paces("SPLBoost"), range(1, len(AGES) + 1), strict=True)
    shades: dict[str, Any] = dict(colours)
    shades |= {name: tint(BLUE, 0.35 + 0.13 * k) for name, k in ages}
    legend = axes.get_legend()
    keys = zip(legend.get_lines(), legend.get_texts(), strict=True)
    lines = [(line, line.get_label()) for line in axes.get_lines()]
    for line, label in [*lines, *((line, text.get_text()) for line, text in keys)]:
        if label in shades:
            line.set_color(shades[label])


def _linear_paces(name: str) -> dict[str, Linear]:
    return {f"{name}, λ = {age:g}": Linear(age=age) for age in AGES}


def _regularisers() -> dict[str, Any]:
    return {
        "hard": Hard(age=AGE),
        "linear": Linear(age=AGE),
        "polynomial, t = 4": Polynomial(age=AGE, t=4.0),
        "polynomial, t = 1.3": Polynomial(age=AGE, t=1.3),
    }
