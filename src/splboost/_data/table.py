"""From the user's data to columns: arrays, pandas and polars frames alike.

A :class:`Table` is a thin view of what the user passed. It copies nothing up front:
numeric cells are read block by block (arrays) or column by column (frames) when they
are binned or predicted on, and a categorical column is handed out as the list of its
distinct values with one index per row. Categories are therefore matched *by value*,
so a model fitted on a pandas frame predicts on a polars one.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from splboost._tools.user_warnings import restate
from splboost._tools.wording import counted

BLOCK_ROWS = 65_536
MOST_EXACT = 2**53  # up to which float64 tells all whole numbers apart
LEAST_PAST_INTEGERS = 2.0**64  # beyond all integers of 64 bits
MOST_SHOWN = 8  # columns that an error names


class TableEstimator(BaseEstimator):
    """An estimator whose X is a table, in which cells may be missing or categories."""

    def _set_parameters(self, given: dict[str, Any]) -> None:
        """Set the arguments of the constructor, which are its ``locals()``."""
        self.__dict__.update((name, given[name]) for name in given if name != "self")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def read_table(
    estimator: BaseEstimator, X: Any, categorical_features: Any = None, *, reset: bool
) -> Table:
    """Check X on behalf of an estimator and wrap it.

    With ``reset`` the estimator learns ``n_features_in_`` and ``feature_names_in_``;
    without it they are compared. Masked cells are missing.
    """
    if isinstance(X, np.ma.MaskedArray):
        X = _unmasked(X)
    frame = None if isinstance(X, np.ndarray) else as_frame(X)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame; call .collect() on it first.")
    if isinstance(frame, nw.DataFrame):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if frame.shape[1] == 0:
            raise ValueError("X has 0 feature(s): a frame without columns.")
        if frame.shape[0] == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum "
                "of 1 is required: X is an empty frame."
            )
        return FrameTable(frame, categorical_features)
    if isinstance(X, list):
        X = _odd_cells(X)
    if getattr(getattr(X, "dtype", None), "kind", "") in [*"OUS"]:
        cells = validate_data(estimator, X, reset=reset, dtype=object, **_FINITE)
        if categorical_features is not None:
            return ObjectTable(cells, categorical_features)
        found = [object_numbers(column, j) for j, column in enumerate(cells.T)]
        X = np.column_stack(found) if X.dtype.kind == "O" else X
    try:
        X = validate_data(estimator, X, reset=reset, dtype="numeric", **_FINITE)
    except ValueError as error:
        if "infinity" in str(error):  # of scikit-learn, which names no column
            for j, column in enumerate(np.asarray(X).T):
                finite(as_float(column), j)
        raise
    return ArrayTable(X, categorical_features)


def names_of_categories(X: Any) -> list[str]:
    """The columns of a frame whose dtype says that they are categories."""
    frame = as_frame(X)
    if not isinstance(frame, nw.DataFrame):
        return []
    table = FrameTable(frame, None)
    return [table.names[j] for j in np.flatnonzero(table.is_categorical)]


def as_frame(X: Any, argument: str = "X") -> Any:
    """X as narwhals sees it: a frame (pandas, polars, ...), or X itself."""
    try:
        return nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in getattr(X, "column_names", X.columns)]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"{argument} has several columns named {', '.join(map(repr, twice))}; "
            "rename them."
        ) from None


def _unmasked(X: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """An array with NaN for masked cells, of a type that can hold it."""
    if not np.ma.is_masked(X):
        return X.data
    kind = X.dtype.kind
    able = X.dtype if kind == "f" else np.float64 if kind in "biu" else object
    if kind in "iu" and any(map(is_beyond_floats, (X.min(), X.max()))):
        able = object
    return np.ma.filled(X.astype(able), np.nan)


_FINITE = {"ensure_all_finite": "allow-nan"}


def _odd_cells(rows: list[Any]) -> Any:
    """Rows as an array of objects where some are none that floats can tell apart."""
    regular = all(isinstance(row, list | tuple) for row in rows)
    if not regular or len(set(map(len, rows))) != 1:
        return rows
    flat = [cell for row in rows for cell in row]
    if all(
        isinstance(cell, int | float | np.number | np.bool_)
        and not is_beyond_floats(cell)
        for cell in flat
    ):
        return rows
    cells = np.empty(len(flat), dtype=object)
    for i, cell in enumerate(flat):  # one by one, for a cell may be a list
        cells[i] = cell
    return cells.reshape(len(rows), -1)


class Table:
    """Rows and columns of the user's data; see the module's docstring."""

    n_rows: int
    n_features: int
    names: list[str]
    is_categorical: NDArray[np.bool_]

    def numeric(self, j: int) -> NDArray[np.floating]:
        """Column j as floats, missing cells as NaN."""
        raise NotImplementedError

    def category(self, j: int) -> tuple[list[Any], NDArray[np.integer]]:
        """Distinct values of column j, and each row's index into them (-1: missing)."""
        raise NotImplementedError

    def cells(self, j: int) -> NDArray[Any]:
        """Column j as floats or categories, None where a cell is missing."""
        if self.is_categorical[j]:
            values, index = self.category(j)
            return np.array([*values, None], dtype=object)[index]
        numbers = self.numeric(j)
        cells = numbers.astype(object)
        cells[np.isnan(numbers)] = None
        return cells

    def numeric_blocks(
        self, features: NDArray[np.intp]
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.floating]]]:
        """Yield blocks of floats ``(first row, feature of each column, 2-d block)``.

        Together they cover the given features; a column that was not asked for is
        marked -1.
        """
        for j in features:
            yield 0, np.array([j]), self.numeric(j)[:, None]

    def float_matrix(self) -> NDArray[np.floating] | None:
        """All cells as one matrix of floats, where they are one already."""
        return None

    def take(self, kept: NDArray[np.bool_]) -> Table:
        """The same table with some of its rows."""
        raise NotImplementedError

    def native(self, X: Any) -> Any:
        """The data as another library's estimator should get it."""
        return X


def mark_listed(names: Sequence[str], listed: Any) -> NDArray[np.bool_]:
    """By column, whether ``categorical_features`` lists it."""
    mask = np.zeros(len(names), dtype=bool)
    if listed is None:
        return mask
    wanted = list(np.atleast_1d(np.asarray(listed, dtype=object)))
    if all(isinstance(item, bool | np.bool_) for item in wanted) and wanted:
        if len(wanted) != len(names):
            raise ValueError(
                f"categorical_features is a mask of length {len(wanted)}, but X "
                f"has {counted(len(names), 'feature')}; give one entry per feature."
            )
        mask[:] = wanted
        return mask
    for item in wanted:
        mask[_position(names, item)] = True
    return mask


def _position(names: Sequence[str], item: Any) -> int:
    if isinstance(item, str):
        if item not in names:
            shown = ", ".join(map(repr, names[:MOST_SHOWN]))
            if len(names) > MOST_SHOWN:
                shown += f", … ({len(names)} in all)"
            raise ValueError(
                f"categorical_features names {item!r}, which is not a column of X; "
                f"the columns are {shown}."
            )
        return list(names).index(item)
    if isinstance(item, Integral) and 0 <= int(item) < len(names):
        return int(item)
    raise ValueError(
        f"categorical_features contains {item!r}; give column names, indices from "
        f"0 to {len(names) - 1}, or one boolean per column."
    )


class ArrayTable(Table):
    """A numeric two-dimensional array."""

    def __init__(self, X: NDArray[Any], categorical_features: Any) -> None:
        self.X = X
        self.n_rows, self.n_features = X.shape
        self.names = [f"x{j}" for j in range(self.n_features)]
        self.is_categorical = np.zeros(self.n_features, dtype=bool)
        if categorical_features is not None:
            self.is_categorical = mark_listed(self.names, categorical_features)

    def numeric(self, j: int) -> NDArray[np.floating]:
        return as_float(self.X[:, j])

    def category(self, j: int) -> tuple[list[Any], NDArray[np.integer]]:
        return distinct_numbers(self.X[:, j], int(j))

    def take(self, kept: NDArray[np.bool_]) -> Table:
        return type(self)(self.X[kept], self.is_categorical)

    def native(self, X: Any) -> Any:
        return self.X

    def float_matrix(self) -> NDArray[np.floating] | None:
        return self.X if self.X.dtype in (np.float64, np.float32) else None

    def numeric_blocks(
        self, features: NDArray[np.intp]
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.floating]]]:
        of_column = np.full(self.n_features, -1)
        of_column[features] = features
        if self.X.dtype in (np.float64, np.float32):
            yield 0, of_column, self.X
            return
        for start in range(0, self.n_rows, BLOCK_ROWS):
            yield start, of_column, as_float(self.X[start : start + BLOCK_ROWS])


class ObjectTable(ArrayTable):
    """An object array of which the user has named the categorical columns."""

    native = Table.native
    numeric_blocks = Table.numeric_blocks

    def numeric(self, j: int) -> NDArray[np.floating]:
        return object_numbers(self.X[:, j], int(j))

    def category(self, j: int) -> tuple[list[Any], NDArray[np.integer]]:
        return distinct_objects(self.X[:, j].tolist(), int(j))


class FrameTable(Table):
    """A pandas or polars frame, read through narwhals."""

    def __init__(self, frame: nw.DataFrame[Any], categorical_features: Any) -> None:
        self.frame = frame
        self.n_rows, self.n_features = frame.shape
        self.names = [str(name) for name in frame.columns]
        dtypes = list(frame.schema.values())
        self.is_categorical = mark_listed(self.names, categorical_features)
        self.is_categorical |= [isinstance(t, nw.Categorical | nw.Enum) for t in dtypes]
        for j, dtype in enumerate(dtypes):
            if not self.is_categorical[j]:
                self._require_numeric(j, dtype)

    def take(self, kept: NDArray[np.bool_]) -> Table:
        return FrameTable(self.frame[np.flatnonzero(kept), :], self.is_categorical)

    def _series(self, j: int) -> nw.Series[Any]:
        return self.frame[:, int(j)]

    def _require_numeric(self, j: int, dtype: Any) -> None:
        if dtype.is_numeric() or dtype == nw.Boolean:
            return
        series = self._series(j)
        cells = series.to_numpy() if dtype == nw.Object else [""]
        if not any(isinstance(cell, str | bytes) for cell in cells):
            return
        if bool(series.is_null().all()):
            return
        native = series.to_native().dtype
        if str(native).startswith("Sparse"):
            raise ValueError(
                f"Column {self.names[j]!r} has dtype {native}, but dense data are "
                "required. Convert it with .sparse.to_dense(), which a frame of sparse "
                "columns has as well."
            )
        if dtype.is_temporal():
            remedy = "Make numbers of it, such as days since a date or the weekday."
        else:
            remedy = (
                "Convert it to a categorical dtype, or list it in "
                "categorical_features, or encode or drop it."
            )
        raise ValueError(
            f"Column {self.names[j]!r} has dtype {native}, "
            f"which is neither numeric nor categorical. {remedy}"
        )

    def numeric(self, j: int) -> NDArray[np.floating]:
        series = self._series(j)
        if isinstance(series.dtype, nw.Categorical | nw.Enum):
            raise ValueError(
                f"Column {self.names[j]!r} is categorical, but was numeric when the "
                "model was fitted; convert it to numbers."
            )
        if series.dtype == nw.Object:
            return object_numbers(series.to_numpy(), self.names[j])
        if series.dtype.is_integer():
            whole, missing = whole_numbers(series)
            values = whole.astype(np.float64)
            values[missing] = np.nan
            return values
        target = nw.Float32 if series.dtype == nw.Float32 else nw.Float64
        values = np.asarray(series.cast(target).to_numpy())
        if values.dtype == object:  # nullable columns of older pandas
            values = values.astype(np.float64)
        return finite(values, self.names[j])

    def category(self, j: int) -> tuple[list[Any], NDArray[np.integer]]:
        series = self._series(j)
        if series.dtype.is_integer():
            whole, missing = whole_numbers(series)
            return distinct_numbers(whole, self.names[j], missing)
        if series.dtype.is_decimal():
            cells = [None if x is None else shorter(x) for x in series.to_list()]
            return distinct_objects(cells, self.names[j])
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            values, index = distinct_numbers(self.numeric(j), self.names[j])
            is_truth = series.dtype == nw.Boolean
            return [*map(bool, values)] if is_truth else values, index
        native = series.to_native()
        if series.implementation.is_pandas_like():
            try:
                coded = native.astype("category")
            except TypeError:  # of cells that cannot be categories
                return distinct_objects(native.tolist(), self.names[j])
            categories = list(coded.cat.categories)
            refuse_rounded_objects(categories, self.names[j])
            return categories, np.asarray(coded.cat.codes)
        labelled = isinstance(series.dtype, nw.Categorical | nw.Enum | nw.String)
        if series.implementation.is_polars() and labelled:
            import polars

            coded = native
            if coded.dtype == polars.String:
                coded = coded.cast(polars.Categorical)
            distinct = coded.drop_nulls().unique()
            values = distinct.cast(polars.String).to_list()
            physical = distinct.to_physical().to_numpy().astype(np.int64)
            lookup = np.full(physical.max(initial=-1) + 2, -1, dtype=np.int32)
            lookup[physical] = np.arange(len(values))
            index = coded.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
            return values, lookup[index]
        return distinct_objects(series.to_list(), self.names[j])


def series_values(series: nw.Series[Any]) -> NDArray[Any]:
    """The values of a column; integers and booleans stay such."""
    if series.dtype in (nw.Int128, nw.UInt128):  # which numpy lacks
        return np.array(series.to_list(), dtype=object)
    return np.asarray(series.to_numpy())


def whole_numbers(series: nw.Series[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The integers of a column, with 0 for missing ones, and which are missing."""
    missing = np.asarray(series.is_null().to_numpy())
    return series_values(series.fill_null(0) if missing.any() else series), missing


# -------------------------------------------------------------------------------- cells


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # NA, and a NaN of decimal that signals
        return True
    except ValueError:  # an array has no truth value, but is there
        return False


def object_numbers(column: NDArray[Any], name: Any) -> NDArray[np.floating]:
    """Objects as floats, missing ones as NaN."""
    values = np.empty(len(column))
    for i, value in enumerate(column):
        try:
            values[i] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError) as why:
            remedy = "make numbers or texts of its cells, or drop it"
            if isinstance(value, Hashable):
                remedy = (
                    "encode it, or use trees of splboost.trees and list the column in "
                    "categorical_features"
                )
            raise restate(
                why,
                f"Column {name!r} of X holds {reprlib.repr(value)}, which is no "
                f"number; {remedy} ({why}).",
            ) from None
    return finite(values, name)


def finite(values: NDArray[np.floating], name: Any) -> NDArray[np.floating]:
    """The values of a column, unless one is infinite."""
    if np.isinf(values).any():
        raise ValueError(
            f"Input X contains infinity in column {name!r}; replace infinite cells by "
            "a large number or by NaN (missing)."
        )
    return values


def as_float(values: NDArray[Any]) -> NDArray[np.floating]:
    """Values as floats, copied only where they are none."""
    if values.dtype in (np.float64, np.float32):
        return values
    return values.astype(np.float64)


def distinct_numbers(
    column: NDArray[Any], name: Any, missing: NDArray[np.bool_] | None = None
) -> tuple[list[Any], NDArray[np.integer]]:
    """Distinct numbers in order, and each cell's index into them (-1: missing).

    Whole numbers are told apart however large they are. ``missing`` marks what is
    missing besides NaN.
    """
    if column.dtype.kind in "bf":
        refuse_rounded(column, f"Column {name!r} of X")
        column = as_float(column)
        missing = np.isnan(column)
    known = slice(None) if missing is None else ~missing
    values, inverse = np.unique(column[known], return_inverse=True)
    index = np.full(column.size, -1, dtype=np.int32)
    index[known] = inverse
    return [shorter(value) for value in values.tolist()], index


def shorter(number: Any) -> Any:
    """A whole number as an int, which is the same category but reads better."""
    return int(number) if number == int(number) else float(number)


def is_beyond_floats(value: Any) -> bool:
    """Whether a value is a whole number that float64 may merge with another."""
    return isinstance(value, Integral) and abs(int(value)) > MOST_EXACT


def refuse_rounded(values: NDArray[Any], holder: str) -> None:
    """Refuse floats so large that 64-bit integers have been merged in them."""
    if values.dtype.kind != "f" or not values.size:
        return
    size = np.abs(values)
    rounded = (size >= 2 / np.finfo(values.dtype).eps) & (size < LEAST_PAST_INTEGERS)
    if rounded.any():
        raise ValueError(
            f"{holder} holds {values[rounded][0]!s} as a {values.dtype}, which cannot "
            "tell such whole numbers apart; give them as integers (in pandas Int64, "
            "where some are missing) or as text."
        )


def refuse_rounded_objects(values: Iterable[Any], name: Any) -> None:
    """Refuse categories among which are such floats."""
    floats = np.array(
        [value for value in values if isinstance(value, float | np.floating)]
    )
    refuse_rounded(floats, f"Column {name!r} of X")


def distinct_objects(
    column: list[Any], name: Any
) -> tuple[list[Any], NDArray[np.integer]]:
    """Distinct objects as they come, and each cell's index into them (-1: missing)."""
    position: dict[Any, int] = {}
    index = np.empty(len(column), dtype=np.int32)
    for i, value in enumerate(column):
        absent = is_missing(value)
        try:
            index[i] = -1 if absent else position.setdefault(value, len(position))
        except TypeError:
            raise TypeError(
                f"Column {name!r} of X holds {reprlib.repr(value)}, and a "
                f"{type(value).__name__} cannot be a category; make texts, numbers or "
                "tuples of its cells, or drop it."
            ) from None
    refuse_rounded_objects(position, name)
    return list(position), index
