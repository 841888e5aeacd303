"""Text columns of a frame: categories, or of no use to an audit."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from splboost._data.table import as_frame, mark_listed
from splboost._tools.user_warnings import warn
from splboost.audit.files import CATEGORY, kind_of_texts


def read_text_columns(
    X: Any, categorical_features: Any, *, keep_all: bool
) -> tuple[Any, Any]:
    """X with text columns as categories, and its categorical features.

    Texts that recur, up to 100 different ones, are categories, and so are dates, as on
    the command line; columns of others are left out, with a warning. What is no frame
    stays as it is.

    Parameters
    ----------
    X : array-like or frame
    categorical_features : names, positions or a mask of columns, or None
    keep_all : make categories of all texts, however many
    """
    frame = as_frame(X)
    if not isinstance(frame, nw.DataFrame):
        return X, categorical_features
    is_listed = mark_listed(list(frame.columns), categorical_features)
    listed = [
        name for name, is_in in zip(frame.columns, is_listed, strict=True) if is_in
    ]
    casts, left_out = [], []
    for name, dtype in frame.schema.items():
        if name in listed or dtype not in (nw.String, nw.Date, nw.Datetime, nw.Time):
            continue
        texts = frame[name].cast(nw.String)
        there = texts.drop_nulls()
        is_category = kind_of_texts(there.n_unique(), len(there)) == CATEGORY
        if is_category or keep_all:
            casts.append(texts.cast(nw.Categorical))
        else:
            left_out.append(name)
    if left_out:
        warn(
            f"X has too many different texts to be categories in "
            f"{', '.join(map(repr, left_out))}, and labels are judged without; make "
            "numbers of them, or list them in categorical_features."
        )
    if not casts and not left_out:
        return X, categorical_features
    if len(left_out) == frame.shape[1]:
        raise ValueError(
            f"X has no column to judge labels by: {', '.join(map(repr, left_out))} "
            "have too many different texts to be categories; make numbers of them."
        )
    changed = (frame.with_columns(*casts) if casts else frame).drop(left_out)
    positions = [j for j, name in enumerate(changed.columns) if name in listed]
    return changed.to_native(), positions or None
