"""Results of long experiments in SQLite, a row for each cell.

A cell is what is measured in one go. It is claimed before it is measured and written as
soon as it is, so a run may be killed at any point and several may share the file. A
claim ends with the process that made it. What a result depends on (settings, versions)
is part of the cell.

A file that is no store, or a damaged one, is refused before anything is written to it.
"""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from splboost._tools.whole_files import PART

CLAIMED, DONE, FAILED = "claimed", "done", "failed"
SECONDS_OF_A_STRANGER = 2 * 3600  # after which the claim of another machine is void
CLOCK_ERROR = 5.0  # seconds by which two readings of a process's start may differ
SECONDS_TO_WAIT = 60.0  # while another process writes
BOOKKEEPING = "state", "host", "process", "process_start", "time"
HEADER = b"SQLite format 3\0"
ROLLBACK_JOURNAL = b"\1\1"  # bytes 18 and 19; merely reading other kinds leaves files
DAMAGE = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB
REMEDIES = {
    sqlite3.SQLITE_FULL: "Make room on the disk",
    sqlite3.SQLITE_BUSY: "Wait until no other process writes to it",
}
WRITABLE = "Make the file, its folder and the disk writable"


class StoreError(OSError):
    """Which store could not be used, what is left in it, and what to do."""


def _start_of(process: int) -> float | None:
    """Start time of a process of this machine, or None if it has ended."""
    try:
        own = psutil.Process(process)
        is_dead = own.status() == psutil.STATUS_ZOMBIE
        return None if is_dead else float(own.create_time())
    except psutil.NoSuchProcess:
        return None


def _check_header(path: Path) -> None:
    """Refuse what cannot be a store, before SQLite touches it."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is no file"
        raise ValueError(f"{path} {what}; name a file for the results.")
    try:
        with path.open("rb") as file:
            start = file.read(20)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read ({error.strerror}); make it readable, or name "
            "another file."
        ) from error
    if not start:
        raise ValueError(
            f"{path} is empty, so it is no store of results; put a copy back, or "
            "delete it to begin anew."
        )
    if not start.startswith(HEADER) or start[18:] != ROLLBACK_JOURNAL:
        raise ValueError(
            f"{path} cannot be used as a store, for it is no database of this kind; "
            "put a copy back if it was one, or name another file."
        )


class Store:
    """The file, opened by one process; its threads may share it.

    Parameters
    ----------
    path : Path
    cell : class of named tuples
        What is measured in one go. Its fields are texts or whole numbers.
    measures : class of named tuples
        What is measured. Its fields are numbers or texts.
    read_only : bool, default=False
        Whether to make nothing where there is no file, and to write nothing.
    """

    def __init__(
        self, path: Path, cell: Any, measures: Any, *, read_only: bool = False
    ) -> None:
        self.path = path
        self._cell, self._measures = cell, measures
        # Columns have no types, so that SQLite gives back what it was given.
        names = *cell._fields, *BOOKKEEPING, *measures._fields
        self._columns = *names, "source", "failure"
        self._is_cell = " AND ".join(f"{name} = ?" for name in cell._fields)
        self._lock = threading.RLock()
        if not read_only and not path.exists():
            self._make_file()
        _check_header(path)
        try:
            # Not mode=ro, which cannot read what a killed process has left half done.
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=SECONDS_TO_WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise self._explained(error) from error
        self._connection.row_factory = sqlite3.Row
        try:
            self._run("PRAGMA query_only = ON")
            self._check_contents()
            if not read_only:
                self._run("PRAGMA query_only = OFF")
        except BaseException:
            self.close()
            raise
        self._owner = socket.gethostname(), os.getpid(), _start_of(os.getpid())

    def _make_file(self) -> None:
        """Put a store without cells at its place, unless another process is first."""
        target = Path(os.path.realpath(self.path))
        part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.{PART}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(part)) as connection:
                connection.execute(
                    f"CREATE TABLE cells ({', '.join(self._columns)}, "
                    f"PRIMARY KEY ({', '.join(self._cell._fields)})) WITHOUT ROWID"
                )
            try:
                os.link(part, target)
            except FileExistsError:
                pass
            except OSError:  # a drive without hard links
                if not target.exists():
                    part.rename(target)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self.path} could not be made ({error}); it is not there. Make its "
                "folder writable, make room on the disk, or name another file."
            ) from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def _check_contents(self) -> None:
        there = {row["name"] for row in self._run("PRAGMA table_info(cells)")}
        missing = sorted(set(self._columns) - there)
        if missing:
            what, lacks = "the store", f"column {', '.join(missing)}"
            if not there:
                what, lacks = "a database", "table cells"
            raise ValueError(
                f"{self.path} is {what} of something else, for it has no {lacks}; "
                "name another file."
            )
        ((result,),) = self._run("PRAGMA quick_check(1)")
        if result != "ok":
            raise self.damaged(" ".join(result.split()))

    def damaged(self, reason: object) -> StoreError:
        """Make the error that says that the store is damaged."""
        return StoreError(
            f"{self.path} is damaged ({reason}) and is left as it is; put a copy of it "
            "back, or move it away to begin anew."
        )

    def _explained(self, error: sqlite3.Error) -> StoreError:
        """Explain an error of SQLite: the file, what is left in it, what to do."""
        code = getattr(error, "sqlite_errorcode", None)
        if not self.path.exists():
            return StoreError(
                f"{self.path} is not there any more; what it had is where it was "
                "moved to, if not deleted. Put it back, and the same command goes on."
            )
        if code is None or code & 0xFF in DAMAGE:
            return self.damaged(error)
        return StoreError(
            f"{self.path} could not be used ({error}); what was finished before is "
            f"still in it. {REMEDIES.get(code & 0xFF, WRITABLE)}, and the same command "
            "goes on from there."
        )

    def _run(self, statement: str, values: Iterable[Any] = ()) -> list[sqlite3.Row]:
        with self._lock:
            try:
                return self._connection.execute(statement, tuple(values)).fetchall()
            except sqlite3.Error as error:
                raise self._explained(error) from error

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run statements while no other process can write."""
        with self._lock:
            self._run("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                with suppress(StoreError):  # a full disk has ended it already
                    self._run("ROLLBACK")
                raise
            self._run("COMMIT")

    def claim(self, cell: Any) -> bool:
        """Whether this process is now the one to measure the cell."""
        with self._transaction():
            found = self._run(f"SELECT * FROM cells WHERE {self._is_cell}", cell)
            if found and not self._is_void(found[0]):
                return False
            self._put(cell)
        return True

    def _is_void(self, row: sqlite3.Row) -> bool:
        """Whether a claim has lapsed because its process has ended."""
        if row["state"] != CLAIMED:
            return False
        if row["host"] != self._owner[0]:
            return time.time() - row["time"] > SECONDS_OF_A_STRANGER
        start = _start_of(row["process"])
        return start is None or abs(start - row["process_start"]) > CLOCK_ERROR

    def _put(self, cell: Any, state: str = CLAIMED, **columns: Any) -> None:
        """Write the row of a cell, with this process as its owner."""
        bookkeeping = (state, *self._owner, time.time())
        row = cell._asdict() | dict(zip(BOOKKEEPING, bookkeeping, strict=True))
        row |= columns
        self._run(
            f"INSERT OR REPLACE INTO cells ({', '.join(row)}) "
            f"VALUES ({', '.join('?' * len(row))})",
            row.values(),
        )

    def finish(self, cell: Any, measured: Mapping[str, Any], source: str) -> None:
        """Store what was measured, and the state of the code."""
        measures = {name: measured[name] for name in self._measures._fields}
        self._put(cell, DONE, source=source, **measures)

    def fail(self, cell: Any, failure: str) -> None:
        """Store why a cell failed; it is not tried again unless asked for."""
        self._put(cell, FAILED, failure=failure)

    def adopt(self, finished: Iterable[tuple[Any, Mapping[str, Any], str]]) -> int:
        """Store cells that were measured elsewhere, all or none; counts new ones.

        Each comes with what was measured and the state of the code.
        """
        n_new = 0
        with self._transaction():
            there = self.find()
            for cell, measured, source in finished:
                if cell not in there:
                    self.finish(cell, measured, source)
                    n_new += 1
        return n_new

    def release(self, cell: Any) -> None:
        """Give up the claim on a cell."""
        self._run(
            f"DELETE FROM cells WHERE {self._is_cell} AND state = ?", (*cell, CLAIMED)
        )

    def forget_failures(self) -> None:
        """Let cells that failed be tried again."""
        self._run("DELETE FROM cells WHERE state = ?", (FAILED,))

    def find(self, state: str = DONE) -> dict[Any, dict[str, Any]]:
        """The rows of all cells in the state, by cell."""
        rows = self._run("SELECT * FROM cells WHERE state = ?", (state,))
        names = self._cell._fields
        return {self._cell(*(row[name] for name in names)): dict(row) for row in rows}
