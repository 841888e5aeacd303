"""Boosters of a user's own: TangentBoost of the example, and others from losses."""

import importlib.util
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from splboost import (
    GentleBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    SavageBoostClassifier,
)
from splboost.boosting.custom import MarginLoss, MarginLossBooster
from splboost.datasets import flip_labels, make_gaussians
from splboost.losses import Exponential, Logistic, Savage, Savage2
from splboost.pace import Hard, Linear
from splboost.trees import CARTRegressor

SCRIPT = Path(__file__).resolve().parents[1] / "examples" / "new_booster.py"


def load_example():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[SCRIPT.stem] = module  # so that its classes can be pickled
    spec.loader.exec_module(module)
    return module


if not SCRIPT.exists():
    pytest.skip("the examples are not here", allow_module_level=True)
example = load_example()
TangentBoostClassifier = example.TangentBoostClassifier


class Power(MarginLoss):
    """1 - σ(m)**power: a loss whose scale depends on a parameter."""

    def __init__(self, power):
        super().__init__()
        self.power = power

    @property
    def log_odds_per_score(self):
        return 1 - self.power

    def value(self, margin):
        return 1 - expit(margin) ** self.power

    def weight(self, margin):
        return self.power * expit(margin) ** self.power * expit(-margin)


class PowerBoost(MarginLossBooster):
    def __init__(self, estimator=None, *, power=0.5, **others):
        super().__init__(estimator, **others)
        self.power = power

    def margin_loss(self):
        return Power(self.power)


class Rebuilt(MarginLossBooster):
    """A loss of the package, by the default steps."""

    def __init__(self, estimator=None, *, loss=None, **others):
        super().__init__(estimator, **others)
        self.loss = loss

    def margin_loss(self):
        return self.loss


class RebuiltOfShares(Rebuilt):
    answers = "shares"


@pytest.fixture(scope="module")
def noisy():
    X, y = make_gaussians(300, random_state=0)
    return X, *flip_labels(y, 0.15, random_state=0)


@pytest.fixture(scope="module")
def three_classes():
    X, y = load_iris(return_X_y=True)
    return X, flip_labels(y, 0.1, random_state=0)[0]


@parametrize_with_checks(
    [
        TangentBoostClassifier(n_estimators=10),
        TangentBoostClassifier(n_estimators=10, pace="linear"),
        PowerBoost(n_estimators=10),
        RebuiltOfShares(n_estimators=10, loss=Savage()),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("pace", [None, Linear(plateau=2.0)])
def test_tangent_boost_by_hand(noisy, pace):
    X, y, _ = noisy
    sign = 2.0 * y - 1
    F, expected = np.zeros(len(y)), []
    for n_done in range(12):
        p = np.arctan(F) + 0.5
        weight = 1 / (1 + F**2) ** 2
        if pace is not None and n_done >= 3:
            # Both scales are losses of a label of probability 1 / 5.
            loss = 4 * (np.where(y == 1, 1 - p, p)) ** 2
            weight = weight * Linear(plateau=2.56).weight(loss)
        tree = DecisionTreeRegressor(max_depth=2)
        F = F + tree.fit(X, (y - p) * (1 + F**2), sample_weight=weight).predict(X)
        expected.append(F)
    weak = DecisionTreeRegressor(max_depth=2)
    booster = TangentBoostClassifier(weak, n_estimators=12, pace=pace)
    staged = booster.fit(X, y).staged_decision_function(X)
    np.testing.assert_allclose(list(staged), expected, atol=1e-9)
    np.testing.assert_allclose(
        booster.predict_proba(X)[:, 1], np.clip(np.arctan(F) + 0.5, 0, 1), atol=1e-9
    )
    if pace is not None:
        loss = (2 * np.arctan(sign * F) - 1) ** 2
        v = Linear(plateau=2.56).weight(loss)
        np.testing.assert_allclose(booster.sample_pace_, v, atol=1e-9)


def test_the_page_shows_the_example():
    page = SCRIPT.parents[1] / "docs" / "new_booster.md"
    code = re.search(r"^class Tangent.*?(?=^```)", page.read_text("utf-8"), re.M | re.S)
    assert code.group() in SCRIPT.read_text("utf-8")


def test_tangent_boost_drops_wrong_labels(noisy):
    X, y, flipped = noisy
    v = TangentBoostClassifier(pace="hard", n_estimators=50).fit(X, y).sample_pace_
    assert (v == 0)[flipped].mean() > 0.5
    assert (v == 0)[~flipped].mean() < 0.05


@pytest.mark.parametrize("pace", [None, "linear"])
def test_comforts_with_three_classes(three_classes, pace):
    X, y = three_classes
    booster = TangentBoostClassifier(n_estimators=25, pace=pace).fit(X, y)
    assert booster.score(X, load_iris().target) > 0.9
    own = np.maximum(
        np.clip(np.arctan(booster.decision_function(X)) + 0.5, 0, 1), 1e-300
    )
    p = own / own.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(booster.predict_proba(X), p, atol=1e-12)
    if pace is not None:
        against = (1 / p[np.arange(y.size), y] - 1) / 2  # 1 where undecided
        v = booster.paces_[0].weight(4 * (against / (1 + against)) ** 2)
        assert v.min() < 0.5
        np.testing.assert_allclose(booster.sample_pace_, v, atol=1e-9)
    *_, last = booster.staged_decision_function(X)
    np.testing.assert_array_equal(last, booster.decision_function(X))
    again = pickle.loads(pickle.dumps(booster))
    np.testing.assert_array_equal(again.decision_function(X), last)

    warm = TangentBoostClassifier(n_estimators=10, pace=pace, warm_start=True)
    warm.fit(X, y).set_params(n_estimators=25).fit(X, y)
    np.testing.assert_allclose(warm.decision_function(X), last, atol=1e-10)

    stopped = TangentBoostClassifier(
        n_estimators=200, pace=pace, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert stopped.n_iter_ < 200
    best = stopped.validation_scores_[3 if pace else 0 :].max()
    assert stopped.validation_scores_[stopped.n_iter_ - 1] == best


@pytest.mark.parametrize("pace", [None, Linear(plateau=1.5), Hard(plateau=1.5)])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("rebuilt", "loss", "original"),
    [
        (Rebuilt, Exponential(coupled=False), GentleBoostClassifier()),
        (Rebuilt, Savage2(), RBoostClassifier()),
        (RebuiltOfShares, Savage(), SavageBoostClassifier()),
        (RebuiltOfShares, Exponential(coupled=False), RealAdaBoostClassifier()),
    ],
)
def test_boosters_of_the_package_rebuilt(
    noisy, three_classes, rebuilt, loss, original, n_classes, pace
):
    if n_classes == 3 and isinstance(original, RealAdaBoostClassifier):
        pytest.skip("one learner serves all its classes")
    X, y = noisy[:2] if n_classes == 2 else three_classes
    options = {"n_estimators": 12, "pace": pace, "learning_rate": 0.5}
    own = rebuilt(loss=loss, **options).fit(X, y)
    original = clone(original).set_params(**options).fit(X, y)
    scores = original.decision_function(X)
    np.testing.assert_allclose(own.decision_function(X), scores, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        own.predict_proba(X), original.predict_proba(X), atol=1e-8
    )
    np.testing.assert_allclose(own.sample_pace_, original.sample_pace_, atol=1e-8)


def test_parameters_passed_on(noisy):
    X, y, _ = noisy
    booster = PowerBoost(power=0.25, n_estimators=7, pace="hard")
    expected = {*RBoostClassifier().get_params(), "power"} - {"variant", "z_max"}
    assert set(booster.get_params()) == expected
    assert repr(clone(booster)) == "PowerBoost(n_estimators=7, pace='hard', power=0.25)"
    assert clone(booster).set_params(learning_rate=0.3).learning_rate == 0.3
    with pytest.raises(TypeError, match="powr"):
        PowerBoost(powr=1.0)
    search = GridSearchCV(booster, {"power": [0.1, 0.9], "n_estimators": [2, 4]}, cv=2)
    assert len(search.fit(X, y).cv_results_["params"]) == 4
    p = [PowerBoost(power=own).fit(X, y).predict_proba(X) for own in (0.1, 0.9)]
    assert np.abs(p[0] - p[1]).max() > 0.1


def test_learners_of_other_packages(noisy):
    X, y, _ = noisy
    booster = TangentBoostClassifier(LinearRegression(), n_estimators=5).fit(X, y)
    assert all(isinstance(own, LinearRegression) for own in booster.estimators_)
    own = TangentBoostClassifier(CARTRegressor(max_depth=2), n_estimators=5).fit(X, y)
    assert own.estimators_[0].get_depth() == 2


@pytest.mark.parametrize("target", [np.nan, 1.0])
def test_working_sets_that_make_no_sense(noisy, target):
    class Faulty(TangentBoostClassifier):
        def working_set(self, margin, y):
            return np.where(margin > 0.1, -0.5, 1.0), np.full(len(y), target)

    X, y, _ = noisy
    booster = Faulty()
    fault = "target=nan at margin=0" if np.isnan(target) else "weight=-0.5"
    with pytest.raises(ValueError, match=f"Faulty.working_set gives .*{fault}"):
        booster.fit(X, y)
    assert not hasattr(booster, "classes_")


def test_unknown_answers(noisy):
    class Faulty(TangentBoostClassifier):
        answers = "opinions"

    with pytest.raises(ValueError, match=r"Faulty.answers='opinions' .* 'shares'"):
        Faulty().fit(*noisy[:2])


def test_a_loss_is_asked_for():
    with pytest.raises(TypeError, match="margin_loss"):
        MarginLossBooster()


# ------------------------------------------------------------------------ the losses

LOSSES = [
    Exponential(coupled=False),
    Logistic(coupled=False),
    Savage(),
    Savage2(),
    Power(0.5),
    example.Tangent(),
]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda own: type(own).__name__)


@every_loss
def test_weights_are_slopes(loss):
    m = np.linspace(-4, 4, 81)
    slope = (loss.value(m - 1e-6) - loss.value(m + 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.weight(m), slope, rtol=1e-6, atol=1e-8)


@every_loss
@pytest.mark.parametrize("p", [0.1, 0.45, 0.8])
def test_links_give_the_minimiser(loss, p):
    def expected_loss(F):
        return p * loss.value(F) + (1 - p) * loss.value(-F)

    best = minimize_scalar(expected_loss, bounds=(-6, 6), options={"xatol": 1e-10}).x
    assert loss.link(np.array(best)) == pytest.approx(p, abs=1e-5)
    assert float(loss.inverse_link(p)) == pytest.approx(best, abs=1e-4)


@every_loss
def test_odds_of_losses(loss):
    odds = np.array([1e-3, 0.2, 1.0, 4.0, 1e3])
    by_link = loss.value(loss.inverse_link(1 / (1 + odds)))
    np.testing.assert_allclose(loss.at_odds(odds), by_link, rtol=1e-9, atol=1e-15)
    for own, value in zip(odds, by_link, strict=True):
        assert loss.odds_at(value) == pytest.approx(own, rel=1e-6)
        found = MarginLoss.odds_at(loss, value)
        assert found == pytest.approx(own, rel=1e-6)


def test_odds_beyond_a_loss():
    assert example.Tangent().odds_at(4.5) == np.inf
    assert example.Tangent().odds_at(0.0) == 0.0
