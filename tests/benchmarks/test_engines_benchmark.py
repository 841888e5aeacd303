"""The benchmark of engines: a small run, and what it compares."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPT = BENCHMARKS / "engines.py"
if not SCRIPT.exists():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
pytest.importorskip("psutil", reason="the benchmarks need the extra bench")
sys.path.insert(0, str(BENCHMARKS))

import _long_methods as shared  # noqa: E402

import engines as methods  # noqa: E402
from splboost.datasets import make_gaussians  # noqa: E402

SECONDS = 240


def run(tmp_path, *options):
    command = [sys.executable, str(SCRIPT), "--quick", *options, "--out", str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("package", ["xgboost", "lightgbm"])
def test_both_sides_have_the_same_draws_and_parameters(package, monkeypatch):
    made = []
    original = shared.make_booster

    def spy(package, paced, seed, n_jobs, **given):
        made.append((paced, given))
        return original(package, paced, seed, n_jobs, **given)

    monkeypatch.setattr(shared, "make_booster", spy)
    monkeypatch.setattr(methods, "DRAWS", 2)
    X, y = make_gaussians(60, random_state=0)
    y = (y > 0).astype(int)
    for paced in (True, False):
        methods.fit_drawn(pd.DataFrame(X), y, 0, 1, package=package, paced=paced)
    own = [{k: v for k, v in given.items() if k != "p_min"} for p, given in made if p]
    parents = [given for p, given in made if not p]
    assert [g for g in own if own.count(g) >= 3] and len(own) == len(parents) == 7
    assert own[:6] == parents[:6]


def test_pairs_are_of_methods_that_there_are():
    assert {name for pair in methods.PAIRS for name in pair} <= set(methods.METHODS)
    assert len(methods.PAIRS) == len(set(methods.PAIRS)) == 4


def test_a_quick_run(tmp_path):
    said = run(tmp_path, "--jobs", "1").stderr
    page = (tmp_path / "engines.md").read_text()
    assert "SPLXGB" in page and "XGBoost, depth 3, half the rows" in page
    assert "ailed" not in said
    assert (tmp_path / "engines.csv").exists()


def test_overhead_is_measured(tmp_path):
    run(tmp_path, "--overhead")
    measured = json.loads((tmp_path / "engines_overhead.json").read_text())
    assert {each["package"] for each in measured["fits"]} == {"xgboost", "lightgbm"}
    assert all(each["ratio"] > 0.5 for each in measured["fits"])
