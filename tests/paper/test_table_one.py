"""Table I of the paper beside the data."""

import io
import os
from pathlib import Path

import pytest

from splboost.datasets import UCI_CATALOGUE
from splboost.paper.table_one import compare_with_data, print_table_one

DATA = os.environ.get("SPLBOOST_DATA")


def test_it_goes_on_without_data_and_after_a_damaged_file(tmp_path, capsys):
    (tmp_path / "blood.csv.gz").write_bytes(b"damaged")
    print_table_one(data_home=tmp_path)
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0].endswith(str(tmp_path)) and max(map(len, lines[1:])) < 80
    assert "blood                 748 broken      4     -     76.2     -" in lines
    assert "adult               48842 absent     14     -     75.9     - *" in lines
    assert "splboost paper makes its own ringnorm and twonorm." in lines
    assert lines[-1] == "Broken files: load_uci says what is wrong with them."
    said = " ".join(text.split())
    for name, entry in UCI_CATALOGUE.items():
        assert (f"* {name}: {entry.difference}" in said) == bool(entry.difference)
    given = io.StringIO()
    print_table_one(data_home=tmp_path, file=given)
    assert given.getvalue() == text
    found = [row["data"] for row in compare_with_data(tmp_path)]
    assert found.count("absent") == 16 and found.count("broken") == 1


@pytest.mark.skipif(DATA is None, reason="needs SPLBOOST_DATA")
def test_it_agrees_with_the_paper_but_where_it_says_so(capsys):
    here = [row for row in compare_with_data(DATA) if row["data"] != "absent"]
    assert {row["name"] for row in here} <= {p.name[:-7] for p in Path(DATA).iterdir()}
    for row in here:
        theirs = tuple(row[f"paper_{each}"] for each in ("rows", "columns", "majority"))
        found = row["rows"], row["columns"], round(row["majority"], 1)
        assert (found == theirs) == (not row["difference"])
    print_table_one(data_home=DATA)
    lines = capsys.readouterr().out.splitlines()
    if "pima" in {row["name"] for row in here}:
        assert "pima                  768    768      8     8     65.1  65.1" in lines
