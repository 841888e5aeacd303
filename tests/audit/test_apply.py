"""splboost audit apply: decisions reach the rows that they were made on, or nothing.

Also what a kill, a full disk or a foreign file in the place of an output leaves.
"""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("typer", reason="needs the extra cli")
from fuzz.commands import call, run
from splboost._tools.whole_files import WriteError, replacing, write_whole
from splboost.audit import LabelAudit
from splboost.audit.decisions import digest_row
from splboost.audit.table_files import read_file

HEAD = "row,id,given,decision,new_label,id_column,digest,format\n"
TEXT = "name,age,rich\nann,31,yes\nbob,32,no\ncai,33,yes\ndee,34,no\neve,35,yes\n"


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    return path


def lines_of(path, kinds, *, id_column="name", target="rich"):
    """Decisions by row on a file as it is, as the page saves them."""
    file = read_file(path)
    labels = file.columns[target].cells
    names = file.columns[id_column].cells if id_column else [""] * file.n_rows
    found = []
    for row, kind in kinds.items():
        new = next((each for each in labels if each != labels[row]), "")
        fields = [row, names[row], labels[row], kind, new if kind == "flip" else ""]
        found.append([*fields, id_column or "", digest_row(file, row), "1"])
    return found


def decide(path, kinds, **options):
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines_of(path, kinds, **options))
    decisions = path.with_name("decisions.csv")
    decisions.write_text(HEAD + stream.getvalue())
    return decisions


def apply(path, decisions, *options, code=0):
    return call("apply", path, decisions, "--target", "rich", *options, code=code)


# ------------------------------------------------------------------------ the right row


def swap(text):
    lines = text.splitlines(keepends=True)
    lines[2], lines[4] = lines[4], lines[2]  # bob and dee, who are labelled alike
    return "".join(lines)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_rows_that_have_moved_are_found_by_their_id(data, tmp_path, kind):
    decisions = decide(data, {1: "flip", 4: "drop"})
    if kind == "json":
        lines = list(csv.DictReader(io.StringIO(decisions.read_text())))
        document = {"format": "1", "id_column": "name", "decisions": lines}
        decisions.write_text(json.dumps(document))
    data.write_text(swap(TEXT))
    assert "1 label changed, 1 row dropped" in apply(data, decisions)
    cleaned = (tmp_path / "people-cleaned.csv").read_text()
    assert cleaned == swap(TEXT).replace("bob,32,no", "bob,32,yes").replace(
        "eve,35,yes\n", ""
    )


@pytest.mark.parametrize(
    "edit",
    [
        swap,
        lambda text: text.replace("bob,32", "bob,33"),
        lambda text: text.replace("ann,31,yes\n", ""),
        lambda text: text.replace("age", "years"),
        lambda text: text.replace("bob,32,no", "bob,32,yes"),
    ],
    ids=["swapped", "another cell", "a row less", "another name", "another label"],
)
def test_rows_that_have_changed_are_left_alone(data, tmp_path, edit):
    decisions = decide(data, {1: "flip"}, id_column=None)
    data.write_text(edit(TEXT + "x,1,no\n" * 20))
    reviewed = call(data, "--target", "rich", "--reviewed", decisions, code=2)
    for said in (apply(data, decisions, code=2), reviewed):
        assert "people.csv is not as it was audited in row 1: a cell has cha" in said
        assert "Nothing is changed" in said and "--force to find rows by id or" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "decisions.csv",
        "people.csv",
    ]


def test_all_rows_that_have_changed_are_named_and_why(data):
    decisions = decide(data, {0: "keep", 2: "flip", 3: "drop"})
    data.write_text(TEXT.replace("\n", ",x\n"))
    said = apply(data, decisions, code=2)
    assert "in row 0 (ann), row 2 (cai), row 3 (dee): a cell" in said
    assert "No decision fits: has a column been changed?" in said
    data.write_text(TEXT.replace("cai,33", "cai,3"))
    assert "has a column been changed?" not in apply(data, decisions, code=2)


@pytest.mark.parametrize("column", ["id", "digest", "id_column", "row"])
def test_columns_that_were_sorted_without_the_others(data, tmp_path, column):
    """Rows are found by id and digest, which must be those of one row."""
    decisions = decide(data, {1: "flip", 3: "drop"})
    table = pd.read_csv(decisions, dtype=str)
    table[column] = "age" if column == "id_column" else table[column].to_list()[::-1]
    table.to_csv(decisions, index=False)
    said = apply(data, decisions, code=2 * (column != "row"))
    if column == "row":
        assert (
            "found by their id: row 3 (bob) is now row 1, row 1 (dee) is now row 3."
            in said
        )
        assert "dee" not in (tmp_path / "people-cleaned.csv").read_text()
    else:
        named = "dee" if column == "id" else "bob"
        assert f"not as it was audited in row 1 ({named}), row 3 (" in said
        assert "or the decision has the id of another row" in said


def test_ids_that_a_spreadsheet_spells_otherwise(data):
    data.write_text("name,rich\n007,no\n1.50,yes\nTRUE,no\n")
    decisions = decide(data, {0: "flip", 1: "keep", 2: "drop"})
    text = decisions.read_text().replace("007", "7").replace("1.50", "1.5")
    decisions.write_text(text.replace("TRUE", "True"))
    assert "1 label changed, 1 row dropped, 1 kept" in apply(data, decisions)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_missing_cell_that_is_spelled_otherwise_is_another(data, tmp_path, ending):
    """What stands for nothing to an audit may be an answer to people."""
    path = tmp_path / f"people.{ending}"

    def write(allergy):
        table = TEXT.replace("\n", ",none\n").replace(",none", ",allergy", 1)
        table = table.replace("no,none", f"no,{allergy}")
        if ending == "csv":
            path.write_text(table)
        else:
            pd.read_csv(io.StringIO(table), keep_default_na=False).to_parquet(path)

    write("none")
    decisions = decide(path, {1: "flip"})
    for other in ("?", "", "NA"):
        write(other)
        assert "not as it was audited in row 1 (bob)" in apply(path, decisions, code=2)
    write("none")
    assert "1 label changed" in apply(path, decisions)
    cleaned = path.with_name(f"people-cleaned.{ending}")
    write("none")
    path.rename(cleaned)
    write("?")
    kept = decide(path, {0: "keep"})
    assert "exists already" in apply(path, kept, code=2)  # with an edit that counts


def test_empty_cells_are_digested_as_ever(data):
    data.write_text("name,age,rich\nann,,yes\nbob,31,no\n")
    assert digest_row(read_file(data), 0) == "row-ea69414a238e8d96"
    data.write_text("name,age,rich\nann,  ,yes\nbob,?,no\n")
    assert digest_row(read_file(data), 0) == "row-ea69414a238e8d96"


@pytest.mark.parametrize("new", ["0", "0.0", "0.00"])
def test_labels_as_the_file_spells_numbers(data, tmp_path, new):
    data.write_text("name,rich\nann,1.0\nbob,0.0\ncai,1.0\n")
    decisions = decide(data, {0: "flip"})
    text = decisions.read_text()
    assert ",1.0,flip,0.0," in text
    for old in ("1", "1.0"):
        line = text.replace(",1.0,flip,0.0,", f",{old},flip,{new},")
        decisions.write_text(line)
        assert "1 label changed" in apply(data, decisions)
        cleaned = tmp_path / "people-cleaned.csv"
        assert cleaned.read_text() == "name,rich\nann,0.0\nbob,0.0\ncai,1.0\n"


def test_decisions_of_a_page_made_in_python(data, tmp_path):
    frame = pd.read_csv(io.StringIO(TEXT + "x,1,no\ny,2,yes\n" * 20))
    frame.to_csv(data, index=False)
    audit = LabelAudit(quick=True, top=1, random_state=0)
    audit.fit(frame[["age"]], frame["rich"]).write_page(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    found = re.search('id="report">(.*?)</script>', text, re.DOTALL)
    suspect = json.loads(found[1])["suspects"][0]
    line = {name: suspect[name] for name in ("row", "digest")}
    line |= {"given": frame["rich"][suspect["row"]], "decision": "drop"}
    decisions = tmp_path / "decisions.json"
    decisions.write_text(json.dumps({"format": "1", "decisions": [line]}))
    said = apply(data, decisions, code=2)
    assert "A page of LabelAudit.write_page was made in Python, from values and" in said
    assert "save the cleaned data on it, or use --force if rows have the same" in said
    assert "1 row dropped" in apply(data, decisions, "--force")
    line["id_column"], line["id"] = "name", "nobody"  # which only a file's page knows
    decisions.write_text(json.dumps({"format": "1", "decisions": [line]}))
    assert "write_page" not in apply(data, decisions, code=2)


def test_format_that_a_program_has_made_a_number(data, tmp_path):
    decisions = tmp_path / "decisions.json"
    for version, code in ((1, 0), (1.0, 0), ("1.0", 0), (2.0, 2), (1.5, 2)):
        names = HEAD.strip().split(",")
        (line,) = (
            dict(zip(names, x, strict=True)) for x in lines_of(data, {0: "drop"})
        )
        document = {"decisions": [line | {"format": version}]}
        decisions.write_text(json.dumps(document))
        said = apply(data, decisions, "--force", code=code)
        assert ("is unknown to this version of splboost" in said) == bool(code)


def test_another_target_is_not_the_fault_of_the_file(data):
    said = call("apply", data, decide(data, {1: "keep"}), "--target", "age", code=2)
    assert "Row 1 of" in said and "is labelled '32', but was labelled 'no' when" in said
    assert "; give the --target of the audit, and the decisions as saved." in said


def test_force_goes_by_id_and_says_so(data, tmp_path):
    decisions = decide(data, {1: "flip"})
    data.write_text(swap(TEXT).replace("bob,32", "bob,33"))
    said = apply(data, decisions, "--force")
    assert (
        "--force: found by id or row number, perhaps changed since: row 1 (bob)."
        in said
    )
    assert "bob,33,yes" in (tmp_path / "people-cleaned.csv").read_text()
    decisions = decide(data, {1: "flip"}, id_column=None)
    data.write_text(TEXT.replace("bob,32,no", "bob,32,yes"))
    said = apply(data, decisions, "--force", code=2)
    assert "Row 1 of" in said and "is labelled 'yes', but was labelled 'no'" in said


def test_decisions_without_a_digest_need_force(data, tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("row,id,given,decision,new_label\n1,bob,no,flip,yes\n")
    assert "row 1 (bob) has no digest of the row" in apply(data, old, code=2)
    assert "1 label changed" in apply(data, old, "--force")
    data.write_text(swap(TEXT))  # the row of dee, with the same label, is there now
    assert "does not have row 1 (bob)" in apply(data, old, "--force", code=2)
    old.write_text(HEAD + "1,bob,no,flip,yes,name,row-0123456789abcdef,2\n")
    said = apply(data, old, "--force", code=2)
    assert "format '2' is unknown to this version of splboost" in said


def test_same_id_twice_is_told_apart_by_the_rest(data, tmp_path):
    text = TEXT.replace("dee", "bob")
    data.write_text(text)
    decisions = decide(data, {3: "flip"})
    data.write_text(swap(text))
    assert "1 label changed" in apply(data, decisions)
    assert "bob,34,yes" in (tmp_path / "people-cleaned.csv").read_text()
    data.write_text(swap(text).replace("bob,34", "bob,3"))
    assert "not as it was audited in row 3 (bob)" in apply(data, decisions, code=2)


def test_rows_that_no_id_tells_apart_are_not_looked_for(data):
    """Two rows that are equal, and rows without an id."""
    equal = TEXT.replace("dee", "bob").replace("34", "32")
    for text, kinds in ((equal, {1: "flip"}), (TEXT.replace("dee", ""), {3: "flip"})):
        data.write_text(text)
        decisions = decide(data, {0: "keep", **kinds})
        lines = text.splitlines(keepends=True)
        data.write_text("".join([*lines[:2], lines[3], lines[5], lines[2], lines[4]]))
        assert "not as it was audited in row " in apply(data, decisions, code=2)


def test_list_of_suspects_has_proofs_and_takes_notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    rich = np.where((x > 0) ^ (rng.random(80) < 0.1), "yes", "no")
    frame = pd.DataFrame({"key": [f"k{k}" for k in range(80)], "x": x, "rich": rich})
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    call(path, "--target", "rich", "--id", "key", "--quick", "--top", 5)
    listed = tmp_path / "people-audit/suspects.csv"
    table = pd.read_csv(listed, dtype=str)
    file = read_file(path)
    assert table["digest"].tolist() == [
        digest_row(file, int(row)) for row in table["row"]
    ]
    assert set(table["id_column"]) == {"key"} and set(table["format"]) == {"1"}
    table["decision"] = ["drop", None, "keep", None, None]
    table["note"] = 'says "why",\nand so on'  # people write such things
    filled = tmp_path / "filled.csv"
    table.to_csv(filled, index=False)
    shuffled = frame.sample(frac=1, random_state=0)
    shuffled.to_csv(path, index=False)
    assert "0 labels changed, 1 row dropped, 1 kept" in apply(path, filled)
    left = pd.read_csv(tmp_path / "people-cleaned.csv")
    expected = shuffled[shuffled["key"] != table["id"][0]].reset_index(drop=True)
    pd.testing.assert_frame_equal(left, expected)


KINDS = ("keep", "flip", "drop")


@st.composite
def edited_reviews(draw):
    """A table, decisions on it, and the table after somebody has edited it.

    There are few different cells, so that rows are easily taken for each other. Ids may
    be shared, and labels may be numbers.
    """
    n = draw(st.integers(2, 6))
    label = st.sampled_from(draw(st.sampled_from([["a", "b"], ["1", "2"]])))
    cell, name = (
        st.sampled_from(["x", "y"]),
        st.sampled_from([f"p{k}" for k in range(n)]),
    )
    row = st.tuples(name, cell, label).map(list)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    kinds = draw(
        st.dictionaries(st.integers(0, n - 1), st.sampled_from(KINDS), min_size=1)
    )
    edited = [list(cells) for cells in rows]
    for _ in range(draw(st.integers(0, 3))):
        way = draw(st.sampled_from(["swap", "cell", "delete", "insert", "sort"]))
        at = draw(st.integers(0, max(len(edited) - 1, 0)))
        if way == "insert":
            edited.insert(at, draw(row))
        elif not edited:
            continue
        elif way == "swap":
            other = draw(st.integers(0, len(edited) - 1))
            edited[at], edited[other] = edited[other], edited[at]
        elif way == "cell":
            edited[at][draw(st.integers(0, 2))] = draw(st.one_of(cell, label))
        elif way == "delete":
            del edited[at]
        else:
            edited.sort()
    return rows, kinds, edited


def write_table(path, rows):
    if path.suffix == ".csv":
        lines = [",".join(cells) for cells in (["id", "x", "rich"], *rows)]
        path.write_text("\n".join(lines) + "\n")
    else:
        pd.DataFrame(rows, columns=["id", "x", "rich"], dtype=str).to_parquet(path)


def read_rows(path):
    if path.suffix == ".csv":
        return list(csv.reader(io.StringIO(path.read_text())))[1:]
    return pd.read_parquet(path).to_numpy().tolist()


@settings(max_examples=60)
@given(edited_reviews(), st.booleans(), st.sampled_from([".csv", ".csv", ".parquet"]))
def test_no_label_of_a_row_that_was_not_decided_on_changes(
    tmp_path_factory, review, has_id, ending
):
    rows, kinds, edited = review
    folder = tmp_path_factory.mktemp("review")
    path, out = folder / f"data{ending}", folder / f"out{ending}"
    write_table(path, rows)
    labels = {cells[2] for cells in rows}
    if len(labels) < 2:
        kinds = {row: "keep" if kind == "flip" else kind for row, kind in kinds.items()}
    decisions = decide(path, kinds, id_column="id" if has_id else None)
    new = {
        int(line[0]): line[4]
        for line in csv.reader(decisions.read_text().splitlines()[1:])
    }
    write_table(path, edited)
    arguments = ["audit", "apply", path, decisions, "--target", "rich", "--out", out]
    done = run(*arguments)
    if done.exit_code:
        assert done.exit_code == 2 and not out.exists()
        same = all(edited[row : row + 1] == rows[row : row + 1] for row in kinds)
        lost = {new[row] for row, kind in kinds.items() if kind == "flip"} - {
            cells[2] for cells in edited
        }
        assert not same or lost, done.output
        return
    # Equal rows cannot be told from each other, and need not be: what counts is what
    # becomes of each kind of row.
    expected = sorted(edited)
    for row, kind in kinds.items():
        expected.remove(rows[row])  # was there, as it was
        if kind != "drop":
            label = new[row] if kind == "flip" else rows[row][2]
            expected.append([*rows[row][:2], label])
    assert sorted(read_rows(out)) == sorted(expected)
    found = read_rows(out)
    # Where all rows are known, --force makes no difference.
    for options in ([], ["--force"]):
        assert run(*arguments, *options).exit_code == 0 and read_rows(out) == found


def test_labels_that_an_audit_told_apart_stay_apart(data, tmp_path):
    """As with --categorical, 01 is another label than 1."""
    text = "name,rich\nann,01\nbob,1\ncai,2\ndee,01\n"
    data.write_text(text)
    lines = lines_of(data, {1: "flip", 2: "flip"})
    assert [line[2:5] for line in lines] == [["1", "flip", "01"], ["2", "flip", "01"]]
    assert "2 labels changed" in apply(data, decide(data, {1: "flip", 2: "flip"}))
    cleaned = tmp_path / "people-cleaned.csv"
    assert cleaned.read_text() == "name,rich\nann,01\nbob,01\ncai,01\ndee,01\n"


def test_large_numbers_are_labels_of_their_own(data):
    data.write_text("name,rich\nann,9007199254740992\nbob,3\ncai,9007199254740992\n")
    decisions = decide(data, {1: "flip"})
    text = decisions.read_text().replace("9007199254740992", "9007199254740993")
    decisions.write_text(text)
    said = apply(data, decisions, code=2)
    assert "to become '9007199254740993', a label that no row has" in said


# -------------------------------------------------------------------- read as a whole


def stray(line):
    """A file of three decisions, in one of which there is one quote too many."""
    return lambda lines: "\n".join(
        each.replace(",drop", ',"drop') if k == line else each
        for k, each in enumerate(lines)
    )


@pytest.mark.parametrize(
    "spoil",
    [
        *map(stray, (1, 3)),
        lambda lines: "\n".join(lines).replace(",1\n2", ',"1\n2').replace("4,", '4",'),
        lambda lines: "\n".join(lines)[:-5],
        lambda lines: "\n".join(lines).replace("cai,yes,drop", "cai,yes,drop,,"),
        lambda lines: "\n".join([lines[0] + ",row", *(x + ",5" for x in lines[1:])]),
        lambda lines: "\n".join([lines[0] + ",note", *(x + ',"' for x in lines[1:])]),
        lambda lines: "\n".join([lines[0] + ",note", lines[1] + ',"closed" not']),
        lambda lines: json.dumps({"decisions": lines}),
        lambda lines: '{"decisions": ' + "[" * 100_000,
        lambda lines: '{"format": "1", "decisions": [], "decisions": []}',
        lambda lines: '{"format": "1", "decisions": [{"row": 1, "Decision": "drop"}]}',
    ],
)
def test_decisions_are_read_as_a_whole_or_not_at_all(data, tmp_path, spoil):
    decisions = decide(data, {0: "drop", 2: "drop", 4: "drop"})
    decisions.write_text(spoil(decisions.read_text().splitlines()))
    for option in ([], ["--force"]):
        said = apply(data, decisions, *option, code=2)
        assert "decisions.csv" in said and ("again" in said or "leave one" in said)
    assert not (tmp_path / "people-cleaned.csv").exists()


def test_flip_to_the_same_label_changes_nothing(data, tmp_path):
    decisions = decide(data, {0: "flip", 1: "flip"})
    decisions.write_text(decisions.read_text().replace("yes,flip,no", "yes,flip,YES"))
    said = apply(data, decisions)
    assert "1 label changed, 0 rows dropped, 1 kept" in said
    cleaned = (tmp_path / "people-cleaned.csv").read_text()
    assert cleaned == TEXT.replace("bob,32,no", "bob,32,yes")


# ------------------------------------------------------------ whole files, or as before


def test_cleaned_file_goes_to_a_pipe(data):
    decisions = decide(data, {0: "drop"})
    output, pipe = os.pipe()
    apply(data, decisions, "--out", f"/dev/fd/{pipe}")
    os.close(pipe)
    with open(output) as stream:
        assert stream.read() == TEXT.replace("ann,31,yes\n", "")


def test_list_that_is_filled_in_while_an_audit_runs_stays(data, tmp_path, monkeypatch):
    data.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    listed = tmp_path / "people-audit/suspects.csv"
    filled = decide(data, {0: "drop"}).read_text()

    def fit(self, *given, fit=LabelAudit.fit, **named):
        listed.parent.mkdir(exist_ok=True)
        listed.write_text(filled)
        return fit(self, *given, **named)

    monkeypatch.setattr(LabelAudit, "fit", fit)
    for options in ([], ["--force"]):
        said = call(data, "--target", "rich", "--quick", *options, code=2)
        assert "suspects.csv may have changed since an audit wrote it: no summ" in said
        assert listed.read_text() == filled


def test_output_of_other_decisions_is_not_replaced(data, tmp_path):
    cleaned = tmp_path / "people-cleaned.csv"
    apply(data, decide(data, {0: "drop"}))
    apply(data, decide(data, {0: "drop", 1: "flip", 3: "drop"}))  # more of them
    done = TEXT.replace("ann,31,yes\n", "").replace("bob,32,no", "bob,32,yes")
    done = done.replace("dee,34,no\n", "")
    assert cleaned.read_text() == done
    for text in (
        TEXT,  # a copy of the data
        done.replace("bob,32,yes", "bob,32,unknown"),  # in a row that was decided on
        done.replace("cai,33,yes", "cai,33,no"),
        done.replace("cai,33,yes\n", ""),
        done.replace("eve,35", "eve,?"),
        done + "fay,36,no\n",
        "notes of mine\n",
        "\0",
    ):
        cleaned.write_text(text)
        decisions = decide(data, {0: "drop", 1: "flip", 3: "drop", 4: "keep"})
        said = apply(data, decisions, code=2)
        assert "exists already, and what it holds might be lost" in said
        assert cleaned.read_text() == text
    assert "1 kept (4 decisions read)" in apply(data, decisions, "--force")
    assert cleaned.read_text() == done
    said = apply(data, decide(data, {0: "flip"}), code=2)  # another mind on the row
    assert "exists already" in said and cleaned.read_text() == done
    kept = decide(data, {0: "keep"})
    cleaned.write_text(TEXT)
    apply(data, kept)  # for nothing would be lost


def test_parquet_of_other_decisions_is_not_replaced(data, tmp_path):
    frame = pd.read_csv(data)
    path, out = tmp_path / "people.parquet", tmp_path / "people-cleaned.parquet"
    frame.to_parquet(path)
    apply(path, decide(path, {0: "drop", 1: "keep"}))
    apply(path, decide(path, {0: "drop", 1: "flip"}))
    assert pd.read_parquet(out)["rich"].tolist() == ["yes", "yes", "no", "yes"]
    frame.to_parquet(out)
    assert "exists already" in apply(path, decide(path, {0: "drop"}), code=2)


@pytest.mark.parametrize(
    "name, texts",
    [
        ("suspects.csv", ("mine", "row,decision\n")),
        ("review.html", ("<html>",)),
        ("summary.json", ("{}", "[" * 100_000)),
    ],
)
def test_foreign_files_in_the_folder_of_an_audit_stay(
    tmp_path, monkeypatch, name, texts
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    foreign = tmp_path / "people-audit" / name
    foreign.parent.mkdir()
    for text in texts:
        foreign.write_text(text)
        said = call(path, "--target", "rich", "--quick", code=2)
        assert f"{foreign} exists already, and what it holds might be" in said
        assert foreign.read_text() == text
    call(path, "--target", "rich", "--quick", "--force")
    assert foreign.read_text() != text
    call(path, "--target", "rich", "--quick")


WRITERS = {
    "gz": "apply people.csv decisions.csv --target rich --out out.csv.gz --force",
    "parquet": "apply people.parquet decisions.csv --target rich --out out.parquet "
    "--force",
}
LIMITED = """
import resource, signal, sys
import pandas, polars, pyarrow.parquet  # which write files when they are imported
import splboost._data.frames
from splboost.cli import make_app
limit, kills, library, *arguments = sys.argv[1:]
installed = {"pandas", library}
splboost._data.frames.find_spec = lambda name: name if name in installed else None
app = make_app()
from splboost.audit.label_audit import LabelAudit
if kills == "1":
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
import splboost._tools.whole_files as files
original = files._make_like
def start(*given):
    original(*given)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
files._make_like = start
app(["audit", *arguments], prog_name="splboost")
"""


@pytest.mark.parametrize(
    "writer, library, kills",
    [
        ("gz", "", True),
        ("parquet", "polars", False),
    ],
)
def test_outputs_are_whole_after_a_kill_or_on_a_full_disk(
    data, tmp_path, writer, library, kills
):
    """A limit of file sizes ends a process in the midst of a write, or fails it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2**60, size=(2000, 3)).astype(str))
    frame.columns = ["name", "age", "city"]
    frame["rich"] = np.where(rng.random(2000) < 0.5, "yes", "no")
    frame.to_csv(data, index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    source = data if writer != "parquet" else tmp_path / "people.parquet"
    decide(source, {0: "flip", 5: "drop"})
    arguments = WRITERS[writer].split()
    out = tmp_path / arguments[arguments.index("--out") + 1]
    out.write_bytes(b"what was there before")
    command = [sys.executable, "-c", LIMITED, "20000", str(int(kills)), library]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    assert out.read_bytes() == b"what was there before"
    parts = [path.name for path in tmp_path.iterdir() if ".part" in path.name]
    if kills:
        assert done.returncode == -signal.SIGXFSZ, done.stderr
        assert len(parts) == 1  # which the page on reliability tells of
    else:
        assert done.returncode == 1 and not parts, done.stderr
        assert f"Error: {out.name} could not be written" in done.stderr
        assert "the earlier file is unchanged" in done.stderr
        assert "Traceback" not in done.stderr


def test_file_that_cannot_be_replaced_leaves_both_whole(tmp_path, monkeypatch):
    """As on Windows, where another program has it open."""
    path = tmp_path / "people-cleaned.csv"
    path.write_text("old")

    def refuse(*_):
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(WriteError, match="close it if another program has it open"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    (part,) = (each for each in tmp_path.iterdir() if each != path)
    assert part.read_text() == "new" and part.suffix == ".csv"


def test_outputs_are_as_private_as_the_data(data, tmp_path):
    data.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    data.chmod(0o600)
    call(data, "--target", "rich", "--quick")
    apply(data, decide(data, {0: "drop"}))
    written = [tmp_path / "people-cleaned.csv", *(tmp_path / "people-audit").iterdir()]
    assert [each.stat().st_mode & 0o777 for each in written] == [0o600] * 4


def test_pages_replace_pages_alone(tmp_path):
    audit = LabelAudit(quick=True, random_state=0)
    audit.fit(np.arange(40.0)[:, None], np.arange(40) // 20)
    path = tmp_path / "data.csv"
    path.write_text(TEXT)
    with pytest.raises(
        ValueError, match="exists and is not a review page; give another"
    ):
        audit.write_page(path)
    assert path.read_text() == TEXT
    for _ in range(2):
        audit.write_page(tmp_path / "page.html")


def test_what_stays_of_a_file_that_is_replaced(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink() and path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    fresh = tmp_path / "b.txt"
    write_whole(fresh, "x")
    umask = os.umask(0)
    os.umask(umask)
    assert fresh.stat().st_mode & 0o777 == 0o666 & ~umask
    write_whole("/dev/null", "x")
    assert not Path("/dev/null").is_file()
    long = tmp_path / f"{'長' * 80}.txt"
    write_whole(long, "x")
    assert long.read_text() == "x"
    long.unlink()
    with pytest.raises(KeyboardInterrupt), replacing(path) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    with pytest.raises(WriteError, match="is a folder"):
        write_whole(tmp_path, "x")
    with pytest.raises(
        WriteError, match=r"could not be written .*; there is no such file"
    ):
        write_whole(path / "c.txt", "x")
    assert {each.name for each in tmp_path.iterdir()} == {"a.txt", "b.txt", "link.txt"}
    assert path.read_text() == "new"


@pytest.mark.skipif(sys.platform != "linux", reason="names are not bytes elsewhere")
def test_name_of_a_file_that_is_not_utf_8(data, tmp_path):
    data = data.rename(tmp_path / os.fsdecode(b"Z\xfcrich.csv"))
    data.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    for _ in range(2):
        call(data, "--target", "rich", "--quick", "--quiet", "--out", "out")
    assert (
        "<title>Z?rich.csv: label review<" in (tmp_path / "out/review.html").read_text()
    )


NAMES = "review.html", "summary.json", "suspects.csv"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("earlier", [True, False])
def test_audit_that_was_stopped_is_done_again(data, monkeypatch, name, earlier):
    """Between two files of the folder, whose order counts."""
    data.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    options = "--target", "rich", "--quick"
    if earlier:
        call(data, *options, "--top", 3)
    replace = os.replace

    def stop(part, target):
        if Path(target).name == name:
            raise KeyboardInterrupt
        replace(part, target)

    for top in (4, 5):
        with monkeypatch.context() as patch:
            patch.setattr("os.replace", stop)
            call(data, *options, "--top", top, code=130)
        left = {path.name for path in data.with_name("people-audit").iterdir()}
        assert left == set(NAMES if earlier else NAMES[: NAMES.index(name)])
    call(data, *options, "--top", 6)
    call(data, *options)


@pytest.mark.parametrize("other", ["name", "labels"])
def test_page_of_another_audit_stays(data, tmp_path, other):
    """Also if no summary lies beside it."""
    rows = "".join(f"x{k},{k % 7},{['no', 'yes'][k % 7 > 3]}\n" for k in range(40))
    data.write_text(TEXT + rows)
    source = data if other == "labels" else data.rename(tmp_path / "<others> & co.csv")
    options = "--quick", "--out", "out", "--target"
    call(source, *options, "rich")
    page = tmp_path / "out/review.html"
    for name in NAMES[1:]:
        (tmp_path / "out" / name).unlink()
    call(source, *options, "rich")  # its own
    text = page.read_text()
    for name in NAMES[1:]:
        (tmp_path / "out" / name).unlink()
    data.write_text((TEXT + rows).replace("rich", "wealthy"))
    said = call(data, *options, "wealthy", code=2)
    assert "review.html exists already, and what it holds might be lost" in said
    assert page.read_text() == text
    call(data, *options, "wealthy", "--force")


@pytest.mark.parametrize("name", NAMES)
def test_outputs_of_an_audit_that_are_inputs_or_folders(data, monkeypatch, name):
    data.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    monkeypatch.setattr(LabelAudit, "fit", None)
    folder = data.with_name("people-audit")
    folder.mkdir()
    (folder / name).hardlink_to(data)
    for option in ([], ["--force"]):
        said = call(data, "--target", "rich", *option, code=2)
        assert f"{folder / name} is one of the inputs; give --out another fol" in said
    (folder / name).unlink()
    (folder / name).mkdir()
    said = call(data, "--target", "rich", "--force", code=2)
    assert f"{folder / name} is a folder; give --out another folder" in said


def test_paths_that_cannot_be_used_are_named(data, monkeypatch):
    data.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    monkeypatch.setattr(LabelAudit, "fit", None)
    decisions, long = decide(data, {0: "drop"}), "x" * 300
    options = "--target", "rich"
    for said in (
        call(data, *options, "--out", long, code=2),
        call("apply", data, decisions, *options, "--out", long, code=2),
        call("apply", data, long, *options, code=2),
        call(long, *options, code=2),
    ):
        assert re.search(
            r"x{300}\S* cannot be used \(File name too long\); give an", said
        )
    listed = data.with_name("people-audit") / "suspects.csv"
    listed.parent.mkdir()
    listed.write_text("mine")

    def read(path, read=Path.read_bytes):
        if path == listed:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    said = call(data, *options, code=2)
    assert f"{listed} cannot be read (Permission denied); give --out another" in said


@pytest.mark.skipif(os.name != "posix", reason="elsewhere folders cannot be opened")
def test_files_and_their_folder_are_brought_to_disk(data, monkeypatch):
    """Each file before it takes its place, and its folder after that."""
    data.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    done = []

    def fsync(descriptor, fsync=os.fsync):
        state = os.fstat(descriptor)
        done.append(("brought", state.st_ino))
        fsync(descriptor)

    def replace(part, target, replace=os.replace):
        done.append(("moved", os.stat(part).st_ino))
        replace(part, target)

    monkeypatch.setattr("os.fsync", fsync)
    monkeypatch.setattr("os.replace", replace)
    folder = data.with_name("people-audit")
    call(data, "--target", "rich", "--quick")
    apply(data, decide(data, {0: "drop"}))
    expected = []
    for path in (*(folder / name for name in NAMES), Path("people-cleaned.csv")):
        its, holder = path.stat().st_ino, path.parent.stat().st_ino
        expected += [("brought", its), ("moved", its), ("brought", holder)]
    assert done == expected


def test_list_that_somebody_has_changed_is_never_replaced(data, tmp_path):
    data.write_text(TEXT + "x,1,no\ny,2,yes\n" * 20)
    call(data, "--target", "rich", "--quick", "--top", 3)
    listed = tmp_path / "people-audit/suspects.csv"
    text = listed.read_text("utf-8-sig")
    noted = "\n".join(f"{line},note" for line in text.splitlines())
    decided = text.replace(",yes,,", ",yes,drop,").encode("utf-16")
    for content in (noted.encode(), decided, text.replace("but", "and").encode()):
        listed.write_bytes(content)
        for options in ([], ["--force"]):
            said = call(data, "--target", "rich", "--quick", *options, code=2)
            assert "suspects.csv has changed since an audit wrote it; give" in said
            assert listed.read_bytes() == content
