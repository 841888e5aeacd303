"""Parquet files of the audit: what is read, and what stays as it was."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from splboost.audit.cleaning import change_parquet
from splboost.audit.table_files import (
    FileError,
    labels_of,
    make_table,
    read_file,
)


def parquet_frame():
    return pd.DataFrame(
        {
            "number": [1.5, np.nan, -2.0, 1e20],
            "whole": pd.array([1, 2, None, 4], dtype="Int64"),
            "text": ["a", "b", None, "a"],
            "digits": ["1", "2", "1", "2"],
            "flag": [True, False, True, False],
            "maybe": pd.array([True, None, True, False], dtype="boolean"),
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-04"]),
            "kind": pd.Categorical(["x", "y", "x", None]),
            "list": [[1, 2], [3], None, []],
            "label": ["no", "yes", "no", "yes"],
        },
        index=[3, 3, 7, 9],
    )


LIBRARIES = pytest.mark.parametrize("library", ["pyarrow", "polars"])


@LIBRARIES
def test_parquet(installed, tmp_path, library):
    installed.intersection_update({library})
    frame = pd.concat([parquet_frame()] * 3, ignore_index=True)
    for name in ("data.parquet", "data.PQ"):
        frame.to_parquet(tmp_path / name)
        file = read_file(tmp_path / name, categorical=["whole"])
        assert file.text is None
        assert file.n_rows == 12
    kinds = {name: column.kind for name, column in file.columns.items()}
    assert kinds.pop("number") == "number" and set(kinds.values()) == {"category"}
    cells = {name: own.cells[:4] for name, own in file.columns.items()}
    assert cells["number"] == ["1.5", None, "-2", "1e+20"]
    assert cells["whole"] == ["1", "2", None, "4"]
    assert cells["text"] == ["a", "b", None, "a"]
    assert cells["flag"] == ["True", "False", "True", "False"]
    assert cells["maybe"] == ["True", None, "True", "False"]
    assert cells["day"][2] is None
    assert cells["kind"] == ["x", "y", "x", None]
    installed.add("pandas")
    table = make_table(file, ["number"])
    np.testing.assert_array_equal(table["number"], frame["number"])
    assert labels_of(file, "label") == ["no", "yes"] * 6


@LIBRARIES
def test_categories_of_parquet_are_so_by_their_type_or_by_name(
    installed, tmp_path, library
):
    installed.intersection_update({library})
    names = [f"name {row}" for row in range(20)]
    columns = {"typed": pd.Categorical(names), "named": names, "text": names}
    pd.DataFrame(columns).to_parquet(tmp_path / "data.parquet")
    file = read_file(tmp_path / "data.parquet", categorical=["named"])
    kinds = [column.kind for column in file.columns.values()]
    assert kinds == ["category", "category", "text"]


def test_broken_parquet(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(FileError, match=r"bad\.parquet cannot be read as Parquet"):
        read_file(tmp_path / "bad.parquet")
    pd.DataFrame({"a": [1.0, np.inf, 3.0]}).to_parquet(tmp_path / "some.parquet")
    with pytest.raises(FileError, match=r"parquet, row 1, column 'a': 'inf' is not a"):
        make_table(read_file(tmp_path / "some.parquet"), ["a"])


def exotic_frame():
    """Types that pandas or a text would lose."""
    n = 6
    day = datetime.date(2024, 2, 29)
    return pl.DataFrame(
        {
            "whole": [2**60 + 1, None, 3, 4, 5, -(2**60) - 1],
            "small": pl.Series([1, 2, None, 4, 5, 6], dtype=pl.UInt8),
            "flag": [True, None, False, True, False, None],
            "day": [day, None, day, day, day, day],
            "moment": pl.Series(
                [datetime.datetime(2024, 1, 1, 12, 0, 0, 123456)] * 5 + [None],
                dtype=pl.Datetime("us", "Europe/Berlin"),
            ),
            "span": [datetime.timedelta(seconds=1.5)] * n,
            "kind": pl.Series(["x", "y", None, "x", "z", "x"], dtype=pl.Categorical),
            "one of": pl.Series(["b", "a", "b", None, "a", "b"]).cast(
                pl.Enum(["b", "a"])
            ),
            "money": pl.Series(["1.50", "2.25", None, "0.00", "9.99", "1.00"]).cast(
                pl.Decimal(10, 2)
            ),
            "float": pl.Series([1.5, None, float("nan"), 2, 3, 4], dtype=pl.Float32),
            "bytes": [b"\x00\xff"] * n,
            "parts": [[1, 2], [], None, [3], [None], [4]],
            "record": [{"a": 1, "b": "x"}] * n,
            "label": pl.Series(["no", "yes", "no", "yes", "no", "no"]),
        }
    )


@pytest.mark.parametrize(
    "library, writer, target, second",
    [
        ("pyarrow", "pandas", "label", "yes"),
        ("pyarrow", "polars", "kind", "z"),
        ("polars", "polars", "one of", "a"),
        ("polars", "pandas", "small", "6"),
        ("pyarrow", "pandas", "flag", "False"),
        ("polars", "polars", "whole", "3"),
        ("pyarrow", "polars", "float", "2"),
    ],
)
def test_cleaned_parquet_has_the_types_and_cells_that_it_had(
    installed, tmp_path, library, writer, target, second
):
    installed.intersection_update({library})
    source, path = tmp_path / "in.parquet", tmp_path / "out.parquet"
    exotic = exotic_frame()
    if writer == "polars":
        exotic.write_parquet(source, compression="gzip")
    else:
        simple = exotic.drop("parts", "record")  # which pandas could not read again
        frame = simple.to_pandas(use_pyarrow_extension_array=True)
        for name in ("kind", "one of"):
            frame[name] = pd.Categorical(exotic[name].to_list())
        frame["nullable"] = pd.array([1, None, 3, 4, 5, 6], dtype="Int32")
        frame["text"] = pd.array(["a", None, "c", "d", "e", "f"], dtype="string")
        frame["ordered"] = pd.Categorical(
            list("abcabc"), categories=list("cba"), ordered=True
        )
        frame.to_parquet(source, compression="gzip")
    change_parquet(read_file(source), path, target, {0: second, 2: None})
    before, after = pq.read_table(source), pq.read_table(path)
    assert after.column_names == before.column_names
    if library != "polars":  # which has types of its own, and no pandas metadata
        assert after.schema.equals(before.schema, check_metadata=True)
        packing = pq.ParquetFile(path).metadata.row_group(0).column(0).compression
        assert packing == "GZIP"
        old, new = pd.read_parquet(source), pd.read_parquet(path)
        for name in {"nullable", "text", "ordered", "day", "kind"} & {*old.columns}:
            assert new[name].dtype == old[name].dtype
    assert pl.read_parquet(path).schema == pl.read_parquet(source).schema
    kept = before.take([0, 1, 3, 4, 5])
    for name in before.column_names:
        cells, same = after[name].to_pylist(), kept[name].to_pylist()
        if name == target:
            assert str(cells[0]).removesuffix(".0") == second
            cells, same = cells[1:], same[1:]
        assert repr(cells) == repr(same)


def test_parquet_of_parts_with_categories_of_their_own(tmp_path):
    source, path = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parts = [pa.array(own).dictionary_encode() for own in (["x", "y"], ["z", "x"])]
    table = pa.table({"label": pa.chunked_array(parts), "a": [1, 2, 3, 4]})
    pq.write_table(table, source, row_group_size=2)
    change_parquet(read_file(source), path, "label", {0: "z", 1: None})
    assert pq.read_table(path).to_pydict() == {"label": ["z", "z", "x"], "a": [1, 3, 4]}


def test_index_of_pandas_is_no_column_and_stays(tmp_path):
    source, path = tmp_path / "in.parquet", tmp_path / "out.parquet"
    index = pd.Index(["p", "q", "r", "s"], name="person")
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "label": list("xyxy")}, index=index)
    frame.to_parquet(source)
    assert list(read_file(source).columns) == ["a", "label"]
    change_parquet(read_file(source), path, "label", {1: None, 3: "x"})
    expected = frame.assign(label=list("xyxx")).drop(index="q")
    pd.testing.assert_frame_equal(pd.read_parquet(path), expected)
