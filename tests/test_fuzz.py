"""Some of what make fuzz and make torture run for long."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

pytest.importorskip("typer", reason="needs the extra cli")
from fuzz.kinds import run_case

CASES = {
    "fits": 40,
    "states": 30,
    "pickles": 10,
    "audits": 20,
    "files": 100,
    "decisions": 150,
}
HERE = Path(__file__).parent


@pytest.mark.parametrize("kind", CASES)
def test_random_cases_keep_all_promises(kind):
    """Seeds do not shrink; one that fails is run again by make fuzz."""
    few = {"max_examples": CASES[kind], "phases": [Phase.generate]}

    @settings(deadline=None, derandomize=True, **few)
    @given(seed=st.integers(0, 10**9))
    def keeps_promises(seed):
        note(f"To run it again: make fuzz KIND={kind} SEED={seed}")
        run_case(kind, seed)

    keeps_promises()


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("fits", 579),
        ("fits", 963587798),
        ("fits", 963588143),
        ("states", 963586644),
        ("audits", 22395),
    ],
)
def test_cases_that_have_failed_once(kind, seed):
    run_case(kind, seed)


@pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="needs a C compiler"
)
def test_writers_survive_torture_and_one_that_writes_in_place_does_not():
    paths = str(HERE), os.environ.get("PYTHONPATH", "")
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.torture", "in place", "audit apply, CSV"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    counts = re.findall(r"\| (.+) \| (\d+) \| (\d+) \| (\d+) \|", done.stdout)
    assert [failures for *_, failures in counts] == ["4", "0"], (
        done.stdout + done.stderr
    )
    assert all(int(n) for _, *tried, _ in counts for n in tried)
    assert "in place, killed at write 1 (and 3 times more): file is torn" in done.stdout
    assert done.returncode == 1
