"""The command line."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("typer", reason="needs the extra cli")
from typer.testing import CliRunner

from splboost import cli
from splboost.paper import commands, results, runner
from splboost.paper.protocol import METHODS, PAPER, PRESETS, Protocol

TINY = Protocol(
    ("ringnorm", "twonorm"), (0, 20), repeats=1, rounds=3, folds=2, ages=(2.0,),
    epsilons=(0.2,), depths=(1,),
)  # fmt: skip
LOGIT = ("--methods", "LogitBoost", "--jobs", "1")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path, tmp_path_factory):
    """A folder of its own, no data, and presets that take no time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPLBOOST_DATA", str(tmp_path_factory.mktemp("no data")))
    monkeypatch.setattr(commands, "PRESETS", {**PRESETS, "quick": TINY})


@pytest.fixture
def pictures(monkeypatch):
    """What is drawn and reported, in place of pictures and pages."""
    asked = []

    class Picture:
        def savefig(self, path, **options):
            path.write_bytes(b"")

    def draw_figure(number, results=None):
        asked.append((number, results))
        return Picture()

    def draw_gaussians(rounds):
        assert rounds is None
        return Picture()

    def write_report(results, path, about, protocol, verbose=0):
        asked.append((about, results))
        path.write_text('<meta name="generator" content="splboost paper 0.1.0">')

    for function in (draw_figure, draw_gaussians, write_report):
        monkeypatch.setattr(commands, function.__name__, function)
    return asked


def call(*arguments, code=0):
    """What a command says, in one line."""
    done = CliRunner().invoke(cli.make_app(), list(map(str, arguments)))
    assert done.exit_code == code, done.output + repr(done.exception)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return " ".join(done.output.replace("│", " ").split())


def test_paper_measures_draws_and_reports(tmp_path, pictures):
    said = call("paper", *LOGIT)
    folder = tmp_path / "splboost-paper"
    drawn = [f"figure_{name}.png" for name in (1, 2, 3, "3_chosen_rounds", 4, 5)]
    names = {path.name for path in folder.iterdir()}
    assert names == {"results.sqlite", "report.html", *drawn}
    assert "4 of 4 cells are in splboost-paper/results.sqlite, 4 of them new" in said
    assert "Report: splboost-paper/report.html" in said
    *figures, (about, reported) = pictures
    assert [number for number, _ in figures] == [1, 2, 3, 4, 5]
    assert len(figures[3][1]) == len(reported) == 4
    assert about["preset"] == "quick" and about["settings"]["rounds"] == 3
    assert about["seeds"] == [0] and "splboost" in about["versions"]
    assert "4 of 4 cells are in" in (again := call("paper", *LOGIT))
    assert "0 of them new" in again


def test_some_figures_need_no_results(tmp_path, pictures):
    for number in (1, 2, 3):
        call("paper", "--figure", number, "--folder", "out")
    assert pictures == [(1, None), (2, None), (3, None)]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "figure_1.png", "figure_2.png", "figure_3.png", "figure_3_chosen_rounds.png",
    }  # fmt: skip


def test_other_figures_measure_first(tmp_path, pictures):
    said = call("paper", "--figure", 4, *LOGIT, "--sets", "twonorm,pima", code=1)
    assert "pima is not in" in said and "--download, it is fetched from OpenML" in said
    ((number, found),) = pictures
    assert number == 4 and set(found["data"]) == {"twonorm"}
    assert not (tmp_path / "splboost-paper" / "report.html").exists()


def test_run_export_and_report(tmp_path, pictures):
    said = call(
        "paper", "run", *LOGIT, "--sets", "twonorm", "--noise", "20, 0", "--repeats", 2
    )
    assert "4 of 4 cells" in said and not pictures
    said = call("paper", "export", "table.csv", "--sets", "twonorm", "--repeats", 2)
    assert said == "4 cells written to table.csv"
    table = pd.read_csv(tmp_path / "table.csv")
    assert tuple(table.columns) == results.COLUMNS
    store = tmp_path / "splboost-paper" / "results.sqlite"
    whole = replace(TINY, sets=("twonorm",), repeats=2)
    found = runner.read_results(store, whole)
    assert table["error"].tolist() == pytest.approx(found["error"].tolist())
    assert call("paper", "export") == "2 cells written to splboost-paper/results.csv"
    said = call("paper", "import", "splboost-paper/results.csv", "--store", "s.sqlite")
    assert said == "2 new cells in s.sqlite"
    exact = runner.read_results(tmp_path / "s.sqlite", replace(whole, repeats=1))
    assert exact["error"].tolist() == found["error"][found["repeat"] == 0].tolist()
    call("paper", "report", "--folder", "page", "--store", store)
    assert len(pictures[-1][1]) == 2  # of the one repeat of the preset
    assert (tmp_path / "page" / "report.html").exists()


def test_all_methods_or_some(monkeypatch, tmp_path):
    asked = []

    def note(protocol, store, **options):
        asked.append((protocol, store, options))
        return runner.Summary(1, 1)

    monkeypatch.setattr(commands, "run", note)
    call("paper", "run")
    call("paper", "run", "--methods", "spl Hard,adaboost", "--sets", "Pima")
    call("paper", "run", "--methods", "all", "--preset", "full", "--jobs", 3)
    call("paper", "run", "--dask", "tcp://x:1", "--retry", "--download")
    call("paper", "--depths", "3, 1", "run")  # options may come first
    (first, store, options), some, every, cluster, deep = asked
    assert deep[0] == replace(TINY, depths=(1, 3))
    assert first == TINY and str(store) == "splboost-paper/results.sqlite"
    assert options["methods"] == list(PAPER) and options["n_jobs"] == -1
    assert not options["retry"] and not options["download"]
    assert some[2]["methods"] == ["AdaBoost", "SPL hard"]
    assert some[0] == replace(TINY, sets=("pima",))
    assert every[0] == PRESETS["full"] and every[2]["n_jobs"] == 3
    assert every[2]["methods"] == list(METHODS)
    assert cluster[2]["dask"] == "tcp://x:1"
    assert cluster[2]["retry"] and cluster[2]["download"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--sets", "iris"], "sets='iris' is unknown; the data sets are adult"),
        (["run", "--noise", "0,200"], "noise=200 cannot be; give whole percentages"),
        (["run", "--depths", "0"], "depths=0 cannot be; give depths of trees"),
        (["run", "--noise", "some"], "noise=some cannot be; give whole numbers"),
        (["run", "--methods", "XGBoost"], "methods='XGBoost' is unknown; give all, or"),
        (["run", "--preset", "slow"], "'slow' is none of quick, standard, full"),
        (["run", "--jobs", "0"], "jobs=0 is too few; give 1 or more, or -1 for all"),
        (["run", "--repeats", "0"], "'--repeats'"),
        (["run", "--sets", ","], "sets: none is given; give one at least"),
        (["--figure", "6"], "'--figure'"),
        (["run", "--figure", "3"], "--figure has no effect with splboost paper run"),
        (["--version", "1"], "--version has no effect with splboost paper; leave"),
        (["report", "x.csv"], "A file has no effect with splboost paper report"),
        (["table", "--force"], "--force has no effect with splboost paper table"),
        (["import"], "give the CSV file to import"),
        (["measure"], "'measure' is none of run, report, export, import, table"),
    ],
)
def test_options_that_are_wrong(arguments, message, tmp_path):
    assert message in call("paper", *arguments, code=2)
    assert not list(tmp_path.iterdir())


def test_other_mistakes_are_sentences(tmp_path, pictures, monkeypatch):
    said = call("paper", "report", code=1)
    assert said.startswith("Error: splboost-paper/results.sqlite is not there")
    notes = tmp_path / "notes.txt"
    notes.write_text("no store " * 1000)
    said = call("paper", "run", "--store", notes, *LOGIT, code=1)
    assert "notes.txt cannot be used as a store" in said
    call("paper", "run", "--store", "s.sqlite", "--sets", "twonorm", *LOGIT)
    said = call("paper", "export", "--store", "s.sqlite", "--sets", "pima", code=1)
    assert "s.sqlite has no results of these settings" in said
    assert "or give the preset and options of an earlier run" in said


def test_files_that_cannot_be_written_or_read():
    call("paper", "run", *LOGIT, "--sets", "twonorm")
    for command, name, message in (
        ("export", "", "is a folder; give the name of a file, such as"),
        ("import", "", "is a folder; give a file that splboost paper export"),
        ("export", "results.sqlite", "is the store of the results; name another file"),
    ):
        said = call("paper", command, Path("splboost-paper") / name, code=1)
        assert message in said


OUTPUTS = {
    "figure_4.png": ("paper", "--figure", 4, *LOGIT),
    "figure_3_chosen_rounds.png": ("paper", "report", "--figure", 3),
    "report.html": ("paper", *LOGIT),
    "results.csv": ("paper", "export"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_files_of_others_are_replaced_with_force_alone(name, pictures, monkeypatch):
    call("paper", "run", *LOGIT, "--noise", 0)
    path = Path("splboost-paper") / name
    path.write_text("mine,too\n1,2\n")
    store = path.with_name("results.sqlite")
    before = store.read_bytes()
    said = call(*OUTPUTS[name], code=1)
    assert f"{path} exists already, and what it holds might be lost" in said
    assert path.read_text() == "mine,too\n1,2\n" and not pictures
    assert store.read_bytes() == before  # nothing was measured first
    call(*OUTPUTS[name], "--force")
    assert path.read_bytes() != b"mine,too\n1,2\n"


def test_own_files_are_replaced(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra plot")
    call("paper", "run", *LOGIT, "--sets", "twonorm")
    for _ in range(2):
        call("paper", "--figure", 2)
        call("paper", "export")
        call("paper", "export", "results.csv.gz")
    assert pd.read_csv("results.csv.gz").columns.tolist() == list(results.COLUMNS)
    assert not list(tmp_path.rglob("*part*"))


def test_sets_that_cannot_be_downloaded_say_why():
    (Path(os.environ["SPLBOOST_DATA"]) / "blood.csv.gz").write_bytes(b"damaged")
    said = call("paper", "run", "--sets", "blood,oocMerl4D", *LOGIT, code=1)
    assert "blood.csv.gz is damaged" in said
    assert "oocMerl4D is not in" in said and "cannot be downloaded" in said
    assert "--download" not in said and "cells" not in said
    assert not Path("splboost-paper").exists()


def test_failures_end_with_1(monkeypatch):
    def fail(*arguments):
        raise ValueError("out of luck")

    monkeypatch.setattr(runner, "measure", fail)
    said = call("paper", "run", "--sets", "twonorm", "--noise", "0", *LOGIT, code=1)
    assert "Failed: LogitBoost on twonorm, noise 0%, repeat 0: ValueError" in said
    assert "--retry tries again what failed." in said


def test_an_interrupt_ends_with_130(monkeypatch):
    def interrupt(*given, **options):
        raise runner.Interrupted("Stopped with 3 of 4 cells measured.")

    monkeypatch.setattr(commands, "run", interrupt)
    assert call("paper", "run", code=130) == "Stopped with 3 of 4 cells measured."

    def interrupt_early(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run", interrupt_early)
    assert call("paper", "run", code=130) == "Stopped; what was measured is kept."


def test_sigterm_ends_as_ctrl_c_does(monkeypatch):
    before = signal.getsignal(signal.SIGTERM)

    def terminate(*given, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr(commands, "run", terminate)
    assert call("paper", "run", code=130) == "Stopped; what was measured is kept."
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_command_in_a_thread_of_another_program(monkeypatch):
    def fail(*given, **options):
        raise ValueError("Nothing to measure.")

    monkeypatch.setattr(commands, "run", fail)
    with ThreadPoolExecutor(1) as pool:
        said = pool.submit(call, "paper", "run", code=1).result()
    assert said == "Error: Nothing to measure."


def test_a_data_folder_that_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("SPLBOOST_DATA", "mistyped")
    said = call("paper", "run", *LOGIT, "--sets", "twonorm", code=1)
    assert said.startswith("Error: SPLBOOST_DATA=mistyped is no folder; let it name")
    assert not list(tmp_path.iterdir())


def test_results_of_other_data_are_told_of(monkeypatch):
    call("paper", "run", *LOGIT, "--sets", "twonorm")
    other = replace(runner.read_set("twonorm"), source="catalogue")
    with monkeypatch.context() as patch:
        patch.setattr(runner, "read_set", lambda name, download: other)
        call("paper", "run", *LOGIT, "--sets", "twonorm", "--noise", "0")
    said = call("paper", "export")
    assert "has 1 result on twonorm from data called catalogue, which does not" in said
    assert "2 cells written" in said


def test_some_methods_are_reported(pictures):
    both = ("--methods", "LogitBoost,RBoost", "--jobs", "1")
    call("paper", "run", "--sets", "twonorm", *both)
    call("paper", "run", "--sets", "twonorm", "--noise", "0", "--methods", "AdaBoost")
    given = ("--sets", "twonorm", "--methods", "logitboost,rboost")
    call("paper", "report", "--figure", 4, *given)
    assert set(pictures[0][1]["method"]) == {"LogitBoost", "RBoost"}
    assert call("paper", "export", *given).startswith("4 cells written")
    said = call(
        "paper", "export", "--sets", "twonorm", "--methods", "SPLForest", code=1
    )
    assert "has no results of SPLForest; measure some first" in said


def test_results_of_other_versions_are_told_of(monkeypatch):
    call("paper", "run", *LOGIT, "--sets", "twonorm")
    here = results.current_version()
    for module in (runner, results, commands):
        monkeypatch.setattr(module, "current_version", lambda: "splboost 99")
    said = call("paper", "export", code=1)
    assert f"has 2 results of {here}, which do not count with splboost 99:" in said
    assert f'--version "{here}"' in said
    assert "has no results of these settings with splboost 99" in said
    assert "2 cells written" in call("paper", "export", "--version", here)
