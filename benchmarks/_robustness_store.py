"""Where the robustness benchmark keeps what it measured: one row of SQLite for a cell.

A cell is claimed before it is measured and written as soon as it is, so a run may be
killed at any point and several may share the file. A claim ends with the process that
made it. What changes the meaning of a figure (rows, versions, definition of the method)
is part of the key.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

MEASURES = (
    "error",
    "balanced_accuracy",
    "log_loss",
    "fit_seconds",
    "predict_seconds",
)
CLAIMED, DONE, FAILED = "claimed", "done", "failed"
SECONDS_OF_A_STRANGER = 2 * 3600  # after which the claim of another machine is void
CLOCK_ERROR = 5.0  # seconds by which two readings of a process's start may differ


class Cell(NamedTuple):
    """What is measured in one go."""

    settings: str
    data: str
    noise: str
    seed: int
    method: str


_IS_CELL = " AND ".join(f"{name} = ?" for name in Cell._fields)
_TABLE = f"""
CREATE TABLE IF NOT EXISTS cells (
    settings TEXT NOT NULL,
    data TEXT NOT NULL,
    noise TEXT NOT NULL,
    seed INTEGER NOT NULL,
    method TEXT NOT NULL,
    state TEXT NOT NULL,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    process_start REAL NOT NULL,
    time REAL NOT NULL,
    {" ".join(f"{name} REAL," for name in MEASURES)}
    source TEXT,
    failure TEXT,
    PRIMARY KEY ({", ".join(Cell._fields)})
) WITHOUT ROWID
"""


def _start_of(process: int) -> float | None:
    """When a process of this machine began, or None if there is none."""
    try:
        own = psutil.Process(process)
        if own.status() == psutil.STATUS_ZOMBIE:
            return None
        return own.create_time()
    except psutil.NoSuchProcess:
        return None


class Store:
    """The file, opened by one process."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.execute(_TABLE)
        start = _start_of(os.getpid())
        self._owner = socket.gethostname(), os.getpid(), start

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Any:
        """Nobody else writes meanwhile."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def claim(self, cell: Cell) -> bool:
        """Whether this process is now the one to measure the cell."""
        with self._transaction():
            row = self._connection.execute(
                f"SELECT * FROM cells WHERE {_IS_CELL}", cell
            ).fetchone()
            if row is not None and not self._is_void(row):
                return False
            self._connection.execute(
                f"INSERT OR REPLACE INTO cells ({', '.join(Cell._fields)}, "
                "state, host, process, process_start, time) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*cell, CLAIMED, *self._owner, time.time()),
            )
        return True

    def _is_void(self, row: sqlite3.Row) -> bool:
        """Whether it is a claim that nobody will make good."""
        if row["state"] != CLAIMED:
            return False
        if row["host"] != self._owner[0]:
            return time.time() - row["time"] > SECONDS_OF_A_STRANGER
        start = _start_of(row["process"])
        return start is None or abs(start - row["process_start"]) > CLOCK_ERROR

    def finish(self, cell: Cell, figures: Mapping[str, float], source: str) -> None:
        """Write what was measured, and with which state of the code."""
        names = ", ".join(f"{name} = ?" for name in MEASURES)
        self._connection.execute(
            f"UPDATE cells SET state = ?, time = ?, source = ?, {names} "
            f"WHERE {_IS_CELL}",
            (DONE, time.time(), source, *(figures[name] for name in MEASURES), *cell),
        )

    def fail(self, cell: Cell, failure: str) -> None:
        """Write why it could not be measured; it is not tried again by itself."""
        self._connection.execute(
            f"UPDATE cells SET state = ?, time = ?, failure = ? WHERE {_IS_CELL}",
            (FAILED, time.time(), failure, *cell),
        )

    def release(self, cell: Cell) -> None:
        """Give up a claim."""
        self._connection.execute(
            f"DELETE FROM cells WHERE {_IS_CELL} AND state = ?", (*cell, CLAIMED)
        )

    def forget_failures(self) -> None:
        """Let cells that failed be tried again."""
        self._connection.execute("DELETE FROM cells WHERE state = ?", (FAILED,))

    def rows(self, settings: Iterable[str], state: str = DONE) -> list[dict[str, Any]]:
        """All cells of these settings that are in the state."""
        wanted = sorted(set(settings))
        marks = ", ".join("?" * len(wanted))
        found = self._connection.execute(
            f"SELECT * FROM cells WHERE state = ? AND settings IN ({marks}) "
            "ORDER BY seed, data, noise, method",
            (state, *wanted),
        )
        return [dict(row) for row in found]
