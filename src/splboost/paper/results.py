"""Reads what has been measured."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from splboost.paper.cells import Cell, Outcome, current_version, settings_of
from splboost.paper.draw import CATALOGUE, COPY, GENERATED, source_of
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
    "protocol",
    "version",
)


def open_store(path: str | Path) -> Store:
    """The store of the paper's results."""
    return Store(Path(path), Cell, Outcome)


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
        ``n_fits``, ``fit_seconds`` (processor time), ``protocol`` ("small" or "large"),
        ``version``.
    """
    version = current_version() if version is None else version
    opened = _open_existing(store)
    try:
        rows = [
            {**row, "protocol": protocol.kind(name), "version": version}
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
    """Those of one set, from one source: that of here, if there are any."""
    own = protocol.for_set(name)
    for source in dict.fromkeys((source_of(name), CATALOGUE, COPY, GENERATED)):
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
        if rows:
            return sorted(rows, key=_place)
    return []


def _place(row: dict[str, Any]) -> tuple[int, int, int]:
    return row["noise"], row["repeat"], list(METHODS).index(row["method"])


def versions_in(store: str | Path) -> dict[str, int]:
    """The versions whose results a store has, and how many."""
    opened = _open_existing(store)
    try:
        counts: Counter[str] = Counter()
        for settings, n in opened.settings().items():
            counts[json.loads(settings)["version"]] += n
    finally:
        opened.close()
    return dict(counts)


def _open_existing(path: str | Path) -> Store:
    if not Path(path).exists():
        raise FileNotFoundError(
            f"{path} is not there, so there are no results yet; measure some with "
            "splboost paper run, or name another store."
        )
    return open_store(path)
