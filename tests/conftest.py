"""Fixtures that several test files use."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from review_page import SCREEN, Visit
from splboost._tools.compiling import notice

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures need no screen
# Threads of OpenMP wait busily for each other where there are fewer cores than threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A first call compiles, and slow machines are no failures. Every run has the same
# cases; others are for make fuzz.
settings.register_profile("splboost", deadline=None, derandomize=True)
settings.load_profile("splboost")
notice.is_due = False  # that kernels are compiled, whichever test is first

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture
def eager_threads(monkeypatch):
    """Let threads be used however little there is to do."""
    monkeypatch.setattr("splboost._tools.threads.THREADED_WORK", 1)


@pytest.fixture
def installed(monkeypatch):
    """Only the libraries that are left in this set are found."""
    libraries = {"pandas", "polars", "pyarrow"}
    monkeypatch.setattr(
        "splboost._data.frames.find_spec",
        lambda name: name if name in libraries else None,
    )
    return libraries


@pytest.fixture(scope="module")
def browser():
    """A chromium without a window, for the tests of a file.

    Where there is none, its tests are skipped; with SPLBOOST_BROWSER=required in the
    environment, they fail.
    """
    required = os.environ.get("SPLBOOST_BROWSER") == "required"
    without = pytest.fail if required else pytest.skip
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without("needs playwright: pip install playwright")
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        found = next(filter(None, map(shutil.which, CHROMIUM)), own)
        if not Path(found).exists():
            without(
                "needs a browser: apt install chromium, or playwright install chromium"
            )
        chromium = playwright.chromium.launch(executable_path=found)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page(browser):
    """The tab that tests share: a new one takes four times as long as a new report."""
    with browser.new_context(viewport=SCREEN) as context:
        yield context.new_page()


@pytest.fixture
def visit(browser, page, tmp_path):
    """Opens a report, or the file of one; afterwards nothing may have gone wrong.

    No two visits share what is stored. One that has options, or is to stay beside the
    next, is made in a browser of its own.
    """
    visits, contexts = [], []

    def open_page(report, *, script=None, alone=False, **options):
        from splboost.audit.page import write_page

        path = report
        if isinstance(report, dict):
            path = tmp_path / "review.html"
            # The digest of the report names what is stored
            write_page({**report, "visit": f"{tmp_path} {len(visits)}"}, path)
        tab = page
        if script or alone or options:
            contexts.append(browser.new_context(viewport=SCREEN, **options))
            if script:
                contexts[-1].add_init_script(script)
            tab = contexts[-1].new_page()
        visits.append(Visit(tab, path))
        return visits[-1]

    yield open_page
    for each in visits:
        each.leave()
    for context in contexts:
        context.close()
    for each in visits:
        assert not each.faults
        assert all(url.startswith(("file:", "blob:", "data:")) for url in each.requests)
