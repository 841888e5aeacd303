"""Categories as codes, and tables as floats in which cells of categories are codes."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from splboost._data.table import Table
from splboost._tools.user_warnings import warn

PREDICT_ROWS = 4096
Coding = list[dict[Any, int] | None]  # per feature, from a category to its code


def sort_categories(values: list[Any], present: NDArray[np.bool_]) -> list[int]:
    """Positions of the categories that are present, in the order of their values."""
    positions = np.flatnonzero(present).tolist()
    try:
        return sorted(positions, key=lambda k: values[k])
    except TypeError:
        return sorted(
            positions, key=lambda k: (type(values[k]).__name__, str(values[k]))
        )


def encode_categories(
    values: list[Any],
    index: NDArray[np.integer],
    table_of_codes: dict[Any, int],
    missing_code: int,
) -> NDArray[np.int64]:
    """Codes of rows whose category is ``values[index]``; unknown counts as missing."""
    lookup = np.array([table_of_codes.get(v, missing_code) for v in values], np.int64)
    return np.append(lookup, missing_code)[index]


def feature_blocks(
    table: Table, coding: Coding, features: NDArray[np.intp]
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Blocks of rows of the table as floats, categories as codes, unknown as NaN.

    Column f of a block is feature f; columns of features not asked for are undefined.
    All blocks are of one type and order, since kernels would be compiled for others.
    """
    matrix = table.float_matrix()
    if matrix is None or table.is_categorical.any():
        columns = {f: _float_column(table, coding[f], f) for f in features}
    elif matrix.dtype == np.float64 and matrix.flags.carray:  # aligned, writable, C
        yield 0, matrix.astype(np.float64, copy=False)
        return
    else:
        columns = {f: matrix[:, f] for f in features}
    for lo in range(0, table.n_rows, PREDICT_ROWS):
        block = np.empty((min(PREDICT_ROWS, table.n_rows - lo), table.n_features))
        for f, column in columns.items():
            block[:, f] = column[lo : lo + PREDICT_ROWS]
        yield lo, block


def float_matrix(
    table: Table, coding: Coding, features: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The same, all rows at once."""
    parts = [block for _, block in feature_blocks(table, coding, features)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _float_column(
    table: Table, coding: dict[Any, int] | None, f: int
) -> NDArray[np.floating]:
    if coding is None:
        return table.numeric(f)
    values, index = table.category(f)
    lookup = np.array([coding.get(value, np.nan) for value in values], dtype=float)
    if values and coding and np.isnan(lookup).all():
        kinds = type(values[0]), type(next(iter(coding)))
        both_numbers = issubclass(kinds[0], Real) and issubclass(kinds[1], Real)
        related = issubclass(kinds[0], kinds[1]) or issubclass(kinds[1], kinds[0])
        if not (related or both_numbers):
            warn(
                f"Column {table.names[f]!r} has no category that the model knows: it "
                f"holds {kinds[0].__name__} where the model was fitted on "
                f"{kinds[1].__name__}. All its cells count as missing.",
            )
    return np.append(lookup, np.nan)[index]
