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
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from splboost._tools.whole_files import has_mark, write_whole

GENERATOR = '<meta name="generator" content="splboost audit">'
_SCRIPTS = (
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
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def write_page(report: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the page on which a person reviews the suspects of an audit.

    Decisions stay in the reviewer's browser, under a key made of the name, the number
    of rows and a digest of the report. The page exports them, and the data with the
    decisions applied.

    Parameters
    ----------
    report : dict
        What the audit found, in plain JSON. Labels are numbers that index ``classes``;
        a row is its position among the data rows, from 0.

        - ``name``, ``target``, ``made``, ``version``: texts; ``format``, that of the
          decisions which the page saves.
        - ``id_column``: name of the column that has the ids of rows, or None.
        - ``classes``: the labels as text.
        - ``n_rows``; ``n_labels``, how many of them were audited; ``noise_rate`` and
          ``noise_rate_std``, the share of labels estimated wrong;
          ``expected_precision`` of the suspects. The last three may be None.
        - ``confusion``: numbers of suspects, given by predicted label.
        - ``quality``: histogram of the label quality: ``edges``, the counts of ``all``
          rows and of ``suspects``, and the ``cut`` between them or None.
        - ``contradictions``: identical rows with different labels, each a dict with
          ``rows`` and, in the same order, ``labels``; None if there are no columns by
          which rows are identical.
        - ``columns``: dicts with ``name`` and ``kind`` ("number", "category", "text").
        - ``suspects``, in the order in which to review them: dicts with ``row``, ``id``
          (or None), ``digest`` of the row, ``given``, ``predicted`` (never the given),
          ``quality``, ``wrong`` (the chance that the given is wrong), ``belief`` in
          each class, ``cells`` (texts, None where missing), ``reasons`` (dicts with
          ``column``, ``text`` and ``taken``, of the belief in the given label; None if
          nobody has looked for them) and ``similar`` (dicts with ``row``, ``id``,
          ``label``, ``cells``).
        - ``source``: the CSV file as text, its line ends and byte-order mark as they
          were; None where it is too large or no CSV. The page then exports decisions
          alone.
        - ``fingerprint``, which may be left out: a text that differs where other data,
          or other settings, were audited.
    path : str or path-like
        Where to write the page. An earlier page is replaced; a folder that is not there
        is made.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> report = {
    ...     "name": "people.csv", "target": "rich", "made": "today", "version": "0.1",
    ...     "format": "1", "id_column": None,
    ...     "classes": ["no", "yes"], "n_rows": 2, "n_labels": 2,
    ...     "noise_rate": 0.5, "noise_rate_std": 0.1, "expected_precision": 0.9,
    ...     "confusion": [[0, 0], [1, 0]], "contradictions": [],
    ...     "quality": {"edges": [0, 1], "all": [2], "suspects": [1], "cut": 0.5},
    ...     "columns": [{"name": "age", "kind": "number"}],
    ...     "suspects": [{"row": 1, "id": None, "digest": "row-9f86d081884c7d65",
    ...                   "given": 1, "predicted": 0,
    ...                   "quality": 0.1, "wrong": 0.9, "belief": [0.9, 0.1],
    ...                   "cells": ["7"], "reasons": [], "similar": []}],
    ...     "source": "age,rich\\n40,no\\n7,yes\\n",
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "review.html")
    ...     write_page(report, page)
    ...     page.read_text("utf-8").splitlines()[0]
    '<!doctype html>'
    """
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder; give the name of a file.")
    if file.is_file() and file.stat().st_size and not has_mark(file, GENERATOR):
        raise ValueError(
            f"path={str(path)!r} is there and is no review page; name another file, or "
            "delete it."
        )
    page = make_page(report)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, page)


def make_page(report: dict[str, Any]) -> str:
    """The HTML of the page, from a report as `write_page` takes it."""
    assets = resources.files("splboost.audit") / "assets"
    style = (assets / "page.css").read_text("utf-8")
    script = "\n".join((assets / name).read_text("utf-8") for name in _SCRIPTS)
    return Template((assets / "page.html").read_text("utf-8")).substitute(
        generator=GENERATOR,
        policy=_policy(style, script),
        title=html.escape(f"{report['name']}: label review"),
        style=style,
        script=script,
        report=_json_in_html({**report, "digest": _digest(report)}),
    )


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, and nothing runs but this script and this style."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_sha256(script)}'",
            f"style-src '{_sha256(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def _digest(report: dict[str, Any]) -> str:
    """Of all that decisions depend on: the same audit, run again, finds them."""
    lasting = {key: report[key] for key in report.keys() - {"made", "version"}}
    text = json.dumps(lasting, sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _json_in_html(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
