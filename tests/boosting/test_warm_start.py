"""Fitting on where the last fit ended, which must be as good as a single fit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import boosters
from boosters import fit_in_parts, quiet_fit
from helpers import CATEGORICAL, grow_ensemble, mixed_data
from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost._data.table import ArrayTable
from splboost.datasets import flip_labels, make_gaussians
from splboost.pace import Hard, Linear
from splboost.trees import CARTClassifier


def data(n_classes=2, n=150, seed=0, noise=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(1)
    score = X[:, 0] + X[:, 1]
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, flip_labels(y, noise, random_state=seed)[0]


def assert_same(one, other, X):
    boosters.assert_same(one, other, X)
    assert one.stop_reason_ == other.stop_reason_


def assert_like_a_single_fit(Booster, parts, *args, X=None, **options):
    data_options = options.pop("data", {})
    single = quiet_fit(
        Booster(n_estimators=parts[-1], **options), *args, **data_options
    )
    several = fit_in_parts(Booster(**options), parts, *args, **data_options)
    assert_same(several, single, args[0] if X is None else X)
    return single


# -- the same model -------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pace": None},
        {"pace": Hard(age=1.5), "learning_rate": 0.3},
        {"warm_rounds": 20},
        {"warm_rounds": 0, "pace": Linear(plateau=3.0)},
        {"inner_steps": 4},
        {"subsample": 0.6},
        {"subsample": 0.5, "inner_steps": 3},
        {"class_weight": "balanced"},
        {"on_perfect": "continue"},
        {"n_jobs": 2},
        {"estimator": CARTClassifier(max_depth=3), "learning_rate": 0.5},
        {"estimator": CARTClassifier(max_depth=2, max_features=2)},
        {"estimator": CARTClassifier(max_leaf_nodes=5, max_features="sqrt")},
        {"estimator": CARTClassifier(max_depth=2, min_samples_leaf=5)},
        {"estimator": DecisionTreeClassifier(max_depth=2, splitter="random")},
        {"estimator": RandomForestClassifier(2, max_depth=2), "subsample": 0.7},
        {"n_iter_no_change": 8},
        {"n_iter_no_change": 30, "scoring": "loss", "subsample": 0.8},
        {
            "n_iter_no_change": 6,
            "estimator": DecisionTreeClassifier(max_depth=1, splitter="random"),
        },
    ],
    ids=str,
)
def test_is_a_single_fit(n_classes, options):
    X, y = data(n_classes)
    n = 12 if isinstance(options.get("estimator"), RandomForestClassifier) else 30
    assert_like_a_single_fit(
        SPLBoostClassifier, (1, 4, n - 3, n - 2, n), X, y, random_state=3, **options
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("depth", [1, 3])
def test_missing_cells_categories_and_weights(n_classes, depth):
    X, y = mixed_data(200, n_classes)
    weight = np.random.default_rng(0).integers(0, 3, size=200).astype(float)
    single = assert_like_a_single_fit(
        SPLBoostClassifier,
        (5, 20),
        X,
        y,
        weight,
        estimator=CARTClassifier(max_depth=depth),
        categorical_features=CATEGORICAL,
    )
    assert any((each.tree_.which_set >= 0).any() for each in single.estimators_)
    frame = pd.DataFrame(X, columns=list("abcde")).astype({"d": "category"})
    assert_like_a_single_fit(SPLBoostClassifier, (7, 15), frame, y, weight)
    dense = frame[["a", "b", "c"]].fillna(0)
    assert_like_a_single_fit(
        SPLBoostClassifier, (3, 6), dense, y, weight, estimator=GaussianNB()
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_hundreds_of_rounds(n_classes):
    """Weights are brought back and rescaled on the way, and at the same rounds."""
    X, y = data(n_classes, 120, noise=0.1)
    for pace in (None, Linear(plateau=3.0)):
        assert_like_a_single_fit(
            AdaBoostClassifier, (150, 301, 500), X, y, pace=pace, on_perfect="continue"
        )


@given(
    st.integers(0, 10_000),
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
    st.sampled_from([0.15, 0.3, 0.6, 1.0]),
    st.sampled_from([2, 3]),
    st.sampled_from([None, 3, 8]),
)
@settings(max_examples=60)
def test_is_a_single_fit_however_it_goes(seed, steps, share, n_classes, patience):
    """Few rows and wild draws: rounds are passed over, and boosting ends early."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(30, 2)).astype(float)
    y = rng.permutation(np.arange(30) % n_classes)
    assert_like_a_single_fit(
        SPLBoostClassifier,
        np.cumsum(steps).tolist(),
        X,
        y,
        subsample=share,
        random_state=seed,
        pace=Hard(age=2.0),
        n_iter_no_change=patience,
    )


def test_rounds_after_the_best_are_gone_on_from():
    """The model keeps the best round, and yet the next fit starts at the last."""
    X, y = data()
    model = SPLBoostClassifier(n_iter_no_change=10, random_state=0, warm_start=True)
    model.set_params(n_estimators=12).fit(X, y)
    assert model.n_iter_ < 12 == len(model.validation_scores_)
    longer = SPLBoostClassifier(n_estimators=60, n_iter_no_change=10, random_state=0)
    assert_same(model.set_params(n_estimators=60).fit(X, y), longer.fit(X, y), X)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(7)])
def test_streams_go_on(random_state):
    """As if the fit had not ended, whatever was drawn from the same source since."""
    X, y = data()
    options = {"subsample": 0.5, "estimator": DecisionTreeClassifier(max_depth=1)}

    def make(**more):
        if random_state is None:
            np.random.seed(11)  # noqa: NPY002
        else:
            random_state.seed(11)
        return SPLBoostClassifier(random_state=random_state, **options, **more)

    single = make(n_estimators=20).fit(X, y)
    model = make(n_estimators=8, warm_start=True).fit(X, y)
    (np.random if random_state is None else random_state).seed(5)
    state = None if random_state is None else random_state.get_state()[1].copy()
    model.set_params(n_estimators=20).fit(X, y)
    assert_same(model, single, X)
    if state is not None:  # it is left alone
        np.testing.assert_array_equal(random_state.get_state()[1], state)


# -- when there is nothing to go on from ----------------------------------------------


def test_only_what_was_fitted_with_it_is_gone_on_from():
    X, y = data()
    model = SPLBoostClassifier(n_estimators=10).fit(X, y)
    model.set_params(warm_start=True, n_estimators=5).fit(X, y)  # anew
    assert model.n_iter_ == 5
    model.set_params(warm_start=False, n_estimators=3).fit(X, y)  # anew, too
    assert model.n_iter_ == 3
    model.set_params(warm_start=True, n_estimators=2).fit(X, y)
    assert model.n_iter_ == 2


def test_a_model_does_not_carry_what_it_does_not_need():
    X, y = data()
    model = SPLBoostClassifier(n_estimators=5).fit(X, y)
    assert "_continuation" not in vars(model)


def test_equal_numbers_leave_the_model_as_it_is():
    X, y = data()
    model = SPLBoostClassifier(n_estimators=10, warm_start=True).fit(X, y)
    before = dict(vars(model))
    model.fit(X, y)
    for name, value in vars(model).items():
        assert value is before[name] or name in ("classes_", "n_features_in_"), name


def test_equal_numbers_with_other_cells_are_refused():
    X, y = data()
    model = SPLBoostClassifier(n_estimators=10, warm_start=True).fit(X, y)
    before = model.decision_function(X)
    words = X.astype(object)
    words[3, 1] = "word"
    with pytest.raises(ValueError, match="word"):
        model.fit(words, y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_smaller_numbers_are_refused():
    X, y = data()
    model = SPLBoostClassifier(n_estimators=10, warm_start=True).fit(X, y)
    model.set_params(n_estimators=9)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="n_estimators=9 is less than the 10 rounds"):
        model.fit(X, y)
    assert vars(model) == before
    model.set_params(n_estimators=12).fit(X, y)
    assert model.n_iter_ == 12


# -- after a stop ---------------------------------------------------------------------


def test_after_a_perfect_fit():
    X, y = make_gaussians(20, random_state=0)
    X[:, 0] += 100 * y
    model = AdaBoostClassifier(n_estimators=10, warm_start=True).fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("perfect fit", 1)
    model.set_params(n_estimators=20).fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("perfect fit", 1)
    model.set_params(on_perfect="continue").fit(X, y)  # the reason is gone
    assert (model.stop_reason_, model.n_iter_) == ("all rounds done", 20)


class Moody(ClassifierMixin, BaseEstimator):
    """Learns something or nothing, as its random state has it."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.helpful_ = np.random.RandomState(self.random_state).rand() < 0.7
        self.stump_ = CARTClassifier(max_depth=1).fit(X, y, sample_weight)
        return self

    def predict(self, X):
        right = self.stump_.predict(X)
        return right if self.helpful_ else self.classes_[1 - right]


def test_after_no_edge():
    """Another draw might have an edge, but a single fit never tries."""
    X, y = data()
    lengths = set()
    for seed in range(12):
        single = assert_like_a_single_fit(
            AdaBoostClassifier,
            (1, 2, 4, 8, 20),
            X,
            y,
            random_state=seed,
            estimator=Moody(),
        )
        assert single.stop_reason_ == "no edge"
        lengths.add(single.n_iter_)
    assert len(lengths) > 3


def test_rounds_passed_over_are_remembered():
    """Ten in a row end a fit, no matter in which of the fits they were."""
    reasons = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = np.array([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] * 4)
        if seed > 5:
            X = rng.integers(0, 2, size=(16, 2)).astype(float)
        y = (X[:, 0] != X[:, 1]).astype(int)  # no stump has an edge, or hardly any
        options = {"subsample": 0.3, "random_state": seed, "warm_start": True}
        single = AdaBoostClassifier(n_estimators=40, **options)
        quiet_fit(single, X, y)
        parts = fit_in_parts(AdaBoostClassifier(**options), (3, 8, 17, 40), X, y)
        assert_same(parts, single, X)
        trees = [[tree.to_text() for tree in m.estimators_] for m in (parts, single)]
        assert trees[0] == trees[1]
        marks = parts._continuation.mark, single._continuation.mark
        assert marks[0].n_done == marks[1].n_done
        assert marks[0].n_skipped == marks[1].n_skipped
        reasons.add((single.stop_reason_, single.n_iter_ == 1))
    assert {
        ("no edge", True),
        ("no edge", False),
        ("all rounds done", False),
    } <= reasons


def test_after_no_improvement():
    X, y = data()
    options = {"n_iter_no_change": 5, "random_state": 0, "warm_start": True}
    model = SPLBoostClassifier(n_estimators=50, **options).fit(X, y)
    assert model.stop_reason_ == "no improvement"
    n_iter, n_done = model.n_iter_, len(model.validation_scores_)
    model.set_params(n_estimators=60).fit(X, y)
    assert (model.n_iter_, len(model.validation_scores_)) == (n_iter, n_done)
    # With more patience it goes on.
    options["n_iter_no_change"] = 15
    model.set_params(n_iter_no_change=15).fit(X, y)
    single = SPLBoostClassifier(n_estimators=60, **options).fit(X, y)
    assert len(model.validation_scores_) > n_done
    assert_same(model, single, X)


def test_after_an_interrupt_inside_a_round(monkeypatch):
    """The draws of the broken round are made again."""
    from splboost.boosting.adaboost import DiscreteStep

    X, y = data()
    estimator = CARTClassifier(max_features=2, max_depth=2)
    options = {"subsample": 0.6, "random_state": 0, "estimator": estimator}
    single = SPLBoostClassifier(n_estimators=30, **options).fit(X, y)
    take, calls = DiscreteStep.take, []

    def broken(self, scores, proposal):
        calls.append(take(self, scores, proposal))
        if len(calls) == 12:
            raise KeyboardInterrupt  # the scores have moved, the round is not noted
        return calls[-1]

    model = SPLBoostClassifier(
        n_estimators=30, warm_start=True, callback=lambda p: p.interrupted, **options
    )
    monkeypatch.setattr(DiscreteStep, "take", broken)
    model.fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 11)
    model.fit(X, y)
    assert_same(model, single, X)


def test_a_fit_that_fails_can_be_gone_on_from():
    X, y = data()
    options = {"subsample": 0.6, "random_state": 0}
    learner = DecisionTreeClassifier(max_depth=1)
    model = SPLBoostClassifier(learner, n_estimators=6, warm_start=True, **options)
    model.fit(X, y)

    def fail(progress):
        if progress.round == 9:
            raise RuntimeError("no more")

    model.set_params(n_estimators=12, callback=fail)
    with pytest.raises(RuntimeError, match="no more"):
        model.fit(X, y)
    assert model.n_iter_ == 6
    model.set_params(callback=None).fit(X, y)
    single = SPLBoostClassifier(learner, n_estimators=12, **options).fit(X, y)
    assert_same(model, single, X)


# -- other data -----------------------------------------------------------------------

X_GOOD, Y_GOOD = data(2, 60)
FRAME = pd.DataFrame(X_GOOD, columns=list("abcde"))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (X_GOOD, X_GOOD[:, :3], "X has 3 features without names, .* had 5 features"),
        (FRAME, FRAME[["b", "a", "c", "d", "e"]], "features 'b', 'a'.*had the 5 .*'a'"),
        (FRAME, X_GOOD, "X has 5 features without names, .*the 5 features 'a'"),
        (X_GOOD, FRAME, "the 5 features 'a'.*had 5 features without names"),
        (
            FRAME.assign(e=pd.Categorical(["x", "y"] * 30)),
            FRAME.assign(e=pd.Categorical(["x", "z"] * 30)),
            "column 'e' of X has the categories 'x', 'z', .*had .* 'x', 'y'; give",
        ),
        (
            FRAME.assign(e=pd.Categorical(["x", "y"] * 30)),
            FRAME,
            "column 'e' of X has numbers, .*had the categories 'x', 'y'",
        ),
    ],
)
def test_other_columns(first, second, message):
    model = SPLBoostClassifier(n_estimators=3, warm_start=True).fit(first, Y_GOOD)
    model.set_params(n_estimators=6)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=rf"warm_start=True: .*{message}"):
        model.fit(second, Y_GOOD)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


@pytest.mark.parametrize(
    "y", [Y_GOOD + 1, np.arange(60) % 3, np.where(Y_GOOD, "a", "b")]
)
def test_other_classes(y):
    model = SPLBoostClassifier(n_estimators=3, warm_start=True).fit(X_GOOD, Y_GOOD)
    with pytest.raises(ValueError, match=r"y has the classes .*had \[0, 1\]; give"):
        model.set_params(n_estimators=6).fit(X_GOOD, y)


def test_another_kind_of_learner():
    model = SPLBoostClassifier(n_estimators=2, warm_start=True).fit(X_GOOD, Y_GOOD)
    model.set_params(n_estimators=4, estimator=GaussianNB())
    with pytest.raises(ValueError, match=r"is a GaussianNB, .* was a CARTClassifier"):
        model.fit(X_GOOD, Y_GOOD)


def test_another_kind_of_validation():
    model = SPLBoostClassifier(n_estimators=5, warm_start=True).fit(X_GOOD, Y_GOOD)
    model.set_params(n_estimators=9)
    with pytest.raises(ValueError, match=r"data are given, .* before they were absent"):
        model.fit(X_GOOD, Y_GOOD, X_val=X_GOOD, y_val=Y_GOOD)
    model.set_params(n_iter_no_change=3)
    with pytest.raises(ValueError, match=r"data are held out, .* they were absent"):
        model.fit(X_GOOD, Y_GOOD)


def test_bad_parameter():
    with pytest.raises(ValueError, match=r"'warm_start'.*Got 'yes'"):
        SPLBoostClassifier(warm_start="yes").fit(X_GOOD, Y_GOOD)


# -- joined trees ---------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_parts_of_an_ensemble_join_to_the_whole(depth, n_classes):
    X, y = mixed_data(150, n_classes)
    options = {"categorical": CATEGORICAL, "max_depth": depth}
    whole = grow_ensemble(X, y, n_classes, 9, **options)
    assert (whole.which_set >= 0).any()
    joined = whole.slice(0, 4).joined(whole.slice(4, 5)).joined(whole.slice(5, 9))
    assert joined.n_trees == 9
    table = ArrayTable(X, CATEGORICAL)
    for t in range(9):
        ours, theirs = joined.tree(t), whole.tree(t)
        assert ours.coding == theirs.coding
        for name in ("feature", "child", "threshold", "missing_left", "value", "gain"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        split = ours.which_set >= 0
        np.testing.assert_array_equal(
            ours.sets[ours.which_set[split]], theirs.sets[theirs.which_set[split]]
        )
    np.testing.assert_array_equal(joined.apply(table), whole.apply(table))
