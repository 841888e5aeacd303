"""The results of the protocol: what a cell is, and the table of those in a store.

A cell is a method on a draw. Its settings, as JSON, are all that its result depends on
beside set, noise, repeat and method. Results can be exported, and imported elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import closing
from functools import cache
from importlib.metadata import version as version_of
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.protocol import METHODS, Protocol
from splboost.paper.store import Store

DEFINITION = 1  # one more whenever the same settings give other draws
DIGEST_LENGTH = 12  # hexadecimal digits
REMEDY = "give a file that splboost paper export has written."


class Cell(NamedTuple):
    """What is measured in one go; ``settings`` are those that the result depends on."""

    settings: str
    data: str
    noise: int
    repeat: int
    method: str

    def __str__(self) -> str:
        place = f"noise {self.noise}%, repeat {self.repeat}"
        return f"{self.method} on {self.data}, {place}"


class Outcome(NamedTuple):
    """What is measured."""

    n_train: int  # rows
    error: float  # on the test rows
    cv_error: float | None  # mean over the folds of what was chosen; None if nothing
    n_estimators: int | None  # rounds chosen; None where none were
    chosen: str  # the other parameters, as JSON
    n_fits: int  # boosters fitted
    fit_seconds: float  # of processor time, for choosing and fitting


TYPES: dict[str, Any] = {  # of the columns of an exported table
    "data": str,
    "n_train": int,
    "noise": int,
    "repeat": int,
    "method": str,
    "error": float,
    "cv_error": float,  # missing where nothing was chosen, as are the rounds
    "n_estimators": "Int64",
    "chosen": str,
    "n_fits": int,
    "fit_seconds": float,
    **dict.fromkeys(("source", "protocol", "version", "settings"), str),
}
COLUMNS = tuple(TYPES)
NUMBERS = {name: kind for name, kind in TYPES.items() if kind is not str}


@cache
def current_version() -> str:
    """Versions that results depend on: splboost's, and scikit-learn's for splits."""
    packages = "splboost", "scikit-learn"
    return ", ".join(f"{package} {version_of(package)}" for package in packages)


def settings_of(
    method: str, protocol: Protocol, source: str | None, version: str | None = None
) -> str:
    """All that a result of a method depends on, as JSON.

    ``protocol`` is that of the set, and ``source`` where its data come from. Without a
    ``version`` it is the present one.
    """
    settings = {name: getattr(protocol, name) for name in METHODS[method].settings}
    settings |= {
        "version": version or current_version(),
        "definition": [DEFINITION, METHODS[method].definition],
        "source": source,
    }
    return json.dumps(settings, sort_keys=True)


def _digest(settings: str) -> str:
    return hashlib.sha256(settings.encode()).hexdigest()[:DIGEST_LENGTH]


def open_store(path: str | Path, *, read_only: bool = False) -> Store:
    """The store of the paper's results."""
    return Store(Path(path), Cell, Outcome, read_only=read_only)


# ------------------------------------------------------------------------------ reading


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
        that the result depends on). Where results of a set come from several sources,
        the table has those of the source with most of them.
    """
    frame = _read_protocol(store, protocol, version)
    counts = frame.groupby(["data", "source"]).size()
    frame = _where(frame, ["data", "source"], set(counts.groupby("data").idxmax()))
    order = {name: k for k, name in enumerate((*protocol.sets, *METHODS))}
    frame = frame.sort_values(
        ["data", "noise", "repeat", "method"],
        key=lambda column: column.map(lambda value: order.get(value, value)),
        ignore_index=True,
    )
    frame["protocol"] = frame["data"].map(protocol.kind)
    frame["settings"] = frame["settings"].map(_digest)
    return frame


def count_sources(
    store: str | Path, protocol: Protocol, *, version: str | None = None
) -> pd.Series:
    """How many finished cells of each set there are from each source of its data."""
    frame = _read_protocol(store, protocol, version)
    return frame.groupby(["data", "source"]).size()


def versions_in(store: str | Path) -> dict[str, int]:
    """Number of results of each version in a store."""
    return dict(_read_all(store)["version"].value_counts())


def _read_protocol(
    store: str | Path, protocol: Protocol, version: str | None
) -> pd.DataFrame:
    """The finished cells of a protocol, from all sources of data."""
    frame = _read_all(store)
    wanted = set()
    for name in protocol.sets:
        own = protocol.for_set(name)
        for source in frame.loc[frame["data"] == name, "source"].unique():
            settings = {settings_of(m, own, source, version) for m in METHODS}
            wanted |= set(product(settings, [name], own.noise, own.seeds))
    return _where(frame, ["settings", "data", "noise", "repeat"], wanted)


def _where(frame: pd.DataFrame, names: list[str], wanted: set[Any]) -> pd.DataFrame:
    """The rows in which these columns have one of the wanted combinations."""
    rows = zip(*(frame[name] for name in names), strict=True)
    is_wanted = [row in wanted for row in rows]
    return frame[np.array(is_wanted, dtype=bool)]


def _read_all(path: str | Path) -> pd.DataFrame:
    """All finished cells of a store, with the version and the source of the data."""
    if not Path(path).exists():
        raise FileNotFoundError(
            f"{path} is not there, so there are no results yet; measure some with "
            "splboost paper run, or name another store."
        )
    with closing(open_store(path, read_only=True)) as opened:
        rows = list(opened.find().values())
        try:
            settings = {
                text: json.loads(text) for text in {r["settings"] for r in rows}
            }
            for row in rows:
                for name in ("version", "source"):
                    row[name] = settings[row["settings"]][name]
            return pd.DataFrame(rows, columns=list(COLUMNS)).astype(NUMBERS)
        except (TypeError, ValueError, KeyError) as error:
            raise opened.damaged(error) from error


# ---------------------------------------------------------------------------- importing


def import_results(path: str | Path, store: str | Path, protocol: Protocol) -> int:
    """Put exported results into a store, so that a run goes on from them.

    All of them must be of the protocol's settings, else nothing is imported. A run goes
    on only from results of the versions that are here. What the store, which is made
    where there is none, has of these cells stays. Returns how many were not there yet.
    """
    rows = _read_export(path)
    cells = [_cell_of(row, protocol, path) for row in rows]
    ((cell, n), *_) = Counter(cells).most_common(1)
    if n > 1:
        raise ValueError(f"{path} has {cell} more than once; remove all but one.")
    with closing(open_store(store)) as opened:
        there = opened.find()
        for cell, row in zip(cells, rows, strict=True):
            if cell in there and there[cell]["error"] != row["error"]:
                raise ValueError(
                    f"{store} has an error of {there[cell]['error']} of {cell}, and "
                    f"not {row['error']}; import into a store of its own."
                )
        return opened.adopt(
            (cell, row, row["version"]) for cell, row in zip(cells, rows, strict=True)
        )


def is_export(path: Path) -> bool:
    """Whether a file has the columns of exported results."""
    return tuple(_read_csv(path, nrows=0)) == COLUMNS


def _read_export(path: str | Path) -> list[dict[str, Any]]:
    """Read the rows of an exported table, and check them."""
    missing = [name for name in COLUMNS if name not in _read_csv(path, nrows=0)]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}; {REMEDY}")
    frame = _read_csv(path, dtype=TYPES)
    if frame.empty:
        raise ValueError(f"{path} has no results; give a file that has some.")
    for line, error in enumerate(frame["error"], start=2):
        if not 0 <= error <= 1:
            raise ValueError(
                f"{path}, line {line}, has error={error}, which cannot be; {REMEDY}"
            )
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def _read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    try:
        return pd.read_csv(path, **options)
    except (FileNotFoundError, IsADirectoryError) as error:
        what = "is a folder" if Path(path).is_dir() else "is not there"
        raise type(error)(f"{path} {what}; {REMEDY}") from error
    except Exception as error:  # every kind of archive has its own
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read as CSV ({reason}); {REMEDY}"
        ) from error


def _cell_of(row: dict[str, Any], protocol: Protocol, path: str | Path) -> Cell:
    """The cell of an exported row, which must belong to the protocol."""
    name, noise, repeat, method = (row[each] for each in Cell._fields[1:])
    what = f"{path} has {method} on {name}"
    if name not in UCI_CATALOGUE or method not in METHODS:
        known = row["version"] == current_version()
        raise ValueError(
            f"{what}, which {current_version()} does not know; remove it"
            f"{'' if known else ', or install ' + str(row['version'])}."
        )
    own = protocol.for_set(name)
    if name not in protocol.sets or noise not in own.noise or repeat not in own.seeds:
        raise ValueError(
            f"{what} with noise {noise}, repeat {repeat}, which these options leave "
            "out; give the --preset, --sets, --noise and --repeats of the run that it "
            "comes from."
        )
    settings = settings_of(method, own, row["source"], row["version"])
    if row["settings"] != _digest(settings):
        raise ValueError(
            f"{what} with other settings than these; give the preset and the options "
            "of the run that it comes from."
        )
    return Cell(settings, name, noise, repeat, method)
