"""What the rivals of AdaBoost have in common: the rounds, the pace, the columns.

A booster is a step, a function ``step(y, F, v, rows, first)`` that says what one round
adds to the score F. Its y holds the class indices; a step for two classes is made one
for more by boosting each class against the rest, with a column of F for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from reference.boosting import MAX_SKIPPED, fit_weak, kept_rows, normalised
from reference.paces import latent_objective, pace_weight
from reference.trees import fit_tree, predict_proba_tree, predict_tree


class Stop(Exception):
    """Raised by a step that adds nothing; says why."""


@dataclass
class Step:
    """One round: F becomes decay * F + add(X).

    add is None if the round adds nothing. A stop reason ends the run, after adding.
    """

    add: Callable | None = None
    learner: Callable | list | None = None
    stop: str | None = None
    decay: float | np.ndarray = 1.0
    details: dict | list = field(default_factory=dict)


@dataclass
class Rival:
    """What a run leaves behind; the lists have one entry per round that was kept.

    F is the score after the round, (n,) or one column per class; v the weight that the
    next round uses; latent the sum of omega times the latent loss, at the target age.
    learners holds functions of X, or a list with one for each class, None where a class
    got none; adds what the rounds add to the score, decays what they multiply it with
    before. details holds what is special to a booster, one dict per round (one per
    class and round for columns), constants what is fixed for the run.
    """

    start: np.ndarray
    F: list[np.ndarray] = field(default_factory=list)
    v: list[np.ndarray] = field(default_factory=list)
    latent: list[float] = field(default_factory=list)
    learners: list = field(default_factory=list)
    adds: list[Callable] = field(default_factory=list)
    decays: list = field(default_factory=list)
    details: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)
    stop_reason: str = "n_estimators"


def rival_score(model: Rival, X) -> np.ndarray:
    """Score of new rows."""
    X = np.asarray(X, dtype=float)
    F = np.repeat(model.start[:1], len(X), axis=0)
    for decay, add in zip(model.decays, model.adds, strict=True):
        F = decay * F + add(X)
    return F


@dataclass
class Setup:
    """The training data and the options that all boosters share.

    size stands for n: the sum of the sample weights, or the number of rows with a
    positive one if that is larger.
    """

    X: np.ndarray
    y: np.ndarray
    omega: np.ndarray
    n_classes: int
    n_estimators: int
    kind: str
    age: float | list[float]
    shape: dict
    warm_rounds: int
    learning_rate: float
    rows_per_round: list[np.ndarray] | None

    @property
    def size(self) -> float:
        return max(self.omega.sum(), (self.omega > 0).sum())


def set_up(
    X,
    y,
    *,
    n_estimators: int,
    kind: str = "none",
    age: float | list[float] = np.inf,
    shape: dict | None = None,
    warm_rounds: int = 3,
    learning_rate: float = 1.0,
    sample_weight=None,
    rows_per_round: list[np.ndarray] | None = None,
    n_classes: int | None = None,
) -> Setup:
    """The options of every booster here; they mean what they mean for ``boost``."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if n_classes is None:
        n_classes = max(2, int(y.max()) + 1)
    return Setup(
        X,
        y,
        np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float),
        n_classes,
        n_estimators,
        kind,
        age,
        {} if shape is None else shape,
        warm_rounds,
        learning_rate,
        rows_per_round,
    )


# ----------------------------------------------------------------------- weak learners


def probability_learner(**options) -> Callable:
    """``weak(X, y, D)`` that fits a tree and returns a function to class shares."""

    def weak(X, y, D):
        node = fit_tree(X, y, D, **options)
        return lambda X_new: predict_proba_tree(node, X_new)

    return weak


def regression_learner(**options) -> Callable:
    """``weak(X, z, D)`` that fits a least-squares tree and returns its function."""

    def weak(X, z, D):
        node = fit_tree(X, z, D, task="regression", **options)
        return lambda X_new: predict_tree(node, X_new)

    return weak


def fit_weighted(s: Setup, weak, y, target, log_weight, v, rows, first) -> Callable:
    """Fit the weak learner to the target, with weights omega * v * exp(log_weight).

    y are the classes: rows of a single one are nothing to learn from, but for the first
    learner. Stops for that, if no row has a weight, and if no drawn row has one.
    """
    with np.errstate(divide="ignore"):
        D = normalised(np.log(s.omega) + np.log(v) + log_weight)
    if not D.any():
        raise Stop("no sample selected")
    if not first and np.unique(y[D > 0]).size == 1:
        raise Stop("one class")
    rows = kept_rows(D, rows)
    if rows.size == 0:
        raise Stop("no edge")
    return fit_weak(s.X, target, D, s.omega, rows, weak)


def stop_without_edge(step: np.ndarray) -> None:
    """Stop if a learner adds nothing anywhere."""
    if np.abs(step).max() < 1e-12:
        raise Stop("no edge")


# ----------------------------------------------------------------------------- the pace


@dataclass
class Paced:
    """The pace of a run; loss(F) is the loss that it sees, one number per row."""

    s: Setup
    loss: Callable

    def weight(self, F, n_rounds: int) -> np.ndarray:
        """The v for the next round when there are n_rounds."""
        if n_rounds < self.s.warm_rounds:
            return np.ones(len(self.s.y))
        return pace_weight(self.s.kind, self.loss(F), self._age(), **self.s.shape)

    def latent(self, F) -> float:
        """The latent objective."""
        return latent_objective(
            self.loss(F), self.s.omega, self.s.kind, self._age(), self.s.shape
        )

    def _age(self) -> np.ndarray:
        return np.broadcast_to(self.s.age, self.s.n_classes)[self.s.y]


# --------------------------------------------------------------------------- the rounds


class Repeated:
    """A step that is taken again and again.

    When rows are drawn, a round without edge ends the run only if it is the tenth in a
    row. What the round adds, if it adds anything, is added all the same.
    """

    def __init__(self, s: Setup, step: Callable):
        self.draws = s.rows_per_round is not None
        self.step = step
        self.n_learners = self.n_failed = 0
        self.stop: str | None = None

    def __call__(self, y, F, v, rows) -> Step:
        try:
            step = self.step(y, F, v, rows, self.n_learners == 0)
        except Stop as stop:
            step = Step(stop=str(stop))
        if self.draws and step.stop in ("no edge", "stuck"):
            self.n_failed += 1
            if self.n_failed < MAX_SKIPPED:
                step.stop = None
        else:
            self.n_failed = 0
        self.n_learners += step.add is not None
        self.stop = step.stop
        return step


class EachAgainstRest:
    """A step for more classes: that of each class against the rest, in its column.

    A column that has stopped gets no more learners; the run ends with the last column.
    make_step makes the step of a column, which may remember things. The stop reason is
    that of the columns if it is the same in all.
    """

    def __init__(self, s: Setup, make_step: Callable):
        self.columns = [Repeated(s, make_step()) for _ in range(s.n_classes)]

    def __call__(self, y, F, v, rows) -> Step:
        steps = [
            Step() if column.stop else column((y == k).astype(int), F[:, k], v, rows)
            for k, column in enumerate(self.columns)
        ]
        adds = [step.add for step in steps]

        def add(X):
            columns = [np.zeros(len(X)) if add is None else add(X) for add in adds]
            return np.column_stack(columns)

        reasons = {column.stop for column in self.columns}
        stop = "columns ended" if len(reasons) > 1 else next(iter(reasons))
        return Step(
            None if adds == [None] * len(adds) else add,
            [step.learner for step in steps],
            None if None in reasons else stop,
            np.array([step.decay for step in steps]),
            [step.details for step in steps],
        )


def run_columns(s: Setup, make_step: Callable, paced) -> Rival:
    """Boost with a step for two classes; more of them each against the rest."""
    if s.n_classes == 2:
        return run(s, Repeated(s, make_step()), paced, np.zeros(len(s.y)))
    start = np.zeros((len(s.y), s.n_classes))
    return run(s, EachAgainstRest(s, make_step), paced, start)


def run(s: Setup, take: Callable, paced, start: np.ndarray) -> Rival:
    """The rounds of a booster: step, then the pace at the new score."""
    out = Rival(start)
    F, v = start, paced.weight(start, 0)
    for i in range(s.n_estimators):
        drawn = s.rows_per_round
        step = take(s.y, F, v, np.arange(len(s.y)) if drawn is None else drawn[i])
        if step.add is not None:
            F = step.decay * F + step.add(s.X)
            v = paced.weight(F, len(out.F) + 1)
            out.F.append(F)
            out.v.append(v)
            out.latent.append(paced.latent(F))
            out.learners.append(step.learner)
            out.adds.append(step.add)
            out.decays.append(step.decay)
            out.details.append(step.details)
        if step.stop:
            out.stop_reason = step.stop
            break
    return out
