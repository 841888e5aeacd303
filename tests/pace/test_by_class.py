"""Classes with paces of their own, given or from their share of the data."""

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.metrics import average_precision_score, recall_score
from sklearn.model_selection import GridSearchCV

from boosters import quiet_fit
from helpers import parametrize_by_turns
from reference import age_from_plateau, boost, pace_loss, tree_learner
from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost.datasets import (
    flip_labels,
    make_gaussians,
    make_long_servedio,
    make_ringnorm,
    make_twonorm,
)
from splboost.losses import Exponential
from splboost.pace import Hard, Linear, Logarithmic, Mixture, Pace, Polynomial
from splboost.pace.by_class import (
    ClassCurves,
    describe_lost_classes,
    paces_of_classes,
)
from splboost.trees import CARTClassifier

INF = math.inf
LOSS = Exponential()
PACES = [
    Hard(plateau=2.5),
    Linear(age=5.0),
    Polynomial(plateau=2.5),
    Polynomial(age=3.0, t=4.0),
    Mixture(plateau=4.0),
    Mixture(age=2.2),
    Mixture(age=2.0, gamma=3.0),
    Mixture(plateau=3.0, gamma=1.5),
    Logarithmic(plateau=2.5, zeta=0.2),
]
every_pace = pytest.mark.parametrize("pace", PACES, ids=repr)
two_and_three = pytest.mark.parametrize("n_classes", [2, 3])
BOTH = ("lower", "upper")


def corrected(pace):
    return clone(pace).set_params(prior_corrected=True)


def cut(pace):
    """The loss from which nothing is believed."""
    age = pace.resolved_age
    return age**2 if isinstance(pace, Mixture) else age


def warnings_of(model, *data, **weights):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data, **weights)
    return [str(warning.message) for warning in caught]


def skewed_classes(n, n_classes=2, seed=0):
    """Whole numbers in three columns; classes of unequal size, some of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(n, 3)).astype(float)
    score = X[:, 0] + X[:, 1] / 2 + rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, [0.7, 0.88][: n_classes - 1]), score)
    return X, flip_labels(y, 0.1, random_state=seed)[0]


def gaussians(n, random_state):
    return make_gaussians(n // 2, random_state=random_state)


def clusters(n, random_state):
    return make_classification(
        n,
        n_features=10,
        n_informative=6,
        flip_y=0,
        class_sep=1.5,
        random_state=random_state,
    )


def rare_class(make, seed, n=1900, share=0.07):
    """A problem of two classes with few samples of the second, and no wrong label."""
    X, y = make(n, random_state=seed)
    one, other = np.flatnonzero(y == y.min()), np.flatnonzero(y == y.max())
    n_rare = int(len(one) * share / (1 - share))
    rows = np.random.default_rng(seed).permutation(np.append(one, other[:n_rare]))
    return X[rows], np.array(BOTH)[(y[rows] == y.max()).astype(int)]


def assert_same_model(one, other, X):
    """Equal bit for bit in all that was learned and in all that is predicted."""
    for name in ("estimator_weights_", "sample_pace_", "latent_objective_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert one.stop_reason_ == other.stop_reason_


# -- from the share of a class to its pace ---------------------------------------------


@every_pace
@pytest.mark.parametrize("priors", [(0.9, 0.1), (0.6, 0.4), (0.7, 0.2, 0.1)])
def test_labels_are_dropped_at_a_probability_in_proportion_to_the_share(pace, priors):
    K = len(priors)
    for factor in (1, 4):
        wide = clone(pace).set_params(**pace._stretched(factor), prior_corrected=True)
        p = LOSS.probability_at(cut(wide), K)
        paces = paces_of_classes(wide, dict(enumerate(priors)), LOSS)
        for prior, own in zip(priors, paces.values(), strict=True):
            assert own.prior_corrected is False
            if K * prior <= 1 or factor > 1:  # else it may have been held back
                assert LOSS.probability_at(cut(own), K) == pytest.approx(p * K * prior)


def test_two_classes_on_the_logarithmic_scale():
    """lambda_c = a - log prior_c on the loss -log p, the usual lambda at one half."""
    pace = Hard(age=3.0, prior_corrected=True)
    paces = paces_of_classes(pace, {0: 0.93, 1: 0.07}, LOSS)
    for prior, own in zip((0.93, 0.07), paces.values(), strict=True):
        log_scale = math.log(1 + own.age**2)
        assert log_scale == pytest.approx(math.log(1 + 3**2) - math.log(2 * prior))


@every_pace
def test_the_curves_are_stretched(pace):
    rare = corrected(pace).for_class(0.1, 2, LOSS)
    factor = cut(rare) / cut(pace)
    assert factor > 2
    loss = np.geomspace(1e-3, 30, 50)
    np.testing.assert_allclose(
        rare.weight(factor * loss), pace.weight(loss), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        rare.latent(factor * loss), factor * pace.latent(loss), rtol=1e-9
    )
    assert (rare.age is None) == (pace.age is None)  # in the user's scale


@every_pace
@two_and_three
def test_equal_shares_change_nothing(pace, n_classes):
    own = corrected(pace).for_class(1 / n_classes, n_classes, LOSS)
    assert own.resolved_age == pytest.approx(pace.resolved_age, rel=1e-12)
    assert own.weight(1.3) == pytest.approx(pace.weight(1.3), rel=1e-12)


@pytest.mark.parametrize("kind", [Hard, Linear, Polynomial, Mixture, Logarithmic])
@pytest.mark.parametrize("prior", [0.6, 0.93, 0.9999, 1.0])
def test_a_common_class_is_still_believed(kind, prior):
    """The loss of greatest influence stays above 1, that of an undecided sample."""
    for age in np.geomspace(0.3, 30, 40):
        pace = kind(age=age)
        own = corrected(pace).for_class(prior, 2, LOSS)
        assert own.peak() <= pace.peak() * (1 + 1e-12)
        if pace.peak() > 1:
            assert own.peak() >= math.sqrt(pace.peak()) * (1 - 1e-12)
        else:
            assert own.peak() == pytest.approx(pace.peak())


@pytest.mark.parametrize("prior", [0.0, 0.07, 0.93])
@pytest.mark.parametrize(
    "pace", [Hard(age=INF), Linear(plateau=INF), Mixture(age=INF, gamma=0.7)]
)
def test_without_a_cut_there_is_nothing_to_correct(pace, prior):
    own = corrected(pace).for_class(prior, 2, LOSS)
    loss = np.geomspace(1e-3, 1e6, 20)
    np.testing.assert_array_equal(own.weight(loss), pace.weight(loss))
    assert own.is_off == pace.is_off


def test_a_pace_of_ones_own_may_say_what_classes_get():
    class Welsch(Pace):
        def __init__(self, scale=1.0):
            self.scale = scale

        def weight(self, loss):
            return np.exp(-np.asarray(loss, dtype=float) / self.scale)

    class Patient(Welsch):
        def for_class(self, prior, n_classes, link):
            return Patient(1 / prior)

    priors = {0: 0.8, 1: 0.2}
    assert paces_of_classes(Welsch(3.0), priors, LOSS)[1].scale == 3
    assert paces_of_classes(Patient(), priors, LOSS)[1].scale == 5


def test_each_loss_takes_the_curves_of_its_class():
    paces = [Hard(age=1.0), None, Mixture(age=2.0), Linear(plateau=INF)]
    curves = ClassCurves(paces)
    loss = np.geomspace(0.1, 10, 40)
    codes = np.arange(40) % 4
    weight, latent = curves.weight(loss, codes), curves.latent(loss, codes)
    for code, pace in enumerate(paces):
        rows = codes == code
        pace = pace or Hard(age=INF)
        np.testing.assert_array_equal(weight[rows], pace.weight(loss[rows]))
        np.testing.assert_array_equal(latent[rows], pace.latent(loss[rows]))
    assert not curves.is_plain and curves.formula is None
    assert ClassCurves([None, Hard(age=INF)]).is_plain


# -- boosting with a pace for each class -----------------------------------------------

# Regulariser, its shape, plateaus of the classes
PER_CLASS = [
    (Hard, {}, [1.5, 4.0, 2.5]),
    (Linear, {}, [1.5, 4.0, 2.5]),
    (Polynomial, {"t": 1.3}, [4.0, 1.5, 2.5]),
    (Mixture, {}, [2.5, 4.0, 6.0]),
    (Mixture, {"gamma": 2.0}, [2.5, 4.0, 6.0]),
    (Logarithmic, {"zeta": 0.2}, [4.0, 1.5, 2.5]),
]


@parametrize_by_turns(
    setting=PER_CLASS * 2,
    when=[(1, 3, 1), (2, 0, 1), (1, 2, 3), (2, 1, 1)],
    n_classes=[2, 3, 3],
)
def test_is_the_reference(setting, when, n_classes):
    (kind, shape, plateaus), (depth, warm, inner) = setting, when
    X, y = skewed_classes(60, n_classes, seed=depth)
    weight = np.random.default_rng(0).integers(1, 4, size=60).astype(float)
    name = kind.__name__.lower()
    plateaus = plateaus[:n_classes]
    expected = boost(
        X,
        y,
        n_estimators=12,
        kind=name,
        age=[age_from_plateau(name, plateau, **shape) for plateau in plateaus],
        shape=shape,
        warm_rounds=warm,
        inner_steps=inner,
        sample_weight=weight,
        weak=tree_learner(max_depth=depth, n_classes=n_classes),
    )
    model = AdaBoostClassifier(
        CARTClassifier(max_depth=depth, min_weight_fraction_leaf=0),
        n_estimators=12,
        pace={c: kind(plateau=p, **shape) for c, p in enumerate(plateaus)},
        warm_rounds=warm,
        inner_steps=inner,
    )
    quiet_fit(model, X, y, sample_weight=weight)
    np.testing.assert_allclose(model.estimator_weights_, expected.alphas, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), expected.F, atol=1e-8)
    np.testing.assert_allclose(model.latent_objective_, expected.latent, rtol=1e-8)
    np.testing.assert_allclose(model.sample_pace_, expected.v, atol=1e-7)
    assert model.n_selected_.tolist() == expected.n_selected


@parametrize_by_turns(pace=PACES, n_classes=[2, 3])
def test_one_pace_for_all_is_that_pace(pace, n_classes):
    X, y = skewed_classes(150, n_classes)
    one = SPLBoostClassifier(n_estimators=40, pace=pace)
    each = SPLBoostClassifier(
        n_estimators=40, pace={c: clone(pace) for c in range(n_classes)}
    )
    assert_same_model(quiet_fit(one, X, y), quiet_fit(each, X, y), X)


@two_and_three
def test_no_pace_for_any_is_adaboost(n_classes):
    X, y = skewed_classes(150, n_classes)
    plain = AdaBoostClassifier(n_estimators=30).fit(X, y)
    for off in (None, Hard(plateau=INF)):
        pace = dict.fromkeys(range(n_classes), off)
        model = AdaBoostClassifier(n_estimators=30, pace=pace)
        assert_same_model(plain, model.fit(X, y), X)


def test_the_share_is_that_of_the_weights():
    X, y = skewed_classes(200)
    weight = np.random.default_rng(1).integers(0, 4, size=200)
    model = SPLBoostClassifier(n_estimators=5, pace=Hard(prior_corrected=True))
    prior = weight[y == 1].sum() / weight.sum()
    quiet_fit(model, X, y, sample_weight=weight)
    assert LOSS.probability_at(model.paces_[1].plateau, 2) == pytest.approx(
        2 * prior * LOSS.probability_at(2.0, 2)
    )
    copies = clone(model)
    quiet_fit(copies, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        model.decision_function(X), copies.decision_function(X), rtol=1e-9
    )


def test_balanced_class_weights_undo_the_correction():
    X, y = skewed_classes(200)
    balanced = SPLBoostClassifier(n_estimators=20, class_weight="balanced")
    both = clone(balanced).set_params(pace__prior_corrected=True)
    quiet_fit(balanced, X, y), quiet_fit(both, X, y)
    assert both.paces_[1].resolved_age == pytest.approx(4.0)
    np.testing.assert_allclose(
        both.decision_function(X), balanced.decision_function(X), rtol=1e-9
    )


@settings(max_examples=60)
@given(
    paces=st.tuples(*[st.sampled_from([None, *PACES])] * 2),
    corrections=st.tuples(st.booleans(), st.booleans()),
    depth=st.integers(1, 3),
    learning_rate=st.floats(0.1, 1),
    seed=st.integers(0, 50),
)
def test_latent_objective_never_rises(paces, corrections, depth, learning_rate, seed):
    X, y = skewed_classes(60, seed=seed)
    weight = np.random.default_rng(seed).exponential(size=60)
    each = zip(paces, corrections, strict=True)
    model = SPLBoostClassifier(
        CARTClassifier(max_depth=depth),
        n_estimators=15,
        learning_rate=learning_rate,
        pace=dict(enumerate(corrected(p) if p and yes else p for p, yes in each)),
        warm_rounds=2,
    )
    quiet_fit(model, X, y, sample_weight=weight)
    objective = model.latent_objective_
    assert (np.diff(objective[1:]) <= 1e-11 * weight.sum()).all()
    loss = pace_loss(model.decision_function(X), y)
    parts = [
        weight[y == c] @ (loss[y == c] if pace is None else pace.latent(loss[y == c]))
        for c, pace in model.paces_.items()
    ]
    assert objective[-1] == pytest.approx(sum(parts), rel=1e-9)


# -- the parameter ---------------------------------------------------------------------


def test_what_each_class_got():
    X, y = rare_class(gaussians, 0, n=300)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    assert model.paces_ == {"lower": None, "upper": None}
    model.set_params(pace="hard")
    assert quiet_fit(model, X, y).paces_["upper"].get_params() == Hard().get_params()
    model.set_params(pace={"upper": None, "lower": Linear(age=3.0)})
    quiet_fit(model, X, y)
    assert list(model.paces_) == ["lower", "upper"]
    model.pace["lower"].age = 7.0
    assert model.paces_["lower"].age == 3
    assert model.paces_["upper"] is None
    again = pickle.loads(pickle.dumps(model))
    assert again.paces_["lower"].age == 3


def test_a_dict_is_a_plain_parameter():
    pace = {"lower": Hard(age=3.0), "upper": "linear"}
    model = SPLBoostClassifier(pace=pace)
    assert model.get_params(deep=True)["pace"] is pace
    assert not any(name.startswith("pace__") for name in model.get_params(deep=True))
    copy = clone(model)
    assert copy.pace["lower"] is not pace["lower"]
    assert copy.pace["lower"].age == 3 and copy.pace["upper"] == "linear"
    for params in ({}, {"pace": {0: None}}):
        with pytest.raises(
            ValueError, match=r"pace__plateau: pace=.* is a dict.*new dic"
        ):
            model.set_params(pace__plateau=3.0, **params)
    assert model.set_params(pace=Hard(), pace__plateau=3.0).pace.plateau == 3


@pytest.mark.parametrize(
    ("pace", "message"),
    [
        ({"lower": "hard"}, r"no entry for \['upper'\].*\['lower', 'upper'\]"),
        ({}, r"no entry for \['lower', 'upper'\]"),
        (
            {"lower": "hard", "upper": None, "uper": None},
            r"names \['uper'\], which y does not contain; give one entry for each of",
        ),
        (
            {0: "hard", "upper": "hard"},
            r"no entry for \['lower'\] .* and names \[0\], which y does not contain",
        ),
        ({"lower": "hard", "upper": "soft"}, r"class 'upper': pace='soft' is no known"),
        (
            {"lower": Hard(age=-1), "upper": None},
            r"class 'lower': Hard: age must be a number above 0",
        ),
    ],
)
def test_bad_dicts(pace, message):
    X, y = rare_class(gaussians, 0, n=300)
    with pytest.raises(ValueError, match=message):
        SPLBoostClassifier(pace=pace).fit(X, y)


@pytest.mark.parametrize("bad", [2.5, Hard, {"lower": None}])
def test_bad_entries(bad):
    X, y = rare_class(gaussians, 0, n=300)
    with pytest.raises(TypeError, match="class 'upper': pace"):
        SPLBoostClassifier(pace={"lower": None, "upper": bad}).fit(X, y)


def test_labels_are_matched_by_value():
    X, y = rare_class(gaussians, 0, n=300)
    numbers = (y == "upper").astype(np.int64)
    pace = {np.int64(0): "hard", 1.0: None}
    quiet_fit(SPLBoostClassifier(n_estimators=4, pace=pace), X, numbers)
    pace = {False: "hard", True: None}
    model = quiet_fit(SPLBoostClassifier(n_estimators=4, pace=pace), X, numbers == 1)
    assert model.paces_[True] is None


def test_grid_search():
    X, y = rare_class(make_twonorm, 0)
    search = GridSearchCV(
        SPLBoostClassifier(n_estimators=60, pace="hard"),
        {"pace__prior_corrected": [False, True]},
        scoring="roc_auc",
        cv=2,
    )
    assert quiet_fit(search, X, y).best_params_ == {"pace__prior_corrected": True}
    each = [{"lower": "hard", "upper": "hard"}, {"lower": "hard", "upper": None}]
    search.set_params(param_grid={"pace": each})
    assert quiet_fit(search, X, y).best_params_ == {"pace": each[1]}


# -- a rare class ----------------------------------------------------------------------

REMEDIES = [
    Linear(prior_corrected=True),
    Logarithmic(prior_corrected=True),
    Mixture(prior_corrected=True),
    {"lower": "linear", "upper": None},
    {"lower": "linear", "upper": Linear(plateau=8.0)},
]


def judge(pace, make, seed):
    """Share of the rare class dropped; its recall, and the average precision."""
    X, y = rare_class(make, seed, n=3800)
    half = len(y) // 2
    model = SPLBoostClassifier(n_estimators=150, pace=pace)
    quiet_fit(model, X[:half], y[:half])
    truth = y[half:] == "upper"
    return (
        np.mean(model.sample_pace_[y[:half] == "upper"] == 0),
        recall_score(truth, model.predict(X[half:]) == "upper"),
        average_precision_score(truth, model.decision_function(X[half:])),
    )


@pytest.mark.parametrize(
    ("make", "most_dropped"),
    [(clusters, 0.06), (gaussians, 0.02), (make_ringnorm, 0.01)],  # clusters overlap
)
def test_a_rare_class_is_not_eaten(make, most_dropped):
    def mean(pace):
        return np.mean([judge(pace, make, seed) for seed in range(6)], axis=0)

    _, plain_recall, plain_precision = mean(None)
    dropped, recall, precision = mean("linear")
    assert dropped > 0.14
    assert recall < plain_recall - 0.05 and precision < plain_precision - 0.035
    for pace in REMEDIES:
        dropped, recall, precision = mean(pace)
        assert dropped < most_dropped
        assert recall > plain_recall - 0.04
        assert precision > plain_precision - 0.02


def test_a_rare_class_of_three_is_not_eaten():
    centre = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])
    y = np.repeat([0, 1, 2], [600, 500, 50])
    for seed in range(3):
        X = centre[y] + np.random.default_rng(seed).normal(size=(y.size, 2))
        eaten = quiet_fit(SPLBoostClassifier(), X, y)
        cured = SPLBoostClassifier(pace=Linear(prior_corrected=True)).fit(X, y)
        assert np.mean(eaten.sample_pace_[y == 2] == 0) > 0.15
        assert np.mean(cured.sample_pace_[y == 2] == 0) < 0.08
        ages = [pace.resolved_age for pace in cured.paces_.values()]
        assert ages[0] < ages[1] < 4 < ages[2]


# -- the warning -----------------------------------------------------------------------


@pytest.mark.parametrize("pace", ["linear", "hard", "mixture", "logarithmic"])
def test_dropping_a_rare_class_is_warned_of(pace):
    X, y = rare_class(gaussians, 0)
    model = SPLBoostClassifier(pace=pace)
    (message,) = warnings_of(model, X, y)
    share = np.mean(model.sample_pace_[y == "upper"] == 0)
    assert f"has dropped {share:.0%} of class 'upper'" in message
    for remedy in ("prior_corrected=True", "a dict", "larger age or plateau"):
        assert remedy in message
    assert "Unless that many of these labels really are wrong" in message


@pytest.mark.parametrize("pace", REMEDIES)
def test_the_remedies_need_no_warning(pace):
    for seed in range(3):
        X, y = rare_class(gaussians, seed)
        assert warnings_of(SPLBoostClassifier(pace=pace), X, y) == []


def test_who_has_corrected_the_pace_is_not_told_to():
    X, y = rare_class(clusters, 4, n=3800)
    X, y = X[: len(y) // 2], y[: len(y) // 2]
    for pace in (Hard(prior_corrected=True), {"lower": None, "upper": "hard"}):
        model = SPLBoostClassifier(pace=pace)
        messages = warnings_of(model, X, y)
        assert np.mean(model.sample_pace_[y == "upper"] == 0) > 0.12
        told = any("prior_corrected=True" in message for message in messages)
        assert told == isinstance(pace, dict)


@pytest.mark.parametrize(
    "options",
    [{"class_weight": "balanced"}, {"pace": None}],
    ids=str,
)
def test_nothing_to_warn_of(options):
    X, y = rare_class(gaussians, 0)
    assert warnings_of(SPLBoostClassifier(**options), X, y) == []


def test_no_warning_of_classes_before_the_pace_sets_in():
    X, y = rare_class(make_ringnorm, 0)
    model = SPLBoostClassifier(n_estimators=3, pace="hard")
    (message,) = warnings_of(model, X, y)
    assert "pace='hard' has had no effect" in str(message)
    assert (model.sample_pace_[y == "upper"] == 0).all()


@pytest.mark.parametrize(
    ("n_rare", "rare", "common", "warns"),
    [
        (100, 20, 0, True),
        (20, 5, 0, True),
        (20, 4, 0, False),  # too few to tell
        (100, 9, 0, False),
        (100, 40, 120, True),
        (100, 40, 140, False),  # not three times as large a share
        (490, 300, 0, True),
        (490, 150, 200, False),
        (510, 300, 0, True),
        (510, 300, 60, True),  # not very rare: ten times as large a share is asked
        (510, 300, 100, False),
        (850, 400, 0, False),  # more than a third of two classes is not rare
    ],
)
def test_the_rule_of_the_warning(n_rare, rare, common, warns):
    mass, lost = [1000 + 500 * (n_rare > 400), n_rare], np.array([common, rare])
    message = describe_lost_classes(np.array(mass), lost, lost, ["no", "yes"])
    assert (message is not None) == warns


def test_one_warning_where_one_class_is_left():
    X, y = rare_class(make_ringnorm, 0)
    model = SPLBoostClassifier()
    (message,) = warnings_of(model, X, y)
    assert model.stop_reason_ == "one class selected"
    assert "prior_corrected=True" in message


def test_the_warning_goes_by_weights():
    X, y = rare_class(gaussians, 0)
    weight = np.where(y == "upper", 12.0, 1.0)  # as common as the other, by weight
    assert warnings_of(SPLBoostClassifier(), X, y, sample_weight=weight) == []
    X, y = make_gaussians(500, random_state=0)
    weight = np.where(y == 1, 0.05, 1.0)
    (message,) = warnings_of(SPLBoostClassifier(), X, y, sample_weight=weight)
    assert "of class 1, and" in message


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2, 0.3])
def test_wrong_labels_in_equal_classes_are_not_warned_of(noise):
    for seed in range(3):
        problems = [
            make_twonorm(500, random_state=seed),
            make_ringnorm(500, random_state=seed),
            make_gaussians(200, random_state=seed),
            make_long_servedio(500, random_state=seed),
            load_breast_cancer(return_X_y=True),
        ]
        for X, y in problems:
            y, _ = flip_labels(y, noise, random_state=seed)
            messages = warnings_of(SPLBoostClassifier(), X, y)
            assert not any("has dropped" in message for message in messages)


def test_many_rare_classes_are_not_all_listed():
    mass, lost = np.array([3000, *[100] * 8]), 5 * np.arange(9)
    message = describe_lost_classes(mass, lost, lost, range(9))
    worst = "40% of class 8, 35% of class 7, 30% of class 6, 25% of class 5, 20% of"
    assert f"dropped {worst} class 4 (and so on, 6 classes), and 0.0%" in message
    lost[8] = 0
    message = describe_lost_classes(mass, lost, lost, range(9))
    assert "15% of class 3, and 0.0%" in message
