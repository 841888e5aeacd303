"""The review page: one HTML file on which a person goes through the suspects.

The file needs no server and no network. Its parts lie in ``assets``: the HTML, the
style, and the scripts in the order in which they are joined. Data come into it as
JSON alone, which the script turns into text; a policy in its head lets no other
script run, whatever the data say.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Sequence
from datetime import datetime
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from splboost._tools.whole_files import has_mark, write_whole
from splboost.audit.decisions import FORMAT, digest_row
from splboost.audit.issues import columns_of
from splboost.audit.reasons import Reason
from splboost.audit.table_files import UTF_8, TableFile

GENERATOR = '<meta name="generator" content="splboost audit">'
SCRIPTS = (
    "elements.js",
    "csv.js",
    "overview.js",
    "detail.js",
    "decisions.js",
    "list.js",
    "review.js",
)
# What could end the script element or a line of it, and halves of characters that
# UTF-8 cannot write
UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
N_BINS = 40  # of the histogram
MOST_SUBJECT = 1000  # characters
MOST_EXPLAINED = 1000  # suspects
MOST_SOURCE = 20_000_000  # characters of a file that the page carries along


# ------------------------------------------------------------------------------- report


def make_report(
    audit: Any,
    file: TableFile,
    target: str,
    features: Sequence[str],
    *,
    id_column: str | None = None,
    ids: Sequence[str | None] | None = None,
    rows: Sequence[int] | None = None,
) -> dict[str, Any]:
    """What an audit has found, in plain JSON, for the page and other programs.

    Labels are numbers that index ``classes``, rows are positions in the file, from 0.

    Parameters
    ----------
    audit : LabelAudit, fitted to the features of the file
    file : TableFile
    target, features : names of the columns of labels, and of those that were audited
    id_column : name of the column that tells what people call a row, or None
    ids : by row of the file: what people call it; None for the cells of ``id_column``
    rows : by row of the audit: its number in the file; None if it is the same
    """
    number = list(range(file.n_rows)) if rows is None else [int(row) for row in rows]
    if id_column is not None:
        ids = file.columns[id_column].cells
    names = [str(label) for label in audit.classes_.tolist()]
    suspects = _describe_suspects(audit, file, features, ids, number)
    confusion = np.zeros((len(names), len(names)), dtype=int)
    for each in suspects:
        confusion[each["given"], each["predicted"]] += 1
    contradictions = [
        {"rows": [number[row] for row in each.rows], "labels": each.codes.tolist()}
        for each in audit.contradictions_
    ]
    is_carried = file.encoding == UTF_8 and len(file.text or "") <= MOST_SOURCE
    return {
        "format": FORMAT,
        "name": file.path.name,
        "target": target,
        "id_column": id_column,
        "made": datetime.now().strftime("%Y-%m-%d %H:%M"),
        "version": version("splboost"),
        "classes": names,
        "n_rows": file.n_rows,
        "n_labels": len(number),
        "noise_rate": _rounded(audit.noise_rate_),
        "noise_rate_std": _rounded(audit.noise_rate_std_),
        "expected_precision": _rounded(audit.expected_precision_) if suspects else None,
        "confusion": confusion.tolist(),
        "quality": _histogram(audit.issues_),
        "contradictions": contradictions if features else None,
        "columns": [
            {"name": name, "kind": file.columns[name].kind} for name in features
        ],
        "suspects": suspects,
        # The page saves what it carries as UTF-8.
        "source": file.text if is_carried else None,
    }


def _describe_suspects(
    audit: Any,
    file: TableFile,
    features: Sequence[str],
    ids: Sequence[str | None] | None,
    number: Sequence[int],
) -> list[dict[str, Any]]:
    """The suspects, the worst first, with what is proposed for them, and why."""
    quality, wrong, is_suspect, rank, labels = columns_of(
        audit.issues_,
        *("label_quality", "chance_wrong", "is_label_issue", "rank", "given_label"),
    )
    classes = audit.classes_.tolist()
    place = {label: k for k, label in enumerate(classes)}
    cells = [file.columns[name].cells for name in features]
    named: dict[Any, Any] = {name: column for column, name in enumerate(features)}

    def describe(row: int) -> dict[str, Any]:
        at = number[row]
        name = None if ids is None else ids[at]
        return {"row": at, "id": name, "cells": [column[at] for column in cells]}

    def put(reason: Reason, given: int) -> dict[str, Any]:
        column = named.get(reason.column, reason.column)
        text = say(reason, features[column], str(classes[given]))
        return {"column": column, "text": text, "taken": _rounded(reason.taken)}

    worst = np.argsort(rank)[: np.count_nonzero(is_suspect)]
    explained = audit.explain(worst[:MOST_EXPLAINED])  # reasons take time
    explained += audit.explain(worst[MOST_EXPLAINED:], n_reasons=0)
    found = []
    for row, reasons, similar in explained:
        belief, given = audit.belief_[row], place[labels[row]]
        others = np.where(np.arange(belief.size) == given, -1.0, belief)
        found.append(
            {
                **describe(row),
                "digest": digest_row(file, number[row]),
                "given": given,
                "predicted": int(np.argmax(others)),
                "quality": _rounded(quality[row]),
                "wrong": _rounded(wrong[row]),
                "belief": [_rounded(each) for each in belief],
                "reasons": reasons and [put(reason, given) for reason in reasons],
                "similar": [
                    {**describe(other), "label": place[labels[other]]}
                    for other in similar
                ],
            }
        )
    return found


def _histogram(issues: Any) -> dict[str, Any]:
    """Of label qualities; the cut is None where suspects are not the lowest."""
    quality, is_suspect = columns_of(issues, "label_quality", "is_label_issue")
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


def say(reason: Reason, name: str, label: str) -> str:
    """A reason as a sentence.

    Examples
    --------
    >>> from splboost.audit.reasons import Reason
    >>> print(say(Reason(0, 85.0, 150.0, 0.41), "glucose", "yes"))
    glucose is 85, but 150 in similar rows that are yes.
    >>> print(say(Reason(1, "Bern", "Bern", 0.1), "city", "yes"))
    city is Bern, but not in all similar rows that are yes.
    """
    value, usual = _shown(reason.value), _shown(reason.usual)
    other = "not in all" if value == usual else f"{usual} in"
    return (
        f"{brief(name)} is {value}, but {other} similar rows that are {brief(label)}."
    )


def _shown(cell: Any) -> str:
    if cell is None:
        return "missing"
    if not isinstance(cell, float):
        return brief(str(cell))
    return f"{cell:.0f}" if 1e4 <= abs(cell) < 1e15 else f"{cell:.4g}"


def brief(text: str, most: int = 60) -> str:
    """The start of a long text."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _rounded(value: float) -> float:
    return round(float(value), 4)


# --------------------------------------------------------------------------------- page


def write_page(report: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the page on which a person reviews the suspects of an audit.

    Decisions stay in the reviewer's browser, under a key made of the name, the number
    of rows and a digest of the report. The page exports them, and the data with the
    decisions applied. An earlier page is replaced; a missing folder is made.
    """
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder; give the name of a file.")
    if file.is_file() and file.stat().st_size and not has_mark(file, GENERATOR):
        raise ValueError(
            f"path={str(path)!r} exists and is not a review page; give another name, "
            "or delete it."
        )
    write_whole(file, make_page(report))


def make_page(report: dict[str, Any]) -> str:
    """The HTML of the page."""
    assets = resources.files("splboost.audit") / "assets"
    style = (assets / "page.css").read_text("utf-8")
    script = "\n".join((assets / name).read_text("utf-8") for name in SCRIPTS)
    policy = [
        "default-src 'none'",
        f"script-src '{_sha256(script)}'",
        f"style-src '{_sha256(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    # Of all that decisions depend on, which the same audit, run again, finds again
    lasting = {key: report[key] for key in report.keys() - {"made", "version"}}
    text = json.dumps(lasting, sort_keys=True).encode("ascii")
    data = {**report, "digest": hashlib.sha256(text).hexdigest()[:16]}
    text_of_data = json.dumps(
        data, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return Template((assets / "page.html").read_text("utf-8")).substitute(
        generator=GENERATOR,
        subject=mark_subject(report["name"], report["target"]),
        policy="; ".join(policy),
        title=_as_html(f"{report['name']}: label review"),
        style=style,
        script=script,
        report=UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text_of_data),
    )


def mark_subject(name: str, target: str) -> str:
    """What is near the start of the page of an audit of these labels in this file."""
    subject = _as_html(brief(f"{target} in {name}", MOST_SUBJECT))
    return f'<meta name="description" content="{subject}">'


def _as_html(text: str) -> str:
    """Also of names of files that are not UTF-8."""
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


def _sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
