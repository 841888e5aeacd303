"""The boosters against the reference, scikit-learn, and their own guarantees."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import splboost.trees.grower as grower_module
from boosters import quiet_fit
from helpers import parametrize_by_turns, parametrize_pairs
from reference import (
    age_from_plateau,
    boost,
    boosted_score,
    boosting_weights,
    pace_loss,
    tree_learner,
)
from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.datasets import flip_labels, make_gaussians
from splboost.pace import Hard, Linear, Logarithmic, Mixture, Polynomial
from splboost.trees import CARTClassifier
from splboost.trees.workspace import N_CHANGED

INF = math.inf
PACES = {
    "hard": (Hard, {}),
    "linear": (Linear, {}),
    "lowerconvex": (Polynomial, {"t": 1.3}),
    "upperconvex": (Polynomial, {"t": 4.0}),
    "mixture": (Mixture, {}),
    "mixture, gamma": (Mixture, {"gamma": 2.0}),
    "logarithmic": (Logarithmic, {"zeta": 0.2}),
}
every_pace = pytest.mark.parametrize("name", PACES)
two_and_three = pytest.mark.parametrize("n_classes", [2, 3])
REASONS = {
    "all rounds done": "n_estimators",
    "perfect fit": "perfect",
    "no edge": "no edge",
    "one class selected": "one class",
    "no sample selected": "no sample selected",
}


def make_pace(name, plateau):
    kind, shape = PACES[name]
    return kind(plateau=plateau, **shape)


def cart(depth=1, **options):
    """A tree without any limit but its depth."""
    return CARTClassifier(max_depth=depth, **{"min_weight_fraction_leaf": 0} | options)


def noisy_classes(n, n_classes=2, seed=0, n_values=12, noise=0.2):
    """Whole numbers in three columns, and classes of which some are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n, 3)).astype(float)
    score = X[:, 0] + X[:, 1] / 2 + rng.normal(size=n)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.searchsorted(cuts, score)
    return X, flip_labels(y, noise, random_state=seed)[0]


def assert_same_model(one, other, X):
    """Equal bit for bit in all that was learned and in all that is predicted."""
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    for name in ("estimator_weights_", "estimator_errors_", "sample_pace_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in ("n_selected_", "latent_objective_", "n_iter_", "stop_reason_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def splits_of(model):
    """Feature and threshold at the root of each tree."""
    roots = [tree.tree_ for tree in model.estimators_]
    return [root.feature[0] for root in roots], [root.threshold[0] for root in roots]


# -- the reference --------------------------------------------------------------------

# depth, learning rate, weights, warm rounds, inner steps, plateau, rounds: each value
# meets most of the others
SETTINGS = [
    (1, 1.0, False, 3, 1, 2.5, 12),
    (2, 0.5, True, 3, 1, 2.5, 12),
    (1, 0.5, False, 0, 3, 4.0, 12),
    (2, 1.0, True, 0, 1, 2.5, 12),
    (1, 1.0, True, 5, 3, 2.5, 12),
    (2, 1.0, False, 3, 3, 2.5, 12),
    (2, 1.0, True, 1, 1, 1.3, 20),
    (3, 1.0, False, 2, 1, 1.5, 15),
]


def assert_like_reference(n_classes, seed, setting, name=None, n_values=12, **options):
    depth, learning_rate, weighted, warm_rounds, inner_steps, plateau, rounds = setting
    X, y = noisy_classes(44, n_classes, seed, n_values)
    weight = np.ones(len(y))
    if weighted:
        weight = np.random.default_rng(seed).integers(0, 4, size=len(y)).astype(float)
    kept = weight > 0
    kind, shape = ("none", {}) if name is None else PACES[name]
    if name is not None:
        kind = kind.__name__.lower()
    expected = boost(
        X[kept],
        y[kept],
        n_estimators=rounds,
        kind=kind,
        age=age_from_plateau(kind, plateau, **shape),
        shape=shape,
        warm_rounds=warm_rounds,
        inner_steps=inner_steps,
        learning_rate=learning_rate,
        sample_weight=weight[kept],
        weak=tree_learner(max_depth=depth, n_classes=n_classes, **options),
    )
    model = AdaBoostClassifier(
        cart(depth, **options),
        n_estimators=rounds,
        pace=None if name is None else make_pace(name, plateau),
        learning_rate=learning_rate,
        warm_rounds=warm_rounds,
        inner_steps=inner_steps,
    )
    model = quiet_fit(model, X, y, sample_weight=weight)

    def close(actual, expected, tolerance):
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)

    assert REASONS[model.stop_reason_] == expected.stop_reason
    assert model.n_iter_ == len(expected.alphas)
    close(model.estimator_weights_, expected.alphas, 1e-9)
    close(model.estimator_errors_, expected.errors, 1e-9)
    close(model.decision_function(X[kept]), expected.F, 1e-8)
    close(model.decision_function(X), boosted_score(expected, X), 1e-8)
    if name is not None or n_classes == 2:  # else the plain loss, not the pace's
        close(model.latent_objective_, expected.latent, 1e-8)
    close(model.sample_pace_[kept], expected.v, 1e-7)
    assert np.isnan(model.sample_pace_[~kept]).all()
    assert model.n_selected_.tolist() == expected.n_selected
    return model


ALL_PACES = [None, *PACES]


@parametrize_pairs(
    # Each pace meets half of the settings.
    lambda case: (
        (ALL_PACES.index(case["name"]) + SETTINGS.index(case["setting"])) % 2 == 0
    ),
    name=ALL_PACES,
    n_classes=[2, 3],
    setting=SETTINGS,
)
def test_is_the_reference(name, n_classes, setting):
    seed = 10 * SETTINGS.index(setting) + n_classes
    assert_like_reference(n_classes, seed, setting, name)


@two_and_three
@pytest.mark.parametrize("name", [None, "hard", "linear"])
def test_is_the_reference_with_heavy_leaves(name, n_classes):
    leaves = {"min_weight_fraction_leaf": 0.05, "min_samples_leaf": 3}
    assert_like_reference(n_classes, 1, SETTINGS[1], name, **leaves)


@pytest.mark.parametrize("setting", [SETTINGS[0], SETTINGS[4]], ids=str)
@pytest.mark.parametrize("name", [None, "hard", "logarithmic"])
def test_is_the_reference_with_five_classes(name, setting):
    assert_like_reference(5, 2, setting, name)


@pytest.mark.parametrize(
    ("plateau", "n_seeds", "n_reasons"), [(0.8, 21, 3), (2.5, 10, 2)]
)
def test_stops_as_the_reference_does(plateau, n_seeds, n_reasons):
    setting = (1, 1.0, False, 1, 1, plateau, 30)
    reached = {
        assert_like_reference(2, seed, setting, "hard", n_values=2).stop_reason_
        for seed in range(n_seeds)
    }
    assert len(reached) == n_reasons


# -- scikit-learn's AdaBoost ----------------------------------------------------------


def peer_data(n_classes, seed):
    """At most 255 distinct values per column, which float32 holds exactly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4)).astype(np.float32).astype(np.float64)
    score = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=200)
    return X, np.digitize(score, np.linspace(-0.8, 0.8, n_classes + 1)[1:-1])


@two_and_three
@pytest.mark.parametrize("seed", range(3))
def test_is_scikit_learns_adaboost(n_classes, seed):
    X, y = peer_data(n_classes, seed)
    peer = PeerAdaBoost(DecisionTreeClassifier(max_depth=1), n_estimators=60).fit(X, y)
    ours = AdaBoostClassifier(cart(), n_estimators=60).fit(X, y)
    assert ours.n_iter_ == len(peer.estimators_) == 60
    features, thresholds = splits_of(ours)
    assert features == [tree.tree_.feature[0] for tree in peer.estimators_]
    np.testing.assert_allclose(
        thresholds, [tree.tree_.threshold[0] for tree in peer.estimators_], rtol=1e-12
    )
    # SAMME's constant, which scikit-learn leaves out; one half for two classes
    constant = (n_classes - 1) ** 2 / n_classes
    np.testing.assert_allclose(
        ours.estimator_weights_, constant * peer.estimator_weights_, rtol=1e-9
    )
    np.testing.assert_allclose(ours.estimator_errors_, peer.estimator_errors_)
    X_new = np.random.default_rng(9).normal(size=(500, 4))
    np.testing.assert_array_equal(ours.predict(X_new), peer.predict(X_new))


# -- paces that are no pace, or another one -------------------------------------------


def test_an_age_out_of_reach_is_adaboost():
    X, y = noisy_classes(80)
    plain = AdaBoostClassifier(cart(), n_estimators=30).fit(X, y)
    paced = SPLBoostClassifier(cart(), n_estimators=30, pace=Hard(age=1e9)).fit(X, y)
    assert_same_model(paced, plain, X)


@two_and_three
def test_polynomial_of_two_is_linear(n_classes):
    X, y = noisy_classes(120, n_classes)
    models = [
        SPLBoostClassifier(cart(2), n_estimators=40, pace=pace).fit(X, y)
        for pace in (Linear(plateau=2.5), Polynomial(plateau=2.5, t=2.0))
    ]
    scores = [model.decision_function(X) for model in models]
    np.testing.assert_allclose(*scores, rtol=1e-12, atol=1e-12)
    assert (models[0].sample_pace_ == 0).any()


def test_splboost_is_adaboost_with_a_linear_pace():
    X, y = noisy_classes(80)
    paced = AdaBoostClassifier(pace="linear", n_estimators=20).fit(X, y)
    assert_same_model(SPLBoostClassifier(n_estimators=20).fit(X, y), paced, X)


@every_pace
def test_warm_rounds_are_adaboosts(name):
    X, y = noisy_classes(80)
    options = {"n_estimators": 12, "warm_rounds": 5}
    paced = SPLBoostClassifier(cart(), pace=make_pace(name, 2.0), **options).fit(X, y)
    plain = AdaBoostClassifier(cart(), **options).fit(X, y)
    same = paced.estimator_weights_ == plain.estimator_weights_[: paced.n_iter_]
    assert same[:5].all()
    assert not same[5]  # the sixth learner is paced: the age is no warm-up's


def test_subsampling_takes_the_error_on_all_rows():
    X, y = noisy_classes(100)
    model = AdaBoostClassifier(cart(2), n_estimators=1, subsample=0.2, random_state=1)
    model.fit(X, y)
    error = (model.predict(X) != y).mean()
    np.testing.assert_allclose(model.estimator_errors_, [error])
    np.testing.assert_allclose(
        model.estimator_weights_, [0.5 * np.log((1 - error) / error)]
    )
    everything = AdaBoostClassifier(cart(2), n_estimators=1).fit(X, y)
    assert model.estimator_errors_ != everything.estimator_errors_


# -- sample weights -------------------------------------------------------------------


@parametrize_by_turns(name=list(PACES), n_classes=[2, 3])
def test_rows_without_weight_leave_no_trace(name, n_classes):
    X, y = noisy_classes(150, n_classes)
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    kept = weight > 0
    X[~kept] *= 1.01  # values that no other row has
    model = SPLBoostClassifier(cart(2), n_estimators=25, pace=make_pace(name, 2.5))
    score = quiet_fit(model, X, y, sample_weight=weight).decision_function(X)
    paces = model.sample_pace_[kept]
    quiet_fit(model, X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(score, model.decision_function(X))
    np.testing.assert_array_equal(paces, model.sample_pace_)


@two_and_three
@pytest.mark.parametrize("factor", [2.0**-20, 1 / 270, 3.0, 1e6])
def test_the_unit_of_weights_does_not_matter(n_classes, factor):
    X, y = noisy_classes(90, n_classes)
    weight = np.random.default_rng(0).integers(1, 6, size=len(y))
    weight = weight * (270 / weight.sum())  # with 1/270 they sum to 1
    model = SPLBoostClassifier(cart(), n_estimators=40, pace=Hard(plateau=2.5))
    score = model.fit(X, y, sample_weight=weight).decision_function(X)
    model.fit(X, y, sample_weight=factor * weight)
    np.testing.assert_allclose(score, model.decision_function(X), rtol=1e-9, atol=1e-9)


def test_the_unit_of_weights_does_not_matter_to_a_perfect_fit():
    X = np.arange(20.0)[:, None]
    y = X[:, 0] > 9
    model = AdaBoostClassifier()
    alphas = [
        model.fit(X, y, sample_weight=np.full(20, weight)).estimator_weights_
        for weight in (1.0, 0.05, 1e-9)
    ]
    assert alphas[0] == alphas[1] == alphas[2] == 0.5 * math.log(4 * 20 - 1)


def test_class_weights_multiply_sample_weights():
    X, y = noisy_classes(90, 3)
    weight = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    by_class = {0: 2.0, 2: 0.5}
    product = weight * np.array([2.0, 1.0, 0.5])[y]
    model = SPLBoostClassifier(cart(2), n_estimators=20)
    score = model.fit(X, y, sample_weight=product).decision_function(X)
    model.set_params(class_weight=by_class).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(score, model.decision_function(X))


# -- the latent objective -------------------------------------------------------------


class RandomStump(ClassifierMixin, BaseEstimator):
    """Cuts a random column at a random row; only the side is learned, if at all."""

    def __init__(self, learns=True, random_state=None):
        self.learns = learns
        self.random_state = random_state

    def fit(self, X, y, sample_weight):
        rng = np.random.default_rng(self.random_state)
        self.classes_ = np.unique(y)
        self.column_ = rng.integers(X.shape[1])
        self.cut_ = rng.choice(X[:, self.column_])
        self.up_ = rng.integers(2)
        if self.learns:
            right = self._side(X) == np.searchsorted(self.classes_, y)
            if sample_weight[right].sum() < sample_weight[~right].sum():
                self.up_ = 1 - self.up_
        return self

    def _side(self, X):
        side = X[:, self.column_] > self.cut_
        return np.where(side, self.up_, 1 - self.up_)

    def predict(self, X):
        return self.classes_[self._side(X) % len(self.classes_)]


WEAK_LEARNERS = [
    cart(1),
    cart(2),
    cart(3),
    DecisionTreeClassifier(max_depth=2),
    RandomStump(),
    RandomStump(learns=False),
    LogisticRegression(),
]


@settings(max_examples=80)
@given(
    name=st.sampled_from(list(PACES)),
    plateau=st.floats(0.5, 8),
    weak=st.sampled_from(WEAK_LEARNERS),
    subsample=st.sampled_from([0.3, 0.7, 1.0]),
    learning_rate=st.floats(0.01, 1),
    warm_rounds=st.integers(0, 4),
    weighted=st.booleans(),
    seed=st.integers(0, 50),
)
def test_latent_objective_never_rises(
    name, plateau, weak, subsample, learning_rate, warm_rounds, weighted, seed
):
    X, y = noisy_classes(60, seed=seed)
    pace = make_pace(name, plateau)
    weight = np.ones(60)
    if weighted:
        weight = np.random.default_rng(seed).exponential(size=60)
    model = SPLBoostClassifier(
        weak,
        n_estimators=15 if isinstance(weak, CARTClassifier) else 8,
        pace=pace,
        subsample=subsample,
        learning_rate=learning_rate,
        warm_rounds=warm_rounds,
        random_state=seed,
    )
    if warm_rounds == 0 and pace.weight(1.0) == 0:
        return  # nothing is selected from the start
    quiet_fit(model, X, y, sample_weight=weight)
    start = weight.sum() * pace.latent(1.0)
    objective = np.append(start, model.latent_objective_)
    assert (np.diff(objective[warm_rounds:]) <= 1e-11 * start).all()


@every_pace
@pytest.mark.parametrize("depth", [1, 3])
def test_latent_objective_does_not_rise_as_the_pace_sets_in(name, depth):
    for seed in range(20):
        X, y = make_gaussians(40, random_state=seed)
        y = flip_labels(y, 0.2, random_state=seed)[0]
        model = SPLBoostClassifier(
            cart(depth), n_estimators=8, pace=make_pace(name, 1.5), warm_rounds=2
        )
        objective = quiet_fit(model, X, y).latent_objective_
        assert (np.diff(objective[1:]) <= 1e-11 * objective[0]).all()


@parametrize_by_turns(name=list(PACES), n_classes=[2, 3])
def test_latent_objective_is_that_of_the_final_scores(name, n_classes):
    X, y = noisy_classes(70, n_classes)
    weight = np.random.default_rng(0).exponential(size=len(y))
    pace = make_pace(name, 2.5)
    model = SPLBoostClassifier(cart(2), n_estimators=20, pace=pace, learning_rate=0.7)
    quiet_fit(model, X, y, sample_weight=weight)
    for score, objective in zip(
        model.staged_decision_function(X), model.latent_objective_, strict=True
    ):
        loss = pace_loss(score, y)
        np.testing.assert_allclose(objective, weight @ pace.latent(loss), rtol=1e-10)
    np.testing.assert_allclose(model.sample_pace_, pace.weight(loss), atol=1e-12)


# -- exactness of the engine ----------------------------------------------------------


@pytest.mark.parametrize(
    ("depth", "n_classes", "pace", "rounds"),
    [
        (1, 2, None, 4000),
        (1, 2, Hard(age=2.5), 4000),
        (2, 2, Hard(age=3.0), 1500),
        (1, 3, None, 2000),
        (2, 3, Hard(age=4.0), 1000),
    ],
    ids=str,
)
def test_the_next_root_is_as_good_as_a_full_sum(
    monkeypatch, depth, n_classes, pace, rounds
):
    rng = np.random.default_rng(depth)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X.sum(axis=1) + rng.normal(size=300), [0, 1][: n_classes - 1])
    model = AdaBoostClassifier(
        cart(depth), n_estimators=rounds, pace=pace, on_perfect="continue"
    )
    n_incremental = 0
    grow = grower_module.TreeGrower.grow

    def counted(grower, weight, target=None):
        nonlocal n_incremental
        tree = grow(grower, weight)
        n_incremental += grower.work.progress[N_CHANGED] >= 0
        return tree

    def in_full(grower, weight, target=None):
        grower.work.weight[:] = -1  # every row's weight differs from that
        tree = grow(grower, weight)
        assert grower.work.progress[N_CHANGED] == -1
        return tree

    monkeypatch.setattr(grower_module.TreeGrower, "grow", counted)
    quiet_fit(model, X, y)
    assert model.n_iter_ == rounds
    assert n_incremental > 0.3 * rounds
    monkeypatch.setattr(grower_module.TreeGrower, "grow", in_full)
    full = clone(model)
    assert_same_model(quiet_fit(full, X, y), model, X)
    assert splits_of(full) == splits_of(model)


@two_and_three
def test_weights_stay_right_for_a_thousand_rounds(n_classes):
    X, y = noisy_classes(50, n_classes, n_values=10_000)
    model = AdaBoostClassifier(cart(3), n_estimators=1000).fit(X, y)
    assert model.estimator_weights_.sum() > 900
    *_, before, _ = model.staged_decision_function(X)
    D = boosting_weights(before, y, np.ones(50), np.ones(50))
    missed = model.estimators_[-1].predict(X) != y
    np.testing.assert_allclose(model.estimator_errors_[-1], D[missed].sum(), rtol=1e-9)


@pytest.mark.parametrize("pace", [None, Hard(age=2.5), Linear(), Mixture(gamma=1.0)])
@two_and_three
def test_threads_do_not_change_the_model(monkeypatch, pace, n_classes):
    monkeypatch.setattr("splboost._tools.threads.THREADED_WORK", 1)
    monkeypatch.setattr("splboost.boosting.state.BLOCK", 16)
    X, y = noisy_classes(200, n_classes, n_values=90)
    weight = np.random.default_rng(0).exponential(size=200)
    one, two, three = (
        quiet_fit(
            AdaBoostClassifier(
                cart(2), n_estimators=25, pace=pace, subsample=0.9, n_jobs=n_jobs
            ).set_params(random_state=0),
            X,
            y,
            sample_weight=weight,
        )
        for n_jobs in (1, 2, 3)
    )
    assert_same_model(one, two, X)
    assert_same_model(one, three, X)


def test_threads_do_not_change_the_model_of_many_rows():
    X, y = noisy_classes(70_000, n_values=200)
    fits = [
        SPLBoostClassifier(cart(2), n_estimators=6, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, -1)
    ]
    assert_same_model(fits[0], fits[1], X)
    assert_same_model(fits[0], fits[2], X)


# -- what cannot go on ----------------------------------------------------------------


def usable(model, X):
    """Whether a model predicts finite scores, probabilities and known labels."""
    assert np.isfinite(model.decision_function(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.isin(model.predict(X), model.classes_).all()
    assert len(list(model.staged_predict(X))) == model.n_iter_
    assert len(model.estimators_) == model.n_iter_
    return True


SEPARABLE = np.arange(40.0)[:, None], np.repeat([0, 1], 20)


def one_flip():
    X, y = SEPARABLE
    y = y.copy()
    y[3] = 1
    return X, y


@two_and_three
def test_no_edge(n_classes):
    X, y = np.zeros((60, 2)), np.arange(60) % n_classes
    with pytest.warns(UserWarning, match=r"after 1 of 200 rounds: no edge\. No weak"):
        model = AdaBoostClassifier().fit(X, y)
    assert model.stop_reason_ == "no edge"
    assert model.estimator_weights_.tolist() == [0.0]
    assert not model.decision_function(X).any()
    assert (model.predict(X) == 0).all()  # nothing is above 0
    assert not model.feature_importances_.any()
    assert usable(model, X)


def test_a_later_learner_without_edge_is_not_kept():
    X, y = np.zeros((60, 1)), np.repeat([0, 1], [20, 40])
    with pytest.warns(UserWarning, match="no edge"):
        model = AdaBoostClassifier().fit(X, y)
    assert model.n_iter_ == 1
    np.testing.assert_allclose(model.estimator_weights_, [0.5 * np.log(2)])


@pytest.mark.parametrize("n_estimators", [4, 30])
def test_no_edge_while_subsampling(n_estimators):
    X, y = np.zeros((60, 1)), np.arange(60) % 2
    model = AdaBoostClassifier(n_estimators=n_estimators, subsample=0.5, random_state=0)
    with pytest.warns(UserWarning, match="no edge"):
        model.fit(X, y)
    assert model.estimator_weights_.tolist() == [0.0]
    assert usable(model, X)


class Moody(RandomStump):
    """Learns something in every ``period``-th fit only; counts the fits."""

    n_fits = 0

    def __init__(self, period=3, random_state=None):
        super().__init__(random_state=random_state)
        self.period = period

    def fit(self, X, y, sample_weight):
        super().fit(X, y, sample_weight)
        Moody.n_fits += 1
        self.helpful_ = Moody.n_fits % self.period == 0
        return self

    def predict(self, X):
        if self.helpful_:
            return super().predict(X)
        return self.classes_[np.arange(len(X)) % 2]


@pytest.mark.parametrize(
    ("period", "n_fits", "reason"),
    [(3, 25, "all rounds done"), (100, 10, "no edge")],
)
def test_rounds_without_edge_are_skipped_while_subsampling(
    monkeypatch, period, n_fits, reason
):
    monkeypatch.setattr(Moody, "n_fits", 0)
    X, y = np.arange(60.0)[:, None], np.repeat([0, 1, 0, 1, 0, 1], 10)
    model = AdaBoostClassifier(
        Moody(period), n_estimators=25, subsample=0.8, random_state=0
    )
    quiet_fit(model, X, y)
    assert Moody.n_fits == n_fits
    assert model.stop_reason_ == reason
    assert model.n_iter_ == (8 if reason == "all rounds done" else 1)


def test_perfect_fit_of_everything_needs_no_warning():
    X, y = SEPARABLE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SPLBoostClassifier().fit(X, y)
    assert (model.n_iter_, model.stop_reason_) == (1, "perfect fit")
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_.tolist() == [0.5 * math.log(4 * 40 - 1)]
    assert usable(model, X)


def test_perfect_fit_of_the_selected():
    X, y = one_flip()
    model = SPLBoostClassifier(cart(), pace=Hard(age=1.5))
    with pytest.warns(UserWarning, match="perfect fit.*still selected.*continue"):
        model.fit(X, y)
    assert model.n_iter_ < 10
    assert np.flatnonzero(model.sample_pace_ == 0).tolist() == [3]
    assert usable(model, X)
    with warnings.catch_warnings():  # as many rounds as were asked for
        warnings.simplefilter("error")
        model.set_params(n_estimators=model.n_iter_).fit(X, y)
    assert model.stop_reason_ == "perfect fit"


@pytest.mark.parametrize("learner", [cart(), DecisionTreeClassifier(max_depth=1)])
def test_going_on_after_a_perfect_fit(learner):
    X, y = one_flip()
    model = SPLBoostClassifier(
        learner, pace=Hard(age=1.5), n_estimators=400, on_perfect="continue"
    ).fit(X, y)
    assert (model.n_iter_, model.stop_reason_) == (400, "all rounds done")
    # however far the scores go, the wrong label stays out and the others stay in
    assert np.abs(model.decision_function(X)).min() > 800
    assert np.flatnonzero(model.sample_pace_ == 0).tolist() == [3]
    assert (model.n_selected_[10:] == 39).all()
    np.testing.assert_allclose(model.latent_objective_[-1], 1.5)
    np.testing.assert_allclose(model.estimator_weights_[-1], 0.5 * math.log(2 * 40 - 1))
    assert usable(model, X)


def test_going_on_after_a_perfect_fit_of_three_classes():
    X, y = np.arange(60.0)[:, None], np.repeat([0, 1, 2], 20)
    y[3] = 2
    model = SPLBoostClassifier(
        cart(), pace=Hard(age=2.0), n_estimators=400, on_perfect="continue"
    ).fit(X, y)
    assert model.stop_reason_ == "all rounds done"
    assert np.flatnonzero(model.sample_pace_ == 0).tolist() == [3]
    assert usable(model, X)


def test_nothing_selected_from_the_start():
    X, y = noisy_classes(40)
    model = SPLBoostClassifier(pace=Hard(plateau=0.5), warm_rounds=0)
    remedy = r"pace=Hard\(plateau=0.5\) and warm_rounds=0.*choose a larger age"
    with pytest.raises(ValueError, match=remedy), pytest.warns(UserWarning):
        model.fit(X, y)


def test_nothing_selected_later():
    X, y = noisy_classes(40)
    model = SPLBoostClassifier(pace=Hard(plateau=0.2), warm_rounds=1)
    with pytest.warns(UserWarning, match="no sample selected.*left no sample.*larger"):
        model.fit(X, y)
    assert (model.n_iter_, model.stop_reason_) == (1, "no sample selected")
    assert not model.sample_pace_.any()
    assert usable(model, X)


@two_and_three
def test_one_class_selected(n_classes):
    X, y = np.zeros((60, 1)), np.repeat([0, 1, 2], [40, 15, 5]) % n_classes
    model = SPLBoostClassifier(pace=Hard(plateau=0.99), warm_rounds=1)
    with pytest.warns(UserWarning, match="one class selected.*one class only"):
        model.fit(X, y)
    assert (model.n_iter_, model.stop_reason_) == (1, "one class selected")
    np.testing.assert_array_equal(model.sample_pace_, y == 0)
    assert usable(model, X)


COLLAPSE = "greatest weight to samples with a loss of .* collapse. Choose a larger"


@pytest.mark.parametrize(
    ("n_classes", "pace"),
    [
        (2, Hard(age=1.0)),
        (2, Linear(age=2.0)),
        (2, Polynomial(age=3.0)),
        (3, Hard(age=1.0)),
    ],
    ids=str,
)
def test_a_pace_that_will_collapse_is_warned_of(n_classes, pace):
    X, y = noisy_classes(60, n_classes)
    with pytest.warns(UserWarning, match=COLLAPSE) as caught:
        SPLBoostClassifier(pace=pace, n_estimators=5).fit(X, y)
    assert caught[0].filename == __file__
    assert repr(pace) in str(caught[0].message)


@pytest.mark.parametrize(
    "options",
    [
        {"pace": Hard(age=1.01)},
        {"pace": Linear(age=2.01)},
        {"pace": Hard(age=1.0), "learning_rate": 0.9},
        {"pace": Hard(plateau=INF)},
        {"pace": None},
    ],
    ids=str,
)
def test_other_paces_are_not_warned_of(options):
    X, y = noisy_classes(60)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=f".*{COLLAPSE}")
        warnings.filterwarnings("ignore", message="Boosting stopped")
        SPLBoostClassifier(n_estimators=5, **options).fit(X, y)


# -- wrong labels ---------------------------------------------------------------------


@pytest.mark.parametrize("pace", [Hard(plateau=2.5), Linear(plateau=2.5)], ids=str)
def test_the_pace_drops_wrong_digits(pace):
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    y_noisy, flipped = flip_labels(y, 0.2, random_state=0)
    options = {"estimator": cart(4), "n_estimators": 100}
    paced = SPLBoostClassifier(pace=pace, **options).fit(X, y_noisy)
    plain = AdaBoostClassifier(**options).fit(X, y_noisy)
    dropped = paced.sample_pace_ == 0
    assert dropped[flipped].mean() > 0.4
    assert dropped[~flipped].mean() < 0.04
    assert paced.score(X_test, y_test) > plain.score(X_test, y_test) + 0.01
