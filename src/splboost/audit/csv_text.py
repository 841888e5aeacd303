"""CSV as text: its records, and changes that leave all else as it was."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
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


def read_records(text: str, separator: str) -> Iterator[Record]:
    """All records; blank lines have no fields."""
    csv.field_size_limit(LONGEST_FIELD)
    pending: list[str] = []

    def lines() -> Iterator[str]:
        for line in re.findall(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", text):
            pending.append(line)
            yield line

    for fields in csv.reader(lines(), delimiter=separator):
        yield Record("".join(pending), fields)
        pending.clear()


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
