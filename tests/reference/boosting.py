"""The discrete boosters: AdaBoost, SAMME and their self-paced form SPLBoost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from reference.paces import latent_objective, pace_weight
from reference.trees import fit_tree, predict_tree

MAX_SCORE = 350.0
MAX_SKIPPED = 10


@dataclass
class Boosted:
    """What a boosting run leaves behind; the lists have one entry per kept learner.

    steps = learning rate times alphas. F is (n,) for two classes, else (n, K). v is the
    weight the next learner would have used. n_selected counts the rows handed to the
    weak learner, latent is the latent objective after the learner was added.
    """

    F: np.ndarray
    v: np.ndarray
    n_classes: int
    alphas: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    weak: list[Callable] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    n_selected: list[int] = field(default_factory=list)
    latent: list[float] = field(default_factory=list)
    stop_reason: str = "n_estimators"


@dataclass
class Learner:
    """One fitted weak learner, its vote per row, weighted error and coefficient."""

    predict: Callable
    vote: np.ndarray
    error: float
    alpha: float
    n_rows: int
    has_edge: bool


def tree_learner(**options) -> Callable:
    """Weak learner ``weak(X, y, D)`` that fits a reference tree with these options."""

    def weak(X, y, D):
        node = fit_tree(X, y, D, **options)
        return lambda X_new: predict_tree(node, X_new)

    return weak


def code_votes(classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Class code of SAMME: 1 for the class, -1/(K-1) for the others; +-1 for K=2."""
    classes = np.asarray(classes, dtype=int)
    if n_classes == 2:
        return 2.0 * classes - 1.0
    code = np.full((classes.size, n_classes), -1.0 / (n_classes - 1.0))
    code[np.arange(classes.size), classes] = 1.0
    return code


def log_exp_loss(F: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Logarithm of the exponential loss: -yF, for K classes -F_y / (K - 1)."""
    if F.ndim == 1:
        return -(2.0 * y - 1.0) * F
    return -F[np.arange(len(y)), y] / (F.shape[1] - 1.0)


def pace_loss(F: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The loss the pace sees, from scores clipped to +-350.

    Two classes: exp(-yF). K classes: sqrt((1 - p_y) / p_y / (K - 1)) with p the softmax
    of F / (K - 1), which is the same for K = 2, and 1 at F = 0.
    """
    F = np.clip(F, -MAX_SCORE, MAX_SCORE)
    if F.ndim == 1:
        return np.exp(log_exp_loss(F, y))
    e = np.exp(F / (F.shape[1] - 1.0))
    own = e[np.arange(len(y)), y]
    others = np.where(np.arange(F.shape[1]) == y[:, None], 0.0, e).sum(axis=1)
    return np.sqrt(others / own / (F.shape[1] - 1.0))


def boosting_weights(F, y, omega, v) -> np.ndarray:
    """D proportional to omega * v * exp(log loss), summing to 1; zeros if all are."""
    with np.errstate(divide="ignore"):
        return normalised(np.log(omega) + np.log(v) + log_exp_loss(F, y))


def normalised(log_weight: np.ndarray) -> np.ndarray:
    """Weights from their logarithms, summing to 1; zeros if all are."""
    if np.isneginf(log_weight).all():
        return np.zeros(len(log_weight))
    D = np.exp(log_weight - log_weight.max())
    return D / D.sum()


def step_size(error: float, n_classes: int, n_samples: float) -> float:
    """Coefficient of the multi-class AdaBoost step (SAMME), error floored.

    (K-1)^2 / K * [log((1 - err) / err) + log(K - 1)], for two classes the AdaBoost
    coefficient log((1 - err) / err) / 2. The floor is max(1e-10, 1 / (4 n)), with n the
    sum of the sample weights, or the number of samples if that is larger.
    """
    K = n_classes
    floor = max(1e-10, 1.0 / (4.0 * n_samples))
    error = min(max(error, floor), 1.0 - floor)
    return (K - 1.0) ** 2 / K * (np.log((1.0 - error) / error) + np.log(K - 1.0))


def kept_rows(D: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The drawn rows of positive D, but for those below 1e-12 of the largest."""
    rows = rows[D[rows] > 0]
    return rows[D[rows] >= 1e-12 * D[rows].max()] if rows.size else rows


def fit_weak(X, target, D, omega, rows, weak) -> Callable:
    """Fit the weak learner on these rows, the weights scaled to their sample weight."""
    weight = D[rows] * omega[rows].sum() / D[rows].sum()
    return weak(X[rows], target[rows], weight)


def fit_learner(X, y, D, omega, rows, weak, n_classes) -> Learner | None:
    """Fit the weak learner on the drawn rows, judge it on all rows.

    None if no drawn row has D > 0.
    """
    rows = kept_rows(D, rows)
    if rows.size == 0:
        return None
    predict = fit_weak(X, y, D, omega, rows, weak)
    predicted = np.asarray(predict(X))
    error = float(D[predicted != y].sum())
    return Learner(
        predict,
        code_votes(predicted, n_classes),
        error,
        step_size(error, n_classes, max(omega.sum(), omega.size)),
        rows.size,
        error < 1.0 - 1.0 / n_classes - 1e-12,
    )


def boost(
    X,
    y,
    *,
    n_estimators: int,
    kind: str = "none",
    age: float | list[float] = np.inf,
    shape: dict | None = None,
    warm_rounds: int = 3,
    inner_steps: int = 1,
    inner_tol: float = 1e-8,
    learning_rate: float = 1.0,
    sample_weight=None,
    weak: Callable | None = None,
    rows_per_round: list[np.ndarray] | None = None,
    n_classes: int | None = None,
) -> Boosted:
    """Algorithm 1 of the SPLBoost paper; AdaBoost with kind "none", SAMME for K > 2.

    A list of ages has one for each class.
    ``weak(X, y, D)`` returns a function from X to class indices, a stump by default.
    The first warm_rounds learners are fitted with v = 1: the v computed once learner t
    is added uses the age if t >= warm_rounds (skipped rounds do not count). A learner
    without error on the weighted rows is added with a floored error and ends the run
    ("perfect"). A first learner without edge is kept with alpha = 0 and ends the run;
    a later one ends it without being added ("no edge"). Later than the first learner,
    a selected set of one class ends the run without adding ("one class"), and so does
    an empty one at any time ("no sample selected"). With rows_per_round, a list of the
    rows drawn in each round, a round without edge (the first too) is skipped and ten
    in a row end the run ("no edge").
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=int)
    n = len(y)
    K = max(2, int(y.max()) + 1) if n_classes is None else n_classes
    omega = np.ones(n) if sample_weight is None else np.asarray(sample_weight, float)
    weak = tree_learner(max_depth=1, n_classes=K) if weak is None else weak
    shape = {} if shape is None else shape
    age_of_rows = np.broadcast_to(age, K)[y]

    def optimal_v(F, n_learners):
        if n_learners < warm_rounds:
            return np.ones(n)
        return pace_weight(kind, pace_loss(F, y), age_of_rows, **shape)

    def latent_at(F):
        return latent_objective(pace_loss(F, y), omega, kind, age_of_rows, shape)

    F = np.zeros(n) if K == 2 else np.zeros((n, K))
    out = Boosted(F, optimal_v(F, 0), K)
    skipped = 0
    for round_ in range(n_estimators):
        first = not out.alphas
        t = len(out.alphas) + 1
        rows = np.arange(n) if rows_per_round is None else rows_per_round[round_]
        D = boosting_weights(out.F, y, omega, out.v)
        if not D.any():
            out.stop_reason = "no sample selected"
            break
        if not first and np.unique(y[D > 0]).size == 1:
            out.stop_reason = "one class"
            break
        learner = fit_learner(X, y, D, omega, rows, weak, K)

        if learner is None or not learner.has_edge:
            skipped += 1
            if rows_per_round is not None and skipped < MAX_SKIPPED:
                continue
            out.stop_reason = "no edge"
            if rows_per_round is None and first:
                learner.alpha = 0.0
                add_learner(out, learner, learning_rate)
                out.latent.append(latent_at(out.F))
            break
        skipped = 0

        v = out.v
        for _ in range(inner_steps - 1 if t > warm_rounds else 0):
            v_old, v = v, optimal_v(out.F + learner.alpha * learner.vote, t)
            if np.abs(v - v_old).max() < inner_tol:
                break
            other = refit(X, y, out.F, omega, v, rows, weak, K)
            if other is None or not lowers(other, learner, out.F, y, omega * v):
                break
            learner = other

        add_learner(out, learner, learning_rate)
        out.v = optimal_v(out.F, t)
        out.latent.append(latent_at(out.F))
        if learner.error <= 0.0:
            out.stop_reason = "perfect"
            break
    return out


def refit(X, y, F, omega, v, rows, weak, n_classes) -> Learner | None:
    """A further inner step: refit for a new v; None if there is nothing to gain.

    That is, if no row or a single class is selected, or the learner has no edge.
    """
    D = boosting_weights(F, y, omega, v)
    if np.unique(y[D > 0]).size < 2:
        return None
    learner = fit_learner(X, y, D, omega, rows, weak, n_classes)
    return learner if learner is not None and learner.has_edge else None


def lowers(new: Learner, old: Learner, F, y, weight) -> bool:
    """Guard of the inner loop: the new learner's weighted loss is below the old one's.

    The weighted loss is sum omega v exp(log loss at F + alpha * vote), at the same v.
    """

    def total(learner):
        log_loss = log_exp_loss(F + learner.alpha * learner.vote, y)
        return (weight[weight > 0] * np.exp(log_loss[weight > 0])).sum()

    return bool(total(new) < total(old))


def add_learner(out: Boosted, learner: Learner, learning_rate: float) -> None:
    """F += learning rate * alpha * vote, and the bookkeeping."""
    step = learning_rate * learner.alpha
    out.F = out.F + step * learner.vote
    out.alphas.append(float(learner.alpha))
    out.steps.append(float(step))
    out.weak.append(learner.predict)
    out.errors.append(learner.error)
    out.n_selected.append(learner.n_rows)


def boosted_score(model: Boosted, X) -> np.ndarray:
    """Score F of new rows: the sum of steps times votes."""
    X = np.asarray(X, dtype=float)
    K = model.n_classes
    F = np.zeros(len(X)) if K == 2 else np.zeros((len(X), K))
    for step, predict in zip(model.steps, model.weak, strict=True):
        F = F + step * code_votes(predict(X), K)
    return F
