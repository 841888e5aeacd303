"""Tables in files: CSV, plain or compressed, and Parquet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import re
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from splboost._data.frames import first_installed
from splboost._data.table import MOST_EXACT, Table, is_missing
from splboost._tools.wording import counted, listed

NUMBER, CATEGORY, TEXT = "number", "category", "text"
MISSING = "", "?", "na", "n/a", "nan", "null", "none", "<na>"
PARQUET = ".parquet", ".pq"  # endings of names
UTF_8 = "utf-8"
UTF_16_MARKS = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
GZIP, NEW_LINE = b"\x1f\x8b", b"\n"
SEPARATORS = ",", ";", "\t", "|"
MARK = "\ufeff"  # some programs start a text with it
EXCEL_HINT = re.compile(MARK + '?"?sep=.')
LONGEST_FIELD = 2**31 - 1
LINE_END = re.compile(r"\r\n|\r|\n")
FEWEST_COLUMNS = 3  # by which rows can be told from other lines
LONGEST_START = 20  # bytes by which a format is known
PARQUET_START = b"PAR1\x15"
UNPACK = "unpack it, or compress it by gzip"
# First bytes of files that are taken for tables, and what to do about them
OTHER_FORMATS = {
    b"PK\x03\x04": (
        "an Excel workbook (.xlsx) or another ZIP archive",
        "open it and save the sheet as CSV UTF-8, or unpack it",
    ),
    b"\xd0\xcf\x11\xe0": (
        "an old Excel workbook (.xls)",
        "open it and save the sheet as CSV UTF-8",
    ),
    PARQUET_START: ("a Parquet file", "let its name end in .parquet"),
    b"SQLite format 3\0": ("an SQLite database", "export the table as CSV"),
    b"BZh9": ("compressed by bzip2", UNPACK),
    b"\xfd7zXZ": ("compressed by xz", UNPACK),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", UNPACK),
}
MOST_CATEGORIES = 100
MOST_NAMED = 30  # columns, in an error
MANY_VALUES = 0.5  # share of rows with different texts, which then tell rows apart


class FileError(ValueError):
    """What is wrong with a file, and what to do about it."""


@dataclass(frozen=True)
class Column:
    """A column of a file."""

    kind: str  # NUMBER, CATEGORY, or TEXT, which is of no use to an audit
    cells: list[str | None]  # texts as in the file; None where they are missing
    # The same, with missing ones that are spelled somehow, as NA or ?, if there are any
    spelled: list[str | None] | None = None

    def text(self, row: int) -> str | None:
        """What stands in the file; None if nothing does."""
        return (self.spelled or self.cells)[row]


@dataclass(frozen=True)
class TableFile:
    """A file that has been read."""

    path: Path
    columns: dict[str, Column]
    n_rows: int
    text: str | None = None  # of a CSV, unpacked; None of a Parquet file
    separator: str = ","
    encoding: str = UTF_8  # by which the text becomes the bytes of the file again
    table: Any = None  # of Parquet, as the library that has read it gives it

    def column(self, name: str, option: str) -> Column:
        """A column by its name, which an option of the command has given."""
        if name not in self.columns:
            known = listed([*map(repr, self.columns)], MOST_NAMED)
            plain = {each.lower(): each for each in self.columns}
            near = get_close_matches(name.lower(), plain, n=1)
            its = f"is it {plain[near[0]]!r}? Its" if near else "its"
            raise FileError(
                f"{self.path} has no column {name!r}, which {option} names; {its} "
                f"columns are {known}."
            )
        return self.columns[name]


def read_file(
    path: str | Path,
    categorical: Sequence[str] = (),
    encoding: str = UTF_8,
    *,
    force: bool = False,
) -> TableFile:
    """Read a CSV (also ``.gz``) or Parquet file, and see what its columns are.

    Columns that ``categorical`` names (several with commas between) are categories
    whatever they look like. With ``force`` a cell of a CSV may hold what could be rows.
    """
    path = Path(path)
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise FileError(f"{path} {state}; give the path of a CSV or Parquet file.")
    is_parquet = path.suffix.lower() in PARQUET
    file = _read_parquet(path) if is_parquet else _read_csv(path, encoding, force)
    for name in split_names(categorical, file.columns):
        column = file.column(name, "--categorical")
        file.columns[name] = replace(column, kind=CATEGORY)
    return file


def split_names(texts: Iterable[str], known: Container[str]) -> list[str]:
    """Names, each of which is a text, or one of several with commas between."""
    parts = ([text] if text in known else text.split(",") for text in texts)
    names = (name if name in known else name.strip() for name in chain(*parts))
    return [name for name in names if name]


def as_file(
    name: str,
    table: Table | None,
    features: Sequence[str],
    target: str,
    labels: Sequence[str],
) -> TableFile:
    """Data that come from no file, as a CSV would have them."""
    columns = {}
    for j, feature in enumerate(features):
        assert table is not None
        kind, spell = (CATEGORY, str) if table.is_categorical[j] else (NUMBER, as_text)
        cells = [None if cell is None else spell(cell) for cell in table.cells(j)]
        columns[feature] = Column(kind, cells)
    columns[target] = Column(CATEGORY, list(labels))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(each.cells for each in columns.values()), strict=True))
    return TableFile(Path(name), columns, len(labels), stream.getvalue())


# --------------------------------------------------------------------------------- text


def read_text(path: Path, encoding: str | None = None) -> tuple[str, str]:
    """The text of a file, with its line ends and byte-order mark as they are.

    Also the encoding that makes the same bytes of it again: for UTF-16 the order of the
    bytes, which the mark tells. ``encoding`` is that of the data, as ``--encoding``
    gives it; other files are UTF-8.
    """
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise FileError(f"{path} cannot be read ({why}); is it complete?") from None
    _refuse_other_formats(path, content, but=b"" if encoding else PARQUET_START)
    try:
        name = codecs.lookup(encoding or UTF_8).name
        "a".encode(name)  # which fails for base64, an encoding of bytes
    except LookupError:
        raise FileError(
            f"--encoding {encoding!r} is not an encoding of texts; give one such as "
            f"{UTF_8}, cp1252 or utf-16."
        ) from None
    if name == "utf-16" and content.startswith(UTF_16_MARKS):
        name += "-le" if content.startswith(codecs.BOM_UTF16_LE) else "-be"
    if name == "utf-8-sig":
        name = UTF_8
    try:
        text = content.decode(name)
        is_same = text.encode(name) == content
    except UnicodeError as error:
        line = content[: getattr(error, "start", 0)].count(NEW_LINE) + 1
        likely = "" if b"\0" in content else ", often cp1252"  # of Windows
        if content.startswith(UTF_16_MARKS):
            likely = " utf-16"
        remedy = "" if encoding is None else f"give its --encoding{likely}, or "
        raise FileError(
            f"{path} is not {name.upper()} text (line {line}); {remedy}save it as CSV "
            "in UTF-8."
        ) from None
    if not is_same:
        raise FileError(
            f"{path} would change if it were written again in {name.upper()}; give "
            "another --encoding, or save it as CSV in UTF-8."
        )
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise FileError(
            f"{path} is not a text: line {line} has a NUL byte; remove it, or save the "
            "table as CSV in UTF-8."
        )
    return text, name


def _refuse_other_formats(path: Path, content: bytes, but: bytes = b"") -> None:
    """Refuse files of other formats, by the bytes they start with."""
    for start, (kind, remedy) in OTHER_FORMATS.items():
        if start != but and content.startswith(start):
            raise FileError(f"{path} is {kind}; {remedy}.")


# ---------------------------------------------------------------------------------- CSV


class Record(NamedTuple):
    """A record of a CSV."""

    text: str  # as it stands in the file, with its line end
    fields: list[str]  # their values; none of a blank line
    line: int  # number of the line in which it starts, from 1


def read_records(
    text: str, separator: str, *, strict: bool = False
) -> Iterator[Record]:
    """All records; lines of nothing but spaces and tabs are blank.

    A byte-order mark belongs to the text of the first record, not to its fields.

    With ``strict``, quotes that do not close, or that text follows, raise a csv.Error.
    """
    csv.field_size_limit(LONGEST_FIELD)
    body = text.removeprefix(MARK)
    lines = list(io.StringIO(body, newline=""))
    reader = csv.reader(lines, delimiter=separator, strict=strict)
    start = 0
    try:
        for fields in reader:
            is_blank = len(fields) < 2 and not "".join(fields).strip(" \t")
            end = reader.line_num
            record = lines[start] if end == start + 1 else "".join(lines[start:end])
            if start == 0:
                record = text[: len(text) - len(body)] + record
            yield Record(record, [] if is_blank else fields, start + 1)
            start = end
    except csv.Error as error:
        raise csv.Error(f"line {start + 1}: {error}") from None


def find_separator(text: str) -> str:
    """The separator that the first record has most of, outside of quotes."""
    records = read_records(text, SEPARATORS[0])
    first = next((each.text for each in records if each.fields), "")
    bare = re.sub(r'"(?:[^"]|"")*"', "", first)
    return max(SEPARATORS, key=bare.count)


def split_csv(
    path: Path, text: str, remedy: str, *, strict: bool = False
) -> tuple[str, list[str], list[Record]]:
    """Separator, names and records of a CSV, or an error that says where it is damaged.

    Blank lines are left out. The error ends with ``remedy``; ``strict`` is as for
    `read_records`.
    """
    if EXCEL_HINT.match(text):
        raise FileError(
            f"{path} starts with a line for Excel (sep=); delete that line."
        )
    separator = find_separator(text)
    found = read_records(text, separator, strict=strict)
    try:
        records = [each for each in found if each.fields]
    except csv.Error as error:
        raise FileError(
            f"{path}, {error}: quotes do not close, or are within a field. Correct "
            f"that line, or {remedy}"
        ) from None
    if not records:
        raise FileError(f"{path} is empty; give a CSV whose first line has the names.")
    names, last = records[0].fields, records[-1]
    *_, after = read_records(f"{last.text}\nx", separator)
    if after.fields != ["x"]:  # the last record would take in what follows
        raise FileError(
            f"{path} has quotes that never close, from line {last.line} on; close "
            "them, or double quotes that are part of a field."
        )
    for _, fields, line in records[1:]:
        if len(fields) != len(names):
            raise FileError(
                f"{path}, line {line} has {counted(len(fields), 'field')} for "
                f"{counted(len(names), 'column')}. Correct that line, or {remedy}"
            )
    return separator, names, records[1:]


def _read_csv(path: Path, encoding: str, force: bool) -> TableFile:
    text, encoding = read_text(path, encoding)
    separator, names, records = split_csv(
        path, text, "put fields that hold separators or quotes in quotes."
    )
    if not force:
        _refuse_swallowed_rows(path, separator, len(names), records)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FileError(
            f"{path} has several columns called {twice[0]!r}; give each its own name."
        )
    rows = [each.fields for each in records]
    columns = {
        name: as_column([fields[j] for fields in rows], separator)
        for j, name in enumerate(names)
    }
    return TableFile(path, columns, len(rows), text, separator, encoding)


def _refuse_swallowed_rows(
    path: Path, separator: str, n_columns: int, records: Iterable[Record]
) -> None:
    """Refuse cells that seem to have taken in rows, because of a stray quote.

    All lines of such a cell have the separators of a row, the first and the last
    together with the other cells.
    """
    if n_columns < FEWEST_COLUMNS:
        return
    for record in records:
        if '"' not in record.text:
            continue
        first = last = record.line
        for at, field in enumerate(record.fields):
            start, *lines = LINE_END.split(field)
            first, last = last, last + len(lines)
            if not lines:
                continue
            *between, end = lines
            found = [line.count(separator) for line in between if line.strip()]
            found += [at + start.count(separator)]
            found += [end.count(separator) + n_columns - 1 - at]
            if set(found) == {n_columns - 1}:
                raise FileError(
                    f"{path}: a cell in quotes goes from line {first} to line {last}, "
                    "and holds what could be rows. Close the quote; or if the cell "
                    "has these lines, use --force."
                )


def as_column(cells: list[str], separator: str = ",") -> Column:
    """A column of a CSV, with its kind."""
    missing = {cell for cell in set(cells) if cell.strip().lower() in MISSING}
    known = set(cells) - missing
    found = [None if cell in missing else cell for cell in cells]
    kind = kind_of_texts(len(known), len(found) - found.count(None))
    if all(number_of(cell, separator) is not None for cell in known):
        kind = NUMBER
    if not any(map(str.strip, missing)):
        return Column(kind, found)
    return Column(kind, found, [cell if cell.strip() else None for cell in cells])


def kind_of_texts(n_distinct: int, n_known: int) -> str:
    """Whether texts are categories, or tell rows apart and not kinds of them."""
    many = n_distinct > max(MANY_VALUES * n_known, 1)
    return TEXT if many or n_distinct > MOST_CATEGORIES else CATEGORY


# ------------------------------------------------------------------- numbers and labels


def number_of(cell: str, separator: str) -> float | None:
    """The finite number that a text stands for, or None."""
    try:
        number = float(_with_point(cell, separator))
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in cell else None


def _with_point(cell: str, separator: str) -> str:
    """Where semicolons separate, a comma may be the decimal point."""
    return cell.replace(",", ".") if separator == ";" else cell


def spell_number(cell: str, separator: str) -> str:
    """The one spelling of a number, with however many digits it needs."""
    text = _with_point(cell, separator)
    number = float(text)
    if number.is_integer() and abs(number) >= MOST_EXACT:
        exact = Decimal(text)
        if exact != number:
            return str(int(exact)) if exact == int(exact) else f"{exact:f}"
    return str(as_text(number))


def labels_of(file: TableFile, target: str) -> list[str | None]:
    """The labels as texts: numbers in one spelling, others without blanks around.

    None where a row has no label.
    """
    column = file.column(target, "--target")
    is_number = column.kind == NUMBER
    spelling = {
        cell: spell_number(cell, file.separator) if is_number else cell.strip()
        for cell in set(column.cells)
        if cell is not None
    }
    return [None if cell is None else spelling[cell] for cell in column.cells]


def as_text(cell: Any) -> str | None:
    """A cell as in a CSV; None if it is missing."""
    if not isinstance(cell, np.ndarray) and is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**64:
        return str(int(cell))
    return str(cell)


def make_table(file: TableFile, names: Sequence[str]) -> Any:
    """A frame of some columns, with categories as such."""
    library = first_installed("pandas", "polars")
    if library is None:
        raise ImportError("The audit of files needs pandas or polars; install one.")
    found = {}
    for name in names:
        column = file.columns[name]
        if column.kind == NUMBER:
            numbers = [
                math.nan if cell is None else number_of(cell, file.separator)
                for cell in column.cells
            ]
            if None in numbers:  # of a Parquet file
                row = numbers.index(None)
                raise FileError(
                    f"{file.path}, row {row}, column {name!r}: {column.cells[row]!r} "
                    "is not a finite number; leave such cells empty, or leave the "
                    "column out (--ignore)."
                )
            found[name] = np.array(numbers, dtype=np.float64)
        elif library.__name__ == "pandas":
            found[name] = library.Categorical(column.cells)
        else:
            found[name] = library.Series(column.cells, dtype=library.Categorical)
    return library.DataFrame(found)


# ------------------------------------------------------------------------------ Parquet


def _read_parquet(path: Path) -> TableFile:
    """Read by pyarrow or polars, which leave types as they are.

    In pandas a whole number beside a missing one becomes a float.
    """
    with path.open("rb") as stream:
        _refuse_other_formats(path, stream.read(LONGEST_START), but=PARQUET_START)
    library = first_installed("pyarrow.parquet", "polars")
    if library is None:
        raise ImportError(f"{path} needs pyarrow or polars to be read; install one.")
    read = getattr(library, "read_table", None) or library.read_parquet
    try:
        table = read(path)
    except Exception as error:
        raise FileError(f"{path} cannot be read as Parquet ({error}).") from None
    frame = nw.from_native(table, eager_only=True)
    metadata = getattr(table.schema, "pandas_metadata", None) or {}
    columns = {}
    for name in frame.columns:
        if name in metadata.get("index_columns", ()):
            continue
        dtype, cells = frame[name].dtype, [as_text(x) for x in frame[name].to_list()]
        known = [cell for cell in cells if cell is not None]
        if dtype in (nw.Categorical, nw.Enum):
            kind = CATEGORY
        elif dtype.is_numeric():
            kind = NUMBER
        else:  # what looks like a number was saved as a text on purpose
            kind = kind_of_texts(len(set(known)), len(known))
        columns[name] = Column(kind, cells)
    return TableFile(path, columns, frame.shape[0], table=table)
