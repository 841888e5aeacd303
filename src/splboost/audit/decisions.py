"""What a reviewer has decided on suspects, and the data with it applied."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from splboost.audit.csv_text import (
    MARK,
    change_rows,
    find_separator,
    read_records,
)
from splboost.audit.files import (
    PARQUET,
    FileError,
    TableFile,
    labels_of,
    read_text,
)
from splboost.audit.parquet import change_parquet

KEEP, FLIP, DROP = "keep", "flip", "drop"
DECISIONS = KEEP, FLIP, DROP
# What a spreadsheet takes for a formula; and so that it can be taken off again, what
# looks as if it were guarded already
FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
GUARD = "'"
FIELDS = "row", "id", "given", "decision", "new_label"


@dataclass(frozen=True)
class Decision:
    """On one row.

    Attributes
    ----------
    row : its number among the data rows, from 0
    given : its label in the data
    kind : "keep", "flip" or "drop"
    label : the new one of a flip; else None
    """

    row: int
    given: str
    kind: str
    label: str | None


def read_decisions(
    paths: Iterable[str | Path], n_rows: int | None = None
) -> list[Decision]:
    """The decisions that review pages have saved, CSV or JSON.

    Lines without a decision, such as those of a list of suspects that was filled in by
    hand, are left out. ``n_rows`` is how many the data have, if that is known.
    """
    found: dict[int, Decision] = {}
    for path in map(Path, paths):
        for each in _read(path, n_rows):
            if each.row in found:
                raise FileError(
                    f"{path}: row {each.row} has been decided on before; leave one of "
                    "the decisions out."
                )
            found[each.row] = each
    return list(found.values())


def _read(path: Path, n_rows: int | None) -> list[Decision]:
    if not path.is_file():
        raise FileError(
            f"{path} is not there; save the decisions on the review page first."
        )
    text = read_text(path).removeprefix(MARK)
    if text.lstrip().startswith("{"):
        lines = _lines_of_json(path, text, n_rows)
    else:
        lines = _lines_of_csv(path, text)
    return [
        _decision(path, number, line)
        for number, line in enumerate(lines, start=1)
        if _kind(line)
    ]


def _lines_of_json(path: Path, text: str, n_rows: int | None) -> list[dict[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise FileError(
            f"{path} is no readable JSON ({error}); save the decisions once more."
        ) from None
    lines, reviewed = document.get("decisions"), document.get("n_rows", n_rows)
    if n_rows is not None and reviewed != n_rows:
        raise FileError(
            f"{path} has decisions on {reviewed} rows, and there are {n_rows}; give "
            "the file that was audited."
        )
    if not isinstance(lines, list) or not all(isinstance(x, dict) for x in lines):
        raise FileError(
            f"{path} has no list of decisions; save them on the review page once more."
        )
    return lines


def _lines_of_csv(path: Path, text: str) -> list[dict[str, Any]]:
    """Spreadsheets may have saved it with semicolons."""
    try:
        records = [
            each.fields
            for each in read_records(text, find_separator(text))
            if each.fields
        ]
    except csv.Error as error:
        raise FileError(
            f"{path} is no readable CSV ({error}); save the decisions once more."
        ) from None
    names, *lines = records or [[]]
    absent = [name for name in FIELDS if name not in names]
    if absent:
        raise FileError(
            f"{path} has no column {absent[0]!r}; decisions have the columns "
            f"{', '.join(FIELDS)}."
        )
    place = [names.index(name) for name in FIELDS]  # columns of data may come after
    return [
        {
            name: without_guard(line[at])
            for name, at in zip(FIELDS, place, strict=True)
            if at < len(line)
        }
        for line in lines
    ]


def _kind(line: Mapping[str, Any]) -> str:
    """What was decided; spreadsheets like capitals."""
    return str(line.get("decision") or "").strip().lower()


def _decision(path: Path, number: int, line: Mapping[str, Any]) -> Decision:
    kind, label = _kind(line), line.get("new_label")
    if kind not in DECISIONS:
        raise FileError(
            f"{path}, line {number} of the decisions: decision {kind!r} is none of "
            f"{', '.join(DECISIONS)}; write one of these, or nothing."
        )
    try:
        row = int(str(line["row"]))
    except (KeyError, ValueError):
        raise FileError(
            f"{path}, line {number} of the decisions: row {line.get('row')!r} is no "
            "whole number; give that of the row in the data, from 0."
        ) from None
    if kind == FLIP and label in (None, ""):
        raise FileError(
            f"{path}, line {number} of the decisions: new_label {label!r} is none, and "
            "a flip needs one; name a label, or keep the row."
        )
    given = str(line.get("given", ""))
    return Decision(row, given, kind, str(label) if kind == FLIP else None)


def guarded(cell: str | None) -> str | None:
    """A text that no spreadsheet takes for a formula.

    Examples
    --------
    >>> print(guarded("=1+1"), guarded("-1.5"), guarded("'=1"), without_guard("''=1"))
    '=1+1 -1.5 ''=1 '=1
    """
    if cell is None or not FORMULA.match(cell) or NUMBER.fullmatch(cell):
        return cell
    return GUARD + cell


def without_guard(cell: str) -> str:
    """The text that was guarded, or any other as it is."""
    return cell[1:] if cell.startswith(GUARD) and FORMULA.match(cell) else cell


def check_decisions(
    decisions: Iterable[Decision], file: TableFile, target: str
) -> None:
    """Refuse decisions that were made on other data."""
    labels = labels_of(file, target)
    known = sorted(set(labels))
    for each in decisions:
        if not 0 <= each.row < file.n_rows:
            raise FileError(
                f"{file.path} has no row {each.row}, on which there is a decision; "
                "give the file that was audited."
            )
        if labels[each.row] != each.given:
            raise FileError(
                f"Row {each.row} of {file.path} is labelled {labels[each.row]!r}, "
                f"and was {each.given!r} when it was reviewed; give the file that was "
                "audited."
            )
        if each.label is not None and each.label not in known:
            raise FileError(
                f"Row {each.row} of {file.path} is to be flipped to {each.label!r}, "
                f"which no row has; the labels are {', '.join(map(repr, known))}."
            )


def write_cleaned(
    file: TableFile, target: str, decisions: Iterable[Decision], path: str | Path
) -> None:
    """Write a file again with decisions applied; all else stays as it was.

    Labels are spelled as the file spells them. A CSV is compressed if its new name ends
    in ``.gz``.
    """
    decisions, path = list(decisions), Path(path)
    check_decisions(decisions, file, target)
    text, is_parquet = file.text, file.text is None
    if (path.suffix.lower() in PARQUET) != is_parquet:
        raise FileError(
            f"{file.path} is {'Parquet' if is_parquet else 'CSV'}, and is written as "
            f"such; {path} is no name for that."
        )
    spelling: dict[str | None, str | None] = {None: None}
    for label, cell in zip(
        labels_of(file, target), file.columns[target].cells, strict=True
    ):
        spelling.setdefault(label, cell)
    changes = {
        each.row: spelling[each.label] for each in decisions if each.kind != KEEP
    }
    if text is None:
        change_parquet(file.path, path, target, changes)
        return
    position = list(file.columns).index(target)
    content = change_rows(text, file.separator, position, changes).encode("utf-8")
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
