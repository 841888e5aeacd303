"""Table I of the paper beside the data."""

import os
from pathlib import Path

import pytest

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.draw import compare_with_data, describe_table_one

DATA = os.environ.get("SPLBOOST_DATA")


def test_it_goes_on_without_data_and_after_a_damaged_file(tmp_path):
    (tmp_path / "blood.csv.gz").write_bytes(b"damaged")
    text = describe_table_one(tmp_path)
    lines = text.splitlines()
    assert lines[0].endswith(str(tmp_path)) and max(map(len, lines[1:])) < 80
    rows = [line.split() for line in lines]
    assert ["blood", "748", "-", "4", "-", "76.2", "-", "broken"] in rows
    assert ["adult", "48842", "-", "14", "-", "75.9", "-", "absent"] in rows
    assert "splboost paper makes its own ringnorm and twonorm." in lines
    assert lines[-1] == "Broken files: load_uci says what is wrong with them."
    said = " ".join(text.split())
    for name, entry in UCI_CATALOGUE.items():
        assert (f"{name}: {entry.difference}" in said) == bool(entry.difference)
    found = compare_with_data(tmp_path)["", "data"].tolist()
    assert found.count("absent") == 16 and found.count("broken") == 1


@pytest.mark.skipif(DATA is None, reason="needs SPLBOOST_DATA")
def test_it_agrees_with_the_paper_but_where_it_says_so():
    here = compare_with_data(DATA)
    here = here[here["", "data"] != "absent"]
    assert set(here.index) <= {path.name[:-7] for path in Path(DATA).iterdir()}
    theirs, ours = (here.xs(whose, axis=1, level=1) for whose in ("paper", "data"))
    differs = (theirs != ours[theirs.columns]).any(axis=1)
    assert (differs == (here["", "difference"] != "")).all()
    if "pima" in here.index:
        assert theirs.loc["pima"].tolist() == [768, 8, 65.1]
