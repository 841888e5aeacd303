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

from splboost import (
    GentleBoostClassifier,
    RBoostClassifier,
    RealAdaBoostClassifier,
    SavageBoostClassifier,
)
from splboost.boosting.custom import MarginLoss, MarginLossBooster
from splboost.datasets import flip_labels, make_gaussians
from splboost.losses import Exponential, Logistic, Savage, Savage2, check_margin_loss
from splboost.pace import Hard, Linear
from splboost.trees import CARTRegressor

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "new_booster.py"


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
def test_options_with_three_classes(three_classes, pace):
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
    assert all(each.endswith("holds") for each in check_margin_loss(loss))


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


class Hinge(MarginLoss):
    """With a kink, and a weight that is not the slope but three times it."""

    def value(self, margin):
        return np.maximum(0, 1 - margin)

    def weight(self, margin):
        return 3.0 * (margin < 1)


def test_kinks_and_factors_are_no_fault():
    assert len(check_margin_loss(Hinge())) == 6


FAULTS = {
    "shape of the value": (
        {"value": lambda loss, m: np.exp(-m).sum()},
        r"value must give a number for each margin, but for an array of shape \(601,\) "
        r"it gives float64 of shape \(\)\. Compute on whole arrays",
    ),
    "shape of the weight": (
        {"weight": lambda loss, m: np.ones((m.size, 1))},
        r"weight must give a number for each margin, .* ndarray of shape \(601, 1\)",
    ),
    "complex": (
        {"weight": lambda loss, m: ["a"] * m.size},
        "weight must give real numbers, .* Return an array of floats",
    ),
    "not a number": (
        {"weight": lambda loss, m: np.sqrt(1 - m)},
        r"weight must be finite, but weight\(1\.1\) = nan\. Rewrite it",
    ),
    "infinite": (
        {"value": lambda loss, m: np.exp(m**4)},
        r"value must be finite, but value\(-30\) = inf",
    ),
    "negative": (
        {"value": lambda loss, m: 1 - m},
        r"value must not be negative, but value\(1\.1\) = -0\.1\. Add a constant",
    ),
    "no weight": (
        {"weight": lambda loss, m: 0 * m},
        "some weight must be positive, but none is .* Return how fast the value falls",
    ),
    "wrong sign": (
        {"value": lambda loss, m: np.exp(m), "weight": lambda loss, m: np.exp(m)},
        r"value must fall where the weight is positive, but weight\(-\S+\) = .* look "
        "at the signs",
    ),
    "wrong slope": (
        {"value": lambda loss, m: np.logaddexp(0, -m), "weight": Logistic().weight},
        "weight must be minus the derivative of the value, .* Derive the value once",
    ),
    "flat": (
        {"value": lambda loss, m: np.ones_like(m)},
        r"weight must be minus the derivative .* weight\(-30\) = 3, .* falls by 0 per",
    ),
    "no probability": (
        {"link": lambda loss, F: F / 40 + 0.5},
        r"link must be a probability, but link\(-30\) = -0\.25\. Clip it",
    ),
    "falling link": (
        {"link": lambda loss, F: expit(-F)},
        r"link must rise with the score, but link\(-\S+\) = 1 and link\(-\S+\)",
    ),
    "another link": (
        {"link": lambda loss, F: expit(F)},
        r"inverse_link must be the inverse of link, but inverse_link\(0\.01\) = "
        r"-2\.29756, and link\(-2\.29756\) = 0\.0913\d+\. Write both",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_losses_with_a_fault(fault):
    methods, message = FAULTS[fault]
    loss = type("Faulty", (Hinge,), methods)()
    with pytest.raises(ValueError, match=f"Faulty is no margin loss: (the )?{message}"):
        check_margin_loss(loss)


def test_what_is_no_loss():
    with pytest.raises(TypeError, match="loss=3 is a int; give an object"):
        check_margin_loss(3)
    with pytest.raises(TypeError, match="Hinge'> is a class; give an object"):
        check_margin_loss(Hinge)

    class Bare(Hinge):
        def __init__(self):
            pass

    with pytest.raises(ValueError, match=r"Bare .* call super\(\).__init__\(\)"):
        check_margin_loss(Bare())


@pytest.mark.parametrize("fault", ["shape of the value", "not a number", "complex"])
def test_a_fit_refuses_such_losses(noisy, fault):
    loss = type("Faulty", (Hinge,), FAULTS[fault][0])()
    with pytest.raises(ValueError, match=r"Faulty is no margin loss: (value|weight)"):
        Rebuilt(loss=loss).fit(*noisy[:2])


@pytest.mark.parametrize(
    "answer", [(1.0, 1.0, 1.0), (np.ones(3), 1.0), (1.0, np.ones((9, 1)))]
)
def test_a_fit_refuses_working_sets_of_other_shapes(noisy, answer):
    class Faulty(TangentBoostClassifier):
        def working_set(self, margin, y):
            return answer

    with pytest.raises(ValueError, match=r"Faulty.working_set gives arrays of .* \(9,"):
        Faulty().fit(*noisy[:2])
