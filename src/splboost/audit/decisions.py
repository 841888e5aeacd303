"""What a reviewer has decided on suspects.

A file of decisions, CSV or JSON, is read as a whole or not at all. Each decision
carries a digest of the row that it was made on, and is applied to that row alone, as it
was then.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from splboost._tools.wording import listed
from splboost.audit.table_files import (
    CATEGORY,
    MARK,
    NUMBER,
    FileError,
    TableFile,
    labels_of,
    number_of,
    read_text,
    spell_number,
    split_csv,
)

KEEP, FLIP, DROP = "keep", "flip", "drop"
DECISIONS = KEEP, FLIP, DROP
# What a spreadsheet takes for a formula, or what looks as if it were guarded against
# that, so that the guard can be taken off again
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
    """What was decided on one row."""

    row: int  # its number among the data rows of the audit, from 0
    given: str  # its label in the data
    kind: str  # one of DECISIONS
    label: str | None = None  # the new one of a flip
    id: str | None = None  # what people call the row
    id_column: str | None = None  # name of the column that has the id
    digest: str | None = None  # of the row as it was audited; None in a file without

    def __str__(self) -> str:
        return f"row {self.row}" + (f" ({self.id})" if self.id else "")


def digest_row(file: TableFile, row: int) -> str:
    """A short text that differs where a name or a cell of the row does.

    Also where a missing cell is spelled otherwise: ``none`` may have been an answer.
    """
    cells = sorted((name, column.text(row)) for name, column in file.columns.items())
    text = json.dumps(cells).encode("ascii")
    return f"row-{hashlib.sha256(text).hexdigest()[:16]}"


def guarded(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula, as it may be if it is a text.

    Examples
    --------
    >>> print(guarded("=1+1"), guarded("-1.5"), guarded("'=1"), without_guard("''=1"))
    '=1+1 -1.5 ''=1 '=1
    """
    is_risky = isinstance(cell, str) and FORMULA.match(cell)
    return GUARD + cell if is_risky and not NUMERAL.fullmatch(cell) else cell


def without_guard(cell: str) -> str:
    """The text that was guarded, or any other as it is."""
    return cell[1:] if cell.startswith(GUARD) and FORMULA.match(cell) else cell


# ------------------------------------------------------------------------------ reading


def read_decisions(paths: Iterable[str | Path]) -> list[Decision]:
    """All decisions that review pages have saved as CSV or JSON, or an error.

    Lines without a decision, such as those of a list of suspects that was filled in by
    hand, are left out.
    """
    found: dict[int, Decision] = {}
    for path in map(Path, paths):
        if not path.is_file():
            state = "is a folder" if path.is_dir() else "does not exist"
            raise FileError(
                f"{path} {state}; save the decisions on the review page, and give that "
                "file."
            )
        text = read_text(path)[0].removeprefix(MARK)
        if not text.strip():
            raise FileError(f"{path} is empty; save the decisions again.")
        is_json = text.lstrip().startswith("{") or path.suffix.lower() == ".json"
        for where, line in (_read_json if is_json else _read_csv_lines)(path, text):
            # Spreadsheets like capitals.
            kind = (line.get("decision") or "").strip().lower()
            if not kind:
                continue
            each = _decision(where, line, kind)
            if each.row in found:
                raise FileError(
                    f"{where}: row {each.row} already has a decision; leave one of the "
                    "two out."
                )
            found[each.row] = each
    return list(found.values())


def _read_json(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each decision is, for errors, and its fields."""

    def refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name occurs twice in one object")
        return found

    try:
        document = json.loads(text, object_pairs_hook=refuse_repeated)
    except (ValueError, RecursionError) as error:
        why = error if isinstance(error, ValueError) else "nested too deeply"
        raise FileError(
            f"{path} is not valid JSON ({why}); save the decisions again."
        ) from None
    lines = document.get("decisions") if isinstance(document, dict) else None
    if not isinstance(lines, list) or not all(
        isinstance(line, dict) and "decision" in line for line in lines
    ):
        raise FileError(
            f"{path} has no list of decisions; save them again on the review page."
        )
    shared = {name: document.get(name) for name in ("id_column", "format")}
    for number, line in enumerate(lines, start=1):
        where, fields = f"{path}, decision {number}", {**shared, **line}
        for name in FIELDS:
            _check_type(where, name, fields.get(name))
        yield where, fields


def _check_type(where: str, name: str, value: Any) -> None:
    """Refuse what JSON has besides texts and numbers, as ``false`` or a list."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(value, str) or value is None or (is_number and name != "decision"):
        return
    kind = "a text" if name == "decision" else "a text or a number"
    raise FileError(
        f"{where}: {name} {value!r} is not {kind}; write one, or save the decisions "
        "again."
    )


def _read_csv_lines(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each line is, for errors, and its fields.

    Spreadsheets may have saved them with semicolons.

    A field that holds the lines after it, because of a stray quote, is an error: each
    of these lines has a digest, which is then in that field. In files without digests
    no field of ours may have several lines.
    """
    again = "save the decisions again; none was read."
    _, names, records = split_csv(path, text, again, strict=True)
    for name in FIELDS:
        if name in NEEDED and name not in names:
            raise FileError(
                f"{path} has no column {name!r}; decisions have the columns "
                f"{', '.join(NEEDED)}."
            )
        if names.count(name) > 1:
            raise FileError(
                f"{path} has several columns called {name!r}; leave one of them."
            )
    place = {name: names.index(name) for name in FIELDS if name in names}
    for _, fields, line in records:
        for at, field in enumerate(fields):
            is_ours = "digest" not in place and at in place.values()
            if re.search("[\r\n]", field) and (is_ours or DIGEST.search(field)):
                raise FileError(
                    f"{path}, line {line}: the field {field[:30]!r}… holds the lines "
                    f"after it. Correct that line, or {again}"
                )
        ours = {name: without_guard(fields[at]) for name, at in place.items()}
        yield f"{path}, line {line}", ours


def _decision(where: str, line: Mapping[str, Any], kind: str) -> Decision:
    """A decision from the fields of its line; ``where`` is for errors."""
    label = line.get("new_label")
    if kind not in DECISIONS:
        raise FileError(
            f"{where}: decision {kind!r} is unknown; write {KEEP}, {FLIP} or {DROP}, "
            "or nothing."
        )
    try:
        row = int(_without_point(str(line["row"])))
    except (KeyError, ValueError):
        raise FileError(
            f"{where}: row {line.get('row')!r} is not a whole number; give the number "
            "of the row in the data, counted from 0."
        ) from None
    if kind == FLIP and label in (None, ""):
        raise FileError(
            f"{where}: new_label is empty, and a flip needs one; give a label, or keep "
            "the row."
        )
    given, name, id_column, digest, version = (
        None if line.get(field) in (None, "") else str(line[field])
        for field in ("given", "id", "id_column", "digest", "format")
    )
    if version is None:
        digest = None
    elif _without_point(version) != FORMAT:
        raise FileError(
            f"{where}: format {version!r} is unknown to this version of splboost, "
            f"which reads {FORMAT!r}; use the version that wrote the file."
        )
    if digest is not None and not DIGEST.fullmatch(digest):
        raise FileError(
            f"{where}: digest {digest!r} is damaged; save the decisions again."
        )
    new = str(label) if kind == FLIP else None
    return Decision(row, given or "", kind, new, name, id_column, digest)


def _without_point(number: str) -> str:
    """A whole number as it was before a spreadsheet made 7.0 of it."""
    return re.sub(r"\.0+$", "", number)


# ------------------------------------------------------------------------- finding rows


def read_as_reviewed(
    file: TableFile, target: str, decisions: Iterable[Decision]
) -> TableFile:
    """The file with labels read as they were when the decisions were made.

    An audit with ``--categorical`` tells 1 from 01. Decisions on such labels name cells
    that are no number in its usual spelling.
    """
    column = file.column(target, "--target")
    if column.kind != NUMBER:
        return file
    cells = {cell.strip() for cell in column.cells if cell is not None}
    named = {text for each in decisions for text in (each.given, each.label)}
    if named & (cells - set(labels_of(file, target))):
        texts = replace(column, kind=CATEGORY)
        return replace(file, columns={**file.columns, target: texts})
    return file


def locate_decisions(
    decisions: Sequence[Decision], file: TableFile, target: str, *, force: bool = False
) -> dict[int, Decision]:
    """Decisions by the rows of a file that they were made on, or an error.

    A row is where it was if its digest says so, else where its id is. With ``force``,
    decisions without such a row go by its id, else by its number, and only labels are
    compared. A flip to the label that the row has is a decision to keep it.
    """
    unproven = [each for each in decisions if each.digest is None]
    if unproven and not force:
        raise FileError(
            f"The decision on {unproven[0]} has no digest of the row it was made on, "
            "or no format. Nothing is changed; save the decisions again on the page of "
            "a new audit, or use --force to find rows by id or number alone."
        )
    rows = _find_rows(decisions, file, force=force)
    changed = [each for each, row in zip(decisions, rows, strict=True) if row is None]
    if changed:
        raise FileError(_describe_changed(changed, len(decisions), file, force))
    located: dict[int, Decision] = {}
    labels = labels_of(file, target)
    known = sorted({label for label in labels if label is not None})
    spelled = partial(_spelled, known=known, separator=file.separator)
    for each, row in zip(decisions, rows, strict=True):
        assert row is not None
        label, where = labels[row], f"Row {row} of {file.path}"
        if row in located:
            raise FileError(
                f"The decisions on {located[row]} and {each} are both about row {row} "
                f"of {file.path}; leave one of them out."
            )
        if label is None or spelled(each.given) != label:
            remedy = "give the file that was audited"
            if digest_row(file, row) == each.digest:
                remedy = "give the --target of the audit, and the decisions as saved"
            raise FileError(
                f"{where} is labelled {label!r}, but was labelled {each.given!r} when "
                f"it was reviewed; {remedy}."
            )
        new = None if each.label is None else spelled(each.label)
        if new is None and each.label is not None:
            raise FileError(
                f"{where} is to become {each.label!r}, a label that no row has; the "
                f"labels are {listed([*map(repr, known)])}."
            )
        kind = KEEP if new == label else each.kind
        located[row] = replace(each, kind=kind, label=None if kind == KEEP else new)
    return located


def _find_rows(
    decisions: Sequence[Decision], file: TableFile, *, force: bool
) -> list[int | None]:
    """The row of each decision; None if the file does not have it."""
    digest = cache(partial(digest_row, file))
    id_columns = {each.id_column for each in decisions if each.id is not None}
    rows_by_id: dict[tuple[str | None, str | None], list[int]] = {}
    for name in id_columns & file.columns.keys():
        for row, cell in enumerate(file.columns[str(name)].cells):
            if cell is not None:
                rows_by_id.setdefault((name, cell), []).append(row)

    def find(decision: Decision) -> int | None:
        name, row = decision.id_column, decision.row
        here = [row] if 0 <= row < file.n_rows else []
        by_id = rows_by_id.get((name, decision.id), [])
        same = {
            each
            for each in here + by_id
            if digest(each) == decision.digest and _has_id(file, each, decision)
        }
        if same:
            return row if row in same else same.pop() if len(same) == 1 else None
        if not force:
            return None
        if decision.id is not None and name in file.columns:
            return row if row in by_id else by_id[0] if len(by_id) == 1 else None
        if decision.digest is None and name is None and decision.id is not None:
            # Nobody knows which column the id is from, so it may be any.
            cells = (column.cells for column in file.columns.values())
            return row if here and any(c[row] == decision.id for c in cells) else None
        return row if here else None

    return [find(each) for each in decisions]


def _has_id(file: TableFile, row: int, decision: Decision) -> bool:
    """Whether a row has the id of a decision, if that has one, in whatever spelling."""
    if decision.id is None or decision.id_column is None:
        return True
    if decision.id_column not in file.columns:
        return False
    cell = file.columns[decision.id_column].cells[row] or ""
    return _spelled(decision.id, [cell], file.separator) is not None


def _describe_changed(
    changed: Sequence[Decision], n_decisions: int, file: TableFile, force: bool
) -> str:
    if force:
        return (
            f"{file.path} does not have {listed(changed)}, or has the same id several "
            "times. Nothing is changed; give the file that was audited."
        )
    hint = ""
    if len(changed) == n_decisions > 1:
        hint = " No decision fits: has a column been changed?"
    python = ""
    if len(changed) == n_decisions and not any(each.id_column for each in changed):
        python = (
            " A page of LabelAudit.write_page was made in Python, from values and not "
            "from this file: if it is the decisions' own, save the cleaned data on it, "
            "or use --force if rows have the same numbers here and there."
        )
    return (
        f"{file.path} is not as it was audited in {listed(changed)}: a cell has "
        "changed, the row has moved or is gone, or the decision has the id of another "
        f"row.{hint} Nothing is changed; give the file that was audited and the "
        "decisions as they were saved, audit this file, or use --force to find rows by "
        f"id or number and compare labels alone.{python}"
    )


def _spelled(text: str, known: Sequence[str], separator: str) -> str | None:
    """The label that a text stands for: spreadsheets make TRUE of true, 1 of 1.0."""
    if text in known:
        return text
    for decimal in (separator, ";"):  # with which a comma may be a decimal point
        if number_of(text, decimal) is None:
            continue
        number = spell_number(text, decimal)
        if number in known:
            return number
        alike = [
            label
            for label in known
            if number_of(label, decimal) is not None
            and spell_number(label, decimal) == number
        ]
        if len(alike) == 1:
            return alike[0]
    alike = [label for label in known if label.casefold() == text.strip().casefold()]
    return alike[0] if len(alike) == 1 else None
