"""The paces (self-paced regularisers) in closed form."""

from __future__ import annotations

import numpy as np


def pace_weight(kind, loss, age, *, t=None, gamma=None, zeta=0.1) -> np.ndarray:
    """Optimal sample weight v*(age; loss) of a self-paced regulariser.

    This is the closed-form argmin over v in [0, 1] of ``v * loss + penalty(v)``. The
    mixture with a fixed gamma tends to ``min(1, gamma / sqrt(loss))`` for an infinite
    age, every other pace to 1; gamma=None means gamma=age. The age of the logarithmic
    pace is its cut-off, zeta its shape.
    """
    loss = np.asarray(loss, dtype=float)
    if kind == "none":
        return np.ones_like(loss)
    if kind == "hard":
        return (loss < age).astype(float)
    if kind == "linear":
        return np.maximum(0.0, 1.0 - loss / age)
    if kind == "polynomial":
        return np.maximum(0.0, 1.0 - loss / age) ** (1.0 / (t - 1.0))
    if kind == "mixture":
        gamma = age if gamma is None else gamma
        with np.errstate(divide="ignore"):
            return np.clip(gamma * (1.0 / np.sqrt(loss) - 1.0 / age), 0.0, 1.0)
    if kind == "logarithmic":
        inside = np.log(zeta + (1.0 - zeta) * loss / age) / np.log(zeta)
        return np.where(loss < age, inside, 0.0)
    raise ValueError(f"unknown pace {kind!r}")


def pace_latent(kind, loss, age, *, t=None, gamma=None, zeta=0.1) -> np.ndarray:
    """Latent loss of a pace: the integral of v*(age; s) over s from 0 to loss.

    Closed forms; flat (the plateau) beyond the cut-off. An infinite age gives the loss
    itself, for the mixture with a fixed gamma ``2 gamma sqrt(loss) - gamma**2`` above
    ``gamma**2``.
    """
    loss = np.asarray(loss, dtype=float)
    if kind == "none":
        return loss.copy()
    if kind == "mixture":
        return _mixture_latent(loss, age, age if gamma is None else gamma)
    if np.isinf(age):
        return loss.copy()
    if kind == "hard":
        return np.minimum(loss, age)
    if kind == "linear":
        short = np.minimum(loss, age)
        return short - short**2 / (2.0 * age)
    if kind == "polynomial":
        rest = np.maximum(0.0, 1.0 - loss / age)
        return age * (t - 1.0) / t * (1.0 - rest ** (t / (t - 1.0)))
    if kind == "logarithmic":
        s = (1.0 - zeta) * np.minimum(loss, age) / age
        numerator = (s + zeta) * np.log(s + zeta) - s - zeta * np.log(zeta)
        return age / (1.0 - zeta) * numerator / np.log(zeta)
    raise ValueError(f"unknown pace {kind!r}")


def _mixture_latent(loss: np.ndarray, age: float, gamma: float) -> np.ndarray:
    """Latent loss of the mixture pace: linear, then a square-root piece, then flat."""
    if np.isinf(gamma):
        return loss.copy()
    knee = 1.0 / (1.0 / age + 1.0 / gamma)  # age gamma / (age + gamma), age may be inf
    short = np.minimum(loss, age**2)
    middle = gamma * (2.0 * np.sqrt(short) - short / age) - gamma * knee
    return np.where(loss <= knee**2, loss, middle)


def pace_penalty(kind, v, age, *, t=None, gamma=None, zeta=0.1) -> np.ndarray:
    """Self-paced regulariser, the function of v added to ``v * loss`` (finite age)."""
    v = np.asarray(v, dtype=float)
    if kind == "none":
        return np.zeros_like(v)
    if kind == "hard":
        return -age * v
    if kind == "linear":
        return age * (v**2 / 2.0 - v)
    if kind == "polynomial":
        return age * (v**t / t - v)
    if kind == "mixture":
        gamma = age if gamma is None else gamma
        return gamma**2 / (v + gamma / age)
    if kind == "logarithmic":
        return age / (1.0 - zeta) * (zeta * v - zeta**v / np.log(zeta))
    raise ValueError(f"unknown pace {kind!r}")


def latent_objective(loss, omega, kind, age, shape) -> float:
    """Sum of omega times the latent loss, age being the age of each row."""
    return sum(
        w * float(pace_latent(kind, loss[i], age[i], **shape))
        for i, w in enumerate(omega)
    )


def age_from_plateau(kind, plateau, *, t=None, gamma=None, zeta=0.1) -> float:
    """Age at which the latent loss goes flat at the given height.

    An infinite plateau gives an infinite age; that it stands for v = 1 also in the
    mixture with a fixed gamma is up to the caller (use kind "none").
    """
    if kind == "none" or np.isinf(plateau):
        return np.inf
    if kind == "hard":
        return plateau
    if kind == "linear":
        return 2.0 * plateau
    if kind == "polynomial":
        return plateau * t / (t - 1.0)
    if kind == "mixture" and gamma is None:
        return np.sqrt(2.0 * plateau)
    if kind == "mixture":
        root = np.sqrt(plateau**2 + 4.0 * plateau * gamma**2)
        return (plateau + root) / (2.0 * gamma)
    if kind == "logarithmic":
        return plateau * (1.0 - zeta) / ((1.0 - zeta) / abs(np.log(zeta)) - zeta)
    raise ValueError(f"unknown pace {kind!r}")
