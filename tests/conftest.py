"""Fixtures that several test files use."""

import os

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures need no screen


@pytest.fixture
def eager_threads(monkeypatch):
    """Let threads be used however little there is to do."""
    monkeypatch.setattr("splboost.trees.threads.THREADED_WORK", 1)


@pytest.fixture
def installed(monkeypatch):
    """Only the frame libraries that are left in this set are found."""
    libraries = {"pandas", "polars"}
    monkeypatch.setattr(
        "splboost.frames.find_spec", lambda name: name if name in libraries else None
    )
    return libraries
