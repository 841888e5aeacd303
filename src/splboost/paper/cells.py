"""A cell of the results: a method on a draw. What it depends on, and what it gives."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from itertools import product
from typing import Any, NamedTuple

import joblib
import numpy as np

from splboost.datasets import UCI_CATALOGUE, make_gaussians
from splboost.paper.draw import TRAIN_SHARE, DataSet, Draw, draw
from splboost.paper.methods import METHODS
from splboost.paper.protocol import Protocol

DEFINITION = 1  # one more whenever the same settings give other draws
# A round takes so long, and so much more for each cell of the training table
SECONDS_OF_ROUND, SECONDS_OF_TABLE_CELL = 130e-6, 14e-9


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
    """What is measured.

    Attributes
    ----------
    n_train : rows to train with
    error : on the test rows
    cv_error : mean over the folds, of what was chosen; None without a choice
    n_estimators : rounds chosen; None without a choice
    chosen : the other parameters, as JSON
    n_fits : boosters fitted
    fit_seconds : of processor time, for choosing and fitting
    """

    n_train: int
    error: float
    cv_error: float | None
    n_estimators: int | None
    chosen: str
    n_fits: int
    fit_seconds: float


@cache
def current_version() -> str:
    """The versions that results depend on: ours, and what divides the rows."""
    packages = "splboost", "scikit-learn"
    return ", ".join(f"{package} {version(package)}" for package in packages)


def settings_of(
    method: str, protocol: Protocol, source: str | None, version: str | None = None
) -> str:
    """What a result depends on beside set, noise, repeat and method, as JSON.

    Parameters
    ----------
    method : str
    protocol : that of the set
    source : where the data come from
    version : default=None
        None is the present one.
    """
    own = METHODS[method]
    fixed = {
        "version": current_version() if version is None else version,
        "definition": [DEFINITION, own.definition],
        "source": source,
    }
    taken = {name: getattr(protocol, name) for name in own.settings}
    return json.dumps(fixed | taken, sort_keys=True)


def plan(
    protocol: Protocol, methods: Iterable[str], sources: Mapping[str, str]
) -> list[Cell]:
    """All cells in the order of work.

    A repeat of everything comes before the next one, so that tables fill evenly. Within
    a repeat, what takes longest comes first, so that no process is left alone with it.

    Parameters
    ----------
    protocol : Protocol
    methods : names
    sources : where each set comes from
    """
    cells = []
    for name, source in sources.items():
        own = protocol.for_set(name)
        for repeat, noise, method in product(own.seeds, own.noise, methods):
            settings = settings_of(method, own, source)
            cells.append(Cell(settings, name, noise, repeat, method))
    return sorted(cells, key=lambda c: (c.repeat, -expected_seconds(c, protocol)))


def expected_seconds(cell: Cell, protocol: Protocol) -> float:
    """Roughly how long a cell takes."""
    entry, own = UCI_CATALOGUE[cell.data], protocol.for_set(cell.data)
    n_cells = TRAIN_SHARE * entry.rows * len(entry.columns)
    of_round = SECONDS_OF_ROUND + SECONDS_OF_TABLE_CELL * n_cells
    return METHODS[cell.method].count_fits(own) * own.rounds * of_round


def measure(
    cell: Cell, data: DataSet, protocol: Protocol, version: str
) -> dict[str, Any]:
    """Fit the method of a cell and judge it, in one thread.

    Parameters
    ----------
    cell : Cell
    data : that of the cell
    protocol : Protocol
    version : that of the run; a worker of a cluster may have another

    Returns
    -------
    dict
        The fields of an `Outcome`.
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
    """Load and compile what a method needs, once in a process, so as not to time it."""
    X, y = make_gaussians(30, random_state=0)
    half = np.arange(y.size) % 2 == 0
    folds = [(np.flatnonzero(half), np.flatnonzero(~half))]
    case = Draw(X, y, X, y, (0, 0), folds, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[method].fit(case, Protocol(rounds=5)).model.predict(X)
