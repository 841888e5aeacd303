"""Fixtures that several test files use."""

import os

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures need no screen


@pytest.fixture
def eager_threads(monkeypatch):
    """Let threads be used however little there is to do."""
    monkeypatch.setattr("splboost.trees.threads.THREADED_WORK", 1)
