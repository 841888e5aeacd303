"""The data sets of the SPLBoost paper: from files in a folder, or from OpenML.

A file is a gzip CSV with a header, its last column is ``target``, and empty fields are
missing values. What it holds is checked: by the hash of its contents, or, where there
is none to compare with, by rows, columns, classes and missing values.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import zlib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from splboost._data.frames import first_installed
from splboost._tools.whole_files import write_whole
from splboost._tools.wording import counted
from splboost.datasets.catalogue import TARGET, UCI_CATALOGUE, OpenML, UCIDataSet

FOLDER_VARIABLE = "SPLBOOST_DATA"
_PathLike: TypeAlias = str | os.PathLike[str]


def load_uci(
    name: str,
    *,
    data_home: _PathLike | None = None,
    download: bool = True,
    return_groups: bool = False,
) -> tuple[Any, ...]:
    """Load a data set of the SPLBoost paper.

    The paper's Table I lists 17 sets, most of them from the UCI repository; ``splboost
    paper table`` compares its figures with the data. Here they are in the variants of
    the collection from which the paper has their names, and nothing is shuffled, scaled
    or filled in.

    Parameters
    ----------
    name : str
        A key of `UCI_CATALOGUE`: a name of Table I, or one of three other variants.
    data_home : str or path, default=None
        The folder with the files. By default the one that the environment variable
        SPLBOOST_DATA names, and without it ``splboost`` in the user's folder for caches
        (XDG_CACHE_HOME, else ``~/.cache``).
    download : bool, default=True
        Whether to fetch a set that is not there from OpenML, and to keep it there.
        Source and licence are then printed on stderr. Sets that OpenML does not have
        raise an error that says where they come from.
    return_groups : bool, default=False
        Whether to return the groups, too.

    Returns
    -------
    X : pandas or polars frame of shape (n_samples, n_features)
        In pandas if that is installed. Categories have a categorical dtype, in
        alphabetical order; missing values are missing.
    y : ndarray of shape (n_samples,)
        The labels as in the source, strings or ints.
    groups : ndarray of shape (n_samples,) or None
        What rows belong together, for splitters that take ``groups``: the subject of
        each recording of parkinsons. None for all other sets. Only with
        `return_groups`.

    See Also
    --------
    make_ringnorm, make_twonorm : New draws of ringnorm and twonorm.

    Notes
    -----
    A file is ``<name>.csv.gz``: a gzip CSV with a header, the features, and the labels
    in a last column ``target``; empty fields are missing values. It is read if the
    SHA-256 of the CSV is that of the catalogue.

    A download that gives the same CSV, to the byte, is kept under that name. Any other
    becomes ``<name>.openml.csv.gz``, checked by its rows, columns, classes and missing
    values; its rows may be in another order, and then a split by the same seed is
    another one, too.

    Examples
    --------
    >>> from splboost.datasets import UCI_CATALOGUE, load_uci
    >>> list(UCI_CATALOGUE)
    ['adult', 'bank', 'bank_fd4521', 'blood', 'connect-4', 'connect-4_3class', ...]
    >>> UCI_CATALOGUE["parkinsons"].classes
    {1: 147, 0: 48}

    The data themselves come from a folder or from OpenML:

    >>> X, y = load_uci("adult")  # doctest: +SKIP
    >>> X, y, groups = load_uci("parkinsons", return_groups=True)  # doctest: +SKIP
    """
    X, y, found = load_checked(name, data_home, download=download)
    if not return_groups:
        return X, y
    entry = UCI_CATALOGUE[name]
    if entry.groups is None:
        return X, y, None
    if found != entry.sha256:
        raise ValueError(
            f"{name} is a copy from OpenML here, which does not say what rows belong "
            f"together; put {name}.csv.gz, the catalogue's file, into "
            f"{data_folder(data_home)}, or leave out return_groups."
        )
    return X, y, np.repeat(list(entry.groups), list(entry.groups.values()))


# ------------------------------------------------------------------------------ files


def data_folder(data_home: _PathLike | None) -> Path:
    """The folder with the files."""
    named = data_home or os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "splboost"


def load_checked(
    name: str, data_home: _PathLike | None, *, download: bool
) -> tuple[Any, NDArray[Any], str]:
    """Features, labels, and the hash of the file's contents."""
    if name not in UCI_CATALOGUE:
        raise ValueError(
            f"name={name!r} is unknown; the data sets are {', '.join(UCI_CATALOGUE)}."
        )
    entry, library = UCI_CATALOGUE[name], first_installed("pandas", "polars")
    if library is None:
        raise ImportError(
            "load_uci returns a frame and found neither pandas nor polars; install one "
            "of them, for example with pip install pandas."
        )
    folder = data_folder(data_home)
    own, copy = folder / f"{name}.csv.gz", folder / f"{name}.openml.csv.gz"
    if not own.exists() and not copy.exists():
        if not download or entry.openml is None:
            raise FileNotFoundError(
                f"{name} is not in {folder}. {_remedy(name, entry)}"
            )
        return _download(name, entry, entry.openml, library, folder)
    path = own if own.exists() else copy
    try:
        contents = gzip.decompress(path.read_bytes())
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{path} is damaged ({error}); delete it, and fetch it again."
        ) from error
    found = sha256(contents).hexdigest()
    try:
        if path == own and entry.sha256 and found != entry.sha256:
            raise ValueError(
                f"the SHA-256 of the CSV in it is {found} and not {entry.sha256}"
            )
        X, y = _read_frame(library, contents, entry)
    except ValueError as error:
        raise ValueError(
            f"{path} is not the {name} of the catalogue: {error}. Delete it. "
            f"{_remedy(name, entry)}"
        ) from error
    return X, y, found


def _remedy(name: str, entry: UCIDataSet) -> str:
    if entry.openml:
        return "With download=True, or --download, it is fetched from OpenML."
    return (
        f"It cannot be downloaded: {entry.by_hand}; write it into that "
        f"folder as {name}.csv.gz with pandas' to_csv(index=False), columns named "
        f"as in UCI_CATALOGUE[{name!r}].columns, then target, and missing values empty."
    )


def _download(
    name: str, entry: UCIDataSet, copy: OpenML, library: Any, folder: Path
) -> tuple[Any, NDArray[Any], str]:
    page = f"https://www.openml.org/d/{copy.id}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = TemporaryDirectory(dir=folder, prefix=f".{name}-")
    except OSError as error:
        raise OSError(
            f"{name} cannot be saved in {folder} ({error}); name another folder with "
            f"data_home or {FOLDER_VARIABLE}."
        ) from error
    with scratch:
        print(f"{name}: downloading {page}", file=sys.stderr, flush=True)
        try:
            contents = _fetch_csv(entry, copy, Path(scratch.name))
            X, y = _read_frame(library, contents, entry)
        except Exception as error:
            reason = str(error).rstrip(".")
            raise OSError(
                f"{name} could not be loaded from {page}: {reason}. Try again later, "
                f"or put {name}.csv.gz into {folder}."
            ) from error
        found = sha256(contents).hexdigest()
        exact = found == entry.sha256
        path = folder / (f"{name}.csv.gz" if exact else f"{name}.openml.csv.gz")
        write_whole(path, gzip.compress(contents, 6, mtime=0))
    print(
        f"{name}: saved as {path}\n  source: {entry.source}\n  "
        f"licence: {entry.licence}\n  SHA-256 of the CSV: {found}, "
        + ("that of the catalogue" if exact else "not that of the catalogue"),
        file=sys.stderr,
        flush=True,
    )
    return X, y, found


# --------------------------------------------------------------------------- contents


def _read_frame(
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
    X, texts = read(library, contents, entry)
    known = {str(label): label for label in entry.classes}
    strange = {str(text) for text in texts} - set(known)
    if strange:
        raise ValueError(
            f"its classes are not {', '.join(known)} alone but also "
            f"{', '.join(sorted(strange))}"
        )
    y = np.array([known[text] for text in texts])
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
    return X, y


def _read_pandas(
    pandas: Any, contents: bytes, entry: UCIDataSet
) -> tuple[Any, list[Any]]:
    frame = pandas.read_csv(
        io.BytesIO(contents),
        dtype=dict.fromkeys((*entry.categorical, TARGET), str),
        keep_default_na=False,
        na_values=[""],
    )
    texts = frame.pop(TARGET).tolist()
    return frame.astype(dict.fromkeys(entry.categorical, "category")), texts


def _read_polars(
    polars: Any, contents: bytes, entry: UCIDataSet
) -> tuple[Any, list[Any]]:
    frame = polars.read_csv(
        contents,
        schema_overrides=dict.fromkeys((*entry.categorical, TARGET), polars.String),
        infer_schema_length=None,
    )
    X = frame.drop(TARGET).with_columns(
        frame[name].cast(polars.Enum(frame[name].drop_nulls().unique().sort()))
        for name in entry.categorical
    )
    return X, frame[TARGET].to_list()


# ----------------------------------------------------------------------------- OpenML


def _fetch_csv(entry: UCIDataSet, copy: OpenML, scratch: Path) -> bytes:
    """Download a copy into a folder, and write it as the catalogue has it."""
    from sklearn.datasets import fetch_openml  # imports much of scikit-learn

    # This parser needs no pandas. The cache lets it read what was checked by its md5.
    bunch = fetch_openml(
        data_id=copy.id, data_home=scratch, as_frame=False, parser="liac-arff"
    )
    kept = [j for j, name in enumerate(bunch.feature_names) if name not in copy.dropped]
    if len(kept) != len(entry.columns):
        n_columns = counted(len(kept), "column")
        raise ValueError(f"it has {n_columns} and not {len(entry.columns)}")
    data = np.roll(bunch.data, -copy.first_are_last, axis=0)
    target = np.roll(bunch.target.astype(str), -copy.first_are_last)
    columns: list[Any] = []
    coding: dict[str, str] = {}
    for name, j in zip(entry.columns, kept, strict=True):
        categories = bunch.categories.get(bunch.feature_names[j])
        if categories is None and name not in entry.categorical:
            columns.append(_numbers(data[:, j]))
            continue
        words = _words(data[:, j], categories)
        if name in copy.words:
            coding = _match(words, copy.words[name], f"values of {name}")
        columns.append([coding.get(word, word) for word in words])
    labels = copy.labels or {count: str(k) for k, count in entry.classes.items()}
    coding = _match(target, labels, "classes")
    columns.append([coding[label] for label in target])
    contents = io.StringIO()
    writer: Any = csv.writer(contents, lineterminator="\n")
    writer.writerow([*entry.columns, TARGET])
    writer.writerows(zip(*columns, strict=True))
    return contents.getvalue().encode()


def _numbers(values: NDArray[np.float64]) -> NDArray[Any]:
    """As pandas writes them: integers where all are whole, else floats or nothing."""
    if (values == np.round(values)).all():
        return values.astype(np.int64)
    return np.where(np.isnan(values), None, values)  # type: ignore[call-overload]


def _words(values: NDArray[Any], categories: list[str] | None) -> NDArray[Any]:
    """The word of each row, which is empty where it is missing."""
    distinct, codes = np.unique(values, return_inverse=True)
    words = [
        "" if np.isnan(value) else categories[int(value)] if categories else repr(value)
        for value in distinct.tolist()
    ]
    return np.array(words, dtype=object)[codes]


def _match(words: NDArray[Any], ours: Mapping[int, str], what: str) -> dict[str, str]:
    """Our words for theirs, known by how often they occur."""
    theirs, counts = np.unique(words[words != ""], return_counts=True)
    if sorted(counts.tolist()) != sorted(ours):
        raise ValueError(
            f"the {what} are in {sorted(counts.tolist())} rows and not in "
            f"{sorted(ours)}"
        )
    return {word: ours[n] for word, n in zip(theirs, counts.tolist(), strict=True)}
