"""What may be a target, and what is said of one that looks wrong."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes

from splboost import (
    L2BoostRegressor,
    LogitBoostClassifier,
    SPLBoostClassifier,
    SPLForestClassifier,
)
from splboost.selection import StratifiedBags, spl_path
from splboost.trees import C45Classifier, CARTClassifier

MANY = r"y has \d+ classes in \d+ rows, .*If y is a number .* use a regressor"


class Fitted(Exception):
    """Something was fitted."""


@pytest.fixture
def never_fitted(monkeypatch):
    def fit(*args, **options):
        raise Fitted

    for name in (
        "boosting.fitting.Fitting.run",
        "selection.path.boost",
        "selection.forest.scout",
        "trees.estimators.BaseCART._grow",
        "trees.c45.c45_grower.C45Grower.grow",
    ):
        monkeypatch.setattr(f"splboost.{name}", fit)


@pytest.mark.parametrize(
    "model",
    [
        SPLBoostClassifier(),
        LogitBoostClassifier(),
        SPLForestClassifier(),
        CARTClassifier(),
        C45Classifier(),
    ],
)
@pytest.mark.parametrize("kind", [int, float, str])
def test_a_number_given_for_classes_is_noticed_before_the_fit(
    model, kind, never_fitted
):
    X, y = load_diabetes(return_X_y=True)
    assert np.unique(y).size == 214 and y.size == 442
    with pytest.warns(UserWarning, match=MANY) as caught, pytest.raises(Fitted):
        model.fit(X, y.astype(kind))
    told = [each for each in caught if re.search(MANY, str(each.message))]
    assert len(told) == 1
    assert told[0].filename == __file__


def test_it_is_noticed_in_a_path_and_by_bags(never_fitted):
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match=MANY), pytest.raises(Fitted):
        spl_path(X, y, cv=2)
    with pytest.warns(UserWarning, match=MANY):
        next(StratifiedBags(2).split(X, y))


@pytest.mark.parametrize(
    ("n_classes", "n_rows", "warned"),
    [
        (20, 20, False),  # too few rows to tell
        (11, 21, True),
        (10, 21, False),
        (100, 201, False),
        (101, 2019, True),
        (101, 2020, False),
        (300, 6000, False),
        (2, 2, False),
    ],
)
def test_how_many_classes_are_too_many(n_classes, n_rows, warned, never_fitted):
    y = np.arange(n_rows) % n_classes
    X = y[:, None] / 1.0
    weight = np.r_[np.ones(n_rows), np.zeros(n_rows)]  # rows that do not exist
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for data in ((X, y), (np.r_[X, X], np.r_[y, y + n_rows], weight)):
            with pytest.raises(Fitted):
                CARTClassifier(max_depth=1).fit(*data)
    assert len(caught) == 2 * warned


def test_numbers_that_are_not_whole_are_no_classes():
    X = np.arange(4.0)[:, None]
    message = "Unknown label type: continuous. y holds 0.5, .* use a regressor"
    for model in (CARTClassifier(), SPLBoostClassifier()):
        with pytest.raises(ValueError, match=message):
            model.fit(X, [0.0, 0.5, 1.0, 0.25])
    assert CARTClassifier().fit(X, [0.0, 2.0, 2.0, 0.0]).classes_.tolist() == [0, 2]


# -------------------------------------------------------------------- kinds of targets

WORDS = ["no", "yes"] * 6
WHOLE = [0, 1] * 6
X = np.column_stack([np.zeros(12), WHOLE])


def read_everywhere(y):
    """Classes of a tree, of a booster and of a path, which are the same."""
    tree = CARTClassifier().fit(X, y)
    booster = SPLBoostClassifier(n_estimators=2)
    booster.fit(X, y, X_val=X, y_val=y)
    assert booster.validation_scores_[-1] == 1
    np.testing.assert_array_equal(tree.classes_, booster.classes_)
    for cv in (2, StratifiedBags(2, random_state=0)):
        path = spl_path(X, y, booster=booster, plateaus=[2.0], depths=None, cv=cv)
        assert path.scores.min() == 1
    return tree.classes_


MISSING = r"Input y contains NaN.*Remove the rows"


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("Int64", WHOLE, "int64"),
        ("Int8", WHOLE, "int8"),
        ("int64[pyarrow]", WHOLE, "int64"),
        ("boolean", [value == 1 for value in WHOLE], "bool"),
        ("bool[pyarrow]", [value == 1 for value in WHOLE], "bool"),
        ("string", WORDS, "object"),
        ("string[pyarrow]", WORDS, "object"),
        ("Float64", WHOLE, "float64"),
    ],
)
def test_types_of_pandas_that_know_missing_values(kind, values, expected):
    classes = read_everywhere(pd.Series(values, dtype=kind))
    assert classes.dtype == expected
    assert classes.tolist() == sorted(set(values))
    with pytest.raises(ValueError, match=MISSING):
        SPLForestClassifier().fit(X, pd.Series([None, *values[1:]], dtype=kind))
    for other in (pd.array(values, dtype=kind), pd.Index(values, dtype=kind)):
        assert CARTClassifier().fit(X, other).classes_.dtype == expected


@pytest.mark.parametrize("values", [WHOLE, WORDS, [value == 1 for value in WHOLE]])
def test_missing_labels_are_named(values):
    missing = [None, *values[1:]]
    for y in (missing, np.array(missing, dtype=object), pl.Series(missing)):
        for model in (CARTClassifier(), SPLBoostClassifier(), SPLForestClassifier()):
            with pytest.raises(ValueError, match=MISSING):
                model.fit(X, y)
        with pytest.raises(ValueError, match=MISSING):
            spl_path(X, y)
        with pytest.raises(ValueError, match=MISSING):
            next(StratifiedBags().split(X, y))


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        (WHOLE, "int"),
        ([bool(value) for value in WHOLE], "bool"),
        ([np.bool_(value) for value in WHOLE], "bool_?"),
        ([0.5, 1.5] * 6, "float"),
        ([1, "a"] * 6, "int and str"),
        ([True, 2] * 6, "bool and int"),
        ([(0,), (1, 2)] * 6, "tuple"),
    ],
)
def test_objects_that_are_no_strings(values, kinds):
    """As in scikit-learn, whose scores and folds would not take them either."""
    y = np.empty(12, dtype=object)
    y[:] = values
    message = (
        rf"y is of dtype object and holds {kinds}\. Convert it, .*y\.astype\(int\)"
    )
    for given in (y, pd.Series(y, dtype=object)):
        for fit in (
            CARTClassifier().fit,
            SPLBoostClassifier().fit,
            SPLForestClassifier().fit,
            lambda X, y: next(StratifiedBags().split(X, y)),
        ):
            with pytest.raises(ValueError, match=message):
                fit(X, given)
    if kinds == "float":
        L2BoostRegressor(n_estimators=1).fit(X, y)


MASKED = np.ma.array(WHOLE, mask=np.arange(12) == 3)


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (SPLBoostClassifier(), {"y": MASKED}, "^y"),
        (L2BoostRegressor(), {"y": MASKED}, "^y"),
        (SPLBoostClassifier(), {"y_val": MASKED, "X_val": X}, "^y_val .* y"),
        (CARTClassifier(), {"sample_weight": MASKED}, "^sample_weight"),
        (SPLForestClassifier(), {"groups": MASKED}, "^groups"),
        (SPLForestClassifier(), {"trusted": MASKED.astype(bool)}, "^trusted"),
    ],
)
def test_masked_entries_are_refused(model, given, message):
    with pytest.raises(
        ValueError, match=f"{message} is masked in 1 of 12 entries; rem"
    ):
        model.fit(X, **{"y": WHOLE} | given)


def test_masked_arrays_without_masked_entries():
    weight = np.ma.array(np.arange(1.0, 13))
    model = SPLBoostClassifier(n_estimators=3).fit(X, np.ma.array(WHOLE), weight)
    plain = SPLBoostClassifier(n_estimators=3).fit(X, WHOLE, weight.data)
    np.testing.assert_array_equal(
        model.decision_function(X), plain.decision_function(X)
    )
    with pytest.raises(ValueError, match="y is masked in 1 of 12 entries"):
        next(StratifiedBags().split(X, MASKED))


LARGE = 2**53, 2**53 + 1


@pytest.mark.parametrize(
    "hold",
    [
        list,
        np.array,
        lambda y: np.array(y, dtype=np.uint64) + np.uint64(2**63),
        pd.Series,
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.Series(y).astype("category"),
        lambda y: pd.DataFrame({"y": pd.Series(y, dtype="Int64")}),
        pl.Series,
        lambda y: pl.DataFrame({"y": y}),
    ],
)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_labels_that_floats_would_merge(hold):
    X = np.arange(12.0)[:, None] % 2
    y = hold(list(LARGE * 6))
    model = SPLBoostClassifier(n_estimators=2).fit(X, y, X_val=X, y_val=y)
    assert model.classes_.dtype.kind in "iu" and np.diff(model.classes_).tolist() == [1]
    assert model.predict(X).tolist() == model.classes_.tolist() * 6


@pytest.mark.parametrize(
    "y", [[*LARGE, 1.0], [2**63, -1, 1], np.float32([2**24, 1, 1])]
)
def test_labels_that_floats_have_merged_are_refused(y):
    X = np.arange(3.0)[:, None]
    with pytest.raises(ValueError, match=r"y holds .* as a float.*integers.*text"):
        SPLBoostClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"y_val holds .* as a float.*integers.*text"):
        SPLBoostClassifier().fit(X, [0, 1, 1], X_val=X, y_val=y)


def test_integers_of_128_bits_are_no_labels():
    """Nor are those of Python, which numpy could make no others of."""
    large = [2**70, 2**70 + 1]
    for y in (pl.Series(large, dtype=pl.Int128), np.array(large, dtype=object)):
        said = r"y is of dtype object .* for instance with y\.astype\(str\)"
        with pytest.raises(ValueError, match=said):
            SPLBoostClassifier().fit([[0], [1]], y)
