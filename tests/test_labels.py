"""What may be a target, and what is said of one that looks wrong."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from splboost import LogitBoostClassifier, SPLBoostClassifier, SPLForestClassifier
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
        "boosting.fit.fitting.Fitting.run",
        "selection.pool.scout",
        "trees.estimators.BaseCART._grow",
        "trees.c45.grower.C45Grower.grow",
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
    assert len(caught) == 1
    assert caught[0].filename == __file__


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
def test_how_many_classes_are_too_many(n_classes, n_rows, warned):
    y = np.arange(n_rows) % n_classes
    X = y[:, None] / 1.0
    tree = CARTClassifier(max_depth=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tree.fit(X, y)
        weight = np.r_[np.ones(n_rows), np.zeros(n_rows)]  # rows that do not exist
        tree.fit(np.r_[X, X], np.r_[y, y + n_rows], weight)
    assert len(caught) == 2 * warned


def test_numbers_that_are_not_whole_are_no_classes():
    X = np.arange(4.0)[:, None]
    message = "Unknown label type: continuous. y holds 0.5, .* use a regressor"
    for model in (CARTClassifier(), SPLBoostClassifier()):
        with pytest.raises(ValueError, match=message):
            model.fit(X, [0.0, 0.5, 1.0, 0.25])
    assert CARTClassifier().fit(X, [0.0, 2.0, 2.0, 0.0]).classes_.tolist() == [0, 2]
