"""Probabilities of the labels, by models that have not seen them, and equal rows.

Equal rows matter in two ways. Where their labels differ, some of these are wrong. And
where records were copied together with their labels, a copy says nothing new: it must
not be among the rows that its twin is judged by. Where equal rows were labelled one by
one, though, each of these labels is the best evidence on the others. The labels tell
which of the two it is, for copied ones agree.

Either copies are joined or they are not, because labels come about in one way for all
rows; so there is one limit. It matters little close to it: where labels were copied and
one in twenty was changed later, the worst are ranked as well either way; and labels
made one by one that differ as seldom are rarely wrong.
"""

from __future__ import annotations

import reprlib
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
)

from splboost._data.labels import read_target, weights_of_classes
from splboost._data.table import Table, as_frame, mark_listed
from splboost._tools.user_warnings import warn
from splboost._tools.wording import counted
from splboost.audit.table_files import CATEGORY, kind_of_texts
from splboost.boosting.estimator_learner import check_shares
from splboost.selection.belief import calibrate, unweigh
from splboost.selection.forest import SPLForestClassifier
from splboost.selection.quick_forest import QuickForest

FloatArray = NDArray[np.float64]

SUM_ERROR = 1e-3  # by which given probabilities may miss a sum of 1
N_FOLDS = 5
MOST_DIFFER = 0.05  # share of repeated rows whose labels differ, if labels were copied
MOST_COPIES = 10  # mean copies per row of a class; with more the columns say little
FEWEST = 5  # different rows of a class that are needed to judge it by


# -------------------------------------------------------------------- what users give


def encode_original(
    original: Any, classes: NDArray[Any], n_rows: int
) -> NDArray[np.intp]:
    """Position among the classes of each label before a review; -1 if it is gone."""
    labels = read_target(original)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"original is of shape {labels.shape}, for {counted(n_rows, 'row')}; give "
            "the label that each row of y had before the review."
        )
    place = {label: k for k, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    if (found < 0).all():
        raise ValueError(
            f"original has none of the labels of y: {labels.tolist()[0]!r} is not in "
            f"{reprlib.repr(classes.tolist())}; give labels of the same type."
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
    if left_out:
        named = ", ".join(map(repr, left_out))
        warn(
            f"X has too many different texts to be categories in {named}, and labels "
            "are judged without them; make numbers of them, or list them in "
            "categorical_features."
        )
        if len(left_out) == frame.shape[1]:
            raise ValueError(
                f"X has no column to judge labels by: {named} have too many different "
                "texts to be categories; make numbers of them."
            )
    changed = frame.with_columns(*casts).drop(left_out)
    positions = [j for j, name in enumerate(changed.columns) if name in listed]
    return changed.to_native(), positions or None


def read_probabilities(
    pred_probs: Any,
    classes: NDArray[Any],
    codes: NDArray[np.integer],
) -> FloatArray:
    """Probabilities that the user gave, calibrated; frames go by names of columns."""
    given = np.asarray(_in_order(pred_probs, classes), dtype=np.float64)
    if given.shape != (codes.size, classes.size):
        raise ValueError(
            f"pred_probs is of shape {given.shape}; give a probability for each of the "
            f"{codes.size} rows and each of the {classes.size} classes, in the order "
            f"{reprlib.repr(classes.tolist())}."
        )
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
        f"pred_probs has the columns {reprlib.repr(names)}, and the classes are "
        f"{reprlib.repr(labels)}; name each column after its class, or give an array "
        "with columns in this order."
    )


def check_same_rows(**arguments: Any) -> None:
    """Refuse data of pandas that have other rows, or have them in another order.

    By their index, which is that of the first argument with one. How many rows there
    are is checked elsewhere.
    """
    indices = {
        name: data.index
        for name, data in arguments.items()
        if hasattr(getattr(data, "index", None), "equals")  # a list has such a method
    }
    for name, other in indices.items():
        first, index = next(iter(indices.items()))
        if other.size == index.size and not other.equals(index):
            found, wanted = (reprlib.repr(each.tolist()) for each in (other, index))
            raise ValueError(
                f"{name} has the index {found}, and {first} has {wanted}; give "
                f"{name}.reindex({first}.index), or {name}.set_axis({first}.index) if "
                "they are the same one by one."
            )


# --------------------------------------------------------------------------- equal rows


class Contradiction(NamedTuple):
    """Rows whose cells are all equal, but not their labels.

    Attributes
    ----------
    rows : their numbers
    codes : classes of their labels
    """

    rows: NDArray[np.intp]
    codes: NDArray[np.integer]


def number_equal_rows(table: Table) -> NDArray[np.intp]:
    """A number for each row, the same for equal rows. Missing cells are equal."""
    number = np.zeros(table.n_rows, dtype=np.intp)
    for j in range(table.n_features):
        if table.is_categorical[j]:
            cells = table.category(j)[1] + 1
        else:
            cells = np.unique(table.numeric(j), return_inverse=True)[1]
        pair = number * (int(cells.max(initial=0)) + 1) + cells
        number = np.unique(pair, return_inverse=True)[1]
    return number


def find_contradictions(
    equal: NDArray[np.intp], codes: NDArray[np.integer]
) -> list[Contradiction]:
    """All contradictions, by the numbers of `number_equal_rows`."""
    order = np.argsort(equal, kind="stable")
    ends = np.flatnonzero(np.diff(equal[order])) + 1
    groups = (Contradiction(rows, codes[rows]) for rows in np.split(order, ends))
    return [each for each in groups if (each.codes != each.codes[:1]).any()]


def join_copies(
    equal: NDArray[np.intp],
    codes: NDArray[np.integer],
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.intp] | None:
    """Groups of rows that must not judge each other; None if there are none.

    Parameters
    ----------
    equal : a number for each row, the same for equal rows
    codes : class of each row's label
    groups : number of each row's group, where there are groups already: two of them
        become one where they share a row

    Examples
    --------
    >>> import numpy as np
    >>> equal = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    >>> codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    >>> join_copies(equal, codes).tolist()
    [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> codes[1] = 1  # labelled one by one
    >>> join_copies(equal, codes) is None
    True
    """
    n_copies = np.bincount(equal)
    is_repeated = n_copies > 1
    label = np.empty(n_copies.size, dtype=codes.dtype)
    label[equal] = codes
    differs = np.bincount(equal, codes != label[equal]) > 0
    if not is_repeated.any() or differs[is_repeated].mean() > MOST_DIFFER:
        return groups
    class_size = np.bincount(codes)
    n_different = np.bincount(label, ~differs, minlength=class_size.size)
    has_enough = n_different >= np.maximum(FEWEST, class_size / MOST_COPIES)
    is_copied = is_repeated & ~differs & has_enough[label]
    if not is_copied.any():
        return groups
    # Rows that were not copied get numbers of their own, beyond the others.
    alone = n_copies.size + np.arange(equal.size)
    copies = np.unique(np.where(is_copied[equal], equal, alone), return_inverse=True)[1]
    if groups is None:
        return copies
    n_nodes = int(copies.max()) + int(groups.max()) + 2
    ends = copies, int(copies.max()) + 1 + groups
    links = coo_array((np.ones(equal.size, dtype=bool), ends), (n_nodes, n_nodes))
    joined: NDArray[np.intp] = connected_components(links, directed=False)[1][copies]
    return joined


# ------------------------------------------------------------------------------- judges


def judge_labels(
    judge: Any,
    X: Any,
    y: NDArray[Any],
    codes: NDArray[np.integer],
    groups: NDArray[np.intp] | None,
    trusted: Any,
    seed: int,
    n_jobs: int | None,
) -> tuple[FloatArray, Any]:
    """Probabilities of the labels: out of bag by a forest, else out of fold.

    They are NaN for rows that every model has seen. Rows of one group do not judge each
    other. Also the model, fitted to all rows.
    """
    if isinstance(judge, QuickForest):
        quick = clone(judge).fit(X, y, groups=groups)
        return quick.oob_decision_function_, quick
    if isinstance(judge, SPLForestClassifier):
        model = clone(judge).fit(X, y, groups=groups, trusted=trusted)
        found, given = model.oob_decision_function_, model.class_weight
        weights = weights_of_classes(given, model.classes_, codes, np.ones(codes.size))
        return unweigh(found, weights), model
    if not hasattr(judge, "predict_proba"):
        raise TypeError(
            f"estimator={judge!r} has no predict_proba, by which labels are "
            "judged; give one that has, or pred_probs."
        )
    found = cross_val_predict(
        clone(judge),
        X,
        codes,
        cv=make_folds(codes, groups, seed),
        method="predict_proba",
        n_jobs=n_jobs,
    )
    found = check_shares(judge, found, codes.size, int(codes.max()) + 1)
    belief = calibrate(found, codes, np.ones(codes.size)).apply(found)
    return belief, clone(judge).fit(X, y)


def make_folds(
    codes: NDArray[np.integer], groups: NDArray[np.intp] | None, seed: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to judge, in five folds with the same class shares.

    There are fewer folds if a class has fewer rows, or groups. Groups stay together.
    Where each group is of one class, as copies of a row are, they are dealt out one by
    one, which is fast: balancing groups of several classes takes time for each.
    """
    unit, units = "row", codes
    if groups is not None:
        unit = "group"
        units = np.unique(np.column_stack([groups, codes]), axis=0)[:, 1]
    rarest = int(np.bincount(units).min())
    if rarest < 2:
        raise ValueError(
            f"A class of y has only one {unit}, which no other fold knows; give it "
            f"another {unit}, leave it out, or audit with SPLForestClassifier, the "
            "default."
        )
    if rarest < N_FOLDS:
        warn(f"A class of y has only {rarest} {unit}s, so there are as many folds.")
    n_folds = min(rarest, N_FOLDS)
    options = {"n_splits": n_folds, "shuffle": True, "random_state": seed}
    if groups is None:
        return list(StratifiedKFold(**options).split(codes, codes))
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    if (codes != codes[first][number]).any():
        return list(StratifiedGroupKFold(**options).split(codes, codes, groups))
    fold = _deal(codes[first], np.bincount(number), n_folds, seed)[number]
    return [
        (np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)
    ]


def _deal(
    code: NDArray[np.integer], size: NDArray[np.intp], n_folds: int, seed: int
) -> NDArray[np.intp]:
    """A fold for each group: the largest first, to the fold with least of its class."""
    order = np.random.default_rng(seed).permutation(code.size)
    order = order[np.argsort(-size[order], kind="stable")]
    fold = np.empty(code.size, dtype=np.intp)
    of_class = [[0] * n_folds for _ in range(int(code.max()) + 1)]
    rows = [0] * n_folds
    for group in order.tolist():
        filled = of_class[int(code[group])]
        least = min(range(n_folds), key=lambda k: (filled[k], rows[k]))
        filled[least] += int(size[group])
        rows[least] += int(size[group])
        fold[group] = least
    return fold
