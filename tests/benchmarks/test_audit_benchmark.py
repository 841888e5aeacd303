"""The audit benchmark: its measures, its page, and a small run."""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPT = BENCHMARKS / "audit.py"
if not SCRIPT.exists():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
pytest.importorskip("psutil", reason="the benchmarks need the extra bench")
pytest.importorskip("lightgbm", reason="the benchmarks need the extra bench")
sys.path.insert(0, str(BENCHMARKS))

import _audit_methods as methods  # noqa: E402
import _long_data as data  # noqa: E402

import audit  # noqa: E402
from splboost.paper.statistics import ranks  # noqa: E402

SECONDS = 240
ROWS = 300


@pytest.fixture(scope="module")
def problem():
    return data.draw("gaussians", "20", 0, ROWS)


# --------------------------------------------------------------------- what is measured


def verdict(doubt, is_suspect, better=None):
    doubt, is_suspect = np.array(doubt), np.array(is_suspect, dtype=bool)
    return methods.Verdict(doubt, is_suspect, better)


def test_rankings_are_judged_by_the_flipped():
    is_flipped = np.array([1, 0, 1, 0, 0], dtype=bool)
    best = verdict([5, 2, 4, 1, 3], [0] * 5)
    assert methods.judge_ranking(best, is_flipped) == (1.0, 1.0)
    mixed = verdict([5, 4, 3, 2, 1], [0] * 5)
    average, precision = methods.judge_ranking(mixed, is_flipped)
    assert average == pytest.approx((1 + 2 / 3) / 2) and precision == 0.5
    assert methods.judge_ranking(mixed, np.zeros(5, dtype=bool)) == (None, None)


def test_chances_are_counted_by_tenths():
    chance = np.array([0.0, 0.05, 0.55, 0.5, 1.0])
    is_flipped = np.array([0, 1, 1, 0, 1], dtype=bool)
    bins = methods.tally_bins(chance, is_flipped)
    assert bins[0] == [2, pytest.approx(0.05), 1]
    assert bins[5] == [2, pytest.approx(1.05), 1]
    assert bins[9] == [1, 1.0, 1]
    assert sum(each[0] for each in bins) == 5


def test_knowing_all_is_as_good_as_right_labels(problem):
    is_flipped = problem.y != problem.y_right
    knowing = verdict(is_flipped.astype(float), is_flipped, problem.y_right)
    blind = verdict(np.arange(ROWS), np.zeros(ROWS), problem.y_right)
    figures = {
        name: methods.measure(methods.Method(lambda *_, v=v: v, ""), problem, 0)
        for name, v in {"knowing": knowing, "blind": blind}.items()
    }
    both = figures["knowing"], figures["blind"]
    assert [each["found"] for each in both] == [is_flipped.sum(), 0]
    assert figures["knowing"]["average_precision"] == 1
    assert figures["knowing"]["error_corrected"] == figures["knowing"]["error_right"]
    assert figures["blind"]["error_dropped"] == figures["blind"]["error_raw"]
    assert figures["blind"]["error_raw"] > figures["blind"]["error_right"] + 0.01
    assert set(figures["blind"]) == set(methods.Measures._fields)


def test_the_forest_takes_categories_and_missing_values():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, 200)
    words = pd.Series(pd.Categorical.from_codes(code, [7, 8, 9])).mask(code == 2)
    number = pd.Series(rng.normal(size=200)).mask(rng.random(200) < 0.1)
    y = (code == 1).astype(int)
    y[:5] = 1 - y[:5]
    X = pd.DataFrame({"f0": words, "f1": number})
    found = methods.ask_forest(X, y, 0, 1)
    assert set(np.argsort(-found.doubt)[:5]) == set(range(5))


@pytest.mark.parametrize("name", [n for n in methods.METHODS if "Audit" not in n])
def test_rivals_find_most_of_the_flipped(problem, name):
    method = methods.METHODS[name]
    for package in method.packages:
        pytest.importorskip(package)
    found = method.fit(problem.X, problem.y, 0, 1)
    average, _ = methods.judge_ranking(found, problem.y != problem.y_right)
    assert average > 0.6
    assert found.is_suspect.dtype == bool and 30 < found.is_suspect.sum() < 120
    assert set(found.better) == {0, 1}


# ----------------------------------------------------------------------------- the page

MADE_UP = ("LabelAudit", "random forest", "LightGBM")
SETS = ("bank", "magic", "twonorm", "blood", "pima", "titanic", "gaussians")
LEVELS = ("0", "5", "20")


def figures(noise, seed, method):
    """Figures that say which noise, seed and method they belong to."""
    k, flipped = MADE_UP.index(method), int(noise)
    average = 0.9 - 0.1 * k - 0.01 * seed if flipped else None
    bins = [[0, 0.0, 0] for _ in range(methods.N_BINS)]
    bins[1], bins[8] = [90, 10.0, 2], [10, 8.5, flipped // 5]
    is_ours = method == "LabelAudit"
    return {
        "average_precision": average,
        "precision_at_flipped": average,
        "rows": 100,
        "flipped": flipped,
        "suspects": 10,
        "found": flipped // 5,
        "stated_precision": 0.85 if is_ours else None,
        "seconds": [8.0, 2.0, 0.5][k],
        "error_raw": 0.3,
        "error_right": 0.1,
        "error_dropped": 0.2 + 0.01 * k,
        "error_corrected": 0.25,
        "bins": json.dumps(bins) if is_ours else None,
    }


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    path = tmp_path_factory.mktemp("made up") / "store.sqlite"
    store = audit.STUDY.open_store(path)
    cells = audit.STUDY.plan((0, 1), SETS, LEVELS, MADE_UP, ROWS)
    store.adopt((c, figures(c.noise, c.seed, c.method), "abc") for c in cells)
    return path, store, cells


def test_tables_of_a_made_up_store(made_up):
    _, store, _ = made_up
    results = audit.STUDY.tabulate(pd.DataFrame(store.find().values()), LEVELS)
    means = results.means("all data sets", "average_precision")
    assert means.loc["bank", "random forest"] == pytest.approx(0.795)
    assert ranks(results.compared("all data sets")).mean().tolist() == [1, 2, 3]
    f1 = results.means("unused sets", "f1", level="20").loc["bank", "LabelAudit"]
    assert f1 == pytest.approx(2 * 4 / (10 + 20))
    by_chance, by_level = audit.stated_and_real(results, "LabelAudit", "unused")
    assert by_chance.loc[8].tolist() == pytest.approx([120, 0.85, 5 / 20])
    assert by_chance.loc[5, "labels"] == 0 and by_chance.loc[5].isna().sum() == 2
    suspects = by_level.loc["20"].to_dict()
    assert suspects == pytest.approx(
        {"labels": 60, "stated": 0.85, "real": 0.4, "lowest": 0.4}
    )
    errors = audit.cleaned_errors(results, "all data sets", None)
    assert errors.loc["pima"].to_dict() == pytest.approx(
        {
            "labels as they are": 0.3,
            "LabelAudit: dropped": 0.2,
            "random forest: dropped": 0.21,
            "LightGBM: dropped": 0.22,
            "LabelAudit: corrected": 0.25,
            "random forest: corrected": 0.25,
            "LightGBM: corrected": 0.25,
            "right labels": 0.1,
        }
    )


def test_report_of_a_made_up_store(made_up, tmp_path, capsys):
    path, _, cells = made_up
    audit.STUDY.report(path, cells, ROWS, tmp_path / "out")
    page = (tmp_path / "out" / "audit.md").read_text("utf-8")
    said = " ".join(page.split())
    assert page.strip().endswith(capsys.readouterr().out.strip())
    assert "have finished 42 of the 42 combinations" in said
    assert "| LabelAudit | 0.895 | 0.895 |" in said
    assert "| LabelAudit | random forest | 100% of 24 |" in said
    assert (
        "| random forest | -10.00 | 6 / 0 / 0 | 24 / 0 / 0 | 0.0312 | 0.0625 | 0.0312 |"
        in said
    )
    assert "| 80% to 90% | 120 | 85.0% | 25.0% |" in said
    assert "| random forest | 10.0% (10%) |" in said
    assert "| LabelAudit: dropped | labels as they are | -10.00 | 6 / 0 / 0 |" in said
    assert "| LabelAudit | 16× | 16× | 16× |" in said
    table = pd.read_csv(tmp_path / "out" / "audit.csv", dtype={"noise": str})
    assert len(table) == len(SETS) * len(LEVELS) * len(MADE_UP)


def test_report_says_which_means_leave_cells_out(made_up):
    _, store, _ = made_up
    results = audit.STUDY.tabulate(pd.DataFrame(store.find().values()), LEVELS)
    assert "leave out" not in "".join(audit.mean_tables(results))
    own = results.averaged
    mute = (own["method"] == "random forest") & (own["data"] == "bank")
    own.loc[mute, "precision"] = np.nan
    n, total = mute.sum(), (own["method"] == "random forest").sum()
    (said,) = [each for each in audit.mean_tables(results) if "leave out" in each]
    assert " ".join(said.split()).endswith(f"cells: random forest {n} of {total}.")


def test_all_sets_are_done_before_the_next_level():
    cells = audit.STUDY.plan([0], ["pima", "gaussians"], ["20", "0"], ["LightGBM"], 9)
    places = [(cell.noise, cell.data) for cell in cells]
    assert places == list(itertools.product(["20", "0"], ["pima", "gaussians"]))
