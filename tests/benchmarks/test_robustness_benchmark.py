"""The robustness benchmark: its page, and a small run."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPT = BENCHMARKS / "robustness.py"
if not SCRIPT.exists():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
pytest.importorskip("psutil", reason="the benchmarks need the extra bench")
pytest.importorskip("matplotlib", reason="the picture needs the extra plot")
sys.path.insert(0, str(BENCHMARKS))

import _long_data as data  # noqa: E402
import _long_methods as methods  # noqa: E402
import robustness  # noqa: E402
from _long import Cell, present_methods, settings_of  # noqa: E402

from splboost.paper.statistics import ranks  # noqa: E402

STUDY = robustness.STUDY
SECONDS = 240


def figures(error=0.2):
    return {**dict.fromkeys(methods.Measures._fields, 0.5), "error": error}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "store.sqlite"


# ------------------------------------------------------------------- data and methods


def test_generators_are_drawn_and_spoilt():
    clean = data.draw("gaussians", "0", 5, 1000)
    assert (len(clean.y), len(clean.y_test)) == (1000, 3000)
    for noise, (zeros, ones) in {"20": (None, None), "40 one-sided": (0, 200)}.items():
        noisy = data.draw("gaussians", noise, 5, 1000)
        pd.testing.assert_frame_equal(noisy.X, clean.X)
        assert (noisy.y_test == clean.y_test).all()
        assert (noisy.y_right == clean.y).all()
        flipped = noisy.y != clean.y
        assert flipped.sum() == 200
        if ones is not None:
            assert flipped[clean.y == 0].sum() == zeros
            assert flipped[clean.y == 1].sum() == ones
    other = data.draw("gaussians", "0", 6, 1000)
    assert not set(other.X["f0"]) & set(clean.X["f0"])


@pytest.mark.skipif("SPLBOOST_DATA" not in os.environ, reason="needs SPLBOOST_DATA")
def test_files_are_read_and_divided():
    drawn = data.draw("pb-T-OR-D", "0", 5, 1000)
    assert (len(drawn.y), len(drawn.y_test)) == (68, 34)
    assert drawn.y.sum() + drawn.y_test.sum() == 14
    assert (drawn.X.dtypes == "category").sum() == 5
    assert drawn.X.isna().to_numpy().sum() + drawn.X_test.isna().to_numpy().sum() == 42

    _, y, subjects = data._read("parkinsons")
    assert y.sum() == 48
    train, test = data._split(y, subjects, 5)
    assert sorted([*train, *test]) == list(range(195))
    assert not set(subjects[train]) & set(subjects[test])
    assert 50 < len(test) < 80 and 0 < y[test].sum() < 30


def test_the_best_setting_is_taken():
    class Guess:
        def __init__(self, share):
            self.share = share

        def fit(self, X, y):
            return self

        def predict(self, X):
            return (np.arange(len(X)) < self.share * len(X)).astype(int)

    X, y = pd.DataFrame({"f0": np.arange(5000)}), np.ones(5000, dtype=int)
    ranges, rng = {"share": methods.Range(0.0, 0.9)}, np.random.default_rng(0)
    settings = methods.draw_settings(ranges, 30, rng)
    chosen = methods.tune(Guess, settings, X, y, methods.folds(0))
    rng = np.random.default_rng(0)
    assert chosen.share == pytest.approx(max(rng.uniform(0, 0.9) for _ in range(30)))


def test_missing_methods_say_what_to_install(capfd):
    absent = methods.Method(None, "", ("no_such_package",))
    assert "splboost[rivals]" in absent.missing()
    assert methods.METHODS["SPLBoost CV"].missing() is None
    present = present_methods(["ExtraTrees"], methods.METHODS)
    assert list(present) == ["ExtraTrees"] and not capfd.readouterr().err


def test_a_model_of_one_class_is_judged():
    class Zeros:
        classes_ = np.array([0])

        def predict_proba(self, X):
            return np.ones((len(X), 1))

    method = methods.Method(lambda X, y, seed, n_jobs: Zeros(), "")
    y_test = np.array([0, 0, 0, 1])
    problem = data.Problem(None, None, None, pd.DataFrame({"f0": range(4)}), y_test)
    measured = methods.measure(method, problem, 0)
    assert measured["error"] == 0.25 and measured["balanced_accuracy"] == 0.5
    expected = -(3 * np.log(0.999) + np.log(0.001)) / 4
    assert measured["log_loss"] == pytest.approx(expected)


# ---------------------------------------------------------------------------- the page

MADE_UP = ("random forest", "ExtraTrees", "HistGradientBoosting")
SETS = ("bank", "magic", "twonorm", "blood", "pima", "titanic", "gaussians")
LEVELS = ("0", "20", "40")


def fill(path, left_out=()):
    """Errors that say which set, noise, seed and method they belong to."""
    store, cells = STUDY.open_store(path), []
    settings = {m: settings_of(methods.METHODS[m], 1000) for m in MADE_UP}
    for d, n, s, m in itertools.product(SETS, LEVELS, (5, 6), MADE_UP):
        cell = Cell(settings[m], d, n, s, m)
        cells.append(cell)
        if cell[1:] not in left_out:
            error = 0.1 + 0.001 * int(n) + 0.01 * MADE_UP.index(m) + 0.001 * (s - 5)
            assert store.claim(cell)
            store.finish(cell, figures(error), "abc")
    return store, cells


def test_only_what_all_have_finished_counts(path):
    missing = [("bank", "20", 5, "ExtraTrees"), ("pima", "40", 5, "random forest")]
    missing += [("magic", "20", seed, "random forest") for seed in (5, 6)]
    store, cells = fill(path, left_out=missing)
    results = STUDY.tabulate(pd.DataFrame(store.find().values()), LEVELS)
    assert len(results.complete) == (len(cells) / 3 - 4) * 3
    kept = set(zip(results.averaged["data"], results.averaged["repeat"], strict=True))
    every = set(itertools.product(SETS, (5, 6)))
    assert kept == every - {("bank", 5), ("pima", 5), ("magic", 5), ("magic", 6)}
    means = results.means("all data sets")
    assert "magic" not in means.index and len(means) == len(SETS) - 2
    assert means.loc["blood", "ExtraTrees"] == pytest.approx(0.1405)
    assert means.loc["bank", "ExtraTrees"] == pytest.approx(0.141)
    assert set(results.means("unused sets").index) == {"bank", "twonorm"}
    assert results.means("unused sets", level="40").loc["magic"].notna().all()
    table = results.summary(methods.Measures._fields).set_index(
        ["data", "noise", "method"]
    )
    assert table.loc[("bank", "20", "ExtraTrees"), "seeds"] == 1
    assert table.loc[("bank", "20", "random forest"), "seeds"] == 2


def test_report_of_a_made_up_store(path, tmp_path, capsys):
    store, cells = fill(path, left_out=[("titanic", "0", 6, "ExtraTrees")])
    failed = Cell(cells[1].settings, "titanic", "0", 6, "ExtraTrees")
    assert store.claim(failed)
    store.fail(failed, "ValueError: out of luck")
    STUDY.report(path, cells, 1000, tmp_path / "out")
    page = (tmp_path / "out" / "robustness.md").read_text("utf-8")
    said = " ".join(page.split())
    assert page.strip().endswith(capsys.readouterr().out.strip())
    assert "have finished 41 of the 42 combinations" in said
    assert "over 14 repeats of 7 sets" in said
    assert "ExtraTrees on titanic, noise 0, seed 6: ValueError: out of luck" in page
    assert "| random forest | 1.00 |" in said
    assert "Friedman p = 0.0025" in said  # exp(-6): six sets agree on all ranks
    assert (
        "| ExtraTrees | -1.00 | 6 / 0 / 0 | 24 / 0 / 0 | 0.0312 | 0.0625 | - |" in said
    )
    assert (tmp_path / "out" / "robustness.png").read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv(tmp_path / "out" / "robustness.csv", dtype={"noise": str})
    assert len(table) == len(SETS) * len(LEVELS) * len(MADE_UP)
    assert set(table["group"]) == {"unused", "chosen on", "generators"}

    STUDY.report(path, [c for c in cells if c.seed == 5], 1000, None)
    assert "have finished 21 of the 21" in " ".join(capsys.readouterr().out.split())


def test_variants_have_no_rank(path):
    """One that is next to its method would push others away."""
    rows = [
        {
            "data": data,
            "noise": noise,
            "seed": 5,
            "method": method,
            "source": "abc",
            **figures(0.1 + 0.01 * k),
        }
        for data in SETS
        for noise in LEVELS
        for k, method in enumerate(
            ["SPLForest", "SPLForest without pace", "LightGBM tuned"]
        )
    ]
    results = STUDY.tabulate(pd.DataFrame(rows), LEVELS)
    mean = ranks(results.compared("all data sets")).mean()
    assert mean.to_dict() == {"SPLForest": 1.0, "LightGBM tuned": 2.0}
    page = "\n".join(robustness.make_page(results, 1000, [], None))
    said = " ".join(page.split())
    assert "| SPLForest | SPLForest without pace | all data sets (6) | error |" in said
    assert "| LightGBM tuned | -2.00 | 6 / 0 / 0 |" in said


# ----------------------------------------------------------------------------- the run


def test_a_quick_run_measures_what_is_not_there(path, tmp_path):
    options = ["--store", str(path), "--out", str(tmp_path / "out"), "--jobs", "1"]
    quick = STUDY.quick
    settings = {
        settings_of(methods.METHODS[m], quick["rows"]) for m in quick["methods"]
    }
    for n_seeds in (1, 2):
        seeds = ["5", "6"][:n_seeds]
        done = subprocess.run(
            [sys.executable, str(SCRIPT), "--quick", *options, "--seeds", *seeds],
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        assert f"robustness: {4 * (n_seeds - 1)} of {4 * n_seeds}" in done.stderr
    rows = list(STUDY.open_store(path).find().values())
    assert {row["settings"] for row in rows} == settings
    assert len(rows) == 2 * len(quick["noise"]) * len(quick["methods"]) == 8
    assert all(0 < row["error"] < 0.3 for row in rows)
    assert "have finished 4 of the 4 combinations" in " ".join(done.stdout.split())
    assert (tmp_path / "out" / "robustness.csv").exists()
    assert set(tmp_path.iterdir()) == {tmp_path / "out", path.parent}
