"""L2Boost against the reference, scikit-learn and Tukey."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from boosters import data, quiet_fit
from reference import l2_boost, regression_learner, rival_score, weighted_median
from splboost import L2BoostRegressor
from splboost.boosting import l2
from splboost.pace import Hard, Linear, Mixture, Polynomial
from splboost.trees import CARTRegressor

PACES = {
    "hard": Hard(age=3.0),
    "linear": Linear(age=6.0),
    "polynomial": Polynomial(age=9.0, t=1.5),
}


def spoilt_data(seed=0, n=120, d=3, share=0.15, far=50.0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    truth = 10 * np.sin(X[:, 0]) + X[:, 1]
    y = truth + 0.5 * rng.normal(size=n)
    spoilt = rng.random(n) < share
    y[spoilt] += far
    return X, y, truth, spoilt


def make(depth=2, **options):
    given = {"n_estimators": 30, "learning_rate": 0.3, "warm_rounds": 5, **options}
    return L2BoostRegressor(CARTRegressor(max_depth=depth), **given)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", ["none", *PACES])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_reference(depth, kind, weighted):
    X, y, _, _ = spoilt_data(depth)
    weight = None
    if weighted:
        weight = np.random.default_rng(1).integers(1, 4, size=y.size).astype(float)
    pace = PACES.get(kind)
    given = {} if pace is None else {"kind": kind, "age": pace.age}
    if kind == "polynomial":
        given["shape"] = {"t": pace.t}
    booster = make(depth, pace=pace).fit(X, y, weight)
    expected = l2_boost(
        X,
        y,
        n_estimators=30,
        learning_rate=0.3,
        warm_rounds=5,
        weak=regression_learner(max_depth=depth),
        sample_weight=weight,
        **given,
    )
    for ours, theirs in zip(booster.staged_predict(X), expected.F, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    np.testing.assert_allclose(booster.sample_pace_, expected.v[-1], atol=1e-9)
    np.testing.assert_allclose(booster.latent_objective_, expected.latent, rtol=1e-9)
    new = np.random.default_rng(2).normal(size=(30, 3))
    np.testing.assert_allclose(
        booster.predict(new), rival_score(expected, new), atol=1e-9
    )
    if pace is not None:
        assert booster.scale_ == pytest.approx(expected.constants["scale"])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_equals_gradient_boosting_of_scikit_learn(depth):
    X, y, _, _ = spoilt_data(3)
    ours = make(depth, n_estimators=40, learning_rate=0.1).fit(X, y)
    theirs = GradientBoostingRegressor(
        max_depth=depth, n_estimators=40, learning_rate=0.1
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)


def test_polynomial_gives_the_weights_of_tukeys_biweight():
    c = 4.685
    X, y, _, _ = spoilt_data(4)
    booster = make(pace=Polynomial(age=c**2 / 2, t=1.5)).fit(X, y)
    u = (y - booster.predict(X)) / booster.scale_
    biweight = np.where(np.abs(u) < c, (1 - (u / c) ** 2) ** 2, 0.0)
    np.testing.assert_allclose(booster.sample_pace_, biweight, atol=1e-9)
    assert (biweight == 0).any()


@pytest.mark.parametrize("pace", [*PACES.values(), Mixture(age=3.0)], ids=repr)
def test_latent_objective_never_rises(pace):
    X, y, _, _ = spoilt_data(5)
    latent = make(pace=pace, n_estimators=80).fit(X, y).latent_objective_
    assert np.isnan(latent[:4]).all()
    assert (np.diff(latent[4:]) <= 1e-9 * latent[4]).all()


@pytest.mark.parametrize("pace", ["hard", "linear", "polynomial", "mixture"])
def test_the_default_pace_acts_on_outliers(pace):
    X, y, truth, spoilt = spoilt_data(6, n=400)
    plain = L2BoostRegressor().fit(X, y)
    paced = L2BoostRegressor(pace=pace).fit(X, y)
    assert (paced.sample_pace_[spoilt] == 0).mean() > 0.9
    assert (paced.sample_pace_[~spoilt] == 0).mean() < 0.05

    def error(booster):
        return np.sqrt(np.mean((booster.predict(X) - truth) ** 2))

    assert error(paced) < 0.3 * error(plain)


@pytest.mark.parametrize("unit", [1e-8, 1e6])
def test_units_do_not_matter(unit):
    X, y, _, _ = spoilt_data(7)
    booster = make(pace="linear").fit(X, y)
    other = make(pace="linear").fit(X, unit * y)
    np.testing.assert_allclose(other.predict(X), unit * booster.predict(X), rtol=1e-7)
    np.testing.assert_allclose(other.sample_pace_, booster.sample_pace_, atol=1e-6)


def test_starts_from_the_mean_or_the_median():
    X, y, _, _ = spoilt_data(8)
    weight = np.random.default_rng(0).exponential(size=y.size)
    plain, paced = make().fit(X, y, weight), make(pace="hard").fit(X, y, weight)
    assert plain.start_ == pytest.approx(np.average(y, weights=weight))
    assert paced.start_ == weighted_median(y, weight)
    assert l2.weighted_median(y, weight) == weighted_median(y, weight)
    assert not hasattr(plain, "scale_")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nothing_to_learn():
    X = np.arange(20.0)[:, None]
    booster = L2BoostRegressor(pace="hard").fit(X, np.full(20, 3.5))
    np.testing.assert_array_equal(booster.predict(X), 3.5)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_most_residuals_are_zero():
    """There is no scale then to measure the others by."""
    X = np.arange(30.0)[:, None]
    y = np.zeros(30)
    y[3] = 100.0
    booster = make(depth=1, pace="hard", warm_rounds=0).fit(X, y)
    assert (booster.sample_pace_ == 1).all()


@pytest.mark.parametrize(
    ("pace", "error", "message"),
    [
        ({0: "hard"}, TypeError, "dict by class; a regression has none"),
        (
            Hard(prior_corrected=True),
            ValueError,
            "prior_corrected=True, which is about",
        ),
        ("soft", ValueError, "no known regulariser"),
    ],
)
def test_paces_of_classes_are_refused(pace, error, message):
    X, y, _, _ = spoilt_data()
    with pytest.raises(error, match=message):
        L2BoostRegressor(pace=pace).fit(X, y)


@pytest.mark.filterwarnings("ignore:Boosting stopped")
@pytest.mark.parametrize("pace", [None, "hard"])
def test_rows_of_next_to_no_weight_may_be_far_away(pace):
    """Their squares, in units of what counts, would be infinite."""
    X, y = np.arange(3.0)[:, None], np.array([1.0, 1.1, 1.2]) * 1e100
    weight = np.array([1e146, 1e-208, 1e-295])
    booster = L2BoostRegressor(pace=pace, warm_rounds=1).fit(X, y, weight)
    np.testing.assert_allclose(booster.predict(X[:1]), y[:1])
    assert np.isfinite(booster.predict(X)).all()


def test_a_regression_goes_on_from_where_it_started():
    X, y = data(0)
    model = quiet_fit(
        make(1, learning_rate=0.5, n_estimators=10, warm_start=True), X, y
    )
    before = model.start_
    quiet_fit(model.set_params(n_estimators=20), X, y + 1)
    assert model.start_ == before
    assert (y + 1 - model.predict(X)).mean() == pytest.approx(0, abs=0.1)


def test_nothing_of_an_earlier_regression_is_left():
    X, y = data(0)
    model = quiet_fit(make(1, pace="hard"), X, y)
    assert model.scale_ > 0
    assert not hasattr(quiet_fit(model.set_params(pace=None), X, y), "scale_")


def test_a_regression_has_no_classes():
    with pytest.raises(TypeError, match=r"pace=\{0: 'hard'\} is a dict by class"):
        L2BoostRegressor(pace={0: "hard"}).fit(*data(0))
