"""The data with a reviewer's decisions applied.

A decision is applied to the row that it was made on, as that row was then: where the
file has changed there, nothing is written.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from splboost._tools.whole_files import replacing, write_whole
from splboost.audit.csv_text import change_rows
from splboost.audit.decisions import KEEP, Decision, digest_row
from splboost.audit.files import (
    CATEGORY,
    NUMBER,
    PARQUET,
    FileError,
    TableFile,
    labels_of,
    spell_number,
)
from splboost.audit.parquet import change_parquet

MOST_ROWS_NAMED = 10  # rows, in an error


def as_reviewed(
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
    if named & (cells - {label for label in labels_of(file, target)}):
        texts = replace(column, kind=CATEGORY)
        return replace(file, columns={**file.columns, target: texts})
    return file


def locate_decisions(
    decisions: Iterable[Decision], file: TableFile, target: str, *, force: bool = False
) -> dict[int, Decision]:
    """Decisions by the rows of a file that they were made on, or an error.

    A row is where it was if its digest says so, else where its id is. With ``force``,
    what has no such row goes by its id, else by its number, and only labels are
    compared. A flip to the label that the row has is a decision to keep it.
    """
    decisions = list(decisions)
    if not force:
        unproven = [each for each in decisions if each.digest is None]
        if unproven:
            raise FileError(
                f"The decision on {unproven[0]} has no digest of the row it was made "
                "on, or no format. Nothing is changed; save the decisions once more on "
                "the page of a new audit, or use --force to go by id or row number "
                "alone."
            )
    search = _RowSearch(file)
    rows = [search.find(each, force=force) for each in decisions]
    changed = [each for each, row in zip(decisions, rows, strict=True) if row is None]
    if changed:
        raise FileError(_describe_changed(changed, len(decisions), file, force))
    located: dict[int, Decision] = {}
    labels = labels_of(file, target)
    known = sorted({label for label in labels if label is not None})
    for each, row in zip(decisions, rows, strict=True):
        assert row is not None
        if row in located:
            raise FileError(
                f"The decisions on {located[row]} and {each} are both on row {row} of "
                f"{file.path}; leave one of them out."
            )
        located[row] = _with_known_labels(each, row, labels[row], known, file)
    return located


class _RowSearch:
    """Finds rows of a file by digest, id and number."""

    def __init__(self, file: TableFile) -> None:
        self._file = file
        self._rows_by_id: dict[str, dict[str | None, list[int]]] = {}
        self._digests: dict[int, str] = {}

    def find(self, decision: Decision, *, force: bool) -> int | None:
        """The row of a decision; None if the file does not have it."""
        is_there = 0 <= decision.row < self._file.n_rows
        by_id = self._rows_with_id(decision)
        places = [decision.row] if is_there else []
        for row in (*places, *by_id):
            if self._digest(row) == decision.digest:
                same = [at for at in by_id if self._digest(at) == decision.digest]
                return row if row in places or len(same) == 1 else None
        if not force:
            return None
        name = decision.id_column
        if decision.digest is None and name is None and decision.id is not None:
            # of an old file, so that the id may be in any column
            return decision.row if is_there and self._holds(decision) else None
        if decision.id is None or name not in self._file.columns:
            return decision.row if is_there else None
        if decision.row in by_id:
            return decision.row
        return by_id[0] if len(by_id) == 1 else None

    def _rows_with_id(self, decision: Decision) -> list[int]:
        name = decision.id_column
        if name is None or decision.id is None or name not in self._file.columns:
            return []
        if name not in self._rows_by_id:
            rows: dict[str | None, list[int]] = {}
            for row, cell in enumerate(self._file.columns[name].cells):
                rows.setdefault(cell, []).append(row)
            self._rows_by_id[name] = rows
        return self._rows_by_id[name].get(decision.id, [])

    def _digest(self, row: int) -> str:
        if row not in self._digests:
            self._digests[row] = digest_row(self._file, row)
        return self._digests[row]

    def _holds(self, decision: Decision) -> bool:
        columns = self._file.columns.values()
        return any(column.cells[decision.row] == decision.id for column in columns)


def _describe_changed(
    changed: Sequence[Decision], n_decisions: int, file: TableFile, force: bool
) -> str:
    some = ", ".join(map(str, changed[:MOST_ROWS_NAMED]))
    some += ", …" if len(changed) > MOST_ROWS_NAMED else ""
    if force:
        return (
            f"{file.path} does not have {some}, or has the same id several times. "
            "Nothing is changed; give the file that was audited."
        )
    hint = ""
    named = {each.id_column for each in changed} - {None, *file.columns}
    if named:
        hint = (
            f" There is no column {min(map(str, named))!r}, by which rows were known."
        )
    elif len(changed) == n_decisions > 1:
        hint = " These are all rows that were decided on: has a column been changed?"
    return (
        f"{file.path} is not as it was audited in {some}: a cell has changed, or the "
        f"row is elsewhere or gone.{hint} Nothing is changed; give the file that was "
        "audited, audit this one, or use --force to go by id or row number and compare "
        "labels alone."
    )


def _with_known_labels(
    decision: Decision,
    row: int,
    label: str | None,
    known: Sequence[str],
    file: TableFile,
) -> Decision:
    """A decision that fits the label of its row, which is one of the known."""
    if label is None or _spelled(decision.given, known, file.separator) != label:
        raise FileError(
            f"Row {row} of {file.path} is labelled {label!r}, and was "
            f"{decision.given!r} when it was reviewed; give the file that was audited."
        )
    if decision.label is None:
        return decision
    new = _spelled(decision.label, known, file.separator)
    if new is None:
        raise FileError(
            f"Row {row} of {file.path} is to be flipped to {decision.label!r}, which "
            f"no row has; the labels are {', '.join(map(repr, known))}."
        )
    if new == label:
        return replace(decision, kind=KEEP, label=None)
    return replace(decision, label=new)


def _spelled(text: str, known: Sequence[str], separator: str) -> str | None:
    """The label that a text stands for: spreadsheets make TRUE of true, 1 of 1.0."""
    if text in known:
        return text
    for decimal in (separator, ";"):  # with which a comma may be a decimal one
        with suppress(ValueError, ArithmeticError):
            number = spell_number(text, decimal)
            if number in known:
                return number
    alike = [label for label in known if label.casefold() == text.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def write_cleaned(
    file: TableFile, target: str, decisions: Mapping[int, Decision], path: Path
) -> None:
    """Write a file again with decisions applied; all else stays as it was.

    Labels are spelled as the file spells them. A CSV is compressed if its new name ends
    in ``.gz``.

    Parameters
    ----------
    file : TableFile
    target : name of the column of labels
    decisions : by row, as `locate_decisions` finds them
    path : where to write
    """
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
        row: spelling[each.label]
        for row, each in decisions.items()
        if each.kind != KEEP
    }
    if text is None:
        with replacing(path, file.path) as part:
            change_parquet(file.table, file.path, part, target, changes)
        return
    position = list(file.columns).index(target)
    changed = change_rows(text, file.separator, position, changes)
    content = changed.encode(file.encoding)
    is_packed = path.suffix.lower() == ".gz"
    write_whole(path, gzip.compress(content) if is_packed else content, file.path)


def differs_only_in(
    rows: Iterable[int], cleaned: TableFile, file: TableFile, target: str
) -> bool:
    """Whether a cleaned file differs from its source in some rows alone.

    These may have other labels, or be left out. So nothing is lost if the cleaned file
    is made anew from decisions on these rows.
    """
    if list(cleaned.columns) != list(file.columns):
        return False
    decided, names = set(rows), [name for name in file.columns if name != target]
    after, before = (
        list(
            zip(*(table.columns[name].cells for name in (*names, target)), strict=True)
        )
        for table in (cleaned, file)
    )
    ends = {0}  # rows of the cleaned file that those of the source so far may have made
    for row, cells in enumerate(before):
        if row not in decided:
            ends = {at + 1 for at in ends if after[at : at + 1] == [cells]}
            continue
        ends |= {
            at + 1 for at in ends if at < len(after) and after[at][:-1] == cells[:-1]
        }
    return len(after) in ends
