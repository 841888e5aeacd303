"""The data of a case: a set, divided, with wrong labels, and the folds for all methods.

A draw depends on the name of the set, the noise and the seed of the repeat, and on
nothing else. Repeats of one seed share the division of the rows over all levels of
noise, and labels that are wrong at a lower level are so at a higher one.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import astuple, dataclass, replace
from textwrap import fill
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from splboost.datasets import UCI_CATALOGUE, flip_labels, make_ringnorm, make_twonorm
from splboost.datasets.uci import data_folder, load_checked

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TRAIN_SHARE = 0.7
CATALOGUE, COPY, GENERATED = "catalogue", "copy", "generated"
DIGITS = 12  # of the hash that tells copies apart
GENERATORS = {"ringnorm": make_ringnorm, "twonorm": make_twonorm}


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set as numbers."""

    name: str
    X: FloatArray  # categories are whole numbers from 0, missing values NaN
    y: IntArray  # 0 or 1, which is the class that comes last in the alphabet
    n_categories: tuple[int, ...]  # of each column, 0 for numbers
    source: str  # of the data; rows of another source make other draws


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows to train with, whose labels may be wrong, and rows to test with."""

    X: FloatArray
    y: IntArray
    X_test: FloatArray
    y_test: IntArray
    n_categories: tuple[int, ...]
    folds: Any  # as ``cv`` of `spl_path`
    seed: int

    @property
    def categorical(self) -> list[int] | None:
        """Positions of the categorical columns; None where there is none."""
        return [k for k, n in enumerate(self.n_categories) if n] or None

    def one_hot(self) -> Draw:
        """This draw with a column of 0 and 1 for each category."""
        if self.categorical is None:
            return self
        X, X_test = (
            _indicate(each, self.n_categories) for each in (self.X, self.X_test)
        )
        return replace(self, X=X, X_test=X_test, n_categories=(0,) * X.shape[1])


def read_set(name: str, *, download: bool = False) -> DataSet:
    """Read a set of the catalogue, or make it where it can be.

    With ``download`` a set that is not in the data folder is fetched from OpenML.

    Examples
    --------
    >>> from splboost.paper.draw import draw, read_set
    >>> data = read_set("twonorm")
    >>> data.X.shape
    (7400, 20)
    >>> case = draw(data, noise=20, seed=0, n_folds=5)
    >>> case.X.shape, case.X_test.shape, len(case.folds)
    ((5180, 20), (2220, 20), 5)
    """
    may_download = download and name not in GENERATORS
    try:
        frame, labels, found = load_checked(name, None, download=may_download)
    except FileNotFoundError:
        if name not in GENERATORS:
            raise
        X, y = GENERATORS[name](UCI_CATALOGUE[name].rows, random_state=0)
        return DataSet(name, X, y, (0,) * X.shape[1], GENERATED)
    columns, n_categories = zip(
        *map(_numbers, nw.from_native(frame).iter_columns()), strict=True
    )
    y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    # Rows of a copy may be in another order than those of the catalogue's file.
    is_copy = found != UCI_CATALOGUE[name].sha256
    source = f"{COPY} {found[:DIGITS]}" if is_copy else CATALOGUE
    return DataSet(name, np.column_stack(columns), y, n_categories, source)


def _numbers(column: Any) -> tuple[FloatArray, int]:
    """Convert a column to numbers, and count its categories."""
    if column.dtype.is_numeric():
        return column.to_numpy().astype(np.float64), 0
    texts = column.to_list()
    present = sorted({text for text in texts if isinstance(text, str)})
    number = {text: float(k) for k, text in enumerate(present)}
    return np.array([number.get(text, np.nan) for text in texts]), len(present)


def _indicate(X: FloatArray, n_categories: tuple[int, ...]) -> FloatArray:
    """Columns of 0 and 1 for categories; a missing one belongs to none."""
    columns = [
        (X[:, [k]] == np.arange(n)).astype(np.float64) if n else X[:, [k]]
        for k, n in enumerate(n_categories)
    ]
    return np.hstack(columns)


def draw(data: DataSet, *, noise: int, seed: int, n_folds: int) -> Draw:
    """Divide a set, turn some of the labels to train with, and make the folds.

    ``noise`` is the percentage of labels to turn, which is exact, and ``seed`` that of
    the repeat. Folds are stratified by the labels as they then are.
    """
    entropy = seed, zlib.crc32(data.name.encode())
    of_split, of_noise, of_folds = np.random.SeedSequence(entropy).generate_state(3)
    train, test = train_test_split(
        np.arange(data.y.size),
        train_size=TRAIN_SHARE,
        stratify=data.y,
        random_state=int(of_split),
    )
    y, _ = flip_labels(data.y[train], noise / 100, random_state=int(of_noise))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=int(of_folds))
    return Draw(
        data.X[train],
        y,
        data.X[test],
        data.y[test],
        data.n_categories,
        list(folds.split(train, y)),
        seed,
    )


# ------------------------------------------------------------------------------ Table I

ABSENT, UNREADABLE = "absent", "broken"
EXACT, COUNTED = "the catalogue's", "same counts"


def compare_with_data(data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Figures of Table I and of the data, a row for each of its 17 sets.

    ``data`` says what there is: the catalogue's file, one with the same counts, such as
    a download, or nothing that can be read; ``difference``, why the paper's figures are
    not those of the data. Nothing is downloaded.
    """
    titles = "rows", "columns", "majority, %"
    rows = {}
    for name, entry in UCI_CATALOGUE.items():
        if entry.paper is None:
            continue
        found: tuple[Any, ...] = ("-", "-", "-")
        try:
            X, y, digest = load_checked(name, data_home, download=False)
        except FileNotFoundError:
            data = ABSENT
        except (OSError, ValueError):
            data = UNREADABLE
        else:
            largest = np.unique(y, return_counts=True)[1].max()
            data = EXACT if digest == entry.sha256 else COUNTED
            found = *X.shape, round(100 * largest / len(y), 1)
        row: dict[tuple[str, str], Any] = {}
        for title, theirs, ours in zip(
            titles, astuple(entry.paper), found, strict=True
        ):
            row |= {(title, "paper"): theirs, (title, "data"): ours}
        rows[name] = row | {("", "data"): data, ("", "difference"): entry.difference}
    return pd.DataFrame(rows, dtype=object).T


def describe_table_one(data_home: str | os.PathLike[str] | None = None) -> str:
    """Table I of the paper beside the data, as text.

    Examples
    --------
    >>> from splboost.paper.draw import describe_table_one
    >>> print(describe_table_one("no such folder"))
    Table I of the SPLBoost paper, and the data in no such folder
    <BLANKLINE>
    ...
    """
    table = compare_with_data(data_home)
    notes, data = table.pop(("", "difference")), table["", "data"]
    absent = set(data.index[data == ABSENT])
    lines = [
        f"Table I of the SPLBoost paper, and the data in {data_folder(data_home)}",
        "",
        table.to_string(),
        "",
    ]
    for name, note in notes.items():
        if note:
            lines += [fill(f"{name}: {note}", width=79, subsequent_indent="  ")]
    if absent:
        lines += ["Absent sets: load_uci downloads them, or says how to get them."]
    if absent & set(GENERATORS):
        lines += ["splboost paper makes its own ringnorm and twonorm."]
    if (data == UNREADABLE).any():
        lines += ["Broken files: load_uci says what is wrong with them."]
    return "\n".join(lines)
