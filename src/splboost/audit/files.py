"""Tables in files: CSV, plain or compressed, and Parquet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from splboost._data.cells import MOST_EXACT
from splboost._data.frames import frame_library
from splboost._data.table import Table
from splboost.audit.csv_text import MARK, find_separator, is_open, read_fields
from splboost.audit.parquet import FileError, as_text, read_parquet

NUMBER, CATEGORY, TEXT = "number", "category", "text"
MISSING = "", "?", "na", "n/a", "nan", "null", "none", "<na>"
PARQUET = ".parquet", ".pq"  # endings of names
UTF_8 = "utf-8"
UTF_16_MARKS = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
GZIP, NEW_LINE = b"\x1f\x8b", b"\n"
PARQUET_START = b"PAR1\x15"
EXCEL_HINT = re.compile(MARK + '?"?sep=.')
LONGEST_START = 20  # bytes by which a format is known
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
    b"ARROW1\0": ("a Feather file", "save it as Parquet or CSV"),
    b"SQLite format 3\0": ("an SQLite database", "export the table as CSV"),
    b"BZh9": ("compressed by bzip2", "unpack it, or compress it by gzip"),
    b"\xfd7zXZ": ("compressed by xz", "unpack it, or compress it by gzip"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "unpack it, or compress it by gzip"),
    b"%PDF-": ("a PDF document", "give a CSV or Parquet file"),
}
MOST_CATEGORIES = 100
MOST_NAMED = 30  # columns, in an error
MOST_ODD = 0.1  # of the cells of a column, where these are odd and not the column
MANY_VALUES = 0.5  # of the rows, from which on a text tells rows apart, not kinds


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Attributes
    ----------
    name : str
    kind : "number", "category" or "text", which is of no use to an audit
    cells : texts as in the file; None where they are missing
    """

    name: str
    kind: str
    cells: list[str | None]


@dataclass(frozen=True)
class TableFile:
    """A file that has been read.

    Attributes
    ----------
    path : Path
    columns : dict of Column, by name
    n_rows : int
    text : of a CSV that is not compressed, or was; None of a Parquet file
    separator : of a CSV
    encoding : by which the text of a CSV comes back to the bytes of the file
    table : of a Parquet file, as the library that has read it gives it
    """

    path: Path
    columns: dict[str, Column]
    n_rows: int
    text: str | None = None
    separator: str = ","
    encoding: str = UTF_8
    table: Any = None

    def column(self, name: str, option: str) -> Column:
        """A column by its name, which an option has given."""
        if name not in self.columns:
            known = ", ".join(map(repr, list(self.columns)[:MOST_NAMED]))
            more = ", …" if len(self.columns) > MOST_NAMED else ""
            plain = {each.lower(): each for each in self.columns}
            near = get_close_matches(name.lower(), plain, n=1)
            its = f"is it {plain[near[0]]!r}? Its" if near else "its"
            raise FileError(
                f"{self.path} has no column {name!r}, which {option} names; {its} "
                f"columns are {known}{more}."
            )
        return self.columns[name]


def read_file(
    path: str | Path, categorical: Sequence[str] = (), encoding: str = UTF_8
) -> TableFile:
    """Read a CSV (also ``.gz``) or Parquet file, and see what its columns are.

    Parameters
    ----------
    path : path
    categorical : names of columns that are categories whatever they look like
    encoding : of the text of a CSV
    """
    path = Path(path)
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "is not there"
        raise FileError(f"{path} {state}; give the path of a CSV or Parquet file.")
    if path.suffix.lower() in PARQUET:
        with path.open("rb") as stream:
            _refuse_other_formats(path, stream.read(LONGEST_START), but=PARQUET_START)
        table, columns, n_rows = _parse_parquet(path, categorical)
        found = TableFile(path, columns, n_rows, table=table)
    else:
        text, encoding = read_text(path, encoding)
        if EXCEL_HINT.match(text):
            raise FileError(
                f"{path} starts with a line for Excel (sep=); delete that line."
            )
        separator = find_separator(text)
        names, cells = _parse_csv(path, text, separator)
        columns = {
            name: as_column(name, own, separator, is_category=name in categorical)
            for name, own in zip(names, cells, strict=True)
        }
        n_rows = len(cells[0]) if cells else 0
        found = TableFile(path, columns, n_rows, text, separator, encoding)
    for name in categorical:
        found.column(name, "--categorical")
    return found


def columns_of(names: Sequence[str], table: Table) -> list[Column]:
    """The columns of a table as texts."""
    columns = []
    for j, name in enumerate(names):
        if table.is_categorical[j]:
            values, index = table.category(j)
            texts: list[str | None] = [
                None if k < 0 else str(values[k]) for k in index.tolist()
            ]
            columns.append(Column(name, CATEGORY, texts))
        else:
            numbers = table.numeric(j).tolist()
            texts = [None if x != x else as_text(x) for x in numbers]
            columns.append(Column(name, NUMBER, texts))
    return columns


def as_file(
    name: str, columns: Sequence[Column], target: str, labels: Sequence[str]
) -> TableFile:
    """A table that comes from no file, as a CSV would have it."""
    everything = [*columns, Column(target, CATEGORY, list(labels))]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.name for column in everything])
    writer.writerows(zip(*(column.cells for column in everything), strict=True))
    by_name = {column.name: column for column in everything}
    return TableFile(Path(name), by_name, len(labels), stream.getvalue())


def read_text(
    path: Path, encoding: str = UTF_8, *, is_data: bool = True
) -> tuple[str, str]:
    """The text of a file, its line ends and byte-order mark as they are.

    Also the encoding that makes the same bytes of it again: of UTF-16 the order of the
    bytes, which the mark tells. ``is_data`` is whether ``--encoding`` is about it.
    """
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{path} cannot be read ({error}); is it complete?") from None
    if is_data:
        _refuse_other_formats(path, content)
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)  # which fails for base64, an encoding of bytes
    except LookupError:
        raise FileError(
            f"--encoding {encoding!r} is no encoding of texts; give one such as "
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
        at = getattr(error, "start", 0)
        remedy = f"give its --encoding{_guess(content)}, or " if is_data else ""
        raise FileError(
            f"{path} is not {name.upper()} text ({_place(content, at, name)}); "
            f"{remedy}save it as CSV in UTF-8."
        ) from None
    if not is_same:
        raise FileError(
            f"{path} would not come back the same in {name.upper()}; give another "
            "--encoding, or save it as CSV in UTF-8."
        )
    if "\0" in text:
        raise FileError(f"{path} is no text; give a CSV or Parquet file.")
    return text, name


def _refuse_other_formats(path: Path, content: bytes, but: bytes = b"") -> None:
    """Refuse files that are no text, by the bytes they start with."""
    for start, (kind, remedy) in OTHER_FORMATS.items():
        if start != but and content.startswith(start):
            raise FileError(f"{path} is {kind}; {remedy}.")


def _place(content: bytes, at: int, encoding: str) -> str:
    """The line of a byte that is no text."""
    if encoding.startswith(("utf-16", "utf-32")):
        return f"byte {at}"
    return f"line {content[:at].count(NEW_LINE) + 1}"


def _guess(content: bytes) -> str:
    """The encoding that spreadsheets on Windows use, where it is likely."""
    if content.startswith(UTF_16_MARKS):
        return " utf-16"
    return "" if b"\0" in content else ", often cp1252"


def _parse_csv(
    path: Path, text: str, separator: str
) -> tuple[list[str], list[list[str]]]:
    """Names and cells of the columns."""
    try:
        records, last = read_fields(text.removeprefix(MARK), separator)
    except csv.Error as error:
        raise FileError(
            f"{path} is no readable CSV ({error}); save it as CSV in UTF-8."
        ) from None
    if records and is_open(last, separator):
        raise FileError(
            f"{path} has quotes that never close, in row {len(records) - 2}; close "
            "them, or double quotes that are part of a field."
        )
    names, *rows = records or [[]]
    if not names:
        raise FileError(f"{path} is empty; give a CSV whose first line has the names.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FileError(
            f"{path} has several columns called {twice[0]!r}; give each its own name."
        )
    for number, fields in enumerate(rows):
        if len(fields) != len(names):
            raise FileError(
                f"{path} has {len(names)} columns, but row {number} has {len(fields)} "
                f"fields; mend that row, or put fields that hold {separator!r} in "
                "quotes."
            )
    return names, [[fields[j] for fields in rows] for j in range(len(names))]


def as_column(
    name: str, cells: Sequence[str], separator: str = ",", *, is_category: bool = False
) -> Column:
    """A column of a CSV, with its kind."""
    distinct = set(cells)
    missing = {cell for cell in distinct if cell.strip().lower() in MISSING}
    known: list[str | None] = list(cells)
    if missing:
        known = [None if cell in missing else cell for cell in cells]
    if is_category:
        return Column(name, CATEGORY, known)
    there = distinct - missing
    if _are_numbers(there, separator):
        return Column(name, NUMBER, known)
    n_there = len(known) - known.count(None)
    return Column(name, kind_of_texts(len(there), n_there), known)


def kind_of_texts(n_distinct: int, n_there: int) -> str:
    """Categories, or texts that tell rows apart and not kinds of them.

    Parameters
    ----------
    n_distinct : number of different texts in a column
    n_there : number of cells that are not missing
    """
    many = n_distinct > max(MANY_VALUES * n_there, 1)
    return TEXT if many or n_distinct > MOST_CATEGORIES else CATEGORY


def numbers_of(column: Column, separator: str = ",") -> NDArray[np.float64]:
    """The cells of a column of numbers; NaN where they are missing."""
    values = [
        math.nan if cell is None else _as_number(cell, separator)
        for cell in column.cells
    ]
    return np.array(values, dtype=np.float64)


def find_odd_cell(column: Column, separator: str = ",") -> tuple[int, str] | None:
    """Row and text of the first cell that keeps a column from being one of numbers.

    None if these are no exception, but many.
    """
    odd = {
        cell for cell in column.cells if cell and not _are_numbers([cell], separator)
    }
    rows = [row for row, cell in enumerate(column.cells) if cell in odd]
    if not rows or len(rows) > MOST_ODD * len(column.cells):
        return None
    return rows[0], str(column.cells[rows[0]])


def _are_numbers(cells: Iterable[str], separator: str) -> bool:
    try:
        return all(
            math.isfinite(_as_number(cell, separator)) and "_" not in cell
            for cell in cells
        )
    except ValueError:
        return False


def _as_number(cell: str, separator: str) -> float:
    return float(_with_point(cell, separator))


def _with_point(cell: str, separator: str) -> str:
    """Where semicolons separate, a comma may be the decimal one."""
    return cell.replace(",", ".") if separator == ";" else cell


def spell_number(cell: str, separator: str) -> str:
    """A number in the one spelling that it has, however many digits it needs."""
    number = _as_number(cell, separator)
    if number.is_integer() and abs(number) >= MOST_EXACT:
        exact = Decimal(_with_point(cell, separator))
        if exact != number:
            return str(int(exact)) if exact == int(exact) else f"{exact:f}"
    return str(as_text(number))


def labels_of(file: TableFile, target: str) -> list[str | None]:
    """The labels as texts: numbers in one spelling, others without blanks around.

    None where a row has no label.
    """
    column = file.column(target, "--target")
    if column.kind == NUMBER:
        return [
            None if cell is None else spell_number(cell, file.separator)
            for cell in column.cells
        ]
    return [None if cell is None else cell.strip() for cell in column.cells]


def make_table(file: TableFile, names: Sequence[str]) -> Any:
    """A frame of some columns, with categories as such."""
    library = frame_library()
    if library is None:
        raise ImportError("The audit of files needs pandas or polars; install one.")
    found = {}
    for name in names:
        column = file.columns[name]
        if column.kind == NUMBER:
            found[name] = numbers_of(column, file.separator)
            infinite = np.flatnonzero(np.isinf(found[name]))
            if infinite.size:
                row = int(infinite[0])
                raise FileError(
                    f"{file.path}, row {row}, column {name!r}: {column.cells[row]!r} "
                    "is no number to compare with; leave such cells empty, or leave "
                    "the column out (--ignore)."
                )
        elif library.__name__ == "pandas":
            found[name] = library.Categorical(column.cells)
        else:
            found[name] = library.Series(column.cells, dtype=library.Categorical)
    return library.DataFrame(found)


def _parse_parquet(
    path: Path, categorical: Sequence[str]
) -> tuple[Any, dict[str, Column], int]:
    table, frame = read_parquet(path)
    columns = {}
    for name in frame.columns:
        own = frame[name]
        kind = own.dtype
        texts = [as_text(cell) for cell in own.to_list()]
        if kind.is_numeric() and name not in categorical:
            columns[name] = Column(name, NUMBER, texts)
        else:
            # What looks like a number was saved as a text on purpose.
            there = [text for text in texts if text is not None]
            found = kind_of_texts(len(set(there)), len(there))
            if name in categorical or kind in (nw.Categorical, nw.Enum):
                found = CATEGORY
            columns[name] = Column(name, found, texts)
    return table, columns, frame.shape[0]
