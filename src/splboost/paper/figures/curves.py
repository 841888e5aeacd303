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
from splboost.pace import Hard, Linear, Polynomial
from splboost.paper.figures.looks import make_figure

AGES = 2.0, 3.0, 4.0, 5.0, 6.0
AGE = 3.0  # where regularisers are compared
LOSSES = {
    "exponential": "exponential",
    "logistic": "logistic",
    "Savage": "savage",
    "Savage2": "savage2",
    "zero-one": "zero-one",
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
    WeightDisplay.from_losses([], paces=_regularisers(), ax=right)
    left.set_title("(a) Boosters; SPLBoost with linear weighting")
    right.set_title(f"(b) SPLBoost with four regularisers, λ = {AGE:g}")
    return figure


def draw_losses() -> Any:
    """Figure 2: (a) losses, and latent ones at five ages; (b) of four regularisers."""
    figure, (left, right) = _two_panels()
    LossDisplay.from_losses(LOSSES, paces=_linear_paces("SPLBoost"), ax=left)
    LossDisplay.from_losses([], paces=_regularisers(), ax=right)
    left.set_title("(a) Losses; SPLBoost's with linear weighting")
    right.set_title(f"(b) SPLBoost's with four regularisers, λ = {AGE:g}")
    return figure


def _two_panels() -> Any:
    figure = make_figure(*SIZE)
    return figure, figure.subplots(1, 2)


def _linear_paces(name: str) -> dict[str, Linear]:
    return {f"{name}, λ = {age:g}": Linear(age=age) for age in AGES}


def _regularisers() -> dict[str, Any]:
    return {
        "hard": Hard(age=AGE),
        "linear": Linear(age=AGE),
        "polynomial, t = 4": Polynomial(age=AGE, t=4.0),
        "polynomial, t = 1.3": Polynomial(age=AGE, t=1.3),
    }
