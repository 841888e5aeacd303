"""Decisions of a review: how they are read, and what becomes of a file."""

import csv
import gzip
import io
import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review_page import CSV_FILES, put_right
from splboost.audit.cleaning import change_csv, write_cleaned
from splboost.audit.decisions import Decision, locate_decisions, read_decisions
from splboost.audit.table_files import (
    FileError,
    find_separator,
    labels_of,
    read_file,
    read_records,
)


@pytest.fixture
def write(tmp_path):
    """Writes a file and reads it as the audit does."""

    def write_and_read(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_file(path)

    return write_and_read


# ---------------------------------------------------------------------- changes of CSV

CELLS = st.one_of(
    st.sampled_from(["", "no", "yes", '"', '""', ",", ";", "\n", "\r\n", "\r", " x "]),
    st.text(st.sampled_from('ab "",;\t|\r\né👍'), max_size=6),
)


@st.composite
def written_tables(draw):
    """A table, its CSV as Python writes it, and changes of one column."""
    n_columns, n_rows = draw(st.integers(2, 4)), draw(st.integers(0, 6))
    table = [[draw(CELLS) for _ in range(n_columns)] for _ in range(n_rows + 1)]
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    # Python may leave a single carriage return without quotes.
    all_quoted = draw(st.booleans()) or any(
        "\r" in cell for row in table for cell in row
    )
    stream = io.StringIO()
    writer = csv.writer(
        stream,
        delimiter=separator,
        lineterminator=draw(st.sampled_from(["\n", "\r\n"])),
        quoting=csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL,
    )
    writer.writerows(table)
    changes = draw(
        st.dictionaries(st.integers(0, max(n_rows - 1, 0)), CELLS | st.none())
    )
    position = draw(st.integers(0, n_columns - 1))
    return table, stream.getvalue(), separator, position, changes


@settings(max_examples=150)
@given(written_tables(), st.booleans())
def test_changed_rows_read_as_they_should_and_others_stay(written, mark):
    table, text, separator, position, changes = written
    records = [each.text for each in read_records(text, separator)]
    assert "".join(records) == text and len(records) == len(table)
    text = "\ufeff" * mark + text
    assert change_csv(text, separator, position, {}) == text
    changed = change_csv(text, separator, position, changes)
    expected, kept = [table[0]], [-1]
    for row, cells in enumerate(table[1:]):
        value = changes.get(row, cells[position])
        if value is not None:
            expected.append([*cells[:position], value, *cells[position + 1 :]])
            kept.append(row)
    assert changed.startswith("\ufeff") == mark
    changed = changed.removeprefix("\ufeff")
    stream = io.StringIO(changed, newline="")
    assert list(csv.reader(stream, delimiter=separator)) == expected
    found = [each.text for each in read_records(changed, separator)]
    for row, record in zip(kept, found, strict=True):
        if row not in changes:
            assert record == records[row + 1]


@pytest.mark.parametrize(
    "value, written",
    [
        ("x y", "x y"),
        ("yes ", '"yes "'),
        (" yes", '" yes"'),
        ("a;b", "a;b"),
        ("a,b", '"a,b"'),
        ('a"b', '"a""b"'),
        ("a\rb", '"a\rb"'),
    ],
)
def test_fields_are_in_quotes_where_they_need_or_had_them(value, written):
    source = 'x,label\r\n"1,\n",no\r\n"2","no"\r\n'
    changed = change_csv(source, ",", 1, {0: value, 1: value})
    quoted = '"' + value.replace('"', '""') + '"'
    assert changed == f'x,label\r\n"1,\n",{written}\r\n"2",{quoted}\r\n'


@pytest.mark.parametrize("kind", CSV_FILES)
def test_changes_as_the_review_page_makes_them(write, tmp_path, kind):
    """The same examples as for the page: flip the first row, drop the third."""
    source, expected = CSV_FILES[kind]
    separator = find_separator(source)
    records = read_records(source.removeprefix("\ufeff"), separator)
    names = next(each.fields for each in records if each.fields)
    other = " Yes" if kind == "own spelling" else "yes"
    changes = {0: other, 2: None}
    position = names.index("label")
    assert change_csv(source, separator, position, changes) == expected

    file = write(source)
    labels = labels_of(file, "label")
    decisions = [
        Decision(0, labels[0], "flip", labels[1]),
        Decision(1, labels[1], "keep", None),
        Decision(2, labels[2], "drop", None),
    ]
    put_right(file, "label", decisions, tmp_path / "cleaned.csv")
    assert (tmp_path / "cleaned.csv").read_bytes() == expected.encode()


def test_cleaned_file_is_compressed_by_its_name(write, tmp_path):
    """Labels are spelled as in the file."""
    text = "a;label\r\n1;1,0\r\n2;2,0\r\n3;1\r\n"
    file = write(gzip.compress(text.encode()), "data.csv.gz")
    decisions = [Decision(1, "2", "flip", "1"), Decision(2, "1", "drop")]
    for name in ("out.csv.gz", "out.csv"):
        put_right(file, "label", decisions, tmp_path / name)
        content = (tmp_path / name).read_bytes()
        if name.endswith("gz"):
            content = gzip.decompress(content)
        assert content == b"a;label\r\n1;1,0\r\n2;1,0\r\n"


def test_kind_of_file_is_kept(write, tmp_path):
    file = write("a,label\n1,no\n2,yes\n")
    with pytest.raises(FileError, match=r"data\.csv is CSV, and .*out\.parquet"):
        write_cleaned(file, "label", {}, tmp_path / "out.parquet")
    pd.DataFrame({"label": ["a", "b"]}).to_parquet(tmp_path / "data.parquet")
    file = read_file(tmp_path / "data.parquet")
    with pytest.raises(FileError, match=r"data\.parquet is Parquet, and .*out\.csv"):
        write_cleaned(file, "label", {}, tmp_path / "out.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "data.parquet"}


# --------------------------------------------------------------------------- decisions

HEAD = "row,id,given,decision,new_label\n"
LINES = [
    Decision(3, "no", "flip", "yes", "A-3"),
    Decision(0, "a,b", "keep"),
    Decision(12, "yes", "drop", id="A 12"),
]


@pytest.fixture
def decide(tmp_path):
    def write_and_read(*contents):
        paths = []
        for number, content in enumerate(contents):
            paths.append(tmp_path / f"decisions{number}")
            content = content if isinstance(content, bytes) else content.encode()
            paths[-1].write_bytes(content)
        return read_decisions(paths)

    return write_and_read


CSV = HEAD + '3,A-3,no,flip,yes\n0,,"a,b",keep,\n12,A 12,yes,drop,\n'
JSON = {
    "name": "people.csv",
    "decisions": [
        {"row": 3, "id": "A-3", "given": "no", "decision": "flip", "new_label": "yes"},
        {"row": 0, "id": None, "given": "a,b", "decision": "keep", "new_label": None},
        {"row": 12, "id": "A 12", "given": "yes", "decision": "drop"},
    ],
}


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff" + CSV.replace("\n", "\r\n"),
        CSV.replace("a,b", "a;b").replace(",", ";").replace("a;b", "a,b"),
        gzip.compress(CSV.encode(), mtime=0),
        "\ufeff\n " + json.dumps(JSON, indent=2),
        CSV + "4,,no,,yes\n5,,no,,\n\n",
        "decision,row,new_label,id,given\nflip,3,yes,A-3,no\n"
        'keep,0,,,"a,b"\ndrop,12,,A 12,yes\n',
    ],
    ids=["CRLF", "semicolons", "gz", "JSON", "open", "order"],
)
def test_decisions_are_read(decide, content):
    assert decide(content) == LINES


def test_decisions_of_several_files(decide):
    first, second = HEAD + "3,,no,flip,yes\n", HEAD + "4,,no,drop,\n"
    assert [each.row for each in decide(first, second)] == [3, 4]
    with pytest.raises(
        FileError, match="decisions1, line 2: row 3 already has a decision"
    ):
        decide(first, first)
    with pytest.raises(FileError, match="row 3 already has a decision"):
        decide(first + "3,,no,flip,yes\n")
    assert decide() == []


@pytest.mark.parametrize(
    "content, said",
    [
        (" \n", "is empty; save the decisions again"),
        ("row\n1\n", "no column 'id'; decisions have the columns row, id, given"),
        ("row,id,given,decision\n1,,no,drop\n", "no column 'new_label'"),
        ("{", "not valid JSON"),
        ('{"decisions": ' + "[" * 100_000, r"JSON \(nested too deeply\)"),
        ("{}", "has no list of decisions"),
        ('{"decisions": [3]}', "has no list of decisions"),
        (HEAD + "1,,no,burn,\n", "line 2: decision 'burn' is unknown; write keep"),
        (HEAD + "0,,no,keep,\n1,,no,flip,\n", "line 3: new_label is empty, and"),
        (HEAD + "x,,no,drop,\n", "line 2: row 'x' is not a whole number"),
        ('{"decisions": [{"row": 1.5, "decision": "drop"}]}', "row 1.5 is not a whole"),
        (
            '{"decisions": [{"decision": ""}, {"row": true, "decision": "drop"}]}',
            "decision 2: row True is not a text or a number",
        ),
        ('{"decisions": [{"decision": "drop"}]}', "row None is not a whole number"),
        *(
            (
                json.dumps({"decisions": [{"row": 1, "decision": kind}]}),
                f"decision {kind}",
            )
            for kind in (False, 0)
        ),
        ('{"decisions": [{"decision": []}]}', r"1: decision \[\] is not a text; write"),
        (
            '{"decisions": [{"row": 1, "decision": "flip", "new_label": ["yes"]}]}',
            r"new_label \['yes'\] is not a text or a number; write one, or save",
        ),
        ('{"format": true, "decisions": [{"decision": ""}]}', "format True is not a"),
        ("sep=,\n" + HEAD, r"a line for Excel \(sep=\); delete that line"),
        (b"PK\x03\x04\x14\x00", r"is an Excel workbook .* save the sheet as CSV UTF-8"),
        (b"PAR1\x15\x04\x80", "is not UTF-8 text .*; save it as CSV in UTF-8"),
        ("row,id,given,décision\n".encode("cp1252"), r"\(line 1\); save it as CSV in"),
        (HEAD + "\n1,,no,drop\n", "line 3 has 4 fields for 5 columns. Correct that"),
        (
            HEAD + '1,"\n",no,drop,\n',
            "line 2: the field .* holds the lines after it",
        ),
        (HEAD + '1,,no,keep,\n2,"\n', "line 3: .*: quotes do not close, or are"),
        (b"a\n\x00", "is not a text: line 2 has a NUL byte; remove it, or"),
    ],
)
def test_other_files_are_no_decisions(decide, content, said):
    with pytest.raises(FileError, match=f"decisions0.*{said}"):
        decide(content)


def test_file_that_should_be_json_is_read_as_json(tmp_path):
    path = tmp_path / "decisions.json"
    for text, said in (("[]", "has no list of decisions"), ("row", "not valid JSON")):
        path.write_text(text)
        with pytest.raises(FileError, match=said):
            read_decisions([path])
    with pytest.raises(FileError, match="is a folder; save the decisions on the rev"):
        read_decisions([tmp_path])


@pytest.mark.parametrize(
    "decision, said",
    [
        (Decision(2, "no", "drop"), "does not have row 2, .* file that was audited"),
        (Decision(-1, "no", "drop"), "does not have row -1"),
        (Decision(1, "no", "drop"), "Row 1 of .* 'yes', but was labelled 'no' when"),
        (
            Decision(0, "no", "flip", "yse"),
            "'yse', a label that .* are 'no', 'yes'",
        ),
    ],
)
def test_decisions_on_other_data_are_refused(write, decision, said):
    file = write("a,label\n1,no\n2,yes\n")
    with pytest.raises(FileError, match=r"has no digest of .* --force to find rows by"):
        locate_decisions([decision], file, "label")
    with pytest.raises(FileError, match=said):
        locate_decisions([decision], file, "label", force=True)
