"""``make fuzz``: cases in processes of their own, for as long as there is time.

A failure is an error of another kind than those for users, a broken promise, a crash,
a hang or a leak. Each is told of with the command that runs its case again.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIFE = 150  # seconds of a process
LIMIT = 300  # of a case; compiling with checks of bounds takes some


def environment(*, bounds):
    """For a process that runs cases; compiled kernels are those of this very code."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    cache = f"fuzz-{digest.hexdigest()[:12]}" + ("-bounds" if bounds else "")
    paths = [str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "NUMBA_CACHE_DIR": str(ROOT / ".numba_cache" / cache),
        "NUMBA_BOUNDSCHECK": str(int(bounds)),
    }


class Fuzz:
    """What has been tried so far."""

    def __init__(self, kind, seed, n_workers, minutes):
        self.kind, self.seed, self.n_workers = kind, seed, n_workers
        self.end = time.monotonic() + 60 * minutes
        self.counts, self.n_failures = Counter(), 0
        self._lock = threading.Lock()

    def run(self):
        threads = [
            threading.Thread(target=self._tend, args=[n]) for n in range(self.n_workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print("\n| kind | cases | refused | failures |\n|---|--:|--:|--:|")
        for kind in sorted({kind for kind, _ in self.counts}):
            found = [self.counts[kind, how] for how in ("done", "refused", "failed")]
            print(f"| {kind} | {sum(found)} | {found[1]} | {found[2]} |")

    def _tend(self, worker):
        """One process after the other; every third checks the bounds of arrays."""
        seed, life = self.seed + worker, worker
        while (left := self.end - time.monotonic()) > 0:
            seed = self._live(seed, min(left, LIFE), bounds=life % 3 == 2)
            life += 1

    def _live(self, seed, seconds, *, bounds):
        """Run a process; the seed that is next."""
        numbers = map(str, (seed, self.n_workers, round(seconds)))
        command = [sys.executable, "-m", "fuzz.kinds", self.kind, *numbers]
        running = None
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command,
                env=environment(bounds=bounds),
                stdout=-1,
                stderr=errors,
                text=True,
            )
            while line := self._read(process):
                how, kind, number, *text = json.loads(line)
                running = kind, number
                if how != "start":
                    self._count(how, kind, number, bounds, *text)
                    running, seed = None, number + self.n_workers
            code = process.wait()
            if code or running:
                errors.seek(0)
                said = errors.read().partition("Extension modules")[0][-3000:]
                if not running:  # it cannot even start
                    self.end = 0
                kind, number = running or (self.kind, seed)
                how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                self._count("failed", kind, number, bounds, f"ends by {how}\n{said}")
                seed = number + self.n_workers
        return seed

    def _read(self, process):
        """The next line of a process; one that hangs shows where, and dies."""
        timers = [
            threading.Timer(LIMIT + 10 * k, process.send_signal, [number])
            for k, number in enumerate((signal.SIGABRT, signal.SIGKILL))
        ]
        for timer in timers:
            timer.start()
        line = process.stdout.readline()
        for timer in timers:
            timer.cancel()
        return line

    def _count(self, how, kind, seed, bounds, text=""):
        with self._lock:
            self.counts[kind, how] += 1
            if how == "failed":
                self.n_failures += 1
                flag = "NUMBA_BOUNDSCHECK=1 " if bounds else ""
                again = f"{flag}make fuzz KIND={kind} SEED={seed}"
                print(f"\n{kind} {seed} failed. Again: {again}\n{text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="all")
    parser.add_argument("--seed", type=int, help="the first; with a kind, the only one")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=30)
    given = parser.parse_args()
    if given.kind != "all" and given.seed is not None:
        command = [sys.executable, "-X", "faulthandler", "-m", "fuzz.kinds"]
        command += [given.kind, str(given.seed)]
        bounds = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
        sys.exit(subprocess.run(command, env=environment(bounds=bounds)).returncode)
    seed = time.time_ns() % 10**9 if given.seed is None else given.seed
    fuzz = Fuzz(given.kind, seed, given.workers, given.minutes)
    fuzz.run()
    sys.exit(bool(fuzz.n_failures))


if __name__ == "__main__":
    main()
