"""Fixtures of the tests of data sets."""

import pytest

from openml_server import ADULT, ADULT_ROWS, openml_server, shrink
from splboost.datasets.catalogue import OpenML


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A home without data, which the loader takes for the user's."""
    monkeypatch.delenv("SPLBOOST_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def cache(home):
    return home / ".cache" / "splboost"


@pytest.fixture
def server(monkeypatch):
    with openml_server(monkeypatch) as server:
        yield server


@pytest.fixture
def adult(monkeypatch, server):
    """A set like adult, and the server that has it."""
    server.offer(1590, ADULT, ADULT_ROWS)
    shrink(
        monkeypatch,
        "adult",
        columns=("years", "employer"),
        categorical=("employer",),
        classes={"<=50K": 3, ">50K": 1},
        missing=2,
        openml=OpenML(1590, ""),
    )
    return server
