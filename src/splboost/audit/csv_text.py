"""CSV as text: its records, and changes that leave all else as it was."""

from __future__ import annotations

import csv
import gc
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

SEPARATORS = ",", ";", "\t", "|"
MARK = "\ufeff"  # some programs write it first
LONGEST_FIELD = 2**31 - 1


class Record(NamedTuple):
    """A record of a CSV.

    Attributes
    ----------
    text : as it stands in the file, with its line end
    fields : their values
    """

    text: str
    fields: list[str]


def read_records(
    text: str, separator: str, *, strict: bool = False
) -> Iterator[Record]:
    """All records; lines of nothing but spaces and tabs have no fields.

    With ``strict``, quotes that do not close, or that text follows, raise a csv.Error.
    """
    csv.field_size_limit(LONGEST_FIELD)
    pending: list[str] = []

    def lines() -> Iterator[str]:
        for found in re.finditer(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", text):
            pending.append(found[0])
            yield found[0]

    for fields in csv.reader(lines(), delimiter=separator, strict=strict):
        yield Record("".join(pending), [] if _is_blank(fields) else fields)
        pending.clear()


def _is_blank(fields: list[str]) -> bool:
    return len(fields) < 2 and not "".join(fields).strip(" \t")


def read_fields(text: str, separator: str) -> tuple[list[list[str]], str]:
    """Fields of all records but blank lines, and the text from the last of these on.

    Faster than ``read_records``, which keeps the text of all.
    """
    csv.field_size_limit(LONGEST_FIELD)
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator)
    found, start, last = [], 0, 0
    with _no_garbage():
        for fields in reader:
            if not _is_blank(fields):
                found.append(fields)
                last = start
            start = reader.line_num
    lines.seek(0)
    return found, "".join(islice(lines, last, None))


@contextmanager
def _no_garbage() -> Iterator[None]:
    """While many lists are made that stay, looking for garbage takes half the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def find_separator(text: str) -> str:
    """The one of which the first record has most."""
    records = read_records(text.removeprefix(MARK), SEPARATORS[0])
    first = next((each.text for each in records if each.fields), "")
    bare = re.sub(r'"(?:[^"]|"")*"', "", first)
    return max(SEPARATORS, key=bare.count)


def _field(separator: str) -> re.Pattern[str]:
    """A field as it stands; the group is what is in quotes, if these close."""
    return re.compile(rf'("(?:[^"]|"")*+")?[^{re.escape(separator)}\r\n]*')


def is_open(text: str, separator: str) -> bool:
    """Whether quotes of a record never close, which then takes up all that follows."""
    field, start = _field(separator), 0
    while start < len(text):
        found = field.match(text, start)
        assert found is not None
        if text[start] == '"' and found[1] is None:
            return True
        start = found.end() + 1
    return False


def write_field(value: str, separator: str, *, quoted: bool = False) -> str:
    """A value as a field; in quotes where it needs them."""
    needs = re.search(r'["\r\n]|^\s|\s$', value) or separator in value
    return '"' + value.replace('"', '""') + '"' if quoted or needs else value


def replace_field(text: str, separator: str, position: int, value: str) -> str:
    """A record with another value in one of its fields, in quotes where it had them."""
    field, start = _field(separator), 0
    for _ in range(position):
        found = field.match(text, start)
        assert found is not None
        start = found.end() + len(separator)
    found = field.match(text, start)
    assert found is not None
    new = write_field(value, separator, quoted=found[0].startswith('"'))
    return text[:start] + new + text[found.end() :]


def change_rows(
    text: str, separator: str, position: int, changes: Mapping[int, str | None]
) -> str:
    """A CSV with other values in one column, and without some rows.

    Parameters
    ----------
    text : str
        With a header.
    separator : str
    position : int
        Of the column.
    changes : by row, from 0: the new value, or None to leave the row out
    """
    mark = MARK if text.startswith(MARK) else ""
    parts, row = [], -2  # the header comes first
    for record in read_records(text[len(mark) :], separator):
        row += bool(record.fields)
        if row < 0 or not record.fields or row not in changes:
            parts.append(record.text)
        elif (value := changes[row]) is not None:
            parts.append(replace_field(record.text, separator, position, value))
    return mark + "".join(parts)
