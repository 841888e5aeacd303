"""Progress of long work, in lines."""

import pytest

from splboost._tools import progress_bar


@pytest.fixture
def clock(monkeypatch):
    """Seconds that a test lets pass."""
    now = [1000.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    return now


def test_a_line_for_every_tenth(clock, capsys):
    report = progress_bar.make_report(1, 40, "work")
    for done in range(41):
        report.show(done, "going on")
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["work:  0 of 40  going on", "work:  4 of 40  going on"]
    assert lines[-1] == "work: 40 of 40  going on" and len(lines) == 11


def test_a_line_every_few_minutes(clock, capsys):
    report = progress_bar.make_report(1, 40, "work")
    report.show(0)
    for done, passed in enumerate((200, 200, 200), start=1):
        clock[0] += passed
        report.show(done)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["work:  0 of 40", "work:  2 of 40"]


def test_silence(capsys):
    with progress_bar.make_report(0, 10, "work") as report:
        report.show(10)
    assert capsys.readouterr().err == ""
