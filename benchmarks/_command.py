"""The command line of the long benchmarks."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _cells import Cell, load_cells, save_cells
from _report import RESULTS, progress
from _robustness_data import GENERATORS, GROUPS, NOISE, available_sets
from _work import Task, run

Report = Callable[[Path, list[Cell], int, Path | None], None]


def make_parser(description: str | None, name: str, task: Task) -> Any:
    """With the options that all of them have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, help=f"default: {name}.sqlite")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument(
        "--save", type=Path, help="CSV to write the finished cells to; measures nothing"
    )
    parser.add_argument(
        "--load", type=Path, help="such a CSV, to go on from what it has"
    )
    parser.add_argument("--quick", action="store_true", help="small; prints a report")
    parser.add_argument(
        "--out", type=Path, help="folder of the report; --quick has none by itself"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--rows", type=int, help="to train with, at most")
    parser.add_argument("--sets", nargs="+", choices=GROUPS, metavar="SET")
    parser.add_argument("--noise", nargs="+", choices=NOISE, metavar="LEVEL")
    parser.add_argument("--methods", nargs="+", choices=task.methods, metavar="METHOD")
    parser.add_argument(
        "--retry", action="store_true", help="try again what failed before"
    )
    return parser


def parse(
    parser: argparse.ArgumentParser, full: dict[str, Any], quick: dict[str, Any]
) -> argparse.Namespace:
    """What was given, and for what was not, the values of a full or a quick run."""
    given = parser.parse_args()
    for name, value in (quick if given.quick else full).items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    for name in given.sets:
        if name not in available_sets():
            parser.error(f"{name} comes from a file: let SPLBOOST_DATA name its folder")
    given.sets = [name for name in GROUPS if name in given.sets]
    if not set(given.sets) - set(GENERATORS):
        progress("Generators only; SPLBOOST_DATA names the folder of the other sets.")
    return given


def perform(
    name: str, task: Task, given: argparse.Namespace, cells: list[Cell], report: Report
) -> None:
    """Measure what is missing, or report what is there."""
    with tempfile.TemporaryDirectory() as folder:
        is_kept = given.report or not given.quick
        path = given.store or Path("" if is_kept else folder) / f"{name}.sqlite"
        if given.load:
            n_cells = load_cells(task.open_store(path), given.load)
            progress(f"{n_cells} cells taken from {given.load}")
        if given.save:
            n_cells = save_cells(task.open_store(path), cells, given.save)
            return progress(f"{n_cells} cells written to {given.save}")
        if given.report:
            return report(path, cells, given.rows, given.out or RESULTS)
        if given.retry:
            task.open_store(path).forget_failures()
        run(task, path, cells, given.rows, given.jobs)
        if given.quick:
            report(path, cells, given.rows, given.out)
    return None
