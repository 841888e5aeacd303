"""The store of the long experiments: claims, failures, several runs at a time."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest

import splboost.paper.store as store_module
from splboost.paper.store import CLAIMED, FAILED, Store, StoreError


class Cell(NamedTuple):
    settings: str
    data: str
    noise: str
    seed: int
    method: str


class Measures(NamedTuple):
    error: float
    rounds: int
    chosen: str


CELL = Cell("settings", "pima", "20", 5, "ExtraTrees")


def open_store(path, **options):
    return Store(path, Cell, Measures, **options)


def figures(error=0.2):
    return {"error": error, "rounds": 7, "chosen": "{}"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "store.sqlite"


def test_a_cell_is_claimed_once(path):
    one, other = open_store(path), open_store(path)
    assert one.claim(CELL)
    assert not other.claim(CELL)
    assert not one.claim(CELL)
    one.finish(CELL, figures(0.25), "abc")
    assert not other.claim(CELL)
    other.release(CELL)  # finished, so it stays
    (row,) = other.find().values()
    assert row["source"] == "abc" and not other.claim(CELL)
    assert {name: row[name] for name in Cell._fields} == CELL._asdict()
    assert {name: row[name] for name in Measures._fields} == figures(0.25)
    assert [type(row[name]) for name in Measures._fields] == [float, int, str]
    for change in ({"settings": "x"}, {"seed": 6}, {"noise": "30"}):
        assert one.claim(CELL._replace(**change))
    one.release(CELL._replace(seed=6))
    assert other.claim(CELL._replace(seed=6))
    assert sorted(cell.settings for cell in one.find(CLAIMED)) == [
        *["settings"] * 2,
        "x",
    ]
    assert list(one.find()) == [CELL]


def test_the_cause_of_a_failure_survives_that_it_cannot_be_undone(path):
    """As where the disk is full, and SQLite has rolled back by itself."""
    store = open_store(path)

    def fail():
        store._run("ROLLBACK")
        raise sqlite3.OperationalError("database or disk is full")
        yield

    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        store.adopt(fail())
    assert store.claim(CELL)


def test_the_claim_of_a_killed_process_ends(path):
    code = (
        "import sys, time; from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_paper_store import CELL, open_store\n"
        f"assert open_store(Path({str(path)!r})).claim(CELL)\n"
        "print('claimed', flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "claimed\n"
            store = open_store(path)
            assert not store.claim(CELL)
        finally:
            process.kill()
    assert store.claim(CELL)


def test_claims_of_other_machines_and_of_numbers_used_again_end(path, monkeypatch):
    store, other = open_store(path), open_store(path)
    monkeypatch.setattr(other, "_owner", ("elsewhere", 1, 0.0))
    far = CELL._replace(seed=6)
    assert store.claim(CELL) and other.claim(far) and not store.claim(far)
    monkeypatch.setattr(store_module, "SECONDS_OF_A_STRANGER", -1)
    assert store.claim(far)
    start = store_module._start_of(os.getpid())  # of another process, by now
    monkeypatch.setattr(store_module, "_start_of", lambda process: start + 60)
    assert store.claim(CELL)


def test_many_at_once_do_no_cell_twice(path, monkeypatch):
    """Nor do they fail: a claim waits for another to be made, however slowly."""
    cells = [CELL._replace(seed=seed) for seed in range(12)]
    dead = open_store(path)
    monkeypatch.setattr(dead, "_owner", ("elsewhere", 1, 0.0))
    assert all(dead.claim(cell) for cell in cells)
    dead.close()
    monkeypatch.setattr(store_module, "SECONDS_OF_A_STRANGER", -1)
    is_void = Store._is_void

    def consider(store, row):
        time.sleep(0.01)
        return is_void(store, row)

    monkeypatch.setattr(Store, "_is_void", consider)
    taken, failures = [], []

    def take():
        try:
            store = open_store(path)
            taken.extend(cell for cell in cells if store.claim(cell))
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(taken) == sorted(cells)


def test_what_was_measured_elsewhere_is_adopted(path):
    store = open_store(path)
    done, claimed, failed, absent = (CELL._replace(seed=seed) for seed in range(4))
    for cell in (done, claimed, failed):
        assert store.claim(cell)
    store.finish(done, figures(0.25), "here")
    store.fail(failed, "why")
    theirs = [(c, figures(0.5), "there") for c in (done, claimed, failed, absent)]
    assert store.adopt(theirs) == 3
    found = {
        cell.seed: (row["error"], row["source"]) for cell, row in store.find().items()
    }
    assert found == {0: (0.25, "here"), **dict.fromkeys((1, 2, 3), (0.5, "there"))}
    assert store.find(FAILED) == {}
    assert store.adopt(theirs) == 0
    broken = CELL._replace(seed=6), {"error": 0.1}, "there"
    with pytest.raises(KeyError):  # all or nothing
        store.adopt([(CELL._replace(seed=5), figures(), "there"), broken])
    assert len(store.find()) == 4 and not store.find(CLAIMED)


def test_the_file_of_something_else_is_refused(path, tmp_path):
    open_store(path).close()

    class Others(NamedTuple):
        accuracy: float

    with pytest.raises(ValueError, match=r"store of something else.* accuracy"):
        Store(path, Cell, Others)
    text = tmp_path / "notes.txt"
    text.write_text("these are no results\n" * 100)
    with pytest.raises(ValueError, match=r"notes.txt cannot be used .*another file"):
        open_store(text)
    assert text.read_text().startswith("these are")
    with pytest.raises(ValueError, match=r"is a folder; name a file for the results"):
        open_store(tmp_path)


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("journal", "read_only"), [("DELETE", False), ("WAL", True)])
def test_the_database_of_something_else_stays_as_it_is(tmp_path, journal, read_only):
    path = tmp_path / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    before = files_of(tmp_path)
    with pytest.raises(ValueError, match=r"other.sqlite .*; .*name another file\."):
        open_store(path, read_only=read_only)
    assert files_of(tmp_path) == before


def test_reading_makes_and_changes_nothing(path):
    with pytest.raises(ValueError, match=r"store.sqlite is no file; name a file"):
        open_store(path, read_only=True)
    assert not path.parent.exists()
    open_store(path).close()
    before = files_of(path.parent)
    reader = open_store(path, read_only=True)
    with pytest.raises(
        StoreError, match=r"store.sqlite could not be used \(attempt to"
    ):
        reader.claim(CELL)
    reader.close()
    assert files_of(path.parent) == before


def test_what_a_killed_process_has_left_half_done_is_undone_by_reading(path):
    """As a read-only connection of SQLite could not."""
    store = open_store(path)
    assert store.claim(CELL)
    store.close()
    code = (
        "import os, sqlite3\n"
        f"connection = sqlite3.connect({str(path)!r}, isolation_level=None)\n"
        "connection.execute('PRAGMA cache_size = 1')\n"
        "connection.execute('BEGIN')\n"
        "connection.execute('UPDATE cells SET failure = ?', ('x' * 100_000,))\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len(files_of(path.parent)) == 2  # the journal
    (row,) = open_store(path, read_only=True).find(CLAIMED).values()
    assert row["failure"] is None


@pytest.mark.parametrize(
    ("damage", "message", "read_only"),
    [
        (lambda whole: whole[: len(whole) // 2], r"damaged \(.*put a copy", False),
        (
            lambda whole: whole[:4096] + b"\xaa" * 100 + whole[4196:],
            r"damaged \(.*move it away to begin anew",
            True,
        ),
        (lambda whole: os.urandom(9000), r"cannot be used as a store.* file", True),
        (lambda whole: b"", r"is empty.* put a copy back, or delete it", False),
        (lambda whole: whole[:50], r"damaged \(", True),
    ],
)
def test_a_damaged_store_is_refused_and_left_as_it_is(path, damage, message, read_only):
    store = open_store(path)
    store.adopt((CELL._replace(seed=k), figures(), "abc") for k in range(300))
    store.close()
    path.write_bytes(damage(path.read_bytes()))
    before = files_of(path.parent)
    with pytest.raises((ValueError, StoreError), match=rf"store\.sqlite .*{message}"):
        open_store(path, read_only=read_only)
    assert files_of(path.parent) == before


def test_trouble_with_the_file_names_it_and_what_is_left(path, monkeypatch):
    monkeypatch.setattr(store_module, "SECONDS_TO_WAIT", 0.0)
    store = open_store(path)
    assert store.claim(CELL)
    store.finish(CELL, figures(), "abc")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    locked = (
        r"store\.sqlite could not be used \(database is locked\); what was finished "
    )
    with pytest.raises(
        StoreError, match=locked + r".*still in it\. Wait until no other"
    ):
        store.claim(CELL._replace(seed=6))
    other.close()
    assert store.claim(CELL._replace(seed=6))
    path.rename(path.with_name("moved"))
    with pytest.raises(
        StoreError, match=r"store\.sqlite is not there any more; .*Put it"
    ):
        store.claim(CELL._replace(seed=7))
    path.with_name("moved").rename(path)
    assert len(open_store(path, read_only=True).find()) == 1


def test_a_full_disk_names_the_file_and_loses_nothing(path):
    resource = pytest.importorskip("resource", reason="limits are those of POSIX")
    store = open_store(path)
    assert store.claim(CELL)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limit[1]))
    try:
        with pytest.raises(
            StoreError, match=r"store\.sqlite could not be used .*still in"
        ):
            store.adopt((CELL._replace(seed=k), figures(), "abc") for k in range(999))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert store.find() == {}
    store.finish(CELL, figures(), "abc")
    assert len(open_store(path).find()) == 1


def test_a_new_store_that_cannot_be_made_leaves_nothing(path, monkeypatch):
    def fail(*given):
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "rename", fail)
    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(
        StoreError, match=r"store\.sqlite could not be made .*not there"
    ):
        open_store(path)
    assert not list(path.parent.iterdir())


def test_threads_share_a_store(path):
    store, failures = open_store(path), []

    def work(first):
        try:
            for seed in range(first, first + 20):
                cell = CELL._replace(seed=seed)
                assert store.claim(cell)
                store.finish(cell, figures(seed), "abc")
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(20 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert {(r["seed"], r["error"]) for r in store.find().values()} == {
        (seed, float(seed)) for seed in range(80)
    }
