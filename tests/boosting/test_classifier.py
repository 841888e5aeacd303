"""The boosters as scikit-learn estimators: protocol, data, composition, errors."""

import _thread
import multiprocessing
import pickle
import signal
import threading
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from helpers import CATEGORICAL, mixed_data, parametrize_by_turns, read_data
from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.datasets import flip_labels, make_gaussians
from splboost.pace import Hard, Linear, Pace
from splboost.trees import CARTClassifier

both = pytest.mark.parametrize("Booster", [AdaBoostClassifier, SPLBoostClassifier])
two_and_three = pytest.mark.parametrize("n_classes", [2, 3])


def stumps(n_estimators=15, **options):
    return SPLBoostClassifier(n_estimators=n_estimators, **options)


def trees(n_estimators=15, depth=2, **options):
    tree = CARTClassifier(max_depth=depth)
    return SPLBoostClassifier(tree, n_estimators=n_estimators, **options)


def gaussians(n_per_class=60, seed=0):
    X, y = make_gaussians(n_per_class, random_state=seed)
    return X, flip_labels(y, 0.15, random_state=seed)[0]


def data(n_classes, n=150):
    """Five columns of which the first two tell the class, a tenth of them wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)).round(2)
    score = X[:, 0] + X[:, 1]
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, flip_labels(y, 0.1, random_state=0)[0]


@both
def test_is_a_classifier(Booster):
    assert is_classifier(Booster())
    tags = Booster().__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    assert tags.classifier_tags.multi_class


def test_parameters_are_the_same_but_for_the_pace():
    ada, spl = AdaBoostClassifier().get_params(), SPLBoostClassifier().get_params()
    assert {key for key in ada if ada[key] != spl[key]} == {"pace"}


# -- what is learned ------------------------------------------------------------------


@parametrize_by_turns(make=[stumps, trees], n_classes=[2, 3])
def test_attributes(make, n_classes):
    X, y = data(n_classes)
    model = make(pace=Hard(age=2.0), warm_rounds=2).fit(X, y)
    assert model.n_iter_ == 15
    assert model.stop_reason_ == "all rounds done"
    for name in ("weights", "errors"):
        values = getattr(model, f"estimator_{name}_")
        assert values.shape == (15,)
        assert (values > 0).all()
    assert model.latent_objective_.shape == model.n_selected_.shape == (15,)
    assert model.n_selected_[:2].tolist() == [150, 150]
    assert model.n_selected_[-1] < 150
    assert model.sample_pace_.shape == (150,)
    assert set(model.sample_pace_) == {0.0, 1.0}
    assert len(model.estimators_) == 15
    assert model.classes_.tolist() == list(range(n_classes))
    assert model.n_features_in_ == 5
    importances = model.feature_importances_
    assert importances.shape == (5,)
    assert (importances >= 0).all()
    np.testing.assert_allclose(importances.sum(), 1)
    assert importances[:2].sum() > 0.5


def votes_of(model, X):
    """The score, summed from what the fitted learners predict."""
    k = len(model.classes_)
    score = np.zeros((len(X), k))
    rate = model.learning_rate
    for alpha, learner in zip(model.estimator_weights_, model.estimators_, strict=True):
        voted = learner.predict(X)[:, None] == model.classes_
        score += rate * alpha * np.where(voted, 1, -1 / (k - 1))
    return score if k > 2 else score[:, 1]


@parametrize_by_turns(
    learner=[
        None,
        CARTClassifier(max_depth=3),
        GaussianNB(),
        DecisionTreeClassifier(max_depth=2),
    ],
    n_classes=[2, 3],
)
def test_the_score_is_the_sum_of_the_votes(learner, n_classes):
    X, y = data(n_classes)
    y = np.array(["no", "yes", "perhaps"])[y]
    model = SPLBoostClassifier(learner, n_estimators=20, learning_rate=0.8).fit(X, y)
    weak = CARTClassifier if learner is None else type(learner)
    assert all(type(each) is weak for each in model.estimators_)
    np.testing.assert_allclose(
        model.decision_function(X), votes_of(model, X), rtol=1e-9, atol=1e-9
    )


def test_votes_agree_where_classes_tie():
    # Boosting makes ties: the learner before has no edge under the new weights.
    for seed in range(20):
        X = np.random.default_rng(seed).integers(0, 4, size=(40, 2)).astype(float)
        y = np.random.default_rng(seed + 100).integers(0, 5, size=40)
        model = AdaBoostClassifier(n_estimators=12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        np.testing.assert_allclose(
            model.decision_function(X), votes_of(model, X), atol=1e-9
        )


def test_stages_stay_exact_for_many_rounds():
    X, y = gaussians()
    model = AdaBoostClassifier(n_estimators=1500).fit(X, y)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_array_equal(last, model.decision_function(X))


@two_and_three
def test_labels_follow_from_scores_and_probabilities(n_classes):
    X, y = data(n_classes)
    names = np.array(["b", "a", "c"])
    model = stumps().fit(X, names[y])
    score, share = model.decision_function(X), model.predict_proba(X)
    best = score.argmax(axis=1) if n_classes == 3 else (score > 0).astype(int)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best])
    np.testing.assert_array_equal(share.argmax(axis=1), best)
    if n_classes == 3:
        np.testing.assert_allclose(score.sum(axis=1), 0, atol=1e-9)
    else:
        np.testing.assert_allclose(share[:, 1], 1 / (1 + np.exp(-2 * score)))


# -- weak learners --------------------------------------------------------------------


@parametrize_by_turns(
    learner=[
        LogisticRegression(),
        GaussianNB(),
        DecisionTreeClassifier(max_depth=1, max_features=1),
        HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3),
        RandomForestClassifier(2, max_depth=2),
        CARTClassifier(max_leaf_nodes=4, criterion="entropy", max_features="sqrt"),
    ],
    n_classes=[2, 3],
)
def test_weak_learners(learner, n_classes):
    X, y = data(n_classes)
    X = pd.DataFrame(X, columns=list("abcde"))
    y = np.array(["no", "yes", "perhaps"])[y]
    options = {"n_estimators": 4, "random_state": 0}
    model = SPLBoostClassifier(learner, **options).fit(X, y)
    assert model.score(X, y) > 1.2 / n_classes
    assert model.classes_.tolist() == sorted(set(y))
    again = SPLBoostClassifier(learner, **options).fit(X, y)
    np.testing.assert_array_equal(
        model.decision_function(X), again.decision_function(X)
    )
    assert not hasattr(learner, "classes_")  # a template is not fitted


def test_weak_learners_are_seeded_anew_each_round():
    X, y = data(2)
    learner = DecisionTreeClassifier(max_depth=1, splitter="random", random_state=0)
    model = AdaBoostClassifier(learner, n_estimators=6, random_state=1).fit(X, y)
    assert len({each.random_state for each in model.estimators_}) == model.n_iter_


def test_weights_of_weak_learners():
    """Positive, and summing to those of the user on the rows handed over."""
    totals = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight):
            totals.append((X[:, -1].sum(), sample_weight.sum()))
            assert (sample_weight > 0).all()
            return super().fit(X[:, :-1], y, sample_weight)

        def predict(self, X):
            return super().predict(X[:, :-1])

    X, y = data(2)
    weight = np.random.default_rng(1).integers(0, 4, size=150)
    X = np.column_stack([X, weight])
    model = SPLBoostClassifier(
        Spy(max_depth=1), n_estimators=10, pace=Hard(age=2.0), subsample=0.9
    )
    model.set_params(random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(*np.transpose(totals))
    assert len({total for total, _ in totals}) > 5


def test_weak_learners_without_importances():
    model = SPLBoostClassifier(GaussianNB(), n_estimators=2).fit(*data(2))
    with pytest.raises(AttributeError, match="GaussianNB has no feature_importances_"):
        model.feature_importances_  # noqa: B018
    model.set_params(estimator=DecisionTreeClassifier(max_depth=1)).fit(*data(2))
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)


class NoWeights(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("learner", "error", "message"),
    [
        (KNeighborsClassifier(), ValueError, "KNeighborsClassifier.*sample_weight"),
        (make_pipeline(GaussianNB()), ValueError, "Pipeline.*sample_weight.*choose"),
        (StandardScaler(), ValueError, "estimator"),
        ("tree", ValueError, "estimator"),
        (CARTClassifier, TypeError, r"estimator=CARTClassifier is a class; .*\(\)"),
        (LinearRegression(), TypeError, "LinearRegression.* is not a classifier"),
        (KMeans(), TypeError, "KMeans.* is not a classifier"),
        (NoWeights(), ValueError, "NoWeights doesn't support sample_weight in fit"),
        (CARTClassifier(max_depth=0), ValueError, "max_depth"),
    ],
    ids=str,
)
def test_weak_learners_that_will_not_do(learner, error, message):
    with pytest.raises(error, match=message):
        AdaBoostClassifier(learner).fit(*data(2))


@pytest.mark.parametrize("learner", [LogisticRegression(), GaussianNB(), SVC()])
def test_draws_of_one_class_only(learner):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) < 3
    model = AdaBoostClassifier(learner, n_estimators=10, subsample=0.2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X + y[:, None], y)
    assert np.isfinite(model.decision_function(X)).all()


# -- data -----------------------------------------------------------------------------


NAMES = {str(c): f"c{c}" for c in range(5)}


def as_pandas(X):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    for j in CATEGORICAL:
        frame[f"x{j}"] = frame[f"x{j}"].map(lambda c: f"c{c:.0f}", na_action="ignore")
        frame[f"x{j}"] = frame[f"x{j}"].astype("category")
    return frame


def as_polars(X):
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    names = pl.col(*(f"x{j}" for j in CATEGORICAL)).cast(pl.Int64).cast(pl.String)
    return frame.fill_nan(None).with_columns(names.replace(NAMES).cast(pl.Categorical))


@pytest.mark.parametrize("depth", [1, 3])
@two_and_three
def test_frames_missing_cells_and_categories(depth, n_classes):
    X, y = mixed_data(200, n_classes)
    model = trees(depth=depth, categorical_features=CATEGORICAL)
    score = model.fit(X, y).decision_function(X)
    model = trees(depth=depth)
    for frame in (as_pandas(X), as_polars(X)):
        model.fit(frame, y)
        assert model.feature_names_in_.tolist() == [f"x{j}" for j in range(5)]
        for same in (as_pandas(X), as_polars(X)):
            np.testing.assert_array_equal(model.decision_function(same), score)
    *_, last = model.staged_decision_function(as_pandas(X))
    np.testing.assert_array_equal(last, score)


def test_categories_may_be_declared_on_the_weak_learner():
    X, y = mixed_data(150, 2)
    here = trees(categorical_features=CATEGORICAL).fit(X, y)
    tree = CARTClassifier(max_depth=2, categorical_features=CATEGORICAL)
    there = SPLBoostClassifier(tree, n_estimators=15).fit(X, y)
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))
    assert any((each.tree_.which_set >= 0).any() for each in here.estimators_)


def test_real_categories_in_every_form():
    frame, y = read_data("adult")
    frame, y = frame[:4000], y[:4000]
    text = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    assert len(text) == 8
    pandas = frame.astype(dict.fromkeys(text, "category"))
    polars = pl.from_pandas(frame).with_columns(pl.col(*text).cast(pl.Categorical))
    codes = frame.copy()
    for name in text:
        codes[name] = pandas[name].cat.codes.replace(-1, np.nan)
    model = trees(n_estimators=30)
    score = model.fit(pandas, y).decision_function(pandas)
    np.testing.assert_array_equal(model.fit(polars, y).decision_function(polars), score)
    model.set_params(categorical_features=text)
    np.testing.assert_array_equal(model.fit(codes, y).decision_function(codes), score)
    model.set_params(categorical_features=np.isin(frame.columns, text))
    X = codes.to_numpy(dtype=float)
    np.testing.assert_array_equal(model.fit(X, y).decision_function(X), score)
    assert model.score(X, y) > 0.84


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_dtypes_of_x(dtype):
    X = (10 * np.abs(data(2)[0])).astype(dtype)
    y = data(2)[1]
    model = stumps().fit(X, y)
    expected = stumps().fit(X.astype(float), y)
    np.testing.assert_array_equal(
        model.decision_function(X), expected.decision_function(X.astype(float))
    )


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], [2.0, 7.0], [10, 300]]
)
def test_labels(labels):
    X, y = data(2)
    expected = stumps().fit(X, y)
    named = np.array(labels)[y]
    for form in (named, named.tolist(), pd.Series(named)):
        model = stumps().fit(X, form)
        assert model.classes_.tolist() == labels
        np.testing.assert_array_equal(
            model.decision_function(X), expected.decision_function(X)
        )
        np.testing.assert_array_equal(
            model.predict(X), np.array(labels)[expected.predict(X)]
        )


@pytest.mark.parametrize("order", ["C", "F"])
def test_fit_leaves_the_data_alone(order):
    X, y = data(3)
    X, weight = np.asarray(X, order=order), np.arange(150.0)
    before = X.copy(), y.copy(), weight.copy()
    for part in (X, y, weight):
        part.setflags(write=False)
    trees().fit(X, y, sample_weight=weight).predict(X)
    for part, copy in zip((X, y, weight), before, strict=True):
        np.testing.assert_array_equal(part, copy)


# -- among other tools ----------------------------------------------------------------


@pytest.mark.parametrize(
    "grid",
    [
        {"pace__age": [2.0, 5.0], "estimator__max_depth": [1, 2]},
        {"pace__plateau": [1.5, np.inf], "warm_rounds": [1, 3]},
        {"pace": ["hard", None, Linear(age=4.0)]},
    ],
    ids=str,
)
def test_grid_search(grid):
    X, y = gaussians()
    model = SPLBoostClassifier(CARTClassifier(), n_estimators=5, pace=Linear())
    model.set_params(estimator__max_depth=1)
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    results = search.cv_results_
    assert len(set(results["mean_test_score"])) > 1
    for key, value in search.best_params_.items():
        best = search.best_estimator_.get_params()[key]
        assert best is value or repr(best) == repr(value)


def test_grid_search_over_the_parts_of_the_defaults():
    X, y = gaussians()
    grid = {"pace__plateau": [2.0, 3.0], "estimator__max_depth": [1, 2]}
    model = SPLBoostClassifier(n_estimators=5)
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert isinstance(search.best_estimator_.pace, Linear)
    assert (model.pace, model.estimator) == ("linear", None)
    both = SPLBoostClassifier().set_params(pace="hard", pace__plateau=3.0)
    assert repr(both.pace) == "Hard(plateau=3.0)"
    with pytest.raises(ValueError, match="pace=None has no parameters; set pace"):
        AdaBoostClassifier().set_params(pace__plateau=2.0)


def test_a_pace_of_both_scales_is_refused_in_a_grid():
    X, y = gaussians()
    model = stumps(pace=Linear(plateau=2.0)).set_params(pace__age=3.0)
    with pytest.raises(ValueError, match=r"give age or plateau, not both.*age=3.0"):
        model.fit(X, y)


def test_in_a_pipeline():
    X, y = gaussians()
    weight = np.arange(120.0)
    pipe = make_pipeline(StandardScaler(), stumps())
    pipe.fit(X, y, splboostclassifier__sample_weight=weight)
    alone = stumps().fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    np.testing.assert_array_equal(pipe.predict_proba(X)[:, 1] > 0.5, pipe.predict(X))
    np.testing.assert_array_equal(pipe[-1].sample_pace_, alone.sample_pace_)


@parametrize_by_turns(make=[stumps, trees], n_classes=[2, 3])
def test_pickle(make, n_classes):
    X, y = mixed_data(300, n_classes)
    frame = as_pandas(X)
    model = make(n_estimators=100, n_jobs=2).fit(frame, y)
    stored = pickle.dumps(model)
    # the paces, and per tree a few numbers per node; no training data
    assert len(stored) < 30_000 + 100 * (3 if make is stumps else 7) * 150
    restored = pickle.loads(stored)
    np.testing.assert_array_equal(
        restored.decision_function(frame), model.decision_function(frame)
    )
    np.testing.assert_array_equal(restored.sample_pace_, model.sample_pace_)
    assert len(restored.estimators_) == model.n_iter_


def test_size_does_not_grow_with_the_data_but_for_the_paces():
    sizes = [
        len(pickle.dumps(stumps().fit(*gaussians(n_per_class))))
        for n_per_class in (100, 1000)
    ]
    assert sizes[1] - sizes[0] < 8 * 1800 + 1000


def test_fitting_again_forgets():
    model = stumps(n_estimators=30)
    model.fit(*data(3))
    X, y = gaussians()
    model.set_params(n_estimators=5).fit(X, y)
    fresh = stumps(n_estimators=5).fit(X, y)
    assert model.n_iter_ == 5
    np.testing.assert_array_equal(
        model.decision_function(X), fresh.decision_function(X)
    )
    model.set_params(estimator=GaussianNB()).fit(X, y)
    assert isinstance(model.estimators_[0], GaussianNB)


def test_metadata_routing():
    X, y = gaussians()
    weight = np.random.default_rng(0).integers(0, 3, size=120)
    seen = []

    class Spy(SPLBoostClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, y, sample_weight)

    with sklearn.config_context(enable_metadata_routing=True):
        model = Spy(n_estimators=3).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        cross_validate(
            model, X, y, cv=3, params={"sample_weight": weight}, error_score="raise"
        )
        GridSearchCV(model, {"n_estimators": [2]}, cv=2, error_score="raise").fit(
            X, y, sample_weight=weight
        )
        with pytest.raises(ValueError, match="sample_weight"):
            cross_validate(Spy(), X, y, params={"sample_weight": weight})
    assert len(seen) == 6
    assert all(part is not None for part in seen)
    np.testing.assert_array_equal(seen[-1], weight)


# -- threads and processes ------------------------------------------------------------


@pytest.fixture
def threaded(monkeypatch):
    """Small data are worth threads."""
    monkeypatch.setattr("splboost._tools.threads.THREADED_WORK", 1)
    monkeypatch.setattr("splboost.boosting.state.BLOCK", 16)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_searching_in_parallel_for_models_with_threads(threaded, backend):
    X, y = gaussians()
    model = trees(n_jobs=2)
    grid = {"pace": [Hard(age=2.0), Linear(age=5.0)]}
    alone = GridSearchCV(model, grid, cv=2).fit(X, y)
    with joblib.parallel_config(backend=backend):
        search = GridSearchCV(model, grid, cv=2, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )


def fit_here(model, X, y):
    return model.fit(X, y).decision_function(X)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_fitting_with_threads_in_a_forked_process(threaded):
    X, y = gaussians()
    model = trees(n_jobs=2)
    score = fit_here(model, X, y)  # so that this process has threads
    with multiprocessing.get_context("fork").Pool(2) as pool:
        jobs = [pool.apply_async(fit_here, (model, X, y)) for _ in range(3)]
        for job in jobs:
            np.testing.assert_array_equal(job.get(timeout=60), score)
    np.testing.assert_array_equal(fit_here(model, X, y), score)


def test_fitting_in_many_threads_at_once(threaded):
    X, y = gaussians()
    score = fit_here(trees(n_jobs=2), X, y)
    found = joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(fit_here)(trees(n_jobs=2), X, y) for _ in range(8)
    )
    for other in found:
        np.testing.assert_array_equal(other, score)


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also in a process started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupted_fit_leaves_the_threads_usable(threaded, interruptible):
    X, y = gaussians()
    score = fit_here(trees(n_jobs=2), X, y)
    long = trees(n_estimators=100_000, on_perfect="continue", n_jobs=2)
    for seconds in np.linspace(0.02, 0.1, 20):  # at any point of a round
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(seconds, _thread.interrupt_main).start()
            long.fit(X, y)
    assert not hasattr(long, "estimator_weights_")
    with pytest.raises(NotFittedError):
        long.predict(X)
    np.testing.assert_array_equal(fit_here(trees(n_jobs=2), X, y), score)


# -- errors ---------------------------------------------------------------------------

X_GOOD, Y_GOOD = gaussians(20)
N = len(Y_GOOD)


class BadPace(Pace):
    """A pace that gives what it is told to."""

    def __init__(self, given=None):
        self.given = given

    def weight(self, loss):
        return self.given(np.asarray(loss))


@pytest.mark.parametrize(
    "given",
    [
        lambda loss: loss * np.nan,
        lambda loss: 0.5,
        lambda loss: 1 - loss / 2,
        lambda loss: 1 + loss,
    ],
    ids=["NaN", "one number", "below 0", "above 1"],
)
def test_a_pace_that_gives_no_weights_is_refused(given):
    with pytest.raises(ValueError, match=r"pace=BadPace.*for each loss.*check_pace"):
        stumps(pace=BadPace(given)).fit(X_GOOD, Y_GOOD)


class Gentler(Linear):
    """A subclass that weighs in its own way."""

    def weight(self, loss):
        return np.sqrt(super().weight(loss))


def test_subclasses_are_taken_at_their_word():
    calls = []

    class Counted(CARTClassifier):
        def fit(self, X, y, sample_weight=None):
            calls.append(1)
            return super().fit(X, y, sample_weight)

    stumps(estimator=Counted(max_depth=1), n_estimators=4).fit(X_GOOD, Y_GOOD)
    assert len(calls) == 4
    gentle = stumps(pace=Gentler(age=3.0)).fit(X_GOOD, Y_GOOD)
    loss = np.exp(-np.where(Y_GOOD == 1, 1, -1) * gentle.decision_function(X_GOOD))
    expected = np.sqrt(np.maximum(1 - loss / 3, 0))
    np.testing.assert_allclose(gentle.sample_pace_, expected, atol=1e-12)


def test_classes_without_weight_are_as_good_as_absent():
    X, y = load_iris(return_X_y=True)
    model = stumps(class_weight={0: 0}).fit(X, y)
    assert np.isnan(model.sample_pace_[y == 0]).all()
    assert model.n_selected_[0] == 100
    other = stumps().fit(X[y > 0], y[y > 0])
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_a_first_fit_that_fails_leaves_an_unfitted_model():
    model = stumps()
    with pytest.raises(ValueError):
        model.fit(X_GOOD, Y_GOOD, sample_weight=-np.ones(N))
    with pytest.raises(NotFittedError):
        model.predict(X_GOOD)


def with_cell(value, dtype=float):
    X = X_GOOD.astype(dtype)
    X[3, 1] = value
    return X


def labels_with(value):
    y = Y_GOOD.astype(object if value is None else float)
    y[5] = value
    return y


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X_GOOD, labels_with(np.nan), "y contains NaN"),
        (X_GOOD, labels_with(np.inf), "y contains infinity"),
        (X_GOOD, labels_with(None), "y contains NaN or None"),
        (X_GOOD, Y_GOOD + 0.5 * X_GOOD[:, 0], "continuous"),
        (X_GOOD, np.zeros(N), "only one class, .*0.0.*at least two"),
        (X_GOOD, None, "requires y to be passed"),
        (X_GOOD, Y_GOOD[:-1], "40 rows and y has 39"),
        (X_GOOD, np.column_stack([Y_GOOD, Y_GOOD]), "y should be a 1d array"),
        (with_cell(np.inf), Y_GOOD, "X contains infinity"),
        (X_GOOD[:0], Y_GOOD[:0], "0 sample"),
        (X_GOOD[:, :0], Y_GOOD, "0 feature"),
        (X_GOOD[:, 0], Y_GOOD, "1D array"),
        (with_cell("red", object), Y_GOOD, "red"),
        (
            pd.DataFrame({"size": X_GOOD[:, 0], "hue": ["red"] * N}),
            Y_GOOD,
            "'hue' .*categorical_features",
        ),
        (
            pl.DataFrame({"size": X_GOOD[:, 0], "hue": ["red"] * N}),
            Y_GOOD,
            "'hue' .*categorical_features",
        ),
    ],
)
def test_bad_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        stumps().fit(X, y)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_data(form):
    with pytest.raises(TypeError, match=r"[Ss]parse.*dense"):
        stumps().fit(form(X_GOOD), Y_GOOD)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(N), "Negative values .*sample_weight.*smallest is -1"),
        (np.zeros(N), "all zero.*positive weight"),
        (np.ones(N - 1), r"\(39,\), expected \(40,\)"),
        (np.ones((N, 1)), "1D"),
        (np.full(N, np.nan), "sample_weight contains NaN"),
        (np.full(N, np.inf), "sample_weight contains inf"),
        (1.0 * (Y_GOOD == 1), "only one class.*positive weight"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        stumps().fit(X_GOOD, Y_GOOD, sample_weight=weight)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": -3}, "'n_estimators'.*Got -3"),
        ({"n_estimators": 2.5}, "'n_estimators'.*Got 2.5"),
        ({"subsample": 1.1}, "'subsample'.*Got 1.1"),
        ({"inner_steps": 0}, "'inner_steps'.*Got 0"),
        ({"on_perfect": "go"}, "'on_perfect'.*Got 'go'"),
        ({"n_jobs": "all"}, "'n_jobs'.*Got 'all'"),
        ({"class_weight": "even"}, "'class_weight'.*Got 'even'"),
        ({"class_weight": {0: -1.0}}, "class_weight contains {0: -1.0}.*positive"),
        ({"class_weight": {7: 2.0}}, r"class_weight names \[7\].*are \[0, 1\]"),
        ({"class_weight": {0: "a"}}, "class_weight contains {0: 'a'}.*positive"),
        ({"class_weight": {0: 0.0}}, "class_weight={0: 0.0} leaves fewer than two"),
        ({"class_weight": {0: 1e308, 1: 1e308}}, "sum to inf.*rescale class_weight"),
        ({"subsample": 1e-3}, "subsample=0.001 of 40 rows.*at least 0.05"),
        ({"n_jobs": 0}, "n_jobs=0 has no meaning"),
        (
            {"estimator": GaussianNB(), "categorical_features": [0]},
            "categorical_features=.0. is for the trees.*GaussianNB",
        ),
        (
            {
                "estimator": CARTClassifier(categorical_features=[1]),
                "categorical_features": [0],
            },
            "to SPLBoostClassifier, and .1. to its estimator; give it once",
        ),
        ({"categorical_features": ["hue"]}, "categorical_features names 'hue'"),
        ({"categorical_features": [2]}, "categorical_features contains 2.*0 to 1"),
        (
            {"estimator": CARTClassifier(class_weight={0: 2.0})},
            "estimator=.*class_weight={0: 2.0} to SPLBoostClassifier instead",
        ),
        ({"pace": "quick"}, "pace='quick'.*'hard', 'linear'"),
        ({"pace": Hard(plateau=0)}, "plateau=0; inf is"),
        ({"pace": Hard(age=-1.0)}, "age=-1.0"),
        ({"pace": Linear(2.0, plateau=1.0)}, "age=2.0 and plateau=1.0; set one"),
        ({"pace": 3.0}, "'pace'.*Got 3.0"),
        ({"pace": Hard}, "'pace'"),
    ],
    ids=str,
)
def test_bad_parameters(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        stumps().set_params(**options).fit(X_GOOD, Y_GOOD)


@pytest.mark.parametrize(
    "method",
    ["predict", "predict_proba", "decision_function", "staged_predict", "staged_score"],
)
def test_prediction_before_fitting(method):
    arguments = (X_GOOD, Y_GOOD) if method == "staged_score" else (X_GOOD,)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        result = getattr(stumps(), method)(*arguments)
        next(result)


@pytest.mark.parametrize("make", [stumps, trees])
def test_prediction_on_other_columns(make):
    frame = pd.DataFrame(X_GOOD, columns=["a", "b"])
    model = make().fit(frame, Y_GOOD)
    with pytest.raises(ValueError, match=r"3 features.*expecting 2"):
        model.predict(np.zeros((4, 3)))
    for other in (frame[["b", "a"]], frame.rename(columns={"b": "c"})):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(other)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(pd.DataFrame(with_cell(np.inf), columns=["a", "b"]))
    with pytest.raises(ValueError, match="'b' is categorical, but was numeric"):
        model.predict(frame.astype({"b": "category"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X_GOOD)


def test_a_pace_of_ones_own():
    class Half(Pace):
        def weight(self, loss):
            return 0.5 * (np.asarray(loss) < 3)

    class Fake:
        def weight(self, loss):
            return np.ones_like(loss)

    X, y = gaussians()
    model = stumps(pace=Half()).fit(X, y)
    assert set(model.sample_pace_) <= {0.0, 0.5}
    with pytest.raises((TypeError, ValueError), match="pace"):
        stumps(pace=Fake()).fit(X, y)


def test_iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    y_noisy, flipped = flip_labels(y.to_numpy(), 0.2, random_state=0)
    paced = SPLBoostClassifier(pace="hard", n_estimators=60).fit(X, y_noisy)
    plain = AdaBoostClassifier(n_estimators=60).fit(X, y_noisy)
    assert paced.score(X, y) >= max(0.9, plain.score(X, y))
    assert (paced.sample_pace_[flipped] == 0).mean() > 0.4
    assert (paced.sample_pace_[~flipped] == 0).mean() < 0.05
