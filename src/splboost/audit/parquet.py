"""Parquet files, by pyarrow or polars.

Both leave types as they are. In pandas a whole number beside a missing one is a float.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from splboost._data.cells import is_missing
from splboost._data.frames import first_installed


class FileError(ValueError):
    """What is wrong with a file, and what to do about it."""


def read_parquet(path: Path) -> tuple[Any, nw.DataFrame[Any]]:
    """A file whole, and its columns without the index of a pandas frame."""
    table = _read(path)
    frame = nw.from_native(table, eager_only=True)
    return table, frame.drop(_index_columns(table))


def _read(path: Path) -> Any:
    library = first_installed("pyarrow.parquet", "polars")
    if library is None:
        raise ImportError(f"{path} needs pyarrow or polars to be read; install one.")
    read = getattr(library, "read_table", None) or library.read_parquet
    try:
        return read(path)
    except Exception as error:
        raise FileError(f"{path} is no readable Parquet file ({error}).") from None


def _index_columns(table: Any) -> list[str]:
    """Those in which pandas has saved an index."""
    metadata = getattr(table.schema, "pandas_metadata", None) or {}
    named = metadata.get("index_columns", [])
    return [name for name in named if isinstance(name, str)]


def as_text(cell: Any) -> str | None:
    """A cell as in a CSV; None if it is missing."""
    if not isinstance(cell, np.ndarray) and is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**64:
        return str(int(cell))
    return str(cell)


def change_parquet(
    table: Any,
    source: Path,
    path: Path,
    target: str,
    changes: Mapping[int, str | None],
) -> None:
    """Write a Parquet file again, with other labels and without some rows.

    Parameters
    ----------
    table : what was read from the file
    source : the file
    path : where to
    target : name of the column of labels
    changes : by row: the text of the new label, which another row has, or None to
        leave the row out
    """
    labels = nw.from_native(table, eager_only=True)[target].to_list()
    row_of = {as_text(label): row for row, label in enumerate(labels)}
    origin = np.arange(len(labels))  # rows whose label each row gets: of any type
    kept = np.ones(len(labels), dtype=bool)
    for row, text in changes.items():
        if text is None:
            kept[row] = False
        else:
            origin[row] = row_of[text]
    if hasattr(table, "write_parquet"):
        changed = table.with_columns(table[target].gather(origin))
        try:
            changed.filter(kept).write_parquet(path)
        except Exception as error:  # of polars' own, also where the disk is full
            raise OSError(str(error)) from error
        return
    whole = table.unify_dictionaries()
    position = whole.schema.get_field_index(target)
    changed = whole.set_column(
        position, whole.schema.field(position), whole[target].take(origin)
    )
    _pyarrow().write_table(changed.filter(kept), path, compression=_packing(source))


def _pyarrow() -> Any:
    return import_module("pyarrow.parquet")


def _packing(source: Path) -> str:
    """How a file is compressed, of the first of its parts."""
    metadata = _pyarrow().ParquetFile(source).metadata
    if metadata.num_row_groups == 0 or metadata.num_columns == 0:
        return "snappy"
    name: str = metadata.row_group(0).column(0).compression
    return "none" if name == "UNCOMPRESSED" else name
