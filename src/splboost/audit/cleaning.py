"""The data with a reviewer's decisions applied.

A decision is applied to the row that it was made on, as that row was then: where the
file has changed there, nothing is written.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from splboost.audit.csv_text import change_rows
from splboost.audit.decisions import KEEP, Decision, digest_row
from splboost.audit.files import PARQUET, FileError, TableFile, labels_of
from splboost.audit.parquet import as_text, change_parquet
from splboost.whole_files import replacing, write_whole

MOST_NAMED = 10  # rows, in an error


def locate_decisions(
    decisions: Iterable[Decision], file: TableFile, target: str, *, force: bool = False
) -> dict[int, Decision]:
    """Decisions by the rows of a file that they were made on, or an error.

    A row is where it was if its digest says so, else where its id is. With ``force``
    rows go by their id, else by their number, and only labels are compared.
    A flip to the label that the row has is a decision to keep it.
    """
    decisions = list(decisions)
    if not force:
        unproven = [each for each in decisions if each.digest is None]
        if unproven:
            raise FileError(
                f"The decision on {unproven[0]} has no digest of the row it was made "
                "on. Nothing is changed; save the decisions once more on the page of a "
                "new audit, or use --force to go by id or row number alone."
            )
    rows = list(_locate(decisions, file, force=force))
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


def _locate(
    decisions: Sequence[Decision], file: TableFile, *, force: bool
) -> Iterator[int | None]:
    """For each decision its row in the file; None if it is not there as it was."""
    places: dict[str, dict[str | None, list[int]]] = {}
    for each in decisions:
        name, here = each.id_column, 0 <= each.row < file.n_rows
        if here and not force and digest_row(file, each.row) == each.digest:
            yield each.row
            continue
        if name is None or each.id is None or name not in file.columns:
            yield each.row if here and force else None
            continue
        if name not in places:
            places[name] = {}
            for row, cell in enumerate(file.columns[name].cells):
                places[name].setdefault(cell, []).append(row)
        found = places[name].get(each.id, [])
        if force and each.row in found:
            found = [each.row]
        if not force:
            found = [row for row in found if digest_row(file, row) == each.digest]
        yield found[0] if len(found) == 1 else None


def _describe_changed(
    changed: Sequence[Decision], n_decisions: int, file: TableFile, force: bool
) -> str:
    some = ", ".join(map(str, changed[:MOST_NAMED]))
    some += ", …" if len(changed) > MOST_NAMED else ""
    if force:
        return (
            f"{file.path} does not have {some}, or has the same id several times. "
            "Nothing is changed; give the file that was audited."
        )
    hint = ""
    if len(changed) == n_decisions > 1:
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
    if label is None or _spelled(decision.given, known) != label:
        raise FileError(
            f"Row {row} of {file.path} is labelled {label!r}, and was "
            f"{decision.given!r} when it was reviewed; give the file that was audited."
        )
    if decision.label is None:
        return decision
    new = _spelled(decision.label, known)
    if new is None:
        raise FileError(
            f"Row {row} of {file.path} is to be flipped to {decision.label!r}, which "
            f"no row has; the labels are {', '.join(map(repr, known))}."
        )
    if new == label:
        return replace(decision, kind=KEEP, label=None)
    return replace(decision, label=new)


def _spelled(text: str, known: Sequence[str]) -> str | None:
    """The label that a text stands for: spreadsheets make TRUE of true, 1 of 1.0."""
    if text in known:
        return text
    with suppress(ValueError):
        number = as_text(float(text))
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
        with replacing(path) as part:
            change_parquet(file.path, part, target, changes)
        return
    position = list(file.columns).index(target)
    changed = change_rows(text, file.separator, position, changes)
    content = changed.encode(file.encoding)
    write_whole(path, gzip.compress(content) if path.suffix == ".gz" else content)


def differs_only_in(
    rows: Iterable[int], cleaned: TableFile, file: TableFile, target: str
) -> bool:
    """Whether a file is another, but for labels of some rows and rows left out of them.

    What decisions on these rows have made of the file is such a one: nothing is lost
    if it is made anew.
    """
    if list(cleaned.columns) != list(file.columns):
        return False
    decided, names = set(rows), [name for name in file.columns if name != target]
    own, other = (
        list(
            zip(*(table.columns[name].cells for name in (*names, target)), strict=True)
        )
        for table in (cleaned, file)
    )
    at = 0
    for row, cells in enumerate(other):
        is_next = at < len(own) and own[at][:-1] == cells[:-1]
        if row not in decided and not (is_next and own[at] == cells):
            return False
        at += is_next
    return at == len(own)
