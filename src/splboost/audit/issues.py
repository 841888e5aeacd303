"""Which labels are suspect, and the frame that says so of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.frames import make_frame

FloatArray = NDArray[np.float64]

MORE_LIKELY_THAN_NOT = 0.5
TYPES = {"i": int, "u": int, "f": float, "b": bool, "U": str}  # of labels


def choose(wrong: FloatArray, top: int | None, precision: float | None) -> int:
    """Number of suspects.

    Parameters
    ----------
    wrong : how likely each label is wrong that may be suspect
    top : so many, if there are
    precision : as many as leave their mean so high; else those that are more likely
        wrong than right

    Examples
    --------
    >>> import numpy as np
    >>> wrong = np.array([0.1, 0.9, 0.6, 0.4])
    >>> choose(wrong, None, None), choose(wrong, 3, None), choose(wrong, None, 0.8)
    (2, 3, 1)
    """
    if top is not None:
        return min(top, wrong.size)
    if precision is None:
        return int(np.count_nonzero(wrong > MORE_LIKELY_THAN_NOT))
    mean = np.cumsum(np.sort(wrong)[::-1]) / np.arange(1, wrong.size + 1)
    return int(np.count_nonzero(mean >= precision))


def make_issues(
    classes: NDArray[Any],
    codes: NDArray[np.integer],
    probability: FloatArray,
    wrong: FloatArray,
    asked: NDArray[np.bool_],
    n_suspects: int,
) -> Any:
    """The frame ``LabelAudit.issues_``.

    Parameters
    ----------
    classes, codes : the labels
    probability : of the labels, by models that have not seen the row; or NaN
    wrong : how likely each is wrong; or NaN
    asked : whether a label may be suspect
    n_suspects : how many of these are
    """
    every = np.arange(codes.size)
    quality = probability[every, codes]
    by_chance, by_quality = -np.nan_to_num(wrong), np.nan_to_num(quality, nan=1)
    order = np.lexsort((by_quality, by_chance, ~asked))
    rank = np.empty(codes.size, dtype=int)
    rank[order] = np.arange(1, codes.size + 1)
    is_issue = rank <= n_suspects
    doubted = is_issue | (wrong > MORE_LIKELY_THAN_NOT)
    options = np.nan_to_num(probability)
    options[every[doubted], codes[doubted]] = -1
    likeliest = np.where(np.isnan(quality), codes, options.argmax(axis=1))
    label = TYPES.get(classes.dtype.kind, object)
    return make_frame(
        {
            "is_label_issue": (bool, is_issue),
            "label_quality": (float, quality),
            "given_label": (label, classes[codes]),
            "predicted_label": (label, classes[likeliest]),
            "confidence": (float, probability[every, likeliest]),
            "chance_wrong": (float, wrong),
            "rank": (int, rank),
        }
    )
