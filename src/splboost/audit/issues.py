"""How likely each label is wrong, and which labels are suspect.

A row of class j is labelled k with probability T[j, k], whatever else the row is. The
model has learned from labels, so it knows the probabilities p = q T of these, and not
the probabilities q of the classes. With T, a label k is right with probability

    q_k T[k, k] / p_k

T is estimated where the model is surest of a class: rows that are labelled otherwise
there are labelled wrongly. Where classes overlap the model is nowhere sure, and some of
the rows that differ from its prediction are right. The share of differing rows then
rises from the surest rows on, and wrong labels explain only where it starts. A label
that is hardly rarer among the surest rows of another class than elsewhere, or whose
class is predicted nowhere, says little or nothing: the columns do not know that class.

A model with few different probabilities, such as a single tree, does not tell which
rows it is surest of. Some of the rows that share its least doubt differ because the
model is mistaken, and nobody knows how many: the start lies anywhere between none of
them and all of them.

So the share of wrong labels is uncertain, and the chance that a single label is wrong
is the mean over the values that this share may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from splboost._data.frames import make_frame
from splboost._tools.wording import counted, listed

FloatArray = NDArray[np.float64]

SUREST = 0.5  # share of the rows of a class to which the line is fitted
SMALLEST_DOUBT = 0.02  # doubts are rounded to multiples of this
EQUAL = 1e-9  # doubts that differ by no more than this are equal
DEVIATIONS = -2.0, -1.0, 0.0, 1.0, 2.0  # of the share of wrong labels, in std errors
ALIKE = 4.0  # classes must differ by so many times what chance explains
RARER = 0.2  # a label must be rarer by this among the surest rows to count in full
TINY = 0.01  # rows, where there are none
FEWEST = 0.5  # rows of each class with the right label, added to the others
LEAST_SPREAD = 0.1  # standard deviation of whether a label is wrong
MOST_CERTAIN = 0.99  # that a label is wrong; a model may always be mistaken
MOST_WRONG = 0.9  # of the share of wrong labels that would leave nothing to learn
MORE_LIKELY_THAN_NOT = 0.5
LABEL_TYPES = {"i": int, "u": int, "f": float, "b": bool, "U": str}
NO_SHARE = "0.0%"  # to one digit


def estimate_noise_model(
    probability: FloatArray, codes: NDArray[np.integer]
) -> tuple[list[FloatArray], float]:
    """Estimate how labels come to be wrong from the rows the model is surest of.

    Parameters
    ----------
    probability : (n_rows, n_classes) of the labels, by models that have not seen the
        row
    codes : class of each row's label

    Returns
    -------
    transitions : T, of shape (n_classes, n_classes), for each of ``DEVIATIONS``
    rate_std : standard error of the share of wrong labels
    """
    n_classes = probability.shape[1]
    predicted = probability.argmax(axis=1)
    doubt = 1 - probability.max(axis=1)
    share = np.bincount(codes, minlength=n_classes) / codes.size
    is_known = np.bincount(predicted, minlength=n_classes) > 0
    count = np.full((len(DEVIATIONS), n_classes, n_classes), TINY)
    count += FEWEST * np.eye(n_classes)
    variance = 0.0
    for k in np.flatnonzero(is_known):
        rows = predicted == k
        surest, rate, std, weight = find_floor(
            np.round(doubt[rows] / SMALLEST_DOUBT), codes[rows] != k
        )
        # The start is anywhere between none and all of the rows that are tied:
        # DEVIATIONS then go from one end to the other.
        n_tied = np.count_nonzero(doubt[rows] <= doubt[rows].min() + EQUAL) - 1
        tied = n_tied / max(surest.size - 1, 1)
        std = float(np.hypot(std, rate * tied / (2 * DEVIATIONS[-1])))
        rate *= 1 - tied / 2
        others = np.bincount(codes[rows][surest], minlength=n_classes).astype(float)
        others[k] = 0
        if not others.any():
            others = (np.arange(n_classes) != k).astype(float)
        others /= others.sum()
        rarer = 1 - rate * others / np.maximum(share, 1 / codes.size)
        others *= is_known * np.clip(rarer / RARER, 0, 1)
        for labels, deviation in zip(count, DEVIATIONS, strict=True):
            wrong = np.clip(rate + deviation * std, 0, 1) * others
            labels[k] += weight * wrong
            labels[k, k] += weight * (1 - wrong.sum())
        variance += (rows.mean() * std) ** 2
    return [as_transitions(labels) for labels in count], float(np.sqrt(variance))


def find_floor(
    doubt: FloatArray, differs: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], float, float, float]:
    """Find the surest rows, and where the share of differing ones starts among them.

    A straight line is fitted to the share; it is level where it would fall.

    Parameters
    ----------
    doubt : of the rows of a class, in whole steps
    differs : whether a row has another label

    Returns
    -------
    surest : by row, whether the share is taken from it
    rate, std : the share where it starts, and its standard error
    weight : number of rows that would tell as much about it
    """
    order = np.sort(doubt)
    # Twice the number of surer rows, ties counted half: whole, so exactly equal.
    ahead = np.searchsorted(order, doubt) + np.searchsorted(order, doubt, side="right")
    place = ahead / (2 * doubt.size)
    surest = place <= max(SUREST, place.min())
    x, y, ahead = place[surest], differs[surest], ahead[surest]
    n, mean, middle = y.size, float(y.mean()), float(x.mean())
    spread = float(np.var(x))
    rate, variance = mean, 1 / n
    if ahead.min() < ahead.max():
        slope = float(np.mean((x - middle) * y)) / spread
        slope_variance = 1 / (n * spread)  # but for the variance of y
        error = max(np.sqrt(mean * (1 - mean)), LEAST_SPREAD) * np.sqrt(slope_variance)
        rate = max(mean - max(slope, 0.0) * middle, 0.0)
        variance += middle**2 * slope_variance * share_of_variance(slope / error)
    deviation = max(np.sqrt(rate * (1 - rate)), LEAST_SPREAD)
    return surest, rate, float(deviation * np.sqrt(variance)), 1 / variance


def share_of_variance(z: float) -> float:
    """Share of its variance that a number keeps when it is known not to be negative.

    That of the normal distribution z standard deviations above 0, cut off at 0: next to
    none far below, all far above.
    """
    if z < -30:
        return 1 / z**2  # where the formula loses its digits
    hazard = float(np.exp(-(z**2) / 2 - log_ndtr(z)) / np.sqrt(2 * np.pi))
    return 1 - hazard * (z + hazard)


def as_transitions(count: FloatArray) -> FloatArray:
    """T from numbers of rows, class by label.

    As far as chance could explain the differences between classes, all have the same
    share of wrong labels, spread evenly over the other classes. T can always be
    inverted: right labels are mixed in where classes could not be told apart, neither
    by how often a label is wrong, nor, from three classes on, because some of them get
    each other's labels. The smallest eigenvalue is 0 where labels of different classes
    are drawn alike, and negative where they are exchanged.
    """
    n_classes = count.shape[0]
    by_class = count / count.sum(axis=1, keepdims=True)
    wrong = 1 - np.trace(count) / count.sum()
    alike = np.full((n_classes, n_classes), wrong / (n_classes - 1))
    np.fill_diagonal(alike, 1 - wrong)
    # Twice the gain in log-likelihood; by chance it is about the number of parameters.
    gain = 2 * np.sum(count * np.log(by_class / alike))
    n_parameters = n_classes * (n_classes - 1) - 1
    trust = max(0.0, 1 - ALIKE * n_parameters / max(gain, 1e-12))
    found = trust * by_class + (1 - trust) * alike
    most = MOST_WRONG * (n_classes - 1) / n_classes
    scale = np.minimum(1, most / np.maximum(1 - np.diag(found), most))[:, None]
    mixed = scale * found + (1 - scale) * np.eye(n_classes)
    smallest = np.linalg.eigvals(mixed).real.min()
    share = min(1.0, MOST_WRONG / max(1 - smallest, MOST_WRONG))
    transitions: FloatArray = share * mixed + (1 - share) * np.eye(n_classes)
    return transitions


def chance_wrong(
    probability: FloatArray,
    codes: NDArray[np.integer],
    transitions: Sequence[FloatArray],
) -> FloatArray:
    """How likely each label is wrong: by Bayes' rule, in the mean over several T."""
    label = np.arange(codes.size), codes
    chances = []
    for each in transitions:
        of_class = np.clip(probability @ np.linalg.inv(each), 0, None)
        of_class /= of_class.sum(axis=1, keepdims=True)
        of_label = (of_class @ each)[label]
        right = of_class[label] * np.diag(each)[codes]
        is_right = np.divide(right, of_label, np.zeros_like(right), where=of_label > 0)
        chances.append(1 - is_right)
    return np.minimum(np.mean(chances, axis=0), MOST_CERTAIN)


# ------------------------------------------------------------------------------- issues


def find_issues(
    classes: NDArray[Any],
    belief: FloatArray,
    codes: NDArray[np.integer],
    before: NDArray[np.integer],
    trusted: NDArray[np.bool_],
    top: int | None,
    precision: float | None,
) -> tuple[Any, FloatArray, float, float, float]:
    """How likely labels are wrong, and which of them are suspect.

    That is ``issues_``, ``transitions_``, ``noise_rate_``, ``noise_rate_std_`` and
    ``expected_precision_`` of ``LabelAudit``. ``belief`` has the probabilities of the
    labels, by models that have not seen the row, or NaN; ``before`` the class of each
    label before a review, -1 if it is gone.
    """
    every, is_judged = np.arange(codes.size), ~np.isnan(belief).any(axis=1)
    asked, quality = is_judged & ~trusted, belief[every, codes]
    wrong = np.where(is_judged, 0.0, np.nan)
    transitions, rate, std = np.eye(classes.size), 0.0, 0.0
    if asked.any():
        # Of the trusted labels, those that a review has corrected count as well.
        telling = (asked | (is_judged & (before != codes))) & (before >= 0)
        model, std = estimate_noise_model(belief[telling], before[telling])
        transitions = model[len(model) // 2]
        wrong[asked] = chance_wrong(belief[asked], codes[asked], model)
        rate = float(wrong[is_judged].mean())
        std *= float(asked.sum() / is_judged.sum())
    order = np.lexsort((np.nan_to_num(quality, nan=1), -np.nan_to_num(wrong), ~asked))
    worst = wrong[order[: np.count_nonzero(asked)]]
    n_suspects = int(np.count_nonzero(worst > MORE_LIKELY_THAN_NOT))
    if top is not None:
        n_suspects = min(top, worst.size)
    elif precision is not None:
        mean = np.cumsum(worst) / np.arange(1, worst.size + 1)
        n_suspects = int(np.count_nonzero(mean >= precision))
    rank = np.argsort(order) + 1
    is_issue = rank <= n_suspects
    doubted = is_issue | (wrong > MORE_LIKELY_THAN_NOT)
    options = np.nan_to_num(belief)
    options[every[doubted], codes[doubted]] = -1
    predicted = np.where(np.isnan(quality), codes, options.argmax(axis=1))
    label_type = LABEL_TYPES.get(classes.dtype.kind, object)
    columns = {
        "is_label_issue": (bool, is_issue),
        "label_quality": (float, quality),
        "given_label": (label_type, classes[codes]),
        "predicted_label": (label_type, classes[predicted]),
        "confidence": (float, belief[every, predicted]),
        "chance_wrong": (float, wrong),
        "rank": (int, rank),
    }
    expected = float(wrong[is_issue].mean()) if n_suspects else float("nan")
    return make_frame(columns), transitions, rate, std, expected


def columns_of(issues: Any, *names: str) -> list[NDArray[Any]]:
    """Columns of the frame as arrays, in whichever library it is."""
    return [np.asarray(issues[name]) for name in names]


def summarise(audit: Any, numbers: Sequence[int] | None = None) -> str:
    """Noise, suspects, contradictions, and which labels look like which others.

    ``numbers`` are the rows' numbers in a file; None counts from 0.
    """
    is_issue, given, better, quality = columns_of(
        audit.issues_,
        *("is_label_issue", "given_label", "predicted_label", "label_quality"),
    )
    n_rows, n_suspects = is_issue.size, int(is_issue.sum())
    rate, std = f"{audit.noise_rate_:.1%}", f"{audit.noise_rate_std_:.1%}"
    share = "none or next to none" if rate == NO_SHARE else f"about {rate}"
    spread = "" if std == NO_SHARE else f" (± {std})"
    lines = [f"{n_rows} labels, of which {share}{spread} look wrong."]
    expected = f"{audit.expected_precision_:.0%}"
    if n_suspects > 1:
        lines += [f"{n_suspects} suspects; of these about {expected} should be wrong."]
    elif n_suspects == 1:
        lines += [f"1 suspect, wrong with a chance of about {expected}."]
    else:
        lines += ["No label is suspect."]
    n_wrong = round(audit.noise_rate_ * n_rows)
    if n_wrong > n_suspects and audit.top is None and audit.precision is None:
        lines.append(
            f"About {n_wrong} may be wrong; top={n_wrong}, on the command line "
            f"--top {n_wrong}, lists as many."
        )
    unjudged = np.flatnonzero(np.isnan(quality.astype(float))).tolist()
    if unjudged:
        rows = [row if numbers is None else numbers[row] for row in unjudged]
        some = ("row " if len(rows) == 1 else "rows ") + listed(rows)
        lines.append(
            f"Not judged, because all models have seen the label: {some}. That is so "
            "of the only row of a class: look at it yourself."
        )
    if audit.contradictions_:
        n = sum(each.rows.size for each in audit.contradictions_)
        lines.append(
            f"{n} rows equal others except for their labels, in "
            f"{counted(len(audit.contradictions_), 'group')}: some of these labels are "
            "certainly wrong, or the columns do not tell the classes apart."
        )
    for label in audit.classes_:
        for other in audit.classes_:
            n = int(np.count_nonzero(is_issue & (given == label) & (better == other)))
            if n and label != other:
                look = "looks" if n == 1 else "look"
                lines.append(f"  {n} labelled {label} {look} like {other}")
    return "\n".join(lines)
