"""Runs of the paper's protocol: killed, interrupted, resumed, shared, on a cluster."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import psutil
import pytest

from splboost.paper import results, runner
from splboost.paper.protocol import PRESETS, Protocol
from splboost.paper.store import CLAIMED, FAILED, _start_of

SECONDS = 300
METHODS = ["AdaBoost", "LogitBoost", "SPL hard"]
TINY = Protocol(
    ("ringnorm", "twonorm"), (0, 20), repeats=2, rounds=3, folds=2, ages=(2.0, 4.0),
    depths=(1,),
)  # fmt: skip
N_CELLS = 2 * 2 * 2 * len(METHODS)
SOURCES = {"twonorm": "generated"}
# So long that it cannot end before it is stopped, however slow the test is
LONG, N_LONG = replace(TINY, repeats=4), 2 * N_CELLS
ENDLESS, N_ENDLESS = replace(TINY, repeats=400), 200 * N_CELLS


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPLBOOST_DATA", str(tmp_path / "no data"))


@pytest.fixture
def store(tmp_path):
    return tmp_path / "results.sqlite"


def run(store, protocol=TINY, **options):
    options = {"methods": METHODS, "n_jobs": 1, "verbose": 0} | options
    return runner.run(protocol, store, **options)


def start_run(store, protocol="TINY", n_jobs=2):
    """A run in a process of its own, and of its own group."""
    code = f"""
        import signal, sys
        # A shell lets background jobs, and what they start, ignore Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from pathlib import Path
        from test_paper_runner import *
        run(Path({str(store)!r}), {protocol}, n_jobs={n_jobs})
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )


def count(store, state="done"):
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            found = connection.execute(
                "SELECT COUNT(*) FROM cells WHERE state = ?", (state,)
            )
            return found.fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def wait_until(condition, process=None):
    until = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < until
        if process is not None and process.poll() is not None:
            raise AssertionError(process.stderr.read())
        time.sleep(0.01)


def without_times(frame):
    return frame.drop(columns="fit_seconds")


def test_a_run_measures_everything_once(store):
    summary = run(store)
    assert (summary.n_cells, summary.n_there, summary.n_done) == (N_CELLS,) * 3
    assert summary.failures == [] and summary.absent == {} and not summary.n_elsewhere
    found = runner.read_results(store, TINY)
    assert tuple(found.columns) == results.COLUMNS
    assert len(found) == N_CELLS
    keys = ["data", "noise", "repeat", "method"]
    assert len(found[keys].drop_duplicates()) == N_CELLS
    assert set(found["protocol"]) == {"small"} and set(found["n_train"]) == {5180}
    assert set(found["version"]) == {results.current_version()}
    assert found["error"].between(0, 0.5).all() and (found["fit_seconds"] > 0).all()
    assert found["method"].tolist()[:3] == METHODS
    again = run(store)
    assert (again.n_there, again.n_done) == (N_CELLS, 0)
    pd.testing.assert_frame_equal(runner.read_results(store, TINY), found)


def test_killed_and_resumed_gives_the_same_table(store, tmp_path):
    process = start_run(store, "LONG")
    wait_until(lambda: count(store) >= 3, process)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    process.kill()
    process.wait()
    process.stderr.close()
    wait_until(lambda: not any(each.is_running() for each in children))
    assert 3 <= count(store) < N_LONG
    before = runner.read_results(store, LONG)
    summary = run(store, LONG)
    assert summary.n_there == N_LONG and not summary.n_elsewhere
    assert summary.n_done == N_LONG - len(before)
    assert count(store, CLAIMED) == 0
    after = runner.read_results(store, LONG)
    kept = after.merge(before)  # with their times: they were not measured again
    assert len(kept) == len(before)
    whole = tmp_path / "whole.sqlite"
    run(whole, LONG)
    pd.testing.assert_frame_equal(
        without_times(after), without_times(runner.read_results(whole, LONG))
    )


def test_ctrl_c_leaves_no_claim_and_says_how_far_it_is(store):
    process = start_run(store, "ENDLESS")
    wait_until(lambda: count(store) >= 2, process)
    # It never reaches its processes: those that still import would show where it struck
    for child in psutil.Process(process.pid).children():
        status = Path(f"/proc/{child.pid}/status")
        if status.exists() and "LokyProcess" in " ".join(child.cmdline()):
            masks = re.findall(r"SigBlk:\t(\w+)", status.read_text())
            assert int(masks[0], 16) >> (signal.SIGINT - 1) & 1
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=SECONDS)[1]
    done = count(store)
    assert 2 <= done < N_ENDLESS and count(store, CLAIMED) == 0
    last = said.strip().splitlines()[-1]
    assert last.endswith(
        f"Interrupted: Stopped with {done} of {N_ENDLESS} cells measured; the same "
        "command goes on from here."
    )
    assert said.count("Traceback") == 1  # of the script, and none of its processes


def test_a_cell_that_another_run_has_is_left_to_it(store):
    planned = runner.plan(TINY, METHODS, dict.fromkeys(TINY.sets, "generated"))
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        opened = results.open_store(store)
        opened._owner = (opened._owner[0], sleeper.pid, _start_of(sleeper.pid))
        assert opened.claim(planned[0])
        summary = run(store)
        assert summary.n_elsewhere == 1 and summary.n_done == N_CELLS - 1
    finally:
        sleeper.kill()
        sleeper.wait()
    assert run(store).n_done == 1


def test_a_killed_worker_is_told_of(store):
    cell = results.Cell("settings", "twonorm", 0, 0, "AdaBoost")
    opened = results.open_store(store)
    with pytest.raises(RuntimeError, match="A process was killed while it worked"):
        runner.run_cells(
            opened, {cell: (os._exit, 1)}, title="paper", source="", n_jobs=2
        )
    assert opened.find(CLAIMED) == {}


def test_failures_are_kept_told_and_tried_again(store, monkeypatch, capsys):
    measure = runner.measure

    def fail(cell, *arguments):
        if cell.method == "SPL hard" and cell.noise == 20:
            raise ValueError("out of luck")
        return measure(cell, *arguments)

    monkeypatch.setattr(runner, "measure", fail)
    one = replace(TINY, sets=("twonorm",), repeats=1)
    summary = run(store, one, verbose=1)
    message = "SPL hard on twonorm, noise 20%, repeat 0: ValueError: out of luck"
    assert summary.failures == [message] and summary.n_done == 5
    lines = [x for x in capsys.readouterr().err.splitlines() if x.startswith("paper")]
    assert lines[0] == "paper: 0 of 6" and " s left" in lines[1]
    assert lines[-1] == "paper: 6 of 6  0 s left, 1 failed"
    monkeypatch.setattr(runner, "measure", measure)
    assert run(store, one).failures == [message]
    assert len(runner.read_results(store, one)) == 5
    again = run(store, one, retry=True)
    assert again.failures == [] and again.n_done == 1
    assert count(store, FAILED) == 0
    assert len(runner.read_results(store, one)) == 6


def test_settings_and_versions_do_not_mix(store, monkeypatch):
    one = replace(TINY, sets=("twonorm",), noise=(0,), repeats=1)
    run(store, one, methods=["LogitBoost"])
    longer = replace(one, rounds=4)
    assert runner.read_results(store, longer).empty
    run(store, longer, methods=["LogitBoost"])
    assert len(runner.read_results(store, one)) == 1
    here = results.current_version()
    assert results.versions_in(store) == {here: 2}
    for module in (runner, results):
        monkeypatch.setattr(module, "current_version", lambda: "splboost 99")
    assert runner.read_results(store, one).empty
    run(store, one, methods=["LogitBoost"])
    assert results.versions_in(store) == {here: 2, "splboost 99": 1}
    assert runner.read_results(store, one)["version"].tolist() == ["splboost 99"]
    old = runner.read_results(store, one, version=here)
    assert old["version"].tolist() == [here]


@pytest.fixture
def exported(store, tmp_path):
    """The file of a run, and its protocol."""
    one = replace(TINY, sets=("twonorm",), repeats=1)
    run(store, one, methods=["LogitBoost", "SPL hard"])
    path = tmp_path / "exported.csv"
    runner.read_results(store, one).to_csv(path, index=False)
    return path, one


def test_a_run_goes_on_from_exported_results(exported, store, tmp_path, monkeypatch):
    path, one = exported
    (cell,) = runner.plan(replace(one, noise=(0,)), ["SPLForest"], SOURCES)
    nothing_chosen = results.Outcome(5180, 0.1, None, None, "{}", 1, 2.5)
    opened = results.open_store(store)
    opened.adopt([(cell, nothing_chosen._asdict(), "here")])
    opened.close()
    found = runner.read_results(store, one)
    assert found["n_estimators"].isna().sum() == found["cv_error"].isna().sum() == 1
    found.to_csv(path, index=False)
    other = tmp_path / "other" / "results.sqlite"
    assert results.import_results(path, other, one) == 5
    assert results.import_results(path, other, one) == 0
    pd.testing.assert_frame_equal(runner.read_results(other, one), found)
    summary = run(other, replace(one, repeats=2), methods=["LogitBoost"])
    assert (summary.n_there, summary.n_done) == (4, 2)
    here = results.current_version()
    for module in (runner, results):
        monkeypatch.setattr(module, "current_version", lambda: "splboost 99")
    later = tmp_path / "later.sqlite"
    assert results.import_results(path, later, one) == 5
    assert results.versions_in(later) == {here: 5}
    assert runner.read_results(later, one).empty
    assert len(runner.read_results(later, one, version=here)) == 5


def test_results_that_contradict_the_store_are_not_imported(exported, store):
    path, one = exported
    before = runner.read_results(store, one)
    frame = pd.read_csv(path)
    frame.loc[0, "error"] = 0.123
    frame.to_csv(path, index=False)
    with pytest.raises(
        ValueError, match=r"results.sqlite has an error of .* not 0\.123"
    ):
        results.import_results(path, store, one)
    pd.testing.assert_frame_equal(runner.read_results(store, one), before)
    frame[:0].to_csv(path, index=False)
    with pytest.raises(ValueError, match="has no results"):
        results.import_results(path, store, one)


def test_committed_results_are_of_the_settings_of_today(tmp_path):
    """Who changes a definition has to say so, by its number."""
    path = Path(__file__).parents[2] / "benchmarks/results/paper/results.csv"
    if not path.exists():
        pytest.skip("the benchmarks are not here")
    store = tmp_path / "new.sqlite"
    n_rows = len(pd.read_csv(path))
    assert results.import_results(path, store, PRESETS["standard"]) == n_rows


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("settings", "0123456789ab", "with other settings than these; give the preset"),
        ("method", "AdaBoost.M2", "AdaBoost.M2 on twonorm, which splboost .* not know"),
        ("data", "iris", r"on iris, which splboost .* does not know; remove it\.$"),
        ("data", "ringnorm", "ringnorm with noise 20, .* these options leave out; gi"),
        ("error", "abc", r"cannot be read as CSV \(.*abc.*\); give a file that"),
        ("n_fits", 1.5, r"cannot be read as CSV \(.*\); give a file that"),
        ("error", 12.5, r"line 5, has error=12\.5, which cannot be; give a file"),
        ("error", float("nan"), "has error=nan, which cannot be"),
        ("repeat", 99, "repeat 99, which these options leave out; give the --preset"),
        ("noise", 0, "has SPL hard on twonorm, noise 0%, repeat 0 more than once"),
    ],
)
def test_results_of_something_else_are_not_imported(
    exported, tmp_path, column, value, message
):
    path, one = exported
    frame = pd.read_csv(path).astype({column: object})
    frame.loc[len(frame) - 1, column] = value
    frame.to_csv(path, index=False)
    other = tmp_path / "other.sqlite"
    with pytest.raises(ValueError, match=message):
        results.import_results(path, other, one)
    assert not other.exists()


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("x.csv", b"data,noise\ntwonorm,0\n", "has no column 'n_train'; give a file"),
        ("x.csv", b"", "cannot be read as CSV .*; give a file that"),
        (
            "x.csv.xz",
            b"\x1f\x8b\x08\x00half",
            r"csv\.xz cannot be read as CSV .*; give",
        ),
        ("x.csv", None, "is not there; give a file that"),
    ],
)
def test_files_that_are_no_results(tmp_path, name, contents, message):
    path = tmp_path / name
    if contents is not None:
        path.write_bytes(contents)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        results.import_results(path, tmp_path / "other.sqlite", TINY)


@pytest.mark.parametrize(
    ("column", "value"), [("error", "abc"), ("settings", "{"), ("n_fits", None)]
)
def test_figures_that_cannot_be_are_told_of(store, column, value):
    one = replace(TINY, sets=("twonorm",), noise=(0,), repeats=1)
    run(store, one, methods=["LogitBoost"])
    with sqlite3.connect(store) as connection:
        connection.execute(f"UPDATE cells SET {column} = ?", (value,))
    connection.close()
    with pytest.raises(OSError, match=r"results\.sqlite is damaged \(.*put a copy"):
        runner.read_results(store, one)


def test_absent_sets_are_told_of_and_the_others_run(store):
    mixed = replace(TINY, sets=("pima", "oocMerl4D", "twonorm"), repeats=1, noise=(0,))
    told = []
    summary = run(
        store,
        mixed,
        methods=["LogitBoost"],
        tell_absent=lambda absent: told.append((list(absent), count(store))),
    )
    assert told == [(["pima", "oocMerl4D"], 0)]
    assert list(summary.absent) == ["pima", "oocMerl4D"]
    assert "OpenML" in str(summary.absent["pima"])
    assert "cannot be downloaded" in str(summary.absent["oocMerl4D"])
    assert (summary.n_cells, summary.n_done) == (1, 1)
    assert runner.read_results(store, mixed)["data"].tolist() == ["twonorm"]


def test_what_cannot_be_run_is_refused(store):
    with pytest.raises(FileNotFoundError, match="there are no results yet"):
        runner.read_results(store, TINY)
    with pytest.raises(ValueError, match=r"methods='XGBoost' is unknown; .* AdaBoost"):
        run(store, methods=["AdaBoost", "XGBoost"])
    with pytest.raises(ValueError, match=r"methods='RBoost' is a string; give a list"):
        run(store, methods="RBoost")
    with pytest.warns(UserWarning, match="blood is not in .* OpenML"):
        assert run(store, replace(TINY, sets=("blood",))).n_cells == 0
    assert not store.exists()


def test_a_cluster_gives_the_same(store, tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    few = replace(TINY, sets=("twonorm",), repeats=1)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        summary = run(store, few, dask=cluster.scheduler_address)
    assert summary.n_done == 2 * len(METHODS)
    here = tmp_path / "here.sqlite"
    run(here, few)
    pd.testing.assert_frame_equal(
        without_times(runner.read_results(store, few)),
        without_times(runner.read_results(here, few)),
    )


def test_a_cluster_that_is_not_there(store, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")

    def fail(*given, **options):
        raise OSError("Timed out")

    monkeypatch.setattr(distributed, "Client", fail)
    with pytest.raises(ValueError, match=r"dask='tcp://x:1' cannot be reached \(Timed"):
        run(store, dask="tcp://x:1")
    assert count(store, CLAIMED) == 0
    with pytest.raises(ValueError, match=r"dask='x' cannot be reached .missing port"):
        run(store, dask="x")
