"""RobustBoost and BrownBoost, whose loss changes with the time that is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc, erfinv

from reference.boosting import tree_learner
from reference.margins import signs
from reference.rivals import Rival, Step, Stop, fit_weighted, run_columns, set_up

N_TIMES = 50
STEP_GRID = np.linspace(0.0, 8.0, 161)


@dataclass
class RobustPotential:
    """The potential of RobustBoost at time t, which runs from 0 to 1.

    Two-sided: erfc(a) / 2 with a = (m - mu(t)) / sigma(t), weight exp(-a^2). One-sided:
    min(1, erfc(a)), weight 0 for m <= mu(t). rho makes the potential of m = 0 at t = 0
    the target error epsilon.
    """

    epsilon: float
    theta: float = 0.0
    sigma_final: float = 0.1
    variant: str = "one-sided"
    end: float = 1.0

    @property
    def rho(self) -> float:
        sides = 1.0 if self.variant == "one-sided" else 2.0
        width = float(self.sigma(0.0) * erfinv(1.0 - sides * self.epsilon))
        return (np.e * self.theta + width) / (2.0 * (np.e - 1.0))

    def mu(self, t) -> float:
        return (self.theta - 2.0 * self.rho) * np.exp(1.0 - t) + 2.0 * self.rho

    def sigma(self, t) -> float:
        return np.sqrt((self.sigma_final**2 + 1.0) * np.exp(2.0 * (1.0 - t)) - 1.0)

    def value(self, m, t) -> np.ndarray:
        a = (m - self.mu(t)) / self.sigma(t)
        if self.variant == "one-sided":
            return np.minimum(1.0, erfc(a))
        return 0.5 * erfc(a)

    def log_weight(self, m, t) -> np.ndarray:
        a = (m - self.mu(t)) / self.sigma(t)
        if self.variant == "one-sided":
            return np.where(a > 0.0, -(a**2), -np.inf)
        return -(a**2)

    def decay(self, dt) -> float:
        return np.exp(-dt)


@dataclass
class BrownPotential:
    """The potential of BrownBoost; the time t runs from 0 to c, c - t remains.

    c = erfinv(1 - epsilon)^2, potential 1 - erf((m + c - t) / sqrt(c)), epsilon for
    m = 0 at t = 0.
    """

    epsilon: float

    @property
    def end(self) -> float:
        return float(erfinv(1.0 - self.epsilon)) ** 2

    def value(self, m, t) -> np.ndarray:
        return erfc((m + self.end - t) / np.sqrt(self.end))

    def log_weight(self, m, t) -> np.ndarray:
        return -((m + self.end - t) ** 2) / self.end

    def decay(self, dt) -> float:
        return 1.0


def smallest_potential(potential, m, u, omega, t, size) -> tuple[float, float]:
    """The smallest sum of omega * potential(m + ds u) for ds in [0, 8], and its ds.

    Every valley of a grid is refined to a root of the slope, which is minus the sum of
    omega w u, where one lies next to it. Sums closer than 1e-10 n are equal, and the
    first of equals counts: where the sum goes flat, the first grid point of the flat.
    """
    tie = 1e-10 * size

    def total(ds):
        return potential.value(m + np.multiply.outer(ds, u), t) @ omega

    def descent(ds):
        log_weight = potential.log_weight(m + np.multiply.outer(ds, u), t)
        return np.exp(log_weight) @ (omega * u)

    totals = np.concatenate([[np.inf], total(STEP_GRID), [np.inf]])
    best, best_ds = np.inf, 0.0
    for i in range(STEP_GRID.size):
        before, here, after = totals[i : i + 3]
        if before - tie > here and here <= after + tie:
            ds = valley_floor(descent, i)
            if total(ds) < best - tie:
                best, best_ds = total(ds), ds
    return best, best_ds


def valley_floor(descent: Callable, i: int) -> float:
    """Where the way down from grid point i ends before the next point; i itself if not.

    The cell may hold several waves, so that it is cut in 64 parts.
    """
    here = descent(STEP_GRID[i])
    j = i + 1 if here > 0.0 else i - 1
    if here == 0.0 or not 0 <= j < STEP_GRID.size:
        return STEP_GRID[i]
    parts = np.linspace(STEP_GRID[i], STEP_GRID[j], 65)
    turned = descent(parts) * here < 0.0
    if not turned.any():
        return STEP_GRID[i]
    first = int(np.argmax(turned))
    return bisect(lambda ds: descent(ds) * here > 0.0, parts[first - 1], parts[first])


def bisect(is_before: Callable, low: float, high: float) -> float:
    """The place between low and high where is_before turns from true to false."""
    while True:
        middle = (low + high) / 2.0
        if middle in (low, high):
            return middle
        if is_before(middle):
            low = middle
        else:
            high = middle


def solve_step(potential, m, u, omega, t, size) -> tuple[float, float]:
    """The step ds and the time dt that keep the total potential, dt the smallest.

    With m' = decay(dt) m + ds u at t + dt: the sum of omega w(m') u is zero, and that
    of omega potential(m') what it is now. If it is no larger until the end of time, but
    for 1e-12 n, the step leads there. Stops if no step lowers it now ("no edge"), or
    the time is below 1e-7 of the whole ("stuck").
    """
    now = omega @ potential.value(m, t)

    def smallest(dt):
        moved = potential.decay(dt) * m
        return smallest_potential(potential, moved, u, omega, t + dt, size)

    def excess(dt):
        return smallest(dt)[0] - now

    if excess(0.0) > -1e-12 * size:
        raise Stop("no edge")
    before = 0.0
    for dt in np.linspace(0.0, potential.end - t, N_TIMES + 1)[1:]:
        if excess(dt) > 1e-12 * size:
            dt = bisect(lambda dt: excess(dt) < 0.0, before, dt)
            break
        before = dt
    if dt < 1e-7 * potential.end:
        raise Stop("stuck")
    return float(smallest(dt)[1]), float(dt)


class NoPace:
    """These boosters have no pace; nor is there a latent objective."""

    def weight(self, F, n_rounds: int) -> np.ndarray:
        return np.ones(len(F))

    def latent(self, F) -> float:
        return np.nan


def potential_boost(X, y, potential, weak, **options) -> Rival:
    """Boost with a potential that depends on the time.

    F becomes decay(dt) F + ds h, with h = +-1 a classifier fitted with the weights of
    the potential. It ends when less than 1e-3 of the time is left ("finished"), and
    without adding if no row has a weight ("no sample selected"), without edge or stuck.
    More than two classes: each against the rest, with a time of its own. Details: t
    after the round, ds, dt, and the sum of omega times the potential (potential).
    """
    s = set_up(X, y, **options)
    if weak is None:
        weak = tree_learner(max_depth=1, n_classes=2)

    def make_step():
        t = 0.0

        def step(y, F, v, rows, first) -> Step:
            nonlocal t
            m = signs(y) * F
            log_weight = potential.log_weight(m, t)
            predict = fit_weighted(s, weak, y, y, log_weight, v, rows, True)
            u = signs(y) * signs(predict(s.X))
            ds, dt = solve_step(potential, m, u, s.omega, t, s.size)
            decay = potential.decay(dt)
            t += dt
            total = float(s.omega @ potential.value(decay * m + ds * u, t))
            finished = potential.end - t < 1e-3 * potential.end
            return Step(
                lambda X: ds * signs(predict(X)),
                predict,
                "finished" if finished else None,
                decay,
                {"t": t, "ds": ds, "dt": dt, "potential": total},
            )

        return step

    return run_columns(s, make_step, NoPace())


def robust_boost(
    X,
    y,
    *,
    epsilon: float = 0.1,
    theta: float = 0.0,
    sigma_final: float = 0.1,
    variant: str = "one-sided",
    weak: Callable | None = None,
    **options,
) -> Rival:
    """RobustBoost: see RobustPotential and ``potential_boost``. Constants: rho.

    It takes no learning rate and no pace.
    """
    potential = RobustPotential(epsilon, theta, sigma_final, variant)
    if potential.rho <= 0.0:
        raise ValueError(f"epsilon={epsilon} is so large that rho is not positive")
    out = potential_boost(X, y, potential, weak, **options)
    out.constants["rho"] = potential.rho
    return out


def brown_boost(
    X, y, *, epsilon: float, weak: Callable | None = None, **options
) -> Rival:
    """BrownBoost: see BrownPotential and ``potential_boost``. Constants: c.

    It takes no learning rate and no pace. Remaining time: c less the t of the details.
    """
    potential = BrownPotential(epsilon)
    out = potential_boost(X, y, potential, weak, **options)
    out.constants["c"] = potential.end
    return out
