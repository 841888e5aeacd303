"""The file of a data set, and what is in it.

A file is a gzip CSV with a header, its last column is ``target``, and empty fields are
missing values. What it holds is checked: by the hash of its contents, or, where there
is none to compare with, by rows, columns, classes and missing values.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from splboost._data.frames import frame_library
from splboost.datasets.catalogue import UCIDataSet

TARGET = "target"


def digest(contents: bytes) -> str:
    """The hash by which the catalogue knows a file."""
    return sha256(contents).hexdigest()


def unpacked(path: Path) -> bytes:
    """The CSV in a file."""
    try:
        return gzip.decompress(path.read_bytes())
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{path} is damaged ({error}); delete it, and fetch it again."
        ) from error


def required_library() -> Any:
    """The module of pandas or polars."""
    library = frame_library()
    if library is None:
        raise ImportError(
            "load_uci returns a frame and found neither pandas nor polars; install one "
            "of them, for example with pip install pandas."
        )
    return library


def read_frame(
    library: Any, contents: bytes, entry: UCIDataSet
) -> tuple[Any, NDArray[Any]]:
    """The features as a frame, and the labels.

    Raises a ValueError that says what is not as in the catalogue.
    """
    header = contents.split(b"\n", 1)[0].decode()
    names = next(csv.reader([header.rstrip("\r")]), [])
    if names != [*entry.columns, TARGET]:
        raise ValueError(
            f"its columns are {', '.join(names)} and not "
            f"{', '.join([*entry.columns, TARGET])}"
        )
    read = _read_pandas if library.__name__ == "pandas" else _read_polars
    X, y = read(library, contents, entry)
    _check_counts(X, y, entry)
    return X, y


def _read_pandas(
    pandas: Any, contents: bytes, entry: UCIDataSet
) -> tuple[Any, NDArray[Any]]:
    words = (*entry.categorical, TARGET)
    frame = pandas.read_csv(
        io.BytesIO(contents),
        dtype=dict.fromkeys(words, str),
        keep_default_na=False,
        na_values=[""],
    )
    y = _labels(frame.pop(TARGET).tolist(), entry)
    return frame.astype(dict.fromkeys(entry.categorical, "category")), y


def _read_polars(
    polars: Any, contents: bytes, entry: UCIDataSet
) -> tuple[Any, NDArray[Any]]:
    words = (*entry.categorical, TARGET)
    frame = polars.read_csv(
        contents,
        schema_overrides=dict.fromkeys(words, polars.String),
        infer_schema_length=None,
    )
    y = _labels(frame[TARGET].to_list(), entry)
    return frame.drop(TARGET).with_columns(
        frame[name].cast(polars.Enum(frame[name].drop_nulls().unique().sort()))
        for name in entry.categorical
    ), y


def _labels(texts: list[Any], entry: UCIDataSet) -> NDArray[Any]:
    known = {str(label): label for label in entry.classes}
    strange = {str(text) for text in texts} - set(known)
    if strange:
        raise ValueError(
            f"its classes are not {', '.join(known)} alone but also "
            f"{', '.join(sorted(strange))}"
        )
    return np.array([known[text] for text in texts])


def _check_counts(X: Any, y: NDArray[Any], entry: UCIDataSet) -> None:
    labels, counts = np.unique(y, return_counts=True)
    found = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    if found != dict(entry.classes):
        raise ValueError(f"its classes have the rows {found} and not {entry.classes}")
    frame = nw.from_native(X)
    for name, dtype in frame.schema.items():
        if name not in entry.categorical and not dtype.is_numeric():
            raise ValueError(f"its column {name!r} holds more than numbers")
    missing = sum(frame.select(nw.all().null_count()).row(0))
    if missing != entry.missing:
        raise ValueError(f"{missing} cells are empty and not {entry.missing}")
