"""What the boosters of other packages correspond to, and the scale of their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from _follow import Ways, evaluate
from _plain_logitboost import Habits

from splboost import (
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealAdaBoostClassifier,
)

DOUBLE = Ways()
SINGLE = Ways(precision=1e-6, rounding=float(np.finfo(np.float32).eps))
WEKA = Ways(least_gain=1e-6)  # the slack of all its comparisons

Scores = np.ndarray  # rounds, rows, and columns if there are more than two classes


def halve(scores: Scores) -> Scores:
    return scores / 2


def keep(scores: Scores) -> Scores:
    return scores


def centre(scores: Scores) -> Scores:
    """F_k = (K - 1) / K (f_k - mean over the classes)."""
    k = scores.shape[2]
    return (k - 1) / k * (scores - scores.mean(axis=2, keepdims=True))


def scale_weka(scores: Scores) -> Scores:
    """It has a column for each of two classes too; the second is the score."""
    centred = centre(scores)
    return centred if scores.shape[2] > 2 else centred[:, :, 1]


def scale_logitboost(scores: Scores) -> Scores:
    """Log-odds of two classes; for more, sums of trees that are not centred."""
    return halve(scores) if scores.ndim == 2 else centre(scores)


def scale_samme(scores: Scores) -> Scores:
    """log p1 - log p0 of two classes; of more the same score."""
    return halve(scores) if scores.ndim == 2 else scores


@dataclass(frozen=True)
class Peer:
    """A booster of another package, and what it corresponds to."""

    title: str
    booster: Any
    to_ours: Callable[[Scores], Scores]
    ways: Ways
    notes: str
    options: dict[str, Any] = field(default_factory=dict)
    habits: Habits | None = None  # of a LogitBoost

    @property
    def is_real(self) -> bool:
        return self.booster is RealAdaBoostClassifier


PEERS = {
    "weka": Peer(
        "Weka's LogitBoost",
        LogitBoostClassifier,
        scale_weka,
        WEKA,
        "Ours has `z_clip='gradient', z_max=3`. Weka's trees are DecisionStump and, "
        "deeper, REPTree without pruning or limits; but it makes no split that gains "
        "less than 1e-6. Of two classes Weka fits both, which mirror each other; the "
        "second is followed. Its scores are summed up from its trees, as the source "
        "that it writes does it.",
        {"z_clip": "gradient", "z_max": 3.0},
        Habits(3.0, keep_gradient=True),
    ),
    "logitboost": Peer(
        "LogitBoost of the package logitboost",
        LogitBoostClassifier,
        scale_logitboost,
        DOUBLE,
        "Ours has `z_clip='response', z_max=4`, the defaults of both; its trimming of "
        "small weights is off. Its scores are log-odds, twice ours; of more classes it "
        "sums up trees without centring them, which its probabilities do not show.",
        habits=Habits(4.0, least_weight=2 * float(np.finfo(float).eps)),
    ),
    "opencv logit": Peer(
        "OpenCV's LogitBoost",
        LogitBoostClassifier,
        halve,
        SINGLE,
        "Ours has `z_clip='response', z_max=10`. OpenCV knows two classes and single "
        "precision: of X, of responses, and of what a tree adds during training. Its "
        "score, summed up from its trees, is twice ours.",
        {"z_max": 10.0},
        Habits(10.0, least_weight=float(np.finfo(np.float32).eps), single=True),
    ),
    "opencv gentle": Peer(
        "OpenCV's Gentle AdaBoost",
        GentleBoostClassifier,
        keep,
        SINGLE,
        "The same score; single precision as above.",
    ),
    "opencv real": Peer(
        "OpenCV's Real AdaBoost",
        RealAdaBoostClassifier,
        keep,
        SINGLE,
        "The same score; single precision as above. It clips shares at 1e-5, ours at "
        "1/n, so each row is in the data three times with its class and once with each "
        "other, and no leaf has shares to clip.",
    ),
    "samme.r": Peer(
        "SAMME.R of scikit-learn",
        RealAdaBoostClassifier,
        scale_samme,
        DOUBLE,
        "Its score is twice ours of two classes, and the same of more. It clips shares "
        "at 2e-16, ours at 1/n, so the data are as for OpenCV's Real AdaBoost.",
    ),
}


def read_scores(peer: Peer, answer: dict[str, Any], X: np.ndarray) -> Scores:
    """Those of the package, else the sums of its trees; in the scale of ours."""
    if "scores" in answer:
        return peer.to_ours(np.array(answer["scores"]))
    added = [[evaluate(tree, X) for tree in trees] for trees in answer["trees"]]
    scores = np.cumsum(added, axis=0)
    if scores.shape[1] == 1:
        return peer.to_ours(scores[:, 0])
    return peer.to_ours(scores.transpose(0, 2, 1))
