"""Data sets from OpenML, in the form of the catalogue."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from splboost.datasets.catalogue import TARGET, OpenML, UCIDataSet

_ROWS_AT_ONCE = 10_000


def fetch_csv(entry: UCIDataSet, copy: OpenML, scratch: Path) -> bytes:
    """Download a copy and write it as the catalogue has it.

    Parameters
    ----------
    entry : UCIDataSet
    copy : OpenML
    scratch : Path
        A folder for what is downloaded.
    """
    # This parser needs no pandas. The cache lets it read what was checked by its md5.
    bunch = fetch_openml(
        data_id=copy.id, data_home=scratch, as_frame=False, parser="liac-arff"
    )
    kept = [j for j, name in enumerate(bunch.feature_names) if name not in copy.dropped]
    if len(kept) != len(entry.columns):
        raise ValueError(f"it has {len(kept)} columns and not {len(entry.columns)}")
    data = np.roll(bunch.data, -copy.first_are_last, axis=0)
    target = np.roll(bunch.target.astype(str), -copy.first_are_last)
    columns = []
    coding: dict[str, str] = {}
    for name, j in zip(entry.columns, kept, strict=True):
        values = data[:, j]
        theirs = bunch.categories.get(bunch.feature_names[j])
        if theirs is None and name not in entry.categorical:
            columns.append(_numbers(values))
            continue
        codes, words = _coded(values, theirs)
        if name in copy.words:
            coding = _match(codes, words, copy.words[name], f"values of {name}")
        columns.append(_texts(codes, [coding.get(word, word) for word in words]))
    labels = copy.labels or {count: str(k) for k, count in entry.classes.items()}
    classes, codes = np.unique(target, return_inverse=True)
    coding = _match(codes, classes.tolist(), labels, "classes")
    columns.append(_texts(codes, [coding[label] for label in classes.tolist()]))
    return _written([*entry.columns, TARGET], columns)


def _coded(
    values: NDArray[Any], categories: list[str] | None
) -> tuple[NDArray[np.intp], list[str]]:
    """For each row the place of its word, or -1, and the words."""
    missing = np.isnan(values)
    if categories is None:
        distinct = np.unique(values[~missing])
        categories = [repr(value) for value in distinct.tolist()]
        values = np.searchsorted(distinct, values)
    return np.where(missing, -1, values).astype(np.intp), categories


def _match(
    codes: NDArray[np.intp],
    theirs: Sequence[str],
    ours: Mapping[int, str],
    what: str,
) -> dict[str, str]:
    """Our words for theirs, known by how often they occur."""
    counts = np.bincount(codes[codes >= 0], minlength=len(theirs)).tolist()
    found = {word: n for word, n in zip(theirs, counts, strict=True) if n > 0}
    if sorted(found.values()) != sorted(ours):
        raise ValueError(
            f"the {what} are in {sorted(found.values())} rows and not in {sorted(ours)}"
        )
    return {word: ours[n] for word, n in found.items()}


def _texts(codes: NDArray[np.intp], words: list[str]) -> NDArray[Any]:
    """The word of each row, which is empty for code -1."""
    return np.array([*words, ""], dtype=object)[codes]


def _numbers(values: NDArray[np.float64]) -> NDArray[Any]:
    """As pandas writes them: integers where all are whole, else floats or nothing."""
    if (values == np.round(values)).all():
        return values.astype(np.int64)
    missing = np.isnan(values)
    if missing.any():
        values = values.astype(object)
        values[missing] = None
    return values


def _written(header: list[str], columns: list[NDArray[Any]]) -> bytes:
    """Columns as CSV, made of a few rows at once to save memory."""
    contents = io.StringIO()
    writer: Any = csv.writer(contents, lineterminator="\n")
    writer.writerow(header)
    for start in range(0, len(columns[0]), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        writer.writerows(
            zip(*(column[rows].tolist() for column in columns), strict=True)
        )
    return contents.getvalue().encode()
