"""What long experiments keep of what they have measured: a row of SQLite for each cell.

A cell is claimed before it is measured and written as soon as it is, so a run may be
killed at any point and several may share the file. A claim ends with the process that
made it. What changes the meaning of a figure (settings, versions) is part of the cell.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_args, get_type_hints

import psutil

CLAIMED, DONE, FAILED = "claimed", "done", "failed"
SECONDS_OF_A_STRANGER = 2 * 3600  # after which the claim of another machine is void
CLOCK_ERROR = 5.0  # seconds by which two readings of a process's start may differ
SQL_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL"}


def _start_of(process: int) -> float | None:
    """When a process of this machine began, or None if there is none."""
    try:
        own = psutil.Process(process)
        if own.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(own.create_time())
    except psutil.NoSuchProcess:
        return None


def _sql_type(kind: Any) -> str:
    """That of a field, which may also be None."""
    (own,) = set(get_args(kind) or [kind]) - {type(None)}
    return SQL_TYPES[own]


def make_folder(folder: Path) -> None:
    """Make a folder where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(
            f"{folder} cannot be a folder ({error.strerror}); name another one."
        ) from error


class Store:
    """The file, opened by one process; its threads may share it.

    Parameters
    ----------
    path : Path
    cell : class of named tuples
        What is measured in one go. Its fields are texts or whole numbers; one of them
        is ``settings``.
    measures : class of named tuples
        What is measured. Its fields are numbers or texts.
    """

    def __init__(self, path: Path, cell: Any, measures: Any) -> None:
        self._cell, self._measures = cell, measures
        self._is_cell = " AND ".join(f"{name} = ?" for name in cell._fields)
        self._lock = threading.RLock()
        make_folder(path.parent)
        try:
            self._connection = sqlite3.connect(
                path, timeout=60.0, isolation_level=None, check_same_thread=False
            )
            self._connection.row_factory = sqlite3.Row
            self._connection.execute(self._schema())
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{path} cannot be used as a store ({error}); name another file."
            ) from error
        self._check_columns(path)
        self._owner = socket.gethostname(), os.getpid(), _start_of(os.getpid())

    def _schema(self) -> str:
        def columns(fields: Any, ending: str) -> str:
            return "".join(
                f"{name} {_sql_type(kind)}{ending}, "
                for name, kind in get_type_hints(fields).items()
            )

        return (
            f"CREATE TABLE IF NOT EXISTS cells ({columns(self._cell, ' NOT NULL')}"
            "state TEXT NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL, "
            "process_start REAL NOT NULL, time REAL NOT NULL, "
            f"{columns(self._measures, '')}source TEXT, failure TEXT, "
            f"PRIMARY KEY ({', '.join(self._cell._fields)})) WITHOUT ROWID"
        )

    def _check_columns(self, path: Path) -> None:
        found = {row["name"] for row in self._run("PRAGMA table_info(cells)")}
        missing = {*self._cell._fields, *self._measures._fields} - found
        if missing:
            raise ValueError(
                f"{path} is the store of something else, for it has no column "
                f"{', '.join(sorted(missing))}; name another file."
            )

    def _run(self, statement: str, values: Iterable[Any] = ()) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(statement, tuple(values)).fetchall()

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Nobody else writes meanwhile."""
        with self._lock:
            self._run("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has ended it already
                    self._run("ROLLBACK")
                raise
            self._run("COMMIT")

    def claim(self, cell: Any) -> bool:
        """Whether this process is now the one to measure the cell."""
        with self._transaction():
            found = self._run(f"SELECT * FROM cells WHERE {self._is_cell}", cell)
            if found and not self._is_void(found[0]):
                return False
            self._insert(cell)
        return True

    def _insert(self, cell: Any) -> None:
        """Write that a cell is this process's."""
        values = *cell, CLAIMED, *self._owner, time.time()
        self._run(
            f"INSERT OR REPLACE INTO cells ({', '.join(self._cell._fields)}, "
            "state, host, process, process_start, time) "
            f"VALUES ({', '.join('?' * len(values))})",
            values,
        )

    def _is_void(self, row: sqlite3.Row) -> bool:
        """Whether it is a claim that nobody will make good."""
        if row["state"] != CLAIMED:
            return False
        if row["host"] != self._owner[0]:
            return time.time() - row["time"] > SECONDS_OF_A_STRANGER
        start = _start_of(row["process"])
        return start is None or abs(start - row["process_start"]) > CLOCK_ERROR

    def finish(self, cell: Any, figures: Mapping[str, Any], source: str) -> None:
        """Write what was measured, and with which state of the code."""
        names = self._measures._fields
        self._run(
            "UPDATE cells SET state = ?, time = ?, source = ?, "
            f"{', '.join(f'{name} = ?' for name in names)} WHERE {self._is_cell}",
            (DONE, time.time(), source, *(figures[name] for name in names), *cell),
        )

    def adopt(self, finished: Iterable[tuple[Any, Mapping[str, Any], str]]) -> int:
        """Take cells that were measured elsewhere, all or none; how many are new.

        Parameters
        ----------
        finished : cells, their figures and the state of the code
        """
        n_new = 0
        with self._transaction():
            for cell, figures, source in finished:
                found = self._run(f"SELECT * FROM cells WHERE {self._is_cell}", cell)
                if found and found[0]["state"] == DONE:
                    continue
                self._insert(cell)
                self.finish(cell, figures, source)
                n_new += 1
        return n_new

    def fail(self, cell: Any, failure: str) -> None:
        """Write why it could not be measured; it is not tried again by itself."""
        self._run(
            f"UPDATE cells SET state = ?, time = ?, failure = ? WHERE {self._is_cell}",
            (FAILED, time.time(), failure, *cell),
        )

    def release(self, cell: Any) -> None:
        """Give up a claim."""
        self._run(
            f"DELETE FROM cells WHERE {self._is_cell} AND state = ?", (*cell, CLAIMED)
        )

    def forget_failures(self) -> None:
        """Let cells that failed be tried again."""
        self._run("DELETE FROM cells WHERE state = ?", (FAILED,))

    def settings(self, state: str = DONE) -> dict[str, int]:
        """The settings of cells in the state, and how many each has."""
        found = self._run(
            "SELECT settings, COUNT(*) AS n FROM cells WHERE state = ? "
            "GROUP BY settings",
            (state,),
        )
        return {row["settings"]: row["n"] for row in found}

    def rows(self, settings: Iterable[str], state: str = DONE) -> list[dict[str, Any]]:
        """All cells of these settings that are in the state."""
        wanted = sorted(set(settings))
        found = self._run(
            "SELECT * FROM cells WHERE state = ? "
            f"AND settings IN ({', '.join('?' * len(wanted))}) "
            f"ORDER BY {', '.join(self._cell._fields)}",
            (state, *wanted),
        )
        return [dict(row) for row in found]
