"""Warnings name the user's line, and are given once in what is one piece of work."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest

from splboost import PaceSearchCV, SPLBoostClassifier, SPLForestClassifier
from splboost._tools.user_warnings import keeping_advice, once, warn
from splboost.selection.workers import work_through
from splboost.trees import C45Classifier


@pytest.fixture
def caught():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def texts(caught):
    assert {each.filename for each in caught} <= {__file__}
    return [str(each.message) for each in caught]


def test_once(caught):
    warn("a")
    warn("a")
    with once():
        warn("a")
        with once():
            warn("a")
            warn("b", topic="that")
        warn("another b", topic="that")
        warn("c")
    warn("c")
    assert texts(caught) == ["a", "a", "a", "b", "c", "c"]


def test_once_ends_with_an_error(caught):
    with pytest.raises(ZeroDivisionError), once():
        warn("a")
        raise ZeroDivisionError
    warn("a")
    assert texts(caught) == ["a", "a"]


def test_kept_for_another_thread(caught):
    def work():
        with keeping_advice() as kept:
            warn("a", topic="that")
            warn("b")
        found.extend(kept)

    found = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not caught
    assert found == [("a", "that"), ("b", "b")]


def complain(number, stop):
    warn(f"of {number}", topic="them")
    return number


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_workers_leave_warnings_to_their_caller(caught, n_jobs):
    options = {"n_jobs": n_jobs, "verbose": 0, "title": "", "unit": ""}
    pieces = [(k,) for k in range(5)]
    assert work_through(complain, pieces, **options) == list(range(5))
    assert sorted(texts(caught)) == [f"of {k}" for k in range(5)]
    caught.clear()
    with once():
        work_through(complain, pieces, **options)
    assert len(texts(caught)) == 1


# ---------------------------------------------------------------------------- of models


def towns(n=640):
    """Two columns of 300 categories, and a number in too large a unit for C4.5."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "town": pd.Categorical(np.arange(n) % 300),
            "road": pd.Categorical(np.arange(n) * 7 % 300),
            "metres": rng.normal(size=n),
        }
    )
    return frame, (frame["metres"] + 0.3 * rng.normal(size=n) > 0).to_numpy()


POOLED = (
    "Columns with more than 255 categories: 'town' (300), 'road' (300). The 254 "
    "heaviest of each are kept and the rest pooled into one; group them yourself to "
    "choose otherwise."
)


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: SPLBoostClassifier(n_estimators=8).fit(X, y),
        lambda X, y: PaceSearchCV(grid=[2.0, 3.0], cv=3, random_state=0).fit(X, y),
        lambda X, y: SPLForestClassifier(n_bags=3, random_state=0).fit(X, y),
    ],
    ids=["booster", "search", "forest"],
)
def test_pooled_categories_are_named_once(caught, fit):
    fit(*towns())
    assert texts(caught).count(POOLED) == 1
    assert [text for text in texts(caught) if "categories" in text] == [POOLED]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_every_part_would_say_is_said_once(caught, n_jobs):
    X, y = towns(120)
    X = X[["metres"]] * 1e-6
    booster = SPLBoostClassifier(C45Classifier(max_depth=1), n_estimators=8)
    options = {"grid": [3.0, 4.0], "cv": 3, "random_state": 0, "n_jobs": n_jobs}
    PaceSearchCV(booster, **options).fit(X, y)
    assert sum(text.startswith("C4.5 takes values") for text in texts(caught)) == 1

    def scoring(model, X, y):
        return np.mean(model.predict(X) == y)

    caught.clear()
    booster = SPLBoostClassifier(n_estimators=8)
    search = PaceSearchCV(booster, scoring=scoring, **options)
    search.fit(X, y, sample_weight=np.arange(1, 121))
    assert sum("takes no sample_weight" in text for text in texts(caught)) == 1


# ------------------------------------------------------------- rounds without any pace


@pytest.mark.parametrize("grid", [[2.0, np.inf], None])
def test_a_choice_within_the_warm_rounds(caught, grid):
    """One cut says all there is to know."""
    X = np.repeat(np.arange(4.0), 15)[:, None]
    y = (X[:, 0] > 1).astype(int)
    y[::10] = 1 - y[::10]
    search = PaceSearchCV(SPLBoostClassifier(n_estimators=6), grid=grid, random_state=0)
    search.fit(X, y)
    assert search.best_params_["n_estimators"] == 1
    assert [text for text in texts(caught) if "warm_rounds" in text] == [
        "The search has chosen n_estimators=1, within the warm_rounds=3 before a pace "
        "sets in, so that no pace acts. Give the booster fewer warm_rounds to let "
        "paces compete."
    ]
    caught.clear()
    search.set_params(booster__warm_rounds=0).fit(X, y)
    search.set_params(booster__warm_rounds=3, booster__pace=None, grid=None).fit(X, y)
    assert not [text for text in texts(caught) if "warm_rounds" in text]
