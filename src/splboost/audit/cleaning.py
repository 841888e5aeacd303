"""The data with a reviewer's decisions applied; all else stays as it was."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import numpy as np

from splboost._tools.whole_files import replacing, write_whole
from splboost.audit.decisions import KEEP, Decision
from splboost.audit.table_files import (
    PARQUET,
    FileError,
    TableFile,
    labels_of,
    read_records,
)

# Endings of files that nobody would look for a CSV in
NOT_CSV = ".xlsx", ".xlsm", ".xls", ".ods", ".json", ".html", ".zip", ".xz", ".bz2"


def write_cleaned(
    file: TableFile, target: str, decisions: Mapping[int, Decision], path: Path
) -> None:
    """Write a file again with decisions by row, as `locate_decisions` finds them.

    Labels are spelled as the file spells them. A CSV is compressed if its new name ends
    in ``.gz``.
    """
    text, ending = file.text, path.suffix.lower()
    kind = "Parquet" if text is None else "CSV"
    if ending in NOT_CSV or (ending in PARQUET) != (text is None):
        raise FileError(
            f"{file.path} is {kind}, and is written as {kind}; give --out an ending "
            f"that fits, unlike that of {path}."
        )
    changes = find_changes(file, target, decisions)
    if text is None:
        with replacing(path, file.path) as part:
            change_parquet(file, part, target, changes)
        return
    position = list(file.columns).index(target)
    content = change_csv(text, file.separator, position, changes).encode(file.encoding)
    write_whole(path, gzip.compress(content) if ending == ".gz" else content, file.path)


def find_changes(
    file: TableFile, target: str, decisions: Mapping[int, Decision]
) -> dict[int, str | None]:
    """By row that changes: its new label, spelled as in the file; None to drop it."""
    labels, cells = labels_of(file, target), file.columns[target].cells
    # As the first row that has a label spells it
    spelling = dict(zip(labels[::-1], cells[::-1], strict=True)) | {None: None}
    return {
        row: spelling[each.label]
        for row, each in decisions.items()
        if each.kind != KEEP
    }


def is_cleaned(
    there: TableFile, file: TableFile, target: str, decisions: Mapping[int, Decision]
) -> bool:
    """Whether a file is another with some of these decisions applied, and no more.

    So nothing is lost if it is written anew from all of them. A mere copy is none,
    unless no decision changes anything.
    """
    if list(there.columns) != list(file.columns):
        return False
    names = [*(file.columns.keys() - {target}), target]
    after, before = (
        [
            tuple(table.columns[name].text(row) for name in names)
            for row in range(table.n_rows)
        ]
        for table in (there, file)
    )
    changes = find_changes(file, target, decisions)
    if after == before:
        return not changes
    ends = {0}  # how many rows of the cleaned file the rows of the source so far may be
    for row, cells in enumerate(before):
        label = changes.get(row, cells[-1])
        options = [cells] if label is None else [cells, (*cells[:-1], label)]
        kept = {at + 1 for at in ends if at < len(after) and after[at] in options}
        is_dropped = row in changes and label is None
        ends = kept | ends if is_dropped else kept
    return len(after) in ends


# ---------------------------------------------------------------------------------- CSV


def change_csv(
    text: str, separator: str, position: int, changes: Mapping[int, str | None]
) -> str:
    """A CSV with a header, with other values in the column of this position.

    ``changes`` has the new value of each row that changes, or None to leave it out.
    """
    parts, row = [], -2  # the header comes first
    for record in read_records(text, separator):
        row += bool(record.fields)
        if not record.fields or row not in changes:
            parts.append(record.text)
        elif (value := changes[row]) is not None:
            parts.append(_replace_field(record.text, separator, position, value))
    return "".join(parts)


def _replace_field(record: str, separator: str, position: int, value: str) -> str:
    """A record with another value in a field, in quotes if it needs or had them."""
    field = rf'(?:"(?:[^"]|"")*+")?+[^{re.escape(separator)}\r\n]*+'
    before = rf"(?:{field}{re.escape(separator)}){{{position}}}"
    found = re.match(f"({before})({field})", record)
    assert found is not None
    is_quoted = found[2].startswith('"') or re.search(r'["\r\n]|^\s|\s$', value)
    if is_quoted or separator in value:
        value = '"' + value.replace('"', '""') + '"'
    return found[1] + value + record[found.end() :]


# ------------------------------------------------------------------------------ Parquet


def change_parquet(
    file: TableFile, path: Path, target: str, changes: Mapping[int, str | None]
) -> None:
    """Write a Parquet file again, with changes that `find_changes` gives."""
    table, labels = file.table, file.columns[target].cells
    row_of = {label: row for row, label in enumerate(labels)}
    kept = np.array([changes.get(row, "") is not None for row in range(len(labels))])
    origin = np.arange(len(labels))  # each row gets the label of this one, of any type
    for row, text in changes.items():
        if text is not None:
            origin[row] = row_of[text]
    if hasattr(table, "write_parquet"):
        changed = table.with_columns(table[target].gather(origin)).filter(kept)
        try:
            changed.write_parquet(path)
        except Exception as error:  # of polars' own, also where the disk is full
            raise OSError(str(error)) from error
        return
    parquet = import_module("pyarrow.parquet")
    whole = table.unify_dictionaries()
    at = whole.schema.get_field_index(target)
    changed = whole.set_column(at, whole.schema.field(at), whole[target].take(origin))
    metadata, packing = parquet.ParquetFile(file.path).metadata, "snappy"
    if metadata.num_row_groups and metadata.num_columns:
        packing = metadata.row_group(0).column(0).compression
    packing = "none" if packing == "UNCOMPRESSED" else packing
    parquet.write_table(changed.filter(kept), path, compression=packing)
