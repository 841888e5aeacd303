"""The objective alone, and in the hands of both packages."""

import copy
import importlib
import pickle
import sys
import warnings

import lightgbm
import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.special import expit, softmax

from engine_models import data
from reference import paced_gradient
from splboost.engines import SelfPacedObjective
from splboost.engines.objective import PacedRounds
from splboost.pace import Hard, Linear, Mixture, Pace

PACES = {
    "hard": ("hard", {}),
    "linear": ("linear", {}),
    "polynomial": ("polynomial", {"t": 1.3}),
    "mixture": ("mixture", {}),
    "half mixture": (Mixture(gamma=0.5), {"gamma": 0.5}),
    "logarithmic": ("logarithmic", {"zeta": 0.1}),
}


def train_xgboost(X, y, objective, n_rounds=40, weight=None, n_classes=2, **more):
    kinds = {2: {"objective": "binary:logistic"}}
    kinds[3] = {"objective": "multi:softprob", "num_class": 3}
    params = {"max_depth": 3, "learning_rate": 0.1, "base_score": 0.5, "nthread": 1}
    matrix = xgboost.DMatrix(X, y, weight=weight, nthread=1)
    params |= kinds[n_classes]
    model = xgboost.train(params, matrix, n_rounds, obj=objective, **more)
    return model.predict(matrix, output_margin=True)


def train_lightgbm(X, y, objective, n_rounds=40, weight=None, n_classes=2, **more):
    params = {"num_leaves": 8, "boost_from_average": False, "num_threads": 1}
    params |= {"objective": objective, "verbose": -1}
    params |= {"num_class": n_classes} if n_classes > 2 else {}
    matrix = lightgbm.Dataset(X, y, weight=weight)
    model = lightgbm.train(params, matrix, n_rounds, **more)
    return model.predict(X, raw_score=True)


TRAIN = {"xgboost": train_xgboost, "lightgbm": train_lightgbm}
both = pytest.mark.parametrize("package", TRAIN)


# ------------------------------------------------------------------- against formulas


@settings(max_examples=60)
@given(
    loss=st.sampled_from(["logistic", "exponential", "softmax"]),
    pace=st.sampled_from(sorted(PACES)),
    p_min=st.floats(0.02, 0.6),
    scores=arrays.arrays(np.float64, (12, 4), elements=st.floats(-8, 8)),
    labels=arrays.arrays(np.int64, 12, elements=st.integers(0, 3)),
    weights=arrays.arrays(np.float64, 12, elements=st.floats(0, 3)),
)
def test_gradient_and_hessian_are_those_of_the_reference(
    loss, pace, p_min, scores, labels, weights
):
    if loss != "softmax":
        scores, labels = scores[:, 0], labels % 2
    given, shape = PACES[pace]
    objective = SelfPacedObjective(
        loss, given, p_min=p_min, warm_rounds=0, start_round=0
    )
    cut = np.sqrt((1 - p_min) / p_min) if loss == "exponential" else -np.log(p_min)
    kind = pace.split()[-1]
    age = np.sqrt(cut) if kind == "mixture" else cut
    options = {"kind": kind, "age": age, **shape}
    gradient, hessian = objective(labels, scores, weights)
    expected = paced_gradient(loss, scores, labels, weights, factor=4 / 3, **options)
    near_cut = np.zeros(len(labels), dtype=bool)
    if pace == "hard":
        losses = -np.log(np.maximum(_own(loss, scores, labels), 1e-300))
        if loss == "exponential":
            losses = np.sqrt(np.expm1(np.minimum(losses, 700)))
        near_cut = np.isclose(losses, cut, rtol=1e-9)
    for found, wanted in zip((gradient, hessian), expected[:2], strict=True):
        np.testing.assert_allclose(
            found[~near_cut], wanted[~near_cut], rtol=1e-7, atol=1e-9
        )


def _own(loss, scores, labels):
    """The probability of each label."""
    if loss == "softmax":
        return softmax(scores, axis=1)[np.arange(len(labels)), labels]
    return expit(np.where(labels == 1, scores, -scores))


def test_a_pace_of_the_users_own_and_one_with_an_age():
    class Welsch(Pace):
        def weight(self, loss):
            return np.exp(-np.asarray(loss, dtype=float))

    scores, y = np.array([0.0, -1.0, 2.0]), np.array([1.0, 1.0, 0.0])
    losses = np.log1p(np.exp(np.where(y > 0, -scores, scores)))
    plain = expit(scores) - y
    for pace, v in ((Welsch(), np.exp(-losses)), (Hard(age=1.0), losses < 1.0)):
        found, _ = SelfPacedObjective(pace=pace, warm_rounds=0, start_round=0)(
            y, scores
        )
        np.testing.assert_allclose(found, v * plain, rtol=1e-12)


# ---------------------------------------------------------------- in both packages


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_infinite_plateau_is_the_built_in_objective(package, n_classes):
    X, y, _ = data(600, n_classes=n_classes)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
    loss = "logistic" if n_classes == 2 else "softmax"
    objective = SelfPacedObjective(loss, Linear(plateau=np.inf), warm_rounds=3)
    options = {"weight": weight, "n_classes": n_classes}
    own = TRAIN[package](X, y, objective, **options)
    name = {2: "binary", 3: "multiclass"}[n_classes] if package == "lightgbm" else None
    plain = TRAIN[package](X, y, name, **options)
    assert np.abs(own - plain).max() <= {"xgboost": 1.5e-6, "lightgbm": 1e-8}[package]
    paced = SelfPacedObjective(loss, "hard", warm_rounds=3)
    assert np.abs(TRAIN[package](X, y, paced, **options) - plain).max() > 0.1


@both
def test_a_second_fit_with_the_same_object_is_equal(package):
    X, y, _ = data(600)
    objective = SelfPacedObjective(warm_rounds=10)
    train = TRAIN[package]
    first = train(X, y, objective)
    np.testing.assert_array_equal(train(X, y, objective), first)
    np.testing.assert_array_equal(train(X, y, copy.deepcopy(objective)), first)
    other = X[::2], y[::2]
    alone = train(*other, SelfPacedObjective(p_min=0.05, warm_rounds=10))
    objective.p_min = 0.05  # set between fits
    np.testing.assert_array_equal(train(*other, objective), alone)
    assert (alone != train(*other, SelfPacedObjective(warm_rounds=10))).any()


@pytest.mark.parametrize("n_done", [1, 25])
def test_a_fit_after_an_interrupted_one_is_equal(n_done):
    X, y, _ = data(600)
    objective = SelfPacedObjective(warm_rounds=10)

    class Interrupt(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            if epoch + 1 == n_done:
                raise KeyboardInterrupt
            return False

    with pytest.raises(KeyboardInterrupt):
        train_xgboost(X, y, objective, callbacks=[Interrupt()])
    again = train_xgboost(X, y, objective)
    np.testing.assert_array_equal(
        again, train_xgboost(X, y, SelfPacedObjective(warm_rounds=10))
    )


def test_another_start_score_on_the_same_data_starts_anew():
    y = np.array([0.0, 1.0, 1.0, 0.0])
    objective = SelfPacedObjective(p_min=0.45, warm_rounds=2)
    for start in (0.0, 1.0):
        counted = []
        for k in range(5):
            scores = start + k * np.array([0.3, -0.6, 0.4, -0.2])
            counted.append(int((objective(y, scores)[0] == 0).sum()))
        assert counted[:2] == [0, 0]
        assert counted[3] > 0


def test_a_constant_tree_does_not_restart_the_count():
    """As on a worker whose rows all share a leaf."""
    objective = SelfPacedObjective(p_min=0.45, warm_rounds=2)
    y = np.array([1.0, 1.0, 0.0])
    found = [objective(y, np.full(3, -0.4 * k))[0][0] for k in range(4)]
    assert found[1] != 0  # second warm round
    assert found[2] == found[3] == 0


@both
def test_the_objective_of_an_estimator(package):
    X, y, flipped = data(600)
    weight = np.where(flipped, 0.5, 1.0)
    given = {"objective": SelfPacedObjective(warm_rounds=10), "n_estimators": 40}
    if package == "xgboost":
        given |= {"max_depth": 3, "learning_rate": 0.1, "base_score": 0.5}
        model = xgboost.XGBClassifier(n_jobs=1, **given)
        found = model.fit(X, y, sample_weight=weight).predict(X, output_margin=True)
    else:
        model = lightgbm.LGBMClassifier(num_leaves=8, n_jobs=1, verbose=-1, **given)
        found = model.fit(X, y, sample_weight=weight).predict(X, raw_score=True)
    wanted = TRAIN[package](X, y, SelfPacedObjective(warm_rounds=10), weight=weight)
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_start_score_and_probabilities_of_lightgbm():
    X, y, _ = data(600)
    y = y * (np.arange(600) % 3 == 0)
    start = np.log(y.mean() / (1 - y.mean()))
    objective = SelfPacedObjective(pace=None, start_score=start)
    scores = train_lightgbm(X, y, objective)
    params = {"objective": "binary", "num_leaves": 8, "num_threads": 1, "verbose": -1}
    plain = lightgbm.train(params, lightgbm.Dataset(X, y), 40)
    np.testing.assert_allclose(
        objective.probability(scores)[:, 1], plain.predict(X), atol=1e-9
    )
    many = SelfPacedObjective("softmax").probability(np.zeros((2, 4)))
    np.testing.assert_allclose(many, 0.25)


def test_training_sets_with_equal_labels_have_rounds_of_their_own():
    """As folds of a cross-validation, whose fits go on side by side."""

    class Rows:
        get_label = staticmethod(lambda: np.array([0.0, 1.0, 1.0]))
        get_weight = staticmethod(lambda: None)

    objective = SelfPacedObjective(p_min=0.45, warm_rounds=2)
    folds = [Rows(), Rows()]
    first = [objective(np.zeros(3), rows)[0][1] for rows in folds]
    for k in range(1, 4):
        scores = k * np.array([-0.5, -0.6, 0.4])
        found = [objective(scores, rows)[0][1] for rows in folds]
        assert [each == 0 for each in found] == [k >= 2] * 2
    assert first == [-0.5] * 2


def test_differing_first_scores_need_start_round():
    """Also after fits of data with the same labels."""
    X, y, _ = data(600)
    objective = SelfPacedObjective(warm_rounds=10)
    train_xgboost(X, y, objective)
    params = {"objective": "binary:logistic", "nthread": 1}
    margin = np.linspace(-1, 1, len(y))
    matrix = xgboost.DMatrix(X, y, base_margin=margin)
    with pytest.raises(ValueError, match="give start_round"):
        xgboost.train(params, matrix, 3, obj=objective)
    cold = SelfPacedObjective(warm_rounds=5, start_round=5)
    warm = SelfPacedObjective(warm_rounds=5, start_round=0)
    first, again, other = (
        xgboost.train(params, matrix, 8, obj=each).predict(matrix)
        for each in (cold, cold, warm)
    )
    np.testing.assert_array_equal(again, first)
    assert (other != first).any()


def test_rare_classes_are_believed_longer_with_prior_corrected():
    """Their shares are those of the weights, unless they are given."""
    scores = np.full(100, np.log(0.15 / 0.85))  # P(1) = 0.15, as rare as it is
    y = (np.arange(100) < 15).astype(float)
    even = np.where(y > 0, 1 / 15, 1 / 85)
    for corrected, priors, weight, kept in (
        (False, None, None, False),
        (True, None, None, True),
        (True, None, even, False),
        (True, [0.5, 0.5], None, False),
    ):
        pace = Hard(prior_corrected=corrected)
        objective = SelfPacedObjective(
            pace=pace, p_min=0.3, warm_rounds=0, priors=priors
        )
        assert (objective(y, scores, weight)[0][y > 0] != 0).all() == kept


# --------------------------------------------------------------- as a Python object


def test_pickling_keeps_what_was_given_and_no_count():
    objective = SelfPacedObjective("softmax", Linear(age=2.0), warm_rounds=4)
    objective(np.array([0, 1, 2]), np.zeros((3, 3)))
    copied = pickle.loads(pickle.dumps(objective))
    assert repr(copied) == repr(objective) and copied is not objective
    assert not copied._of_data and not copied._of_labels
    assert objective._of_data or objective._of_labels
    assert repr(copied).startswith("SelfPacedObjective(loss='softmax', pace=Linear(")


@pytest.mark.parametrize(
    "given, error, match",
    [
        ({"loss": "squared"}, ValueError, "loss='squared' is unknown"),
        ({"p_min": 1.0}, ValueError, "p_min == 1.0"),
        ({"p_min": "half"}, TypeError, "p_min must be"),
        ({"warm_rounds": -1}, ValueError, "warm_rounds == -1"),
        ({"warm_rounds": 1.5}, TypeError, "warm_rounds must be"),
        ({"start_round": "one"}, TypeError, "start_round must be"),
        ({"pace": "stern"}, ValueError, "pace='stern'"),
    ],
)
def test_wrong_arguments_are_named(given, error, match):
    with pytest.raises(error, match=match):
        SelfPacedObjective(**given)


def test_wrong_data_are_named():
    scores = np.zeros(3)
    with pytest.raises(ValueError, match="labels from 0 to 1, got 2"):
        SelfPacedObjective()(np.array([0, 1, 2]), scores)
    with pytest.raises(ValueError, match='use loss="softmax"'):
        SelfPacedObjective()(np.array([0, 1, 2]), np.zeros((3, 3)))
    with pytest.raises(ValueError, match='use loss="logistic"'):
        SelfPacedObjective("softmax")(np.array([0, 1, 1]), scores)
    with pytest.raises(ValueError, match="both say how strict"):
        SelfPacedObjective(pace=Hard(age=1.0), p_min=0.2)(np.array([0, 1, 1]), scores)
    with pytest.raises(ValueError, match=r"pace of class 1: .*both say"):
        SelfPacedObjective(pace={0: "hard", 1: Hard(age=1.0)}, p_min=0.2)(
            np.array([0, 1, 1]), scores
        )
    with pytest.raises(ValueError, match="share for each of 2"):
        SelfPacedObjective(priors=[1.0])(np.array([0, 1, 1]), scores)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_huge_scores_stay_finite(loss, dtype):
    scores = np.array([-1e4, -200.0, 200.0, 1e4], dtype=dtype)
    objective = SelfPacedObjective(loss, "linear", warm_rounds=0, start_round=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in (np.zeros(4), np.ones(4)):
            for found in objective(y, scores):
                assert np.isfinite(found).all() and found.dtype == dtype


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_a_worker_without_rows(shape):
    """In whatever shape XGBoost has its scores."""
    paces = {0: None, 1: Hard(), 2: None}
    rounds = PacedRounds("softmax", paces, warm_rounds=0, n_done=0)
    gradient, hessian = rounds.start(np.zeros(0), None).step(np.zeros(shape, "f4"))
    assert gradient.size == hessian.size == 0 and gradient.dtype == np.float32


@pytest.mark.parametrize(
    "missing, left",
    [
        ("xgboost", {"SPLLGBMClassifier"}),
        ("lightgbm", {"DaskSPLXGBClassifier", "SPLXGBClassifier"}),
        ("distributed", {"SPLLGBMClassifier", "SPLXGBClassifier"}),
    ],
)
def test_importing_all_gives_what_can_be_had(missing, left, monkeypatch):
    import splboost.engines

    found = {}
    with monkeypatch.context() as without:
        without.setitem(sys.modules, missing, None)
        importlib.reload(splboost.engines)
        exec("from splboost.engines import *", found)
    importlib.reload(splboost.engines)
    assert found.keys() - {"__builtins__"} == {*left, "SelfPacedObjective"}
    assert "DaskSPLXGBClassifier" in dir(splboost.engines)


@pytest.mark.parametrize(
    "name, missing, match",
    [
        (
            "SPLLGBMClassifier",
            "lightgbm",
            r"; run pip .*splboost\[lightgbm\]'\.$",
        ),
        ("SPLXGBClassifier", "xgboost", r"splboost\[xgboost\]'.*xgboost-cpu"),
        ("DaskSPLXGBClassifier", "pandas", r"'splboost\[xgboost,dask\]'\."),
        ("SPLXGBClassifier", None, "^No module named None$"),
    ],
)
def test_a_class_that_cannot_be_imported(name, missing, match, monkeypatch):
    import splboost.engines

    def fail(_):
        raise ModuleNotFoundError(f"No module named {missing}", name=missing)

    monkeypatch.setattr(splboost.engines, "import_module", fail)
    with pytest.raises(ImportError, match=match):
        getattr(splboost.engines, name)
    with pytest.raises(AttributeError, match="no attribute 'SPLCatBoost'"):
        _ = splboost.engines.SPLCatBoost
