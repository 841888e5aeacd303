"""What the experiment compares: methods, sets, noise, and grids to choose from."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from splboost.datasets import UCI_CATALOGUE
from splboost.selection.grid import PAPER_AGES, PLATEAUS

# Methods, as the table of results has them: those of the paper, and others
RIVALS = "AdaBoost", "LogitBoost", "SavageBoost", "RBoost", "RobustBoost"
REGULARISERS = "hard", "linear", "lower convex", "upper convex"
SPL = tuple(f"SPL {regulariser}" for regulariser in REGULARISERS)
PAPER = (*RIVALS, *SPL)

FOREST = "SPLForest"
PLATEAU_SPL = tuple(f"{name} (plateau)" for name in SPL)
ONE_STEP = "SPL hard"
UNTIL_CONVERGENCE = "SPL hard until convergence"
GRADIENT_KEPT = "LogitBoost (gradient kept)"
TWO_SIDED = "RobustBoost (two-sided)"
THREE_THETAS = "RobustBoost (three θ)"
WHOLE_TREES = "AdaBoost (whole trees)", "SPL hard (whole trees)"
WITH_CART = "AdaBoost (CART)", "SPL hard (CART)"
EXTRAS = (
    FOREST,
    *PLATEAU_SPL,
    UNTIL_CONVERGENCE,
    GRADIENT_KEPT,
    TWO_SIDED,
    THREE_THETAS,
    *WHOLE_TREES,
    *WITH_CART,
)

PAPER_SETS = tuple(name for name, entry in UCI_CATALOGUE.items() if entry.paper)
NOISE = 0, 5, 10, 20, 30
EPSILONS = 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4
DEPTHS = 1, 2, 3
SMALL, LARGE = "small", "large"
MOST_ROWS = 8000  # of a small set
LARGE_AGES = 1.0, 1.5, 2.0, 3.0, 4.0, 6.0
LARGE_REPEATS = 3
# Of each field that lists values: which may be among them, and what to give
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "sets": (lambda name: True, "names"),
    "noise": (
        lambda percent: 0 <= percent <= 100 and percent == int(percent),
        "whole percentages from 0 to 100, such as 0,20",
    ),
    "depths": (
        lambda depth: depth >= 1 and depth == int(depth),
        "depths of trees, whole numbers from 1 on, such as 1,2,3",
    ),
    "ages": (lambda age: 0 < age < math.inf, "numbers above 0"),
    "plateaus": (lambda plateau: plateau > 0, "numbers above 0"),
    "epsilons": (lambda error: 0 < error < 1, "numbers above 0 and below 1"),
    "thetas": (math.isfinite, "numbers"),
}


@dataclass(frozen=True)
class Protocol:
    """The settings of the experiment on the UCI sets.

    Attributes
    ----------
    sets : tuple of str
        Names of data sets, as in ``splboost.datasets.UCI_CATALOGUE``.
    noise : tuple of int
        Percentages of training labels that are turned.
    repeats : int
        Draws of each set and noise.
    first_seed : int
        That of the first repeat; the others follow.
    rounds : int
        Most rounds of a booster.
    folds : int
        Of the cross-validation that chooses rounds and parameters.
    ages : tuple of float
        λ of SPLBoost to choose from.
    plateaus : tuple of float
        The same for the variants on the scale that the regularisers share.
    epsilons, thetas : tuple of float
        Parameters of RobustBoost to choose from.
    depths : tuple of int
        Depths of trees to choose from.
    reduced : bool
        Whether sets of more than 8 000 rows get less: the ages 1, 1.5, 2, 3, 4 and 6,
        the deepest of the trees alone, and at most 3 repeats.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from splboost.paper.protocol import PRESETS
    >>> protocol = replace(PRESETS["standard"], sets=("pima", "adult"))
    >>> [protocol.for_set(name).repeats for name in protocol.sets]
    [10, 3]
    """

    sets: tuple[str, ...] = PAPER_SETS
    noise: tuple[int, ...] = NOISE
    repeats: int = 50
    first_seed: int = 0
    rounds: int = 200
    folds: int = 5
    ages: tuple[float, ...] = PAPER_AGES
    plateaus: tuple[float, ...] = PLATEAUS
    epsilons: tuple[float, ...] = EPSILONS
    thetas: tuple[float, ...] = (0.0,)
    depths: tuple[int, ...] = DEPTHS
    reduced: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.sets, str):
            raise ValueError(
                f"sets={self.sets!r} is a string; give a tuple of names, such as "
                f"({self.sets!r},)."
            )
        for name in self.sets:
            if name not in UCI_CATALOGUE:
                raise ValueError(
                    f"sets={name!r} is unknown; the data sets are "
                    f"{', '.join(UCI_CATALOGUE)}."
                )
            if self.sets.count(name) > 1:
                raise ValueError(f"sets names {name!r} twice; name each set once.")
        for name, least in (("repeats", 1), ("rounds", 1), ("folds", 2)):
            value = getattr(self, name)
            if value < least or value != int(value):
                raise ValueError(
                    f"{name}={value} is none; give a whole number from {least} on."
                )
        for name, (allowed, remedy) in _ALLOWED.items():
            values = getattr(self, name)
            if not values:
                raise ValueError(f"{name}: none is given; give one at least.")
            for value in values:
                if not allowed(value):
                    raise ValueError(f"{name}={value} cannot be; give {remedy}.")

    def kind(self, name: str) -> str:
        """ "large" where a set gets less than the others, else "small"."""
        is_large = self.reduced and UCI_CATALOGUE[name].rows > MOST_ROWS
        return LARGE if is_large else SMALL

    def for_set(self, name: str) -> Protocol:
        """The protocol of one of the sets."""
        own = replace(self, sets=(name,))
        if self.kind(name) == SMALL:
            return own
        return replace(
            own,
            repeats=min(self.repeats, LARGE_REPEATS),
            ages=tuple(age for age in self.ages if age in LARGE_AGES) or self.ages,
            depths=(max(self.depths),),
        )

    @property
    def seeds(self) -> range:
        """A seed for each repeat."""
        return range(self.first_seed, self.first_seed + self.repeats)


# "full" has the results of "standard", but for large sets.
PRESETS = MappingProxyType(
    {
        "quick": Protocol(
            sets=(
                "pb-T-OR-D",
                "parkinsons",
                "vc-2classes",
                "blood",
                "pima",
                "titanic",
                "ringnorm",
                "twonorm",
            ),
            repeats=2,
            depths=(max(DEPTHS),),
        ),
        "standard": Protocol(repeats=10),
        "full": Protocol(reduced=False),
    }
)
