"""All kinds of cases by name, and the process that runs one after the other."""

import ctypes
import faulthandler
import gc
import json
import os
import random
import shutil
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
KINDS = {fits: 6, states: 4, pickles: 1, audits: 2, files: 3, decisions: 3}
if sys.platform == "linux" and shutil.which("cc"):
    KINDS[kills] = 0.2
ALL = "all"
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


def work(name, seed, step, seconds):
    """Run cases of a kind, or all, for a time; tell on stdout of starts and ends."""
    faulthandler.enable()
    told = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what packages print

    def tell(*event):
        print(json.dumps(event), file=told, flush=True)

    shares = KINDS if name == ALL else {BY_NAME[name]: 1}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        (kind,) = random.Random(seed).choices(list(shares), list(shares.values()))
        name = kind.__name__
        tell("start", name, seed)
        try:
            tell("refused" if run_watched(name, seed) else "done", name, seed)
        except Exception:
            tell("failed", name, seed, traceback.format_exc(limit=-6))
        seed += step


if __name__ == "__main__":
    name, *numbers = sys.argv[1], *map(int, sys.argv[2:])
    if name not in (ALL, *BY_NAME):
        sys.exit(f"KIND={name} is none of {', '.join(BY_NAME)}.")
    if len(numbers) == 1:
        print("refused" if run_watched(name, *numbers) else "done")
    else:
        work(name, *numbers)
