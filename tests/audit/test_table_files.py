"""Tables in files: what is read of a CSV, and what its columns are."""

import csv
import gzip
import io

import numpy as np
import pytest

from splboost.audit.table_files import (
    FileError,
    as_column,
    labels_of,
    make_table,
    read_file,
)

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


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
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
        "a,label\r1,no\r2,yes\r",
        '"a","label"\n"1","no"\n"2","yes"\n',
        "\ufeff\r\na,label\r\n1,no\r\n2,yes",
        "  \na,label\n1,no\n \t \n2,yes\n   \n \t",
    ],
    ids=["CR", "quotes", "BOM and blank", "spaces"],
)
def test_however_lines_end(write, text):
    for name, content in (("a.csv", text), ("b.csv", gzip.compress(text.encode()))):
        file = write(content, name)  # compressed by content, whatever its name
        assert cells_of(file) == {"a": ["1", "2"], "label": ["no", "yes"]}
        assert file.text == text


@pytest.mark.parametrize("start", ["", "\ufeff\r\n"])
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
    for n_distinct, n_rows, kind in (
        (100, 1000, "category"),
        (101, 1000, "text"),
        (10, 20, "category"),
        (11, 20, "text"),
        (1, 1, "category"),
    ):
        cells = [f"v{row % n_distinct}" for row in range(n_rows)]
        assert as_column(cells).kind == kind


def test_what_stands_for_missing():
    marks = ["", " ", "?", "NA", "na", "n/a", "NaN", "NULL", "None", "<NA>"]
    column = as_column([*marks, "0", "-"])
    assert column.cells == [None] * len(marks) + ["0", "-"]
    column = as_column([*marks, "0", "7"])
    assert (column.kind, column.cells) == ("number", [None] * len(marks) + ["0", "7"])


def test_decimal_commas_with_semicolons(write):
    file = write("a;b;label\n1,5;2.5;no\n-0,25;3;yes\n;1e3;no\n")
    assert kinds_of(file)["a"] == "number"
    table = make_table(file, ["a", "b"])
    np.testing.assert_array_equal(table["a"], [1.5, -0.25, np.nan])
    np.testing.assert_array_equal(table["b"], [2.5, 3, 1000])
    file = write("a;label\n1;1,0\n2;1\n3;0,5\n")
    assert labels_of(file, "label") == ["1", "1", "0.5"]


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
        ("\n\n", "data.csv is empty; give a CSV whose first line has the names"),
        ("\ufeff", "data.csv is empty"),
        ("a,b,a\n1,2,3\n", "several columns called 'a'; give each its own name"),
        ("a,b\n1,2\n\n1,2,3\n", "line 4 has 3 fields for 2 columns. .* in quotes"),
        ('a,b\n1,2\n3,"x\n4,5\n', "quotes that never close, from line 3 on; close"),
        ('a,b\n1,"x""\n', "quotes that never close, from line 2 on"),
        ('a,"b\n1,2\n', "quotes that never close"),
        ('a,b\n1,"""\n', "quotes that never close"),
        ("sep=;\na;b\n", r"starts with a line for Excel \(sep=\); delete that line"),
        (
            b"a,b\n1,\xff\xfe\n",
            r"not UTF-8 text \(line 2\); give its --encoding, often cp1252, or save",
        ),
        (
            "a,b\n1,ä\n".encode("utf-16"),
            r"not UTF-8 text \(line 1\); give its --encoding utf-16, or",
        ),
        (b"a,b\n1,\x00\n", "is not a text: line 2 has a NUL byte; remove it, or"),
        (b"PAR1\x15\x04", "data.csv is a Parquet file; let its name end in .parquet"),
        (COMPRESSED[:10] + b"\xff" * 40, "cannot be read .* is it complete"),
    ],
)
def test_files_that_cannot_be_read(write, content, said):
    with pytest.raises(FileError, match=said):
        write(content)


def test_what_is_not_there(write, tmp_path):
    with pytest.raises(FileError, match=r"none\.csv does not exist; give the path of"):
        read_file(tmp_path / "none.csv")
    with pytest.raises(FileError, match="is a folder; give"):
        read_file(tmp_path)
    assert cells_of(write("a,b\n")) == {"a": [], "b": []}
    file = write("a,b\n1,2\n")
    with pytest.raises(FileError, match=r"'c', which --id names; .* 'a', 'b'"):
        file.column("c", "--id")
    with pytest.raises(FileError, match="no column 'c', which --categorical names"):
        write("a,b\n1,2\n", categorical=["c"])


# ------------------------------------------------------------------------------ labels


@pytest.mark.parametrize(
    "cells, labels",
    [
        (["Yes", "yes", " Yes"], ["Yes", "yes", "Yes"]),
        (["1", "1.0", "01", "+1", "1e0"], ["1"] * 5),
        (["0.5", ".5", "-2.0"], ["0.5", "0.5", "-2"]),
        (
            ["9007199254740993", "9007199254740992.0", "9007199254740993.0", "1e3"],
            ["9007199254740993", "9007199254740992", "9007199254740993", "1000"],
        ),
        (["100000000000000000001", "1e20"], ["100000000000000000001", "1e+20"]),
        (["1.0", "2", "x"], ["1.0", "2", "x"]),
        (["true", "?", "FALSE"], ["true", None, "FALSE"]),
    ],
)
def test_labels_in_one_spelling(write, cells, labels):
    file = write("label\n" + "\n".join(cells) + "\n")
    assert labels_of(file, "label") == labels


ROWS = [f"p{k},{k},x{k},yes" for k in range(9)]


def swallowed(first, last, end="\n"):
    """Rows with a quote too many in each of two."""
    lines = ["id,age,home,rich", *ROWS]
    lines[first[0]] = lines[first[0]].replace(first[1], f'"{first[1]}')
    lines[last[0]] = lines[last[0]].replace(last[1], f'{last[1]}"')
    return end.join([*lines, ""])


@pytest.mark.parametrize(
    "text, lines",
    [
        (swallowed((4, "yes"), (7, "yes")), "line 5 to line 8"),
        (swallowed((4, "yes"), (5, "yes"), "\r\n"), "line 5 to line 6"),
        (swallowed((4, "p3"), (5, "p4"), "\r"), "line 5 to line 6"),
        (swallowed((4, "x3"), (5, "x4")), "line 5 to line 6"),
        (swallowed((4, "x3"), (9, "x8")).replace("p2", '"p\n2"'), "line 6 to line 11"),
        (swallowed((4, "yes"), (7, "yes")).replace(",", ";"), "line 5 to line 8"),
        (swallowed((4, "yes"), (7, "yes")).replace("p5", "\n p5"), "line 5 to line 9"),
    ],
)
def test_cells_that_have_taken_in_rows(tmp_path, text, lines):
    path = tmp_path / "data.csv"
    path.write_text(text, newline="")
    with pytest.raises(FileError, match=rf"data\.csv: a cell in quotes .*{lines}, and"):
        read_file(path)
    assert read_file(path, force=True).n_rows < 9


def test_cells_of_several_lines_that_hold_no_rows(write):
    notes = ['"a,\nb"', '"a,b,c,d,e\n\n,"', '"\n"', '"a\nb, c\n"', "d"]
    for place in range(4):
        lines = [ROWS[k].split(",") for k in range(5)]
        for line, note in zip(lines, notes, strict=True):
            line[place] = note
        text = "\n".join(",".join(line) for line in lines)
        assert write(f"id,age,home,rich\n{text}\n").n_rows == 5
    assert write('a,b\n1,"x\n2,y"\n').n_rows == 1  # two columns tell nothing
