"""Measures what a store does not have yet.

Processes of this machine, or a Dask cluster, measure the cells. They know nothing of
the store: this process claims a cell when it hands it out, and writes what comes back
at once. So a run may be killed at any point, and several may share a store.
`run_cells` does this for any cells, `run` for those of the paper's protocol.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

from splboost._tools.interrupts import ctrl_c_blocked
from splboost._tools.progress_bar import TimeLeft, announcing_compilation, make_report
from splboost._tools.user_warnings import warn
from splboost.paper import cells as paper_cells
from splboost.paper.draw import DataSet, read_set
from splboost.paper.methods import METHODS
from splboost.paper.protocol import PAPER, Protocol
from splboost.paper.results import open_store, read_results
from splboost.paper.store import DONE, FAILED, Store, StoreError

__all__ = ["Interrupted", "Summary", "read_results", "run", "run_cells"]

SECONDS_TO_NOTICE = 1.0  # that the run has died


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; what was measured is stored."""


@dataclass
class Summary:
    """What a run has come to.

    Attributes
    ----------
    n_cells : cells that were asked for, of the sets that are there
    n_there : those that the store has now, whoever has measured them
    n_done : those measured now
    failures : messages of those that failed, now or before
    n_elsewhere : those that another run is measuring
    absent : why sets could not be read, and what to do
    """

    n_cells: int
    n_there: int = 0
    n_done: int = 0
    failures: list[str] = field(default_factory=list)
    n_elsewhere: int = 0
    absent: dict[str, Exception] = field(default_factory=dict)


# ----------------------------------------------------------------- the paper's protocol


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
    """Measure what a store does not have yet of a protocol.

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
    data: dict[str, DataSet] = {}
    absent: dict[str, Exception] = {}
    for name in protocol.sets:
        try:
            data[name] = read_set(name, download=download)
        except (OSError, ValueError) as error:
            absent[name] = error
    if absent:
        (tell_absent or _warn_of_absent)(absent)
    sources = {name: each.source for name, each in data.items()}
    cells = paper_cells.plan(protocol, methods, sources)
    if not cells:
        return Summary(0, absent=absent)
    version = paper_cells.current_version()
    opened = open_store(store)
    try:
        if retry:
            opened.forget_failures()
        summary = run_cells(
            opened,
            cells,
            paper_cells.measure,
            lambda cell: (data[cell.data], protocol, version),
            title="paper",
            source=version,
            costs={c: paper_cells.expected_seconds(c, protocol) for c in cells},
            warm_up=paper_cells.warm_up,
            n_jobs=n_jobs,
            dask=dask,
            data=list(data.values()),
            verbose=verbose,
        )
    finally:
        opened.close()
    summary.absent = absent
    return summary


def _warn_of_absent(absent: dict[str, Exception]) -> None:
    for error in absent.values():
        warn(str(error))


# ---------------------------------------------------------------------------- any cells


def run_cells(
    store: Store,
    cells: Sequence[Any],
    measure: Callable[..., Mapping[str, Any]],
    arguments: Callable[[Any], tuple[Any, ...]],
    *,
    title: str,
    source: str,
    costs: Mapping[Any, float] | None = None,
    warm_up: Callable[[str], None] | None = None,
    n_jobs: int = -1,
    dask: str | None = None,
    data: Sequence[Any] = (),
    verbose: int = 1,
) -> Summary:
    """Measure those of the cells that a store does not have.

    Parameters
    ----------
    store : Store
    cells : sequence of named tuples
        In the order of work. One of the fields is ``settings``, another ``method``.
    measure : callable
        Called in other processes with a cell and its arguments; gives its figures.
    arguments : callable
        Gives the further arguments of ``measure`` for a cell.
    title : str
        What stands before the progress.
    source : str
        The state of the code, which is stored with the figures.
    costs : mapping, default=None
        About how long each cell takes, in any unit; None is equally long.
    warm_up : callable, default=None
        Called here with each method that is to be measured, so that its kernels are
        compiled before the processes start.
    n_jobs : int, default=-1
        Processes; -1 is one for each core.
    dask : str, default=None
        Address of the scheduler of a Dask cluster.
    data : sequence, default=()
        Arguments to bring to the workers of a cluster beforehand.
    verbose : int, default=1
        Whether to show how far it is.

    Returns
    -------
    Summary
    """
    work = _Run(store, cells, measure, arguments, source, costs)
    if missing := work.missing():
        with announcing_compilation(verbose):
            for method in dict.fromkeys(cell.method for cell in missing):
                if warm_up is not None:
                    warm_up(method)
        report = make_report(verbose, len(cells), title, estimates=False)
        with _backend(dask, data), report:
            parent = os.getpid() if dask is None else None
            # Again, because another run may have died and left cells.
            while (missing := work.missing()) and work.go_through(
                missing, n_jobs, parent, report
            ):
                pass
            if work.of_others:
                report.show(len(cells) - len(work.missing()))
    return Summary(
        len(cells),
        len(store.find(cells, DONE)),
        work.n_done,
        [
            f"{cell}: {row['failure']}"
            for cell, row in store.find(cells, FAILED).items()
        ],
        len(work.missing()),
    )


def attempt(
    parent: int | None, measure: Callable[..., Any], cell: Any, *arguments: Any
) -> tuple[Any, Mapping[str, Any] | str]:
    """Measure a cell in a process of a run; a text says why that failed.

    ``parent`` is the process of the run, or None where it is on another machine.
    """
    if parent is not None:
        follow_parent(parent)
    try:
        return cell, measure(cell, *arguments)
    except Exception as failure:
        return cell, f"{type(failure).__name__}: {failure}"


@cache
def follow_parent(parent: int) -> None:
    """Live and die with the run that has started this process.

    Ctrl-C reaches all processes at once, and the run then ends its own. If it is
    killed, they have to notice.
    """
    if os.getpid() == parent:
        return

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_TO_NOTICE)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=follow, daemon=True).start()


class _Run:
    """A run under way."""

    def __init__(
        self,
        store: Store,
        cells: Sequence[Any],
        measure: Callable[..., Mapping[str, Any]],
        arguments: Callable[[Any], tuple[Any, ...]],
        source: str,
        costs: Mapping[Any, float] | None,
    ) -> None:
        self._store, self._cells = store, cells
        self._measure, self._arguments, self._source = measure, arguments, source
        self._costs = dict.fromkeys(cells, 1.0) if costs is None else costs
        self._claimed: set[Any] = set()
        self._trouble: Exception | None = None
        self._n_failed = 0
        self.n_done = 0
        self.of_others: set[Any] = set()

    def missing(self) -> list[Any]:
        """The cells that are neither finished nor failed."""
        known = {
            **self._store.find(self._cells, DONE),
            **self._store.find(self._cells, FAILED),
        }
        return [cell for cell in self._cells if cell not in known]

    def go_through(
        self, missing: list[Any], n_jobs: int, parent: int | None, report: Any
    ) -> bool:
        """Measure what is missing; whether there was any that no other run had."""
        time_left = TimeLeft(sum(self._costs[cell] for cell in missing))
        n_known, n_now = len(self._cells) - len(missing), 0
        report.show(n_known)
        parallel = joblib.Parallel(
            n_jobs=n_jobs, batch_size=1, return_as="generator_unordered"
        )
        try:
            with ctrl_c_blocked():  # processes that start would show where it struck
                outcomes = parallel(
                    joblib.delayed(attempt)(
                        parent, self._measure, cell, *self._arguments(cell)
                    )
                    for cell in self._claim(missing, time_left)
                )
            for cell, outcome in outcomes:
                self._keep(cell, outcome)
                n_now += 1
                text = time_left.after(self._costs[cell])
                if self._n_failed:
                    text += f", {self._n_failed} failed"
                if self.of_others:
                    text += f", {len(self.of_others)} by another run"
                report.show(n_known + n_now, text)
        except KeyboardInterrupt:
            raise Interrupted(
                f"Stopped with {len(self._store.find(self._cells, DONE))} of "
                f"{len(self._cells)} cells measured; the same command goes on from "
                "here."
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
        return n_now > 0

    def _claim(self, cells: list[Any], time_left: TimeLeft) -> Iterator[Any]:
        """Claim cells as they are handed out, which a thread of joblib may do."""
        for cell in cells:
            try:
                if not self._store.claim(cell):
                    self.of_others.add(cell)
                    time_left.spare(self._costs[cell])
                    continue
            except StoreError as error:  # joblib would wait for ever
                self._trouble = error
                return
            self._claimed.add(cell)
            yield cell

    def _keep(self, cell: Any, outcome: Mapping[str, Any] | str) -> None:
        if isinstance(outcome, str):
            self._store.fail(cell, outcome)
            self._n_failed += 1
        else:
            self._store.finish(cell, outcome, self._source)
            self.n_done += 1
        self._claimed.discard(cell)


@contextmanager
def _backend(address: str | None, data: Sequence[Any]) -> Iterator[None]:
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
        joblib.parallel_config(backend="dask", client=client, scatter=list(data)),
    ):
        yield
