"""Files of the audit: reading them, decisions on them, and writing them again."""

import csv
import gc
import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review_page import put_right
from splboost.audit.cleaning import write_cleaned
from splboost.audit.decisions import locate_decisions
from splboost.audit.table_files import (
    change_rows,
    find_separator,
    is_open,
    read_fields,
    read_records,
    write_field,
)
from splboost.audit.decisions import Decision, read_decisions
from splboost.audit.table_files import (
    Column,
    FileError,
    TableFile,
    as_column,
    find_odd_cell,
    labels_of,
    make_table,
    numbers_of,
    read_file,
)
from splboost.audit.plan import _is_constant
from test_audit_page_csv import CSV_FILES

SEPARATORS = [",", ";", "\t", "|"]
COMPRESSED = gzip.compress(b"a,b\n" * 99, mtime=0)


@pytest.fixture
def write(tmp_path):
    """Writes a file and reads it as the audit does."""

    def write_and_read(content, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_file(path, **options)

    return write_and_read


def cells_of(file):
    return {name: column.cells for name, column in file.columns.items()}


def kinds_of(file):
    return {name: column.kind for name, column in file.columns.items()}


# ------------------------------------------------------------------------- reading CSV


@pytest.mark.parametrize("separator", SEPARATORS)
def test_separators_are_found(write, separator):
    text = "a,b;c,label\n1,x y,no\n2,z,yes\n".replace(",", separator)
    if separator == ";":
        text = text.replace("b;c", "b,c")
    file = write(text)
    assert file.separator == separator
    assert file.n_rows == 2
    assert list(file.columns)[-1] == "label"
    assert cells_of(file)["label"] == ["no", "yes"]
    assert file.text == text


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa,label\n1,no\n2,yes\n",
        "a,label\r\n1,no\r\n2,yes\r\n",
        "a,label\r1,no\r2,yes\r",
        "a,label\n1,no\n2,yes",
        "\n\na,label\n\n1,no\n\r\n2,yes\n\n\n",
        '"a","label"\n"1","no"\n"2","yes"\n',
        "\ufeff\r\na,label\r\n1,no\r\n2,yes",
        "  \na,label\n1,no\n \t \n2,yes\n   \n \t",
    ],
    ids=["BOM", "CRLF", "CR", "end", "blank", "quotes", "BOM and blank", "spaces"],
)
def test_however_lines_end(write, text):
    file = write(text)
    assert cells_of(file) == {"a": ["1", "2"], "label": ["no", "yes"]}
    assert file.text == text


@pytest.mark.parametrize("start", ["", "\n\n", "\ufeff", "\ufeff\r\n"])
def test_names_tell_the_separator(write, start):
    for name in ("a", '"a,b,c"'):
        file = write(f"{start}{name};label\n1;no\n")
        assert list(file.columns) == [name.strip('"'), "label"]


def test_fields_with_separators_quotes_and_lines(write):
    text = 'a,"b ""c"", d",label\n"x,\n\r\ny","""",no\n5",,"yes, sir"\n'
    assert cells_of(write(text)) == {
        "a": ["x,\n\r\ny", '5"'],
        'b "c", d': ['"', None],
        "label": ["no", "yes, sir"],
    }


def test_compressed(write):
    text = "a,label\n1,no\n2,yes\n"
    for name in ("data.csv.gz", "data.csv"):  # by content, whatever its name
        file = write(gzip.compress(text.encode()), name)
        assert file.text == text
        assert file.n_rows == 2


def test_kinds_of_columns(write):
    n = 30
    columns = {
        "whole": [str(row) for row in range(n)],
        "decimal": [f"{row / 7:.3e}" for row in range(n)],
        "blanks": [f" {row} " for row in range(n)],
        "holes": ["?" if row % 3 else str(row) for row in range(n)],
        "nothing": [""] * n,
        "colour": [["red", "blue", ""][row % 3] for row in range(n)],
        "flag": [["True", "false"][row % 2] for row in range(n)],
        "text": [f"name {row}" for row in range(n)],
        "day": [f"2024-01-{row + 1:02}" for row in range(n)],
        "month": [f"2024-0{row % 3 + 1}" for row in range(n)],
        "infinite": [["inf", "1", "2"][row % 3] for row in range(n)],
        "grouped": [["1_000", "2_000"][row % 2] for row in range(n)],
        "thousands": [["1 000", "2 000"][row % 2] for row in range(n)],
        "comma": [["1,5", "2,5"][row % 2] for row in range(n)],
    }
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    file = write(stream.getvalue())
    numbers = {"whole", "decimal", "blanks", "holes", "nothing"}
    texts = {"text", "day"}
    for name, kind in kinds_of(file).items():
        expected = "number" if name in numbers else "text" if name in texts else None
        assert kind == (expected or "category"), name
    forced = write(stream.getvalue(), categorical=["whole", "text"])
    assert kinds_of(forced)["whole"] == kinds_of(forced)["text"] == "category"


def test_categories_are_few(write):
    def kind(n_distinct, n_rows):
        return as_column("a", [f"v{row % n_distinct}" for row in range(n_rows)]).kind

    assert kind(100, 1000) == "category"
    assert kind(101, 1000) == "text"
    assert kind(10, 20) == "category"
    assert kind(11, 20) == "text"
    assert kind(1, 1) == "category"


def test_what_stands_for_missing():
    marks = [
        "",
        " ",
        "?",
        "NA",
        "na",
        "n/a",
        "N/A",
        "NaN",
        "nan",
        "NULL",
        "None",
        "<NA>",
    ]
    column = as_column("a", [*marks, "0", "-"])
    assert column.cells == [None] * len(marks) + ["0", "-"]
    numbers = numbers_of(as_column("a", [*marks, "0", "7"]))
    assert np.isnan(numbers[: len(marks)]).all()
    assert numbers[-2:].tolist() == [0, 7]


def test_decimal_commas_with_semicolons(write):
    file = write("a;b;label\n1,5;2.5;no\n-0,25;3;yes\n;1e3;no\n")
    assert kinds_of(file)["a"] == "number"
    numbers = numbers_of(file.columns["a"], file.separator)
    np.testing.assert_array_equal(numbers, [1.5, -0.25, np.nan])
    table = make_table(file, ["a", "b"])
    np.testing.assert_array_equal(table["a"], [1.5, -0.25, np.nan])
    np.testing.assert_array_equal(table["b"], [2.5, 3, 1000])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_table_of_some_columns(write, installed, library):
    installed.intersection_update({library})
    file = write("a,b,c\n1,x,4\n,y,5\n3,,6\n")
    table = make_table(file, ["b", "a"])
    assert type(table).__module__.startswith(library)
    assert list(table.columns) == ["b", "a"]
    assert "cat" in str(table["b"].dtype).lower()
    values = [None if cell != cell else cell for cell in table["b"].to_list()]
    assert values == ["x", "y", None]
    np.testing.assert_array_equal(table["a"].to_numpy(), [1, np.nan, 3])


def test_tables_need_a_library(write, installed, tmp_path):
    file = write("a,label\n1,no\n")
    (tmp_path / "some.parquet").write_bytes(b"PAR1")
    installed.clear()
    with pytest.raises(ImportError, match="needs pandas or polars"):
        make_table(file, ["a"])
    with pytest.raises(ImportError, match=r"some\.parquet needs pyarrow or polars"):
        read_file(tmp_path / "some.parquet")


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "data.csv is empty; give a CSV whose first line has the names"),
        ("\n\n", "data.csv is empty"),
        ("\ufeff", "data.csv is empty"),
        ("a,b,a\n1,2,3\n", "several columns called 'a'; give each its own name"),
        ("a,b\n1,2\n\n1,2,3\n", "2 columns, but row 1 has 3 fields; .* ',' in quotes"),
        ("a;b\n1;2\n3\n", "2 columns, but row 1 has 1 fields; mend that row"),
        ('a,b\n1,2\n3,"x\n4,5\n', "quotes that never close, in row 1; close them"),
        ('a,b\n1,"x""\n', "quotes that never close, in row 0"),
        ('a,"b\n1,2\n', "quotes that never close"),
        (
            b"a,b\n1,\xff\xfe\n",
            r"not UTF-8 text \(line 2\); give its --encoding, often cp1252, or save",
        ),
        ("a,b\n1,ä\n".encode("latin-1"), r"not UTF-8 text \(line 2\)"),
        (
            "a,b\n1,ä\n".encode("utf-16"),
            r"not UTF-8 text \(line 1\); give its --encoding utf-16, or",
        ),
        (b"a,b\n1,\x00\n", "is no text; give a CSV or Parquet file"),
        (b"PAR1\x15\x04", "data.csv is a Parquet file; let its name end in .parquet"),
        (COMPRESSED[:-9], "cannot be read .* is it complete"),
        (COMPRESSED[:10] + b"\xff" * 40, "cannot be read .* is it complete"),
    ],
)
def test_files_that_cannot_be_read(write, content, said):
    with pytest.raises(FileError, match=said):
        write(content)


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(
        FileError, match=r"none\.csv is not there; give the path of a CSV"
    ):
        read_file(tmp_path / "none.csv")
    with pytest.raises(FileError, match="is a folder; give"):
        read_file(tmp_path)


def test_columns_that_are_not_there(write):
    file = write("a,b\n1,2\n")
    with pytest.raises(FileError, match=r"'c', which --id names; .* 'a', 'b'"):
        file.column("c", "--id")
    with pytest.raises(FileError, match="no column 'c', which --categorical names"):
        write("a,b\n1,2\n", categorical=["c"])


def test_header_without_rows(write):
    file = write("a,b\n")
    assert file.n_rows == 0
    assert cells_of(file) == {"a": [], "b": []}


# ------------------------------------------------------------------------------ labels


@pytest.mark.parametrize(
    "cells, labels",
    [
        (["no", " yes ", "no "], ["no", "yes", "no"]),
        (["Yes", "yes", " Yes"], ["Yes", "yes", "Yes"]),
        (["1", "1.0", "01", "+1", "1e0"], ["1"] * 5),
        (["0.5", ".5", "-2.0"], ["0.5", "0.5", "-2"]),
        (
            ["9007199254740993", "9007199254740992.0", "9007199254740993.0", "1e3"],
            ["9007199254740993", "9007199254740992", "9007199254740993", "1000"],
        ),
        (["100000000000000000001", "1e20"], ["100000000000000000001", "1e+20"]),
        (["1", "2", "x"], ["1", "2", "x"]),
        (["1.0", "2", "x"], ["1.0", "2", "x"]),
        (["true", "FALSE"], ["true", "FALSE"]),
    ],
)
def test_labels_in_one_spelling(write, cells, labels):
    file = write("label\n" + "\n".join(cells) + "\n")
    assert labels_of(file, "label") == labels


def test_labels_with_decimal_commas(write):
    file = write("a;label\n1;1,0\n2;1\n3;0,5\n")
    assert labels_of(file, "label") == ["1", "1", "0.5"]


@pytest.mark.parametrize("missing", ["", "?", "None", "NA"])
def test_labels_that_lack(write, missing):
    file = write(f"a,label\n1,no\n2,{missing}\n3,{missing}\n")
    assert labels_of(file, "label") == ["no", None, None]


# ---------------------------------------------------------------------- changes of CSV

CELLS = st.one_of(
    st.sampled_from(["", "no", "yes", '"', '""', ",", ";", "\n", "\r\n", "\r", " x "]),
    st.text(st.sampled_from('ab "",;\t|\r\né👍'), max_size=6),
)


@st.composite
def written_tables(draw):
    """A table, its CSV as Python writes it, and changes of one column."""
    n_columns = draw(st.integers(2, 4))
    n_rows = draw(st.integers(0, 6))
    table = [[draw(CELLS) for _ in range(n_columns)] for _ in range(n_rows + 1)]
    separator = draw(st.sampled_from(SEPARATORS))
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


@settings(max_examples=150, deadline=None)
@given(written_tables(), st.booleans())
def test_changed_rows_read_as_they_should(written, mark):
    table, text, separator, position, changes = written
    text = "\ufeff" * mark + text
    changed = change_rows(text, separator, position, changes)
    expected = [table[0]]
    for row, cells in enumerate(table[1:]):
        value = changes.get(row, cells[position])
        if value is not None:
            expected.append([*cells[:position], value, *cells[position + 1 :]])
    assert changed.startswith("\ufeff") == mark
    stream = io.StringIO(changed.removeprefix("\ufeff"), newline="")
    assert list(csv.reader(stream, delimiter=separator)) == expected


@settings(max_examples=150, deadline=None)
@given(written_tables())
def test_all_else_stays_byte_for_byte(written):
    table, text, separator, position, changes = written
    records = [record.text for record in read_records(text, separator)]
    assert "".join(records) == text
    assert len(records) == len(table)
    assert change_rows(text, separator, position, {}) == text
    changed = list(
        read_records(change_rows(text, separator, position, changes), separator)
    )
    kept = [row for row in range(len(table) - 1) if changes.get(row, "") is not None]
    for row, record in zip([-1, *kept], changed, strict=True):
        if row not in changes:
            assert record.text == records[row + 1]
            continue
        before, after = (
            next(csv.reader(io.StringIO(each, newline=""), delimiter=separator))
            for each in (records[row + 1], record.text)
        )
        written = write_field(
            changes[row],
            separator,
            quoted=field_text(records[row + 1], separator, position).startswith('"'),
        )
        assert field_text(record.text, separator, position) == written
        assert before[:position] == after[:position]
        assert before[position + 1 :] == after[position + 1 :]
        ends = [
            each[len(each.rstrip("\r\n")) :] for each in (records[row + 1], record.text)
        ]
        if position < len(before) - 1:
            assert ends[0] == ends[1]


def field_text(text, separator, position):
    """A field as it stands in a record, quotes and all: character by character."""
    fields, quoted, at_start = [""], False, True
    for character in text:
        if character == '"' and (quoted or at_start):
            quoted = not quoted
        elif character == '"' and fields[-1].startswith('"') and not quoted:
            quoted = True  # the second of a doubled one
        if not quoted and character in (separator, "\r", "\n"):
            if character != separator:
                break
            fields.append("")
            at_start = True
            continue
        fields[-1] += character
        at_start = False
    return fields[position]


@settings(max_examples=100, deadline=None)
@given(written_tables())
def test_quotes_that_close_are_seen_to(written):
    _, text, separator, _, _ = written
    assert not any(
        is_open(record.text, separator) for record in read_records(text, separator)
    )


@pytest.mark.parametrize(
    "value, written",
    [
        ("x y", "x y"),
        ("", ""),
        ("yes ", '"yes "'),
        (" yes", '" yes"'),
        ("a;b", "a;b"),
        ("a,b", '"a,b"'),
        ('a"b', '"a""b"'),
        ("a\rb", '"a\rb"'),
    ],
)
def test_fields_are_in_quotes_where_they_need_them(value, written):
    assert write_field(value, ",") == written
    assert write_field(value, ",", quoted=True) == '"' + value.replace('"', '""') + '"'


@pytest.mark.parametrize("text", ['"a', 'a,"b\nc', '"a"",b', '"a","', '"""'])
def test_quotes_that_never_close(text):
    assert is_open(text, ",")
    assert not is_open(text + '"', ",")


@pytest.mark.parametrize("kind", CSV_FILES)
def test_changes_as_the_review_page_makes_them(write, tmp_path, kind):
    """The same examples as for the page: flip the first row, drop the third."""
    source, expected = CSV_FILES[kind]
    separator = find_separator(source)
    names = next(
        r.fields
        for r in read_records(source.removeprefix("\ufeff"), separator)
        if r.fields
    )
    other = " Yes" if kind == "own spelling" else "yes"
    changes = {0: other, 2: None}
    assert change_rows(source, separator, names.index("label"), changes) == expected

    file = write(source)
    labels = labels_of(file, "label")
    decisions = [
        Decision(0, labels[0], "flip", labels[1]),
        Decision(1, labels[1], "keep", None),
        Decision(2, labels[2], "drop", None),
    ]
    put_right(file, "label", decisions, tmp_path / "cleaned.csv")
    assert (tmp_path / "cleaned.csv").read_bytes() == expected.encode()


def test_labels_are_spelled_as_in_the_file(write, tmp_path):
    file = write("a;label\n1;1,0\n2;2,0\n3;1\n")
    decisions = [Decision(1, "2", "flip", "1"), Decision(2, "1", "flip", "2")]
    put_right(file, "label", decisions, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a;label\n1;1,0\n2;1,0\n3;2,0\n"


def test_cleaned_file_is_compressed_by_its_name(write, tmp_path):
    text = "a,label\r\n1,no\r\n2,yes\r\n"
    file = write(gzip.compress(text.encode()), "data.csv.gz")
    decisions = [Decision(0, "no", "drop", None)]
    for name in ("out.csv.gz", "out.csv"):
        put_right(file, "label", decisions, tmp_path / name)
        content = (tmp_path / name).read_bytes()
        if name.endswith("gz"):
            content = gzip.decompress(content)
        assert content == b"a,label\r\n2,yes\r\n"


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
        {
            "row": 12,
            "id": "A 12",
            "given": "yes",
            "decision": "drop",
            "new_label": None,
        },
    ],
}


@pytest.mark.parametrize(
    "content",
    [
        CSV,
        CSV.replace("\n", "\r\n"),
        "\ufeff" + CSV,
        CSV.replace("a,b", "a;b").replace(",", ";").replace("a;b", "a,b"),
        gzip.compress(CSV.encode(), mtime=0),
        json.dumps(JSON),
        "\ufeff\n " + json.dumps(JSON, indent=2),
        CSV + "4,,no,,yes\n5,,no,,\n\n",
        "decision,row,new_label,id,given\nflip,3,yes,A-3,no\n"
        'keep,0,,,"a,b"\ndrop,12,,A 12,yes\n',
    ],
    ids=[
        "CSV",
        "CRLF",
        "BOM",
        "semicolons",
        "gz",
        "JSON",
        "more JSON",
        "open",
        "order",
    ],
)
def test_decisions_are_read(decide, content):
    assert decide(content) == LINES


def test_decisions_of_several_files(decide):
    first, second = HEAD + "3,,no,flip,yes\n", HEAD + "4,,no,drop,\n"
    assert [each.row for each in decide(first, second)] == [3, 4]
    with pytest.raises(FileError, match="decisions1: row 3 has been decided on before"):
        decide(first, first)
    with pytest.raises(FileError, match="row 3 has been decided on before"):
        decide(first + "3,,no,flip,yes\n")
    assert decide() == []


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "no column 'row'; decisions have the columns row, id, given"),
        ("a,b\n1,2\n", "no column 'row'"),
        ("row,id,given,decision\n1,,no,drop\n", "no column 'new_label'"),
        ("{", "no readable JSON"),
        ("{}", "has no list of decisions"),
        ('{"decisions": [3]}', "has no list of decisions"),
        ('{"decisions": {"row": 3}}', "has no list of decisions"),
        (
            HEAD + "1,,no,burn,\n",
            "line 1 of the decisions: decision 'burn' is none of keep",
        ),
        (
            HEAD + "0,,no,keep,\n1,,no,flip,\n",
            "line 2 of the decisions: new_label '' is none, and a flip",
        ),
        (HEAD + "x,,no,drop,\n", "line 1 of the decisions: row 'x' is no whole number"),
        (HEAD + "1.5,,no,drop,\n", "row '1.5' is no whole number"),
        (
            '{"decisions": [{"row": 1.5, "decision": "drop"}]}',
            "row 1.5 is no whole number",
        ),
        (
            '{"decisions": [{"row": true, "decision": "drop"}]}',
            "row True is no whole number",
        ),
        ('{"decisions": [{"decision": "drop"}]}', "row None is no whole number"),
        (b"\xff\xfe", "not UTF-8"),
        (b"a\x00", "is no text"),
    ],
)
def test_other_files_are_no_decisions(decide, content, said):
    with pytest.raises(FileError, match=f"decisions0.*{said}"):
        decide(content)


def test_decisions_that_are_not_there(tmp_path):
    with pytest.raises(
        FileError, match="is not there; save the decisions on the review"
    ):
        read_decisions([tmp_path / "decisions.csv"])


@pytest.mark.parametrize(
    "decision, said",
    [
        (
            Decision(2, "no", "drop"),
            "does not have row 2, .* the file that was audited",
        ),
        (Decision(-1, "no", "drop"), "does not have row -1"),
        (Decision(1, "no", "drop"), "Row 1 of .* 'yes', and was 'no' when"),
        (Decision(0, "no", "flip", "yse"), "'yse', which no row has; .* 'no', 'yes'"),
    ],
)
def test_decisions_on_other_data_are_refused(write, decision, said):
    file = write("a,label\n1,no\n2,yes\n")
    with pytest.raises(FileError, match=r"has no digest of .* --force to go by"):
        locate_decisions([decision], file, "label")
    with pytest.raises(FileError, match=said):
        locate_decisions([decision], file, "label", force=True)


def test_kind_of_file_is_kept(write, tmp_path):
    file = write("a,label\n1,no\n2,yes\n")
    with pytest.raises(FileError, match=r"data\.csv is CSV, and .*out\.parquet is no"):
        write_cleaned(file, "label", {}, tmp_path / "out.parquet")
    pd.DataFrame({"label": ["a", "b"]}).to_parquet(tmp_path / "data.parquet")
    file = read_file(tmp_path / "data.parquet")
    with pytest.raises(FileError, match=r"data\.parquet is Parquet, and .*out\.csv"):
        write_cleaned(file, "label", {}, tmp_path / "out.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "data.parquet"}


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.sampled_from('ab,;" \r\n\x0b\u2028é'), max_size=40),
    st.sampled_from(",;"),
)
def test_fields_are_those_of_the_records(text, separator):
    """However they were read, and with the collector of garbage as it was."""
    records = list(read_records(text, separator))
    fields, last = read_fields(text, separator)
    assert fields == [each.fields for each in records if each.fields]
    n_after = next((k for k, each in enumerate(records[::-1]) if each.fields), None)
    kept = records if n_after is None else records[len(records) - n_after - 1 :]
    assert last == "".join(each.text for each in kept)
    assert gc.isenabled()


def test_column_that_is_the_same_in_all_rows():
    assert all(map(_is_constant, ([], [None], ["a", "a"], [None, None])))
    assert not any(map(_is_constant, (["a", None, "a"], [None, "b"], ["a", "b"])))


@pytest.mark.parametrize(
    "cells, odd",
    [
        (["1", "2", None] * 10 + ["n.a.", "4", "n.a."], (30, "n.a.")),
        (["1.5"] * 40 + ["inf"], (40, "inf")),
        (["1"] * 40 + ["1_000"], (40, "1_000")),
        (["1", "x"] * 20, None),
        (["1", None] * 20, None),
    ],
)
def test_odd_cell_in_a_column_of_numbers(cells, odd):
    assert find_odd_cell(Column("a", "text", cells)) == odd
    decimal = [cell and cell.replace(".5", ",5") for cell in cells]
    assert find_odd_cell(Column("a", "text", decimal), ";") == odd


def test_infinite_number_is_named_by_file_row_and_column(tmp_path):
    column = Column("a", "number", ["1", None, "-inf"])
    file = TableFile(tmp_path / "some.parquet", {"a": column}, 3)
    said = r"some\.parquet, row 2, column 'a': '-inf' is no number.*--ignore"
    with pytest.raises(FileError, match=said):
        make_table(file, ["a"])
