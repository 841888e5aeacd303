"""What is compared: methods, sets, noise, and grids to choose from.

Weak learners are the paper's: C4.5 for what boosts classifiers, CART for what boosts
regressions or, as SavageBoost does, class probabilities. Categories are branches to
C4.5; CART gets a column of 0 and 1 for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from splboost import (
    AdaBoostClassifier,
    LogitBoostClassifier,
    RBoostClassifier,
    RobustBoostClassifier,
    SavageBoostClassifier,
    SPLBoostClassifier,
    SPLForestClassifier,
    spl_path,
)
from splboost.datasets import UCI_CATALOGUE
from splboost.pace import Hard, Linear, Pace, Polynomial
from splboost.paper.draw import Draw
from splboost.selection.arguments import PAPER_AGES, PLATEAUS
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

# -------------------------------------------------------------------------------- names

# What the paper calls lower and upper convex are polynomials below and above the line.
REGULARISERS: Mapping[str, Callable[..., Pace]] = {
    "SPL hard": Hard,
    "SPL linear": Linear,
    "SPL lower convex": partial(Polynomial, t=1.3),
    "SPL upper convex": partial(Polynomial, t=4.0),
}
RIVALS = "AdaBoost", "LogitBoost", "SavageBoost", "RBoost", "RobustBoost"
SPL = tuple(REGULARISERS)
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

# ------------------------------------------------------------------------- the protocol

PAPER_SETS = tuple(name for name, entry in UCI_CATALOGUE.items() if entry.paper)
SMALLEST_SETS = "pb-T-OR-D", "parkinsons", "vc-2classes", "blood", "pima", "titanic"
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
PRESETS = {
    "quick": Protocol(
        sets=(*SMALLEST_SETS, "ringnorm", "twonorm"),
        repeats=2,
        depths=(max(DEPTHS),),
    ),
    "standard": Protocol(repeats=10),
    "full": Protocol(reduced=False),
}


# -------------------------------------------------------------------------- the methods

ROUNDING = 1e-12  # means of the same scores in another order differ by less
MANY_STEPS = 100  # of the inner iteration, which ends when paces settle
LEAST_LEAF = 1e-4  # share of the weight, in CART
THETAS = 0.0, 0.2, 1.0  # of RobustBoost, where the protocol does not say


class Fitted(NamedTuple):
    """A booster fitted to all training rows, and how it was chosen."""

    model: Any
    cv_error: float | None  # mean over the folds of what was chosen; None if nothing
    n_estimators: int | None  # rounds chosen; None where none were
    chosen: dict[str, float | None]  # the other parameters
    n_fits: int  # boosters fitted on the way, the last one included


class Candidate(NamedTuple):
    """A booster to choose, and its mean accuracy over the folds after each round."""

    booster: Any
    chosen: dict[str, float | None]
    accuracy: NDArray[np.float64]


def choose(candidates: Sequence[Candidate]) -> tuple[Candidate, int, float]:
    """Choose the best candidate and its rounds; also returns its accuracy.

    Ties are broken in favour of fewer rounds, then of shallower trees, then of the
    candidate that comes first.
    """
    accuracy = np.array([each.accuracy for each in candidates])
    ties = np.argwhere(accuracy >= np.nanmax(accuracy) - ROUNDING).tolist()
    row, t = min(ties, key=lambda at: (at[1], candidates[at[0]].chosen["depth"] or 0))
    return candidates[row], t + 1, float(accuracy[row, t])


@dataclass(frozen=True)
class Method:
    """A booster whose rounds and parameters are chosen by cross-validation."""

    booster: Any  # with its weak learner
    # Parameters to choose, of the pace if there is one, else of the booster: the field
    # of the protocol that lists their values, or the values
    grid: Mapping[str, str | Sequence[float]] = field(default_factory=dict)
    pace: Callable[..., Pace] | None = None  # from the parameters
    one_hot: bool = False  # whether categories become columns
    whole_trees: bool = False  # of any depth, instead of those of the protocol
    chooses_itself: bool = False  # as SPLForest does
    definition: int = 1  # one more whenever the same settings give other results

    @property
    def settings(self) -> tuple[str, ...]:
        """Fields of the protocol that a result of this method depends on."""
        if self.chooses_itself:
            return ()
        depths = () if self.whole_trees else ("depths",)
        fields = [values for values in self.grid.values() if isinstance(values, str)]
        return ("rounds", "folds", *depths, *fields)

    def choices(self, protocol: Protocol) -> list[dict[str, float]]:
        """Parameters to choose from, the one first that wins ties.

        These are the mildest pace, and the highest goal of RobustBoost (low ones may
        stall) with the smallest margin.
        """
        lists = [
            sorted(
                getattr(protocol, values) if isinstance(values, str) else values,
                reverse=name != "theta",
            )
            for name, values in self.grid.items()
        ]
        return [dict(zip(self.grid, each, strict=True)) for each in product(*lists)]

    def count_fits(self, protocol: Protocol) -> int:
        """Number of boosters to fit, the final one included."""
        if self.chooses_itself:
            return 60  # as long as it takes
        n_depths = 1 if self.whole_trees else len(protocol.depths)
        return len(self.choices(protocol)) * n_depths * protocol.folds + 1

    def fit(
        self, draw: Draw, protocol: Protocol, *, all_rounds: bool = False
    ) -> Fitted:
        """Choose by cross-validation, and fit the choice to all training rows.

        Where categories are to be columns, the draw has them so. With ``all_rounds``
        the rounds are not chosen.
        """
        booster = clone(self.booster).set_params(
            categorical_features=draw.categorical, random_state=draw.seed, n_jobs=1
        )
        if self.chooses_itself:
            return Fitted(booster.fit(draw.X, draw.y), None, None, {}, 1)
        booster.set_params(n_estimators=protocol.rounds)
        candidates = list(self._candidates(booster, draw, protocol))
        if all_rounds:
            last = [each._replace(accuracy=each.accuracy[-1:]) for each in candidates]
            best, _, accuracy = choose(last)
            n_rounds = protocol.rounds
        else:
            best, n_rounds, accuracy = choose(candidates)
        model = best.booster.set_params(n_estimators=n_rounds).fit(draw.X, draw.y)
        n_fits = protocol.folds * len(candidates) + 1
        return Fitted(model, 1 - accuracy, n_rounds, best.chosen, n_fits)

    def _candidates(
        self, booster: Any, draw: Draw, protocol: Protocol
    ) -> Iterator[Candidate]:
        depths = None if self.whole_trees else protocol.depths
        choices = self.choices(protocol)
        # All paces are fitted on one path, and other parameters on one each.
        for together in [choices] if self.pace else [[choice] for choice in choices]:
            paces = [self.pace(**choice) for choice in together] if self.pace else None
            if paces is None:
                booster.set_params(**together[0])
            path = spl_path(
                draw.X,
                draw.y,
                booster=booster,
                plateaus=paces,
                depths=depths,
                cv=draw.folds,
                n_jobs=1,
                random_state=draw.seed,
            )
            for (d, depth), (p, choice) in product(
                enumerate(depths or [None]), enumerate(together)
            ):
                own = clone(booster).set_params(estimator__max_depth=depth)
                if paces is not None:
                    own.set_params(pace=paces[p])
                chosen = {"depth": depth, **dict(sorted(choice.items()))}
                yield Candidate(own, chosen, path.mean[d, p])


_C45 = C45Classifier()
_REGRESSION = CARTRegressor(min_weight_fraction_leaf=LEAST_LEAF)
_PROBABILITIES = CARTClassifier(
    criterion="entropy", min_weight_fraction_leaf=LEAST_LEAF
)


def _spl(
    regulariser: str = ONE_STEP,
    scale: str = "age",
    *,
    tree: Any = _C45,
    inner_steps: int = 1,
    whole_trees: bool = False,
) -> Method:
    return Method(
        SPLBoostClassifier(tree, inner_steps=inner_steps),
        {scale: f"{scale}s"},
        REGULARISERS[regulariser],
        one_hot=tree is not _C45,
        whole_trees=whole_trees,
    )


def _robust(variant: str) -> Method:
    booster = RobustBoostClassifier(_C45, variant=variant)
    return Method(booster, {"theta": "thetas", "epsilon": "epsilons"}, definition=2)


METHODS: Mapping[str, Method] = {
    "AdaBoost": Method(AdaBoostClassifier(_C45)),
    "LogitBoost": Method(LogitBoostClassifier(_REGRESSION), one_hot=True),
    "SavageBoost": Method(SavageBoostClassifier(_PROBABILITIES), one_hot=True),
    "RBoost": Method(RBoostClassifier(_REGRESSION), one_hot=True),
    "RobustBoost": _robust("one-sided"),
    **{name: _spl(name) for name in SPL},
    FOREST: Method(SPLForestClassifier(), chooses_itself=True),
    **{
        named: _spl(name, "plateau")
        for name, named in zip(SPL, PLATEAU_SPL, strict=True)
    },
    UNTIL_CONVERGENCE: _spl(inner_steps=MANY_STEPS),
    GRADIENT_KEPT: Method(
        LogitBoostClassifier(_REGRESSION, z_clip="gradient"), one_hot=True
    ),
    TWO_SIDED: _robust("two-sided"),
    THREE_THETAS: Method(
        RobustBoostClassifier(_C45), {"theta": THETAS, "epsilon": "epsilons"}
    ),
    WHOLE_TREES[0]: Method(AdaBoostClassifier(_C45), whole_trees=True),
    WHOLE_TREES[1]: _spl(whole_trees=True),
    WITH_CART[0]: Method(AdaBoostClassifier(_PROBABILITIES), one_hot=True),
    WITH_CART[1]: _spl(tree=_PROBABILITIES),
}
EXTRAS = tuple(METHODS)[len(PAPER) :]
