"""Text columns of a frame: categories, or of no use to an audit."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from splboost.advice import warn
from splboost.audit.files import CATEGORY, kind_of_texts
from splboost.trees.columns import Table


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
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X, categorical_features
    listed = _listed_columns(frame, categorical_features)
    casts, left_out = [], []
    for name, dtype in frame.schema.items():
        if name in listed or not (dtype == nw.String or dtype.is_temporal()):
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


def _listed_columns(frame: nw.DataFrame[Any], categorical_features: Any) -> list[str]:
    """Names of the columns that the user has listed."""
    table = Table()
    table.names, table.n_features = list(frame.columns), frame.shape[1]
    table._mark_categorical(categorical_features, [False] * table.n_features)
    return [table.names[j] for j in np.flatnonzero(table.is_categorical)]
