"""What an audit of a file has found, as the review page and other programs need it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from splboost._data.table import Table
from splboost.audit.decisions import FORMAT, digest_row
from splboost.audit.files import UTF_8, TableFile, as_file, columns_of
from splboost.audit.findings import Findings
from splboost.audit.reasons import Explanation, Reason

N_BINS = 40  # of the histogram
MOST_EXPLAINED = 1000  # suspects
MOST_SOURCE = 20_000_000  # characters of a file that the page carries along


def make_report(
    audit: Findings,
    file: TableFile,
    target: str,
    features: Sequence[str],
    *,
    id_column: str | None = None,
    ids: Sequence[str | None] | None = None,
    rows: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Plain JSON, as `splboost.audit.page.write_page` takes it.

    Parameters
    ----------
    audit : Findings
        Fitted to the features of the file.
    file : TableFile
    target : str
        Name of the column of labels.
    features : names of the columns that the audit has seen
    id_column : name of the column that tells what people call a row, or None
    ids : by row of the file: what people call it; None for those in ``id_column``
    rows : by row of the audit: its number in the file; None if it is the same
    """
    number = list(range(file.n_rows)) if rows is None else [int(row) for row in rows]
    if id_column is not None:
        ids = file.columns[id_column].cells
    audited = _Audited(audit, file, features, ids, number)
    suspects = [audited.describe_suspect(found) for found in _explain(audit)]
    n_classes = audit.classes_.size
    confusion = np.zeros((n_classes, n_classes), dtype=int)
    for each in suspects:
        confusion[each["given"], each["predicted"]] += 1
    stated = _rounded(audit.expected_precision_) if suspects else None
    contradictions = [
        {
            "rows": [number[row] for row in each.rows.tolist()],
            "labels": each.codes.tolist(),
        }
        for each in audit.contradictions_
    ]
    too_large = file.text is not None and len(file.text) > MOST_SOURCE
    is_saved_alike = file.encoding == UTF_8  # as the page saves what it carries
    return {
        "format": FORMAT,
        "name": file.path.name,
        "target": target,
        "id_column": id_column,
        "made": datetime.now().strftime("%Y-%m-%d %H:%M"),
        "version": version("splboost"),
        "classes": audited.names,
        "n_rows": file.n_rows,
        "n_labels": len(number),
        "noise_rate": _rounded(audit.noise_rate_),
        "noise_rate_std": _rounded(audit.noise_rate_std_),
        "expected_precision": stated,
        "confusion": confusion.tolist(),
        "quality": _histogram(audited.quality, audited.is_suspect),
        "contradictions": contradictions if features else None,
        "columns": [
            {"name": name, "kind": file.columns[name].kind} for name in features
        ],
        "suspects": suspects,
        "source": file.text if is_saved_alike and not too_large else None,
        "fingerprint": _fingerprint(audit, file),
    }


class _Audited:
    """The rows of an audit, as the report describes them."""

    def __init__(
        self,
        audit: Findings,
        file: TableFile,
        features: Sequence[str],
        ids: Sequence[str | None] | None,
        number: list[int],
    ) -> None:
        labels, issues = audit.classes_.tolist(), audit.issues_
        place = {label: k for k, label in enumerate(labels)}
        self.names = [str(label) for label in labels]
        self.quality = np.asarray(issues["label_quality"])
        self.is_suspect = np.asarray(issues["is_label_issue"])
        self._wrong = np.asarray(issues["chance_wrong"])
        self._given = [place[each] for each in np.asarray(issues["given_label"])]
        self._belief = audit.belief_
        self._features = features
        self._file = file
        self._cells = [file.columns[name].cells for name in features]
        self._ids = ids
        self._number = number

    def describe(self, row: int) -> dict[str, Any]:
        """A row by its number in the file."""
        own = self._number[row]
        return {
            "row": own,
            "id": None if self._ids is None else self._ids[own],
            "cells": [column[own] for column in self._cells],
        }

    def describe_suspect(self, found: Explanation) -> dict[str, Any]:
        """A row with what is proposed for it, and why."""
        row = found.row
        given, belief = self._given[row], self._belief[row]
        others = np.where(np.arange(belief.size) == given, -1.0, belief)
        return {
            **self.describe(row),
            "digest": digest_row(self._file, self._number[row]),
            "given": given,
            "predicted": int(np.argmax(others)),
            "quality": _rounded(self.quality[row]),
            "wrong": _rounded(self._wrong[row]),
            "belief": [_rounded(each) for each in belief],
            "reasons": _words(found, self.names[given], self._features),
            "similar": [
                {**self.describe(other), "label": self._given[other]}
                for other in found.similar
            ],
        }


def make_report_on_table(
    audit: Findings,
    table: Table | None,
    codes: NDArray[np.integer],
    name: str,
    target: str,
    ids: ArrayLike | None,
) -> dict[str, Any]:
    """The same of data that come from no file.

    Parameters
    ----------
    audit : Findings
    table : what it was fitted to, or None
    codes : class of each row's label
    name : what the page calls the data
    target : what it calls the labels
    ids : by row: what people call it; or None
    """
    features: list[str] = []
    if table is not None:
        numbered = [f"x{j}" for j in range(table.n_features)]
        features = [str(each) for each in getattr(audit, "feature_names_in_", numbered)]
    if target in features:
        raise ValueError(
            f"target={target!r} is the name of a column of X; give another."
        )
    known = None
    if ids is not None:
        known = [str(each) for each in np.asarray(ids).tolist()]
        if len(known) != codes.size:
            raise ValueError(
                f"ids has {len(known)} entries for {codes.size} rows; give one each."
            )
    names = [str(label) for label in audit.classes_.tolist()]
    labels = [names[code] for code in codes]
    columns = [] if table is None else columns_of(features, table)
    file = as_file(name, columns, target, labels)
    return make_report(audit, file, target, features, ids=known)


def _fingerprint(audit: Findings, file: TableFile) -> str:
    """Of the data and of how they were audited: decisions are on these alone."""
    seed = audit.random_state if isinstance(audit.random_state, Integral) else None
    judge = type(audit.estimator).__name__
    settings = judge, audit.precision, audit.top, audit.quick, seed
    found = hashlib.sha256(repr(settings).encode())
    for name, column in file.columns.items():
        found.update(json.dumps([name, column.cells]).encode())
    return found.hexdigest()


def _explain(audit: Findings) -> list[Explanation]:
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
) -> list[dict[str, Any]] | None:
    if found.reasons is None:
        return None
    words = []
    for reason in found.reasons:
        column = reason.column
        if isinstance(column, str):
            column = features.index(column)
        text = say(reason, features[column], label)
        words.append({"column": column, "text": text, "taken": _rounded(reason.taken)})
    return words


def say(reason: Reason, name: str, label: str) -> str:
    """A reason as a sentence.

    Examples
    --------
    >>> from splboost.audit.reasons import Reason
    >>> from splboost.audit.report import say
    >>> print(say(Reason(0, 85.0, 150.0, 0.41), "glucose", "yes"))
    glucose is 85, but 150 in similar rows that are yes.
    >>> print(say(Reason(1, "Bern", "Bern", 0.1), "city", "yes"))
    city is Bern, but not in all similar rows that are yes.
    """
    value, usual, label = _cell(reason.value), _cell(reason.usual), brief(label)
    other = "not in all" if value == usual else f"{usual} in"
    return f"{brief(name)} is {value}, but {other} similar rows that are {label}."


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
