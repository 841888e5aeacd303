"""Is a regulariser one? The three conditions, tested on numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from splboost.pace.base import LARGEST, Pace
from splboost.pace.regularisers import resolve_pace


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

    def require(holds: NDArray[np.bool_], rule: str, at: Callable[[int], str]) -> None:
        for i in np.flatnonzero(~holds)[:1]:
            raise ValueError(
                f"{checked!r} is no self-paced regulariser: {rule}, but {at(i)}."
            )

    # (ii) comes first: the latent loss builds on it, and the penalty on both.
    w = np.broadcast_to(np.asarray(checked.weight(x), dtype=np.float64), x.shape)
    values = [f"weight({a:.6g}) = {b:.6g}" for a, b in zip(x, w, strict=True)]
    require(
        (w >= 0) & (w <= 1), "(ii) the weight must lie in [0, 1]", lambda i: values[i]
    )
    require(
        np.diff(w) <= 1e-12,
        "(ii) the weight must not rise with the loss",
        lambda i: f"{values[i]} and {values[i + 1]}",
    )
    # A floor stands still out here, where the slowest of ramps still falls.
    far = np.broadcast_to(checked.weight(np.array([1e150, 1e300])), 2)
    off = ", as its age or plateau is infinite" if checked.is_off else ""
    require(
        far[1:] <= 0.9 * far[:1],
        "(ii) the weight must go to 0 as the loss grows",
        lambda i: f"weight(1e+300) = {far[1]:.6g}{off}",
    )

    latent, integral = checked.latent(x), Pace.latent(checked, x)
    require(
        np.abs(latent - integral) <= 1e-6 * integral,
        "the latent loss must be the integral of the weight",
        lambda i: f"latent({x[i]:.6g}) = {latent[i]:.6g} against {integral[i]:.6g}",
    )

    v = np.linspace(0, 1, 201)
    f = checked.penalty(v)
    chord = f[:-2] / 2 + f[2:] / 2
    size = np.ptp(f[np.isfinite(f)])
    require(
        f[1:-1] <= chord + 1e-9 * size,
        "(i) the penalty must be convex",
        lambda i: (
            f"at v = {v[i + 1]:.6g} it is {f[i + 1]:.6g} over a chord {chord[i]:.6g}"
        ),
    )
    cost = w * x + checked.penalty(w)
    least = np.min(v * x[:, None] + f, axis=1)
    require(
        cost <= least + 1e-6 * (size + x),
        "(i) the weight must minimise v * loss + penalty(v)",
        lambda i: f"{values[i]} makes it {cost[i]:.6g}, another v {least[i]:.6g}",
    )

    params = checked.get_params(deep=False)
    if "age" in params:
        now = getattr(checked, "resolved_age", params["age"])
        ages = (now if now and now < math.inf else 1.0) * np.geomspace(1e-3, 1e3, 13)
        ages = np.concatenate([[1e-100], ages])
        rest = {"plateau": None} if "plateau" in params else {}
        by_age = np.array(
            [clone(checked).set_params(age=a, **rest).weight(x[1:]) for a in ages]
        )
        require(
            by_age[0] <= 0.01,
            "(iii) the weight must go to 0 with the age",
            lambda i: f"weight({x[i + 1]:.6g}) = {by_age[0, i]:.6g} at age 1e-100",
        )
        falls = np.diff(by_age, axis=0).min(axis=0)
        require(
            falls >= -1e-12,
            "(iii) the weight must not fall as the age grows",
            lambda i: (
                f"weight({x[i + 1]:.6g}) falls by {-falls[i]:.6g} from age "
                f"{ages[np.diff(by_age[:, i]).argmin()]:.6g} to the next"
            ),
        )

    return [
        "(i) penalty convex, least at the weight: holds",
        "(ii) weight in [0, 1], falling to 0 with the loss: holds",
        "(iii) weight rising from 0 with the age: "
        + ("holds" if "age" in params else "skipped: no parameter named age"),
        "latent loss the integral of the weight: holds",
    ]
