"""What a reviewer has decided on suspects.

A file of decisions, CSV or JSON, is read as a whole or not at all. Each decision
carries a digest of the row that it was made on.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from splboost.audit.csv_text import MARK, find_separator, read_records
from splboost.audit.files import FileError, TableFile, read_text

KEEP, FLIP, DROP = "keep", "flip", "drop"
DECISIONS = KEEP, FLIP, DROP
# What a spreadsheet takes for a formula; and so that it can be taken off again, what
# looks as if it were guarded already
FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
GUARD = "'"
FORMAT = "1"  # of files of decisions and of lists of suspects
NEEDED = "row", "id", "given", "decision", "new_label"
PROOFS = "id_column", "digest", "format"
FIELDS = *NEEDED, *PROOFS
# A word at the start, because a spreadsheet takes 12e45678 for a number
DIGEST = re.compile(r"row-[0-9a-f]{16}")


@dataclass(frozen=True)
class Decision:
    """What was decided on one row.

    Attributes
    ----------
    row : its number among the data rows of the audit, from 0
    given : its label in the data
    kind : "keep", "flip" or "drop"
    label : the new one of a flip; else None
    id : what people call the row, or None
    id_column : name of the column that has the id, or None
    digest : of the row as it was audited; None in a file that has none
    """

    row: int
    given: str
    kind: str
    label: str | None = None
    id: str | None = None
    id_column: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        return f"row {self.row}" + (f" ({self.id})" if self.id else "")


def digest_row(file: TableFile, row: int) -> str:
    """A short text that differs where a name or a cell of the row does.

    Examples
    --------
    >>> from pathlib import Path
    >>> from splboost.audit.files import Column, TableFile
    >>> ages = Column("age", "number", ["40", "7"])
    >>> file = TableFile(Path("people.csv"), {"age": ages}, 2)
    >>> digest_row(file, 0)
    'row-a9da9ccaf21b2de9'
    """
    cells = sorted((name, column.cells[row]) for name, column in file.columns.items())
    text = json.dumps(cells).encode("ascii")
    return f"row-{hashlib.sha256(text).hexdigest()[:16]}"


def read_decisions(paths: Iterable[str | Path]) -> list[Decision]:
    """All decisions that review pages have saved as CSV or JSON, or an error.

    Lines without a decision, such as those of a list of suspects that was filled in by
    hand, are left out.
    """
    found: dict[int, Decision] = {}
    for path in map(Path, paths):
        for each in _read(path):
            if each.row in found:
                raise FileError(
                    f"{path}: row {each.row} has been decided on before; leave one of "
                    "the decisions out."
                )
            found[each.row] = each
    return list(found.values())


def _read(path: Path) -> list[Decision]:
    if not path.is_file():
        raise FileError(
            f"{path} is not there; save the decisions on the review page first."
        )
    text = read_text(path, is_data=False)[0].removeprefix(MARK)
    is_json = text.lstrip().startswith("{")
    lines = _lines_of_json(path, text) if is_json else _lines_of_csv(path, text)
    return [
        _decision(f"{path}, line {number} of the decisions", line)
        for number, line in enumerate(lines, start=1)
        if _kind(line)
    ]


def _lines_of_json(path: Path, text: str) -> list[dict[str, Any]]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name stands twice in one object")
        return found

    try:
        document = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{path} is no readable JSON ({error}); save the decisions once more."
        ) from None
    lines = document.get("decisions")
    if not isinstance(lines, list) or not all(
        isinstance(line, dict) and "decision" in line for line in lines
    ):
        raise FileError(
            f"{path} has no list of decisions; save them on the review page once more."
        )
    of_all = {name: document.get(name) for name in ("id_column", "format")}
    return [{**of_all, **line} for line in lines]


def _lines_of_csv(path: Path, text: str) -> list[dict[str, Any]]:
    """Spreadsheets may have saved it with semicolons."""
    separator, records = find_separator(text), []
    try:
        for record in read_records(text, separator, strict=True):
            if record.fields:
                records.append(record.fields)
    except csv.Error as error:
        raise FileError(
            f"{path}, line {len(records)} of the decisions: quotes do not close, or "
            f"stand within a field ({error}). Nothing is read; mend that line, or save "
            "the decisions once more."
        ) from None
    names, *lines = records or [[]]
    absent = [name for name in NEEDED if name not in names]
    if absent:
        raise FileError(
            f"{path} has no column {absent[0]!r}; decisions have the columns "
            f"{', '.join(NEEDED)}."
        )
    twice = [name for name in FIELDS if names.count(name) > 1]
    if twice:
        raise FileError(
            f"{path} has several columns called {twice[0]!r}; leave one of them."
        )
    place = {name: names.index(name) for name in FIELDS if name in names}
    for number, line in enumerate(lines, start=1):
        if len(line) != len(names):
            raise FileError(
                f"{path}, line {number} of the decisions has {len(line)} fields, and "
                f"there are {len(names)} columns. Nothing is read; mend that line, or "
                "save the decisions once more."
            )
        _refuse_swallowed(path, number, line, place)
    return [
        {name: without_guard(line[at]) for name, at in place.items()} for line in lines
    ]


def _refuse_swallowed(
    path: Path, number: int, line: Sequence[str], place: Mapping[str, int]
) -> None:
    """Refuse a line with a field that holds the lines after it, because of a quote.

    Each line has a digest, which then is in that field. In files without digests no
    field of ours may have several lines.
    """
    for at, field in enumerate(line):
        is_ours = "digest" not in place and at in place.values()
        if ("\n" in field or "\r" in field) and (is_ours or DIGEST.search(field)):
            raise FileError(
                f"{path}, line {number} of the decisions: the field {field[:30]!r}… "
                "takes in the lines after it. Nothing is read; take out the quote "
                "where it starts, or save the decisions once more."
            )


def _kind(line: Mapping[str, Any]) -> str:
    """What was decided; spreadsheets like capitals."""
    return str(line.get("decision") or "").strip().lower()


def _decision(where: str, line: Mapping[str, Any]) -> Decision:
    kind, label = _kind(line), line.get("new_label")
    if kind not in DECISIONS:
        raise FileError(
            f"{where}: decision {kind!r} is none of {', '.join(DECISIONS)}; write one "
            "of these, or nothing."
        )
    try:
        row = int(re.sub(r"\.0+$", "", str(line["row"])))  # spreadsheets write 7.0
    except (KeyError, ValueError):
        raise FileError(
            f"{where}: row {line.get('row')!r} is no whole number; give that of the "
            "row in the data, from 0."
        ) from None
    if kind == FLIP and label in (None, ""):
        raise FileError(
            f"{where}: new_label {label!r} is none, and a flip needs one; name a "
            "label, or keep the row."
        )
    version, digest = _text(line, "format"), _text(line, "digest")
    if version is not None and version != FORMAT:
        raise FileError(
            f"{where}: format {version!r} is not {FORMAT!r}, the one that this version "
            "of splboost reads; use the version that wrote the file."
        )
    if digest is not None and not DIGEST.fullmatch(digest):
        raise FileError(
            f"{where}: digest {digest!r} is none; save the decisions once more."
        )
    return Decision(
        row,
        _text(line, "given") or "",
        kind,
        str(label) if kind == FLIP else None,
        _text(line, "id"),
        _text(line, "id_column"),
        digest if version is not None else None,
    )


def _text(line: Mapping[str, Any], name: str) -> str | None:
    """A field that may be empty or not there."""
    value = line.get(name)
    return None if value is None or value == "" else str(value)


def guarded(cell: str | None) -> str | None:
    """A text that no spreadsheet takes for a formula.

    Examples
    --------
    >>> print(guarded("=1+1"), guarded("-1.5"), guarded("'=1"), without_guard("''=1"))
    '=1+1 -1.5 ''=1 '=1
    """
    if cell is None or not FORMULA.match(cell) or NUMERAL.fullmatch(cell):
        return cell
    return GUARD + cell


def without_guard(cell: str) -> str:
    """The text that was guarded, or any other as it is."""
    return cell[1:] if cell.startswith(GUARD) and FORMULA.match(cell) else cell
