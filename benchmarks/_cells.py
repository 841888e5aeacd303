"""Cells of the long benchmarks: what each measures in one go, and in which order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from _report import progress
from _robustness_data import PROTOCOL
from _robustness_methods import Method

from splboost.paper.store import DONE, Store


class Cell(NamedTuple):
    """What is measured in one go."""

    settings: str
    data: str
    noise: str
    seed: int
    method: str


def settings_of(method: Method, rows: int) -> str:
    """What a figure depends on, beside the cell; figures of others never mix."""
    fixed = {"protocol": PROTOCOL, "rows": rows, "definition": method.definition}
    return json.dumps({**fixed, **method.versions()}, sort_keys=True)


def present_methods(
    names: Iterable[str], methods: Mapping[str, Method]
) -> dict[str, Method]:
    """Those that can be fitted here; says which cannot, and what would help."""
    present = {}
    for name in names:
        reason = methods[name].missing()
        if reason is None:
            present[name] = methods[name]
        else:
            progress(f"{name}: not there; {reason}")
    return present


def plan(
    places: Iterable[tuple[int, str, str]], methods: Mapping[str, Method], rows: int
) -> list[Cell]:
    """All methods at each place in turn: a seed, a data set and a level of noise."""
    settings = {name: settings_of(each, rows) for name, each in methods.items()}
    return [
        Cell(settings[method], data, noise, seed, method)
        for seed, data, noise in places
        for method in methods
    ]


def save_cells(store: Store, cells: Sequence[Cell], path: Path) -> int:
    """Write the finished ones as CSV, a row for each; how many there are."""
    found = pd.DataFrame(find(store, cells, DONE))
    found = found.drop(columns=["state", "host", "process", "process_start", "failure"])
    found.to_csv(path, index=False)
    return len(found)


def load_cells(store: Store, path: Path) -> int:
    """Take finished cells from such a file; how many the store did not have."""
    frame = pd.read_csv(path, dtype={"noise": str})
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return store.adopt(
        (Cell(*(row[name] for name in Cell._fields)), row, row["source"])
        for row in rows
    )


def find(store: Store, cells: Sequence[Cell], state: str) -> list[dict[str, Any]]:
    """Those of the cells that are in the state, with what is stored of them."""
    wanted = set(cells)
    found = store.rows({cell.settings for cell in cells}, state)
    return [r for r in found if Cell(*(r[name] for name in Cell._fields)) in wanted]
