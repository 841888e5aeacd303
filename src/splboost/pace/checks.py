"""Is a regulariser one? The three conditions, tested on numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from splboost.pace.base import LARGEST, FloatArray, Pace
from splboost.pace.by_class import resolve_pace


@np.errstate(all="ignore")
def check_pace(pace: str | Pace, *, losses: ArrayLike | None = None) -> list[str]:
    """Test whether ``pace`` is a self-paced regulariser, and say where it is not.

    Parameters
    ----------
    pace : str or Pace
        The regulariser, most usefully one of your own.
    losses : array-like, optional
        Where to test; eight decades around the loss of greatest influence if None.

    Returns
    -------
    list of str
        Each condition with "holds", or why it was skipped.

    Raises
    ------
    ValueError
        If a condition fails, with the loss, the age or the v at which it does.

    Examples
    --------
    >>> from splboost.pace import Hard, check_pace
    >>> print(*check_pace(Hard(age=2.0)), sep="\\n")
    (i) penalty convex, least at the weight: holds
    (ii) weight in [0, 1], falling to 0 with the loss: holds
    (iii) weight rising from 0 with the age: holds
    latent loss the integral of the weight: holds
    """
    checked = resolve_pace(pace)
    if checked is None:
        raise TypeError("pace=None has nothing to check; pass a Pace or a short name.")
    if losses is None:
        peak = checked.peak()
        losses = np.geomspace(1e-4, 1e4, 401) * (peak if 0 < peak < 1e300 else 1.0)
    x = np.union1d(0.0, np.asarray(losses, dtype=np.float64))
    if not (x[0] == 0 and x[-1] <= LARGEST):
        raise ValueError(f"losses must be finite and not negative, got {losses!r}.")

    # The weight comes first: the latent loss builds on it, and the penalty on both.
    w = _check_weight(checked, x)
    _check_latent(checked, x)
    _check_penalty(checked, x, w)
    has_age = "age" in checked.get_params(deep=False)
    if has_age:
        _check_age(checked, x[1:])
    return [
        "(i) penalty convex, least at the weight: holds",
        "(ii) weight in [0, 1], falling to 0 with the loss: holds",
        "(iii) weight rising from 0 with the age: "
        + ("holds" if has_age else "skipped: no parameter named age"),
        "latent loss the integral of the weight: holds",
    ]


def _require(
    pace: Pace, holds: NDArray[np.bool_], rule: str, at: Callable[[int], str]
) -> None:
    for i in np.flatnonzero(~holds)[:1]:
        raise ValueError(f"{pace!r} is no self-paced regulariser: {rule}, but {at(i)}.")


def _check_weight(pace: Pace, x: FloatArray) -> FloatArray:
    """Condition (ii); returns the weights."""
    w = np.broadcast_to(np.asarray(pace.weight(x), dtype=np.float64), x.shape)

    def value(i: int) -> str:
        return f"weight({x[i]:.6g}) = {w[i]:.6g}"

    _require(pace, (w >= 0) & (w <= 1), "(ii) the weight must lie in [0, 1]", value)
    _require(
        pace,
        np.diff(w) <= 1e-12,
        "(ii) the weight must not rise with the loss",
        lambda i: f"{value(i)} and {value(i + 1)}",
    )
    # A floor stands still out here, where the slowest of ramps still falls.
    far = np.broadcast_to(pace.weight(np.array([1e150, 1e300])), 2)
    off = ", as its age or plateau is infinite" if pace.is_off else ""
    _require(
        pace,
        far[1:] <= 0.9 * far[:1],
        "(ii) the weight must go to 0 as the loss grows",
        lambda i: f"weight(1e+300) = {far[1]:.6g}{off}",
    )
    return w


def _check_latent(pace: Pace, x: FloatArray) -> None:
    latent, integral = pace.latent(x), Pace.latent(pace, x)
    _require(
        pace,
        np.abs(latent - integral) <= 1e-6 * integral,
        "the latent loss must be the integral of the weight",
        lambda i: f"latent({x[i]:.6g}) = {latent[i]:.6g} against {integral[i]:.6g}",
    )


def _check_penalty(pace: Pace, x: FloatArray, w: FloatArray) -> None:
    """Condition (i)."""
    v = np.linspace(0, 1, 201)
    f = pace.penalty(v)
    chord = f[:-2] / 2 + f[2:] / 2
    size = np.ptp(f[np.isfinite(f)])
    _require(
        pace,
        f[1:-1] <= chord + 1e-9 * size,
        "(i) the penalty must be convex",
        lambda i: (
            f"at v = {v[i + 1]:.6g} it is {f[i + 1]:.6g} over a chord {chord[i]:.6g}"
        ),
    )
    cost = w * x + pace.penalty(w)
    least = np.min(v * x[:, None] + f, axis=1)
    _require(
        pace,
        cost <= least + 1e-6 * (size + x),
        "(i) the weight must minimise v * loss + penalty(v)",
        lambda i: (
            f"weight({x[i]:.6g}) = {w[i]:.6g} makes it {cost[i]:.6g}, "
            f"another v {least[i]:.6g}"
        ),
    )


def _check_age(pace: Pace, x: FloatArray) -> None:
    """Condition (iii)."""
    params = pace.get_params(deep=False)
    now = getattr(pace, "resolved_age", params["age"])
    ages = (now if now and now < math.inf else 1.0) * np.geomspace(1e-3, 1e3, 13)
    ages = np.concatenate([[1e-100], ages])
    rest = {"plateau": None} if "plateau" in params else {}
    w = np.array([clone(pace).set_params(age=a, **rest).weight(x) for a in ages])
    _require(
        pace,
        w[0] <= 0.01,
        "(iii) the weight must go to 0 with the age",
        lambda i: f"weight({x[i]:.6g}) = {w[0, i]:.6g} at age 1e-100",
    )
    falls = np.diff(w, axis=0).min(axis=0)
    _require(
        pace,
        falls >= -1e-12,
        "(iii) the weight must not fall as the age grows",
        lambda i: (
            f"weight({x[i]:.6g}) falls by {-falls[i]:.6g} from age "
            f"{ages[np.diff(w[:, i]).argmin()]:.6g} to the next"
        ),
    )
