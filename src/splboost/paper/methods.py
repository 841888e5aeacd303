"""The boosters that the paper compares, and how their parameters are chosen.

The weak learners are the paper's: C4.5 for what boosts classifiers, CART for what
boosts regressions or, as SavageBoost does, class probabilities. Categories are branches
to C4.5; CART gets a column of 0 and 1 for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from types import MappingProxyType
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
from splboost.pace import Hard, Linear, Pace, Polynomial
from splboost.paper.draw import Draw
from splboost.paper.protocol import (
    FOREST,
    GRADIENT_KEPT,
    ONE_STEP,
    PLATEAU_SPL,
    SPL,
    THREE_THETAS,
    TWO_SIDED,
    UNTIL_CONVERGENCE,
    WHOLE_TREES,
    WITH_CART,
    Protocol,
)
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

ROUNDING = 1e-12  # means of the same scores in another order differ by less
MANY_STEPS = 100  # of the inner iteration, which ends when paces settle
LEAST_LEAF = 1e-4  # share of the weight, in CART
THETAS = 0.0, 0.2, 1.0  # of RobustBoost, where the protocol does not say
AGE, PLATEAU = "age", "plateau"
# What the paper calls lower and upper convex are polynomials below and above the line.
REGULARISERS: Mapping[str, Callable[..., Pace]] = MappingProxyType(
    dict(
        zip(
            SPL,
            (Hard, Linear, partial(Polynomial, t=1.3), partial(Polynomial, t=4.0)),
            strict=True,
        )
    )
)


class Fitted(NamedTuple):
    """A booster fitted to all training rows, and how it was chosen.

    Attributes
    ----------
    model : with ``predict``
    cv_error : mean error of the choice over the folds; None where none was made
    n_estimators : rounds chosen; None where none were
    chosen : the other parameters
    n_fits : boosters fitted on the way, the last one included
    """

    model: Any
    cv_error: float | None
    n_estimators: int | None
    chosen: dict[str, float | None]
    n_fits: int


class Candidate(NamedTuple):
    """A booster to choose, and its mean accuracy over the folds after each round."""

    booster: Any
    chosen: dict[str, float | None]
    accuracy: NDArray[np.float64]


def choose(candidates: Sequence[Candidate]) -> tuple[Candidate, int, float]:
    """The best, its rounds, and its accuracy.

    Of equals it is the one of fewest rounds, of these that of the least deep trees, and
    of these the first.
    """
    accuracy = np.array([each.accuracy for each in candidates])
    best = np.nanmax(accuracy)
    rows, rounds = np.nonzero(accuracy >= best - ROUNDING)
    depths = np.array([each.chosen["depth"] or 0 for each in candidates])
    first = np.lexsort((rows, depths[rows], rounds))[0]
    row, t = rows[first], rounds[first]
    return candidates[row], int(t) + 1, float(accuracy[row, t])


@dataclass(frozen=True)
class Method:
    """A booster whose rounds and parameters are chosen by cross-validation.

    Attributes
    ----------
    booster : with its weak learner
    takes : fields of the protocol that the result depends on
    one_hot : whether categories become columns
    parameters : function of the protocol: settings of the booster to compare
    paces : function of the protocol: paces to compare, by what the choice is called;
        None for a booster without
    whole_trees : whether they may be of any depth, instead of those of the protocol
    """

    booster: Any
    takes: tuple[str, ...] = ()
    one_hot: bool = False
    parameters: Callable[[Protocol], Sequence[dict[str, float]]] = lambda protocol: [{}]
    paces: Callable[[Protocol], Sequence[tuple[dict[str, float], Pace]]] | None = None
    whole_trees: bool = False
    definition: int = 1  # one more whenever the same settings give other results

    @property
    def settings(self) -> tuple[str, ...]:
        """Fields of the protocol that a result depends on."""
        depths = () if self.whole_trees else ("depths",)
        return ("rounds", "folds", *depths, *self.takes)

    def count_fits(self, protocol: Protocol) -> int:
        """Boosters to fit, the last one included."""
        n_paces = 1 if self.paces is None else len(self.paces(protocol))
        n_depths = 1 if self.whole_trees else len(protocol.depths)
        n_settings = n_paces * len(self.parameters(protocol)) * n_depths
        return n_settings * protocol.folds + 1

    def grids(self, protocol: Protocol) -> dict[str, list[float]]:
        """What the parameters are chosen from, by their names."""
        named = [] if self.paces is None else [each for each, _ in self.paces(protocol)]
        found: dict[str, list[float]] = {}
        for settings in (*self.parameters(protocol), *named):
            for name, value in settings.items():
                found.setdefault(name, []).append(value)
        return found

    def fit(self, draw: Draw, protocol: Protocol) -> Fitted:
        """Choose, and fit what was chosen to all training rows.

        Where categories are to be columns, the draw has them so.
        """
        candidates = list(self._candidates(draw, protocol))
        best, n_rounds, accuracy = choose(candidates)
        model = best.booster.set_params(n_estimators=n_rounds).fit(draw.X, draw.y)
        n_fits = protocol.folds * len(candidates) + 1
        return Fitted(model, 1 - accuracy, n_rounds, best.chosen, n_fits)

    def _candidates(self, draw: Draw, protocol: Protocol) -> Iterator[Candidate]:
        depths = None if self.whole_trees else protocol.depths
        paces: Sequence[tuple[dict[str, float], Pace | None]] = [({}, None)]
        if self.paces is not None:
            paces = self.paces(protocol)
        for parameters in self.parameters(protocol):
            booster = clone(self.booster).set_params(
                n_estimators=protocol.rounds,
                categorical_features=draw.categorical,
                random_state=draw.seed,
                n_jobs=1,
                **parameters,
            )
            path = spl_path(
                draw.X,
                draw.y,
                booster=booster,
                plateaus=None if self.paces is None else [pace for _, pace in paces],
                depths=depths,
                cv=draw.folds,
                n_jobs=1,
                random_state=draw.seed,
            )
            for (d, depth), (p, (named, pace)) in product(
                enumerate(depths or [None]), enumerate(paces)
            ):
                own = clone(booster).set_params(estimator__max_depth=depth)
                if pace is not None:
                    own.set_params(pace=pace)
                chosen = {"depth": depth, **parameters, **named}
                yield Candidate(own, chosen, path.mean[d, p])


@dataclass(frozen=True)
class Forest:
    """The classifier that chooses by itself."""

    one_hot: bool = False
    settings: tuple[str, ...] = ()
    definition: int = 1

    def count_fits(self, protocol: Protocol) -> int:
        """How many fits of a booster it takes as long as."""
        return 60

    def grids(self, protocol: Protocol) -> dict[str, list[float]]:
        """None are the protocol's."""
        return {}

    def fit(self, draw: Draw, protocol: Protocol) -> Fitted:
        """Fit it to all training rows."""
        model = SPLForestClassifier(
            categorical_features=draw.categorical, random_state=draw.seed, n_jobs=1
        )
        return Fitted(model.fit(draw.X, draw.y), None, None, {}, 1)


_C45 = C45Classifier()
_REGRESSION = CARTRegressor(min_weight_fraction_leaf=LEAST_LEAF)
_PROBABILITIES = CARTClassifier(
    criterion="entropy", min_weight_fraction_leaf=LEAST_LEAF
)


def _goals(
    protocol: Protocol, thetas: Sequence[float] | None = None
) -> list[dict[str, float]]:
    """The highest first, which of equals is then chosen: low ones may get stuck."""
    epsilons = sorted(protocol.epsilons, reverse=True)
    return [
        {"epsilon": epsilon, "theta": theta}
        for theta, epsilon in product(thetas or protocol.thetas, epsilons)
    ]


def _paces(
    regulariser: Callable[..., Pace], scale: str, protocol: Protocol
) -> list[tuple[dict[str, float], Pace]]:
    """The mildest first, which of equals is then chosen."""
    values = protocol.ages if scale == AGE else protocol.plateaus
    return [
        ({scale: value}, regulariser(**{scale: value}))
        for value in sorted(values, reverse=True)
    ]


def _spl(
    regulariser: Callable[..., Pace],
    scale: str,
    inner_steps: int = 1,
    whole_trees: bool = False,
    tree: Any = _C45,
) -> Method:
    return Method(
        SPLBoostClassifier(tree, inner_steps=inner_steps),
        takes=(f"{scale}s",),
        one_hot=tree is not _C45,
        paces=partial(_paces, regulariser, scale),
        whole_trees=whole_trees,
    )


def _robust(variant: str) -> Method:
    return Method(
        RobustBoostClassifier(_C45, variant=variant),
        takes=("epsilons", "thetas"),
        parameters=_goals,
        definition=2,
    )


METHODS: Mapping[str, Method | Forest] = MappingProxyType(
    {
        "AdaBoost": Method(AdaBoostClassifier(_C45)),
        "LogitBoost": Method(LogitBoostClassifier(_REGRESSION), one_hot=True),
        "SavageBoost": Method(SavageBoostClassifier(_PROBABILITIES), one_hot=True),
        "RBoost": Method(RBoostClassifier(_REGRESSION), one_hot=True),
        "RobustBoost": _robust("one-sided"),
        **{name: _spl(REGULARISERS[name], AGE) for name in SPL},
        FOREST: Forest(),
        **{
            named: _spl(REGULARISERS[name], PLATEAU)
            for name, named in zip(SPL, PLATEAU_SPL, strict=True)
        },
        UNTIL_CONVERGENCE: _spl(REGULARISERS[ONE_STEP], AGE, MANY_STEPS),
        GRADIENT_KEPT: Method(
            LogitBoostClassifier(_REGRESSION, z_clip="gradient"), one_hot=True
        ),
        TWO_SIDED: _robust("two-sided"),
        THREE_THETAS: Method(
            RobustBoostClassifier(_C45),
            takes=("epsilons",),
            parameters=partial(_goals, thetas=THETAS),
        ),
        WHOLE_TREES[0]: Method(AdaBoostClassifier(_C45), whole_trees=True),
        WHOLE_TREES[1]: _spl(REGULARISERS[ONE_STEP], AGE, whole_trees=True),
        WITH_CART[0]: Method(AdaBoostClassifier(_PROBABILITIES), one_hot=True),
        WITH_CART[1]: _spl(REGULARISERS[ONE_STEP], AGE, tree=_PROBABILITIES),
    }
)
