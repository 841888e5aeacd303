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
    assert "blood                 748 broken      4     -     76.2     -" in lines
    assert "adult               48842 absent     14     -     75.9     - *" in lines
    assert "splboost paper makes its own ringnorm and twonorm." in lines
    assert lines[-1] == "Broken files: load_uci says what is wrong with them."
    said = " ".join(text.split())
    for name, entry in UCI_CATALOGUE.items():
        assert (f"* {name}: {entry.difference}" in said) == bool(entry.difference)
    found = [row["data"] for row in compare_with_data(tmp_path)]
    assert found.count("absent") == 16 and found.count("broken") == 1


@pytest.mark.skipif(DATA is None, reason="needs SPLBOOST_DATA")
def test_it_agrees_with_the_paper_but_where_it_says_so():
    here = [row for row in compare_with_data(DATA) if row["data"] != "absent"]
    assert {row["name"] for row in here} <= {p.name[:-7] for p in Path(DATA).iterdir()}
    for row in here:
        theirs = tuple(row[f"paper_{each}"] for each in ("rows", "columns", "majority"))
        found = row["rows"], row["columns"], round(row["majority"], 1)
        assert (found == theirs) == (not row["difference"])
    lines = describe_table_one(DATA).splitlines()
    if "pima" in {row["name"] for row in here}:
        assert "pima                  768    768      8     8     65.1  65.1" in lines
