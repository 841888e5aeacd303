"""Which labels are suspect, as a frame and in a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.frames import make_frame

FloatArray = NDArray[np.float64]

MORE_LIKELY_THAN_NOT = 0.5
LABEL_TYPES = {"i": int, "u": int, "f": float, "b": bool, "U": str}
NO_SHARE = "0.0%"  # to one digit
MOST_ROWS_NAMED = 10


def make_issues(
    classes: NDArray[Any],
    codes: NDArray[np.integer],
    belief: FloatArray,
    wrong: FloatArray,
    asked: NDArray[np.bool_],
    top: int | None,
    precision: float | None,
) -> Any:
    """The frame ``LabelAudit.issues_``.

    Parameters
    ----------
    classes, codes : the labels
    belief : probabilities of the labels, by models that have not seen the row; or NaN
    wrong : how likely each is wrong; or NaN
    asked : whether a label may be suspect
    top, precision : how many of these are, as for ``LabelAudit``
    """
    every = np.arange(codes.size)
    quality = belief[every, codes]
    order = np.lexsort((np.nan_to_num(quality, nan=1), -np.nan_to_num(wrong), ~asked))
    rank = np.empty(codes.size, dtype=int)
    rank[order] = every + 1
    worst = wrong[order[: np.count_nonzero(asked)]]
    if top is not None:
        n_suspects = min(top, worst.size)
    elif precision is not None:
        mean = np.cumsum(worst) / np.arange(1, worst.size + 1)
        n_suspects = int(np.count_nonzero(mean >= precision))
    else:
        n_suspects = int(np.count_nonzero(worst > MORE_LIKELY_THAN_NOT))
    is_issue = rank <= n_suspects
    doubted = is_issue | (wrong > MORE_LIKELY_THAN_NOT)
    options = np.nan_to_num(belief)
    options[every[doubted], codes[doubted]] = -1
    predicted = np.where(np.isnan(quality), codes, options.argmax(axis=1))
    label_type = LABEL_TYPES.get(classes.dtype.kind, object)
    return make_frame(
        {
            "is_label_issue": (bool, is_issue),
            "label_quality": (float, quality),
            "given_label": (label_type, classes[codes]),
            "predicted_label": (label_type, classes[predicted]),
            "confidence": (float, belief[every, predicted]),
            "chance_wrong": (float, wrong),
            "rank": (int, rank),
        }
    )


def summarise(audit: Any, numbers: Sequence[int] | None = None) -> str:
    """Noise, suspects, contradictions, and which labels look like which others.

    ``numbers`` are the rows' numbers in a file; None counts from 0.
    """
    is_issue, given, better, quality = (
        np.asarray(audit.issues_[name])
        for name in (
            "is_label_issue",
            "given_label",
            "predicted_label",
            "label_quality",
        )
    )
    n_rows, n_suspects = is_issue.size, int(is_issue.sum())
    rate, std = f"{audit.noise_rate_:.1%}", f"{audit.noise_rate_std_:.1%}"
    share = "none or next to none" if rate == NO_SHARE else f"about {rate}"
    spread = "" if std == NO_SHARE else f" (± {std})"
    lines = [f"{n_rows} labels, of which {share}{spread} look wrong."]
    expected = f"{audit.expected_precision_:.0%}"
    if n_suspects > 1:
        lines.append(
            f"{n_suspects} suspects; of these about {expected} should be wrong."
        )
    elif n_suspects == 1:
        lines.append(f"1 suspect, wrong with a chance of about {expected}.")
    else:
        lines.append("No label is suspect.")
    n_wrong = round(audit.noise_rate_ * n_rows)
    if n_wrong > n_suspects and audit.top is None and audit.precision is None:
        lines.append(
            f"About {n_wrong} may be wrong; top={n_wrong}, on the command line "
            f"--top {n_wrong}, lists as many."
        )
    unjudged = np.flatnonzero(np.isnan(quality.astype(float))).tolist()
    if unjudged:
        rows = [row if numbers is None else numbers[row] for row in unjudged]
        some = ", ".join(map(str, rows[:MOST_ROWS_NAMED]))
        some += ", ..." if len(rows) > MOST_ROWS_NAMED else ""
        lines.append(
            f"Not judged, since all models have seen them: rows {some}. The only row "
            "of a class is such a one: look at it yourself."
        )
    if audit.contradictions_:
        n = sum(each.rows.size for each in audit.contradictions_)
        lines.append(
            f"{n} rows are equal to others but for their labels, in "
            f"{len(audit.contradictions_)} groups: some of these are wrong for "
            "certain, or the columns do not tell."
        )
    for label in audit.classes_:
        for other in audit.classes_:
            n = int(np.count_nonzero(is_issue & (given == label) & (better == other)))
            if n and label != other:
                lines.append(f"  {n} labelled {label} look like {other}")
    return "\n".join(lines)
