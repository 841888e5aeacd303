"""Every example runs, says something, and warns of nothing; so does code in pages."""

import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
TEXTS = {
    page.name: page.read_text("utf-8")
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
}
SECONDS = 240  # most of it for compiling, where no test has done so before
# Once on a new machine; and XGBoost, of each worker of a cluster
CHATTER = "Matplotlib is building the font cache", "got rank", "splboost: compiling"


# Scripts in a process of their own; others save the two seconds that imports take
APART = "demo.py", "cluster.py", "forest.py"
SILENT = DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.name)
def test_example(script, tmp_path, monkeypatch, capfd):
    if script.name in APART:
        done = start([str(script)], tmp_path)
        assert done.returncode == 0, done.stderr
        out, err = done.stdout, done.stderr
    else:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(script)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for kind in SILENT:
                warnings.simplefilter("ignore", kind)
            runpy.run_path(str(script), run_name="__main__")
        plt.close("all")
        out, err = capfd.readouterr()
    said = [
        line
        for line in err.splitlines()
        # Lines of two workers may run into one, and leave an empty one
        if line.strip() and not any(words in line for words in CHATTER)
    ]
    assert not said, err
    assert len(out.splitlines()) >= 3
    pictures = re.findall(r"^Picture: (.+)$", out, re.M)
    pages = re.findall(r"^Page: (.+)$", out, re.M)
    assert {Path(path) for path in pictures + pages} == set(tmp_path.iterdir())
    for path in pictures:
        assert Path(path).read_bytes().startswith(b"\x89PNG")


def start(arguments, folder):
    """Python, as a user starts it in a folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )


@pytest.mark.parametrize("page", [page for page in TEXTS if BLOCK.search(TEXTS[page])])
def test_code_in_pages(page, tmp_path, monkeypatch):
    """The Python blocks of a page, one after the other, as a reader would run them."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for block in BLOCK.findall(TEXTS[page]):
            exec(compile(block, page, "exec"), names)
    plt.close("all")


@pytest.mark.skipif(not EXAMPLES, reason="the examples are not here")
def test_readme_names_every_example():
    listed = set(re.findall(r"examples/(\w+\.py)", TEXTS["README.md"]))
    assert listed == {script.name for script in EXAMPLES}


# On fewer rows than in the example
WITHOUT_FRAMES = """
import runpy, sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec

def find_spec(name, *args):
    if name.partition(".")[0] not in ("pandas", "polars"):
        return find(name, *args)

PathFinder.find_spec = find_spec

from splboost import datasets

make_rows = datasets.make_ringnorm
datasets.make_ringnorm = lambda n, **options: make_rows(120, **options)
runpy.run_path(sys.argv.pop(), run_name="__main__")
"""


def test_the_example_of_a_forest_runs_without_frames(tmp_path):
    done = start(["-c", WITHOUT_FRAMES, str(ROOT / "examples/forest.py")], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "What counts most" in done.stdout
