"""Reads what has been measured."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from numbers import Real
from pathlib import Path
from typing import Any

import pandas as pd

from splboost._data.cells import MOST_EXACT
from splboost.datasets import UCI_CATALOGUE
from splboost.paper.cells import Cell, Outcome, current_version, settings_of
from splboost.paper.draw import source_of
from splboost.paper.methods import METHODS
from splboost.paper.protocol import Protocol
from splboost.paper.store import Store

COLUMNS = (
    "data",
    "n_train",
    "noise",
    "repeat",
    "method",
    "error",
    "cv_error",
    "n_estimators",
    "chosen",
    "n_fits",
    "fit_seconds",
    "source",
    "protocol",
    "version",
    "settings",
)
DIGEST_LENGTH = 12  # hexadecimal digits
# The greatest that a figure can be; those of parts need not be whole numbers.
HIGHEST = {
    "n_train": MOST_EXACT,
    "noise": 100,
    "repeat": MOST_EXACT,
    "error": 1,
    "cv_error": 1,
    "n_estimators": MOST_EXACT,
    "n_fits": MOST_EXACT,
    "fit_seconds": MOST_EXACT,
}
PARTS = "error", "cv_error", "fit_seconds"
CHOICES = "cv_error", "n_estimators"  # that some methods do not make


def open_store(path: str | Path, *, read_only: bool = False) -> Store:
    """The store of the paper's results."""
    return Store(Path(path), Cell, Outcome, read_only=read_only)


def read_results(
    store: str | Path, protocol: Protocol, *, version: str | None = None
) -> pd.DataFrame:
    """The finished cells of a protocol, whatever their method, as a pandas frame.

    Parameters
    ----------
    store : path
    protocol : Protocol
    version : str, default=None
        Of the results; None is the present one. ``versions_in`` says which there are.

    Returns
    -------
    frame
        A row for each cell: ``data``, ``n_train``, ``noise`` (percent), ``repeat``,
        ``method``, ``error`` (on the test rows), ``cv_error`` (of the choice),
        ``n_estimators`` (rounds chosen), ``chosen`` (other parameters, as JSON),
        ``n_fits``, ``fit_seconds`` (processor time), ``source`` of the data (the
        "catalogue" file, a "copy" with the same counts and the start of its SHA-256,
        or "generated" anew),
        ``protocol`` ("small" or "large"), ``version``, ``settings`` (a digest of all
        that the result depends on).
    """
    version = current_version() if version is None else version
    opened = _open_existing(store)
    try:
        rows = [
            {
                **row,
                "source": json.loads(row["settings"])["source"],
                "protocol": protocol.kind(name),
                "version": version,
                "settings": _digest(row["settings"]),
            }
            for name in protocol.sets
            for row in _rows_of(opened, name, protocol, version)
        ]
    finally:
        opened.close()
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"n_estimators": "Int64", "cv_error": float})


def _rows_of(
    store: Store, name: str, protocol: Protocol, version: str
) -> list[dict[str, Any]]:
    """Those of one set, from one source: that of the most, of equals that of here."""
    found = _rows_by_source(store, name, protocol, version)
    here = _source_here(name)
    best = max(found, key=lambda each: (len(found[each]), each == here), default=None)
    return [] if best is None else sorted(found[best], key=_place)


def _rows_by_source(
    store: Store, name: str, protocol: Protocol, version: str
) -> dict[str, list[dict[str, Any]]]:
    own = protocol.for_set(name)
    found = {}
    for source in sorted(
        {_setting(store, each, "source") for each in store.settings()}
    ):
        settings = {
            settings_of(method, own, source, version): method for method in METHODS
        }
        rows = [
            row
            for row in store.rows(settings)
            if row["data"] == name
            and row["noise"] in own.noise
            and row["repeat"] in own.seeds
        ]
        for row in rows:
            for column in Outcome._fields:
                if not _can_be(column, row[column]):
                    raise store.damaged(f"{column}={row[column]!r}")
        if rows:
            found[source] = rows
    return found


def _setting(store: Store, settings: str, name: str) -> str:
    """One of the settings that a store has for cells."""
    try:
        return str(json.loads(settings)[name])
    except (TypeError, ValueError, KeyError) as error:
        raise store.damaged(error) from error


def count_sources(
    store: str | Path, protocol: Protocol, *, version: str | None = None
) -> dict[str, dict[str, int]]:
    """How many finished cells of each set there are from each source of its data.

    The table of results has those of one source alone, that of the most.
    """
    version = current_version() if version is None else version
    opened = _open_existing(store)
    try:
        return {
            name: {
                source: len(rows)
                for source, rows in _rows_by_source(
                    opened, name, protocol, version
                ).items()
            }
            for name in protocol.sets
        }
    finally:
        opened.close()


def _source_here(name: str) -> str | None:
    try:
        return source_of(name)
    except ValueError:  # a damaged file, which results of old do not need
        return None


def _place(row: dict[str, Any]) -> tuple[int, int, int]:
    return row["noise"], row["repeat"], list(METHODS).index(row["method"])


def import_results(path: str | Path, store: str | Path, protocol: Protocol) -> int:
    """Put exported results into a store, so that a run goes on from them.

    Parameters
    ----------
    path : of a CSV that ``splboost paper export`` has written
    store : path
        Made where there is none. What it has of these cells stays.
    protocol : Protocol
        That of the results. All of them must be of its settings, else nothing is
        imported. A run goes on only from results of the versions that are here.

    Returns
    -------
    int
        The cells that were not there yet.
    """
    rows = _read_export(path)
    cells = [_cell_of(row, protocol, path) for row in rows]
    twice = [cell for cell, n in Counter(cells).items() if n > 1]
    if twice:
        raise ValueError(
            f"{path} has {twice[0].method} on {twice[0].data}, noise {twice[0].noise}, "
            f"repeat {twice[0].repeat} more than once; remove all but one."
        )
    opened = open_store(store)
    try:
        _check_equal(opened, cells, rows)
        return opened.adopt(
            (cell, {name: row[name] for name in Outcome._fields}, row["version"])
            for cell, row in zip(cells, rows, strict=True)
        )
    finally:
        opened.close()


def _check_equal(store: Store, cells: list[Cell], rows: list[dict[str, Any]]) -> None:
    """Refuse what contradicts the store."""
    there = {
        Cell(*(row[name] for name in Cell._fields)): row["error"]
        for row in store.rows({cell.settings for cell in cells})
    }
    for cell, row in zip(cells, rows, strict=True):
        if there.get(cell, row["error"]) != row["error"]:
            raise ValueError(
                f"{store.path} has an error of {there[cell]} of {cell.method} on "
                f"{cell.data}, noise {cell.noise}, repeat {cell.repeat}, and not "
                f"{row['error']}; import into a store of its own."
            )


def _read_export(path: str | Path) -> list[dict[str, Any]]:
    frame = _read_csv(path, dtype={"settings": str})
    missing = [name for name in COLUMNS if name not in frame]
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}; give a file that splboost paper "
            "export has written."
        )
    if frame.empty:
        raise ValueError(f"{path} has no results; give a file that has some.")
    for column in HIGHEST:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        is_text = (numbers.isna() & frame[column].notna()).to_numpy()
        if is_text.any():
            line = int(is_text.argmax())
            _check_row({column: frame[column].iloc[line]}, f"{path}, line {line + 2},")
        frame[column] = numbers
    rows: list[dict[str, Any]] = (
        frame.astype(object).where(frame.notna(), None).to_dict("records")
    )
    for line, row in enumerate(rows, start=2):
        _check_row(row, f"{path}, line {line},")
    return rows


def _read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    remedy = "give a file that splboost paper export has written."
    try:
        return pd.read_csv(path, **options)
    except (FileNotFoundError, IsADirectoryError) as error:
        what = "is a folder" if Path(path).is_dir() else "is not there"
        raise type(error)(f"{path} {what}; {remedy}") from error
    except Exception as error:  # every kind of archive has its own
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read as CSV ({reason}); {remedy}"
        ) from error


def is_export(path: Path) -> bool:
    """Whether a file has the columns of exported results."""
    return tuple(_read_csv(path, nrows=0)) == COLUMNS


def _cell_of(row: dict[str, Any], protocol: Protocol, path: str | Path) -> Cell:
    """The cell of an exported row, if that is of the protocol."""
    name, method = row["data"], row["method"]
    what = f"{path} has {method} on {name}"
    if name not in UCI_CATALOGUE or method not in METHODS:
        known = row["version"] == current_version()
        raise ValueError(
            f"{what}, which {current_version()} does not know; remove it"
            f"{'' if known else ', or install ' + str(row['version'])}."
        )
    if name not in protocol.sets:
        raise ValueError(
            f"{what}, which these options leave out; give the --preset and --sets of "
            "the run that it comes from."
        )
    own = protocol.for_set(name)
    settings = settings_of(method, own, row["source"], row["version"])
    if row["settings"] != _digest(settings):
        raise ValueError(
            f"{what} with other settings than these; give the preset and the options "
            "of the run that it comes from."
        )
    noise, repeat = int(row["noise"]), int(row["repeat"])
    if noise not in own.noise or repeat not in own.seeds:
        raise ValueError(
            f"{what} with noise {noise}, repeat {repeat}, which these options leave "
            "out; give the --preset, --noise and --repeats of the run that it comes "
            "from."
        )
    return Cell(settings, name, noise, repeat, method)


def _check_row(row: dict[str, Any], where: str) -> None:
    """Refuse what no run can have measured."""
    for column, value in row.items():
        if not _can_be(column, value):
            raise ValueError(
                f"{where} has {column}={value!r}, which cannot be; give the file as "
                "splboost paper export has written it."
            )


def _can_be(column: str, value: Any) -> bool:
    if value is None:  # of a method that chooses nothing
        return column in CHOICES or column not in COLUMNS
    if column == "chosen":
        return _is_choice(value)
    if column not in HIGHEST:
        return True
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    figure = float(value)
    may_be_part = column in PARTS or figure.is_integer()
    return 0 <= figure <= HIGHEST[column] and may_be_part


def _is_choice(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


def _digest(settings: str) -> str:
    return hashlib.sha256(settings.encode()).hexdigest()[:DIGEST_LENGTH]


def versions_in(store: str | Path) -> dict[str, int]:
    """The versions whose results a store has, and how many."""
    opened = _open_existing(store)
    try:
        counts: Counter[str] = Counter()
        for settings, n in opened.settings().items():
            counts[_setting(opened, settings, "version")] += n
    finally:
        opened.close()
    return dict(counts)


def _open_existing(path: str | Path) -> Store:
    if not Path(path).exists():
        raise FileNotFoundError(
            f"{path} is not there, so there are no results yet; measure some with "
            "splboost paper run, or name another store."
        )
    return open_store(path, read_only=True)
