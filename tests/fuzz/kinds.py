"""All kinds of cases by name, and the process that runs one after the other."""

import ctypes
import faulthandler
import gc
import json
import os
import random
import subprocess
import sys
import time
import traceback
import warnings

import psutil

from fuzz.audits import audits, decisions, files
from fuzz.fits import fits, pickles, states

LEAK = 20_000_000  # bytes that running a case again and again may take
TIMES = 20  # that a case is run again, of every so many
EVERY = 50


def kills(rng):
    """Something that writes is killed at random moments."""
    command = [
        sys.executable,
        "-m",
        "fuzz.torture",
        "--seed",
        str(rng.randrange(10**6)),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return False


# How often each comes
KINDS = {fits: 6, states: 4, pickles: 1, audits: 2, files: 3, decisions: 3, kills: 0.2}
BY_NAME = {kind.__name__: kind for kind in KINDS}


def run_case(name, seed):
    """Whether it was refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BY_NAME[name](random.Random(f"{name} {seed}"))


def check_leak(name, seed):
    """Running a case again and again must not take more and more memory."""
    held = []
    for times in (3, TIMES):
        for _ in range(times):
            run_case(name, seed)
        gc.collect()
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)
        held.append(psutil.Process().memory_info().rss)
    leak = held[1] - held[0]
    assert leak < LEAK, f"{TIMES} times more took {leak / 1e6:.0f} MB"


def run_watched(name, seed):
    refused = run_case(name, seed)
    if seed % EVERY == 0 and name != "kills":
        check_leak(name, seed)
    return refused


def work(names, seed, step, seconds):
    """Run cases for a time; tell on stdout when each starts and ends, as JSON."""
    faulthandler.enable()
    told = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what packages print

    def tell(*event):
        print(json.dumps(event), file=told, flush=True)

    shares = {name: KINDS[BY_NAME[name]] for name in names}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        (name,) = random.Random(seed).choices(list(shares), list(shares.values()))
        tell("start", name, seed)
        try:
            tell("refused" if run_watched(name, seed) else "done", name, seed)
        except Exception:
            tell("failed", name, seed, traceback.format_exc(limit=-6))
        seed += step


if __name__ == "__main__":
    names, *numbers = sys.argv[1:]
    if len(numbers) == 1:
        print("refused" if run_watched(names, int(*numbers)) else "done")
    else:
        work(names.split(","), *map(int, numbers))
