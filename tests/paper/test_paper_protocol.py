"""The protocol of the paper: settings, draws, methods and their choices."""

import gzip
import hashlib
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from splboost import SPLBoostClassifier
from splboost.datasets import UCI_CATALOGUE, make_gaussians
from splboost.pace import Hard
from splboost.paper import draw, results, runner
from splboost.paper import protocol as names
from splboost.paper.protocol import (
    LARGE_AGES,
    METHODS,
    PAPER,
    PRESETS,
    Protocol,
)
from splboost.trees import C45Classifier, CARTClassifier, CARTRegressor

needs_data = pytest.mark.skipif(
    "SPLBOOST_DATA" not in os.environ, reason="needs SPLBOOST_DATA"
)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
TINY = Protocol(
    ("twonorm",), (0, 20), repeats=2, rounds=6, folds=3, ages=(1.5, 3.0),
    plateaus=(1.5, np.inf), epsilons=(0.1, 0.3), depths=(1, 2),
)  # fmt: skip


def gaussians(n_categories=(0, 0)):
    X, y = make_gaussians(60, random_state=0)
    return draw.DataSet("gaussians", X, y, n_categories, draw.GENERATED)


# ------------------------------------------------------------------------ the protocol


def test_presets_are_those_of_the_paper():
    full = PRESETS["full"]
    assert len(full.sets) == 17 and full.repeats == 50 and full.rounds == 200
    assert full.noise == (0, 5, 10, 20, 30) and full.folds == 5
    assert full.ages == tuple(np.arange(1, 6.5, 0.5)) and len(full.epsilons) == 9
    assert all(full.for_set(name).ages == full.ages for name in full.sets)
    quick = PRESETS["quick"]
    assert quick.repeats == 2 and quick.depths == (3,) and full.depths == (1, 2, 3)
    assert all(UCI_CATALOGUE[name].rows <= 8000 for name in quick.sets)


def test_large_sets_get_less():
    standard = PRESETS["standard"]
    large = {name for name in standard.sets if standard.kind(name) == "large"}
    assert large == {"adult", "bank", "connect-4", "magic", "miniboone"}
    own = replace(standard, depths=(1, 3)).for_set("adult")
    assert (own.repeats, own.ages, own.depths) == (3, LARGE_AGES, (3,))
    assert standard.for_set("pima") == replace(standard, sets=("pima",))
    assert replace(standard, repeats=2).for_set("adult").repeats == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sets": ("pima", "iris")}, "sets='iris' is unknown; the data sets are adult"),
        ({"sets": "pima"}, r"sets='pima' is a string; give a tuple .* \('pima',\)"),
        ({"noise": (0, 120)}, "noise=120 cannot be; give whole percentages"),
        ({"repeats": 1.5}, "repeats=1.5 is none; give a whole number from 1 on"),
        ({"folds": 1}, "folds=1 is none; give a whole number from 2 on"),
        ({"depths": ()}, r"depths: none is given; give one at least"),
        ({"depths": (0,)}, "depths=0 cannot be; give depths of trees, whole numbers"),
        ({"ages": (-1.0,)}, "ages=-1.0 cannot be; give numbers above 0"),
        ({"epsilons": (2,)}, "epsilons=2 cannot be; give numbers above 0 and below 1"),
    ],
)
def test_what_makes_no_sense_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(PRESETS["quick"], **change)


# ------------------------------------------------------------------------------- draws


def test_a_draw_depends_on_set_noise_and_seed_alone():
    data = gaussians()
    one = draw.draw(data, noise=20, seed=3, n_folds=5)
    draw.draw(data, noise=5, seed=9, n_folds=5)
    same = draw.draw(data, noise=20, seed=3, n_folds=5)
    for name in ("X", "y", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    for fold, other in zip(one.folds, same.folds, strict=True):
        np.testing.assert_array_equal(fold[1], other[1])
    for changed in (
        draw.draw(data, noise=20, seed=4, n_folds=5),
        draw.draw(replace(data, name="other"), noise=20, seed=3, n_folds=5),
    ):
        assert not np.array_equal(changed.X, one.X)


def test_rows_are_divided_and_labels_turned_as_the_paper_says():
    data = gaussians()
    clean = draw.draw(data, noise=0, seed=0, n_folds=5)
    noisy = draw.draw(data, noise=20, seed=0, n_folds=5)
    more = draw.draw(data, noise=30, seed=0, n_folds=5)
    assert (clean.y.size, clean.y_test.size) == (84, 36)
    assert clean.y.sum() == 42 and clean.y_test.sum() == 18  # stratified
    rows = {tuple(row) for row in [*clean.X, *clean.X_test]}
    assert len(rows) == 120
    np.testing.assert_array_equal(noisy.X, clean.X)
    np.testing.assert_array_equal(noisy.y_test, clean.y_test)
    turned, more_turned = noisy.y != clean.y, more.y != clean.y
    assert (turned.sum(), more_turned.sum()) == (17, 25)  # exact, of 84
    assert more_turned[turned].all()
    judged = np.concatenate([test for _, test in noisy.folds])
    assert sorted(judged) == list(range(84))
    for train, test in noisy.folds:
        assert not set(train) & set(test)
        assert abs(noisy.y[test].mean() - noisy.y.mean()) < 0.05


def test_categories_become_columns():
    X = np.array([[0.5, 0.0], [1.5, 2.0], [np.nan, np.nan]])
    y = np.array([0, 1, 1])
    case = draw.Draw(X, y, X[:1], y[:1], (0, 3), [], 0)
    assert case.categorical == [1]
    hot = case.one_hot()
    expected = [[0.5, 1, 0, 0], [1.5, 0, 0, 1], [np.nan, 0, 0, 0]]
    np.testing.assert_array_equal(hot.X, expected)
    np.testing.assert_array_equal(hot.X_test, expected[:1])
    assert hot.categorical is None and hot.one_hot() is hot


def test_sets_are_made_where_there_is_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("SPLBOOST_DATA", str(tmp_path))
    data = draw.read_set("ringnorm")
    assert data.source == "generated"
    assert data.X.shape == (7400, 20) and set(data.y) == {0, 1}
    with pytest.raises(FileNotFoundError, match=r"pima is not in .*OpenML"):
        draw.read_set("pima")


def test_copies_are_told_apart_by_what_they_hold(monkeypatch, tmp_path):
    monkeypatch.setenv("SPLBOOST_DATA", str(tmp_path))
    few = replace(
        UCI_CATALOGUE["pima"], columns=("age",), classes={"no": 2, "yes": 1}, missing=0
    )
    orders = b"1,no\n2,no\n3,yes\n", b"3,yes\n2,no\n1,no\n"
    contents = [b"age,target\n" + order for order in orders]
    hashes = [hashlib.sha256(each).hexdigest() for each in contents]
    monkeypatch.setitem(UCI_CATALOGUE, "pima", replace(few, sha256=hashes[0]))
    for name, k, source in (
        ("pima.openml.csv.gz", 1, f"copy {hashes[1][:12]}"),
        ("pima.csv.gz", 0, "catalogue"),
    ):
        (tmp_path / name).write_bytes(gzip.compress(contents[k], mtime=k))
        assert draw.read_set("pima").source == source


@needs_data
def test_sets_are_read_as_numbers():
    data = draw.read_set("pb-T-OR-D")
    assert data.X.shape == (102, 7) and data.source == "catalogue"
    assert np.isnan(data.X).sum() == 42
    assert sum(n > 0 for n in data.n_categories) == 5
    for column, n in zip(data.X.T, data.n_categories, strict=True):
        if n:
            assert set(column[~np.isnan(column)]) == set(range(n))
    assert data.y.sum() == 88  # THROUGH comes after DECK
    assert draw.read_set("ringnorm").source == "catalogue"


# ----------------------------------------------------------------------------- methods


def test_weak_learners_and_regularisers_are_those_of_the_paper():
    made = {name: METHODS[name] for name in PAPER}
    for name, method in made.items():
        tree = method.booster.estimator
        expected = {
            "LogitBoost": CARTRegressor,
            "RBoost": CARTRegressor,
            "SavageBoost": CARTClassifier,
        }.get(name, C45Classifier)
        assert type(tree) is expected
        assert method.one_hot == (expected is not C45Classifier)
    assert made["SavageBoost"].booster.estimator.criterion == "entropy"
    assert made["RBoost"].booster.variant == "gentle"
    assert made["LogitBoost"].booster.z_clip == "response"
    loss = np.array([0.5, 1.5])
    for name, weight in {
        "SPL hard": [1.0, 1.0],
        "SPL linear": [0.75, 0.25],
        "SPL lower convex": 0.25 ** (1 / 0.3) * np.array([3.0 ** (1 / 0.3), 1.0]),
        "SPL upper convex": np.array([0.75, 0.25]) ** (1 / 3),
    }.items():
        (chosen,) = made[name].choices(replace(TINY, ages=(2.0,)))
        assert chosen == {"age": 2.0}
        pace = made[name].pace(**chosen)
        np.testing.assert_allclose(pace.weight(loss), weight)
        own = METHODS[f"{name} (plateau)"]
        (chosen,) = own.choices(replace(TINY, plateaus=(2.0,)))
        assert type(own.pace(**chosen)) is type(pace) and chosen == {"plateau": 2.0}


def test_grids_are_those_that_are_chosen_from():
    def choices(name):
        return METHODS[name].choices(TINY)

    # Of equals the first is chosen: the mildest pace, and the highest goal
    assert choices("SPL hard") == [{"age": 3.0}, {"age": 1.5}]
    assert choices("SPL hard (plateau)") == [{"plateau": np.inf}, {"plateau": 1.5}]
    assert choices("RobustBoost") == [{"epsilon": e, "theta": 0.0} for e in (0.3, 0.1)]
    thetas = [each["theta"] for each in choices(names.THREE_THETAS)]
    assert thetas == [0, 0, 0.2, 0.2, 1, 1]
    full = Protocol(depths=(3,))
    n_fits = [METHODS[m].count_fits(full) - 1 for m in PAPER]
    assert n_fits == [5, 5, 5, 5, 45, 55, 55, 55, 55]


def candidate(*accuracy, depth=1):
    chosen = {"depth": depth, "accuracy": accuracy[0]}
    return names.Candidate(None, chosen, np.array(accuracy))


def test_of_equals_the_fewest_rounds_are_chosen():
    candidates = [
        candidate(0.1, 0.2, 0.2, 0.8),
        candidate(0.3, 0.7, 0.8 - 1e-14, 0.8),
        candidate(0.4, 0.7, 0.8, 0.5),
        candidate(*[np.nan] * 4),
    ]
    best, n_rounds, accuracy = names.choose(candidates)
    assert (best, n_rounds) == (candidates[1], 3)
    assert accuracy == pytest.approx(0.8)
    best, n_rounds, _ = names.choose([candidate(0.1, 0.5), candidate(0.2, 0.6)])
    assert (best.chosen["accuracy"], n_rounds) == (0.2, 2)
    # then the least deep, then the first
    deep, flat = candidate(0.2, 0.6, depth=3), candidate(0.3, 0.6, depth=1)
    other = candidate(0.4, 0.6, depth=1)
    assert names.choose([deep, flat])[0] is flat
    assert names.choose([deep, other, flat])[0] is other


@pytest.mark.parametrize(
    "name",
    [
        "AdaBoost",
        "LogitBoost",
        "SavageBoost",
        names.PLATEAU_SPL[1],
        names.THREE_THETAS,
        names.UNTIL_CONVERGENCE,
        *names.WHOLE_TREES,
        names.WITH_CART[1],
    ],
)
def test_methods_choose_and_fit_again(name):
    case = draw.draw(gaussians(), noise=20, seed=0, n_folds=2)
    method, protocol = METHODS[name], replace(TINY, folds=2)
    fitted = method.fit(case, protocol)
    assert np.mean(fitted.model.predict(case.X_test) == case.y_test) > 0.6
    assert 1 <= fitted.n_estimators == fitted.model.n_estimators <= TINY.rounds
    assert fitted.n_fits == method.count_fits(protocol)
    chosen = dict(fitted.chosen)
    assert fitted.model.estimator.max_depth == chosen.pop("depth")
    for parameter, value in chosen.items():
        holder = fitted.model if "Robust" in name else fitted.model.pace
        assert getattr(holder, parameter) == value
        assert value in getattr(protocol, f"{parameter}s") or parameter == "theta"


@pytest.mark.parametrize(("seed", "is_paced"), [(3, True), (7, False)])
def test_the_choice_is_that_of_cross_validation_by_hand(seed, is_paced):
    """All settings fitted one by one, judged on the folds that all methods share.

    Where the first rounds are best, which are the same for all, the mildest is taken.
    """
    case = draw.draw(gaussians(), noise=20, seed=seed, n_folds=3)
    protocol = replace(TINY, depths=(1,), rounds=30, ages=(1.5, 2.0, 3.0))
    fitted = METHODS["SPL hard"].fit(case, protocol)
    errors = {}
    for age in protocol.ages:
        booster = SPLBoostClassifier(
            C45Classifier(max_depth=1), pace=Hard(age=age), n_estimators=protocol.rounds
        )
        staged = []
        for train, test in case.folds:
            booster.fit(case.X[train], case.y[train])
            curve = [
                np.mean(labels != case.y[test])
                for labels in booster.staged_predict(case.X[test])
            ]
            staged.append(curve + [curve[-1]] * (protocol.rounds - len(curve)))
        for t, error in enumerate(np.mean(staged, axis=0), start=1):
            errors[t, -age] = error
    least = min(errors.values())
    n_rounds, age = min(k for k, error in errors.items() if error < least + 1e-12)
    assert (n_rounds > 4) == is_paced
    assert fitted.cv_error == pytest.approx(least)
    assert (fitted.n_estimators, fitted.chosen["age"]) == (n_rounds, -age)
    again = booster.set_params(pace=Hard(age=-age), n_estimators=n_rounds)
    np.testing.assert_array_equal(
        again.fit(case.X, case.y).predict(case.X_test),
        fitted.model.predict(case.X_test),
    )


# ------------------------------------------------------------------------------- cells


def test_cells_fill_the_table_evenly_and_the_longest_come_first():
    protocol = replace(PRESETS["standard"], sets=("pima", "adult"), repeats=4)
    sources = dict.fromkeys(protocol.sets, "catalogue")
    planned = runner.plan(protocol, ["AdaBoost", "SPL hard"], sources)
    assert len(planned) == len(set(planned)) == 2 * 5 * (4 + 3)
    repeats = [cell.repeat for cell in planned]
    assert repeats == sorted(repeats)
    first = [cell for cell in planned if cell.repeat == 0]
    work = [runner.expected_seconds(cell, protocol) for cell in first]
    assert work == sorted(work, reverse=True)
    assert first[0].data == "adult" and first[0].method == "SPL hard"
    assert {cell.data for cell in planned[-10:]} == {"pima"}
    # "full" uses what "standard" has measured of small sets
    full = replace(PRESETS["full"], sets=protocol.sets)
    small = {cell for cell in planned if cell.data == "pima"}
    assert small < set(runner.plan(full, ["AdaBoost", "SPL hard"], sources))


def test_settings_are_what_a_result_depends_on(monkeypatch):
    def settings(method, protocol=TINY, source="catalogue"):
        return results.settings_of(method, protocol, source)

    assert settings("AdaBoost") == settings("AdaBoost")
    for method, change in {
        "AdaBoost": {"depths": (3,)},
        "SPL hard": {"ages": (2.0,)},
        "SPL hard (plateau)": {"plateaus": (2.0,)},
        "RobustBoost": {"thetas": (0.0, 1.0)},
        "LogitBoost": {"rounds": 10},
    }.items():
        assert settings(method, replace(TINY, **change)) != settings(method)
    same = replace(TINY, ages=(2.0,), epsilons=(0.2,), noise=(5,), repeats=50)
    assert settings("AdaBoost", same) == settings("AdaBoost")
    assert settings("AdaBoost", source="generated") != settings("AdaBoost")
    assert "splboost" in json.loads(settings("AdaBoost"))["version"]
    before = settings("AdaBoost")
    monkeypatch.setattr(results, "current_version", lambda: "splboost 99")
    assert settings("AdaBoost") != before


def test_categories_are_measured_as_the_method_wants_them():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(6, size=300)])
    y = np.isin(X[:, 1], [0, 2, 4]) ^ (rng.random(300) < 0.2)
    data = draw.DataSet("made up", X, y.astype(int), (0, 6), draw.GENERATED)
    case = draw.draw(data, noise=20, seed=0, n_folds=3)
    hand = METHODS["LogitBoost"].fit(case.one_hot(), TINY)
    expected = np.mean(hand.model.predict(case.one_hot().X_test) != case.y_test)
    own = results.Cell("settings", "twonorm", 20, 0, "LogitBoost")
    here = results.current_version()
    outcome = results.Outcome(**runner.measure(own, data, TINY, here))
    assert (outcome.error, outcome.n_estimators) == (expected, hand.n_estimators)
    native = METHODS["LogitBoost"].fit(case, TINY)
    assert native.n_estimators != hand.n_estimators
    assert outcome.n_train == 210 and outcome.fit_seconds > 0
    assert json.loads(outcome.chosen) == hand.chosen
    with pytest.raises(RuntimeError, match="but the run splboost 99; install the same"):
        runner.measure(own, data, TINY, "splboost 99")
    tree = METHODS["AdaBoost"].fit(case, TINY).model.estimators_[0]
    assert tree.to_text().count("class") == 6  # a leaf for each category
