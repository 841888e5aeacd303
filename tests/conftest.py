"""Fixtures that several test files use."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from review_page import Visit
from splboost._tools.compiling import notice

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures need no screen
# Threads of OpenMP wait busily for each other where there are fewer cores than threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A first call compiles, and slow machines are no failures.
settings.register_profile("splboost", deadline=None)
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


@pytest.fixture
def visit(browser, tmp_path):
    """Opens a report in a fresh browser; afterwards nothing may have gone wrong."""
    contexts, visits = [], []

    def open_page(report, *, script=None, **options):
        from splboost.audit.page import write_page

        path = tmp_path / "review.html"
        write_page(report, path)
        contexts.append(
            browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        )
        if script:
            contexts[-1].add_init_script(script)
        visits.append(Visit(contexts[-1], path))
        return visits[-1]

    yield open_page
    for each in visits:
        assert not each.faults
        assert all(url.startswith(("file:", "blob:", "data:")) for url in each.requests)
    for context in contexts:
        context.close()
