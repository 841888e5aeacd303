"""Ctrl-C ends a path at once, with all its threads, and says how far it was."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from splboost import PaceSearchCV, SPLBoostClassifier
from splboost._tools.compiling import COMPILING
from splboost.selection import spl_path
from splboost.selection.workers import work_through


def said_besides_compiling(err):
    """What is on stderr, but for the notice where the cache is empty."""
    return [line for line in err.splitlines() if not line.startswith(COMPILING)]


WORK_FOR_LONG = """
    import os, signal, threading, time
    import numpy as np
    from splboost import SPLBoostClassifier
    from splboost.selection import StratifiedBags, spl_path

    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)).round(1)
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    n_calls = 0

    def scoring(booster, X, y):
        global n_calls
        n_calls += 1
        if n_calls == SAID_AT:
            print("under way", flush=True)
        return 0.0

    def path(n_rounds):
        spl_path(
            X, y, booster=SPLBoostClassifier(n_estimators=n_rounds),
            plateaus=[2.0, 3.0], depths=[2], cv=StratifiedBags(200, random_state=0),
            scoring=scoring, n_jobs=N_JOBS, random_state=0, verbose=0,
        )

    before = threading.active_count()
    try:
        path(N_ROUNDS)
    except KeyboardInterrupt as why:
        print(f"said: {why}", flush=True)
    start, calls = time.process_time(), n_calls
    time.sleep(0.5)
    print(f"calls: {n_calls - calls}")
    print(f"work: {time.process_time() - start:.3f}")
    print(f"threads: {threading.active_count() - before}")
    children = f"/proc/self/task/{os.getpid()}/children"
    print("children:", open(children).read() if os.path.exists(children) else "")
    SAID_AT = -1
    small = spl_path(X[:60], y[:60], plateaus=[2.0], depths=[1], cv=2, n_jobs=N_JOBS)
    print(f"again: {small.n_models}")
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize(
    ("n_jobs", "n_rounds", "said_at", "wait"),
    [(2, 10**6, 40, 0.13), (1, 15, 400, 0.13)],
    ids=["first, 2", "later, 1"],
)
def test_a_real_interrupt(n_jobs, n_rounds, said_at, wait):
    program = textwrap.dedent(WORK_FOR_LONG).replace("N_JOBS", str(n_jobs))
    program = program.replace("N_ROUNDS", str(n_rounds))
    program = program.replace("SAID_AT:", f"{said_at}:")
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline() == "under way\n"
            time.sleep(wait)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            first = process.stdout.readline()
            seconds = time.monotonic() - start
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert not said_besides_compiling(err)
    found = re.fullmatch(
        r"said: Fitting the path was interrupted after (\d+) of 400 boosters\.\n", first
    )
    assert found, first
    n_done = int(found[1])
    assert n_done % 2 == 0
    # Each booster has 15 rounds where there are some done, of which two were shared.
    assert (n_done == 0) == (n_rounds > 15)
    assert n_done <= 400 - 2 * n_jobs
    assert seconds < 10
    said = dict(line.split(":") for line in out.splitlines())
    assert int(said["calls"]) == 0
    assert float(said["work"]) < 0.3
    assert int(said["threads"]) <= 0
    assert not said["children"].strip()
    assert int(said["again"]) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_search_is_as_it_was(n_jobs):
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] % 7 > 3).astype(int)
    search = PaceSearchCV(SPLBoostClassifier(n_estimators=4), cv=2, n_jobs=n_jobs)
    search.fit(X, y)
    before = dict(vars(search))
    calls = []

    def scoring(booster, X, y):
        calls.append(None)
        if len(calls) > 20:
            raise KeyboardInterrupt
        return 0.0

    search.set_params(scoring=scoring)
    with pytest.raises(
        KeyboardInterrupt, match="Fitting the path was interrupted after"
    ):
        search.fit(X, y)
    before["scoring"] = scoring
    assert vars(search) == before


@pytest.mark.parametrize(
    ("n_jobs", "error"), [(1, ZeroDivisionError), (2, KeyboardInterrupt)]
)
def test_no_worker_goes_on_after_an_error(n_jobs, error):
    """All have ended when the error arrives; those that wait are not begun."""
    begun, ended = [], []

    def work(k, stop):
        begun.append(k)
        if k == 1:
            raise error("of a piece")
        while k > 1 and not stop.is_set:
            time.sleep(0.001)
        time.sleep(0.05)
        ended.append(k)

    pieces = [(k,) for k in range(9)]
    options = {"n_jobs": n_jobs, "verbose": 0, "title": "test", "unit": "pieces"}
    with pytest.raises(error):
        work_through(work, pieces, **options)
    assert sorted(ended) == [k for k in sorted(begun) if k != 1]
    assert len(begun) <= 2 * n_jobs
    time.sleep(0.1)
    assert sorted(ended) == [k for k in sorted(begun) if k != 1]


def test_what_an_interrupt_says():
    def work(k, stop):
        if k == 3:
            raise KeyboardInterrupt
        return k

    message = r"^Fitting the trees was interrupted after 15 of 30 fits\.$"
    options = {"n_jobs": 1, "verbose": 0, "title": "trees", "unit": "fits"}
    with pytest.raises(KeyboardInterrupt, match=message):
        work_through(work, [(k,) for k in range(6)], worth=5, **options)


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_results_come_in_order(n_jobs):
    def work(k, stop):
        time.sleep(0.01 * (5 - k))
        return k**2

    options = {"verbose": 0, "title": "test", "unit": "pieces"}
    pieces = [(k,) for k in range(5)]
    found = work_through(work, pieces, n_jobs=n_jobs, **options)
    assert found == [0, 1, 4, 9, 16]


class SlowTree(DecisionTreeClassifier):
    """As slow as it needs to be to be at work when another fails."""

    at_work = 0

    def fit(self, X, y, sample_weight=None):
        SlowTree.at_work += 1
        try:
            time.sleep(0.02)
            if len(X) == 30:
                raise ZeroDivisionError("a part of 30 rows")
            return super().fit(X, y, sample_weight)
        finally:
            SlowTree.at_work -= 1


def test_no_booster_is_at_work_after_an_error():
    X = np.arange(60.0)[:, None]
    y = (X[:, 0] % 7 > 3).astype(int)
    rows = np.arange(60)
    parts = [(rows[:40], rows[40:])] * 3 + [(rows[:30], rows[30:])]
    booster = SPLBoostClassifier(SlowTree(max_depth=1), n_estimators=50)
    with pytest.raises(ZeroDivisionError):
        spl_path(
            X, y, booster=booster, plateaus=None, depths=None, cv=parts[::-1], n_jobs=2
        )
    assert SlowTree.at_work == 0


INTERRUPT_FORESTS = """
    import os, signal, threading, time
    import numpy as np
    from splboost import SPLForestClassifier
    from splboost.selection import pool

    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).round(1)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    run, n_calls = pool._run, 0
    n_bags = sum(pool.count_bags(3, 300, 2))

    def interrupted(*arguments):
        global n_calls
        n_calls += 1
        if n_calls == call:
            os.kill(os.getpid(), signal.SIGINT)
        return run(*arguments)

    for call, n_jobs in (4, 1), (n_bags + 4, 2):
        pool._run, n_calls = interrupted, 0
        clf = SPLForestClassifier(n_bags=3, n_jobs=n_jobs, random_state=0)
        before = threading.active_count()
        try:
            clf.fit(X, y)
        except KeyboardInterrupt as why:
            print(f"said: {why}")
        print(f"fitted: {hasattr(clf, 'classes_')}")
        start = time.process_time()
        time.sleep(0.5)
        print(f"work: {time.process_time() - start:.3f}")
        print(f"threads: {threading.active_count() - before}")
        pool._run = run
        print(f"again: {clf.fit(X, y).score(X, y)}", end="\\n\\n")
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_forests_are_interrupted():
    """While bags are fitted, and while the boosters chosen are fitted again."""
    program = textwrap.dedent(INTERRUPT_FORESTS)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300
    )
    assert not said_besides_compiling(done.stderr)
    parts = done.stdout.strip().split("\n\n")
    for part, unit in zip(parts, ("bags", "fits"), strict=True):
        said = dict(line.split(":") for line in part.splitlines())
        assert re.search(rf"interrupted after \d+ of \d+ {unit}", said["said"])
        assert said["fitted"].strip() == "False"
        assert float(said["work"]) < 0.3
        assert int(said["threads"]) <= 0
        assert float(said["again"]) > 0.7
