"""Kills everything that writes a file at every write, and fills the disk up instead.

Afterwards each file is the earlier one or the new one, byte for byte, and the same can
be done again. Writers run in children forked from a process that has everything
imported, with ``torture.c`` preloaded. Run by ``make torture``, or ``python -m
fuzz.torture NAME ...`` in ``tests``.
"""

import argparse
import ctypes
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

from fuzz.commands import Refused
from fuzz.writers import CONTROL, STORE, WRITERS, check_store

KILL, FULL = 1, 2
NEVER = 2**40
LIMIT = 120  # seconds for one child
# What a killed process may leave beside a file
REMAINS = re.compile(r"\.part\b|^\.")
# What SQLite mends a store with when it is opened next
JOURNAL = re.compile(r"\.sqlite-(journal|wal|shm)$")


def preload(folder):
    """The environment of a process that can be tortured; exits without a compiler."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None or sys.platform != "linux":
        sys.exit("Torture needs Linux and a C compiler; install one, as gcc.")
    shim = Path(folder, "torture.so")
    source = Path(__file__).with_suffix(".c")
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"]
    subprocess.run(command, check=True)
    return {**os.environ, "LD_PRELOAD": str(shim), "MPLBACKEND": "Agg"}


def run(write, folder, when=NEVER, mode=KILL, seconds=None):
    """Let a child write: how often it did, and how it ended.

    It is struck at the write of that number, or killed after some seconds. Says None
    where it was killed.
    """
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.close(here)
        _write(write, folder, when, mode, there)
    os.close(there)
    timer = threading.Timer(LIMIT if seconds is None else seconds, os.kill, [child, 9])
    timer.start()
    with open(here, encoding="utf-8") as stream:
        said = stream.read()
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    late = not timer.is_alive()
    timer.cancel()
    assert not (late and seconds is None), f"hangs at write {when}"
    assert killed or said, f"crashes at write {when}"
    return None if killed else json.loads(said)


def _write(write, folder, when, mode, pipe):
    """In the child."""
    library = ctypes.CDLL(None)
    library.torture_stop.restype = ctypes.c_long
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    ending, said = "done", ""
    library.torture_start(str(folder).encode(), ctypes.c_long(when), mode)
    try:
        write(folder)
    except (Refused, OSError, sqlite3.Error) as error:
        ending, said = "refused", str(error)
    except BaseException:
        ending, said = "crashed", traceback.format_exc()
    writes = library.torture_stop()
    os.write(pipe, json.dumps([ending, said, writes]).encode())
    os._exit(0)


def contents(folder):
    """All files below a folder."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


class Rack:
    """A writer with its files before and after.

    Parameters
    ----------
    writer : Writer
    folder : Path
        For all files; empty.
    earlier : bool
        Whether there are outputs of an earlier time.
    """

    def __init__(self, writer, folder, *, earlier=True):
        self.writer, self.place = writer, folder / "place"
        self.kept = folder / "kept"
        self.place.mkdir()
        for version in (0, 1):
            writer.prepare(self.place, version)
            if version == 0 and earlier:
                self._write_well()
        shutil.copytree(self.place, self.kept)
        self.before = contents(self.kept)
        start = time.monotonic()
        self._write_well()
        self.seconds = time.monotonic() - start
        self.after = contents(self.place)
        self.outputs = {n for n, c in self.after.items() if self.before.get(n) != c}
        assert self.outputs, "writes nothing"
        self.is_store = STORE in self.outputs
        if self.is_store:
            self.n_done = check_store(self.place / STORE, self.kept / STORE)

    def _write_well(self):
        ending, said, _ = run(self.writer.write, self.place)
        assert ending == "done", said

    def strike(self, when=NEVER, mode=KILL, seconds=None):
        """Let it write and go wrong; whether it did. Raises if something is broken."""
        shutil.rmtree(self.place)
        shutil.copytree(self.kept, self.place)
        result = run(self.writer.write, self.place, when, mode, seconds)
        killed = result is None
        ending, said, writes = result or ("killed", "", when)
        struck = killed or writes >= when
        found = contents(self.place)
        for name, content in found.items():
            if self.is_store and name in self.outputs:
                n_done = check_store(self.place / name, self.kept / name)
                assert ending != "done" or n_done == self.n_done, "lacks cells"
            elif name in self.before or name in self.outputs:
                whole = self.before.get(name), self.after.get(name)
                assert content in whole, f"{name} is torn"
            else:
                self._check_rest(name, content, killed, said)
        lost = self.before.keys() - found
        assert not lost, f"{lost} is gone"
        assert ending != "crashed", f"ends in a traceback: {said}"
        if ending == "refused":
            assert any(Path(name).name in said for name in self.outputs), (
                f"does not name the file: {said}"
            )
        elif not killed and not self.is_store:
            new = all(found.get(name) == self.after[name] for name in self.outputs)
            assert new, "says nothing, and has not written all"
        if struck:
            ending, said, _ = run(self.writer.write, self.place)
            assert ending == "done", f"is not done again: {said}"
        return struck

    def _check_rest(self, name, content, killed, said):
        if JOURNAL.search(name):
            return
        if killed:
            assert REMAINS.search(name), f"{name} is left"
            return
        is_whole = content in [self.after[each] for each in self.outputs]
        assert is_whole and Path(name).name in said, f"{name} is left beside"


def torture(writer, folder):
    """Strike at each write: how many kills and full disks, and what was broken."""
    counts, failures = Counter(), {}
    for earlier in (True, False) if writer.replaces else (True,):
        own = Path(folder, str(earlier))
        own.mkdir()
        rack = Rack(writer, own, earlier=earlier)
        for mode in (KILL, FULL):
            struck, when = True, 0
            while struck:
                when += 1
                try:
                    struck = rack.strike(when, mode)
                except AssertionError as error:
                    how = "killed at" if mode == KILL else "disk full from"
                    state = "" if earlier else ", no earlier file"
                    failures.setdefault(str(error), []).append(
                        f"{how} write {when}{state}"
                    )
                counts[mode] += struck
                assert when < 1000, "never comes to its end"
    return counts[KILL], counts[FULL], failures


def kill_at_random(writer, folder, seed, times=20):
    """Kill at random moments."""
    rng, rack = random.Random(seed), Rack(writer, Path(folder))
    for _ in range(times):
        rack.strike(seconds=rng.uniform(0, 1.1 * rack.seconds))


def main(names, seed=None):
    known = WRITERS | CONTROL
    chosen = names or list(WRITERS)
    if seed is not None:
        name = random.Random(seed).choice(chosen)
        with tempfile.TemporaryDirectory() as folder:
            kill_at_random(known[name], folder, seed)
        return
    print("| writer | kills | full disks | failures |\n|---|--:|--:|--:|")
    broken = {}
    for name in chosen:
        kills, full = 0, 0
        with tempfile.TemporaryDirectory() as folder:
            try:
                kills, full, broken[name] = torture(known[name], folder)
            except AssertionError as error:
                broken[name] = {str(error): ["left in peace"]}
        n_broken = sum(map(len, broken[name].values()))
        print(f"| {name} | {kills} | {full} | {n_broken} |", flush=True)
    for name, failures in broken.items():
        for failure, (first, *others) in failures.items():
            more = f" (and {len(others)} times more)" if others else ""
            print(f"\n{name}, {first}{more}: {failure.strip()}")
    sys.exit(any(broken.values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of writers; all by default")
    parser.add_argument("--seed", type=int, help="kill one at random moments instead")
    given = parser.parse_args()
    if hasattr(ctypes.CDLL(None), "torture_start"):
        main(given.names, given.seed)
    else:
        with tempfile.TemporaryDirectory() as own:
            again = [sys.executable, "-m", "fuzz.torture", *sys.argv[1:]]
            sys.exit(subprocess.run(again, env=preload(own)).returncode)
