"""The pool of threads runs what it is given, and passes on what goes wrong."""

import threading

import pytest

from splboost._tools import threads
from splboost._tools.threads import run, share


def test_every_task_is_run_once():
    done = []
    run(done.append, [(k,) for k in range(50)])
    assert sorted(done) == list(range(50))


def test_the_first_task_runs_here_and_the_others_elsewhere():
    where = {}
    barrier = threading.Barrier(2)

    def note(k):
        barrier.wait(timeout=30)  # both at the same time
        where[k] = threading.get_ident()

    run(note, [(0,), (1,)])
    assert where[0] == threading.get_ident() != where[1]


@pytest.mark.parametrize("guilty", [0, 1, 2])
def test_errors_are_passed_on_and_the_pool_goes_on(guilty):
    def work(k):
        if k == guilty:
            raise ZeroDivisionError(k)

    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            run(work, [(0,), (1,), (2,)])
    test_every_task_is_run_once()


def test_shares_cover_everything_once(monkeypatch):
    monkeypatch.setattr(threads, "THREADED_WORK", 100)
    assert share(10, 4, work=9) == [(0, 10)]  # not worth a thread
    assert share(10, 4, work=10) == [(0, 2), (2, 5), (5, 7), (7, 10)]
    assert share(0, 4) == [(0, 0)]
