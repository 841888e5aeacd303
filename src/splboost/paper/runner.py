"""Measures what is missing of a protocol.

Processes of this machine, or a Dask cluster, measure the cells. They know nothing of
the store: this process claims a cell when it hands it out, and writes what comes back
at once. So a run may be killed at any point, and several may share a store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

from splboost._tools.interrupts import ctrl_c_blocked
from splboost._tools.progress_bar import TimeLeft, announcing_compilation, make_report
from splboost._tools.user_warnings import warn
from splboost.paper.cells import (
    Cell,
    Outcome,
    attempt,
    current_version,
    expected_seconds,
    plan,
    warm_up,
)
from splboost.paper.draw import DataSet, read_set
from splboost.paper.methods import METHODS
from splboost.paper.names import PAPER
from splboost.paper.protocol import Protocol
from splboost.paper.results import open_store, read_results
from splboost.paper.store import DONE, FAILED, Store, StoreError

__all__ = ["Interrupted", "Summary", "read_results", "run"]

TITLE = "paper"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; what was measured is stored."""


@dataclass
class Summary:
    """What a run has come to.

    Attributes
    ----------
    n_cells : cells of the protocol, of the sets that are there
    n_there : those that the store has now, whoever has measured them
    n_done : those measured now
    failures : messages of those that failed, now or before
    n_elsewhere : those that another run is measuring
    absent : what stands in the way of sets that could not be read, and what to do
    """

    n_cells: int
    n_there: int = 0
    n_done: int = 0
    failures: list[str] = field(default_factory=list)
    n_elsewhere: int = 0
    absent: dict[str, Exception] = field(default_factory=dict)


def run(
    protocol: Protocol,
    store: str | Path,
    *,
    methods: Sequence[str] = PAPER,
    n_jobs: int = -1,
    dask: str | None = None,
    retry: bool = False,
    download: bool = False,
    tell_absent: Callable[[dict[str, Exception]], None] | None = None,
    verbose: int = 1,
) -> Summary:
    """Measure what a store does not have yet.

    Parameters
    ----------
    protocol : Protocol
    store : path
        A file of SQLite, made where there is none.
    methods : sequence of str
        Of ``splboost.paper.methods.METHODS``; by default the nine of the paper.
    n_jobs : int, default=-1
        Processes, each with one thread; -1 is one for each core.
    dask : str, default=None
        Address of the scheduler of a Dask cluster, which then does the work.
    retry : bool, default=False
        Whether to try again what failed before.
    download : bool, default=False
        Whether to fetch sets from OpenML that are not in the data folder.
    tell_absent : callable, default=None
        Called before anything is measured, with what is in ``absent`` of the summary;
        None warns.
    verbose : int, default=1
        Whether to show how far it is.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splboost.paper.protocol import Protocol
    >>> from splboost.paper.runner import read_results, run
    >>> protocol = Protocol(("twonorm",), (0, 20), 1, rounds=5, folds=2, depths=(1,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Path(folder) / "results.sqlite"
    ...     summary = run(
    ...         protocol, store, methods=["LogitBoost"], n_jobs=1, verbose=0
    ...     )
    ...     results = read_results(store, protocol)
    >>> summary.n_done
    2
    >>> results[["data", "noise", "method", "n_train", "n_fits"]]
          data  noise      method  n_train  n_fits
    0  twonorm      0  LogitBoost     5180       3
    1  twonorm     20  LogitBoost     5180       3
    """
    if isinstance(methods, str):
        raise ValueError(
            f"methods={methods!r} is a string; give a list of names, such as "
            f"[{methods!r}]."
        )
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise ValueError(
            f"methods={unknown[0]!r} is unknown; the methods are {', '.join(METHODS)}."
        )
    data, absent = _read_sets(protocol.sets, download)
    if absent:
        (tell_absent or _warn_of_absent)(absent)
    sources = {name: each.source for name, each in data.items()}
    cells = plan(protocol, methods, sources)
    if not cells:
        return Summary(0, absent=absent)
    opened = open_store(store)
    try:
        if retry:
            opened.forget_failures()
        return _Run(opened, cells, data, protocol, absent, verbose).go(n_jobs, dask)
    finally:
        opened.close()


def _read_sets(
    names: Iterable[str], download: bool
) -> tuple[dict[str, DataSet], dict[str, Exception]]:
    """The sets that are there, and why the others are not."""
    data: dict[str, DataSet] = {}
    absent: dict[str, Exception] = {}
    for name in names:
        try:
            data[name] = read_set(name, download=download)
        except (OSError, ValueError) as error:
            absent[name] = error
    return data, absent


def _warn_of_absent(absent: dict[str, Exception]) -> None:
    for error in absent.values():
        warn(str(error))


class _Run:
    """A run under way."""

    def __init__(
        self,
        store: Store,
        cells: list[Cell],
        data: dict[str, DataSet],
        protocol: Protocol,
        absent: dict[str, Exception],
        verbose: int,
    ) -> None:
        self._store = store
        self._cells = cells
        self._data = data
        self._protocol = protocol
        self._verbose = verbose
        self._work = {cell: expected_seconds(cell, protocol) for cell in cells}
        self._claimed: set[Cell] = set()
        self._trouble: Exception | None = None
        self._n_failed = 0
        self._of_others: set[Cell] = set()
        self._summary = Summary(len(cells), absent=absent)

    def _find(self, state: str) -> dict[Cell, dict[str, Any]]:
        """The cells of this run that are in a state."""
        rows = self._store.rows({cell.settings for cell in self._cells}, state)
        found = {Cell(*(row[name] for name in Cell._fields)): row for row in rows}
        return {cell: found[cell] for cell in self._cells if cell in found}

    def go(self, n_jobs: int, dask: str | None) -> Summary:
        """Measure all that is missing."""
        if self._missing():
            with announcing_compilation(self._verbose):
                for method in {cell.method for cell in self._missing()}:
                    warm_up(method)  # here first, so that processes need not compile
            report = make_report(
                self._verbose, len(self._cells), TITLE, estimates=False
            )
            with _backend(dask, list(self._data.values())), report:
                # Again, because another run may have died and left cells.
                parent = os.getpid() if dask is None else None
                while (missing := self._missing()) and self._pass(
                    missing, n_jobs, parent, report
                ):
                    pass
                if self._of_others:
                    report.show(len(self._cells) - len(self._missing()))
        summary = self._summary
        summary.failures = [
            f"{_name(cell)}: {row['failure']}"
            for cell, row in self._find(FAILED).items()
        ]
        summary.n_there = len(self._find(DONE))
        summary.n_elsewhere = len(self._missing())
        return summary

    def _missing(self) -> list[Cell]:
        known = {**self._find(DONE), **self._find(FAILED)}
        return [cell for cell in self._cells if cell not in known]

    def _pass(
        self, missing: list[Cell], n_jobs: int, parent: int | None, report: Any
    ) -> bool:
        """Go through what is missing; whether any of it was left by others."""
        time_left = TimeLeft(sum(self._work[cell] for cell in missing))
        n_known, n_done = len(self._cells) - len(missing), 0
        report.show(n_known)
        parallel = joblib.Parallel(
            n_jobs=n_jobs, batch_size=1, return_as="generator_unordered"
        )
        try:
            with ctrl_c_blocked():  # processes that start would show where it struck
                outcomes = parallel(
                    joblib.delayed(attempt)(
                        self._data[cell.data],
                        self._protocol,
                        cell,
                        parent,
                        current_version(),
                    )
                    for cell in self._claim(missing, time_left)
                )
            for cell, outcome in outcomes:
                self._keep(cell, outcome)
                n_done += 1
                text = time_left.after(self._work[cell])
                if self._n_failed:
                    text += f", {self._n_failed} failed"
                if self._of_others:
                    text += f", {len(self._of_others)} by another run"
                report.show(n_known + n_done, text)
        except KeyboardInterrupt:
            n_cells = len(self._cells)
            raise Interrupted(
                f"Stopped with {len(self._find(DONE))} of {n_cells} cells measured; "
                "the same command goes on from here."
            ) from None
        except BrokenProcessPool as error:
            raise RuntimeError(
                "A process was killed while it worked, most likely for want of memory; "
                "the same command goes on from here. Use fewer jobs."
            ) from error
        finally:
            for cell in list(self._claimed):
                self._store.release(cell)
        if self._trouble is not None:
            raise self._trouble
        return n_done > 0

    def _claim(self, cells: list[Cell], time_left: TimeLeft) -> Iterator[Cell]:
        """Claim cells as they are handed out, which a thread of joblib may do."""
        for cell in cells:
            try:
                if not self._store.claim(cell):
                    self._of_others.add(cell)
                    time_left.spare(self._work[cell])
                    continue
            except StoreError as error:  # joblib would wait for ever
                self._trouble = error
                return
            self._claimed.add(cell)
            yield cell

    def _keep(self, cell: Cell, outcome: Outcome | str) -> None:
        if isinstance(outcome, str):
            self._store.fail(cell, outcome)
            self._n_failed += 1
        else:
            self._store.finish(cell, outcome._asdict(), current_version())
            self._summary.n_done += 1
        self._claimed.discard(cell)


def _name(cell: Cell) -> str:
    return f"{cell.method} on {cell.data}, noise {cell.noise}%, repeat {cell.repeat}"


@contextmanager
def _backend(address: str | None, data: list[DataSet]) -> Iterator[None]:
    """Where the work is done; a cluster gets the data beforehand."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError as error:
        raise ImportError(
            f"dask={address!r} needs the package distributed; install it with "
            "pip install 'splboost[dask]'."
        ) from error
    try:
        get_address_host_port(address)  # Client would take a minute to refuse it
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"dask={address!r} cannot be reached ({error}); give the address of a "
            "scheduler, such as tcp://127.0.0.1:8786."
        ) from error
    with (
        client,
        joblib.parallel_config(backend="dask", client=client, scatter=data),
    ):
        yield
