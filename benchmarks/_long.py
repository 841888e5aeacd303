"""The benchmarks that take hours: their cells, their work and their command line.

What is measured is kept in a store, a row for each set, level of noise, seed and
method, and a run goes on where another was killed. Several runs may work on one store
at a time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _long_data import (
    CHOSEN_ON,
    CLEAN,
    GENERATED,
    GENERATORS,
    GROUPS,
    NOISE,
    PROTOCOL,
    UNUSED,
    Problem,
    available_sets,
    draw,
)
from _long_methods import Method
from _report import RESULTS, describe_run, progress, save_page
from threadpoolctl import threadpool_limits

from splboost.paper.runner import Interrupted, run_cells
from splboost.paper.statistics import complete_cells, complete_repeats, mean_of
from splboost.paper.store import FAILED, Store

WARM_UP_ROWS = 50  # of each class
PARTS = {
    "all data sets": [name for name in GROUPS if GROUPS[name] != GENERATED],
    "unused sets": [name for name in GROUPS if GROUPS[name] == UNUSED],
    # Its distribution is that of a generator that defaults were chosen on.
    "unused sets but twonorm": [
        name for name in GROUPS if GROUPS[name] == UNUSED and name != "twonorm"
    ],
    "sets that defaults were chosen on": [
        name for name in GROUPS if GROUPS[name] == CHOSEN_ON
    ],
    "generators": [name for name in GROUPS if GROUPS[name] == GENERATED],
}


class Cell(NamedTuple):
    """What is measured in one go."""

    settings: str
    data: str
    noise: str
    seed: int
    method: str

    def __str__(self) -> str:
        place = f"noise {self.noise}, seed {self.seed}"
        return f"{self.method} on {self.data}, {place}"


# ------------------------------------------------------------------------------ results


class Results:
    """Finished cells, and those of them that every compared method has finished.

    Parameters
    ----------
    finished : a row for each cell
    methods : by name, the one of interest first
    noise : levels of the benchmark
    main_measure : the column that matters most; less is better
    """

    def __init__(
        self,
        finished: pd.DataFrame,
        methods: Mapping[str, Method],
        noise: Iterable[str],
        main_measure: str,
    ) -> None:
        self.finished = finished = finished.rename(columns={"seed": "repeat"})
        self.methods = [m for m in methods if m in set(finished["method"])]
        # A variant of a method is next to it in every rank, and would push others away.
        self.ranked = [m for m in self.methods if methods[m].variant_of is None]
        self.noise = [level for level in NOISE if level in set(noise)]
        self.wrong = [level for level in self.noise if level != CLEAN]
        self.complete = complete_cells(finished, self.methods)
        self.averaged = complete_repeats(self.complete, self.wrong)
        self.main_measure = main_measure

    def means(
        self, part: str, measure: str | None = None, *, level: str | None = None
    ) -> pd.DataFrame:
        """By set and method, over repeats, at one level or over all wrong labels."""
        own = self.averaged
        if level is not None:
            own = self.complete[self.complete["noise"] == level]
        own = own[own["data"].isin(PARTS[part])]
        measure = measure or self.main_measure
        return mean_of(own, self.methods, "data", measure=measure)

    def cells(self, part: str) -> pd.DataFrame:
        """By method, a row for each set, level of wrong labels and seed."""
        own = self.averaged[self.averaged["data"].isin(PARTS[part])]
        keys = ["data", "noise", "repeat"]
        return own.pivot(index=keys, columns="method", values=self.main_measure)

    def parts(
        self, measure: str | None = None, *, level: str | None = None
    ) -> dict[str, pd.DataFrame]:
        """The means of each part that has any."""
        found = {part: self.means(part, measure, level=level) for part in PARTS}
        return {part: means for part, means in found.items() if len(means)}

    def compared(self, part: str, measure: str | None = None) -> pd.DataFrame:
        """The means of all methods but variants of others."""
        return self.means(part, measure)[self.ranked]

    def summary(self, measures: Sequence[str]) -> pd.DataFrame:
        """One row for each set, noise and method: means over seeds, and how many."""
        keys = ["data", "noise", "method"]
        grouped = self.finished.groupby(keys)
        table = grouped[list(measures)].mean()
        table.insert(0, "seeds", grouped["repeat"].nunique())
        ordered = [*GROUPS, *NOISE, *self.methods]
        position = {name: k for k, name in enumerate(ordered)}
        table = table.reset_index().sort_values(
            keys, key=lambda column: column.map(position)
        )
        table.insert(1, "group", table["data"].map(GROUPS))
        return table


# -------------------------------------------------------------------------- a benchmark


@dataclass(frozen=True)
class Study:
    """What a long benchmark compares, and how.

    Parameters
    ----------
    name : of its store and its files
    title : of its page
    methods : by name, the one of interest first
    fields : class of named tuples, of what is stored
    measure : function of a method, a problem and a seed; gives these fields
    main_measure : the column that matters most; less is better
    summarised : measures whose means are saved
    make_page : function of the results, the most rows, the failures and the folder;
        gives the pieces of the page, having saved a picture if there is a folder
    full, quick : values of options that are not given
    derive : function of a frame of finished cells; gives it with more measures
    levels_first : whether all sets are done at one level before the next
    """

    name: str
    title: str
    methods: Mapping[str, Method]
    fields: Any
    measure: Callable[[Method, Problem, int], dict[str, Any]]
    main_measure: str
    summarised: Sequence[str]
    make_page: Callable[[Results, int, list[dict[str, Any]], Path | None], list[str]]
    full: dict[str, Any]
    quick: dict[str, Any]
    derive: Callable[[pd.DataFrame], pd.DataFrame] = pd.DataFrame
    levels_first: bool = False

    def open_store(self, path: Path) -> Store:
        return Store(path, Cell, self.fields)

    def plan(
        self,
        seeds: Iterable[int],
        sets: Sequence[str],
        noise: Sequence[str],
        methods: Iterable[str],
        rows: int,
    ) -> list[Cell]:
        """Cells in the order of work: one repeat of everything before the next."""
        settings = {name: settings_of(self.methods[name], rows) for name in methods}
        places = list(itertools.product(sets, noise))
        if self.levels_first:
            places.sort(key=lambda place: noise.index(place[1]))
        return [
            Cell(settings[method], *place, seed, method)
            for seed, place, method in itertools.product(seeds, places, settings)
        ]

    def run(self, path: Path, cells: list[Cell], rows: int, jobs: int) -> None:
        """Measure what is not there yet, in processes of one thread each."""
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = "1"
        store = self.open_store(path)
        try:
            summary = run_cells(
                store,
                {
                    c: (measure_cell, c, self.measure, self.methods[c.method], rows)
                    for c in cells
                },
                title=self.name,
                source=code_state(),
                n_jobs=jobs,
            )
        except Interrupted as interrupt:
            raise SystemExit(str(interrupt)) from None
        finally:
            store.close()
        for failure in summary.failures:
            progress(f"Failed: {failure}")

    def tabulate(self, finished: pd.DataFrame, noise: Iterable[str]) -> Results:
        """The results of finished cells."""
        return Results(self.derive(finished), self.methods, noise, self.main_measure)

    def report(
        self, path: Path, cells: list[Cell], rows: int, folder: Path | None
    ) -> None:
        """Print what is there, and write it into a folder."""
        store = self.open_store(path)
        done, failed = store.find(), store.find(FAILED)
        finished = pd.DataFrame([done[cell] for cell in cells if cell in done])
        if finished.empty:
            raise SystemExit(f"{path} has no finished cell of these settings.")
        results = self.tabulate(finished, {cell.noise for cell in cells})
        failures = [failed[cell] for cell in cells if cell in failed]
        page = self.make_page(results, rows, failures, folder)
        print("\n\n".join(page))
        if folder is None:
            return
        save_page(folder, self.name, self.title, describe_run(), page)
        table = results.summary(self.summarised)
        table.to_csv(folder / f"{self.name}.csv", index=False, float_format="%.5g")

    # ---------------------------------------------------------------- the command line

    def make_parser(self, description: str | None) -> argparse.ArgumentParser:
        """With the options that all of them have."""
        parser = argparse.ArgumentParser(
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add = parser.add_argument
        add("--store", type=Path, help=f"default: {self.name}.sqlite")
        add("--report", action="store_true", help="measure nothing")
        add("--quick", action="store_true", help="small; prints a report")
        add("--out", type=Path, help="folder of the report; --quick has none by itself")
        add("--jobs", type=int, default=2, help="processes")
        add("--rows", type=int, help="to train with, at most")
        add("--sets", nargs="+", choices=GROUPS, metavar="SET")
        add("--noise", nargs="+", choices=NOISE, metavar="LEVEL")
        add("--methods", nargs="+", choices=self.methods, metavar="METHOD")
        add("--seeds", nargs="+", type=int)
        add("--retry", action="store_true", help="try again what failed before")
        return parser

    def parse(self, parser: argparse.ArgumentParser) -> argparse.Namespace:
        """What was given; for what was not, the values of a full or a quick run."""
        given = parser.parse_args()
        full = {"sets": available_sets(), "methods": list(self.methods), **self.full}
        for name, value in (self.quick if given.quick else full).items():
            if getattr(given, name) is None:
                setattr(given, name, value)
        for name in given.sets:
            if name not in available_sets():
                parser.error(
                    f"{name} comes from a file: let SPLBOOST_DATA name its folder"
                )
        given.sets = [name for name in GROUPS if name in given.sets]
        if not set(given.sets) - set(GENERATORS):
            progress(
                "Generators only; SPLBOOST_DATA names the folder of the other sets."
            )
        return given

    def perform(self, given: argparse.Namespace) -> None:
        """Measure what is missing, or report what is there."""
        present = present_methods(given.methods, self.methods)
        cells = self.plan(given.seeds, given.sets, given.noise, present, given.rows)
        with tempfile.TemporaryDirectory() as folder:
            is_kept = given.report or not given.quick
            place = Path("" if is_kept else folder)
            path = given.store or place / f"{self.name}.sqlite"
            if not given.report:
                if given.retry:
                    self.open_store(path).forget_failures()
                self.run(path, cells, given.rows, given.jobs)
            if given.report or given.quick:
                out = given.out or (RESULTS if given.report else None)
                self.report(path, cells, given.rows, out)


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


def code_state() -> str:
    """The commit that is measured, where there is one."""
    how = ["git", "describe", "--always", "--dirty"]
    try:
        said = subprocess.check_output(how, cwd=Path(__file__).parent, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown commit"
    return said.strip()


# ------------------------------------------------------------------- in its processes

_warm: set[tuple[Any, bool]] = set()  # methods, with categories or without


def measure_cell(
    cell: Cell,
    measure: Callable[[Method, Problem, int], dict[str, Any]],
    method: Method,
    most_rows: int,
) -> dict[str, Any]:
    """Draw the problem of a cell, and measure a method on it in one thread."""
    problem = draw(cell.data, cell.noise, cell.seed, most_rows)
    method.versions()  # imports the packages
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        categories = bool((problem.X.dtypes == "category").any())
        if method.compiles and (cell.method, categories) not in _warm:
            rows = [
                np.flatnonzero(problem.y == label)[:WARM_UP_ROWS] for label in (0, 1)
            ]
            measure(method, problem.part(np.concatenate(rows)), cell.seed)
            _warm.add((cell.method, categories))
        return measure(method, problem, cell.seed)
