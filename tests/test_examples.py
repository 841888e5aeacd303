"""Every example runs, says something, and warns of nothing; so does code in pages."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
SECONDS = 240  # most of it for compiling, where no test has done so before
FONT_CACHE = "Matplotlib is building the font cache"  # once on a new machine


def name(path):
    return path.name


@pytest.mark.parametrize("script", EXAMPLES, ids=name)
def test_example(script, tmp_path):
    run = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    said = [line for line in run.stderr.splitlines() if FONT_CACHE not in line]
    assert run.returncode == 0, run.stderr
    assert not said, run.stderr
    assert len(run.stdout.splitlines()) >= 3
    announced = {
        Path(path) for path in re.findall(r"^Picture: (.+)$", run.stdout, re.M)
    }
    assert announced == set(tmp_path.iterdir())
    for picture in announced:
        assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=name)
def test_code_in_pages(page, tmp_path, monkeypatch):
    """The Python blocks of a page, one after the other, as a reader would run them."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    names = {"__name__": page.stem}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for block in blocks:
            exec(compile(block, page.name, "exec"), names)


@pytest.mark.skipif(not EXAMPLES, reason="the examples are not here")
def test_readme_names_every_example():
    listed = set(re.findall(r"examples/(\w+\.py)", (ROOT / "README.md").read_text()))
    assert listed == {script.name for script in EXAMPLES}
