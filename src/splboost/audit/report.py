"""What an audit of a file has found, as the review page and other programs need it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from splboost.audit.files import TableFile
from splboost.audit.label_audit import LabelAudit
from splboost.audit.reasons import Explanation, Reason

N_BINS = 40  # of the histogram
MOST_EXPLAINED = 1000  # suspects
MOST_SOURCE = 20_000_000  # characters of a file that the page carries along


def make_report(
    audit: LabelAudit,
    file: TableFile,
    target: str,
    features: Sequence[str],
    *,
    ids: Sequence[str | None] | None = None,
    rows: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Plain JSON, as `splboost.audit.page.write_page` takes it.

    Parameters
    ----------
    audit : LabelAudit
        Fitted to the features of the file.
    file : TableFile
    target : str
        Name of the column of labels.
    features : names of the columns that the audit has seen
    ids : by row of the file: what people call it
    rows : by row of the audit: its number in the file; None if it is the same
    """
    names = [str(label) for label in audit.classes_.tolist()]
    place = {label: k for k, label in enumerate(audit.classes_.tolist())}
    table = {name: np.asarray(audit.issues_[name]) for name in audit.issues_.columns}
    given = [place[label] for label in table["given_label"].tolist()]
    number = list(range(file.n_rows)) if rows is None else [int(row) for row in rows]
    cells = [file.columns[name].cells for name in features]
    belief = audit.belief_

    def describe(row: int) -> dict[str, Any]:
        own = number[row]
        return {
            "row": own,
            "id": None if ids is None else ids[own],
            "cells": [column[own] for column in cells],
        }

    suspects = []
    confusion = np.zeros((len(names), len(names)), dtype=int)
    for found in _explain(audit):
        row = found.row
        others = np.where(np.arange(len(names)) == given[row], -1.0, belief[row])
        predicted = int(np.argmax(others))
        confusion[given[row], predicted] += 1
        suspects.append(
            {
                **describe(row),
                "given": given[row],
                "predicted": predicted,
                "quality": _rounded(table["label_quality"][row]),
                "wrong": _rounded(table["chance_wrong"][row]),
                "belief": [_rounded(each) for each in belief[row]],
                "reasons": _words(found, names[given[row]], features),
                "similar": [
                    {**describe(other), "label": given[other]}
                    for other in found.similar
                ],
            }
        )
    source = file.text
    if source is not None and len(source) > MOST_SOURCE:
        source = None
    return {
        "name": file.path.name,
        "target": target,
        "made": datetime.now().strftime("%Y-%m-%d %H:%M"),
        "version": version("splboost"),
        "classes": names,
        "n_rows": file.n_rows,
        "noise_rate": _rounded(audit.noise_rate_),
        "noise_rate_std": _rounded(audit.noise_rate_std_),
        "expected_precision": (
            _rounded(audit.expected_precision_) if suspects else None
        ),
        "confusion": confusion.tolist(),
        "quality": _histogram(table["label_quality"], table["is_label_issue"]),
        "contradictions": [
            {
                "rows": [number[row] for row in each.rows.tolist()],
                "labels": each.codes.tolist(),
            }
            for each in audit.contradictions_
        ],
        "columns": [
            {"name": name, "kind": file.columns[name].kind} for name in features
        ],
        "suspects": suspects,
        "source": source,
    }


def _explain(audit: LabelAudit) -> list[Explanation]:
    """The suspects, the worst of them with reasons, which take time."""
    rank, is_suspect = (
        np.asarray(audit.issues_[name]) for name in ("rank", "is_label_issue")
    )
    suspects = np.argsort(rank)[: np.count_nonzero(is_suspect)]
    with_reasons = audit.explain(suspects[:MOST_EXPLAINED])
    return with_reasons + audit.explain(suspects[MOST_EXPLAINED:], n_reasons=0)


def _histogram(quality: np.ndarray, is_suspect: np.ndarray) -> dict[str, Any]:
    """Of label qualities; the cut is None where suspects are not the lowest."""
    known = ~np.isnan(quality)
    edges = np.linspace(0, 1, N_BINS + 1)
    worst = quality[known & is_suspect].max(initial=-1)
    best = quality[known & ~is_suspect].min(initial=2)
    is_cut = 0 <= worst < best <= 1
    return {
        "edges": edges.tolist(),
        "all": np.histogram(quality[known], edges)[0].tolist(),
        "suspects": np.histogram(quality[known & is_suspect], edges)[0].tolist(),
        "cut": float(worst + best) / 2 if is_cut else None,
    }


def _words(
    found: Explanation, label: str, features: Sequence[str]
) -> list[dict[str, Any]]:
    return [
        {
            "column": reason.column,
            "text": say(reason, features[reason.column], label),
            "gain": _rounded(reason.taken),
        }
        for reason in found.reasons
    ]


def say(reason: Reason, name: str, label: str) -> str:
    """A reason as a sentence.

    Examples
    --------
    >>> from splboost.audit.reasons import Reason
    >>> from splboost.audit.report import say
    >>> print(say(Reason(0, 85.0, 150.0, 0.41), "glucose", "yes"))
    glucose is 85, but 150 in similar rows that are yes: 41 points less belief in yes.
    """
    value, usual, label = _cell(reason.value), _cell(reason.usual), brief(label)
    return (
        f"{brief(name)} is {value}, but {usual} in similar rows that are {label}: "
        f"{100 * reason.taken:.0f} points less belief in {label}."
    )


def _cell(value: Any) -> str:
    if value is None:
        return "missing"
    if not isinstance(value, float):
        return brief(str(value))
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def brief(text: str, most: int = 60) -> str:
    """The start of a long text."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _rounded(value: float) -> float:
    return round(float(value), 4)
