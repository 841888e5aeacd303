"""Table I of the paper, and what the data say."""

import io
import os
from pathlib import Path

import pandas as pd
import pytest

from splboost.datasets import UCI_CATALOGUE, load_uci, print_table_one, table_one

# Table I as the paper prints it
TABLE_ONE = """
adult 48842 14 75.9
bank 45211 17 88.5
blood 748 4 76.2
connect-4 67557 42 75.4
magic 19020 10 64.8
miniboone 130064 50 71.9
ozone 2536 72 97.1
pima 768 8 65.1
parkinsons 195 22 75.4
pb-T-OR-D 102 4 86.3
ringnorm 7400 20 50.5
spambase 4601 57 60.6
titanic 2201 3 67.7
oocMerl4D 1022 41 68.7
st-german-credit 1000 24 70.0
twonorm 7400 20 50.0
vc-2classes 310 6 67.7
"""
PAPER = {
    name: (int(rows), int(columns), float(majority))
    for name, rows, columns, majority in map(str.split, TABLE_ONE.split("\n")[1:-1])
}


DATA = os.environ.get("SPLBOOST_DATA")
COLUMNS = [
    *("name", "data", "rows", "columns", "majority"),
    *("paper_rows", "paper_columns", "paper_majority", "difference"),
]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_table_one_says_what_is_absent_and_what_is_counted(adult, installed, library):
    installed.intersection_update([library])
    load_uci("adult")
    table = table_one()
    assert list(table.columns) == COLUMNS
    assert list(table["name"]) == list(PAPER)
    assert list(table["data"]) == ["same counts", *["absent"] * 16]
    assert [table[name][0] for name in COLUMNS[2:5]] == [4, 2, 75]
    types = {str(table[name].dtype).lower() for name in COLUMNS[2:5]}
    assert types == {"float64"}
    for name in COLUMNS[2:5]:
        assert pd.isna(table[name].to_numpy()[1:]).all()
    assert list(zip(*(table[name] for name in COLUMNS[5:8]), strict=True)) == list(
        PAPER.values()
    )


def test_table_one_goes_on_after_a_damaged_file(tmp_path, capsys):
    (tmp_path / "blood.csv.gz").write_bytes(b"damaged")
    print_table_one(data_home=tmp_path)
    said = capsys.readouterr().out
    assert "blood                 748 broken      4     -     76.2     -" in said
    assert "Broken files: load_uci says what is wrong with them." in said


def test_table_one_as_text(adult, cache, capsys):
    load_uci("adult")
    capsys.readouterr()
    print_table_one()
    text, err = capsys.readouterr()
    assert not err
    lines = text.splitlines()
    assert lines[0].endswith(str(cache))
    fields = [" ".join(line.split()) for line in lines]
    assert fields[4] == "adult 48842 4 14 2 75.9 75.0 *"
    assert fields[6] == "blood 748 absent 4 - 76.2 -"
    assert max(map(len, lines[1:])) < 80
    assert "Counted in other files than the catalogue's: adult." in lines
    assert lines[-2].startswith("Absent sets: load_uci downloads them")
    assert lines[-1] == "splboost paper makes its own ringnorm and twonorm."
    said = " ".join(text.split())
    for name, entry in UCI_CATALOGUE.items():
        assert (f"* {name}: {entry.difference}" in said) == bool(entry.difference)
    given = io.StringIO()
    print_table_one(file=given)
    assert given.getvalue() == text


def test_the_catalogue_has_the_figures_of_the_paper():
    entries = {name: entry for name, entry in UCI_CATALOGUE.items() if entry.paper}
    assert list(entries) == list(PAPER)
    for name, entry in entries.items():
        paper = entry.paper.rows, entry.paper.columns, entry.paper.majority
        assert paper == PAPER[name]
        found = entry.rows, len(entry.columns), round(entry.majority, 1)
        assert bool(entry.difference) == (found != paper), name


@pytest.mark.skipif(not DATA, reason="set SPLBOOST_DATA to the folder of the data")
def test_table_one_agrees_with_the_paper_but_where_it_says_so(capsys):
    table = table_one(data_home=DATA)
    here = table[table["data"] != "absent"]
    for row in here.itertuples():
        found = row.rows, row.columns, round(row.majority, 1)
        assert (found == PAPER[row.name]) == (not row.difference)
        assert (Path(DATA) / f"{row.name}.csv.gz").exists()
