"""Warnings and errors of all boosters, and of weak learners that will not do."""

import os
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boosters import BOOSTERS, OF_CLASSIFIERS, PACED, data, data_for, make, quiet_fit
from splboost import (
    AdaBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SPLBoostClassifier,
)
from splboost.pace import Hard
from splboost.trees import CARTClassifier, CARTRegressor

# -- warnings -------------------------------------------------------------------------


@pytest.mark.parametrize("name", PACED)
def test_a_pace_that_no_round_has_felt_is_warned_of(name):
    X, y = data_for(name)
    model = make(name, pace=Hard(plateau=3.0), n_estimators=3, warm_rounds=3)
    message = (
        r"pace=Hard\(plateau=3\.0\) has had no effect: all 3 rounds were among the "
        r"warm_rounds=3 .* Give fewer warm_rounds or a larger n_estimators"
    )
    with pytest.warns(UserWarning, match=message):
        model.fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"n_estimators": 4},
        {"warm_rounds": 2},
        {"pace": None},
        {"pace": Hard(plateau=np.inf)},
        {"n_iter_no_change": 5},
        {"warm_start": True},
        {"callback": lambda progress: True},
    ],
    ids=lambda options: str(list(options)),
)
def test_of_others_it_is_not(options):
    given = {"pace": Hard(plateau=3.0), "n_estimators": 3, "warm_rounds": 3, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make("gentle", **given).fit(*data())


def test_of_a_default_it_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SPLBoostClassifier(n_estimators=3).fit(*data())


# -- errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("logit", {"z_max": 1.0}, r"'z_max'.*\(1\.0, inf\].*Got 1\.0.*at least 1 in"),
        ("logit", {"z_max": np.nan}, "'z_max'.*Got nan.*at least 1 in size"),
        ("logit", {"z_max": "4"}, "'z_max'.*Got '4'.*working response"),
        ("rboost, fisher", {"z_max": 0.5}, "'z_max'.*Got 0.5.*working response"),
        ("logit", {"z_clip": "weight"}, "'z_clip'.*'gradient'.*Got 'weight'"),
        ("rboost, mm", {"variant": "newton"}, "'variant'.*'fisher'.*Got 'newton'"),
        ("savage", {"line_search": "yes"}, "'line_search'.*Got 'yes'"),
        ("gentle", {"learning_rate": 0.0}, r"\[1e-09, 1\.0\].*Got 0\.0.*full step"),
        ("gentle", {"learning_rate": 1.5}, "'learning_rate'.*Got 1.5.*overshoots"),
        ("l2", {"learning_rate": np.nan}, "'learning_rate'.*Got nan.*overshoots"),
        ("real", {"n_estimators": 0}, "'n_estimators'.*Got 0.*needs a learner"),
        ("real", {"subsample": 0.0}, r"'subsample'.*\(0\.0, 1\.0\].*Got 0.*share"),
        ("real", {"warm_rounds": -1}, "'warm_rounds'.*Got -1.*0 lets the pace"),
        ("real", {"tol": -1.0}, r"'tol'.*Got -1\.0.*0 takes any"),
        ("real", {"n_iter_no_change": 0}, "'n_iter_no_change'.*Got 0.*None does not"),
        ("real", {"validation_fraction": 1.0}, "'validation_fraction'.*left to fit"),
        ("robust", {"epsilon": 0.0}, r"'epsilon'.*\(0\.0, 1\.0\).*Got 0.*no end of"),
        ("robust", {"epsilon": 1.0}, "'epsilon'.*Got 1.0.*met before boosting begins"),
        ("brown", {"epsilon": 1.0}, "'epsilon'.*Got 1.0.*met before boosting begins"),
        ("brown", {"epsilon": np.nan}, "'epsilon'.*Got nan.*average potential"),
        (
            "robust, two-sided",
            {"epsilon": 0.6},
            r"epsilon=0\.6 .*theta=0.* two-sided form, below 0\.5: .*Lower epsilon",
        ),
        (
            "robust",
            {"epsilon": 0.6, "theta": -0.7},
            r"epsilon=0\.6 .*theta=-0\.7 .*one-sided form, below 0\.28.*raise theta",
        ),
        ("robust", {"theta": np.nan}, "theta=nan is no margin .*finite"),
        ("robust", {"theta": np.inf}, "theta=inf is no margin .*finite"),
        ("robust", {"theta": "0"}, "'theta'.*Got '0'.*margin that samples"),
        ("robust", {"sigma": 0.0}, r"'sigma'.*Got 0\.0.*width of the potential"),
        ("robust", {"sigma": np.inf}, "'sigma'.*Got inf.*width of the potential"),
        ("robust", {"sigma": 1e-9}, "sigma=1e-09 is no width .*from 1e-06 on"),
        ("robust", {"variant": "both"}, "'variant'.*'two-sided'.*Got 'both'"),
        ("gentle", {"pace": Hard(age=-1.0)}, r"Hard: age must be .* got age=-1\.0"),
        ("l2", {"pace": Hard(plateau=0.0)}, r"Hard: plateau must be .*plateau=0\.0"),
        ("l2", {"pace": Hard(prior_corrected=True)}, "a regression has none"),
    ],
)
def test_bad_parameters(name, options, message):
    X, y = data_for(name)
    model = make(name).set_params(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "n_iter_")


@pytest.mark.parametrize(
    ("variant", "estimator", "fault"),
    [
        ("gentle", CARTClassifier(), "not a regressor, .* fits numbers"),
        ("discrete", CARTRegressor(), "not a classifier"),
    ],
)
def test_variants_say_which_learners_they_take(variant, estimator, fault):
    remedy = (
        "RBoostClassifier takes classifiers with variant='discrete' and regressors "
        "with variant='fisher' or 'gentle' or 'mm'"
    )
    with pytest.raises(TypeError, match=f"{fault}.* {remedy}"):
        RBoostClassifier(estimator, variant=variant).fit(*data())
    with pytest.raises(TypeError) as caught:
        RobustBoostClassifier(CARTRegressor()).fit(*data())
    assert "variant" not in str(caught.value)


@pytest.mark.parametrize("name", ["gentle", "real", "ada"])
@pytest.mark.parametrize("frames", [pd, pl])
def test_foreign_learners_that_cannot_read_categories(name, frames):
    X, y = data()
    colour = np.where(y, "red", "green").tolist()
    if frames is pd:
        frame = pd.DataFrame({"size": X[:, 0], "colour": pd.Categorical(colour)})
    else:
        texts = pl.Series(colour, dtype=pl.Categorical)
        frame = pl.DataFrame({"size": X[:, 0], "colour": texts})
    model = (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3)
        if name == "ada"
        else make(name, "foreign")
    )
    message = (
        r"estimator=DecisionTree\w+\(.*\) cannot read the categories of X in 'colour' "
        r"\(could not convert string to float: '(red|green)'\)\. Encode them, .* or "
        "boost a tree of splboost.trees"
    )
    with pytest.raises(ValueError, match=message):
        model.fit(frame, y)
    assert not hasattr(model, "n_iter_")
    quiet_fit(model, frame[["size"]], y)  # and what it can read is read


def test_learners_that_read_categories_are_blamed_for_their_own_faults():
    X, y = data()
    frame = pd.DataFrame(X).astype({0: "category"})
    frame.columns = frame.columns.astype(str)
    learner = HistGradientBoostingClassifier(max_iter=-3)
    with pytest.raises(ValueError, match=r"^The 'max_iter' parameter"):
        AdaBoostClassifier(learner).fit(frame, y)


def test_a_regression_tree_is_no_classifier():
    X, y = data()
    with pytest.raises(TypeError, match="is not a classifier"):
        AdaBoostClassifier(CARTRegressor()).fit(X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_constructors_without_a_pace():
    class OfHardPace(SPLBoostClassifier):
        def __init__(self, n_estimators=2):
            super().__init__(n_estimators=n_estimators, pace="hard")

    assert OfHardPace().fit(*data()).n_iter_ == 2


def test_an_error_is_not_its_own_cause():
    with pytest.raises(ValueError, match="infinity") as raised:
        AdaBoostClassifier().fit([[1.0, np.inf], [2.0, 3.0]], [0, 1])
    assert raised.value.__cause__ is not raised.value


def test_the_subsample_that_an_error_names_will_do():
    X, y = data()
    with pytest.raises(ValueError, match="give at least") as raised:
        AdaBoostClassifier(subsample=1e-4).fit(X, y)
    enough = float(re.search(r"at least (\S+)\.$", str(raised.value))[1])
    AdaBoostClassifier(subsample=enough, n_estimators=1).fit(X, y)


def test_log_probabilities():
    X, y = data()
    clf = AdaBoostClassifier(n_estimators=3).fit(X, y)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), clf.predict_proba(X))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_column_without_any_value(make):
    X, y = data()
    frame = make({"x": X[:, 0], "nothing": [None] * y.size})
    with_it = AdaBoostClassifier(n_estimators=5).fit(frame, y)
    without = AdaBoostClassifier(n_estimators=5).fit(X[:, :1], y)
    np.testing.assert_array_equal(with_it.predict(frame), without.predict(X[:, :1]))


def test_lists_with_categories():
    cells = [["a", 1.0], ["b", 2.0]] * 20
    clf = AdaBoostClassifier(n_estimators=2, categorical_features=[0])
    clf.fit(cells, [0, 1] * 20)
    assert clf.predict([["b", 1.5], ["a", 1.5]]).tolist() == [1, 0]


@pytest.mark.parametrize("pace", [2.0, Hard, ["hard"]])
def test_what_is_no_pace_is_told_what_is(pace):
    X, y = data()
    with pytest.raises((TypeError, ValueError), match="Hard"):
        AdaBoostClassifier(pace=pace).fit(X, y)


def test_other_faults_of_foreign_learners_are_their_own():
    X, y = data()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"^Input X contains NaN"):
        AdaBoostClassifier(LogisticRegression()).fit(X, y)


@pytest.mark.parametrize(
    "cells", [np.array([[1.0, "red"], [2.0, "7"]] * 20, dtype=object), None]
)
@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier()])
def test_texts_among_numbers_are_named(cells, learner):
    if cells is None:
        cells = [["1.5", "red"], ["2", "7"]] * 20
    message = (
        "Column 1 of X holds 'red', which is no number; encode it, or use trees of "
        "splboost.trees and list the column in categorical_features"
    )
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(learner).fit(cells, [0, 1] * 20)


class LostTree(DecisionTreeClassifier):
    """Has no answer for rows far away."""

    def predict(self, X):
        return np.where(X[:, 0] > 99, np.nan, super().predict(X))

    def predict_proba(self, X):
        return np.where(X[:, :1] > 99, np.nan, super().predict_proba(X))


class LostRegressor(DecisionTreeRegressor):
    def predict(self, X):
        return np.where(X[:, 0] > 99, np.inf, super().predict(X))


@pytest.mark.parametrize("name", BOOSTERS)
def test_learners_that_answer_with_no_number_are_named(name):
    X, y = data_for(name)
    lost = LostTree if name in OF_CLASSIFIERS else LostRegressor
    model = make(name).set_params(estimator=lost(max_depth=1), n_estimators=3)
    model.fit(X, y)
    X[3, 0] = 100.0
    message = rf"{lost.__name__} answers predict.* with .*(nan|inf).*choose another"
    with pytest.raises(ValueError, match=message):
        model.predict(X)
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, y)


def test_constant_columns_that_a_learner_cannot_take():
    message = r"GaussianNB answers predict_proba with \[nan, nan\].*constant columns"
    with pytest.raises(ValueError, match=message):
        RealAdaBoostClassifier(GaussianNB()).fit(np.ones((20, 1)), [0, 1] * 10)


ANSWERS = {
    "negative": (lambda p: 3 * p - 1, r"\[.*-.*\] for row"),
    "of no sum 1": (lambda p: p + 1, r"\[.*\] for row 0, and in 39 more rows"),
    "of one class": (lambda p: p[:, :1], r"shape \(40, 1\) for 40 rows.* of 2 classes"),
    "of fewer rows": (lambda p: p[1:], r"shape \(39, 2\) for 40 rows"),
    "texts": (lambda p: p.astype(str) + "x", "an object of type ndarray"),
}


@pytest.mark.parametrize(("change", "said"), ANSWERS.values(), ids=ANSWERS)
def test_answers_that_are_no_probabilities(change, said):
    class OddTree(DecisionTreeClassifier):
        def predict_proba(self, X):
            return change(super().predict_proba(X))

    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    with pytest.raises(ValueError, match=f"OddTree answers predict_proba with.*{said}"):
        RealAdaBoostClassifier(OddTree(max_depth=2)).fit(X, y)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda labels: labels + 5, r"5, and not with labels of \[0, 1\]"),
        (lambda labels: labels.astype(str), "'0', and not with labels of"),
        (lambda labels: labels[1:], r"shape \(39,\) for 40 rows"),
    ],
)
def test_answers_that_are_no_labels(change, said):
    class OddTree(DecisionTreeClassifier):
        def predict(self, X):
            return change(super().predict(X))

    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    with pytest.raises(ValueError, match=f"OddTree answers predict with.*{said}"):
        AdaBoostClassifier(OddTree(max_depth=2)).fit(X, y)


@pytest.mark.parametrize("name", BOOSTERS)
def test_learners_that_will_not_do(name):
    X, y = data_for(name)
    wrong = CARTRegressor() if name in OF_CLASSIFIERS else CARTClassifier()
    kind = "classifier" if name in OF_CLASSIFIERS else "regressor"
    with pytest.raises(TypeError, match=rf"estimator=CART.*is not a {kind}.*give"):
        make(name).set_params(estimator=wrong).fit(X, y)


def test_categories_that_a_learner_cannot_read_are_named_at_predict():
    """A column that is missing all through the fit is a number to scikit-learn."""
    missing = pl.Series([None] * 4, dtype=pl.Categorical)
    X = pl.DataFrame({"a": [1.0, 2, 3, 4], "colour": missing})
    new = X.with_columns(pl.Series("colour", ["red"] * 4, dtype=pl.Categorical))
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=2)
    model.fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="cannot read the categories of X in 'colour'"):
        model.predict(new)


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="the memory is not known")
@pytest.mark.parametrize(
    "kind", [SPLBoostClassifier, RBoostClassifier, RobustBoostClassifier]
)
def test_scores_beyond_the_memory_are_refused(monkeypatch, kind):
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = np.arange(400) % 20
    with monkeypatch.context() as patch:
        patch.setattr("os.sysconf", {"SC_PAGE_SIZE": 64, "SC_PHYS_PAGES": 1000}.get)
        with pytest.raises(MemoryError, match="400 rows for each of 20 classes"):
            kind().fit(X, y)
        quiet_fit(kind(n_estimators=1), X, y > 9)
    quiet_fit(kind(n_estimators=1), X, y)
