"""Measures what a store does not have yet.

Processes of this machine, or a Dask cluster, measure the cells. They know nothing of
the store: this process claims a cell when it hands it out, and writes what comes back
at once. So a run may be killed at any point, and several may share a store.
`run_cells` does this for any cells, `run` for those of the paper's protocol.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from joblib.externals.loky.process_executor import BrokenProcessPool

from splboost._tools.interrupts import ctrl_c_blocked
from splboost._tools.progress_bar import TimeLeft, make_report
from splboost._tools.user_warnings import warn
from splboost.datasets import UCI_CATALOGUE, make_gaussians
from splboost.paper.draw import TRAIN_SHARE, DataSet, Draw, draw, read_set
from splboost.paper.protocol import METHODS, PAPER, Protocol
from splboost.paper.results import (
    Cell,
    Outcome,
    current_version,
    open_store,
    read_results,
    settings_of,
)
from splboost.paper.store import FAILED, Store, StoreError

__all__ = ["Interrupted", "Summary", "read_results", "run", "run_cells"]

SECONDS_TO_NOTICE = 1.0  # that the run has died
# A round takes so long, and so much more for each cell of the training table
SECONDS_OF_ROUND, SECONDS_OF_TABLE_CELL = 130e-6, 14e-9


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; what was measured is stored."""


@dataclass
class Summary:
    """Result of a run."""

    n_cells: int  # asked for, of the sets that are there
    n_there: int = 0  # in the store now, whoever has measured them
    n_done: int = 0  # measured now
    failures: list[str] = field(default_factory=list)  # of now or before
    n_elsewhere: int = 0  # those that another run is measuring
    # Why sets could not be read, and what to do
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
        Of ``splboost.paper.protocol.METHODS``; by default the nine of the paper.
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
    """
    _check(methods)
    data, absent = _read_sets(protocol.sets, download)
    if absent and tell_absent is not None:
        tell_absent(absent)
    else:
        for reason in absent.values():
            warn(str(reason))
    cells = plan(protocol, methods, {name: each.source for name, each in data.items()})
    if not cells:
        return Summary(0, absent=absent)
    version = current_version()
    with closing(open_store(store)) as opened:
        if retry:
            opened.forget_failures()
        summary = run_cells(
            opened,
            {c: (measure, c, data[c.data], protocol, version) for c in cells},
            title="paper",
            source=version,
            costs={c: expected_seconds(c, protocol) for c in cells},
            warm_up=warm_up,
            n_jobs=n_jobs,
            dask=dask,
            data=list(data.values()),
            verbose=verbose,
        )
    summary.absent = absent
    return summary


def _check(methods: Sequence[str]) -> None:
    if isinstance(methods, str):
        raise ValueError(
            f"methods={methods!r} is a string; give a list of names, such as "
            f"[{methods!r}]."
        )
    if unknown := [name for name in methods if name not in METHODS]:
        raise ValueError(
            f"methods={unknown[0]!r} is unknown; the methods are {', '.join(METHODS)}."
        )


def _read_sets(
    names: Iterable[str], download: bool
) -> tuple[dict[str, DataSet], dict[str, Exception]]:
    """The sets that are there, and why others are not."""
    data: dict[str, DataSet] = {}
    absent: dict[str, Exception] = {}
    for name in names:
        try:
            data[name] = read_set(name, download=download)
        except (OSError, ValueError) as error:
            absent[name] = error
    return data, absent


def plan(
    protocol: Protocol, methods: Iterable[str], sources: Mapping[str, str]
) -> list[Cell]:
    """All cells in the order of work; ``sources`` says where each set comes from.

    A repeat of everything comes before the next one, so that tables fill evenly. Within
    a repeat, what takes longest comes first, so that no process is left alone with it.
    """
    cells = []
    for name, source in sources.items():
        own = protocol.for_set(name)
        for repeat, noise, method in product(own.seeds, own.noise, methods):
            settings = settings_of(method, own, source)
            cells.append(Cell(settings, name, noise, repeat, method))
    return sorted(cells, key=lambda c: (c.repeat, -expected_seconds(c, protocol)))


def expected_seconds(cell: Cell, protocol: Protocol) -> float:
    """Estimate how long a cell takes, in seconds."""
    entry, own = UCI_CATALOGUE[cell.data], protocol.for_set(cell.data)
    n_cells = TRAIN_SHARE * entry.rows * len(entry.columns)
    of_round = SECONDS_OF_ROUND + SECONDS_OF_TABLE_CELL * n_cells
    return METHODS[cell.method].count_fits(own) * own.rounds * of_round


def measure(
    cell: Cell, data: DataSet, protocol: Protocol, version: str
) -> dict[str, Any]:
    """Fit the method of a cell and judge it, in one thread; the fields of an `Outcome`.

    ``version`` is that of the run; a worker of a cluster may have another.
    """
    if version != current_version():
        raise RuntimeError(
            f"the worker has {current_version()}, but the run {version}; install the "
            "same on both, and give --retry."
        )
    own, method = protocol.for_set(cell.data), METHODS[cell.method]
    case = draw(data, noise=cell.noise, seed=cell.repeat, n_folds=own.folds)
    # Dask would have inner loops on the cluster, too.
    with warnings.catch_warnings(), joblib.parallel_config(backend="sequential"):
        warnings.simplefilter("ignore")  # of paces and goals that do not suit
        warm_up(cell.method)
        start = time.process_time()
        if method.one_hot:
            case = case.one_hot()
        fitted = method.fit(case, own)
        seconds = time.process_time() - start
        wrong = fitted.model.predict(case.X_test) != case.y_test
    return Outcome(
        case.y.size,
        float(np.mean(wrong)),
        fitted.cv_error,
        fitted.n_estimators,
        json.dumps(fitted.chosen),
        fitted.n_fits,
        seconds,
    )._asdict()


@cache
def warm_up(method: str) -> None:
    """Load and compile what a method needs, so that this is not timed."""
    X, y = make_gaussians(30, random_state=0)
    case = Draw(X, y, X, y, (0, 0), folds=2, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[method].fit(case, Protocol(rounds=5)).model.predict(X)


# ---------------------------------------------------------------------------- any cells


def run_cells(
    store: Store,
    tasks: Mapping[Any, tuple[Any, ...]],
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
    tasks : dict
        By cell, in the order of work, a function and its arguments, which other
        processes call; it gives what is measured. Cells have a ``method``.
    title : what stands before the progress
    source : state of the code, which is stored with what is measured
    costs : about how long each cell takes, in any unit; None is equally long
    warm_up : called here with each method that is to be measured, so that its kernels
        are compiled before the processes start
    n_jobs, dask, verbose : as in `run`
    data : arguments to bring to the workers of a cluster beforehand
    """
    costs = costs or dict.fromkeys(tasks, 1.0)
    work = _Run(store, tasks, source, costs)
    if missing := work.missing():
        for method in dict.fromkeys(cell.method for cell in missing):
            if warm_up is not None:
                warm_up(method)
        parent = os.getpid() if dask is None else None
        report = make_report(verbose, len(tasks), title, estimates=False)
        with _backend(dask, data), report:
            # Again, because another run may have died and left cells.
            while missing and work.go_through(missing, n_jobs, parent, report):
                missing = work.missing()
    failed = store.find(FAILED)
    return Summary(
        n_cells=len(tasks),
        n_there=len(tasks.keys() & store.find().keys()),
        n_done=work.n_done,
        failures=[f"{c}: {failed[c]['failure']}" for c in tasks if c in failed],
        n_elsewhere=len(work.missing()),
    )


@dataclass
class _Run:
    """A run under way."""

    store: Store
    tasks: Mapping[Any, tuple[Any, ...]]
    source: str
    costs: Mapping[Any, float]
    n_done: int = 0
    n_failed: int = 0
    claimed: set[Any] = field(default_factory=set)
    trouble: StoreError | None = None

    def missing(self) -> list[Any]:
        """The cells that are neither finished nor failed."""
        known = self.store.find().keys() | self.store.find(FAILED).keys()
        return [cell for cell in self.tasks if cell not in known]

    def go_through(
        self, missing: list[Any], n_jobs: int, parent: int | None, report: Any
    ) -> bool:
        """Measure missing cells; returns whether this run could claim any."""
        time_left = TimeLeft(sum(self.costs[cell] for cell in missing))
        n_known, n_now = len(self.tasks) - len(missing), 0
        report.show(n_known)
        parallel = joblib.Parallel(
            n_jobs=n_jobs, batch_size=1, return_as="generator_unordered"
        )
        try:
            with ctrl_c_blocked():  # processes that start would show where it struck
                outcomes = parallel(
                    joblib.delayed(attempt)(parent, cell, *self.tasks[cell])
                    for cell in self._claim(missing, time_left)
                )
            for n_now, (cell, outcome) in enumerate(outcomes, start=1):
                if isinstance(outcome, str):
                    self.store.fail(cell, outcome)
                    self.n_failed += 1
                else:
                    self.store.finish(cell, outcome, self.source)
                    self.n_done += 1
                self.claimed.discard(cell)
                text = time_left.after(self.costs[cell])
                if self.n_failed:
                    text += f", {self.n_failed} failed"
                report.show(n_known + n_now, text)
        except KeyboardInterrupt:
            n_there = len(self.tasks.keys() & self.store.find().keys())
            raise Interrupted(
                f"Stopped with {n_there} of {len(self.tasks)} cells measured; the same "
                "command goes on from here."
            ) from None
        except BrokenProcessPool as error:
            raise RuntimeError(
                "A process was killed while it worked, most likely for want of memory; "
                "the same command goes on from here. Use fewer jobs."
            ) from error
        finally:
            for cell in list(self.claimed):
                self.store.release(cell)
        if self.trouble is not None:
            raise self.trouble
        return n_now > 0

    def _claim(self, cells: list[Any], time_left: TimeLeft) -> Iterator[Any]:
        """Claim cells as they are handed out, which a thread of joblib may do."""
        for cell in cells:
            try:
                is_ours = self.store.claim(cell)
            except StoreError as error:  # joblib would wait for ever
                self.trouble = error
                return
            if is_ours:
                self.claimed.add(cell)
                yield cell
            else:
                time_left.spare(self.costs[cell])


def attempt(
    parent: int | None, cell: Any, measure: Callable[..., Any], *arguments: Any
) -> tuple[Any, Mapping[str, Any] | str]:
    """Measure a cell in a process of a run; a text says why that failed.

    ``parent`` is the process of the run, or None where it is on another machine.
    """
    if parent is not None:
        follow_parent(parent)
    try:
        return cell, measure(*arguments)
    except Exception as failure:
        return cell, f"{type(failure).__name__}: {failure}"


@cache
def follow_parent(parent: int) -> None:
    """End this process when the run that started it ends.

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


@contextmanager
def _backend(address: str | None, data: Sequence[Any]) -> Iterator[None]:
    """Run joblib here or on a cluster, which gets the data beforehand."""
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
