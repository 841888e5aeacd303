"""What users give to an audit besides a model: texts, labels, probabilities."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from splboost._data.labels import read_target
from splboost._data.table import as_frame, mark_listed
from splboost._tools.user_warnings import warn
from splboost.audit.table_files import CATEGORY, kind_of_texts
from splboost.selection.calibration import calibrate

FloatArray = NDArray[np.float64]

SUM_ERROR = 1e-3  # by which given probabilities may miss a sum of 1


def encode_original(
    original: Any, classes: NDArray[Any], n_rows: int
) -> NDArray[np.intp]:
    """Position among the classes of each label before a review; -1 if it is gone."""
    labels = read_target(original)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"original is of shape {labels.shape}, for {n_rows} rows; give the label "
            "that each row of y had before the review."
        )
    place = {label: k for k, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    if (found < 0).all():
        raise ValueError(
            f"original has none of the labels of y: {labels.tolist()[0]!r} is none of "
            f"{classes.tolist()}; give labels of the same type."
        )
    return found


def read_text_columns(
    X: Any, categorical_features: Any, *, keep_all: bool
) -> tuple[Any, Any]:
    """X with text columns as categories, and its categorical features.

    Dates are texts here, as on the command line. Columns of too many different texts
    are left out, with a warning, unless ``keep_all``. What is no frame stays as it is.
    """
    frame = as_frame(X)
    if not isinstance(frame, nw.DataFrame):
        return X, categorical_features
    is_listed = mark_listed(list(frame.columns), categorical_features)
    listed = np.array(frame.columns)[is_listed].tolist()
    casts, left_out = [], []
    for name, dtype in frame.schema.items():
        if name in listed or dtype not in (nw.String, nw.Date, nw.Datetime, nw.Time):
            continue
        texts = frame[name].cast(nw.String)
        known = texts.drop_nulls()
        if keep_all or kind_of_texts(known.n_unique(), len(known)) == CATEGORY:
            casts.append(texts.cast(nw.Categorical))
        else:
            left_out.append(name)
    if not casts and not left_out:
        return X, categorical_features
    named = ", ".join(map(repr, left_out))
    if left_out:
        warn(
            f"X has too many different texts to be categories in {named}, and labels "
            "are judged without; make numbers of them, or list them in "
            "categorical_features."
        )
    if len(left_out) == frame.shape[1]:
        raise ValueError(
            f"X has no column to judge labels by: {named} have too many different "
            "texts to be categories; make numbers of them."
        )
    changed = (frame.with_columns(*casts) if casts else frame).drop(left_out)
    positions = [j for j, name in enumerate(changed.columns) if name in listed]
    return changed.to_native(), positions or None


def read_probabilities(
    pred_probs: Any,
    classes: NDArray[Any],
    codes: NDArray[np.integer],
    beside: Mapping[str, Any],
) -> FloatArray:
    """Probabilities that the user gave, calibrated; columns of a frame by their names.

    Parameters
    ----------
    pred_probs : array-like or frame
    classes, codes : the labels
    beside : arguments that have the same rows, by their names
    """
    given = np.asarray(_in_order(pred_probs, classes), dtype=np.float64)
    if given.shape != (codes.size, classes.size):
        raise ValueError(
            f"pred_probs is of shape {given.shape}; give a probability for each of the "
            f"{codes.size} rows and each of the {classes.size} classes, in the order "
            f"{classes.tolist()}."
        )
    _check_index(pred_probs, beside)
    if np.isnan(given).any() or given.min() < 0:
        raise ValueError(
            "pred_probs has missing or negative entries; give probabilities."
        )
    if np.abs(given.sum(axis=1) - 1).max() > SUM_ERROR:
        raise ValueError(
            "pred_probs has rows that do not sum to 1; give probabilities of the "
            "classes, not scores."
        )
    return calibrate(given, codes, np.ones(codes.size)).apply(given)


def _in_order(pred_probs: Any, classes: NDArray[Any]) -> Any:
    """The columns of a frame in the order of the classes that they are named after."""
    if not isinstance(nw.from_native(pred_probs, pass_through=True), nw.DataFrame):
        return pred_probs
    names, labels = list(pred_probs.columns), classes.tolist()
    numbers = range(len(names))
    if names in (list(numbers), [f"column_{j}" for j in numbers]) and (
        set(names) != set(labels)
    ):
        return pred_probs  # the names that a library gives to columns without one
    for said, sought in ((names, labels), ([*map(str, names)], [*map(str, labels)])):
        if len(said) == len(sought) and set(said) == set(sought):
            return np.asarray(pred_probs)[:, [said.index(each) for each in sought]]
    raise ValueError(
        f"pred_probs has the columns {names}, and the classes are {labels}; name each "
        "column after its class, or give an array with columns in this order."
    )


def _check_index(pred_probs: Any, beside: Mapping[str, Any]) -> None:
    """Refuse a pandas frame whose index has other rows, or has them in another order.

    It is compared with the first of the other arguments that has an index.
    """
    indices = {
        name: data.index
        for name, data in {**beside, "pred_probs": pred_probs}.items()
        if hasattr(getattr(data, "index", None), "equals")  # a list has such a method
    }
    name = next(iter(indices), "pred_probs")
    if "pred_probs" in indices and not indices[name].equals(indices["pred_probs"]):
        found, wanted = (
            reprlib.repr(indices[each].tolist()) for each in ("pred_probs", name)
        )
        raise ValueError(
            f"pred_probs has the index {found}, and {name} has {wanted}; give "
            f"pred_probs.reindex({name}.index), or pred_probs.set_axis({name}.index) "
            "if they are the same one by one."
        )
