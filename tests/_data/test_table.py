"""Cells mean the same, whatever holds them; what means nothing is refused."""

from collections.abc import Hashable
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from helpers import NAN
from splboost._data.table import read_table
from splboost.trees import CARTClassifier


def read(X, categorical_features=None):
    return read_table(CARTClassifier(), X, categorical_features, reset=True)


def cells(table, j):
    """Column j as a list of categories, None where missing."""
    values, index = table.category(j)
    return [values[i] if i >= 0 else None for i in index]


# ------------------------------------------------------------------------------ numbers

DECIMAL = pl.Decimal(9, 1)
NUMBERS = {
    "float64": np.array([[1.0], [NAN], [3.0]]),
    "float32": np.array([[1.0], [NAN], [3.0]], dtype=np.float32),
    "float16": np.array([[1.0], [NAN], [3.0]], dtype=np.float16),
    "list": [[1], [NAN], [3]],
    "masked": np.ma.array([[1.0], [2.0], [3.0]], mask=[[0], [1], [0]]),
    "masked float32": np.ma.array(np.float32([[1], [2], [3]]), mask=[[0], [1], [0]]),
    "masked int": np.ma.array([[1], [2], [3]], mask=[[0], [1], [0]]),
    "masked object": np.ma.array([[1], ["?"], [3]], mask=[[0], [1], [0]], dtype=object),
    "object array": np.array([[1], [None], [3]], dtype=object),
    "pandas float": pd.DataFrame({"a": [1.0, NAN, 3.0]}),
    "pandas Float32": pd.DataFrame({"a": pd.array([1, None, 3], dtype="Float32")}),
    "pandas Int64": pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
    "pandas arrow": pd.DataFrame({"a": pd.array([1, None, 3], "int64[pyarrow]")}),
    "pandas None": pd.DataFrame({"a": pd.Series([1, None, 3.0], dtype=object)}),
    "pandas NA": pd.DataFrame({"a": pd.Series([1, pd.NA, 3], dtype=object)}),
    "polars Float32": pl.DataFrame({"a": pl.Series([1, None, 3], dtype=pl.Float32)}),
    "polars NaN": pl.DataFrame({"a": [1.0, NAN, 3.0]}),
    "polars Int16": pl.DataFrame({"a": pl.Series([1, None, 3], dtype=pl.Int16)}),
    "polars Decimal": pl.DataFrame(
        {"a": pl.Series([1, None, 3]).cast(pl.Decimal(9, 1))}
    ),
    "arrow": pa.table({"a": [1, None, 3]}),
}


@pytest.mark.parametrize("X", NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers(X):
    table = read(X)
    assert (table.n_rows, table.n_features) == (3, 1)
    assert not table.is_categorical.any()
    values = table.numeric(0)
    assert values.dtype in (np.float32, np.float64)
    np.testing.assert_array_equal(values, [1, NAN, 3])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[True], [False]]),
        pd.DataFrame({"a": [True, False]}),
        pd.DataFrame({"a": pd.array([True, False], dtype="boolean")}),
        pd.DataFrame({"a": pd.Series([True, False], dtype=object)}),
        pl.DataFrame({"a": [True, False]}),
    ],
    ids=["array", "pandas", "pandas boolean", "pandas object", "polars"],
)
def test_truth_values_are_numbers(X):
    np.testing.assert_array_equal(read(X).numeric(0), [1, 0])


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")}),
        pl.DataFrame({"a": [True, None, False]}),
    ],
    ids=["pandas", "polars"],
)
def test_missing_truth_values(X):
    np.testing.assert_array_equal(read(X).numeric(0), [1, NAN, 0])


def test_numbers_beside_categories_of_object_array():
    table = read(np.array([["a", 1], ["b", None], ["a", pd.NA]], dtype=object), [0])
    np.testing.assert_array_equal(table.numeric(1), [1, NAN, NAN])


# --------------------------------------------------------------------------- categories

LABELS = ["b", "a", None, "b"]
OTHER_MISSING = ["b", "a", NAN, "b"]
STRINGS = {  # data, and what the user must list
    "pandas category": (pd.DataFrame({"a": pd.Categorical(LABELS)}), None),
    "unused categories": (
        pd.DataFrame({"a": pd.Categorical(LABELS, categories=["z", "b", "a"])}),
        None,
    ),
    "ordered": (
        pd.DataFrame({"a": pd.Categorical(LABELS, ["b", "a"], ordered=True)}),
        None,
    ),
    "pandas str": (pd.DataFrame({"a": LABELS}), ["a"]),
    "pandas string": (pd.DataFrame({"a": pd.array(LABELS, dtype="string")}), ["a"]),
    "pandas object": (pd.DataFrame({"a": pd.Series(OTHER_MISSING, dtype=object)}), [0]),
    "polars Categorical": (
        pl.DataFrame({"a": pl.Series(LABELS, dtype=pl.Categorical)}),
        None,
    ),
    "polars Enum": (
        pl.DataFrame({"a": pl.Series(LABELS, dtype=pl.Enum(["z", "b", "a"]))}),
        None,
    ),
    "polars String": (pl.DataFrame({"a": LABELS}), ["a"]),
    "arrow dictionary": (pa.table({"a": pa.array(LABELS).dictionary_encode()}), None),
    "arrow string": (pa.table({"a": LABELS}), ["a"]),
    "object array": (np.array([LABELS], dtype=object).T, [0]),
    "NaN in object array": (np.array([OTHER_MISSING], dtype=object).T, [0]),
    "NA in object array": (
        np.array([["b"], ["a"], [pd.NA], ["b"]], dtype=object),
        [True],
    ),
}


@pytest.mark.parametrize(("X", "listed"), STRINGS.values(), ids=STRINGS.keys())
def test_strings(X, listed):
    table = read(X, listed)
    assert table.is_categorical.tolist() == [True]
    assert cells(table, 0) == LABELS


@pytest.mark.parametrize(
    "X",
    [
        np.array([[7.0], [NAN], [2.0]]),
        np.array([[7.0], [NAN], [2.0]], dtype=np.float32),
        pd.DataFrame({"a": pd.Categorical([7, None, 2])}),
        pd.DataFrame({"a": pd.array([7, None, 2], dtype="Int64")}),
        pl.DataFrame({"a": [7, None, 2]}),
    ],
    ids=["float64", "float32", "pandas category", "pandas Int64", "polars"],
)
def test_numbered_categories(X):
    assert cells(read(X, [0]), 0) == [7, None, 2]


LARGE = [2**53, 2**53 + 1, None]
EXACT_HOLDERS = {
    "list": lambda cells: [[cell] for cell in cells],
    "object array": lambda cells: np.array([[cell] for cell in cells], dtype=object),
    "masked": lambda cells: np.ma.array(
        [[cell or 0] for cell in cells], mask=[[cell is None] for cell in cells]
    ),
    "pandas Int64": lambda cells: pd.DataFrame({"a": pd.array(cells, dtype="Int64")}),
    "pandas arrow": lambda cells: pd.DataFrame(
        {"a": pd.array(cells, "int64[pyarrow]")}
    ),
    "pandas object": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
    "pandas category": lambda cells: pd.DataFrame(
        {"a": pd.Series(cells, dtype="Int64").astype("category")}
    ),
    "polars": lambda cells: pl.DataFrame({"a": cells}),
    "polars Int128": lambda cells: pl.DataFrame(
        {"a": pl.Series(cells).cast(pl.Int128)}
    ),
    "polars Decimal": lambda cells: pl.DataFrame(
        {"a": pl.Series(cells).cast(pl.Decimal(38, 1))}
    ),
}


@pytest.mark.parametrize("hold", EXACT_HOLDERS.values(), ids=EXACT_HOLDERS.keys())
def test_categories_that_floats_would_merge(hold):
    assert cells(read(hold(LARGE), [0]), 0) == LARGE
    model = CARTClassifier(categorical_features=[0]).fit(
        hold(LARGE[:2] * 9), [0, 1] * 9
    )
    names = hasattr(hold(LARGE), "columns")
    for other in EXACT_HOLDERS.values():
        if hasattr(other(LARGE), "columns") == names:
            assert model.predict(other(LARGE[:2])).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_large_integers_of_numpy_are_categories(dtype):
    large = (2**62 if dtype == "int64" else 2**63) + np.arange(3, dtype=dtype)
    for X in (large[:, None], pd.DataFrame({"a": large}), pl.DataFrame({"a": large})):
        assert cells(read(X, [0]), 0) == large.tolist()


@pytest.mark.parametrize(
    "X",
    [
        np.array([[2.0**53], [1.0]]),
        np.array([[2.0**53], ["a"]], dtype=object),
        pd.DataFrame({0: [2**53 + 1, None]}),
        pd.DataFrame({0: pd.Series([2**53 + 1, None]).astype("category")}),
    ],
    ids=["numpy", "objects", "pandas", "category"],
)
def test_categories_that_floats_have_merged_are_refused(X):
    message = r"Column '?0'? of X holds 9007199254740992\.0 as a float64.*Int64.*text"
    with pytest.raises(ValueError, match=message):
        CARTClassifier(categorical_features=[0]).fit(X, [0, 1])


def test_numbers_that_floats_have_merged_are_numbers():
    assert read(np.array([[2.0**53], [1.0]])).numeric(0)[0] == 2.0**53


def test_categories_of_any_type():
    days = [date(2024, 1, 2), None, date(2024, 1, 1)]
    assert cells(read(pl.DataFrame({"a": days}), ["a"]), 0) == days
    flags = pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")})
    assert cells(read(flags, ["a"]), 0) == [True, None, False]


@pytest.mark.parametrize(
    "listed",
    [
        ["b"],
        "b",
        [1],
        np.array([1]),
        [False, True, False],
        np.array([False, True, False]),
    ],
    ids=str,
)
def test_ways_to_list_categories(listed):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": pd.Categorical(["x", "y"])})
    assert read(frame, listed).is_categorical.tolist() == [False, True, True]


def test_nothing_listed():
    assert read(np.ones((2, 2)), []).is_categorical.tolist() == [False, False]


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (["z"], "categorical_features names 'z', which is not a column of X"),
        ([3], "categorical_features contains 3; give column names, indices from 0 to"),
        ([-1], "categorical_features contains -1"),
        ([1.5], "categorical_features contains 1.5"),
        ([True, False], "mask of length 2, but X has 3 features"),
    ],
    ids=str,
)
def test_wrong_lists_of_categories(listed, message):
    with pytest.raises(ValueError, match=message):
        read(pd.DataFrame(np.ones((2, 3)), columns=list("abc")), listed)


def test_error_names_only_some_of_many_columns():
    frame = pd.DataFrame(np.ones((2, 30)), columns=[f"c{j}" for j in range(30)])
    with pytest.raises(ValueError, match=r"'c7', … \(30 in all\)"):
        read(frame, ["z"])


# ------------------------------------------------------------------ rows of every table


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 5], [2, 6], [3, 7]]),
        np.array([["p", 5], ["q", 6], ["r", 7]], dtype=object),
        pd.DataFrame({"a": list("pqr"), "b": [5, 6, 7]}, index=[9, 9, 4]),
        pl.DataFrame({"a": list("pqr"), "b": [5, 6, 7]}),
    ],
    ids=["array", "object array", "pandas", "polars"],
)
def test_take(X):
    table = read(X, [0])
    kept = table.take(np.array([True, False, True]))
    assert (kept.n_rows, kept.n_features) == (2, 2)
    assert kept.is_categorical.tolist() == [True, False]
    assert cells(kept, 0) == [cells(table, 0)[0], cells(table, 0)[2]]
    np.testing.assert_array_equal(kept.numeric(1), [5, 7])


# --------------------------------------------------------------- matched when predicted

TRAIN = ["lo", "lo", "hi", "hi", "mid", "mid", None, None] * 3
TARGET = [0, 0, 1, 1, 0, 0, 1, 1] * 3
NEW = ["hi", "lo", "unheard of", None, "mid"]
EXPECTED = [1, 0, 1, 1, 0]  # missing is on the side of "hi", so is the unheard of


def enum(labels):
    return pl.Enum(sorted({label for label in labels if label}, reverse=True))


HOLDERS = {
    "pandas category": lambda x: pd.DataFrame({"c": pd.Categorical(x)}),
    "pandas reversed": lambda x: pd.DataFrame(
        {"c": pd.Categorical(x, categories=enum(x).categories.to_list())}
    ),
    "pandas str": lambda x: pd.DataFrame({"c": x}),
    "polars Categorical": lambda x: pl.DataFrame(
        {"c": pl.Series(x, dtype=pl.Categorical)}
    ),
    "polars Enum": lambda x: pl.DataFrame({"c": pl.Series(x, dtype=enum(x))}),
    "polars String": lambda x: pl.DataFrame({"c": pl.Series(x, dtype=pl.String)}),
    "arrow": lambda x: pa.table({"c": pa.array(x, pa.string()).dictionary_encode()}),
    "array": lambda x: np.array([x], dtype=object).T,
}


@pytest.mark.filterwarnings("ignore:X (does not have|has) (valid )?feature names")
@pytest.mark.parametrize("hold_new", HOLDERS.values(), ids=HOLDERS.keys())
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS.keys())
def test_categories_are_matched_by_value(hold, hold_new):
    tree = CARTClassifier(categorical_features=[0]).fit(hold(TRAIN), TARGET)
    assert tree.predict(hold_new(NEW)).tolist() == EXPECTED


@pytest.mark.filterwarnings("ignore:X (does not have|has) (valid )?feature names")
def test_numbered_categories_are_matched_by_value():
    x = np.array([3, 3, 1, 1, 2, 2] * 3)
    y = np.array([1, 1, 0, 0, 1, 1] * 3)
    holders = [
        lambda x: np.c_[x.astype(float)],
        lambda x: np.c_[x],
        lambda x: pd.DataFrame({"c": pd.Categorical(x)}),
        lambda x: pd.DataFrame({"c": pd.array(x, dtype="Int64")}),
        lambda x: pl.DataFrame({"c": x}),
    ]
    for hold in holders:
        tree = CARTClassifier(categorical_features=[0]).fit(hold(x), y)
        assert list(tree.tree_.coding[0]) == [1, 2, 3]
        for hold_new in holders:
            new = np.array([2, 1, 3, 77])
            assert tree.predict(hold_new(new)).tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize("seen", [0, 1])
def test_category_unseen_in_node_follows_missing(seen):
    # Column 0 splits first; column 1 below it, where "c" never occurs.
    X = pd.DataFrame(
        {
            "first": [0] * 8 + [1] * 8,
            "second": pd.Categorical(
                ["a", "a", "a", "b", "a", "a", "a", "b"] + ["c"] * 8
            ),
        }
    )
    below = [seen, seen, seen, 1 - seen] * 2
    tree = CARTClassifier().fit(X, below + [2] * 8)
    new = pd.DataFrame({"first": [0, 0, 0], "second": ["c", "never", None]})
    assert tree.predict(new.astype({"second": "category"})).tolist() == [seen] * 3


# ----------------------------------------------------------------------------- refusals

BAD = {
    "strings not listed": (
        pd.DataFrame({"town": ["a", "b"]}),
        "Column 'town' has dtype .*, which is neither numeric nor categorical",
    ),
    "polars strings": (pl.DataFrame({"town": ["a", "b"]}), "Column 'town' has dtype"),
    "object strings": (
        pd.DataFrame({"town": pd.Series([1, "b"], dtype=object)}),
        "Column 'town' has dtype object",
    ),
    "dates": (pd.DataFrame({"day": pd.date_range("2024", periods=2)}), "Column 'day'"),
    "infinity in array": (
        np.array([[1.0, 2.0], [0.0, np.inf]]),
        "Input X contains infinity in column 1; replace",
    ),
    "infinity in list": ([[1, -float("inf")], [0, 1]], "infinity in column 1"),
    "infinity in pandas": (
        pd.DataFrame({"a": [1.0, -np.inf]}),
        "Input X contains infinity in column 'a'",
    ),
    "infinity in polars": (pl.DataFrame({"a": [np.inf, 1.0]}), "infinity in column"),
    "infinity as object": (
        pd.DataFrame({"a": pd.Series([np.inf, 1], dtype=object)}),
        "infinity in column 'a'",
    ),
    "no rows": (np.empty((0, 2)), "0 sample"),
    "empty pandas": (pd.DataFrame({"a": []}), "0 sample"),
    "no columns": (pd.DataFrame(index=[0, 1]), "0 feature"),
    "one dimension": (np.arange(3.0), "Expected 2D array"),
    "complex": (np.ones((2, 1), dtype=complex), "Complex data not supported"),
    "string array": (
        np.array([["a"], ["b"]]),
        "Column 0 of X holds 'a', which is no n",
    ),
    "strings of numbers": (np.array([["1"], ["2"]]), "arrays of bytes"),
}


@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD.keys())
def test_refused(X, message):
    with pytest.raises(ValueError, match=message):
        CARTClassifier().fit(X, [0, 1][: len(X)])


@pytest.mark.parametrize(
    ("cell", "message"), [("x", "no number"), (np.inf, "infinity")], ids=str
)
def test_refused_beside_listed_categories(cell, message):
    X = np.array([["a", 1], ["b", cell]], dtype=object)
    with pytest.raises(ValueError, match=message):
        CARTClassifier(categorical_features=[0]).fit(X, [0, 1])


def odd_column(cells):
    """A numpy array, a list and frames whose second column holds the cells."""
    array = np.ones((len(cells), 2), dtype=object)
    series = pd.Series([None] * len(cells), dtype=object)
    for i, cell in enumerate(cells):
        array[i, 1] = series[i] = cell
    ones = [1.0] * len(cells)
    return [
        array,
        array.tolist(),
        pd.DataFrame({0: ones, 1: series}),
        pl.DataFrame({"0": ones, "1": pl.Series(cells, dtype=pl.Object)}),
    ]


ODD = {
    "text after None": [None, 1.0, "a"],
    "bytes after None": [None, b"a", b"b"],
    "lists": [[1], [2], [1]],
    "dicts": [{}, {1: 2}, None],
    "sets": [{1}, {2}, {1}],
    "arrays": [np.arange(2), np.arange(3), np.arange(1)],
    "tuples": [(1,), (2,), (1,)],
    "complex numbers": [1j, 2j, None],
    "times": [pd.Timestamp("2024"), pd.NaT, None],
    "too large": [10**400, 1, 2],
}


@pytest.mark.parametrize("cells", ODD.values(), ids=ODD.keys())
def test_odd_cells_are_named(cells):
    for X in odd_column(cells):
        with pytest.raises(
            (TypeError, ValueError), match=r"Column '?1'? (of X holds|has dtype).*\."
        ) as caught:
            CARTClassifier().fit(X, [0, 1, 1])
        cell = next(cell for cell in cells if cell is not None)
        remedy = "categorical_features" if isinstance(cell, Hashable) else "texts of"
        assert remedy in str(caught.value)


@pytest.mark.parametrize("kind", ["lists", "dicts", "sets", "arrays"])
def test_what_cannot_be_a_category_is_named(kind):
    for X in odd_column(ODD[kind]):
        model = CARTClassifier(categorical_features=[1])
        with pytest.raises(
            TypeError, match=r"Column '?1'? of X holds .* cannot be a category; make"
        ):
            model.fit(X, [0, 1, 1])


def test_missing_cells_of_any_kind():
    for X in odd_column([None, pd.NA, pd.NaT, NAN, Decimal("sNaN"), Fraction(1, 2)]):
        assert np.isnan(read(X).numeric(1)).tolist() == [True] * 5 + [False]
        assert cells(read(X, [1]), 1) == [None] * 5 + [Fraction(1, 2)]


def test_lazy_frame_is_refused():
    with pytest.raises(TypeError, match=r"lazy frame; call \.collect\(\)"):
        CARTClassifier().fit(pl.LazyFrame({"a": [1, 2]}), [0, 1])


def test_sparse_matrix_is_refused():
    with pytest.raises(TypeError, match=r"Sparse data was passed for X.*\.toarray\(\)"):
        CARTClassifier().fit(sparse.csr_array(np.eye(2)), [0, 1])


@pytest.mark.parametrize("kind", [float, int, bool])
def test_sparse_columns_are_refused(kind):
    dense = pd.DataFrame({"a": [1.0, 0.0], "b": [1.0, 0.0]})
    frame = dense.astype({"b": kind}).astype({"b": pd.SparseDtype(kind, kind(0))})
    message = (
        r"Column 'b' has dtype Sparse\[.*\], but dense .* with \.sparse\.to_dense\(\)"
    )
    with pytest.raises(ValueError, match=message):
        CARTClassifier().fit(frame, [0, 1])
    with pytest.raises(ValueError, match=message):
        CARTClassifier().fit(dense, [0, 1]).predict(frame)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_other_columns_than_fitted(library):
    tree = CARTClassifier().fit(library.DataFrame({"a": [0, 1], "b": [0, 0]}), [0, 1])
    assert tree.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        tree.predict(library.DataFrame({"a": [0], "c": [0]}))
    with pytest.raises(ValueError, match="same order"):
        tree.predict(library.DataFrame({"b": [0], "a": [0]}))
    with pytest.raises(ValueError, match="feature names should match"):
        tree.predict(library.DataFrame({"a": [0]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        tree.predict([[0, 0]])


def test_other_width_than_fitted():
    tree = CARTClassifier().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(ValueError, match="X has 3 features, but CARTClassifier is exp"):
        tree.predict([[0, 1, 2]])


def test_categories_where_numbers_were_fitted():
    tree = CARTClassifier().fit(pd.DataFrame({"a": [0, 1]}), [0, 1])
    with pytest.raises(ValueError, match="'a' is categorical, but was numeric when"):
        tree.predict(pd.DataFrame({"a": pd.Categorical(["x"])}))
