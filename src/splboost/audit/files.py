"""Tables in files: CSV, plain or compressed, and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from splboost.audit.csv_text import MARK, find_separator, is_open, read_fields
from splboost.audit.parquet import FileError, as_text, read_parquet
from splboost.frames import frame_library
from splboost.trees.cells import MOST_EXACT
from splboost.trees.columns import Table

NUMBER, CATEGORY, TEXT = "number", "category", "text"
MISSING = "", "?", "na", "n/a", "nan", "null", "none", "<na>"
PARQUET = ".parquet", ".pq"  # endings of names
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
    """

    path: Path
    columns: dict[str, Column]
    n_rows: int
    text: str | None = None
    separator: str = ","

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


def read_file(path: str | Path, categorical: Sequence[str] = ()) -> TableFile:
    """Read a CSV (also ``.gz``) or Parquet file, and see what its columns are.

    Parameters
    ----------
    path : path
    categorical : names of columns that are categories whatever they look like
    """
    path = Path(path)
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "is not there"
        raise FileError(f"{path} {state}; give the path of a CSV or Parquet file.")
    if path.suffix.lower() in PARQUET:
        found = TableFile(path, *_parse_parquet(path, categorical))
    else:
        text = read_text(path)
        separator = find_separator(text)
        names, cells = _parse_csv(path, text, separator)
        columns = {
            name: as_column(name, own, separator, is_category=name in categorical)
            for name, own in zip(names, cells, strict=True)
        }
        n_rows = len(cells[0]) if cells else 0
        found = TableFile(path, columns, n_rows, text, separator)
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


def read_text(path: Path) -> str:
    """The text of a file, its line ends and byte-order mark as they are."""
    try:
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{path} cannot be read ({error}); is it complete?") from None
    if content[:4] == b"PAR1":
        raise FileError(f"{path} is a Parquet file; call it {path.stem}.parquet.")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileError(
            f"{path} is not UTF-8 text (line {line}); save it as CSV in UTF-8."
        ) from None
    if "\0" in text:
        raise FileError(f"{path} is no text; give a CSV or Parquet file.")
    return text


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
    n_there = len(known) - known.count(None)
    return Column(name, kind_of(distinct - missing, n_there, separator), known)


def kind_of(distinct: Set[str], n_there: int, separator: str = ",") -> str:
    """Numbers, categories, or texts that tell rows apart and not kinds of them.

    Parameters
    ----------
    distinct : the cells of a column, each once
    n_there : how many there are
    separator : of the fields
    """
    if _are_numbers(distinct, separator):
        return NUMBER
    many = len(distinct) > max(MANY_VALUES * n_there, 1)
    return TEXT if many or len(distinct) > MOST_CATEGORIES else CATEGORY


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


def _spelling(cell: str, separator: str) -> str:
    """A number in the one spelling that it has, however many digits it needs."""
    number = _as_number(cell, separator)
    if number.is_integer() and abs(number) >= MOST_EXACT:
        exact = Decimal(_with_point(cell, separator))
        if exact != number:
            return str(int(exact)) if exact == int(exact) else f"{exact:f}"
    return str(as_text(number))


def labels_of(file: TableFile, target: str) -> list[str]:
    """The labels as texts: numbers in one spelling, others without blanks around."""
    column = file.column(target, "--target")
    lacking = [row for row, cell in enumerate(column.cells) if cell is None]
    if lacking:
        raise FileError(
            f"{file.path} has {len(lacking)} rows without a value in {target!r}, the "
            f"first of them row {lacking[0]} (what is empty or one of "
            f"{', '.join(MISSING[1:])} is none); fill them in, rename them or take "
            "them out."
        )
    if column.kind == NUMBER:
        return [_spelling(str(cell), file.separator) for cell in column.cells]
    return [str(cell).strip() for cell in column.cells]


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
) -> tuple[dict[str, Column], int]:
    frame = read_parquet(path)
    columns = {}
    for name in frame.columns:
        own = frame[name]
        kind = own.dtype
        texts = [as_text(cell) for cell in own.to_list()]
        if kind.is_numeric() and name not in categorical:
            columns[name] = Column(name, NUMBER, texts)
        else:
            forced = name in categorical or kind in (nw.Categorical, nw.Enum)
            there = [text for text in texts if text is not None]
            of_texts = CATEGORY if forced else kind_of(set(there), len(there))
            # What looks like a number was saved as a text on purpose.
            columns[name] = Column(
                name, CATEGORY if of_texts == NUMBER else of_texts, texts
            )
    return columns, frame.shape[0]
